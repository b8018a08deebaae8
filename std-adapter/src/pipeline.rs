//! The full pipeline: source, kernel, landmarks, regression, model.
//!
//! [`fit`] runs all of it, [`select`] stops after the landmarks, and [`fit_batches`] fits to rows that are read in
//! batches where they are stored. The command line, the cluster and [`Nystroem`](crate::Nystroem) set the parameters
//! and report results.

use crate::approximation::{
    curve::CurvePoint, errors::TraceError, errors::trace_error_of_points, gram::Gram,
    landmark_set::LandmarkSet,
};
use crate::data::{columns::RowSlices, prepared::Prepared, source::Order, source::RowSource};
use crate::error::Error;
use crate::kernel::{metric::Metric, params::KernelParams, precision::Precision, spec::KernelSpec};
use crate::landmarks::{
    chain::select_with, procedure::Procedure, selection::Selection, selector::RowAccess, selector::Selector,
    selector::Task, selector::run, tolerance::Tolerance, tolerance::fewest,
};
use crate::metric::{LearnedScales, learn_scales};
use crate::observer::Observer;
use crate::regression::{
    checkpoint::Checkpoint, distributed::BatchSource, distributed::FitSpec, fit as regression, fit::Fitted,
    params::FitParams, ridge::Ridge, sigma_search::choose_bandwidth,
};
use crate::simd::{lane::Lane, lanes::Lanes};
use dpp_nystrom_core::Points;
use std::borrow::Cow;
use std::time::Instant;

/// Rows of the pilot sample from which the bandwidth is estimated if the rows are not in memory.
const PILOT_ROWS: usize = 2_000;

/// The maximum number of rows on which the trace error of rows outside memory is measured. The standard error is below
/// half a per cent of the standard deviation over rows.
pub(crate) const MEASURED_ROWS: usize = 1 << 16;

/// The landmarks to select.
#[derive(Clone, Debug, PartialEq)]
pub enum Landmarks {
    /// This number of landmarks.
    Count(usize),
    /// The fewest landmarks whose error is within a tolerance.
    Within(Tolerance),
    /// These rows of the source.
    Rows(Vec<usize>),
}

/// The parameters of a pipeline.
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

/// Selected landmarks and the resolved parameters.
#[derive(Debug)]
#[non_exhaustive]
pub struct Selected<'s> {
    source: &'s dyn RowSource,
    /// The rows used, if they were read into memory.
    memory: Option<Cow<'s, Prepared>>,
    /// The kernel with its bandwidth.
    pub kernel: KernelSpec,
    /// The scales of the features, if they were learned; those of [`source`](Self::source) are applied if they are better.
    pub scales: Option<LearnedScales>,
    /// Whether a cross-validated bandwidth is at an end of its grid.
    pub sigma_at_edge: bool,
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
    /// [`Error::NoTarget`], [`Error::ConstantTarget`]; those of the source.
    pub fn fit_spec(&self, ridge: Ridge, seed: u64) -> Result<FitSpec, Error> {
        let landmarks = match &self.sample {
            // Without slices, rows are numbered as in the sample.
            Some(sample) if self.source().slices().is_none() => {
                self.selection.landmarks.features(sample.as_ref())?
            }
            _ => self.selection.landmarks.features(self.source())?,
        };
        FitSpec::new(self.source().columns(), landmarks, self.kernel, ridge, seed)
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
}

/// Choose the bandwidth and select landmarks.
///
/// A selector that works in place reads rows where they are stored. For others the rows are read into memory, or a
/// sample of them if the selector accepts one.
///
/// # Errors
/// [`Error::InMemory`] for more rows than fit; errors of the bandwidth, the selector and the source;
/// [`Error::Cancelled`].
pub fn select<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    observer: &dyn Observer,
) -> Result<Selected<'s>, Error> {
    let seed = params.seed;
    let mut memory = match (source.as_prepared(), in_memory(source, params)) {
        (Some(rows), _) => Some(Cow::Borrowed(rows)),
        (None, Some(what)) => Some(source.in_memory(&what, seed)?),
        (None, None) => None,
    };
    let (precision, pilot) = match &memory {
        Some(rows) => (params.precision, Cow::Borrowed(rows.as_ref())),
        None => (source.precision().unwrap_or(params.precision), source.sample(PILOT_ROWS, seed)?),
    };
    let KernelParams { kind, sigma, metric } = params.kernel;
    let chosen = choose_bandwidth(sigma, kind, &pilot, seed, observer)?;
    let kernel = KernelSpec { kind, sigma: chosen.sigma };
    let scales = learned_scales(memory.as_deref(), kernel, params, observer)?;
    if let (Some(learned), Some(rows)) = (&scales, &mut memory)
        && learned.are_used(metric)
    {
        *rows = Cow::Owned(rows.as_ref().clone().rescaled(&learned.scales));
    }
    let ridge = match params.ridge {
        Ridge::Value(gamma) => Some(gamma),
        Ridge::CrossValidated => None,
    };
    let among = |rows: &Prepared, c: usize| {
        let gram = Gram::new(rows, kernel)?;
        run(params.selector, &Task { gram: &gram, c, precision, seed, ridge, observer })
    };
    let (mut sample, mut curve) = (None, None);
    let selection = match (&params.landmarks, &memory) {
        (Landmarks::Rows(rows), _) => Selection::given(rows.clone()),
        (Landmarks::Within(tolerance), Some(rows)) => {
            let gram = Gram::new(rows, kernel)?;
            let task = Task { gram: &gram, c: 0, precision, seed, ridge, observer };
            let found = fewest(params.selector, &task, *tolerance)?;
            curve = Some(found.curve);
            found.selection
        }
        (&Landmarks::Count(c), Some(rows)) => among(rows, c)?,
        (&Landmarks::Count(c), None) => match params.selector.in_place() {
            Some(procedure) if source.slices().is_some() => {
                select_in_place(source, c, &procedure, kernel, seed, observer)?
            }
            _ => {
                let most = match params.selector.needs().rows {
                    RowAccess::Sample(most) => most,
                    RowAccess::InMemory | RowAccess::InPlace => usize::MAX,
                };
                let rows = source.sample(most, seed)?;
                let mut selection = among(&rows, c)?;
                if let (LandmarkSet::Indices(indices), Some(_)) = (&mut selection.landmarks, source.slices())
                {
                    indices.iter_mut().for_each(|row| *row = rows.number(*row));
                }
                sample = Some(rows);
                selection
            }
        },
        (Landmarks::Within(_), None) => {
            return Err(Error::InMemory { what: TOLERANCE.to_owned(), rows: source.len() });
        }
    };
    Ok(Selected {
        source,
        memory,
        kernel,
        scales,
        sigma_at_edge: chosen.at_edge,
        precision,
        selection,
        sample,
        curve,
    })
}

