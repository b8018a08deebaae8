//! The core's kernels, vectorised: landmarks against candidates, one candidate per lane.

use crate::error::Error;
use crate::heap::zeros;
use crate::simd::{exponential::exponential, lane::InLanes, lane::Lane, sample::seeds_of};
use dpp_nystrom_core::kernel::{Argument, ChosenKernel, Formula, Real, Visit};
use dpp_nystrom_core::{Points, Random, TRIES};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::ops::{Add, Mul, Neg};

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
        entries::<T, T, S, R>(simd, self.kernel(), rows, numbers, stride)
    }

    fn runs(&self, arch: Arch, rows: &[usize], count: usize, values: &[T], runs: &mut [T]) {
        T::runs(self, arch, rows, count, values, runs);
    }

    /// Works on a copy of the rows: every landmark is compared with all of them, and rows scattered over a
    /// large file would each cost a cache miss or a page fault.
    fn seeds(&self, rows: &[usize], c: usize, random: &mut Random) -> Result<Vec<usize>, Error> {
        let dim = self.features();
        let mut copy = zeros(rows.len().saturating_mul(dim), T::ZERO)?;
        let slots = copy.par_chunks_mut(dim.max(1)).zip(rows);
        slots.for_each(|(slot, &row)| slot.copy_from_slice(self.row(row)));
        seeds_of(&Points::assumed_finite(&copy, dim, *self.kernel())?, rows, c, random)
    }
}

/// Return the kernel of each of `R` rows, whose numbers may be shorter, with the candidates of one vector.
/// Consecutive features of the candidates are `stride` vectors apart in `features`.
#[inline(always)]
pub fn entries<T: Lane, V: Copy + Into<T>, S: Simd, const R: usize>(
    simd: S,
    kernel: &ChosenKernel<T>,
    rows: [&[V]; R],
    features: &[T::Vector<S>],
    stride: usize,
) -> [T::Vector<S>; R] {
    kernel.visit(OfRows { simd, rows, features, stride })
}

/// The arguments of [`entries`] but the kernel.
struct OfRows<'r, T: Lane, V, S: Simd, const R: usize> {
    simd: S,
    rows: [&'r [V]; R],
    features: &'r [T::Vector<S>],
    stride: usize,
}

impl<T: Lane, V: Copy + Into<T>, S: Simd, const R: usize> Visit<T> for OfRows<'_, T, V, S, R> {
    type Output = [T::Vector<S>; R];

    #[inline(always)]
    fn visit<K: Formula<T>>(self, kernel: K) -> Self::Output {
        let Self { simd, rows, features, stride } = self;
        let mut values = sums::<T, V, S, K, R>(simd, rows, features, stride);
        for value in &mut values {
            *value = kernel.value_of(Packed { simd, vector: *value }).vector;
        }
        values
    }
}

/// Arguments of a kernel, which become its values.
pub struct InPlace<'v, T> {
    /// The kernel.
    pub kernel: &'v ChosenKernel<T>,
    /// Squared distances, L1 distances or products.
    pub arguments: &'v mut [T],
    /// Where the kernel's slopes go ([`Formula::slope_of`]): as many, or none.
    pub slopes: &'v mut [T],
}

impl<T: Lane> WithSimd for InPlace<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { kernel, arguments, slopes } = self;
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let whole = arguments.len() - arguments.len() % lanes;
        let (arguments, rest) = arguments.split_at_mut(whole);
        let (slopes, rest_of_slopes) = slopes.split_at_mut(whole.min(slopes.len()));
        let vectors = |numbers| T::vectors_mut::<S>(numbers);
        kernel.visit(OfVectors { simd, arguments: vectors(arguments), slopes: vectors(slopes) });
        // A last vector that is not whole.
        let (mut last, mut last_slopes) = ([T::ZERO; TRIES], [T::ZERO; TRIES]);
        last[..rest.len()].copy_from_slice(rest);
        let slopes = vectors(&mut last_slopes[..rest_of_slopes.len().next_multiple_of(lanes)]);
        let arguments = vectors(&mut last[..rest.len().next_multiple_of(lanes)]);
        kernel.visit(OfVectors { simd, arguments, slopes });
        rest.copy_from_slice(&last[..rest.len()]);
        rest_of_slopes.copy_from_slice(&last_slopes[..rest_of_slopes.len()]);
    }
}

