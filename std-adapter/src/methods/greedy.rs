//! Greedily pivoted Cholesky: [`crate::Lanes::pivot_greedily`]. Nothing is random.

use super::{About, Chosen, Selector, Task};
use crate::Error;
use crate::select::{Method, Start};
use crate::train::{select_rows, start_in_order};

#[derive(Clone, Copy, Debug)]
pub(super) struct Greedy;

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
