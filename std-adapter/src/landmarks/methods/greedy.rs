//! Greedily pivoted Cholesky: [`dpp_nystrom_host::simd::lanes::Lanes::pivot_greedily`].

use crate::error::Error;
use crate::landmarks::{Selection, Selector, Start, Task, chain::select_rows, procedure::Procedure};

/// Select by greedily pivoted Cholesky (Fine and Scheinberg 2002): always the row with the largest residual.
/// Ignores the seed. `N c` kernel evaluations, `N (c + d)` numbers.
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

    fn on_ground(&self) -> Option<Procedure> {
        Some(GREEDY)
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        select_rows(task, &GREEDY)
    }
}
