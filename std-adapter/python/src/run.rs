//! Work without the GIL, on threads of its own, until it is done or a signal arrives.

use dpp_nystrom::ErrorKind;
use dpp_nystrom::{Error, observer::Observer};
use dpp_nystrom_host::threads::limited;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time between two looks at signals.
const PERIOD: Duration = Duration::from_millis(50);

/// The threads of this process: after a fork, those of the parent are gone.
static THREADS: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Stops the work once it is set.
#[derive(Default)]
struct Stop(AtomicBool);

impl Observer for Stop {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Run work on this many threads, within the limit of the program, or on all cores.
///
/// The calling thread waits without the GIL and looks for signals, which Python delivers to its main thread
/// alone. After a signal the work is told to stop, and its result is dropped.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&dyn Observer) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let threads = pool(threads)?;
    let stop = Stop::default();
    let (signal, result) = py.detach(|| {
        let (send, receive) = channel();
        threads.in_place_scope(|scope| {
            let stop = &stop;
            scope.spawn(move |_| drop(send.send(work(stop))));
            let mut signal = None;
            loop {
                match receive.recv_timeout(PERIOD) {
                    Err(RecvTimeoutError::Timeout) if signal.is_none() => {
                        signal = Python::attach(|py| py.check_signals()).err();
                        stop.0.store(signal.is_some(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    result => return (signal, result),
                }
            }
        })
    });
    match (signal, result) {
        (Some(signal), _) => Err(signal),
        (None, Ok(result)) => result.map_err(to_python),
        // The work panicked, and the scope has passed the panic on.
        (None, Err(_)) => Err(PyRuntimeError::new_err("the work ended without a result")),
    }
}

fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let build = |threads| {
        let built = ThreadPoolBuilder::new().num_threads(threads).build().map(Arc::new);
        built.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    };
    if threads.is_some() {
        return build(limited(threads));
    }
    let mut kept = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((process, threads)) = &*kept
        && *process == process::id()
    {
        return Ok(Arc::clone(threads));
    }
    let threads = build(0)?;
    // The threads of a parent process cannot be told to end: they are not here.
    std::mem::forget(kept.replace((process::id(), Arc::clone(&threads))));
    Ok(threads)
}

/// Return the exception for an error: `OSError` for a file that cannot be read or written, `MemoryError`,
/// else `ValueError`.
pub(crate) fn to_python(error: Error) -> PyErr {
    let text = error.to_string();
    match (error.kind(), error.io()) {
        (ErrorKind::Memory, _) => PyMemoryError::new_err(text),
        (_, Some(kind)) => io::Error::new(kind, text).into(),
        _ => PyValueError::new_err(text),
    }
}
