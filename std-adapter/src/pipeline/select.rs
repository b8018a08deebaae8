//! The first half of a pipeline: metric, bandwidth and landmarks.

use crate::approximation::{curve::CurvePoint, gram::Gram, ground::AnyGround, landmark_set::LandmarkSet};
use crate::data::{columns::RowSlices, prepared::Prepared, source::Order, source::RowSource};
use crate::error::{Cause, Error};
use crate::kernel::{
    bandwidth::Sigma, metric::Metric, params::KernelParams, params::Kinds, precision::Precision,
    spec::KernelSpec,
};
use crate::landmarks::{
    chain::select_with, methods::exchanged::exchange, procedure::InPlace, selection::Selection,
    selector::RowAccess, selector::Task, selector::run, tolerance::Criterion, tolerance::fewest,
};
use crate::metric::{
    Comparing, Grown, LearnedMetric, Learning, NumberOfLandmarks, Others, learn_metric, number_of_landmarks,
};
use crate::observer::Observer;
use crate::pipeline::params::{Landmarks, Params, usual};
use crate::pipeline::trace::{MeasuredError, trace_error};
use crate::regression::{
    distributed::FitSpec, fit::unweighted, fit::validation_error, ridge::Ridge, rows::split::LeftOut,
    sigma_search::ChosenBandwidth, sigma_search::Search, sigma_search::choose_bandwidth,
    sigma_search::without_validation,
};
use dpp_nystrom_core::Points;
use dpp_nystrom_host::simd::{InLanes, widened::Widened};
use std::borrow::Cow;
use std::time::Instant;

/// Selected landmarks and the resolved parameters.
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Params, select};
/// use dpp_nystrom::{Dataset, Scale, kernel::KernelParams, observer::NoObserver};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// let source = data.source(Scale::Standard)?;
/// let params = Params { landmarks: Landmarks::Count(8), kernel: KernelParams::default(), ..Params::default() };
/// let selected = select(source.as_rows(), &params, &NoObserver)?;
/// assert!(selected.kernel.sigma > 0.0 && !selected.sigma_at_edge); // the median distance
/// assert!(selected.trace_error(0)?.of_all.fraction < 0.01);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Selected<'s> {
    pub(super) source: &'s dyn RowSource,
    /// The rows used, if they were read into memory.
    pub(super) memory: Option<Cow<'s, Prepared>>,
    /// The kernel with its bandwidth.
    pub kernel: KernelSpec,
    /// The metric, if one was learned: the rows of [`source`](Self::source) are in it.
    pub metric: Option<LearnedMetric>,
    /// Whether a cross-validated bandwidth is at an end of its grid.
    pub sigma_at_edge: bool,
    /// Duration of the learning of the metric in seconds: 0 for one bandwidth.
    pub metric_seconds: f64,
    /// The precision.
    pub precision: Precision,
    /// The landmarks: rows of [`source`](Self::source), or points.
    pub selection: Selection,
    /// The sample that landmarks were selected from; `None` if they were selected from all rows.
    pub sample: Option<Cow<'s, Prepared>>,
    /// The errors by number of landmarks, if the number was chosen by a tolerance.
    pub curve: Option<Vec<CurvePoint>>,
    /// The number of landmarks, if it was chosen by rows held out.
    pub number: Option<NumberOfLandmarks>,
}

