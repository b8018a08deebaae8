//! The full pipeline: source, kernel, landmarks, regression, model.
//!
//! [`fit`] runs all of it, [`select`] stops after the landmarks, and [`fit_batches`] fits to rows that are
//! read in batches where they are stored. The command line, the cluster and [`Nystroem`](crate::Nystroem) set
//! the parameters and report results.

mod flash;
mod importance;
mod line;
mod tested;
mod weak;

use crate::approximation::{
    curve::CurvePoint, errors::TraceError, errors::trace_error_of_points, gram::Gram,
    landmark_set::LandmarkSet,
};
use crate::data::{
    columns::RowSlices, prepared::Prepared, source::Order, source::RowSource, table::input::Table,
};
use crate::error::{Cause, Error};
use crate::kernel::{
    bandwidth::Sigma, metric::Metric, params::KernelParams, params::Kinds, precision::Precision,
    spec::KernelSpec,
};
use crate::landmarks::{
    chain::select_with, methods::auto::Auto, procedure::Procedure, selection::Selection, selector::RowAccess,
    selector::Selector, selector::Task, selector::run, tolerance::Criterion, tolerance::Tolerance,
    tolerance::fewest,
};
pub use crate::metric::LearnedMetric;
use crate::metric::learn_metric;
use crate::model::Model;
use crate::observer::Observer;
use crate::regression::{
    checkpoint::Checkpoint, class_errors::Classed, class_errors::class_errors, distributed::BatchSource,
    distributed::FitSpec, fit as regression, fit::Fitted, fit::unweighted, fit::validation_error,
    held_out::HeldOut, held_out::LeftOut, params::FitParams, regress::LARGE, ridge::Ridge,
    sigma_search::ChosenBandwidth, sigma_search::Search, sigma_search::choose_bandwidth,
    sigma_search::without_validation,
};
use dpp_nystrom_core::{Error as CoreError, Points};
use dpp_nystrom_host::simd::lane::Lane;
pub use flash::{Candidate, FlashParams, InFlash, fit_in_flash, flash_bytes};
use std::borrow::Cow;
use std::mem;
use std::time::Instant;
use tested::{Without, test};
pub use weak::{WeakColumns, weak_columns};

/// The maximum number of rows on which the trace error of rows outside memory is measured. The standard error
/// is below half a per cent of the standard deviation over rows.
pub(crate) const MEASURED_ROWS: usize = 1 << 16;

/// The maximum number of landmarks where none is given.
const USUAL: usize = 100;

/// The landmarks to select.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Landmarks {
    /// The usual number: that of [`with_usual`].
    #[default]
    Usual,
    /// This number of landmarks.
    Count(usize),
    /// The fewest landmarks whose error is within a tolerance.
    Within(Tolerance),
    /// These rows of the source.
    Rows(Vec<usize>),
    /// This number of points, at most 100. They begin as rows, and move together with the metric: the
    /// selector is not used.
    Free(usize),
}

/// The parameters of a pipeline. The default is what happens when nothing is said, on the command line, in
/// Python and in [`LandmarkRidge`](crate::LandmarkRidge): the usual number of landmarks, selected by
/// [`Auto`], under [`KernelParams::usual`], with a cross-validated ridge.
#[derive(Clone, Debug)]
pub struct Params<'a> {
    /// The kernel, and how its bandwidth is chosen.
    pub kernel: KernelParams,
    /// The landmarks to select.
    pub landmarks: Landmarks,
    /// How they are selected.
    pub selector: &'a dyn Selector,
    /// The ridge γ of the regression.
    pub ridge: Ridge,
    /// The precision; for a row store, that of the store is used.
    pub precision: Precision,
    /// The random seed.
    pub seed: u64,
}

impl Default for Params<'_> {
    fn default() -> Self {
        Self {
            kernel: KernelParams::usual(),
            landmarks: Landmarks::Usual,
            selector: &Auto::USUAL,
            ridge: Ridge::CrossValidated,
            precision: Precision::F64,
            seed: 0,
        }
    }
}

