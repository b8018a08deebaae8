//! Greedily pivoted Cholesky: [`crate::simd::lanes::Lanes::pivot_greedily`]. Nothing is random.

use crate::error::Error;
use crate::landmarks::chain::{Method, Start, select_rows, start_in_order};
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Greedy;

impl Selector for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn about(&self) -> About {
        About {
            help: "Greedily pivoted Cholesky: the largest residual next",
            source: "Fine and Scheinberg 2002",
            evaluations: "N c",
            memory: "N (c + d)",
            reads_all: true,
            rows: true,
        }
    }

    fn order(&self, task: &Task<'_>) -> Result<Option<Vec<usize>>, Error> {
        let start = Start::Greedy;
        start_in_order(task.gram.data(), task.c, start, task.setting).map(Some)
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let method = Method::Start(Start::Greedy);
        select_rows(task.gram.data(), task.c, &method, task.setting, task.observer).map(Chosen::from)
    }
}
