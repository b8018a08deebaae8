//! The values of a row store with more rows than fit one block of reading, of standardisation, or of one pass
//! over the store.

use crate::command::{Folder, assert_close};
use crate::sample::Sample;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::{LandmarkSet, trace_error};
use dpp_nystrom::data::store::convert;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::data::{RowSlices, Scaler};
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{KernelKind, Precision};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::pipeline;

const ROWS: usize = 100_001;

/// In `f64`, the size of a row does not divide a power of two.
const WIDTH: usize = 5;

fn mean_and_deviation(column: &[f64]) -> (f64, f64) {
    let count = column.len() as f64;
    let mean = column.iter().sum::<f64>() / count;
    let squares = column.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, (squares / count).sqrt())
}

#[test]
fn a_store_holds_its_file() {
    // The statistics of the first block must differ from those of the whole.
    let mut sample = Sample::new(ROWS, WIDTH);
    for (number, row) in sample.features.iter_mut().enumerate() {
        let drift = (number as f64 / ROWS as f64).powi(4);
        row.iter_mut().chain([&mut sample.target[number]]).for_each(|value| *value += 20.0 * drift);
    }
    let columns: Vec<Vec<f64>> = (0..WIDTH)
        .map(|column| sample.features.iter().map(|row| row[column]).collect())
        .chain([sample.target.clone()])
        .collect();
    let folder = Folder::with("a.npy", sample.npy(true));
    for (precision, share) in [(Precision::F64, 1e-10), (Precision::F32, 1e-5)] {
        let (data, out) = (folder.path("a.npy"), folder.path("a.rows"));
        let store = convert(&data, &Target::Last, precision, &out, &NoObserver).unwrap();
        assert_eq!((store.len(), store.features()), (ROWS, WIDTH));
        let (rows, targets): (Vec<f64>, Vec<f64>) = match store.slices() {
            RowSlices::F64(rows, Some(targets)) => (rows.to_vec(), targets.to_vec()),
            RowSlices::F32(rows, Some(targets)) => {
                (rows.iter().map(|&x| x.into()).collect(), targets.iter().map(|&x| x.into()).collect())
            }
            other => panic!("{other:?}"),
        };
        let description = store.description();
        let target = description.target.as_ref().unwrap();
        for (column, values) in columns.iter().enumerate() {
            let (mean, deviation) = mean_and_deviation(values);
            let (told, stored): (_, Vec<f64>) = match column {
                WIDTH => ((target.mean, target.deviation), targets.clone()),
                _ => {
                    let Scaler { means, deviations, .. } = &description.scaler;
                    (
                        (means[column], deviations[column]),
                        rows.iter().skip(column).step_by(WIDTH).copied().collect(),
                    )
                }
            };
            assert_close(told.0, mean, 1e-10);
            assert_close(told.1, deviation, 1e-10);
            for (row, (&stored, &value)) in stored.iter().zip(values).enumerate() {
                let standard = (value - mean) / deviation;
                assert!((stored - standard).abs() <= share, "{row} {column}: {stored} {standard}");
            }
        }
        let mut read = 0;
        store
            .read_blocks(|block| {
                for row in 0..block.rows() {
                    let found = block.row(row).iter().chain([&block.target.as_ref().unwrap()[row]]);
                    for (&found, column) in found.zip(&columns) {
                        let value = column[read];
                        assert!((found - value).abs() <= 20.0 * share, "{read}: {found} {value}");
                    }
                    read += 1;
                }
                Ok::<(), Error>(())
            })
            .unwrap();
        assert_eq!(read, ROWS);
    }
}

/// With more rows than the error is measured on.
#[test]
fn the_trace_error_is_reported_for_all_rows() {
    const MEASURED: usize = 1 << 16;
    let rows = MEASURED + 20_000;
    let folder = Folder::with("a.npy", Sample::new(rows, 2).npy(true));
    let (data, out) = (folder.path("a.npy"), folder.path("a.rows"));
    let store = convert(&data, &Target::Last, Precision::F32, &out, &NoObserver).unwrap();
    let landmarks = [1, 20_000, rows - 1];
    let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 2.0 };
    let measured =
        pipeline::trace_error(&store, &LandmarkSet::Indices(landmarks.to_vec()), kernel, 7).unwrap();
    assert_eq!(measured.rows, MEASURED);
    let all = store.read(None, 0).unwrap();
    let whole = trace_error(&all.ground(kernel).unwrap(), &landmarks).unwrap();
    assert_close(measured.of_all.fraction, whole.fraction, 0.01);
    assert_close(measured.of_all.error, whole.error, 0.01);
}

#[test]
fn damaged_values_are_rejected_when_read_in_place() {
    let folder = Folder::with("a.csv", Sample::new(200, 4).csv());
    folder.run("convert a.csv --out a.rows").good();
    let fit = |data: &str, model: &str| {
        let options = "--landmarks 5 --method uniform --sigma 2 --ridge 1e-3";
        folder.run(&format!("fit --metric one {data} {options} --model {model}"))
    };
    fit("a.rows", "m.dpp").good();
    let whole = folder.bytes("a.rows");
    for at in [4_096, 6_000, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        folder.write("b.rows", bytes);
        let parts = ["b.rows: corrupt", "the checksum of the values"];
        fit("b.rows", "n.dpp").refused(&parts);
        folder.run("predict m.dpp b.rows --out p.csv").refused(&parts);
        // These read some of the rows, and verify a small store all the same.
        for command in [
            "select b.rows --landmarks 5 --method uniform --sigma 2",
            "select b.rows --landmarks 5 --method kdpp --rows 50",
            "evaluate b.rows --methods uniform --landmarks 5",
            "diagnose b.rows --landmarks 5",
        ] {
            folder.run(command).refused(&parts);
        }
    }
    assert_eq!(folder.names(), ["a.csv", "a.rows", "b.rows", "m.dpp"]);
    for option in ["--group x0", "--time", "--scale robust"] {
        let select = format!("select a.rows --landmarks 5 {option}");
        folder.run(&select).refused(&["a.rows", "omit --group, --time and --scale"]);
    }
}
