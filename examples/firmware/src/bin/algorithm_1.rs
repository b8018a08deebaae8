//! The paper's chain among rows in flash, and a function fitted on its landmarks.
#![no_std]
#![no_main]

use defmt::info;
use dpp_nystrom_core::{RidgeWorkspace, Workspace};
use dpp_nystrom_firmware::{Failure, board, compare, entry, finish, stack};
use dpp_nystrom_golden::{LANDMARKS, algorithm_1};
use static_cell::ConstStaticCell;

static MEMORY: ConstStaticCell<Workspace<f32, LANDMARKS>> = ConstStaticCell::new(Workspace::new());
static RIDGE: ConstStaticCell<RidgeWorkspace<f32, LANDMARKS>> = ConstStaticCell::new(RidgeWorkspace::new());

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    info!("algorithm_1: {=str}", board::NAME);
    let (Some(memory), Some(ridge)) = (MEMORY.try_take(), RIDGE.try_take()) else {
        return Err(Failure::Wrong("the statics are already in use"));
    };
    let (result, stack) = stack::measured(|| algorithm_1::run(memory.lend(), ridge.lend()));
    let (outcome, mean_squared_error) = result?;
    info!("mean squared error {=f32}; {=usize} bytes of stack", mean_squared_error, stack);
    // The mean squared error of the best constant is 0.21.
    if !(mean_squared_error < 0.01) {
        return Err(Failure::Wrong("the mean squared error is too large"));
    }
    compare(&outcome, &algorithm_1::DESKTOP)
}
