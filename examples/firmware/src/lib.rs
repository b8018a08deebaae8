//! What the images share: a board for each target, the transport of the log, the panic handler, and the
//! comparison of a result with the desktop's.
//!
//! All `unsafe` of the images is in `board`, `stack`, `transport` and `panicking`; each block says why it is
//! sound. An image starts at [`entry`], does its work, and ends with [`finish`].
#![no_std]

pub mod board;
mod compare;
// QEMU's Cortex-M3 has no counter that can be read.
#[cfg(not(board = "lm3s6965evb"))]
pub mod counter;
mod panicking;
pub mod sets;
pub mod stack;
mod transport;

pub use board::entry;
pub use compare::{Failure, compare, finish, show};

use dpp_nystrom_core::{Detector, Learner, bytes};
use dpp_nystrom_golden::memory::{DETECTORS, TABLE};

// What is promised is what the static takes, on these processors as on the desktop.
const _: () = assert!(size_of::<Learner<16, 4>>() == bytes::<f32>(16, 4).learner);
const _: () = assert!(size_of::<Learner<7, 3>>() == bytes::<f32>(7, 3).learner);

/// Check the table of the core's README on this processor.
const _: () = {
    let mut i = 0;
    while i < TABLE.len() {
        let ([c, d], [select, learn, predict, learner, state]) = TABLE[i];
        let need = bytes::<f32>(c, d);
        assert!(need.select == select && need.learn == learn && need.predict == predict);
        assert!(need.learner == learner && need.state == state);
        i += 1;
    }
};

/// Check the table of detectors in the core's README on this processor.
const _: () = {
    const fn check<const C: usize, const D: usize>(at: usize) {
        let ([c, d], [bytes, state]) = DETECTORS[at];
        assert!(C == c && D == d);
        assert!(size_of::<Detector<C, D>>() == bytes && Detector::<C, D>::STATE == state);
    }
    check::<8, 4>(0);
    check::<16, 4>(1);
    check::<16, 8>(2);
    check::<32, 8>(3);
    check::<64, 8>(4);
};
