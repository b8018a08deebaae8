//! What the images share: a board for each target, the log's way out, the panic handler, and the judgement of an
//! answer.
//!
//! All `unsafe` of the images is here, in `board`, `stack`, `transport` and `panicking`; each says why it is
//! sound. An image starts at [`entry`], does its work, and ends with [`finish`].
#![no_std]

pub mod board;
pub mod counter;
mod judge;
mod panicking;
pub mod sets;
pub mod stack;
mod transport;

pub use board::entry;
pub use judge::{Failure, finish, judge};
