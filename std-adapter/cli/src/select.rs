//! `dpp-nystrom select`.

use crate::arguments::{KernelArguments, Source};
use crate::bar::Bar;
use crate::conditions::ConditionArguments;
use crate::error::Error;
use crate::output::{
    keep_apart, keep_inputs, listed, note, print_report, row, short, short_or_dash, write_columns_in_parts,
    write_csv,
};
use crate::precomputed;
use crate::source;
use crate::tolerance::{Curve, ToleranceArguments};
use clap::Args;
use dpp_nystrom::core::Matrix;
use dpp_nystrom::landmarks::{Objective, RefinementOutcome, Selector, select};
use dpp_nystrom::pipeline::{self, Landmarks, Params, Selected, with_usual};
use dpp_nystrom::{
    Dataset, Error as LibraryError, Nystroem, Ridge,
    approximation::Gram,
    approximation::LandmarkSet,
    landmarks::methods::{Method, SelectorOptions},
};
use dpp_nystrom_host::atomic_file::check_writable;
use dpp_nystrom_lab::chart::{Axis, Layer, Picture, Scale, draw_pictures};
use dpp_nystrom_lab::components::{picture, sampled};
use dpp_nystrom_lab::report::PlanReport;
use dpp_nystrom_lab::selectors;
use dpp_nystrom_options::{MethodArguments, methods};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct Select {
    #[command(flatten)]
    pub(crate) source: Source,
    /// How many landmarks [default: 100, and at most a quarter of the rows]
    #[arg(long, value_name = "C")]
    pub(crate) landmarks: Option<usize>,
    /// How to choose them
    #[arg(long, value_parser = methods(selectors::methods(), false), default_value = "kdpp")]
    pub(crate) method: &'static Method,
    #[command(flatten)]
    pub(crate) conditions: ConditionArguments,
    #[command(flatten)]
    pub(crate) tolerance: ToleranceArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// Write the landmarks' row numbers to a CSV file, with the place of each in the order of selection, from
    /// 0, and its gain: its residual given the rows before it. Rows that are selected all at once, as by a
    /// chain or refinement, are in the order of the largest residual
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Draw rows and landmarks in the first two kernel principal components, and the gain of each landmark in
    /// the order of selection
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) chart: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) method_options: MethodArguments,
}

#[derive(Serialize)]
struct Report<'a> {
    method: &'a str,
    /// Rows of the file; none where the landmarks are points of their own.
    landmarks: &'a [usize],
    /// The rows in the order of selection.
    order: Vec<usize>,
    /// The residual of each given the rows before it, times the square of its quality.
    gains: Vec<f64>,
    /// Points in the file's units, of methods whose landmarks are not rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Vec<&'a [f64]>>,
    sigma: Option<f64>,
    #[serde(skip)]
    bandwidth: Option<f64>,
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
    split_r_hat: Option<f64>,
    #[serde(flatten)]
    plan: Option<PlanReport>,
    #[serde(flatten)]
    curve: Option<Curve>,
    /// What exchanges lowered.
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<Objective>,
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
    /// Of the objective ridge: root mean squares, in standard deviations of the target. Null where with so
    /// little ridge a row is its own prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    leave_one_out_nrmse_before: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leave_one_out_nrmse_after: Option<f64>,
    /// Rows that these errors are of.
    measured_rows: usize,
    all_rows: bool,
    /// The error that was lowered, before and after.
    #[serde(skip)]
    errors: (&'static str, f64, f64),
}

impl RefinementReport {
    fn new(gain: RefinementOutcome, rows: usize) -> Self {
        let RefinementOutcome { before, after, .. } = gain;
        let is_trace = gain.objective == Objective::Trace;
        let trace = |error: f64| is_trace.then_some(error);
        let ridge = |square: f64| (!is_trace).then_some(square.sqrt());
        Self {
            sweeps: gain.sweeps,
            exchanges: gain.exchanges,
            trace_error_before: trace(before),
            trace_error_after: trace(after),
            leave_one_out_nrmse_before: ridge(before),
            leave_one_out_nrmse_after: ridge(after),
            measured_rows: gain.measured,
            all_rows: gain.measured == rows,
            errors: match gain.objective {
                Objective::Trace => ("trace error", before, after),
                Objective::Ridge => ("leave-one-out error", before.sqrt(), after.sqrt()),
            },
        }
    }
}

