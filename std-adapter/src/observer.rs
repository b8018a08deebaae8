//! Progress reports and cancellation of long-running work.

use crate::error::{Cause, Error};

/// Receives the progress of work that may take over a second, from any thread.
pub trait Observer: Sync {
    /// Called at the start of a phase of `steps` steps; 0 if the number is unknown.
    fn begin(&self, phase: &str, steps: u64);

    /// Called after `steps` more steps.
    fn advance(&self, steps: u64);

    /// Called at the end of the phase.
    fn end(&self);

    /// Return whether to stop with `ErrorKind::Cancelled`. Called between blocks of work.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Return `ErrorKind::Cancelled` if the observer cancels.
///
/// # Errors
/// `ErrorKind::Cancelled`.
pub fn go_on(observer: &dyn Observer) -> Result<(), Error> {
    if observer.is_cancelled() { Err(Error(Cause::Cancelled)) } else { Ok(()) }
}

/// Forwards cancellation alone: for steps of a phase that has its own progress.
pub struct Silent<'a>(pub &'a dyn Observer);

impl Observer for Silent<'_> {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Prefixes the phases of one of several steps with its name.
pub struct Named<'a> {
    /// The observer of all steps.
    pub outer: &'a dyn Observer,
    /// The name of the step.
    pub name: &'a str,
}

impl Observer for Named<'_> {
    fn begin(&self, phase: &str, steps: u64) {
        self.outer.begin(&format!("{}: {phase}", self.name), steps);
    }

    fn advance(&self, steps: u64) {
        self.outer.advance(steps);
    }

    fn end(&self) {
        self.outer.end();
    }

    fn is_cancelled(&self) -> bool {
        self.outer.is_cancelled()
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}
