//! A trained Gaussian model in integers, for processors without floating-point hardware.

mod bytes;
mod exponential;
mod input;
mod outputs;

use crate::error::{Error, Known};
use crate::memory::{check_length, rows_of};
use crate::model::{Assessment, check_landmarks};
use crate::scalar::Scalar;

pub use exponential::{FALL, POWERS};
use exponential::{ONE, POINT, power, upper};
use input::{LARGEST, LEVELS, fixed, fixed_count, level};
pub use outputs::QuantisedOutputs;

/// The storage of a landmark's feature: `i16` or `i8`. Sealed: the bounds of the sums are stated for these
/// two.
///
/// ```
/// use dpp_nystrom_core::Level;
///
/// assert_eq!((4_096_i16.level(1), (-3_i8).level(128)), (4_096, -384));
/// ```
pub trait Level: sealed::Sealed + Copy {
    /// Return the level, in `[-2^14, 2^14)`; `step` is that of [`QuantisedParts`].
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

/// A linear map of levels: `q_k = (Σ_i m_ki p_i + 2^(shift-1)) / 2^shift`, rounded down and clamped to
/// levels.
///
/// ```
/// use dpp_nystrom_core::{QuantisedMap, QuantisedModel, QuantisedParts};
///
/// // Two features, of which only the sum matters: one coordinate.
/// let model = QuantisedModel::<i16>::new(QuantisedParts {
///     centres: &[0, 0],
///     factors: &[1 << 20, 1 << 20],
///     exponents: &[24, 24],
///     map: Some(QuantisedMap { rank: 1, rows: &[1, 1], shift: 0 }),
///     landmarks: &[4_096],
///     weights: &[1 << 30],
///     limit: 720_900_000,
///     multiplier: 3_098_164_009,
///     shift: 2,
///     step: 1,
///     target_mean: 7.0,
///     target_scale: 1.0 / (1_u64 << 61) as f32,
/// })?;
/// assert_eq!((model.features(), model.width(), model.room()), (2, 1, 3));
/// assert_eq!(model.predict(&[0.25, 0.75], &mut [0; 3])?, 8.0);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct QuantisedMap<'a> {
    /// The number of coordinates r, at most that of features.
    pub rank: usize,
    /// Its rows, one for each coordinate: a number for each feature.
    pub rows: &'a [i16],
    /// The shift, at most 30.
    pub shift: u32,
}

impl QuantisedMap<'_> {
    /// Check it for a number of features.
    const fn check(&self, features: usize) -> Result<(), Error> {
        if self.rank == 0 {
            return Err(Error::Empty);
        }
        if self.rank > features {
            return Err(Error::Length { expected: features, found: self.rank });
        }
        let expected = features.saturating_mul(self.rank);
        if self.rows.len() != expected {
            return Err(Error::Length { expected, found: self.rows.len() });
        }
        let mut rest = self.rows;
        while let Some((mut row, others)) = rest.split_at_checked(features) {
            let mut size = 0_u64;
            while let Some((&entry, entries)) = row.split_first() {
                size = size.saturating_add(entry.unsigned_abs() as u64);
                row = entries;
            }
            if size > MOST_OF_ROW {
                return Err(Error::Quantisation);
            }
            rest = others;
        }
        if self.shift <= 30 { Ok(()) } else { Err(Error::Quantisation) }
    }

    /// Return the level of the coordinate of a row of the map.
    #[inline]
    fn level(&self, row: &[i16], levels: &[i16]) -> i16 {
        let mut sum = (1_i32 << (self.shift & 31)) >> 1;
        for (&entry, &level) in row.iter().zip(levels) {
            sum = sum.wrapping_add(i32::from(entry).wrapping_mul(i32::from(level)));
        }
        (sum >> (self.shift & 31)).clamp(-LEVELS, LEVELS - 1) as i16
    }
}

/// What the magnitudes of a row of a map sum to at most.
const MOST_OF_ROW: u64 = 1 << 16;

