//! Errors in reading a file of rows.
//!
//! Lines, rows and columns count from 1. A message says what is wrong, where, and what to do.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Any error in reading a file of rows.
///
/// ```
/// use dpp_nystrom::data::table;
/// use dpp_nystrom::error::TableError;
///
/// let missing = table::read("no such file.csv".as_ref(), &table::Target::Last);
/// assert!(matches!(missing, Err(TableError::Open { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be opened.
    #[error("{}: cannot be opened: {source}; {}", Shown(path), advice(source))]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The receiver of the rows stopped reading.
    #[error("reading was stopped")]
    Stopped,
    /// The path is a directory.
    #[error("{}: is a directory; name a file in it", Shown(path))]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// Reading failed after the file was opened.
    #[error("{}: reading failed: {source}; check the disk or the pipe and try again", Shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The gzip data is damaged or truncated.
    #[error("{}: damaged gzip data: {source}; fetch or compress the file again", Shown(path))]
    Gzip {
        /// The file.
        path: PathBuf,
        /// The decoder's error.
        source: io::Error,
    },
    /// An unsupported file format.
    #[error(
        "{}: {found} is not a supported format; convert it to CSV, TSV, ARFF or NPY (each may be gzipped)",
        Shown(path)
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// The format it has.
        found: String,
    },
    /// An empty file, or one with blank lines and comments only.
    #[error("{}: the file is empty; give one with at least one row of numbers", Shown(path))]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A header without rows.
    #[error("{}: there are no rows after the header; add at least one row of numbers", Shown(path))]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// A row with too few or too many fields.
    #[error(
        "{}, line {line}: expected {expected} fields, found {found}; complete the row, \
         or check the delimiter and the quotes",
        Shown(path)
    )]
    Ragged {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// Fields in the rows before.
        expected: usize,
        /// Fields in this row.
        found: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("{}, line {line}: the text is not UTF-8; save the file with UTF-8 encoding", Shown(path))]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
    },
    /// Text where a number is expected.
    #[error(
        "{}, line {line}, column {number} ({column:?}): {text:?} is not a number; write numbers like -1.5e3. \
         Text columns are read from ARFF only (nominal attributes): encode this one as numbers or remove it",
        Shown(path)
    )]
    NotANumber {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The column, counted from 1.
        number: usize,
        /// The column's name.
        column: String,
        /// The text, cut to forty characters.
        text: String,
    },
    /// A missing value: empty, `?` or `NA`.
    #[error(
        "{}, line {line}, column {number} ({column:?}): the value is missing ({text:?}); fill it in, \
         or remove the row or the column",
        Shown(path)
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The column, counted from 1.
        number: usize,
        /// The column's name.
        column: String,
        /// The marker in the file.
        text: String,
    },
    /// NaN, an infinity, or a number out of the range of `f64`.
    #[error(
        "{}, line {line}, column {number} ({column:?}): {text:?} is not a finite number; replace it, \
         or remove the row or the column",
        Shown(path)
    )]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The column, counted from 1.
        number: usize,
        /// The column's name.
        column: String,
        /// The text, cut to forty characters.
        text: String,
    },
    /// NaN or an infinity in an NPY array.
    #[error(
        "{}, row {row}, column {number}: {value} is not a finite number; replace it, or remove the row or the column",
        Shown(path)
    )]
    NotFiniteEntry {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1.
        row: u64,
        /// The column, counted from 1.
        number: u64,
        /// The entry.
        value: f64,
    },
    /// Two columns with the same name.
    #[error("{}: columns {first} and {second} are both called {name:?}; rename one of them", Shown(path))]
    DuplicateColumn {
        /// The file.
        path: PathBuf,
        /// The name, cut to forty characters.
        name: String,
        /// The first of them, counted from 1.
        first: usize,
        /// The second of them, counted from 1.
        second: usize,
    },
    /// No column with the target's name.
    #[error("{}: no column is called {name:?}; choose the target among {}", Shown(path), List(columns))]
    UnknownTarget {
        /// The file.
        path: PathBuf,
        /// The target's name.
        name: String,
        /// The names of the columns.
        columns: Vec<String>,
    },
    /// A target index past the last column.
    #[error(
        "{}: there is no target column {index}: the file has {columns} columns, counted from 0; choose a smaller index",
        Shown(path)
    )]
    TargetIndex {
        /// The file.
        path: PathBuf,
        /// The target's index, from 0.
        index: usize,
        /// The number of columns.
        columns: usize,
    },
    /// A nominal target.
    #[error(
        "{}, line {line}: the target {column:?} is nominal, and regression needs a numeric target; choose another column",
        Shown(path)
    )]
    NominalTarget {
        /// The file.
        path: PathBuf,
        /// The line that declares the attribute.
        line: u64,
        /// The attribute.
        column: String,
    },
    /// No column other than the target.
    #[error(
        "{}: no feature column is left; give a file with more columns, or choose the target `none`",
        Shown(path)
    )]
    NoFeatures {
        /// The file.
        path: PathBuf,
    },
    /// Malformed ARFF.
    #[error("{}, line {line}: malformed ARFF: {problem}", Shown(path))]
    Arff {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The violated rule, and what to write instead.
        problem: &'static str,
    },
    /// A sparse ARFF row.
    #[error(
        "{}, line {line}: sparse ARFF rows ({{index value, ...}}) are not supported; write every value",
        Shown(path)
    )]
    SparseArff {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
    },
    /// An ARFF attribute that is neither numeric nor nominal.
    #[error(
        "{}, line {line}: attribute {column:?} has type {kind:?}; only numeric (real, integer) and nominal {{a, b}} \
         attributes can be used: remove or convert it",
        Shown(path)
    )]
    AttributeType {
        /// The file.
        path: PathBuf,
        /// The line that declares the attribute.
        line: u64,
        /// The attribute.
        column: String,
        /// Its type, cut to forty characters.
        kind: String,
    },
    /// A nominal value that its attribute does not declare.
    #[error(
        "{}, line {line}, column {number} ({column:?}): the value {text:?} is not declared; correct it, \
         or add it to the @attribute line",
        Shown(path)
    )]
    UndeclaredValue {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The column, counted from 1.
        number: usize,
        /// The attribute.
        column: String,
        /// The value, cut to forty characters.
        text: String,
    },
    /// A nominal value that the model was not fitted with.
    #[error(
        "{}, line {line}, column {number} ({column:?}): the model was fitted without the value {text:?}; \
         remove the row, or fit the model again with such rows",
        Shown(path)
    )]
    UnseenValue {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The column, counted from 1.
        number: usize,
        /// The attribute.
        column: String,
        /// The value, cut to forty characters.
        text: String,
    },
    /// A malformed NPY header.
    #[error("{}: malformed NPY: {problem}; write the array again with numpy.save", Shown(path))]
    Npy {
        /// The file.
        path: PathBuf,
        /// The violated rule.
        problem: &'static str,
    },
    /// An array that is not two-dimensional.
    #[error(
        "{}: the array has shape {shape}, and a table needs two dimensions; save array.reshape(rows, columns)",
        Shown(path)
    )]
    NpyShape {
        /// The file.
        path: PathBuf,
        /// Its shape as written, cut to forty characters.
        shape: String,
    },
    /// An array of an unsupported type.
    #[error(
        "{}: the array's type {dtype} is not supported; save array.astype('f8') \
         (f4, f8, booleans and integers are read)",
        Shown(path)
    )]
    NpyType {
        /// The file.
        path: PathBuf,
        /// Its type as written, cut to forty characters.
        dtype: String,
    },
    /// An array shorter than its header declares.
    #[error(
        "{}: the header declares {rows} x {columns} values, but the data ends after {found}; fetch or save the file again",
        Shown(path)
    )]
    NpyTruncated {
        /// The file.
        path: PathBuf,
        /// Rows declared.
        rows: u64,
        /// Columns declared.
        columns: u64,
        /// Whole values read.
        found: u64,
    },
    /// The number of columns differs from the model's number of features.
    #[error(
        "{}: the model needs {expected} feature columns, and the file has {found}; \
         give the columns the model was fitted on",
        Shown(path)
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// Features of the model.
        expected: usize,
        /// Columns of the file, a nominal attribute counted once per value.
        found: usize,
    },
    /// Some of the model's features are missing from the file.
    #[error(
        "{}: the model's features {} are not in the file; add or rename these columns",
        Shown(path),
        List(missing)
    )]
    MissingFeatures {
        /// The file.
        path: PathBuf,
        /// The missing names.
        missing: Vec<String>,
    },
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
    use super::{TableError, cut};
    use std::io;

    #[test]
    fn long_text_and_long_lists_are_cut() {
        assert_eq!(cut(&"é".repeat(41)), format!("{}...", "é".repeat(40)));
        assert_eq!(cut(&"é".repeat(40)), "é".repeat(40));
        let columns = (0..20).map(|i| format!("c{i}")).collect();
        let error = TableError::UnknownTarget { path: "a.csv".into(), name: "y".into(), columns };
        let text = error.to_string();
        assert!(text.starts_with("a.csv: no column is called \"y\""), "{text}");
        assert!(text.ends_with("\"c11\" and 8 more"), "{text}");
    }

    #[test]
    fn opening_advice_depends_on_the_cause() {
        let message =
            |kind: io::ErrorKind| TableError::Open { path: "-".into(), source: kind.into() }.to_string();
        assert!(message(io::ErrorKind::NotFound).ends_with("check the spelling and the folder"));
        assert!(message(io::ErrorKind::PermissionDenied).ends_with("check its permissions"));
        assert!(message(io::ErrorKind::NotFound).starts_with("standard input: "));
    }
}
