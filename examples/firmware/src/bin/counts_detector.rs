//! Counts the instructions of a detector, in an image of its own: in one with the other work the compiler
//! shares functions between them. `tests/budgets` compares them with the table in `core/docs/target.md`.
#![no_std]
#![no_main]

use core::hint::black_box;
use defmt::info;
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Detector, Error, Exchange, Random, Verdict};
use dpp_nystrom_firmware::{Failure, board, counter, entry, finish};
use static_cell::ConstStaticCell;

/// Features of a row, and rows.
const DIM: usize = 8;
const ROWS: usize = 48;

static FEATURES: [f32; ROWS * DIM] = dpp_nystrom_golden::data::features();
static SMALL: ConstStaticCell<Detector<16, DIM>> = ConstStaticCell::new(Detector::new());
static LARGE: ConstStaticCell<Detector<32, DIM>> = ConstStaticCell::new(Detector::new());

#[entry]
fn main() -> ! {
    finish(run())
}

/// Log the instructions of some work, without those of counting.
fn report<A>(name: &str, work: impl FnOnce() -> A) -> A {
    let (outcome, instructions) = counter::counted(work);
    info!("count {=str}: {=u32}", name, instructions.saturating_sub(counter::overhead()));
    outcome
}

// Not inlined, as in a program whose data is not known at compile time.

#[inline(never)]
fn check<const C: usize>(detector: &mut Detector<C, DIM>, row: &[f32; DIM]) -> Result<Verdict<f32>, Error> {
    detector.check(row)
}

#[inline(never)]
fn exchange<const C: usize>(detector: &mut Detector<C, DIM>, row: &[f32; DIM]) -> Result<Exchange, Error> {
    detector.exchange(row)
}

/// Log a detector's instructions for a row that is known, for one that is not, and for a row on trial.
fn detect<const C: usize>(detector: &mut Detector<C, DIM>, names: [&str; 3]) -> Result<(), Failure> {
    const EVERY: u32 = 2;
    let mut random = Random::seeded(7);
    let rows = black_box(&FEATURES).as_chunks::<DIM>().0;
    detector.start(Gaussian::new(3.0)?, EVERY)?;
    rows.iter().try_for_each(|row| detector.scale(row, &mut random))?;
    detector.freeze_scaling()?;
    rows.iter().try_for_each(|row| detector.offer(row, &mut random).map(drop))?;
    detector.freeze_landmarks()?;
    rows.iter().take(32).try_for_each(|row| detector.check(row).map(drop))?;
    for row in rows.iter().take(33) {
        detector.exchange(row)?;
    }
    let [known, alarm, trial] = names;
    let mut usual = [0.5; DIM];
    for row in rows {
        if detector.score(row)? < detector.score(&usual)? {
            usual = *row;
        }
    }
    if !matches!(report(known, || check(detector, &usual))?, Verdict::Known { .. }) {
        return Err(Failure::Wrong("the row that scores least is not known"));
    }
    if !matches!(report(alarm, || check(detector, &[9.0; DIM]))?, Verdict::Alarm { .. }) {
        return Err(Failure::Wrong("a row far from all others is known"));
    }
    let mut exchanged = Exchange::FewRows;
    for row in rows {
        exchanged = detector.exchange(row)?;
        if exchanged == Exchange::OnTrial {
            break;
        }
    }
    if exchanged != Exchange::OnTrial {
        return Err(Failure::Wrong("no row is on trial"));
    }
    report(trial, || exchange(detector, &usual))?;
    Ok(())
}

fn run() -> Result<(), Failure> {
    info!("counts_detector: {=str}", board::NAME);
    let (Some(small), Some(large)) = (SMALL.try_take(), LARGE.try_take()) else {
        return Err(Failure::Wrong("the statics are already in use"));
    };
    detect(small, ["check 16x8", "check 16x8 alarm", "exchange 16x8"])?;
    detect(large, ["check 32x8", "check 32x8 alarm", "exchange 32x8"])
}
