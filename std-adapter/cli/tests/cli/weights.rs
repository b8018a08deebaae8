//! Weights of rows: against files in which rows are repeated or left out.

use crate::command::{Folder, assert_close, column, number};
use crate::sample::Noise;

/// Rows of two features, a number and a class; each has a number of its own, `id`.
struct Rows {
    folder: Folder,
    rows: Vec<([f64; 2], f64, &'static str)>,
}

/// Multiples of these have the mean 1 without rounding, so that sizes of folds are compared without it.
fn weight(row: usize) -> usize {
    [1, 3, 2, 2][row % 4]
}

impl Rows {
    fn new(count: usize) -> Self {
        let mut noise = Noise(11);
        let row = |_| {
            let x = [noise.normal(), 10.0 + 4.0 * noise.normal()];
            let y = (1.5 * x[0]).sin() + 0.2 * x[1] + 0.3 * noise.normal();
            let class = match y + 0.6 * noise.normal() {
                y if y < 1.5 => "low",
                y if y < 2.6 => "mid",
                _ => "top",
            };
            (x, y, class)
        };
        let rows = Self { folder: Folder::new(), rows: (0..count).map(row).collect() };
        for target in ["y", "kind"] {
            rows.write(&format!("weighted-{target}.csv"), target, |row| (1, weight(row).to_string()));
            rows.write(&format!("repeated-{target}.csv"), target, |row| (weight(row), "1".to_owned()));
        }
        rows
    }

    /// Write each row so many times, with a weight. The target is the last column.
    fn write(&self, name: &str, target: &str, copies: impl Fn(usize) -> (usize, String)) {
        let mut text = format!("id,a,w,b,{target}\n");
        for (row, ([a, b], y, class)) in self.rows.iter().enumerate() {
            let (count, weight) = copies(row);
            let own = if target == "y" { y.to_string() } else { (*class).to_owned() };
            text += &format!("{row},{a},{weight},{b},{own}\n").repeat(count);
        }
        self.folder.write(name, text);
    }

    /// Choose the same rows as landmarks in both files.
    fn give_landmarks(&self, step: usize) {
        let (mut weighted, mut repeated, mut at) = ("row\n".to_owned(), "row\n".to_owned(), 0);
        for row in 0..self.rows.len() {
            if row.is_multiple_of(step) {
                weighted += &format!("{row}\n");
                repeated += &format!("{at}\n");
            }
            at += weight(row);
        }
        self.folder.write("weighted.given", weighted);
        self.folder.write("repeated.given", repeated);
    }

    /// Fit to a file, and return the report and the predictions of all rows.
    fn fit(&self, arguments: &str) -> (serde_json::Value, Vec<f64>) {
        let report = self.folder.run(&format!("fit {arguments} --json --model m.dpp")).good().json();
        self.folder.run("predict m.dpp weighted-y.csv --ignore id,w,y --out out.csv").good();
        let text = self.folder.text("out.csv");
        (report, column(&text).1)
    }
}

fn assert_near(found: &[f64], expected: &[f64], share: f64) {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).for_each(|(found, expected)| assert_close(*found, *expected, share));
}

#[test]
fn a_row_of_weight_w_is_w_rows() {
    let rows = Rows::new(240);
    rows.give_landmarks(8);
    for options in ["--ridge 1e-4", "--ridge cv", "--ridge cv --precision f32 --scale none"] {
        let fit = |of: &str, weight: &str| {
            let table = format!("{of}-y.csv --group id {weight} --given {of}.given");
            rows.fit(&format!("{table} --metric one --sigma 1.7 {options}"))
        };
        let ((weighted, found), (repeated, expected)) =
            (fit("weighted", "--weight w"), fit("repeated", "--ignore w"));
        let share = if options.contains("f32") { 1e-3 } else { 1e-8 };
        assert_near(&found, &expected, share);
        for key in ["ridge", "train_nrmse", "cv_nrmse"] {
            if !repeated[key].is_null() {
                assert_close(number(&weighted, key), number(&repeated, key), share);
            }
        }
        assert_eq!((&weighted["weight"], &weighted["dim"]), (&"w".into(), &2.into()));
        // Without the weights it is another model.
        let (_, other) = fit("weighted", "--ignore w");
        let apart = |(a, b): (&f64, &f64)| (a - b).abs();
        let far = other.iter().zip(&expected).map(apart).fold(0.0, f64::max);
        assert!(far > 0.01, "{options} {far}");
    }
}

