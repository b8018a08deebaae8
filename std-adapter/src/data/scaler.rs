//! Standardisation: features with mean 0 and standard deviation 1.
//!
//! The statistics are those of the training rows, and a model stores them. The standard deviation divides by
//! `n`. A constant feature carries no information and is set to zero. Standardised features may be clipped
//! smoothly, and a learned [`Map`] of them may follow.

use crate::data::map::Map;
use crate::data::weights::Weights;
use crate::error::{Error, check_length};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows per task.
const BLOCK: usize = 4_096;

/// The interquartile range of a normal distribution, in standard deviations.
const NORMAL_RANGE: f64 = 1.348_979_500_392_163_5;

/// A relative spread below this is rounding error: the feature is constant.
const CONSTANT: f64 = 1e-13;

/// Where features are clipped, in robust deviations (Holzmüller, Grinsztajn, Steinwart 2024).
const BOUND: f64 = 3.0;

/// How features are scaled before a kernel sees them.
///
/// ```
/// use dpp_nystrom::{Dataset, Scale};
///
/// let x = [1.0, 2.0, 3.0, 4.0, 1_000.0]; // an outlier
/// let data = Dataset::from_rows(&x, 1)?;
/// let centre = |scale| Ok::<f64, dpp_nystrom::Error>(data.source(scale)?.as_rows().columns().scaler.means[0]);
/// assert_eq!((centre(Scale::Standard)?, centre(Scale::Robust)?, centre(Scale::None)?), (202.0, 3.0, 0.0));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scale {
    /// To mean 0 and standard deviation 1; constant features to 0.
    #[default]
    Standard,
    /// To median 0 and an interquartile range of that of a normal distribution with standard deviation 1:
    /// single outliers have no influence ([`Scaler::robust`]).
    Robust,
    /// As robust, then clipped smoothly, `z / √(1 + (z/3)²)`, and to standard deviation 1: a heavy tail is
    /// drawn in, and rows apart in the middle stay apart.
    Clipped,
    /// Not at all.
    None,
}

impl Scale {
    /// Compute what scales rows of `dim` features. Medians do not depend on weights.
    pub(crate) fn statistics(self, rows: &[f64], dim: usize, weights: Weights<'_>) -> Scaler {
        match self {
            Self::Standard => Scaler::weighted(rows, dim, weights),
            Self::Robust => Scaler::robust(rows, dim),
            Self::Clipped => Scaler::clipped(rows, dim, weights),
            Self::None => Scaler::identity(dim),
        }
    }
}

/// The mean and standard deviation of each feature, and a map of the standardised rows, if one was learned.
///
/// ```
/// use dpp_nystrom::data::Scaler;
///
/// let mut rows = vec![1.0, 7.0, 3.0, 7.0];
/// let statistics = Scaler::of(&rows, 2);
/// statistics.apply(&mut rows);
/// assert_eq!(rows, [-1.0, 0.0, 1.0, 0.0]);
/// statistics.undo(&mut rows);
/// assert_eq!(rows, [1.0, 7.0, 3.0, 7.0]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaler {
    /// The features' means.
    pub means: Vec<f64>,
    /// Their standard deviations; 0 for a constant feature.
    pub deviations: Vec<f64>,
    /// The map by which standardised rows are multiplied. Serialisation leaves it out: files and messages
    /// have it in a section of its own.
    #[serde(skip)]
    pub map: Option<Map>,
    /// The bound `b` of each feature that is clipped to `z / √(1 + (z/b)²)`, before the map; none if no
    /// feature is. Serialisation leaves it out, as the map.
    #[serde(skip)]
    pub bounds: Option<Vec<f64>>,
}

impl Scaler {
    /// Compute the statistics of rows of `dim` features.
    pub fn of(rows: &[f64], dim: usize) -> Self {
        Self::weighted(rows, dim, Weights::default())
    }

