//! How long work shows that it is going on.

/// Told of work that may take over a second.
pub trait Observer: Sync {
    /// A task of so many steps begins; 0 where nobody knows how many.
    fn begin(&self, task: &str, steps: u64);
    /// So many more steps are done; from any thread.
    fn advance(&self, steps: u64);
    /// The task is over.
    fn end(&self);
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}
