//! Parameters of a fit.

use crate::kernel::{precision::Precision, spec::KernelSpec};
use crate::regression::ridge::Ridge;

/// Hyperparameters of a regression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitParams {
    /// The kernel.
    pub kernel: KernelSpec,
    /// The ridge γ, or how it is chosen.
    pub ridge: Ridge,
    /// The precision; for a row store, that of the store is used.
    pub precision: Precision,
    /// The seed of the folds.
    pub seed: u64,
}
