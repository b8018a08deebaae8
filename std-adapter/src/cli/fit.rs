//! `dpp-nystrom fit`.

use super::arguments::{Fit, MethodName};
use super::bar::Bar;
use super::output::{aligned, keep_inputs, note, print, print_json, short, short_or_dash};
use super::source;
use dpp_nystrom::{Error, Prepared, model_file, select_rows, train};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    method: &'a str,
    landmarks: &'a [u64],
    sigma: f64,
    ridge: f64,
    rows: u64,
    dim: usize,
    train_nrmse: f64,
    cv_nrmse: Option<f64>,
    dependent: usize,
    select_seconds: f64,
    fit_seconds: f64,
    seed: u64,
}

pub(crate) fn run(arguments: &Fit) -> Result<(), Error> {
    let given = match &arguments.given {
        Some(path) => Some((path, source::given(path)?)),
        None => None,
    };
    let inputs = [&arguments.source.data].into_iter().chain(&arguments.given);
    keep_inputs(Some(&arguments.model), &inputs.map(PathBuf::as_path).collect::<Vec<_>>())?;
    let meter = Bar::default();
    let seed = arguments.source.seed;
    let data = Prepared::new(source::read(&arguments.source)?, arguments.source.rows, seed)?;
    data.target()?;
    let setting = source::setting(&data, &arguments.kernel, seed, &meter)?;
    let (name, landmarks, select_seconds) = match &given {
        Some((path, rows)) => (MethodName::Given, source::among(&data, path, rows)?, 0.0),
        None => {
            let name = MethodName::from(arguments.method);
            let method = arguments.chain.method(name, &[]);
            let c = arguments.landmarks.unwrap_or_default();
            let selection = select_rows(&data, c, &method, setting, &meter)?;
            source::tell_rest(&selection);
            (name, selection.landmarks, selection.seconds)
        }
    };
    let begin = Instant::now();
    let training = train(&data, &landmarks, arguments.ridge, setting, &meter)?;
    let fit_seconds = begin.elapsed().as_secs_f64();
    if training.dependent > 0 {
        note(&format!(
            "{} of {} landmarks depend on others under this kernel, and were left out",
            training.dependent,
            landmarks.len()
        ));
    }
    model_file::save(&training.model, &arguments.model)?;
    let name = name.name();
    let report = Report {
        model: &arguments.model,
        method: &name,
        landmarks: &training.model.landmark_rows,
        sigma: setting.sigma,
        ridge: training.model.ridge,
        rows: training.model.trained_rows,
        dim: data.width,
        train_nrmse: training.model.train_nrmse,
        cv_nrmse: training.validation_nrmse,
        dependent: training.dependent,
        select_seconds,
        fit_seconds,
        seed,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report)) }
}

fn text(report: &Report<'_>) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let rows = [
        row("rows x features", format!("{} x {}", report.rows, report.dim)),
        row("landmarks", format!("{} ({})", report.landmarks.len(), report.method)),
        row("bandwidth", short(report.sigma)),
        row("ridge", short(report.ridge)),
        row("training error", short(report.train_nrmse)),
        row("10-fold error", short_or_dash(report.cv_nrmse)),
        row("seconds to select", short(report.select_seconds)),
        row("seconds to fit", short(report.fit_seconds)),
    ];
    let model = report.model.display().to_string();
    aligned(&["model", &model], &rows) + "\nErrors are in standard deviations of the target.\n"
}