/// The parts of a [`QuantisedModel`].
///
/// ```
/// use dpp_nystrom_core::{Error, QuantisedModel, QuantisedParts};
///
/// let parts = QuantisedParts {
///     centres: &[20 << 24],
///     factors: &[1 << 20],
///     exponents: &[24],
///     map: None,
///     landmarks: &[32_i8], // of 128 levels each
///     weights: &[1 << 30],
///     limit: 720_900_000,
///     multiplier: 3_098_164_009,
///     shift: 2,
///     step: 128,
///     target_mean: 7.0,
///     target_scale: 1.0 / (1_u64 << 61) as f32,
/// };
/// assert_eq!(QuantisedModel::<i8>::new(parts)?.predict(&[21.0], &mut [0])?, 8.0);
/// let large = QuantisedParts { weights: &[i32::MIN, 1], landmarks: &[32, 32], ..parts };
/// assert_eq!(QuantisedModel::<i8>::new(large).err(), Some(Error::Quantisation)); // sums could overflow
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct QuantisedParts<'a, L> {
    /// The features' means, times `2^e`.
    pub centres: &'a [i32],
    /// Levels per unit of `2^e x`, times `2^32`; 0 for a constant feature.
    pub factors: &'a [i32],
    /// `e`: the power of two that a raw feature is multiplied by.
    pub exponents: &'a [i32],
    /// The map of the features' levels, if there is one.
    pub map: Option<QuantisedMap<'a>>,
    /// The landmarks' levels, one landmark after the other: one for each feature, or coordinate of the map.
    pub landmarks: &'a [L],
    /// A weight for each landmark.
    pub weights: &'a [i32],
    /// The squared distance, in squared levels, from which the kernel counts as zero.
    pub limit: u32,
    /// The factor of a squared distance, after the shift: `u = (distance · 2^shift · multiplier) / 2^58`.
    pub multiplier: u32,
    /// The shift.
    pub shift: u32,
    /// Levels per unit of an 8-bit landmark, from 1 to 128. With 16 bits a unit is a level, and this is 1.
    pub step: i32,
    /// The target's mean.
    pub target_mean: f32,
    /// The target's units per unit of the sum.
    pub target_scale: f32,
}

/// A trained Gaussian model in integers. It takes raw rows, borrows its parts and copies nothing.
///
/// A feature is quantised to a level, an integer in `[-2^14, 2^14)`, with one step δ for all features (a
/// level is δ standard deviations). Landmarks are stored as levels in 16 bits, or in 8 bits in steps of at
/// most 128 levels. Then
///
/// `y(x) = mean + scale · Σ_a w_a 2^-u_a`, `u_a = ‖q_a - q(x)‖² · δ² log₂(e) / (2σ²)`,
///
/// with exact distances, `u` to 26 fractional bits, the powers from a table with quadratic interpolation, and
/// integer weights, summed exactly in 64 bits. In single precision there remain two conversions, both of the
/// sum, a multiplication and an addition.
///
/// With a learned map ([`QuantisedMap`]) the levels `p_i` of the features, whose step is that of standard
/// deviations, become those of the coordinates, `q_k = (Σ_i m_ki p_i + 2^(s-1)) / 2^s`, rounded down and
/// clamped, and landmarks have one of each coordinate.
///
/// # No overflow, for any input
///
/// The magnitudes of a row of the map sum to at most 2^16 and levels are at most 2^14, so that its sum is at
/// most 2^30, and with `s <= 30` fits 32 bits after rounding too.
///
/// Two levels differ by less than 2^15 and a square is less than 2^30, so four squares fit 32 bits; sums of
/// four are added in 64 bits. A distance of `limit` or more, at which the kernel is below 2^-31, counts as
/// zero. A smaller distance fits 32 bits, and so does `limit · 2^shift`, which the constructor checks.
/// Kernels are at most 2^31 and the weights' magnitudes sum to at most 2^31, so every partial sum is at most
/// 2^62.
///
/// # Error
///
/// Compared with the same model in exact arithmetic on the same levels, at most 2 · 10⁻⁸ of the sum of the
/// weights' magnitudes. (The error of a power is at most 10⁻⁸, and that of its argument two units of 2^-26
/// and 2^-31 of itself.) The remaining error is that of rounding a row to levels: half a level per feature,
/// plus `2^-16` of the distance from the feature's mean for the rounding of its factor. A row outside the
/// range of the levels is clamped to it.
///
/// # Example
///
/// ```
/// use dpp_nystrom_core::{QuantisedModel, QuantisedParts};
///
/// // One feature of mean 20 with 4,096 levels to a unit; one landmark, at 21, and a bandwidth of 1.
/// static MODEL: QuantisedModel<'static, i16> = match QuantisedModel::<i16>::new(QuantisedParts {
///     centres: &[20 << 24],
///     factors: &[1 << 20],
///     exponents: &[24],
///     map: None,
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
    /// Create the model from its parts. Constant: in a static, inconsistent parts do not compile.
    ///
    /// # Errors
    /// [`Error::Empty`] for no features or no weights, [`Error::Length`] unless there is a centre, a factor
    /// and an exponent for each feature and as many landmarks as weights, [`Error::Quantisation`] for parts
    /// with which sums could overflow: landmarks outside the levels, weights whose magnitudes sum to more
    /// than 2^31, factors below 0, a map whose rows sum to more than 2^16.
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
    /// Create the model from its parts. Constant: in a static, inconsistent parts do not compile.
    ///
    /// # Errors
    /// As for 16 bits; every landmark is inside the levels.
    pub const fn new(parts: QuantisedParts<'a, i8>) -> Result<Self, Error> {
        Self::of_levels(parts)
    }
}

