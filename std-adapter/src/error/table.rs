//! Errors in reading a file of rows.
//!
//! Lines, rows and columns count from 1. A message says what is wrong, where, and what to do.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// An error in reading a file of rows.
///
/// ```
/// use dpp_nystrom::data::table;
/// use dpp_nystrom::error::TableProblem;
///
/// let missing = table::read("no such file.csv".as_ref(), &table::Target::Last);
/// assert!(matches!(missing.unwrap_err().problem, TableProblem::Open(_)));
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{}{place}: {problem}", Shown(path))]
pub struct TableError {
    /// The file; `-` is standard input.
    pub path: PathBuf,
    /// Where in the file.
    pub place: Place,
    /// What is wrong there.
    pub problem: TableProblem,
}

impl TableError {
    /// Create an error about a file as a whole.
    pub fn new(path: impl Into<PathBuf>, problem: TableProblem) -> Self {
        Self { path: path.into(), place: Place::Whole, problem }
    }
}

/// A problem of a file whose path is filled in where the file was opened.
impl From<TableProblem> for TableError {
    fn from(problem: TableProblem) -> Self {
        Self::new("", problem)
    }
}

/// A place in a file of rows. Lines, rows and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line of text.
    Line(u64),
    /// A field of a line: the line, the column and the column's name.
    Field(u64, usize, Box<str>),
    /// An entry of an array: the row and the column.
    Entry(u64, u64),
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Field(line, number, column) => write!(f, ", line {line}, column {number} ({column:?})"),
            Self::Entry(row, number) => write!(f, ", row {row}, column {number}"),
        }
    }
}

/// What is wrong with a file of rows, and what to do. Names and values are cut to forty characters.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableProblem {
    /// The file cannot be opened.
    #[error("cannot be opened: {0}; {advice}", advice = advice(.0))]
    Open(io::Error),
    /// The receiver of the rows stopped reading.
    #[error("reading was stopped")]
    Stopped,
    /// The path is a directory.
    #[error("is a directory; name a file in it")]
    Directory,
    /// Reading failed after the file was opened.
    #[error("reading failed: {0}; check the disk or the pipe and try again")]
    Read(io::Error),
    /// The gzip data is damaged or truncated.
    #[error("damaged gzip data: {0}; fetch or compress the file again")]
    Gzip(io::Error),
    /// An unsupported file format.
    #[error("{0} is not a supported format; convert it to CSV, TSV, ARFF or NPY (each may be gzipped)")]
    Format(String),
    /// An empty file, or one with blank lines and comments only.
    #[error("the file is empty; give one with at least one row of numbers")]
    Empty,
    /// A header without rows.
    #[error("there are no rows after the header; add at least one row of numbers")]
    NoRows,
    /// A row with too few or too many fields.
    #[error(
        "expected {expected} fields, found {found}; complete the row, or check the delimiter and the quotes"
    )]
    Ragged {
        /// Fields in the rows before.
        expected: usize,
        /// Fields in this row.
        found: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("the text is not UTF-8; save the file with UTF-8 encoding")]
    NotUtf8,
    /// Text where a number is expected.
    #[error(
        "{0:?} is not a number; write numbers like -1.5e3. \
         Text columns are read from ARFF only (nominal attributes): encode this one as numbers or remove it"
    )]
    NotANumber(String),
    /// A missing value: empty, `?` or `NA`.
    #[error("the value is missing ({0:?}); fill it in, or remove the row or the column")]
    Missing(String),
    /// NaN, an infinity, or a number out of the range of `f64`, as text.
    #[error("{0:?} is not a finite number; replace it, or remove the row or the column")]
    NotFinite(String),
    /// NaN or an infinity in an NPY array.
    #[error("{0} is not a finite number; replace it, or remove the row or the column")]
    NotFiniteEntry(f64),
    /// Two columns with the same name.
    #[error("columns {first} and {second} are both called {name:?}; rename one of them")]
    DuplicateColumn {
        /// The name.
        name: String,
        /// The first of them, counted from 1.
        first: usize,
        /// The second of them, counted from 1.
        second: usize,
    },
    /// No column with the target's name.
    #[error("no column is called {name:?}; choose the target among {}", List(columns))]
    UnknownTarget {
        /// The target's name.
        name: String,
        /// The names of the columns.
        columns: Vec<String>,
    },
    /// A target index past the last column.
    #[error(
        "there is no target column {index}: the file has {columns} columns, counted from 0; choose a smaller index"
    )]
    TargetIndex {
        /// The target's index, from 0.
        index: usize,
        /// The number of columns.
        columns: usize,
    },
    /// A nominal target, declared in the line.
    #[error("the target {0:?} is nominal, and regression needs a numeric target; choose another column")]
    NominalTarget(String),
    /// No column other than the target.
    #[error("no feature column is left; give a file with more columns, or choose the target `none`")]
    NoFeatures,
    /// Malformed ARFF: the violated rule, and what to write instead.
    #[error("malformed ARFF: {0}")]
    Arff(&'static str),
    /// A sparse ARFF row.
    #[error("sparse ARFF rows ({{index value, ...}}) are not supported; write every value")]
    SparseArff,
    /// An ARFF attribute that is neither numeric nor nominal.
    #[error(
        "attribute {column:?} has type {kind:?}; only numeric (real, integer) and nominal {{a, b}} attributes \
         can be used: remove or convert it"
    )]
    AttributeType {
        /// The attribute.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A nominal value that its attribute does not declare.
    #[error("the value {0:?} is not declared; correct it, or add it to the @attribute line")]
    UndeclaredValue(String),
    /// A nominal value that the model was not fitted with.
    #[error(
        "the model was fitted without the value {0:?}; remove the row, or fit the model again with such rows"
    )]
    UnseenValue(String),
    /// A malformed NPY header: the violated rule.
    #[error("malformed NPY: {0}; write the array again with numpy.save")]
    Npy(&'static str),
    /// An array that is not two-dimensional: its shape as written.
    #[error("the array has shape {0}, and a table needs two dimensions; save array.reshape(rows, columns)")]
    NpyShape(String),
    /// An array of an unsupported type, as written.
    #[error(
        "the array's type {0} is not supported; save array.astype('f8') (f4, f8, booleans and integers are read)"
    )]
    NpyType(String),
    /// An array shorter than its header declares.
    #[error(
        "the header declares {rows} x {columns} values, but the data ends after {found}; fetch or save the file again"
    )]
    NpyTruncated {
        /// Rows declared.
        rows: u64,
        /// Columns declared.
        columns: u64,
        /// Whole values read.
        found: u64,
    },
    /// The number of columns differs from the model's number of features.
    #[error(
        "the model needs {expected} feature columns, and the file has {found}; \
         give the columns the model was fitted on"
    )]
    Length {
        /// Features of the model.
        expected: usize,
        /// Columns of the file, a nominal attribute counted once per value.
        found: usize,
    },
    /// Some of the model's features are missing from the file.
    #[error("the model's features {} are not in the file; add or rename these columns", List(.0))]
    MissingFeatures(Vec<String>),
}

