//! TODO-DOC

/// Arithmetic of the chain and of the regression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Double.
    #[default]
    F64,
    /// Single.
    F32,
}
