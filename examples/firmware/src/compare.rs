//! The judgement of an answer, and the end of an image.

use crate::board::exit;
use dpp_nystrom_core::Error;
use dpp_nystrom_golden::Answer;

/// Why an image ends with status 1.
#[derive(Clone, Copy, Debug)]
pub enum Failure {
    /// The core refused.
    Core(Error),
    /// The result is not what it must be.
    Wrong(&'static str),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

/// Logs an answer, and holds it to the desktop's, bit for bit.
///
/// # Errors
/// [`Failure::Wrong`].
pub fn judge<const C: usize, const B: usize>(
    answer: &Answer<C, B>,
    desktop: &Answer<C, B>,
) -> Result<(), Failure> {
    if C > 0 {
        defmt::info!("landmarks: {}", answer.landmarks);
    }
    defmt::info!("{=str}: {:08x}", answer.label, answer.bits);
    if answer.landmarks != desktop.landmarks {
        return Err(Failure::Wrong("other landmarks than on the desktop"));
    }
    if answer.bits != desktop.bits {
        return Err(Failure::Wrong("other bits than on the desktop"));
    }
    defmt::info!("as on the desktop, bit for bit");
    Ok(())
}

/// Ends the run: with status 0, or with 1 and the reason in the log.
pub fn finish(result: Result<(), Failure>) -> ! {
    match result {
        Ok(()) => exit(0),
        Err(Failure::Core(error)) => defmt::error!("{}", defmt::Debug2Format(&error)),
        Err(Failure::Wrong(what)) => defmt::error!("{=str}", what),
    }
    exit(1)
}