pub(crate) fn run(arguments: &Select) -> Result<(), Error> {
    let outputs = [&arguments.out, &arguments.tolerance.curve, &arguments.chart];
    keep_apart(outputs.into_iter().flatten())?;
    for output in outputs.into_iter().flatten() {
        keep_inputs(Some(output), &[&arguments.source.data])?;
        check_writable(output)?;
    }
    arguments.method_options.unused(&[arguments.method]).iter().for_each(|warning| note(warning));
    let mut options = arguments.method_options.options(&[]);
    if arguments.kernel.is_precomputed() {
        return of_matrix(arguments, options);
    }
    let (ridge, seed) = (Ridge::CrossValidated, arguments.source.seed);
    let source = arguments.conditions.open(&arguments.source, &mut options)?;
    let selector = arguments.method.selector(&options);
    let params = Params {
        kernel: arguments.kernel.params()?,
        landmarks: arguments.tolerance.wanted(arguments.landmarks, source.len(), ridge),
        selector: &*selector,
        ridge,
        precision: arguments.kernel.precision,
        seed,
        ..Params::default()
    };
    let selected = pipeline::select(&*source, &params, &Bar)?;
    source::tell(&selected);
    if params.landmarks == Landmarks::Usual {
        source::tell_fewer(&selected, None)?;
    }
    let method = selector.name();
    let curve = arguments.tolerance.curve(&selected, method)?;
    let trace = selected.trace_error(seed)?;
    let (rows, columns) = (selected.source(), selected.source().columns());
    let (landmarks, points): (Vec<usize>, Vec<f64>) = match &selected.selection.landmarks {
        LandmarkSet::Indices(indices) => {
            (indices.iter().map(|&row| rows.row_number(row)).collect(), Vec::new())
        }
        LandmarkSet::Points(points) => {
            let mut points = points.clone();
            columns.scaler.undo(&mut points);
            (Vec::new(), points)
        }
    };
    let in_order = selected.in_order()?.into_iter().map(|(row, gain)| (rows.row_number(row), gain));
    let (order, gains): (Vec<usize>, Vec<f64>) = in_order.unzip();
    if let Some(path) = &arguments.out {
        if points.is_empty() {
            write_rows(path, &order, &gains)?;
        } else {
            let points = points.chunks_exact(columns.features());
            write_csv(path, &columns.feature_names, points.map(|point| point.iter().map(f64::to_string)))?;
        }
    }
    if let Some(path) = &arguments.chart {
        draw_chart(path, method, &selected, &gains)?;
    }
    let candidates = selected.sample.as_ref().map_or(rows.len(), |sample| sample.len());
    let selection = &selected.selection;
    let report = Report {
        method,
        landmarks: &landmarks,
        order,
        gains,
        points: (!points.is_empty()).then(|| points.chunks_exact(columns.features()).collect()),
        sigma: Some(selected.kernel.sigma),
        bandwidth: selected.kernel.bandwidth(),
        rows: rows.len(),
        dim: columns.features(),
        steps: selection.steps,
        accepted: selection.accepted,
        log_det: selection.log_det,
        trace_error: trace.of_all.error,
        trace_fraction: trace.of_all.fraction,
        measured_rows: (trace.rows < rows.len()).then_some(trace.rows),
        converged: selection.convergence.map(|chains| chains.converged),
        split_r_hat: selection.convergence.map(|chains| chains.r_hat),
        plan: selection.plan.clone().map(PlanReport::from),
        curve,
        objective: selection.refinement.map(|refinement| refinement.objective),
        refinement: selection.refinement.map(|refinement| RefinementReport::new(refinement, candidates)),
        seconds: selection.seconds,
        seed,
    };
    print_report(arguments.json, &report, |report| text(report, arguments.out.is_none()))
}

/// Write the rows, ascending, with the place of each in the order of selection, from 0, and its gain.
fn write_rows(path: &Path, order: &[usize], gains: &[f64]) -> Result<(), Error> {
    let mut lines: Vec<_> = order.iter().zip(gains).enumerate().collect();
    lines.sort_unstable_by_key(|(_, (row, _))| **row);
    write_columns_in_parts(Some(path), &["row", "order", "gain"], |put| {
        lines.into_iter().try_for_each(|(place, (row, gain))| put(&format!("{row},{place},{gain}")))
    })?;
    Ok(())
}

