//! The forms of an exported model.

use crate::error::{Error, export::ExportProblem};
use crate::model::export::{bundle::Bundle, c, c_quantised, rust};
use crate::model::{export::exported::Exported, export::name::Name, trained::Model};

/// The form of an exported model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A Rust file with a static.
    Rust,
    /// A C99 header.
    C,
    /// Bytes for a separate part of the flash.
    Bytes,
}

impl Exported {
    /// Return the file in this form. Bytes carry no name and no comments.
    ///
    /// # Errors
    /// [`Error::Export`] for a model of 4 GiB or more.
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
    /// [`Error::Export`] for a model of 4 GiB or more, and for variances in C.
    pub fn write(&self, form: Form, name: &Name) -> Result<Vec<u8>, Error> {
        match (form, &self.first) {
            (Form::Bytes, _) => self.to_bytes(),
            (Form::Rust, _) => Ok(rust::text(self, name).into_bytes()),
            (Form::C, _) if self.uncertainty.is_some() => {
                let (what, instead) = ("variances to C", "export to rust or bytes");
                Err(ExportProblem::Confidence { what, instead }.into())
            }
            (Form::C, Exported::Single(single)) => Ok(c::text(single, self, name).into_bytes()),
            (Form::C, Exported::Bits16(quantised)) => {
                Ok(c_quantised::text(quantised, self, name).into_bytes())
            }
            (Form::C, Exported::Bits8(quantised)) => {
                Ok(c_quantised::text(quantised, self, name).into_bytes())
            }
        }
    }
}
