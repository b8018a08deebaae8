//! The forms of an exported model.

use crate::error::Error;
use crate::model::export::bundle::Bundle;
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
        Bundle { model, first, further: Vec::new(), limits: None, uncertainty: None }.write(form, name)
    }
}
