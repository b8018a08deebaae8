//! Rows by exact ridge leverage scores: the diagonal of `K (K + NγI)⁻¹`. γ is that of the regression if given, and
//! otherwise the one at which the sum of the scores, the effective dimension, is c.

use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::methods::scores::{leverage, ridge, ridge_of_dimension};
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task};

/// Select rows by exact ridge leverage scores (Alaoui and Mahoney 2015), at the task's ridge if set. `N²` kernel
/// evaluations, `O(N³)` operations, `2 N²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct RidgeLeverage;

impl Selector for RidgeLeverage {
    fn name(&self) -> &'static str {
        "reglev"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let (gram, c) = (task.gram, task.c);
        gram.check_whole(self.name(), "appreglev")?;
        task.observer.begin("eigenvectors", 1);
        let eigen = gram.eigen()?;
        task.observer.end();
        let mu = match task.ridge {
            Some(gamma) => gamma * gram.len() as f64,
            None => ridge_of_dimension(&eigen.values, c),
        };
        let mut weights = leverage(eigen.vectors.as_ref(), &ridge(&eigen.values, mu));
        by_weight(gram.ground(), c, &mut weights, &mut task.random())
    }
}
