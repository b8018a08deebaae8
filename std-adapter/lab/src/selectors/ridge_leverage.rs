//! Rows by exact ridge leverage scores: the diagonal of `K (K + NγI)⁻¹`. γ is that of the regression if
//! given, and otherwise the one at which the sum of the scores, the effective dimension, is c.

use super::scores::{leverage, ridge_for};
use dpp_nystrom::Error;
use dpp_nystrom::landmarks::{Selection, Selector, Task};

/// Select rows by exact ridge leverage scores (Alaoui and Mahoney 2015), at the task's ridge if set. `N²`
/// kernel evaluations, `O(N³)` operations, `2 N²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct RidgeLeverage;

impl Selector for RidgeLeverage {
    fn name(&self) -> &'static str {
        "reglev"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let eigen = task.eigen(self.name(), "appreglev")?;
        task.draw(leverage(eigen, &ridge_for(task, eigen)), &mut task.random(), |_, _| Ok(()))
    }
}
