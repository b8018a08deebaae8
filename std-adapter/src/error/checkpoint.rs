//! Errors in a checkpoint file.

/// What is wrong with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CheckpointProblem {
    /// Another kind of file.
    #[error("not a checkpoint, and would be overwritten; give another file name")]
    Foreign,
    /// An unknown format version.
    #[error("format version {0}: expected 2, which this program writes; remove the file to start again")]
    Version(u32),
    /// The checksum does not match, or the content is malformed.
    #[error("corrupt: the checksum or the content does not match; remove the file to start again")]
    Corrupt,
    /// The checkpoint of another fit.
    #[error(
        "the checkpoint belongs to another fit (what differs: {differs}); give the options of that fit, or remove the file to start again"
    )]
    Another {
        /// What differs first: rows, partition, landmarks, for example.
        differs: &'static str,
    },
}
