//! The instructions of a piece of work.
//!
//! They are instructions and not cycles: a division counts one. Under the `-icount` of `.cargo/config.toml`
//! they repeat exactly. On real hardware the same registers count time.

use crate::board;
use core::hint::black_box;

/// Do the work. Return its result and its instructions, [`overhead`] included. Up to 6 · 10⁸ of them, after
/// which the boards' counters wrap.
#[inline(never)]
pub fn counted<A>(work: impl FnOnce() -> A) -> (A, u32) {
    let before = board::ticks();
    // `black_box` before and after keeps the compiler from moving work across the counter.
    let work = black_box(work);
    let outcome = black_box(work());
    let ticks = board::ticks().wrapping_sub(before);
    (outcome, board::instructions(ticks))
}

/// Return the instructions of counting no work.
pub fn overhead() -> u32 {
    counted(|| ()).1
}
