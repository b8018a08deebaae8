//! The seeds of k-means++: [`dpp_nystrom_core::start::kmeans_plus_plus`].

use crate::error::Error;
use crate::landmarks::chain::{Method, Start, select_rows};
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task};

#[derive(Clone, Copy, Debug)]
pub(crate) struct KmeansPlusPlus;

impl Selector for KmeansPlusPlus {
    fn name(&self) -> &'static str {
        "kmeans++"
    }

    fn about(&self) -> About {
        About {
            help: "The seeds of k-means++",
            source: "Arthur and Vassilvitskii 2007",
            evaluations: "N c distances",
            memory: "N + c²",
            reads_all: true,
            rows: true,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let method = Method::Start(Start::KmeansPlusPlus);
        select_rows(task.gram.data(), task.c, &method, task.setting, task.observer).map(Chosen::from)
    }
}
