//! The choice of `auto` by budget and spectrum, and warnings for unused options.

use crate::command::{Folder, assert_landmarks, number, row_numbers};
use crate::sample::Sample;

const ROWS: usize = 900;

fn folder() -> Folder {
    Folder::with("a.csv", Sample::new(ROWS, 3).csv())
}

#[test]
fn the_choice_is_reported_and_reproducible_by_options() {
    let folder = folder();
    let mut seen = Vec::new();
    for (sigma, budget) in [
        ("median", "1s"),
        ("median*8", "1s"),
        ("0.2", "5s"),
        ("median", "20ms"),
        ("median", "8ms"),
        ("median", "0.07ms"),
        ("median", "0s"),
    ] {
        let options = format!("a.csv --landmarks 20 --sigma {sigma}");
        let run = folder.run(&format!("select {options} --method auto --budget {budget} --json")).good();
        let report = run.json();
        let [method, words, reason] =
            ["method_chosen", "options_chosen", "reason"].map(|key| report[key].as_str().unwrap().to_owned());
        assert_eq!(report["method"], "auto");
        assert!(
            run.err.contains(format!("--method auto took --method {method} {words}").trim_end()),
            "{}",
            run.err
        );
        assert!(run.err.contains(&reason), "{}", run.err);
        let asked = folder.run(&format!("select {options} --method {method} {words} --json")).good().json();
        assert_eq!(asked["landmarks"], report["landmarks"], "{method} {words}");
        assert_landmarks(&row_numbers(&report, "landmarks"), 20, ROWS);
        seen.push(method);
    }
    for method in ["refined", "kmeans-snapped", "rpcholesky", "uniform"] {
        assert!(seen.iter().any(|seen| seen == method), "{method} is not among {seen:?}");
    }
}

/// The budget is counted in operations: a second run or fewer threads give the same choice.
#[test]
fn the_same_seed_and_budget_select_the_same_rows() {
    let folder = folder();
    let select = |options: &str, threads: &str| {
        let arguments = format!("select a.csv --landmarks 25 --method auto --json {options}");
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let output = folder.command(&arguments).env("RAYON_NUM_THREADS", threads).output().unwrap();
        let mut report = crate::command::Run::of(&output).good().json();
        report["seconds"] = serde_json::Value::Null;
        report
    };
    for options in ["", "--budget 100ms", "--seed 7", "--precision f32"] {
        let first = select(options, "1");
        assert_eq!(first, select(options, "1"), "{options}");
        assert_eq!(first, select(options, "2"), "{options}");
    }
    assert_ne!(select("", "1")["landmarks"], select("--seed 7", "1")["landmarks"]);
    assert_ne!(select("", "1")["reason"], select("--budget 30ms", "1")["reason"]);
}

#[test]
fn a_model_is_fitted_to_what_auto_selects() {
    let folder = folder();
    let run = folder.run("fit --metric one a.csv --landmarks 20 --model m --json").good();
    let report = run.json();
    assert_eq!(report["method"], "auto");
    assert!(run.err.contains("--method auto took --method "), "{}", run.err);
    let selected = folder.run("select a.csv --method auto --landmarks 20 --json").good().json();
    for key in ["landmarks", "method_chosen", "options_chosen", "reason"] {
        assert_eq!(report[key], selected[key], "{key}");
    }
    // Explicit options override the choice.
    let refined = folder.run("select a.csv --method auto --refine 1 --landmarks 20 --json").good().json();
    assert_eq!(number(&refined["refinement"], "sweeps"), 1.0);
    let text = folder.run("fit --metric one a.csv --landmarks 20 --model m").good().out;
    assert!(text.contains("(auto: --method refined --refine"), "{text}");
    for value in ["5", "-1s", "NaNs", "soon", "1e40s", ""] {
        folder
            .run(&format!("fit --metric one a.csv --landmarks 20 --model m --budget={value}"))
            .misused(&["--budget", "expected a number with its unit, as 500ms or 2s"]);
    }
}

#[test]
fn unused_options_give_a_warning() {
    let folder = folder();
    let err = |arguments: &str| folder.run(&format!("{arguments} a.csv --landmarks 5")).good().err;
    for (arguments, option) in [
        ("select --method uniform --steps 10", "--steps"),
        ("select --method refined --chain paper", "--chain"),
        ("select --pivot-rows 100", "--pivot-rows"),
        ("select --method reglev --pivot-rows 50", "--pivot-rows"),
        ("fit --metric one --model m --method kdpp --budget 1s", "--budget"),
        ("evaluate --seeds 1 --methods uniform,lev --steps 10", "--steps"),
    ] {
        let told = err(arguments);
        assert!(told.contains(&format!("warning: {option} is not used by ")), "{arguments}: {told}");
    }
    for arguments in [
        "select --steps 10 --chain paper",
        "select --method rpcholesky --pivot-rows 100",
        "select --method refined --pivot-rows 100",
        "fit --metric one --model m --budget 100ms",
        "evaluate --seeds 1 --methods uniform,kdpp --steps 10",
    ] {
        let told = err(arguments);
        assert!(!told.contains("is not used"), "{arguments}: {told}");
    }
}

#[test]
fn the_objective_and_convergence_are_reported() {
    let folder = folder();
    let select =
        |options: &str| folder.run(&format!("select a.csv --landmarks 10 --json {options}")).good().json();
    let report = select("--method refined-ridge");
    assert_eq!(report["objective"], "ridge");
    let gain = &report["refinement"];
    let (before, after) =
        (number(gain, "leave_one_out_nrmse_before"), number(gain, "leave_one_out_nrmse_after"));
    assert!(after < before && number(gain, "exchanges") > 0.0, "{gain}");
    assert!(gain.get("trace_error_before").is_none() && gain["all_rows"] == true, "{gain}");
    let text = folder.run("select a.csv --landmarks 10 --method refined-ridge").good().out;
    assert!(text.contains("leave-one-out error"), "{text}");
    let trace = select("--method uniform --refine 1");
    assert_eq!(trace["objective"], "trace");
    assert!(trace["refinement"].get("leave_one_out_nrmse_before").is_none());
    let some = select("--method refined --refine-rows 400");
    assert_eq!(
        (&some["refinement"]["measured_rows"], &some["refinement"]["all_rows"]),
        (&400.into(), &false.into())
    );
    let converged = select("");
    assert_eq!(converged["converged"], true);
    assert!(number(&converged, "split_r_hat") <= 1.05, "{converged}");
    assert!(select("--steps 10")["converged"].is_null() && select("--steps 10")["split_r_hat"].is_null());
    assert!(select("--method uniform")["converged"].is_null());
    assert!(select("")["objective"].is_null());
}
