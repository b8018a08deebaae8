//! A trained Gaussian model in integers, for processors without floating-point hardware.
//!
//! Features become levels, integers in `[-2^14, 2^14)` with one step δ for all of them (a level is δ standard
//! deviations); landmarks are stored as levels in 16 bits, or in 8 bits in steps of at most 128 levels. Then
//!
//! `y(x) = mean + scale · Σ_a w_a 2^-u_a`, `u_a = ‖q_a - q(x)‖² · δ² log₂(e) / (2σ²)`,
//!
//! with the distances exact, `u` to 26 bits after the point, the powers from a table with a quadratic between its
//! entries, and integer weights, summed exactly in 64 bits. Two conversions of single precision are left, both of the
//! sum, and a multiplication and an addition.
//!
//! # No overflow, for any input
//!
//! Two levels differ by less than 2^15, a square is less than 2^30, four squares fit 32 bits, and sums of four are
//! added in 64. A distance of `limit` or more, at which the kernel is under 2^-31, counts as zero; under it the distance
//! fits 32 bits, and `limit · 2^shift` does, by the constructor's check. Kernels are at most 2^31 and the weights'
//! magnitudes sum to at most 2^31, so every partial sum is at most 2^62.
//!
//! # Error
//!
//! Against the same model in exact arithmetic on the same levels: at most 2 · 10⁻⁸ of the sum of the weights'
//! magnitudes. (A power is 10⁻⁸ off at most, its argument two units of 2^-26 and 2^-31 of itself.) What remains is that a row is
//! rounded to levels: half a level a feature, plus `2^-16` of the distance from the feature's mean for the rounding of its factor. A row outside the levels' range is taken to its border.

mod bytes;
mod exponential;
mod input;

use crate::error::Error;
use crate::memory::check_length;
use crate::model::check_shape;
pub use exponential::{FALL, POWERS};
use exponential::{ONE, POINT, power, upper};
use input::{LARGEST, LEVELS, fixed, fixed_count, level};

/// How a landmark's feature is stored: `i16` or `i8`. Sealed: the sums' bounds are stated for these two.
pub trait Level: sealed::Sealed + Copy {
    /// The level, in `[-2^14, 2^14)`; `step` is that of [`QuantisedParts`].
    fn level(self, step: i32) -> i32;
}

impl Level for i16 {
    #[inline]
    fn level(self, _: i32) -> i32 {
        i32::from(self)
    }
}

/// In steps of several levels.
impl Level for i8 {
    #[inline]
    fn level(self, step: i32) -> i32 {
        i32::from(self).wrapping_mul(step)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for i16 {}
    impl Sealed for i8 {}
}

/// The numbers of a [`QuantisedModel`].
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct QuantisedParts<'a, L> {
    /// The features' means, times `2^e`.
    pub centres: &'a [i32],
    /// Levels to a unit of `2^e x`, times `2^32`; 0 for a constant feature.
    pub factors: &'a [i32],
    /// `e`: the power of two that a raw feature is multiplied by.
    pub exponents: &'a [i32],
    /// The landmarks' levels, one row of features after the other.
    pub landmarks: &'a [L],
    /// A weight for each.
    pub weights: &'a [i32],
    /// The squared distance, in squared levels, from which the kernel counts as zero.
    pub limit: u32,
    /// What a squared distance is multiplied by, after the shift: `u = (distance · 2^shift · multiplier) / 2^58`.
    pub multiplier: u32,
    /// The shift.
    pub shift: u32,
    /// Levels to a unit of an 8-bit landmark, from 1 to 128. With 16 bits a unit is a level, and this is 1.
    pub step: i32,
    /// The target's mean.
    pub target_mean: f32,
    /// The target's units to a unit of the sum.
    pub target_scale: f32,
}

