//! Results on standard output, all else on standard error.

use dpp_nystrom_cluster::Error;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

/// A line for whoever looks on.
pub(crate) fn note(text: &str) {
    // Nobody is told where nobody listens.
    let _ = writeln!(io::stderr(), "{text}");
}

/// The result.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let written = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    match written {
        // Whoever read our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(source) => Err(Error::Write { path: PathBuf::from("standard output"), source }),
        Ok(()) => Ok(()),
    }
}

pub(crate) fn print_json(report: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(report).map_err(|_| Error::Answer)?;
    print(&format!("{text}\n"))
}

/// Two columns.
pub(crate) fn aligned(rows: &[(&str, String)]) -> String {
    let dim = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    rows.iter().map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
}

/// A number to read.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        1e-3..1e6 => format!("{value:.4}"),
        _ => format!("{value:.3e}"),
    }
}

/// Turns while a query runs, on a terminal only.
pub(crate) fn spinner(what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(what);
    // The template is constant; without it there is still indicatif's own.
    if let Ok(style) = ProgressStyle::with_template("{msg:12} {spinner} {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
