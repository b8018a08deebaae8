//! Trained models: in memory, in files, on their way to devices.

pub mod export;
pub(crate) mod file;
pub(crate) mod trained;

pub use trained::{AnyCoefficients, Coefficients, Model};
