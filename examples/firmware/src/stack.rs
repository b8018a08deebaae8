//! The peak stack of a piece of work, found by painting the free stack.
#![allow(unsafe_code)]

use crate::board;
use core::ptr;

const PAINT: u32 = 0xc5c5_c5c5;

/// Do the work. Return its result and the bytes of stack it used, those of a call included. An array that was
/// reserved and never written does not count. This paints all of the free stack, so count instructions in
/// another run.
#[inline(never)]
pub fn measured<A>(work: impl FnOnce() -> A) -> (A, usize) {
    let bounds = board::stack_bounds();
    // SAFETY: the linker aligns the end of the stack's RAM, nothing else is placed between it and the live
    // frames, and no interrupt is enabled.
    unsafe { board::paint(bounds.start, PAINT) };
    let top = board::stack_pointer();
    let outcome = call(work);
    let mut word = ptr::with_exposed_provenance::<u32>(bounds.start);
    // SAFETY: `word` stays in the same RAM, in steps of its size, and every word may be read.
    while word.addr() < top && unsafe { ptr::read_volatile(word) } == PAINT {
        word = word.wrapping_add(1);
    }
    (outcome, top.saturating_sub(word.addr()))
}

/// Call the work in a frame of its own, below the one where measuring starts.
#[inline(never)]
fn call<A>(work: impl FnOnce() -> A) -> A {
    work()
}
