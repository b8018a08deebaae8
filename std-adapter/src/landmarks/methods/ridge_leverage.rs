//! Rows by exact ridge leverage score: the diagonal of `K (K + NγI)⁻¹`, with the γ of the regression where it is
//! given, and otherwise the one that makes their sum, the effective dimension, c.

use crate::error::Error;
use crate::landmarks::methods::draw::by_weight;
use crate::landmarks::methods::scores::{leverage, ridge, ridge_of_dimension};
use crate::landmarks::selection::Chosen;
use crate::landmarks::selector::{About, Selector, Task};
use crate::rng::{RngStream, stream};

#[derive(Clone, Copy, Debug)]
pub(crate) struct RidgeLeverage;

impl Selector for RidgeLeverage {
    fn name(&self) -> &'static str {
        "reglev"
    }

    fn about(&self) -> About {
        About {
            help: "Rows by ridge leverage score, exact",
            source: "Alaoui and Mahoney 2015",
            evaluations: "N²",
            memory: "2 N²",
            reads_all: true,
            rows: true,
        }
    }

    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error> {
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
        by_weight(gram.ground(), c, &mut weights, &mut stream(task.setting.seed, RngStream::Landmarks))
    }
}
