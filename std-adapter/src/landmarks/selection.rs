//! TODO-DOC

use crate::approximation::features::independent_points;
use crate::approximation::gram::Gram;
use crate::approximation::landmark_set::LandmarkSet;
use crate::error::Error;
use crate::heap::Heap;
use crate::landmarks::chain::Selection;
use crate::landmarks::swap_search::Gain;

/// What a method selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The landmarks.
    pub places: LandmarkSet,
    /// `log det K_CC`; minus infinity for points that depend on each other.
    pub log_det: f64,
    /// Steps taken, by a chain.
    pub steps: u64,
    /// Swaps accepted, by a chain.
    pub accepted: u64,
    /// Whether the chain came to rest; none without one, and where the number of steps was given.
    pub converged: Option<bool>,
    /// What refinement came to, where there was one.
    pub gain: Option<Gain>,
    /// What was done and why, of a method that chooses among others.
    pub choice: Option<Choice>,
}

/// What `auto` chose.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The method.
    pub method: &'static str,
    /// Options of the command line that, with this method, select the same rows.
    pub options: String,
    /// Why, in a sentence or two.
    pub reason: String,
}

impl Chosen {
    fn of(places: LandmarkSet, log_det: f64) -> Self {
        Self { places, log_det, steps: 0, accepted: 0, converged: None, gain: None, choice: None }
    }

    /// Rows of a determinant that is known.
    pub fn rows(mut rows: Vec<usize>, log_det: f64) -> Self {
        rows.sort_unstable();
        Self::of(LandmarkSet::Indices(rows), log_det)
    }

    /// Points of as many features as the Gram matrix's rows.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Memory`].
    pub fn points(gram: &Gram<'_>, points: Vec<f64>) -> Result<Self, Error> {
        let count = points.len() / gram.ground().features();
        let mut memory = Heap::new(count)?;
        let home = gram.points(&points)?;
        let independent = independent_points(&home, &mut memory)?;
        let log_det = if independent.len() < count { f64::NEG_INFINITY } else { independent.log_det() };
        Ok(Self::of(LandmarkSet::Points(points), log_det))
    }
}

impl From<Selection> for Chosen {
    fn from(selection: Selection) -> Self {
        let Selection { landmarks, log_det, steps, accepted, converged, .. } = selection;
        Self { steps, accepted, converged, ..Self::of(LandmarkSet::Indices(landmarks), log_det) }
    }
}
