//! The Laplace kernel.

use super::{About, Argument, ChosenKernel, Formula, Kernel, Parameters, Real, inverse_bandwidth};
use crate::error::Error;
use crate::scalar::Scalar;

/// `k(x, y) = exp(-Σ abs(x_i - y_i) / σ)`: the L1 distance, not the Euclidean one.
///
/// ```
/// use dpp_nystrom_core::kernel::{Kernel, Laplace};
///
/// let kernel = Laplace::new(2.0_f64)?;
/// assert!((kernel.value(&[0.0, 0.0], &[1.0, -1.0]) - (-1.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Laplace<T> {
    inverse: T,
}

impl<T: Scalar> Laplace<T> {
    /// Create the kernel of bandwidth σ.
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless σ is positive and finite, and `1/σ²` too.
    pub fn new(bandwidth: T) -> Result<Self, Error> {
        Ok(Self { inverse: inverse_bandwidth(bandwidth)? })
    }

    /// Return `1/σ`, the factor of the L1 distance.
    pub fn rate(&self) -> T {
        self.inverse
    }
}

impl Laplace<f32> {
    /// Create the kernel `exp(-rate · Σ abs(x_i - y_i))` as a constant, for a trained model in a static, from
    /// the value of [`Laplace::rate`].
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless the rate is positive and finite.
    ///
    /// ```
    /// use dpp_nystrom_core::kernel::Laplace;
    ///
    /// const KERNEL: Result<Laplace<f32>, dpp_nystrom_core::Error> = Laplace::from_rate(0.5);
    /// assert_eq!(KERNEL?.rate(), Laplace::new(2.0)?.rate());
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub const fn from_rate(rate: f32) -> Result<Self, Error> {
        if rate > 0.0 && rate.is_finite() { Ok(Self { inverse: rate }) } else { Err(Error::Bandwidth) }
    }
}

impl<T: Scalar> Kernel<T> for Laplace<T> {
    fn value(&self, x: &[T], y: &[T]) -> T {
        self.between(x, y)
    }

    fn diagonal(&self, _: &[T]) -> T {
        T::ONE
    }
}

#[doc(hidden)]
impl<T: Scalar> Formula<T> for Laplace<T> {
    const ABOUT: About = About {
        name: "laplace",
        id: 1,
        argument: Argument::L1Distance,
        c: "        const float value = name_exp(-total * NUMBER);\n",
        c_bytes: 500,
        rust: ["Laplace<f32>", "Laplace::from_rate(NUMBER)"],
        read: |rate, _| Laplace::from_rate(rate).map(ChosenKernel::Laplace),
    };

    fn create(parameters: Parameters<T>) -> Result<Self, Error> {
        Self::new(parameters.bandwidth)
    }

    fn numbers(self) -> (T, u32) {
        (self.inverse, 0)
    }

    #[inline(always)]
    fn value_of<R: Real<T>>(self, distance: R) -> R {
        distance.times(-self.inverse).exp()
    }

    #[inline(always)]
    fn slope_of<R: Real<T>>(self, distance: R) -> R {
        -self.value_of(distance)
    }
}
