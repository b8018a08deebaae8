//! What became of the columns of a table that is taken as it is.

use crate::data::table::form::{Form, Part};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// A column of a table that was taken as it is, and what became of it
/// ([`Options::as_it_is`](crate::data::table::Options::as_it_is)). A column that was read as its values stand
/// has none.
///
/// ```
/// use dpp_nystrom::data::table::{How, Options};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "rooms,roof,price\n3,flat,210\n,flat,300\n5,flat,350\n")?;
/// let recipe = Options { as_it_is: true, ..Options::default() }.read(&path);
/// assert!(recipe.is_err()); // gaps are refused
/// let missing = dpp_nystrom::data::table::Missing::Indicator;
/// let recipe = Options { as_it_is: true, missing, ..Options::default() }.read(&path)?.recipe;
/// assert_eq!(recipe.feature_names(), ["rooms", "rooms missing"]);
/// assert_eq!((&*recipe.taken[0].column, &recipe.taken[0].how), ("roof", &How::Constant("flat".into())));
/// assert_eq!(recipe.taken[1].to_string(), "\"rooms\": 1 gap filled");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Its name; empty for what concerns the whole table.
    pub column: String,
    /// What became of it.
    pub how: How,
}

/// What became of a column. [`Taken`] has an example.
///
/// ```
/// use dpp_nystrom::data::table::How;
///
/// assert!(How::Steps.is_left_out());
/// assert!(!How::Filled(3).is_left_out());
/// assert_eq!(How::Id(3).to_string(), "an id: 3 different values");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// It was left out: it has almost as many different values as rows, so many.
    Id(u64),
    /// It was left out: its whole numbers count in constant steps.
    Steps,
    /// It was left out: it has no value.
    Empty,
    /// It was left out: it has this value in every row.
    Constant(String),
    /// It was left out: none of its different words, so many, is in a hundredth of the rows.
    Rare(u64),
    /// The most frequent of its words are features, and the others are none of them.
    Frequent {
        /// The words that are features.
        kept: u64,
        /// All different words.
        different: u64,
    },
    /// It was taken as words: beside numbers it has this word.
    Mixed(String),
    /// It was read as amounts or dates.
    Read(Form),
    /// So many gaps were filled.
    Filled(u64),
    /// The comma is the decimal point, of all columns.
    DecimalComma,
}

impl How {
    /// Whether the column is no feature.
    pub fn is_left_out(&self) -> bool {
        matches!(self, Self::Id(_) | Self::Steps | Self::Empty | Self::Constant(_) | Self::Rare(_))
    }
}

impl Display for How {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(different) => write!(f, "an id: {different} different values"),
            Self::Steps => f.write_str("an id: whole numbers in constant steps"),
            Self::Empty => f.write_str("empty"),
            Self::Constant(value) => write!(f, "{value:?} in every row"),
            Self::Rare(words) => write!(f, "{words} different words, none in 1 % of the rows"),
            Self::Frequent { kept, different } => {
                write!(f, "{kept} of {different} words are features, those in 1 % of the rows or more")
            }
            Self::Mixed(word) => write!(f, "numbers and words such as {word:?}, taken as words"),
            Self::Read(Form::Plain) => f.write_str("plain"),
            Self::Read(Form::Amount { unit, thousands }) => match (unit, thousands) {
                (Some(unit), true) => {
                    write!(f, "numbers with {unit} and separators of thousands, taken as they are written")
                }
                (Some(unit), false) => write!(f, "numbers with {unit}, taken as they are written"),
                (None, _) => f.write_str("numbers with separators of thousands"),
            },
            Self::Read(Form::Date { day_first, parts }) => {
                let names: Vec<&str> = parts.iter().copied().map(Part::name).collect();
                let order = match day_first {
                    Some(true) => ", the day before the month",
                    Some(false) => ", the month before the day",
                    None => "",
                };
                write!(f, "dates or times, taken as {}{order}", names.join(", "))
            }
            Self::Filled(1) => f.write_str("1 gap filled"),
            Self::Filled(gaps) => write!(f, "{gaps} gaps filled"),
            Self::DecimalComma => f.write_str("the comma is the decimal point"),
        }
    }
}

impl Display for Taken {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.how {
            How::DecimalComma => self.how.fmt(f),
            how => write!(f, "{:?}: {how}", self.column),
        }
    }
}
