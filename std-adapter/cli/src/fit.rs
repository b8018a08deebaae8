//! `dpp-nystrom fit`.

use crate::arguments::{KernelArguments, Source};
use crate::bar::Bar;
use crate::class_report::ClassReport;
use crate::error::Error;
use crate::held_out::{ByTarget, HeldOut};
use crate::method_options::{MethodArguments, methods};
use crate::output::{
    Column, keep_apart, keep_inputs, listed, note, plain_line, print_report, row, short, short_or_dash,
    shown, shown_if_any, table,
};
use crate::report;
use crate::source::{self, PlanReport};
use crate::tolerance::{Curve, ToleranceArguments};
use crate::weak::{Dropped, drop_weak, share};
use clap::Args;
use dpp_nystrom::data::RowSource;
use dpp_nystrom::kernel::{KernelKind, Metric};
use dpp_nystrom::model::export::Bits;
use dpp_nystrom::pipeline::{self, Candidate, FlashParams, InFlash, Landmarks, LearnedMetric, Params};
use dpp_nystrom::regression::{Checkpoint, Ridge};
use dpp_nystrom::selectors::{Exchanged, Given};
use dpp_nystrom::{
    Error as LibraryError, atomic_file::check_writable, landmarks::Selector, landmarks::methods::Method,
    model::Model,
};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Fit {
    #[command(flatten)]
    pub(crate) source: Source,
    /// How many landmarks [default: 100, and at most a quarter of the rows]
    #[arg(long, value_name = "C", conflicts_with = "given")]
    pub(crate) landmarks: Option<usize>,
    /// How to choose them
    #[arg(long, value_parser = methods(false), default_value = "auto")]
    pub(crate) method: &'static Method,
    #[command(flatten)]
    pub(crate) tolerance: ToleranceArguments,
    #[command(flatten)]
    pub(crate) method_options: MethodArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// One bandwidth for all standardised features, or a scale for each or a linear map of them (of rank R), learned from the
    /// target; auto: whichever predicts rows held out best
    #[arg(long, value_name = "one|scales|map|map:R|auto", default_value = "auto")]
    pub(crate) metric: Metric,
    /// Leave out columns whose share of the learned metric is below SHARE, such as 1%, and learn a metric of the others: the report
    /// has the errors with them and without
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "checkpoint")]
    pub(crate) drop_below: Option<f64>,
    /// Landmarks that may leave the rows: they begin as rows, and move in the same descent as the metric. At most 100; --method is
    /// not used
    #[arg(long, conflicts_with_all = ["given", "tolerance", "method"])]
    pub(crate) free_landmarks: bool,
    /// In place of --landmarks and --metric: the model with the least error whose prediction takes at most so many bytes of flash, code
    /// and constants, on a Cortex-M4F: 2048, 2KiB
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = size,
        conflicts_with_all = ["landmarks", "metric", "given", "tolerance", "free_landmarks", "sigma", "precision", "checkpoint"]
    )]
    pub(crate) flash: Option<usize>,
    /// The ridge γ, which is multiplied by the number of rows: a number, cv (10-fold) or loo (leave-one-out)
    #[arg(long, value_name = "F|cv|loo", default_value = "cv")]
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
    /// Write a page on the fit: errors of rows held out, residuals, features, landmarks, novelty. It takes about as long again as the
    /// regression, and no longer than one on 65536 rows
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Keep in the model what variances need: c²/2 numbers for c landmarks
    #[arg(long)]
    pub(crate) variance: bool,
    /// Keep what was learned in this file, and resume from it if the fit was cut off
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Seconds between two writings of the checkpoint
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "10", requires = "checkpoint")]
    pub(crate) checkpoint_every: Duration,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parse a number of seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.trim().parse().ok().and_then(|number| Duration::try_from_secs_f64(number).ok());
    seconds.ok_or_else(|| format!("invalid value {text:?}: expected a number of seconds, 0 or more"))
}

