//! What can go wrong on a desktop: what, where, and what to do about it.
//!
//! [`Error`] is the library's; the problems of a kind of file have types of their own, which say no path.

pub(crate) mod checkpoint;
pub(crate) mod export;
pub(crate) mod model;
pub(crate) mod store;
pub(crate) mod table;

pub use checkpoint::CheckpointProblem;
pub use export::ExportProblem;
pub use model::ModelProblem;
pub use store::StoreProblem;
pub use table::TableError;

use dpp_nystrom_core::Error as CoreError;
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Everything that can go wrong outside the core, and the core's errors with advice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of rows.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Landmarks that cannot be had.
    #[error("landmarks: {reason}; {}", advice(reason))]
    Landmarks {
        /// The core's reason.
        reason: CoreError,
    },
    /// Ridge regression that cannot be solved.
    #[error("ridge regression: {reason}; {}", advice(reason))]
    Regression {
        /// The core's reason.
        reason: CoreError,
    },
    /// A model that cannot be brought to a device.
    #[error("export: {0}")]
    Export(#[from] ExportProblem),
    /// A model as bytes that cannot be read.
    #[error("{}: {problem}; export it again", path.display())]
    DeviceModel {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: CoreError,
    },
    /// Another refusal of the core.
    #[error("{0}")]
    Core(#[from] CoreError),
    /// A bandwidth out of range.
    #[error(
        "the bandwidth {sigma:?} is not usable; give a positive number whose square and its inverse are finite"
    )]
    Bandwidth {
        /// The bandwidth.
        sigma: f64,
    },
    /// The median of the distances is zero, or there are no two rows.
    #[error(
        "the median distance between rows is zero: more than half of them are equal, or there is only one; \
         give the bandwidth as a number"
    )]
    MedianZero,
    /// Too few rows for the number asked for.
    #[error("{wanted} rows asked for; ask for at least 1 and at most the {rows} that there are")]
    TooFewRows {
        /// Rows asked for.
        wanted: usize,
        /// Rows there are.
        rows: usize,
    },
    /// As many rows held out as there are, or more.
    #[error("{test} rows to test on leave none of the {rows} to train on; hold out fewer")]
    NoTrainingRows {
        /// Rows to hold out.
        test: usize,
        /// Rows used, for training and testing together.
        rows: usize,
    },
    /// Too few rows to cross-validate.
    #[error("{rows} rows are too few to cross-validate; give the ridge as a number")]
    Folds {
        /// Rows there are.
        rows: usize,
    },
    /// No target to learn.
    #[error("there is no target to learn; name its column with --target")]
    NoTarget,
    /// A target that is the same everywhere.
    #[error("the target {name:?} is the same in every row: there is nothing to learn; name another column")]
    ConstantTarget {
        /// The column.
        name: String,
    },
    /// A row number that a user chose and that is not usable.
    #[error("{}, entry {entry}: {value} {problem}", path.display())]
    Given {
        /// The file.
        path: PathBuf,
        /// The entry, from 1.
        entry: usize,
        /// What stands there.
        value: f64,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The method `given` without rows.
    #[error("the method given needs rows; name a CSV file of row numbers with --given")]
    GivenMissing,
    /// A model file that is none.
    #[error("{}: {problem}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: ModelProblem,
    },
    /// What a device is said to have learned, and has not.
    #[error("{}: {reason}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// The core's reason.
        reason: CoreError,
    },
    /// What is to be learned, as bytes that are none.
    #[error("these bytes say nothing that can be learned; both sides must be of one version of this program")]
    FitSpec,
    /// A row store too large for what wants its rows in memory.
    #[error(
        "{what} wants the rows in memory, and the store has {rows}; say how many to draw with --rows, or take the method \
         auto, kdpp or uniform, or rpcholesky with --pivot-rows"
    )]
    InMemory {
        /// What: a method or an option.
        what: String,
        /// Rows there are.
        rows: usize,
    },
    /// A checkpoint of a fit whose rows are in memory.
    #[error(
        "{}: a fit is checkpointed over a row store, whose rows stay on the disk; make one with convert, and leave \
         --rows out",
        path.display()
    )]
    CheckpointInMemory {
        /// The checkpoint.
        path: PathBuf,
    },
    /// A target that a row store does not have.
    #[error("{}: {problem}", path.display())]
    StoredTarget {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A checkpoint that cannot be gone on from.
    #[error("{}: {problem}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: CheckpointProblem,
    },
    /// A row store that is none, or that changed.
    #[error("{}: {problem}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: StoreProblem,
    },
    /// A result that would replace what it is made from.
    #[error("{}: this command reads it, and would write over it; give the result another name", path.display())]
    Overwrites {
        /// The file.
        path: PathBuf,
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
    /// A row whose prediction overflows.
    #[error(
        "row {row}, counted from 0: the prediction is not a finite number; its features are too far from those that \
         the model was trained on, remove it"
    )]
    Prediction {
        /// The row, from 0.
        row: usize,
    },
    /// Features or a target of which the mean or the deviation is not finite.
    #[error(
        "column {column:?}: the numbers are not finite, or too large for their spread to be computed; scale them down"
    )]
    Spread {
        /// The column.
        column: String,
    },
    /// No memory.
    #[error("no memory for {bytes} bytes; ask for fewer landmarks or rows, or take --precision f32")]
    Memory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// Too many rows for all eigenvalues.
    #[error(
        "{rows} rows are too many for all eigenvalues of their kernel matrix; use at most {} of them (--rows)",
        crate::approximation::spectrum::SPECTRUM_ROWS
    )]
    SpectrumRows {
        /// Rows there are.
        rows: usize,
    },
    /// The eigenvalue iteration did not converge.
    #[error("the eigenvalues of the kernel matrix did not converge; try another bandwidth or other rows")]
    Eigenvalues,
    /// A picture that could not be drawn.
    #[error("the picture cannot be drawn: {reason}")]
    Picture {
        /// Why.
        reason: String,
    },
    /// A folder that cannot be listed.
    #[error("{}: {source}; give a folder of data files", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A folder without a data set.
    #[error("{}: no file in this folder can be read as rows; give one with CSV, TSV, ARFF or NPY files", path.display())]
    NoDataSet {
        /// The folder.
        path: PathBuf,
    },
    /// The built-in rows cannot be read.
    #[error("the built-in rows cannot be read: {reason}")]
    BuiltIn {
        /// Why.
        reason: String,
    },
    /// A method that holds the whole kernel matrix, on too many rows for that.
    #[error(
        "the method {method} holds the kernel matrix of all rows, which are {rows} and at most {most}; use fewer with \
         --rows, or the method {instead}"
    )]
    WholeMatrix {
        /// The method.
        method: &'static str,
        /// Rows there are.
        rows: usize,
        /// Rows up to which it is done.
        most: usize,
        /// A method that does without.
        instead: &'static str,
    },
    /// Landmarks that are no rows, and cannot be exchanged for rows.
    #[error(
        "the landmarks of {method} are points of their own and no rows: there is nothing to exchange; leave \
         --refine out, or refine the rows of kmeans-snapped"
    )]
    NoRows {
        /// The method.
        method: &'static str,
    },
    /// An error that no number of landmarks that is allowed comes within.
    #[error(
        "{method}: no {most} landmarks or fewer have a {criterion} within {tolerance:?}; the least seen is {least:.4e}, \
         with {landmarks} landmarks; allow a larger error with --tolerance, more landmarks with --max-landmarks, or take \
         a wider bandwidth or another method"
    )]
    Tolerance {
        /// The error asked for.
        tolerance: f64,
        /// Which error.
        criterion: crate::landmarks::tolerance::Criterion,
        /// The most landmarks that could be had.
        most: usize,
        /// The least error that was seen.
        least: f64,
        /// The landmarks that it was seen with.
        landmarks: usize,
        /// The method.
        method: &'static str,
    },
    /// A number out of its range.
    #[error("{option} is {value}; give at least 1 and at most {most}")]
    Knob {
        /// The option.
        option: &'static str,
        /// Its value.
        value: usize,
        /// The most that makes sense here.
        most: usize,
    },
}

/// `-` is how standard output is asked for, not what a reader of the message calls it.
struct Shown<'a>(&'a Path);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.as_os_str() == "-" { f.write_str("standard output") } else { self.0.display().fmt(f) }
    }
}

/// What to do about a refusal of the core.
fn advice(reason: &CoreError) -> &'static str {
    match reason {
        CoreError::Empty => "ask for at least one landmark",
        CoreError::TooManyLandmarks { .. } => "ask for fewer landmarks, or use more rows",
        CoreError::RankDeficient { .. } => {
            "ask for fewer landmarks, or take a smaller bandwidth or another kernel (equal rows count once)"
        }
        CoreError::NotPositive { .. } => "leave that one out, or take a larger ridge or a smaller bandwidth",
        CoreError::Duplicate { .. } => "name each row once",
        CoreError::OutOfRange { .. } => "rows count from 0",
        CoreError::NotFinite { .. } => "scale the features, or take another kernel or bandwidth",
        CoreError::Ridge => "give a positive number that stays finite when it is multiplied by the rows",
        _ => "check the arguments",
    }
}
