//! Processor time of this thread.

use std::time::Instant;

/// Seconds to measure at least: the system counts processor time in steps of milliseconds.
const LEAST: f64 = 0.3;

/// Return the seconds that `work` takes, as a mean over as many calls as fill [`LEAST`]: of the processor
/// where the system reports them for a thread, else elapsed.
pub(crate) fn seconds_of<A, E>(mut work: impl FnMut() -> Result<A, E>) -> Result<f64, E> {
    let (begin, cpu) = (Instant::now(), on_processor());
    for calls in 1.. {
        work()?;
        let elapsed = begin.elapsed().as_secs_f64();
        let seconds = cpu.zip(on_processor()).map_or(elapsed, |(begin, end)| end - begin);
        if seconds >= LEAST {
            return Ok(seconds / f64::from(calls));
        }
    }
    Ok(f64::NAN)
}

/// Return the seconds that this thread has run on a processor.
fn on_processor() -> Option<f64> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = statistics.split(' ').next()?.parse().ok()?;
    (nanoseconds > 0).then_some(nanoseconds as f64 * 1e-9)
}
