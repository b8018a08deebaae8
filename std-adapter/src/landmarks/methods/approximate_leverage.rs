//! Rows by the leverage scores of a Nyström approximation from p columns ([`super::sketch`]) instead of K: those
//! of its best rank-k space, k = c unless `--rank` says otherwise, and at most p.

use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::methods::scores::{best_rank, leverage};
use crate::landmarks::methods::sketch::Sketch;
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task, within};
use crate::rng::{RngStream, stream};

#[derive(Clone, Copy, Debug)]
pub(crate) struct ApproximateLeverage;

impl Selector for ApproximateLeverage {
    fn name(&self) -> &'static str {
        "applev"
    }

    fn about(&self) -> About {
        About {
            help: "As lev, with scores from a sample of columns (--columns)",
            source: "Li, Jegelka and Sra 2016, §6.4",
            evaluations: "N p",
            memory: "N p",
            reads_all: true,
            rows: true,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let (gram, c) = (task.gram, task.c);
        let k = within("--rank", task.options.rank.unwrap_or(c), gram.len())?;
        let mut random = stream(task.setting.seed, RngStream::Landmarks);
        let sketch = Sketch::new(task, &mut random)?;
        let mut weights = leverage(sketch.vectors.as_ref(), &best_rank(&sketch.values, k));
        by_weight(gram.ground(), c, &mut weights, &mut random)
    }
}
