//! Instructions that a piece of work takes.
//!
//! They are instructions and not cycles: a division counts one. Under the `-icount` of `.cargo/config.toml` they
//! repeat exactly; on a board of silicon the same registers count time.

use crate::board;
use core::hint::black_box;

/// Does the work, and answers its result with the instructions it took, [`overhead`] included. Up to 6 · 10⁸ of
/// them, after which the boards' counters start again.
#[inline(never)]
pub fn counted<A>(work: impl FnOnce() -> A) -> (A, u32) {
    let before = board::ticks();
    // What the work is of is unknown until here, and what comes of it is wanted there: it stays between the two.
    let work = black_box(work);
    let answer = black_box(work());
    let ticks = board::ticks().wrapping_sub(before);
    (answer, board::instructions(ticks))
}

/// What counting costs: the count of no work.
pub fn overhead() -> u32 {
    counted(|| ()).1
}
