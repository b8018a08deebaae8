//! The threads that all work is shared among.

use crate::output::note;
use dpp_nystrom_host::threads::limited;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use std::env;

/// Start as many threads as are asked for, by option or `RAYON_NUM_THREADS`, or as there are processors.
/// Where the system refuses, half as many, and at last none but this one.
///
/// # Errors
/// That of the pool, without which no work can be shared: there is not even memory for one.
pub(crate) fn start(option: Option<usize>) -> Result<(), ThreadPoolBuildError> {
    // What faer does without being told the number of parts would be summed in another order with each number
    // of threads.
    faer::set_global_parallelism(faer::Par::Seq);
    let variable = || env::var("RAYON_NUM_THREADS").ok()?.trim().parse().ok();
    let asked = option.or_else(variable).filter(|&count| count > 0);
    let wanted = limited(asked);
    let mut count = wanted;
    // The pool of all work can be built once: try with another.
    while count > 1 && ThreadPoolBuilder::new().num_threads(count).build().is_err() {
        count /= 2;
    }
    if asked.is_some_and(|asked| count < asked) || count < wanted {
        note(&format!("{count} threads are used: more are not possible, or gain nothing"));
    }
    let pool = ThreadPoolBuilder::new().num_threads(count);
    if count > 1 { pool.build_global() } else { pool.use_current_thread().build_global() }
}
