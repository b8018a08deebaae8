//! `dpp-nystrom fit` and `info`.

use crate::command::{Folder, assert_close, assert_landmarks, column, number, row_numbers};
use crate::dense::{
    Formula, exact_ridge_regression, mean_and_deviation, ridge_regression, standardised, standardised_by,
};
use crate::sample::{Noise, Sample, row_list};
use std::collections::BTreeSet;

const ROWS: usize = 120;

fn folder() -> (Folder, Sample) {
    let sample = Sample::new(ROWS, 3);
    (Folder::with("a.csv", sample.csv()), sample)
}

/// Return the standardised target, with its mean and standard deviation.
fn standard_target(sample: &Sample) -> (Vec<f64>, f64, f64) {
    let (mean, deviation) = mean_and_deviation(&sample.target);
    (sample.target.iter().map(|value| (value - mean) / deviation).collect(), mean, deviation)
}

#[track_caller]
fn assert_all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < tolerance, "{found} is not {expected}");
    }
}

#[test]
fn the_report_is_complete() {
    let (folder, _) = folder();
    for method in ["kdpp", "uniform", "kmeans++", "rpcholesky"] {
        for precision in ["f64", "f32"] {
            let report = folder
                .run(&format!(
                    "fit --metric one a.csv --landmarks 9 --model m --json --method {method} --precision {precision}"
                ))
                .good()
                .json();
            let keys: BTreeSet<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
            let documented = [
                "model",
                "method",
                "landmarks",
                "sigma",
                "ridge",
                "rows",
                "dim",
                "test",
                "importances",
                "train_nrmse",
                "cv_nrmse",
                "dependent",
                "select_seconds",
                "fit_seconds",
                "seed",
            ];
            assert_eq!(keys, documented.into());
            assert_landmarks(&row_numbers(&report, "landmarks"), 9, ROWS);
            assert_eq!((&report["model"], &report["method"]), (&"m".into(), &method.into()));
            assert_eq!((number(&report, "rows"), number(&report, "dependent")), (120.0, 0.0));
            assert!((0.01..1.0).contains(&number(&report, "train_nrmse")), "{report}");
            assert!(number(&report, "cv_nrmse") > number(&report, "train_nrmse"), "{report}");
            let half_powers = 2.0 * number(&report, "ridge").log10();
            assert!(
                (-20.5..=-1.5).contains(&half_powers) && (half_powers - half_powers.round()).abs() < 1e-9
            );
        }
    }
    let text = folder.run("fit --metric one a.csv --landmarks 9 --method kdpp --model m").good().out;
    for part in ["model ", "120 x 3", "9 (kdpp)", "bandwidth", "ridge", "training error", "10-fold error"] {
        assert!(text.contains(part), "{text}");
    }
    // Without cross-validation there is no 10-fold error.
    let run = folder.run("fit --metric one a.csv --landmarks 9 --model m --ridge 1e-4 --json").good();
    assert!(run.json()["cv_nrmse"].is_null());
    assert_eq!(number(&run.json(), "ridge"), 1e-4);
    let text = folder.run("fit --metric one a.csv --landmarks 9 --model m --ridge 1e-4").good().out;
    assert!(text.lines().any(|line| line.starts_with("10-fold error") && line.ends_with(" -")), "{text}");
    assert!(text.contains("rows that no choice has seen"), "{text}");
}

/// With all rows as landmarks the Nyström approximation is exact, and so is the regression.
#[test]
fn all_rows_as_landmarks_are_exact_ridge_regression() {
    let sample = Sample::new(40, 3);
    let new = Sample::new(25, 3);
    let folder = Folder::with("a.csv", sample.csv());
    folder.write("new.csv", new.features_csv());
    let (targets, mean, deviation) = standard_target(&sample);
    let rows = standardised(&sample.features);
    let new = standardised_by(&new.features, &sample.features);
    let kernels =
        [("gaussian", Formula::Gaussian), ("laplace", Formula::Laplace), ("matern32", Formula::Matern32)];
    for (name, formula) in kernels {
        // The condition number of K is under 10⁵; the weights lose one and a half times as many digits.
        for (precision, tolerance) in [("f64", 1e-9), ("f32", 2e-3)] {
            folder
                .run(&format!(
                    "fit --metric one a.csv --landmarks 40 --kernel {name} --precision {precision} \
                     --sigma 0.9 --ridge 1e-3 --model m"
                ))
                .good();
            let run = folder.run("predict m new.csv").good();
            let kernel = formula.matrix(&rows, &rows, 0.9);
            let expected: Vec<f64> =
                exact_ridge_regression(&formula.matrix(&new, &rows, 0.9), &kernel, &targets, 1e-3)
                    .into_iter()
                    .map(|value| mean + deviation * value)
                    .collect();
            assert_all_close(&column(&run.out).1, &expected, tolerance);
        }
    }
}

