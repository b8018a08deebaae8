//! Errors of the command line, and the options that help with errors of the library.

use dpp_nystrom::Error as LibraryError;
use dpp_nystrom_lab::Error as LabError;
use std::path::PathBuf;

/// Any error that the program reports on stderr.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An error of the library.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// Several targets, or classes, where one number is learned.
    #[error(
        "{0} takes one target that is a number, not several targets or classes: choose one column as target, or do without it \
         (--target)"
    )]
    SeveralTargets(&'static str),
    /// A model that keeps no variances, where they were asked for.
    #[error(
        "the model has no variances, and was not written: they take one target that is a number, at least 100 rows beside the \
         landmarks, fewer than 2,048 landmarks and a model that is no line; set --landmarks lower, or do without --variance"
    )]
    NoVariances,
    /// Weights where each row counts once.
    #[error("{0} takes no weights of rows; leave them out (--weight)")]
    Unweighted(&'static str),
    /// An output file that is also an input.
    #[error("{}: the output would overwrite an input of this command; give it another name", .0.display())]
    Overwrites(PathBuf),
    /// Two outputs of one name.
    #[error("{}: two outputs of this command would be written there; give each its own name", .0.display())]
    OneOutput(PathBuf),
    /// An invalid row number in a file of landmarks: the file, the entry from 1, its value, and what is wrong
    /// with it.
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
        "{}: the rows of a row store are scaled as it was converted, and have no groups and no order in time; omit --group, --time \
         and --scale, give the file that it was made from, or convert that with --scale",
        .0.display()
    )]
    StoredRows(PathBuf),
    /// A comparison of methods under another scale.
    #[error("evaluate scales the rows of each seed to mean 0 and standard deviation 1; omit --scale")]
    Scale,
    /// An invalid name of a library.
    #[error(
        "invalid name {0:?} of a package: expected at most 44 small letters, digits and underscores, beginning with a letter (--name)"
    )]
    PackageName(String),
    /// A folder that holds something.
    #[error("{}: a package is written into a new or an empty folder; give it another name (--out)", .0.display())]
    NotVacant(PathBuf),
    /// Options of devices for a graph.
    #[error("a graph is the model as it is, in its own precision; omit {0}, or export to rust, c or bytes")]
    Graph(&'static str),
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
    /// Row numbers that cannot be read.
    #[error("invalid rows {0:?}: expected row numbers from 0 such as 3,17,40-50, or a CSV file that exists")]
    Rows(String),
    /// A quality that is no number.
    #[error("row {row} (from 0), column {column:?}: expected a quality, a number from 0, found {found:?}")]
    Quality { row: usize, column: String, found: String },
    /// A file of qualities for other rows.
    #[error("{}: {found} qualities for {rows} rows of the data; give each row one", path.display())]
    Qualities { path: PathBuf, found: usize, rows: usize },
    /// What is wrong with a kernel matrix.
    #[error("{}: {problem}", path.display())]
    KernelMatrix { path: PathBuf, problem: String },
    /// Built-in rows of an unexpected shape.
    #[error("the built-in rows cannot be read: they have another shape than expected")]
    BuiltIn,
}

impl From<dpp_nystrom_host::Error> for Error {
    fn from(error: dpp_nystrom_host::Error) -> Self {
        Self::Library(error.into())
    }
}

impl From<LabError> for Error {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Library(error) => Self::Library(error),
            error => Self::Lab(error),
        }
    }
}

impl Error {
    /// Return the message, with the options of this command that do what it advises.
    pub(crate) fn told(&self, command: &clap::Command) -> String {
        let advice = match self {
            Self::Library(error) => advice(error, command),
            _ => None,
        };
        format!("{self}{}", advice.unwrap_or_default())
    }
}

/// What the end of a message names.
enum Advice {
    /// Options in parentheses: each with its value, and a word of another command before it.
    Options(&'static [&'static str]),
    /// A command, or an option that all commands have which can fail so.
    Words(&'static str),
}

