//! The core's kernels, vectorised: landmarks against candidates, one candidate per lane.

use crate::simd::{Lane, exponential::exponential, lane::Ground};
use dpp_nystrom_core::{TRIES, kernel::ChosenKernel};
use pulp::{Simd, WithSimd};

/// The kernel of `rows` of the ground set with `count` rows in lanes: one run of `count` entries per row.
pub(crate) struct Entries<'e, 'g, T: Lane> {
    pub(crate) ground: &'e Ground<'g, T>,
    pub(crate) rows: &'e [usize],
    pub(crate) count: usize,
    /// Features of the rows in lanes: of [`TRIES`] rows, their values of each feature are adjacent.
    pub(crate) values: &'e [T],
    pub(crate) entries: &'e mut [T],
}

impl<T: Lane> WithSimd for Entries<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const TILE: usize = 8;
        let Self { ground, rows, count, values, entries } = self;
        let chosen = ground.kernel();
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let stride = TRIES / lanes;
        let features = T::vectors::<S>(values);
        let dim = ground.features() * stride;
        let mut at = 0;
        for tile in entries.chunks_mut(TILE * count) {
            let mut some: [&[T]; TILE] = [ground.row(rows[at]); TILE];
            for (r, row) in some.iter_mut().enumerate() {
                if let Some(&number) = rows.get(at + r) {
                    *row = ground.row(number);
                }
            }
            for block in 0..count.div_ceil(TRIES) {
                let features = &features[block * dim..(block + 1) * dim];
                for vector in 0..stride {
                    let features = &features[vector..];
                    let values = self::entries::<T, S, TILE>(simd, chosen, some, features, stride);
                    let first = block * TRIES + vector * lanes;
                    if first >= count {
                        break;
                    }
                    let width = lanes.min(count - first);
                    for (value, row) in values.iter().zip(tile.chunks_mut(count)) {
                        let value: &[T] = bytemuck::cast_slice(std::slice::from_ref(value));
                        row[first..first + width].copy_from_slice(&value[..width]);
                    }
                }
            }
            at += TILE;
        }
    }
}

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
