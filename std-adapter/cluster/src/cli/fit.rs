//! `dpp-nystrom-cluster fit`.

use super::arguments::{Fit, Selection};
use super::output::{Spinner, aligned, note, print, print_json, short};
use dpp_nystrom::Model;
use dpp_nystrom::landmarks::Selection as Landmarks;
use dpp_nystrom::pipeline::fit_batches;
use dpp_nystrom::{Ridge, regression::FitSpec};
use dpp_nystrom_cluster::{Error, Rows, SurveyedRows};
use dpp_nystrom_host::atomic_file::check_writable;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    method: &'a str,
    landmarks: usize,
    dependent: usize,
    candidates: Option<usize>,
    sigma: f64,
    ridge: f64,
    rows: u64,
    dim: usize,
    train_nrmse: f64,
    cv_nrmse: Option<f64>,
    survey_seconds: Option<f64>,
    select_seconds: Option<f64>,
    fit_seconds: f64,
    seed: u64,
}

/// The first pass and the selection, in the report.
struct Found {
    candidates: usize,
    survey_seconds: f64,
    select_seconds: f64,
}

/// Survey the rows; also return the seconds.
pub(crate) async fn survey<'r>(
    rows: &'r Rows<'r>,
    selection: &Selection,
) -> Result<(SurveyedRows<'r>, f64), Error> {
    let begin = Instant::now();
    let _spinner = Spinner::new("survey");
    let survey = rows.survey(selection.candidates as usize, selection.seed).await?;
    Ok((SurveyedRows::new(rows, survey)?, begin.elapsed().as_secs_f64()))
}

/// Print the plan of a method that chooses among others, and a warning for a chain that has not converged.
pub(crate) fn note_selection(selection: &Landmarks) {
    if let Some(plan) = &selection.plan {
        note(&format!("{}: {}", plan.method, plan.reason));
    }
    if selection.convergence.is_some_and(|chains| !chains.converged) {
        note("warning: the chain has not converged (split R-hat > 1.05)");
    }
}

pub(crate) async fn run(arguments: &Fit) -> Result<(), Error> {
    check_writable(&arguments.model)?;
    let Fit { source, selection, ridge, .. } = arguments;
    if *ridge == Ridge::LeaveOneOut {
        return Err(Error::LeaveOneOut);
    }
    let session = source.session().await?;
    let (fitted, fit_seconds, found) = match &arguments.of {
        Some(path) => {
            let model = Model::load(path)?;
            let rows = session.rows_for(source.sql(), &model).await?;
            let spec = spec_of(&model, *ridge, selection.seed)?;
            let begin = Instant::now();
            let spinner = Spinner::new("rows");
            let folds = rows.accumulate(&spec).await?;
            let fitted = spec.conclude(&folds, *ridge, &rows.name(), &spinner)?;
            (fitted, begin.elapsed().as_secs_f64(), None)
        }
        None => {
            let rows = session.rows(source.sql(), selection.target.as_deref()).await?;
            let (rows, survey_seconds) = survey(&rows, selection).await?;
            let selector = selection.selector();
            let asked = arguments.landmarks.unwrap_or_default();
            let params = selection.params(asked, *ridge, &*selector);
            let outcome = fit_batches(&rows, &params, &Spinner::new("landmarks"))?;
            let landmarks = &outcome.selected.selection;
            note_selection(landmarks);
            let candidates = rows.survey().targets.len();
            let count = outcome.fitted.model.landmarks() + outcome.fitted.dependent;
            if count < asked as usize {
                note(&format!(
                    "{count} landmarks of the {asked} asked for: no more of the {candidates} candidates are independent under this kernel"
                ));
            }
            let found = Found { candidates, survey_seconds, select_seconds: landmarks.seconds };
            (outcome.fitted, outcome.fit_seconds, Some(found))
        }
    };
    let model = &fitted.model;
    if fitted.dependent > 0 {
        let all = fitted.dependent + model.landmarks();
        note(&format!(
            "{} of {all} landmarks depend linearly on others under this kernel, and were left out",
            fitted.dependent
        ));
    }
    model.save(&arguments.model)?;
    let report = Report {
        model: &arguments.model,
        method: if found.is_some() { selection.method.name } else { "given" },
        landmarks: model.landmarks(),
        dependent: fitted.dependent,
        candidates: found.as_ref().map(|found| found.candidates),
        sigma: model.kernel.sigma,
        ridge: model.ridge,
        rows: model.trained_rows,
        dim: model.feature_names.len(),
        train_nrmse: model.train_nrmse,
        cv_nrmse: fitted.validation_nrmse,
        survey_seconds: found.as_ref().map(|found| found.survey_seconds),
        select_seconds: found.as_ref().map(|found| found.select_seconds),
        fit_seconds,
        seed: selection.seed,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report)) }
}

/// Specify a fit on the landmarks of a model, with its kernel and statistics.
fn spec_of(model: &Model, ridge: Ridge, seed: u64) -> Result<FitSpec, Error> {
    let landmarks = model.coefficients.to_f64().landmarks;
    Ok(FitSpec::new(model.columns(), landmarks, model.kernel, ridge, seed)?)
}

fn text(report: &Report<'_>) -> String {
    let or_dash = |value: Option<f64>| value.map_or("-".to_owned(), short);
    let candidates = match report.candidates {
        Some(candidates) => format!("{} ({} among {candidates} rows)", report.landmarks, report.method),
        None => format!("{} (given)", report.landmarks),
    };
    aligned(&[
        ("model", report.model.display().to_string()),
        ("rows x features", format!("{} x {}", report.rows, report.dim)),
        ("landmarks", candidates),
        ("bandwidth", short(report.sigma)),
        ("ridge", short(report.ridge)),
        ("training error", short(report.train_nrmse)),
        ("10-fold error", or_dash(report.cv_nrmse)),
        ("seconds to survey", or_dash(report.survey_seconds)),
        ("seconds to select", or_dash(report.select_seconds)),
        ("seconds to fit", short(report.fit_seconds)),
    ]) + "\nErrors are in standard deviations of the target.\n"
}
