//! The first device of the fleet.
#![no_std]
#![no_main]

use dpp_nystrom_firmware::{entry, finish};

#[entry]
fn main() -> ! {
    finish(dpp_nystrom_fleet::run(0))
}
