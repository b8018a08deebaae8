//! The bandwidth (lengthscale) σ of a kernel: a number, a multiple of the median distance, or
//! cross-validated.

use crate::error::{Cause, Error};
use crate::kernel::kind::KernelKind;
use dpp_nystrom_core::kernel::Argument;
use dpp_nystrom_host::rng::{RngStream, stream};
use rand::seq::index;
use std::fmt;
use std::str::FromStr;

/// The maximum number of rows in the sample for the median distance.
pub(crate) const MEDIAN_SAMPLE: usize = 1_000;

/// How σ is chosen.
///
/// ```
/// use dpp_nystrom::Sigma;
///
/// assert_eq!("median*4".parse(), Ok(Sigma::Median(4.0)));
/// assert_eq!("0.5".parse(), Ok(Sigma::Value(0.5)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Sigma {
    /// This value, in units of the standardised features.
    Value(f64),
    /// This multiple of the median pairwise distance in a sample of rows.
    Median(f64),
    /// Chosen by 10-fold cross-validation of ridge regression.
    CrossValidated,
}

impl FromStr for Sigma {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let positive =
            |text: &str| text.trim().parse().ok().filter(|value: &f64| *value > 0.0 && value.is_finite());
        let parsed = match text.trim() {
            "cv" => Some(Self::CrossValidated),
            "median" => Some(Self::Median(1.0)),
            other => match other.strip_prefix("median*") {
                Some(multiple) => positive(multiple).map(Self::Median),
                None => positive(other).map(Self::Value),
            },
        };
        parsed
            .ok_or_else(|| format!("invalid σ {text:?}: expected a positive number, median, median*F or cv"))
    }
}

impl fmt::Display for Sigma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Median(1.0) => f.write_str("median"),
            Self::Median(multiple) => write!(f, "median*{multiple}"),
            Self::CrossValidated => f.write_str("cv"),
        }
    }
}

/// Return the median pairwise distance of up to 1,000 rows drawn at random, in the kernel's distance. Where
/// it is zero, as with a few columns of words, pairs of equal rows do not count.
///
/// # Errors
/// `ErrorKind::Data` if all of these rows are equal.
///
/// ```
/// use dpp_nystrom::kernel::{KernelKind, median_distance};
///
/// let rows = [0.0, 0.0, 3.0, 4.0, 6.0, 8.0]; // distances 5, 5 and 10
/// assert_eq!(median_distance(&rows, 2, KernelKind::Gaussian, 0)?, 5.0);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn median_distance(rows: &[f64], dim: usize, kernel: KernelKind, seed: u64) -> Result<f64, Error> {
    let count = rows.len().checked_div(dim).unwrap_or(0);
    let mut random = stream(seed, RngStream::Bandwidth);
    let sample = index::sample(&mut random, count, count.min(MEDIAN_SAMPLE)).into_vec();
    let row = |at: usize| &rows[at * dim..(at + 1) * dim];
    let mut distances = Vec::with_capacity(sample.len() * sample.len().saturating_sub(1) / 2);
    for (at, &one) in sample.iter().enumerate() {
        for &other in &sample[..at] {
            distances.push(distance(kernel, row(one), row(other)));
        }
    }
    if let Some(median) = middle(&mut distances).filter(|&median| median > 0.0) {
        return Ok(median);
    }
    distances.retain(|&distance| distance > 0.0);
    middle(&mut distances).ok_or(Error(Cause::MedianZero))
}

/// Return the upper median.
fn middle(values: &mut [f64]) -> Option<f64> {
    let at = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(at, f64::total_cmp).1)
}

/// Return the distance of two rows of which the kernel is a function.
pub(crate) fn distance(kernel: KernelKind, x: &[f64], y: &[f64]) -> f64 {
    let differences = x.iter().zip(y).map(|(x, y)| x - y);
    match kernel.about().argument {
        Argument::L1Distance => differences.map(f64::abs).sum(),
        _ => differences.map(|difference| difference * difference).sum::<f64>().sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Sigma, median_distance};
    use crate::error::{Cause, Error};
    use crate::kernel::kind::KernelKind;

    #[test]
    fn what_is_no_bandwidth_is_refused() {
        for text in ["0", "-1", "nan", "inf", "median*0", "median*", "medians", ""] {
            assert!(text.parse::<Sigma>().is_err(), "{text}");
        }
        for text in ["cv", "median", "median*4", "0.25"] {
            assert_eq!(text.parse::<Sigma>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn equal_rows_count_where_they_are_few() {
        let median = |rows: &[f64]| median_distance(rows, 1, KernelKind::Gaussian, 0).ok();
        assert_eq!(median(&[0.0, 0.0, 1.0, 3.0]), Some(2.0));
        // Of 15 pairs ten are of equal rows, and five have the distance 7.
        assert_eq!(median(&[0.0, 0.0, 0.0, 0.0, 0.0, 7.0]), Some(7.0));
        assert_eq!(median(&[4.0]), None);
    }

    #[test]
    fn the_median_of_three_points() {
        // Euclidean distances 5, 10 and 5; L1 distances 7, 14 and 7.
        let rows = [0.0, 0.0, 3.0, 4.0, 6.0, 8.0];
        assert_eq!(median_distance(&rows, 2, KernelKind::Gaussian, 0).unwrap(), 5.0);
        assert_eq!(median_distance(&rows, 2, KernelKind::Laplace, 0).unwrap(), 7.0);
        assert!(matches!(
            median_distance(&[1.0; 8], 2, KernelKind::Gaussian, 0),
            Err(Error(Cause::MedianZero))
        ));
    }
}
