//! Atomic writing of files.

use crate::error::Error;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Write a file under a temporary name in the same folder, rename it once it is complete and on disk, and
/// sync the folder. A full disk or a kill leaves the old file intact, with its permissions. A symbolic link
/// is followed; a device or a pipe is written to, not replaced. On Linux the new file has no name until it is
/// complete. A kill leaves `.dpp-nystrom-`, six letters and `.tmp`, which nothing reads or removes, if it
/// comes between the link and the rename of the complete file; elsewhere, and on file systems without unnamed
/// files, at any time before the rename.
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

/// Write a folder of files, each by its path in it: into a folder beside it, which is renamed once it is
/// complete. The folder does not exist, or is empty.
///
/// # Errors
/// [`Error::Write`]. The folder is then as it was.
pub fn write_folder(path: &Path, files: &[(String, Vec<u8>)]) -> Result<(), Error> {
    let write = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // It is its owner's alone; the folder inside has the usual permissions.
        let outer = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempdir_in(parent)?;
        let folder = outer.path().join("folder");
        for (name, content) in files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap_or(&folder))?;
            let mut file = File::create_new(file)?;
            file.write_all(content)?;
            file.sync_all()?;
        }
        fs::rename(folder, path)
    };
    write().map_err(|source| Error::Write { path: path.to_owned(), source })
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

/// A file that is not in its place yet, removed on drop unless it persists.
#[derive(Debug)]
pub struct Pending {
    file: Unfinished,
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
        let file = match unnamed::create(folder) {
            Ok(file) => Unfinished::Unnamed(file),
            Err(_) => Unfinished::Named(temporary(folder)?),
        };
        Ok(Self { file, folder: folder.to_owned(), path: path.to_owned(), found })
    }

    /// Open the file for reading and writing, from its beginning.
    ///
    /// # Errors
    /// Those of the system.
    pub fn file(&self) -> io::Result<File> {
        File::options().read(true).write(true).open(self.current())
    }

    /// Return the path that the file has before it persists.
    pub fn current(&self) -> PathBuf {
        match &self.file {
            Unfinished::Unnamed(file) => unnamed::path(file),
            Unfinished::Named(file) => file.path().to_owned(),
        }
    }

    /// Create an unnamed file on the same disk.
    pub fn beside(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.folder)
    }

    /// Sync to disk, rename to the final name, and sync the folder, so that the name outlasts a loss of power
    /// too.
    ///
    /// # Errors
    /// Those of the system. The old file is then intact; if the folder alone cannot be synced, it may be the
    /// new one.
    pub fn persist(self) -> io::Result<()> {
        let file = self.file.as_file();
        if let Some(found) = &self.found {
            file.set_permissions(found.permissions())?;
        }
        file.sync_all()?;
        let folder = to_sync(&self.folder)?;
        match self.file {
            Unfinished::Unnamed(file) => unnamed::replace(&file, &self.folder, &self.path)?,
            Unfinished::Named(file) => file.persist(self.path).map(drop).map_err(|error| error.error)?,
        }
        match folder.map_or(Ok(()), |folder| folder.sync_all()) {
            // Of a file system that cannot sync a folder.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
            {
                Ok(())
            }
            synced => synced,
        }
    }
}

/// Open a folder to sync it; none if it may be written to, but not read, or if the system does not open
/// folders.
fn to_sync(folder: &Path) -> io::Result<Option<File>> {
    match File::open(folder) {
        Err(error) if cfg!(not(unix)) || error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        opened => opened.map(Some),
    }
}

/// A file without a name, or under a temporary one.
#[derive(Debug)]
enum Unfinished {
    Unnamed(File),
    Named(tempfile::NamedTempFile),
}

impl Unfinished {
    fn as_file(&self) -> &File {
        match self {
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }
}

/// The name of a file that is not in its place yet: six letters are between them.
const PREFIX: &str = ".dpp-nystrom-";
const SUFFIX: &str = ".tmp";

#[cfg(target_os = "linux")]
mod unnamed {
    use crate::atomic_file::{PREFIX, SUFFIX};
    use rustix::fs::{AtFlags, CWD, OFlags, linkat, rename, unlink};
    use rustix::io::Errno;
    use std::ffi::CString;
    use std::fs::File;
    use std::hash::{BuildHasher, RandomState};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::{Path, PathBuf};

    /// Names that are tried at most.
    const NAMES: usize = 1 << 16;

    /// Create a file without a name on the disk of a folder.
    pub(super) fn create(folder: &Path) -> io::Result<File> {
        let flags = OFlags::TMPFILE.bits().cast_signed();
        let file = File::options().read(true).write(true).mode(0o666).custom_flags(flags).open(folder)?;
        // It can only be named where its descriptor is visible.
        path(&file).try_exists()?.then_some(file).ok_or(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn path(file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }

    /// Give the file a name in the folder that no other has, and rename it to `to`. Nothing is allocated
    /// while it has the first name, so that want of memory does not leave it.
    pub(super) fn replace(file: &File, folder: &Path, to: &Path) -> io::Result<()> {
        let named = |path: &Path| CString::new(path.as_os_str().as_bytes());
        let (own, to) = (named(&path(file))?, named(to)?);
        for _ in 0..NAMES {
            let random = RandomState::new().hash_one(0);
            let name = named(&folder.join(format!("{PREFIX}{:06x}{SUFFIX}", random >> 40)))?;
            match linkat(CWD, &own, CWD, &name, AtFlags::SYMLINK_FOLLOW) {
                Err(Errno::EXIST) => continue,
                linked => linked?,
            }
            return rename(&name, &to).map_err(|error| {
                // The first error is told.
                let _ = unlink(&name);
                error.into()
            });
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

#[cfg(not(target_os = "linux"))]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::path::{Path, PathBuf};

    pub(super) fn create(_: &Path) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn path(_: &File) -> PathBuf {
        PathBuf::new()
    }

    pub(super) fn replace(_: &File, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Create with the permissions of an ordinary file, which the umask restricts, instead of owner-only.
#[cfg(unix)]
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).permissions(permissions).tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::temporary;

    #[test]
    fn a_temporary_name_tells_whose_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = temporary(folder.path()).unwrap();
        let name = file.path().file_name().unwrap().to_str().unwrap();
        let letters = name.strip_prefix(".dpp-nystrom-").and_then(|name| name.strip_suffix(".tmp"));
        assert_eq!(letters.map(str::len), Some(6), "{name}");
    }
}
