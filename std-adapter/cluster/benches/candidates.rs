//! The trace error of landmarks selected from a sample, relative to landmarks selected from all rows.
//!
//! `cargo bench --profile cluster -p dpp-nystrom-cluster --bench candidates -- FILE [LANDMARKS]`
//!
//! FILE is a table as `dpp-nystrom` reads it, of rows that fit into memory. One line for each method and
//! number of candidates: the trace error on all rows, mean and standard error over eight seeds, and its ratio
//! to that of the same method among all rows.

use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use dpp_nystrom::Ridge;
use dpp_nystrom::approximation::trace_error_of_points;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table::{self, Target};
use dpp_nystrom::landmarks::Selector;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::pipeline::{Landmarks, Params, select};
use dpp_nystrom::selectors::{Kdpp, Refined, Uniform};
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, KernelParams},
};
use dpp_nystrom_cluster::{Session, SurveyedRows, TableSource};
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
    // All distinct rows.
    let whole = query.survey(rows, 0).await.expect("a survey").prepared(String::new()).expect("a sample");
    println!("{path}: {} distinct rows x {}, {landmarks} landmarks", whole.len(), whole.dim());
    let selectors: [&dyn Selector; 3] = [&Kdpp::default(), &Refined::default(), &Uniform];
    for selector in selectors {
        let name = selector.name();
        let mut among_all = f64::NAN;
        for candidates in [rows, 16_384, 4_096, 1_024, 256] {
            if candidates > rows {
                continue;
            }
            let mut errors = Vec::new();
            for seed in 0..SEEDS {
                let survey = query.survey(candidates, seed).await.expect("a survey");
                let params = Params {
                    kernel: KernelParams {
                        sigma: Sigma::Value(bandwidth(&whole)),
                        ..KernelParams::default()
                    },
                    landmarks: Landmarks::Count(landmarks),
                    selector,
                    ridge: Ridge::Value(1e-6),
                    seed,
                    ..Params::default()
                };
                let source = SurveyedRows::new(&query, survey).expect("a sample");
                let selected = select(&source, &params, &NoObserver).expect("landmarks");
                let points = selected.selection.landmarks.features(&source).expect("rows of the sample");
                let ground = whole.ground(selected.kernel).expect("rows");
                errors.push(trace_error_of_points(&ground, &points).expect("an error").fraction);
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

/// Return twice the median distance.
fn bandwidth(data: &Prepared) -> f64 {
    2.0 * dpp_nystrom::kernel::median_distance(data.rows(), data.dim(), KernelKind::Gaussian, 0)
        .expect("rows that differ")
}
