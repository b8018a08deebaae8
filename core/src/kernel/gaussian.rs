//! The Gaussian (radial basis function) kernel, which the paper uses.

use super::{About, Argument, ChosenKernel, Formula, Kernel, Parameters, Real, inverse_bandwidth};
use crate::error::Error;
use crate::scalar::Scalar;

/// `k(x, y) = exp(-‖x - y‖² / (2σ²))`.
///
/// ```
/// use dpp_nystrom_core::kernel::{Gaussian, Kernel};
///
/// let kernel = Gaussian::new(2.0_f64)?;
/// assert!((kernel.value(&[0.0], &[2.0]) - (-0.5_f64).exp()).abs() < 1e-15);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Gaussian<T> {
    /// `-1/(2σ²)`.
    exponent: T,
}

impl<T: Scalar> Gaussian<T> {
    /// Create the kernel of bandwidth σ (also called the lengthscale), in the units of the rows.
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless `1/σ²` is positive and finite.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, kernel::Gaussian};
    ///
    /// assert_eq!(Gaussian::new(2.0)?.exponent(), -0.125);
    /// assert_eq!(Gaussian::new(0.0).unwrap_err(), Error::Bandwidth);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn new(bandwidth: T) -> Result<Self, Error> {
        let inverse = inverse_bandwidth(bandwidth)?;
        Ok(Self { exponent: -(inverse * inverse) / (T::ONE + T::ONE) })
    }

    /// Return `-1/(2σ²)`, the factor of the squared distance.
    pub fn exponent(&self) -> T {
        self.exponent
    }
}

impl Gaussian<f32> {
    /// Create the kernel `exp(exponent · ‖x - y‖²)` as a constant, for a trained model in a static, from the
    /// value of [`Gaussian::exponent`].
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless the exponent is negative and finite.
    ///
    /// ```
    /// use dpp_nystrom_core::kernel::{Gaussian, Kernel};
    ///
    /// const KERNEL: Gaussian<f32> = match Gaussian::from_exponent(-0.125) {
    ///     Ok(kernel) => kernel,
    ///     Err(_) => panic!("a negative exponent"),
    /// };
    /// assert_eq!(KERNEL.value(&[1.0], &[4.0]), Gaussian::new(2.0)?.value(&[1.0], &[4.0]));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub const fn from_exponent(exponent: f32) -> Result<Self, Error> {
        if exponent < 0.0 && exponent.is_finite() { Ok(Self { exponent }) } else { Err(Error::Bandwidth) }
    }
}

impl<T: Scalar> Kernel<T> for Gaussian<T> {
    #[inline(always)]
    fn value(&self, x: &[T], y: &[T]) -> T {
        self.between(x, y)
    }

    #[inline]
    fn diagonal(&self, _: &[T]) -> T {
        T::ONE
    }
}

#[doc(hidden)]
impl<T: Scalar> Formula<T> for Gaussian<T> {
    const ABOUT: About = About {
        name: "gaussian",
        id: 0,
        argument: Argument::SquaredDistance,
        c: "        const float value = name_exp(total * NUMBER);\n",
        c_bytes: 488,
        rust: ["Gaussian<f32>", "Gaussian::from_exponent(NUMBER)"],
        read: |exponent, _| Gaussian::from_exponent(exponent).map(ChosenKernel::Gaussian),
    };

    fn create(parameters: Parameters<T>) -> Result<Self, Error> {
        Self::new(parameters.bandwidth)
    }

    fn numbers(self) -> (T, u32) {
        (self.exponent, 0)
    }

    #[inline(always)]
    fn value_of<R: Real<T>>(self, square: R) -> R {
        square.times(self.exponent).exp()
    }

    #[inline(always)]
    fn slope_of<R: Real<T>>(self, square: R) -> R {
        -self.value_of(square)
    }
}

/// `k(x, y) = exp(-Σ (x_i - y_i)² / (2σ_i²))`: a bandwidth for each feature.
///
/// ```
/// use dpp_nystrom_core::kernel::{GaussianPerFeature, Kernel};
///
/// let kernel = GaussianPerFeature::new(&[1.0_f64, 2.0])?;
/// assert!((kernel.value(&[0.0, 0.0], &[1.0, 2.0]) - (-1.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GaussianPerFeature<'a, T> {
    bandwidths: &'a [T],
}

impl<'a, T: Scalar> GaussianPerFeature<'a, T> {
    /// Create the kernel whose `i`-th feature has the bandwidth `bandwidths[i]`. There must be as many as
    /// features; features beyond are ignored.
    ///
    /// An evaluation divides once per feature. Where division is slow, divide the rows by their bandwidths
    /// once and use [`Gaussian`] with bandwidth 1.
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless every `1/σ_i²` is positive and finite; [`Error::Empty`] without
    /// bandwidths.
    pub fn new(bandwidths: &'a [T]) -> Result<Self, Error> {
        if bandwidths.is_empty() {
            return Err(Error::Empty);
        }
        for &bandwidth in bandwidths {
            inverse_bandwidth(bandwidth)?;
        }
        Ok(Self { bandwidths })
    }
}

impl<T: Scalar> Kernel<T> for GaussianPerFeature<'_, T> {
    fn value(&self, x: &[T], y: &[T]) -> T {
        let mut sum = T::ZERO;
        for ((&x, &y), &bandwidth) in x.iter().zip(y).zip(self.bandwidths) {
            let difference = (x - y) / bandwidth;
            sum += difference * difference;
        }
        (-sum / (T::ONE + T::ONE)).exp()
    }

    fn diagonal(&self, _: &[T]) -> T {
        T::ONE
    }
}
