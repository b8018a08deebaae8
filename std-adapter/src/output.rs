//! Files that are either whole or not there.

use crate::Error;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file under a temporary name in the same folder and renames it when it is whole and on
/// disk: a full disk or a kill leaves what was there before, its permissions included. A link leads
/// to the file that is replaced; a device or a pipe is written to, not replaced.
///
/// # Errors
/// [`Error::Write`].
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let fail = |source| Error::Write { path: path.to_owned(), source };
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => {
            fs::canonicalize(path).and_then(|path| replace(&path, Some(&found), write))
        }
        Ok(_) => File::options().write(true).open(path).and_then(|file| {
            let mut file = BufWriter::new(file);
            write(&mut file)?;
            file.flush()
        }),
        Err(_) => replace(path, None, write),
    }
    .map_err(fail)
}

/// Finds out whether a file can be written there, before the work that it is the result of; leaves nothing behind.
///
/// # Errors
/// [`Error::Write`].
pub fn check_writable(path: &Path) -> Result<(), Error> {
    let fail = |source| Error::Write { path: path.to_owned(), source };
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => {
            fs::canonicalize(path).and_then(|path| temporary_beside(&path).map(drop))
        }
        Ok(_) => Ok(()),
        Err(_) => temporary_beside(path).map(drop),
    }
    .map_err(fail)
}

/// A temporary file in the folder of this one.
fn temporary_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Else the error would name the temporary file, which nobody asked for.
    if !fs::metadata(folder)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    temporary(folder)
}

fn replace(
    path: &Path,
    found: Option<&Metadata>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(temporary_beside(path)?);
    write(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(found) = found {
        file.as_file().set_permissions(found.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Temporary files are their owner's alone; results are for whom the umask lets read them.
#[cfg(unix)]
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}
