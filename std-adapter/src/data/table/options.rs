//! How a table is read: which columns, what is done with gaps, the dialect of the text, and limits.

use crate::data::table::target::Target;
use serde::{Deserialize, Serialize};

/// How a table is read. The default reads every column, the last one as the target, refuses gaps, and detects
/// the dialect.
///
/// A column is given by its name, by its index from 0, or by a range of indices, both ends included: `3-7`. A
/// column of that name takes precedence.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use dpp_nystrom::data::table::{Missing, Options};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "id;rooms;heating;price\na7;3;gas;210\na8;;oil;300\na9;5;gas;350\n")?;
///
/// let options = Options { ids: vec!["id".into()], missing: Missing::Mean, ..Options::default() };
/// let read = options.read(&path)?;
/// assert_eq!(read.table.feature_names, ["rooms", "heating=gas", "heating=oil"]);
/// assert_eq!(read.table.row(1), [4.0, 0.0, 1.0]);
/// assert_eq!(read.ids, ["a7", "a8", "a9"]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The target.
    pub target: Target,
    /// Which targets are labels of classes.
    pub labels: Labels,
    /// The features; empty for all columns that are not otherwise used.
    pub columns: Vec<String>,
    /// Columns that are not used. They may contain anything.
    pub ignore: Vec<String>,
    /// Columns that identify a row. They may contain anything, and are not features.
    pub ids: Vec<String>,
    /// The column that says which rows belong together. It may contain anything, and is no feature.
    pub group: Option<String>,
    /// The column with the weights of rows: finite numbers, at least 0, in any unit. It is no feature. Rows
    /// of weight 0 are left out.
    pub weight: Option<String>,
    /// Columns of words, even if they begin with a number.
    pub words: Vec<String>,
    /// What is done with missing values of features.
    pub missing: Missing,
    /// The fields that stand for a missing value, in place of the usual ones ([`Missing`]). An empty field
    /// does in any case, and `?` in ARFF. Of a number it does not matter how it is written.
    pub missing_values: Option<Vec<String>>,
    /// Whether [`Missing::Drop`] may leave out more than half of the rows; otherwise that is an error.
    pub allow_loss: bool,
    /// Whether a table is taken as it is: columns that are ids, empty or constant are left out, dates become
    /// their parts, numbers are read with units and separators of thousands, columns of numbers and words are
    /// words, and of too many words the frequent ones are features. [`Recipe::taken`](super::Recipe::taken)
    /// says what was done. It takes two passes over the file. Row stores are made without.
    pub as_it_is: bool,
    /// Columns that are then not left out.
    pub keep: Vec<String>,
    /// Whether in dates such as `10/11/2014` the day comes first; none: a column that does not tell is an
    /// error.
    pub day_first: Option<bool>,
    /// What a model does with a word that is none of its levels.
    pub unknown: Unknown,
    /// Take a model's columns in their order, whether or not the file or the model names them.
    pub by_position: bool,
    /// Whether rows to which a model is applied may lack their target, which is NaN then. Otherwise all have
    /// one, or none.
    pub partly_labelled: bool,
    /// Whether the first row has the names of the columns; none: detected.
    pub header: Option<bool>,
    /// What separates fields, a space for any run of white space; none: detected.
    pub separator: Option<u8>,
    /// Whether a comma is the decimal point; none: it is not, unless numbers of a table that is taken as it
    /// is prove it, or the model says so.
    pub decimal_comma: Option<bool>,
    /// The sheet of a workbook; none: the first that is not hidden. Other files have none, and are refused.
    pub sheet: Option<String>,
    /// Whether the rows are `label index:value ...`; otherwise the file's ending decides.
    pub libsvm: bool,
    /// Limits.
    pub limits: Limits,
}

