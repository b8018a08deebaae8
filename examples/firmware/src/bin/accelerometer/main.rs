//! An accelerometer on a machine: what is normal is learned in a time of quiet, what is novel afterwards is
//! logged.
#![no_std]
#![no_main]

mod monitor;

use defmt::info;
use dpp_nystrom_core::Random;
use dpp_nystrom_firmware::{Failure, board, entry, finish, stack};
use dpp_nystrom_golden::vibration::{Condition, Machine};
use monitor::{Monitor, READINGS, Verdict, WINDOWS};
use static_cell::ConstStaticCell;

static MONITOR: ConstStaticCell<Monitor> = ConstStaticCell::new(Monitor::new());

/// What the machine goes through after the quiet time, and for how many windows.
const LIFE: [(Condition, u32); 5] = [
    (Condition::Healthy, 200),
    (Condition::Loose, 50),
    (Condition::Healthy, 200),
    (Condition::Tilted, 50),
    (Condition::Healthy, 100),
];

/// Healthy windows of 500 that may be flagged.
const FALSE_ALARMS: u32 = 10;

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    info!("accelerometer: {=str}", board::NAME);
    let Some(monitor) = MONITOR.try_take() else {
        return Err(Failure::Wrong("the static is already in use"));
    };
    let (mut machine, mut random) = (Machine::new(1), Random::seeded(7));
    let mut next = |monitor: &mut Monitor, condition| loop {
        match monitor.read(machine.read(condition), &mut random) {
            Ok(None) => {}
            Ok(Some(verdict)) => return Ok(verdict),
            Err(error) => return Err(error),
        }
    };
    let quiet = WINDOWS.iter().sum::<u32>();
    let (result, stack) =
        stack::measured(|| (0..quiet).try_for_each(|_| next(monitor, Condition::Healthy).map(drop)));
    result?;
    info!("{=u32} windows of {=usize} readings were quiet", quiet, READINGS);
    info!("{=usize} bytes of memory, {=usize} of stack", size_of_val(monitor), stack);

    let mut false_alarms = 0;
    for (condition, windows) in LIFE {
        let (mut unknown, mut unexpected, mut last) = (0, 0, 0.0);
        for _ in 0..windows {
            match next(monitor, condition)? {
                Verdict::Unknown(residual) => (unknown, last) = (unknown + 1, residual),
                Verdict::Unexpected(difference) => (unexpected, last) = (unexpected + 1, difference),
                Verdict::Quiet | Verdict::Known => {}
            }
        }
        let name = match condition {
            Condition::Healthy => "healthy",
            Condition::Loose => "loose",
            Condition::Tilted => "tilted",
        };
        info!(
            "{=str}: of {=u32} windows {=u32} unknown, {=u32} unexpected; the last by {=f32}",
            name, windows, unknown, unexpected, last
        );
        let flagged = unknown + unexpected;
        if condition == Condition::Healthy {
            false_alarms += flagged;
        } else if flagged * 10 < windows * 9 {
            return Err(Failure::Wrong("a fault was not flagged"));
        }
    }
    if false_alarms > FALSE_ALARMS {
        return Err(Failure::Wrong("too many windows of the healthy machine were flagged"));
    }
    info!("predictions: {:08x}", monitor.limits().map(f32::to_bits));
    Ok(())
}
