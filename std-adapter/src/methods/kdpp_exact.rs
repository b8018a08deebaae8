//! Exact samples of the c-DPP, from the eigenvectors of the whole matrix.

use super::{About, Chosen, Selector, Task};
use crate::approximation::independent;
use crate::seeds::{RngStream, stream};
use crate::{Error, ExactKDpp, Heap};
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub(super) struct KdppExact;

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
