//! Reading tables of numbers from CSV, TSV, ARFF and NPY files.

pub(crate) mod arff;
pub(crate) mod columns;
pub(crate) mod delimited;
pub(crate) mod npy;
pub(crate) mod reader;
pub(crate) mod rows;
#[cfg(test)]
mod tests;

pub use reader::{Table, Target, read, read_blocks, read_feature_blocks, read_features};
