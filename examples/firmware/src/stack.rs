//! The deepest stack since reset, read from the paint that `cortex-m-rt` puts under it at start.

use core::ptr;
use cortex_m_rt::STACK_PAINT_VALUE;

/// Bytes of stack that were ever used. An array that was reserved and never written does not count.
#[allow(unsafe_code)]
pub fn peak() -> usize {
    unsafe extern "C" {
        static _stack_end: u32;
        static _stack_start: u32;
    }
    let top = (&raw const _stack_start).addr();
    let mut word = &raw const _stack_end;
    // SAFETY: `word` stays in the words between the linker's two symbols, which are the stack's RAM and
    // aligned. Nothing else runs, and a volatile read takes the words of live frames as they are.
    while word.addr() < top && unsafe { ptr::read_volatile(word) } == STACK_PAINT_VALUE {
        word = word.wrapping_add(1);
    }
    top - word.addr()
}
