//! The chain of a c-DPP: [`crate::landmarks::chain::select()`] and the core's chains.

use crate::error::Error;
use crate::landmarks::chain::{Method, select_rows};
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Options, Selector, Task};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Kdpp;

impl Selector for Kdpp {
    fn name(&self) -> &'static str {
        "kdpp"
    }

    fn about(&self) -> About {
        About {
            help: "The chain of the c-DPP",
            source: "Li, Jegelka and Sra 2016, Algorithm 1",
            evaluations: "c a try, beside the start's",
            memory: "c², beside the start's",
            reads_all: false,
            rows: true,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let &Options { start, chain, steps, .. } = task.options;
        let method = Method::Kdpp { start, chain, steps };
        select_rows(task.gram.data(), task.c, &method, task.setting, task.observer).map(Chosen::from)
    }
}
