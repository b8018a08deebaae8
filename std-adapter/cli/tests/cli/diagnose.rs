//! `diagnose`: results are finite and consistent, and invalid input is rejected before the work.

use crate::command::{Folder, assert_close, number};
use crate::published;
use crate::sample::Sample;
use serde_json::Value;

/// Low effort for every part.
const QUICK: &str = "--samples 4 --triples 10 --pairs 3 --pair-steps 2000 --steps 1000 --json";

/// Assert that no value is null, as JSON writes NaN and infinity, except under the given names.
#[track_caller]
fn assert_whole(value: &Value, path: &str, nulls: &[&str]) {
    match value {
        Value::Null => assert!(nulls.iter().any(|name| path.ends_with(name)), "{path} is null"),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| assert_whole(value, &format!("{path}.{name}"), nulls));
        }
        Value::Array(entries) => entries.iter().for_each(|entry| assert_whole(entry, path, nulls)),
        _ => {}
    }
}

/// Assert relations that hold for every diagnosis.
#[track_caller]
fn assert_sound(found: &Value) {
    assert_whole(found, "", &["median", "theorem_3"]);
    let c = number(found, "landmarks");
    let expected = number(found, "expected_trace_error");
    let logs = number(found, "log_e_next") - number(found, "log_e_c");
    assert_close((c + 1.0) * logs.exp(), expected, 1e-9);
    let ranks = found["target_ranks"].as_array().unwrap();
    assert_eq!(ranks.len() as f64, c);
    for rank in ranks {
        assert!(expected / (c + 1.0) <= number(rank, "lemma_1"));
        for norm in ["frobenius", "spectral"] {
            let [bound, corollary, trivial] =
                ["bound", "corollary", "trivial"].map(|part| number(rank, &format!("{norm}_{part}")));
            let mean = number(&rank[norm], "mean");
            assert!(mean <= bound && mean <= trivial && bound <= corollary, "{rank}");
        }
    }
    assert_eq!(found["corollaries_vacuous"], true);
    let regression = &found["regression"];
    if !regression.is_null() {
        assert!(number(&regression["root_ratio"], "mean") <= number(regression, "bound"));
        assert!(number(&regression["nystrom_variance"], "mean") <= number(regression, "variance"));
        assert!(number(regression, "trivial") <= number(regression, "corollary"));
    }
    let contraction = &found["contraction"];
    let (alpha, rows) = (number(contraction, "alpha"), number(found, "rows"));
    assert_close(number(contraction, "step_factor"), 1.0 - (1.0 - alpha) / (2.0 * c * (rows - c)), 1e-12);
    assert_eq!(contraction["theorem_3"].is_null(), alpha >= 1.0);
    assert!(number(contraction, "unconditional") > 0.0);
    for chain in found["chains"].as_array().unwrap() {
        assert!((0.0..=1.0).contains(&number(chain, "acceptance")), "{chain}");
        assert!(number(chain, "r_hat") > 0.9 && number(chain, "effective_samples") > 0.0, "{chain}");
    }
}

#[test]
fn results_are_finite_and_consistent() {
    let folder = Folder::with("a.csv", Sample::new(120, 3).csv());
    let lines = folder.run(&format!("diagnose a.csv --landmarks 4,12 {QUICK}")).good().json_lines();
    assert_eq!(lines.len(), 2);
    lines.iter().for_each(assert_sound);
    assert_eq!(lines[0]["contraction"]["alpha_is_exact"], false);
    assert_eq!(number(&lines[0]["contraction"], "triples"), 10.0);
    // The same seed gives the same results, except for times.
    let again = folder.run(&format!("diagnose a.csv --landmarks 4,12 {QUICK}")).good().json_lines();
    for key in ["trace_error", "target_ranks", "regression", "contraction", "meeting"] {
        assert_eq!(lines[0][key], again[0][key], "{key}");
    }
    let other = folder.run(&format!("diagnose a.csv --landmarks 4 --seed 1 {QUICK}")).good().json();
    assert_ne!(lines[0]["trace_error"], other["trace_error"]);
}

#[test]
fn few_rows_are_enumerated() {
    let folder = Folder::with("a.csv", Sample::new(9, 3).csv());
    let found = folder.run(&format!("diagnose a.csv --landmarks 3 --ridge 1e-3 {QUICK}")).good().json();
    assert_eq!(found["contraction"]["alpha_is_exact"], true);
    assert!(found["contraction"]["alpha_mean"].is_null());
    // A maximum over a few states is a lower bound.
    let alpha = number(&found["contraction"], "alpha");
    assert!(alpha >= -7.0, "{alpha}");
    let text = folder.run("diagnose a.csv --landmarks 3 --ridge 1e-3 --steps 1000").good().out;
    assert!(text.contains("alpha, maximum over all states") && !text.contains("lower bound"), "{text}");
}

