//! Predictions of a model in flash, which was trained and exported on a desktop.
#![no_std]
#![no_main]

use defmt::info;
use dpp_nystrom_firmware::{Failure, board, compare, counter, entry, finish, stack};
use dpp_nystrom_golden::data::Sensor;
use dpp_nystrom_golden::predict;

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    info!("predict: {=str}", board::NAME);
    let model = core::slice::from_ref(&predict::model::READINGS);
    if !(board::is_in_flash(model) && predict::numbers().into_iter().all(board::is_in_flash)) {
        return Err(Failure::Wrong("the model is not in flash"));
    }
    let row = Sensor::new(predict::TRAINED_FROM).read().row;
    let (_, instructions) = counter::counted(|| predict::predict_one(&row));
    let (result, stack) = stack::measured(predict::run);
    let (outcome, error) = result?;
    info!("one prediction takes {=u32} instructions; {=usize} bytes of stack", instructions, stack);
    info!("test error {=f32}", error);
    if !(error < predict::LARGEST_ERROR) {
        return Err(Failure::Wrong("the test error is too large"));
    }
    compare(&outcome, &predict::DESKTOP)
}
