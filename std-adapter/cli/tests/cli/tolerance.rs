//! The smallest number of landmarks within a tolerance.

use crate::command::{Folder, assert_close, number, row_numbers};
use crate::sample::Sample;
use serde_json::Value;

fn folder() -> Folder {
    Folder::with("a.csv", Sample::new(300, 3).csv())
}

/// Return numbers of landmarks with their errors.
fn curve(report: &Value, key: &str) -> Vec<(f64, f64)> {
    let points = report["curve"].as_array().unwrap_or_else(|| panic!("no curve in {report}"));
    points.iter().map(|point| (number(point, "landmarks"), number(point, key))).collect()
}

#[test]
fn the_smallest_number_gives_the_landmarks_of_that_number() {
    let folder = folder();
    for method in ["rpcholesky", "greedy", "refined", "kdpp", "auto", "kmeans"] {
        let select = |options: &str| {
            folder.run(&format!("select a.csv --method {method} --json {options}")).good().json()
        };
        let found = select("--tolerance 0.1");
        let curve = curve(&found, "trace_fraction");
        let c = match found.get("points") {
            Some(points) => points.as_array().unwrap().len(),
            None => row_numbers(&found, "landmarks").len(),
        };
        let of = |c: usize| curve.iter().find(|point| point.0 == c as f64).unwrap().1;
        assert!(c > 1 && of(c) <= 0.1 && of(c - 1) > 0.1, "{method} {found}");
        assert_eq!((found["tolerance"].as_f64(), &found["tolerance_on"]), (Some(0.1), &"trace".into()));
        assert_close(number(&found, "trace_fraction"), of(c), 1e-9);
        // Requesting that number gives the same result, without a curve.
        for (c, is_within) in [(c, true), (c - 1, false)] {
            let asked = select(&format!("--landmarks {c}"));
            assert_eq!(asked["landmarks"] == found["landmarks"], is_within || method == "kmeans", "{method}");
            assert_eq!(number(&asked, "trace_fraction") <= 0.1 * (1.0 + 1e-12), is_within, "{method}");
            assert!(asked.get("curve").is_none() && asked.get("tolerance").is_none());
        }
        if ["rpcholesky", "greedy"].contains(&method) {
            assert!(curve.is_sorted_by(|one, next| one.0 + 1.0 == next.0 && one.1 >= next.1), "{method}");
        }
    }
}

#[test]
fn a_model_within_an_error_of_prediction() {
    let folder = folder();
    let fit = |options: &str| {
        folder.run(&format!("fit --metric one a.csv --method rpcholesky --model m --json {options}"))
    };
    let found = fit("--tolerance 0.3 --tolerance-on prediction").good().json();
    let points = curve(&found, "cv_nrmse");
    let c = row_numbers(&found, "landmarks").len() as f64;
    let of = |c: f64| points.iter().find(|point| point.0 == c).unwrap().1;
    assert!(of(c) <= 0.3 && of(c - 1.0) > 0.3, "{found}");
    // The curve is of the rows that the test error leaves out of the choice, the other error of all rows.
    assert!((number(&found, "cv_nrmse") / of(c) - 1.0).abs() < 0.1, "{found}");
    assert!(number(&found["test"], "nrmse") < 0.5, "{found}");
    assert_eq!(found["tolerance_on"], "prediction");
    // Likewise at a given ridge, which is then not cross-validated.
    let given = fit("--tolerance 0.3 --tolerance-on prediction --ridge 1e-4").good().json();
    assert!(given["cv_nrmse"].is_null() && !curve(&given, "cv_nrmse").is_empty());
    fit("--tolerance 0.3 --tolerance-on prediction --target none")
        .refused(&["no target: regression needs one"]);
    folder
        .run("select a.csv --target none --tolerance 0.3 --tolerance-on prediction")
        .refused(&["no target: regression needs one"]);
    let text = folder.run("fit --metric one a.csv --tolerance 0.1 --model m").good().out;
    assert!(text.contains("trace error / trace") && text.contains("within"), "{text}");
}

