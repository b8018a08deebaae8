//! Rows that are exchanged for better ones.

use crate::command::{Folder, assert_close, assert_landmarks, number, row_numbers};
use crate::sample::Sample;

const ROWS: usize = 700;

fn folder() -> Folder {
    Folder::with("a.csv", Sample::new(ROWS, 4).csv())
}

#[test]
fn every_methods_rows_are_refined_and_never_worse() {
    let folder = folder();
    for method in ["kdpp", "uniform", "kmeans++", "kmeans-snapped", "greedy", "adapfull", "rpcholesky"] {
        let select = |options: &str| {
            folder
                .run(&format!("select a.csv --landmarks 15 --method {method} --json {options}"))
                .good()
                .json()
        };
        let (plain, refined) = (select(""), select("--refine 2 --refine-sample 100"));
        assert!(plain.get("refinement").is_none(), "{method}");
        let report = &refined["refinement"];
        assert_landmarks(&row_numbers(&refined, "landmarks"), 15, ROWS);
        assert_close(number(report, "trace_error_before"), number(&plain, "trace_error"), 1e-9);
        assert_close(number(report, "trace_error_after"), number(&refined, "trace_error"), 1e-9);
        assert!(number(&refined, "trace_error") < number(&plain, "trace_error"), "{method}");
        assert!(number(report, "exchanges") > 0.0, "{method}");
        assert_close(number(report, "sweeps"), 2.0, 0.0);
        assert_close(number(report, "measured_rows"), ROWS as f64, 0.0);
        assert_eq!(report["all_rows"], true);
    }
    let text = folder.run("select a.csv --landmarks 15 --method refined").good().out;
    assert!(text.contains("exchanges in 3 sweeps") && text.contains("on all rows"), "{text}");
}

#[test]
fn refined_is_pivoted_cholesky_refined() {
    let folder = folder();
    let landmarks = |options: &str| {
        row_numbers(
            &folder.run(&format!("select a.csv --landmarks 12 --json {options}")).good().json(),
            "landmarks",
        )
    };
    assert_eq!(landmarks("--method refined"), landmarks("--method rpcholesky --refine 3"));
    assert_eq!(landmarks("--method refined --refine 1"), landmarks("--method rpcholesky --refine 1"));
    assert_ne!(landmarks("--method refined"), landmarks("--method refined --seed 1"));
}

#[test]
fn a_budget_ends_refinement() {
    let folder = folder();
    let run = |options: &str| {
        folder.run(&format!("select a.csv --landmarks 12 --method uniform --json {options}")).good().json()
    };
    let none = run("--refine 5 --refine-budget 0s");
    assert_close(number(&none["refinement"], "sweeps"), 0.0, 0.0);
    assert_eq!(row_numbers(&none, "landmarks"), row_numbers(&run(""), "landmarks"));
    let some = run("--refine-sample 50 --refine-budget 200ms");
    assert!(number(&some["refinement"], "sweeps") > 3.0, "{some}");
}

#[test]
fn own_rows_and_models_are_refined() {
    let folder = folder();
    folder.write("mine.csv", "row\n0\n1\n2\n3\n4\n5\n");
    let fit = |options: &str| {
        let report =
            folder.run(&format!("fit a.csv --ridge 1e-6 --model a.dpp --json {options}")).good().json();
        row_numbers(&report, "landmarks")
    };
    assert_eq!(fit("--given mine.csv"), [0, 1, 2, 3, 4, 5]);
    let refined = fit("--given mine.csv --refine 2");
    assert_landmarks(&refined, 6, ROWS);
    assert_ne!(refined, [0, 1, 2, 3, 4, 5]);
    let trial = |options: &str| {
        let arguments = format!(
            "evaluate a.csv --methods uniform --landmarks 10 --seeds 1 --ridge 1e-6 --json {options}"
        );
        number(&folder.run(&arguments).good().json(), "trace_fraction")
    };
    assert!(trial("--refine 2") < trial(""));
}

#[test]
fn what_cannot_be_refined_is_refused() {
    let folder = folder();
    folder.run("select a.csv --landmarks 5 --method kmeans --refine 2").refused(&[
        "kmeans",
        "no rows",
        "kmeans-snapped",
    ]);
    for (option, part) in [
        ("--refine 0", "0"),
        ("--refine -1", "-1"),
        ("--refine-sample 0", "0"),
        ("--refine-budget 5", "500ms or 2s"),
        ("--refine-budget=-1s", "500ms or 2s"),
        ("--refine-budget NaNs", "500ms or 2s"),
        ("--refine-budget 1e40s", "500ms or 2s"),
    ] {
        folder.run(&format!("select a.csv --landmarks 5 {option}")).misused(&[part]);
    }
}
