//! `f32` and `f64` behind one trait, with the same results on every target.
//!
//! A platform's own `exp` may differ in the last bit, and a golden test on the desktop would then say nothing
//! about the firmware. So every target runs the same code: the `exp` of this module for `f32`, which is the
//! precision of microcontrollers, and `libm` for the rest. Sums have one fixed order ([`dot`]), and
//! multiply-adds are not fused, since not every target can fuse them.

mod exponential;

use core::fmt;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A real number: `f32` or `f64`. Sealed: the rounding-error bounds are stated for these two.
///
/// ```
/// use dpp_nystrom_core::Scalar;
///
/// fn norm<T: Scalar>(row: &[T]) -> T {
///     row.iter().fold(T::ZERO, |sum, &x| sum + x * x).sqrt()
/// }
/// assert_eq!((norm(&[3.0_f32, 4.0]), norm(&[3.0_f64, 4.0])), (5.0, 5.0));
/// assert!((1.0_f32 + f32::EPSILON / 2.0) == f32::from_count(1));
/// ```
pub trait Scalar:
    sealed::Sealed
    + Copy
    + Default
    + PartialOrd
    + fmt::Debug
    + fmt::Display
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The machine epsilon: the distance from 1 to the next larger number.
    const EPSILON: Self;
    /// The smallest positive normal number.
    const SMALLEST: Self;
    /// Not a number.
    const NAN: Self;
    /// A magnitude of which 2³² squares can be summed: `2⁴⁷`, 1.4e14, in `f32`, and `2⁴⁹⁵` in `f64`.
    #[doc(hidden)]
    const SUMMABLE: Self;
    /// The rows that one triangle of a regression takes, before it is folded into that of all rows before
    /// them: 2¹⁵ in `f32`. In `f64` one triangle takes all.
    #[doc(hidden)]
    const ROWS_APART: u64;
    /// The effective rows of a regression from which on it takes no more: 2³⁵ in `f32`, 2⁵³ in `f64`.
    const MOST_ROWS: u64;

    /// Convert a count, rounding to nearest.
    fn from_count(count: usize) -> Self;
    /// Convert a count of rows, which may exceed `usize`, rounding to nearest.
    #[doc(hidden)]
    fn from_rows(rows: u64) -> Self;
    /// Convert an `f64`, rounding to nearest.
    fn from_f64(value: f64) -> Self;
    /// Convert to `f64`, exactly.
    fn to_f64(self) -> f64;
    /// Map 32 random bits to [0, 1): the upper 24 of them for `f32`, all for `f64`.
    #[doc(hidden)]
    fn from_draw(draw: u32) -> Self;
    /// Return the square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Return the exponential: for `f32` within 0.983 units in the last place, the same bits on every target.
    fn exp(self) -> Self;
    /// Return the natural logarithm.
    fn ln(self) -> Self;
    /// Return the absolute value.
    fn abs(self) -> Self;
    /// Whether the number is neither NaN nor infinite.
    fn is_finite(self) -> bool;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Scalar for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const EPSILON: Self = f32::EPSILON;
    const SMALLEST: Self = f32::MIN_POSITIVE;
    const NAN: Self = f32::NAN;
    const SUMMABLE: Self = f32::from_bits((127 + 47) << 23);
    const ROWS_APART: u64 = 1 << 15;
    const MOST_ROWS: u64 = 1 << 35;

    fn from_count(count: usize) -> Self {
        count as f32
    }
    fn from_rows(rows: u64) -> Self {
        rows as f32
    }
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn from_draw(draw: u32) -> Self {
        // The significand has 24 bits: with more, the quotient could round up to 1.
        (draw >> 8) as f32 * (1.0 / 16_777_216.0)
    }
    /// Not inlined: the loops around it stay small enough to unroll.
    #[inline(never)]
    fn sqrt(self) -> Self {
        libm::sqrtf(self)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        exponential::exponential(self)
    }
    fn ln(self) -> Self {
        libm::logf(self)
    }
    fn abs(self) -> Self {
        libm::fabsf(self)
    }
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
}

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const EPSILON: Self = f64::EPSILON;
    const SMALLEST: Self = f64::MIN_POSITIVE;
    const NAN: Self = f64::NAN;
    const SUMMABLE: Self = f64::from_bits((1_023 + 495) << 52);
    const ROWS_APART: u64 = u64::MAX;
    const MOST_ROWS: u64 = 1 << 53;

    fn from_count(count: usize) -> Self {
        count as f64
    }
    fn from_rows(rows: u64) -> Self {
        rows as f64
    }
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn from_draw(draw: u32) -> Self {
        f64::from(draw) * (1.0 / 4_294_967_296.0)
    }
    fn sqrt(self) -> Self {
        libm::sqrt(self)
    }
    fn exp(self) -> Self {
        libm::exp(self)
    }
    fn ln(self) -> Self {
        libm::log(self)
    }
    fn abs(self) -> Self {
        libm::fabs(self)
    }
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

