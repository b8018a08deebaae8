//! The chain of a c-DPP: [`crate::select()`] and the core's chains.

use super::{About, Chosen, Selector, Task};
use crate::Error;
use crate::select::Method;
use crate::train::select_rows;

#[derive(Clone, Copy, Debug)]
pub(super) struct Kdpp;

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
        let &super::Options { start, chain, steps, .. } = task.options;
        let method = Method::Kdpp { start, chain, steps };
        select_rows(task.gram.data(), task.c, &method, task.setting, task.observer).map(Chosen::from)
    }
}