struct OfVectors<'v, T: Lane, S: Simd> {
    simd: S,
    arguments: &'v mut [T::Vector<S>],
    slopes: &'v mut [T::Vector<S>],
}

impl<T: Lane, S: Simd> Visit<T> for OfVectors<'_, T, S> {
    type Output = ();

    #[inline(always)]
    fn visit<K: Formula<T>>(self, kernel: K) {
        let Self { simd, arguments, slopes } = self;
        let (both, values_alone) = arguments.split_at_mut(slopes.len());
        for (vector, slope) in both.iter_mut().zip(slopes) {
            let argument = Packed { simd, vector: *vector };
            *slope = kernel.slope_of(argument).vector;
            *vector = kernel.value_of(argument).vector;
        }
        for vector in values_alone {
            *vector = kernel.value_of(Packed { simd, vector: *vector }).vector;
        }
    }
}

/// Return the kernel's arguments.
#[inline(always)]
fn sums<T: Lane, V: Copy + Into<T>, S: Simd, K: Formula<T>, const R: usize>(
    simd: S,
    rows: [&[V]; R],
    features: &[T::Vector<S>],
    stride: usize,
) -> [T::Vector<S>; R] {
    let mut sums = [T::splat(simd, T::ZERO); R];
    let dim = features.len().div_ceil(stride);
    let mut whole: [&[V]; R] = [&[]; R];
    for (whole, row) in whole.iter_mut().zip(rows) {
        // Slices of one length, so that a single bounds check covers them all.
        *whole = &row[..dim];
    }
    for at in 0..dim {
        let feature = features[at * stride];
        for (sum, row) in sums.iter_mut().zip(&whole) {
            let x = T::splat(simd, row[at].into());
            let difference = T::difference(simd, feature, x);
            *sum = match K::ABOUT.argument {
                Argument::SquaredDistance => T::mul_add(simd, difference, difference, *sum),
                Argument::L1Distance => T::sum(simd, *sum, T::magnitude(simd, difference)),
                Argument::InnerProduct => T::mul_add(simd, feature, x, *sum),
            };
        }
    }
    sums
}

/// A vector in a kernel's formula.
#[derive(Clone, Copy)]
struct Packed<T: Lane, S: Simd> {
    simd: S,
    vector: T::Vector<S>,
}

impl<T: Lane, S: Simd> Add for Packed<T, S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { vector: T::sum(self.simd, self.vector, other.vector), ..self }
    }
}

impl<T: Lane, S: Simd> Mul for Packed<T, S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self { vector: T::product(self.simd, self.vector, other.vector), ..self }
    }
}

impl<T: Lane, S: Simd> Neg for Packed<T, S> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self.times(-T::ONE)
    }
}

impl<T: Lane, S: Simd> Real<T> for Packed<T, S> {
    #[inline(always)]
    fn of(self, value: T) -> Self {
        Self { vector: T::splat(self.simd, value), ..self }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self { vector: T::root(self.simd, self.vector), ..self }
    }

    #[inline(always)]
    fn recip(self) -> Self {
        let one = T::splat(self.simd, T::ONE);
        Self { vector: T::quotient(self.simd, one, self.vector), ..self }
    }

    #[inline(always)]
    fn exp(self) -> Self {
        Self { vector: exponential::<T, S>(self.simd, self.vector), ..self }
    }

    #[inline(always)]
    fn times_decay(self, polynomial: impl FnOnce(Self) -> Self) -> Self {
        // Clamp the polynomial where the exponential is clamped.
        let least = T::splat(self.simd, T::LEAST);
        let negative = Self { vector: T::max(self.simd, (-self).vector, least), ..self };
        polynomial(-negative) * negative.exp()
    }

    #[inline(always)]
    fn quadratic(self, divisor: T) -> Self {
        let (simd, one) = (self.simd, T::splat(self.simd, T::ONE));
        let inner = T::mul_add(simd, self.vector, T::splat(simd, T::ONE / divisor), one);
        Self { vector: T::mul_add(simd, inner, self.vector, one), ..self }
    }
}
