//! Errors as plain data: no strings, so that an error costs firmware a few bytes.

use core::fmt;

/// Why a call failed. Unless the call says otherwise, it has changed nothing.
///
/// ```
/// use dpp_nystrom_core::{Error, Points, kernel::Linear};
///
/// let rows = [20.5, 1_013.0, f32::NAN, 1_012.0];
/// let error = Points::new(&rows, 2, Linear).unwrap_err();
/// assert_eq!(error, Error::NotFinite { row: 1, column: 0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error {
    /// No rows, no features or no landmarks: each must be at least one.
    Empty,
    /// The lent memory is too small.
    Capacity {
        /// Elements needed.
        needed: usize,
        /// Elements lent.
        have: usize,
    },
    /// A slice of the wrong length.
    Length {
        /// The expected length.
        expected: usize,
        /// The length of the slice.
        found: usize,
    },
    /// More landmarks than rows.
    TooManyLandmarks {
        /// Landmarks requested.
        landmarks: usize,
        /// Rows available.
        rows: usize,
    },
    /// Fewer rows than a [`crate::Detector`] measures its scaling on.
    TooFewRows {
        /// Rows needed.
        needed: usize,
        /// Rows that there were.
        found: usize,
    },
    /// More than `u32::MAX` rows: row indices are drawn from 32 random bits.
    TooManyRows,
    /// An index past the end.
    OutOfRange {
        /// The index.
        index: usize,
        /// The number of rows, members or slots.
        len: usize,
    },
    /// A row that is a landmark already.
    Duplicate {
        /// The row.
        index: usize,
    },
    /// A NaN or an infinity in the rows, a matrix, a kernel value or a ground set's entry.
    NotFinite {
        /// The row.
        row: usize,
        /// The column: a feature of the row, or the second index of the kernel entry.
        column: usize,
    },
    /// A finite number that is too large: sums of its square overflow.
    TooLarge {
        /// The row.
        row: usize,
        /// The column: a feature of the row, or the target after the features.
        column: usize,
    },
    /// A row that could not be read ([`crate::TryGroundSet`]).
    Read {
        /// The row.
        row: usize,
        /// What the ground set says of the cause, for example its driver's error number.
        code: u32,
    },
    /// A matrix that is not numerically positive definite: the pivot is at or below the rounding error of its
    /// computation. Among landmarks: a row that depends on the landmarks before it.
    NotPositive {
        /// The index of the pivot, from 0.
        pivot: usize,
    },
    /// A quality that is negative or not finite.
    Quality {
        /// The row.
        row: usize,
    },
    /// Fewer independent rows than landmarks requested.
    RankDeficient {
        /// The numerical rank found.
        rank: usize,
        /// The landmarks requested.
        landmarks: usize,
    },
    /// A bandwidth (lengthscale) σ that is not positive and finite, or for which `1/σ²` is not.
    Bandwidth,
    /// A polynomial kernel of degree zero, or with an offset that is negative or not finite.
    Polynomial,
    /// A regularisation γ that is negative or not finite, or that times the rows is too small for the
    /// precision.
    Ridge,
    /// A regression that is full: 2³⁵ effective rows in `f32`, 2⁵³ in `f64`, or a state of more than 2⁵³
    /// rows. A scaling that is full: 2²⁴ rows in `f32`, 2³² - 1 in `f64`.
    RowCount,
    /// A forgetting factor λ that is not in (0, 1].
    Forgetting,
    /// Forgetting that would leave fewer than 1/16 of an effective row: rows must be learned first.
    Forgotten,
    /// Numbers of a regression whose rows are in two triangles, or of which a discount is not applied yet:
    /// [`crate::RidgeRegression::settle`] makes them one.
    Unsettled,
    /// A call that the phase of a learner does not allow.
    Phase {
        /// The phase in which the call is possible.
        expected: Phase,
        /// The present phase.
        found: Phase,
    },
    /// A model with a map or with clipped features, which a learner does not have: learn on its landmarks
    /// with [`crate::RidgeRegression`].
    Map,
    /// A feature, or the target after the features, that does not vary over the rows that the scaling was
    /// measured on, or whose scale is 0.
    Constant {
        /// The feature, or the number of features for the target.
        column: usize,
    },
    /// A feature that was constant while the scaling was measured has another value.
    Changed {
        /// The row.
        row: usize,
        /// The feature.
        column: usize,
    },
    /// A negative scale.
    Scale {
        /// The feature, or the number of features for the target.
        column: usize,
    },
    /// A rate of false alarms of more than one in two rows.
    Rate,
    /// A ridge regression was solved before any row was added.
    NoRows,
    /// A variance without a solution: nothing was solved with a positive regularisation since the state was
    /// created, read, or expressed in other features.
    Unsolved,
    /// The bytes of a model cannot be read.
    ModelBytes(BytesProblem),
    /// The bytes of a ridge regression's state cannot be read.
    StateBytes(BytesProblem),
    /// The bytes of a learner's or a chain's state cannot be read.
    SavedBytes(BytesProblem),
    /// A parameter of a quantised model is out of range: its sums could overflow.
    Quantisation,
    /// A state whose factor is not that of its rows under this kernel: it is of another ground set, or was
    /// saved under another kernel or bandwidth.
    ForeignState,
    /// An invariant of this crate does not hold: a bug in this crate. Debug builds panic instead.
    Internal,
}

