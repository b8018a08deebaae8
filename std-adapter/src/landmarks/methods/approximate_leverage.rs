//! Rows by approximate leverage scores: those of the best rank-k space of a Nyström approximation from p columns
//! ([`super::sketch`]), with a rank of at most p.

use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::methods::scores::{best_rank, leverage};
use crate::landmarks::methods::sketch::Sketch;
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task, within};

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
        let (gram, c) = (task.gram, task.c);
        let k = within("--rank", self.rank.unwrap_or(c), gram.len())?;
        let mut random = task.random();
        let sketch = Sketch::new(task, self.columns, &mut random)?;
        let mut weights = leverage(sketch.vectors.as_ref(), &best_rank(&sketch.values, k));
        by_weight(gram.ground(), c, &mut weights, &mut random)
    }
}
