//! Zip archives of one file.
//!
//! An archive is held in memory as it is, and what is in it is expanded as it is read, up to the limit
//! `decompressed`.

use crate::data::table::input::{Limited, Origin, Passed};
use crate::error::table::{TableError, TableProblem};
use std::io::{Cursor, Read};
use zip::ZipArchive;
use zip::result::ZipError;

pub(crate) type Archive = ZipArchive<Cursor<Vec<u8>>>;

/// Whether bytes begin as an archive does, one without files among them.
pub(crate) fn begins(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

pub(crate) fn open(mut input: impl Read, origin: Origin<'_>) -> Result<Archive, TableError> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|error| origin.failed(error))?;
    Ok(ZipArchive::new(Cursor::new(bytes)).map_err(|error| unreadable(&error))?)
}

/// Whether it is a document of an office program.
pub(crate) fn is_document(archive: &Archive) -> bool {
    archive.index_for_name("[Content_Types].xml").is_some()
}

/// Return the name of the only file, without folders and what a Mac adds.
pub(crate) fn only_file(archive: &Archive) -> Result<String, TableError> {
    let added = |name: &str| name.starts_with("__MACOSX/") || name.ends_with(".DS_Store");
    let names = archive.file_names().map(|name| Ok(name.map_err(|error| unreadable(&error))?.into_owned()));
    let mut files = names.collect::<Result<Vec<String>, TableProblem>>()?;
    files.retain(|name| !name.ends_with(['/', '\\']) && !added(name));
    match &files[..] {
        [file] => Ok(file.clone()),
        _ => Err(TableProblem::Files { files }.into()),
    }
}

/// Return a reader of a file, which fails past the limit.
pub(crate) fn file<'f>(
    archive: &'f mut Archive,
    name: &str,
    origin: Origin<'_>,
) -> Result<impl Read + 'f, TableError> {
    let inner = archive.by_name(name).map_err(|error| unreadable(&error))?;
    let limit = Passed("decompressed", origin.options.limits.decompressed);
    Ok(Limited { inner, count: Default::default(), limit })
}

pub(crate) fn unreadable(error: &ZipError) -> TableProblem {
    TableProblem::Archive(error.to_string())
}
