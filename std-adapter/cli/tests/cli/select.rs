//! `dpp-nystrom select`.

use crate::command::{Folder, assert_close, assert_landmarks, number, row_numbers};
use crate::dense::{Formula, log_det, median_distance, residual, standardised, trace};
use crate::sample::Sample;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

const ROWS: usize = 120;
const LEFT_OUT: &str = "target: column \"y\", the last, is not a feature; name another with --target\n";

fn folder() -> (Folder, Sample) {
    let sample = Sample::new(ROWS, 3);
    (Folder::with("a.csv", sample.csv()), sample)
}

fn select(folder: &Folder, options: &str) -> Value {
    folder.run(&format!("select a.csv --landmarks 8 --json {options}")).good().json()
}

/// Remove times, which differ between runs.
fn timeless(mut report: Value) -> Value {
    report["seconds"] = Value::Null;
    report
}

#[test]
fn the_report_is_complete() {
    let (folder, _) = folder();
    let run = folder.run("select a.csv --landmarks 8 --json").good();
    assert_eq!(run.err, LEFT_OUT);
    let report = run.json();
    let keys: BTreeSet<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let documented = [
        "method",
        "landmarks",
        "order",
        "gains",
        "sigma",
        "rows",
        "dim",
        "steps",
        "accepted",
        "log_det",
        "trace_error",
        "trace_fraction",
        "converged",
        "split_r_hat",
        "seconds",
        "seed",
    ];
    assert_eq!(keys, documented.into());
    assert_landmarks(&row_numbers(&report, "landmarks"), 8, ROWS);
    assert_eq!(
        (&report["method"], number(&report, "rows"), number(&report, "dim")),
        (&"kdpp".into(), 120.0, 3.0)
    );
    // Convergence is checked after 32 tries per landmark, then at each doubling.
    let steps = number(&report, "steps");
    assert!((steps / 256.0).log2().fract() == 0.0 && steps >= 256.0, "{report}");
    assert!((1.0..steps).contains(&number(&report, "accepted")));
    assert!((0.0..60.0).contains(&number(&report, "seconds")));
    assert_close(number(&report, "trace_fraction"), number(&report, "trace_error") / ROWS as f64, 1e-14);
}

#[test]
fn the_seed_decides() {
    let (folder, _) = folder();
    for options in [
        "",
        "--method uniform",
        "--method kmeans++",
        "--method rpcholesky",
        "--method rpcholesky --pivot-rows 40",
        "--precision f32",
        "--rows 50",
    ] {
        let [first, again, other] =
            ["", "--seed 0", "--seed 1"].map(|seed| timeless(select(&folder, &format!("{options} {seed}"))));
        assert_eq!(first, again, "{options}");
        assert_ne!(first["landmarks"], other["landmarks"], "{options}");
    }
    select(&folder, &format!("--seed {}", u64::MAX));
}

#[test]
fn errors_are_correct_for_every_kernel() {
    let (folder, sample) = folder();
    let rows = standardised(&sample.features);
    let kernels = [
        ("gaussian", Formula::Gaussian),
        ("laplace", Formula::Laplace),
        ("matern32", Formula::Matern32),
        ("matern52", Formula::Matern52),
        ("rational-quadratic", Formula::RationalQuadratic),
        ("polynomial", Formula::Polynomial(3, 1.0)),
        ("polynomial --degree 2", Formula::Polynomial(2, 1.0)),
    ];
    for (name, formula) in kernels {
        for precision in ["f64", "f32"] {
            let report = select(&folder, &format!("--kernel {name} --precision {precision}"));
            let landmarks = row_numbers(&report, "landmarks");
            assert_landmarks(&landmarks, 8, ROWS);
            let kernel = formula.matrix(&rows, &rows, number(&report, "sigma"));
            // The condition number of K_CC is under 10⁴, and the trace is under 100 times the error.
            let error = number(&report, "trace_error");
            assert_close(error, trace(&residual(&kernel, &landmarks)), 1e-9);
            assert_close(number(&report, "trace_fraction"), error / trace(&kernel), 1e-12);
            // The determinant has the precision of the chain.
            let tolerance = if precision == "f64" { 1e-9 } else { 1e-2 };
            let expected = log_det(&kernel, &landmarks);
            assert!((number(&report, "log_det") - expected).abs() < tolerance, "{name} {precision} {report}");
        }
    }
    // Three features give at most three independent rows.
    let report = folder.run("select a.csv --landmarks 3 --kernel linear --json").good().json();
    assert!(number(&report, "trace_fraction") < 1e-14, "{report}");
    let report = folder.run("select a.csv --landmarks 2 --kernel linear --json").good().json();
    let kernel = Formula::Linear.matrix(&rows, &rows, 1.0);
    let expected = trace(&residual(&kernel, &row_numbers(&report, "landmarks")));
    assert_close(number(&report, "trace_error"), expected, 1e-9);
}

