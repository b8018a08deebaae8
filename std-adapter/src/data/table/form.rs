//! How the fields of a column are written, and the features that they become.

use crate::data::table::amounts;
use crate::data::table::dates::{self, Moment};
use serde::{Deserialize, Serialize};

/// How the fields of a column are written, if not as plain numbers or as words.
///
/// ```
/// use dpp_nystrom::data::table::{Form, Options};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "price,y\n\"$1,234,000\",3\n\"$987,500\",4\n")?;
/// let read = Options { as_it_is: true, ..Options::default() }.read(&path)?;
/// assert_eq!(read.table.features, [1_234_000.0, 987_500.0]);
/// assert_eq!(read.recipe.columns[0].form, Form::Amount { unit: Some('$'), thousands: true });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// As plain numbers or words.
    #[default]
    Plain,
    /// As numbers with a unit or separators of thousands: `$1,234.50`, `12 %`. The number is as written.
    Amount {
        /// The sign before or after the number.
        unit: Option<char>,
        /// Whether commas separate thousands, or points where the comma is the decimal point.
        thousands: bool,
    },
    /// As dates, times or both. Each of the parts is a feature.
    Date {
        /// Whether the day comes before the month where both are numbers and the year comes last; none if no
        /// date is written so.
        day_first: Option<bool>,
        /// The parts that become features, each once.
        parts: Vec<Part>,
    },
}

/// A part of a date that becomes a feature.
///
/// ```
/// use dpp_nystrom::data::table::{Form, Options, Part};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("sales.csv");
/// std::fs::write(&path, "sold,y\n2014-10-13,3\n2015-10-20,4\n2015-10-14,5\n")?;
/// let recipe = Options { as_it_is: true, ..Options::default() }.read(&path)?.recipe;
/// assert_eq!(recipe.feature_names(), ["sold year", "sold weekday", "sold days"]);
/// let parts = vec![Part::Year, Part::Weekday, Part::Days]; // all were sold in October
/// assert_eq!(recipe.columns[0].form, Form::Date { day_first: None, parts });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// The year.
    Year,
    /// The month, from 1.
    Month,
    /// The day of the week, 1 on Mondays.
    Weekday,
    /// Hours since midnight.
    Hour,
    /// Days since 1970 began.
    Days,
}

impl Part {
    pub(crate) const ALL: [Self; 5] = [Self::Year, Self::Month, Self::Weekday, Self::Hour, Self::Days];

    /// Return its name, as it is part of a feature's.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Month => "month",
            Self::Weekday => "weekday",
            Self::Hour => "hour",
            Self::Days => "days",
        }
    }

    pub(crate) fn of(self, moment: &Moment) -> f64 {
        match self {
            Self::Year => moment.year,
            Self::Month => moment.month,
            Self::Weekday => moment.weekday,
            Self::Hour => moment.hour,
            Self::Days => moment.days,
        }
    }
}

impl Form {
    /// Whether fields are plain numbers or words.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::Plain
    }

    /// The parts of a date that become features; none for other columns.
    pub(crate) fn parts(&self) -> Option<&[Part]> {
        if let Self::Date { parts, .. } = self { Some(parts) } else { None }
    }

    /// Read a field that is not plain, if it is written so.
    pub(crate) fn number(&self, text: &str, decimal_comma: bool) -> Option<f64> {
        match self {
            Self::Plain => None,
            Self::Amount { unit, thousands } => {
                let written = amounts::split(text)?;
                // A number without its currency is the same number, but 0.12 may be 12 %.
                let fits = written.unit == *unit || (written.unit.is_none() && *unit != Some('%'));
                let digits = written.read(decimal_comma)?;
                let marks = if decimal_comma { '.' } else { ',' };
                let groups = *thousands || !text.contains(marks);
                (fits && groups).then_some(digits.value)
            }
            Self::Date { day_first, parts } => {
                let stamp = dates::parse(text)?;
                // A time alone has an hour and nothing else.
                let fits = !stamp.is_time_alone() || parts == &[Part::Hour];
                stamp.number(*day_first).filter(|_| fits)
            }
        }
    }

    /// Make the features of a date.
    pub(crate) fn expand(parts: &[Part], seconds: f64, features: &mut [f64]) {
        let moment = dates::moment(seconds);
        features.iter_mut().zip(parts).for_each(|(feature, part)| *feature = part.of(&moment));
    }

    /// Whether the parts are some, each once.
    pub(crate) fn is_well_formed(&self) -> bool {
        let parts = self.parts().unwrap_or(&[Part::Days]);
        !parts.is_empty() && parts.len() <= Part::ALL.len() && {
            let count = |part| parts.iter().filter(|other| *other == part).count();
            parts.iter().all(|part| count(part) == 1)
        }
    }
}
