//! The learner in C, `c/learner.c`: it loses its power in the middle of a save, goes on, and predicts the
//! same bits as the learner in Rust.
#![no_std]
#![no_main]
#![allow(unsafe_code)]

use core::cell::Cell;
use critical_section::Mutex;
use defmt::info;
use dpp_nystrom_capi::Status;
use dpp_nystrom_core::bytes;
use dpp_nystrom_firmware::{Failure, board, compare, entry, finish};
use dpp_nystrom_golden::data::{DIM, Sensor};
use dpp_nystrom_golden::power::{self, Device, PREDICTED, Predictions};

static SENSOR: Mutex<Cell<Sensor>> = Mutex::new(Cell::new(Sensor::new(1)));

#[unsafe(no_mangle)]
extern "C" fn sensor_start() {
    critical_section::with(|section| SENSOR.borrow(section).set(Sensor::new(1)));
}

/// # Safety
/// `row` and `target` are valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn sensor_read(row: *mut [f32; DIM], target: *mut f32) {
    critical_section::with(|section| {
        let mut sensor = SENSOR.borrow(section).get();
        let reading = sensor.read();
        SENSOR.borrow(section).set(sensor);
        // SAFETY: the caller's.
        unsafe {
            row.write(reading.row);
            target.write(reading.target);
        }
    });
}

unsafe extern "C" {
    fn learner_run(cut_save: u32, cut_bytes: u32, predictions: *mut f32, count: u32) -> u32;
    safe fn learner_bytes() -> u32;
    safe fn learner_state_bytes() -> u32;
}

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    info!("clearner: {=str}", board::NAME);
    let need = bytes::<f32>(16, DIM);
    info!("{=u32} bytes of learner, {=u32} to save it", learner_bytes(), learner_state_bytes());
    if learner_bytes() as usize != need.learner + 24 || learner_state_bytes() as usize != Device::STATE {
        return Err(Failure::Wrong("the header's sizes are not those of the core"));
    }
    // In an erasure, a write, the first piece, and at the end; while scaling, selecting and learning.
    for (save, bytes) in [(1, 0), (3, 1_100), (7, 1_000), (9, 1_500), (12, 2_500), (15, 2_500), (20, 3_333)] {
        if predict(save, bytes)? != power::DESKTOP {
            return Err(Failure::Wrong("the predictions after a loss of power differ"));
        }
        info!("cut in save {=u32} after {=u32} bytes: the same bits", save, bytes);
    }
    compare(&predict(0, 0)?, &power::DESKTOP)
}

fn predict(save: u32, bytes: u32) -> Result<Predictions, Failure> {
    let mut predictions = [0.0; PREDICTED];
    // SAFETY: there is room for as many predictions.
    let status = unsafe { learner_run(save, bytes, predictions.as_mut_ptr(), PREDICTED as u32) };
    if status == Status::Ok as u32 {
        Ok(Predictions::new([], power::DESKTOP.label, predictions))
    } else {
        info!("status {=u32}", status);
        Err(Failure::Wrong("a call in C was refused"))
    }
}
