//! Rows in proportion to the diagonal `k(i, i)`: uniform if the kernel is a function of a distance.

use crate::approximation::features::Ground;
use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task};
use dpp_nystrom_core::GroundSet;

/// Select rows in proportion to `k(i, i)` (Drineas and Mahoney 2005). `N` kernel evaluations, `N + c²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Diagonal;

impl Selector for Diagonal {
    fn name(&self) -> &'static str {
        "diagonal"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let ground = task.gram.ground();
        let mut weights = weights(ground);
        by_weight(ground, task.c, &mut weights, &mut task.random())
    }
}

/// Return `k(i, i)` for every row.
pub(crate) fn weights(ground: &Ground<'_>) -> Vec<f64> {
    (0..ground.len()).map(|row| ground.diagonal(row)).collect()
}
