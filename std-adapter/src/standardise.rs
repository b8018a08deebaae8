//! Features with mean 0 and standard deviation 1.
//!
//! The statistics are of the rows that a model learns from, and the model carries them. The
//! deviation divides by `n`. A feature that is constant says nothing: it is left at zero.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A feature that varies by less than this share of its size varies by rounding.
const CONSTANT: f64 = 1e-13;

/// Mean and standard deviation of each feature.
///
/// ```
/// use dpp_nystrom::Standardisation;
///
/// let mut rows = [1.0, 7.0, 3.0, 7.0];
/// let statistics = Standardisation::of(&rows, 2);
/// statistics.apply(&mut rows);
/// assert_eq!(rows, [-1.0, 0.0, 1.0, 0.0]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standardisation {
    /// The features' means.
    pub means: Vec<f64>,
    /// Their standard deviations; 0 for a constant feature.
    pub deviations: Vec<f64>,
}

impl Standardisation {
    /// The statistics of rows of `width` features.
    pub fn of(rows: &[f64], width: usize) -> Self {
        let count = rows.len().checked_div(width).unwrap_or(0).max(1) as f64;
        let mut means = vec![0.0; width];
        for row in rows.chunks_exact(width.max(1)) {
            for (mean, value) in means.iter_mut().zip(row) {
                *mean += value / count;
            }
        }
        let mut deviations = vec![0.0; width];
        for row in rows.chunks_exact(width.max(1)) {
            for ((square, value), mean) in deviations.iter_mut().zip(row).zip(&means) {
                *square += (value - mean).powi(2) / count;
            }
        }
        for (deviation, mean) in deviations.iter_mut().zip(&means) {
            *deviation = deviation.sqrt();
            if *deviation <= CONSTANT * mean.abs() {
                *deviation = 0.0;
            }
        }
        Self { means, deviations }
    }

    /// Standardises rows in place.
    pub fn apply(&self, rows: &mut [f64]) {
        rows.par_chunks_mut(self.means.len().max(1) * 4_096).for_each(|rows| {
            for row in rows.chunks_exact_mut(self.means.len().max(1)) {
                self.apply_row(row);
            }
        });
    }

    /// Standardises one row in place.
    pub fn apply_row(&self, row: &mut [f64]) {
        for ((value, mean), deviation) in row.iter_mut().zip(&self.means).zip(&self.deviations) {
            *value = if *deviation > 0.0 { (*value - mean) / deviation } else { 0.0 };
        }
    }
}