#[test]
fn steps_and_chains() {
    let (folder, _) = folder();
    for precision in ["f64", "f32"] {
        let mut found = BTreeSet::new();
        for chain in ["slot", "paper", "metropolis"] {
            let options = format!("--precision {precision} --chain {chain} --steps 3000");
            let report = select(&folder, &options);
            assert_eq!(number(&report, "steps"), 3000.0);
            assert_landmarks(&row_numbers(&report, "landmarks"), 8, ROWS);
            assert!(number(&report, "accepted") > 100.0, "{report}");
            found.insert((row_numbers(&report, "landmarks"), number(&report, "accepted") as u64));
        }
        assert_eq!(found.len(), 3, "no option is ignored");
        // A chain of zero steps returns its start.
        let start_alone = select(&folder, &format!("--precision {precision} --method kmeans++"));
        let no_steps = select(&folder, &format!("--precision {precision} --steps 0"));
        for report in [&start_alone, &no_steps] {
            assert_eq!((number(report, "steps"), number(report, "accepted")), (0.0, 0.0));
        }
        assert_eq!(start_alone["landmarks"], no_steps["landmarks"]);
    }
    for chain in ["paper", "metropolis"] {
        // The paper's number of steps.
        let auto = select(&folder, &format!("--chain {chain} --steps auto"));
        assert_eq!(timeless(auto), timeless(select(&folder, &format!("--chain {chain} --steps 3000"))));
    }
    let paper = number(&select(&folder, "--steps 20000 --chain paper"), "accepted");
    let metropolis = number(&select(&folder, "--steps 20000 --chain metropolis"), "accepted");
    assert!(metropolis > 2.0 * paper, "{metropolis} {paper}");
}

#[test]
fn the_target_is_left_out() {
    let (folder, _) = folder();
    let last = timeless(select(&folder, ""));
    for target in ["y", "3", "last"] {
        assert_eq!(timeless(select(&folder, &format!("--target {target}"))), last, "{target}");
    }
    // No note if the target is named.
    assert_eq!(folder.run("select a.csv --landmarks 8 --target y").good().err, "");
    for target in ["a", "0"] {
        let report = select(&folder, &format!("--target {target}"));
        assert_eq!(number(&report, "dim"), 3.0);
        assert_ne!(report["sigma"], last["sigma"]);
    }
    let run = folder.run("select a.csv --landmarks 8 --json --target none").good();
    assert_eq!((run.err.as_str(), number(&run.json(), "dim")), ("", 4.0));
}

