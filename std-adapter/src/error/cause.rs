//! The causes of errors: one variant for each message.

use crate::error::checkpoint::CheckpointProblem;
use crate::error::export::ExportProblem;
use crate::error::kind::ErrorKind;
use crate::error::model::ModelProblem;
use crate::error::store::StoreProblem;
use crate::error::table::{TableError, TableProblem};
use dpp_nystrom_core::Error as CoreError;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// What is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    /// An error in a file of rows.
    #[error(transparent)]
    Table(TableError),
    /// Landmarks cannot be selected.
    #[error("landmarks: {reason}; {}", advice(reason))]
    Landmarks {
        /// The core's reason.
        #[source]
        reason: CoreError,
    },
    /// Ridge regression cannot be solved.
    #[error("ridge regression: {reason}; {}", advice(reason))]
    Regression {
        /// The core's reason.
        #[source]
        reason: CoreError,
    },
    /// A model cannot be exported to a device.
    #[error("export: {0}")]
    Export(#[source] ExportProblem),
    /// An exported model in bytes cannot be read.
    #[error("{}: {problem}; export it again", path.display())]
    DeviceModel {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: CoreError,
    },
    /// Another error of the core.
    #[error("{0}")]
    Core(#[source] CoreError),
    /// Values that do not form whole rows.
    #[error("{values} values do not form whole rows of {features} features")]
    Ragged {
        /// The number of values.
        values: usize,
        /// The number of features of a row.
        features: usize,
    },
    /// Another number of things than expected.
    #[error("{what}: expected {expected}, found {found}")]
    Length {
        /// The values whose number is wrong.
        what: &'static str,
        /// The number expected.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// A bandwidth out of range.
    #[error(
        "invalid bandwidth {sigma:?}: expected a positive number whose square and its inverse are finite"
    )]
    Bandwidth {
        /// The bandwidth.
        sigma: f64,
    },
    /// All rows compared are equal, or there is only one.
    #[error(
        "the median distance between rows is zero: all rows compared are equal, or there is only one; \
         give the bandwidth as a number"
    )]
    MedianZero,
    /// A metric that cannot be learned.
    #[error("cannot learn a metric: {problem}")]
    Metric {
        /// Why, and what to do.
        problem: &'static str,
    },
    /// A number of bytes of flash that is too small for any model.
    #[error(
        "{bytes} bytes of flash are too few: the smallest model, a linear one of {features} features, takes \
         {least} in single precision"
    )]
    Flash {
        /// The bytes asked for.
        bytes: usize,
        /// The bytes of the smallest model, a linear one in single precision.
        least: usize,
        /// The number of features.
        features: usize,
    },
    /// Fewer rows than requested.
    #[error("{wanted} rows requested: expected at least 1 and at most {rows}, the number available")]
    TooFewRows {
        /// Rows requested.
        wanted: usize,
        /// Rows available.
        rows: usize,
    },
    /// Sums that were accumulated by another specification.
    #[error(
        "these rows were accumulated by another specification: landmarks, kernel, scaling, folds, seed or labels differ"
    )]
    OtherSpec,
    /// Too few rows to cross-validate.
    #[error("{rows} rows are too few to cross-validate; give the ridge as a number")]
    Folds {
        /// Rows available.
        rows: usize,
    },
    /// Weights of many landmarks that conjugate gradients do not find.
    #[error(
        "the weights of so many landmarks have not settled after {steps} steps with the ridge {ridge:.1e}; give a larger \
         ridge, or ask for at most 2,048 landmarks"
    )]
    Unsettled {
        /// The ridge.
        ridge: f64,
        /// The steps.
        steps: usize,
    },
    /// The leave-one-out error of rows that are not kept.
    #[error(
        "the leave-one-out error reads all rows a second time, and these are not kept; cross-validate the ridge, or give \
         it as a number"
    )]
    LeaveOneOut,
    /// A regression whose numbers overflowed.
    #[error(
        "the regression's weights or errors are not finite: numbers of the rows, or of a state, are too large; scale the target, \
         or leave out the state"
    )]
    NotFinite,
    /// No target.
    #[error("no target: regression needs one; name its column")]
    NoTarget,
    /// A constant target.
    #[error("the target {name:?} is constant; name another column")]
    ConstantTarget {
        /// The column.
        name: String,
    },
    /// Labels of one class.
    #[error("the target {name:?} has one class in the rows used; classes take at least two")]
    OneClass {
        /// The column.
        name: String,
    },
    /// The weight of a row that is negative or not finite.
    #[error("the weight of row {row} (from 0) is {weight}: expected a finite number, at least 0")]
    Weight {
        /// The row.
        row: usize,
        /// Its weight.
        weight: f64,
    },
    /// Weights that are all 0.
    #[error("all rows have the weight 0; give some a positive weight")]
    NoWeight,
    /// Weights where each row counts once.
    #[error("{what} takes no weights of rows; leave them out")]
    Unweighted {
        /// The command or method that takes no weights.
        what: &'static str,
    },
    /// A class without a label.
    #[error(
        "the class of row {row} (from 0) is no index of a label, a whole number from 0 and less than {labels}"
    )]
    Unlabelled {
        /// The row.
        row: usize,
        /// The number of labels.
        labels: usize,
    },
    /// Leaving out single rows that belong together.
    #[error(
        "rows that belong together cannot be left out one by one; choose the ridge by cross-validation, or give it"
    )]
    LeftOutAlone,
    /// Rows of one group.
    #[error("the rows used are of one group; rows are held out by groups, of which it takes at least two")]
    OneGroup,
    /// A model of numbers where one of classes is needed.
    #[error("the model predicts numbers, not classes; fit it to labels")]
    NoClasses,
    /// Several targets, or classes, where one number is learned.
    #[error(
        "{what} takes one target that is a number, not several targets or classes: choose one column as target, or do without it"
    )]
    SeveralTargets {
        /// The command or method that takes one target.
        what: &'static str,
    },
    /// Several targets of a row store.
    #[error("a row store has one target, a number or classes; choose one column, or make a store for each")]
    StoredTargets,
    /// Medians for a row store.
    #[error(
        "a row store is scaled to mean 0 and standard deviation 1, or not at all: medians need all rows at once"
    )]
    StoredScale,
    /// Clipped features for a search in bytes of flash.
    #[error(
        "a search for a model in so many bytes of flash compares integers too, which cannot clip features; use --scale standard"
    )]
    ClippedFlash,
    /// A target or names given to a row store.
    #[error("{}: a row store has its own target and names; give them when it is converted", path.display())]
    StoreColumns {
        /// The row store.
        path: PathBuf,
    },
    /// An invalid model file.
    #[error("{}: {problem}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: ModelProblem,
    },
    /// Invalid bytes of a model.
    #[error("{0}")]
    ModelBytes(ModelProblem),
    /// Bytes that are not a fit specification.
    #[error("invalid fit specification: both sides must use the same version of dpp-nystrom")]
    FitSpec,
    /// A row store too large for a method that needs its rows in memory.
    #[error(
        "{what} needs the rows in memory, and the store has {rows}; draw some of them, or use the method auto, kdpp, rpcholesky, \
         greedy, refined or uniform"
    )]
    InMemory {
        /// What needs them: a method, a step.
        what: String,
        /// Rows available.
        rows: usize,
    },
    /// A metric of a row store that is read in place.
    #[error(
        "cannot learn a metric of a store of {rows} rows: it takes at most 2^24 values; draw some of the rows, fit the file that the \
         store was made of, or take the metric one"
    )]
    MetricOfStore {
        /// Rows available.
        rows: usize,
    },
    /// A checkpoint that cannot be resumed from.
    #[error("{}: {problem}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: CheckpointProblem,
    },
    /// A row store that is invalid or was modified.
    #[error("{}: {problem}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: StoreProblem,
    },
    /// A file that cannot be written.
    #[error(
        "{}: cannot be written: {source}; check the folder, its permissions and the space on the disk",
        Shown(path)
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A prediction that overflows.
    #[error(
        "row {row} (from 0): the prediction is not finite; its features are too far from the training rows, \
         remove the row"
    )]
    Prediction {
        /// The row, from 0.
        row: usize,
    },
    /// A column whose mean or standard deviation is not finite, or a target beside whose values predictions
    /// would overflow.
    #[error(
        "column {column:?}: the values are not finite, or so large that their standard deviation or a prediction of them overflows; \
         divide them by a power of ten"
    )]
    Spread {
        /// The column.
        column: String,
    },
    /// A row store whose rows are scaled otherwise than the map or model wants them.
    #[error(
        "the row store is scaled by other means and deviations; fit to this store, or give its rows in their own units"
    )]
    OtherScale,
    /// Something that requires a kernel of this crate on rows of features.
    #[error("{problem}; {instead}")]
    BuiltInKernel {
        /// What does not work with a user-defined kernel or a kernel matrix.
        problem: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// An error of a source of rows outside this crate.
    #[error("{1}")]
    Other(ErrorKind, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// The observer asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// Out of memory.
    #[error("out of memory: {bytes} bytes needed; use fewer landmarks or rows, or precision f32")]
    Memory {
        /// Bytes needed.
        bytes: usize,
    },
    /// Too many rows for all eigenvalues.
    #[error(
        "too many rows for an eigendecomposition of the kernel matrix: {rows}, at most {most}; use fewer"
    )]
    SpectrumRows {
        /// Rows available.
        rows: usize,
        /// The maximum.
        most: usize,
    },
    /// An exact sample by rejection that takes too long.
    #[error(
        "an exact sample of {landmarks} rows takes some {operations:.0e} multiply-adds under this kernel, at most \
         {most:.0e}; use fewer landmarks, a wider kernel, or the method kdpp"
    )]
    Rejection {
        /// Landmarks.
        landmarks: usize,
        /// The expected number of multiply-adds.
        operations: f64,
        /// The maximum.
        most: f64,
    },
    /// The eigenvalue iteration did not converge.
    #[error("the eigenvalues of the kernel matrix did not converge; try another bandwidth or other rows")]
    Eigenvalues,
    /// Too many rows for a method that stores the whole kernel matrix.
    #[error(
        "too many rows for the method {method}, which stores the whole kernel matrix: {rows}, at most {most}; use the \
         method {instead}, or fewer rows"
    )]
    WholeMatrix {
        /// The method.
        method: &'static str,
        /// Rows available.
        rows: usize,
        /// Maximum number of rows.
        most: usize,
        /// A method without this limit.
        instead: &'static str,
    },
    /// Landmarks that are points rather than rows, and cannot be refined.
    #[error(
        "cannot refine the landmarks of {method}: they are points, not rows; use the method kmeans-snapped, or select \
         without refinement"
    )]
    NoRows {
        /// The method.
        method: &'static str,
    },
    /// A method that takes no quality and no rows to include or exclude.
    #[error(
        "{method} takes no quality, and no rows to include or exclude: it selects by {by}; use another method, such as \
         kdpp, greedy or refined"
    )]
    Unconditional {
        /// The method.
        method: &'static str,
        /// What it selects by.
        by: &'static str,
    },
    /// More rows to include than landmarks.
    #[error("{included} rows to include, but only {landmarks} landmarks; use at least {included} landmarks")]
    Included {
        /// The rows to include.
        included: usize,
        /// The landmarks.
        landmarks: usize,
    },
    /// A row that is to be included and excluded.
    #[error("row {row} is to be included and excluded; omit it from one of the lists")]
    IncludedAndExcluded {
        /// The row's number in the file.
        row: usize,
    },
    /// Too few rows may be selected.
    #[error(
        "{landmarks} landmarks asked for, but only {rows} rows are not excluded and have a quality above 0; use fewer landmarks"
    )]
    TooFewAllowed {
        /// The landmarks.
        landmarks: usize,
        /// The rows that may be selected.
        rows: usize,
    },
    /// No allowed number of landmarks reaches the tolerance.
    #[error(
        "{method}: no set of up to {most} landmarks has a {criterion} within {tolerance:?}; the smallest found is {least:.4e}, \
         with {landmarks} landmarks; increase the tolerance or the maximum, or use a wider bandwidth or another method"
    )]
    Tolerance {
        /// The tolerance.
        tolerance: f64,
        /// The error criterion, as text.
        criterion: String,
        /// The maximum number of landmarks.
        most: usize,
        /// The smallest error found.
        least: f64,
        /// The number of landmarks with that error.
        landmarks: usize,
        /// The method.
        method: &'static str,
    },
    /// A parameter out of range.
    #[error("invalid {option} {value}: expected at least 1 and at most {most}")]
    OutOfRange {
        /// The parameter: `rank`, `columns` or `experts`.
        option: &'static str,
        /// Its value.
        value: usize,
        /// The maximum.
        most: usize,
    },
}

