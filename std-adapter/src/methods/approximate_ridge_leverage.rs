//! Rows by the ridge leverage scores of a Nyström approximation K̃ from p columns ([`super::sketch`]): the diagonal
//! of `K̃ (K̃ + NγI)⁻¹`, never above the exact ones. γ is chosen as for `reglev`, by the spectrum of K̃.

use super::draw::by_weight;
use super::scores::{leverage, ridge, ridge_of_dimension};
use super::sketch::Sketch;
use super::{About, Chosen, Selector, Task};
use crate::Error;
use crate::seeds::{RngStream, stream};

#[derive(Clone, Copy, Debug)]
pub(super) struct ApproximateRidgeLeverage;

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
