//! How many threads share the work.

use std::thread::available_parallelism;

/// The most threads, for each processor: more gain nothing, and too many are never all created.
const MOST: usize = 16;

/// The multiply-adds that are worth another thread: some hundred microseconds. To hand over less, and to wait
/// for it, takes as long as to do it.
const WORTH: usize = 1 << 21;

/// Return how many items of so many multiply-adds each are worth another thread.
///
/// ```
/// use dpp_nystrom_host::threads::worth_a_thread;
///
/// assert_eq!(worth_a_thread(1 << 30), 1);
/// assert_eq!(worth_a_thread(1_000_000), 3);
/// ```
pub fn worth_a_thread(work: usize) -> usize {
    WORTH.div_ceil(work.max(1))
}

/// Return the number of threads to start: those asked for, up to sixteen for each processor, or else one for
/// each processor.
///
/// ```
/// use dpp_nystrom_host::threads::limited;
///
/// assert_eq!(limited(Some(1)), 1);
/// assert_eq!(limited(Some(usize::MAX)), 16 * limited(None));
/// ```
pub fn limited(asked: Option<usize>) -> usize {
    let processors = available_parallelism().map_or(1, usize::from);
    asked.map_or(processors, |asked| asked.clamp(1, MOST * processors))
}
