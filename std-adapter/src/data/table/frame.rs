//! Tables in memory: columns of numbers and of text, read by the rules of files.

use crate::data::table::columns::{Column, Columns, Kind, Want, named_all};
use crate::data::table::input::{Origin, Reading};
use crate::data::table::markers::Markers;
use crate::data::table::options::Options;
use crate::data::table::reader::surveyed;
use crate::data::table::recipe::Recipe;
use crate::data::table::rows::Rows;
use crate::error::table::{Place, TableError};
use crate::error::{Error, check_length};

/// The values of a column.
///
/// ```
/// use dpp_nystrom::data::table::Values;
///
/// let rooms = Values::Numbers(&[3.0, f64::NAN]);
/// assert!(rooms.len() == 2 && !rooms.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values<'a> {
    /// Numbers; NaN is a gap.
    Numbers(&'a [f64]),
    /// Fields as a text has them: numbers, words, dates, amounts; an empty one is a gap.
    Fields(&'a [String]),
    /// Fields, each empty or one of these words, which keep their order as features.
    Levels(&'a [String], &'a [String]),
}

impl Values<'_> {
    /// Return the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Fields(fields) | Self::Levels(fields, _) => fields.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn kind(&self) -> Kind {
        match *self {
            Self::Numbers(_) => Kind::Number,
            Self::Fields(_) => Kind::Open,
            Self::Levels(_, levels) => Kind::Nominal(levels.to_vec()),
        }
    }
}

/// A table in memory. It is read as a CSV file with these columns would be.
///
/// ```
/// use dpp_nystrom::data::table::{Frame, Options, Values};
///
/// let [heating, id] = [["gas", "oil", "gas"], ["a", "b", "c"]].map(|fields| fields.map(str::to_owned));
/// let columns = [
///     ("rooms".to_owned(), Values::Numbers(&[3.0, 4.0, 4.5])),
///     ("heating".to_owned(), Values::Fields(&heating)),
///     ("price".to_owned(), Values::Numbers(&[210.0, 300.0, 350.0])),
/// ];
/// let frame = Frame::new(columns.to_vec(), true)?;
/// let read = Options::default().read_frame(&frame)?;
/// assert_eq!(read.recipe.feature_names(), ["rooms", "heating=gas", "heating=oil"]);
/// assert_eq!(read.table.target, Some(vec![210.0, 300.0, 350.0]));
///
/// let new = Frame::new(columns[..2].to_vec(), true)?;
/// assert_eq!(Options::default().read_frame_for(&read.recipe, &new)?.table.row(1), [4.0, 0.0, 1.0]);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Frame<'a> {
    columns: Vec<(String, Values<'a>)>,
    named: bool,
    unnamed_first: bool,
}

impl<'a> Frame<'a> {
    /// Combine columns with their names, of which an empty one becomes `x` and the index; `named` is false if
    /// all are called so for want of others.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for columns of different lengths.
    pub fn new(columns: Vec<(String, Values<'a>)>, named: bool) -> Result<Self, Error> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| &**name).collect();
        let (names, unnamed_first) = named_all(&names);
        let columns = names.into_iter().zip(columns).map(|(name, (_, values))| (name, values)).collect();
        let frame = Self { columns, named, unnamed_first };
        for (_, values) in &frame.columns {
            check_length("values of a column", frame.rows(), values.len())?;
        }
        Ok(frame)
    }

    /// Return the names of the columns.
    pub fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| &**name).collect()
    }

    /// Return the number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    fn read<'o>(&self, origin: Origin<'o>, want: Want<'_>) -> Result<Rows<'o>, TableError> {
        let column = |(name, values): &(String, Values<'_>)| Column {
            name: name.clone(),
            kind: values.kind(),
            line: 0,
        };
        let list = self.columns.iter().map(column).collect();
        let Self { named, unnamed_first, .. } = *self;
        let columns = Columns { list, named, unnamed_first };
        let markers = Markers::of(want, origin.options);
        let mut rows = Rows::new(origin, columns.plan(want, origin.options)?, markers);
        for row in 0..self.rows() {
            rows.begin()?;
            for (column, (_, values)) in self.columns.iter().enumerate() {
                match values {
                    Values::Numbers(values) => rows.put_value(column, values[row], row as u64)?,
                    Values::Fields(fields) | Values::Levels(fields, _) => {
                        rows.put(column, fields[row].as_bytes(), row as u64)?;
                    }
                }
            }
        }
        Ok(rows)
    }

    /// Say where in the table an error is: rows count from 0, as those of an array.
    fn located(&self, error: TableError) -> Error {
        let cell = |row, column: usize| Place::Cell(row, self.columns[column - 1].0.as_str().into());
        let place = match error.place {
            Place::Field(row, column, _) => cell(row, column),
            Place::Entry(row, column) => cell(row, column as usize),
            Place::Line(_) => Place::Whole,
            place => place,
        };
        TableError { path: "the table".into(), place, ..error }.into()
    }

    fn finish(&self, rows: Result<Rows<'_>, TableError>) -> Result<Reading, Error> {
        rows.and_then(|rows| rows.finish("data".to_owned())).map_err(|error| self.located(error))
    }
}

