//! Landmarks of a stream that is not stored.
#![no_std]
#![no_main]

use defmt::info;
use dpp_nystrom_core::Workspace;
use dpp_nystrom_firmware::{Failure, board, compare, entry, finish, stack};
use dpp_nystrom_golden::{LANDMARKS, stream};
use static_cell::ConstStaticCell;

static MEMORY: ConstStaticCell<Workspace<f32, LANDMARKS>> = ConstStaticCell::new(Workspace::new());
static ROWS: ConstStaticCell<[f32; stream::KEPT]> = ConstStaticCell::new([0.0; stream::KEPT]);

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    info!("stream: {=str}", board::NAME);
    let (Some(memory), Some(rows)) = (MEMORY.try_take(), ROWS.try_take()) else {
        return Err(Failure::Wrong("the statics are already in use"));
    };
    let lent = size_of_val(memory) + size_of_val(rows);
    let (outcome, stack) = stack::measured(|| stream::run(memory.lend(), rows));
    info!("{=usize} bytes for the landmarks, {=usize} of stack", lent, stack);
    compare(&outcome?, &stream::DESKTOP)
}
