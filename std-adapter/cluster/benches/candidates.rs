//! What landmarks among a sample miss of all rows, beside landmarks among all rows.
//!
//! `cargo bench --profile cluster -p dpp-nystrom-cluster --bench candidates -- FILE [LANDMARKS]`
//!
//! FILE is a table as `dpp-nystrom` reads it, of rows that fit into memory. One line a method and a number of candidates: the
//! trace error over all rows, mean and standard error over eight seeds, over that of the same method among all rows.

use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use dpp_nystrom::approximation::trace_error_of_points;
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{Bandwidth, KernelKind};
use dpp_nystrom::landmarks::methods::find;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::Ridge;
use dpp_nystrom_cluster::{Session, TableSource, Wanted, choose};
use std::fs::File;
use std::sync::Arc;

const SEEDS: u64 = 8;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let Some(path) = words.first() else {
        println!("no file was named: nothing is measured");
        return;
    };
    let landmarks = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(50);
    let table = table::read(path.as_ref(), &Target::Last).expect("a table");
    let rows = table.rows();
    let folder = tempfile::tempdir().expect("a folder");
    let parquet = folder.path().join("rows.parquet");
    let column = |at: usize| (0..rows).map(|row| table.row(row)[at]).collect::<Vec<f64>>();
    let features = (0..table.dim).map(|at| (format!("x{at}"), column(at)));
    let all = features.chain([("y".to_owned(), table.target.clone().expect("a target"))]);
    let arrays = all.map(|(name, values)| (name, Arc::new(Float64Array::from(values)) as ArrayRef));
    let batch = RecordBatch::try_from_iter(arrays).expect("columns of one length");
    let mut writer = ArrowWriter::try_new(File::create(&parquet).expect("a file"), batch.schema(), None)
        .expect("a writer");
    writer.write(&batch).expect("rows written");
    writer.close().expect("a file");

    let mut session = Session::in_process(None).expect("a session");
    let source = TableSource { name: "t".into(), path: parquet.display().to_string() };
    session.add(&source).await.expect("a table");
    let query = session.rows(None, None).await.expect("rows");
    // All rows, none of them twice.
    let whole = query.survey(rows, 0).await.expect("a survey").prepared();
    println!("{path}: {} different rows x {}, {landmarks} landmarks", whole.len(), whole.dim);
    for name in ["kdpp", "refined", "uniform"] {
        let mut among_all = f64::NAN;
        for candidates in [rows, 16_384, 4_096, 1_024, 256] {
            if candidates > rows {
                continue;
            }
            let mut errors = Vec::new();
            for seed in 0..SEEDS {
                let survey = query.survey(candidates, seed).await.expect("a survey");
                let wanted = Wanted {
                    landmarks,
                    method: find(name).expect("a method"),
                    kernel: KernelKind::Gaussian,
                    bandwidth: Bandwidth::Value(bandwidth(&whole)),
                    ridge: Ridge::Value(1e-6),
                    seed,
                };
                let lesson = choose(&survey, &wanted, &NoObserver).expect("landmarks").lesson;
                let ground =
                    whole.ground(KernelSpec { kind: lesson.kernel, sigma: lesson.sigma }).expect("rows");
                errors.push(trace_error_of_points(&ground, &lesson.landmarks).expect("an error").fraction);
            }
            let mean = errors.iter().sum::<f64>() / SEEDS as f64;
            let spread = errors.iter().map(|error| (error - mean) * (error - mean)).sum::<f64>();
            let standard_error = (spread / (SEEDS - 1) as f64 / SEEDS as f64).sqrt();
            if candidates == rows {
                among_all = mean;
            }
            println!(
                "{name:8} among {candidates:6}: {mean:.5} +- {standard_error:.5}, {:.3} of that among all",
                mean / among_all
            );
        }
    }
}

/// Twice the median distance: the same for all.
fn bandwidth(data: &dpp_nystrom::data::Prepared) -> f64 {
    2.0 * dpp_nystrom::kernel::median_distance(&data.rows, data.dim, KernelKind::Gaussian, 0)
        .expect("rows that differ")
}
