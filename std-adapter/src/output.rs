//! Files that are either whole or not there.

use crate::Error;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file under a temporary name in the same folder and renames it when it is whole and on
/// disk: a full disk or a kill leaves what was there before.
///
/// # Errors
/// [`Error::Write`].
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let fail = |source| Error::Write { path: path.to_owned(), source };
    if path.is_dir() {
        return Err(fail(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder).map_err(fail)?);
    write(&mut file).map_err(fail)?;
    let file = file.into_inner().map_err(|error| fail(error.into_error()))?;
    file.as_file().sync_all().map_err(fail)?;
    share(file.as_file()).map_err(fail)?;
    file.persist(path).map_err(|error| fail(error.error))?;
    Ok(())
}

/// Temporary files are their owner's alone; results are for whoever may read what is beside them.
#[cfg(unix)]
fn share(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn share(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}
