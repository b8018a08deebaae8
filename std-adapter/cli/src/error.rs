//! Errors of the command line, and the options that help with errors of the library.

use dpp_nystrom::error::{
    Error as LibraryError, ExportProblem, ModelProblem, StoreProblem, TableError, TableProblem,
};
use dpp_nystrom_lab::Error as LabError;
use std::path::PathBuf;

/// Any error that the program reports on stderr.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An error of the library, with the options that help.
    #[error("{}{}", .0, advice(.0).unwrap_or_default())]
    Library(#[from] LibraryError),
    /// An error in a file of rows.
    #[error("{}{}", .0, table_advice(&.0.problem).unwrap_or_default())]
    Table(#[from] TableError),
    /// An output file that is also an input.
    #[error("{}: the output would overwrite an input of this command; give it another name", .0.display())]
    Overwrites(PathBuf),
    /// Two outputs of one name.
    #[error("{}: two outputs of this command would be written there; give each its own name", .0.display())]
    OneOutput(PathBuf),
    /// An invalid row number in a file of landmarks: the file, the entry from 1, its value, and what is wrong with it.
    #[error("{}, entry {entry}: {value} {problem}", path.display())]
    Given { path: PathBuf, entry: usize, value: f64, problem: &'static str },
    /// The method `given` without row numbers.
    #[error("the method given needs row indices; name a CSV file of them with --given")]
    GivenMissing,
    /// More landmarks than rows that are not held out.
    #[error(
        "{landmarks} landmarks asked for, but there are only {} rows: {test} of {rows} are held out; use fewer landmarks, \
         more rows with --rows, or hold out fewer with --test",
        rows - test
    )]
    HeldOut { landmarks: usize, rows: usize, test: usize },
    /// A target other than that of the row store.
    #[error(
        "{}: the target of a row store is settled when it is made, and this one's is {own}; leave --target out, or \
         convert the rows again",
        path.display()
    )]
    StoredTarget { path: PathBuf, own: String },
    /// Options of a table for a row store.
    #[error(
        "{}: the columns and gaps of a row store are settled when it is made; give these options to convert",
        .0.display()
    )]
    StoredColumns(PathBuf),
    /// Options of rows for a row store.
    #[error(
        "{}: the rows of a row store are scaled, and have no groups and no order in time; omit --group, --time and --scale, or give the \
         file that it was made from",
        .0.display()
    )]
    StoredRows(PathBuf),
    /// A comparison of methods under another scale.
    #[error("evaluate scales the rows of each seed to mean 0 and standard deviation 1; omit --scale")]
    Scale,
    /// An invalid key.
    #[error(
        "{}: the key{} is not 64 hexadecimal digits; make one with: openssl rand -hex 32",
        path.display(),
        device.map_or_else(String::new, |device| format!(" of device {device}"))
    )]
    Key { path: PathBuf, device: Option<u64> },
    /// An invalid file of keys or counters.
    #[error("{}: not a CSV file of the columns device and {second}, with a number as device", path.display())]
    Pairs { path: PathBuf, second: &'static str },
    /// Two lines of one device.
    #[error("{}: device {device} has two lines; leave the one that holds", path.display())]
    TwoLines { path: PathBuf, device: u64 },
    /// Two devices of one key.
    #[error("{}: the devices {other} and {device} have one key, so that each can sign for the other; give each its own", path.display())]
    OneKey { path: PathBuf, device: u64, other: u64 },
    /// A file that cannot be locked.
    #[error("{}: cannot be locked: {source}; keep the counters (--seen) in a folder that can be written to", path.display())]
    Lock { path: PathBuf, source: std::io::Error },
    /// States that cannot be merged, or are far from the others.
    #[error("{reason}; look at what sent it, then leave it out (--outliers exclude){}", if *far { ", or accept it (accept)" } else { "" })]
    Refused { reason: String, far: bool },
    /// An error of a figure or an experiment.
    #[error(transparent)]
    Lab(LabError),
    /// Something that is not in the model.
    #[error("{}: {what} not in this model; {advice}", path.display())]
    NotInModel { path: PathBuf, what: &'static str, advice: &'static str },
    /// Rows that a device's state cannot be learned from.
    #[error("{}: {problem}", path.display())]
    NotLearned { path: PathBuf, problem: &'static str },
    /// Rows that belong together where single rows are held out, or are stored without their groups.
    #[error("{0} does not keep rows together; omit --group and --time")]
    Apart(&'static str),
    /// A kernel that is chosen, where no model tells kernels apart.
    #[error("--kernel auto is for fit, which learns from a target; name a kernel")]
    AnyKernel,
    /// Any kernel within bytes of flash.
    #[error("--flash compares models of one kernel; name the kernel, or omit --kernel")]
    OneKernelInFlash,
    /// A kernel matrix where rows of features are needed.
    #[error(
        "a precomputed kernel is for select and transform: a model predicts rows of features, which a kernel matrix does not have; \
         write features with transform and learn on them"
    )]
    Precomputed,
    /// Options that need rows of features, for a kernel matrix.
    #[error("a kernel matrix is taken as it is; omit {0}")]
    OfRows(&'static str),
    /// What is wrong with a kernel matrix.
    #[error("{}: {problem}", path.display())]
    KernelMatrix { path: PathBuf, problem: String },
    /// Built-in rows of an unexpected shape.
    #[error("the built-in rows cannot be read: they have another shape than expected")]
    BuiltIn,
}

impl From<LabError> for Error {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Library(error) => Self::Library(error),
            error => Self::Lab(error),
        }
    }
}

