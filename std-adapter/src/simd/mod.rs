//! SIMD kernels of the host; the instruction set is selected at run time. Tests compare each with the core.

pub(crate) mod exponential;
pub(crate) mod indexed;
pub(crate) mod kernel;
pub(crate) mod lane;
pub(crate) mod lanes;
pub(crate) mod pivots;
pub(crate) mod sample;
pub(crate) mod subset;
pub(crate) mod substitution;
#[cfg(test)]
mod tests;

pub use lane::{InLanes, Lane};
pub use lanes::Lanes;