impl Selected<'_> {
    /// Return the rows used: the source itself, or its rows read into memory.
    pub fn source(&self) -> &dyn RowSource {
        match &self.memory {
            Some(rows) => rows.as_ref(),
            None => self.source,
        }
    }

    /// Specify the regression on the landmarks, for rows that are accumulated where they are. For classes it
    /// is that of the least squares of their indicators.
    ///
    /// # Errors
    /// `ErrorKind::Data` for no target or a constant one; `ErrorKind::Unsupported` for several targets and
    /// for rows with weights; those of the source.
    pub fn fit_spec(&self, ridge: Ridge, seed: u64) -> Result<FitSpec, Error> {
        unweighted(self.source(), "a fit in batches")?;
        FitSpec::of(self.source().columns(), self.features()?, self.kernel, ridge, seed)
    }

    /// Return the scaled features of the landmarks.
    fn features(&self) -> Result<Vec<f64>, Error> {
        match &self.sample {
            // Without slices, rows are numbered as in the sample.
            Some(sample) if self.source().slices().is_none() => {
                self.selection.landmarks.features(sample.as_ref())
            }
            _ => self.selection.landmarks.features(self.source()),
        }
    }

    /// Return the rows that a learned metric was chosen by.
    pub(super) fn judged(&self) -> Option<&[usize]> {
        self.metric.as_ref().filter(|learned| learned.metric != Metric::One)?.held_out.as_deref()
    }

    /// Return the landmarks, rows of [`source`](Self::source), in the order of selection, with the gain of
    /// each ([`Choice::gain`](crate::landmarks::Choice::gain)). Those that a method selected all at once are
    /// in the order of greedily pivoted Cholesky: the row that the rows before it explain least is next.
    /// Empty for points. `O(c³)`.
    ///
    /// # Errors
    /// `ErrorKind::Memory`; those of the source.
    pub fn in_order(&self) -> Result<Vec<(usize, f64)>, Error> {
        let Some(rows) = self.selection.landmarks.rows() else { return Ok(Vec::new()) };
        let features = self.features()?;
        let points = Points::new(&features, self.source().width(), self.kernel.build()?)?;
        let order = self.selection.ordered(&AnyGround::Points(points))?;
        Ok(order.into_iter().map(|choice| (rows[choice.position], choice.gain)).collect())
    }

    /// Measure the trace error of the landmarks.
    ///
    /// # Errors
    /// Those of [`trace_error`].
    pub fn trace_error(&self, seed: u64) -> Result<MeasuredError, Error> {
        trace_error(self.source(), &self.selection.landmarks, self.kernel, seed)
    }
}

/// Choose the bandwidth and select landmarks.
///
/// A bandwidth is cross-validated for a regression on all rows and on the landmarks that are then selected:
/// this selects landmarks four times and fits four regressions, and takes some 2 · 10⁹ multiply-adds more
/// ([`SIGMA_GRID`](crate::regression::SIGMA_GRID)). A bandwidth with too few independent rows for the
/// landmarks is not chosen. With a tolerance it is chosen for 100 landmarks drawn uniformly.
///
/// A selector that works in place reads rows where they are stored. For others the rows are read into memory,
/// or a sample of them if the selector accepts one. So they are for a [`Metric`] that is learned, and the
/// rows of [`source`](Selected::source) are then scaled or mapped by it.
///
/// # Errors
/// `ErrorKind::Unsupported` for more rows than fit; errors of the bandwidth, the metric, the selector and the
/// source; `ErrorKind::Cancelled`.
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Params, select};
/// use dpp_nystrom::{Dataset, ErrorKind, Scale, kernel::KernelParams, observer::NoObserver};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// let source = data.source(Scale::Standard)?;
/// let params = |landmarks| Params { landmarks, kernel: KernelParams::default(), ..Params::default() };
/// let selected = select(source.as_rows(), &params(Landmarks::Count(8)), &NoObserver)?;
/// assert_eq!(selected.selection.landmarks.rows().map(<[usize]>::len), Some(8));
/// let refused = select(source.as_rows(), &params(Landmarks::Count(101)), &NoObserver).unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::Landmarks); // more than rows
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn select<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    observer: &dyn Observer,
) -> Result<Selected<'s>, Error> {
    params.settled(source, |params| select_among(source, params, None, observer))
}

