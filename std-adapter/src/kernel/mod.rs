//! Kernels: type, bandwidth and precision.

pub(crate) mod bandwidth;
pub(crate) mod kind;
pub(crate) mod metric;
pub(crate) mod params;
pub(crate) mod precision;
pub(crate) mod spec;

pub use bandwidth::{MEDIAN_SAMPLE, Sigma, median_distance};
pub use kind::KernelKind;
pub use metric::Metric;
pub use params::{Gaussian, KernelParams, Laplace, Matern32, Matern52};
pub use precision::Precision;
pub use spec::KernelSpec;
