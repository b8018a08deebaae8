//! The learner in a task of embassy. The sensor's future is pending until the interrupt of a timer wakes it;
//! in between the processor sleeps. The program is that of the image `learner`, and so is its prediction, bit
//! for bit.
//!
//! The learner is a static that the task borrows for as long as it runs. Nothing of it is in the future,
//! which holds a reference, the sensor and a generator.
#![no_std]
#![no_main]

use core::cell::Cell;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use cortex_m::Peripherals;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::exception;
use critical_section::Mutex;
use defmt::info;
use dpp_nystrom_core::{Error, Learner, Random, kernel::Gaussian};
use dpp_nystrom_firmware::{Failure, board, entry, finish, show};
use dpp_nystrom_golden::data::{Reading, Sensor};
use embassy_executor::Executor;
use static_cell::{ConstStaticCell, StaticCell};

static LEARNER: ConstStaticCell<Learner<16, 4>> = ConstStaticCell::new(Learner::new());
static EXECUTOR: StaticCell<Executor> = StaticCell::new();

/// Cycles of the timer from one reading to the next: 10 ms at 25 MHz. Nearly all that is done with one takes
/// less.
const PERIOD: u32 = 250_000;

/// Readings that are waited for: 100 for the scaling, 300 for the landmarks, 500 to be learned, and one to be
/// predicted.
const READINGS: u32 = 901;

/// What the interrupt and the future share.
struct Tick {
    /// The timer has elapsed since the last reading.
    ready: Cell<bool>,
    waker: Cell<Option<Waker>>,
    /// How often the future found no reading.
    pending: Cell<u32>,
}

static TICK: Mutex<Tick> =
    Mutex::new(Tick { ready: Cell::new(false), waker: Cell::new(None), pending: Cell::new(0) });

#[exception]
fn SysTick() {
    critical_section::with(|cs| {
        let tick = TICK.borrow(cs);
        tick.ready.set(true);
        if let Some(waker) = tick.waker.take() {
            waker.wake();
        }
    });
}

/// Wait for the timer and return the next reading.
async fn read(sensor: &mut Sensor) -> Reading {
    poll_fn(|context| {
        critical_section::with(|cs| {
            let tick = TICK.borrow(cs);
            if tick.ready.take() {
                return Poll::Ready(());
            }
            tick.pending.set(tick.pending.get().wrapping_add(1));
            tick.waker.set(Some(context.waker().clone()));
            Poll::Pending
        })
    })
    .await;
    sensor.read()
}

async fn learn(learner: &mut Learner<16, 4>) -> Result<f32, Error> {
    let (mut sensor, mut random) = (Sensor::new(1), Random::seeded(7));
    learner.start(Gaussian::new(6.0)?);
    for _ in 0..100 {
        let reading = read(&mut sensor).await;
        learner.scale(&reading.row, reading.target)?;
    }
    learner.freeze_scaling()?;
    for _ in 0..300 {
        learner.offer(&read(&mut sensor).await.row, &mut random)?;
    }
    learner.freeze_landmarks()?;
    for _ in 0..500 {
        let reading = read(&mut sensor).await;
        learner.learn(&reading.row, reading.target)?;
    }
    let gamma = learner.choose_gamma()?;
    learner.solve(gamma)?;
    learner.predict(&read(&mut sensor).await.row)
}

#[embassy_executor::task]
async fn device(learner: &'static mut Learner<16, 4>) {
    let prediction = learn(learner).await;
    let pending = critical_section::with(|cs| TICK.borrow(cs).pending.get());
    info!("the future was pending {=u32} times for {=u32} readings", pending, READINGS);
    // Once for each reading, but for a few that took the learner longer than the timer.
    if pending < READINGS - READINGS / 100 {
        finish(Err(Failure::Wrong("the readings did not wait for the timer")));
    }
    show(prediction)
}

#[entry]
fn main() -> ! {
    info!("embassy: {=str}", board::NAME);
    let (Some(learner), Some(executor), Some(mut core)) =
        (LEARNER.try_take(), EXECUTOR.try_init_with(Executor::new), Peripherals::take())
    else {
        finish(Err(Failure::Wrong("the statics are already in use")))
    };
    core.SYST.set_clock_source(SystClkSource::Core);
    core.SYST.set_reload(PERIOD - 1);
    core.SYST.clear_current();
    core.SYST.enable_interrupt();
    core.SYST.enable_counter();
    executor.run(|spawner| match device(learner) {
        Ok(token) => spawner.spawn(token),
        Err(_) => finish(Err(Failure::Wrong("the task is already running"))),
    })
}
