//! A kernel with a fixed bandwidth.

use crate::error::{Cause, Error};
use crate::kernel::kind::KernelKind;
use dpp_nystrom_core::{Error as CoreError, Scalar, kernel::ChosenKernel};
use serde::{Deserialize, Serialize};

/// A kernel and its bandwidth σ, in units of the scaled features.
///
/// ```
/// use dpp_nystrom::kernel::{KernelKind, KernelSpec};
///
/// let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 0.5 };
/// assert!(spec.build::<f64>().is_ok());
/// assert!(KernelSpec { sigma: 0.0, ..spec }.build::<f64>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelSpec {
    /// The kernel.
    pub kind: KernelKind,
    /// Its bandwidth, or lengthscale; kernels without one ignore it.
    pub sigma: f64,
}

impl KernelSpec {
    /// Return the bandwidth; none for a kernel without one.
    pub fn bandwidth(self) -> Option<f64> {
        self.kind.has_bandwidth().then_some(self.sigma)
    }

    /// Build the kernel in the precision `T`.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for parameters out of range.
    pub fn build<T: Scalar>(self) -> Result<ChosenKernel<T>, Error> {
        self.kind.build(self.sigma).map_err(|error| match error {
            CoreError::Bandwidth => Error(Cause::Bandwidth { sigma: self.sigma }),
            other => Error(Cause::Core(other)),
        })
    }
}
