//! Rows by the ridge leverage scores of a Nyström approximation K̃ from p columns (`sketch`): the diagonal
//! of `K̃ (K̃ + NγI)⁻¹`, never above the exact scores. γ is chosen as for `reglev`, from the spectrum of K̃.

use super::scores::{leverage, ridge_for};
use super::sketch::sketch;
use dpp_nystrom::Error;
use dpp_nystrom::landmarks::{Selection, Selector, Task};

/// Select as [`RidgeLeverage`](super::RidgeLeverage), with scores from a sample of columns (Alaoui and
/// Mahoney 2015). `N p` kernel evaluations and numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApproximateRidgeLeverage {
    columns: Option<usize>,
}

impl ApproximateRidgeLeverage {
    /// Compute the scores from this many columns p, `1 <= p <= N`. Default: 4 c.
    pub fn columns(self, columns: impl Into<Option<usize>>) -> Self {
        Self { columns: columns.into() }
    }
}

impl Selector for ApproximateRidgeLeverage {
    fn name(&self) -> &'static str {
        "appreglev"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let mut random = task.random();
        let sketch = sketch(task, self.columns, &mut random)?;
        task.draw(leverage(&sketch, &ridge_for(task, &sketch)), &mut random, |_, _| Ok(()))
    }
}
