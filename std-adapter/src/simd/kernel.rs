//! The core's kernels, vectorised: landmarks against candidates, one candidate per lane.

use crate::error::Error;
use crate::heap::zeros;
use crate::simd::{exponential::exponential, lane::InLanes, lane::Lane, sample::seeds_of};
use dpp_nystrom_core::{Points, Random, TRIES, kernel::ChosenKernel};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// The kernel of `rows` of the ground set with `count` rows in lanes: one run of `count` entries per row.
pub(crate) struct Entries<'e, T, G> {
    pub(crate) ground: &'e G,
    pub(crate) rows: &'e [usize],
    pub(crate) count: usize,
    /// The numbers of the rows in lanes: of [`TRIES`] rows, their values of each number are adjacent.
    pub(crate) values: &'e [T],
    pub(crate) entries: &'e mut [T],
}

impl<T: Lane, G: InLanes<T>> WithSimd for Entries<'_, T, G> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { ground, mut rows, count, values, mut entries } = self;
        while !rows.is_empty() {
            let next = match rows.len() {
                8.. => runs::<T, S, G, 8>(simd, ground, rows, count, values, entries),
                4.. => runs::<T, S, G, 4>(simd, ground, rows, count, values, entries),
                2.. => runs::<T, S, G, 2>(simd, ground, rows, count, values, entries),
                _ => runs::<T, S, G, 1>(simd, ground, rows, count, values, entries),
            };
            rows = &rows[next..];
            entries = &mut entries[next * count..];
        }
    }
}

/// Evaluate the runs of the first `R` rows, and return `R`.
#[inline(always)]
fn runs<T: Lane, S: Simd, G: InLanes<T>, const R: usize>(
    simd: S,
    ground: &G,
    rows: &[usize],
    count: usize,
    values: &[T],
    entries: &mut [T],
) -> usize {
    let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
    let stride = TRIES / lanes;
    let numbers = T::vectors::<S>(values);
    let width = ground.width() * stride;
    let rows: [G::Row<'_>; R] = std::array::from_fn(|r| ground.row_of(rows[r]));
    for block in 0..count.div_ceil(TRIES) {
        let numbers = &numbers[block * width..(block + 1) * width];
        for vector in 0..stride {
            let first = block * TRIES + vector * lanes;
            if first >= count {
                break;
            }
            let values = ground.entries::<S, R>(simd, rows, &numbers[vector..], stride);
            let width = lanes.min(count - first);
            for (value, run) in values.iter().zip(entries.chunks_mut(count)) {
                let value: &[T] = bytemuck::cast_slice(std::slice::from_ref(value));
                run[first..first + width].copy_from_slice(&value[..width]);
            }
        }
    }
    R
}

impl<T: Lane> InLanes<T> for Points<'_, T, ChosenKernel<T>> {
    type Row<'r>
        = &'r [T]
    where
        Self: 'r;

    fn width(&self) -> usize {
        self.features()
    }

    #[inline(always)]
    fn row_of(&self, i: usize) -> &[T] {
        self.row(i)
    }

    #[inline(always)]
    fn put<'s>(&self, i: usize, slots: impl Iterator<Item = &'s mut T>) {
        slots.zip(self.row(i)).for_each(|(slot, &feature)| *slot = feature);
    }

    #[inline(always)]
    fn entries<S: Simd, const R: usize>(
        &self,
        simd: S,
        rows: [&[T]; R],
        numbers: &[T::Vector<S>],
        stride: usize,
    ) -> [T::Vector<S>; R] {
        entries::<T, S, R>(simd, self.kernel(), rows, numbers, stride)
    }

    /// Works on a copy of the rows: every landmark is compared with all of them, and rows scattered over a large
    /// file would each cost a cache miss or a page fault.
    fn seeds(&self, rows: &[usize], c: usize, random: &mut Random) -> Result<Vec<usize>, Error> {
        let dim = self.features();
        let mut copy = zeros(rows.len().saturating_mul(dim), T::ZERO)?;
        let slots = copy.par_chunks_mut(dim.max(1)).zip(rows);
        slots.for_each(|(slot, &row)| slot.copy_from_slice(self.row(row)));
        seeds_of(&Points::assumed_finite(&copy, dim, *self.kernel())?, rows, c, random)
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
