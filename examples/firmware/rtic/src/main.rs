//! The learner as a resource of RTIC, which tasks of two priorities share. The timer's interrupt takes the
//! sensor's readings on time and, once there are weights, predicts; below it, a task learns what the
//! interrupt has queued. The program is that of the image `learner`, and so is its prediction, bit for bit.
//!
//! A lock of the learner holds the interrupt back for as long as its calls take: the longest, which chooses γ
//! and solves, at most 12 times `c³/2` multiply-adds. Where the interrupt cannot wait for so long, lock the
//! two one after the other. The lower task is bound to an interrupt that the board does not use. An `async`
//! one would do, but each `async fn` has a panic, for a call after its end, and then the linker could not
//! prove that this image has none.
#![no_std]
#![no_main]

use rtic::app;

#[app(device = lm3s6965)]
mod app {
    use cortex_m::peripheral::syst::SystClkSource;
    use defmt::info;
    use dpp_nystrom_core::{Error, Learner, Phase, Random, kernel::Gaussian};
    use dpp_nystrom_firmware::{Failure, board, finish, show};
    use dpp_nystrom_golden::data::{Reading, Sensor};
    use heapless::Deque;
    use lm3s6965::Interrupt;

    const SCALED: u64 = 100;
    const OFFERED: u64 = 300;
    const LEARNED: u64 = 500;

    /// Cycles of the timer from one reading to the next: 1 ms at 12 MHz, less than some readings take to be
    /// learned.
    const PERIOD: u32 = 12_000;

    #[shared]
    struct Shared {
        learner: &'static mut Learner<16, 4>,
        /// Readings that are not learned yet.
        queue: Deque<Reading, 8>,
    }

    #[local]
    struct Local {
        /// The most readings that waited when another one came.
        waiting: usize,
        sensor: Sensor,
        random: Random,
    }

    #[init(local = [learner: Learner<16, 4> = Learner::new()])]
    fn init(context: init::Context) -> (Shared, Local) {
        info!("rtic: {=str}", board::NAME);
        let learner = context.local.learner;
        match Gaussian::new(6.0) {
            Ok(kernel) => learner.start(kernel),
            Err(error) => finish(Err(Failure::Core(error))),
        }
        let mut timer = context.core.SYST;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(PERIOD - 1);
        timer.clear_current();
        timer.enable_interrupt();
        timer.enable_counter();
        let local = Local { waiting: 0, sensor: Sensor::new(1), random: Random::seeded(7) };
        (Shared { learner, queue: Deque::new() }, local)
    }

    /// Take a reading: to be predicted, or to be learned first.
    #[task(binds = SysTick, priority = 2, shared = [learner, queue], local = [sensor, waiting, taken: u64 = 0])]
    fn sample(context: sample::Context) {
        let (sample::SharedResources { mut learner, mut queue, .. }, local) = (context.shared, context.local);
        if *local.taken < SCALED + OFFERED + LEARNED {
            queue.lock(|queue| {
                *local.waiting = queue.len().max(*local.waiting);
                // A queue that is full leaves the reading in the sensor's own.
                if !queue.is_full() && queue.push_back(local.sensor.read()).is_ok() {
                    *local.taken += 1;
                }
            });
            rtic::pend(Interrupt::UART0);
            return;
        }
        learner.lock(|learner| {
            if learner.phase() == Phase::Predicting {
                info!("up to {=usize} readings waited", *local.waiting);
                if *local.waiting < 2 {
                    finish(Err(Failure::Wrong("no reading came while another was learned")));
                }
                show(learner.predict(&local.sensor.read().row));
            }
        });
    }

    /// Learn the readings that are queued.
    #[task(binds = UART0, priority = 1, shared = [learner, queue], local = [random, done: u64 = 0])]
    fn learn(context: learn::Context) {
        let (learn::SharedResources { mut learner, mut queue, .. }, local) = (context.shared, context.local);
        while let Some(reading) = queue.lock(Deque::pop_front) {
            *local.done += 1;
            if let Err(error) = learner.lock(|learner| step(learner, &reading, *local.done, local.random)) {
                finish(Err(Failure::Core(error)));
            }
        }
    }

    /// Do with the reading of this number, from 1, what its phase asks for.
    fn step(
        learner: &mut Learner<16, 4>,
        reading: &Reading,
        number: u64,
        random: &mut Random,
    ) -> Result<(), Error> {
        const SELECTED: u64 = SCALED + OFFERED;
        const LAST: u64 = SELECTED + LEARNED;
        match learner.phase() {
            Phase::Scaling => learner.scale(&reading.row, reading.target)?,
            Phase::Selecting => learner.offer(&reading.row, random).map(drop)?,
            _ => learner.learn(&reading.row, reading.target)?,
        }
        match number {
            SCALED => learner.freeze_scaling(),
            SELECTED => learner.freeze_landmarks(),
            LAST => learner.choose_gamma().and_then(|gamma| learner.solve(gamma)).map(drop),
            _ => Ok(()),
        }
    }
}
