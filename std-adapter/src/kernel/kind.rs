//! Kernels chosen at run time, by name, as stored in models.

use crate::error::Error;
use dpp_nystrom_core::kernel::{Gaussian, Laplace, Linear, Matern32, Matern52, Polynomial};
use dpp_nystrom_core::{Error as CoreError, Scalar};
use serde::{Deserialize, Serialize};

pub(crate) use dpp_nystrom_core::kernel::ChosenKernel;

/// The type of kernel. The formulas are in [`dpp_nystrom_core::kernel`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum KernelKind {
    /// `exp(-‖x - y‖² / (2σ²))`.
    #[default]
    Gaussian,
    /// `exp(-Σ abs(x_i - y_i) / σ)`.
    Laplace,
    /// Matérn of smoothness 3/2.
    Matern32,
    /// Matérn of smoothness 5/2.
    Matern52,
    /// `(xᵀy + offset)^degree`.
    Polynomial {
        /// The degree, at least 1.
        degree: u32,
        /// The offset, at least 0.
        offset: f64,
    },
    /// `xᵀy`.
    Linear,
}

impl KernelKind {
    /// Return whether the kernel has a bandwidth.
    pub fn has_bandwidth(self) -> bool {
        !matches!(self, Self::Polynomial { .. } | Self::Linear)
    }

    /// Build the kernel with bandwidth `sigma`, which kernels without one ignore.
    ///
    /// # Errors
    /// [`Error::Core`] for parameters out of range.
    pub fn build<T: Scalar>(self, sigma: f64) -> Result<ChosenKernel<T>, Error> {
        let bandwidth = T::from_f64(sigma);
        let built = match self {
            Self::Gaussian => Gaussian::new(bandwidth).map(ChosenKernel::Gaussian),
            Self::Laplace => Laplace::new(bandwidth).map(ChosenKernel::Laplace),
            Self::Matern32 => Matern32::new(bandwidth).map(ChosenKernel::Matern32),
            Self::Matern52 => Matern52::new(bandwidth).map(ChosenKernel::Matern52),
            Self::Polynomial { degree, offset } => {
                Polynomial::new(degree, T::from_f64(offset)).map(ChosenKernel::Polynomial)
            }
            Self::Linear => Ok(ChosenKernel::Linear(Linear)),
        };
        built.map_err(|error| match error {
            CoreError::Bandwidth => Error::Bandwidth { sigma },
            other => Error::Core(other),
        })
    }
}