#[test]
fn some_rows_as_landmarks_are_nystrom_ridge_regression() {
    let (folder, sample) = folder();
    let new = Sample::new(25, 3);
    folder.write("new.csv", new.features_csv());
    let (targets, mean, deviation) = standard_target(&sample);
    let rows = standardised(&sample.features);
    let new = standardised_by(&new.features, &sample.features);
    for (kernel, formula) in
        [("gaussian", Formula::Gaussian), ("polynomial --degree 2", Formula::Polynomial(2, 1.0))]
    {
        let report = folder
            .run(&format!(
                "fit --metric one a.csv --landmarks 7 --kernel {kernel} --sigma 1.5 --ridge 1e-3 --model m --json"
            ))
            .good()
            .json();
        let landmarks: Vec<Vec<f64>> =
            row_numbers(&report, "landmarks").iter().map(|&row| rows[row].clone()).collect();
        let matrix = |of: &[Vec<f64>]| formula.matrix(of, &landmarks, 1.5);
        let predicted = |of: &[Vec<f64>]| {
            ridge_regression(&matrix(of), &matrix(&rows), &matrix(&landmarks), &targets, 1e-3)
        };
        let expected: Vec<f64> = predicted(&new).into_iter().map(|value| mean + deviation * value).collect();
        // The reference's normal equations lose more digits than the program: condition number 10⁶.
        assert_all_close(&column(&folder.run("predict m new.csv").good().out).1, &expected, 1e-8);
        let squared: f64 =
            predicted(&rows).iter().zip(&targets).map(|(found, target)| (found - target).powi(2)).sum();
        assert_close(number(&report, "train_nrmse"), (squared / ROWS as f64).sqrt(), 1e-8);
    }
}

#[test]
fn given_landmarks() {
    let (folder, _) = folder();
    folder.write("mine.csv", row_list(&[5, 99, 0, 42]));
    let report = folder.run("fit --metric one a.csv --given mine.csv --model m --json").good().json();
    assert_eq!(row_numbers(&report, "landmarks"), [5, 99, 0, 42]);
    assert_eq!((&report["method"], number(&report, "select_seconds")), (&"given".into(), 0.0));
    // fit reads what select writes; a missing header, other columns and blanks are accepted too.
    folder.run("select a.csv --landmarks 6 --out rows.csv").good();
    folder.run("fit --metric one a.csv --given rows.csv --model one").good();
    folder.run("fit --metric one a.csv --landmarks 6 --method kdpp --model two").good();
    assert_eq!(folder.bytes("one"), folder.bytes("two"));
    for text in ["5\n99\n0\n42\n", "weight,row\n0.5,5\n1,99\n2,0\n7,42\n", "5 \n\n99\n0\n42"] {
        folder.write("other.csv", text);
        folder.run("fit --metric one a.csv --given other.csv --model other").good();
        assert_eq!(folder.bytes("other"), folder.bytes("m"), "{text:?}");
    }
    // Indices of the rows used.
    let used = folder.run("select a.csv --rows 30 --landmarks 3 --out rows.csv --json").good().json();
    let report =
        folder.run("fit --metric one a.csv --rows 30 --given rows.csv --model m --json").good().json();
    assert_eq!(report["landmarks"], used["landmarks"]);
}

#[test]
fn dependent_landmarks_are_dropped_and_reported() {
    let (folder, sample) = folder();
    folder.write("many.csv", row_list(&(0..20).collect::<Vec<_>>()));
    let run = folder.run("fit --metric one a.csv --given many.csv --kernel linear --model m --json").good();
    let dependent = number(&run.json(), "dependent");
    let kept = row_numbers(&run.json(), "landmarks").len();
    // Rank 3; rounding may admit a fourth row.
    assert!((16.0..=17.0).contains(&dependent) && kept + dependent as usize == 20, "{}", run.err);
    let told = format!("{dependent} of 20 landmarks depend on others under this kernel, and were left out\n");
    assert!(run.err.ends_with(&told), "{}", run.err);

    // Each row twice: copies are dropped, and the model equals that of the originals.
    let twice = Sample {
        features: [&sample.features[..], &sample.features].concat(),
        target: [&sample.target[..], &sample.target].concat(),
        ..sample
    };
    folder.write("twice.csv", twice.csv());
    folder.write("copies.csv", row_list(&[3, 123, 50, 170, 7]));
    folder.write("originals.csv", row_list(&[3, 50, 7]));
    let options = "--sigma 2 --ridge 1e-4 --json --model";
    let run = folder.run(&format!("fit --metric one twice.csv --given copies.csv {options} one")).good();
    assert!(run.err.contains("2 of 5 landmarks depend on others"), "{}", run.err);
    assert_eq!(row_numbers(&run.json(), "landmarks"), [3, 50, 7]);
    let run = folder.run(&format!("fit --metric one twice.csv --given originals.csv {options} two")).good();
    assert!(!run.err.contains("depend"), "{}", run.err);
    assert_eq!(folder.bytes("one"), folder.bytes("two"));
}

