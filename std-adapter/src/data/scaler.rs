//! Standardisation: features with mean 0 and standard deviation 1.
//!
//! The statistics are those of the training rows, and a model stores them. The standard deviation divides by `n`.
//! A constant feature carries no information and is set to zero. A learned [`Map`] of the standardised features may follow.

use crate::data::map::Map;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows per task.
const BLOCK: usize = 4_096;

/// A relative spread below this is rounding error: the feature is constant.
const CONSTANT: f64 = 1e-13;

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
    /// What standardised rows are multiplied by. Serialisation leaves it out: files and messages have it in a section of its
    /// own.
    #[serde(skip)]
    pub map: Option<Map>,
}

impl Scaler {
    /// Compute the statistics of rows of `dim` features.
    pub fn of(rows: &[f64], dim: usize) -> Self {
        let count = rows.len().checked_div(dim).unwrap_or(0).max(1) as f64;
        let mut means = vec![0.0; dim];
        for row in rows.chunks_exact(dim.max(1)) {
            for (mean, value) in means.iter_mut().zip(row) {
                *mean += value / count;
            }
        }
        // The sum above is rounded once per row, so that over many rows a constant would seem to vary.
        let mut rest = vec![0.0; dim];
        // Scale first: squares of very large or very small differences overflow or underflow.
        let mut scales = vec![0.0_f64; dim];
        for row in rows.chunks_exact(dim.max(1)) {
            for (((scale, rest), value), mean) in scales.iter_mut().zip(&mut rest).zip(row).zip(&means) {
                *scale = scale.max((value - mean).abs());
                *rest += (value - mean) / count;
            }
        }
        means.iter_mut().zip(&rest).for_each(|(mean, rest)| *mean += rest);
        scales.iter_mut().for_each(|scale| *scale = power_of_two(*scale));
        let mut deviations = vec![0.0; dim];
        for row in rows.chunks_exact(dim.max(1)) {
            for (((square, value), mean), scale) in deviations.iter_mut().zip(row).zip(&means).zip(&scales) {
                *square += ((value - mean) / scale).powi(2) / count;
            }
        }
        for ((deviation, mean), scale) in deviations.iter_mut().zip(&means).zip(&scales) {
            let spread = deviation.sqrt() * scale;
            *deviation = if *scale == 0.0 { 0.0 } else { Self::or_constant(spread, *mean) };
        }
        Self { means, deviations, map: None }
    }

    /// The scaler that changes nothing, for `features` features.
    pub fn identity(features: usize) -> Self {
        Self { means: vec![0.0; features], deviations: vec![1.0; features], map: None }
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
                        self.apply_row(row, scaled);
                    }
                },
            );
            *rows = scaled;
            return;
        }
        rows.par_chunks_mut(features * BLOCK).for_each(|rows| {
            for row in rows.chunks_exact_mut(features) {
                for ((value, mean), deviation) in row.iter_mut().zip(&self.means).zip(&self.deviations) {
                    *value = standardised(*value, *mean, *deviation);
                }
            }
        });
    }

    /// Undo the standardisation in place; a constant feature becomes its constant again. The rows must not be mapped.
    pub fn undo(&self, rows: &mut [f64]) {
        for row in rows.chunks_exact_mut(self.means.len().max(1)) {
            for ((value, mean), deviation) in row.iter_mut().zip(&self.means).zip(&self.deviations) {
                *value = mean + deviation * *value;
            }
        }
    }

    /// Standardise and map one row: to [`width`](Self::width) numbers.
    pub fn apply_row(&self, raw: &[f64], scaled: &mut [f64]) {
        let columns = raw.iter().zip(&self.means).zip(&self.deviations);
        let standard = columns.map(|((value, mean), deviation)| standardised(*value, *mean, *deviation));
        match &self.map {
            Some(map) => map.apply(standard, scaled),
            None => scaled.iter_mut().zip(standard).for_each(|(slot, value)| *slot = value),
        }
    }
}

fn standardised(value: f64, mean: f64, deviation: f64) -> f64 {
    if deviation > 0.0 { (value - mean) / deviation } else { 0.0 }
}

/// Return the largest power of two at or below a positive number, so that scaling by it is exact; 0 for 0 and
/// for subnormal numbers.
pub(crate) fn power_of_two(size: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    f64::from_bits(size.to_bits() & EXPONENT)
}

#[cfg(test)]
mod tests {
    use super::{Scaler, power_of_two};

    #[test]
    fn statistics_scale_with_the_rows() {
        let rows = [1.0, 4.0, -2.0, 7.0, 3.5];
        let plain = Scaler::of(&rows, 1);
        for scale in [1e300, 1e180, 1e-180, 1e-290] {
            let rows = rows.map(|value| value * scale);
            let scaled = Scaler::of(&rows, 1);
            // A few roundings of the mean and of the products above.
            assert!((scaled.deviations[0] / scale / plain.deviations[0] - 1.0).abs() < 1e-14, "{scale}");
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

    #[test]
    fn powers_of_two() {
        let sizes = [0.0, 1.0, 1.99, 2.0, 0.3, f64::MIN_POSITIVE / 2.0];
        assert_eq!(sizes.map(power_of_two), [0.0, 1.0, 1.0, 2.0, 0.25, 0.0]);
    }
}
