//! The target column.

use std::convert::Infallible;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Which column is the target, or which columns are.
///
/// Parsed from `last`, `none`, an index from 0, a name, or several of them, separated by commas. A column
/// whose name equals the index, or the whole list, takes precedence; columns called `last` or `none` can be
/// chosen by index.
///
/// ```
/// use dpp_nystrom::data::table::Target;
///
/// assert_eq!("last".parse(), Ok(Target::Last));
/// assert_eq!("3".parse(), Ok(Target::Index(3)));
/// assert_eq!("price".parse(), Ok(Target::Name("price".into())));
/// assert_eq!("price,3".parse(), Ok(Target::Several(vec![Target::Name("price".into()), Target::Index(3)])));
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
    /// These columns.
    Several(Vec<Self>),
}

impl FromStr for Target {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match (text, text.parse::<usize>()) {
            ("last", _) => Self::Last,
            ("none", _) => Self::None,
            // `007` and `+7` are names.
            (_, Ok(index)) if index.to_string() == text => Self::Index(index),
            _ if text.contains(',') => {
                let parts = text.split(',').map(str::parse);
                Self::Several(parts.collect::<Result<_, _>>()?)
            }
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
            Self::Several(targets) => {
                let names: Vec<String> = targets.iter().map(ToString::to_string).collect();
                f.write_str(&names.join(","))
            }
        }
    }
}
