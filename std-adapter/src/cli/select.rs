//! `dpp-nystrom select`.

use super::arguments::Select;
use super::bar::Bar;
use super::output::{aligned, keep_inputs, print, print_json, short, write_column, write_table};
use super::source;
use super::stored::{Selected, Stored};
use dpp_nystrom::Error;
use dpp_nystrom::methods::{self, Gram, Places, Task};
use serde::Serialize;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    refinement: Option<RefinementReport>,
    seconds: f64,
    seed: u64,
}

#[derive(Serialize)]
struct RefinementReport {
    sweeps: u64,
    exchanges: u64,
    trace_error_before: f64,
    trace_error_after: f64,
    /// Rows that these errors are of.
    measured_rows: usize,
    all_rows: bool,
}

pub(crate) fn run(arguments: &Select) -> Result<(), Error> {
    keep_inputs(arguments.out.as_deref(), &[&arguments.source.data])?;
    let options = arguments.knobs.options(&[]);
    if let Some(stored) =
        Stored::open(&arguments.source, &arguments.kernel, Some(arguments.method), &options)?
    {
        return run_stored(arguments, &stored);
    }
    let meter = Bar::default();
    let seed = arguments.source.seed;
    let data = source::prepared(&arguments.source, arguments.source.rows)?;
    let setting = source::setting(&data, &arguments.kernel, seed, &meter)?;
    let gram = Gram::new(&data, setting.kernel, setting.sigma)?;
    let task =
        Task { gram: &gram, c: arguments.landmarks, setting, ridge: None, options: &options, meter: &meter };
    let (chosen, seconds) = methods::run(arguments.method, &task)?;
    source::tell_rest(&chosen);
    let trace = gram.trace_error(&chosen.places)?;
    let (landmarks, points): (Vec<usize>, Vec<f64>) = match chosen.places {
        Places::Rows(rows) => (rows.iter().map(|&row| data.number(row)).collect(), Vec::new()),
        Places::Points(mut points) => {
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
        method: arguments.method.name(),
        landmarks: &landmarks,
        points: (!points.is_empty()).then(|| points.chunks_exact(data.width).collect()),
        sigma: setting.sigma,
        rows: data.len(),
        dim: data.width,
        steps: chosen.steps,
        accepted: chosen.accepted,
        log_det: chosen.log_det,
        trace_error: trace.error,
        trace_fraction: trace.fraction,
        measured_rows: None,
        refinement: chosen.gain.map(|gain| RefinementReport {
            sweeps: gain.sweeps,
            exchanges: gain.exchanges,
            trace_error_before: gain.before,
            trace_error_after: gain.after,
            measured_rows: gain.measured,
            all_rows: gain.measured == data.len(),
        }),
        seconds,
        seed,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report, arguments.out.is_none())) }
}

/// [`run`] on a row store where it lies.
fn run_stored(arguments: &Select, stored: &Stored) -> Result<(), Error> {
    let Selected { selection, missed } = stored.select(arguments)?;
    if let Some(path) = &arguments.out {
        write_column(Some(path), "row", selection.landmarks.iter())?;
    }
    let report = Report {
        method: arguments.method.name(),
        landmarks: &selection.landmarks,
        points: None,
        sigma: stored.setting.sigma,
        rows: stored.store.len(),
        dim: stored.store.width(),
        steps: selection.steps,
        accepted: selection.accepted,
        log_det: selection.log_det,
        trace_error: missed.of_all.error,
        trace_fraction: missed.of_all.fraction,
        measured_rows: (missed.rows < stored.store.len()).then_some(missed.rows),
        refinement: None,
        seconds: selection.seconds,
        seed: arguments.source.seed,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report, arguments.out.is_none())) }
}

fn text(report: &Report<'_>, list: bool) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        row("rows x features", format!("{} x {}", report.rows, report.dim)),
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
    if let Some(refinement) = &report.refinement {
        let rows_measured =
            if refinement.all_rows { "all".to_owned() } else { refinement.measured_rows.to_string() };
        rows.push(row(
            "refinement",
            format!(
                "{} exchanges in {} sweeps; trace error {} to {}, on {rows_measured} rows",
                refinement.exchanges,
                refinement.sweeps,
                short(refinement.trace_error_before),
                short(refinement.trace_error_after),
            ),
        ));
    }
    let mut text = aligned(&["method", report.method], &rows);
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
