//! Exact samples of the c-DPP, from the eigenvectors of the full kernel matrix.

use crate::approximation::features::independent;
use crate::error::Error;
use crate::heap::Heap;
use crate::landmarks::exact_kdpp::ExactKDpp;
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task};
use std::sync::Arc;

/// Sample a c-DPP exactly, from all eigenvectors of K (Kulesza and Taskar 2012, Algorithms 1 and 8). `N²` kernel
/// evaluations, `O(N³)` operations, `2 N²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct KdppExact;

impl Selector for KdppExact {
    fn name(&self) -> &'static str {
        "kdpp-exact"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let (gram, c) = (task.gram, task.c);
        gram.check_whole(self.name(), "kdpp")?;
        task.observer.begin("eigenvectors", 1);
        let exact = ExactKDpp::from_eigen(Arc::clone(gram.eigen()?));
        task.observer.end();
        let rows = exact.sample(c, &mut task.random())?;
        let mut memory = Heap::new(c)?;
        let log_det = independent(gram.ground(), &rows, &mut memory)?.log_det();
        Ok(Selection::rows(rows, log_det))
    }
}