/// Draw rows and landmarks, and the gains in the order of selection.
fn draw_chart(path: &Path, method: &str, selected: &Selected<'_>, gains: &[f64]) -> Result<(), Error> {
    let rows = selected.source();
    let landmarks = selected.selection.landmarks.features(rows)?;
    let count = selected.selection.landmarks.count(rows.width());
    let map = Nystroem::of_landmarks(rows.columns(), landmarks.clone(), selected.kernel)?;
    let components = picture(&map, &sampled(rows)?, &landmarks)?.picture;
    let mut pictures = vec![("rows (dots) and landmarks (triangles)", components)];
    if !gains.is_empty() {
        let curve: Vec<(f64, f64)> =
            gains.iter().enumerate().map(|(at, &gain)| ((at + 1) as f64, gain)).collect();
        let x = Axis::new("landmarks", Scale::Linear);
        let y = Axis::new("residual of the next landmark", Scale::Logarithmic);
        let layers = vec![Layer::Line(curve)];
        pictures.push(("gain of each further landmark", Picture { x, y, layers }));
    }
    let title = format!("{count} landmarks of {} by {method}", rows.columns().name);
    Ok(draw_pictures(path, &title, &pictures)?)
}

/// Select among the rows of a kernel matrix.
fn of_matrix(arguments: &Select, mut options: SelectorOptions) -> Result<(), Error> {
    let Select { source, tolerance, kernel, out, json, .. } = arguments;
    let (matrix, rows) = precomputed::matrix(source, kernel)?;
    arguments.conditions.of_matrix(rows, &mut options)?;
    let selector = &*arguments.method.selector(&options);
    if tolerance.is_given() {
        return Err(Error::OfRows("--tolerance"));
    }
    if arguments.chart.is_some() {
        return Err(Error::OfRows("--chart"));
    }
    let ground = Matrix::new(&matrix).map_err(LibraryError::from)?;
    let select = |count| select(&ground, count, selector, source.seed, &Bar);
    let selection = match arguments.landmarks {
        Some(count) => select(count),
        None => with_usual(rows, select),
    }?;
    let landmarks = selection.landmarks.rows().unwrap_or_default();
    let (order, gains): (Vec<usize>, Vec<f64>) =
        selection.in_order(&Gram::over(&ground, None))?.into_iter().unzip();
    if let Some(path) = out {
        write_rows(path, &order, &gains)?;
    }
    let trace_fraction =
        precomputed::map(&matrix, rows, landmarks)?.trace_error(&Dataset::from_gram(&matrix, rows)?)?;
    let trace: f64 = (0..rows).map(|row| matrix[row * rows + row]).sum();
    let report = Report {
        method: selector.name(),
        landmarks,
        order,
        gains,
        points: None,
        sigma: None,
        bandwidth: None,
        rows,
        dim: rows,
        steps: selection.steps,
        accepted: selection.accepted,
        log_det: selection.log_det,
        trace_error: trace_fraction * trace,
        trace_fraction,
        measured_rows: None,
        converged: selection.convergence.map(|chains| chains.converged),
        split_r_hat: selection.convergence.map(|chains| chains.r_hat),
        plan: selection.plan.clone().map(PlanReport::from),
        curve: None,
        objective: selection.refinement.map(|refinement| refinement.objective),
        refinement: selection.refinement.map(|refinement| RefinementReport::new(refinement, rows)),
        seconds: selection.seconds,
        seed: source.seed,
    };
    print_report(*json, &report, |report| text(report, out.is_none()))
}

fn text(report: &Report<'_>, list: bool) -> String {
    let mut rows = vec![
        row("rows x features", format!("{} x {}", report.rows, report.dim)),
        row("chosen", report.plan.as_ref().map_or_else(String::new, PlanReport::words)),
        row("landmarks", report.points.as_ref().map_or(report.landmarks.len(), Vec::len)),
        row("bandwidth", short_or_dash(report.bandwidth)),
        row("steps", report.steps),
        row("accepted swaps", report.accepted),
        row("log-determinant", short(report.log_det)),
        row("trace error", short(report.trace_error)),
        row("trace error / trace", short(report.trace_fraction)),
        row("seconds", short(report.seconds)),
    ];
    if let Some(measured) = report.measured_rows {
        rows.push(row("trace error on", format!("{measured} rows")));
    }
    if let Some(r_hat) = report.split_r_hat {
        rows.push(row("split R-hat of two chains", short(r_hat)));
    }
    rows.retain(|row| !row[1].is_empty());
    if let Some(refinement) = &report.refinement {
        let rows_measured =
            if refinement.all_rows { "all".to_owned() } else { refinement.measured_rows.to_string() };
        let (name, before, after) = refinement.errors;
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
    let mut text = listed(&["method", report.method], &rows);
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