/// Return the bytes of a number, little-endian, and how many of them are used.
pub(crate) fn to_bytes<T: Scalar>(number: T) -> ([u8; 8], usize) {
    if size_of::<T>() == size_of::<f64>() {
        return (number.to_f64().to_le_bytes(), 8);
    }
    // The conversion from `f32` to `f64` and back is exact.
    let [a, b, c, d] = (number.to_f64() as f32).to_le_bytes();
    ([a, b, c, d, 0, 0, 0, 0], 4)
}

/// Return the bytes of a number, little-endian.
pub(crate) fn bytes_of<T: Scalar>(number: T) -> impl Iterator<Item = u8> {
    let (bytes, len) = to_bytes(number);
    bytes.into_iter().take(len)
}

/// Return a number from its bytes, or NaN for another count of them.
pub(crate) fn from_bytes<T: Scalar>(bytes: &[u8]) -> T {
    if size_of::<T>() == size_of::<f64>() {
        return T::from_f64(<[u8; 8]>::try_from(bytes).map_or(f64::NAN, f64::from_le_bytes));
    }
    // In one branch, so that the conversion to `f64` and back is none.
    <[u8; 4]>::try_from(bytes).map_or(T::NAN, |bytes| T::from_f64(f64::from(f32::from_le_bytes(bytes))))
}

/// Return the last numbers in these bytes.
pub(crate) fn last_numbers<T: Scalar, const N: usize>(bytes: &[u8]) -> [T; N] {
    let mut numbers = [T::NAN; N];
    fill(&mut numbers, bytes.get(bytes.len().saturating_sub(N * size_of::<T>())..).unwrap_or_default());
    numbers
}

/// Fill the slots with the first of the numbers in these bytes. Return the bytes after them.
#[inline(never)]
pub(crate) fn fill<'b, T: Scalar>(slots: &mut [T], bytes: &'b [u8]) -> &'b [u8] {
    let mut rest = bytes;
    for slot in slots {
        let Some((number, after)) = rest.split_at_checked(size_of::<T>()) else { break };
        (*slot, rest) = (from_bytes(number), after);
    }
    rest
}

/// Return the numbers in these bytes, up to the last whole one. Not by `chunks` of a run-time size: at some
/// optimisation levels a `zip` over those links a panic.
pub(crate) fn numbers_of<T: Scalar>(bytes: &[u8]) -> impl Iterator<Item = T> + Clone {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let (number, after) = rest.split_at_checked(size_of::<T>())?;
        rest = after;
        Some(from_bytes(number))
    })
}

/// Return `Σ x_i y_i` over the shorter length: four interleaved partial sums `(s0 + s1) + (s2 + s3)`, then
/// the remainder. The order is part of the result. Four sums use the SIMD lanes of a desktop and hide the
/// latency of a microcontroller.
#[inline]
pub(crate) fn dot<T: Scalar>(x: &[T], y: &[T]) -> T {
    let (x_blocks, x_rest) = x.as_chunks::<4>();
    let (y_blocks, y_rest) = y.as_chunks::<4>();
    if x_rest.len() != y_rest.len() || x_blocks.len() != y_blocks.len() {
        // Cut both to the shorter length, so that the blocks stay aligned.
        let shorter = x.len().min(y.len());
        return match (x.get(..shorter), y.get(..shorter)) {
            (Some(x), Some(y)) if x.len() == y.len() => dot_equal(x, y),
            _ => T::ZERO,
        };
    }
    dot_equal(x, y)
}

