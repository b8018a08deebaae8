//! Kernels of the inner product. Their matrices have low rank (at most `d` for the linear kernel), which
//! bounds the number of independent landmarks.

use super::{About, Argument, ChosenKernel, Formula, Kernel, Parameters, Real};
use crate::error::Error;
use crate::scalar::Scalar;

/// `k(x, y) = xᵀy`.
///
/// ```
/// use dpp_nystrom_core::kernel::{Kernel, Linear};
///
/// assert_eq!(Linear.value(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Linear;

impl<T: Scalar> Kernel<T> for Linear {
    fn value(&self, x: &[T], y: &[T]) -> T {
        self.between(x, y)
    }
}

#[doc(hidden)]
impl<T: Scalar> Formula<T> for Linear {
    const ABOUT: About = About {
        name: "linear",
        id: 5,
        argument: Argument::InnerProduct,
        c: "        const float value = total;\n",
        c_bytes: 288,
        rust: ["Linear", ""],
        read: |_, _| Ok(ChosenKernel::Linear(Linear)),
    };

    fn create(_: Parameters<T>) -> Result<Self, Error> {
        Ok(Self)
    }

    fn numbers(self) -> (T, u32) {
        (T::ZERO, 0)
    }

    #[inline(always)]
    fn value_of<R: Real<T>>(self, product: R) -> R {
        product
    }
}

/// `k(x, y) = (xᵀy + offset)^degree`.
///
/// ```
/// use dpp_nystrom_core::kernel::{Kernel, Polynomial};
///
/// assert_eq!(Polynomial::new(2, 1.0)?.value(&[1.0, 2.0], &[3.0, 4.0]), 144.0);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Polynomial<T> {
    degree: u32,
    offset: T,
}

impl<T: Scalar> Polynomial<T> {
    /// Create the kernel of this degree and offset.
    ///
    /// # Errors
    /// [`Error::Polynomial`] for a degree of 0, or an offset that is negative or not finite: the
    /// kernel would not be positive semidefinite.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, kernel::Polynomial};
    ///
    /// assert!(Polynomial::new(2, 0.0).is_ok());
    /// assert_eq!(Polynomial::new(2, -1.0).unwrap_err(), Error::Polynomial);
    /// ```
    pub fn new(degree: u32, offset: T) -> Result<Self, Error> {
        if degree >= 1 && offset >= T::ZERO && offset.is_finite() {
            Ok(Self { degree, offset })
        } else {
            Err(Error::Polynomial)
        }
    }

    /// Return the degree.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// Return the offset.
    pub fn offset(&self) -> T {
        self.offset
    }
}

impl Polynomial<f32> {
    /// [`Polynomial::new`] as a constant function, for a trained model in a static.
    ///
    /// # Errors
    /// Those of [`Polynomial::new`].
    ///
    /// ```
    /// use dpp_nystrom_core::kernel::{Kernel, Polynomial};
    ///
    /// const KERNEL: Result<Polynomial<f32>, dpp_nystrom_core::Error> = Polynomial::constant(3, 1.0);
    /// assert_eq!((KERNEL?.degree(), KERNEL?.offset()), (3, 1.0));
    /// assert_eq!(KERNEL?.value(&[2.0], &[0.5]), 8.0);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub const fn constant(degree: u32, offset: f32) -> Result<Self, Error> {
        if degree >= 1 && offset >= 0.0 && offset.is_finite() {
            Ok(Self { degree, offset })
        } else {
            Err(Error::Polynomial)
        }
    }
}

impl<T: Scalar> Kernel<T> for Polynomial<T> {
    fn value(&self, x: &[T], y: &[T]) -> T {
        self.between(x, y)
    }
}

#[doc(hidden)]
impl<T: Scalar> Formula<T> for Polynomial<T> {
    const ABOUT: About = About {
        name: "polynomial",
        id: 4,
        argument: Argument::InnerProduct,
        c: "        float base = total + NUMBER;
        float value = 1.0f;
        uint32_t left = DEGREEu;

        while (left > 0u) {
            if ((left & 1u) == 1u) {
                value *= base;
            }
            base *= base;
            left >>= 1;
        }
",
        c_bytes: 304,
        rust: ["Polynomial<f32>", "Polynomial::constant(DEGREE, NUMBER)"],
        read: |offset, degree| Polynomial::constant(degree, offset).map(ChosenKernel::Polynomial),
    };

    fn create(parameters: Parameters<T>) -> Result<Self, Error> {
        Self::new(parameters.degree, parameters.offset)
    }

    fn numbers(self) -> (T, u32) {
        (self.offset, self.degree)
    }

    #[inline(always)]
    fn value_of<R: Real<T>>(self, product: R) -> R {
        let mut base = product.plus(self.offset);
        let mut power = product.of(T::ONE);
        let mut left = self.degree;
        while left > 0 {
            if left & 1 == 1 {
                power = power * base;
            }
            base = base * base;
            left >>= 1;
        }
        power
    }
}