    /// Compute the statistics of weighted rows.
    pub(crate) fn weighted(rows: &[f64], dim: usize, weights: Weights<'_>) -> Self {
        let count = weights.sum(rows.len().checked_div(dim).unwrap_or(0).max(1));
        let rows =
            || rows.chunks_exact(dim.max(1)).enumerate().map(|(row, values)| (weights.at(row), values));
        let mut means = vec![0.0; dim];
        for (weight, row) in rows() {
            for (mean, value) in means.iter_mut().zip(row) {
                *mean += value / count * weight;
            }
        }
        // The sum above is rounded once per row, so that over many rows a constant would seem to vary.
        let mut rest = vec![0.0; dim];
        // Scale first: squares of very large or very small differences overflow or underflow.
        let mut scales = vec![0.0_f64; dim];
        for (weight, row) in rows() {
            for (((scale, rest), value), mean) in scales.iter_mut().zip(&mut rest).zip(row).zip(&means) {
                *scale = scale.max((value - mean).abs());
                *rest += (value - mean) / count * weight;
            }
        }
        means.iter_mut().zip(&rest).for_each(|(mean, rest)| *mean += rest);
        scales.iter_mut().for_each(|scale| *scale = power_of_two(*scale));
        let mut deviations = vec![0.0; dim];
        for (weight, row) in rows() {
            for (((square, value), mean), scale) in deviations.iter_mut().zip(row).zip(&means).zip(&scales) {
                *square += ((value - mean) / scale).powi(2) / count * weight;
            }
        }
        for ((deviation, mean), scale) in deviations.iter_mut().zip(&means).zip(&scales) {
            let spread = deviation.sqrt() * scale;
            *deviation = if *scale == 0.0 { 0.0 } else { Self::or_constant(spread, *mean) };
        }
        Self { means, deviations, map: None, bounds: None }
    }

    /// Compute medians, and interquartile ranges in the unit of a normal distribution's standard deviation,
    /// in their place: a quarter of the rows can be anything. Where the range is 0, the median absolute
    /// deviation of the values that differ from the median.
    ///
    /// ```
    /// use dpp_nystrom::data::Scaler;
    ///
    /// let rows = [1.0, 2.0, 3.0, 4.0, 1e9];
    /// let statistics = Scaler::robust(&rows, 1);
    /// assert_eq!(statistics.means, [3.0]);
    /// assert!((statistics.deviations[0] - 2.0 / 1.349).abs() < 1e-3); // the quartiles are 2 and 4
    /// ```
    pub fn robust(rows: &[f64], dim: usize) -> Self {
        let column = |column: usize| {
            let mut values: Vec<f64> = rows.iter().skip(column).step_by(dim.max(1)).copied().collect();
            values.sort_unstable_by(f64::total_cmp);
            let middle = quantile(&values, 0.5);
            let range = (quantile(&values, 0.75) - quantile(&values, 0.25)) / NORMAL_RANGE;
            if Self::or_constant(range, middle) > 0.0 {
                return (middle, range);
            }
            let differ = |value: &f64| Self::or_constant((value - middle).abs(), middle) > 0.0;
            let mut apart: Vec<f64> =
                values.iter().filter(|value| differ(value)).map(|value| (value - middle).abs()).collect();
            apart.sort_unstable_by(f64::total_cmp);
            (middle, quantile(&apart, 0.5))
        };
        let (means, deviations) = (0..dim).into_par_iter().map(column).unzip();
        Self { means, deviations, map: None, bounds: None }
    }

    /// Compute [robust](Self::robust) statistics, and bounds that clip features smoothly. The clipped
    /// features of the weighted rows have standard deviation 1, and 0 is the median.
    pub(crate) fn clipped(rows: &[f64], dim: usize, weights: Weights<'_>) -> Self {
        let mut clipped = Self { bounds: Some(vec![BOUND; dim]), ..Self::robust(rows, dim) };
        let mut rows = rows.to_vec();
        clipped.apply(&mut rows);
        let spread = Self::weighted(&rows, dim, weights).deviations;
        let inverses: Vec<f64> = spread.iter().map(|&one| if one > 0.0 { 1.0 / one } else { 0.0 }).collect();
        clipped.rescale(&inverses);
        clipped
    }

