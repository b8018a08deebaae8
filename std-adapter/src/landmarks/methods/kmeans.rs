//! The centroids of k-means as landmarks: points of their own, which are no rows.

use crate::error::Error;
use crate::landmarks::methods::lloyd::centroids;
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Kmeans;

impl Selector for Kmeans {
    fn name(&self) -> &'static str {
        "kmeans"
    }

    fn about(&self) -> About {
        About {
            help: "Centroids of k-means, which are points and no rows",
            source: "Zhang, Tsang and Kwok 2008",
            evaluations: "N c distances a round",
            memory: "N + c d",
            reads_all: true,
            rows: false,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        Chosen::points(task.gram, centroids(task)?)
    }
}
