//! The core's kernels, vectorised: landmarks against candidates, one candidate per lane.

use crate::simd::{Lane, exponential::exponential};
use dpp_nystrom_core::kernel::ChosenKernel;
use pulp::Simd;

/// Return the kernel of each of `R` rows with the candidates of one vector. Consecutive features of the
/// candidates are `stride` vectors apart in `features`.
#[inline(always)]
pub(crate) fn entries<T: Lane, S: Simd, const R: usize>(
    simd: S,
    kernel: &ChosenKernel<T>,
    rows: [&[T]; R],
    features: &[T::Vector<S>],
    stride: usize,
) -> [T::Vector<S>; R] {
    match kernel {
        ChosenKernel::Gaussian(kernel) => {
            let squares = sums::<T, S, R, SQUARES>(simd, rows, features, stride);
            decay::<T, S, R>(simd, squares, kernel.exponent())
        }
        ChosenKernel::Laplace(kernel) => {
            let magnitudes = sums::<T, S, R, MAGNITUDES>(simd, rows, features, stride);
            decay::<T, S, R>(simd, magnitudes, -kernel.rate())
        }
        ChosenKernel::Matern32(kernel) => {
            let squares = sums::<T, S, R, SQUARES>(simd, rows, features, stride);
            matern::<T, S, R>(simd, squares, kernel.rate(), T::ZERO)
        }
        ChosenKernel::Matern52(kernel) => {
            let squares = sums::<T, S, R, SQUARES>(simd, rows, features, stride);
            matern::<T, S, R>(simd, squares, kernel.rate(), T::ONE / T::from_count(3))
        }
        ChosenKernel::Polynomial(kernel) => {
            let products = sums::<T, S, R, PRODUCTS>(simd, rows, features, stride);
            powers::<T, S, R>(simd, products, kernel.degree(), kernel.offset())
        }
        ChosenKernel::Linear(_) => sums::<T, S, R, PRODUCTS>(simd, rows, features, stride),
    }
}

const SQUARES: u8 = 0;
const MAGNITUDES: u8 = 1;
const PRODUCTS: u8 = 2;

/// `Σ (x_i - y_i)²`, `Σ abs(x_i - y_i)` or `Σ x_i y_i`.
#[inline(always)]
fn sums<T: Lane, S: Simd, const R: usize, const OF: u8>(
    simd: S,
    rows: [&[T]; R],
    features: &[T::Vector<S>],
    stride: usize,
) -> [T::Vector<S>; R] {
    let mut sums = [T::splat(simd, T::ZERO); R];
    let dim = features.len().div_ceil(stride);
    let mut whole: [&[T]; R] = [&[]; R];
    for (whole, row) in whole.iter_mut().zip(rows) {
        // Slices of one length, so that a single bounds check covers them all.
        *whole = &row[..dim];
    }
    for at in 0..dim {
        let feature = features[at * stride];
        for (sum, row) in sums.iter_mut().zip(&whole) {
            let x = T::splat(simd, row[at]);
            let difference = T::difference(simd, feature, x);
            *sum = match OF {
                SQUARES => T::mul_add(simd, difference, difference, *sum),
                MAGNITUDES => T::sum(simd, *sum, T::magnitude(simd, difference)),
                _ => T::mul_add(simd, feature, x, *sum),
            };
        }
    }
    sums
}

/// Return `exp(factor · value)`.
#[inline(always)]
fn decay<T: Lane, S: Simd, const R: usize>(
    simd: S,
    mut values: [T::Vector<S>; R],
    factor: T,
) -> [T::Vector<S>; R] {
    for value in &mut values {
        *value = exponential::<T, S>(simd, T::product(simd, *value, T::splat(simd, factor)));
    }
    values
}

/// Map squared distances to `(1 + t + square · t²) exp(-t)`, `t = rate · r`.
#[inline(always)]
fn matern<T: Lane, S: Simd, const R: usize>(
    simd: S,
    mut values: [T::Vector<S>; R],
    rate: T,
    square: T,
) -> [T::Vector<S>; R] {
    let one = T::splat(simd, T::ONE);
    for value in &mut values {
        let t = T::product(simd, T::root(simd, *value), T::splat(simd, rate));
        // Clamp the polynomial where the exponential is clamped.
        let negative = T::max(simd, T::product(simd, t, T::splat(simd, -T::ONE)), T::splat(simd, T::LEAST));
        let t = T::product(simd, negative, T::splat(simd, -T::ONE));
        let decay = exponential::<T, S>(simd, negative);
        let polynomial = T::mul_add(simd, T::mul_add(simd, t, T::splat(simd, square), one), t, one);
        *value = T::product(simd, polynomial, decay);
    }
    values
}

/// Return `(product + offset)^degree`.
#[inline(always)]
fn powers<T: Lane, S: Simd, const R: usize>(
    simd: S,
    mut values: [T::Vector<S>; R],
    degree: u32,
    offset: T,
) -> [T::Vector<S>; R] {
    for value in &mut values {
        let mut base = T::sum(simd, *value, T::splat(simd, offset));
        let mut power = T::splat(simd, T::ONE);
        let mut left = degree;
        while left > 0 {
            if left & 1 == 1 {
                power = T::product(simd, power, base);
            }
            base = T::product(simd, base, base);
            left >>= 1;
        }
        *value = power;
    }
    values
}
