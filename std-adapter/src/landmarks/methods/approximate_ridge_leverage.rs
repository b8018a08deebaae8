//! Rows by the ridge leverage scores of a Nyström approximation K̃ from p columns ([`super::sketch`]): the diagonal
//! of `K̃ (K̃ + NγI)⁻¹`, never above the exact ones. γ is chosen as for `reglev`, by the spectrum of K̃.

use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::methods::scores::{leverage, ridge, ridge_of_dimension};
use crate::landmarks::methods::sketch::Sketch;
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task};
use crate::rng::{RngStream, stream};

#[derive(Clone, Copy, Debug)]
pub(crate) struct ApproximateRidgeLeverage;

impl Selector for ApproximateRidgeLeverage {
    fn name(&self) -> &'static str {
        "appreglev"
    }

    fn about(&self) -> About {
        About {
            help: "As reglev, with scores from a sample of columns (--columns)",
            source: "Alaoui and Mahoney 2015",
            evaluations: "N p",
            memory: "N p",
            reads_all: true,
            rows: true,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let (gram, c) = (task.gram, task.c);
        let mut random = stream(task.setting.seed, RngStream::Landmarks);
        let sketch = Sketch::new(task, &mut random)?;
        let mu = match task.ridge {
            Some(gamma) => gamma * gram.len() as f64,
            None => ridge_of_dimension(&sketch.values, c),
        };
        let mut weights = leverage(sketch.vectors.as_ref(), &ridge(&sketch.values, mu));
        by_weight(gram.ground(), c, &mut weights, &mut random)
    }
}
