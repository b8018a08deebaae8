//! Atomic writing of files.

use crate::error::Error;
use std::fs::{File, Metadata};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Write a file under a temporary name in the same folder, and rename it once it is complete and on
/// disk. A full disk or a kill leaves the old file intact, with its permissions. A symbolic link is
/// followed; a device or a pipe is written to, not replaced. A kill also leaves the temporary file,
/// `.tmp` and six letters, which nothing reads or removes.
///
/// # Errors
/// [`Error::Write`].
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let fail = |source| Error::Write { path: path.to_owned(), source };
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => {
            fs::canonicalize(path).and_then(|path| replace(&path, Some(found), write))
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

/// Check that a file can be written, before computing its content. Leaves no file behind.
///
/// # Errors
/// [`Error::Write`].
pub fn check_writable(path: &Path) -> Result<(), Error> {
    match fs::metadata(path) {
        // A device or a pipe is opened only for writing.
        Ok(found) if !found.is_dir() && !found.is_file() => Ok(()),
        _ => replace_with(path).map(drop),
    }
}

fn replace(
    path: &Path,
    found: Option<Metadata>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let pending = Pending::new(path, found)?;
    let mut file = BufWriter::new(pending.file.as_file());
    write(&mut file)?;
    file.flush()?;
    drop(file);
    pending.persist()
}

/// Begin to replace a file by one that is written out of order. The new file has no name until it
/// [persists](Pending::persist).
///
/// # Errors
/// [`Error::Write`], for a device or a pipe too.
pub(crate) fn replace_with(path: &Path) -> Result<Pending, Error> {
    let fail = |source| Error::Write { path: path.to_owned(), source };
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => {
            fs::canonicalize(path).and_then(|path| Pending::new(&path, Some(found)))
        }
        Ok(_) => Err(io::ErrorKind::NotSeekable.into()),
        Err(_) => Pending::new(path, None),
    }
    .map_err(fail)
}

/// A file under a temporary name, removed on drop unless it persists.
#[derive(Debug)]
pub(crate) struct Pending {
    file: tempfile::NamedTempFile,
    folder: PathBuf,
    path: PathBuf,
    found: Option<Metadata>,
}

impl Pending {
    fn new(path: &Path, found: Option<Metadata>) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Otherwise the error would name the temporary file instead of the folder.
        if !fs::metadata(folder)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { file: temporary(folder)?, folder: folder.to_owned(), path: path.to_owned(), found })
    }

    /// Open the file for reading and writing, from its beginning.
    pub(crate) fn file(&self) -> io::Result<File> {
        File::options().read(true).write(true).open(self.file.path())
    }

    /// Create an unnamed file on the same disk.
    pub(crate) fn beside(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.folder)
    }

    /// Sync to disk and rename to the final name.
    pub(crate) fn persist(self) -> io::Result<()> {
        if let Some(found) = self.found {
            self.file.as_file().set_permissions(found.permissions())?;
        }
        self.file.as_file().sync_all()?;
        self.file.persist(self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Create with the permissions of an ordinary file, which the umask restricts, instead of owner-only.
#[cfg(unix)]
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}