/// Parse a number of bytes.
fn size(text: &str) -> Result<usize, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "B" => Some(1),
        "KiB" => Some(1 << 10),
        "kB" => Some(1_000),
        "MiB" => Some(1 << 20),
        _ => None,
    };
    number
        .parse::<usize>()
        .ok()
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor))
        .ok_or_else(|| format!("invalid value {text:?}: expected a number of bytes, such as 2048 or 2KiB"))
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(serialize_with = "shown")]
    model: &'a Path,
    #[serde(serialize_with = "shown_if_any", skip_serializing_if = "Option::is_none")]
    report: Option<&'a Path>,
    method: &'a str,
    #[serde(flatten)]
    plan: Option<PlanReport>,
    #[serde(flatten)]
    curve: Option<Curve>,
    landmarks: &'a [u64],
    #[serde(skip)]
    count: usize,
    sigma: f64,
    #[serde(skip)]
    bandwidth: Option<f64>,
    #[serde(flatten)]
    metric: Option<MetricReport<'a>>,
    /// The kernel, if it was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelReport>,
    #[serde(flatten)]
    dropped: Option<Dropped>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flash: Option<FlashReport>,
    ridge: f64,
    rows: u64,
    /// The column of weights, over which errors are means.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<&'a str>,
    dim: usize,
    train_nrmse: f64,
    cv_nrmse: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<ClassReport<'a>>,
    #[serde(skip)]
    leaves_one_out: bool,
    dependent: usize,
    /// Of the learning of the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    metric_seconds: Option<f64>,
    select_seconds: f64,
    fit_seconds: f64,
    seed: u64,
}

/// What was chosen to fit into flash, and what it was chosen from.
#[derive(Serialize)]
struct FlashReport {
    budget: usize,
    chosen: Tried,
    candidates: Vec<Tried>,
}

#[derive(Serialize)]
struct Tried {
    metric: Metric,
    numbers: &'static str,
    landmarks: usize,
    free_landmarks: bool,
    /// Ridge regression on the features themselves.
    line: bool,
    bytes: usize,
    /// On rows held out, as a device computes it.
    nrmse: f64,
}

impl From<&Candidate> for Tried {
    fn from(candidate: &Candidate) -> Self {
        let &Candidate { metric, quantise, landmarks, free: free_landmarks, line, bytes, nrmse, .. } =
            candidate;
        let numbers = match quantise {
            None => "f32",
            Some(Bits::Sixteen) => "i16",
            Some(Bits::Eight) => "i8",
        };
        Self { metric, numbers, landmarks, free_landmarks, line, bytes, nrmse }
    }
}

impl FlashReport {
    const COLUMNS: [Column<Tried>; 6] = [
        ("metric", |tried| if tried.line { "line".to_owned() } else { tried.metric.to_string() }),
        ("numbers", |tried| tried.numbers.to_owned()),
        ("landmarks", |tried| tried.landmarks.to_string()),
        ("free", |tried| if tried.free_landmarks { "yes" } else { "no" }.to_owned()),
        ("bytes", |tried| tried.bytes.to_string()),
        ("error on rows held out", |tried| short(tried.nrmse)),
    ];

    fn text(&self) -> String {
        format!(
            "\nModels tried for {} bytes of flash, the best first; write it with: dpp-nystrom export MODEL --to c\n{}",
            self.budget,
            table(&Self::COLUMNS, &self.candidates)
        )
    }
}

/// A kernel, and the errors on rows held out by which it was chosen.
#[derive(Serialize)]
struct KernelReport {
    chosen: String,
    held_out: Vec<TriedKernel>,
}

#[derive(Serialize)]
struct TriedKernel {
    kernel: String,
    #[serde(flatten)]
    error: ByTarget,
}

