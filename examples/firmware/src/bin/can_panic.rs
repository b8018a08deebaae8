//! An image that can panic. It must not link in release mode, which `tests/firmware` checks: otherwise it
//! would prove nothing that the other images link.
#![no_std]
#![no_main]

use core::hint::black_box;
use dpp_nystrom_firmware::{board, entry};

#[entry]
fn main() -> ! {
    let statuses = black_box([0_u8; 2]);
    board::exit(statuses[black_box(2)])
}
