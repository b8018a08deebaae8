//! TODO-DOC

pub(crate) mod moments;
pub(crate) mod prepared;
pub(crate) mod scaler;
pub mod store;
pub mod table;

pub use moments::Moments;
pub use prepared::{Prepared, StandardTarget};
pub use scaler::Scaler;
