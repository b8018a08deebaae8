//! The cost of the regression on landmarks: `cargo bench -p dpp-nystrom --bench fit [-- arguments]`.
//!
//! | argument | |
//! | --- | --- |
//! | `50`, `100`, ... | only these numbers of landmarks |
//! | `--quick` | 10⁴ rows only |
//! | `--json FILE` | also write every table row as a line of JSON |
//!
//! The claims are ratios, so both sides run alternately and a row shows the median over the pairs. One thread, in
//! processor time where the system reports it (Linux), else elapsed.

mod cpu_time;
#[path = "../chain/report.rs"]
mod report;

use cpu_time::seconds_of;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::LandmarkSet;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table::Table;
use dpp_nystrom::kernel::{KernelKind, KernelSpec, Precision, median_distance};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::{FitParams, Ridge, fit, ridge_grid};
use dpp_nystrom_core::Random;
use rand_core::Rng;
use report::Report;
use std::process::ExitCode;

const LANDMARKS: [usize; 4] = [50, 100, 500, 1_000];
const COUNTS: [usize; 2] = [10_000, 100_000];
const WIDTH: usize = 8;

/// Seconds after which no further pair begins, and the most pairs.
const ENOUGH: f64 = 10.0;
const PAIRS: usize = 11;

const HEADS: &[&str] = &["cv/given", "    c", "      N", "values", "cv s", "given s", "pairs"];

/// What to run.
struct Request {
    landmarks: Vec<usize>,
    quick: bool,
    json: Option<String>,
}

impl Request {
    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request = Self { landmarks: Vec::new(), quick: false, json: None };
        while let Some(argument) = arguments.next() {
            match (argument.as_str(), argument.parse()) {
                // Passed by Cargo.
                ("--bench", _) => {}
                ("--quick", _) => request.quick = true,
                ("--json", _) => request.json = Some(arguments.next().ok_or("--json needs a file")?),
                (_, Ok(c)) if LANDMARKS.contains(&c) => request.landmarks.push(c),
                _ => return Err(format!("invalid argument {argument:?}: expected one of {LANDMARKS:?}")),
            }
        }
        if request.landmarks.is_empty() {
            request.landmarks = LANDMARKS.to_vec();
        }
        Ok(request)
    }
}

/// Generate rows of independent features, uniform in [-1, 1), with a smooth target and noise.
fn rows(count: usize) -> Result<Prepared, Error> {
    let mut random = Random::seeded(1);
    let mut uniform = || f64::from(random.next_u32()) / f64::from(1_u32 << 31) - 1.0;
    let features: Vec<f64> = (0..count * WIDTH).map(|_| uniform()).collect();
    let noiseless = |row: &[f64]| (3.0 * row[0]).sin() + row[1] * row[2] + (row[3] + row[4]).cos();
    let target = features.chunks(WIDTH).map(|row| noiseless(row) + 0.1 * uniform()).collect();
    let table = Table {
        name: "generated".into(),
        feature_names: (0..WIDTH).map(|k| format!("x{k}")).collect(),
        dim: WIDTH,
        features,
        target: Some(target),
        target_name: Some("y".into()),
    };
    Prepared::new(table, None, 0)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn run(request: &Request, report: &mut Report) -> Result<(), Error> {
    let title = format!(
        "seconds of a fit with the ridge cross-validated ({} values, ten folds) over one with the ridge given; d = \
         {WIDTH}, sigma = 1 median, landmarks given",
        ridge_grid().count()
    );
    let mut table = report.table("ridge", &title, HEADS);
    for &count in &COUNTS[..if request.quick { 1 } else { 2 }] {
        let data = rows(count)?;
        let sigma = median_distance(&data.rows, WIDTH, KernelKind::Gaussian, 0)?;
        let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma };
        for &c in &request.landmarks {
            let landmarks = LandmarkSet::Points(data.rows[..c * WIDTH].to_vec());
            for (precision, name) in [(Precision::F64, "f64"), (Precision::F32, "f32")] {
                let seconds = |ridge| {
                    let params = FitParams { kernel, ridge, precision, seed: 0 };
                    seconds_of(|| fit(&data, &landmarks, params, None, &NoObserver))
                };
                let (mut chosen, mut given) = (Vec::new(), Vec::new());
                while chosen.is_empty() || (chosen.len() < PAIRS && chosen.iter().sum::<f64>() < ENOUGH) {
                    chosen.push(seconds(Ridge::CrossValidated)?);
                    given.push(seconds(Ridge::Value(1e-6))?);
                }
                let pairs = chosen.len();
                let ratios = chosen.iter().zip(&given).map(|(chosen, given)| chosen / given).collect();
                table.row(&[
                    median(ratios).into(),
                    c.into(),
                    count.into(),
                    name.into(),
                    median(chosen).into(),
                    median(given).into(),
                    pairs.into(),
                ]);
            }
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let request = match Request::from_arguments(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let mut report = Report::default();
    // A pool with only this thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    let outcome = match pool {
        Ok(pool) => pool.install(|| run(&request, &mut report)).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let written = match &request.json {
        Some(path) => std::fs::write(path, report.json()).map_err(|error| format!("{path}: {error}")),
        None => Ok(()),
    };
    if let Err(message) = outcome.and(written) {
        eprintln!("{message}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
