//! Randomly pivoted Cholesky: [`dpp_nystrom_host::simd::lanes::Lanes::pivot`], or of many rows
//! [`dpp_nystrom_host::simd::lanes::Lanes::pivot_by_bounds`].

use crate::error::Error;
use crate::landmarks::{
    Selection, Selector, Start, Task, chain::keeps_features, chain::pivoted_rows, chain::select_rows,
    procedure::InPlace, procedure::Procedure,
};
use dpp_nystrom_host::simd::InLanes;

/// Select by randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2022): each row drawn in proportion
/// to its residual. `N c` kernel evaluations, `N (c + d)` numbers; of more than 32,768 rows or 2²⁰ values as
/// many evaluations as rows are drawn, c each, and N numbers (rejection sampling: Epperly, Tropp and Webber
/// 2024). Works in place.
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

    /// Pivot among `rows`; without it among as many as fit in 32 MiB, or among all if only bounds of them are
    /// kept: the start of refinement, which then draws from all rows.
    pub(crate) fn start_of(task: &Task<'_>, rows: Option<usize>) -> Self {
        let (len, width) = (task.gram.len(), task.gram.ground().width());
        let fitting = pivoted_rows(task.c, width).min(len);
        Self { rows: rows.or(keeps_features(len, width).then_some(fitting)) }
    }

    fn procedure(&self) -> Procedure {
        Procedure::Start(Start::Pivoted { rows: self.rows })
    }
}

impl Selector for RpCholesky {
    fn name(&self) -> &'static str {
        "rpcholesky"
    }

    fn in_place(&self) -> Option<InPlace> {
        Some(self.procedure().into())
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        select_rows(task, &self.procedure())
    }
}