impl KernelReport {
    fn of(learned: &LearnedMetric, classes: bool) -> Option<Self> {
        let tried = |&(kind, error): &(KernelKind, f64)| TriedKernel {
            kernel: name_of_kernel(kind),
            error: ByTarget::of(error, classes),
        };
        let held_out: Vec<TriedKernel> = learned.kinds.iter().map(tried).collect();
        (!held_out.is_empty()).then(|| Self { chosen: name_of_kernel(learned.kernel.kind), held_out })
    }

    fn words(&self) -> String {
        let words = |tried: &TriedKernel| format!("{} {}", tried.kernel, short(tried.error.value()));
        let errors: Vec<String> = self.held_out.iter().map(words).collect();
        let what = self.held_out.first().map_or("errors", |tried| tried.error.plural());
        format!("{} ({what} on rows held out: {})", self.chosen, errors.join(", "))
    }
}

/// A learned metric, and the errors by which it was judged.
#[derive(Serialize)]
struct MetricReport<'a> {
    metric: Metric,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_learned: Option<&'static str>,
    scales: &'a [f64],
    map: Option<Vec<&'a [f64]>>,
    held_out: Vec<HeldOut>,
}

impl<'a> MetricReport<'a> {
    fn of(learned: &'a LearnedMetric, classes: bool) -> Self {
        let LearnedMetric { metric, scales, map, reason, .. } = learned;
        Self {
            metric: *metric,
            not_learned: *reason,
            scales,
            map: map.as_ref().map(|map| map.values.chunks_exact(scales.len()).collect()),
            held_out: HeldOut::of(learned, classes).collect(),
        }
    }

    fn words(&self) -> String {
        let what = self.held_out.first().map_or("errors", |tried| tried.error.plural());
        let errors: Vec<String> = self.held_out.iter().map(HeldOut::words).collect();
        match self.not_learned {
            Some(reason) => format!("{} (not learned: {reason})", self.metric),
            None => format!("{} ({what} on rows held out: {})", self.metric, errors.join(", ")),
        }
    }
}

