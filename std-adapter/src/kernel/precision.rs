//! Single or double precision.

/// Precision of the Gibbs chain and of the regression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Double precision.
    #[default]
    F64,
    /// Single precision.
    F32,
}
