//! Vectorised inner loops, dispatched at run time by `pulp` (AVX2, AVX-512, NEON or scalar).
//!
//! Candidates or rows stand one to a lane. Every routine computes what the core computes one row at a time, and
//! differs from it in rounding alone; the tests compare the two.

pub(crate) mod engine;
pub(crate) mod exponential;
pub(crate) mod kernel;
pub(crate) mod lane;
pub(crate) mod lanes;
pub(crate) mod pivots;
pub(crate) mod subset;
pub(crate) mod substitution;
#[cfg(test)]
mod tests;

pub use lane::Lane;
pub use lanes::Lanes;
