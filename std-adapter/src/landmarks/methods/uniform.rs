//! Rows drawn uniformly: [`dpp_nystrom_core::start::uniform`].

use crate::error::Error;
use crate::landmarks::chain::{Method, Start, select_rows};
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Uniform;

impl Selector for Uniform {
    fn name(&self) -> &'static str {
        "uniform"
    }

    fn about(&self) -> About {
        About {
            help: "Rows drawn uniformly",
            source: "Williams and Seeger 2001",
            evaluations: "c²/2",
            memory: "c²",
            reads_all: false,
            rows: true,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let method = Method::Start(Start::Uniform);
        select_rows(task.gram.data(), task.c, &method, task.setting, task.observer).map(Chosen::from)
    }
}
