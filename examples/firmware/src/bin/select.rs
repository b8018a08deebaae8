//! Landmarks among a few hundred rows in flash, by the open-slot chain.
#![no_std]
#![no_main]

use defmt::info;
use dpp_nystrom_core::Workspace;
use dpp_nystrom_firmware::{Failure, board, compare, entry, finish, stack};
use dpp_nystrom_golden::{LANDMARKS, select};
use static_cell::ConstStaticCell;

static MEMORY: ConstStaticCell<Workspace<f32, LANDMARKS>> = ConstStaticCell::new(Workspace::new());
static DISTANCES: ConstStaticCell<[f32; select::ROWS]> = ConstStaticCell::new([0.0; select::ROWS]);

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    info!("select: {=str}, {=usize} rows", board::NAME, select::ROWS);
    if !board::is_in_flash(&select::FEATURES) {
        return Err(Failure::Wrong("the rows are not in flash"));
    }
    let (Some(memory), Some(distances)) = (MEMORY.try_take(), DISTANCES.try_take()) else {
        return Err(Failure::Wrong("the statics are already in use"));
    };
    let (outcome, stack) = stack::measured(|| select::run(memory.lend(), distances));
    info!("{=usize} bytes of stack", stack);
    compare(&outcome?, &select::DESKTOP)
}
