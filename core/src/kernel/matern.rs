//! The Matérn kernels of smoothness 3/2 and 5/2.

use super::{About, Argument, ChosenKernel, Formula, Kernel, Parameters, Real, inverse_bandwidth};
use crate::error::Error;
use crate::scalar::Scalar;

/// `k(x, y) = (1 + √3 r/σ) exp(-√3 r/σ)`, `r = ‖x - y‖`.
///
/// ```
/// use dpp_nystrom_core::kernel::{Kernel, Matern32};
///
/// let kernel = Matern32::new(3.0_f64.sqrt())?;
/// assert!((kernel.value(&[0.0], &[1.0]) - 2.0 * (-1.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Matern32<T> {
    /// `√3/σ`.
    rate: T,
}

impl<T: Scalar> Matern32<T> {
    /// Create the kernel of bandwidth σ.
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless σ is positive and finite, and `1/σ²` too.
    pub fn new(bandwidth: T) -> Result<Self, Error> {
        Ok(Self { rate: T::from_count(3).sqrt() * inverse_bandwidth(bandwidth)? })
    }

    /// Return `√3/σ`, the factor of the distance.
    pub fn rate(&self) -> T {
        self.rate
    }
}

impl Matern32<f32> {
    /// Create the kernel `(1 + s) exp(-s)`, `s = rate · ‖x - y‖`, as a constant, for a trained model in a
    /// static, from the value of [`Matern32::rate`].
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless the rate is positive and finite.
    ///
    /// ```
    /// use dpp_nystrom_core::kernel::Matern32;
    ///
    /// const KERNEL: Result<Matern32<f32>, dpp_nystrom_core::Error> = Matern32::from_rate(0.5);
    /// assert!((Matern32::new(12.0_f32.sqrt())?.rate() - KERNEL?.rate()).abs() < 1e-7);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub const fn from_rate(rate: f32) -> Result<Self, Error> {
        if rate > 0.0 && rate.is_finite() { Ok(Self { rate }) } else { Err(Error::Bandwidth) }
    }
}

impl<T: Scalar> Kernel<T> for Matern32<T> {
    fn value(&self, x: &[T], y: &[T]) -> T {
        self.between(x, y)
    }

    fn diagonal(&self, _: &[T]) -> T {
        T::ONE
    }
}

#[doc(hidden)]
impl<T: Scalar> Formula<T> for Matern32<T> {
    const ABOUT: About = About {
        name: "matern32",
        id: 2,
        argument: Argument::SquaredDistance,
        c: "        const float scaled = sqrtf(total) * NUMBER;
        const float decay = name_exp(-scaled);
        /* The polynomial of a distant row can overflow, and zero times infinity is NaN. */
        const float value = (decay > 0.0f) ? (1.0f + scaled) * decay : decay;
",
        c_bytes: 540,
        rust: ["Matern32<f32>", "Matern32::from_rate(NUMBER)"],
        read: |rate, _| Matern32::from_rate(rate).map(ChosenKernel::Matern32),
    };

    fn create(parameters: Parameters<T>) -> Result<Self, Error> {
        Self::new(parameters.bandwidth)
    }

    fn numbers(self) -> (T, u32) {
        (self.rate, 0)
    }

    #[inline(always)]
    fn value_of<R: Real<T>>(self, square: R) -> R {
        square.sqrt().times(self.rate).times_decay(|scaled| scaled.plus(T::ONE))
    }

    #[inline(always)]
    fn slope_of<R: Real<T>>(self, square: R) -> R {
        let scaled = square.sqrt().times(self.rate);
        (-scaled).exp().times(-T::from_count(3))
    }
}

/// `k(x, y) = (1 + √5 r/σ + 5r²/(3σ²)) exp(-√5 r/σ)`, `r = ‖x - y‖`.
///
/// ```
/// use dpp_nystrom_core::kernel::{Kernel, Matern52};
///
/// let kernel = Matern52::new(5.0_f64.sqrt())?;
/// assert!((kernel.value(&[0.0], &[1.0]) - (7.0 / 3.0) * (-1.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Matern52<T> {
    /// `√5/σ`.
    rate: T,
}

impl<T: Scalar> Matern52<T> {
    /// Create the kernel of bandwidth σ.
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless σ is positive and finite, and `1/σ²` too.
    pub fn new(bandwidth: T) -> Result<Self, Error> {
        Ok(Self { rate: T::from_count(5).sqrt() * inverse_bandwidth(bandwidth)? })
    }

    /// Return `√5/σ`, the factor of the distance.
    pub fn rate(&self) -> T {
        self.rate
    }
}

impl Matern52<f32> {
    /// Create the kernel `(1 + s + s²/3) exp(-s)`, `s = rate · ‖x - y‖`, as a constant, for a trained model
    /// in a static, from the value of [`Matern52::rate`].
    ///
    /// # Errors
    /// [`Error::Bandwidth`] unless the rate is positive and finite.
    ///
    /// ```
    /// use dpp_nystrom_core::kernel::Matern52;
    ///
    /// const KERNEL: Result<Matern52<f32>, dpp_nystrom_core::Error> = Matern52::from_rate(0.5);
    /// assert!((Matern52::new(20.0_f32.sqrt())?.rate() - KERNEL?.rate()).abs() < 1e-7);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub const fn from_rate(rate: f32) -> Result<Self, Error> {
        if rate > 0.0 && rate.is_finite() { Ok(Self { rate }) } else { Err(Error::Bandwidth) }
    }
}

impl<T: Scalar> Kernel<T> for Matern52<T> {
    fn value(&self, x: &[T], y: &[T]) -> T {
        self.between(x, y)
    }

    fn diagonal(&self, _: &[T]) -> T {
        T::ONE
    }
}

#[doc(hidden)]
impl<T: Scalar> Formula<T> for Matern52<T> {
    const ABOUT: About = About {
        name: "matern52",
        id: 3,
        argument: Argument::SquaredDistance,
        c: "        const float scaled = sqrtf(total) * NUMBER;
        const float decay = name_exp(-scaled);
        /* The polynomial of a distant row can overflow, and zero times infinity is NaN. */
        const float value = (decay > 0.0f) ? (1.0f + scaled + scaled * scaled / 3.0f) * decay : decay;
",
        c_bytes: 540,
        rust: ["Matern52<f32>", "Matern52::from_rate(NUMBER)"],
        read: |rate, _| Matern52::from_rate(rate).map(ChosenKernel::Matern52),
    };

    fn create(parameters: Parameters<T>) -> Result<Self, Error> {
        Self::new(parameters.bandwidth)
    }

    fn numbers(self) -> (T, u32) {
        (self.rate, 0)
    }

    #[inline(always)]
    fn value_of<R: Real<T>>(self, square: R) -> R {
        square.sqrt().times(self.rate).times_decay(|scaled| scaled.quadratic(T::from_count(3)))
    }

    #[inline(always)]
    fn slope_of<R: Real<T>>(self, square: R) -> R {
        let scaled = square.sqrt().times(self.rate);
        scaled.plus(T::ONE).times(-T::from_count(5) / T::from_count(3)) * (-scaled).exp()
    }
}
