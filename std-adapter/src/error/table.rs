//! Errors in reading a file of rows.
//!
//! Lines, rows and columns count from 1. A message says what is wrong, where, and what to do.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// An error in reading a file of rows.
#[derive(Debug, thiserror::Error)]
#[error("{}{place}: {problem}", Shown(path))]
pub(crate) struct TableError {
    /// The file; `-` is standard input.
    pub(crate) path: PathBuf,
    /// Where in the file.
    pub(crate) place: Place,
    /// What is wrong there.
    #[source]
    pub(crate) problem: TableProblem,
}

impl TableError {
    /// Create an error about a file as a whole.
    pub(crate) fn new(path: impl Into<PathBuf>, problem: TableProblem) -> Self {
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
pub(crate) enum Place {
    /// The file as a whole.
    Whole,
    /// A line of text.
    Line(u64),
    /// A field of a line: the line, the column and the column's name.
    Field(u64, usize, Box<str>),
    /// An entry of an array: the row and the column.
    Entry(u64, u64),
    /// A cell of a table in memory: the row, from 0, and the column's name.
    Cell(u64, Box<str>),
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Field(line, number, column) => write!(f, ", line {line}, column {number} ({column:?})"),
            Self::Entry(row, number) => write!(f, ", row {row}, column {number}"),
            Self::Cell(row, column) => write!(f, ", row {row}, column {column:?}"),
        }
    }
}

