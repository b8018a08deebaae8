//! Progress bars on stderr, for tasks of over a second, on a terminal only.

use dpp_nystrom::observer::Observer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::time::Duration;

/// Shorter tasks show no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bar of the current task.
#[derive(Default)]
pub(crate) struct Bar(Mutex<Option<ProgressBar>>);

impl Observer for Bar {
    fn begin(&self, task: &str, steps: u64) {
        self.end();
        if !stderr().is_terminal() {
            return;
        }
        let template = match steps {
            // The length of a stream is unknown.
            0 => "{msg:12} {spinner} {pos}, {per_sec}",
            _ => "{msg:12} {wide_bar} {pos}/{len}, {eta} left",
        };
        let hidden = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(Some(steps), hidden).with_message(task.to_owned());
        // The template is constant; should it be invalid, indicatif's default is used.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if let Ok(mut slot) = self.0.lock() {
            *slot = Some(bar);
        }
    }

    fn advance(&self, steps: u64) {
        if let Ok(slot) = self.0.lock()
            && let Some(bar) = slot.as_ref()
        {
            if bar.is_hidden() && bar.elapsed() > PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.inc(steps);
        }
    }

    fn end(&self) {
        if let Ok(mut slot) = self.0.lock()
            && let Some(bar) = slot.take()
        {
            bar.finish_and_clear();
        }
    }
}