#[test]
fn the_table_says_what_is_a_bound_and_what_is_measured() {
    let folder = Folder::with("a.csv", Sample::new(80, 3).csv());
    let text =
        folder.run("diagnose a.csv --landmarks 5 --samples 3 --triples 5 --pairs 2 --steps 1000").good().out;
    for part in [
        "expected trace error (c+1) e_(c+1)/e_c",
        "mean over 3 exact samples",
        "Lemma 1",
        "Theorem 1",
        "Corollary 1",
        "trivial",
        "*: weaker than the trivial bound",
        "Theorem 2",
        "alpha, lower bound from 5 triples (S, r, t)",
        "unconditional (after Hermon and Salez)",
        "pairs of coupled chains that met",
        "split R-hat",
        "Geyer's",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    let text = folder.run("diagnose a.csv --landmarks 5 --target none --steps 1000").good().out;
    assert!(text.contains("Theorem 2 is omitted: it needs a target."), "{text}");
}

#[test]
fn all_rows_as_landmarks() {
    let folder = Folder::with("a.csv", Sample::new(30, 3).csv());
    let found =
        folder.run(&format!("diagnose a.csv --landmarks 30 --sigma 0.5 --ridge 0.1 {QUICK}")).good().json();
    assert_eq!(number(&found, "expected_trace_error"), 0.0);
    assert!(found["log_e_next"].is_null() && found["contraction"].is_null(), "{found}");
    assert_eq!(number(&found["meeting"], "met"), 3.0);
    for chain in found["chains"].as_array().unwrap() {
        assert_eq!(number(chain, "acceptance"), 0.0);
        assert!(chain["autocorrelation_steps"].is_null() && chain["r_hat"].is_null(), "{chain}");
    }
    assert_close(number(&found["regression"]["root_ratio"], "mean"), 1.0, 1e-6);
}

#[test]
fn subsampling_is_reported() {
    let folder = Folder::with("a.csv", Sample::new(4_050, 1).csv());
    let note = "4000 of the 4050 rows are used, drawn at random";
    // Rejected for its bandwidth, before any work.
    let run = folder.run("diagnose a.csv --landmarks 2 --sigma 1e-200");
    assert!(run.status == Some(1) && run.err.contains(note), "{}", run.err);
    let run = folder.run(&format!("diagnose a.csv --landmarks 2 --rows 40 --ridge 0.1 {QUICK}")).good();
    assert!(!run.err.contains("drawn at random"), "{}", run.err);
}

#[test]
fn what_cannot_be_diagnosed_is_refused() {
    let folder = Folder::with("a.csv", Sample::new(60, 3).csv());
    for (options, message) in [
        ("--landmarks 61", "61 landmarks asked for, but there are only 60 rows"),
        ("--landmarks 5,0", "use at least one landmark"),
        ("--landmarks 5 --rows 61", "61 rows requested"),
        ("--landmarks 4 --kernel linear", "use fewer landmarks"),
        ("--landmarks 5 --sigma 1e-200", "invalid bandwidth"),
    ] {
        folder.run(&format!("diagnose a.csv {options}")).refused(&[message]);
    }
    for options in [
        "--landmarks x",
        "--landmarks 5 --samples 1",
        "--landmarks 5 --chains 3",
        "--landmarks 5 --steps 10",
        "--landmarks 5 --delta 0",
        "--landmarks 5 --delta 1",
        "--landmarks 5 --epsilon nan",
        "--landmarks 5 --ridge 0",
        "--landmarks 5 --triples 0",
    ] {
        folder.run(&format!("diagnose a.csv {options}")).misused(&["--"]);
    }
    folder.run("diagnose a.csv").misused(&["--landmarks"]);
    folder.write("constant.csv", "a,y\n1,2\n2,2\n4,2\n");
    folder
        .run("diagnose constant.csv --landmarks 2 --ridge 1e-3")
        .refused(&["is constant; name another column"]);
    folder.write("long.npy", crate::sample::npy("(10001, 1)", &vec![0; 80_008]));
    let command = "diagnose long.npy --target none --sigma 1 --landmarks 1 --rows 10001";
    folder.run(command).refused(&["too many rows", "10001, at most 10000; use fewer with --rows"]);
}

#[test]
fn real_rows_give_finite_results() {
    let Some(path) = published::file("real_rows_give_finite_results", "ailerons") else { return };
    let folder = Folder::new();
    for sigma in ["median", "median*3"] {
        let command =
            format!("diagnose {} --landmarks 20 --rows 500 --sigma {sigma} {QUICK}", path.display());
        let found = folder.run(&command).good().json();
        assert_sound(&found);
        // Ten exact samples within five standard errors of the expectation.
        let trace = &found["trace_error"];
        let off = (number(trace, "mean") - number(&found, "expected_trace_error")).abs();
        assert!(off < 5.0 * number(trace, "error"), "{found}");
    }
}
