//! Trained models: prediction, model files, and export to devices.

pub mod export;
pub(crate) mod file;
pub(crate) mod trained;

pub use file::{load, save};
pub use trained::{AnyCoefficients, Coefficients, Model};
