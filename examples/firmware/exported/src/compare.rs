//! Predictions beside the desktop's, with their instructions.

use core::hint::black_box;
use defmt::info;
use dpp_nystrom_core::Error;
use dpp_nystrom_firmware::{Failure, counter};

/// Compare each row's prediction with the desktop's. Return the instructions of the slowest.
pub(crate) fn compare<const D: usize>(
    rows: &[[f32; D]],
    what: &'static str,
    expected: &[f32],
    mut predict: impl FnMut(&[f32]) -> Result<f32, Error>,
) -> Result<u32, Failure> {
    let overhead = counter::overhead();
    let (mut least, mut most) = (u32::MAX, 0);
    for (row, expected) in rows.iter().zip(expected) {
        let (found, instructions) = counter::counted(|| predict(black_box(row)));
        if found?.to_bits() != expected.to_bits() {
            return Err(Failure::Wrong(what));
        }
        let instructions = instructions.saturating_sub(overhead);
        (least, most) = (least.min(instructions), most.max(instructions));
    }
    info!("{=str}: equal to the desktop, bit for bit; {=u32} to {=u32} instructions", what, least, most);
    Ok(most)
}
