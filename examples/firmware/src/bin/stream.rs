//! Landmarks of a stream that nobody stores.
#![no_std]
#![no_main]

use defmt::info;
use dpp_nystrom_core::Workspace;
use dpp_nystrom_firmware::{Failure, board, entry, finish, judge, stack};
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
        return Err(Failure::Wrong("the statics were taken before"));
    };
    let lent = size_of_val(memory) + size_of_val(rows);
    let (answer, stack) = stack::measured(|| stream::run(memory.lend(), rows));
    info!("{=usize} bytes for the landmarks, {=usize} of stack", lent, stack);
    judge(&answer?, &stream::DESKTOP)
}