/// [`select`], where all that is chosen by targets is chosen by the rows that are not left out. The usual
/// number of landmarks grows as long as that pays, if the rows are in memory.
pub(super) fn select_among<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    left_out: Option<&LeftOut>,
    observer: &dyn Observer,
) -> Result<Selected<'s>, Error> {
    source.check()?;
    let begin = Instant::now();
    let any_kind = params.kernel.kinds == Kinds::Any;
    let InMetric { mut memory, unscaled, mut learned, reason, mut params } =
        in_metric(source, params, left_out, observer)?;
    let metric_seconds = if learned.is_some() { begin.elapsed().as_secs_f64() } else { 0.0 };
    let grown = match &memory {
        Some(rows) if params.landmarks == Landmarks::Usual => {
            let scales = learned.as_ref().map(|learned| &learned.others[..]);
            let others = unscaled.as_deref().zip(scales).map(|(rows, scales)| Others { rows, scales });
            grown((rows, others), (&params, any_kind), left_out, observer)?
        }
        _ => None,
    };
    if let Some(other) = grown.as_ref().and_then(|grown| grown.other) {
        let other = learned.as_mut().and_then(|learned| learned.others.drain(..).nth(other));
        let (Some(rows), Some(metric), Some(other)) = (unscaled, learned.take(), other) else {
            debug_assert!(false, "another metric was compared that is not there");
            return Err(Error(Cause::Metric { problem: "another one was compared that is not there" }));
        };
        memory = Some(Cow::Owned(rows.into_owned().rescaled(&other.scales)));
        learned = Some(metric.with_scales(other.scales));
    }
    if let Some(Grown { number, kernel, .. }) = &grown {
        params.landmarks = Landmarks::Count(number.count);
        params.kernel.kind = kernel.kind;
        params.kernel.sigma = Sigma::Value(kernel.sigma);
    } else if params.landmarks == Landmarks::Usual {
        params.landmarks = Landmarks::Count(usual(source.len()));
    }
    // The bandwidth and the landmarks see no targets where they are as without a learned metric.
    let is_learned = learned.as_ref().is_some_and(|learned| learned.metric != Metric::One);
    let left_out = left_out.filter(|_| is_learned || chooses_by_targets(&params));
    let points = learned.as_ref().and_then(|learned| learned.landmarks.as_deref());
    let selected = select_from(source, memory, &params, (points, left_out), observer)?;
    let one = |reason| LearnedMetric::one(source.width(), selected.kernel, reason);
    let (number, compared) = match grown {
        Some(Grown { number, kinds, .. }) => (Some(number), kinds),
        None => (None, Vec::new()),
    };
    let metric = match learned {
        // The number of landmarks has narrowed it, and may have changed it.
        Some(learned) => {
            let kinds = if compared.is_empty() { learned.kinds } else { compared };
            Some(LearnedMetric { kernel: selected.kernel, kinds, ..learned })
        }
        None => reason.map(one),
    };
    Ok(Selected { metric, metric_seconds, number, ..selected })
}

/// Rows in the metric of a fit, if they are in memory.
struct InMetric<'s, 'a> {
    memory: Option<Cow<'s, Prepared>>,
    /// The rows before the metric, if [others](LearnedMetric::others) may take its place.
    unscaled: Option<Cow<'s, Prepared>>,
    learned: Option<LearnedMetric>,
    /// Why none was learned where one might have been.
    reason: Option<&'static str>,
    /// Those of a fit in this metric.
    params: Params<'a>,
}

/// Learn the metric that the parameters ask for, if the rows allow for it.
fn in_metric<'s, 'a>(
    source: &'s dyn RowSource,
    params: &Params<'a>,
    left_out: Option<&LeftOut>,
    observer: &dyn Observer,
) -> Result<InMetric<'s, 'a>, Error> {
    let memory = |params: &Params<'_>| match (source.as_prepared(), in_memory(source, params)) {
        (Some(rows), _) => Ok(Some(Cow::Borrowed(rows))),
        (None, Some(what)) => source.in_memory(&what, params.seed).map(Some),
        (None, None) => Ok(None),
    };
    let metric = params.kernel.metric;
    let free = matches!(params.landmarks, Landmarks::Free(_));
    if metric == Metric::One && !free && params.kernel.kinds != Kinds::Any {
        let params = params.clone();
        let memory = memory(&params)?;
        return Ok(InMetric { memory, unscaled: None, learned: None, reason: None, params });
    }
    let too_large = || Error(Cause::InMemory { what: LEARNED_METRIC.to_owned(), rows: source.len() });
    let rows = memory(params).and_then(|rows| rows.ok_or_else(too_large)).map_err(|error| match error {
        Error(Cause::InMemory { rows, .. }) if !free => Error(Cause::MetricOfStore { rows }),
        error => error,
    });
    let reason = match (&params.landmarks, &rows) {
        (Landmarks::Free(_), _) => None,
        (Landmarks::Within(_), _) => Some("the number of landmarks is left open"),
        (_, Err(Error(Cause::MetricOfStore { .. }))) => Some("a store of more than 2^24 values"),
        _ => None,
    };
    if let (Metric::Auto, Some(_)) = (metric, reason) {
        let params = Params { kernel: params.kernel.with_metric(Metric::One), ..params.clone() };
        let memory = memory(&params)?;
        return Ok(InMetric { memory, unscaled: None, learned: None, reason, params });
    }
    let (learned, rows, kernel) = learned_metric(rows?, params, left_out, observer)?;
    let params = Params { kernel, ..params.clone() };
    let is_open = params.landmarks == Landmarks::Usual && !learned.others.is_empty();
    let unscaled = is_open.then(|| rows.clone());
    let memory = Some(match (&learned.map, learned.metric) {
        (None, Metric::One) => rows,
        (None, _) => Cow::Owned(rows.into_owned().rescaled(&learned.scales)),
        (Some(map), _) => Cow::Owned(rows.into_owned().mapped(map.clone())),
    });
    Ok(InMetric { memory, unscaled, learned: Some(learned), reason: None, params })
}

