//! The flash of an image without any of the work, the baseline of the others. `tests/budgets` reads the size
//! of the image, which is not run.
#![no_std]
#![no_main]

use core::hint::black_box;
use dpp_nystrom_core::{RidgeWorkspace, Workspace};
use dpp_nystrom_firmware::sets::DIM;
use dpp_nystrom_firmware::{Failure, entry, finish};
use static_cell::ConstStaticCell;

const LANDMARKS: usize = 32;

// Zeros, which take no flash.
static ROWS: ConstStaticCell<[f32; 64 * DIM]> = ConstStaticCell::new([0.0; 64 * DIM]);
static MEMORY: ConstStaticCell<Workspace<f32, LANDMARKS>> = ConstStaticCell::new(Workspace::new());
static RIDGE: ConstStaticCell<RidgeWorkspace<f32, LANDMARKS>> = ConstStaticCell::new(RidgeWorkspace::new());
static WEIGHTS: ConstStaticCell<[f32; LANDMARKS]> = ConstStaticCell::new([0.0; LANDMARKS]);

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    let taken = (ROWS.try_take(), MEMORY.try_take(), RIDGE.try_take(), WEIGHTS.try_take());
    let (Some(rows), Some(memory), Some(ridge), Some(weights)) = black_box(taken) else {
        return Err(Failure::Wrong("the statics are already in use"));
    };
    black_box((rows, memory, ridge, weights));
    Ok(())
}
