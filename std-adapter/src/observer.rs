//! Progress reporting for long computations.

/// Receives the progress of work that may take over a second.
pub trait Observer: Sync {
    /// Begin a task of `steps` steps, or 0 if the number is unknown.
    fn begin(&self, task: &str, steps: u64);
    /// Add to the steps done; called from any thread.
    fn advance(&self, steps: u64);
    /// End the task.
    fn end(&self);
}

/// A no-op observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}
