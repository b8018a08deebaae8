//! Rows by approximate leverage scores: those of the best rank-k space of a Nyström approximation from p columns
//! ([`super::sketch`]), with a rank of at most p.

use crate::error::Error;
use crate::landmarks::methods::scores::{best_rank, leverage};
use crate::landmarks::{
    Selection, Selector, Task, methods::draw::by_weight, methods::sketch::sketch, selector::within,
};

/// Select as [`Leverage`](crate::selectors::Leverage), with scores from a sample of columns (Li, Jegelka and Sra 2016,
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
        let weights = leverage(sketch.vectors.as_ref(), &best_rank(&sketch.values, k));
        by_weight(task, weights, &mut random)
    }
}