pub(crate) fn run(arguments: &Fit) -> Result<(), Error> {
    let given = arguments.given.as_deref().map(source::given).transpose()?;
    let inputs = [&arguments.source.data].into_iter().chain(&arguments.given);
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    let outputs = [
        Some(&arguments.model),
        arguments.tolerance.curve.as_ref(),
        arguments.checkpoint.as_ref(),
        arguments.report.as_ref(),
    ];
    keep_apart(outputs.into_iter().flatten())?;
    for output in outputs.into_iter().flatten() {
        keep_inputs(Some(output), &inputs)?;
        check_writable(output)?;
    }
    if given.is_none() {
        arguments.method_options.tell_unused(&[arguments.method]);
    }
    let options = arguments.method_options.options(&[]);
    let selector: Box<dyn Selector> = match (&given, options.refinement) {
        (Some(rows), Some(refinement)) => {
            Box::new(Exchanged::new(Box::new(Given::new(rows.clone())), refinement))
        }
        (Some(rows), None) => Box::new(Given::new(rows.clone())),
        (None, _) => arguments.method.selector(&options),
    };
    let seed = arguments.source.seed;
    let source = source::open(&arguments.source)?;
    if arguments.variance && !source.columns().further.is_empty() {
        return Err(LibraryError::SeveralTargets { what: "--variance" }.into());
    }
    let landmarks = match (&given, &arguments.given) {
        (Some(given), Some(path)) => {
            let rows = source::among(&*source, path, given)?;
            let refines = options.refinement.is_some();
            if refines { Landmarks::Count(rows.len()) } else { Landmarks::Rows(rows) }
        }
        _ => match arguments.tolerance.wanted(arguments.landmarks, source.len(), arguments.ridge) {
            Landmarks::Count(count) if arguments.free_landmarks => Landmarks::Free(count),
            wanted => wanted,
        },
    };
    let count = match &landmarks {
        // Kernels are compared on request where integers may be wanted, and for classes, whose log-losses have not shown that it pays.
        _ if arguments.flash.is_some() || source.columns().classes.is_some() => 0,
        Landmarks::Count(count) | Landmarks::Free(count) => *count,
        Landmarks::Rows(rows) => rows.len(),
        _ => 0,
    };
    let params = Params {
        kernel: arguments.kernel.with_metric(arguments.metric, count)?,
        landmarks,
        selector: &*selector,
        ridge: arguments.ridge,
        precision: arguments.kernel.precision,
        seed,
    };
    let usual = arguments.landmarks.is_none() && given.is_none();
    let without = arguments.drop_below.map(|least| drop_weak(least, &*source, &params, usual)).transpose()?;
    let (source, dropped) = match without.flatten() {
        Some((rows, dropped)) => (Box::new(rows) as Box<dyn RowSource>, Some(dropped)),
        None => (source, None),
    };
    let every = arguments.checkpoint_every;
    let mut checkpoint = arguments.checkpoint.clone().map(|path| Checkpoint::new(path, every));
    let (outcome, flash) = match arguments.flash {
        Some(_) if params.kernel.any_kind => return Err(Error::OneKernelInFlash),
        Some(bytes) => {
            let kernel = params.kernel.kind;
            let flash = FlashParams { bytes, kernel, selector: &*selector, ridge: arguments.ridge, seed };
            let InFlash { outcome, chosen, candidates, .. } = pipeline::fit_in_flash(&*source, &flash, &Bar)?;
            let candidates = candidates.iter().map(Tried::from).collect();
            (outcome, Some(FlashReport { budget: bytes, chosen: Tried::from(&chosen), candidates }))
        }
        None => {
            let outcome = ToleranceArguments::with_fewer(usual, params.landmarks.clone(), |landmarks| {
                let params = Params { landmarks: landmarks.clone(), ..params.clone() };
                pipeline::fit(&*source, &params, checkpoint.as_mut(), &Bar)
            })?;
            (outcome, None)
        }
    };
    let (selected, fitted) = (&outcome.selected, &outcome.fitted);
    source::tell(selected);
    if let Some(resumed) = checkpoint.as_ref().map(Checkpoint::resumed).filter(|&rows| rows > 0) {
        note(&format!("resumed: {resumed} rows had been accumulated before the fit was cut off"));
    }
    if fitted.dependent > 0 {
        note(&format!(
            "{} of {} landmarks depend on others under this kernel, and were left out",
            fitted.dependent,
            fitted.dependent + fitted.model.landmarks()
        ));
    }
    let mut model = fitted.model.clone();
    if !arguments.variance
        && let Some(confidence) = &mut model.confidence
    {
        confidence.triangle.clear();
    }
    model.save(&arguments.model)?;
    if let Some(checkpoint) = checkpoint {
        checkpoint.remove()?;
    }
    let free = arguments.free_landmarks || flash.as_ref().is_some_and(|flash| flash.chosen.free_landmarks);
    let classes = fitted.model.classifier.is_some();
    let report = Report {
        model: &arguments.model,
        report: arguments.report.as_deref(),
        method: match &flash {
            Some(flash) if flash.chosen.line => "line",
            _ if free => "free",
            _ => selector.name(),
        },
        plan: selected.selection.plan.clone().map(PlanReport::from),
        curve: arguments.tolerance.curve(selected, selector.name())?,
        landmarks: &fitted.model.landmark_rows,
        count: fitted.model.landmarks(),
        sigma: selected.kernel.sigma,
        bandwidth: selected.kernel.bandwidth(),
        metric: selected.metric.as_ref().map(|learned| MetricReport::of(learned, classes)),
        kernel: selected.metric.as_ref().and_then(|learned| KernelReport::of(learned, classes)),
        dropped,
        flash,
        ridge: fitted.model.ridge,
        rows: fitted.model.trained_rows,
        weight: fitted.model.weight(),
        dim: fitted.model.feature_names.len(),
        train_nrmse: fitted.model.train_nrmse,
        cv_nrmse: fitted.validation_nrmse,
        classes: ClassReport::of(&fitted.model, fitted.class_errors.as_ref()),
        leaves_one_out: arguments.ridge == Ridge::LeaveOneOut,
        dependent: fitted.dependent,
        metric_seconds: (selected.metric_seconds > 0.0).then_some(selected.metric_seconds),
        select_seconds: selected.selection.seconds,
        fit_seconds: outcome.fit_seconds,
        seed,
    };
    if let Some(path) = &arguments.report {
        let classes = report.classes.as_ref();
        let choices = choices(&report, arguments, &model);
        let (data, source) = (&arguments.source.data, &*source);
        report::write(path, &report::Subject { data, source, outcome: &outcome, choices, classes, seed })?;
    }
    print_report(arguments.json, &report, text)
}

