//! From raw features to the coordinates in which a model's kernel is evaluated.
//!
//! One scale a feature: `z_i = (x_i - mean_i) · scale_i`, d multiplications. A map: `z = B (x - mean)`, with
//! the scales folded into `B = A diag(scale)`: d r multiply-adds, after which each landmark has r coordinates
//! in place of d. A clip, `z / √(1 + (z i)²)` after the scales, takes a square root and a division a feature;
//! a map may follow it.

use crate::error::Error;
use crate::memory::rows_of;
use crate::scalar::Scalar;

/// The scaling of a row's features after their means are subtracted.
///
/// ```
/// use dpp_nystrom_core::{Model, Parts, Scaling, kernel::Gaussian};
///
/// // Two features, of which only the difference in standard deviations matters: one coordinate.
/// let parts = Parts {
///     means: &[20.0, 1_000.0],
///     scaling: Scaling::Map { rank: 1, rows: &[0.2, -0.05] },
///     landmarks: &[-1.0, 1.0],
///     weights: &[1.0, -1.0],
///     target_mean: 7.0,
///     target_scale: 2.0,
/// };
/// let model = Model::new(Gaussian::new(1.0_f32)?, parts)?;
/// assert_eq!((model.features(), model.width()), (2, 1));
/// assert_eq!(model.predict(&[30.0, 1_040.0], &mut [0.0])?, 7.0); // half way between the landmarks
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Scaling<'a, T> {
    /// One over the features' standard deviations; 0 for a constant feature.
    PerFeature(&'a [T]),
    /// A linear map of the features.
    Map {
        /// The number of coordinates r, at most that of features.
        rank: usize,
        /// The rows of `B`, one for each coordinate: d numbers each.
        rows: &'a [T],
    },
    /// One scale a feature, then a smooth clip: `z / √(1 + (z i)²)`, which is between `-1/i` and `1/i`.
    Clipped {
        /// The number of coordinates r of a linear map of clipped features; none without one.
        rank: Option<usize>,
        /// d scales, d inverse bounds `i`, which are 0 where there is no clip, and the r rows of the map.
        numbers: &'a [T],
    },
}

impl<'a, T: Scalar> Scaling<'a, T> {
    /// Return its numbers: the scales, the inverse bounds, the rows of the map one after the other, whichever
    /// there are.
    pub const fn numbers(&self) -> &'a [T] {
        match *self {
            Self::PerFeature(numbers) | Self::Map { rows: numbers, .. } | Self::Clipped { numbers, .. } => {
                numbers
            }
        }
    }

    /// Return the number of coordinates of a row of this many features.
    ///
    /// # Errors
    /// [`Error::Empty`] for none of either, [`Error::Length`] for more than features, or another number of
    /// scales or entries.
    pub(super) const fn width(&self, features: usize) -> Result<usize, Error> {
        let (width, expected) = match *self {
            Self::PerFeature(_) => (features, features),
            Self::Map { rank, .. } => (rank, features.saturating_mul(rank)),
            Self::Clipped { rank: None, .. } => (features, features.saturating_mul(2)),
            Self::Clipped { rank: Some(rank), .. } => (rank, features.saturating_mul(rank.saturating_add(2))),
        };
        if width == 0 || features == 0 {
            return Err(Error::Empty);
        }
        if width > features {
            return Err(Error::Length { expected: features, found: width });
        }
        let found = self.numbers().len();
        if found == expected { Ok(width) } else { Err(Error::Length { expected, found }) }
    }

    /// Return the first constant feature that has another value. With a map none is known.
    pub(super) fn changed(&self, raw: &[T], means: &[T]) -> Option<usize> {
        match *self {
            Self::PerFeature(scales) => changed(raw, means, scales),
            Self::Map { .. } => None,
            // Scales come first.
            Self::Clipped { numbers, .. } => changed(raw, means, numbers),
        }
    }

    /// Write the coordinates of a row. Return the first feature with which one is not finite.
    #[inline]
    pub(super) fn apply(&self, raw: &[T], means: &[T], row: &mut [T]) -> Option<usize> {
        match *self {
            Self::PerFeature(scales) => standardise(raw, means, scales, row),
            Self::Map { rows, .. } => map(raw, means, rows, row),
            Self::Clipped { rank, numbers } => clipped(raw, means, (rank.is_some(), numbers), row),
        }
    }
}

/// Return the deviation below which a column of this mean is constant: some rounding errors of the mean,
/// `4 ε |mean|`.
pub(crate) fn rounding<T: Scalar>(mean: T) -> T {
    T::from_count(4) * T::EPSILON * mean.abs()
}

