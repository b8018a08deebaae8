//! `dpp-nystrom select`.

use super::source;
use crate::arguments::{KernelArguments, Source};
use crate::bar::Bar;
use crate::knobs::{MethodArguments, methods};
use crate::output::{aligned, keep_inputs, print, print_json, short, write_column, write_table};
use crate::source::ChoiceReport;
use crate::stored::{Picked, Stored, Wanted};
use crate::tolerance::Curve;
use crate::tolerance::ToleranceArguments;
use clap::Args;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::{Gram, LandmarkSet};
use dpp_nystrom::atomic_file::check_writable;
use dpp_nystrom::landmarks::methods::Method;
use dpp_nystrom::landmarks::{Objective, RefinementOutcome, Selector, Task};
use dpp_nystrom::regression::Ridge;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Select {
    #[command(flatten)]
    pub(crate) source: Source,
    /// How many landmarks
    #[arg(long, value_name = "C", required_unless_present = "tolerance", allow_negative_numbers = true)]
    pub(crate) landmarks: Option<usize>,
    /// How to choose them
    #[arg(long, value_parser = methods(false), default_value = "kdpp")]
    pub(crate) method: &'static Method,
    #[command(flatten)]
    pub(crate) tolerance: ToleranceArguments,
    #[command(flatten)]
    pub(crate) knobs: MethodArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// Write the landmarks' row numbers to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    method: &'a str,
    /// Rows of the file; none where the landmarks are points of their own.
    landmarks: &'a [usize],
    /// Points in the file's units, of methods whose landmarks are no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Vec<&'a [f64]>>,
    sigma: f64,
    rows: usize,
    dim: usize,
    steps: u64,
    accepted: u64,
    log_det: f64,
    trace_error: f64,
    trace_fraction: f64,
    /// Rows that the trace error was measured on, where not on all.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_rows: Option<usize>,
    /// Whether the chain came to rest; null without one, and where the number of steps was given.
    converged: Option<bool>,
    #[serde(flatten)]
    choice: Option<ChoiceReport>,
    #[serde(flatten)]
    curve: Option<Curve>,
    /// What exchanges lowered.
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refinement: Option<RefinementReport>,
    seconds: f64,
    seed: u64,
}

#[derive(Serialize)]
struct RefinementReport {
    sweeps: u64,
    exchanges: u64,
    /// Of the objective trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_error_before: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_error_after: Option<f64>,
    /// Of the objective ridge: root mean squares, in standard deviations of the target. Null where with so little
    /// ridge a row is its own prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    leave_one_out_nrmse_before: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leave_one_out_nrmse_after: Option<f64>,
    /// Rows that these errors are of.
    measured_rows: usize,
    all_rows: bool,
}

impl RefinementReport {
    fn new(gain: RefinementOutcome, rows: usize) -> Self {
        let is_trace = gain.objective == Objective::Trace;
        let trace = |error: f64| is_trace.then_some(error);
        let ridge = |square: f64| (!is_trace).then_some(square.sqrt());
        Self {
            sweeps: gain.sweeps,
            exchanges: gain.exchanges,
            trace_error_before: trace(gain.before),
            trace_error_after: trace(gain.after),
            leave_one_out_nrmse_before: ridge(gain.before),
            leave_one_out_nrmse_after: ridge(gain.after),
            measured_rows: gain.measured,
            all_rows: gain.measured == rows,
        }
    }

    /// The error that was lowered, before and after.
    fn errors(&self) -> (&'static str, f64, f64) {
        let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
        match self.trace_error_before {
            Some(before) => ("trace error", before, or_nan(self.trace_error_after)),
            None => (
                "leave-one-out error",
                or_nan(self.leave_one_out_nrmse_before),
                or_nan(self.leave_one_out_nrmse_after),
            ),
        }
    }
}

