//! One seed from the user, a stream of its own for each use: changing one choice leaves the other
//! draws as they were.

use dpp_nystrom_core::Random;

/// What random numbers are drawn for.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
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
}

/// The generator of this seed for this use.
pub fn stream(seed: u64, stream: Stream) -> Random {
    let tag: u64 = match stream {
        Stream::Landmarks => 0,
        Stream::Rows => 0x9e37_79b9_7f4a_7c15,
        Stream::Bandwidth => 0x3c6e_f372_fe94_f82a,
        Stream::OtherChain => 0x78dd_e6e5_fd29_f054,
        Stream::Folds => 0xdaa6_6d2c_7ddf_743f,
    };
    Random::seeded(seed ^ tag)
}
