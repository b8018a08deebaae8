//! Markers: fields that stand for a missing value.
//!
//! An empty field is one in any column. A column of numbers has no use for words, so all that are usual stand
//! for a gap; in a column of words `none` or `-` is a word as any other, and markers are those that no one
//! takes for a word.
//!
//! | markers | pandas (`read_csv`) | R (`read.table`) | numbers | words |
//! | --- | --- | --- | --- | --- |
//! | empty | yes | in columns of numbers | yes | yes |
//! | `NA` | yes | yes | in any case | yes |
//! | `N/A`, `n/a`, `#N/A`, `<NA>`, `NaN`, `nan`, `NULL`, `null` | yes | no | in any case | yes |
//! | `?` (ARFF), `\N` (MySQL) | no | no | yes | yes |
//! | `None` | yes | no | in any case | no |
//! | `-`, `.` (SAS, Stata) | no | no | yes | no |

use crate::data::table::columns::Want;
use crate::data::table::options::Options;

const OF_NUMBERS: [&str; 11] = ["?", "NA", "N/A", "#N/A", "<NA>", "NaN", "null", "None", "\\N", ".", "-"];

const OF_WORDS: [&str; 11] = ["?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "\\N"];

/// The marker of ARFF.
pub(crate) const UNKNOWN: &str = "?";

/// The fields that stand for a missing value in a file.
pub(crate) struct Markers {
    /// The caller's, in place of the usual ones.
    own: Option<Vec<String>>,
    /// The markers among them that are numbers.
    numbers: Vec<f64>,
}

impl Markers {
    /// Return those that the options name, or those of a model.
    pub(crate) fn of(want: Want<'_>, options: &Options) -> Self {
        let own = match want {
            Want::Survey(_) | Want::Learn(_) => options.missing_values.clone(),
            Want::Apply { recipe, .. } => recipe.missing_values.clone(),
        };
        let numbers = own.iter().flatten().filter_map(|marker| marker.parse().ok()).collect();
        Self { own, numbers }
    }

    /// Add one.
    pub(crate) fn with(mut self, marker: &str) -> Self {
        self.own.iter_mut().for_each(|own| own.push(marker.to_owned()));
        self
    }

    /// Whether a field of a column of words has no value.
    pub(crate) fn mark_word(&self, text: &str) -> bool {
        text.is_empty()
            || match &self.own {
                Some(own) => own.iter().any(|marker| marker == text),
                None => OF_WORDS.contains(&text),
            }
    }

    /// Whether a field of a column of numbers, which is none, has no value.
    pub(crate) fn mark_number(&self, text: &str) -> bool {
        match &self.own {
            Some(_) => self.mark_word(text),
            None => text.is_empty() || OF_NUMBERS.iter().any(|marker| text.eq_ignore_ascii_case(marker)),
        }
    }

    /// Whether a number stands for a missing value, however it is written.
    pub(crate) fn mark_value(&self, value: f64) -> bool {
        self.numbers.contains(&value)
    }
}
