//! Linear algebra that faer does not have in the form needed here.

pub(crate) mod bidiagonal;
pub(crate) mod eigen;
pub(crate) mod elementary_symmetric;
pub(crate) mod lbfgs;
pub(crate) mod triangle;

pub use eigen::{Eigen, rank};
pub use elementary_symmetric::expected_trace_error;
