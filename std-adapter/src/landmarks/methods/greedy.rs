//! Greedily pivoted Cholesky: [`dpp_nystrom_host::simd::lanes::Lanes::pivot_greedily`], or of many rows
//! [`dpp_nystrom_host::simd::lanes::Lanes::pivot_greedily_by_bounds`].

use crate::error::Error;
use crate::landmarks::{
    Selection, Selector, Start, Task, chain::select_rows, procedure::InPlace, procedure::Procedure,
};

/// Select by greedily pivoted Cholesky (Fine and Scheinberg 2001): always the row with the largest residual.
/// Ignores the seed. `N c` kernel evaluations, `N (c + d)` numbers; of more than 32,768 rows or 2²⁰ values
/// the evaluations of those whose residual may be the largest, c each, and N numbers. Works in place.
///
/// ```
/// use dpp_nystrom::{Dataset, Nystroem, selectors::Greedy};
///
/// let matrix = [4.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 9.0];
/// let map = Nystroem::params(2).selector(Greedy).fit(&Dataset::from_gram(&matrix, 3)?)?;
/// assert_eq!(map.landmarks(), [0, 2]); // the largest residuals, 9 and 4
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Greedy;

const GREEDY: Procedure = Procedure::Start(Start::Greedy);

impl Selector for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn in_place(&self) -> Option<InPlace> {
        Some(GREEDY.into())
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        select_rows(task, &GREEDY)
    }
}
