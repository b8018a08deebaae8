//! The main API: a feature map and a regression on it, with `params`, `fit`, `transform` and `predict`.

pub(crate) mod kernel_ridge;
pub(crate) mod landmark_ridge;
pub(crate) mod nystroem;

pub use kernel_ridge::{FeatureRidge, KernelRidge, KernelRidgeParams};
pub use landmark_ridge::LandmarkRidge;
pub use nystroem::{CustomKernel, Nystroem, NystroemParams};
