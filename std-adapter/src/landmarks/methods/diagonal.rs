//! Rows in proportion to the diagonal `k(i, i)`: uniform ones where the kernel is of a distance.

use crate::approximation::features::Ground;
use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task};
use crate::rng::{RngStream, stream};
use dpp_nystrom_core::GroundSet;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Diagonal;

impl Selector for Diagonal {
    fn name(&self) -> &'static str {
        "diagonal"
    }

    fn about(&self) -> About {
        About {
            help: "Rows in proportion to k(i, i)",
            source: "Drineas and Mahoney 2005",
            evaluations: "N",
            memory: "N + c²",
            reads_all: true,
            rows: true,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let ground = task.gram.ground();
        let mut weights = weights(ground);
        by_weight(ground, task.c, &mut weights, &mut stream(task.setting.seed, RngStream::Landmarks))
    }
}

/// `k(i, i)`.
pub(crate) fn weights(ground: &Ground<'_>) -> Vec<f64> {
    (0..ground.len()).map(|row| ground.diagonal(row)).collect()
}
