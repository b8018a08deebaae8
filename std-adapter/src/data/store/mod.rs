//! Row stores: scaled rows on disk, read where they lie.

pub(crate) mod open;
pub(crate) mod source;
pub(crate) mod write;

pub use open::{Description, Store, StoredClass};
pub use write::{convert, convert_with};
