//! Work without the GIL, on threads of its own or on the calling one, until it is done, a signal arrives or a
//! callback raises.

use dpp_nystrom::ErrorKind;
use dpp_nystrom::{Error, observer::Observer};
use dpp_nystrom_host::threads::limited;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io;
use std::mem;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// The time between two looks at signals, and two calls of a callback.
const PERIOD: Duration = Duration::from_millis(50);

/// Work on fewer numbers than this does not pay for threads.
const SMALL: usize = 1 << 12;

/// The threads of this process: after a fork, those of the parent are gone.
static THREADS: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The thread that did the first small work, as a pool of itself: rayon keeps such a pool for ever, so that
/// no other thread has one.
static CALLER: OnceLock<(ThreadId, Option<ThreadPool>)> = OnceLock::new();

/// How a call works.
pub(crate) struct How<'p> {
    /// The number of threads; none for all cores.
    pub(crate) threads: Option<usize>,
    /// The numbers that it reads.
    pub(crate) numbers: usize,
    /// Called with the name of a phase, the steps that are done and all of them, 0 if their number is
    /// unknown.
    pub(crate) progress: Option<&'p Py<PyAny>>,
}

/// What a callback is told: a phase, the steps that are done, and all steps.
type News = (String, u64, u64);

/// A phase of the work, within those before it.
struct Phase {
    name: String,
    done: u64,
    steps: u64,
    /// Whether steps were done that were not told yet.
    is_new: bool,
}

/// The phases that have begun and not ended, and what is to be told.
#[derive(Default)]
struct Phases {
    open: Vec<Phase>,
    news: Vec<News>,
}

impl Phases {
    /// Add the steps of the last phase to the news, if they are.
    fn note(&mut self) {
        if let Some(phase) = self.open.last_mut().filter(|phase| phase.is_new) {
            phase.is_new = false;
            self.news.push((phase.name.clone(), phase.done, phase.steps));
        }
    }
}

/// What the work and the calling thread tell each other.
struct Watch<'p> {
    stop: AtomicBool,
    /// The exception of a signal or of the callback.
    raised: Mutex<Option<PyErr>>,
    progress: Option<&'p Py<PyAny>>,
    phases: Mutex<Phases>,
    /// When work on the calling thread last looked.
    looked: Mutex<Instant>,
    is_caller: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'p> Watch<'p> {
    fn new(progress: Option<&'p Py<PyAny>>, is_caller: bool) -> Self {
        Self {
            stop: AtomicBool::new(false),
            raised: Mutex::new(None),
            progress,
            phases: Mutex::new(Phases::default()),
            looked: Mutex::new(Instant::now()),
            is_caller,
        }
    }

    /// Look at signals and tell the callback what is new, on the calling thread; after an exception the
    /// work is told to stop.
    fn look(&self) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        let news = {
            let mut phases = locked(&self.phases);
            phases.note();
            mem::take(&mut phases.news)
        };
        let told = Python::attach(|py| {
            py.check_signals()?;
            for told in news {
                self.progress.map(|call| call.call1(py, told)).transpose()?;
            }
            Ok(())
        });
        if let Err(error) = told {
            *locked(&self.raised) = Some(error);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Return the result, or the exception that ended the work.
    fn concluded<T>(self, result: Result<T, Error>) -> PyResult<T> {
        self.look();
        match self.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(raised) => Err(raised),
            None => result.map_err(to_python),
        }
    }
}

impl Observer for Watch<'_> {
    fn begin(&self, phase: &str, steps: u64) {
        if self.progress.is_some() {
            let mut phases = locked(&self.phases);
            phases.note();
            phases.open.push(Phase { name: phase.to_owned(), done: 0, steps, is_new: true });
            phases.note();
        }
    }

    fn advance(&self, steps: u64) {
        if let Some(phase) = locked(&self.phases).open.last_mut() {
            (phase.done, phase.is_new) = (phase.done + steps, true);
        }
    }

    fn end(&self) {
        let mut phases = locked(&self.phases);
        phases.note();
        phases.open.pop();
    }

    fn is_cancelled(&self) -> bool {
        if self.is_caller && locked(&self.looked).elapsed() >= PERIOD {
            self.look();
            *locked(&self.looked) = Instant::now();
        }
        self.stop.load(Ordering::Relaxed)
    }
}

/// Run work: on so many threads, within the limit of the program, or on all cores; if it is small and no
/// number is given, on the calling thread.
///
/// The calling thread waits without the GIL and looks for signals, which Python delivers to its main thread
/// alone. After a signal, or an exception of the callback, the work is told to stop, and its result is
/// dropped.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    how: How<'_>,
    work: impl FnOnce(&dyn Observer) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let small = how.threads.is_none() && how.numbers < SMALL;
    if let Some(caller) = small.then(caller).flatten() {
        let watch = Watch::new(how.progress, true);
        let result = py.detach(|| caller.install(|| work(&watch)));
        return watch.concluded(result);
    }
    let threads = pool(how.threads)?;
    let watch = Watch::new(how.progress, false);
    let result = py.detach(|| {
        let (send, receive) = channel();
        threads.in_place_scope(|scope| {
            let watch = &watch;
            scope.spawn(move |_| drop(send.send(work(watch))));
            loop {
                match receive.recv_timeout(PERIOD) {
                    Err(RecvTimeoutError::Timeout) => watch.look(),
                    result => return result,
                }
            }
        })
    });
    // Without a result the work panicked, and the scope has passed the panic on.
    let result = result.map_err(|_| PyRuntimeError::new_err("the work ended without a result"))?;
    watch.concluded(result)
}

/// Return the pool of the calling thread alone, if it has one: it starts no thread.
fn caller() -> Option<&'static ThreadPool> {
    let (thread, pool) = CALLER.get_or_init(|| {
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        (thread::current().id(), pool.ok())
    });
    pool.as_ref().filter(|_| *thread == thread::current().id())
}

fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let build = |threads| {
        let built = ThreadPoolBuilder::new().num_threads(threads).build().map(Arc::new);
        built.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    };
    if threads.is_some() {
        return build(limited(threads));
    }
    let mut kept = locked(&THREADS);
    if let Some((process, threads)) = &*kept
        && *process == process::id()
    {
        return Ok(Arc::clone(threads));
    }
    let threads = build(0)?;
    // The threads of a parent process cannot be told to end: they are not here.
    mem::forget(kept.replace((process::id(), Arc::clone(&threads))));
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
