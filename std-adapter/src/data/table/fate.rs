//! What becomes of each column of a table that is taken as it is, before its rows are read.

use crate::data::table::form::Form;
use crate::data::table::taken::Taken;

/// What becomes of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Fate {
    /// It is read as its values stand.
    #[default]
    Plain,
    /// It is left out.
    LeftOut,
    /// Its fields are written so.
    Read(Form),
    /// It is one of words, whatever its values are.
    Words,
    /// These words are features, and others are none of them.
    Levels(Vec<String>),
}

/// What becomes of all columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settled {
    /// One for each column of the file; those without are plain.
    pub(crate) fates: Vec<Fate>,
    /// The target, if it is not the one that the options choose.
    pub(crate) target: Option<usize>,
    pub(crate) decimal_comma: bool,
    /// What separated the fields.
    pub(crate) separator: Option<u8>,
    /// What is to be told.
    pub(crate) taken: Vec<Taken>,
}

impl Settled {
    /// How the fields of a column are written.
    pub(crate) fn form(&self, column: usize) -> Form {
        if let Fate::Read(form) = self.fate(column) { form.clone() } else { Form::Plain }
    }

    pub(crate) fn fate(&self, column: usize) -> &Fate {
        self.fates.get(column).unwrap_or(&Fate::Plain)
    }
}
