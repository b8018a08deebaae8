//! Linear algebra that faer does not have in the form needed here.

pub(crate) mod bidiagonal;
pub(crate) mod eigen;
pub(crate) mod elementary_symmetric;
pub(crate) mod lbfgs;
pub(crate) mod triangle;

use dpp_nystrom_core::Scalar;
use dpp_nystrom_host::simd::Lane;
use faer::{Mat, MatRef};

pub use eigen::{Eigen, rank};
pub use elementary_symmetric::expected_trace_error;

/// Return the inner product of two vectors.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Return the number below which kernel values, features and probabilities are 0. Products of more than four
/// of them would be subnormal numbers, on which processors take a hundred times as long: some rows far from
/// all others made a fit take 40 times as long.
pub(crate) fn negligible<T: Scalar>() -> T {
    T::SMALLEST.sqrt().sqrt()
}

/// Return a matrix in this precision.
pub(crate) fn in_precision<T: Lane>(matrix: MatRef<'_, f64>) -> Mat<T> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| T::from_f64(matrix[(i, j)]))
}

/// Add a matrix of the same shape.
pub(crate) fn increase<T: Lane>(to: &mut Mat<f64>, by: &Mat<T>) {
    for k in 0..to.ncols() {
        to.col_as_slice_mut(k).iter_mut().zip(by.col_as_slice(k)).for_each(|(to, by)| *to += by.to_f64());
    }
}
