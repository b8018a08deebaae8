//! The forms of an exported model.

use crate::error::{Error, export::ExportProblem};
use crate::model::export::{bundle::Bundle, c, c_quantised, rust};
use crate::model::{export::exported::Exported, export::exported::Parts, export::name::Name, trained::Model};
use std::str::FromStr;

/// The form of an exported model.
///
/// A new one is a file beside this, its variant here with its name, and an arm of [`Bundle::write`].
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

impl Form {
    /// All forms by name.
    pub const ALL: [(&'static str, Self); 3] = [("rust", Self::Rust), ("c", Self::C), ("bytes", Self::Bytes)];
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        let expected = || Self::ALL.map(|(name, _)| name).join(", ");
        found
            .map(|&(_, form)| form)
            .ok_or_else(|| format!("invalid form {text:?}: expected one of {}", expected()))
    }
}

impl Exported {
    /// Return the file in this form. Bytes carry no name and no comments.
    ///
    /// # Errors
    /// `ErrorKind::Export` for a model of 4 GiB or more.
    pub fn write(&self, form: Form, model: &Model, name: &Name) -> Result<Vec<u8>, Error> {
        let first = self.clone();
        Bundle {
            model,
            targets: vec![&model.target_name],
            first,
            further: Vec::new(),
            limits: None,
            uncertainty: None,
        }
        .write(form, name)
    }
}

impl Bundle<'_> {
    /// Return the file in this form. Bytes carry no name and no comments. In C there are no variances.
    ///
    /// # Errors
    /// `ErrorKind::Export` for a model of 4 GiB or more, and for variances in C.
    pub fn write(&self, form: Form, name: &Name) -> Result<Vec<u8>, Error> {
        match (form, &self.first.0) {
            (Form::Bytes, _) => self.to_bytes(),
            (Form::Rust, _) => Ok(rust::text(self, name).into_bytes()),
            (Form::C, _) if self.uncertainty.is_some() => {
                let (what, instead) = ("variances to C", "export to rust or bytes");
                Err(ExportProblem::Confidence { what, instead }.into())
            }
            (Form::C, Parts::Single(single)) => Ok(c::text(single, self, name).into_bytes()),
            (Form::C, Parts::Bits16(quantised)) => Ok(c_quantised::text(quantised, self, name).into_bytes()),
            (Form::C, Parts::Bits8(quantised)) => Ok(c_quantised::text(quantised, self, name).into_bytes()),
        }
    }
}