/// Return the end of a message of the library: the options of this command that do what it advises.
fn advice(error: &LibraryError, command: &clap::Command) -> Option<String> {
    let subject = error.subject().unwrap_or_default();
    let name = error.name();
    let has = |long: &str| command.get_arguments().any(|argument| argument.get_long() == Some(long));
    match name.as_str() {
        "Limit" => return Some(format!(" (--limit {subject}=N)")),
        "OutOfRange" => return Some(format!(" (--{subject})")),
        _ => {}
    }
    let options = match advised(&name, subject)? {
        Advice::Words(words) => return Some(format!(" {words}")),
        Advice::Options(options) => options,
    };
    // A column that a model learned is not left out of the rows that it predicts.
    let learns = has("words");
    let offered = options.iter().filter_map(|&option| {
        let (before, long) = option.split_once("--")?;
        let long = long.split_whitespace().next()?;
        match before {
            "" | "omit " => {
                (has(long) && (learns || long != "ignore" || name == "SuperfluousColumns")).then_some(option)
            }
            // Of another command, if this one has no such option.
            _ => Some(if has(long) { &option[before.len()..] } else { option }),
        }
    });
    let offered: Vec<&str> = offered.collect();
    (!offered.is_empty()).then(|| format!(" ({})", offered.join(", ")))
}

/// Return what helps with an error of this name.
fn advised(name: &str, subject: &str) -> Option<Advice> {
    Some(Advice::Options(match name {
        "NotANumber" if subject.contains(',') => &["--words", "--ignore", "--decimal ,"],
        "NotANumber" if subject.contains(':') => &["--libsvm", "--words", "--ignore"],
        "NotANumber" => &["--words", "--ignore", "--classes of a target"],
        "Point" => &["--decimal"],
        "NumbersAsWords" => &["--missing", "--ignore", "--words", "--classes"],
        "TwoRoles" => &["--target", "--ids", "--group", "--weight"],
        "Commas" => &["--words", "--classes", "--ignore", "--decimal . without --strict", "--decimal ,"],
        "DateOrder" => &["--dates dmy", "--dates mdy", "--words", "--ignore"],
        "NotFiniteValue" | "NotFiniteEntry" if !subject.eq_ignore_ascii_case("nan") => &["--ignore"],
        "Missing" | "NotFiniteValue" | "NotFiniteEntry" => {
            &["fit --missing drop, mean or indicator", "--ignore"]
        }
        "RaggedRow" | "Title" => &["--separator"],
        "Sheet" | "NoSheets" => &["--sheet"],
        "Header" => &["--header yes", "--header no"],
        "TooManyLevels" => &["--ignore", "--limit levels=N"],
        "TooManyClasses" => &["--target", "--limit classes=N", "omit --classes"],
        "EmptyColumn" | "AttributeType" | "SuperfluousColumns" => &["--ignore"],
        "NegativeWeight" | "NoRowWithWeight" => &["--weight"],
        "Unweighted" => &["fit --weight"],
        "SeveralColumns" => &["--group", "--weight"],
        "Dropped" => &["--missing mean", "--ignore", "--missing-values", "--allow-loss"],
        "AllDropped" => &["--missing mean", "--ignore", "--missing-values"],
        "Sparse" => &["--columns", "--ignore", "convert, then --rows", "--limit sparse=N"],
        "Nameless" => &["--by-position"],
        "UnseenValue" => &["--unknown zero"],
        "UnknownTarget" | "NoFeatures" | "OneClass" | "SeveralTargets" => &["--target"],
        "NoTarget" => return Some(Advice::Words("with --target")),
        "LeftOutAlone" => &["--ridge cv"],
        "OneGroup" => &["--group"],
        "NoClasses" => &["fit --classes"],
        "SpectrumRows" | "WholeMatrix" => return Some(Advice::Words("with --rows")),
        "InMemory" => &["--rows N", "--method rpcholesky --pivot-rows N"],
        "MetricOfStore" => &["--rows N", "--metric one"],
        "Memory" => &["--landmarks", "--rows", "--precision"],
        "NoRows" => &["omit --refine"],
        "Tolerance" => &["--tolerance", "--max-landmarks", "--sigma", "--method"],
        "ModelForeign" => {
            return Some(Advice::Words(
                "with `dpp-nystrom fit --model` (what export writes is read by predict alone)",
            ));
        }
        "StoreForeign" => return Some(Advice::Words("with `dpp-nystrom convert`")),
        "ExportConfidence" if subject.starts_with("variances, ") => &["fit --variance"],
        "ExportKernel" => &["fit --kernel gaussian", "omit --quantise"],
        "ExportSpread" => &["omit --quantise"],
        "ExportCoarse" => &["fit --sigma", "omit --quantise"],
        _ => return None,
    }))
}
