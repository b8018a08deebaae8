//! Read-only memory-mapped files, for data larger than memory.
//!
//! Two things can happen to a mapped file that cannot happen to a vector. Another program can truncate it: a
//! read past its new end then raises `SIGBUS`, which ends the process. Or another program can write to it, so
//! that two reads of a byte differ. Here truncation is an ordinary error: the signal is caught, the lost
//! pages read as zeros, and [`Mapped::check`] reports it. [`Mapped::check`] also detects writes, by the
//! file's length, modification time and, on Unix, the time of its last change of status, which nobody can
//! set. Callers must check a mapped file before they use a result computed from it:
//!
//! ```
//! use dpp_nystrom_mapped::Mapped;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("rows");
//! # std::fs::write(&path, [7; 100])?;
//! let mapped = Mapped::open(&path)?;
//! let sum: u32 = mapped.bytes().iter().map(|&byte| u32::from(byte)).sum();
//! mapped.check()?; // the sum counts only now
//! assert_eq!(sum, 700);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Soundness of the `unsafe` code
//!
//! `bytes` lends memory that other processes can change, which the language does not allow for a `&[u8]`. The
//! consequences are limited by how the bytes are used: they are plain numbers, for which every bit pattern is
//! valid; no length, index or pointer is read from them again after it was checked (a reader copies a header
//! out before it trusts it); and a result is discarded unless [`Mapped::check`] passes after it was computed.
//! Every database that reads through a mapping takes this position, and `memmap2` requires its callers to. No
//! other crate of the project does.
//!
//! The signal handler reads atomics and calls `mmap` for pages of a mapping that this crate owns; both are
//! safe in a handler. A `SIGBUS` elsewhere, or one that a process sends, is passed to the previous handler,
//! which is put back with the last mapping.

#[cfg(unix)]
use memmap2::Advice;
use memmap2::Mmap;
use std::fs::{File, Metadata};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

#[cfg(unix)]
mod abort;
#[cfg(all(test, unix))]
mod alone;
#[cfg(unix)]
mod atomic;
#[cfg(unix)]
mod guard;
mod limits;
#[cfg(unix)]
mod slot;

#[cfg(unix)]
pub use abort::exit_on_abort;
pub use limits::MOST;

/// A read-only file in memory.
#[derive(Debug)]
pub struct Mapped {
    // Dropped before the mapping, so that the handler never sees a range that is no longer ours.
    #[cfg(unix)]
    guard: guard::Guard,
    map: Mmap,
    file: File,
    length: u64,
    times: Times,
}

/// The modification time, and where there is one the time of the last change of status, for a number of
/// names: a file that loses its name changes its status.
#[derive(Debug, PartialEq)]
struct Times {
    modified: Option<SystemTime>,
    status: Option<(u64, i64, i64)>,
}

impl Times {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let status = Some((metadata.nlink(), metadata.ctime(), metadata.ctime_nsec()));
        #[cfg(not(unix))]
        let status = None;
        Self { modified: metadata.modified().ok(), status }
    }

    fn differ(&self, now: &Self) -> bool {
        let same_names =
            matches!((self.status, now.status), (Some((one, ..)), Some((other, ..))) if one == other);
        self.modified != now.modified || (same_names && self.status != now.status)
    }
}

