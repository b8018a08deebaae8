//! The command line from files to files, compared to the model of the adapter.

use crate::rows::{NAMES, csv, parts, path, row};
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Float64Type;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use dpp_nystrom::approximation::LandmarkSet;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table::{self, Target};
use dpp_nystrom::kernel::{KernelKind, KernelSpec, Precision};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{Model, model::AnyCoefficients};
use dpp_nystrom::{Ridge, regression, regression::FitParams};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

const ROWS: usize = 6_000;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpp-nystrom-cluster")).args(arguments).output().unwrap()
}

fn done(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_table_becomes_a_model_and_predictions() {
    let folder = tempfile::tempdir().unwrap();
    let table = format!("t={}", parts(folder.path(), 2, ROWS));
    let (model, out) = (text(&path(&folder, "m.dpp")), path(&folder, "p.parquet"));
    let fit = ["fit", "--table", &table, "--landmarks", "30", "--model", &model, "--json"];
    let report: serde_json::Value = serde_json::from_str(&done(&fit)).unwrap();
    assert_eq!(report["rows"], ROWS);
    assert_eq!(report["landmarks"], 30);
    assert!(report["cv_nrmse"].as_f64().unwrap() < 0.2, "{report}");
    // The same seed, other threads.
    let again = text(&path(&folder, "again.dpp"));
    done(&["fit", "--table", &table, "--landmarks", "30", "--model", &again, "--threads", "1"]);
    let (one, other) = (Model::load(&model).unwrap(), Model::load(&again).unwrap());
    let (AnyCoefficients::F64(one), AnyCoefficients::F64(other)) = (&one.coefficients, &other.coefficients)
    else {
        panic!()
    };
    assert_eq!(one.landmarks, other.landmarks);

    let output = run(&["predict", &model, "--table", &table, "--out", &text(&out)]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("6000 rows"), "{output:?}");
    let loaded = Model::load(&model).unwrap();
    let mut seen = 0;
    for batch in ParquetRecordBatchReaderBuilder::try_new(File::open(&out).unwrap()).unwrap().build().unwrap()
    {
        let batch = batch.unwrap();
        let column =
            |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().values().to_vec();
        let features: Vec<Vec<f64>> = NAMES[..3].iter().map(|name| column(name)).collect();
        let rows: Vec<f64> =
            (0..batch.num_rows()).flat_map(|i| features.iter().map(move |column| column[i])).collect();
        assert_eq!(loaded.predict(&rows).unwrap(), column("prediction"));
        seen += batch.num_rows();
    }
    assert_eq!(seen, ROWS);
}

/// Fits a model again on the landmarks of one that the adapter fitted, and expects the same weights.
#[test]
fn a_fit_on_the_landmarks_of_a_model_has_its_weights() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "rows.csv");
    csv(&file, 0..ROWS);
    let data = Prepared::new(table::read(&file, &Target::Last).unwrap(), None, 0).unwrap();
    let params = FitParams {
        kernel: KernelSpec { kind: KernelKind::Matern52, sigma: 1.5 },
        ridge: Ridge::Value(1e-5),
        precision: Precision::F64,
        seed: 0,
    };
    let landmarks = LandmarkSet::Indices((0..25).map(|i| i * 31).collect());
    let own = regression::fit(&data, &landmarks, params, None, &NoObserver).unwrap().model;
    let (first, second) = (path(&folder, "own.dpp"), path(&folder, "again.dpp"));
    own.save(&first).unwrap();
    let table = format!("t={}", text(&file));
    done(&["fit", "--table", &table, "--of", &text(&first), "--ridge", "1e-5", "--model", &text(&second)]);
    let again = Model::load(&second).unwrap();
    assert_eq!((again.trained_rows, again.ridge, again.kernel.sigma), (ROWS as u64, 1e-5, 1.5));
    assert!((again.train_nrmse / own.train_nrmse - 1.0).abs() < 1e-9);
    let (AnyCoefficients::F64(own), AnyCoefficients::F64(again)) = (&own.coefficients, &again.coefficients)
    else {
        panic!()
    };
    assert_eq!(own.landmarks, again.landmarks);
    let size = own.weights.iter().fold(0.0_f64, |most, weight| most.max(weight.abs()));
    for (own, again) in own.weights.iter().zip(&again.weights) {
        assert!((own - again).abs() < 1e-7 * size, "{own} {again}");
    }
}