/// The phase of a [`crate::Learner`] or a [`crate::Detector`].
///
/// ```
/// use dpp_nystrom_core::{Error, Learner, Phase, kernel::Gaussian};
///
/// let mut learner = Learner::<4, 1>::new();
/// assert_eq!(learner.phase(), Phase::Idle);
/// learner.start(Gaussian::new(1.0)?);
/// let early = learner.learn(&[20.0], 1.0);
/// assert_eq!(early, Err(Error::Phase { expected: Phase::Learning, found: Phase::Scaling }));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
// As wide as the other fields of an `Error`: with a field of one byte, errors are copied byte by byte, in
// kilobytes of code.
#[repr(u32)]
pub enum Phase {
    /// Nothing: it has no kernel yet.
    #[default]
    Idle,
    /// Measures the features' and the target's mean and scale.
    Scaling,
    /// Selects landmarks; the scaling is frozen.
    Selecting,
    /// Learns rows; the landmarks are frozen, except for single exchanges. A detector learns its threshold.
    Learning,
    /// Learns rows and predicts: there are weights. A detector judges rows: there is a threshold.
    Predicting,
}

impl Phase {
    /// The call that ends this phase.
    fn way_on(self) -> &'static str {
        match self {
            Self::Idle => "start it",
            Self::Scaling => "freeze_scaling ends it",
            Self::Selecting => "select or freeze_landmarks ends it",
            Self::Learning => "solve first, or let a detector check more rows",
            Self::Predicting => "start again",
        }
    }
}

/// Access to a value that an invariant of the surrounding code guarantees.
pub(crate) trait Known<V> {
    /// Return the value. A missing one is a bug: debug builds panic, and a release returns
    /// [`Error::Internal`], since firmware must not panic.
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
                write!(f, "expected room for at least {needed} numbers, landmarks or bytes, found {have}")
            }
            Self::Length { expected, found } => {
                write!(f, "expected a length of {expected}, found {found}")
            }
            Self::TooManyLandmarks { landmarks, rows } => {
                write!(f, "{landmarks} landmarks asked for, but there are only {rows} rows")
            }
            Self::TooFewRows { needed, found } => {
                write!(f, "expected at least {needed} rows, found {found}: measure more")
            }
            Self::TooManyRows => f.write_str("expected at most 4294967295 rows"),
            Self::OutOfRange { index, len } => {
                write!(f, "index {index} is out of range: expected less than {len}")
            }
            Self::Duplicate { index } => write!(f, "row {index} is already a landmark"),
            Self::NotFinite { row, column } => {
                write!(f, "row {row}, column {column}: not a finite number")
            }
            Self::TooLarge { row, column } => {
                write!(f, "row {row}, column {column}: the number is so large that its square overflows")
            }
            Self::Read { row, code } => write!(f, "row {row} could not be read (code {code})"),
            Self::NotPositive { pivot } => {
                write!(f, "not positive definite at pivot {pivot}, which depends on those before it")
            }
            Self::Quality { row } => write!(f, "row {row}: expected a finite quality of at least 0"),
            Self::RankDeficient { rank, landmarks } => write!(
                f,
                "only {rank} rows are independent under this kernel, {landmarks} landmarks asked for"
            ),
            Self::Bandwidth => {
                f.write_str("the bandwidth and one over its square must be positive, finite numbers")
            }
            Self::Polynomial => {
                f.write_str("the degree must be at least 1 and the offset a finite number, not negative")
            }
            Self::Ridge => f.write_str(
                "the ridge must be a finite number, not negative, nor too small for the precision",
            ),
            Self::RowCount => f.write_str(
                "full: over 2^35 effective rows in single precision or 2^53 rows (of a scaling 2^24 or 2^32): forget \
                 some, freeze the scaling, or start again",
            ),
            Self::Forgotten => {
                f.write_str("fewer than 1/16 of a row would be left: learn rows before forgetting more")
            }
            Self::Unsettled => f.write_str("rows are not yet in one triangle: settle first"),
            Self::Forgetting => f.write_str("the forgetting factor must be above 0 and at most 1"),
            Self::Phase { expected, found } => {
                write!(
                    f,
                    "a call of the phase {expected:?}, and the learner is in {found:?}: {}",
                    found.way_on()
                )
            }
            Self::Map => f.write_str(
                "the model has a map or clipped features, which a learner does not: learn on its landmarks by ridge regression",
            ),
            Self::Constant { column } => {
                write!(f, "column {column} is constant over the rows: measure more rows, or allow it")
            }
            Self::Changed { row, column } => {
                write!(f, "row {row}, column {column}: not the value that was constant while scaling")
            }
            Self::Scale { column } => write!(f, "column {column}: the scale is negative"),
            Self::Rate => f.write_str("expected one false alarm in 2 rows or more"),
            Self::NoRows => f.write_str("expected at least one row before solving"),
            Self::Unsolved => f.write_str("expected a solution with a positive ridge: solve first"),
            Self::ModelBytes(problem) => write!(f, "bytes of a model: {problem}"),
            Self::StateBytes(problem) => write!(f, "state of a ridge regression: {problem}"),
            Self::SavedBytes(problem) => write!(f, "saved state: {problem}"),
            Self::Quantisation => {
                f.write_str("a parameter of the quantised model is out of range: export the model again")
            }
            Self::Internal => f.write_str("an invariant of dpp-nystrom-core does not hold: please report it"),
            Self::ForeignState => {
                f.write_str("the state is of other rows, or was saved under another kernel or bandwidth")
            }
        }
    }
}