/// What is wrong with a file of rows, and what to do. Names and values are cut to forty characters.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TableProblem {
    /// The file cannot be opened.
    #[error("cannot be opened: {0}; {advice}", advice = advice(.0, "check the path"))]
    Open(#[source] io::Error),
    /// The receiver of the rows stopped reading.
    #[error("reading was stopped")]
    Stopped,
    /// The path is a directory.
    #[error("is a directory; name a file in it")]
    Directory,
    /// Reading failed after the file was opened.
    #[error("reading failed: {0}; {advice}", advice = advice(.0, "check the disk or the pipe and try again"))]
    Read(#[source] io::Error),
    /// The gzip data is damaged or truncated.
    #[error("damaged gzip data: {0}; fetch or compress the file again")]
    Gzip(#[source] io::Error),
    /// The data of a zip archive is damaged.
    #[error("damaged zip data: {0}; fetch or compress the file again")]
    Zip(#[source] io::Error),
    /// A zip archive or a workbook that cannot be read.
    #[error("the archive cannot be read: {0}; fetch it again, or extract its file and give that")]
    Archive(String),
    /// A zip archive of another number of files than one.
    #[error(
        "{}; extract the one with the rows and give that",
        if files.is_empty() { "there is no file in the archive".to_owned() }
        else { format!("there are {} files in the archive, {}", files.len(), List(files)) }
    )]
    Files {
        /// Their names.
        files: Vec<String>,
    },
    /// A sheet that is not there.
    #[cfg(feature = "xlsx")]
    #[error(
        "{}; the sheets are {}",
        wanted.as_ref().map_or("there is no sheet that is not hidden".to_owned(), |name| format!("no sheet is called {}", Quoted(name))),
        List(sheets)
    )]
    Sheet {
        /// Its name.
        wanted: Option<String>,
        /// The names of those that are there.
        sheets: Vec<String>,
    },
    /// A sheet of a file without sheets.
    #[error("has no sheets, and the sheet {0:?} is asked for; do not name a sheet")]
    NoSheets(String),
    /// A value of JSON lines that is an object or a list.
    #[error(
        "the value of {0:?} is an object or a list; write numbers, words, true, false or null, with a key for each"
    )]
    Nested(String),
    /// An unsupported file format.
    #[error(
        "{found} is not a supported format; {}convert it to {formats} (each may be gzipped)",
        if found.to_ascii_lowercase().ends_with("parquet") { "read it with the command dpp-nystrom-cluster, or " } else { "" }
    )]
    Format {
        /// The format.
        found: String,
        /// Those that are read.
        formats: &'static str,
    },
    /// An empty file, or one with blank lines and comments only.
    #[error("the file is empty; give one with at least one row of numbers")]
    Empty,
    /// A header without rows.
    #[error("there are no rows after the header; add at least one row of numbers")]
    HeaderAlone,
    /// A row with too few or too many fields.
    #[error(
        "expected {expected} fields, found {found}; complete the row, or check the delimiter and the quotes"
    )]
    RaggedRow {
        /// Fields in the rows before.
        expected: usize,
        /// Fields in this row.
        found: usize,
    },
    /// A first line of one field before lines of several.
    #[error(
        "one field, and the next line has {found}: delete the line or begin it with # if it is a title, else check the delimiter and \
         the quotes"
    )]
    Title {
        /// Fields of the next line.
        found: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("the text is not UTF-8; save the file with UTF-8 encoding")]
    NotUtf8,
    /// A text that cannot be in the encoding of what comes before it.
    #[error(
        "line {line} cannot be {encoding}, the encoding of the text before it; save the file with UTF-8 encoding"
    )]
    Encoding {
        /// The encoding.
        encoding: &'static str,
        /// The line, from 1.
        line: u64,
    },
    /// A NUL in a text.
    #[error(
        "line {line} has a NUL (a zero byte): the file is damaged, or in a format or an encoding that is not recognised; save it as \
         text with UTF-8 encoding"
    )]
    Nul {
        /// The line, from 1.
        line: u64,
    },
    /// Sparse rows that take much more memory than what is written of them.
    #[error(
        "{rows} sparse rows of {features} features would take {:.1} GB, nearly all of it zeros, and pass the limit sparse = {limit} \
         numbers; use fewer features or rows, write them to a row store, or raise the limit",
        *rows as f64 * *features as f64 * 8e-9
    )]
    Sparse {
        /// The rows.
        rows: usize,
        /// The features that are used.
        features: u64,
        /// The limit of numbers.
        limit: u64,
    },
    /// A first row that may be a header or not.
    #[error("the first row may hold the names of the columns, or numbers and words; say which it is")]
    Header,
    /// An entry of a LIBSVM row that is malformed or out of order.
    #[error("{0:?} is not an entry of a LIBSVM row; write label index:value ..., the indices ascending")]
    Libsvm(String),
    /// A limit that the file passes: its name, and its value.
    #[error("passes the limit {name} = {limit}, see Limits; raise it if the file is as it should be")]
    Limit {
        /// The limit's name in [`Limits`](crate::data::table::Limits).
        name: &'static str,
        /// Its value.
        limit: u64,
    },
    /// A column of words with too many levels.
    #[error(
        "the column {column:?} has more than {limit} different words, {example:?} among them, each of which would become a feature; \
         ignore it, or raise the limit"
    )]
    TooManyLevels {
        /// The column.
        column: String,
        /// One of its words.
        example: Box<str>,
        /// The limit of levels.
        limit: u64,
    },
    /// A target with too many classes.
    #[error(
        "the target {column:?} has more than {limit} classes, {example:?} among them; choose another column, learn numbers as numbers, or raise the limit"
    )]
    TooManyClasses {
        /// The column.
        column: String,
        /// One of them.
        example: Box<str>,
        /// The limit of classes.
        limit: u64,
    },
    /// A feature column without any value.
    #[error("the column {0:?} has no value in any row; ignore it")]
    EmptyColumn(String),
    /// Rows with gaps, to be left out, that are all or, unless that is allowed, most.
    #[error(
        "{dropped} of {rows} rows have gaps and would be left out, most of them for gaps in {}; fill the gaps, ignore these columns, or \
         name what stands for a missing value{}",
        Gaps(columns),
        if dropped < rows { ", or allow the loss" } else { "" }
    )]
    Dropped {
        /// The rows with gaps.
        dropped: u64,
        /// The rows, but for those of weight 0.
        rows: u64,
        /// The columns with gaps and the number of their rows, the most first.
        columns: Vec<(String, u64)>,
    },
    /// A negative weight, as written.
    #[error("the weight {0:?} is negative: expected a number, at least 0; a row of weight 0 is left out")]
    NegativeWeight(String),
    /// Weights of which none is positive.
    #[error(
        "no row is left: all weights are 0, or the other rows have gaps; give some rows a positive weight"
    )]
    NoRowWithWeight,
    /// Words or gaps to be filled in what can be read once only.
    #[error(
        "words and gaps to be filled take two passes over the rows; give a file in place of standard input"
    )]
    TwoPasses,
    /// Text where a number is expected.
    #[error(
        "{0:?} is not a number; write numbers like -1.5e3, or correct it or remove it: the column is one of \
         numbers, as its first value or the model says"
    )]
    NotANumber(String),
    /// A number with commas at the beginning of a column.
    #[error(
        "{0:?} is a number with a comma: say whether the comma is the decimal point or the point is, remove it if it separates thousands, \
         or say that the column holds words"
    )]
    Commas(String),
    /// A field that is not written as the others of its column.
    #[error(
        "{0:?} is not written as the column's values were in training, with their unit, or as a date; write it so, or leave it empty"
    )]
    Unread(String),
    /// Dates of which the day or the month may come first.
    #[error(
        "the dates of the column {column:?}, such as {example:?}, may begin with the day or with the month; say which it is, or that the \
         column holds words"
    )]
    DateOrder {
        /// The column.
        column: String,
        /// One of them.
        example: Box<str>,
    },
    /// A number with a point where the comma is the decimal point.
    #[error(
        "{0:?} has a point, and the comma is the decimal point: remove points that separate thousands, or do not say that numbers have \
         a decimal comma"
    )]
    Point(String),
    /// A column that begins with a word, while most of its different values are numbers.
    #[error(
        "the column {column:?} begins with the word {word:?}, and most of its different values are numbers: correct that value or leave it empty, \
         or say that the column holds words"
    )]
    NumbersAsWords {
        /// The column.
        column: String,
        /// The word.
        word: Box<str>,
    },
    /// A column in two roles.
    #[error("the column {column:?} is named twice, as {one} and as {other}; name it once")]
    TwoRoles {
        /// The column.
        column: Box<str>,
        /// A role.
        one: &'static str,
        /// Another.
        other: &'static str,
    },
    /// A label of a class with a line break in it.
    #[error("the label {0:?} has a line break; close its quote, or take the break out")]
    LabelBreak(String),
    /// A missing value: empty, `?` or `NA`.
    #[error("the value is missing ({0:?}); fill it in, or remove the row or the column")]
    Missing(String),
    /// NaN, an infinity, or a number out of the range of `f64`, as text.
    #[error("{0:?} is not a finite number; replace it, or remove the row or the column")]
    NotFiniteValue(String),
    /// NaN or an infinity in an NPY array.
    #[error("{0} is not a finite number; replace it, or remove the row or the column")]
    NotFiniteEntry(String),
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
    /// No column with this name, among these.
    #[error("no column is called {name}; choose among {}", List(columns))]
    UnknownColumn {
        /// The name.
        name: Box<Misnamed>,
        /// The names of the columns.
        columns: Vec<String>,
    },
    /// Several columns where one is expected.
    #[error("{0:?} names several columns: expected one")]
    SeveralColumns(String),
    /// A column index past the last column.
    #[error("there is no column {index}: the file has {columns} columns, counted from 0")]
    ColumnIndex {
        /// The index, from 0.
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
    /// A malformed file.
    #[error("malformed {format}: {problem}")]
    Malformed {
        /// The format.
        format: &'static str,
        /// The violated rule, and what to write instead.
        problem: &'static str,
    },
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
    FeatureCount {
        /// Features of the model.
        expected: usize,
        /// Columns of the file, a nominal attribute counted once per value.
        found: usize,
    },
    /// Some of the model's features are missing from the file.
    #[error("the model's features {} are not among the columns; add or rename these", List(.0))]
    MissingFeatures(Vec<Misnamed>),
    /// A feature of the model that is to identify rows.
    #[error("the column {0:?} is a feature of the model; rows are identified by columns that are none")]
    FeatureAsId(String),
    /// Columns that the model does not know.
    #[error("the columns {} are not the model's; remove, rename or ignore them", List(.0))]
    SuperfluousColumns(Vec<Misnamed>),
    /// Names in the model or in the file alone.
    #[error(
        "{}; columns are taken by position only where neither has names, or if asked to",
        if *model { "the model's columns have names, and the file's have none: add a header" }
        else { "the file's columns have names, and the model was fitted to columns without" }
    )]
    Nameless {
        /// Whether the model has names.
        model: bool,
    },
}

