//! Rows by exact leverage scores: `l_i = Σ_{j<=k} u_ij²` of the k leading eigenvectors of K. The scores sum
//! to k.

use super::scores::{leading, leverage, within};
use dpp_nystrom::Error;
use dpp_nystrom::landmarks::{Selection, Selector, Task};

/// Select rows by exact leverage scores of the best rank-k space (Gittens and Mahoney 2013). `N²` kernel
/// evaluations, `O(N³)` operations, `2 N²` numbers.
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
        let k = within("rank", self.rank.unwrap_or(task.c), task.gram.len())?;
        let eigen = task.eigen(self.name(), "applev")?;
        task.draw(leverage(eigen, &leading(eigen, k)), &mut task.random(), |_, _| Ok(()))
    }
}
