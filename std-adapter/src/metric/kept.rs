//! Learned metrics of the last fits, for fits to the same rows.

use crate::data::prepared::Prepared;
use crate::error::Error;
use crate::kernel::{metric::Metric, spec::KernelSpec};
use crate::metric::learn::LearnedMetric;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Numbers in the rows of a fit whose metric is kept, and metrics that are kept.
const MOST_NUMBERS: usize = 1 << 16;
const MOST_METRICS: usize = 32;

/// What a learned metric depends on. The ridge is not part of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Learning<'a> {
    pub(crate) rows: Cow<'a, Prepared>,
    pub(crate) start: (KernelSpec, bool),
    pub(crate) metric: Metric,
    pub(crate) landmarks: (usize, bool),
    pub(crate) seed: u64,
}

/// Learned metrics of the last 32 fits to rows of at most 65,536 numbers, with these rows: up to 16 MiB. A
/// fit to the same rows with the same kernel, landmarks and seed takes its metric from here, whatever its
/// ridge: a cross-validation of ridges learns it once a fold. The result is the same, bit for bit.
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Metrics, Params, fit};
/// use dpp_nystrom::{Dataset, Ridge, Scale, observer::NoObserver};
///
/// let x: Vec<f64> = (0..240).flat_map(|row| [f64::from(row % 20) / 2.0, f64::from(row / 20)]).collect();
/// let y: Vec<f64> = x.chunks(2).map(|row| row[0].sin()).collect();
/// let data = Dataset::from_rows(&x, 2)?.with_target(&y)?;
/// let (source, metrics) = (data.source(Scale::Standard)?, Metrics::new());
/// for ridge in [1e-6, 1e-3] {
///     let (metrics, ridge) = (Some(&metrics), Ridge::Value(ridge));
///     let params = Params { landmarks: Landmarks::Count(20), ridge, metrics, ..Params::default() };
///     fit(source.as_rows(), &params, None, &NoObserver)?; // learns the metric once
/// }
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Metrics(Mutex<VecDeque<(Learning<'static>, LearnedMetric)>>);

impl Metrics {
    /// Begin without any.
    pub const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// Return the metric of the same rows, or learn it and keep it.
    pub(crate) fn get_or(
        &self,
        learning: &Learning<'_>,
        learn: impl FnOnce() -> Result<LearnedMetric, Error>,
    ) -> Result<LearnedMetric, Error> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, learned)) = known().iter().find(|(own, _)| own == learning) {
            return Ok(learned.clone());
        }
        let learned = learn()?;
        if learning.rows.rows.len() <= MOST_NUMBERS {
            let rows = Cow::Owned(learning.rows.clone().into_owned());
            let mut known = known();
            known.truncate(MOST_METRICS - 1);
            known.push_front((Learning { rows, ..learning.clone() }, learned.clone()));
        }
        Ok(learned)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_METRICS, Metrics};
    use crate::data::{dataset::Dataset, scaler::Scale};
    use crate::observer::NoObserver;
    use crate::pipeline::{Landmarks, Params, fit};
    use crate::regression::ridge::Ridge;

    #[test]
    fn fits_to_the_same_rows_share_a_metric_and_no_others_do() {
        let x: Vec<f64> = (0..240).flat_map(|row| [f64::from(row % 20) / 2.0, f64::from(row / 20)]).collect();
        let y: Vec<f64> = x.chunks(2).map(|row| row[0].sin() + 0.1 * row[1]).collect();
        let other: Vec<f64> = y.iter().map(|y| y * y).collect();
        let metrics = Metrics::new();
        let len = || metrics.0.lock().expect("no panic").len();
        let model = |y: &[f64], ridge, seed, metrics| {
            let data = Dataset::from_rows(&x, 2).and_then(|data| data.with_target(y)).expect("rows");
            let source = data.source(Scale::Standard).expect("rows");
            let params =
                Params { landmarks: Landmarks::Count(20), ridge, seed, metrics, ..Params::default() };
            let outcome = fit(source.as_rows(), &params, None, &NoObserver).expect("a fit");
            outcome.fitted.model.to_bytes().expect("bytes")
        };
        for (y, seed, kept) in [(&y, 0, 1), (&y, 1, 2), (&other, 1, 3)] {
            for ridge in [Ridge::CrossValidated, Ridge::Value(1e-3)] {
                let shared = model(y, ridge, seed, Some(&metrics));
                assert_eq!((shared, len()), (model(y, ridge, seed, None), kept));
            }
        }
        for seed in 0..MOST_METRICS as u64 + 3 {
            let own = metrics.0.lock().expect("no panic").front().cloned().expect("one");
            let learning = super::Learning { seed: 100 + seed, ..own.0 };
            metrics.get_or(&learning, || Ok(own.1)).expect("a metric");
        }
        assert_eq!(len(), MOST_METRICS);
    }
}
