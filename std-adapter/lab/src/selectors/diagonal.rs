//! Rows in proportion to the diagonal `k(i, i)`: uniform if the kernel is a function of a distance.

use dpp_nystrom::Error;
use dpp_nystrom::approximation::AnyGround;
use dpp_nystrom::core::GroundSet;
use dpp_nystrom::landmarks::{Selection, Selector, Task};

/// Select rows in proportion to `k(i, i)` (Drineas and Mahoney 2005). `N` kernel evaluations, `N + c²`
/// numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Diagonal;

impl Selector for Diagonal {
    fn name(&self) -> &'static str {
        "diagonal"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        task.draw(weights(task.gram.ground()), &mut task.random(), |_, _| Ok(()))
    }
}

/// Return `k(i, i)` for every row.
pub(super) fn weights(ground: &AnyGround<'_>) -> Vec<f64> {
    (0..ground.len()).map(|row| ground.diagonal(row)).collect()
}
