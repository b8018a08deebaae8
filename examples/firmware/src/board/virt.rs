//! QEMU's RISC-V board: start-up by `riscv-rt`, with and without floating point.
#![allow(unsafe_code)]

use core::arch::asm;
use core::ops::Range;
pub use riscv_rt::entry;

/// Instructions retired, the lower 32 bits.
pub(crate) fn ticks() -> u32 {
    riscv::register::minstret::read() as u32
}

/// A tick is an instruction.
pub(crate) fn instructions(ticks: u32) -> u32 {
    ticks
}

/// The addresses that the stack may use.
pub(crate) fn stack_bounds() -> Range<usize> {
    unsafe extern "C" {
        static __estack: u32;
        static _stack_start: u32;
    }
    (&raw const __estack).addr()..(&raw const _stack_start).addr()
}

/// The stack pointer here.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mv {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// Writes `word` from `bottom` up to the stack pointer.
///
/// # Safety
/// `bottom` is aligned to a word, and nothing lives between it and the stack pointer.
#[inline(always)]
pub(crate) unsafe fn paint(bottom: usize, word: u32) {
    // SAFETY: in assembly, so that no frame of a called function lies where it writes. The ABI has no red zone.
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
