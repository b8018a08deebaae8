//! A start and a refinement, planned from a budget and the spectrum of a pilot sample:
//! [`crate::landmarks::plan`].

use crate::error::Error;
use crate::landmarks::{
    Needs, PlannedSelection, Refinement, RowAccess, Selection, Selector, Task, methods::exchanged::Exchanged,
    methods::kmeans_snapped::KmeansSnapped, methods::refined::Refined, methods::rpcholesky::RpCholesky,
    methods::uniform::Uniform, plan::PlannedMethod, plan::plan_for,
};
use std::time::Duration;

/// The number of rows of a row store among which landmarks are selected.
const STORE_ROWS: usize = 1 << 17;

/// Select as [`Refined`], with the start and the number of sweeps planned from a budget and the spectrum;
/// [`Selection::plan`] describes the plan.
///
/// The budget is counted in operations, so that the same seed selects the same rows on any machine.
///
/// ```
/// use dpp_nystrom::selectors::Auto;
/// use std::time::Duration;
///
/// let thorough = Auto::default().budget(Duration::from_secs(10));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Auto {
    budget: Option<Duration>,
    pivot_rows: Option<usize>,
    refinement: Option<Refinement>,
}

impl Default for Auto {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Auto {
    /// The default.
    pub(crate) const USUAL: Self = Self { budget: None, pivot_rows: None, refinement: None };

    /// Spend this much time on a core with AVX-512; slower cores take longer. Default: ten times that of `c`
    /// kernel values and features of all rows, which a regression on them takes too, but at least 100 ms and
    /// at most 1 s.
    pub fn budget(self, budget: impl Into<Option<Duration>>) -> Self {
        Self { budget: budget.into(), ..self }
    }

    /// Pivot among this many rows drawn at random. Default: as planned.
    pub fn pivot_rows(self, rows: impl Into<Option<usize>>) -> Self {
        Self { pivot_rows: rows.into(), ..self }
    }

    /// Refine with these options. Default: as planned.
    pub fn refinement(self, refinement: impl Into<Option<Refinement>>) -> Self {
        Self { refinement: refinement.into(), ..self }
    }
}

impl Selector for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn needs(&self) -> Needs {
        Needs { rows: RowAccess::Sample(STORE_ROWS), ..Needs::default() }
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let plan = plan_for(task, self.budget)?;
        let pivot_rows = self.pivot_rows.or(plan.pivot_rows);
        let refinement = self.refinement.or(plan.refinement);
        let start: Box<dyn Selector> = match plan.method {
            PlannedMethod::Refined => {
                let refinement = refinement.unwrap_or_default();
                Box::new(Refined::default().refinement(refinement).pivot_rows(pivot_rows))
            }
            PlannedMethod::KmeansSnapped => Box::new(KmeansSnapped),
            PlannedMethod::RpCholesky => Box::new(RpCholesky::default().rows(pivot_rows)),
            PlannedMethod::Uniform => Box::new(Uniform),
        };
        let selector = match refinement {
            Some(refinement) if plan.method != PlannedMethod::Refined => {
                Box::new(Exchanged::new(start, refinement))
            }
            _ => start,
        };
        let planned = PlannedSelection {
            method: selector.name(),
            pivot_rows: plan.pivot_rows.filter(|_| self.pivot_rows.is_none()),
            refinement: plan.refinement.filter(|_| self.refinement.is_none()),
            reason: plan.reason,
        };
        Ok(Selection { plan: Some(planned), ..selector.select(task)? })
    }
}
