//! What the images share: a board for each target, the transport of the log, the panic handler, and the comparison of a
//! result with the desktop's.
//!
//! All `unsafe` of the images is in `board`, `stack`, `transport` and `panicking`; each block says why it is sound. An
//! image starts at [`entry`], does its work, and ends with [`finish`].
#![no_std]

pub mod board;
mod compare;
pub mod counter;
mod panicking;
pub mod sets;
pub mod stack;
mod transport;

pub use board::entry;
pub use compare::{Failure, compare, finish};
