//! The input of a reader with its origin, and the table that it returns.

use crate::data::scaler::power_of_two;
use crate::data::table::encoding::Undecodable;
use crate::data::table::options::Options;
use crate::data::table::recipe::Recipe;
use crate::data::weights::Weights;
use crate::error::table::TableProblem;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Display, Formatter};
use std::io::{self, BufReader, Read};
use std::rc::Rc;

/// The rows of one file.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use dpp_nystrom::data::table;
/// use dpp_nystrom::data::table::Target;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "rooms,area,price\n3,70,210\n4,95,300\n")?;
///
/// let table = table::read(&path, &Target::Last)?;
/// assert_eq!(table.name, "houses");
/// assert_eq!(table.row(1), [4.0, 95.0]);
/// assert_eq!(table.target, Some(vec![210.0, 300.0]));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The file's name without `.gz` or `.zip` and without extension; `stdin` for standard input.
    pub name: String,
    /// One name per feature; `attribute=value` for those of a nominal attribute.
    pub feature_names: Vec<String>,
    /// Number of features.
    pub dim: usize,
    /// The features, one row after the other, without the target.
    pub features: Vec<f64>,
    /// One value per row.
    pub target: Option<Vec<f64>>,
    /// The target column's name.
    pub target_name: Option<String>,
    /// The weight of each row, at least 0, in any unit; none if each counts once.
    pub weights: Option<Vec<f64>>,
}

impl Table {
    /// Return the number of rows.
    pub fn rows(&self) -> usize {
        self.features.len().checked_div(self.dim).unwrap_or(0)
    }

    /// Return the features of row `i`.
    ///
    /// # Panics
    ///
    /// If `i` is not less than the number of rows.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.features[i * self.dim..(i + 1) * self.dim]
    }

    /// Return `√(mean (prediction - target)²)`, a mean over the weights of the rows; 0 without a target.
    pub fn root_mean_square(&self, predictions: &[f64]) -> f64 {
        let targets = self.target.as_deref().unwrap_or(&[]);
        let errors = || predictions.iter().zip(targets).map(|(x, y)| x - y);
        // Squares of very large or very small numbers overflow or underflow.
        let scale = power_of_two(errors().fold(f64::MIN_POSITIVE, |most, error| most.max(error.abs())));
        let weights = Weights(self.weights.as_deref());
        let square = |(row, error): (usize, f64)| weights.at(row) * (error / scale) * (error / scale);
        let squares: f64 = errors().enumerate().map(square).sum();
        scale * (squares / weights.sum(targets.len().max(1))).sqrt()
    }
}

/// The rows of one file, how its columns became features, and what is worth telling.
///
/// ```
/// use dpp_nystrom::data::table::Options;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "id,street,area,price\na7,elm,70,210\na8,oak,95,300\na9,elm,80,260\n")?;
/// let options = Options { ids: vec!["id".into()], group: Some("street".into()), ..Options::default() };
/// let read = options.read(&path)?;
/// assert_eq!((&read.groups[..], &read.ids[..]), (&[0, 1, 0][..], &["a7", "a8", "a9"].map(str::to_owned)[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// The rows. A target that is a label is the index of its class in [`Recipe::classes`].
    pub table: Table,
    /// The targets after the first, each with a value per row; empty if rows have no targets.
    pub further: Vec<Vec<f64>>,
    /// The group of each row, numbered in the order of their first rows; empty without [`Options::group`].
    pub groups: Vec<u32>,
    /// How the columns became the features, by which other files are read alike.
    pub recipe: Recipe,
    /// The names of the columns that identify a row.
    pub id_names: Vec<String>,
    /// Their fields as written, one row after the other.
    pub ids: Vec<String>,
    /// What was skipped, filled or guessed.
    pub remarks: Remarks,
}

/// What a reader did beyond parsing values, and counts of it.
///
/// ```
/// use dpp_nystrom::data::table::{Missing, Options};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "rooms,price\n3,210\n,300\n5,350\n")?;
/// let remarks = Options { missing: Missing::Drop, ..Options::default() }.read(&path)?.remarks;
/// assert_eq!((&remarks.dropped[..], remarks.lost(), remarks.rows), (&[1][..], 1, 3));
/// assert_eq!(remarks.gaps, [("rooms".to_owned(), 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remarks {
    /// The number of gaps that were filled.
    pub filled: u64,
    /// The rows that were left out, from 0, in the file's order: they have gaps, or the weight 0.
    pub dropped: Vec<usize>,
    /// The number of rows that have the weight 0.
    pub weightless: u64,
    /// The number of words that are none of the model's levels.
    pub unknown: u64,
    /// The number of rows of a class that is none of the model's.
    pub unknown_classes: u64,
    /// The first column, if it is a feature that counts the rows and its name says no more.
    pub row_numbers: Option<String>,
    /// The column that is taken for the target by its position alone.
    pub target_by_position: Option<String>,
    /// The number of lines after the first that begin with `#` and were skipped.
    pub comments: u64,
    /// The encoding of the text, if it is not UTF-8.
    pub encoding: Option<&'static str>,
    /// The sheet of a workbook, if it is the first of several and none was named.
    pub sheet: Option<String>,
    /// The number of rows of the file so far, those that were left out too.
    pub rows: u64,
    /// The columns of which gaps left rows out so far, with the number of such rows, the most first.
    pub gaps: Vec<(String, u64)>,
}

