//! The flash of a detector, from scaling to exchanges, without saving. `tests/budgets` reads the size of the
//! image, which is not run.
#![no_std]
#![no_main]

use core::hint::black_box;
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Detector, Error, Random, RidgeWorkspace, Verdict, Workspace};
use dpp_nystrom_firmware::sets::DIM;
use dpp_nystrom_firmware::{Failure, entry, finish};
use static_cell::ConstStaticCell;

const LANDMARKS: usize = 32;

// Zeros, which take no flash.
static ROWS: ConstStaticCell<[f32; 64 * DIM]> = ConstStaticCell::new([0.0; 64 * DIM]);
static MEMORY: ConstStaticCell<Workspace<f32, LANDMARKS>> = ConstStaticCell::new(Workspace::new());
static RIDGE: ConstStaticCell<RidgeWorkspace<f32, LANDMARKS>> = ConstStaticCell::new(RidgeWorkspace::new());
static WEIGHTS: ConstStaticCell<[f32; LANDMARKS]> = ConstStaticCell::new([0.0; LANDMARKS]);
static DETECTOR: ConstStaticCell<Detector<LANDMARKS, DIM>> = ConstStaticCell::new(Detector::new());

#[entry]
fn main() -> ! {
    finish(run())
}

#[inline(never)]
fn detect(detector: &mut Detector<LANDMARKS, DIM>, rows: &[[f32; DIM]]) -> Result<(), Error> {
    let mut random = Random::seeded(7);
    detector.start(Gaussian::new(3.0)?, 100)?;
    rows.iter().try_for_each(|row| detector.scale(row, &mut random))?;
    detector.freeze_scaling()?;
    rows.iter().try_for_each(|row| detector.offer(row, &mut random).map(drop))?;
    detector.freeze_landmarks()?;
    for row in rows {
        if let Verdict::Known { .. } = detector.check(row)? {
            detector.exchange(row)?;
        }
    }
    Ok(())
}

fn run() -> Result<(), Failure> {
    let taken =
        (ROWS.try_take(), MEMORY.try_take(), RIDGE.try_take(), WEIGHTS.try_take(), DETECTOR.try_take());
    let (Some(rows), Some(memory), Some(ridge), Some(weights), Some(detector)) = black_box(taken) else {
        return Err(Failure::Wrong("the statics are already in use"));
    };
    detect(detector, rows.as_chunks::<DIM>().0)?;
    black_box((rows, memory, ridge, weights));
    Ok(())
}