#[inline]
fn dot_equal<T: Scalar>(x: &[T], y: &[T]) -> T {
    let (x_blocks, x_rest) = x.as_chunks::<4>();
    let (y_blocks, y_rest) = y.as_chunks::<4>();
    let mut sums = [T::ZERO; 4];
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        for ((sum, &x), &y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    let [s0, s1, s2, s3] = sums;
    let mut total = (s0 + s1) + (s2 + s3);
    for (&x, &y) in x_rest.iter().zip(y_rest) {
        total += x * y;
    }
    total
}

/// Return the Givens rotation `[cos, sin]` with `cos·a + sin·b = r`, `cos·b - sin·a = 0`, and `r`; `r >= 0`
/// where `a >= 0`. The identity where both are zero.
#[inline]
pub(crate) fn rotation<T: Scalar>(a: T, b: T) -> ([T; 2], T) {
    let square = a * a + b * b;
    // Outside this range the square has lost digits, and the rotation would not preserve norms.
    if square > T::SMALLEST / T::EPSILON && square.is_finite() {
        let r = square.sqrt();
        return ([a / r, b / r], r);
    }
    let largest = if a.abs() > b.abs() { a.abs() } else { b.abs() };
    if !(largest > T::ZERO) {
        return ([T::ONE, T::ZERO], a);
    }
    let (a, b) = (a / largest, b / largest);
    let r = (a * a + b * b).sqrt();
    ([a / r, b / r], r * largest)
}

/// Apply a [`rotation`] to the pair (`entry`, `carried`): return the new entry and update `carried`.
#[inline]
pub(crate) fn apply_givens<T: Scalar>(entry: T, carried: &mut T, [cos, sin]: [T; 2]) -> T {
    let rotated = cos * entry + sin * *carried;
    *carried = cos * *carried - sin * entry;
    rotated
}

/// A sum with Neumaier's compensation. A plain sum of a million rows in `f32` stops growing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Sum<T> {
    pub(crate) sum: T,
    pub(crate) lost: T,
}

impl<T: Scalar> Sum<T> {
    /// The zero.
    pub(crate) const NONE: Self = Self { sum: T::ZERO, lost: T::ZERO };

    pub(crate) fn add(&mut self, value: T) {
        let next = self.sum + value;
        self.lost +=
            if self.sum.abs() >= value.abs() { (self.sum - next) + value } else { (value - next) + self.sum };
        self.sum = next;
    }

    pub(crate) fn total(self) -> T {
        self.sum + self.lost
    }

    /// Move what was lost into the sum, as far as it can hold it. Where the sum is so large that it takes no
    /// more values, all of them are lost to it, and in the end what was lost takes no more either.
    pub(crate) fn carry(&mut self) {
        let total = self.total();
        *self = Self { sum: total, lost: (self.sum - total) + self.lost };
    }

    /// Return the sum times a number: exact for a power of two.
    pub(crate) fn times(self, factor: T) -> Self {
        Self { sum: factor * self.sum, lost: factor * self.lost }
    }
}

#[cfg(test)]
mod tests {
    use super::{Scalar, Sum, dot, rotation};

    #[test]
    fn draws_stay_under_one() {
        assert_eq!(f32::from_draw(0), 0.0);
        assert!(f32::from_draw(u32::MAX) < 1.0);
        assert!(f64::from_draw(u32::MAX) < 1.0);
    }

    #[test]
    fn dot_cuts_to_the_shorter() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        assert_eq!(dot(&x, &x[..7]), 140.0);
        assert_eq!(dot(&x[..2], &x), 5.0);
        assert_eq!(dot::<f64>(&[], &x), 0.0);
    }

    #[test]
    fn a_rotation_zeroes_the_second() {
        let ([c, s], r) = rotation(3.0_f64, -4.0);
        assert!((c * 3.0 + s * -4.0 - r).abs() < 1e-15 && (c * -4.0 - s * 3.0).abs() < 1e-15);
        assert_eq!(rotation(0.0_f32, 0.0), ([1.0, 0.0], 0.0));
    }

    #[test]
    fn a_compensated_sum_does_not_stand_still() {
        let mut sum = Sum::<f32>::default();
        sum.add(16_777_216.0);
        for _ in 0..1_000 {
            sum.add(1.0);
        }
        assert_eq!(sum.total(), 16_778_216.0);
    }

    /// Where what was lost is so large that it takes no more either.
    #[test]
    fn a_sum_that_is_carried_over_takes_any_number_of_values() {
        let start = Sum { sum: 1_073_741_824.0_f32, lost: 4_194_300.0 };
        let (mut plain, mut carried) = (start, start);
        for at in 0..1_000 {
            plain.add(0.25);
            carried.add(0.25);
            if at % 100 == 0 {
                carried.carry();
            }
        }
        let gained = |sum: Sum<f32>| f64::from(sum.sum) + f64::from(sum.lost) - 1_077_936_124.0;
        assert_eq!(gained(carried), 250.0);
        assert!(gained(plain) < 5.0, "{}", gained(plain));
    }
}
