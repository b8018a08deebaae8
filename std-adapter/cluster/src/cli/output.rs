//! Results on standard output, everything else on standard error.

use dpp_nystrom::observer::Observer;
use dpp_nystrom_cluster::Error;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

/// Print a note.
pub(crate) fn note(text: &str) {
    // Standard error may be closed; a note is not worth failing for.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Print the result.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let written = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    match written {
        // The reader has closed the pipe on purpose, as head does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(source) => Err(dpp_nystrom::Error::write("-", source).into()),
        Ok(()) => Ok(()),
    }
}

pub(crate) fn print_json(report: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(report).map_err(|_| Error::Malformed)?;
    print(&format!("{text}\n"))
}

/// Return two aligned columns.
pub(crate) fn aligned(rows: &[(&str, String)]) -> String {
    let dim = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    rows.iter().map(|(name, value)| format!("{name:dim$}  {value}\n")).collect()
}

/// Format a number for reading.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        1e-3..1e6 => format!("{value:.4}"),
        _ => format!("{value:.3e}"),
    }
}

/// A spinner with the phase of the work, on a terminal only, until it is dropped.
pub(crate) struct Spinner(ProgressBar);

impl Spinner {
    pub(crate) fn new(phase: &'static str) -> Self {
        let bar = ProgressBar::new_spinner().with_message(phase);
        // The template is constant; without it indicatif has its own.
        if let Ok(style) = ProgressStyle::with_template("{msg:12} {spinner} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }
}

impl Observer for Spinner {
    fn begin(&self, phase: &str, _: u64) {
        self.0.set_message(phase.to_owned());
    }

    fn advance(&self, _: u64) {}

    fn end(&self) {}
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
