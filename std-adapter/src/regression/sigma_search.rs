//! The bandwidth that a choice means for these rows.

use crate::data::prepared::Prepared;
use crate::error::Error;
use crate::kernel::bandwidth::{Bandwidth, median_distance};
use crate::kernel::kind::KernelKind;
use crate::observer::{NoObserver, Observer};
use crate::regression::fit::{RegressionInput, fit};
use crate::regression::ridge::Ridge;
use crate::rng::{RngStream, stream};
use rand::seq::index;

/// The bandwidths that cross-validation tries, in medians.
pub const SIGMA_GRID: [f64; 9] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// Rows that cross-validation looks at.
const SAMPLE: usize = 2_000;

/// Landmarks that it regresses on.
const LANDMARKS: usize = 100;

/// A bandwidth, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChosenBandwidth {
    /// σ, in units of the standardised features; 1 for a kernel that has none.
    pub sigma: f64,
    /// The best was at an end of the grid: the true best may lie beyond.
    pub at_edge: bool,
}

/// The bandwidth that `choice` means. Cross-validated: the one of [`SIGMA_GRID`] with the least
/// 10-fold error of ridge regression, the ridge free, on up to 100 landmarks drawn uniformly from a
/// sample of up to 2,000 rows.
///
/// # Errors
/// [`Error::MedianZero`]; for `cv` [`Error::NoTarget`], and those of [`fit`].
pub fn choose_bandwidth(
    choice: Bandwidth,
    kernel: KernelKind,
    data: &Prepared,
    seed: u64,
    observer: &dyn Observer,
) -> Result<ChosenBandwidth, Error> {
    if !kernel.has_bandwidth() {
        return Ok(ChosenBandwidth { sigma: 1.0, at_edge: false });
    }
    let median = || median_distance(&data.rows, data.dim, kernel, seed);
    match choice {
        Bandwidth::Value(sigma) => Ok(ChosenBandwidth { sigma, at_edge: false }),
        Bandwidth::Median(multiple) => Ok(ChosenBandwidth { sigma: multiple * median()?, at_edge: false }),
        Bandwidth::CrossValidated => cross_validate(kernel, data, median()?, seed, observer),
    }
}

fn cross_validate(
    kernel: KernelKind,
    data: &Prepared,
    median: f64,
    seed: u64,
    observer: &dyn Observer,
) -> Result<ChosenBandwidth, Error> {
    let target = data.target()?;
    let mut random = stream(seed, RngStream::Bandwidth);
    let sample = index::sample(&mut random, data.len(), data.len().min(SAMPLE)).into_vec();
    let rows: Vec<f64> = data.gather(&sample)?;
    let targets: Vec<f64> = sample.iter().map(|&row| target.values[row]).collect();
    let landmarks = &rows[..sample.len().min(LANDMARKS) * data.dim];
    observer.begin("bandwidths", SIGMA_GRID.len() as u64);
    let mut best = (0, f64::INFINITY);
    for (at, multiple) in SIGMA_GRID.into_iter().enumerate() {
        let kernel = kernel.build::<f64>(multiple * median)?;
        let problem = RegressionInput {
            rows: &rows,
            dim: data.dim,
            targets: targets.as_slice().into(),
            landmarks,
            kernel: &kernel,
        };
        let fitted = fit(problem, Ridge::CrossValidated, seed, &NoObserver)?;
        let error = fitted.validation_error.unwrap_or(f64::INFINITY);
        if error < best.1 {
            best = (at, error);
        }
        observer.advance(1);
    }
    observer.end();
    let at_edge = best.0 == 0 || best.0 + 1 == SIGMA_GRID.len();
    Ok(ChosenBandwidth { sigma: SIGMA_GRID[best.0] * median, at_edge })
}
