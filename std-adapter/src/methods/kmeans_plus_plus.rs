//! The seeds of k-means++: [`dpp_nystrom_core::start::kmeans_plus_plus`].

use super::{About, Chosen, Selector, Task};
use crate::Error;
use crate::select::{Method, Start};
use crate::train::select_rows;

#[derive(Clone, Copy, Debug)]
pub(super) struct KmeansPlusPlus;

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