/// Run with the usual number of landmarks among `rows` rows: a quarter of them, and at most 100. Where fewer
/// rows are independent under the kernel, run again with as many as are.
///
/// ```
/// use dpp_nystrom::pipeline::with_usual;
///
/// assert_eq!(with_usual(5_000, Ok)?, 100);
/// assert_eq!(with_usual(90, Ok)?, 22);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
///
/// # Errors
/// Those of `run`.
pub fn with_usual<A>(rows: usize, mut run: impl FnMut(usize) -> Result<A, Error>) -> Result<A, Error> {
    let mut count = (rows / 4).clamp(1, USUAL);
    loop {
        match run(count) {
            Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { rank, .. } }))
                if (1..count).contains(&rank) =>
            {
                count = rank;
            }
            done => return done,
        }
    }
}

impl Params<'_> {
    /// Run with what is left open decided for a source: the number of landmarks, and whether kernels are
    /// compared.
    fn settled<A>(
        &self,
        source: &dyn RowSource,
        mut run: impl FnMut(&Params<'_>) -> Result<A, Error>,
    ) -> Result<A, Error> {
        let is_classes = source.columns().classes.is_some();
        let with = |count| self.kernel.settled(count, is_classes);
        match &self.landmarks {
            Landmarks::Usual => {
                let mut kernel = None;
                with_usual(source.len(), |count| {
                    let kernel = *kernel.get_or_insert_with(|| with(count));
                    run(&Params { kernel, landmarks: Landmarks::Count(count), ..self.clone() })
                })
            }
            &Landmarks::Count(count) | &Landmarks::Free(count) => {
                run(&Params { kernel: with(count), ..self.clone() })
            }
            Landmarks::Rows(rows) => run(&Params { kernel: with(rows.len()), ..self.clone() }),
            Landmarks::Within(_) => run(&Params { kernel: with(0), ..self.clone() }),
        }
    }
}

/// Selected landmarks and the resolved parameters.
#[derive(Debug)]
#[non_exhaustive]
pub struct Selected<'s> {
    source: &'s dyn RowSource,
    /// The rows used, if they were read into memory.
    memory: Option<Cow<'s, Prepared>>,
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
}

impl Selected<'_> {
    /// Return the rows used: the source itself, or its rows read into memory.
    pub fn source(&self) -> &dyn RowSource {
        match &self.memory {
            Some(rows) => rows.as_ref(),
            None => self.source,
        }
    }

    /// Specify the regression on the landmarks, for rows that are accumulated where they are.
    ///
    /// # Errors
    /// `ErrorKind::Data` for no target or a constant one; `ErrorKind::Unsupported` for rows with weights;
    /// those of the source.
    pub fn fit_spec(&self, ridge: Ridge, seed: u64) -> Result<FitSpec, Error> {
        unweighted(self.source(), "a fit in batches")?;
        let landmarks = match &self.sample {
            // Without slices, rows are numbered as in the sample.
            Some(sample) if self.source().slices().is_none() => {
                self.selection.landmarks.features(sample.as_ref())?
            }
            _ => self.selection.landmarks.features(self.source())?,
        };
        FitSpec::new(self.source().columns(), landmarks, self.kernel, ridge, seed)
    }

    /// Return the rows that a learned metric was chosen by, and their outputs in standard deviations of the
    /// targets.
    fn judged(&self) -> Option<&(Vec<usize>, Vec<f64>)> {
        self.metric.as_ref().filter(|learned| learned.metric != Metric::One)?.held_out.as_ref()
    }

    /// Measure the trace error of the landmarks.
    ///
    /// # Errors
    /// Those of [`trace_error`].
    pub fn trace_error(&self, seed: u64) -> Result<MeasuredError, Error> {
        trace_error(self.source(), &self.selection.landmarks, self.kernel, seed)
    }
}

/// A model and the landmarks it is fitted on.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome<'s> {
    /// The landmarks.
    pub selected: Selected<'s>,
    /// The model.
    pub fitted: Fitted,
    /// Duration of the regression in seconds.
    pub fit_seconds: f64,
    /// The rows that no choice has seen, on which the [test error](crate::Model::test_error) was measured,
    /// and what models predict that had no part in them.
    pub held_out: Option<HeldOut>,
    /// Why there is no test error, if there is none.
    pub untested: Option<&'static str>,
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
pub fn select<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    observer: &dyn Observer,
) -> Result<Selected<'s>, Error> {
    params.settled(source, |params| select_among(source, params, None, observer))
}

