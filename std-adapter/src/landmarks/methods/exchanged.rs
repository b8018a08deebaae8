//! The rows of any selector, exchanged one by one while the trace error decreases.

use crate::approximation::LandmarkSet;
use crate::error::{Cause, Error};
use crate::landmarks::{Needs, Refinement, RowAccess, Selection, Selector, Task, swap_search::refine};
use dpp_nystrom_host::rng::{RngStream, stream};

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
        Needs { rows: RowAccess::InMemory, points: false, ..self.start.needs() }
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
    let rows = selection.landmarks.rows().ok_or(Error(Cause::NoRows { method: start.name() }))?;
    let mut random = stream(task.seed, RngStream::Refinement);
    let refined = refine(task.gram.ground(), rows, refinement, &mut random, task.observer)?;
    let landmarks = LandmarkSet::Indices(refined.landmarks);
    let refinement = Some(refined.outcome);
    Ok(Selection { landmarks, log_det: refined.log_det, refinement, order: None, ..selection })
}
