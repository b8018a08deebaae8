//! Interoperability with arrays and traits of other crates, each behind a feature of the same name.

#[cfg(feature = "linfa")]
pub mod linfa;
#[cfg(feature = "ndarray")]
mod ndarray;
