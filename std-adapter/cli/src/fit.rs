//! `dpp-nystrom fit`.

use super::source;
use crate::arguments::{KernelArguments, Source};
use crate::bar::Bar;
use crate::knobs::MethodArguments;
use crate::knobs::methods;
use crate::output::{aligned, keep_inputs, note, print, print_json, short, short_or_dash};
use crate::source::ChoiceReport;
use crate::stored::{Picked, Stored, Wanted};
use crate::tolerance::Curve;
use crate::tolerance::ToleranceArguments;
use clap::Args;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::{Gram, LandmarkSet};
use dpp_nystrom::atomic_file::check_writable;
use dpp_nystrom::landmarks::Selector;
use dpp_nystrom::landmarks::Task;
use dpp_nystrom::landmarks::methods::Method;
use dpp_nystrom::model;
use dpp_nystrom::regression::Checkpoint;
use dpp_nystrom::regression::{Ridge, Training, train_at};
use dpp_nystrom::selectors::{Exchanged, Given};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::time::Instant;

#[derive(Debug, Args)]
pub(crate) struct Fit {
    #[command(flatten)]
    pub(crate) source: Source,
    /// How many landmarks
    #[arg(
        long,
        value_name = "C",
        required_unless_present_any = ["given", "tolerance"],
        conflicts_with = "given",
        allow_negative_numbers = true
    )]
    pub(crate) landmarks: Option<usize>,
    /// How to choose them
    #[arg(long, value_parser = methods(false), default_value = "auto")]
    pub(crate) method: &'static Method,
    #[command(flatten)]
    pub(crate) tolerance: ToleranceArguments,
    #[command(flatten)]
    pub(crate) knobs: MethodArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// The ridge γ, which is multiplied by the number of rows: a number, or cv (10-fold)
    #[arg(long, value_name = "F|cv", default_value = "cv", allow_negative_numbers = true)]
    pub(crate) ridge: Ridge,
    /// Landmarks of one's own choice: a CSV file of row numbers
    #[arg(
        long,
        value_name = "ROWS.csv",
        conflicts_with_all = ["tolerance", "tolerance_on", "max_landmarks", "curve"]
    )]
    pub(crate) given: Option<PathBuf>,
    /// Where to write the model
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Keep what was learned in this file, and go on from it if the fit was cut off; needs a row store
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Seconds between two writings of the checkpoint
    #[arg(
        long,
        value_name = "S",
        default_value_t = 10.0,
        requires = "checkpoint",
        allow_negative_numbers = true
    )]
    pub(crate) checkpoint_every: f64,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl Fit {
    pub(crate) fn checkpoint(&self) -> Option<Checkpoint> {
        let every = Duration::try_from_secs_f64(self.checkpoint_every).unwrap_or(Duration::MAX);
        self.checkpoint.clone().map(|path| Checkpoint::new(path, every))
    }
}

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
    let outputs = [Some(&arguments.model), arguments.tolerance.curve.as_ref(), arguments.checkpoint.as_ref()];
    for output in outputs.into_iter().flatten() {
        keep_inputs(Some(output), &inputs)?;
        check_writable(output)?;
    }
    if given.is_none() {
        arguments.knobs.tell_unused(&[arguments.method]);
    }
    let refinement = arguments.knobs.refinement();
    let selector: Box<dyn Selector> = match (&given, refinement) {
        (Some((_, rows)), Some(refinement)) => {
            Box::new(Exchanged::new(Box::new(Given::new(rows.clone())), refinement))
        }
        (Some((_, rows)), None) => Box::new(Given::new(rows.clone())),
        (None, _) => arguments.method.selector(&arguments.knobs.options(&[])),
    };
    let wanted = match arguments.tolerance.is_asked() {
        true => Wanted::Tolerance,
        false => Wanted::Landmarks(selector.as_ref()),
    };
    let opened = Stored::open(&arguments.source, &arguments.kernel, wanted, refinement.is_some())?;
    if let Some(stored) = opened {
        let given = given.as_ref().map(|(path, rows)| (path.as_path(), rows.as_slice()));
        return run_stored(arguments, &stored, selector.as_ref(), given);
    }
    if let Some(path) = &arguments.checkpoint {
        return Err(Error::CheckpointInMemory { path: path.clone() });
    }
    let observer = Bar::default();
    let seed = arguments.source.seed;
    let data = source::prepared(&arguments.source, arguments.source.rows)?;
    data.target()?;
    let setting = source::setting(&data, &arguments.kernel, seed, &observer)?;
    let own = match &given {
        Some((path, rows)) => Some(source::among(&data, path, rows)?),
        None => None,
    };
    let (name, landmarks, select_seconds, choice, curve) = match own {
        Some(rows) if refinement.is_none() => ("given", LandmarkSet::Indices(rows), 0.0, None, None),
        own => {
            let gram = Gram::new(&data, setting.kernel)?;
            let task = Task {
                precision: setting.precision,
                seed,
                ridge: match arguments.ridge {
                    Ridge::Value(gamma) => Some(gamma),
                    Ridge::CrossValidated => None,
                },
                observer: &observer,
                ..Task::new(&gram, 0)
            };
            let count = arguments.landmarks.or(own.map(|own| own.len()));
            let (selection, curve) =
                arguments.tolerance.select(selector.as_ref(), &task, count, arguments.ridge)?;
            source::tell_rest(&selection);
            source::tell_choice(&selection);
            let choice = selection.plan.map(ChoiceReport::from);
            (selector.name(), selection.landmarks, selection.seconds, choice, curve)
        }
    };
    let begin = Instant::now();
    let training = train_at(&data, &landmarks, arguments.ridge, setting, &observer)?;
    let fit_seconds = begin.elapsed().as_secs_f64();
    tell_dependent(&training);
    model::save(&training.model, &arguments.model)?;
    let report = Report {
        model: &arguments.model,
        method: name,
        choice,
        curve,
        landmarks: &training.model.landmark_rows,
        count: training.model.landmarks(),
        sigma: setting.kernel.sigma,
        ridge: training.model.ridge,
        rows: training.model.trained_rows,
        dim: data.dim,
        train_nrmse: training.model.train_nrmse,
        cv_nrmse: training.validation_nrmse,
        dependent: training.dependent,
        select_seconds,
        fit_seconds,
        seed,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report)) }
}

