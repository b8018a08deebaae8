//! Means and ranges over seeds, and the keys to group by.

use serde::Serialize;

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
}

impl Interval {
    /// Return the mean of independent values.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        Self::effective(&values, Some(values.len() as f64))
    }

    /// Return the mean of values that are worth so many independent ones; without that number, the error is
    /// NaN.
    pub(crate) fn effective(values: &[f64], number: Option<f64>) -> Self {
        Self {
            mean: mean(values.iter().copied()).unwrap_or(f64::NAN),
            error: number.map_or(f64::NAN, |number| (variance(values) / number).sqrt()),
        }
    }
}

/// Return the mean of the values present.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

/// Return the minimum, mean and maximum of the values present.
pub fn summary(values: &[f64]) -> Option<[f64; 3]> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    mean(values.iter().copied()).map(|mean| [least, mean, most])
}

/// Return each value once, in the order of first appearance.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut all, value| {
        if !all.contains(&value) {
            all.push(value);
        }
        all
    })
}

/// Return the sample variance, with divisor `m - 1`.
fn variance(values: &[f64]) -> f64 {
    let middle = mean(values.iter().copied()).unwrap_or(f64::NAN);
    values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}