#[test]
fn errors_of_weighted_classes_are_those_of_repeated_rows() {
    let rows = Rows::new(240);
    rows.give_landmarks(8);
    let fit = |of: &str, weight: &str| {
        let options = "--metric one --sigma 1.7 --ridge 1e-4 --model m.dpp --json";
        let data = format!("{of}-kind.csv --group id {weight} --given {of}.given");
        rows.folder.run(&format!("fit {data} {options}")).good().json()
    };
    let (weighted, repeated) = (fit("weighted", "--weight w"), fit("repeated", "--ignore w"));
    let (found, expected) = (&weighted["classes"], &repeated["classes"]);
    for key in ["accuracy", "balanced_accuracy"] {
        assert_close(number(found, key), number(expected, key), 1e-12);
    }
    // The likelihood of n labels counts one of n + 2 as wrong, and there are twice as many.
    for key in ["log_loss", "temperature"] {
        assert_close(number(found, key), number(expected, key), 0.02);
    }
    assert!(number(found, "accuracy") < 0.9);
    let unweighted = fit("weighted", "--ignore w");
    for key in ["accuracy", "log_loss", "temperature"] {
        let (other, own) = (number(&unweighted["classes"], key), number(found, key));
        assert!((other / own - 1.0).abs() > 2e-3, "{key} {other} {own}");
    }
}

#[test]
fn a_full_regression_of_weighted_rows_is_that_of_repeated_ones() {
    let rows = Rows::new(120);
    let tune = |of: &str, weight: &str| {
        let options = "--full --kernel linear --ridges 1e-4,1e-2,1 --rows 1000000 --json";
        let count = if of == "weighted" { 120 } else { 240 };
        let options = options.replace("1000000", &count.to_string());
        rows.folder.run(&format!("tune {of}-y.csv --group id {weight} {options}")).good().json()
    };
    let errors = |report: &serde_json::Value| -> Vec<f64> {
        serde_json::from_value(report["surface"]["errors"][0].clone()).unwrap()
    };
    let [found, expected, other] =
        [("weighted", "--weight w"), ("repeated", "--ignore w"), ("weighted", "--ignore w")]
            .map(|(of, weight)| errors(&tune(of, weight)));
    assert_near(&found, &expected, 1e-9);
    assert!((other[1] / expected[1] - 1.0).abs() > 1e-3, "{other:?} {expected:?}");
}

#[test]
fn a_row_of_weight_0_is_absent() {
    let rows = Rows::new(300);
    let absent = |row: usize| row % 7 == 2;
    rows.write("absent.csv", "y", |row| (usize::from(!absent(row)), weight(row).to_string()));
    rows.write("zero.csv", "y", |row| (1, if absent(row) { "0" } else { "2" }.to_owned()));
    rows.write("zero.csv", "y", |row| (1, if absent(row) { 0 } else { weight(row) }.to_string()));
    for options in
        ["", "--metric one --sigma cv", "--scale robust --ridge loo", "--rows 150 --method refined-ridge"]
    {
        let fit = |data: &str| rows.fit(&format!("{data} --ignore id --weight w {options}"));
        let ((zero, found), (without, expected)) = (fit("zero.csv"), fit("absent.csv"));
        assert_eq!(found, expected, "{options}");
        assert_eq!(zero["cv_nrmse"], without["cv_nrmse"]);
        // Landmarks are numbered as in the file.
        let numbers: Vec<usize> = (0..300).filter(|&row| !absent(row)).collect();
        let landmarks = without["landmarks"].as_array().unwrap().iter();
        let landmarks: Vec<usize> = landmarks.map(|row| numbers[row.as_u64().unwrap() as usize]).collect();
        assert_eq!(zero["landmarks"], serde_json::json!(landmarks));
    }
    let told = rows.folder.run("fit zero.csv --ignore id --weight w --model m.dpp").good();
    assert!(told.err.contains("43 rows have the weight 0 and were left out"), "{}", told.err);
    assert!(told.out.contains("w; errors are means over them"), "{}", told.out);
}

#[test]
fn the_unit_of_weights_does_not_matter() {
    let rows = Rows::new(300);
    let fit = |factor: f64, data: &str, more: &str| {
        rows.write(data, "y", |row| (1, (factor * weight(row) as f64).to_string()));
        rows.fit(&format!("{data} --ignore id {more}"))
    };
    // Powers of two are exact. Others are rounded, which a learned metric amplifies.
    let (_, expected) = fit(1.0, "one.csv", "--weight w");
    assert_eq!(fit(8.0, "other.csv", "--weight w").1, expected);
    let (report, expected) = fit(1.0, "one.csv", "--weight w --metric one");
    for factor in [10.0, 1e300, 1e-300] {
        let (other, found) = fit(factor, "other.csv", "--weight w --metric one");
        assert_eq!(other["landmarks"], report["landmarks"]);
        assert_near(&found, &expected, 1e-6);
    }
    // Equal weights are none.
    rows.write("equal.csv", "y", |_| (1, "0.1".to_owned()));
    let (_, equal) = rows.fit("equal.csv --ignore id --weight w --metric one");
    let (_, none) = rows.fit("equal.csv --ignore id,w --metric one");
    assert_near(&equal, &none, 1e-6);
}

