//! Progress reports and cancellation of long-running work.

use crate::error::{Cause, Error};

/// Receives the progress of work that may take over a second, from any thread.
///
/// ```
/// use dpp_nystrom::observer::Observer;
/// use dpp_nystrom::{Dataset, Nystroem};
/// use std::sync::Mutex;
///
/// /// Records the names of phases.
/// #[derive(Default)]
/// struct Phases(Mutex<Vec<String>>);
///
/// impl Observer for Phases {
///     fn begin(&self, phase: &str, _: u64) {
///         self.0.lock().unwrap().push(phase.to_owned());
///     }
///     fn advance(&self, _: u64) {}
///     fn end(&self) {}
/// }
///
/// let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
/// let phases = Phases::default();
/// Nystroem::params(12).fit_observed(&Dataset::from_rows(&x, 1)?, &phases)?;
/// assert!(!phases.0.lock().unwrap().is_empty());
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
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
///
/// ```
/// use dpp_nystrom::observer::{NoObserver, go_on};
///
/// for _block in 0..3 {
///     go_on(&NoObserver)?; // before each block of work
/// }
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn go_on(observer: &dyn Observer) -> Result<(), Error> {
    if observer.is_cancelled() { Err(Error(Cause::Cancelled)) } else { Ok(()) }
}

/// Forwards cancellation alone: for steps of a phase that has its own progress.
///
/// ```
/// use dpp_nystrom::observer::{NoObserver, Observer, Silent};
///
/// let inner = Silent(&NoObserver); // for a fit within a fit
/// inner.begin("rows", 100); // not reported
/// assert!(!inner.is_cancelled());
/// ```
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
///
/// ```
/// use dpp_nystrom::observer::{Named, Observer};
/// use std::sync::Mutex;
///
/// struct Last(Mutex<String>);
///
/// impl Observer for Last {
///     fn begin(&self, phase: &str, _: u64) {
///         phase.clone_into(&mut self.0.lock().unwrap());
///     }
///     fn advance(&self, _: u64) {}
///     fn end(&self) {}
/// }
///
/// let outer = Last(Mutex::default());
/// Named { outer: &outer, name: "fold 3" }.begin("rows", 100);
/// assert_eq!(*outer.0.lock().unwrap(), "fold 3: rows");
/// ```
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
///
/// ```
/// use dpp_nystrom::observer::{NoObserver, Observer};
///
/// assert!(!NoObserver.is_cancelled());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}
