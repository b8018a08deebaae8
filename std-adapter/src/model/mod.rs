//! Trained models: in memory, in files, on their way to devices.

pub(crate) mod assess;
pub(crate) mod bits;
pub(crate) mod classes;
pub(crate) mod confidence;
pub mod export;
pub(crate) mod file;
pub(crate) mod measured;
pub(crate) mod trained;

pub use classes::{Classified, Classifier};
pub use confidence::Confidence;
pub use measured::{Estimate, Importance, Importances, PERMUTATIONS, TestError};
pub(crate) use trained::Model;
pub use trained::{AnyCoefficients, Coefficients, Output};
