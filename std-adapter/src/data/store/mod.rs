//! Row stores: writing and reading standardised rows on disk.

pub(crate) mod open;
pub(crate) mod write;

pub use open::{Description, Store, Stored, TargetColumn};
pub use write::convert;
