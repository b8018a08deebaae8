//! The second half of a pipeline: the regression, and the error on rows that no choice has seen.

use crate::data::{source::RowSource, table::input::Table};
use crate::error::Error;
use crate::kernel::{metric::Metric, params::KernelParams, params::Kinds};
use crate::metric::LearnedMetric;
use crate::model::Model;
use crate::observer::Observer;
use crate::pipeline::outcome::Outcome;
use crate::pipeline::params::{Landmarks, Params};
use crate::pipeline::select::{Selected, chooses_by_targets, in_memory, names_rows, select_among};
use crate::pipeline::tested::test;
use crate::regression::{
    checkpoint::Checkpoint, distributed::BatchSource, fit as regression, fit::Apart, params::FitParams,
    ridge::Ridge, rows::split::LeftOut, solve::parts::LARGE,
};
use std::time::Instant;

/// Select landmarks and fit ridge regression on them to all rows.
///
/// The [test error](Model::test_error) is measured on a tenth of the rows that no choice has seen, and so are
/// the [importances](Model::importances) of columns: metric, kernel, bandwidth and landmarks are chosen by
/// the other rows where targets decide on them, and the error is that of a model of the other rows. The ridge
/// and the weights of the model are then those of all rows. With fewer than 1,200 rows two or three tenths
/// are left out of the choices, and each has weights of the other nine. Of groups at least three are left
/// out: where there are no more, nothing is chosen by targets.
///
/// # Errors
/// Those of [`select`](crate::pipeline::select) but for too few independent rows: a fit goes on with as many
/// landmarks as there are. Those of [`crate::regression::fit`].
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Params, fit};
/// use dpp_nystrom::{Dataset, Scale, kernel::KernelParams, observer::NoObserver};
///
/// let x: Vec<f64> = (0..400).map(|i| f64::from(i % 200) / 20.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let source = data.source(Scale::Standard)?;
/// let params = Params { landmarks: Landmarks::Count(8), kernel: KernelParams::default(), ..Params::default() };
/// let model = fit(source.as_rows(), &params, None, &NoObserver)?.fitted.model;
/// assert_eq!((model.landmarks(), model.trained_rows), (8, 400));
/// assert!(model.test_error.is_some_and(|test| test.error.value < 0.2));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn fit<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    mut checkpoint: Option<&mut Checkpoint>,
    observer: &dyn Observer,
) -> Result<Outcome<'s>, Error> {
    source.check()?;
    source.columns().learnable()?;
    let run = |params: &Params<'_>| fit_settled(source, params, checkpoint.as_deref_mut(), observer);
    let (mut outcome, failed) = params.settled_at_most(source, run)?;
    outcome.selected.selection.seconds += failed;
    Ok(outcome)
}

fn fit_settled<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    checkpoint: Option<&mut Checkpoint>,
    observer: &dyn Observer,
) -> Result<Outcome<'s>, Error> {
    let left_out = left_out(source, params);
    let mut outcome = fit_and_without(source, params, left_out.as_ref().ok(), checkpoint, observer)?;
    let predict = |model: &Model, table: &Table| model.predict_table(table);
    let left_out = left_out.as_ref().map_err(|reason| *reason);
    test(&mut outcome, source, left_out, &predict, params.seed, observer)?;
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
pub(super) fn fit_and_without<'s>(
    source: &'s dyn RowSource,
    params: &Params<'_>,
    left_out: Option<&LeftOut>,
    checkpoint: Option<&mut Checkpoint>,
    observer: &dyn Observer,
) -> Result<Outcome<'s>, Error> {
    let KernelParams { metric, kinds, .. } = params.kernel;
    let is_learned =
        metric != Metric::One || kinds == Kinds::Any || matches!(params.landmarks, Landmarks::Free(_));
    let is_chosen = is_learned || params.landmarks == Landmarks::Usual;
    let unseen = left_out.filter(|_| is_chosen || chooses_by_targets(params));
    let selected = select_among(source, params, unseen, observer)?;
    let folds = left_out.map_or(&[][..], |left_out| &left_out.parts);
    let begin = Instant::now();
    let Selected { kernel, precision, .. } = selected;
    let fit_params = FitParams { kernel, ridge: params.ridge, precision, seed: params.seed };
    let landmarks = &selected.selection.landmarks;
    // Rows that the metric was learned on are predicted too well, also without their fold.
    let apart = Apart { folds, judged: selected.judged() };
    let mut fitted =
        regression::fit_without(selected.source(), landmarks, fit_params, apart, checkpoint, observer)?;
    let scales = selected.metric.as_ref().and_then(LearnedMetric::inverse_length_scales);
    fitted.model.scales = scales.map(<[f64]>::to_vec);
    fitted.model.recipe = source.recipe().filter(|recipe| !recipe.is_plain()).cloned();
    let fit_seconds = begin.elapsed().as_secs_f64();
    Ok(Outcome { selected, fitted, fit_seconds, held_out: None, untested: None })
}

/// [`fit`] to rows that are read in batches: landmarks are selected from the source's sample, and rows are
/// accumulated where they are stored.
///
/// # Errors
/// Those of [`select`](crate::pipeline::select) but for too few independent rows, and of the source.
pub fn fit_batches<'s>(
    source: &'s dyn BatchSource,
    params: &Params<'_>,
    observer: &dyn Observer,
) -> Result<Outcome<'s>, Error> {
    let columns = source.columns();
    columns.single("a fit to rows in several places")?;
    let select = |params: &Params<'_>| select_among(source, params, None, observer);
    let (mut selected, failed) = params.settled_at_most(source, select)?;
    selected.selection.seconds += failed;
    let begin = Instant::now();
    let spec = selected.fit_spec(params.ridge, params.seed)?;
    let folds = source.accumulate(&spec, observer)?;
    let fitted = spec.conclude(&folds, params.ridge, &columns.name, observer)?;
    let fit_seconds = begin.elapsed().as_secs_f64();
    let untested = Some("the rows are in several places");
    Ok(Outcome { selected, fitted, fit_seconds, held_out: None, untested })
}
