//! A kernel that is chosen at run time.

use super::{Gaussian, Kernel, Laplace, Linear, Matern32, Matern52, Polynomial};
use crate::scalar::Scalar;

/// One of the kernels that a trained model may have.
///
/// Firmware whose kernel is known at compile time names that kernel's type instead, and links no other.
///
/// ```
/// use dpp_nystrom_core::kernel::{ChosenKernel, Gaussian, Kernel, Linear};
///
/// let kernels = [ChosenKernel::Gaussian(Gaussian::new(1.0)?), ChosenKernel::Linear(Linear)];
/// assert_eq!(kernels.map(|kernel| kernel.value(&[2.0], &[2.0])), [1.0, 4.0]);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ChosenKernel<T> {
    /// See [`Gaussian`].
    Gaussian(Gaussian<T>),
    /// See [`Laplace`].
    Laplace(Laplace<T>),
    /// See [`Matern32`].
    Matern32(Matern32<T>),
    /// See [`Matern52`].
    Matern52(Matern52<T>),
    /// See [`Polynomial`].
    Polynomial(Polynomial<T>),
    /// See [`Linear`].
    Linear(Linear),
}

impl<T: Scalar> Kernel<T> for ChosenKernel<T> {
    #[inline]
    fn value(&self, x: &[T], y: &[T]) -> T {
        match self {
            Self::Gaussian(kernel) => kernel.value(x, y),
            Self::Laplace(kernel) => kernel.value(x, y),
            Self::Matern32(kernel) => kernel.value(x, y),
            Self::Matern52(kernel) => kernel.value(x, y),
            Self::Polynomial(kernel) => kernel.value(x, y),
            Self::Linear(kernel) => kernel.value(x, y),
        }
    }

    #[inline]
    fn diagonal(&self, x: &[T]) -> T {
        match self {
            Self::Gaussian(kernel) => kernel.diagonal(x),
            Self::Laplace(kernel) => kernel.diagonal(x),
            Self::Matern32(kernel) => kernel.diagonal(x),
            Self::Matern52(kernel) => kernel.diagonal(x),
            Self::Polynomial(kernel) => kernel.diagonal(x),
            Self::Linear(kernel) => kernel.diagonal(x),
        }
    }
}
