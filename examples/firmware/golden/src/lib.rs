//! Seeded computations that the firmware images and the desktop's golden test share, so that the results can
//! be compared bit for bit. Each module is one image: its `run` computes, and its `DESKTOP` is the expected
//! result.
//!
//! | module | computes |
//! | --- | --- |
//! | [`algorithm_1`] | landmarks by the paper's chain, ridge regression on them |
//! | [`select`] | landmarks by the open-slot chain among rows in flash |
//! | [`stream`] | landmarks of a stream that is not stored |
//! | [`learn`] | ridge regression on a stream, one row at a time |
//! | [`detector`] | a detector without a target, on windows of an accelerometer |
//! | [`power`] | a learner that is saved to flash and loses its power in the middle of a save |
//! | [`predict`] | predictions of a model in flash |
//!
//! [`vibration`] is the machine on which the image `accelerometer` is mounted, whose computation is in that
//! image. [`memory`] is the table of the core's README, which is checked where the images are compiled.
//!
//! Rows and targets come from integers and from `+`, `-` and `*` in a fixed order, so that they do not depend
//! on a target's mathematics library.
#![no_std]
#![forbid(unsafe_code)]

pub mod algorithm_1;
pub mod data;
pub mod detector;
pub mod learn;
pub mod memory;
mod outcome;
pub mod power;
pub mod predict;
pub mod select;
pub mod stream;
pub mod vibration;

pub use data::DIM;
pub use outcome::Outcome;

/// The number of landmarks.
pub const LANDMARKS: usize = 16;
