//! Landmarks of randomly pivoted Cholesky, refined: exchanged one by one as long as the trace error falls.
//!
//! The start looks at as many rows, drawn at random, as fit in 32 MiB ([`pivoted_rows`]), if no number is asked
//! for; refinement then draws from all of them, and measures on up to a million.

use crate::error::Error;
use crate::landmarks::chain::pivoted_rows;
use crate::landmarks::methods::refined_ridge::RefinedRidge;
use crate::landmarks::methods::rpcholesky::RpCholesky;
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Objective, Options, Selector, Task, refined_rows};

#[derive(Clone, Copy, Debug)]
pub(crate) struct RefinedRows;

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
        // As many rows as fit; exchanges then look at all of them.
        let fitting = pivoted_rows(task.c, task.gram.ground().features());
        let rows = task.options.pivot_rows.unwrap_or(fitting).min(task.gram.len());
        let options = Options { pivot_rows: Some(rows), ..task.options.clone() };
        let start = RpCholesky.select(&Task { options: &options, ..*task })?;
        refined_rows(self.name(), task, start, task.options.refinement.unwrap_or_default())
    }
}