/// Which targets are labels of classes.
///
/// ```
/// use dpp_nystrom::data::table::{Labels, Options};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("iris.csv");
/// std::fs::write(&path, "petal,species\n1.4,setosa\n5.1,virginica\n1.3,setosa\n")?;
/// let read = Options { labels: Labels::Words, ..Options::default() }.read(&path)?;
/// assert_eq!(read.recipe.classes, Some(vec!["setosa".to_owned(), "virginica".to_owned()]));
/// assert_eq!(read.table.target, Some(vec![0.0, 1.0, 0.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// None: a target that is not a number is an error.
    #[default]
    None,
    /// Words; the first value decides. There is one target.
    Words,
    /// Words and numbers: equal numbers are one class, however they are written.
    All,
}

/// What is done with a missing value of a feature, which is NaN in an array. In a text it is an empty field,
/// `?` or `\\N`; in a column of numbers also `NA`, `N/A`, `#N/A`, `<NA>`, `NaN`, `null` and `None` in any
/// case, `.` and `-`; in a column of words `NA`, `N/A`, `n/a`, `#N/A`, `<NA>`, `NaN`, `nan`, `NULL` and
/// `null` as they are here, while `none` is a word. [`Options::missing_values`] are others. With all but
/// `Error`, rows of which the target is missing are left out of training.
///
/// ```
/// use dpp_nystrom::data::table::{Missing, Options};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "rooms,price\n3,210\nNA,300\n5,350\n")?;
/// let filled = Options { missing: Missing::Indicator, ..Options::default() }.read(&path)?;
/// assert_eq!(filled.table.row(1), [4.0, 1.0]); // the mean, and that it was missing
/// assert!(Options::default().read(&path).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missing {
    /// It is an error.
    #[default]
    Error,
    /// The row is left out.
    Drop,
    /// The training rows' mean takes its place; for words, the share of each level.
    Mean,
    /// As [`Mean`](Self::Mean), with a further feature, 1 where the value is missing and else 0, for each
    /// column with gaps in training.
    Indicator,
}

/// What a model does with a word that was in none of its training rows.
///
/// ```
/// use dpp_nystrom::data::table::{Options, Unknown};
///
/// let folder = tempfile::tempdir()?;
/// let [old, new] = ["2025.csv", "2026.csv"].map(|name| folder.path().join(name));
/// std::fs::write(&old, "heating,price\ngas,210\noil,300\n")?;
/// std::fs::write(&new, "heating,price\nwood,250\n")?;
/// let options = Options { unknown: Unknown::Zero, ..Options::default() };
/// let recipe = options.read(&old)?.recipe;
/// assert_eq!(options.read_for(&recipe, &new)?.table.row(0), [0.0, 0.0]);
/// assert!(Options::default().read_for(&recipe, &new).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// It is an error.
    #[default]
    Error,
    /// The features of all levels are 0.
    Zero,
}

/// Limits of what a file may make the reader hold. Each can be raised.
///
/// ```
/// use dpp_nystrom::data::table::{Limits, Options};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "rooms,area,price\n3,70,210\n")?;
/// let limits = Limits { columns: 2, ..Limits::default() };
/// assert!(Options { limits, ..Options::default() }.read(&path).is_err()); // three columns
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a line, or of a record whose quotes span lines.
    pub line: u64,
    /// Columns, and features they expand to.
    pub columns: u64,
    /// Levels of one column of words.
    pub levels: u64,
    /// Classes of a target.
    pub classes: u64,
    /// Bytes that a compressed file expands to; the parts of a workbook, which are held in memory, to a
    /// sixteenth.
    pub decompressed: u64,
    /// Numbers that sparse rows expand to where all are held in memory, if they are more than 16 times those
    /// written.
    pub sparse: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: 1 << 24,
            columns: 100_000,
            levels: 256,
            classes: 100,
            decompressed: 1 << 34,
            sparse: 1 << 27,
        }
    }
}

impl Limits {
    /// Set a limit by its name; false for another name.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let limit = match name {
            "line" => &mut self.line,
            "columns" => &mut self.columns,
            "levels" => &mut self.levels,
            "classes" => &mut self.classes,
            "decompressed" => &mut self.decompressed,
            "sparse" => &mut self.sparse,
            _ => return false,
        };
        *limit = value;
        true
    }
}
