//! What goes into a reader and what comes out: the target column, the input and its origin, and the table.

use crate::error::table::TableProblem;
use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::{self, Display, Formatter};
use std::io::{self, BufReader, Read};
use std::str::FromStr;

/// Which column is the target.
///
/// Parsed from `last`, `none`, an index from 0, or a name. A column whose name equals the index takes precedence;
/// columns called `last` or `none` can be chosen by index.
///
/// ```
/// use dpp_nystrom::data::table::Target;
///
/// assert_eq!("last".parse(), Ok(Target::Last));
/// assert_eq!("3".parse(), Ok(Target::Index(3)));
/// assert_eq!("price".parse(), Ok(Target::Name("price".into())));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Target {
    /// The last column.
    #[default]
    Last,
    /// None: all columns are features.
    None,
    /// The column of this name.
    Name(String),
    /// The column at this index, from 0, before nominal attributes are expanded.
    Index(usize),
}

impl FromStr for Target {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match (text, text.parse::<usize>()) {
            ("last", _) => Self::Last,
            ("none", _) => Self::None,
            // `007` and `+7` are names.
            (_, Ok(index)) if index.to_string() == text => Self::Index(index),
            _ => Self::Name(text.to_owned()),
        })
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::None => f.write_str("none"),
            Self::Name(name) => f.write_str(name),
            Self::Index(index) => index.fmt(f),
        }
    }
}

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
    /// The file's name without `.gz` and without extension; `stdin` for standard input.
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

    /// Return `√(mean (prediction - target)²)`; 0 without a target.
    pub fn root_mean_square(&self, predictions: &[f64]) -> f64 {
        let targets = self.target.as_deref().unwrap_or(&[]);
        let squares: f64 = predictions.iter().zip(targets).map(|(x, y)| (x - y) * (x - y)).sum();
        (squares / targets.len().max(1) as f64).sqrt()
    }
}

/// Large enough that call overhead does not matter.
pub(crate) const BUFFER: usize = 1 << 17;

pub(crate) type Input<'a> = BufReader<Box<dyn Read + 'a>>;

/// Receives blocks of rows; returns false to stop.
pub(crate) type Receiver<'a> = RefCell<&'a mut dyn FnMut(Table) -> bool>;

/// Identifies the file in errors, attributes them, and passes blocks of rows on.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) gzip: bool,
    pub(crate) receiver: Option<&'a Receiver<'a>>,
}

impl Origin<'_> {
    pub(crate) fn failed(&self, source: io::Error) -> TableProblem {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        match source.kind() {
            InvalidData | InvalidInput | UnexpectedEof if self.gzip => TableProblem::Gzip(source),
            _ => TableProblem::Read(source),
        }
    }
}
