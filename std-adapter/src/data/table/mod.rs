//! Tables: CSV, TSV, ARFF and NPY files as numbers.

pub(crate) mod arff;
pub(crate) mod columns;
pub(crate) mod delimited;
pub(crate) mod input;
pub(crate) mod npy;
pub(crate) mod reader;
pub(crate) mod rows;
#[cfg(test)]
mod tests;

pub use input::{Table, Target};
pub use reader::{read, read_blocks, read_feature_blocks, read_features};