#[test]
fn info_describes_a_model() {
    let (folder, _) = folder();
    let report = folder
        .run("fit --metric one a.csv --landmarks 9 --model m --json --precision f32 --kernel laplace --sigma cv")
        .good()
        .json();
    let info = folder.run("info m --json").good().json();
    let keys: BTreeSet<&str> = info.as_object().unwrap().keys().map(String::as_str).collect();
    let documented = [
        "features",
        "target",
        "landmarks",
        "landmark_rows",
        "kernel",
        "sigma",
        "ridge",
        "precision",
        "trained_on",
        "trained_rows",
        "missing",
        "test",
        "importances",
        "importance_rows",
        "train_nrmse",
        "export_bytes",
        "digest",
    ];
    assert_eq!(keys, documented.into());
    for (key, value) in [("target", "y"), ("kernel", "Laplace"), ("precision", "f32"), ("trained_on", "a")] {
        assert_eq!(info[key], value);
    }
    assert_eq!(info["features"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(info["landmark_rows"], report["landmarks"]);
    for key in ["sigma", "ridge", "train_nrmse"] {
        assert_eq!(info[key], report[key], "{key}");
    }
    assert_eq!((number(&info, "landmarks"), number(&info, "trained_rows")), (9.0, 120.0));
    // At least nine landmarks of three features and nine weights, four bytes each.
    assert!(number(&info, "export_bytes") >= 4.0 * 36.0, "{info}");

    let text = folder.run("info m").good().out;
    for part in ["trained on", "Laplace", "bandwidth", "ridge", "f32", "rows", "120", "features: a, b, c"] {
        assert!(text.contains(part), "{text}");
    }
    folder.run("fit --metric one a.csv --landmarks 5 --kernel polynomial --degree 2 --model m").good();
    let info = folder.run("info m --json").good().json();
    assert_eq!(info["kernel"], serde_json::json!({ "Polynomial": { "degree": 2, "offset": 1.0 } }));
}

#[test]
fn a_bandwidth_at_the_edge_gives_a_warning() {
    // Pure noise: the smoothest kernel is the best.
    let mut sample = Sample::new(80, 2);
    sample.target.rotate_left(17);
    sample.target.iter_mut().for_each(|value| *value = (*value * 1e4).fract());
    let folder = Folder::with("a.csv", sample.csv());
    let runs = [("a.csv", "--seed 0"), ("a.csv", "--seed 1"), ("a.csv", "--seed 2")].map(|(file, seed)| {
        folder
            .run(&format!("fit --metric one {file} --landmarks 5 --sigma cv --model m {seed} --json"))
            .good()
    });
    assert!(runs.iter().any(|run| run.err.contains("is at the edge of those compared")));
    assert!(runs.iter().any(|run| run.err.contains("try --sigma with a number")));
}

/// A bandwidth that the program chose never makes the fit fail, and is chosen for the landmarks of the fit.
#[test]
fn a_chosen_bandwidth_has_enough_independent_rows() {
    // A line: the widest bandwidths fit best, and have few independent rows.
    let lines: String = (0..200).map(|row| format!("{},{}\n", row, 3 * row)).collect();
    let folder = Folder::with("a.csv", format!("x,y\n{lines}"));
    for method in ["rpcholesky", "uniform", "auto"] {
        let fit = format!("fit --metric one a.csv --landmarks 40 --method {method} --model m --json");
        let wide = folder.run(&format!("{fit} --sigma median*64")).good();
        assert!(wide.err.contains("landmarks of the 40 asked for"), "{method}: {}", wide.err);
        let chosen = folder.run(&format!("{fit} --sigma cv")).good().json();
        // Rows that are drawn without regard to the kernel may be dependent up to rounding, and are then left
        // out.
        let dependent = number(&chosen, "dependent");
        assert_eq!(chosen["landmarks"].as_array().unwrap().len() as f64 + dependent, 40.0, "{method}");
        assert!(dependent == 0.0 || method == "uniform", "{method}");
    }
}

/// The same rows have the same median, in memory, in place and for methods that read all of them.
#[test]
fn the_median_does_not_depend_on_where_the_rows_are() {
    let folder = Folder::with("a.csv", Sample::new(2_500, 3).csv());
    folder.run("convert a.csv --out a.rows").good();
    let sigma = |data: &str, method: &str| {
        let run = format!("select {data} --landmarks 5 --method {method} --seed 3 --json");
        number(&folder.run(&run).good().json(), "sigma")
    };
    let expected = sigma("a.csv", "uniform");
    for method in ["uniform", "kdpp", "rpcholesky"] {
        // The statistics of a stream are rounded otherwise.
        assert_close(sigma("a.rows", method), expected, 1e-12);
    }
}

#[test]
fn leaving_out_each_row_chooses_a_ridge() {
    let folder = Folder::with("a.csv", Sample::new(300, 3).csv());
    let fit = "fit --metric one a.csv --landmarks 20 --method uniform --model m";
    let found = folder.run(&format!("{fit} --ridge loo --json")).good().json();
    assert!(number(&found, "cv_nrmse") > number(&found, "train_nrmse"), "{found}");
    let given = folder.run(&format!("{fit} --ridge {} --json", found["ridge"])).good().json();
    let [given, left_out] = [&given, &found].map(|report| number(report, "train_nrmse"));
    assert!((given - left_out).abs() <= 1e-12 * given, "{given} {left_out}");
    let text = folder.run(&format!("{fit} --ridge loo")).good().out;
    assert!(text.contains("leave-one-out error") && !text.contains("10-fold"), "{text}");
    folder.run("fit --metric one a.csv --landmarks 5 --ridge 1e-3 --model m").good();
    folder.run("learn m a.csv --out s").good();
    folder
        .run("merge --of m s --ridge loo --model n")
        .refused(&["these are not kept; cross-validate the ridge"]);
}

/// The small case of `tests/peers/believed.py`: over draws the test error is that of new rows, within its
/// standard error.
#[test]
fn the_test_error_is_that_of_new_rows() {
    let rows = |noise: &mut Noise, count: usize| {
        let line = |_| {
            let [a, b, c] = [0; 3].map(|_| 3.0 * noise.uniform() - 1.5);
            format!("{a},{b},{c},{}\n", (2.0 * a).sin() + b * b + 0.3 * noise.normal())
        };
        "a,b,c,y\n".to_owned() + &(0..count).map(line).collect::<String>()
    };
    for options in ["--metric scales --landmarks 8", "--metric one --landmarks 20 --sigma cv"] {
        let (mut within, mut printed, mut tested) = (0, 0.0, 0.0);
        for draw in 0..10 {
            let mut noise = Noise(7_000 + draw);
            let folder = Folder::with("a.csv", rows(&mut noise, 400));
            folder.write("new.csv", rows(&mut noise, 2_000));
            let report = folder.run(&format!("fit a.csv {options} --model m --json")).good().json();
            folder.run("predict m new.csv --out p.csv").good();
            let truth: Vec<f64> = folder.text("new.csv").lines().skip(1).map(last).collect();
            let found: Vec<f64> = folder.text("p.csv").lines().skip(1).map(last).collect();
            let squares: f64 = found.iter().zip(&truth).map(|(found, truth)| (found - truth).powi(2)).sum();
            let error = (squares / truth.len() as f64).sqrt();
            let [rmse, standard_error] = ["rmse", "rmse_se"].map(|key| number(&report["test"], key));
            assert_eq!(report["test"]["rows"], 120);
            // Normal residuals: 1/√(2n) of the error.
            assert!((0.7..1.5).contains(&(standard_error / rmse * 240.0_f64.sqrt())), "{report}");
            within += u32::from((rmse - error).abs() <= 2.0 * standard_error);
            printed += rmse;
            tested += error;
        }
        let ratio = printed / tested;
        println!("{options}: within {within} of 10, ratio {ratio}");
        assert!(within >= 9 && (0.97..1.05).contains(&ratio), "{options}: {within} {ratio}");
    }
}

fn last(line: &str) -> f64 {
    line.rsplit(',').next().unwrap().parse().unwrap()
}
