//! A detector without a target on a machine: what is usual and a threshold are learned in a healthy time,
//! what is not usual afterwards is an alarm.
#![no_std]
#![no_main]

use defmt::info;
use dpp_nystrom_firmware::{Failure, board, compare, entry, finish, stack};
use dpp_nystrom_golden::detector::{self, DESKTOP, Device, LIFE};
use dpp_nystrom_golden::vibration::Condition;
use static_cell::ConstStaticCell;

static DETECTOR: ConstStaticCell<Device> = ConstStaticCell::new(Device::new());

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    info!("detector: {=str}", board::NAME);
    let Some(device) = DETECTOR.try_take() else {
        return Err(Failure::Wrong("the static is already in use"));
    };
    let (result, stack) = stack::measured(|| detector::run(device));
    let (found, alarms) = result?;
    info!("{=usize} bytes of memory, {=usize} of stack", size_of_val(device), stack);
    for ((condition, windows), alarms) in LIFE.into_iter().zip(alarms) {
        let name = match condition {
            Condition::Healthy => "healthy",
            Condition::Loose => "loose",
            Condition::Tilted => "tilted",
        };
        info!("{=str}: {=u32} alarms in {=u32} windows", name, alarms, windows);
    }
    compare(&found, &DESKTOP)
}
