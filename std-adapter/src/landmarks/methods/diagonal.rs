//! Rows in proportion to the diagonal `k(i, i)`: uniform if the kernel is a function of a distance.

use crate::approximation::AnyGround;
use crate::error::Error;
use crate::landmarks::{Selection, Selector, Task, methods::draw::by_weight};
use dpp_nystrom_core::GroundSet;

/// Select rows in proportion to `k(i, i)` (Drineas and Mahoney 2005). `N` kernel evaluations, `N + c²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Diagonal;

impl Selector for Diagonal {
    fn name(&self) -> &'static str {
        "diagonal"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        by_weight(task, weights(task.gram.ground()), &mut task.random())
    }
}

/// Return `k(i, i)` for every row.
pub(crate) fn weights(ground: &AnyGround<'_>) -> Vec<f64> {
    (0..ground.len()).map(|row| ground.diagonal(row)).collect()
}
