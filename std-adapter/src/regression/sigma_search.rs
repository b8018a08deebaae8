//! Selection of the bandwidth.

use crate::data::{prepared::Prepared, source::RowSource};
use crate::error::Error;
use crate::kernel::{bandwidth::Sigma, bandwidth::median_distance, kind::KernelKind, spec::KernelSpec};
use crate::observer::{Observer, go_on};
use crate::regression::{input::Input, regress::cross_validate, ridge::ridge_grid};
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
        Sigma::CrossValidated => best_bandwidth(kernel, data, median()?, seed, observer),
    }
}

fn best_bandwidth(
    kernel: KernelKind,
    data: &Prepared,
    median: f64,
    seed: u64,
    observer: &dyn Observer,
) -> Result<ChosenBandwidth, Error> {
    let mut random = stream(seed, RngStream::Bandwidth);
    let rows = index::sample(&mut random, data.len(), data.len().min(SAMPLE)).into_vec();
    let sample = RowSource::gather(data, &rows)?;
    let landmarks = &sample.rows[..rows.len().min(LANDMARKS) * data.dim];
    observer.begin("bandwidths", SIGMA_GRID.len() as u64);
    let mut best = (0, f64::INFINITY);
    for (at, multiple) in SIGMA_GRID.into_iter().enumerate() {
        let kernel = KernelSpec { kind: kernel, sigma: multiple * median }.build()?;
        let input = Input::of(&sample, landmarks, kernel)?;
        let error =
            cross_validate(input, ridge_grid().collect(), seed)?.validation_error.unwrap_or(f64::INFINITY);
        if error < best.1 {
            best = (at, error);
        }
        observer.advance(1);
        go_on(observer)?;
    }
    observer.end();
    let (best, _) = best;
    Ok(ChosenBandwidth { sigma: SIGMA_GRID[best] * median, at_edge: at_edge(best, SIGMA_GRID.len()) })
}

/// Return whether a place is the first or the last of several.
pub(crate) fn at_edge(place: usize, count: usize) -> bool {
    count > 1 && (place == 0 || place + 1 == count)
}
