//! The approximation error of a set of landmarks: trace, Frobenius and spectral error of `K - K̃`.

use crate::approximation::features::{independent, independent_points};
use crate::approximation::ground::Ground;
use crate::error::Error;
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Nystrom, Points};
use dpp_nystrom_host::heap::{Heap, zeros};
use dpp_nystrom_host::simd::Lanes;
use rayon::prelude::*;
use std::ops::Range;

/// Rows per task. Sums are taken block by block, so that they do not depend on the number of threads.
const BLOCK: usize = 1_024;

/// `tr(K - K̃)` and its fraction of `tr K`.
///
/// ```
/// use dpp_nystrom::approximation::TraceError;
///
/// assert_eq!(TraceError::of(2.0, 8.0).fraction, 0.25);
/// assert_eq!(TraceError::of(0.0, 0.0).fraction, 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TraceError {
    /// `tr(K - K̃)`.
    pub error: f64,
    /// `tr(K - K̃) / tr K`.
    pub fraction: f64,
}

impl TraceError {
    /// Return the error and its fraction of `trace`; 0 for a trace of 0.
    pub fn of(error: f64, trace: f64) -> Self {
        Self { error, fraction: if trace > 0.0 { error / trace } else { 0.0 } }
    }
}

/// Measure the trace error of these landmarks, by one pass over the rows on all threads.
///
/// Landmarks that depend on preceding ones are dropped, in accordance with the pseudo-inverse.
///
/// # Errors
/// `ErrorKind::Landmarks`, `ErrorKind::Memory`.
///
/// ```
/// use dpp_nystrom::{approximation::trace_error, core::Matrix};
///
/// let matrix = Matrix::new(&[4.0, 2.0, 2.0, 2.0])?;
/// let found = trace_error(&matrix, &[0])?;
/// assert!((found.error - 1.0).abs() < 1e-12); // 2 - 2²/4
/// assert!((found.fraction - 1.0 / 6.0).abs() < 1e-12);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn trace_error<G>(ground: &G, landmarks: &[usize]) -> Result<TraceError, Error>
where
    G: GroundSet<f64> + Sync + ?Sized,
{
    let mut memory = Heap::new(landmarks.len())?;
    let landmarks = independent(ground, landmarks, &mut memory)?;
    residuals(ground, &landmarks, |row, phi| {
        ground.column(row, landmarks.members(), phi);
        Ok(())
    })
}

/// Measure the [`trace_error`] of landmarks given as points with the same number of features as the rows.
///
/// # Errors
/// Those of [`trace_error`], `ErrorKind::Argument`.
pub fn trace_error_of_points(ground: &Ground<'_>, points: &[f64]) -> Result<TraceError, Error> {
    let home = Points::new(points, ground.features(), *ground.kernel())?;
    let mut memory = Heap::new(home.len())?;
    let landmarks = independent_points(&home, &mut memory)?;
    let kernel = |row, phi: &mut [f64]| home.column_at(ground.row(row), landmarks.members(), phi);
    residuals(ground, &landmarks, kernel)
}

/// [`trace_error_of_points`] in vector lanes, for many features: a residual at the level of rounding counts
/// as zero.
pub(crate) fn trace_error_in_lanes(ground: &Ground<'_>, points: &[f64]) -> Result<TraceError, Error> {
    let home = Points::new(points, ground.features(), *ground.kernel())?;
    let mut memory = Heap::new(home.len())?;
    let landmarks = independent_points(&home, &mut memory)?;
    let lanes = Lanes::new(landmarks.len(), ground.features())?;
    let mut residuals = zeros(ground.len(), 0.0)?;
    lanes.residuals_of(ground, &landmarks, None, &mut residuals, &|| false)?;
    let trace: f64 = (0..ground.len()).map(|row| ground.diagonal(row)).sum();
    Ok(TraceError::of(residuals.iter().sum(), trace))
}

/// Measure the trace error of landmarks. `kernel` writes the kernel of a row with the landmarks.
fn residuals<G: GroundSet<f64> + Sync + ?Sized>(
    ground: &G,
    landmarks: &Landmarks<'_, f64, G>,
    kernel: impl Fn(usize, &mut [f64]) -> Result<(), CoreError> + Sync,
) -> Result<TraceError, Error> {
    let nystrom = Nystrom::new(landmarks);
    trace_over(ground.len(), nystrom.rank(), |row, phi| {
        kernel(row, phi)?;
        let diagonal = ground.diagonal(row);
        Ok((nystrom.residual_at(row, diagonal, phi)?, diagonal))
    })
    .map_err(Error::landmarks)
}

/// Sum the trace error over `len` rows on all threads.
///
/// `residual` returns the residual and the diagonal entry of a row; it gets a buffer of `rank` values.
pub(crate) fn trace_over(
    len: usize,
    rank: usize,
    residual: impl Fn(usize, &mut [f64]) -> Result<(f64, f64), CoreError> + Sync,
) -> Result<TraceError, CoreError> {
    let blocks = over_blocks(len, rank, |rows, phi| {
        let (mut error, mut trace) = (0.0, 0.0);
        for row in rows {
            let (left, diagonal) = residual(row, phi)?;
            error += left;
            trace += diagonal;
        }
        Ok((error, trace))
    })?;
    let sum = |part: fn(&(f64, f64)) -> f64| blocks.iter().map(part).sum();
    Ok(TraceError::of(sum(|block| block.0), sum(|block| block.1)))
}

/// Run `work` on each block of `len` rows on all threads. `work` gets a buffer of `rank` values.
pub(crate) fn over_blocks<A: Send>(
    len: usize,
    rank: usize,
    work: impl Fn(Range<usize>, &mut [f64]) -> Result<A, CoreError> + Sync,
) -> Result<Vec<A>, CoreError> {
    let blocks = (0..len.div_ceil(BLOCK)).into_par_iter();
    blocks.map(|block| work(block * BLOCK..len.min((block + 1) * BLOCK), &mut vec![0.0; rank])).collect()
}
