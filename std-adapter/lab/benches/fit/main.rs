//! The cost of the regression on landmarks: `cargo bench -p dpp-nystrom-lab --bench fit [-- arguments]`.
//!
//! | argument | |
//! | --- | --- |
//! | `50`, `100`, ... | only these numbers of landmarks; by default 50 to 1,000 |
//! | `--rows N` | only this number of rows; by default 10⁴ and 10⁵ |
//! | `--quick` | 10⁴ rows only |
//! | `--json FILE` | also write every table row as a line of JSON |
//!
//! Two tables: a fit over `faer`'s product `(N × c)(c × c)`, which takes the multiply-adds that whitening and
//! the triangle take, and a fit with the ridge chosen over one with it given. A pass is what the second half
//! of the rows adds to a fit: it leaves out what does not depend on N.
//!
//! The claims are ratios, so both sides run alternately and a row shows the median over the pairs. One
//! thread, in processor time where the system reports it (Linux), else elapsed.

mod cpu_time;
#[path = "../chain/report.rs"]
mod report;

use cpu_time::seconds_of;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::LandmarkSet;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table::Table;
use dpp_nystrom::faer::linalg::matmul::matmul;
use dpp_nystrom::faer::traits::RealField;
use dpp_nystrom::faer::{Accum, Mat, Par};
use dpp_nystrom::kernel::{KernelKind, KernelSpec, Precision, median_distance};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{
    Ridge,
    regression::{FitParams, fit, ridge_grid},
};
use dpp_nystrom_core::Random;
use rand_core::Rng;
use report::Report;
use std::process::ExitCode;

const LANDMARKS: [usize; 5] = [50, 100, 200, 500, 1_000];
const COUNTS: [usize; 2] = [10_000, 100_000];
const WIDTH: usize = 8;

/// Seconds after which no further pair begins, and the most pairs.
const ENOUGH: f64 = 10.0;
const PAIRS: usize = 11;

/// Rows per product.
const BLOCK: usize = 2_048;

const PASS_HEADS: &[&str] =
    &["pass/product", "fit/product", "    c", "       N", "values", "fit s", "product s", "pairs"];
const HEADS: &[&str] = &["cv/given", "    c", "      N", "values", "cv s", "given s", "pairs"];

/// What to run.
struct Request {
    landmarks: Vec<usize>,
    rows: Vec<usize>,
    json: Option<String>,
}

