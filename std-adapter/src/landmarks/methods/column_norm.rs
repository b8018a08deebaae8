//! Rows in proportion to the squared norm `‖K_i‖²` of their column of K. The columns are computed one by one and not
//! stored, so the number of rows is not limited.

use crate::approximation::features::Ground;
use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task};
use crate::observer::Observer;
use dpp_nystrom_core::GroundSet;
use rayon::prelude::*;

/// Select rows in proportion to the squared norm of their column of K (Drineas, Kannan and Mahoney 2006). `N²` kernel
/// evaluations, `N + c²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColumnNorm;

impl Selector for ColumnNorm {
    fn name(&self) -> &'static str {
        "column-norm"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let ground = task.gram.ground();
        let mut weights = weights(ground, task.observer);
        by_weight(ground, task.c, &mut weights, &mut task.random())
    }
}

/// Return `‖K_i‖² = Σ_j k(i, j)²` for every row.
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
