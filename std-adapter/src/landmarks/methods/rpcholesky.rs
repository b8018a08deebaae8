//! Randomly pivoted Cholesky: [`crate::simd::lanes::Lanes::pivot`].

use crate::error::Error;
use crate::landmarks::chain::{Method, Start, select_rows, start_in_order};
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task};

#[derive(Clone, Copy, Debug)]
pub(crate) struct RpCholesky;

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
