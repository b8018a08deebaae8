//! Kernels: positive semidefinite functions of two rows.
//!
//! | kernel | `k(x, y)` | parameters |
//! | --- | --- | --- |
//! | [`Gaussian`] | `exp(-‖x - y‖² / (2σ²))` | bandwidth σ |
//! | [`GaussianPerFeature`] | `exp(-Σ (x_i - y_i)² / (2σ_i²))` | a bandwidth per feature |
//! | [`Laplace`] | `exp(-Σ abs(x_i - y_i) / σ)` | bandwidth σ |
//! | [`Matern32`] | `(1 + √3 r/σ) exp(-√3 r/σ)`, `r = ‖x - y‖` | bandwidth σ |
//! | [`Matern52`] | `(1 + √5 r/σ + 5r²/(3σ²)) exp(-√5 r/σ)` | bandwidth σ |
//! | [`RationalQuadratic`] | `1 / (1 + ‖x - y‖² / (2σ²))` | bandwidth σ |
//! | [`Polynomial`] | `(xᵀy + offset)^degree` | degree, offset |
//! | [`Linear`] | `xᵀy` | |
//!
//! The bandwidth σ is also called the lengthscale.
//!
//! An evaluation costs `O(d)` operations for rows of `d` features and one exponential, which the rational
//! quadratic, polynomial and linear kernels do without. Rows of unequal length are compared over the shorter:
//! lengths are checked once, where rows enter ([`crate::Points::new`], [`crate::Predictor::new`]).
//!
//! # To add a kernel
//!
//! Implement `Formula` and [`Kernel`] in a file beside these, and list it below: `mod`, `pub use`, a row of
//! the table, the last line of the list. Options, SIMD lanes, learned metrics, files and exported code then
//! include it. The tests are those of `tests/core/kernels.rs`; the program's tests of exports ask for an
//! example of its code.

mod chosen;
mod dot_product;
mod formula;
mod gaussian;
mod laplace;
mod matern;
mod rational_quadratic;

pub use dot_product::{Linear, Polynomial};
pub use gaussian::{Gaussian, GaussianPerFeature};
pub use laplace::Laplace;
pub use matern::{Matern32, Matern52};
pub use rational_quadratic::RationalQuadratic;

// For `dpp-nystrom` alone.
#[doc(hidden)]
pub use formula::{About, Argument, Formula, Parameters, Real, Visit};

use crate::error::Error;
use crate::scalar::Scalar;

// Files number the kernels in this order: a new one is the last.
chosen::kernels! { T:
    /// `exp(-‖x - y‖² / (2σ²))`.
    #[default]
    Gaussian = Gaussian<T>,
    /// `exp(-Σ abs(x_i - y_i) / σ)`.
    Laplace = Laplace<T>,
    /// Matérn of smoothness 3/2.
    Matern32 = Matern32<T>,
    /// Matérn of smoothness 5/2.
    Matern52 = Matern52<T>,
    /// `(xᵀy + offset)^degree`.
    Polynomial {
        /// The degree, at least 1.
        degree: u32 = 3,
        /// The offset, at least 0.
        offset: f64 = 1.0
    } = Polynomial<T>,
    /// `xᵀy`.
    Linear = Linear,
    /// `1 / (1 + ‖x - y‖² / (2σ²))`.
    RationalQuadratic = RationalQuadratic<T>,
}

/// A positive semidefinite function of two rows.
///
/// ```
/// use dpp_nystrom_core::{Points, kernel::Kernel};
///
/// /// The histogram intersection kernel: `Σ min(x_i, y_i)`.
/// struct Intersection;
///
/// impl Kernel<f32> for Intersection {
///     fn value(&self, x: &[f32], y: &[f32]) -> f32 {
///         x.iter().zip(y).map(|(&x, &y)| if x < y { x } else { y }).sum()
///     }
/// }
///
/// let rows = [0.2, 0.8, 0.5, 0.5, 0.9, 0.1];
/// assert!(Points::new(&rows, 2, Intersection).is_ok());
/// ```
pub trait Kernel<T> {
    /// Return `k(x, y)`: symmetric, and positive semidefinite over any set of rows.
    fn value(&self, x: &[T], y: &[T]) -> T;

    /// Return `k(x, x)`. Implement it where it is cheaper than `value`.
    fn diagonal(&self, x: &[T]) -> T {
        self.value(x, x)
    }
}

impl<T, K: Kernel<T> + ?Sized> Kernel<T> for &K {
    fn value(&self, x: &[T], y: &[T]) -> T {
        (**self).value(x, y)
    }

    fn diagonal(&self, x: &[T]) -> T {
        (**self).diagonal(x)
    }
}

/// Rows of this many features, a common number for sensors, have a loop of their own over the rows. It holds
/// one of the two rows and the kernel's constants in a microcontroller's registers.
pub(crate) const UNROLLED: usize = 8;

