//! Exact samples of the c-DPP, from the eigenvectors of the whole matrix.

use crate::approximation::features::independent;
use crate::error::Error;
use crate::heap::Heap;
use crate::landmarks::exact_kdpp::ExactKDpp;
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task};
use crate::rng::{RngStream, stream};
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub(crate) struct KdppExact;

impl Selector for KdppExact {
    fn name(&self) -> &'static str {
        "kdpp-exact"
    }

    fn about(&self) -> About {
        About {
            help: "Rows of an exact sample of a c-DPP, from all eigenvectors",
            source: "Kulesza and Taskar 2012, Algorithms 1 and 8",
            evaluations: "N²",
            memory: "2 N²",
            reads_all: true,
            rows: true,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
        let (gram, c) = (task.gram, task.c);
        gram.check_whole(self.name(), "kdpp")?;
        task.observer.begin("eigenvectors", 1);
        let exact = ExactKDpp::from_eigen(Arc::clone(gram.eigen()?));
        task.observer.end();
        let rows = exact.sample(c, &mut stream(task.setting.seed, RngStream::Landmarks))?;
        let mut memory = Heap::new(c)?;
        let log_det = independent(gram.ground(), &rows, &mut memory)?.log_det();
        Ok(Chosen::rows(rows, log_det))
    }
}