    /// Multiply each standardised feature by a scale, 0 for one to be left out.
    pub(crate) fn rescale(&mut self, scales: &[f64]) {
        for (deviation, scale) in self.deviations.iter_mut().zip(scales) {
            *deviation = if *scale > 0.0 { *deviation / scale } else { 0.0 };
        }
        self.bounds.iter_mut().flatten().zip(scales).for_each(|(bound, scale)| *bound *= scale);
    }

    /// The scaler that changes nothing, for `features` features.
    pub fn identity(features: usize) -> Self {
        Self { means: vec![0.0; features], deviations: vec![1.0; features], map: None, bounds: None }
    }

    /// Return how many numbers a scaled row has: one a feature, or the rank of the map.
    pub fn width(&self) -> usize {
        self.map.as_ref().map_or(self.means.len(), |map| map.rank)
    }

    /// A deviation, or 0 where it is rounding.
    pub(crate) fn or_constant(deviation: f64, mean: f64) -> f64 {
        if deviation <= CONSTANT * mean.abs() { 0.0 } else { deviation }
    }

    /// Whether there are finite statistics for this number of features.
    pub(crate) fn is_well_formed(&self, features: usize) -> bool {
        [self.means.len(), self.deviations.len()] == [features; 2]
            && self.overflow().is_none()
            && self.deviations.iter().all(|&deviation| deviation >= 0.0)
            && self.map.as_ref().is_none_or(|map| map.is_well_formed(features))
            && self.bounds.as_ref().is_none_or(|bounds| {
                let usable = |(bound, deviation): (&f64, &f64)| {
                    bound.is_finite() && (*bound > 0.0 || *deviation == 0.0)
                };
                bounds.len() == features && bounds.iter().zip(&self.deviations).all(usable)
            })
    }

    /// Return the first feature whose mean or standard deviation is not finite.
    pub fn overflow(&self) -> Option<usize> {
        let mut pairs = self.means.iter().zip(&self.deviations);
        pairs.position(|(mean, deviation)| !(mean.is_finite() && deviation.is_finite()))
    }

    /// Standardise and map rows. Without a map this is in place.
    pub fn apply(&self, rows: &mut Vec<f64>) {
        let features = self.means.len().max(1);
        if self.map.is_some() {
            let width = self.width().max(1);
            let mut scaled = vec![0.0; rows.len() / features * width];
            scaled.par_chunks_mut(width * BLOCK).zip(rows.par_chunks(features * BLOCK)).for_each(
                |(scaled, rows)| {
                    for (scaled, row) in scaled.chunks_exact_mut(width).zip(rows.chunks_exact(features)) {
                        self.scale_row(row, scaled);
                    }
                },
            );
            *rows = scaled;
            return;
        }
        rows.par_chunks_mut(features * BLOCK).for_each(|rows| {
            for row in rows.chunks_exact_mut(features) {
                row.iter_mut()
                    .enumerate()
                    .for_each(|(feature, value)| *value = self.standard(feature, *value));
            }
        });
    }

    /// Undo the standardisation in place; a constant feature becomes its constant again. The rows must not be
    /// mapped. What was clipped at its bound, beyond some 10⁶ deviations, becomes a number of that size.
    pub fn undo(&self, rows: &mut [f64]) {
        for row in rows.chunks_exact_mut(self.means.len().max(1)) {
            for (feature, value) in row.iter_mut().enumerate() {
                let bound = self.bounds.as_ref().map_or(0.0, |bounds| bounds[feature]);
                let standard = if bound > 0.0 { unclipped(*value, bound) } else { *value };
                *value = self.means[feature] + self.deviations[feature] * standard;
            }
        }
    }

    /// Return a value of a feature, standardised and clipped, before the map.
    pub(crate) fn standard(&self, feature: usize, value: f64) -> f64 {
        let standard = standardised(value, self.means[feature], self.deviations[feature]);
        match &self.bounds {
            Some(bounds) if bounds[feature] > 0.0 => clipped(standard, bounds[feature]),
            _ => standard,
        }
    }

