//! The forms of an exported model.

use crate::error::Error;
use crate::model::export::{bundle::Bundle, bytes, c, name::Name, rust};
use std::str::FromStr;

/// The form of an exported model.
///
/// A new one is a file beside this with its [`About`], and its variant here.
///
/// ```
/// use dpp_nystrom::model::export::Form;
///
/// assert_eq!("c".parse(), Ok(Form::C));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A Rust file with a static.
    Rust,
    /// A C99 header.
    C,
    /// Bytes for a separate part of the flash.
    Bytes,
}

/// What there is to know of a form.
pub(crate) struct About {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) write: fn(&Bundle<'_>, &Name) -> Result<Vec<u8>, Error>,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Rust, Self::C, Self::Bytes];

    fn about(self) -> About {
        match self {
            Self::Rust => rust::FORM,
            Self::C => c::FORM,
            Self::Bytes => bytes::FORM,
        }
    }

    /// Return its name.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// Return what it is, in a line.
    pub fn summary(self) -> &'static str {
        self.about().summary
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|form| form.name() == text);
        found.ok_or_else(|| format!("invalid form {text:?}: expected one of {}", expected()))
    }
}

impl Bundle<'_> {
    /// Return the file in this form. Bytes carry no name and no comments. In C there are no variances.
    ///
    /// # Errors
    /// `ErrorKind::Export` for a model of 4 GiB or more, and for variances in C.
    pub fn write(&self, form: Form, name: &Name) -> Result<Vec<u8>, Error> {
        (form.about().write)(self, name)
    }
}
