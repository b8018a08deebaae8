//! Seeded computations that firmware images and the desktop's golden test share, so that the two can be compared
//! bit for bit. One module is one image; its `run` is what is computed, its `DESKTOP` what must come out.
//!
//! | module | computes |
//! | --- | --- |
//! | [`algorithm_1`] | landmarks by the paper's chain, ridge regression on them |
//! | [`select`] | landmarks by the open-slot chain among rows in flash |
//! | [`stream`] | landmarks of a stream that nobody stores |
//! | [`learn`] | ridge regression on a stream, one row at a time |
//! | [`predict`] | predictions of a model in flash |
//!
//! Rows and targets come from integers and from `+`, `-` and `*` in a fixed order, so that no target's
//! mathematics library has a say in them.
#![no_std]
#![forbid(unsafe_code)]

pub mod algorithm_1;
mod answer;
pub mod data;
pub mod learn;
pub mod predict;
pub mod select;
pub mod stream;

pub use answer::Answer;
pub use data::WIDTH;

/// The number of landmarks.
pub const LANDMARKS: usize = 16;