impl Remarks {
    /// Add those of a later block of rows.
    pub fn add(&mut self, later: Self) {
        self.filled += later.filled;
        self.dropped.extend(later.dropped);
        self.weightless += later.weightless;
        self.unknown += later.unknown;
        self.unknown_classes += later.unknown_classes;
        self.row_numbers = later.row_numbers;
        self.target_by_position = later.target_by_position;
        self.comments += later.comments;
        self.encoding = later.encoding;
        self.sheet = later.sheet;
        self.rows = later.rows;
        self.gaps = later.gaps;
    }

    /// Return the number of rows that were left out for their gaps.
    pub fn lost(&self) -> u64 {
        self.dropped.len() as u64 - self.weightless
    }
}

/// Numbers that rows may expand to for each that is written, whatever the limit.
const MOST_ZEROS: u64 = 16;

pub(crate) type Input<'a> = BufReader<Box<dyn Read + 'a>>;

/// Receives blocks of rows; returns false to stop.
pub(crate) type Receiver<'a> = RefCell<&'a mut dyn FnMut(Reading) -> bool>;

/// How the file is read, where its rows go, and whose errors they are.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// What it is called if compressed data is damaged.
    pub(crate) damaged: Option<fn(io::Error) -> TableProblem>,
    pub(crate) options: &'a Options,
    pub(crate) receiver: Option<&'a Receiver<'a>>,
    /// Whether the recipe alone is wanted, and no rows.
    pub(crate) scan: bool,
}

/// A limit that input passed, by its name.
#[derive(Debug)]
pub(crate) struct Passed(pub(crate) &'static str, pub(crate) u64);

impl Display for Passed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Passed {}

/// Say that a line is too long.
pub(crate) fn line_limit(limit: u64) -> TableProblem {
    TableProblem::Limit { name: "line", limit }
}

impl<'a> Origin<'a> {
    /// Read all rows of a file that is not compressed.
    pub(crate) fn of(options: &'a Options) -> Self {
        Self { damaged: None, options, receiver: None, scan: false }
    }

    /// Refuse rows that hold many more values than are written. Blocks of rows that are passed on take little
    /// memory, however wide they are.
    pub(crate) fn check_sparse(self, rows: usize, features: u64, written: usize) -> Result<(), TableProblem> {
        let limit = self.options.limits.sparse;
        let expanded = if self.holds_all() { features.saturating_mul(rows as u64) } else { 0 };
        if expanded > limit.max(written as u64 * MOST_ZEROS) {
            return Err(TableProblem::Sparse { rows, features, limit });
        }
        Ok(())
    }

    /// Whether all rows are held in memory at once.
    pub(crate) fn holds_all(&self) -> bool {
        self.receiver.is_none() && !self.scan
    }

    pub(crate) fn failed(&self, source: io::Error) -> TableProblem {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        if let Some(&Passed(name, limit)) = source.get_ref().and_then(|error| error.downcast_ref()) {
            return TableProblem::Limit { name, limit };
        }
        if let Some(&problem) = source.get_ref().and_then(|error| error.downcast_ref::<Undecodable>()) {
            return problem.into();
        }
        match (source.kind(), self.damaged) {
            (InvalidData | InvalidInput | UnexpectedEof, Some(damaged)) => damaged(source),
            _ => TableProblem::Read(source),
        }
    }
}

/// Passes bytes on, up to a limit that begins anew whenever the count is set back.
pub(crate) struct Limited<R> {
    pub(crate) inner: R,
    pub(crate) count: Rc<Cell<u64>>,
    pub(crate) limit: Passed,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get().saturating_add(read as u64));
        let Passed(name, limit) = self.limit;
        if self.count.get() > limit { Err(io::Error::other(Passed(name, limit))) } else { Ok(read) }
    }
}

/// Passes text on with its line ends made `\n`, and runs of white space made one space, each if asked for.
pub(crate) struct Plainer<R> {
    inner: R,
    carriage_returns: bool,
    spaces: bool,
    /// The last byte passed on, and whether it is within quotes.
    last: u8,
    quoted: bool,
}

impl<R> Plainer<R> {
    pub(crate) fn new(inner: R, carriage_returns: bool, spaces: bool) -> Self {
        Self { inner, carriage_returns, spaces, last: b'\n', quoted: false }
    }
}

impl<R: Read> Read for Plainer<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.carriage_returns && !self.spaces {
            return self.inner.read(buffer);
        }
        loop {
            let read = self.inner.read(buffer)?;
            let mut kept = 0;
            for at in 0..read {
                let mut byte = buffer[at];
                self.quoted ^= byte == b'"';
                if self.carriage_returns && byte == b'\r' {
                    byte = b'\n';
                }
                if self.spaces && !self.quoted && matches!(byte, b' ' | b'\t' | b'\r') {
                    byte = b' ';
                    if matches!(self.last, b' ' | b'\n') {
                        continue;
                    }
                }
                self.last = byte;
                buffer[kept] = byte;
                kept += 1;
            }
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

/// Passes text on, and counts the lines that begin with `#`, those within quotes too.
pub(crate) struct Comments<R> {
    inner: R,
    count: Rc<Cell<u64>>,
    /// The last byte passed on.
    last: u8,
}

impl<R> Comments<R> {
    pub(crate) fn new(inner: R, count: Rc<Cell<u64>>) -> Self {
        Self { inner, count, last: b'\n' }
    }
}

impl<R: Read> Read for Comments<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let bytes = &buffer[..read];
        // Few files have any: looking for the one byte is the fast way.
        if bytes.contains(&b'#') {
            let begins = bytes.starts_with(b"#") && self.last == b'\n';
            let inside = bytes.windows(2).filter(|pair| pair == b"\n#").count();
            self.count.set(self.count.get() + inside as u64 + u64::from(begins));
        }
        self.last = bytes.last().copied().unwrap_or(self.last);
        Ok(read)
    }
}
