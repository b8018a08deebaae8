//! Errors in a model file.

/// What is wrong with a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ModelProblem {
    /// Another kind of file.
    #[error("not a dpp-nystrom model; give the file of one, or fit one")]
    Foreign,
    /// A version that this program does not know.
    #[error("unknown format version {0}: expected 1 or 2; use the program that wrote it, or fit again")]
    Version(u32),
    /// The end is missing.
    #[error("truncated: the end of the file is missing; copy it again, or fit again")]
    Truncated,
    /// More bytes than the header declares.
    #[error("extra bytes after the end of the model; copy it again, or fit again")]
    Longer,
    /// The checksum does not match.
    #[error("corrupt: the checksum does not match; copy it again, or fit again")]
    Corrupt,
    /// The checksum matches, but the content is not a model.
    #[error("malformed: the checksum matches, but the content is not a model; fit again")]
    Malformed,
    /// A mandatory section that this program does not know.
    #[error(
        "it needs section {0}, which this program does not know; use the program that wrote it, or fit again"
    )]
    Section(u32),
}
