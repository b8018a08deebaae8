//! Errors in a row store.

/// What is wrong with a row store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StoreProblem {
    /// Another kind of file.
    #[error("not a row store; give the file of one, or convert the rows")]
    Foreign,
    /// An unknown format version.
    #[error(
        "unknown format version {0}: a later version of the program wrote it; convert the rows again with this one"
    )]
    Version(u32),
    /// The end is missing.
    #[error("truncated: the end of the file is missing; copy it again, or convert the rows again")]
    Truncated,
    /// More bytes than the description declares.
    #[error("extra bytes after the end of the rows; copy it again, or convert the rows again")]
    Longer,
    /// The checksum of the description does not match.
    #[error(
        "corrupt: the checksum of the description does not match; copy it again, or convert the rows again"
    )]
    Corrupt,
    /// The checksum of the values does not match.
    #[error("corrupt: the checksum of the values does not match; copy it again, or convert the rows again")]
    Values,
    /// A NaN or an infinity among the values, whose checksum matches.
    #[error(
        "row {row} of {column:?} is not a finite number, with a checksum that matches; convert the rows again"
    )]
    NotFinite {
        /// The row, from 0.
        row: usize,
        /// The feature's name, or the target's.
        column: String,
    },
    /// A target that is no index of a class, under a checksum that matches.
    #[error("row {row} has no class, with a checksum that matches; convert the rows again")]
    NoClass {
        /// The row, from 0.
        row: usize,
    },
    /// The checksum matches, but the content is not a description of rows.
    #[error(
        "malformed: the checksum matches, but the content is not a description of rows; convert the rows again"
    )]
    Malformed,
    /// The file was truncated after it was opened.
    #[error(
        "the file was truncated, or the disk failed, while it was read; no result was written, try again"
    )]
    Shortened,
    /// The file was modified after it was opened.
    #[error("the file was modified while it was read; no result was written, try again")]
    Altered,
    /// A big-endian machine.
    #[error("row stores can be read only on little-endian machines; give the original file")]
    BigEndian,
    /// The features differ from the model's.
    #[error(
        "the features differ from the model's in name or order; convert a file with the model's features, or give that file"
    )]
    OtherFeatures,
}
