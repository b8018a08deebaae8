//! An exported model with a map on a device, in a static and as bytes, in single precision and in integers.
//! Each prediction must equal the desktop's bit for bit. It is an image of its own, as the one without a map:
//! with one model in it, the compiler knows its width.
#![no_std]
#![no_main]

mod compare;

use compare::compare;
use core::hint::black_box;
use defmt::info;
use dpp_nystrom_core::{Model, QuantisedModel, include_model};
use dpp_nystrom_firmware::{Failure, board, entry, finish};

#[allow(dead_code, missing_docs, unreachable_pub, clippy::excessive_precision)]
mod models {
    include!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/mapped.rs"));
    include!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/mapped16.rs"));
    include!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/mapped8.rs"));
    // ROWS, and the desktop's prediction for each of them: MAPPED_EXPECTED, MAPPED16_EXPECTED,
    // MAPPED8_EXPECTED.
    include!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/rows.rs"));

    /// Whether map and landmarks are in flash.
    pub fn is_in_flash() -> bool {
        let is = dpp_nystrom_firmware::board::is_in_flash::<f32>;
        is(&MAPPED_MAP) && is(&MAPPED_LANDMARKS) && dpp_nystrom_firmware::board::is_in_flash(&MAPPED16_MAP)
    }
}

use models::{
    MAPPED, MAPPED_EXPECTED, MAPPED_FEATURES, MAPPED_WIDTH, MAPPED8, MAPPED8_EXPECTED, MAPPED16,
    MAPPED16_EXPECTED, MAPPED16_ROOM, ROWS,
};

static MAPPED_BYTES: &[u8] = include_model!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/mapped.bin"));
static MAPPED16_BYTES: &[u8] = include_model!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/mapped16.bin"));

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    info!("mapped: {=str}, {=usize} features to {=usize}", board::NAME, MAPPED_FEATURES, MAPPED_WIDTH);
    if !models::is_in_flash() {
        return Err(Failure::Wrong("the model is not in flash"));
    }
    let mut room = [0.0; MAPPED_WIDTH];
    compare(&ROWS, "with a map", &MAPPED_EXPECTED, |row| MAPPED.predict(row, &mut room))?;
    let mapped = Model::from_bytes(black_box(MAPPED_BYTES))?;
    compare(&ROWS, "with a map, bytes", &MAPPED_EXPECTED, |row| mapped.predict(row, &mut room))?;

    let mut levels = [0; MAPPED16_ROOM];
    compare(&ROWS, "with a map, 16 bits", &MAPPED16_EXPECTED, |row| MAPPED16.predict(row, &mut levels))?;
    compare(&ROWS, "with a map, 8 bits", &MAPPED8_EXPECTED, |row| MAPPED8.predict(row, &mut levels))?;
    let mapped16 = QuantisedModel::<i16>::from_bytes(black_box(MAPPED16_BYTES))?;
    compare(&ROWS, "with a map, 16 bits, bytes", &MAPPED16_EXPECTED, |row| {
        mapped16.predict(row, &mut levels)
    })?;
    Ok(())
}
