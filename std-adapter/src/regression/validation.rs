//! Cross-validation of ridges, and its folds, for searches over other parameters.

use crate::data::{prepared::Prepared, source::RowSource};
use crate::error::Error;
use crate::kernel::spec::KernelSpec;
use crate::observer::Observer;
use crate::regression::{rows::folds::Deal, rows::input::Input, solve::regress::errors_of_ridges};

/// Return the fold of each row, one of [`FOLDS`](crate::regression::FOLDS).
///
/// ```
/// use dpp_nystrom::{Dataset, Scale, regression::folds_of};
///
/// let x: Vec<f64> = (0..200).map(f64::from).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// let folds = folds_of(data.source(Scale::Standard)?.as_rows(), 0);
/// assert!((0..10).all(|fold| folds.iter().filter(|&&other| other == fold).count() == 20));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn folds_of(source: &dyn RowSource, seed: u64) -> Vec<u8> {
    Deal::of(source).folds(source.len(), seed).collect()
}

/// Return for each ridge the squared error in 10-fold cross-validation, summed over all rows and targets; not
/// finite where the equations could not be solved. Landmarks are points, row-major. `O(N c²)`.
///
/// # Errors
/// Those of [`fit`](crate::regression::fit()).
pub fn ridge_errors(
    data: &Prepared,
    landmarks: &[f64],
    kernel: KernelSpec,
    ridges: &[f64],
    seed: u64,
    observer: &dyn Observer,
) -> Result<Vec<f64>, Error> {
    let input = Input::of(data, &data.rows, landmarks, kernel)?;
    errors_of_ridges(input, ridges, seed, observer)
}
