//! Random number generators: one per purpose, all derived from the user's seed.

use dpp_nystrom::core::Random;

/// The purpose of a random number generator, with what it changes in the seed.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Stream {
    /// Holding out rows, as the library does.
    Rows = 0x9e37_79b9_7f4a_7c15,
    /// Landmarks, as the library selects them.
    Landmarks = 0,
    /// Assignment of landmarks to experts.
    Experts = 0xb54c_da58_fbbd_e1f2,
    /// Exact c-DPP samples.
    Exact = 0xb54c_da58_ddf0_0f2a,
    /// Triples `(S, r, t)` for the contraction.
    Triples = 0x1715_609d_7cea_8936,
    /// Coupled chains.
    Coupling = 0x5384_5412_7b09_6493,
    /// Chains run for diagnostics.
    Chains = 0xf1bb_cdcb_fa53_e0a8,
}

/// Return the generator for this seed and purpose.
pub(crate) fn stream(seed: u64, stream: Stream) -> Random {
    Random::seeded(seed ^ stream as u64)
}
