//! Linear algebra that faer does not have in the form needed here.

pub(crate) mod bidiagonal;
pub(crate) mod eigen;
pub(crate) mod elementary_symmetric;
pub(crate) mod lbfgs;
pub(crate) mod triangle;

pub use eigen::{Eigen, rank};
pub use elementary_symmetric::expected_trace_error;

/// Return the inner product of two vectors.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