impl<'a, L: Level> QuantisedModel<'a, L> {
    /// Check everything but the landmarks' levels.
    const fn of_levels(parts: QuantisedParts<'a, L>) -> Result<Self, Error> {
        let QuantisedParts { centres, factors, exponents, weights, limit, multiplier, shift, step, .. } =
            parts;
        let features = centres.len();
        if features == 0 {
            return Err(Error::Empty);
        }
        if factors.len() != features {
            return Err(Error::Length { expected: features, found: factors.len() });
        }
        if exponents.len() != features {
            return Err(Error::Length { expected: features, found: exponents.len() });
        }
        if let Some(map) = parts.map
            && let Err(error) = map.check(features)
        {
            return Err(error);
        }
        let width = match parts.map {
            Some(map) => map.rank,
            None => features,
        };
        if let Err(error) = check_landmarks(width, parts.landmarks.len(), weights.len()) {
            return Err(error);
        }
        let (mut centres, mut factors) = (centres, factors);
        while let (Some((&centre, more_centres)), Some((&factor, more_factors))) =
            (centres.split_first(), factors.split_first())
        {
            if centre.unsigned_abs() > LARGEST as u32 || factor < 0 {
                return Err(Error::Quantisation);
            }
            (centres, factors) = (more_centres, more_factors);
        }
        // The largest distance that counts, scaled, must fit 32 bits, and its power 31.
        let largest = (limit as u64) << (shift & 31);
        let power = (largest as u128 * multiplier as u128) >> 32;
        let scaled = limit > 0 && shift <= 31 && largest <= 1 << 32 && power <= 1 << 31;
        if !are_small(weights) || !scaled || step < 1 || step > 128 {
            return Err(Error::Quantisation);
        }
        Ok(Self { parts })
    }

    /// Return the number of features of a row.
    pub const fn features(&self) -> usize {
        self.parts.centres.len()
    }

    /// Return the number of levels of a landmark: that of features, or the rank of the map.
    pub const fn width(&self) -> usize {
        match self.parts.map {
            Some(map) => map.rank,
            None => self.features(),
        }
    }

    /// Return how many levels a call needs as room: one for each feature, and one more for each coordinate of
    /// a map.
    pub const fn room(&self) -> usize {
        match self.parts.map {
            Some(map) => self.features().saturating_add(map.rank),
            None => self.features(),
        }
    }

    /// Return the prediction for one raw row, in the target's units. `room` is scratch for the row's levels:
    /// [`room`](Self::room) of them.
    ///
    /// Integer arithmetic, except for one conversion, one multiplication and one addition at the end.
    ///
    /// # Errors
    /// [`Error::Length`] unless the row has the model's number of features, [`Error::Capacity`] for a shorter
    /// `room`, [`Error::NotFinite`] (of row 0) for a feature that is NaN or infinite.
    pub fn predict(&self, raw: &[f32], room: &mut [i16]) -> Result<f32, Error> {
        self.predict_from(raw, room, fixed)
    }

    /// [`predict`](Self::predict) for features that are integers: a sensor's counts, if the model was trained
    /// on counts.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::Capacity`], as for `predict`.
    pub fn predict_counts(&self, counts: &[i32], room: &mut [i16]) -> Result<f32, Error> {
        self.predict_from(counts, room, |count, exponent| Some(fixed_count(count, exponent)))
    }

