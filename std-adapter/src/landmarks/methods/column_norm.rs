//! Rows in proportion to the squared norm `‖K_i‖²` of their column of K. The columns are computed one by one
//! and not kept, so that any number of rows will do.

use crate::approximation::features::Ground;
use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task};
use crate::observer::Observer;
use crate::rng::{RngStream, stream};
use dpp_nystrom_core::GroundSet;
use rayon::prelude::*;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnNorm;

impl Selector for ColumnNorm {
    fn name(&self) -> &'static str {
        "column-norm"
    }

    fn about(&self) -> About {
        About {
            help: "Rows in proportion to the squared norm of their column of K",
            source: "Drineas, Kannan and Mahoney 2006",
            evaluations: "N²",
            memory: "N + c²",
            reads_all: true,
            rows: true,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let ground = task.gram.ground();
        let mut weights = weights(ground, task.observer);
        by_weight(ground, task.c, &mut weights, &mut stream(task.setting.seed, RngStream::Landmarks))
    }
}

/// `‖K_i‖² = Σ_j k(i, j)²`.
pub(crate) fn weights(ground: &Ground<'_>, observer: &dyn Observer) -> Vec<f64> {
    observer.begin("columns", ground.len() as u64);
    let norms = (0..ground.len())
        .into_par_iter()
        .map(|i| {
            let squares = (0..ground.len()).map(|j| {
                let entry = ground.entry(i, j);
                entry * entry
            });
            let norm = squares.sum();
            observer.advance(1);
            norm
        })
        .collect();
    observer.end();
    norms
}
