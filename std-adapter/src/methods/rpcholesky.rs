//! Randomly pivoted Cholesky: [`crate::Lanes::pivot`].

use super::{About, Chosen, Selector, Task};
use crate::Error;
use crate::select::{Method, Start};
use crate::train::{select_rows, start_in_order};

#[derive(Clone, Copy, Debug)]
pub(super) struct RpCholesky;

impl Selector for RpCholesky {
    fn name(&self) -> &'static str {
        "rpcholesky"
    }

    fn about(&self) -> About {
        About {
            help: "Randomly pivoted Cholesky",
            source: "Chen, Epperly, Tropp and Webber 2022",
            evaluations: "N c",
            memory: "N (c + d)",
            reads_all: true,
            rows: true,
        }
    }

    fn order(&self, task: &Task<'_>) -> Result<Option<Vec<usize>>, Error> {
        let start = Start::Pivoted { rows: task.options.pivot_rows };
        start_in_order(task.gram.data(), task.c, start, task.setting).map(Some)
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let method = Method::Start(Start::Pivoted { rows: task.options.pivot_rows });
        select_rows(task.gram.data(), task.c, &method, task.setting, task.observer).map(Chosen::from)
    }
}