    /// Standardise and map one row: to [`width`](Self::width) numbers.
    ///
    /// # Errors
    /// `ErrorKind::Argument` unless there is a value for each feature, and a slot for each number.
    ///
    /// ```
    /// use dpp_nystrom::data::Scaler;
    ///
    /// let scaler = Scaler { means: vec![20.0], deviations: vec![2.0], map: None, bounds: None };
    /// let mut scaled = [0.0];
    /// scaler.apply_row(&[23.0], &mut scaled)?;
    /// assert_eq!(scaled, [1.5]);
    /// assert!(scaler.apply_row(&[23.0, 1.0], &mut scaled).is_err());
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn apply_row(&self, raw: &[f64], scaled: &mut [f64]) -> Result<(), Error> {
        check_length("values of a row", self.means.len(), raw.len())?;
        check_length("numbers of a scaled row", self.width(), scaled.len())?;
        self.scale_row(raw, scaled);
        Ok(())
    }

    /// [`apply_row`](Self::apply_row) of as many values as there are features, to as many numbers as there
    /// are.
    pub(crate) fn scale_row(&self, raw: &[f64], scaled: &mut [f64]) {
        debug_assert_eq!((raw.len(), scaled.len()), (self.means.len(), self.width()));
        let raw = raw.iter().enumerate();
        let standard = raw.map(|(feature, &value)| self.standard(feature, value));
        match &self.map {
            Some(map) => map.apply(standard, scaled),
            None => scaled.iter_mut().zip(standard).for_each(|(slot, value)| *slot = value),
        }
    }
}

/// Return a quantile of sorted values, by linear interpolation; 0 of none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + (place - below as f64) * (high - low)
}

/// Return a value with this mean and deviation subtracted and divided out; 0 if it is constant, and what is
/// not finite as it is.
pub(crate) fn standardised(value: f64, mean: f64, deviation: f64) -> f64 {
    if deviation > 0.0 {
        (value - mean) / deviation
    } else if value.is_finite() {
        0.0
    } else {
        value
    }
}

/// Clip a standardised value smoothly. What is not finite stays so: a row that has it is refused.
fn clipped(value: f64, bound: f64) -> f64 {
    if value.is_finite() { value / (value / bound).hypot(1.0) } else { value }
}

/// Return the value that is clipped to this one. At the bound and beyond it is a large one.
fn unclipped(value: f64, bound: f64) -> f64 {
    let share = value / bound;
    value / (1.0 - share * share).max(1e-12).sqrt()
}

/// Return the largest power of two at or below a positive number, so that scaling by it is exact; 0 for 0,
/// and the smallest normal number for a subnormal one.
pub(crate) fn power_of_two(size: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    let power = f64::from_bits(size.to_bits() & EXPONENT);
    if size > 0.0 { power.max(f64::MIN_POSITIVE) } else { power }
}

#[cfg(test)]
mod tests {
    use super::{Scaler, power_of_two, standardised};
    use crate::data::weights::Weights;

