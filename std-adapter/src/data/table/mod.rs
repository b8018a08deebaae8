//! Tables: files of [`FORMATS`] as numbers.

pub(crate) mod amounts;
pub(crate) mod arff;
pub(crate) mod columns;
pub(crate) mod dates;
pub(crate) mod delimited;
pub(crate) mod encoding;
pub(crate) mod fate;
pub(crate) mod form;
pub(crate) mod format;
pub(crate) mod frame;
pub(crate) mod input;
pub(crate) mod json_lines;
pub(crate) mod libsvm;
pub(crate) mod markers;
pub(crate) mod npy;
pub(crate) mod options;
pub(crate) mod reader;
pub(crate) mod recipe;
pub(crate) mod rows;
pub(crate) mod settle;
pub(crate) mod survey;
pub(crate) mod taken;
pub(crate) mod target;
#[cfg(test)]
mod tests;
#[cfg(feature = "xlsx")]
pub(crate) mod xlsx;
pub(crate) mod zipped;

pub use form::{Form, Part};
pub use format::FORMATS;
pub use frame::{Frame, Values};
pub use input::{Reading, Remarks, Table};
pub use options::{Labels, Limits, Missing, Options, Unknown};
pub use reader::{is_named_as_one, read, read_features};
pub use recipe::{Column, Recipe};
pub use taken::{How, Taken};
pub use target::Target;