impl core::error::Error for Error {}

/// Return the number by which an error names the row after this many others: the largest `usize` for one that
/// it cannot hold.
pub(crate) fn row_number(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// Why a [`crate::TryGroundSet`] has no entry: a row could not be read. It becomes [`Error::Read`].
///
/// ```
/// use dpp_nystrom_core::{Error, ReadError};
///
/// let timeout = ReadError { row: 700, code: 5 };
/// assert_eq!(Error::from(timeout), Error::Read { row: 700, code: 5 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReadError {
    /// The row.
    pub row: usize,
    /// Any number that identifies the cause, for example a driver's error number.
    pub code: u32,
}

impl From<ReadError> for Error {
    fn from(ReadError { row, code }: ReadError) -> Self {
        Self::Read { row, code }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Error::from(*self).fmt(f)
    }
}

impl core::error::Error for ReadError {}

/// What is wrong with the bytes of a model or of what a ridge regression has learned.
///
/// ```
/// use dpp_nystrom_core::{BytesProblem, Error, RidgeRegression, RidgeWorkspace, StateHeader, state_bytes};
///
/// let mut memory = RidgeWorkspace::<f32, 2>::new();
/// let mut bytes = [0; state_bytes::<f32>(2)];
/// RidgeRegression::new(2, memory.lend())?.write_state(1, &mut bytes)?;
/// bytes[50] ^= 1; // a bit flips on the way
/// assert_eq!(StateHeader::read(&bytes), Err(Error::StateBytes(BytesProblem::Corrupt)));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
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
    /// A state of a learner with other capacities: another maximum number of landmarks, or another number of
    /// features.
    Size,
    /// A model whose first byte is not at a multiple of 4.
    Misaligned,
    /// A quantised model where one in single precision was expected, one with integers of another size, or
    /// the other way round.
    Kind,
    /// Models are stored little-endian, and this processor is big-endian.
    BigEndian,
    /// A state in the other floating-point precision.
    Precision,
    /// A mandatory section of a state that this crate does not know.
    Section(u32),
    /// A model of several outputs, where one was expected: [`crate::Outputs`] reads them.
    Outputs,
    /// A state learned on other landmarks, under another kernel or with features standardised differently.
    OtherLandmarks,
    /// A state without the authentication tag of this key.
    Tag,
}

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
            Self::Size => f.write_str("saved by a learner of other numbers of landmarks or features"),
            Self::Misaligned => f.write_str("the first byte must be at a multiple of 4"),
            Self::Kind => f.write_str("quantised where numbers in single precision are read, the other way round, or of another width"),
            Self::BigEndian => f.write_str("this processor is big-endian, and models are little-endian"),
            Self::Precision => f.write_str("the numbers are of the other floating-point precision"),
            Self::Section(tag) => write!(f, "unknown mandatory section {tag}"),
            Self::Outputs => f.write_str("a model of several outputs: read it as Outputs"),
            Self::OtherLandmarks => f.write_str("learned on other landmarks, or under another kernel"),
            Self::Tag => f.write_str("not authentic: the tag of this device's key is missing or does not match"),
        }
    }
}
