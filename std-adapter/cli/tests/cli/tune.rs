//! `tune`: the error surface in all its forms, and invalid options.

use crate::command::{Folder, assert_close, number};
use crate::sample::Sample;

fn folder() -> Folder {
    Folder::with("a.csv", Sample::new(120, 3).csv())
}

#[test]
fn the_surface_and_its_minimum() {
    let folder = folder();
    folder.run("tune a.csv --landmarks 30 --out s --svg s").refused(&["two outputs", "its own name"]);
    let command = "tune a.csv --landmarks 30 --out s.csv --svg s.svg --json";
    let report = folder.run(command).good().json();
    let surface = &report["surface"];
    let text = folder.text("s.csv");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0], ["sigma", "ridge", "nrmse"]);
    assert_eq!(lines.len(), 1 + 12 * 23);
    let least = lines[1..]
        .iter()
        .filter(|line| !line[2].is_empty())
        .min_by(|one, other| one[2].parse::<f64>().unwrap().total_cmp(&other[2].parse().unwrap()))
        .unwrap();
    for (cell, key) in least.iter().zip(["sigma", "ridge", "cv_nrmse"]) {
        assert_eq!(cell.parse::<f64>().unwrap(), number(&report, key), "{key}");
    }
    let (sigma, ridge) = (number(surface, "best_sigma"), number(surface, "best_ridge"));
    assert_eq!(report["sigma_at_edge"], sigma == 0.0 || sigma == 11.0);
    assert_eq!(report["ridge_at_edge"], ridge == 0.0 || ridge == 22.0);
    assert_eq!(folder.text("s.svg").matches("<svg").count(), 1);
    // A fit with these values generalises as reported.
    let rest = format!("--sigma {} --ridge {}", report["sigma"], report["ridge"]);
    let fit =
        folder.run(&format!("fit --metric one a.csv --landmarks 30 --model m --json {rest}")).good().json();
    assert!(number(&fit, "train_nrmse") < 1.2 * number(&report, "cv_nrmse"), "{fit}");
    assert_eq!(folder.run(command).good().json(), report);
}

/// Regression on all rows equals regression with every row as a landmark.
#[test]
fn full_regression_agrees_with_all_rows_as_landmarks() {
    let folder = folder();
    let grid = "--rows 60 --sigmas 0.3,0.6,1.2 --ridges 1e-4,1e-2 --json";
    let full = folder.run(&format!("tune a.csv --full {grid}")).good().json();
    let nystrom = folder.run(&format!("tune a.csv --landmarks 60 {grid}")).good().json();
    assert!(full["landmarks"].is_null());
    assert_eq!(number(&nystrom, "landmarks"), 60.0);
    for sigma in 0..3 {
        for ridge in 0..2 {
            let error =
                |report: &serde_json::Value| report["surface"]["errors"][sigma][ridge].as_f64().unwrap();
            assert_close(error(&full), error(&nystrom), 1e-6);
        }
    }
}

#[test]
fn a_minimum_at_the_edge_gives_a_warning() {
    let folder = folder();
    let run = folder.run("tune a.csv --landmarks 20 --sigmas 0.01,0.02 --ridges 1e-3").good();
    assert!(run.err.contains("warning: the best bandwidth") && run.err.contains("--sigmas"), "{}", run.err);
    assert!(!run.err.contains("the best ridge"), "{}", run.err);
    let run = folder.run("tune a.csv --landmarks 20 --sigmas 1 --ridges 10,100").good();
    assert!(run.err.contains("warning: the best ridge, 10.00, is at the edge of the grid (10.00 to 100.0)"));
    assert!(run.out.contains("10-fold error") && run.out.contains("--sigma "), "{}", run.out);
    let run = folder.run("tune a.csv --landmarks 3 --kernel linear").good();
    assert!(!run.err.contains("the best bandwidth"), "{}", run.err);
}

#[test]
fn invalid_input_is_rejected() {
    let folder = folder();
    for (options, message) in [
        ("--landmarks 121", "121 landmarks asked for, but there are only 120 rows"),
        ("--landmarks 0", "use at least one landmark"),
        ("--landmarks 5 --target none", "no target: regression needs one"),
        ("--full --target none", "no target: regression needs one"),
        ("--landmarks 1 --rows 1", "is constant; name another column"),
        ("--landmarks 5 --rows 121", "121 rows requested"),
        ("--landmarks 5 --out a.csv", "would overwrite an input"),
        ("--landmarks 5 --svg a.csv", "would overwrite an input"),
        ("--landmarks 5 --sigmas 1 --ridges 1e-3 --svg none/s.svg", "none/s.svg"),
    ] {
        folder.run(&format!("tune a.csv {options}")).refused(&[message]);
    }
    for options in
        ["", "--full --landmarks 5", "--landmarks x", "--landmarks 5 --sigmas 0", "--full --ridges nan"]
    {
        folder.run(&format!("tune a.csv {options}")).misused(&["--"]);
    }
    assert_eq!(folder.names(), ["a.csv"]);
}
