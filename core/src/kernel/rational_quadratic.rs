//! The rational quadratic kernel: a mixture of Gaussian kernels of all bandwidths.

use super::{About, Argument, ChosenKernel, Formula, Kernel, Parameters, Real, inverse_bandwidth};
use crate::error::Error;
use crate::scalar::Scalar;

/// `k(x, y) = 1 / (1 + ‖x - y‖² / (2σ²))`.
///
/// It is `(1 + r²/(2ασ²))^-α` with `α = 1` (Rasmussen and Williams, Gaussian Processes for Machine Learning,
/// 2006, (4.19)): the mean of Gaussian kernels whose inverse squared bandwidths `1/s²` are exponentially
/// distributed with mean `1/σ²`. Its tails are heavy: distant rows stay correlated.
///
/// ```
/// use dpp_nystrom_core::kernel::{Kernel, RationalQuadratic};
///
/// let kernel = RationalQuadratic::new(2.0_f64)?;
/// assert_eq!(kernel.value(&[0.0], &[4.0]), 1.0 / 3.0);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RationalQuadratic<T> {
    /// `1/(2σ²)`.
    rate: T,
}

impl<T: Scalar> RationalQuadratic<T> {
    /// Create the kernel of bandwidth σ.
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless σ is positive and finite, and `1/σ²` too.
    pub fn new(bandwidth: T) -> Result<Self, Error> {
        let inverse = inverse_bandwidth(bandwidth)?;
        Ok(Self { rate: inverse * inverse / (T::ONE + T::ONE) })
    }

    /// Return `1/(2σ²)`, the factor of the squared distance.
    pub fn rate(&self) -> T {
        self.rate
    }
}

impl RationalQuadratic<f32> {
    /// Create the kernel `1 / (1 + rate · ‖x - y‖²)` as a constant, for a trained model in a static, from the
    /// value of [`RationalQuadratic::rate`].
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless the rate is positive and finite.
    ///
    /// ```
    /// use dpp_nystrom_core::kernel::RationalQuadratic;
    ///
    /// const KERNEL: Result<RationalQuadratic<f32>, dpp_nystrom_core::Error> = RationalQuadratic::from_rate(0.125);
    /// assert_eq!(KERNEL?.rate(), RationalQuadratic::new(2.0)?.rate());
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub const fn from_rate(rate: f32) -> Result<Self, Error> {
        if rate > 0.0 && rate.is_finite() { Ok(Self { rate }) } else { Err(Error::Bandwidth) }
    }
}

impl<T: Scalar> Kernel<T> for RationalQuadratic<T> {
    fn value(&self, x: &[T], y: &[T]) -> T {
        self.between(x, y)
    }

    fn diagonal(&self, _: &[T]) -> T {
        T::ONE
    }
}

#[doc(hidden)]
impl<T: Scalar> Formula<T> for RationalQuadratic<T> {
    const ABOUT: About = About {
        name: "rational-quadratic",
        id: 6,
        argument: Argument::SquaredDistance,
        c: "        const float value = 1.0f / (total * NUMBER + 1.0f);\n",
        // That of the Gaussian, whose exponential it lacks.
        c_bytes: 488,
        rust: ["RationalQuadratic<f32>", "RationalQuadratic::from_rate(NUMBER)"],
        read: |rate, _| RationalQuadratic::from_rate(rate).map(ChosenKernel::RationalQuadratic),
    };

    fn create(parameters: Parameters<T>) -> Result<Self, Error> {
        Self::new(parameters.bandwidth)
    }

    fn numbers(self) -> (T, u32) {
        (self.rate, 0)
    }

    #[inline(always)]
    fn value_of<R: Real<T>>(self, square: R) -> R {
        square.times(self.rate).plus(T::ONE).recip()
    }

    #[inline(always)]
    fn slope_of<R: Real<T>>(self, square: R) -> R {
        let value = self.value_of(square);
        -(value * value)
    }
}