#[test]
fn the_curve_is_printed_and_drawn() {
    let folder = folder();
    let run = folder.run("select a.csv --method greedy --tolerance 0.01 --curve curve.svg").good();
    let lines: Vec<Vec<&str>> = run
        .out
        .lines()
        .map(|line| line.split_whitespace().collect())
        .filter(|l: &Vec<_>| l.len() >= 2)
        .collect();
    let first_within = lines.iter().position(|line| line.last() == Some(&"within")).unwrap();
    let [above, below] = [first_within - 1, first_within].map(|at| lines[at][0].parse::<usize>().unwrap());
    assert_eq!(above + 1, below, "{}", run.out);
    let svg = folder.text("curve.svg");
    for part in ["a: landmarks for an error", "greedy", "tolerance", "landmarks c", "trace error / trace"] {
        assert!(svg.contains(part), "{part}");
    }
    folder
        .run("fit --metric one a.csv --tolerance 0.4 --tolerance-on prediction --curve other.svg --model m")
        .good();
    assert!(folder.text("other.svg").contains("10-fold error / deviation of the target"));
    folder
        .run("select a.csv --tolerance 0.01 --curve nowhere/curve.svg")
        .refused(&["nowhere/curve.svg: cannot be written"]);
    folder.run("select a.csv --tolerance 0.01 --curve a.csv").refused(&["would overwrite an input"]);
}

#[test]
fn unreachable_tolerances_and_invalid_options() {
    let folder = folder();
    for method in ["greedy", "uniform"] {
        let run = folder.run(&format!(
            "select a.csv --method {method} --tolerance 1e-9 --max-landmarks 7 --out rows.csv"
        ));
        let told = run.err.clone();
        run.refused(&[
            method,
            "no set of up to 7 landmarks",
            "1e-9",
            "the smallest found is",
            "--max-landmarks",
        ]);
        let (_, rest) = told.split_once("the smallest found is ").unwrap();
        let least: f64 = rest.split(',').next().unwrap().parse().unwrap();
        let (_, rest) = rest.split_once("with ").unwrap();
        let c: usize = rest.split(' ').next().unwrap().parse().unwrap();
        let asked =
            folder.run(&format!("select a.csv --method {method} --landmarks {c} --json")).good().json();
        assert_close(least, number(&asked, "trace_fraction"), 1e-3);
    }
    assert_eq!(folder.names(), ["a.csv"]);
    // By default up to half of the rows are tried.
    folder
        .run("select a.csv --method uniform --sigma 1e-3 --tolerance 0.2")
        .refused(&["no set of up to 150 landmarks"]);
    folder.run("select a.csv --method uniform --sigma 1e-3 --tolerance 0.2 --max-landmarks 300").good();
    for value in ["0", "-0.1", "nan", "inf", "little", ""] {
        folder.run(&format!("select a.csv --tolerance={value}")).misused(&["--tolerance", "positive number"]);
    }
    let select = |options: &str| folder.run(&format!("select a.csv {options}"));
    select("--tolerance 0.1 --landmarks 5").misused(&["--tolerance", "--landmarks", "cannot be used with"]);
    select("--tolerance 0.1 --tolerance-on error").misused(&["trace", "prediction"]);
    select("--tolerance 0.1 --max-landmarks 0").misused(&["--max-landmarks"]);
    folder.write("mine.csv", "row\n1\n2\n");
    for option in ["--tolerance-on prediction", "--max-landmarks 9", "--curve curve.svg"] {
        let name = option.split(' ').next().unwrap();
        select(&format!("--landmarks 5 {option}")).misused(&["--landmarks", name, "cannot be used with"]);
        let fit = folder.run(&format!("fit --metric one a.csv --given mine.csv --model m {option}"));
        fit.misused(&["--given", name, "cannot be used with"]);
    }
    folder
        .run("fit --metric one a.csv --given mine.csv --tolerance 0.1 --model m")
        .misused(&["cannot be used with"]);
}
