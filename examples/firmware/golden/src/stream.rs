//! Landmarks of a stream that is not stored: each row is tried at a slot and dropped.

use crate::data::{Reading, Sensor};
use crate::{DIM, LANDMARKS, Outcome};
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Acceptance, Error, Memory, Offer, Random, StreamChain};

/// The number of features that are stored: the landmarks, and the row that is offered.
pub const KEPT: usize = (LANDMARKS + 1) * DIM;

const ROWS: u32 = 2_000;
const SEED: u64 = 7;
pub(crate) const BANDWIDTH: f32 = 0.7;
const LABEL: &str = "log det";

/// The time at which each landmark came, and the bits of the log-determinants of the first full set and of
/// the last.
pub type Chosen = Outcome<LANDMARKS, 2>;

/// The desktop's result.
pub const DESKTOP: Chosen =
    Outcome::from_golden(include_str!("../../../../tests/core/golden/stream.txt"), LABEL);

/// Read the sensor 2,000 times, in the memory lent; `rows` needs [`KEPT`] numbers.
///
/// # Errors
/// [`Error::Capacity`] for less memory than [`LANDMARKS`] landmarks need.
pub fn run(memory: Memory<'_, f32>, rows: &mut [f32]) -> Result<Chosen, Error> {
    let mut sensor = Sensor::new(1);
    choose(memory, rows, ROWS, || sensor.read())
}

/// Select landmarks from this many readings and leave their rows in `rows`, in another order than the
/// result's.
pub(crate) fn choose(
    memory: Memory<'_, f32>,
    rows: &mut [f32],
    readings: u32,
    mut next: impl FnMut() -> Reading,
) -> Result<Chosen, Error> {
    let kernel = Gaussian::new(BANDWIDTH)?;
    let mut chain = StreamChain::new(kernel, LANDMARKS, DIM, rows, memory, Acceptance::Metropolis)?;
    let mut random = Random::seeded(SEED);
    let mut arrivals = [0; LANDMARKS];
    let mut first = None;
    for arrival in 0..readings {
        match chain.offer(&next().row, &mut random)? {
            Offer::Joined { place } | Offer::Replaced { place } => {
                if let Some(slot) = arrivals.get_mut(place) {
                    *slot = arrival as usize;
                }
            }
            Offer::Declined => {}
        }
        if first.is_none() && chain.len() == LANDMARKS {
            first = Some(chain.log_det());
        }
    }
    let members = chain.members().iter().map(|&place| arrivals.get(place).copied().unwrap_or(0));
    Ok(Outcome::new(members, LABEL, [first.unwrap_or(f32::NAN), chain.log_det()]))
}
