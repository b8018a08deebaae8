//! What a kernel is: its formula and slope, its name, its numbers in files, and its code in exports.
//!
//! A [`Formula`] says all of this in the file of its kernel. Whatever treats kernels alike goes through it:
//! rows and their products, the vectors of the host, learned metrics, model files, exported C and Rust, and
//! options.

use super::{ChosenKernel, Kernel, squared_distance};
use crate::error::Error;
use crate::scalar::{Scalar, dot};
use core::ops::{Add, Mul, Neg};

/// The number `s` of two rows that a kernel `k(x, y) = f(s)` is a function of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// `‖x - y‖²`.
    SquaredDistance,
    /// `Σ abs(x_i - y_i)`.
    L1Distance,
    /// `xᵀy`. These kernels have no bandwidth.
    InnerProduct,
}

impl Argument {
    /// Return the argument of two rows, summed in the order of the features.
    #[inline(always)]
    fn between<T: Scalar>(self, x: &[T], y: &[T]) -> T {
        match self {
            Self::SquaredDistance => squared_distance(x, y),
            Self::L1Distance => {
                let mut sum = T::ZERO;
                for (&x, &y) in x.iter().zip(y) {
                    sum += (x - y).abs();
                }
                sum
            }
            Self::InnerProduct => dot(x, y),
        }
    }
}

/// What is the same for all parameters of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name in options, in lower case.
    pub name: &'static str,
    /// The kernel's place in the list, which is its number in files.
    pub id: u32,
    /// What the kernel is a function of.
    pub argument: Argument,
    /// C statements that declare `float value`, the kernel, from `float total`, the argument. `NUMBER` and
    /// `DEGREE` stand for the kernel's [`numbers`](Formula::numbers); `name_exp` and `sqrtf` may be called.
    pub c: &'static str,
    /// The bytes of code of a prediction in C on a Cortex-M4F, compiled with `-Os`: an upper bound.
    pub c_bytes: usize,
    /// The type in single precision, and a constant expression of type `Result` that creates it from `NUMBER`
    /// and `DEGREE`; empty for a type that is its only value.
    pub rust: [&'static str; 2],
    /// Create the kernel from the [`numbers`](Formula::numbers) of a file.
    pub read: fn(f32, u32) -> Result<ChosenKernel<f32>, Error>,
}

/// The parameters of all kernels. Each takes its own.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<T> {
    /// The bandwidth σ.
    pub bandwidth: T,
    /// The degree.
    pub degree: u32,
    /// The offset.
    pub offset: T,
}

/// A kernel `k(x, y) = f(s)` of one [`Argument`].
pub trait Formula<T: Scalar>: Kernel<T> + Copy {
    /// What is the same for all parameters.
    const ABOUT: About;

    /// Create the kernel.
    ///
    /// # Errors
    /// [`Error::Bandwidth`] or [`Error::Polynomial`] for parameters out of range.
    fn create(parameters: Parameters<T>) -> Result<Self, Error>;

    /// Return the two numbers that files and exported code store.
    fn numbers(self) -> (T, u32);

    /// Return `f(s)`.
    fn value_of<R: Real<T>>(self, argument: R) -> R;

    /// Return the derivative of `f` by `s/(2σ²)` for a squared distance, or by `s/σ` for an L1 distance. NaN
    /// for a kernel without a bandwidth.
    fn slope_of<R: Real<T>>(self, argument: R) -> R {
        argument.of(T::NAN)
    }

    /// Return `k(x, y)`.
    #[inline(always)]
    fn between(self, x: &[T], y: &[T]) -> T {
        self.value_of(Self::ABOUT.argument.between(x, y))
    }
}

/// A number in a formula: a [`Scalar`] `T`, or on a host a vector of them.
pub trait Real<T>: Copy + Add<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {
    /// Return this value.
    fn of(self, value: T) -> Self;
    /// Return the square root.
    fn sqrt(self) -> Self;
    /// Return the reciprocal.
    fn recip(self) -> Self;
    /// Return the exponential of a number that is not positive.
    fn exp(self) -> Self;
    /// Return `p(t) exp(-t)`, `t >= 0`: 0 where the exponential is, and the polynomial may overflow.
    fn times_decay(self, polynomial: impl FnOnce(Self) -> Self) -> Self;
    /// Return `1 + t + t²/divisor`, in the order of operations that is the fastest for this type.
    fn quadratic(self, divisor: T) -> Self;

    /// Return the product with a number.
    #[inline(always)]
    fn times(self, factor: T) -> Self {
        self * self.of(factor)
    }

    /// Return the sum with a number.
    #[inline(always)]
    fn plus(self, term: T) -> Self {
        self + self.of(term)
    }
}

impl<T: Scalar> Real<T> for T {
    #[inline(always)]
    fn of(self, value: T) -> T {
        value
    }

    #[inline(always)]
    fn sqrt(self) -> T {
        Scalar::sqrt(self)
    }

    #[inline(always)]
    fn recip(self) -> T {
        T::ONE / self
    }

    #[inline(always)]
    fn exp(self) -> T {
        Scalar::exp(self)
    }

    #[inline(always)]
    fn times_decay(self, polynomial: impl FnOnce(T) -> T) -> T {
        let decay = Scalar::exp(-self);
        // Zero times infinity is NaN.
        if decay > T::ZERO { polynomial(self) * decay } else { decay }
    }

    #[inline(always)]
    fn quadratic(self, divisor: T) -> T {
        T::ONE + self + self * self / divisor
    }
}

/// What is done with a kernel, whichever it is.
pub trait Visit<T: Scalar> {
    /// The result.
    type Output;

    /// Do it.
    fn visit<K: Formula<T>>(self, kernel: K) -> Self::Output;
}