/// Return the first constant feature (of scale 0) that has another value: by more than four times
/// [`rounding`], which is four deviations of any feature that counts as constant.
pub(crate) fn changed<T: Scalar>(raw: &[T], means: &[T], scales: &[T]) -> Option<usize> {
    let differs = |value: T, mean: T| !((value - mean).abs() <= T::from_count(4) * rounding(mean));
    let mut statistics = raw.iter().zip(means).zip(scales);
    statistics.position(|((&value, &mean), &scale)| scale == T::ZERO && differs(value, mean))
}

/// Return the error of a row whose coordinates are not finite because of this feature.
pub(crate) fn refusal<T: Scalar>(raw: &[T], row: usize, column: usize) -> Error {
    if raw.get(column).is_some_and(|value| value.is_finite()) {
        Error::TooLarge { row, column }
    } else {
        Error::NotFinite { row, column }
    }
}

/// Write `z_i = (x_i - mean_i) · scale_i`. Return the first feature for which it is not finite.
pub(crate) fn standardise<T: Scalar>(raw: &[T], means: &[T], scales: &[T], row: &mut [T]) -> Option<usize> {
    let statistics = means.iter().zip(scales);
    for (column, ((slot, &value), (&mean, &scale))) in row.iter_mut().zip(raw).zip(statistics).enumerate() {
        *slot = (value - mean) * scale;
        // `value` itself as well: an infinite constant feature is not 0.
        if !(slot.is_finite() && value.is_finite()) {
            return Some(column);
        }
    }
    None
}

/// Write the clipped features, or the map of them. Return the first feature for which one is not finite.
fn clipped<T: Scalar>(
    raw: &[T],
    means: &[T],
    (mapped, numbers): (bool, &[T]),
    coordinates: &mut [T],
) -> Option<usize> {
    let dim = means.len();
    let bounds = numbers.iter().skip(dim);
    let columns = raw.iter().zip(means).zip(numbers.iter().zip(bounds));
    coordinates.fill(T::ZERO);
    for (column, ((&value, &mean), (&scale, &bound))) in columns.enumerate() {
        let standard = (value - mean) * scale;
        let share = standard * bound;
        // A feature that is not finite leaves neither so, even times 0.
        if !(standard.is_finite() && share.is_finite()) {
            return Some(column);
        }
        // Beyond, 1 is lost in the sum, and a square may overflow.
        let is_far = share.abs() > T::ONE / T::EPSILON;
        let divisor = if is_far { share.abs() } else { (T::ONE + share * share).sqrt() };
        let clipped = standard / divisor;
        if !mapped {
            coordinates.iter_mut().skip(column).take(1).for_each(|slot| *slot = clipped);
            continue;
        }
        let entries = numbers.iter().skip(2 * dim + column).step_by(dim.max(1));
        coordinates.iter_mut().zip(entries).for_each(|(slot, &entry)| *slot += entry * clipped);
        if !coordinates.iter().all(|slot| slot.is_finite()) {
            return Some(column);
        }
    }
    None
}

/// Write `z_k = Σ_i B_ki (x_i - mean_i)`. Return the first feature with which a coordinate is not finite.
fn map<T: Scalar>(raw: &[T], means: &[T], rows: &[T], coordinates: &mut [T]) -> Option<usize> {
    for (slot, row) in coordinates.iter_mut().zip(rows_of(rows, means.len())) {
        *slot = coordinate(raw, means, row);
        // A sum that is not finite remains so, and with a feature that is not finite each is so, even
        // times 0.
        if !slot.is_finite() {
            return first_not_finite(raw, means, row);
        }
    }
    None
}

/// Return a row's product with the differences from the means, in the features' order.
#[inline(always)]
fn coordinate<T: Scalar>(raw: &[T], means: &[T], row: &[T]) -> T {
    let mut sum = T::ZERO;
    let mut add = |&x: &T, &mean: &T, &entry: &T| sum += entry * (x - mean);
    let ((x, x_rest), (means, mean_rest), (row, row_rest)) =
        (raw.as_chunks::<4>(), means.as_chunks::<4>(), row.as_chunks::<4>());
    for (([x0, x1, x2, x3], [m0, m1, m2, m3]), [b0, b1, b2, b3]) in x.iter().zip(means).zip(row) {
        add(x0, m0, b0);
        add(x1, m1, b1);
        add(x2, m2, b2);
        add(x3, m3, b3);
    }
    x_rest.iter().zip(mean_rest).zip(row_rest).for_each(|((x, mean), entry)| add(x, mean, entry));
    sum
}

/// Sum again to find the feature.
#[cold]
fn first_not_finite<T: Scalar>(raw: &[T], means: &[T], row: &[T]) -> Option<usize> {
    let mut sum = T::ZERO;
    raw.iter().zip(means).zip(row).position(|((&x, &mean), &entry)| {
        sum += entry * (x - mean);
        !sum.is_finite()
    })
}
