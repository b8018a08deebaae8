//! `dpp-nystrom select`.

use super::arguments::{MethodName, Select};
use super::bar::Bar;
use super::output::{aligned, keep_inputs, print, print_json, short, write_column};
use super::source;
use dpp_nystrom::{Error, Prepared, select_rows, trace_error};
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    method: &'a str,
    landmarks: &'a [usize],
    sigma: f64,
    rows: usize,
    dim: usize,
    steps: u64,
    accepted: u64,
    log_det: f64,
    trace_error: f64,
    trace_fraction: f64,
    seconds: f64,
    seed: u64,
}

pub(crate) fn run(arguments: &Select) -> Result<(), Error> {
    keep_inputs(arguments.out.as_deref(), &[&arguments.source.data])?;
    let meter = Bar::default();
    let seed = arguments.source.seed;
    let table = source::read(&arguments.source)?;
    let data = Prepared::new(table, arguments.source.rows, seed)?;
    let setting = source::setting(&data, &arguments.kernel, seed, &meter)?;
    let name = MethodName::from(arguments.method);
    let method = arguments.chain.method(name, &[]);
    let selection = select_rows(&data, arguments.landmarks, &method, setting, &meter)?;
    source::tell_rest(&selection);
    let ground = data.ground(setting.kernel, setting.sigma)?;
    let trace = trace_error(&ground, &selection.landmarks)?;
    let landmarks: Vec<usize> = selection.landmarks.iter().map(|&row| data.number(row)).collect();
    if let Some(path) = &arguments.out {
        write_column(Some(path), "row", landmarks.iter())?;
    }
    let name = name.name();
    let report = Report {
        method: &name,
        landmarks: &landmarks,
        sigma: setting.sigma,
        rows: data.len(),
        dim: data.width,
        steps: selection.steps,
        accepted: selection.accepted,
        log_det: selection.log_det,
        trace_error: trace.error,
        trace_fraction: trace.fraction,
        seconds: selection.seconds,
        seed,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report, arguments.out.is_none())) }
}

fn text(report: &Report<'_>, list: bool) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let rows = [
        row("rows x features", format!("{} x {}", report.rows, report.dim)),
        row("landmarks", report.landmarks.len().to_string()),
        row("bandwidth", short(report.sigma)),
        row("steps", report.steps.to_string()),
        row("accepted swaps", report.accepted.to_string()),
        row("log-determinant", short(report.log_det)),
        row("trace error", short(report.trace_error)),
        row("trace error / trace", short(report.trace_fraction)),
        row("seconds", short(report.seconds)),
    ];
    let mut text = aligned(&["method", report.method], &rows);
    if list {
        text.push_str("\nrows:");
        for row in report.landmarks {
            text.push_str(&format!(" {row}"));
        }
        text.push('\n');
    }
    text
}
