//! One seeded computation that the firmware image and the desktop's golden test share, so that the two can
//! be compared bit for bit: landmarks from the paper's chain, then ridge regression on them.
//!
//! Rows and targets come from integers and from `+`, `-` and `*` in a fixed order, so that no target's
//! mathematics library has a say in them.
#![no_std]
#![forbid(unsafe_code)]

use core::fmt;
use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Chain, Error, GroundSet, Landmarks, Memory, Nystrom, Points, Random, Ridge, RidgeMemory, Rule, start,
};

/// The number of rows in the ground set.
pub const ROWS: usize = 200;
/// The number of features of a row.
pub const WIDTH: usize = 4;
/// The number of landmarks.
pub const LANDMARKS: usize = 16;

const STEPS: u64 = 2_000;
const SEED: u64 = 7;
const BANDWIDTH: f32 = 0.7;
const RIDGE: f32 = 1e-6;

/// The ground set: rows one after the other, in flash.
///
/// Feature `i` is the upper 24 bits of the state after `i + 1` steps of `s ← 1664525 s + 1013904223`
/// modulo 2³² from `s = 1` (Knuth and Lewis; *Numerical Recipes*, 2nd ed., §7.1), divided by 2²⁴: exact in
/// `f32`, in `[0, 1)`.
pub static FEATURES: [f32; ROWS * WIDTH] = features();

const fn features() -> [f32; ROWS * WIDTH] {
    let mut features = [0.0; ROWS * WIDTH];
    let mut state = 1_u32;
    let mut i = 0;
    while i < features.len() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        features[i] = (state >> 8) as f32 / 16_777_216.0;
        i += 1;
    }
    features
}

/// `y(x) = x₀x₁ - x₂² + x₃ - ½`.
fn target(x: &[f32]) -> f32 {
    match *x {
        [a, b, c, d] => a * b - c * c + d - 0.5,
        _ => f32::NAN,
    }
}

/// What came out. Displayed as two lines, `landmarks:` with row numbers and `weights:` with the bits of
/// each weight in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The landmarks, in the factor's order.
    pub landmarks: [usize; LANDMARKS],
    /// Their weights in the fitted function, in the same order.
    pub weights: [f32; LANDMARKS],
    /// The mean squared error on the rows it was fitted to.
    pub mean_squared_error: f32,
}

/// Selects landmarks and fits the targets in whatever memory is lent, for [`LANDMARKS`] landmarks.
///
/// # Errors
/// [`Error::Capacity`] for less memory than that.
pub fn run(memory: Memory<'_, f32>, ridge: RidgeMemory<'_, f32>) -> Result<Answer, Error> {
    let ground = Points::new(&FEATURES, WIDTH, Gaussian::new(BANDWIDTH)?)?;
    let mut random = Random::seeded(SEED);
    let mut landmarks = Landmarks::new(&ground, memory)?;
    start::uniform(&mut landmarks, LANDMARKS, &mut random)?;
    let mut chain = Chain::new(landmarks, Rule::ALGORITHM_1);
    chain.run(STEPS, &mut random)?;

    let nystrom = Nystrom::new(chain.landmarks());
    let mut ridge = Ridge::new(LANDMARKS, ridge)?;
    let mut phi = [0.0; LANDMARKS];
    for i in 0..ground.len() {
        nystrom.features(i, &mut phi)?;
        ridge.add(&phi, target(ground.row(i)))?;
    }
    let mut weights = [0.0; LANDMARKS];
    ridge.solve(RIDGE, &mut weights)?;
    let mean_squared_error = ridge.squared_error(&weights)? / ROWS as f32;
    nystrom.kernel_weights(&mut weights)?;

    let mut members = [0; LANDMARKS];
    for (slot, &member) in members.iter_mut().zip(chain.landmarks().members()) {
        *slot = member;
    }
    Ok(Answer { landmarks: members, weights, mean_squared_error })
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("landmarks:")?;
        for landmark in self.landmarks {
            write!(f, " {landmark}")?;
        }
        f.write_str("\nweights:")?;
        for weight in self.weights {
            write!(f, " {:08x}", weight.to_bits())?;
        }
        Ok(())
    }
}