impl TableProblem {
    /// Return the name of the column that it is about.
    pub(crate) fn column(&self) -> Option<&str> {
        match self {
            Self::TooManyLevels { column, .. }
            | Self::TooManyClasses { column, .. }
            | Self::EmptyColumn(column)
            | Self::NumbersAsWords { column, .. }
            | Self::DateOrder { column, .. }
            | Self::DuplicateColumn { name: column, .. }
            | Self::UnknownTarget { name: column, .. }
            | Self::NominalTarget(column)
            | Self::AttributeType { column, .. }
            | Self::SeveralColumns(column)
            | Self::Nested(column)
            | Self::FeatureAsId(column) => Some(column),
            Self::TwoRoles { column, .. } => Some(column),
            Self::UnknownColumn { name, .. } => Some(&name.name),
            _ => None,
        }
    }

    /// Return the value as it is written, or the name of the limit.
    pub(crate) fn subject(&self) -> Option<&str> {
        match self {
            Self::Format { found: text, .. }
            | Self::Libsvm(text)
            | Self::NegativeWeight(text)
            | Self::NotANumber(text)
            | Self::Commas(text)
            | Self::Point(text)
            | Self::Unread(text)
            | Self::LabelBreak(text)
            | Self::Missing(text)
            | Self::NotFiniteValue(text)
            | Self::NotFiniteEntry(text)
            | Self::UndeclaredValue(text)
            | Self::UnseenValue(text)
            | Self::NpyShape(text)
            | Self::NpyType(text) => Some(text),
            Self::NumbersAsWords { word, .. } => Some(word),
            Self::Limit { name, .. } => Some(name),
            _ => None,
        }
    }

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

/// A name that does not match, and the nearest that is not matched either, if one is near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misnamed {
    /// The name.
    pub(crate) name: String,
    /// The nearest other.
    pub(crate) nearest: Option<String>,
}

