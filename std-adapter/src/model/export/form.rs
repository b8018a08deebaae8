//! The forms of an exported model.

use crate::error::{Error, export::ExportProblem};
use crate::model::export::{With, bundle::Bundle, c, c_quantised, exported::Parts, name::Name, rust};
use std::str::FromStr;

/// The form of an exported model.
///
/// A new one is a file beside this, and a variant with its entry in `about` here.
///
/// ```
/// use dpp_nystrom::model::export::Form;
///
/// assert_eq!("c".parse(), Ok(Form::C));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// A Rust file with a static.
    Rust,
    /// A C99 header.
    C,
    /// Bytes for a separate part of the flash.
    Bytes,
    /// An ONNX graph for servers, of the model as it is: [`Model::to_onnx`](crate::Model::to_onnx).
    Onnx,
}

/// The name of a form, a line of help, and the function that writes it.
struct About {
    name: &'static str,
    summary: &'static str,
    write: fn(&Bundle<'_>, &Name) -> Result<Vec<u8>, Error>,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 4] = [Self::Rust, Self::C, Self::Bytes, Self::Onnx];

    fn about(self) -> About {
        match self {
            Self::Rust => About {
                name: "rust",
                summary: "A static that the core uses in place",
                write: |bundle, name| Ok(rust::text(bundle, name).into_bytes()),
            },
            Self::C => About { name: "c", summary: "A C99 header with one function", write: c_header },
            Self::Bytes => About {
                name: "bytes",
                summary: "For a separate part of the flash, validated by the core at start-up",
                write: |bundle, _| bundle.to_bytes(),
            },
            Self::Onnx => About {
                name: "onnx",
                summary: "A graph for onnxruntime and other servers, in the model's own precision",
                write: |_, _| Err(ExportProblem::Graph.into()),
            },
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

    /// Check that the form can hold what is asked for, whatever the model.
    ///
    /// # Errors
    /// `ErrorKind::Export` for variances in C.
    ///
    /// ```
    /// use dpp_nystrom::model::export::{Form, With};
    ///
    /// let with = With { novelty: false, variance: true };
    /// assert!(Form::Bytes.check(with).is_ok() && Form::C.check(with).is_err());
    /// ```
    pub fn check(self, with: With) -> Result<(), Error> {
        let (what, instead) = ("variances to C", "export to rust or bytes");
        match self {
            Self::C if with.variance => Err(ExportProblem::Confidence { what, instead }.into()),
            _ => Ok(()),
        }
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
    /// `ErrorKind::Export` for a model of 4 GiB or more, for variances in C, and for [`Form::Onnx`], which is
    /// not for a device.
    pub fn write(&self, form: Form, name: &Name) -> Result<Vec<u8>, Error> {
        (form.about().write)(self, name)
    }
}

fn c_header(bundle: &Bundle<'_>, name: &Name) -> Result<Vec<u8>, Error> {
    Form::C.check(With { variance: bundle.uncertainty.is_some(), ..With::default() })?;
    let text = match &bundle.first.0 {
        Parts::Single(single) => c::text(single, bundle, name),
        Parts::Bits16(quantised) => c_quantised::text(quantised, bundle, name),
        Parts::Bits8(quantised) => c_quantised::text(quantised, bundle, name),
    };
    Ok(text.into_bytes())
}
