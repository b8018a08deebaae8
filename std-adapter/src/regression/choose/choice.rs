//! The choice of the ridge.

use crate::error::{Cause, Error};
use crate::observer::Observer;
use crate::regression::{
    choose::cross_validation::Validated, choose::cross_validation::cross_validate_folds, choose::scan::least,
    ridge::Candidates, rows::triangle::Triangle,
};
use dpp_nystrom_core::{RidgeRegression, Scalar};

/// A ridge, and what it was chosen by.
pub(crate) struct Chosen {
    pub(crate) ridge: f64,
    pub(crate) validation_error: Option<f64>,
    pub(crate) scores: Vec<(f64, f64)>,
    /// The triangle of all rows, if it is known.
    pub(crate) sum: Option<Triangle>,
}

/// Choose the ridge. The parts are the folds if it is cross-validated.
pub(crate) fn choose<A: Scalar>(
    parts: &[RidgeRegression<'_, A>],
    ridges: &Candidates,
    observer: &dyn Observer,
) -> Result<Chosen, Error> {
    match ridges {
        Candidates::One(ridge) => {
            Ok(Chosen { ridge: *ridge, validation_error: None, scores: Vec::new(), sum: None })
        }
        Candidates::BestOf(grid) => {
            let Validated { scores, whole } = cross_validate_folds(parts, grid, observer)?;
            let numbers = numbers_fitted(parts);
            let (ridge, error) =
                least(scores.iter().copied()).ok_or(Error(Cause::Folds { rows: numbers as usize }))?;
            let validation_error = Some((error / numbers).sqrt());
            Ok(Chosen { ridge, validation_error, scores, sum: Some(whole) })
        }
        Candidates::BestLeaveOneOut(_) => Err(Error(Cause::LeaveOneOut)),
    }
}

/// Return the number of rows, by their weights, times that of targets.
pub(crate) fn numbers_fitted<A: Scalar>(parts: &[RidgeRegression<'_, A>]) -> f64 {
    parts.iter().map(|part| part.effective_rows().to_f64() * part.targets() as f64).sum()
}
