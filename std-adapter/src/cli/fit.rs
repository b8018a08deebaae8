//! `dpp-nystrom fit`.

use super::arguments::Fit;
use super::bar::Bar;
use super::output::{aligned, keep_inputs, note, print, print_json, short, short_or_dash};
use super::source::{self, ChoiceReport};
use super::tolerance::Curve;
use dpp_nystrom::methods::{self, Gram, Places, Task};
use dpp_nystrom::{Error, Prepared, RidgeChoice, check_writable, model_file, train_at};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    method: &'a str,
    #[serde(flatten)]
    choice: Option<ChoiceReport>,
    #[serde(flatten)]
    curve: Option<Curve>,
    landmarks: &'a [u64],
    #[serde(skip)]
    count: usize,
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
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    for output in [Some(&arguments.model), arguments.tolerance.curve.as_ref()].into_iter().flatten() {
        keep_inputs(Some(output), &inputs)?;
        check_writable(output)?;
    }
    if given.is_none() {
        arguments.knobs.tell_unused(&[arguments.method]);
    }
    let meter = Bar::default();
    let seed = arguments.source.seed;
    let data = Prepared::new(source::read(&arguments.source)?, arguments.source.rows, seed)?;
    data.target()?;
    let setting = source::setting(&data, &arguments.kernel, seed, &meter)?;
    let own = match &given {
        Some((path, rows)) => Some(source::among(&data, path, rows)?),
        None => None,
    };
    let (name, landmarks, select_seconds, choice, curve) = match own {
        Some(rows) if arguments.knobs.refinement().is_none() => {
            ("given", Places::Rows(rows), 0.0, None, None)
        }
        own => {
            let method = own.as_ref().and_then(|_| methods::find("given")).unwrap_or(arguments.method);
            let own = own.unwrap_or_default();
            let task = Task {
                gram: &Gram::new(&data, setting.kernel, setting.sigma)?,
                c: 0,
                setting,
                ridge: match arguments.ridge {
                    RidgeChoice::Value(gamma) => Some(gamma),
                    RidgeChoice::CrossValidated => None,
                },
                options: &arguments.knobs.options(&own),
                meter: &meter,
            };
            let count = arguments.landmarks.or((!own.is_empty()).then_some(own.len()));
            let (chosen, seconds, curve) =
                arguments.tolerance.select(method, &task, count, arguments.ridge)?;
            source::tell_rest(&chosen);
            source::tell_choice(&chosen);
            (method.name(), chosen.places, seconds, chosen.choice.map(ChoiceReport::from), curve)
        }
    };
    let begin = Instant::now();
    let training = train_at(&data, &landmarks, arguments.ridge, setting, &meter)?;
    let fit_seconds = begin.elapsed().as_secs_f64();
    if training.dependent > 0 {
        note(&format!(
            "{} of {} landmarks depend on others under this kernel, and were left out",
            training.dependent,
            training.dependent + training.model.landmarks()
        ));
    }
    model_file::save(&training.model, &arguments.model)?;
    let report = Report {
        model: &arguments.model,
        method: name,
        choice,
        curve,
        landmarks: &training.model.landmark_rows,
        count: training.model.landmarks(),
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
    let chosen = match &report.choice {
        Some(choice) => format!("{}: {}", report.method, choice.words()),
        None => report.method.to_owned(),
    };
    let rows = [
        row("rows x features", format!("{} x {}", report.rows, report.dim)),
        row("landmarks", format!("{} ({})", report.count, chosen)),
        row("bandwidth", short(report.sigma)),
        row("ridge", short(report.ridge)),
        row("training error", short(report.train_nrmse)),
        row("10-fold error", short_or_dash(report.cv_nrmse)),
        row("seconds to select", short(report.select_seconds)),
        row("seconds to fit", short(report.fit_seconds)),
    ];
    let model = report.model.display().to_string();
    let curve = report.curve.as_ref().map_or_else(String::new, Curve::text);
    aligned(&["model", &model], &rows) + "\nErrors are in standard deviations of the target.\n" + &curve
}
