//! Parameters of a fit.

use crate::kernel::{precision::Precision, spec::KernelSpec};
use crate::regression::ridge::Ridge;

/// Hyperparameters of a regression.
///
/// ```
/// use dpp_nystrom::approximation::LandmarkSet;
/// use dpp_nystrom::kernel::{KernelKind, KernelSpec, Precision};
/// use dpp_nystrom::regression::{FitParams, fit};
/// use dpp_nystrom::{Dataset, Ridge, Scale, observer::NoObserver};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 0.5 };
/// let params = FitParams { kernel, ridge: Ridge::Value(1e-6), precision: Precision::F64, seed: 0 };
/// let landmarks = LandmarkSet::Indices((0..100).step_by(10).collect());
/// let fitted = fit(data.source(Scale::Standard)?.as_rows(), &landmarks, params, None, &NoObserver)?;
/// assert!(fitted.model.train_nrmse < 0.1 && fitted.model.ridge == 1e-6);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
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
