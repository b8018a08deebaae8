//! `f32` and `f64` as vectors of the machine's width, and the ground sets whose rows lie in them.

use crate::error::Error;
use crate::simd::sample::{Sample, seeds_of};
use bytemuck::Pod;
use dpp_nystrom_core::{GroundSet, Points, Random, Scalar, TRIES, kernel::ChosenKernel};
use faer::traits::RealField;
use pulp::{Arch, Simd, WithSimd};

/// Rows under one of the core's kernels, which are evaluated in lanes.
pub type Ground<'g, T> = Points<'g, T, ChosenKernel<T>>;

/// A ground set whose rows can lie in lanes.
pub trait InLanes<T: Lane>: GroundSet<T> + Sync {
    /// A row that is compared with those in lanes.
    type Row<'r>: Copy
    where
        Self: 'r;

    /// Return how many numbers of a row lie in lanes.
    fn width(&self) -> usize;

    /// Return row `i`, to be compared.
    fn row_of(&self, i: usize) -> Self::Row<'_>;

    /// Write the numbers of row `i`.
    fn put<'s>(&self, i: usize, slots: impl Iterator<Item = &'s mut T>);

    /// Return the kernel of each of `R` rows with the rows of one vector, of which consecutive numbers are
    /// `stride` vectors apart.
    fn entries<S: Simd, const R: usize>(
        &self,
        simd: S,
        rows: [Self::Row<'_>; R],
        numbers: &[T::Vector<S>],
        stride: usize,
    ) -> [T::Vector<S>; R];

    /// Write the kernel of `rows` with the first `count` rows in lanes: one run of `count` entries per row.
    /// Of [`TRIES`] rows in lanes, their values of each number are adjacent.
    fn runs(&self, arch: Arch, rows: &[usize], count: usize, values: &[T], runs: &mut [T])
    where
        Self: Sized,
    {
        arch.dispatch(Entries { ground: self, rows, count, values, entries: runs });
    }

    /// Draw `c` of these rows by k-means++ seeding.
    #[doc(hidden)]
    fn seeds(&self, rows: &[usize], c: usize, random: &mut Random) -> Result<Vec<usize>, Error>
    where
        Self: Sized,
    {
        seeds_of(&Sample { ground: self, rows }, rows, c, random)
    }
}

/// `f32` or `f64`: the vector type of an instruction set, and the constants of the exponential.
pub trait Lane: Scalar + Pod + RealField {
    /// A vector under the instruction set `S`.
    type Vector<S: Simd>: Pod;

    /// `1/ln 2`.
    const LOG2_E: Self;
    /// The upper part of `ln 2`; its product with a small integer is exact.
    const LN_2_HIGH: Self;
    /// The rest of `ln 2`.
    const LN_2_LOW: Self;
    /// `1.5 · 2^m`, m the bits of the fraction: adding it rounds to an integer.
    const ROUND: Self;
    /// The smallest argument for which the exponential is a normal number.
    const LEAST: Self;
    /// `1/k!`, from the highest degree down to 0.
    const TAYLOR: &'static [Self];

    /// Broadcast a value to every lane.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    /// `a + b`.
    fn sum<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a - b`.
    fn difference<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a · b`.
    fn product<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a / b`.
    fn quotient<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a · b + c`, fused where the machine has an instruction for it.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The lane-wise maximum.
    fn max<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// The absolute value.
    fn magnitude<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// The square root, correctly rounded, as in `libm`.
    fn root<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// `a · 2^n` for integer n and a normal result.
    fn scale<S: Simd>(simd: S, a: Self::Vector<S>, n: Self::Vector<S>) -> Self::Vector<S>;
    /// [`InLanes::runs`] of rows of features, compiled once: here.
    fn runs(
        ground: &Ground<'_, Self>,
        arch: Arch,
        rows: &[usize],
        count: usize,
        values: &[Self],
        runs: &mut [Self],
    );
    /// Split a slice into vectors and a remainder.
    fn vectors<S: Simd>(numbers: &[Self]) -> &[Self::Vector<S>];
    /// The mutable form of [`vectors`](Self::vectors).
    fn vectors_mut<S: Simd>(numbers: &mut [Self]) -> &mut [Self::Vector<S>];
}

/// Write the features of row `i` into its lane: of [`TRIES`] rows, the values of each feature are adjacent.
pub fn set_row<T>(values: &mut [T], dim: usize, i: usize, row: impl IntoIterator<Item = T>) {
    let slots = values[i / TRIES * TRIES * dim..].iter_mut().skip(i % TRIES).step_by(TRIES);
    slots.zip(row).for_each(|(slot, value)| *slot = value);
}

/// The kernel of `rows` of the ground set with `count` rows in lanes: one run of `count` entries per row.
pub(super) struct Entries<'e, T, G> {
    /// The rows and the kernel.
    pub(super) ground: &'e G,
    /// Their indices.
    pub(super) rows: &'e [usize],
    /// The number of rows in lanes.
    pub(super) count: usize,
    /// The numbers of the rows in lanes: of [`TRIES`] rows, their values of each number are adjacent.
    pub(super) values: &'e [T],
    /// Where the entries go.
    pub(super) entries: &'e mut [T],
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

impl Lane for f32 {
    type Vector<S: Simd> = S::f32s;

    const LOG2_E: Self = std::f32::consts::LOG2_E;
    const LN_2_HIGH: Self = 0.693_359_4;
    const LN_2_LOW: Self = -2.121_944_4e-4;
    const ROUND: Self = 12_582_912.0;
    const LEAST: Self = -87.0;
    const TAYLOR: &'static [Self] =
        &[1.0 / 5_040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];

