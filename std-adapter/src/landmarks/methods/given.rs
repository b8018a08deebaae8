//! Rows of one's own choice, so that they can be compared.

use crate::error::Error;
use crate::landmarks::chain::{Method, select_rows};
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Options, Selector, Task};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Given;

impl Selector for Given {
    fn name(&self) -> &'static str {
        "given"
    }

    fn about(&self) -> About {
        About {
            help: "The rows of --given",
            source: "",
            evaluations: "c²/2",
            memory: "c²",
            reads_all: false,
            rows: true,
        }
    }

    fn fixed(&self, options: &Options) -> Option<usize> {
        Some(options.given.len())
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let method = Method::Given(task.options.given.clone());
        select_rows(task.gram.data(), task.c, &method, task.setting, task.observer).map(Chosen::from)
    }
}
