//! How many threads share the work.

use std::thread::available_parallelism;

/// The most threads, for each processor: more gain nothing, and too many are never all created.
const MOST: usize = 16;

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