pub(crate) fn run(arguments: &Select) -> Result<(), Error> {
    for output in [&arguments.out, &arguments.tolerance.curve].into_iter().flatten() {
        keep_inputs(Some(output), &[&arguments.source.data])?;
        check_writable(output)?;
    }
    arguments.knobs.tell_unused(&[arguments.method]);
    let options = arguments.knobs.options(&[]);
    let selector = arguments.method.selector(&options);
    let wanted = match arguments.tolerance.is_asked() {
        true => Wanted::Tolerance,
        false => Wanted::Landmarks(selector.as_ref()),
    };
    let refines = options.refinement.is_some();
    if let Some(stored) = Stored::open(&arguments.source, &arguments.kernel, wanted, refines)? {
        return run_stored(arguments, &stored, selector.as_ref());
    }
    let observer = Bar::default();
    let seed = arguments.source.seed;
    let data = source::prepared(&arguments.source, arguments.source.rows)?;
    let setting = source::setting(&data, &arguments.kernel, seed, &observer)?;
    let gram = Gram::new(&data, setting.kernel)?;
    let precision = setting.precision;
    let task = Task { precision, seed, observer: &observer, ..Task::new(&gram, 0) };
    let (chosen, curve) =
        arguments.tolerance.select(selector.as_ref(), &task, arguments.landmarks, Ridge::CrossValidated)?;
    source::tell_rest(&chosen);
    source::tell_choice(&chosen);
    let trace = gram.trace_error(&chosen.landmarks)?;
    let (landmarks, points): (Vec<usize>, Vec<f64>) = match chosen.landmarks {
        LandmarkSet::Indices(rows) => (rows.iter().map(|&row| data.number(row)).collect(), Vec::new()),
        LandmarkSet::Points(mut points) => {
            data.statistics.undo(&mut points);
            (Vec::new(), points)
        }
    };
    if let Some(path) = &arguments.out {
        if points.is_empty() {
            write_column(Some(path), "row", landmarks.iter())?;
        } else {
            write_table(path, &data.feature_names, &points)?;
        }
    }
    let report = Report {
        method: arguments.method.name,
        landmarks: &landmarks,
        points: (!points.is_empty()).then(|| points.chunks_exact(data.dim).collect()),
        sigma: setting.kernel.sigma,
        rows: data.len(),
        dim: data.dim,
        steps: chosen.steps,
        accepted: chosen.accepted,
        log_det: chosen.log_det,
        trace_error: trace.error,
        trace_fraction: trace.fraction,
        measured_rows: None,
        converged: chosen.converged,
        choice: chosen.plan.map(ChoiceReport::from),
        curve,
        objective: chosen.refinement.map(|gain| objective(gain.objective)),
        refinement: chosen.refinement.map(|gain| RefinementReport::new(gain, data.len())),
        seconds: chosen.seconds,
        seed,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report, arguments.out.is_none())) }
}

/// [`run`] on a row store where it lies.
fn run_stored(arguments: &Select, stored: &Stored, selector: &dyn Selector) -> Result<(), Error> {
    let Picked { selection, among } = stored.choose(arguments.landmarks.unwrap_or_default(), selector)?;
    let landmarks = selection.landmarks.rows().unwrap_or_default();
    let missed = stored.missed(landmarks)?;
    if let Some(path) = &arguments.out {
        write_column(Some(path), "row", landmarks.iter())?;
    }
    let report = Report {
        method: arguments.method.name,
        landmarks,
        points: None,
        sigma: stored.setting.kernel.sigma,
        rows: stored.store.len(),
        dim: stored.store.features(),
        steps: selection.steps,
        accepted: selection.accepted,
        log_det: selection.log_det,
        trace_error: missed.of_all.error,
        trace_fraction: missed.of_all.fraction,
        measured_rows: (missed.rows < stored.store.len()).then_some(missed.rows),
        converged: selection.converged,
        choice: selection.plan.map(ChoiceReport::from),
        curve: None,
        objective: selection.refinement.map(|gain| objective(gain.objective)),
        refinement: selection.refinement.map(|gain| RefinementReport::new(gain, among)),
        seconds: selection.seconds,
        seed: arguments.source.seed,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report, arguments.out.is_none())) }
}

fn objective(objective: Objective) -> &'static str {
    match objective {
        Objective::Trace => "trace",
        Objective::Ridge => "ridge",
    }
}

fn text(report: &Report<'_>, list: bool) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        row("rows x features", format!("{} x {}", report.rows, report.dim)),
        row("chosen", report.choice.as_ref().map_or_else(String::new, ChoiceReport::words)),
        row("landmarks", report.points.as_ref().map_or(report.landmarks.len(), Vec::len).to_string()),
        row("bandwidth", short(report.sigma)),
        row("steps", report.steps.to_string()),
        row("accepted swaps", report.accepted.to_string()),
        row("log-determinant", short(report.log_det)),
        row("trace error", short(report.trace_error)),
        row("trace error / trace", short(report.trace_fraction)),
        row("seconds", short(report.seconds)),
    ];
    if let Some(measured) = report.measured_rows {
        rows.push(row("trace error on", format!("{measured} rows")));
    }
    rows.retain(|row| !row[1].is_empty());
    if let Some(refinement) = &report.refinement {
        let rows_measured =
            if refinement.all_rows { "all".to_owned() } else { refinement.measured_rows.to_string() };
        let (name, before, after) = refinement.errors();
        rows.push(row(
            "refinement",
            format!(
                "{} exchanges in {} sweeps; {name} {} to {}, on {rows_measured} rows",
                refinement.exchanges,
                refinement.sweeps,
                short(before),
                short(after),
            ),
        ));
    }
    let mut text = aligned(&["method", report.method], &rows);
    if let Some(curve) = &report.curve {
        text.push_str(&curve.text());
    }
    if let (true, Some(points)) = (list, &report.points) {
        text.push_str("\npoints, in the units of the file:\n");
        for point in points {
            let values: Vec<String> = point.iter().map(|&value| short(value)).collect();
            text.push_str(&format!("{}\n", values.join(" ")));
        }
    } else if list {
        text.push_str("\nrows:");
        for row in report.landmarks {
            text.push_str(&format!(" {row}"));
        }
        text.push('\n');
    }
    text
}