impl Request {
    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut request = Self { landmarks: Vec::new(), rows: COUNTS.to_vec(), json: None };
        while let Some(argument) = arguments.next() {
            match (argument.as_str(), argument.parse()) {
                // Passed by Cargo.
                ("--bench", _) => {}
                ("--quick", _) => request.rows = vec![COUNTS[0]],
                ("--rows", _) => {
                    let rows = arguments.next().and_then(|rows| rows.parse().ok()).filter(|&rows| rows > 1);
                    request.rows = vec![rows.ok_or("--rows needs a number of at least 2")?];
                }
                ("--json", _) => request.json = Some(arguments.next().ok_or("--json needs a file")?),
                (_, Ok(c)) if c > 0 => request.landmarks.push(c),
                _ => return Err(format!("invalid argument {argument:?}: expected a number of landmarks")),
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
        weights: None,
    };
    Prepared::new(table, None, 0)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Return seconds of `one` and `other`, which run alternately.
fn pairs(
    mut one: impl FnMut() -> Result<f64, Error>,
    mut other: impl FnMut() -> Result<f64, Error>,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    while ones.is_empty() || (ones.len() < PAIRS && ones.iter().sum::<f64>() < ENOUGH) {
        ones.push(one()?);
        others.push(other()?);
    }
    Ok((ones, others))
}

/// Return the seconds of `(N × c)(c × c)`, in blocks of rows.
fn product_seconds<T: RealField>(count: usize, c: usize, value: impl Fn(usize) -> T) -> Result<f64, Error> {
    let rows = count.min(BLOCK);
    let left = Mat::<T>::from_fn(rows, c, |i, j| value(7 * i + 13 * j));
    let right = Mat::<T>::from_fn(c, c, |i, j| value(3 * i + 17 * j));
    let mut out = Mat::<T>::zeros(rows, c);
    let seconds = seconds_of(|| {
        matmul(out.as_mut(), Accum::Replace, left.as_ref(), right.as_ref(), T::one_impl(), Par::Seq);
        Ok::<(), Error>(())
    })?;
    Ok(seconds * count as f64 / rows as f64)
}

fn pass(request: &Request, report: &mut Report) -> Result<(), Error> {
    let title = format!(
        "seconds of a pass, and of a fit with the ridge given, over faer's product (N x c)(c x c) in blocks of {BLOCK} rows; d = {WIDTH}, \
         sigma = 1 median, landmarks given"
    );
    let mut table = report.table("pass", &title, PASS_HEADS);
    for &count in &request.rows {
        let data = rows(count)?;
        let sigma = median_distance(data.rows(), WIDTH, KernelKind::Gaussian, 0)?;
        let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma };
        let half = rows(count / 2)?;
        for &c in request.landmarks.iter().filter(|&&c| c <= count / 2) {
            let landmarks = LandmarkSet::Points(data.rows()[..c * WIDTH].to_vec());
            let value = |at: usize| (at % 101) as f64 / 101.0 - 0.5;
            for (precision, name) in [(Precision::F64, "f64"), (Precision::F32, "f32")] {
                let params = FitParams { kernel, ridge: Ridge::Value(1e-6), precision, seed: 0 };
                let mut halves = Vec::new();
                let (fits, products) = pairs(
                    || {
                        halves.push(seconds_of(|| fit(&half, &landmarks, params, None, &NoObserver))?);
                        seconds_of(|| fit(&data, &landmarks, params, None, &NoObserver))
                    },
                    || match precision {
                        Precision::F32 => product_seconds(count, c, |at| value(at) as f32),
                        _ => product_seconds(count, c, value),
                    },
                )?;
                let passes = fits.iter().zip(&halves).map(|(fit, half)| 2.0 * (fit - half));
                let over = |seconds: &mut dyn Iterator<Item = f64>| {
                    median(seconds.zip(&products).map(|(seconds, product)| seconds / product).collect())
                };
                table.row(&[
                    over(&mut { passes }).into(),
                    over(&mut fits.iter().copied()).into(),
                    c.into(),
                    count.into(),
                    name.into(),
                    median(fits.clone()).into(),
                    median(products).into(),
                    fits.len().into(),
                ]);
            }
        }
    }
    Ok(())
}

fn ridge(request: &Request, report: &mut Report) -> Result<(), Error> {
    let title = format!(
        "seconds of a fit with the ridge cross-validated ({} values, ten folds) over one with the ridge given; d = \
         {WIDTH}, sigma = 1 median, landmarks given",
        ridge_grid().count()
    );
    let mut table = report.table("ridge", &title, HEADS);
    for &count in &request.rows {
        let data = rows(count)?;
        let sigma = median_distance(data.rows(), WIDTH, KernelKind::Gaussian, 0)?;
        let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma };
        for &c in request.landmarks.iter().filter(|&&c| c <= count) {
            let landmarks = LandmarkSet::Points(data.rows()[..c * WIDTH].to_vec());
            for (precision, name) in [(Precision::F64, "f64"), (Precision::F32, "f32")] {
                let seconds = |ridge| {
                    let params = FitParams { kernel, ridge, precision, seed: 0 };
                    seconds_of(|| fit(&data, &landmarks, params, None, &NoObserver))
                };
                let (chosen, given) =
                    pairs(|| seconds(Ridge::CrossValidated), || seconds(Ridge::Value(1e-6)))?;
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
        Ok(pool) => pool
            .install(|| pass(&request, &mut report).and_then(|()| ridge(&request, &mut report)))
            .map_err(|error| error.to_string()),
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
