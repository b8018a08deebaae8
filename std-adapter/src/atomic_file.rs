//! Atomic writing of files.

use crate::error::Error;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Write a file under a temporary name in the same folder, and rename it once it is complete and on
/// disk. A full disk or a kill leaves the old file intact, with its permissions. A symbolic link is
/// followed; a device or a pipe is written to, not replaced. A kill also leaves the temporary file,
/// `.tmp` and six letters, which nothing reads or removes.
///
/// # Errors
/// [`Error::Write`].
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let fail = |source| Error::Write { path: path.to_owned(), source };
    if is_stream(path) {
        return File::options().write(true).open(path).and_then(|file| buffered(&file, write)).map_err(fail);
    }
    let pending = replace_with(path)?;
    buffered(pending.file.as_file(), write).and_then(|()| pending.persist()).map_err(fail)
}

/// Whether a path names a device or a pipe, which is written to in place.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_dir() && !found.is_file())
}

fn buffered(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.flush()
}

/// Check that a file can be written, before computing its content. Leaves no file behind.
///
/// # Errors
/// [`Error::Write`].
pub fn check_writable(path: &Path) -> Result<(), Error> {
    // Opening a device or a pipe may act on it.
    if is_stream(path) { Ok(()) } else { replace_with(path).map(drop) }
}

/// Begin to replace a file by one that is written out of order. The new file has no name until it
/// [persists](Pending::persist).
///
/// # Errors
/// [`Error::Write`], for a device or a pipe too.
pub fn replace_with(path: &Path) -> Result<Pending, Error> {
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
pub struct Pending {
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
    ///
    /// # Errors
    /// Those of the system.
    pub fn file(&self) -> io::Result<File> {
        File::options().read(true).write(true).open(self.file.path())
    }

    /// Create an unnamed file on the same disk.
    pub(crate) fn beside(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.folder)
    }

    /// Sync to disk and rename to the final name.
    ///
    /// # Errors
    /// Those of the system; the old file is then intact.
    pub fn persist(self) -> io::Result<()> {
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