impl Options {
    /// Read a table in memory as [`read`](Self::read) does a file.
    ///
    /// # Errors
    /// `ErrorKind::Table` with the row, from 0, and the column of what cannot be read.
    pub fn read_frame(&self, frame: &Frame<'_>) -> Result<Reading, Error> {
        let open = |want: Want<'_>| frame.read(Origin::of(self), want);
        frame.finish(if self.as_it_is { surveyed(open) } else { open(Want::Learn(None)) })
    }

    /// Read the columns of a model's recipe, as [`read_for`](Self::read_for) does those of a file.
    ///
    /// # Errors
    /// `ErrorKind::Table` with the row, from 0, and the column of what cannot be read.
    pub fn read_frame_for(&self, recipe: &Recipe, frame: &Frame<'_>) -> Result<Reading, Error> {
        frame.finish(frame.read(Origin::of(self), Want::Apply { recipe, target: false }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, Values};
    use crate::data::table::{Labels, Missing, Options, Reading, Target, Unknown};
    use std::fmt::Write;

    const ROWS: usize = 40;

    fn texts(field: impl Fn(usize) -> String) -> Vec<String> {
        (0..ROWS).map(field).collect()
    }

    fn numbers(value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..ROWS).map(value).collect()
    }

    /// Write the columns as a CSV file has them, and read it.
    fn of_file(columns: &[(String, Values<'_>)], options: &Options) -> Reading {
        let names: Vec<&str> = columns.iter().map(|column| &*column.0).collect();
        let mut text = names.join(",") + "\n";
        for row in 0..ROWS {
            let fields = columns.iter().map(|(_, values)| match values {
                Values::Numbers(values) if values[row].is_nan() => String::new(),
                Values::Numbers(values) => values[row].to_string(),
                Values::Fields(fields) | Values::Levels(fields, _) => format!("\"{}\"", fields[row]),
            });
            writeln!(text, "{}", fields.collect::<Vec<_>>().join(",")).expect("text");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data.csv");
        std::fs::write(&path, text).expect("a file");
        let mut read = options.read(&path).expect("a table");
        read.remarks.target_by_position = None;
        read
    }

    #[test]
    fn a_frame_is_read_as_its_file_is() {
        let third = numbers(|row| if row % 5 == 0 { f64::NAN } else { row as f64 / 3.0 });
        let (counts, constant) = (numbers(|row| row as f64), numbers(|_| 7.5));
        let (empty, large) = (numbers(|_| f64::NAN), numbers(|row| 1e300 * (row * 7 % 11) as f64));
        let words = texts(|row| ["elm", "oak", "", "none"][row % 4].to_owned());
        let mixed = texts(|row| ["2", "3", "4", "5more"][row % 4].to_owned());
        let dates = texts(|row| format!("2014-{:02}-{:02}", 1 + row % 12, 1 + row % 28));
        let amounts = texts(|row| format!("${},234.50", row % 9 + 1));
        let names = texts(|row| format!("name {row}"));
        let unordered = numbers(|row| (row * 7 % 41) as f64);
        let target = numbers(|row| if row == 3 { f64::NAN } else { (row * 5 % 13) as f64 });
        let labels = texts(|row| ["yes", "no", "NA"][row % 3].to_owned());
        let features = [
            ("", Values::Numbers(&unordered)),
            (" third", Values::Numbers(&third)),
            ("counts", Values::Numbers(&counts)),
            ("constant", Values::Numbers(&constant)),
            ("empty", Values::Numbers(&empty)),
            ("large", Values::Numbers(&large)),
            ("words", Values::Fields(&words)),
            ("mixed", Values::Fields(&mixed)),
            ("dates", Values::Fields(&dates)),
            ("amounts", Values::Fields(&amounts)),
            ("names", Values::Fields(&names)),
        ];
        let options = Options { as_it_is: true, missing: Missing::Indicator, ..Options::default() };
        let classes = Options { labels: Labels::All, ..options.clone() };
        for (options, target) in [
            (options, Values::Numbers(&target)),
            (classes.clone(), Values::Fields(&labels)),
            (classes, Values::Numbers(&large)),
        ] {
            let columns: Vec<(String, Values<'_>)> = features
                .iter()
                .map(|&(name, values)| (name.to_owned(), values))
                .chain([("y".to_owned(), target)])
                .collect();
            let frame = Frame::new(columns.clone(), true).expect("a frame");
            let mut read = options.read_frame(&frame).expect("a table");
            let mut file = of_file(&columns, &options);
            assert_eq!(read.recipe.taken.len(), 10);
            // A file tells what separates its fields.
            file.recipe.separator = read.recipe.separator;
            read.remarks.target_by_position = None;
            assert_eq!(read, file);
            let unknown = Options { unknown: Unknown::Zero, ..Options::default() };
            let new = Frame::new(columns[..11].to_vec(), true).expect("a frame");
            let again = unknown.read_frame_for(&read.recipe, &new).expect("a table");
            let kept = (0..ROWS).filter(|row| !read.remarks.dropped.contains(row));
            let kept: Vec<f64> = kept.flat_map(|row| again.table.row(row).to_vec()).collect();
            assert_eq!((kept, again.remarks.unknown), (read.table.features, 0));
        }
    }

    #[test]
    fn levels_keep_their_order_and_errors_their_place() {
        let levels = ["low", "mid", "high"].map(str::to_owned);
        let fields = texts(|row| levels[row % 3].clone());
        let values = numbers(|row| (row * row) as f64);
        let columns = [
            ("size".to_owned(), Values::Levels(&fields, &levels)),
            ("v".to_owned(), Values::Numbers(&values)),
        ];
        let options = Options { target: Target::None, as_it_is: true, ..Options::default() };
        let frame = Frame::new(columns.to_vec(), true).expect("a frame");
        let recipe = options.read_frame(&frame).expect("a table").recipe;
        assert_eq!(recipe.feature_names(), ["size=low", "size=mid", "size=high", "v"]);
        let refused = |columns: &[(&str, Values<'_>)]| {
            let columns = columns.iter().map(|&(name, values)| (name.to_owned(), values)).collect();
            let frame = Frame::new(columns, true).expect("a frame");
            options.read_frame_for(&recipe, &frame).expect_err("no number").to_string()
        };
        let words = texts(|row| if row == 9 { "x".to_owned() } else { "3".to_owned() });
        let text = refused(&[("size", columns[0].1), ("v", Values::Fields(&words))]);
        assert!(text.starts_with("the table, row 9, column \"v\": \"x\" is not a number"), "{text}");
        let far = numbers(|row| if row == 7 { f64::INFINITY } else { 1.0 });
        let text = refused(&[("size", columns[0].1), ("v", Values::Numbers(&far))]);
        assert!(text.starts_with("the table, row 7, column \"v\": inf is not a finite number"), "{text}");
        let text = refused(&[("size", Values::Fields(&words)), ("v", columns[1].1)]);
        assert!(text.starts_with("the table, row 0, column \"size\": "), "{text}");
        let short =
            Frame::new(vec![columns[0].clone(), ("v".to_owned(), Values::Numbers(&values[1..]))], true);
        assert!(short.is_err());
    }
}