impl Mapped {
    /// Map a whole file.
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::UnexpectedEof`] for an empty file, and [`io::ErrorKind::QuotaExceeded`]
    /// if more than [`MOST`] files are mapped.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.len() == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: the mapping is read-only and lives as long as `map`. The module documentation discusses
        // changes to the file by others.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self {
            #[cfg(unix)]
            guard: guard::Guard::over(&map)?,
            map,
            length: metadata.len(),
            times: Times::of(&metadata),
            file,
        })
    }

    /// Return the bytes, as they are on disk when each is read.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Check that the file has not changed since it was opened.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] for a file that was truncated or can no longer be read,
    /// [`io::ErrorKind::InvalidData`] for one that was written to, and the system's.
    pub fn check(&self) -> io::Result<()> {
        #[cfg(unix)]
        if self.guard.lost() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let metadata = self.file.metadata()?;
        if metadata.len() < self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if metadata.len() > self.length || self.times.differ(&Times::of(&metadata)) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(())
    }

    /// Advise the system of random access: no read-ahead. Advice that fails affects speed only.
    pub fn expect_jumps(&self) {
        #[cfg(unix)]
        let _ = self.map.advise(Advice::Random);
    }

    /// Advise the system of sequential access: read ahead.
    pub fn expect_order(&self) {
        #[cfg(unix)]
        let _ = self.map.advise(Advice::Sequential);
    }
}

#[cfg(test)]
mod tests {
    use super::Mapped;
    use std::fs::{File, OpenOptions};
    use std::io::{ErrorKind, Seek, SeekFrom, Write};

    const LONG: usize = 1 << 20;

    fn file(folder: &tempfile::TempDir) -> std::path::PathBuf {
        let path = folder.path().join("rows");
        std::fs::write(&path, vec![7_u8; LONG]).unwrap();
        path
    }

    #[test]
    fn truncating_a_mapped_file_is_an_error_not_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let mapped = Mapped::open(&path).unwrap();
        let other = Mapped::open(&path).unwrap();
        mapped.check().unwrap();
        OpenOptions::new().write(true).open(&path).unwrap().set_len(10_000).unwrap();
        // Beyond the page with the new end: without the handler the process would end here.
        let sum: usize = mapped.bytes().iter().map(|&byte| usize::from(byte)).sum();
        assert_eq!(sum, 70_000);
        assert_eq!(mapped.check().unwrap_err().kind(), ErrorKind::UnexpectedEof);
        // The other mapping has read nothing yet, and still reports it.
        assert_eq!(other.check().unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(other.bytes()[LONG - 1], 0);
        // Growing again does not restore what was read.
        OpenOptions::new().write(true).open(&path).unwrap().set_len(LONG as u64).unwrap();
        assert_eq!(mapped.check().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn many_threads_read_past_the_end_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let mapped = Mapped::open(&path).unwrap();
        OpenOptions::new().write(true).open(&path).unwrap().set_len(1).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let mapped = &mapped;
                scope.spawn(move || {
                    for at in (LONG / 2 + thread..LONG).step_by(512) {
                        assert_eq!(mapped.bytes()[at], 0);
                    }
                });
            }
        });
        assert_eq!(mapped.check().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn writing_to_a_mapped_file_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let mapped = Mapped::open(&path).unwrap();
        let mut other = OpenOptions::new().write(true).open(&path).unwrap();
        other.seek(SeekFrom::Start(500)).unwrap();
        other.write_all(&[9]).unwrap();
        other.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(1)).unwrap();
        assert_eq!(mapped.check().unwrap_err().kind(), ErrorKind::InvalidData);
    }

    /// The modification time can be set back. A time of a millisecond later is needed for a clock of coarse
    /// ticks.
    #[test]
    #[cfg(unix)]
    fn writing_to_a_mapped_file_and_setting_its_time_back_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        let mapped = Mapped::open(&path).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let mut other = OpenOptions::new().write(true).open(&path).unwrap();
        other.write_all(&[9]).unwrap();
        other.set_modified(modified).unwrap();
        assert_eq!(mapped.check().unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn replacing_a_file_leaves_the_mapping_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let mapped = Mapped::open(&path).unwrap();
        std::fs::write(folder.path().join("new"), [1]).unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert_eq!(mapped.bytes()[LONG - 1], 7);
        mapped.check().unwrap();
    }

    #[test]
    fn files_that_cannot_be_mapped_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty");
        File::create(&path).unwrap();
        assert_eq!(Mapped::open(&path).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(Mapped::open(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
