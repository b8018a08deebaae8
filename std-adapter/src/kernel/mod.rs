//! TODO-DOC

pub(crate) mod bandwidth;
pub(crate) mod kind;
pub(crate) mod precision;
pub(crate) mod spec;

pub use bandwidth::{Bandwidth, MEDIAN_SAMPLE, median_distance};
pub use kind::KernelKind;
pub use precision::Precision;
pub use spec::KernelSpec;