impl TableProblem {
    /// Locate the problem in a line.
    pub(crate) fn at_line(self, line: u64) -> TableError {
        TableError { path: PathBuf::new(), place: Place::Line(line), problem: self }
    }
}

/// Displays a path, and `-` as standard input.
struct Shown<'a>(&'a Path);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.as_os_str() == "-" { f.write_str("standard input") } else { self.0.display().fmt(f) }
    }
}

struct List<'a>(&'a [String]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 12;
        for (i, name) in self.0.iter().take(SHOWN).enumerate() {
            write!(f, "{}{:?}", if i == 0 { "" } else { ", " }, cut(name))?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "check the spelling and the folder",
        io::ErrorKind::PermissionDenied => "check its permissions",
        _ => "check the path",
    }
}

/// Return the first forty characters, so that a message stays readable whatever the file contains.
pub(crate) fn cut(text: &str) -> String {
    const KEPT: usize = 40;
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{TableError, TableProblem, cut};
    use std::io;

    #[test]
    fn long_text_and_long_lists_are_cut() {
        assert_eq!(cut(&"é".repeat(41)), format!("{}...", "é".repeat(40)));
        assert_eq!(cut(&"é".repeat(40)), "é".repeat(40));
        let columns = (0..20).map(|i| format!("c{i}")).collect();
        let problem = TableProblem::UnknownTarget { name: "y".into(), columns };
        let text = TableError::new("a.csv", problem).to_string();
        assert!(text.starts_with("a.csv: no column is called \"y\""), "{text}");
        assert!(text.ends_with("\"c11\" and 8 more"), "{text}");
    }

    #[test]
    fn opening_advice_depends_on_the_cause() {
        let message = |kind: io::ErrorKind| TableError::new("-", TableProblem::Open(kind.into())).to_string();
        assert!(message(io::ErrorKind::NotFound).ends_with("check the spelling and the folder"));
        assert!(message(io::ErrorKind::PermissionDenied).ends_with("check its permissions"));
        assert!(message(io::ErrorKind::NotFound).starts_with("standard input: "));
    }
}
