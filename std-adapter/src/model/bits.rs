//! The width of integers in which a model is exported.

use serde::{Deserialize, Serialize};

/// The width of a quantised landmark's feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bits {
    /// 16, of which 15 are used.
    Sixteen,
    /// 8.
    Eight,
}
