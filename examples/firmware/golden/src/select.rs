//! Landmarks among rows in flash: seeds of k-means++, then the open-slot chain.

use crate::data::features;
use crate::{DIM, LANDMARKS, Outcome};
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Acceptance, Error, Landmarks, Memory, Points, Random, SlotChain, start};

/// The number of rows in the ground set.
pub const ROWS: usize = 400;

const TRIES: u64 = 2_000;
const SEED: u64 = 7;
const BANDWIDTH: f32 = 0.7;
const LABEL: &str = "log det";

/// The ground set: rows one after the other, in flash.
pub static FEATURES: [f32; ROWS * DIM] = features();

/// Landmarks, and the bits of the log-determinants at the start and at the end.
pub type Selection = Outcome<LANDMARKS, 2>;

/// The desktop's result.
pub const DESKTOP: Selection =
    Outcome::from_golden(include_str!("../../../../tests/core/golden/select.txt"), LABEL);

/// Select in the memory lent; `distances` is scratch for a number per row.
///
/// # Errors
/// [`Error::Capacity`] for less memory than [`LANDMARKS`] landmarks and [`ROWS`] distances need.
pub fn run(memory: Memory<'_, f32>, distances: &mut [f32]) -> Result<Selection, Error> {
    let ground = Points::new(&FEATURES, DIM, Gaussian::new(BANDWIDTH)?)?;
    let mut random = Random::seeded(SEED);
    let mut landmarks = Landmarks::new(&ground, memory)?;
    start::kmeans_plus_plus(&mut landmarks, LANDMARKS, distances, &mut random)?;
    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
    let first = chain.log_det();
    chain.run(TRIES, &mut random)?;
    let members = chain.landmarks().members().iter().copied();
    Ok(Outcome::new(members, LABEL, [first, chain.log_det()]))
}
