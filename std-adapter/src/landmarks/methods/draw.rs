//! Weighted sampling of linearly independent rows without replacement.
//!
//! Rows with zero weight, for instance those outside the range of a sketch, are drawn uniformly once no others remain.

use crate::approximation::features::Ground;
use crate::error::Error;
use crate::heap::Heap;
use crate::landmarks::selection::Selection;
use dpp_nystrom_core::{Error as CoreError, Landmarks, Random, Scalar, start};
use rand_core::Rng;

/// Draw `c` rows one after the other, each in proportion to its weight among the remaining rows, and skip rows that
/// depend on earlier ones. Sets the weights of drawn rows to zero. `N c` additions.
///
/// # Errors
/// [`Error::Landmarks`] with [`CoreError::RankDeficient`] if no independent row remains.
pub(crate) fn by_weight(
    ground: &Ground<'_>,
    c: usize,
    weights: &mut [f64],
    random: &mut Random,
) -> Result<Selection, Error> {
    let mut memory = Heap::new(c)?;
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    while landmarks.len() < c {
        one(&mut landmarks, c, weights, random)?;
    }
    Ok(selected(&landmarks))
}

/// Draw one more row in proportion to its weight, independent of the landmarks, and append it to them.
pub(crate) fn one(
    landmarks: &mut Landmarks<'_, f64, Ground<'_>>,
    c: usize,
    weights: &mut [f64],
    random: &mut Random,
) -> Result<(), Error> {
    while let Some(row) = place(weights, random)? {
        weights[row] = 0.0;
        if push(landmarks, row)? {
            return Ok(());
        }
    }
    let more = landmarks.len() + 1;
    start::uniform(landmarks, more, random).map_err(|reason| match reason {
        CoreError::RankDeficient { rank, .. } => deficient(rank, c),
        reason => refused(reason),
    })
}

/// Append the row to the landmarks. Return `false` if it is a landmark already or depends on the landmarks.
pub(crate) fn push(landmarks: &mut Landmarks<'_, f64, Ground<'_>>, row: usize) -> Result<bool, Error> {
    match landmarks.push(row) {
        Ok(()) => Ok(true),
        Err(CoreError::NotPositive { .. } | CoreError::Duplicate { .. }) => Ok(false),
        Err(reason) => Err(refused(reason)),
    }
}

/// Draw an index in proportion to its weight; `None` if no weight is positive.
pub(crate) fn place(weights: &[f64], random: &mut Random) -> Result<Option<usize>, Error> {
    if let Some(row) = weights.iter().position(|weight| !weight.is_finite()) {
        return Err(refused(CoreError::NotFinite { row, column: row }));
    }
    let total: f64 = weights.iter().sum();
    let mut left = f64::from_draw(random.next_u32()) * total;
    let mut last = None;
    for (place, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            last = Some(place);
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    Ok(last)
}

/// Return the landmarks as a selection.
pub(crate) fn selected(landmarks: &Landmarks<'_, f64, Ground<'_>>) -> Selection {
    Selection::rows(landmarks.members().to_vec(), landmarks.log_det())
}

pub(crate) fn deficient(rank: usize, landmarks: usize) -> Error {
    refused(CoreError::RankDeficient { rank, landmarks })
}

pub(crate) fn refused(reason: CoreError) -> Error {
    Error::Landmarks { reason }
}