/// Return the end of a message about a table: the options that read it.
fn table_advice(problem: &TableProblem) -> Option<String> {
    let options = match problem {
        TableProblem::NotANumber(text) if text.contains(',') => "(--decimal , or --words, --ignore)",
        TableProblem::NotANumber(text) if text.contains(':') => "(--libsvm, --words, --ignore)",
        TableProblem::NotANumber(_) => "(--words, --ignore; of a target --classes)",
        TableProblem::Point(_) => "(--decimal)",
        TableProblem::NumbersAsWords { .. } => "(--missing, --ignore, --words, --classes)",
        TableProblem::TwoRoles { .. } => "(--target, --ids, --group, --weight)",
        TableProblem::Commas(_) => "(--decimal , or --words, --classes, --ignore)",
        TableProblem::NotFinite(text) if !text.eq_ignore_ascii_case("nan") => "(--ignore)",
        TableProblem::NotFiniteEntry(value) if !value.is_nan() => "(--ignore)",
        TableProblem::Missing(_) | TableProblem::NotFinite(_) | TableProblem::NotFiniteEntry(_) => {
            "(fit --missing drop, mean or indicator; --ignore)"
        }
        TableProblem::Ragged { .. } | TableProblem::Title { .. } => "(--separator)",
        TableProblem::Header => "(--header yes or --header no)",
        TableProblem::TooManyLevels { .. } => "(--ignore, --limit levels=N)",
        TableProblem::TooManyClasses { .. } => "(--target, without --classes, --limit classes=N)",
        TableProblem::Limit { name, .. } => return Some(format!(" (--limit {name}=N)")),
        TableProblem::EmptyColumn(_) | TableProblem::AttributeType { .. } => "(--ignore)",
        TableProblem::Weight(_) | TableProblem::NoWeight => "(--weight)",
        TableProblem::SeveralColumns(_) => "(--group, --weight)",
        TableProblem::Dropped { dropped, rows, .. } if dropped == rows => {
            "(--missing mean, --ignore, --missing-values)"
        }
        TableProblem::Dropped { .. } => "(--missing mean, --ignore, --missing-values, --allow-loss)",
        TableProblem::Sparse { .. } => "(--columns, --ignore, --rows after convert, --limit sparse=N)",
        TableProblem::SuperfluousColumns(_) => "(--ignore)",
        TableProblem::Nameless { .. } => "(--by-position)",
        TableProblem::UnseenValue(_) => "(--unknown zero)",
        TableProblem::UnknownTarget { .. } | TableProblem::NoFeatures => "(--target)",
        _ => return None,
    };
    Some(format!(" {options}"))
}

/// Return the end of a message of the library: the options that do what it advises.
fn advice(error: &LibraryError) -> Option<String> {
    let options = match error {
        LibraryError::Table(error) => return table_advice(&error.problem),
        LibraryError::NoTarget => "with --target",
        LibraryError::OneClass { .. } | LibraryError::SeveralTargets { .. } => "(--target)",
        LibraryError::LeftOutAlone => "(--ridge cv)",
        LibraryError::OneGroup => "(--group)",
        LibraryError::Unweighted { .. } => "(--weight)",
        LibraryError::NoClasses => "(fit --classes)",
        LibraryError::SpectrumRows { .. } | LibraryError::WholeMatrix { .. } => "with --rows",
        LibraryError::InMemory { .. } => "(--rows N, or --method rpcholesky --pivot-rows N)",
        LibraryError::Memory { .. } => "(--landmarks, --rows, --precision)",
        LibraryError::NoRows { .. } => "(omit --refine)",
        LibraryError::Tolerance { .. } => "(--tolerance, --max-landmarks, --sigma, --method)",
        LibraryError::OutOfRange { option, .. } => return Some(format!(" (--{option})")),
        LibraryError::Model { problem: ModelProblem::Foreign, .. } => {
            "with `dpp-nystrom fit --model` (what export writes is read by predict alone)"
        }
        LibraryError::Store { problem: StoreProblem::Foreign, .. } => "with `dpp-nystrom convert`",
        LibraryError::Export(ExportProblem::Kernel { .. }) => "(fit --kernel gaussian, or omit --quantise)",
        LibraryError::Export(ExportProblem::Spread { .. }) => "(omit --quantise)",
        LibraryError::Export(ExportProblem::Coarse { .. }) => "(fit --sigma, or omit --quantise)",
        _ => return None,
    };
    Some(format!(" {options}"))
}
