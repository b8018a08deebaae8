//! Limits of the package.

/// Maximum number of mapped files.
pub const MOST: usize = 64;
