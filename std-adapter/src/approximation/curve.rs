//! The trace error after each landmark of an ordered set, in one pass.

use crate::approximation::{errors::TraceError, errors::over_blocks, features::independent};
use crate::error::Error;
use dpp_nystrom_core::{GroundSet, Nystrom};
use dpp_nystrom_host::heap::Heap;
use serde::{Deserialize, Serialize};

/// A number of landmarks and its approximation error.
///
/// ```
/// use dpp_nystrom::approximation::CurvePoint;
///
/// let curve = [(4, 0.2), (8, 0.05), (16, 0.002)].map(|(landmarks, error)| CurvePoint { landmarks, error });
/// let within = curve.iter().find(|point| point.error < 0.1);
/// assert_eq!(within.map(|point| point.landmarks), Some(8));
/// ```
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
pub(crate) fn trace_curve<G>(ground: &G, order: &[usize]) -> Result<Vec<CurvePoint>, Error>
where
    G: GroundSet<f64> + Sync + ?Sized,
{
    let mut memory = Heap::new(order.len())?;
    let landmarks = independent(ground, order, &mut memory)?;
    let nystrom = Nystrom::new(&landmarks);
    // The trace removed by each landmark, and the total trace.
    let blocks = over_blocks(ground.len(), nystrom.rank(), |rows, phi| {
        let (mut taken, mut trace) = (vec![0.0; phi.len()], 0.0);
        for row in rows {
            nystrom.features(row, phi)?;
            taken.iter_mut().zip(&*phi).for_each(|(taken, phi)| *taken += phi * phi);
            trace += ground.diagonal(row);
        }
        Ok((taken, trace))
    })
    .map_err(Error::landmarks)?;
    let trace: f64 = blocks.iter().map(|block| block.1).sum();
    let mut left = trace;
    let mut next = landmarks.members().iter().enumerate().peekable();
    let curve = order.iter().enumerate().map(|(at, row)| {
        if let Some((k, _)) = next.next_if(|(_, member)| *member == row) {
            left -= blocks.iter().map(|block| block.0[k]).sum::<f64>();
        }
        CurvePoint { landmarks: at + 1, error: TraceError::of(left, trace).fraction.max(0.0) }
    });
    Ok(curve.collect())
}
