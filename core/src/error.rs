//! What can go wrong, as plain data: no strings, so that an error costs firmware a few bytes.

use core::fmt;

/// Why a call was refused. Whatever was called is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error {
    /// A ground set without rows, a row without features, or no landmarks asked for.
    Empty,
    /// The lent memory is too small.
    Capacity {
        /// Elements that the call needs.
        needed: usize,
        /// Elements that were lent.
        have: usize,
    },
    /// A slice of the wrong length.
    Length {
        /// The length that fits.
        expected: usize,
        /// The length that came.
        found: usize,
    },
    /// More landmarks than rows.
    TooManyLandmarks {
        /// Landmarks asked for.
        landmarks: usize,
        /// Rows there are.
        rows: usize,
    },
    /// A ground set of more than `u32::MAX` rows: indices are drawn from 32 random bits.
    TooManyRows,
    /// An index past the end.
    OutOfRange {
        /// The index.
        index: usize,
        /// The number of rows, members or slots.
        len: usize,
    },
    /// A row that already is a landmark.
    Duplicate {
        /// The row.
        index: usize,
    },
    /// A NaN or an infinity among the rows, in a matrix, from a kernel or from a ground set.
    NotFinite {
        /// The row.
        row: usize,
        /// The column: a feature of the row, or the other row of the kernel's entry.
        column: usize,
    },
    /// A matrix that is not positive definite as far as the arithmetic can tell: the pivot is at
    /// or under the floor of rounding. Among landmarks: a row that depends on those before it.
    NotPositive {
        /// The place of the pivot, from 0.
        pivot: usize,
    },
    /// Fewer independent rows than landmarks asked for.
    RankDeficient {
        /// The rank found.
        rank: usize,
        /// The landmarks asked for.
        landmarks: usize,
    },
    /// A bandwidth that is not positive and finite, or so extreme that its square is not.
    Bandwidth,
    /// A polynomial kernel's degree of zero, or an offset that is negative or not finite.
    Polynomial,
    /// A ridge that is negative or not finite.
    Ridge,
    /// Ridge regression asked to solve before any row came.
    NoRows,
    /// A model's bytes that cannot be read.
    ModelBytes(BytesProblem),
    /// The bytes of what an accumulator has learned, which cannot be read.
    StateBytes(BytesProblem),
    /// Numbers of a quantised model that are out of their ranges: its sums could overflow.
    Quantisation,
    /// Memory that does not hold the state that is to be resumed on this ground set.
    ForeignState,
    /// An invariant of this crate does not hold: a bug in it. Debug builds panic instead.
    Internal,
}

/// What must be there, by an invariant of the code around it.
pub(crate) trait Known<V> {
    /// Return the value. That there is none is a bug: a panic in a debug build, [`Error::Internal`] in a release,
    /// where firmware must not panic.
    fn known(self) -> Result<V, Error>;
}

impl<V> Known<V> for Option<V> {
    #[inline(always)]
    fn known(self) -> Result<V, Error> {
        debug_assert!(self.is_some(), "an invariant of dpp-nystrom-core does not hold");
        self.ok_or(Error::Internal)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => f.write_str("no rows, no features or no landmarks: each must be at least one"),
            Self::Capacity { needed, have } => {
                write!(f, "memory for {needed} is needed, {have} was lent")
            }
            Self::Length { expected, found } => {
                write!(f, "a length of {expected} was expected, {found} came")
            }
            Self::TooManyLandmarks { landmarks, rows } => {
                write!(f, "{landmarks} landmarks asked for, but there are only {rows} rows")
            }
            Self::TooManyRows => f.write_str("more than 4294967295 rows"),
            Self::OutOfRange { index, len } => write!(f, "index {index} is past the end: there are {len}"),
            Self::Duplicate { index } => write!(f, "row {index} is a landmark already"),
            Self::NotFinite { row, column } => {
                write!(f, "not a finite number at row {row}, column {column}")
            }
            Self::NotPositive { pivot } => {
                write!(f, "not positive definite at pivot {pivot}: it depends on those before it")
            }
            Self::RankDeficient { rank, landmarks } => write!(
                f,
                "only {rank} rows are independent under this kernel, {landmarks} landmarks asked for"
            ),
            Self::Bandwidth => f.write_str("the bandwidth must be a positive, finite number"),
            Self::Polynomial => {
                f.write_str("the degree must be at least 1 and the offset a finite number, not negative")
            }
            Self::Ridge => f.write_str("the ridge must be a finite number, not negative"),
            Self::NoRows => f.write_str("no rows were added yet"),
            Self::ModelBytes(problem) => write!(f, "bytes of a model: {problem}"),
            Self::StateBytes(problem) => write!(f, "state of a ridge regression: {problem}"),
            Self::Quantisation => {
                f.write_str("the quantised model's numbers are out of their ranges; export the model again")
            }
            Self::Internal => f.write_str("an invariant of dpp-nystrom-core does not hold: please report it"),
            Self::ForeignState => f.write_str("the memory does not hold a state of this ground set"),
        }
    }
}

impl core::error::Error for Error {}

/// What is wrong with the bytes of a model or of what a ridge regression has learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BytesProblem {
    /// Not the format that was expected: the magic number differs.
    Foreign,
    /// A version that this crate does not read.
    Version(u32),
    /// The end is missing.
    Truncated {
        /// The length in bytes, as far as it is known.
        needed: usize,
        /// The number of bytes given.
        have: usize,
    },
    /// The checksum does not match.
    Corrupt,
    /// Intact, but inconsistent: a length, a count or a value is out of range.
    Malformed,
    /// A model whose first byte is not at a multiple of 4.
    Misaligned,
    /// A quantised model where one in single precision was expected, one with integers of another size, or the
    /// other way round.
    Kind,
    /// Models are stored little-endian, and this processor is big-endian.
    BigEndian,
    /// A state in the other floating-point precision.
    Precision,
    /// A state learned on other landmarks, under another kernel or with features standardised differently.
    OtherLandmarks,
}

/// The same, under the name it has for states.
#[doc(hidden)]
pub type StateProblem = BytesProblem;

impl fmt::Display for BytesProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Foreign => f.write_str("another format: the first 8 bytes differ"),
            Self::Version(version) => write!(f, "unknown version {version} of the format"),
            Self::Truncated { needed, have } => {
                write!(f, "truncated: expected {needed} bytes, found {have}")
            }
            Self::Corrupt => f.write_str("the checksum does not match: write or send the bytes again"),
            Self::Malformed => f.write_str("the checksum matches, but the content is inconsistent"),
            Self::Misaligned => f.write_str("the first byte must be at a multiple of 4"),
            Self::Kind => f.write_str("the numbers are of another kind than this program reads"),
            Self::BigEndian => f.write_str("this processor is big-endian, and models are little-endian"),
            Self::Precision => f.write_str("the numbers are of the other floating-point precision"),
            Self::OtherLandmarks => f.write_str("learned on other landmarks, or under another kernel"),
        }
    }
}
