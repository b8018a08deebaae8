//! Kernels: type, bandwidth and precision.

pub(crate) mod bandwidth;
/// Kernels chosen at run time, by name, as stored in models: the core's.
pub(crate) mod kind {
    pub(crate) use dpp_nystrom_core::kernel::KernelKind;
}
pub(crate) mod metric;
pub(crate) mod params;
pub(crate) mod precision;
pub(crate) mod spec;

pub use bandwidth::median_distance;
pub use dpp_nystrom_core::kernel::KernelKind;
pub use metric::Metric;
pub use params::{KernelParams, Kinds};
pub use precision::Precision;
pub use spec::KernelSpec;