#[test]
fn a_model_knows_its_column_of_weights_and_does_not_need_it() {
    let rows = Rows::new(200);
    let folder = &rows.folder;
    folder.run("fit weighted-y.csv --ignore id --weight w --model m.dpp").good();
    let info = folder.run("info m.dpp --json").good().json();
    assert_eq!((&info["weight"], &info["features"]), (&"w".into(), &serde_json::json!(["a", "b"])));
    assert!(folder.run("info m.dpp").good().out.contains("weights"));
    folder.write("without.csv", "a,b\n0.5,11\n");
    folder.write("with.csv", "w,b,a,y\n-7,11,0.5,1\n");
    let predict = |data: &str| folder.run(&format!("predict m.dpp {data}")).good().out;
    assert_eq!(predict("without.csv"), predict("with.csv"));
}

#[test]
fn errors_of_evaluate_are_means_over_weights() {
    let rows = Rows::new(400);
    let evaluate = |data: &str, weight: &str| {
        let options = "--methods uniform --landmarks 20 --seeds 1 --sigma 2 --ridge 1e-4 --json";
        rows.folder.run(&format!("evaluate {data} {weight} {options}")).good().json()
    };
    for (target, keys) in [("y", &["train_nrmse", "test_nrmse"][..]), ("kind", &["accuracy"])] {
        // Rows that hardly count change nothing beside those that do, and the same rows are drawn.
        let tiny = |row: usize| if row.is_multiple_of(2) { "1" } else { "1e-13" }.to_owned();
        rows.write("tiny.csv", target, |row| (1, tiny(row)));
        let found = evaluate("tiny.csv", "--ignore id --weight w");
        let plain = evaluate("tiny.csv", "--ignore id,w");
        for key in keys {
            assert!((number(&found, key) / number(&plain, key) - 1.0).abs() > 0.01, "{found} {plain}");
        }
        rows.write("equal.csv", target, |_| (1, "3".to_owned()));
        let equal = evaluate("equal.csv", "--ignore id --weight w");
        keys.iter().for_each(|key| assert_close(number(&equal, key), number(&plain, key), 1e-9));
    }
}

#[test]
fn what_is_no_weight_is_refused() {
    let rows = Rows::new(120);
    let folder = &rows.folder;
    for (bad, parts) in [
        ("-1", &["line 6", "column 3 (\"w\")", "\"-1\" is negative", "(--weight)"][..]),
        ("NaN", &["line 6", "column 3 (\"w\")"]),
        ("inf", &["line 6", "column 3 (\"w\")", "not a finite number"]),
        ("", &["line 6", "column 3 (\"w\")", "missing"]),
        ("heavy", &["line 6", "column 3 (\"w\")", "not a number"]),
    ] {
        rows.write("bad.csv", "y", |row| (1, if row == 4 { bad.to_owned() } else { "1".to_owned() }));
        for command in ["fit bad.csv --model m.dpp", "evaluate bad.csv --methods uniform --landmarks 5"] {
            folder.run(&format!("{command} --ignore id --weight w")).refused(parts);
        }
    }
    rows.write("none.csv", "y", |_| (1, "0".to_owned()));
    folder.run("fit none.csv --ignore id --weight w --model m.dpp").refused(&["all weights are 0"]);
    folder.run("fit none.csv --weight v --model m.dpp").refused(&["no column is called \"v\""]);
    let refused = |command: &str, what: &str| {
        folder.run(command).refused(&[what, "takes no weights of rows", "--weight)"]);
    };
    refused("convert weighted-y.csv --weight w --out s.rows", "a row store");
    refused("diagnose weighted-y.csv --weight w --landmarks 5", "diagnose");
    refused("fit weighted-y.csv --weight w --model m.dpp --checkpoint c", "a checkpoint");
    folder.run("fit weighted-y.csv --ignore id --weight w --metric one --landmarks 9 --model w.dpp").good();
    refused("learn w.dpp weighted-y.csv --out state", "learning on devices");
    folder.run("convert weighted-y.csv --ignore id,w --out s.rows").good();
    refused("fit s.rows --weight w --model m.dpp", "a row store");
}

#[test]
fn rows_to_predict_have_no_weights() {
    let rows = Rows::new(120);
    let folder = &rows.folder;
    let fit = "--ignore id --weight w --metric one --method uniform --landmarks 9 --sigma 2 --model m.dpp";
    let fitted = folder.run(&format!("fit weighted-y.csv {fit}")).good();
    assert!(fitted.err.contains("weighted by column \"w\""));
    let predicted = folder.run("predict m.dpp weighted-y.csv --ignore id --out out.csv").good();
    assert!(!predicted.err.contains("weight"));
    assert!(predicted.err.contains("each row counted once"), "{}", predicted.err);
    folder.run("export m.dpp --to c --out m.h --data weighted-y.csv --ignore id").good();
}
