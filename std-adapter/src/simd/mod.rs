//! Kernels of the host in vector lanes, chosen when the program runs. Tests hold each to the core.

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
