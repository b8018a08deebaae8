//! The learner on two boards that are sold: an nRF52840-DK (Cortex-M4F) and a Raspberry Pi Pico (RP2040,
//! Cortex-M0+), in a task of embassy, flashed and logged by probe-rs.
//!
//! The program is that of the image `learner`. The LED blinks with each row that is learned, and the log says
//! how long solving and predicting take by the board's own clock: a tick is 31 µs on the nRF52840 and
//! 1 µs on the RP2040. It is built by the tests, and was not run on hardware.
#![no_std]
#![no_main]

#[cfg(feature = "nrf52840")]
use cortex_m as _;
use defmt::{error, info};
use defmt_rtt as _;
use dpp_nystrom_core::{Error, Learner, Random, kernel::Gaussian};
use dpp_nystrom_golden::data::Sensor;
use embassy_executor::Spawner;
use embassy_time::{Instant, Timer};
use panic_probe as _;
use static_cell::ConstStaticCell;

#[cfg(feature = "nrf52840")]
mod board {
    use embassy_nrf::config::Config;
    use embassy_nrf::gpio::{Level, Output, OutputDrive};

    /// LED 1, which is lit where the pin is low.
    pub(crate) fn led() -> Output<'static> {
        Output::new(embassy_nrf::init(Config::default()).P0_13, Level::High, OutputDrive::Standard)
    }
}

#[cfg(feature = "rp2040")]
mod board {
    use embassy_rp::config::Config;
    use embassy_rp::gpio::{Level, Output};

    /// The LED of the Pico.
    pub(crate) fn led() -> Output<'static> {
        Output::new(embassy_rp::init(Config::default()).PIN_25, Level::Low)
    }
}

static LEARNER: ConstStaticCell<Learner<16, 4>> = ConstStaticCell::new(Learner::new());

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let mut led = board::led();
    let outcome = match LEARNER.try_take() {
        Some(learner) => learn(learner, || led.toggle()).await,
        None => Err(Error::Internal),
    };
    match outcome {
        Ok(prediction) => info!("prediction {}, bits {:#010x}", prediction, prediction.to_bits()),
        Err(reason) => error!("{}", reason),
    }
}

async fn learn(learner: &mut Learner<16, 4>, mut blink: impl FnMut()) -> Result<f32, Error> {
    let (mut sensor, mut random) = (Sensor::new(1), Random::seeded(7));
    learner.start(Gaussian::new(6.0)?); // in standard deviations
    sensor.by_ref().take(100).try_for_each(|reading| learner.scale(&reading.row, reading.target))?;
    learner.freeze_scaling()?;
    sensor.by_ref().take(300).try_for_each(|reading| learner.offer(&reading.row, &mut random).map(drop))?;
    learner.freeze_landmarks()?;
    for reading in sensor.by_ref().take(500) {
        Timer::after_millis(10).await; // where a sensor would be waited for
        learner.learn(&reading.row, reading.target)?;
        blink();
    }
    let gamma = learner.choose_gamma()?;
    let begin = Instant::now();
    learner.solve(gamma)?;
    let solved = Instant::now();
    let prediction = learner.predict(&sensor.read().row)?;
    let (solving, predicting) = (solved - begin, solved.elapsed());
    info!("solved in {} us, predicted in {} us", solving.as_micros(), predicting.as_micros());
    Ok(prediction)
}