/// [`select`], where all that is chosen by targets is chosen by the rows that are not left out.
fn select_among<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    left_out: Option<&LeftOut>,
    observer: &dyn Observer,
) -> Result<Selected<'s>, Error> {
    let seed = params.seed;
    let memory = |params: &Params<'_>| match (source.as_prepared(), in_memory(source, params)) {
        (Some(rows), _) => Ok(Some(Cow::Borrowed(rows))),
        (None, Some(what)) => source.in_memory(&what, seed).map(Some),
        (None, None) => Ok(None),
    };
    let metric = params.kernel.metric;
    let free = matches!(params.landmarks, Landmarks::Free(_));
    if metric == Metric::One && !free && params.kernel.kinds != Kinds::Any {
        return select_from(source, memory(params)?, params, (None, left_out), observer);
    }
    let too_large = || Error(Cause::InMemory { what: LEARNED_METRIC.to_owned(), rows: source.len() });
    let rows = memory(params).and_then(|rows| rows.ok_or_else(too_large));
    let reason = match (&params.landmarks, &rows) {
        (Landmarks::Free(_), _) => None,
        (Landmarks::Within(_), _) => Some("the number of landmarks is left open"),
        (_, Err(Error(Cause::InMemory { .. }))) => Some("the rows do not fit in memory"),
        _ => None,
    };
    if let (Metric::Auto, Some(reason)) = (metric, reason) {
        let one = Params { kernel: params.kernel.with_metric(Metric::One), ..params.clone() };
        let left_out = left_out.filter(|_| chooses_by_targets(&one));
        let selected = select_from(source, memory(&one)?, &one, (None, left_out), observer)?;
        let one = LearnedMetric::one(source.width(), selected.kernel, reason);
        return Ok(Selected { metric: Some(one), ..selected });
    }
    let begin = Instant::now();
    let (learned, rows, kernel) = in_learned_metric(rows?, params, left_out, observer)?;
    let metric_seconds = begin.elapsed().as_secs_f64();
    let params = Params { kernel, ..params.clone() };
    // The bandwidth and the landmarks see no targets where they are as without a learned metric.
    let left_out = left_out.filter(|_| learned.metric != Metric::One || chooses_by_targets(&params));
    let points = learned.landmarks.as_deref();
    let selected = select_from(source, Some(rows), &params, (points, left_out), observer)?;
    Ok(Selected { metric: Some(learned), metric_seconds, ..selected })
}

/// Learn the metric that the parameters ask for. Return its rows, and the kernel that goes with them.
fn in_learned_metric<'s>(
    rows: Cow<'s, Prepared>,
    params: &Params<'_>,
    left_out: Option<&LeftOut>,
    observer: &dyn Observer,
) -> Result<(LearnedMetric, Cow<'s, Prepared>, KernelParams), Error> {
    let (count, free) = match &params.landmarks {
        Landmarks::Count(count) => (*count, false),
        Landmarks::Free(count) => (*count, true),
        Landmarks::Rows(rows) => (rows.len(), false),
        Landmarks::Usual | Landmarks::Within(_) => {
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
    let from = choose_bandwidth(from, kind, learning, params.seed, observer)?.sigma;
    let start = (KernelSpec { kind, sigma: from }, kinds == Kinds::Any);
    let mut learned = learn_metric(learning, start, metric, (count, free), params.seed, observer)?;
    if let (Some(seen), Some((judged, _))) = (&seen, &mut learned.held_out) {
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
    if learned.metric == Metric::One && !free {
        return Ok((learned, rows, kernel));
    }
    let rows = rows.into_owned();
    let rows = Cow::Owned(match &learned.map {
        Some(map) => rows.mapped(map.clone()),
        None => rows.rescaled(&learned.scales),
    });
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
        memory,
    })
}

/// Whether landmarks are rows by their numbers, which are not selected.
fn names_rows(params: &Params<'_>) -> bool {
    matches!(params.landmarks, Landmarks::Rows(_)) || params.selector.fixed().is_some()
}

/// Whether targets decide on the bandwidth or the landmarks.
fn chooses_by_targets(params: &Params<'_>) -> bool {
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
                Some(procedure) => select_in_place(rows, c, &procedure, kernel, seed, observer)?,
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
fn in_memory(source: &dyn RowSource, params: &Params<'_>) -> Option<String> {
    source.slices()?;
    if params.kernel.metric != Metric::One {
        return Some(LEARNED_METRIC.to_owned());
    }
    match (&params.landmarks, params.selector.needs().rows) {
        (Landmarks::Rows(_), _) | (Landmarks::Count(_), RowAccess::InPlace) => None,
        (Landmarks::Within(_), _) => Some(TOLERANCE.to_owned()),
        (Landmarks::Free(_), _) => Some(LEARNED_METRIC.to_owned()),
        (Landmarks::Count(_), RowAccess::Sample(most)) if source.len() > most => None,
        (Landmarks::Usual | Landmarks::Count(_), _) => Some(params.selector.reader()),
    }
}

/// Select landmarks and fit ridge regression on them to all rows.
///
/// The [test error](Model::test_error) is measured on a tenth of the rows that no choice has seen, and so are
/// the [importances](Model::importances) of columns: metric, kernel, bandwidth and landmarks are chosen by
/// the other rows where targets decide on them, and the error is that of a model of the other rows. The ridge
/// and the weights of the model are then those of all rows. With fewer than 1,200 rows two or three tenths
/// are left out of the choices, and each has weights of the other nine.
///
/// # Errors
/// Those of [`select`] and of [`crate::regression::fit`].
pub fn fit<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    mut checkpoint: Option<&mut Checkpoint>,
    observer: &dyn Observer,
) -> Result<Outcome<'s>, Error> {
    source.columns().learnable()?;
    params.settled(source, |params| fit_settled(source, params, checkpoint.as_deref_mut(), observer))
}

