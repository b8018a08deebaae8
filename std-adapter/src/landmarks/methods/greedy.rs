//! Greedily pivoted Cholesky: [`crate::simd::lanes::Lanes::pivot_greedily`].

use crate::error::Error;
use crate::landmarks::chain::{select_rows, start_in_order};
use crate::landmarks::procedure::{Procedure, Start};
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task};

/// Select by greedily pivoted Cholesky (Fine and Scheinberg 2002): always the row with the largest residual. Ignores
/// the seed. `N c` kernel evaluations, `N (c + d)` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Greedy;

impl Greedy {
    fn procedure(&self) -> Procedure {
        Procedure::Start(Start::Greedy)
    }
}

impl Selector for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn order(&self, task: &Task<'_>) -> Result<Option<Vec<usize>>, Error> {
        start_in_order(task, Start::Greedy).map(Some)
    }

    fn on_ground(&self) -> Option<Procedure> {
        Some(self.procedure())
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        select_rows(task, &self.procedure())
    }
}