/// [`run`] on a row store where it lies.
fn run_stored(
    arguments: &Fit,
    stored: &Stored,
    selector: &dyn Selector,
    given: Option<(&Path, &[usize])>,
) -> Result<(), Error> {
    let Picked { selection, .. } = match given {
        Some((path, rows)) => stored.given(path, rows)?,
        None => stored.choose(arguments.landmarks.unwrap_or_default(), selector)?,
    };
    let landmarks = selection.landmarks.rows().unwrap_or_default();
    let begin = Instant::now();
    let training = stored.train(arguments, landmarks)?;
    let fit_seconds = begin.elapsed().as_secs_f64();
    tell_dependent(&training);
    model::save(&training.model, &arguments.model)?;
    if let Some(checkpoint) = arguments.checkpoint() {
        checkpoint.remove()?;
    }
    let report = Report {
        model: &arguments.model,
        method: selector.name(),
        choice: selection.plan.map(ChoiceReport::from),
        curve: None,
        landmarks: &training.model.landmark_rows,
        count: training.model.landmarks(),
        sigma: stored.setting.kernel.sigma,
        ridge: training.model.ridge,
        rows: training.model.trained_rows,
        dim: stored.store.features(),
        train_nrmse: training.model.train_nrmse,
        cv_nrmse: training.validation_nrmse,
        dependent: training.dependent,
        select_seconds: selection.seconds,
        fit_seconds,
        seed: arguments.source.seed,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report)) }
}

fn tell_dependent(training: &Training) {
    if training.dependent > 0 {
        note(&format!(
            "{} of {} landmarks depend on others under this kernel, and were left out",
            training.dependent,
            training.dependent + training.model.landmarks()
        ));
    }
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
