//! Exported models on a device: in a static and as bytes, in single precision and in integers. Each
//! prediction must equal the desktop's bit for bit, and a quantised one must stay within its budget of
//! instructions.
#![no_std]
#![no_main]

mod compare;

use compare::compare;
use core::hint::black_box;
use defmt::info;
use dpp_nystrom_core::{Model, QuantisedModel, include_model};
use dpp_nystrom_firmware::{Failure, board, counter, entry, finish};

#[allow(dead_code, missing_docs, unreachable_pub, clippy::excessive_precision)]
mod models {
    include!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/single.rs"));
    include!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/bits16.rs"));
    include!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/bits8.rs"));
    // ROWS, and the desktop's prediction for each of them: SINGLE_EXPECTED, BITS16_EXPECTED, BITS8_EXPECTED.
    include!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/rows.rs"));

    /// Whether the landmarks are in flash.
    pub fn are_in_flash() -> bool {
        let is = dpp_nystrom_firmware::board::is_in_flash::<f32>;
        is(&SINGLE_LANDMARKS)
            && is(&SINGLE_WEIGHTS)
            && dpp_nystrom_firmware::board::is_in_flash(&BITS16_LANDMARKS)
    }
}

use models::{BITS8, BITS8_EXPECTED, BITS8_FEATURES, BITS16, BITS16_EXPECTED, ROWS, SINGLE, SINGLE_EXPECTED};

static SINGLE_BYTES: &[u8] = include_model!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/single.bin"));
static BITS16_BYTES: &[u8] = include_model!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/bits16.bin"));

/// Instructions of a quantised prediction of 32 landmarks and 8 features where there is a multiplier of 32 by
/// 32 bits, from the raw row to the prediction in the target's units.
const BUDGET: u32 = 5_000;

#[entry]
fn main() -> ! {
    finish(run())
}

fn run() -> Result<(), Failure> {
    info!("exported: {=str}, {=usize} rows of {=usize} features", board::NAME, ROWS.len(), BITS8_FEATURES);
    if !models::are_in_flash() {
        return Err(Failure::Wrong("the models are not in flash"));
    }
    let mut room = [0.0; BITS8_FEATURES];
    let mut levels = [0; BITS8_FEATURES];

    compare(&ROWS, "single precision", &SINGLE_EXPECTED, |row| SINGLE.predict(row, &mut room))?;
    let slowest = compare(&ROWS, "16 bits", &BITS16_EXPECTED, |row| BITS16.predict(row, &mut levels))?;
    if board::NAME == "RISC-V imac" && BITS8_FEATURES == 8 && slowest > BUDGET {
        return Err(Failure::Wrong("a quantised prediction exceeds its budget"));
    }
    compare(&ROWS, "8 bits", &BITS8_EXPECTED, |row| BITS8.predict(row, &mut levels))?;

    let (opened, instructions) = counter::counted(|| Model::from_bytes(black_box(SINGLE_BYTES)));
    let single = opened?;
    info!("{=usize} bytes are checked in {=u32} instructions", SINGLE_BYTES.len(), instructions);
    compare(&ROWS, "single precision, bytes", &SINGLE_EXPECTED, |row| single.predict(row, &mut room))?;
    let bits16 = QuantisedModel::<i16>::from_bytes(BITS16_BYTES)?;
    compare(&ROWS, "16 bits, bytes", &BITS16_EXPECTED, |row| bits16.predict(row, &mut levels))?;

    let counts = [0; BITS8_FEATURES];
    let (outcome, instructions) = counter::counted(|| BITS16.predict_counts(black_box(&counts), &mut levels));
    let same = BITS16.predict(&[0.0; BITS8_FEATURES], &mut levels)?;
    if outcome?.to_bits() != same.to_bits() {
        return Err(Failure::Wrong("counts of zero and features of zero have different predictions"));
    }
    info!("16 bits, from counts: {=u32} instructions", instructions.saturating_sub(counter::overhead()));

    // A partition that is not aligned.
    if Model::from_bytes(SINGLE_BYTES.get(4..).unwrap_or(&[])).is_ok() {
        return Err(Failure::Wrong("bytes that are not aligned were read as a model"));
    }
    Ok(())
}
