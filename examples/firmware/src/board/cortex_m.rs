//! Start-up by `cortex-m-rt` and the stack, for both Cortex-M cores.
#![allow(unsafe_code)]

use core::arch::asm;
use core::ops::Range;
// The critical section of a single core.
use cortex_m as _;
pub use cortex_m_rt::entry;

/// Return the addresses that the stack may use.
pub(crate) fn stack_bounds() -> Range<usize> {
    unsafe extern "C" {
        static _stack_end: u32;
        static _stack_start: u32;
    }
    (&raw const _stack_end).addr()..(&raw const _stack_start).addr()
}

/// Return the stack pointer.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// Write `word` from `bottom` up to the stack pointer.
///
/// # Safety
/// `bottom` is aligned to a word, and nothing is live between it and the stack pointer.
#[inline(always)]
pub(crate) unsafe fn paint(bottom: usize, word: u32) {
    // SAFETY: in assembly, so that no called function has a frame in the range. The ABI has no red zone.
    unsafe {
        asm!(
            "b 3f",
            "2: str {word}, [{at}]",
            "adds {at}, #4",
            "3: cmp {at}, sp",
            "blo 2b",
            at = inout(reg) bottom => _,
            word = in(reg) word,
        );
    }
}
