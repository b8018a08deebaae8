//! Learned metrics and numbers of landmarks of the last fits, for fits to the same rows.

use crate::data::prepared::Prepared;
use crate::error::Error;
use crate::kernel::{metric::Metric, spec::KernelSpec};
use crate::metric::learn::{LearnedMetric, OtherScales};
use crate::metric::number::Grown;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Numbers in the rows of a fit of which something is kept, and fits of which it is.
const MOST_NUMBERS: usize = 1 << 16;
const MOST_KEPT: usize = 32;

/// What a learned metric depends on. The ridge is not part of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Learning<'a> {
    pub(crate) rows: Cow<'a, Prepared>,
    pub(crate) start: (KernelSpec, bool),
    pub(crate) metric: Metric,
    pub(crate) landmarks: (usize, bool),
    pub(crate) seed: u64,
}

/// What a number of landmarks depends on, besides the targets of the rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Comparing<'a> {
    pub(crate) rows: Cow<'a, Prepared>,
    /// The other metrics, of the same rows.
    pub(crate) others: Vec<OtherScales>,
    pub(crate) start: (KernelSpec, bool),
    pub(crate) from: usize,
    pub(crate) seed: u64,
}

/// Learned metrics and compared numbers of landmarks of the last 32 fits to rows of at most 65,536 numbers,
/// with these rows: up to 32 MiB. A fit to the same rows with the same kernel, landmarks and seed takes both
/// from here, whatever its ridge: a cross-validation of ridges learns a metric once a fold. The result is the
/// same, bit for bit.
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
pub struct Metrics {
    learned: Kept<Learning<'static>, LearnedMetric>,
    numbers: Kept<Comparing<'static>, Option<Grown>>,
}

/// Results by what they depend on, the newest first.
#[derive(Debug)]
struct Kept<K, V>(Mutex<VecDeque<(K, V)>>);

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, V: Clone> Kept<K, V> {
    const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// Return what is kept, or make it and keep it by its key, if there is one.
    fn get_or(
        &self,
        is_of: impl Fn(&K) -> bool,
        make: impl FnOnce() -> Result<V, Error>,
        key: impl FnOnce() -> Option<K>,
    ) -> Result<V, Error> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = known().iter().find(|(own, _)| is_of(own)) {
            return Ok(made.clone());
        }
        let made = make()?;
        if let Some(key) = key() {
            let mut known = known();
            known.truncate(MOST_KEPT - 1);
            known.push_front((key, made.clone()));
        }
        Ok(made)
    }
}

/// Return the rows to keep, if they are few enough.
fn few(rows: &Prepared) -> Option<Cow<'static, Prepared>> {
    (rows.rows.len() <= MOST_NUMBERS).then(|| Cow::Owned(rows.clone()))
}

impl Metrics {
    /// Begin without any.
    pub const fn new() -> Self {
        Self { learned: Kept::new(), numbers: Kept::new() }
    }

    /// Return the metric of the same rows, or learn it and keep it.
    pub(crate) fn get_or(
        &self,
        learning: &Learning<'_>,
        learn: impl FnOnce() -> Result<LearnedMetric, Error>,
    ) -> Result<LearnedMetric, Error> {
        let key = || Some(Learning { rows: few(&learning.rows)?, ..*learning });
        self.learned.get_or(|own| own == learning, learn, key)
    }

    /// Return the number of landmarks of the same rows, or compare some and keep it.
    pub(crate) fn number_or(
        &self,
        comparing: &Comparing<'_>,
        compare: impl FnOnce() -> Result<Option<Grown>, Error>,
    ) -> Result<Option<Grown>, Error> {
        let key = || Some(Comparing { rows: few(&comparing.rows)?, ..comparing.clone() });
        self.numbers.get_or(|own| own == comparing, compare, key)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_KEPT, Metrics};
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
        let len = || metrics.learned.0.lock().expect("no panic").len();
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
        let chosen = |ridge, metrics| {
            let data = Dataset::from_rows(&x, 2).and_then(|data| data.with_target(&y)).expect("rows");
            let source = data.source(Scale::Standard).expect("rows");
            let params = Params { ridge, metrics, ..Params::default() };
            let outcome = fit(source.as_rows(), &params, None, &NoObserver).expect("a fit");
            (outcome.selected.number, outcome.fitted.model.to_bytes().expect("bytes"))
        };
        let other = Metrics::new();
        for ridge in [Ridge::CrossValidated, Ridge::Value(1e-3)] {
            let shared = chosen(ridge, Some(&other));
            assert!(shared.0.is_some() && shared == chosen(ridge, None));
            assert_eq!(other.numbers.0.lock().expect("no panic").len(), 1);
        }
        for seed in 0..MOST_KEPT as u64 + 3 {
            let own = metrics.learned.0.lock().expect("no panic").front().cloned().expect("one");
            let learning = super::Learning { seed: 100 + seed, ..own.0 };
            metrics.get_or(&learning, || Ok(own.1)).expect("a metric");
        }
        assert_eq!(len(), MOST_KEPT);
    }
}
