//! The command line, from files to files, beside `dpp-nystrom`'s own model.

use crate::rows::{NAMES, csv, parts, path, row};
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Float64Type;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{KernelKind, Precision};
use dpp_nystrom::model::{AnyCoefficients, file};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression;
use dpp_nystrom::regression::{Ridge, Setting};
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
    let (one, other) = (model_file::load(model.as_ref()).unwrap(), model_file::load(again.as_ref()).unwrap());
    let (AnyCoefficients::F64(one), AnyCoefficients::F64(other)) = (&one.numbers, &other.numbers) else {
        panic!()
    };
    assert_eq!(one.landmarks, other.landmarks);

    let output = run(&["predict", &model, "--table", &table, "--out", &text(&out)]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("6000 rows"), "{output:?}");
    let loaded = model_file::load(model.as_ref()).unwrap();
    let mut seen = 0;
    for batch in ParquetRecordBatchReaderBuilder::try_new(File::open(&out).unwrap()).unwrap().build().unwrap()
    {
        let batch = batch.unwrap();
        let column =
            |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().values().to_vec();
        let features: Vec<Vec<f64>> = NAMES[..3].iter().map(|name| column(name)).collect();
        let rows = dpp_nystrom::data::table::Table {
            name: String::new(),
            feature_names: loaded.feature_names.clone(),
            dim: 3,
            features: (0..batch.num_rows())
                .flat_map(|i| features.iter().map(move |column| column[i]))
                .collect(),
            target: None,
            target_name: None,
        };
        assert_eq!(loaded.predict(&rows).unwrap(), column("prediction"));
        seen += batch.num_rows();
    }
    assert_eq!(seen, ROWS);
}

/// The landmarks of a model that the adapter trained, taught anew by the engine: the same weights.
#[test]
fn a_model_of_the_adapter_is_fitted_anew_to_the_same_weights() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "rows.csv");
    csv(&file, 0..ROWS);
    let data = Prepared::new(table::read(&file, &Target::Last).unwrap(), None, 0).unwrap();
    let setting = Setting {
        kernel: KernelSpec { kind: KernelKind::Matern52, sigma: 1.5 },
        precision: Precision::F64,
        seed: 0,
    };
    let landmarks: Vec<usize> = (0..25).map(|i| i * 31).collect();
    let own = train(&data, &landmarks, Ridge::Value(1e-5), setting, &NoObserver).unwrap().model;
    let (first, second) = (path(&folder, "own.dpp"), path(&folder, "anew.dpp"));
    model_file::save(&own, &first).unwrap();
    let table = format!("t={}", text(&file));
    done(&["fit", "--table", &table, "--of", &text(&first), "--ridge", "1e-5", "--model", &text(&second)]);
    let anew = model_file::load(&second).unwrap();
    assert_eq!((anew.trained_rows, anew.ridge, anew.sigma), (ROWS as u64, 1e-5, 1.5));
    assert!((anew.train_nrmse / own.train_nrmse - 1.0).abs() < 1e-9);
    let (AnyCoefficients::F64(own), AnyCoefficients::F64(anew)) = (&own.numbers, &anew.numbers) else {
        panic!()
    };
    assert_eq!(own.landmarks, anew.landmarks);
    let size = own.weights.iter().fold(0.0_f64, |most, weight| most.max(weight.abs()));
    for (own, anew) in own.weights.iter().zip(&anew.weights) {
        assert!((own - anew).abs() < 1e-7 * size, "{own} {anew}");
    }
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
fn errors_end_with_one_and_wrong_usage_with_two() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "rows.csv");
    csv(&file, 0..50);
    let table = format!("t={}", text(&file));
    let model = path(&folder, "m.dpp");
    let cases: [(&[&str], i32, &str); 4] = [
        (&["fit", "--table", &table, "--landmarks", "60", "--model", &text(&model)], 1, "60"),
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
    ];
    for (arguments, status, words) in cases {
        let output = run(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{told}");
        assert!(told.contains(words), "{arguments:?}: {told}");
        assert!(!model.exists());
    }
}