/// Learn the scales that the parameters ask for.
fn learned_scales(
    memory: Option<&Prepared>,
    kernel: KernelSpec,
    params: &Params<'_>,
    observer: &dyn Observer,
) -> Result<Option<LearnedScales>, Error> {
    if params.kernel.metric == Metric::One {
        return Ok(None);
    }
    let count = match &params.landmarks {
        Landmarks::Count(count) => *count,
        Landmarks::Rows(rows) => rows.len(),
        Landmarks::Within(_) => {
            return Err(Error::Metric {
                problem: "it is learned for a number of landmarks, and a tolerance leaves that open; give the number",
            });
        }
    };
    let rows = memory.ok_or(Error::InMemory { what: LEARNED_METRIC.to_owned(), rows: 0 })?;
    learn_scales(rows, kernel, count, params.seed, observer).map(Some)
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
        (Landmarks::Count(_), RowAccess::Sample(most)) if source.len() > most => None,
        (Landmarks::Count(_), _) => Some(params.selector.reader()),
    }
}

/// Select landmarks and fit ridge regression on them to all rows.
///
/// # Errors
/// Those of [`select`] and of [`crate::regression::fit`].
pub fn fit<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    checkpoint: Option<&mut Checkpoint>,
    observer: &dyn Observer,
) -> Result<Outcome<'s>, Error> {
    source.columns().learnable()?;
    let selected = select(source, params, observer)?;
    let begin = Instant::now();
    let Selected { kernel, precision, .. } = selected;
    let fit_params = FitParams { kernel, ridge: params.ridge, precision, seed: params.seed };
    let landmarks = &selected.selection.landmarks;
    let fitted = regression::fit(selected.source(), landmarks, fit_params, checkpoint, observer)?;
    Ok(Outcome { selected, fitted, fit_seconds: begin.elapsed().as_secs_f64() })
}

/// [`fit`] to rows that are read in batches: landmarks are selected from the source's sample, and rows are accumulated
/// where they are stored.
///
/// # Errors
/// Those of [`select`] and of the source.
pub fn fit_batches<'s>(
    source: &'s dyn BatchSource,
    params: &Params<'_>,
    observer: &dyn Observer,
) -> Result<Outcome<'s>, Error> {
    let columns = source.columns();
    columns.learnable()?;
    let selected = select(source, params, observer)?;
    let begin = Instant::now();
    let spec = selected.fit_spec(params.ridge, params.seed)?;
    let folds = source.accumulate(&spec, observer)?;
    let fitted = spec.conclude(&folds, params.ridge, &columns.name, observer)?;
    Ok(Outcome { selected, fitted, fit_seconds: begin.elapsed().as_secs_f64() })
}

/// The trace error over a source, measured on all rows or estimated from a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredError {
    /// Over all rows: measured, or extrapolated from a sample.
    pub of_all: TraceError,
    /// The number of rows it was measured on.
    pub rows: usize,
}

/// Measure the trace error of landmarks over a source: over all rows in memory, or over 65,536 rows of a row store.
///
/// # Errors
/// [`Error::Landmarks`], [`Error::Memory`], and errors of the source.
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
    let dim = source.features();
    let selection = match source.slices() {
        Some(RowSlices::F32(rows, _)) => select_in(rows, dim, c, procedure, kernel, seed, observer),
        Some(RowSlices::F64(rows, _)) => select_in(rows, dim, c, procedure, kernel, seed, observer),
        None => Err(Error::InMemory { what: "selecting in place".to_owned(), rows: source.len() }),
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
    Ok(select_with(&ground, c, procedure, seed, observer, || Lanes::new(c, dim))?.1)
}
