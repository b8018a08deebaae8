//! The forms of an exported model.

use crate::error::Error;
use crate::model::export::{c, c_quantised, rust};
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
        match form {
            Form::Rust => Ok(rust::text(self, model, name).into_bytes()),
            Form::C => Ok(match self {
                Self::Single(single) => c::text(single, self, model, name),
                Self::Bits16(quantised) => c_quantised::text(quantised, self, model, name),
                Self::Bits8(quantised) => c_quantised::text(quantised, self, model, name),
            }
            .into_bytes()),
            Form::Bytes => self.to_bytes(),
        }
    }
}