#[test]
fn the_text_says_the_same() {
    let (folder, _) = folder();
    let report = select(&folder, "");
    let listed: Vec<String> = row_numbers(&report, "landmarks").iter().map(usize::to_string).collect();
    let text = folder.run("select a.csv --landmarks 8").good().out;
    assert!(text.contains(&format!("rows: {}\n", listed.join(" "))), "{text}");
    for part in
        ["method ", "kdpp", "rows x features", "120 x 3", "bandwidth", "trace error / trace", "seconds"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn the_landmarks_are_written() {
    let (folder, _) = folder();
    let run = folder.run("select a.csv --landmarks 8 --json --out rows.csv --rows 60").good();
    let text = folder.text("rows.csv");
    let report = run.json();
    let (landmarks, order) = (row_numbers(&report, "landmarks"), row_numbers(&report, "order"));
    let gains: Vec<f64> =
        report["gains"].as_array().unwrap().iter().map(|gain| gain.as_f64().unwrap()).collect();
    let lines = landmarks.iter().map(|row| {
        let place = order.iter().position(|other| other == row).unwrap();
        format!("{row},{place},{}\n", gains[place])
    });
    assert_eq!(text, format!("row,order,gain\n{}", lines.collect::<String>()));
    // The largest residual first, of one at most; their product is the determinant.
    assert!(gains[0] == 1.0 && gains.is_sorted_by(|one, next| one >= next), "{gains:?}");
    assert_close(gains.iter().map(|gain| gain.ln()).sum(), number(&report, "log_det"), 1e-12);
    // With --out, the text does not list them.
    assert!(!folder.run("select a.csv --landmarks 8 --out rows.csv").good().out.contains("rows: "));
    assert_eq!(folder.names(), ["a.csv", "rows.csv"]);
}

/// A triangle for each landmark, and a dot for each row; points have no order of selection.
#[test]
fn the_chart_has_the_rows_and_the_landmarks() {
    let (folder, _) = folder();
    for (method, has_gains) in [("greedy", true), ("kmeans", false)] {
        select(&folder, &format!("--method {method} --chart c.svg"));
        let svg = String::from_utf8(folder.bytes("c.svg")).unwrap();
        assert_eq!(svg.matches("<circle").count(), ROWS, "{method}");
        assert_eq!(svg.matches("<polygon").count(), 8, "{method}");
        assert!(svg.contains(&format!("8 landmarks of a by {method}")), "{method}");
        assert_eq!(svg.contains("gain of each further landmark"), has_gains, "{method}");
    }
    folder.run("select a.csv --landmarks 8 --chart a.csv").refused(&["a.csv"]);
    folder.write("k.csv", "2,1\n1,2\n");
    folder.run("select k.csv --kernel precomputed --landmarks 1 --chart k.svg").refused(&["--chart"]);
    assert!(!folder.path("k.svg").exists());
}

#[test]
fn some_of_the_rows() {
    let (folder, sample) = folder();
    let report = select(&folder, "--rows 40");
    assert_eq!(number(&report, "rows"), 40.0);
    // Indices refer to the file, and exceed the size of the sample.
    let numbers: Vec<usize> = (0..5)
        .flat_map(|seed| row_numbers(&select(&folder, &format!("--rows 40 --seed {seed}")), "landmarks"))
        .collect();
    assert!(numbers.iter().all(|&row| row < ROWS) && numbers.iter().any(|&row| row >= 40), "{numbers:?}");
    assert_eq!(timeless(select(&folder, "--rows 120")), timeless(select(&folder, "")));
    // The sample is standardised by its own statistics: a file of the sample alone gives the same.
    let every = folder.run("select a.csv --rows 40 --landmarks 40 --sigma 0.05 --json").good().json();
    let chosen: Vec<usize> = row_numbers(&every, "landmarks");
    assert_landmarks(&chosen, 40, ROWS);
    let part = Sample {
        features: chosen.iter().map(|&row| sample.features[row].clone()).collect(),
        target: chosen.iter().map(|&row| sample.target[row]).collect(),
        ..sample
    };
    folder.write("part.csv", part.csv());
    let of_part = folder.run("select part.csv --landmarks 8 --json").good().json();
    assert_eq!(of_part["sigma"], report["sigma"]);
    let translated: Vec<usize> = row_numbers(&of_part, "landmarks").iter().map(|&row| chosen[row]).collect();
    assert_eq!(translated, row_numbers(&report, "landmarks"));
}

#[test]
fn the_file_is_left_alone() {
    let (folder, _) = folder();
    let state = || (folder.bytes("a.csv"), fs::metadata(folder.path("a.csv")).unwrap().modified().unwrap());
    let before = state();
    select(&folder, "--out rows.csv");
    folder.run("fit --metric one a.csv --landmarks 8 --model m").good();
    folder.run("predict m a.csv --out p.csv").good();
    folder.run("evaluate a.csv --methods kdpp --landmarks 8 --seeds 1").good();
    assert_eq!(state(), before);
    assert_eq!(folder.names(), ["a.csv", "m", "p.csv", "rows.csv"]);
}

#[test]
fn the_bandwidth_in_all_its_spellings() {
    let (folder, sample) = folder();
    let sigma = |text: &str| number(&select(&folder, &format!("--sigma {text}")), "sigma");
    for (text, value) in [("0.75", 0.75), ("1e-1", 0.1), ("2", 2.0)] {
        assert_eq!(sigma(text), value);
    }
    // Standardisation rounds the last digit.
    let median = median_distance(&standardised(&sample.features));
    assert_close(sigma("median"), median, 1e-13);
    assert_close(sigma("median*4"), 4.0 * median, 1e-13);
    assert_close(sigma("median*0.5"), 0.5 * median, 1e-13);
    let multiple = sigma("cv") / sigma("median");
    // Half powers of two.
    let halves = 2.0 * multiple.log2();
    assert!((halves - halves.round()).abs() < 1e-9 && (-12.0..=18.0).contains(&halves), "{multiple}");
    // A kernel without a bandwidth ignores the option.
    assert_eq!(number(&select(&folder, "--kernel polynomial --sigma cv"), "sigma"), 1.0);
    let run = folder.run("select a.csv --landmarks 2 --kernel linear --sigma 2").good();
    assert!(run.err.contains("--sigma is not used"), "{}", run.err);
}

/// Every row is a landmark: the approximation is exact.
#[test]
fn all_rows_as_landmarks() {
    let sample = Sample::new(30, 2);
    let folder = Folder::with("a.csv", sample.csv());
    for options in ["", "--method uniform", "--method kmeans++", "--method rpcholesky", "--chain metropolis"]
    {
        let run = folder.run(&format!("select a.csv --landmarks 30 --sigma 0.3 --json {options}")).good();
        // No chain runs, and nothing is said of its convergence.
        assert!(!run.err.contains("converge"), "{}", run.err);
        let report = run.json();
        assert_eq!(number(&report, "steps"), 0.0);
        assert_eq!(row_numbers(&report, "landmarks"), (0..30).collect::<Vec<_>>());
        assert!(number(&report, "trace_fraction") < 1e-12, "{report}");
        assert_eq!(number(&report, "accepted"), 0.0);
    }
}

/// A table of 120 rows; of every three, the second has the quality 0 and the third the highest.
fn pool() -> Folder {
    let row = |i: usize| {
        let (a, b, quality) = (i * 37 % 101, i * 53 % 97, ["1", "0", "2.5"][i % 3]);
        format!("r{i},{a},{b},{quality},{}\n", i % 7)
    };
    Folder::with("pool.csv", format!("id,a,b,q,y\n{}", (0..ROWS).map(row).collect::<String>()))
}

fn order(folder: &Folder, file: &str, options: &str) -> Vec<usize> {
    let run = folder.run(&format!("select {file} --ids id --target y --json {options}"));
    row_numbers(&run.good().json(), "order")
}

#[test]
fn rows_are_preferred_by_quality_included_and_excluded() {
    let folder = pool();
    let chosen = order(&folder, "pool.csv", "--landmarks 12 --quality q --include 1,7 --exclude 40-79");
    assert_eq!(chosen[..2], [1, 7]);
    assert!(chosen[2..].iter().all(|row| !(40..80).contains(row) && row % 3 != 1), "{chosen:?}");
    for method in ["greedy", "kdpp", "kdpp-exact", "refined"] {
        let of = |options: &str| {
            order(&folder, "pool.csv", &format!("--landmarks 12 --method {method} {options}"))
        };
        let good = of("--quality q").iter().filter(|&row| row % 3 == 2).count();
        let unweighted = of("--ignore q").iter().filter(|&row| row % 3 == 2).count();
        assert!(good >= 8 && good > unweighted, "{method}: {good} {unweighted}");
    }
    // Rows that another selection wrote.
    folder.run("select pool.csv --ids id,q --target y --landmarks 5 --out first.csv").good();
    let written = folder.text("first.csv");
    let first = written.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap());
    let more = order(&folder, "pool.csv", "--landmarks 9 --ignore q --include first.csv");
    assert_eq!(more[..5], first.collect::<Vec<usize>>());
    // As few as a tolerance allows, but no fewer than those included.
    let few = order(&folder, "pool.csv", "--tolerance 0.2 --ignore q --include 0-6");
    assert!(few.len() >= 7 && few[..7] == [0, 1, 2, 3, 4, 5, 6], "{few:?}");
    assert_eq!(order(&folder, "pool.csv", "--tolerance 0.99 --ignore q --include 0-6").len(), 7);
}

#[test]
fn qualities_stay_with_their_rows() {
    let folder = pool();
    let (names, rows) =
        folder.text("pool.csv").split_once('\n').map(|(n, r)| (n.to_owned(), r.to_owned())).unwrap();
    folder.write("gaps.csv", format!("{names}\nx,,1,1,1\n{rows}"));
    // One row further on in the file.
    let chosen = order(&folder, "gaps.csv", "--missing drop --landmarks 8 --quality q --include 5");
    assert!(chosen[0] == 5 && chosen[1..].iter().all(|row| row % 3 != 2), "{chosen:?}");
    let drawn = order(&folder, "pool.csv", "--landmarks 8 --quality q --rows 60 --exclude 0-9");
    assert!(drawn.iter().all(|row| *row >= 10 && row % 3 != 1), "{drawn:?}");
}

#[test]
fn qualities_in_a_file_are_those_of_the_column() {
    let folder = pool();
    let text = folder.text("pool.csv");
    let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let column: String = text.lines().map(|line| fields(line)[3].clone() + "\n").collect();
    folder.write("q.csv", format!("quality,note\n{}", column[2..].replace('\n', ",1\n")));
    let of_column = order(&folder, "pool.csv", "--landmarks 9 --quality q");
    assert_eq!(order(&folder, "pool.csv", "--landmarks 9 --ignore q --quality q.csv"), of_column);
    folder.run("convert pool.csv --ids id --ignore q --target y --out pool.rows").good();
    let of_store = |options: &str| {
        let run = folder.run(&format!("select pool.rows --json --landmarks 9 {options}"));
        row_numbers(&run.good().json(), "order")
    };
    assert_eq!(of_store("--quality q.csv"), of_column);
    assert_ne!(of_store(""), of_column);
    assert!(of_store("--quality q.csv --rows 60").iter().all(|row| row % 3 != 1));
    folder.write("k.csv", "1,0,0\n0,1,0\n0,0,1\n");
    folder.write("k.q.csv", "q\n1\n0\n3\n");
    let run = folder
        .run("select k.csv --kernel precomputed --method greedy --landmarks 2 --quality k.q.csv --json");
    assert_eq!(row_numbers(&run.good().json(), "order"), [2, 0]);
    folder
        .run("select pool.csv --ids id --ignore q --quality k.q.csv")
        .refused(&["3 qualities for 120 rows"]);
    folder.write("bad.csv", column.replacen("2.5", "-2", 1));
    folder.run("select pool.csv --ids id --ignore q --quality bad.csv").refused(&["row 2 (from 0)", "-2"]);
}

#[test]
fn conditions_that_cannot_be_met_are_refused() {
    let folder = pool();
    for (options, problem) in [
        ("--quality id", "expected a quality"),
        ("--quality none", "no column is called"),
        ("--include 1,1 --ignore q", "row 1 is already a landmark"),
        ("--include 1 --exclude 0-3 --ignore q", "row 1 is to be included and excluded"),
        ("--include 5-1 --ignore q", "expected row numbers"),
        ("--include 120 --ignore q", "index 120 is out of range"),
        ("--exclude 120 --ignore q", "index 120 is out of range"),
        ("--include 0-9 --ignore q", "10 rows to include, but only 8 landmarks"),
        ("--exclude 0-117 --ignore q", "only 2 rows are not excluded"),
        ("--quality q --method kmeans", "kmeans takes no quality"),
        ("--quality q --method refined-ridge", "refined-ridge takes no quality"),
    ] {
        folder
            .run(&format!("select pool.csv --ids id --target y --landmarks 8 {options}"))
            .refused(&[problem]);
    }
}