/// Return what was fitted and how, for the page.
fn choices(report: &Report<'_>, arguments: &Fit, model: &Model) -> Vec<Vec<String>> {
    let targets: Vec<String> = match &model.classifier {
        Some(classifier) => {
            vec![format!("{}, {} classes", classifier.classes.column, classifier.classes.labels.len())]
        }
        None => model.targets().map(|target| target.name).collect(),
    };
    let mut rows = vec![row("data", arguments.source.data.display()), row("target", targets.join(", "))];
    if report.kernel.is_none() {
        rows.push(row("kernel", name_of_kernel(model.kernel.kind)));
    }
    rows.extend(lines(report));
    rows.extend(report.dropped.as_ref().map(|dropped| row("left out", dropped.columns())));
    rows.extend([row("seed", report.seed), row("model", report.model.display())]);
    rows.into_iter().map(|row| row.iter().map(|cell| plain_line(cell)).collect()).collect()
}

fn name_of_kernel(kind: KernelKind) -> String {
    format!("{kind:?}").to_lowercase()
}

fn text(report: &Report<'_>) -> String {
    let rows = lines(report);
    let model = report.model.display().to_string();
    let held_out = report.metric.as_ref().map_or(&[][..], |metric| &metric.held_out);
    let dropped = report.dropped.as_ref().map_or_else(String::new, |dropped| dropped.text(held_out));
    let curve = report.curve.as_ref().map_or_else(String::new, Curve::text);
    let flash = report.flash.as_ref().map_or_else(String::new, FlashReport::text);
    let classes = report.classes.as_ref().map_or_else(String::new, ClassReport::text);
    listed(&["model", &model], &rows)
        + "\nErrors are in standard deviations of the target.\n"
        + &classes
        + &dropped
        + &curve
        + &flash
}

/// Return names and values of what was chosen and measured.
fn lines(report: &Report<'_>) -> Vec<Vec<String>> {
    let chosen = match &report.plan {
        Some(plan) => format!("{}: {}", report.method, plan.words()),
        None => report.method.to_owned(),
    };
    let mut rows = vec![
        row("rows x features", format!("{} x {}", report.rows, report.dim)),
        row("landmarks", format!("{} ({})", report.count, chosen)),
        row("bandwidth", short_or_dash(report.bandwidth)),
        row("ridge", short(report.ridge)),
        row("training error", short(report.train_nrmse)),
        row(
            if report.leaves_one_out { "leave-one-out error" } else { "10-fold error" },
            short_or_dash(report.cv_nrmse),
        ),
        row("seconds to select", short(report.select_seconds)),
        row("seconds to fit", short(report.fit_seconds)),
    ];
    if let Some(seconds) = report.metric_seconds {
        rows.insert(rows.len() - 2, row("seconds to learn the metric", short(seconds)));
    }
    if let Some(weight) = report.weight {
        rows.insert(1, row("weights", format!("{weight}; errors are means over them")));
    }
    if let Some(metric) = &report.metric {
        rows.insert(if report.weight.is_some() { 4 } else { 3 }, row("metric", metric.words()));
    }
    if let Some(kernel) = &report.kernel {
        rows.insert(if report.weight.is_some() { 3 } else { 2 }, row("kernel", kernel.words()));
    }
    rows
}