/// A trained Gaussian model in integers. It takes raw rows, borrows all it needs and copies nothing.
///
/// ```
/// use dpp_nystrom_core::{QuantisedModel, QuantisedParts};
///
/// // One feature of mean 20 with 4,096 levels to a unit; one landmark, at 21, and a bandwidth of 1.
/// static MODEL: QuantisedModel<'static, i16> = match QuantisedModel::<i16>::new(QuantisedParts {
///     centres: &[20 << 24],
///     factors: &[1 << 20],
///     exponents: &[24],
///     landmarks: &[4_096],
///     weights: &[1 << 30],
///     limit: 720_900_000,
///     multiplier: 3_098_164_009,
///     shift: 2,
///     step: 1,
///     target_mean: 7.0,
///     target_scale: 1.0 / (1_u64 << 61) as f32,
/// }) {
///     Ok(model) => model,
///     Err(_) => panic!("parts that fit each other"),
/// };
///
/// let mut room = [0; 1];
/// assert_eq!(MODEL.predict(&[21.0], &mut room)?, 8.0);
/// assert!((MODEL.predict(&[20.0], &mut room)? - (7.0 + (-0.5_f32).exp())).abs() < 1e-6);
/// // A sensor's counts, where those are the feature's units.
/// assert_eq!(MODEL.predict_counts(&[21], &mut room)?, 8.0);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct QuantisedModel<'a, L> {
    parts: QuantisedParts<'a, L>,
}

impl<'a> QuantisedModel<'a, i16> {
    /// The model of these parts. Constant: in a static, parts that do not fit do not compile.
    ///
    /// # Errors
    /// [`Error::Empty`] for no features or no weights, [`Error::Length`] unless there is a centre, a factor and an exponent
    /// for each feature and as many landmarks as weights, [`Error::Quantisation`] for numbers with which sums could
    /// overflow: landmarks outside the levels, weights whose magnitudes sum to more than 2^31, factors under 0.
    pub const fn new(parts: QuantisedParts<'a, i16>) -> Result<Self, Error> {
        let mut rest = parts.landmarks;
        while let Some((&landmark, others)) = rest.split_first() {
            if (landmark as i32) < -LEVELS || (landmark as i32) >= LEVELS {
                return Err(Error::Quantisation);
            }
            rest = others;
        }
        Self::of_levels(parts)
    }
}

impl<'a> QuantisedModel<'a, i8> {
    /// The model of these parts. Constant: in a static, parts that do not fit do not compile.
    ///
    /// # Errors
    /// As for 16 bits; any landmark is inside the levels.
    pub const fn new(parts: QuantisedParts<'a, i8>) -> Result<Self, Error> {
        Self::of_levels(parts)
    }
}

impl<'a, L: Level> QuantisedModel<'a, L> {
    /// Checks everything but the landmarks' levels.
    const fn of_levels(parts: QuantisedParts<'a, L>) -> Result<Self, Error> {
        let QuantisedParts { centres, factors, exponents, weights, limit, multiplier, shift, step, .. } =
            parts;
        if let Err(error) = check_shape(centres.len(), factors.len(), parts.landmarks.len(), weights.len()) {
            return Err(error);
        }
        if exponents.len() != centres.len() {
            return Err(Error::Length { expected: centres.len(), found: exponents.len() });
        }
        let (mut centres, mut factors, mut weights) = (centres, factors, weights);
        while let (Some((&centre, more_centres)), Some((&factor, more_factors))) =
            (centres.split_first(), factors.split_first())
        {
            if centre.unsigned_abs() > LARGEST as u32 || factor < 0 {
                return Err(Error::Quantisation);
            }
            (centres, factors) = (more_centres, more_factors);
        }
        let mut size = 0_u64;
        while let Some((&weight, others)) = weights.split_first() {
            size = size.saturating_add(weight.unsigned_abs() as u64);
            weights = others;
        }
        // The largest distance that counts, scaled, must fit 32 bits, and its power 31.
        let largest = (limit as u64) << (shift & 31);
        let power = (largest as u128 * multiplier as u128) >> 32;
        let scaled = limit > 0 && shift <= 31 && largest <= 1 << 32 && power <= 1 << 31;
        if size > ONE as u64 || !scaled || step < 1 || step > 128 {
            return Err(Error::Quantisation);
        }
        Ok(Self { parts })
    }

