//! What a set of landmarks misses: trace, Frobenius and spectral error of `K - K̃`.

use crate::approximation::features::{Ground, independent, independent_points};
use crate::error::Error;
use crate::heap::Heap;
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Nystrom, Points};
use rayon::prelude::*;

/// Rows to a task: sums are taken block by block, so that they do not depend on the threads.
const BLOCK: usize = 1_024;

/// `tr(K - K̃)` and its share of `tr K`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceError {
    /// `tr(K - K̃)`.
    pub error: f64,
    /// `tr(K - K̃) / tr K`.
    pub fraction: f64,
}

/// The trace error of these landmarks, by one pass over the rows on all threads. Landmarks that
/// depend on those before them are left out, as the pseudo-inverse has it.
///
/// # Errors
/// [`Error::Landmarks`], [`Error::Memory`].
pub fn trace_error(ground: &Ground<'_>, landmarks: &[usize]) -> Result<TraceError, Error> {
    let mut memory = Heap::new(landmarks.len())?;
    let landmarks = independent(ground, landmarks, &mut memory)?;
    missed(ground, ground, &landmarks)
}

/// [`trace_error`] of landmarks that are points of their own, as many features each as the rows.
///
/// # Errors
/// Those of [`trace_error`], [`Error::Core`].
pub fn trace_error_of_points(ground: &Ground<'_>, points: &[f64]) -> Result<TraceError, Error> {
    let home = Points::new(points, ground.features(), *ground.kernel())?;
    let mut memory = Heap::new(home.len())?;
    let landmarks = independent_points(&home, &mut memory)?;
    missed(ground, &home, &landmarks)
}

/// The trace error of landmarks that are rows of `home`.
fn missed(
    ground: &Ground<'_>,
    home: &Ground<'_>,
    landmarks: &Landmarks<'_, f64, Ground<'_>>,
) -> Result<TraceError, Error> {
    let nystrom = Nystrom::new(landmarks);
    let blocks: Vec<(f64, f64)> = (0..ground.len().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut phi = vec![0.0; nystrom.rank()];
            let (mut error, mut trace) = (0.0, 0.0);
            for row in block * BLOCK..ground.len().min((block + 1) * BLOCK) {
                home.column_at(ground.row(row), landmarks.members(), &mut phi);
                let diagonal = ground.diagonal(row);
                error += nystrom.residual_at(row, diagonal, &mut phi)?;
                trace += diagonal;
            }
            Ok((error, trace))
        })
        .collect::<Result<_, CoreError>>()
        .map_err(|reason| Error::Landmarks { reason })?;
    let error = blocks.iter().map(|block| block.0).sum();
    let trace: f64 = blocks.iter().map(|block| block.1).sum();
    Ok(TraceError { error, fraction: if trace > 0.0 { error / trace } else { 0.0 } })
}