/// Choose the number of landmarks by the rows that are not left out, and the kernel that goes with it; `None`
/// where nothing is compared.
fn grown(
    (rows, others): (&Prepared, Option<Others<'_>>),
    (params, any_kind): (&Params<'_>, bool),
    left_out: Option<&LeftOut>,
    observer: &dyn Observer,
) -> Result<Option<Grown>, Error> {
    let KernelParams { kind, sigma, .. } = params.kernel;
    let is_given = params.selector.fixed().is_some();
    let Some(sigma) = without_validation(sigma, kind, rows, params.seed)?
        .filter(|_| kind.has_bandwidth() && !is_given && rows.target.is_some())
    else {
        return Ok(None);
    };
    let seen =
        |rows: &Prepared| left_out.map(|left_out| RowSource::gather(rows, &left_out.seen())).transpose();
    let (of_rows, of_others) = (seen(rows)?, others.map(|others| seen(others.rows)).transpose()?.flatten());
    let (rows, from) = (of_rows.as_ref().unwrap_or(rows), usual(rows.len()));
    let others = others.map(|others| Others { rows: of_others.as_ref().unwrap_or(others.rows), ..others });
    let (start, seed) = ((KernelSpec { kind, sigma }, any_kind), params.seed);
    let compare = || number_of_landmarks((rows, others), start, from, seed, observer);
    match params.metrics {
        Some(known) => {
            let others = others.map_or_else(Vec::new, |others| others.scales.to_vec());
            known.number_or(&Comparing { rows: Cow::Borrowed(rows), others, start, from, seed }, compare)
        }
        None => compare(),
    }
}

/// Learn the metric that the parameters ask for. Return it, the rows as they were, and the kernel of a fit to
/// the rows in it.
fn learned_metric<'s>(
    rows: Cow<'s, Prepared>,
    params: &Params<'_>,
    left_out: Option<&LeftOut>,
    observer: &dyn Observer,
) -> Result<(LearnedMetric, Cow<'s, Prepared>, KernelParams), Error> {
    let (count, free) = match &params.landmarks {
        Landmarks::Count(count) => (*count, false),
        Landmarks::Free(count) => (*count, true),
        Landmarks::Rows(of_rows) => (of_rows.len(), false),
        Landmarks::Usual => (usual(rows.len()), false),
        Landmarks::Within(_) => {
            return Err(Error(Cause::Metric {
                problem: "it is learned for a number of landmarks, and a tolerance leaves that open; give the number",
            }));
        }
    };
    if rows.statistics.map.is_some() {
        return Err(Error(Cause::Metric {
            problem: "the rows are mapped already; give the rows before the map",
        }));
    }
    let KernelParams { kind, sigma, metric, kinds } = params.kernel;
    // A metric is learned from any start; the bandwidth is then cross-validated in their metric.
    let from = if sigma == Sigma::CrossValidated { Sigma::Median(1.0) } else { sigma };
    let seen = left_out.map(LeftOut::seen);
    let learning = seen.as_ref().map(|seen| RowSource::gather(rows.as_ref(), seen)).transpose()?;
    let learning = learning.as_ref().unwrap_or(rows.as_ref());
    // Where all rows are left out nothing is learned, from this bandwidth or another.
    let begun = if learning.is_empty() { rows.as_ref() } else { learning };
    let from = choose_bandwidth(from, kind, begun, params.seed, observer)?.sigma;
    let start = (KernelSpec { kind, sigma: from }, kinds == Kinds::Any);
    let learn = || learn_metric(learning, start, metric, (count, free), params.seed, observer);
    let mut learned = match params.metrics {
        Some(known) => {
            let (rows, landmarks, seed) = (Cow::Borrowed(learning), (count, free), params.seed);
            known.get_or(&Learning { rows, start, metric, landmarks, seed }, learn)
        }
        None => learn(),
    }?;
    if let (Some(seen), Some(judged)) = (&seen, &mut learned.held_out) {
        judged.iter_mut().for_each(|row| *row = seen[*row]);
    }
    // Free landmarks are learned with the bandwidth.
    let sigma = match sigma {
        Sigma::CrossValidated if !free => sigma,
        // Where nothing was learned, as it was given.
        sigma if learned.kernel == start.0 && learned.metric == Metric::One && !free => sigma,
        _ => Sigma::Value(learned.kernel.sigma),
    };
    let kernel = KernelParams { kind: learned.kernel.kind, sigma, metric: Metric::One, kinds: Kinds::One };
    Ok((learned, rows, kernel))
}

/// [`select`] among rows in memory, those of them that are not left out, or those of the source where they
/// are. `points` are free landmarks that were learned.
fn select_from<'s>(
    source: &'s dyn RowSource,
    memory: Option<Cow<'s, Prepared>>,
    params: &Params<'_>,
    (points, left_out): (Option<&[f64]>, Option<&LeftOut>),
    observer: &dyn Observer,
) -> Result<Selected<'s>, Error> {
    let seed = params.seed;
    let precision = match memory {
        Some(_) => params.precision,
        None => source.precision().unwrap_or(params.precision),
    };
    let rows = memory.as_deref().map_or(source, |rows| rows as &dyn RowSource);
    let selects = |seen: &Vec<usize>| match params.landmarks {
        Landmarks::Count(count) => count <= seen.len(),
        _ => true,
    };
    let left_out = left_out.filter(|_| points.is_none() && !names_rows(params));
    let seen = left_out.map(LeftOut::seen).filter(selects);
    let among = seen.as_ref().map(|seen| rows.gather(seen)).transpose()?;
    let rows = among.as_ref().map_or(rows, |rows| rows as &dyn RowSource);
    let sample = if memory.is_none() { sample_for(source, params)? } else { None };
    let selecting = Selecting { rows, sample: sample.as_deref(), params, points, precision };
    let KernelParams { kind, sigma, .. } = params.kernel;
    let (chosen, found) = match (without_validation(sigma, kind, rows, seed)?, &params.landmarks) {
        (None, &Landmarks::Count(c) | &Landmarks::Free(c)) => selecting.under_best(c, observer)?,
        (None, Landmarks::Rows(rows)) => selecting.under_best(rows.len(), observer)?,
        (None, Landmarks::Usual | Landmarks::Within(_)) => {
            let chosen = choose_bandwidth(sigma, kind, rows, seed, observer)?;
            (chosen, selecting.under(chosen.sigma, observer)?)
        }
        (Some(sigma), _) => (ChosenBandwidth { sigma, at_edge: false }, selecting.under(sigma, observer)?),
    };
    let (mut selection, curve) = found;
    if let (Some(seen), LandmarkSet::Indices(indices)) = (&seen, &mut selection.landmarks) {
        indices.iter_mut().for_each(|row| *row = seen[*row]);
    }
    Ok(Selected {
        source,
        kernel: KernelSpec { kind, sigma: chosen.sigma },
        metric: None,
        metric_seconds: 0.0,
        sigma_at_edge: chosen.at_edge,
        precision,
        selection,
        sample,
        curve,
        number: None,
        memory,
    })
}

