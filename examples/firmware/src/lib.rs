//! What the images share.
#![no_std]

pub mod stack;
