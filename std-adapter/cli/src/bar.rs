//! Progress bars on stderr, for tasks of over a second, on a terminal only.

use dpp_nystrom::observer::Observer;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Shorter tasks show no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bar of the current task.
#[derive(Default)]
pub(crate) struct Bar {
    task: Mutex<Option<Task>>,
}

struct Task {
    name: String,
    steps: u64,
    done: u64,
    begun: Instant,
    bar: Option<ProgressBar>,
}

impl Task {
    fn show(&mut self) {
        if self.bar.is_none() && self.begun.elapsed() > PATIENCE {
            let bar = ProgressBar::new(self.steps).with_message(self.name.clone());
            let template = match self.steps {
                // The length of a stream is unknown.
                0 => "{msg:12} {spinner} {pos}, {per_sec}",
                _ => "{msg:12} {wide_bar} {pos}/{len}, {eta} left",
            };
            // The template is constant; should it be invalid, indicatif's default is used.
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
    }
}

impl Observer for Bar {
    fn begin(&self, task: &str, steps: u64) {
        self.end();
        if let Ok(mut slot) = self.task.lock() {
            *slot = Some(Task { name: task.to_owned(), steps, done: 0, begun: Instant::now(), bar: None });
        }
    }

    fn advance(&self, steps: u64) {
        if let Ok(mut slot) = self.task.lock()
            && let Some(task) = slot.as_mut()
        {
            task.done += steps;
            task.show();
        }
    }

    fn end(&self) {
        if let Ok(mut slot) = self.task.lock()
            && let Some(Task { bar: Some(bar), .. }) = slot.take()
        {
            bar.finish_and_clear();
        }
    }
}