/// Whether landmarks are rows by their numbers, which are not selected.
pub(super) fn names_rows(params: &Params<'_>) -> bool {
    matches!(params.landmarks, Landmarks::Rows(_)) || params.selector.fixed().is_some()
}

/// Whether targets decide on the bandwidth or the landmarks.
pub(super) fn chooses_by_targets(params: &Params<'_>) -> bool {
    let by_landmarks = match &params.landmarks {
        Landmarks::Usual | Landmarks::Count(_) => params.selector.needs().target,
        Landmarks::Within(tolerance) => {
            params.selector.needs().target || matches!(tolerance.criterion, Criterion::Prediction(_))
        }
        Landmarks::Rows(_) | Landmarks::Free(_) => false,
    };
    by_landmarks || (params.kernel.sigma == Sigma::CrossValidated && params.kernel.kind.has_bandwidth())
}

/// Return the sample that landmarks are selected from; none if they are selected from all rows.
fn sample_for<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
) -> Result<Option<Cow<'s, Prepared>>, Error> {
    let most = match (&params.landmarks, params.selector.needs().rows) {
        (Landmarks::Count(_), _) if source.slices().is_some() && params.selector.in_place().is_some() => {
            return Ok(None);
        }
        (Landmarks::Count(_), RowAccess::Sample(most)) => most,
        (Landmarks::Count(_), RowAccess::InMemory | RowAccess::InPlace) => usize::MAX,
        _ => return Ok(None),
    };
    source.sample(most, params.seed).map(Some)
}

