//! Rows by exact leverage scores: `l_i = Σ_{j<=k} u_ij²` of the k leading eigenvectors of K. The scores sum to k.

use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::methods::scores::{best_rank, leverage};
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task, within};

/// Select rows by exact leverage scores of the best rank-k space (Gittens and Mahoney 2013). `N²` kernel evaluations,
/// `O(N³)` operations, `2 N²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leverage {
    rank: Option<usize>,
}

impl Leverage {
    /// Compute the scores of the best rank-k space, `1 <= k <= N`. Default: c.
    pub fn rank(self, rank: impl Into<Option<usize>>) -> Self {
        Self { rank: rank.into() }
    }
}

impl Selector for Leverage {
    fn name(&self) -> &'static str {
        "lev"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let (gram, c) = (task.gram, task.c);
        gram.check_whole(self.name(), "applev")?;
        let k = within("--rank", self.rank.unwrap_or(c), gram.len())?;
        task.observer.begin("eigenvectors", 1);
        let eigen = gram.eigen()?;
        task.observer.end();
        let mut weights = leverage(eigen.vectors.as_ref(), &best_rank(&eigen.values, k));
        by_weight(gram.ground(), c, &mut weights, &mut task.random())
    }
}
