//! Selection, learning and prediction, each as one function that is not inlined: the budgets of flash and
//! stack.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Acceptance, Error, Landmarks, Nystrom, Points, Predictor, Random, RidgeRegression, RidgeWorkspace,
    SlotChain, Workspace, start,
};

/// Features of a row.
pub const DIM: usize = 4;

/// Select landmarks by the open-slot chain, for long enough that the factor is computed again. The caller
/// owns the generator, which continues with the next set.
///
/// # Errors
/// Those of the core.
#[inline(never)]
pub fn select<const C: usize>(
    memory: &mut Workspace<f32, C>,
    rows: &[f32],
    random: &mut Random,
) -> Result<(), Error> {
    let ground = Points::new(rows, DIM, Gaussian::new(0.5)?)?;
    let mut landmarks = Landmarks::new(&ground, memory.lend())?;
    start::uniform(&mut landmarks, C, random)?;
    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
    chain.run(32 * 8 * C as u64, random)?;
    Ok(())
}

/// Learn every row on the landmarks that `memory` holds, and compute the kernel's weights.
///
/// # Errors
/// Those of the core.
#[inline(never)]
pub fn learn<const C: usize>(
    memory: &mut Workspace<f32, C>,
    ridge: &mut RidgeWorkspace<f32, C>,
    rows: &[f32],
    weights: &mut [f32; C],
) -> Result<(), Error> {
    let ground = Points::new(rows, DIM, Gaussian::new(0.5)?)?;
    let landmarks = Landmarks::resume(&ground, C, memory.lend())?;
    let nystrom = Nystrom::new(&landmarks);
    let mut ridge = RidgeRegression::new(C, ridge.lend())?;
    // The buffer of the weights holds the features until there are weights.
    for row in 0..rows.len() / DIM {
        nystrom.features(row, weights)?;
        ridge.add(weights, 1.0)?;
    }
    nystrom.kernel_weights(ridge.solve(1e-4)?.weights, weights)
}

/// Predict from landmarks that are the first rows.
///
/// # Errors
/// Those of the core.
#[inline(never)]
pub fn predict<const C: usize>(weights: &[f32; C], rows: &[f32]) -> Result<f32, Error> {
    let landmarks = rows.get(..C * DIM).ok_or(Error::Empty)?;
    Predictor::new(Gaussian::new(0.5)?, landmarks, DIM, weights)?
        .predict(rows.get(..DIM).ok_or(Error::Empty)?)
}