/// Displays a path, and `-` as standard output.
struct Shown<'a>(&'a Path);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.as_os_str() == "-" { f.write_str("standard output") } else { self.0.display().fmt(f) }
    }
}

/// Return what to do about an error of the core.
fn advice(reason: &CoreError) -> &'static str {
    match reason {
        CoreError::Empty => "use at least one landmark",
        CoreError::TooManyLandmarks { .. } => "use fewer landmarks or more rows",
        CoreError::RankDeficient { rank: 0, .. } => "the kernel of every row with itself must be positive",
        CoreError::RankDeficient { .. } => {
            "use fewer landmarks, a smaller bandwidth or another kernel (duplicate rows count once)"
        }
        CoreError::NotPositive { .. } => "omit that row, or use a larger ridge or a smaller bandwidth",
        CoreError::Duplicate { .. } => "list each row once",
        CoreError::OutOfRange { .. } => "rows count from 0",
        CoreError::Quality { .. } => "correct it; 0 excludes a row",
        CoreError::NotFinite { .. } => "scale the features, or use another kernel or bandwidth",
        CoreError::Ridge => {
            "expected a positive number that stays finite when multiplied by the number of rows"
        }
        _ => "check the arguments",
    }
}

impl Cause {
    /// Return what the error is about.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Table(error) => match error.problem {
                TableProblem::Open(_) | TableProblem::Read(_) | TableProblem::Directory => ErrorKind::File,
                _ => ErrorKind::Table,
            },
            Self::Write { .. } => ErrorKind::File,
            Self::Landmarks { .. }
            | Self::Tolerance { .. }
            | Self::Included { .. }
            | Self::TooFewAllowed { .. }
            | Self::Eigenvalues => ErrorKind::Landmarks,
            Self::Regression { .. } | Self::NotFinite | Self::Unsettled { .. } | Self::OtherSpec => {
                ErrorKind::Regression
            }
            Self::Export(_) => ErrorKind::Export,
            Self::DeviceModel { .. }
            | Self::Model { .. }
            | Self::ModelBytes(_)
            | Self::FitSpec
            | Self::Checkpoint { .. }
            | Self::Store { .. }
            | Self::Core(CoreError::StateBytes(_) | CoreError::ModelBytes(_) | CoreError::SavedBytes(_)) => {
                ErrorKind::Format
            }
            Self::MedianZero
            | Self::TooFewRows { .. }
            | Self::Folds { .. }
            | Self::NoTarget
            | Self::ConstantTarget { .. }
            | Self::OneClass { .. }
            | Self::Weight { .. }
            | Self::NoWeight
            | Self::Unlabelled { .. }
            | Self::OneGroup
            | Self::Prediction { .. }
            | Self::Spread { .. }
            | Self::Core(CoreError::NotFinite { .. }) => ErrorKind::Data,
            Self::Core(_)
            | Self::Ragged { .. }
            | Self::Length { .. }
            | Self::Bandwidth { .. }
            | Self::IncludedAndExcluded { .. }
            | Self::Flash { .. }
            | Self::OutOfRange { .. } => ErrorKind::Argument,
            Self::Metric { .. }
            | Self::LeaveOneOut
            | Self::Unweighted { .. }
            | Self::LeftOutAlone
            | Self::NoClasses
            | Self::SeveralTargets { .. }
            | Self::StoredTargets
            | Self::StoredScale
            | Self::ClippedFlash
            | Self::StoreColumns { .. }
            | Self::InMemory { .. }
            | Self::MetricOfStore { .. }
            | Self::OtherScale
            | Self::BuiltInKernel { .. }
            | Self::SpectrumRows { .. }
            | Self::WholeMatrix { .. }
            | Self::Rejection { .. }
            | Self::Unconditional { .. }
            | Self::NoRows { .. } => ErrorKind::Unsupported,
            &Self::Other(kind, _) => kind,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Memory { .. } => ErrorKind::Memory,
        }
    }
}
