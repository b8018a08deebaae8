//! Random number generators: one per purpose, all derived from the user's seed, so that changing one choice
//! leaves the other draws unchanged.

use dpp_nystrom_core::Random;

/// The purpose of a random number generator, with what it changes in the seed.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum RngStream {
    /// Subsampling and holding out rows.
    Rows = 0x9e37_79b9_7f4a_7c15,
    /// Landmark selection.
    Landmarks = 0,
    /// The second chain, for split R̂.
    OtherChain = 0x78dd_e6e5_fd29_f054,
    /// The sample for the median distance.
    Bandwidth = 0x3c6e_f372_fe94_f82a,
    /// Cross-validation folds.
    Folds = 0xdaa6_6d2c_7ddf_743f,
    /// The pilot sample from which a method is chosen.
    Pilot = 0x1f83_d9ab_fb41_bd6b,
    /// Candidates of refinement.
    Refinement = 0x2fe1_f8a1_c935_e2bc,
    /// Candidates of refinement by the leave-one-out error.
    Supervised = 0x8d1c_4a07_63be_95f3,
    /// Rows that a metric is learned from.
    Metric = 0x510e_527f_ade6_82d1,
    /// Rows on which models for a number of bytes are compared.
    Flash = 0x9b05_688c_2b3e_6c1f,
    /// Permutations of columns.
    Permutations = 0x1b87_3593_cc9e_2d51,
}

/// Return the generator for this seed and purpose.
pub fn stream(seed: u64, stream: RngStream) -> Random {
    Random::seeded(seed ^ stream as u64)
}

/// Draw by weight: return the first index at which the running sum of the positive weights exceeds `place`,
/// or the last positive weight; `None` if no weight is positive. Reduces `place` by the weights before it.
pub fn by_weight(weights: impl IntoIterator<Item = f64>, place: &mut f64) -> Option<usize> {
    let mut last = None;
    for (at, weight) in weights.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0) {
        last = Some(at);
        if *place < weight {
            break;
        }
        *place -= weight;
    }
    last
}