/// A chain of one step keeps its start but for a row; other methods say that they have no chain.
#[test]
fn options_reach_the_method() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "rows.csv");
    csv(&file, 0..ROWS);
    let table = format!("t={}", text(&file));
    let select = |options: &[&str]| {
        let output = run(&[&["select", "--table", &table, "--landmarks", "12"], options].concat());
        assert!(output.status.success(), "{output:?}");
        let rows = String::from_utf8(output.stdout).unwrap();
        (rows.lines().map(str::to_owned).collect::<Vec<_>>(), String::from_utf8(output.stderr).unwrap())
    };
    let chain = ["--method", "kdpp", "--chain", "paper", "--steps"];
    let after = |steps: &str| select(&[&chain[..], &[steps]].concat()).0;
    let [one, many] = ["1", "2000"].map(after);
    let [one_more, start] = ["2", "0"].map(after);
    let kept = |rows: &[String]| rows.iter().filter(|row| start.contains(row)).count();
    // The header too.
    assert!(kept(&one) >= 12 && kept(&one_more) >= 11, "{one:?} {one_more:?} {start:?}");
    assert!(kept(&many) < 11, "{many:?} {start:?}");
    let (_, notes) = select(&["--method", "uniform", "--steps", "3"]);
    assert!(notes.contains("--steps is not used by uniform"), "{notes}");
}

#[test]
fn landmarks_are_rows_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "rows.csv");
    csv(&file, 0..ROWS);
    let table = format!("t={}", text(&file));
    let listed = done(&["select", "--table", &table, "--landmarks", "12", "--method", "kdpp"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!((lines.len(), lines[0]), (13, "depth,Slope,wind speed,yield"));
    let all: Vec<String> = (0..ROWS).map(|i| row(i).map(|value| value.to_string()).join(",")).collect();
    for line in &lines[1..] {
        assert!(all.iter().any(|row| row == line), "{line}");
    }
    let out = path(&folder, "landmarks.csv");
    let again =
        done(&["select", "--table", &table, "--landmarks", "12", "--method", "kdpp", "--out", &text(&out)]);
    assert_eq!((again.as_str(), std::fs::read_to_string(out).unwrap()), ("", listed));
}

#[test]
fn errors_exit_with_one_and_wrong_usage_with_two() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "rows.csv");
    csv(&file, 0..50);
    let table = format!("t={}", text(&file));
    let model = path(&folder, "m.dpp");
    let cases: [(&[&str], i32, &str); 5] = [
        (&["select", "--table", &table, "--landmarks", "60"], 1, "60"),
        (
            &["fit", "--table", &table, "--target", "no", "--landmarks", "5", "--model", &text(&model)],
            1,
            "Slope",
        ),
        (
            &["fit", "--table", "rows.csv", "--landmarks", "5", "--model", &text(&model)],
            2,
            "rows=FILE.parquet",
        ),
        (&["fit", "--table", &table, "--model", &text(&model)], 2, "--landmarks"),
        (
            &["fit", "--table", &table, "--landmarks", "5", "--ridge", "loo", "--model", &text(&model)],
            1,
            "cross-validate the ridge",
        ),
    ];
    for (arguments, status, words) in cases {
        let output = run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert!(!model.exists());
    }
    // A fit goes on with the landmarks that there are.
    let output = run(&["fit", "--table", &table, "--landmarks", "60", "--model", &text(&model)]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.contains("landmarks of the 60 asked for"), "{stderr}");
    assert!(Model::load(&model).unwrap().landmarks() <= 50);
}