/// A selection for any bandwidth.
struct Selecting<'a> {
    /// The source, or its rows in memory.
    rows: &'a dyn RowSource,
    sample: Option<&'a Prepared>,
    params: &'a Params<'a>,
    points: Option<&'a [f64]>,
    precision: Precision,
}

/// Landmarks, and the curve of a tolerance.
type Found = (Selection, Option<Vec<CurvePoint>>);

impl Selecting<'_> {
    /// Select landmarks under the kernel with this bandwidth.
    fn under(&self, sigma: f64, observer: &dyn Observer) -> Result<Found, Error> {
        let Self { rows, precision, .. } = *self;
        let &Params { ref landmarks, selector, seed, ridge, .. } = self.params;
        let kernel = KernelSpec { kind: self.params.kernel.kind, sigma };
        let ridge = if let Ridge::Value(gamma) = ridge { Some(gamma) } else { None };
        let among = |rows: &Prepared, c: usize| {
            let gram = Gram::new(rows, kernel)?;
            run(selector, &Task { gram: &gram, c, precision, seed, ridge, observer })
        };
        let selection = match (landmarks, rows.as_prepared(), self.sample) {
            (Landmarks::Rows(rows), ..) => Selection::given(rows.clone()),
            (Landmarks::Free(_), Some(rows), _) => {
                let points = self.points.unwrap_or_default().to_vec();
                Selection::points(&Gram::new(rows, kernel)?, points)?
            }
            (Landmarks::Within(tolerance), Some(rows), _) => {
                let gram = Gram::new(rows, kernel)?;
                let task = Task { gram: &gram, c: 0, precision, seed, ridge, observer };
                let found = fewest(selector, &task, *tolerance)?;
                return Ok((found.selection, Some(found.curve)));
            }
            (&Landmarks::Count(c), Some(rows), _) => among(rows, c)?,
            (&Landmarks::Count(c), None, Some(sample)) => {
                let mut selection = among(sample, c)?;
                if let (LandmarkSet::Indices(indices), Some(_)) = (&mut selection.landmarks, rows.slices()) {
                    indices.iter_mut().for_each(|row| *row = sample.number(*row));
                }
                selection
            }
            (&Landmarks::Count(c), None, None) => match selector.in_place() {
                Some(in_place) => select_in_place(rows, c, &in_place, kernel, seed, observer)?,
                None => return Err(Error(Cause::InMemory { what: selector.reader(), rows: rows.len() })),
            },
            (Landmarks::Usual, ..) | (Landmarks::Within(_), None, _) => {
                return Err(Error(Cause::InMemory { what: TOLERANCE.to_owned(), rows: rows.len() }));
            }
            (Landmarks::Free(_), None, _) => {
                return Err(Error(Cause::InMemory { what: LEARNED_METRIC.to_owned(), rows: rows.len() }));
            }
        };
        Ok((selection, None))
    }

    /// Choose the bandwidth of a fit with `c` landmarks by cross-validation, and return its landmarks.
    fn under_best(&self, c: usize, observer: &dyn Observer) -> Result<(ChosenBandwidth, Found), Error> {
        let &Params { kernel, ridge, seed, .. } = self.params;
        // Rows that are not in this process are represented by the sample.
        let source = match self.sample {
            Some(sample) if self.rows.slices().is_none() => sample,
            _ => self.rows,
        };
        let mut best: Option<(f64, Found)> = None;
        let search = Search { source, kernel: kernel.kind, landmarks: c, ridge, seed, observer };
        let chosen = search.best(|kernel, observer| {
            let found = self.under(kernel.sigma, observer)?;
            let error = validation_error(source, &found.0.landmarks, kernel, ridge, seed, observer)?;
            if best.as_ref().is_none_or(|(least, _)| error < *least) {
                best = Some((error, found));
            }
            Ok(error)
        })?;
        let (_, found) = best.ok_or(Error(Cause::Folds { rows: source.len() }))?;
        Ok((chosen, found))
    }
}

