//! Landmarks from randomly pivoted Cholesky, exchanged while the trace error decreases.
//!
//! The start pivots among a random sample of as many rows as fit in 32 MiB, or among all of more than 32,768
//! rows or 2²⁰ values, of which it keeps bounds alone. Exchanges draw from all rows and measure the error on
//! up to a million of them.

use crate::error::Error;
use crate::landmarks::{
    Refinement, Selection, Selector, Task, methods::exchanged::exchanged, methods::rpcholesky::RpCholesky,
    procedure::InPlace,
};
use std::time::Duration;

/// Select rows by pivoted Cholesky and exchange them while the error decreases: swap search over
/// importance-sampled rows. `N c` kernel evaluations per sweep. Works in place, in `f64`, with `2N` numbers
/// and those of some 16,384 rows at a time.
///
/// ```
/// use dpp_nystrom::selectors::Refined;
///
/// let thorough = Refined::default().sweeps(10).sample(1_000);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Refined {
    refinement: Refinement,
    pivot_rows: Option<usize>,
}

impl Refined {
    /// Make at most this many sweeps over the landmarks. Default: 3.
    pub fn sweeps(mut self, sweeps: u64) -> Self {
        self.refinement.sweeps = sweeps;
        self
    }

    /// Draw this many candidates per sweep. Default: 700, or three for each landmark if that is
    /// more.
    pub fn sample(mut self, candidates: usize) -> Self {
        self.refinement.sample = Some(candidates);
        self
    }

    /// Measure the error on at most this many rows. Default: 1,000,000.
    pub fn rows(mut self, rows: usize) -> Self {
        self.refinement.rows = rows;
        self
    }

    /// Begin no sweep after this time. Default: no limit.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.refinement.budget = Some(budget);
        self
    }

    /// Set sweeps, sample, rows and budget at once.
    pub fn refinement(self, refinement: Refinement) -> Self {
        Self { refinement, ..self }
    }

    /// Start from pivoted Cholesky on this many rows drawn at random. Default: as many as fit in 32 MiB, or
    /// all of more than 32,768 rows or 2²⁰ values.
    pub fn pivot_rows(self, rows: impl Into<Option<usize>>) -> Self {
        Self { pivot_rows: rows.into(), ..self }
    }
}

impl Selector for Refined {
    fn name(&self) -> &'static str {
        "refined"
    }

    fn in_place(&self) -> Option<InPlace> {
        let start = RpCholesky::default().rows(self.pivot_rows).in_place()?;
        Some(InPlace { refinement: Some(self.refinement), ..start })
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        exchanged(&RpCholesky::start_of(task, self.pivot_rows), task, self.refinement)
    }
}
