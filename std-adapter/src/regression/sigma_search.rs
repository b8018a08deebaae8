//! Selection of the bandwidth.

use crate::data::prepared::Prepared;
use crate::error::Error;
use crate::kernel::bandwidth::{Sigma, median_distance};
use crate::kernel::kind::KernelKind;
use crate::observer::{NoObserver, Observer, go_on};
use crate::regression::regress::{Input, regress};
use crate::regression::ridge::{Ridge, ridge_grid};
use crate::rng::{RngStream, stream};
use rand::seq::index;

/// The bandwidths tried in cross-validation, in multiples of the median distance.
pub const SIGMA_GRID: [f64; 9] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// The maximum number of rows used in cross-validation.
const SAMPLE: usize = 2_000;

/// The maximum number of landmarks of the cross-validated regression.
const LANDMARKS: usize = 100;

/// A bandwidth and how it was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChosenBandwidth {
    /// σ, in units of the standardised features; 1 for a kernel without a bandwidth.
    pub sigma: f64,
    /// Whether the best value is at an end of the grid: the optimum may lie outside.
    pub at_edge: bool,
}

/// Choose the bandwidth according to `choice`.
///
/// Cross-validation selects the value of [`SIGMA_GRID`] with the least 10-fold error of ridge regression, each at its
/// best ridge, on up to 100 landmarks drawn uniformly from a sample of up to 2,000 rows.
///
/// # Errors
/// [`Error::MedianZero`]; for `cv` [`Error::NoTarget`], [`Error::Cancelled`], and those of [`fit`](crate::regression::fit()).
pub fn choose_bandwidth(
    choice: Sigma,
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
        Sigma::Value(sigma) => Ok(ChosenBandwidth { sigma, at_edge: false }),
        Sigma::Median(multiple) => Ok(ChosenBandwidth { sigma: multiple * median()?, at_edge: false }),
        Sigma::CrossValidated => cross_validate(kernel, data, median()?, seed, observer),
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
    let grid: Vec<f64> = ridge_grid().collect();
    observer.begin("bandwidths", SIGMA_GRID.len() as u64);
    let mut best = (0, f64::INFINITY);
    for (at, multiple) in SIGMA_GRID.into_iter().enumerate() {
        let kernel = kernel.build::<f64>(multiple * median)?;
        let problem = Input {
            rows: &rows,
            dim: data.dim,
            targets: targets.as_slice().into(),
            landmarks,
            kernel: &kernel,
        };
        let (fitted, _) = regress(problem, Ridge::CrossValidated, &grid, seed, &mut (), &NoObserver)?;
        let error = fitted.validation_error.unwrap_or(f64::INFINITY);
        if error < best.1 {
            best = (at, error);
        }
        observer.advance(1);
        go_on(observer)?;
    }
    observer.end();
    let at_edge = best.0 == 0 || best.0 + 1 == SIGMA_GRID.len();
    Ok(ChosenBandwidth { sigma: SIGMA_GRID[best.0] * median, at_edge })
}
