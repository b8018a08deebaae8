//! TODO-DOC

use crate::error::Error;
use dpp_nystrom_core::RidgeRegression;

/// Looks on while rows are learned, and may know what was learned before.
pub(crate) trait FitObserver {
    /// Puts back what an earlier run had learned, and answers how many rounds that were.
    fn resume(&mut self, accumulators: &mut [RidgeRegression<'_, f64>]) -> Result<usize, Error>;

    /// So many rounds are over.
    fn after_round(&mut self, rounds: usize, accumulators: &[RidgeRegression<'_, f64>]) -> Result<(), Error>;
}

/// Nobody looks on.
pub(crate) struct NoFitObserver;

impl FitObserver for NoFitObserver {
    fn resume(&mut self, _: &mut [RidgeRegression<'_, f64>]) -> Result<usize, Error> {
        Ok(0)
    }

    fn after_round(&mut self, _: usize, _: &[RidgeRegression<'_, f64>]) -> Result<(), Error> {
        Ok(())
    }
}