    #[inline(always)]
    fn splat<S: Simd>(simd: S, value: Self) -> S::f32s {
        simd.splat_f32s(value)
    }

    #[inline(always)]
    fn sum<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.add_f32s(a, b)
    }

    #[inline(always)]
    fn difference<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.sub_f32s(a, b)
    }

    #[inline(always)]
    fn product<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.mul_f32s(a, b)
    }

    #[inline(always)]
    fn quotient<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.div_f32s(a, b)
    }

    #[inline(always)]
    fn mul_add<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        simd.mul_add_e_f32s(a, b, c)
    }

    #[inline(always)]
    fn max<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.max_f32s(a, b)
    }

    #[inline(always)]
    fn magnitude<S: Simd>(simd: S, a: S::f32s) -> S::f32s {
        simd.abs_f32s(a)
    }

    #[inline(always)]
    fn root<S: Simd>(simd: S, a: S::f32s) -> S::f32s {
        simd.sqrt_f32s(a)
    }

    #[inline(always)]
    fn scale<S: Simd>(simd: S, a: S::f32s, n: S::f32s) -> S::f32s {
        // The lowest bits of n + ROUND hold n; the shift drops the others.
        let rounded = simd.transmute_u32s_f32s(simd.add_f32s(n, simd.splat_f32s(Self::ROUND)));
        let exponent = simd.wrapping_dyn_shl_u32s(rounded, simd.splat_u32s(23));
        simd.transmute_f32s_u32s(simd.add_u32s(simd.transmute_u32s_f32s(a), exponent))
    }

    fn runs(
        ground: &Ground<'_, Self>,
        arch: Arch,
        rows: &[usize],
        count: usize,
        values: &[Self],
        runs: &mut [Self],
    ) {
        arch.dispatch(Entries { ground, rows, count, values, entries: runs });
    }

    #[inline(always)]
    fn vectors<S: Simd>(numbers: &[Self]) -> &[S::f32s] {
        S::as_simd_f32s(numbers).0
    }

    #[inline(always)]
    fn vectors_mut<S: Simd>(numbers: &mut [Self]) -> &mut [S::f32s] {
        S::as_mut_simd_f32s(numbers).0
    }
}

impl Lane for f64 {
    type Vector<S: Simd> = S::f64s;

    const LOG2_E: Self = std::f64::consts::LOG2_E;
    const LN_2_HIGH: Self = 0.693_147_180_369_123_8;
    const LN_2_LOW: Self = 1.908_214_929_270_587_7e-10;
    const ROUND: Self = 6_755_399_441_055_744.0;
    const LEAST: Self = -708.0;
    const TAYLOR: &'static [Self] = &[
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];

    #[inline(always)]
    fn splat<S: Simd>(simd: S, value: Self) -> S::f64s {
        simd.splat_f64s(value)
    }

    #[inline(always)]
    fn sum<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.add_f64s(a, b)
    }

    #[inline(always)]
    fn difference<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.sub_f64s(a, b)
    }

    #[inline(always)]
    fn product<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.mul_f64s(a, b)
    }

    #[inline(always)]
    fn quotient<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.div_f64s(a, b)
    }

    #[inline(always)]
    fn mul_add<S: Simd>(simd: S, a: S::f64s, b: S::f64s, c: S::f64s) -> S::f64s {
        simd.mul_add_e_f64s(a, b, c)
    }

    #[inline(always)]
    fn max<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.max_f64s(a, b)
    }

    #[inline(always)]
    fn magnitude<S: Simd>(simd: S, a: S::f64s) -> S::f64s {
        simd.abs_f64s(a)
    }

    #[inline(always)]
    fn root<S: Simd>(simd: S, a: S::f64s) -> S::f64s {
        simd.sqrt_f64s(a)
    }

    #[inline(always)]
    fn scale<S: Simd>(simd: S, a: S::f64s, n: S::f64s) -> S::f64s {
        if size_of::<S::f64s>() == size_of::<f64>() {
            let (a, n): (f64, f64) = (bytemuck::cast(a), bytemuck::cast(n));
            let exponent = (n + Self::ROUND).to_bits() << 52;
            return bytemuck::cast(f64::from_bits(a.to_bits().wrapping_add(exponent)));
        }
        // Only shifts of 32-bit halves exist. In n + 1.5·2²⁰ the integer n ends at the upper half's lowest
        // bit and the lower half is zero: shifted by 20, n lies where the exponent begins.
        let upper: S::u32s = bytemuck::cast(simd.add_f64s(n, simd.splat_f64s(1_572_864.0)));
        let exponent = simd.wrapping_dyn_shl_u32s(upper, simd.splat_u32s(20));
        bytemuck::cast(simd.add_u32s(bytemuck::cast(a), exponent))
    }

    fn runs(
        ground: &Ground<'_, Self>,
        arch: Arch,
        rows: &[usize],
        count: usize,
        values: &[Self],
        runs: &mut [Self],
    ) {
        arch.dispatch(Entries { ground, rows, count, values, entries: runs });
    }

    #[inline(always)]
    fn vectors<S: Simd>(numbers: &[Self]) -> &[S::f64s] {
        S::as_simd_f64s(numbers).0
    }

    #[inline(always)]
    fn vectors_mut<S: Simd>(numbers: &mut [Self]) -> &mut [S::f64s] {
        S::as_mut_simd_f64s(numbers).0
    }
}