    #[test]
    fn a_constant_feature_hides_no_value_that_is_not_finite() {
        assert_eq!(standardised(3.0, 1.0, 0.0), 0.0);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!standardised(value, 1.0, 0.0).is_finite());
        }
    }

    #[test]
    fn statistics_scale_with_the_rows() {
        let rows = [1.0, 4.0, -2.0, 7.0, 3.5];
        let plain = Scaler::of(&rows, 1);
        for scale in [1e300, 1e180, 1e-180, 1e-290, 2.0_f64.powi(-1_040)] {
            let rows = rows.map(|value| value * scale);
            let scaled = Scaler::of(&rows, 1);
            // A few roundings of the mean and of the products above; subnormal numbers have fewer digits.
            let tolerance = if scale < f64::MIN_POSITIVE { 1e-9 } else { 1e-14 };
            assert!((scaled.deviations[0] / scale / plain.deviations[0] - 1.0).abs() < tolerance, "{scale}");
        }
        let rows = [f64::MAX, -f64::MAX, f64::MAX];
        assert_eq!(Scaler::of(&rows, 1).overflow(), Some(0));
        assert_eq!(plain.overflow(), None);
    }

    #[test]
    fn a_constant_stays_constant_over_many_rows() {
        for value in [4.25, 0.1, -1e9 / 3.0, 1e-300] {
            let statistics = Scaler::of(&vec![value; 100_000], 1);
            assert_eq!(statistics.deviations, [0.0], "{value}");
            assert!((statistics.means[0] / value - 1.0).abs() < 1e-15);
        }
    }

    /// A normal sample keeps its scale with a fifth of its rows replaced; a column of mostly zeros is not
    /// constant.
    #[test]
    fn robust_statistics_withstand_outliers() {
        let normal = |i: usize| (i as f64 + 0.5) / 1_000.0;
        let spread = |u: f64| (u / (1.0 - u)).ln() * 0.551_328_895_421_792; // logistic, of deviation 1
        let mut rows: Vec<f64> = (0..1_000).flat_map(|i| [5.0 + 2.0 * spread(normal(i)), 0.0, 7.0]).collect();
        (0..1_000)
            .filter(|i| i % 10 == 0)
            .for_each(|i| rows[3 * i + 1] = if i % 20 == 0 { 3.0 } else { -3.0 });
        let clean = Scaler::robust(&rows, 3);
        assert!(
            (clean.means[0] - 5.0).abs() < 0.01 && (clean.deviations[0] / 2.0 - 0.9).abs() < 0.05,
            "{clean:?}"
        );
        assert_eq!((clean.means[1], clean.deviations[1], clean.deviations[2]), (0.0, 3.0, 0.0));
        (0..1_000).filter(|i| i % 5 == 0).for_each(|i| rows[3 * i] = 1e12);
        let hit = Scaler::robust(&rows, 3);
        assert!((hit.means[0] - 5.0).abs() < 1.0 && hit.deviations[0] < 4.0, "{hit:?}");
        assert!(Scaler::of(&rows, 3).deviations[0] > 1e11);
    }

    /// The tail is drawn in, the middle is not; clipped features have deviation 1, also where two values are
    /// all there is.
    #[test]
    fn a_heavy_tail_is_clipped() {
        let mut rows: Vec<f64> =
            (0..1_000).flat_map(|i| [f64::from(i % 100), f64::from(u8::from(i % 10 == 0)), 7.0]).collect();
        (rows[0], rows[3]) = (1e9, -1e300);
        let raw = rows.clone();
        let clipped = Scaler::clipped(&rows, 3, Weights::default());
        assert!(clipped.is_well_formed(3));
        clipped.apply(&mut rows);
        let own = Scaler::of(&rows, 3).deviations;
        assert!((own[0] - 1.0).abs() < 1e-12 && (own[1] - 1.0).abs() < 1e-12 && own[2] == 0.0, "{own:?}");
        let bound = clipped.bounds.as_ref().unwrap()[0];
        assert!(rows[0] <= bound && rows[0] > 0.999 * bound && rows[3] >= -bound && bound < 5.0, "{bound}");
        let (one, other) = (rows[3 * 49], rows[3 * 51]);
        assert!(((other - one) / (2.0 / clipped.deviations[0]) - 1.0).abs() < 0.01, "{one} {other}");
        clipped.undo(&mut rows);
        rows.iter().zip(&raw).skip(6).for_each(|(one, other)| assert!((one - other).abs() < 1e-9));
        assert!(rows[0] > 1e6 && rows[0].is_finite());
        // Scales of a metric multiply what is clipped.
        let (mut twice, mut row, mut scaled) = (clipped.clone(), [0.0; 3], [0.0; 3]);
        twice.rescale(&[2.0, 0.0, 1.0]);
        clipped.scale_row(&[120.0, 1.0, 7.0], &mut row);
        twice.scale_row(&[120.0, 1.0, 7.0], &mut scaled);
        assert!((scaled[0] - 2.0 * row[0]).abs() < 1e-12 && scaled[1] == 0.0 && twice.is_well_formed(3));
        clipped.scale_row(&[f64::INFINITY, f64::NAN, 7.0], &mut row);
        assert!(!row[0].is_finite() && row[1].is_nan());
    }

    #[test]
    fn powers_of_two() {
        let sizes = [0.0, 1.0, 1.99, 2.0, 0.3, f64::MIN_POSITIVE / 2.0];
        assert_eq!(sizes.map(power_of_two), [0.0, 1.0, 1.0, 2.0, 0.25, f64::MIN_POSITIVE]);
    }
}
