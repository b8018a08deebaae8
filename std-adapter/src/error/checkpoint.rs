//! What can be wrong with a checkpoint.

/// What is wrong with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// Another kind of file.
    #[error("not a checkpoint; give another name, this file would be written over")]
    Foreign,
    /// A version that this program does not know.
    #[error("its format is version {0}, and this program reads version 1; remove it to begin anew")]
    Version(u32),
    /// The checksum or the content does not agree.
    #[error("corrupt: the checkpoint is not whole; remove it to begin anew")]
    Corrupt,
    /// Of another fit.
    #[error(
        "the checkpoint is of another fit: of other rows, landmarks, kernel, bandwidth, ridge, precision or seed; \
         give those of that fit, or remove it to begin anew"
    )]
    Another,
}
