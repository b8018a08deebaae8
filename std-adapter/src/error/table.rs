//! What can go wrong around a file, and where.
//!
//! Lines, rows and column numbers count from 1. A message says what is wrong, where, and what to do about it.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Everything that can go wrong around a file.
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
    /// Whoever received the rows wanted no more.
    #[error("reading was stopped")]
    Stopped,
    /// The path is a directory.
    #[error("{}: is a directory; name a file in it", Shown(path))]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// Reading stopped half-way.
    #[error("{}: reading failed: {source}; check the disk or the pipe and try again", Shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The gzip layer is damaged or cut short.
    #[error("{}: damaged gzip data: {source}; fetch or compress the file again", Shown(path))]
    Gzip {
        /// The file.
        path: PathBuf,
        /// What the decoder met.
        source: io::Error,
    },
    /// The file has a format that is not read here.
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
    /// Nothing, or nothing but blank lines and comments.
    #[error("{}: the file is empty; give one with at least one row of numbers", Shown(path))]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Names or declarations, but no rows.
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
        /// Fields the rows before it have.
        expected: usize,
        /// Fields this one has.
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
    /// Text where a number belongs.
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
    /// An absent value: empty, `?` or `NA`.
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
        /// How the file marks the absence.
        text: String,
    },
    /// NaN, an infinity, or a number too large for a double.
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
    /// NaN or an infinity in an array, which has rows but no lines.
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
    /// Two columns of one name.
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
    /// No column has the target's name.
    #[error("{}: no column is called {name:?}; choose the target among {}", Shown(path), List(columns))]
    UnknownTarget {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        name: String,
        /// The names there are.
        columns: Vec<String>,
    },
    /// The target's index lies beyond the last column.
    #[error(
        "{}: there is no target column {index}: the file has {columns} columns, counted from 0; choose a smaller index",
        Shown(path)
    )]
    TargetIndex {
        /// The file.
        path: PathBuf,
        /// The index asked for, counted from 0.
        index: usize,
        /// How many columns there are.
        columns: usize,
    },
    /// The target is a nominal attribute.
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
    /// Nothing is left beside the target.
    #[error(
        "{}: no feature column is left; give a file with more columns, or choose the target `none`",
        Shown(path)
    )]
    NoFeatures {
        /// The file.
        path: PathBuf,
    },
    /// The ARFF text breaks the format's rules.
    #[error("{}, line {line}: malformed ARFF: {problem}", Shown(path))]
    Arff {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// Which rule, and what to write instead.
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
    /// A nominal value its attribute does not declare.
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
    /// A nominal value the file declares and the model has never seen.
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
    /// The NPY header breaks the format's rules.
    #[error("{}: malformed NPY: {problem}; write the array again with numpy.save", Shown(path))]
    Npy {
        /// The file.
        path: PathBuf,
        /// Which rule.
        problem: &'static str,
    },
    /// An array that is not a matrix.
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
    /// An array of something other than plain numbers.
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
    /// An array that ends before its header says.
    #[error(
        "{}: the header promises {rows} x {columns} values, and the data ends after {found}; fetch or save the file again",
        Shown(path)
    )]
    NpyTruncated {
        /// The file.
        path: PathBuf,
        /// Rows promised.
        rows: u64,
        /// Columns promised.
        columns: u64,
        /// Whole values read.
        found: u64,
    },
    /// The file's columns are not as many as the model's features.
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
        /// Columns of the file, nominal attributes counted once for each value.
        found: usize,
    },
    /// The file has some of the model's features by name and lacks others.
    #[error(
        "{}: the model's features {} are not in the file; add or rename these columns",
        Shown(path),
        List(missing)
    )]
    MissingFeatures {
        /// The file.
        path: PathBuf,
        /// The names that were not found.
        missing: Vec<String>,
    },
}

/// `-` is how standard input is asked for, not what a reader of the message calls it.
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

/// The first forty characters: a message must stay readable whatever the file holds.
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
