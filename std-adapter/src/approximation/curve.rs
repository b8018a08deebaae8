//! The trace error after each landmark of an ordered set, in one pass.

use crate::approximation::features::{Ground, independent};
use crate::error::Error;
use crate::heap::Heap;
use dpp_nystrom_core::{Error as CoreError, GroundSet, Nystrom};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows per task. Sums are taken block by block, so that they do not depend on the number of threads.
const BLOCK: usize = 1_024;

/// A number of landmarks and its approximation error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The number of landmarks c.
    pub landmarks: usize,
    /// The error, in the measure of the criterion.
    pub error: f64,
}

/// Return the trace fraction after each landmark, by one pass over the rows on all threads.
///
/// A landmark that depends on preceding ones leaves the error unchanged.
pub(crate) fn trace_curve(ground: &Ground<'_>, order: &[usize]) -> Result<Vec<CurvePoint>, Error> {
    let refused = |reason| Error::Landmarks { reason };
    let mut memory = Heap::new(order.len())?;
    let landmarks = independent(ground, order, &mut memory)?;
    let nystrom = Nystrom::new(&landmarks);
    let rank = nystrom.rank();
    // The trace removed by each landmark, and the total trace.
    let blocks: Vec<(Vec<f64>, f64)> = (0..ground.len().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let (mut taken, mut trace) = (vec![0.0; rank], 0.0);
            let mut phi = vec![0.0; rank];
            for row in block * BLOCK..ground.len().min((block + 1) * BLOCK) {
                nystrom.features(row, &mut phi)?;
                taken.iter_mut().zip(&phi).for_each(|(taken, phi)| *taken += phi * phi);
                trace += ground.diagonal(row);
            }
            Ok((taken, trace))
        })
        .collect::<Result<_, CoreError>>()
        .map_err(refused)?;
    let trace: f64 = blocks.iter().map(|block| block.1).sum();
    let mut left = trace;
    let mut next = landmarks.members().iter().enumerate().peekable();
    let curve = order.iter().enumerate().map(|(at, row)| {
        if let Some((k, _)) = next.next_if(|(_, member)| *member == row) {
            left -= blocks.iter().map(|block| block.0[k]).sum::<f64>();
        }
        let error = if trace > 0.0 { (left / trace).max(0.0) } else { 0.0 };
        CurvePoint { landmarks: at + 1, error }
    });
    Ok(curve.collect())
}
