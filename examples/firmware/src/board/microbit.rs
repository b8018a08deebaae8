//! BBC micro:bit: an nRF51822, whose core is a Cortex-M0.
#![allow(unsafe_code)]

use core::ptr;

/// TIMER0, at 16 MHz without prescaler.
const START: *mut u32 = ptr::without_provenance_mut(0x4000_8000);
const CAPTURE: *mut u32 = ptr::without_provenance_mut(0x4000_8040);
const MODE_OF_WIDTH: *mut u32 = ptr::without_provenance_mut(0x4000_8508);
const PRESCALER: *mut u32 = ptr::without_provenance_mut(0x4000_8510);
const CAPTURED: *const u32 = ptr::without_provenance(0x4000_8540);

/// The value of `MODE_OF_WIDTH` for 32 bits.
const WIDTH_32: u32 = 3;

/// The timer now. Starting it again changes nothing.
pub(crate) fn ticks() -> u32 {
    // SAFETY: registers of TIMER0, which nothing else here uses, with values that its manual allows.
    unsafe {
        ptr::write_volatile(MODE_OF_WIDTH, WIDTH_32);
        ptr::write_volatile(PRESCALER, 0);
        ptr::write_volatile(START, 1);
        ptr::write_volatile(CAPTURE, 1);
        ptr::read_volatile(CAPTURED)
    }
}

/// How many instructions so many ticks are: under `-icount shift=8` an instruction takes 256 ns, a tick 62.5 ns.
pub(crate) fn instructions(ticks: u32) -> u32 {
    ((u64::from(ticks) * 125 + 256) >> 9) as u32
}