fn fit_settled<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    checkpoint: Option<&mut Checkpoint>,
    observer: &dyn Observer,
) -> Result<Outcome<'s>, Error> {
    let left_out = left_out(source, params);
    let (mut outcome, without) =
        fit_and_without(source, params, left_out.as_ref().ok(), checkpoint, observer)?;
    let predict = |model: &Model, table: &Table| model.predict_table(table);
    let left_out = left_out.as_ref().map_err(|reason| *reason);
    test(&mut outcome, source, left_out, &without, &predict, params.seed, observer)?;
    Ok(outcome)
}

/// Return the rows that no choice is to see, or why all are seen.
fn left_out(source: &dyn RowSource, params: &Params<'_>) -> Result<LeftOut, &'static str> {
    let in_place = source.as_prepared().is_none() && in_memory(source, params).is_none();
    if chooses_by_targets(params) && (in_place || names_rows(params)) {
        return Err("the bandwidth or the landmarks are chosen by the targets of all rows");
    }
    if let (Ridge::Value(_), Landmarks::Count(LARGE..)) = (params.ridge, &params.landmarks) {
        return Err("so many landmarks with a given ridge are fitted without folds, to save memory");
    }
    let left_out = LeftOut::of(source, params.seed)?;
    match params.landmarks {
        Landmarks::Count(count) if chooses_by_targets(params) && count > left_out.seen().len() => {
            Err("there are more landmarks than rows that are not left out")
        }
        _ => Ok(left_out),
    }
}

/// Choose by the rows that are not left out, and fit a model to all rows, and one to the rows without each
/// fold that is left out.
fn fit_and_without<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    left_out: Option<&LeftOut>,
    checkpoint: Option<&mut Checkpoint>,
    observer: &dyn Observer,
) -> Result<(Outcome<'s>, Vec<Without>), Error> {
    let KernelParams { metric, kinds, .. } = params.kernel;
    let is_learned =
        metric != Metric::One || kinds == Kinds::Any || matches!(params.landmarks, Landmarks::Free(_));
    let unseen = left_out.filter(|_| is_learned || chooses_by_targets(params));
    let selected = select_among(source, params, unseen, observer)?;
    let folds = left_out.map_or(&[][..], |left_out| &left_out.parts);
    let begin = Instant::now();
    let Selected { kernel, precision, .. } = selected;
    let fit_params = FitParams { kernel, ridge: params.ridge, precision, seed: params.seed };
    let landmarks = &selected.selection.landmarks;
    let mut fitted =
        regression::fit_without(selected.source(), landmarks, fit_params, folds, checkpoint, observer)?;
    // Rows that the metric was learned on are predicted too well, also without their fold.
    if let (Some((rows, outputs)), Some(classifier)) = (selected.judged(), &mut fitted.model.classifier) {
        let held = source.gather(rows)?;
        let Classed { errors, temperature, .. } = class_errors(outputs.clone(), &held, params.seed)?;
        fitted.class_errors = Some(errors);
        classifier.temperature = temperature;
    }
    let scales = selected.metric.as_ref().and_then(LearnedMetric::inverse_length_scales);
    fitted.model.scales = scales.map(<[f64]>::to_vec);
    fitted.model.recipe = source.recipe().filter(|recipe| !recipe.is_plain()).cloned();
    let without = mem::take(&mut fitted.without);
    let without = without.into_iter().map(|(fold, model)| Without { fold, model }).collect();
    let fit_seconds = begin.elapsed().as_secs_f64();
    Ok((Outcome { selected, fitted, fit_seconds, held_out: None, untested: None }, without))
}

