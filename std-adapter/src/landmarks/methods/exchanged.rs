//! The rows of any selector, exchanged one by one while the trace error decreases.

use crate::approximation::LandmarkSet;
use crate::error::{Cause, Error};
use crate::landmarks::{
    Needs, Refinement, RowAccess, Selection, Selector, Task, procedure::InPlace, swap_search::refine,
};
use crate::observer::Observer;
use dpp_nystrom_host::rng::{RngStream, stream};
use dpp_nystrom_host::simd::InLanes;
use std::time::Instant;

/// Select with another selector and exchange its rows while the trace error decreases. Returns an error if
/// that selector returns points instead of rows.
///
/// `N c` kernel evaluations per sweep and `N (c + d)` numbers, in addition to the cost of the other selector.
///
/// ```
/// use dpp_nystrom::landmarks::Refinement;
/// use dpp_nystrom::selectors::{Exchanged, Uniform};
///
/// let selector = Exchanged::new(Uniform, Refinement { sweeps: 5, ..Refinement::default() });
/// ```
#[derive(Debug)]
pub struct Exchanged {
    start: Box<dyn Selector>,
    refinement: Refinement,
}

impl Exchanged {
    /// Exchange the rows that `start` selects.
    pub fn new(start: impl Selector + 'static, refinement: Refinement) -> Self {
        Self { start: Box::new(start), refinement }
    }
}

impl Selector for Exchanged {
    fn name(&self) -> &'static str {
        self.start.name()
    }

    fn needs(&self) -> Needs {
        let rows = if self.in_place().is_some() { RowAccess::InPlace } else { RowAccess::InMemory };
        Needs { rows, points: false, ..self.start.needs() }
    }

    fn in_place(&self) -> Option<InPlace> {
        let start = self.start.in_place().filter(|start| start.refinement.is_none())?;
        Some(InPlace { refinement: Some(self.refinement), ..start })
    }

    fn reader(&self) -> String {
        "refinement".to_owned()
    }

    fn fixed(&self) -> Option<&[usize]> {
        self.start.fixed()
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        exchanged(self.start.as_ref(), task, self.refinement)
    }
}

/// Select with `start` and exchange its rows.
pub(crate) fn exchanged(
    start: &dyn Selector,
    task: &Task<'_>,
    refinement: Refinement,
) -> Result<Selection, Error> {
    let selection = start.select(task)?;
    if selection.landmarks.rows().is_none() {
        return Err(Error(Cause::NoRows { method: start.name() }));
    }
    exchange(selection, task.gram.ground(), refinement, task.seed, task.observer)
}

/// Exchange the rows of a selection.
pub(crate) fn exchange(
    selection: Selection,
    ground: &impl InLanes<f64>,
    refinement: Refinement,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection, Error> {
    let rows = selection.landmarks.rows().unwrap_or_default();
    let begin = Instant::now();
    let mut random = stream(seed, RngStream::Refinement);
    let refined = refine(ground, rows, refinement, &mut random, observer)?;
    let seconds = selection.seconds + begin.elapsed().as_secs_f64();
    let landmarks = LandmarkSet::Indices(refined.landmarks);
    let refinement = Some(refined.outcome);
    Ok(Selection { landmarks, log_det: refined.log_det, refinement, order: None, seconds, ..selection })
}
