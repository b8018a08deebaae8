//! From raw features to the coordinates in which a model's kernel is evaluated.
//!
//! One scale a feature: `z_i = (x_i - mean_i) · scale_i`, d multiplications. A map: `z = B (x - mean)`, with
//! the scales folded into `B = A diag(scale)`: d r multiply-adds, after which each landmark has r coordinates
//! in place of d.

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
}

impl<'a, T: Scalar> Scaling<'a, T> {
    /// Return its numbers: the scales, or the rows of the map one after the other.
    pub const fn numbers(&self) -> &'a [T] {
        match *self {
            Self::PerFeature(numbers) | Self::Map { rows: numbers, .. } => numbers,
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
        }
    }

    /// Write the coordinates of a row. Return the first feature with which one is not finite.
    #[inline]
    pub(super) fn apply(&self, raw: &[T], means: &[T], row: &mut [T]) -> Option<usize> {
        match *self {
            Self::PerFeature(scales) => standardise(raw, means, scales, row),
            Self::Map { rows, .. } => map(raw, means, rows, row),
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
