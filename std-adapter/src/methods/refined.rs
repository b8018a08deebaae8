//! Landmarks of randomly pivoted Cholesky, refined: exchanged one by one as long as the trace error falls.

use super::refined_ridge::RefinedRidge;
use super::rpcholesky::RpCholesky;
use super::{About, Chosen, Objective, Selector, Task, refined_rows};
use crate::Error;

#[derive(Clone, Copy, Debug)]
pub(super) struct RefinedRows;

impl Selector for RefinedRows {
    fn name(&self) -> &'static str {
        "refined"
    }

    fn about(&self) -> About {
        About {
            help: "Rows of pivoted Cholesky, exchanged one by one as long as the trace error falls",
            source: "swap search over importance-sampled rows",
            evaluations: "N c a sweep",
            memory: "N (c + d)",
            reads_all: true,
            rows: true,
        }
    }

    fn refines(&self) -> bool {
        true
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        if task.options.objective == Objective::Ridge {
            return RefinedRidge.select(task);
        }
        let start = RpCholesky.select(task)?;
        refined_rows(self.name(), task, start, task.options.refinement.unwrap_or_default())
    }
}
