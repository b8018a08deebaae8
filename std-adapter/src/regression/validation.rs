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

#[cfg(test)]
mod tests {
    use super::ridge_errors;
    use crate::kernel::{kind::KernelKind, spec::KernelSpec};
    use crate::observer::NoObserver;
    use crate::regression::solve::parts::LARGE;
    use crate::{data::dataset::Dataset, data::scaler::Scale};

    /// A fit of so many landmarks leaves out most ridges: here each has its error, and one landmark more
    /// changes it little.
    #[test]
    fn each_ridge_has_its_error_with_many_landmarks() {
        let x: Vec<f64> = (0..LARGE + 100).map(|i| i as f64).collect();
        let y: Vec<f64> = x.iter().map(|x| (x / 50.0).sin() + (x * 0.754_877_666).fract()).collect();
        let data = Dataset::from_rows(&x, 1).unwrap().with_target(&y).unwrap();
        let source = data.source(Scale::Standard).unwrap();
        let data = source.as_rows().as_prepared().unwrap();
        let spec = KernelSpec { kind: KernelKind::Laplace, sigma: 0.05 };
        let ridges = [1e-4, 1e-2, 1.0];
        let errors = |count| ridge_errors(data, &data.rows[..count], spec, &ridges, 1, &NoObserver).unwrap();
        let (few, many) = (errors(LARGE), errors(LARGE + 1));
        assert_eq!((few.len(), many.len()), (3, 3));
        for (few, many) in few.iter().zip(&many) {
            assert!((many / few - 1.0).abs() < 1e-2, "{few} {many}");
        }
        assert!(many[0] < many[1] && many[1] < many[2], "{many:?}");
    }
}
