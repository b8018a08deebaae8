//! One seed from the user, a stream of its own for each use: changing one choice leaves the other
//! draws as they were.

use dpp_nystrom_core::Random;

/// What random numbers are drawn for.
#[derive(Clone, Copy, Debug)]
pub enum RngStream {
    /// Which rows are used, and which are held out.
    Rows,
    /// The landmarks.
    Landmarks,
    /// The chain that the landmarks' chain is compared with.
    OtherChain,
    /// The sample that the bandwidth is taken from.
    Bandwidth,
    /// The folds of cross-validation.
    Folds,
    /// Which landmarks an expert gets.
    Experts,
    /// Rows that are pilot_rows at before a method is chosen.
    Pilot,
    /// Rows that refinement draws.
    Refinement,
    /// Rows that refinement by targets draws.
    Supervised,
    /// Exact samples.
    Exact,
    /// Pairs of states to bound the contraction with.
    Triples,
    /// Coupled chains.
    Coupling,
    /// Chains that are looked at for themselves.
    Chains,
}

/// The generator of this seed for this use.
pub fn stream(seed: u64, stream: RngStream) -> Random {
    let tag: u64 = match stream {
        RngStream::Landmarks => 0,
        RngStream::Rows => 0x9e37_79b9_7f4a_7c15,
        RngStream::Bandwidth => 0x3c6e_f372_fe94_f82a,
        RngStream::OtherChain => 0x78dd_e6e5_fd29_f054,
        RngStream::Refinement => 0x2fe1_f8a1_c935_e2bc,
        RngStream::Supervised => 0x8d1c_4a07_63be_95f3,
        RngStream::Pilot => 0x1f83_d9ab_fb41_bd6b,
        RngStream::Experts => 0xb54c_da58_fbbd_e1f2,
        RngStream::Folds => 0xdaa6_6d2c_7ddf_743f,
        RngStream::Exact => 0xb54c_da58_ddf0_0f2a,
        RngStream::Triples => 0x1715_609d_7cea_8936,
        RngStream::Coupling => 0x5384_5412_7b09_6493,
        RngStream::Chains => 0xf1bb_cdcb_fa53_e0a8,
    };
    Random::seeded(seed ^ tag)
}
