//! A learner that loses its power in the middle of a save, resumes, and predicts the same bits.
#![no_std]
#![no_main]

use defmt::info;
use dpp_nystrom_firmware::{Failure, board, compare, entry, finish};
use dpp_nystrom_golden::power::{self, Device, Flash};
use static_cell::ConstStaticCell;

static LEARNER: ConstStaticCell<Device> = ConstStaticCell::new(Device::new());
static FLASH: ConstStaticCell<Flash> = ConstStaticCell::new(Flash::new());
static STATE: ConstStaticCell<[u8; Device::STATE]> = ConstStaticCell::new([0; Device::STATE]);

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    info!("power: {=str}", board::NAME);
    let (Some(learner), Some(flash), Some(state)) = (LEARNER.try_take(), FLASH.try_take(), STATE.try_take())
    else {
        return Err(Failure::Wrong("the statics are already in use"));
    };
    info!("{=usize} bytes of learner, {=usize} to save it", size_of_val(learner), size_of_val(state));
    // In an erasure, a write, the first piece, and at the end; while scaling, selecting and learning.
    for (save, bytes) in [(1, 0), (3, 1_100), (7, 1_000), (9, 1_500), (12, 3_000), (15, 2_500), (20, 3_333)] {
        let outcome = power::run(learner, flash, state, Some((save, bytes)))?;
        if outcome != power::DESKTOP {
            return Err(Failure::Wrong("the predictions after a loss of power differ"));
        }
        info!("cut in save {=usize} after {=usize} bytes: the same bits", save, bytes);
    }
    compare(&power::run(learner, flash, state, None)?, &power::DESKTOP)
}
