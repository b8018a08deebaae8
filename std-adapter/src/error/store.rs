//! What can be wrong with a row store.

/// What is wrong with a row store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreProblem {
    /// Another kind of file.
    #[error("not a row store; give a file that `dpp-nystrom convert` wrote")]
    Foreign,
    /// A version that this program does not know.
    #[error("its format is version {0}, and this program reads version 1; convert the rows again")]
    Version(u32),
    /// The end is missing.
    #[error("truncated: the end of the file is missing; copy it again, or convert the rows again")]
    Truncated,
    /// More bytes than promised.
    #[error("bytes follow the end of the rows; copy it again, or convert the rows again")]
    Longer,
    /// The description's checksum does not agree.
    #[error(
        "corrupt: the checksum of the description does not agree; copy it again, or convert the rows again"
    )]
    Corrupt,
    /// The numbers' checksum does not agree.
    #[error("corrupt: the checksum of the numbers does not agree; copy it again, or convert the rows again")]
    Values,
    /// Intact, but not a description of rows.
    #[error("intact, but its description is none of rows; convert the rows again")]
    Malformed,
    /// Shorter than it was when it was opened.
    #[error(
        "the file was shortened, or the disk failed, while it was read; nothing was made of it, try again"
    )]
    Shortened,
    /// Written to since it was opened.
    #[error("the file was written to while it was read; nothing was made of it, try again")]
    Altered,
    /// Numbers on this machine have another order of bytes.
    #[error("row stores are read on little-endian machines only; give the original file")]
    BigEndian,
    /// The features are not the model's.
    #[error(
        "its features are not the model's, in name and order; convert a file that has those, or give that file"
    )]
    OtherFeatures,
}