impl Misnamed {
    /// Find the nearest of these names: the same in another case, or with the fewest edits, at most a third
    /// of the name.
    pub(crate) fn among(name: &str, names: &[String]) -> Self {
        let lower = |name: &str| name.trim().to_lowercase().chars().take(64).collect::<Vec<char>>();
        let own = lower(name);
        let distances = names.iter().take(1_000).map(|other| (edits(&own, &lower(other)), other));
        let near = distances.filter(|(edits, other)| 3 * edits <= own.len() && *other != name);
        let nearest = near.min_by_key(|near| near.0).map(|near| near.1.clone());
        Self { name: name.to_owned(), nearest }
    }
}

/// Return the number of characters to insert, remove or replace.
fn edits(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

impl Display for Misnamed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", cut(&self.name))?;
        self.nearest.as_ref().map_or(Ok(()), |nearest| write!(f, " (nearest: {:?})", cut(nearest)))
    }
}

struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", cut(self.0))
    }
}

/// Displays columns and in how many rows each has a gap: the first three.
struct Gaps<'a>(&'a [(String, u64)]);

impl Display for Gaps<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, (column, rows)) in self.0.iter().take(3).enumerate() {
            write!(f, "{}{:?} ({rows})", if at == 0 { "" } else { ", " }, cut(column))?;
        }
        Ok(())
    }
}

struct List<'a, T>(&'a [T]);

impl Display for List<'_, Misnamed> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        listed(self.0.iter(), f)
    }
}

impl Display for List<'_, String> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        listed(self.0.iter().map(|name| Quoted(name)), f)
    }
}

fn listed(items: impl ExactSizeIterator<Item = impl Display>, f: &mut Formatter<'_>) -> fmt::Result {
    const SHOWN: usize = 12;
    let more = items.len().saturating_sub(SHOWN);
    for (i, item) in items.take(SHOWN).enumerate() {
        write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
    }
    if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
}

/// Return what to do about an error of the operating system: what its kind asks for, or `otherwise`.
fn advice(source: &io::Error, otherwise: &'static str) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "check the spelling and the folder",
        io::ErrorKind::PermissionDenied => "check its permissions",
        io::ErrorKind::OutOfMemory => "free memory, or raise the limit on address space (ulimit -v)",
        _ => otherwise,
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
        for (kind, advice) in [
            (io::ErrorKind::NotFound, "check the spelling and the folder"),
            (io::ErrorKind::PermissionDenied, "check its permissions"),
            (io::ErrorKind::OutOfMemory, "(ulimit -v)"),
            (io::ErrorKind::TimedOut, "check the path"),
        ] {
            assert!(message(kind).ends_with(advice), "{}", message(kind));
        }
        let reading = TableError::new("-", TableProblem::Read(io::ErrorKind::OutOfMemory.into()));
        assert!(reading.to_string().ends_with("(ulimit -v)"), "{reading}");
        assert!(message(io::ErrorKind::NotFound).starts_with("standard input: "));
    }
}
