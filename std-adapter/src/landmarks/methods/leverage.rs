//! Rows by exact leverage score: `l_i = Σ_{j<=k} u_ij²` of the k leading eigenvectors of K. They sum to k, which
//! is c unless `--rank` says otherwise.

use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::methods::scores::{best_rank, leverage};
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task, within};
use crate::rng::{RngStream, stream};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Leverage;

impl Selector for Leverage {
    fn name(&self) -> &'static str {
        "lev"
    }

    fn about(&self) -> About {
        About {
            help: "Rows by leverage score of the best rank-k space (--rank)",
            source: "Gittens and Mahoney 2013",
            evaluations: "N²",
            memory: "2 N²",
            reads_all: true,
            rows: true,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let (gram, c) = (task.gram, task.c);
        gram.check_whole(self.name(), "applev")?;
        let k = within("--rank", task.options.rank.unwrap_or(c), gram.len())?;
        task.observer.begin("eigenvectors", 1);
        let eigen = gram.eigen()?;
        task.observer.end();
        let mut weights = leverage(eigen.vectors.as_ref(), &best_rank(&eigen.values, k));
        by_weight(gram.ground(), c, &mut weights, &mut stream(task.setting.seed, RngStream::Landmarks))
    }
}
