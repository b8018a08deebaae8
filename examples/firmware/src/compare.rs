//! The comparison of a result with the desktop's, and the end of an image.

use crate::board::exit;
use dpp_nystrom_core::Error;
use dpp_nystrom_golden::Outcome;

/// The reason why an image ends with status 1.
#[derive(Clone, Copy, Debug)]
pub enum Failure {
    /// An error of the core.
    Core(Error),
    /// A wrong result.
    Wrong(&'static str),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

/// Log a result and compare it with the desktop's, bit for bit.
///
/// # Errors
/// [`Failure::Wrong`].
pub fn compare<const C: usize, const B: usize>(
    outcome: &Outcome<C, B>,
    desktop: &Outcome<C, B>,
) -> Result<(), Failure> {
    if C > 0 {
        defmt::info!("landmarks: {}", outcome.landmarks);
    }
    defmt::info!("{=str}: {:08x}", outcome.label, outcome.bits);
    if outcome.landmarks != desktop.landmarks {
        return Err(Failure::Wrong("the landmarks differ from the desktop's"));
    }
    if outcome.bits != desktop.bits {
        return Err(Failure::Wrong("the bits differ from the desktop's"));
    }
    defmt::info!("equal to the desktop, bit for bit");
    Ok(())
}

/// Log a prediction's bits, which `tests/firmware` compares with the desktop's, and end the run.
pub fn show(prediction: Result<f32, Error>) -> ! {
    if let Ok(value) = prediction {
        defmt::info!("{=f32}", value);
        defmt::info!("predictions: {=u32:08x}", value.to_bits());
    }
    finish(prediction.map(drop).map_err(Failure::Core))
}

/// End the run: with status 0, or with status 1 and the reason in the log.
pub fn finish(result: Result<(), Failure>) -> ! {
    match result {
        Ok(()) => exit(0),
        Err(Failure::Core(error)) => defmt::error!("{}", defmt::Debug2Format(&error)),
        Err(Failure::Wrong(what)) => defmt::error!("{=str}", what),
    }
    exit(1)
}