/// Return `‖x - y‖²`, summed in the order of the features.
#[inline(always)]
pub(crate) fn squared_distance<T: Scalar>(x: &[T], y: &[T]) -> T {
    let mut sum = T::ZERO;
    let mut add = |x: &T, y: &T| {
        let difference = *x - *y;
        sum += difference * difference;
    };
    // Written out: at `opt-level = "s"` no loop is unrolled.
    if let ([x0, x1, x2, x3, x4, x5, x6, x7], [y0, y1, y2, y3, y4, y5, y6, y7]) = (x, y) {
        add(x0, y0);
        add(x1, y1);
        add(x2, y2);
        add(x3, y3);
        add(x4, y4);
        add(x5, y5);
        add(x6, y6);
        add(x7, y7);
        return sum;
    }
    let (x_blocks, x_rest) = x.as_chunks::<4>();
    let (y_blocks, y_rest) = y.as_chunks::<4>();
    if x_blocks.len() == y_blocks.len() {
        for ([x0, x1, x2, x3], [y0, y1, y2, y3]) in x_blocks.iter().zip(y_blocks) {
            add(x0, y0);
            add(x1, y1);
            add(x2, y2);
            add(x3, y3);
        }
        x_rest.iter().zip(y_rest).for_each(|(x, y)| add(x, y));
    } else {
        x.iter().zip(y).for_each(|(x, y)| add(x, y));
    }
    sum
}

/// Return `1/σ`, if σ and `1/σ²` are positive and finite.
fn inverse_bandwidth<T: Scalar>(bandwidth: T) -> Result<T, Error> {
    let inverse = T::ONE / bandwidth;
    let square = inverse * inverse;
    if bandwidth > T::ZERO && bandwidth.is_finite() && square > T::ZERO && square.is_finite() {
        Ok(inverse)
    } else {
        Err(Error::Bandwidth)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Gaussian, GaussianPerFeature, Kernel, KernelKind, Laplace, Linear, Matern32, Matern52, Polynomial,
    };
    use crate::error::Error;
    use crate::scalar::Scalar;

    /// Check each convention at one point computed by hand: x - y = (1, -2), σ = 2, xᵀy = -2 + 2 = 0.
    fn at_a_point<T: Scalar>(tolerance: f64) {
        let f = T::from_f64;
        let x = [f(2.0), f(-1.0)];
        let y = [f(1.0), f(1.0)];
        let sigma = f(2.0);
        let close = |value: T, expected: f64| {
            assert!((value.to_f64() - expected).abs() <= tolerance * expected.abs(), "{value} {expected}");
        };
        close(Gaussian::new(sigma).unwrap().value(&x, &y), 0.535_261_428_518_99); // exp(-5/8)
        let bandwidths = [f(1.0), f(2.0)];
        close(GaussianPerFeature::new(&bandwidths).unwrap().value(&x, &y), 0.367_879_441_171_442_33); // exp(-1/2 - 4/8)
        close(Laplace::new(sigma).unwrap().value(&x, &y), 0.223_130_160_148_429_82); // exp(-3/2)
        // √15/2 = 1.936491673103709; (1 + that) exp(-that)
        close(Matern32::new(sigma).unwrap().value(&x, &y), 0.42346851483873416);
        // √25/2 = 2.5; (1 + 2.5 + 25/12) exp(-2.5)
        close(Matern52::new(sigma).unwrap().value(&x, &y), 0.45830790898343504);
        close(Polynomial::new(3, f(2.0)).unwrap().value(&x, &[f(2.0), f(1.0)]), 125.0); // (3 + 2)³
        close(Linear.value(&x, &[f(2.0), f(1.0)]), 3.0);
    }

    #[test]
    fn conventions_in_f64() {
        at_a_point::<f64>(1e-15);
    }

    #[test]
    fn conventions_in_f32() {
        at_a_point::<f32>(3e-7);
    }

    #[test]
    fn the_diagonal_is_the_value_at_equal_rows() {
        let x = [0.3_f64, -4.0];
        let bandwidths = [0.5, 3.0];
        assert_eq!(Gaussian::new(0.1).unwrap().diagonal(&x), 1.0);
        assert_eq!(GaussianPerFeature::new(&bandwidths).unwrap().diagonal(&x), 1.0);
        assert_eq!(Laplace::new(0.1).unwrap().diagonal(&x), Laplace::new(0.1).unwrap().value(&x, &x));
        assert_eq!(Matern32::new(0.1).unwrap().diagonal(&x), Matern32::new(0.1).unwrap().value(&x, &x));
        assert_eq!(Matern52::new(0.1).unwrap().diagonal(&x), Matern52::new(0.1).unwrap().value(&x, &x));
    }

    #[test]
    fn the_number_in_files_is_the_place_in_the_list() {
        for (place, kind) in KernelKind::ALL.iter().enumerate() {
            assert_eq!(kind.about().id as usize, place, "{kind}");
            assert_eq!(KernelKind::of_name(kind.name()), Some(*kind));
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for bandwidth in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
            assert_eq!(Gaussian::new(bandwidth).unwrap_err(), Error::Bandwidth);
            assert_eq!(Laplace::new(bandwidth).unwrap_err(), Error::Bandwidth);
            assert_eq!(Matern32::new(bandwidth).unwrap_err(), Error::Bandwidth);
            assert_eq!(Matern52::new(bandwidth).unwrap_err(), Error::Bandwidth);
            assert_eq!(GaussianPerFeature::new(&[1.0, bandwidth]).unwrap_err(), Error::Bandwidth);
        }
        assert_eq!(Polynomial::new(0, 1.0).unwrap_err(), Error::Polynomial);
        assert_eq!(Polynomial::new(2, -1.0).unwrap_err(), Error::Polynomial);
        assert_eq!(Polynomial::new(2, f64::NAN).unwrap_err(), Error::Polynomial);
    }
}
