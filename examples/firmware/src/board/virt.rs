//! QEMU's RISC-V board: start-up by `riscv-rt`, with and without floating point.
#![allow(unsafe_code)]

use core::arch::asm;
use core::ops::Range;
pub use riscv_rt::entry;

/// Read the lower 32 bits of the count of retired instructions.
pub(crate) fn ticks() -> u32 {
    riscv::register::minstret::read() as u32
}

/// A tick is an instruction.
pub(crate) fn instructions(ticks: u32) -> u32 {
    ticks
}

/// Return the addresses that the stack may use.
pub(crate) fn stack_bounds() -> Range<usize> {
    unsafe extern "C" {
        static __estack: u32;
        static _stack_start: u32;
    }
    (&raw const __estack).addr()..(&raw const _stack_start).addr()
}

/// Return the stack pointer.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mv {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
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
            "j 3f",
            "2: sw {word}, 0({at})",
            "addi {at}, {at}, 4",
            "3: bltu {at}, sp, 2b",
            at = inout(reg) bottom => _,
            word = in(reg) word,
        );
    }
}
