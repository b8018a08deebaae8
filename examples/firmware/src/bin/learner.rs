//! 16 landmarks of 4 features: all memory is in one static.
#![no_std]
#![no_main]
use dpp_nystrom_core::{Error, Learner, Random, kernel::Gaussian};
use dpp_nystrom_firmware::{entry, show};
use dpp_nystrom_golden::data::Sensor;
use static_cell::ConstStaticCell;

static LEARNER: ConstStaticCell<Learner<16, 4>> = ConstStaticCell::new(Learner::new());

#[entry]
fn main() -> ! {
    show(LEARNER.try_take().map_or(Err(Error::Internal), learn))
}

fn learn(learner: &mut Learner<16, 4>) -> Result<f32, Error> {
    let (mut sensor, mut random) = (Sensor::new(1), Random::seeded(7));
    learner.start(Gaussian::new(6.0)?); // in standard deviations
    sensor.by_ref().take(100).try_for_each(|reading| learner.scale(&reading.row, reading.target))?;
    learner.freeze_scaling()?;
    sensor.by_ref().take(300).try_for_each(|reading| learner.offer(&reading.row, &mut random).map(drop))?;
    learner.freeze_landmarks()?;
    sensor.by_ref().take(500).try_for_each(|reading| learner.learn(&reading.row, reading.target))?;
    let gamma = learner.choose_gamma()?;
    learner.solve(gamma).and_then(|_| learner.predict(&sensor.read().row)) // in the target's units
}
