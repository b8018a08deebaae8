//! Exported classifiers on a device: iris and nine generated classes, in single precision and in integers.
//! Each class and its margin must equal the desktop's bit for bit.
#![no_std]
#![no_main]

use core::hint::black_box;
use defmt::info;
use dpp_nystrom_core::{Class, Error};
use dpp_nystrom_firmware::{Failure, board, entry, finish};

/// Iris and nine generated classes: rows, and the desktop's class and margin for each.
#[allow(dead_code, missing_docs, unreachable_pub, clippy::excessive_precision)]
mod classes {
    include!(concat!(env!("DPP_NYSTROM_EXPORTED"), "/classes.rs"));
}

use classes::{
    IRIS_BITS8, IRIS_BITS8_EXPECTED, IRIS_BITS16, IRIS_BITS16_EXPECTED, IRIS_ROWS, IRIS_SINGLE,
    IRIS_SINGLE_EXPECTED, NINE_BITS8, NINE_BITS8_EXPECTED, NINE_BITS16, NINE_BITS16_EXPECTED, NINE_ROWS,
    NINE_SINGLE, NINE_SINGLE_EXPECTED,
};

#[entry]
fn main() -> ! {
    finish(run())
}

/// Compare each row's class and margin with the desktop's, in every form of the numbers.
fn run() -> Result<(), Failure> {
    info!("classes: {=str}", board::NAME);
    let (mut room, mut levels) = ([0.0; 4], [0; 4]);
    let (mut sums, mut out) = ([0; 3], [0.0; 3]);
    let single = |row: &[f32]| IRIS_SINGLE.classify(row, &mut room, &mut out);
    same(&IRIS_ROWS, "iris, single precision", &IRIS_SINGLE_EXPECTED, single)?;
    let integers = |row: &[f32]| IRIS_BITS16.classify(row, &mut levels, &mut sums, &mut out);
    same(&IRIS_ROWS, "iris, 16 bits", &IRIS_BITS16_EXPECTED, integers)?;
    let integers = |row: &[f32]| IRIS_BITS8.classify(row, &mut levels, &mut sums, &mut out);
    same(&IRIS_ROWS, "iris, 8 bits", &IRIS_BITS8_EXPECTED, integers)?;
    let (mut sums, mut out) = ([0; 9], [0.0; 9]);
    let single = |row: &[f32]| NINE_SINGLE.classify(row, &mut room, &mut out);
    same(&NINE_ROWS, "nine classes, single precision", &NINE_SINGLE_EXPECTED, single)?;
    let integers = |row: &[f32]| NINE_BITS16.classify(row, &mut levels, &mut sums, &mut out);
    same(&NINE_ROWS, "nine classes, 16 bits", &NINE_BITS16_EXPECTED, integers)?;
    let integers = |row: &[f32]| NINE_BITS8.classify(row, &mut levels, &mut sums, &mut out);
    same(&NINE_ROWS, "nine classes, 8 bits", &NINE_BITS8_EXPECTED, integers)
}

fn same<const D: usize>(
    rows: &[[f32; D]],
    what: &'static str,
    expected: &[(usize, u32)],
    mut classify: impl FnMut(&[f32]) -> Result<Class<f32>, Error>,
) -> Result<(), Failure> {
    for (row, &(index, margin)) in rows.iter().zip(expected) {
        let found = classify(black_box(row))?;
        if (found.index, found.margin.to_bits()) != (index, margin) {
            return Err(Failure::Wrong(what));
        }
    }
    info!("{=str}: {=usize} rows, classes and margins equal to the desktop's", what, rows.len());
    Ok(())
}
