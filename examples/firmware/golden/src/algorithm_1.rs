//! Landmarks by the paper's chain, then ridge regression on them.

use crate::data::{features, target};
use crate::{DIM, LANDMARKS, Outcome};
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Chain, Error, GroundSet, Landmarks, Memory, Nystrom, Points, Random, RidgeMemory, RidgeRegression, Rule,
    start,
};

/// The number of rows in the ground set.
pub const ROWS: usize = 200;

const STEPS: u64 = 2_000;
const SEED: u64 = 7;
const BANDWIDTH: f32 = 0.7;
const RIDGE: f32 = 1e-6;
const LABEL: &str = "weights";

/// The ground set: rows one after the other, in flash.
pub static FEATURES: [f32; ROWS * DIM] = features();

/// Landmarks, and the bits of their weights in the fitted function.
pub type Weights = Outcome<LANDMARKS, LANDMARKS>;

/// The desktop's result.
pub const DESKTOP: Weights = Outcome::from_golden(include_str!("../../../../tests/core/golden.txt"), LABEL);

/// Select landmarks and fit the targets in the memory lent, for [`LANDMARKS`] landmarks. Return also the mean
/// squared error on the fitted rows; that of the best constant is 0.21.
///
/// # Errors
/// [`Error::Capacity`] for less memory than that.
pub fn run(memory: Memory<'_, f32>, ridge: RidgeMemory<'_, f32>) -> Result<(Weights, f32), Error> {
    let ground = Points::new(&FEATURES, DIM, Gaussian::new(BANDWIDTH)?)?;
    let mut random = Random::seeded(SEED);
    let mut landmarks = Landmarks::new(&ground, memory)?;
    start::uniform(&mut landmarks, LANDMARKS, &mut random)?;
    let mut chain = Chain::new(landmarks, Rule::ALGORITHM_1);
    chain.run(STEPS, &mut random)?;

    let nystrom = Nystrom::new(chain.landmarks());
    let mut ridge = RidgeRegression::new(LANDMARKS, ridge)?;
    let mut phi = [0.0; LANDMARKS];
    for i in 0..ground.len() {
        nystrom.features(i, &mut phi)?;
        ridge.add(&phi, target(ground.row(i)))?;
    }
    let mut weights = [0.0; LANDMARKS];
    let solution = ridge.solve(RIDGE)?;
    let mean_squared_error = solution.squared_error / ROWS as f32;
    nystrom.kernel_weights(solution.weights, &mut weights)?;
    let members = chain.landmarks().members().iter().copied();
    Ok((Outcome::new(members, LABEL, weights), mean_squared_error))
}
