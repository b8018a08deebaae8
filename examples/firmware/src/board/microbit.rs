//! BBC micro:bit: an nRF51822 with a Cortex-M0 core.
#![allow(unsafe_code)]

use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

/// TIMER0, at 16 MHz without prescaler.
const START: *mut u32 = ptr::without_provenance_mut(0x4000_8000);
const CAPTURE: *mut u32 = ptr::without_provenance_mut(0x4000_8040);
const MODE_OF_WIDTH: *mut u32 = ptr::without_provenance_mut(0x4000_8508);
const PRESCALER: *mut u32 = ptr::without_provenance_mut(0x4000_8510);
const CAPTURED: *const u32 = ptr::without_provenance(0x4000_8540);

/// The value of `MODE_OF_WIDTH` for 32 bits.
const WIDTH_32: u32 = 3;

static STARTED: AtomicBool = AtomicBool::new(false);

/// Read the timer, and start it at the first call: QEMU's loses the time since its last reading when started
/// again.
pub(crate) fn ticks() -> u32 {
    // SAFETY: registers of TIMER0, which nothing else here uses, with values that its manual allows.
    unsafe {
        if !STARTED.load(Ordering::Relaxed) {
            ptr::write_volatile(MODE_OF_WIDTH, WIDTH_32);
            ptr::write_volatile(PRESCALER, 0);
            ptr::write_volatile(START, 1);
            STARTED.store(true, Ordering::Relaxed);
        }
        ptr::write_volatile(CAPTURE, 1);
        ptr::read_volatile(CAPTURED)
    }
}

/// Convert ticks to instructions: under `-icount shift=8` an instruction takes 256 ns and a tick 62.5 ns.
pub(crate) fn instructions(ticks: u32) -> u32 {
    ((u64::from(ticks) * 125 + 256) >> 9) as u32
}