/// [`fit`] to rows that are read in batches: landmarks are selected from the source's sample, and rows are
/// accumulated where they are stored.
///
/// # Errors
/// Those of [`select`] and of the source.
pub fn fit_batches<'s>(
    source: &'s dyn BatchSource,
    params: &Params<'_>,
    observer: &dyn Observer,
) -> Result<Outcome<'s>, Error> {
    let columns = source.columns();
    columns.single("a fit to rows in several places")?;
    let selected = select(source, params, observer)?;
    let begin = Instant::now();
    let spec = selected.fit_spec(params.ridge, params.seed)?;
    let folds = source.accumulate(&spec, observer)?;
    let fitted = spec.conclude(&folds, params.ridge, &columns.name, observer)?;
    let fit_seconds = begin.elapsed().as_secs_f64();
    let untested = Some("the rows are in several places");
    Ok(Outcome { selected, fitted, fit_seconds, held_out: None, untested })
}

/// The trace error over a source, measured on all rows or estimated from a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredError {
    /// Over all rows: measured, or extrapolated from a sample.
    pub of_all: TraceError,
    /// The number of rows it was measured on.
    pub rows: usize,
}

/// Measure the trace error of landmarks over a source: over all rows in memory, or over 65,536 rows of a row
/// store.
///
/// # Errors
/// `ErrorKind::Landmarks`, `ErrorKind::Memory`, and errors of the source.
pub fn trace_error(
    source: &dyn RowSource,
    landmarks: &LandmarkSet,
    kernel: KernelSpec,
    seed: u64,
) -> Result<MeasuredError, Error> {
    let points = landmarks.features(source)?;
    let measured = source.sample(MEASURED_ROWS, seed)?;
    let TraceError { error, fraction } = trace_error_of_points(&measured.ground(kernel)?, &points)?;
    let error = error * (source.len() as f64 / measured.len() as f64);
    Ok(MeasuredError { of_all: TraceError { error, fraction }, rows: measured.len() })
}

/// Select landmarks among all rows of a source in place, in the precision in which they are stored.
fn select_in_place(
    source: &dyn RowSource,
    c: usize,
    procedure: &Procedure,
    kernel: KernelSpec,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection, Error> {
    source.expect(Order::Random);
    let dim = source.width();
    let selection = match source.slices() {
        Some(RowSlices::F32(rows, _)) => select_in(rows, dim, c, procedure, kernel, seed, observer),
        Some(RowSlices::F64(rows, _)) => select_in(rows, dim, c, procedure, kernel, seed, observer),
        None => Err(Error(Cause::InMemory { what: "selecting in place".to_owned(), rows: source.len() })),
    };
    // If the file of a source was truncated, its rows read as zeros, which may itself cause an error.
    source.check()?;
    selection
}

fn select_in<T: Lane>(
    rows: &[T],
    dim: usize,
    c: usize,
    procedure: &Procedure,
    kernel: KernelSpec,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection, Error> {
    // Scaling has already rejected non-finite values.
    let ground = Points::assumed_finite(rows, dim, kernel.build::<T>()?)?;
    Ok(select_with(&ground, c, procedure, seed, observer)?.1)
}
