//! The transport of the log: `defmt`'s frames over semihosting, to the host's standard output.
//!
//! `defmt-semihosting` does the same, but it panics where it is used wrongly, and these images must link
//! without any panic. Nothing else may write to that stream: a frame with other text in it cannot be decoded.
#![allow(unsafe_code)]

use crate::board::exit;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use critical_section::RestoreState;
use defmt::Encoder;
use semihosting::fd::{BorrowedFd, OwnedFd, RawFd};
use semihosting::sys;
use semihosting::sys::arm_compat::{OpenMode, sys_open};

/// The exit status when the log cannot be written, as in `sysexits.h`.
const CANNOT_WRITE: u8 = 74;

struct Transport {
    /// Between `acquire` and `release`.
    taken: AtomicBool,
    state: UnsafeCell<State>,
}

struct State {
    restore: RestoreState,
    encoder: Encoder,
    host: Option<OwnedFd>,
}

// SAFETY: the state is only touched in the critical section between `acquire` and `release`.
unsafe impl Sync for Transport {}

static TRANSPORT: Transport = Transport {
    taken: AtomicBool::new(false),
    state: UnsafeCell::new(State { restore: RestoreState::invalid(), encoder: Encoder::new(), host: None }),
};

/// Not the descriptor of any open file.
const NO_FILE: RawFd = -1;

/// Write all bytes, or end the run: an incomplete log must not be compared.
fn write(host: &mut Option<OwnedFd>, mut bytes: &[u8]) {
    if host.is_none() {
        // The host's name for its standard output, when it is opened for writing.
        *host = sys_open(c":tt", OpenMode::WRONLY_TRUNC).ok();
    }
    // `OwnedFd` could lend itself, but it asserts what is checked here.
    let file = match host.as_ref().map_or(NO_FILE, OwnedFd::as_raw_fd) {
        NO_FILE => exit(CANNOT_WRITE),
        // SAFETY: the file stays open in the state, and it is not -1.
        file => unsafe { BorrowedFd::borrow_raw(file) },
    };
    while !bytes.is_empty() {
        let written = sys::write(file, bytes).unwrap_or(0);
        match bytes.get(written..) {
            Some(rest) if written > 0 => bytes = rest,
            _ => exit(CANNOT_WRITE),
        }
    }
}

#[defmt::global_logger]
struct Logger;

// SAFETY: `acquire` starts a critical section, which ends with the `release` that `defmt` pairs with it; it
// calls `write` and `flush` only in between. A second `acquire` in between ends the run.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        // SAFETY: released in `release`.
        let restore = unsafe { critical_section::acquire() };
        if TRANSPORT.taken.load(Ordering::Relaxed) {
            exit(CANNOT_WRITE);
        }
        // No atomic exchange, which a Cortex-M0 does not have: this is a critical section.
        TRANSPORT.taken.store(true, Ordering::Relaxed);
        // SAFETY: in the critical section, and no other reference to the state exists.
        let state = unsafe { &mut *TRANSPORT.state.get() };
        state.restore = restore;
        let State { encoder, host, .. } = state;
        encoder.start_frame(|bytes| write(host, bytes));
    }

    unsafe fn flush() {
        // The host has the bytes when a write returns.
    }

    unsafe fn release() {
        // SAFETY: in the critical section that `acquire` started.
        let State { restore, encoder, host } = unsafe { &mut *TRANSPORT.state.get() };
        encoder.end_frame(|bytes| write(host, bytes));
        TRANSPORT.taken.store(false, Ordering::Relaxed);
        // SAFETY: with the value that `acquire` returned, once.
        unsafe { critical_section::release(*restore) };
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: in the critical section that `acquire` started.
        let State { encoder, host, .. } = unsafe { &mut *TRANSPORT.state.get() };
        encoder.write(bytes, |bytes| write(host, bytes));
    }
}
