//! What can be wrong with a model file.

/// What is wrong with a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelProblem {
    /// Another kind of file.
    #[error("not a dpp-nystrom model; give a file that `dpp-nystrom fit --model` wrote")]
    Foreign,
    /// A version that this program does not know.
    #[error(
        "its format is version {0}, and this program reads version 1; use the program that wrote it, or fit again"
    )]
    Version(u32),
    /// The end is missing.
    #[error("truncated: the end of the file is missing; copy it again, or fit again")]
    Truncated,
    /// More bytes than promised.
    #[error("bytes follow the end of the model; copy it again, or fit again")]
    Longer,
    /// The checksum does not agree.
    #[error("corrupt: the checksum does not agree; copy it again, or fit again")]
    Corrupt,
    /// Intact, but its parts do not make a model.
    #[error("intact, but its parts do not make a model; fit again")]
    Malformed,
}
