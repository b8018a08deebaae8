//! SIMD kernels of the host; the instruction set is selected at run time. Tests compare each with the core.

pub mod bounds;
pub mod exponential;
pub mod indexed;
pub mod kernel;
pub mod lane;
pub mod lanes;
pub mod pivots;
pub mod sample;
pub mod subset;
pub mod substitution;
#[cfg(test)]
mod tests;
pub mod widened;

pub use lane::{InLanes, Lane};
pub use lanes::Lanes;
