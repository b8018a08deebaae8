//! Model files.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 7 | `dppnymod` |
//! | 8 to 11 | version, little-endian: 1 |
//! | 12 to 19 | length of the content, little-endian |
//! | 20 to 23 | CRC-32 of the content, little-endian |
//! | 24 on | the content, in postcard's format |
//!
//! A file is read only if all of that is valid, so a truncated, damaged, newer or foreign file is rejected before
//! any of its content is used. Writing goes to a temporary name in the same folder and renames when complete.

use crate::atomic_file::write_whole;
use crate::error::Error;
use crate::error::model::ModelProblem;
use crate::error::table::TableError;
use crate::model::trained::Model;
use std::fs::File;
use std::io::Read;
use std::path::Path;

const MAGIC: &[u8; 8] = b"dppnymod";
const VERSION: u32 = 1;
const HEADER: usize = 24;

/// Write a model; an existing file is replaced only once the new one is complete.
///
/// # Errors
/// [`Error::Write`], [`Error::Memory`].
pub fn save(model: &Model, path: &Path) -> Result<(), Error> {
    let content = postcard::to_allocvec(model).map_err(|_| Error::Memory { bytes: 0 })?;
    write_whole(path, |file| {
        file.write_all(MAGIC)?;
        file.write_all(&VERSION.to_le_bytes())?;
        file.write_all(&(content.len() as u64).to_le_bytes())?;
        file.write_all(&crc32fast::hash(&content).to_le_bytes())?;
        file.write_all(&content)
    })
}

/// Read a model.
///
/// # Errors
/// [`Error::Table`] if the file cannot be read, [`Error::Model`] if it is invalid.
pub fn load(path: &Path) -> Result<Model, Error> {
    let open = |source| TableError::Open { path: path.to_owned(), source };
    let read = |source| TableError::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(open)?;
    let metadata = file.metadata().map_err(open)?;
    if metadata.is_dir() {
        return Err(TableError::Directory { path: path.to_owned() }.into());
    }
    let mut bytes = Vec::new();
    // An endless device must not fill the memory: read no more than the header declares.
    file.by_ref().take(HEADER as u64).read_to_end(&mut bytes).map_err(read)?;
    let length = parse_header(&bytes, path)?.0;
    file.by_ref().take(length.saturating_add(1)).read_to_end(&mut bytes).map_err(read)?;
    parse(&bytes, path)
}

/// Parse the declared length of the content and its checksum.
fn parse_header(bytes: &[u8], path: &Path) -> Result<(u64, u32), Error> {
    let refuse = |problem| Error::Model { path: path.to_owned(), problem };
    let (magic, rest) = bytes.split_first_chunk::<8>().ok_or(refuse(foreign_or_cut(bytes)))?;
    if magic != MAGIC {
        return Err(refuse(ModelProblem::Foreign));
    }
    let (version, rest) = rest.split_first_chunk::<4>().ok_or(refuse(ModelProblem::Truncated))?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(refuse(ModelProblem::Version(version)));
    }
    let (length, rest) = rest.split_first_chunk::<8>().ok_or(refuse(ModelProblem::Truncated))?;
    let (checksum, _) = rest.split_first_chunk::<4>().ok_or(refuse(ModelProblem::Truncated))?;
    Ok((u64::from_le_bytes(*length), u32::from_le_bytes(*checksum)))
}

fn parse(bytes: &[u8], path: &Path) -> Result<Model, Error> {
    let refuse = |problem| Error::Model { path: path.to_owned(), problem };
    let (length, checksum) = parse_header(bytes, path)?;
    let content = &bytes[HEADER..];
    match (content.len() as u64).cmp(&length) {
        std::cmp::Ordering::Less => return Err(refuse(ModelProblem::Truncated)),
        std::cmp::Ordering::Greater => return Err(refuse(ModelProblem::Longer)),
        std::cmp::Ordering::Equal => {}
    }
    if crc32fast::hash(content) != checksum {
        return Err(refuse(ModelProblem::Corrupt));
    }
    match postcard::take_from_bytes::<Model>(content) {
        Ok((model, [])) if model.is_well_formed() => Ok(model),
        _ => Err(refuse(ModelProblem::Malformed)),
    }
}

/// Classify a file shorter than the magic: a truncated model, or a foreign file.
fn foreign_or_cut(bytes: &[u8]) -> ModelProblem {
    if MAGIC.starts_with(bytes) { ModelProblem::Truncated } else { ModelProblem::Foreign }
}
