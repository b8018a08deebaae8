//! Arm's MPS2 with the AN386 image: a Cortex-M4F.
#![allow(unsafe_code)]

use core::ptr;

/// The counter of the board's FPGA: 25 MHz, 32 bits, always running.
const COUNTER: *const u32 = ptr::without_provenance(0x4002_8018);

/// Read the counter.
#[inline]
pub(crate) fn ticks() -> u32 {
    // SAFETY: the AN386 has a readable register at this address, and reading has no side effect.
    unsafe { ptr::read_volatile(COUNTER) }
}

/// Convert ticks to instructions: under `-icount shift=8` an instruction takes 256 ns and a tick 40 ns.
pub(crate) fn instructions(ticks: u32) -> u32 {
    ((u64::from(ticks) * 40 + 128) >> 8) as u32
}
