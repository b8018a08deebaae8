//! Progress on stderr, on a terminal only: one line, from shortly after the start of a command to its end.

use dpp_nystrom::observer::Observer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// Shorter commands show nothing.
const PATIENCE: Duration = Duration::from_millis(300);

/// The time between two drawings, whether or not the work reports progress.
const TICK: Duration = Duration::from_millis(100);

/// A phase of known length, one that counts, and one that only lasts.
const MEASURED: &str = "{msg} {wide_bar} {percent:>3} %{left}";
const COUNTED: &str = "{msg} {spinner} {human_pos}, {time}";
const LASTING: &str = "{msg} {spinner} {time}";

static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// The progress of the running command. All values are the same line.
pub(crate) struct Bar;

/// Show that a command runs, until [`finish`].
pub(crate) fn start(command: &'static str) {
    if !stderr().is_terminal() {
        return;
    }
    let line = LINE.get_or_init(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()));
    line.set_style(style(LASTING));
    line.set_message(command);
    let line = line.clone();
    // Without a thread there is no line.
    let _ = thread::Builder::new().spawn(move || {
        thread::sleep(PATIENCE);
        if !line.is_finished() {
            line.set_draw_target(ProgressDrawTarget::stderr());
            line.enable_steady_tick(TICK);
        }
    });
}

/// Clear the line.
pub(crate) fn finish() {
    if let Some(line) = LINE.get() {
        line.finish_and_clear();
    }
}

/// Write to the terminal without the line in between.
pub(crate) fn aside<A>(write: impl FnOnce() -> A) -> A {
    match LINE.get() {
        Some(line) => line.suspend(write),
        None => write(),
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constant; should one be invalid, indicatif's default is used.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style
        .with_key("time", |state: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&short(state.elapsed().as_secs_f64()));
        })
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            let elapsed = state.elapsed().as_secs_f64();
            if let Some(left) = left(elapsed, f64::from(state.fraction())) {
                let _ = write!(out, ", {} left", short(left));
            }
        })
}

/// Return the time left if the rest takes as long for each step as the steps until now; none while that is a
/// guess.
fn left(elapsed: f64, fraction: f64) -> Option<f64> {
    (elapsed > 0.5 && fraction > 0.02).then(|| elapsed * (1.0 - fraction) / fraction)
}

fn short(seconds: f64) -> String {
    match seconds {
        _ if seconds < 100.0 => format!("{seconds:.0}s"),
        _ if seconds < 6_000.0 => format!("{:.0}min", seconds / 60.0),
        _ => format!("{:.1}h", seconds / 3_600.0),
    }
}

impl Observer for Bar {
    fn begin(&self, phase: &str, steps: u64) {
        let Some(line) = LINE.get() else { return };
        // Each call may draw: a share is shown when all is of this phase.
        line.set_style(style(LASTING));
        line.set_message(phase.to_owned());
        line.reset();
        match steps {
            0 => line.unset_length(),
            _ => line.set_length(steps),
        }
        line.set_style(style(match steps {
            0 => COUNTED,
            // A single step has no progress to measure.
            1 => LASTING,
            _ => MEASURED,
        }));
    }

    fn advance(&self, steps: u64) {
        if let Some(line) = LINE.get() {
            line.inc(steps);
        }
    }

    fn end(&self) {
        if let Some(line) = LINE.get() {
            line.set_style(style(LASTING));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{left, short};

    #[test]
    fn the_estimate_is_in_proportion() {
        assert_eq!(left(10.0, 0.25), Some(30.0));
        assert_eq!(left(10.0, 1.0), Some(0.0));
        assert_eq!((left(10.0, 0.0), left(0.1, 0.5)), (None, None));
        assert_eq!([0.4, 99.0, 150.0, 7_200.0].map(short), ["0s", "99s", "2min", "2.0h"]);
    }
}
