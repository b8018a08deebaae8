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
    StateBytes(StateProblem),
    /// Numbers of a quantised model that are out of their ranges: its sums could overflow.
    Quantisation,
    /// Memory that does not hold the state that is to be resumed on this ground set.
    ForeignState,
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
            Self::ModelBytes(problem) => problem.fmt(f),
            Self::StateBytes(problem) => problem.fmt(f),
            Self::Quantisation => {
                f.write_str("the quantised model's numbers are out of their ranges; export the model again")
            }
            Self::ForeignState => f.write_str("the memory does not hold a state of this ground set"),
        }
    }
}

impl core::error::Error for Error {}

/// What is wrong with a model's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BytesProblem {
    /// They do not begin at a multiple of 4.
    Misaligned,
    /// They are something else.
    Foreign,
    /// A version that this program does not know.
    Version(u32),
    /// The end is missing.
    Truncated {
        /// Bytes that the model has, as far as is known.
        needed: usize,
        /// Bytes that came.
        have: usize,
    },
    /// The checksum does not agree.
    Corrupt,
    /// A quantised model where one in single precision was expected, one of another width of integers, or the other way round.
    Kind,
    /// Intact, but its parts do not make a model.
    Malformed,
    /// This processor reads numbers from their other end.
    BigEndian,
}

impl fmt::Display for BytesProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Misaligned => f.write_str("the model's bytes must begin at a multiple of 4"),
            Self::Foreign => f.write_str("not a model that `dpp-nystrom export --to bytes` wrote"),
            Self::Version(version) => {
                write!(f, "the model's format is version {version}, and this program reads version 1")
            }
            Self::Truncated { needed, have } => {
                write!(f, "the end of the model is missing: {needed} bytes are needed, {have} came")
            }
            Self::Corrupt => f.write_str("the model's checksum does not agree: write it again"),
            Self::Kind => f.write_str("the model's numbers are of another kind than this program reads"),
            Self::Malformed => f.write_str("the bytes are intact, but their parts do not make a model"),
            Self::BigEndian => f.write_str("models as bytes are for little-endian processors"),
        }
    }
}

/// What is wrong with a state's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StateProblem {
    /// They are something else.
    Foreign,
    /// A version that this program does not know.
    Version(u32),
    /// The end is missing.
    Truncated {
        /// Bytes that the state has, as far as is known.
        needed: usize,
        /// Bytes that came.
        have: usize,
    },
    /// The checksum does not agree.
    Corrupt,
    /// Numbers of the other precision.
    Precision,
    /// Learned on other landmarks, under another kernel or with features standardised otherwise.
    OtherLandmarks,
    /// Intact, but not what an accumulator has learned.
    Malformed,
}

impl fmt::Display for StateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Foreign => f.write_str("not the state of a ridge regression"),
            Self::Version(version) => {
                write!(f, "the state's format is version {version}, and this program reads version 1")
            }
            Self::Truncated { needed, have } => {
                write!(f, "the end of the state is missing: {needed} bytes are needed, {have} came")
            }
            Self::Corrupt => f.write_str("the state's checksum does not agree: send it again"),
            Self::Precision => f.write_str("the state's numbers are of the other precision"),
            Self::OtherLandmarks => {
                f.write_str("the state was learned on other landmarks, or under another kernel")
            }
            Self::Malformed => {
                f.write_str("the bytes are intact, but not what a ridge regression has learned")
            }
        }
    }
}
