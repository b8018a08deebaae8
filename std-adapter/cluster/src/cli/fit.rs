//! `dpp-nystrom-cluster fit`.

use super::arguments::{Fit, Selection};
use super::output::{aligned, note, print, print_json, short, spinner};
use dpp_nystrom::atomic_file::check_writable;
use dpp_nystrom::data::Scaler;
use dpp_nystrom::model::{AnyCoefficients, Model, file};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::FitSpec;
use dpp_nystrom::regression::{FOLDS, Ridge};
use dpp_nystrom_cluster::{Choice, Error, Rows, Wanted, choose};
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

/// A survey and a choice, with the seconds that the first took.
pub(crate) struct Found {
    pub(crate) choice: Choice,
    pub(crate) survey: dpp_nystrom_cluster::Survey,
    pub(crate) seconds: f64,
}

pub(crate) async fn find(
    rows: &Rows<'_>,
    selection: &Selection,
    landmarks: u32,
    ridge: Ridge,
) -> Result<Found, Error> {
    let begin = Instant::now();
    let bar = spinner("survey");
    let survey = rows.survey(selection.candidates as usize, selection.seed).await?;
    bar.finish_and_clear();
    let seconds = begin.elapsed().as_secs_f64();
    let wanted = Wanted {
        landmarks: landmarks as usize,
        method: selection.method,
        kernel: selection.kernel(),
        bandwidth: selection.sigma,
        ridge,
        seed: selection.seed,
    };
    let bar = spinner("landmarks");
    let choice = choose(&survey, &wanted, &NoObserver)?;
    bar.finish_and_clear();
    if let Some(reason) = &choice.reason {
        note(reason);
    }
    if choice.converged == Some(false) {
        note("warning: the chain did not come to rest");
    }
    Ok(Found { choice, survey, seconds })
}

pub(crate) async fn run(arguments: &Fit) -> Result<(), Error> {
    check_writable(&arguments.model)?;
    let session = arguments.source.session().await?;
    let (rows, lesson, found) = match (&arguments.of, arguments.landmarks) {
        (Some(path), _) => {
            let model = model_file::load(path)?;
            let rows = session.rows_for(arguments.source.sql(), &model).await?;
            let lesson = lesson_of(&model, arguments.ridge, arguments.selection.seed);
            (rows, lesson, None)
        }
        (None, landmarks) => {
            let rows = arguments.source.rows(&session, arguments.selection.target.as_deref()).await?;
            let landmarks = landmarks.unwrap_or_default();
            let found = find(&rows, &arguments.selection, landmarks, arguments.ridge).await?;
            (rows, found.choice.lesson.clone(), Some(found))
        }
    };
    let begin = Instant::now();
    let bar = spinner("rows");
    let learned = rows.learn(&lesson).await?;
    let training = lesson.conclude(&learned, arguments.ridge, &arguments.source.name(), &NoObserver)?;
    bar.finish_and_clear();
    let fit_seconds = begin.elapsed().as_secs_f64();
    if training.dependent > 0 {
        let all = training.dependent + training.model.landmarks();
        note(&format!(
            "{} of {all} landmarks depend on others under this kernel, and were left out",
            training.dependent
        ));
    }
    model_file::save(&training.model, &arguments.model)?;
    let model = &training.model;
    let report = Report {
        model: &arguments.model,
        method: if found.is_some() { arguments.selection.method.name() } else { "given" },
        landmarks: model.landmarks(),
        dependent: training.dependent,
        candidates: found.as_ref().map(|found| found.survey.targets.len()),
        sigma: model.kernel.sigma,
        ridge: model.ridge,
        rows: model.trained_rows,
        dim: model.feature_names.len(),
        train_nrmse: model.train_nrmse,
        cv_nrmse: training.validation_nrmse,
        survey_seconds: found.as_ref().map(|found| found.seconds),
        select_seconds: found.as_ref().map(|found| found.choice.seconds),
        fit_seconds,
        seed: arguments.selection.seed,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report)) }
}

/// What a model's landmarks are to be taught anew.
fn lesson_of(model: &Model, ridge: Ridge, seed: u64) -> FitSpec {
    let landmarks = match &model.coefficients {
        AnyCoefficients::F32(numbers) => numbers.landmarks.iter().copied().map(f64::from).collect(),
        AnyCoefficients::F64(numbers) => numbers.landmarks.clone(),
    };
    FitSpec {
        feature_names: model.feature_names.clone(),
        target_name: model.target_name.clone(),
        features: model.scaler.clone(),
        target: Scaler { means: vec![model.target_mean], deviations: vec![model.target_deviation] },
        landmarks,
        kernel: model.kernel,
        sigma: model.kernel.sigma,
        folds: if ridge == Ridge::CrossValidated { FOLDS as u8 } else { 1 },
        seed,
    }
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
