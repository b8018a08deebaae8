//! Rows by approximate leverage scores: those of the best rank-k space of a Nyström approximation from p
//! columns (`sketch`), with a rank of at most p.

use super::scores::{leading, leverage, within};
use super::sketch::sketch;
use dpp_nystrom::Error;
use dpp_nystrom::landmarks::{Selection, Selector, Task};

/// Select as [`Leverage`](super::Leverage), with scores from a sample of columns (Li, Jegelka and Sra 2016,
/// §6.4). `N p` kernel evaluations and numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApproximateLeverage {
    rank: Option<usize>,
    columns: Option<usize>,
}

impl ApproximateLeverage {
    /// Compute the scores of the best rank-k space, `1 <= k <= N`. Default: c.
    pub fn rank(self, rank: impl Into<Option<usize>>) -> Self {
        Self { rank: rank.into(), ..self }
    }

    /// Compute the scores from this many columns p, `1 <= p <= N`. Default: 4 c.
    pub fn columns(self, columns: impl Into<Option<usize>>) -> Self {
        Self { columns: columns.into(), ..self }
    }
}

impl Selector for ApproximateLeverage {
    fn name(&self) -> &'static str {
        "applev"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let k = within("rank", self.rank.unwrap_or(task.c), task.gram.len())?;
        let mut random = task.random();
        let sketch = sketch(task, self.columns, &mut random)?;
        task.draw(leverage(&sketch, &leading(&sketch, k)), &mut random, |_, _| Ok(()))
    }
}
