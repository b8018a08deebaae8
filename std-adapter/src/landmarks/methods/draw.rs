//! Weighted sampling of linearly independent rows without replacement.
//!
//! Rows with zero weight, for instance those outside the range of a sketch, are drawn uniformly once no
//! others remain.

use crate::approximation::AnyGround;
use crate::error::Error;
use crate::landmarks::{Selection, Task};
use crate::observer::go_on;
use dpp_nystrom_core::{Error as CoreError, Landmarks, Random, Scalar, start};
use dpp_nystrom_host::heap::Heap;
use dpp_nystrom_host::rng;
use rand_core::Rng;

impl Task<'_> {
    /// Draw `c` rows one after the other without replacement, each in proportion to its weight among the
    /// remaining rows, and skip rows that depend on earlier ones: `N c` additions. Once no weight is
    /// positive, rows are drawn uniformly.
    ///
    /// After each row, `update` is given the rows drawn so far and may change the weights of the others.
    ///
    /// ```
    /// use dpp_nystrom::landmarks::{Selection, Selector, Task};
    /// use dpp_nystrom::{Error, core::GroundSet};
    ///
    /// /// Rows in proportion to k(i, i).
    /// #[derive(Debug)]
    /// struct Diagonal;
    ///
    /// impl Selector for Diagonal {
    ///     fn name(&self) -> &'static str {
    ///         "diagonal"
    ///     }
    ///
    ///     fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
    ///         let ground = task.gram.ground();
    ///         let weights = (0..ground.len()).map(|row| ground.diagonal(row)).collect();
    ///         task.draw(weights, &mut task.random(), |_, _| Ok(()))
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// `ErrorKind::Landmarks` with [`CoreError::RankDeficient`] if no independent row remains, or with
    /// [`CoreError::NotFinite`] for a weight that is not finite; `ErrorKind::Memory`, `ErrorKind::Cancelled`,
    /// those of `update`.
    pub fn draw(
        &self,
        mut weights: Vec<f64>,
        random: &mut Random,
        mut update: impl FnMut(&[usize], &mut [f64]) -> Result<(), Error>,
    ) -> Result<Selection, Error> {
        let mut memory = Heap::new(self.c)?;
        let mut landmarks = Landmarks::new(self.gram.ground(), memory.lend()).map_err(Error::landmarks)?;
        while landmarks.len() < self.c {
            go_on(self.observer)?;
            one(&mut landmarks, self.c, &mut weights, random)?;
            update(landmarks.members(), &mut weights)?;
        }
        Ok(Selection::of_landmarks(&landmarks))
    }
}

/// Draw one more row in proportion to its weight, independent of the landmarks, and append it to them.
fn one(
    landmarks: &mut Landmarks<'_, f64, AnyGround<'_>>,
    c: usize,
    weights: &mut [f64],
    random: &mut Random,
) -> Result<(), Error> {
    while let Some(row) = draw_row(weights, random)? {
        weights[row] = 0.0;
        if push(landmarks, row)? {
            return Ok(());
        }
    }
    let more = landmarks.len() + 1;
    start::uniform(landmarks, more, random).map_err(|reason| match reason {
        CoreError::RankDeficient { rank, .. } => {
            Error::landmarks(CoreError::RankDeficient { rank, landmarks: c })
        }
        reason => Error::landmarks(reason),
    })
}

/// Append the row to the landmarks. Return `false` if it is a landmark already or depends on the landmarks.
pub(crate) fn push(landmarks: &mut Landmarks<'_, f64, AnyGround<'_>>, row: usize) -> Result<bool, Error> {
    match landmarks.push(row) {
        Ok(()) => Ok(true),
        Err(CoreError::NotPositive { .. } | CoreError::Duplicate { .. }) => Ok(false),
        Err(reason) => Err(Error::landmarks(reason)),
    }
}

/// Draw a row in proportion to its weight; `None` if no weight is positive.
///
/// # Errors
/// `ErrorKind::Landmarks` with [`CoreError::NotFinite`] for a weight that is not finite.
///
/// ```
/// use dpp_nystrom::{core::Random, landmarks::draw_row};
///
/// let mut random = Random::seeded(7);
/// assert_eq!(draw_row(&[0.0, 2.5, 0.0], &mut random)?, Some(1));
/// assert_eq!(draw_row(&[0.0; 3], &mut random)?, None);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn draw_row(weights: &[f64], random: &mut Random) -> Result<Option<usize>, Error> {
    if let Some(row) = weights.iter().position(|weight| !weight.is_finite()) {
        return Err(Error::landmarks(CoreError::NotFinite { row, column: row }));
    }
    let mut place = f64::from_draw(random.next_u32()) * weights.iter().sum::<f64>();
    Ok(rng::by_weight(weights.iter().copied(), &mut place))
}