    /// [`predict`](Self::predict), with the distance to the nearest landmark in levels, as in its
    /// [`crate::Limits`].
    ///
    /// # Errors
    /// Those of `predict`.
    ///
    /// ```
    /// use dpp_nystrom_core::{QuantisedModel, include_model};
    ///
    /// static MODEL: &[u8] = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/core/formats/bits16.bin"));
    /// let model = QuantisedModel::<i16>::from_bytes(MODEL)?;
    /// let mut room = [0; 8];
    /// let assessment = model.assess(&[0.0; 2], &mut room)?;
    /// assert_eq!(assessment.value, model.predict(&[0.0; 2], &mut room)?);
    /// assert!(assessment.nearest >= 0.0 && assessment.residual.is_none());
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn assess(&self, raw: &[f32], room: &mut [i16]) -> Result<Assessment<f32>, Error> {
        let levels = self.levels(raw, room, fixed)?;
        let QuantisedParts { landmarks, step, .. } = self.parts;
        let distances =
            rows_of(landmarks, levels.len()).map(|landmark| squared_distance(landmark, levels, step));
        let nearest = Scalar::sqrt(distances.min().unwrap_or(0) as f32);
        Ok(Assessment { value: self.output(self.sum(levels)), nearest, residual: None, variance: None })
    }

    #[inline]
    fn predict_from<X: Copy>(
        &self,
        raw: &[X],
        room: &mut [i16],
        fixed: impl Fn(X, i32) -> Option<i32>,
    ) -> Result<f32, Error> {
        Ok(self.output(self.sum(self.levels(raw, room, fixed)?)))
    }

    /// Return a sum in the target's units.
    #[inline]
    fn output(&self, sum: i64) -> f32 {
        self.parts.target_mean + self.parts.target_scale * sum as f32
    }

    /// Write a raw row's levels to `room`, and return those that landmarks have.
    #[inline]
    fn levels<'r, X: Copy>(
        &self,
        raw: &[X],
        room: &'r mut [i16],
        fixed: impl Fn(X, i32) -> Option<i32>,
    ) -> Result<&'r [i16], Error> {
        check_length(self.features(), raw.len())?;
        let have = room.len();
        let room = room.get_mut(..self.room()).ok_or(Error::Capacity { needed: self.room(), have })?;
        let (levels, coordinates) = room.split_at_mut_checked(raw.len()).known()?;
        let QuantisedParts { centres, factors, exponents, map, .. } = self.parts;
        let scales = centres.iter().zip(factors).zip(exponents);
        for (column, ((slot, &value), ((&centre, &factor), &exponent))) in
            levels.iter_mut().zip(raw).zip(scales).enumerate()
        {
            let fixed = fixed(value, exponent).ok_or(Error::NotFinite { row: 0, column })?;
            *slot = level(fixed, centre, factor);
        }
        let Some(map) = map else { return Ok(levels) };
        for (slot, row) in coordinates.iter_mut().zip(rows_of(map.rows, raw.len())) {
            *slot = map.level(row, levels);
        }
        Ok(coordinates)
    }

    /// Return `Σ_a w_a k(q_a, q)`, in units of 2^-31.
    fn sum(&self, levels: &[i16]) -> i64 {
        let QuantisedParts { landmarks, weights, step, .. } = self.parts;
        let mut sum = 0_i64;
        for (landmark, &weight) in rows_of(landmarks, levels.len()).zip(weights) {
            let kernel = self.kernel(squared_distance(landmark, levels, step));
            sum = sum.wrapping_add(i64::from(weight).wrapping_mul(i64::from(kernel)));
        }
        sum
    }

    /// Return `2^-u` of a squared distance, in units of 2^-31.
    #[inline]
    fn kernel(&self, distance: u64) -> u32 {
        let QuantisedParts { limit, multiplier, shift, .. } = self.parts;
        if distance >= u64::from(limit) {
            return 0;
        }
        power(upper((distance as u32).wrapping_shl(shift), multiplier))
    }
}

/// Whether the magnitudes of an output's weights sum to at most 2^31.
const fn are_small(weights: &[i32]) -> bool {
    let (mut size, mut weights) = (0_u64, weights);
    while let Some((&weight, others)) = weights.split_first() {
        size = size.saturating_add(weight.unsigned_abs() as u64);
        weights = others;
    }
    size <= ONE as u64
}

/// Return `‖q_a - q‖²` in squared levels: exact.
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

/// Return the sum of at most four squares below 2^30.
#[inline]
fn squares<L: Level>(landmark: &[L], levels: &[i16], step: i32) -> u32 {
    let mut sum = 0_u32;
    for (&landmark, &level) in landmark.iter().zip(levels) {
        let difference = landmark.level(step).wrapping_sub(i32::from(level));
        sum = sum.wrapping_add(difference.wrapping_mul(difference) as u32);
    }
    sum
}

/// The divisor of a squared distance times `2^shift · multiplier`: 2^32, and 2^26 for the fractional bits of
/// `u`.
const _: () = assert!(POINT == 26);