    /// The number of features of a row.
    pub const fn features(&self) -> usize {
        self.parts.centres.len()
    }

    /// The prediction for one raw row, in the target's units. `room` holds the row's levels: as many as features.
    ///
    /// Integer arithmetic, but for one conversion, one multiplication and one addition at the end.
    ///
    /// # Errors
    /// [`Error::Length`] unless the row has the model's number of features, [`Error::Capacity`] for less room,
    /// [`Error::NotFinite`] (of row 0) for a feature that is no number or infinite.
    pub fn predict(&self, raw: &[f32], room: &mut [i16]) -> Result<f32, Error> {
        self.predict_from(raw, room, fixed)
    }

    /// As [`QuantisedModel::predict`], of features that are integers: a sensor's counts, if the model was trained on
    /// counts.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::Capacity`] as there.
    pub fn predict_counts(&self, counts: &[i32], room: &mut [i16]) -> Result<f32, Error> {
        self.predict_from(counts, room, |count, exponent| Some(fixed_count(count, exponent)))
    }

    #[inline]
    fn predict_from<X: Copy>(
        &self,
        raw: &[X],
        room: &mut [i16],
        fixed: impl Fn(X, i32) -> Option<i32>,
    ) -> Result<f32, Error> {
        check_length(self.features(), raw.len())?;
        let have = room.len();
        let levels = room.get_mut(..raw.len()).ok_or(Error::Capacity { needed: raw.len(), have })?;
        let QuantisedParts { centres, factors, exponents, .. } = self.parts;
        let scales = centres.iter().zip(factors).zip(exponents);
        for (column, ((slot, &value), ((&centre, &factor), &exponent))) in
            levels.iter_mut().zip(raw).zip(scales).enumerate()
        {
            let fixed = fixed(value, exponent).ok_or(Error::NotFinite { row: 0, column })?;
            *slot = level(fixed, centre, factor);
        }
        Ok(self.parts.target_mean + self.parts.target_scale * self.sum(levels) as f32)
    }

    /// `Σ_a w_a k(q_a, q)`, in units of 2^-31.
    fn sum(&self, levels: &[i16]) -> i64 {
        let QuantisedParts { landmarks, weights, step, .. } = self.parts;
        let mut sum = 0_i64;
        for (landmark, &weight) in landmarks.chunks_exact(levels.len().max(1)).zip(weights) {
            let kernel = self.kernel(squared_distance(landmark, levels, step));
            sum = sum.wrapping_add(i64::from(weight).wrapping_mul(i64::from(kernel)));
        }
        sum
    }

    /// `2^-u` of a squared distance, in units of 2^-31.
    #[inline]
    fn kernel(&self, distance: u64) -> u32 {
        let QuantisedParts { limit, multiplier, shift, .. } = self.parts;
        if distance >= u64::from(limit) {
            return 0;
        }
        power(upper((distance as u32).wrapping_shl(shift), multiplier))
    }
}

/// `‖q_a - q‖²` in squared levels: exact.
#[inline]
fn squared_distance<L: Level>(landmark: &[L], levels: &[i16], step: i32) -> u64 {
    let (blocks, rest) = landmark.as_chunks::<4>();
    let (level_blocks, level_rest) = levels.as_chunks::<4>();
    let mut sum = 0_u64;
    for (block, levels) in blocks.iter().zip(level_blocks) {
        sum = sum.wrapping_add(u64::from(squares(block, levels, step)));
    }
    sum.wrapping_add(u64::from(squares(rest, level_rest, step)))
}

/// The sum of at most four squares under 2^30.
#[inline]
fn squares<L: Level>(landmark: &[L], levels: &[i16], step: i32) -> u32 {
    let mut sum = 0_u32;
    for (&landmark, &level) in landmark.iter().zip(levels) {
        let difference = landmark.level(step).wrapping_sub(i32::from(level));
        sum = sum.wrapping_add(difference.wrapping_mul(difference) as u32);
    }
    sum
}

/// What a squared distance times `2^shift · multiplier` is divided by: 2^32, and 2^26 for the point of `u`.
const _: () = assert!(POINT == 26);