const LEARNED_METRIC: &str = "a learned metric";

const TOLERANCE: &str = "a tolerance";

/// Return what requires the rows in memory, if anything does.
pub(super) fn in_memory(source: &dyn RowSource, params: &Params<'_>) -> Option<String> {
    source.slices()?;
    if params.kernel.metric != Metric::One {
        return Some(LEARNED_METRIC.to_owned());
    }
    match (&params.landmarks, params.selector.needs().rows) {
        (Landmarks::Rows(_), _) | (Landmarks::Usual | Landmarks::Count(_), RowAccess::InPlace) => None,
        (Landmarks::Within(_), _) => Some(TOLERANCE.to_owned()),
        (Landmarks::Free(_), _) => Some(LEARNED_METRIC.to_owned()),
        (Landmarks::Usual | Landmarks::Count(_), RowAccess::Sample(most)) if source.len() > most => None,
        (Landmarks::Usual | Landmarks::Count(_), _) => Some(params.selector.reader()),
    }
}

/// Select landmarks among all rows of a source in place, in the precision in which they are stored, and
/// exchange them in `f64`.
fn select_in_place(
    source: &dyn RowSource,
    c: usize,
    in_place: &InPlace,
    kernel: KernelSpec,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection, Error> {
    let is_refined = in_place.refinement.is_some();
    source.expect(if is_refined { Order::Sequential } else { Order::Random });
    let dim = source.width();
    // Scaling has already rejected non-finite values.
    let selection = match source.slices() {
        Some(RowSlices::F32(rows, _)) => {
            let rows = Points::assumed_finite(rows, dim, kernel.build::<f32>()?)?;
            if is_refined {
                let ground = Widened { rows, kernel: kernel.build::<f64>()? };
                select_and_exchange(&ground, c, in_place, seed, observer)
            } else {
                select_with(&rows, c, &in_place.procedure, seed, observer).map(|(_, selection)| selection)
            }
        }
        Some(RowSlices::F64(rows, _)) => {
            let ground = Points::assumed_finite(rows, dim, kernel.build::<f64>()?)?;
            select_and_exchange(&ground, c, in_place, seed, observer)
        }
        None => Err(Error(Cause::InMemory { what: "selecting in place".to_owned(), rows: source.len() })),
    };
    // If the file of a source was truncated, its rows read as zeros, which may itself cause an error.
    source.check()?;
    selection
}

fn select_and_exchange(
    ground: &impl InLanes<f64>,
    c: usize,
    in_place: &InPlace,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection, Error> {
    let (_, selection) = select_with(ground, c, &in_place.procedure, seed, observer)?;
    match in_place.refinement {
        Some(refinement) => exchange(selection, ground, refinement, seed, observer),
        None => Ok(selection),
    }
}
