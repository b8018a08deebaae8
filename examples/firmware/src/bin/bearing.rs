//! A bearing that begins to fail: spectra of a machine's vibration, and a detector that has heard it healthy.
#![no_std]
#![no_main]

use defmt::info;
use dpp_nystrom_bearing::{DESKTOP, Device, LIFE, READINGS, bands, run};
use dpp_nystrom_firmware::{Failure, board, compare, entry, finish, stack};
use static_cell::ConstStaticCell;

static DETECTOR: ConstStaticCell<Device> = ConstStaticCell::new(Device::new());

#[entry]
fn main() -> ! {
    finish(watch())
}

fn watch() -> Result<(), Failure> {
    info!("bearing: {=str}", board::NAME);
    let Some(device) = DETECTOR.try_take() else {
        return Err(Failure::Wrong("the static is already in use"));
    };
    let (result, stack) = stack::measured(|| run(device, bands));
    let (found, heard) = result?;
    info!("{=usize} bytes of memory, {=usize} of stack", size_of_val(device), stack);
    let ([healthy, failing], [before, after]) = (LIFE, heard.alarms);
    info!("healthy: {=u32} alarms in {=u32} windows of {=usize} readings", before, healthy, READINGS);
    info!("a pit in the bearing: {=u32} alarms in {=u32} windows", after, failing);
    let Some(windows @ 1..) = heard.windows else {
        return Err(Failure::Wrong(
            "the pit was not noticed, or the healthy machine was taken for one with a pit",
        ));
    };
    info!("novel {=u32} windows after it began, most in band {=usize}", windows, heard.band);
    compare(&found, &DESKTOP)
}
