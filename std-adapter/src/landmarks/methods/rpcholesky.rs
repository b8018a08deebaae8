//! Randomly pivoted Cholesky: [`dpp_nystrom_host::simd::lanes::Lanes::pivot`].

use crate::error::Error;
use crate::landmarks::{
    Selection, Selector, Start, Task, chain::pivoted_rows, chain::select_rows, procedure::Procedure,
};
use dpp_nystrom_host::simd::InLanes;

/// Select by randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2022): each row drawn in proportion
/// to its residual. `N c` kernel evaluations, `N (c + d)` numbers. Works in place on a sample of the rows.
///
/// ```
/// use dpp_nystrom::selectors::RpCholesky;
///
/// let on_a_sample = RpCholesky::default().rows(10_000);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RpCholesky {
    rows: Option<usize>,
}

impl RpCholesky {
    /// Pivot among this many rows drawn at random. Default: among all.
    pub fn rows(self, rows: impl Into<Option<usize>>) -> Self {
        Self { rows: rows.into() }
    }

    /// Pivot among `rows`, or among as many as fit in 32 MiB: the start of refinement, which then draws from
    /// all rows.
    pub(crate) fn start_of(task: &Task<'_>, rows: Option<usize>) -> Self {
        let fitting = pivoted_rows(task.c, task.gram.ground().width());
        Self { rows: Some(rows.unwrap_or(fitting).min(task.gram.len())) }
    }

    fn procedure(&self) -> Procedure {
        Procedure::Start(Start::Pivoted { rows: self.rows })
    }
}

impl Selector for RpCholesky {
    fn name(&self) -> &'static str {
        "rpcholesky"
    }

    fn in_place(&self) -> Option<Procedure> {
        self.rows.map(|_| self.procedure())
    }

    fn on_ground(&self) -> Option<Procedure> {
        Some(self.procedure())
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        select_rows(task, &self.procedure())
    }
}
