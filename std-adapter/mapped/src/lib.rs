//! Files mapped into memory, read-only: rows that outgrow memory are read where they lie on the disk.
//!
//! Two things can happen to a mapped file that cannot happen to a vector: another program shortens it, and
//! a read past its new end raises `SIGBUS`, which ends the process; or another program writes into it, and
//! what was read once is not what is read next. Here the first is an error like any other: the signal is
//! caught, the lost pages read as zeros, and [`Mapped::check`] says so. The second is noticed by
//! [`Mapped::check`] too, from the file's length and time of modification. So whoever reads a mapped file
//! checks it before a result leaves the house:
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
//! # Why the `unsafe` here is sound
//!
//! `bytes` lends memory that other processes can change, which the language does not allow for a `&[u8]`. What
//! can follow is bounded by what the bytes are used for: they are plain numbers, of which every pattern of bits is
//! a value; no length, index or pointer is ever taken from them a second time after it was checked (a reader copies
//! a header out before it trusts it); and a result is thrown away unless [`Mapped::check`] passes after
//! it was made. This is the position of every database that reads through a mapping, and the one that
//! `memmap2` asks its callers to take knowingly. It is taken here, and nowhere else in the project.
//!
//! The handler of the signal looks at atomics and calls `mmap` for pages of a mapping that this crate
//! holds; both are safe in a handler. A `SIGBUS` elsewhere goes to whoever handled it before.

use memmap2::{Advice, Mmap};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

#[cfg(unix)]
mod guard;

/// A file in memory, to read.
#[derive(Debug)]
pub struct Mapped {
    // Ends before the mapping does, so that the handler never sees a range that is no longer ours.
    #[cfg(unix)]
    guard: guard::Guard,
    map: Mmap,
    file: File,
    length: u64,
    modified: Option<SystemTime>,
}

impl Mapped {
    /// Maps a whole file.
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::UnexpectedEof`] for an empty file, and
    /// [`io::ErrorKind::QuotaExceeded`] where more files are mapped than the handler of the signal knows
    /// ([`MOST`]).
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.len() == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: the mapping is read-only and lives as long as `map`. That others can change the file is
        // argued at the top of this file.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self {
            #[cfg(unix)]
            guard: guard::Guard::over(&map)?,
            map,
            length: metadata.len(),
            modified: metadata.modified().ok(),
            file,
        })
    }

    /// The bytes, as they are on the disk at the moment when each is read.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Says whether everything read so far was the file as it was when it was opened.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] for a file that was shortened or cannot be read any more,
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
        if metadata.len() > self.length || metadata.modified().ok() != self.modified {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(())
    }

    /// Tells the system that reads will jump: it does not read ahead.
    pub fn expect_jumps(&self) {
        self.advise(Advice::Random);
    }

    /// Tells the system that reads will go through in order: it reads ahead.
    pub fn expect_order(&self) {
        self.advise(Advice::Sequential);
    }

    /// Advice that is not taken costs time and nothing else.
    fn advise(&self, advice: Advice) {
        #[cfg(unix)]
        let _ = self.map.advise(advice);
        #[cfg(not(unix))]
        let _ = advice;
    }
}

/// Files that can be mapped at once.
pub const MOST: usize = 64;

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
    fn a_file_shortened_under_us_is_an_error_and_no_crash() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let mapped = Mapped::open(&path).unwrap();
        let other = Mapped::open(&path).unwrap();
        mapped.check().unwrap();
        OpenOptions::new().write(true).open(&path).unwrap().set_len(10_000).unwrap();
        // Past the page with the new end: without the handler the process ends here.
        let sum: usize = mapped.bytes().iter().map(|&byte| usize::from(byte)).sum();
        assert_eq!(sum, 70_000);
        assert_eq!(mapped.check().unwrap_err().kind(), ErrorKind::UnexpectedEof);
        // The other has read nothing yet, and is told all the same.
        assert_eq!(other.check().unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(other.bytes()[LONG - 1], 0);
        // Longer again does not bring back what was read.
        OpenOptions::new().write(true).open(&path).unwrap().set_len(LONG as u64).unwrap();
        assert_eq!(mapped.check().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn many_threads_meet_the_end_together() {
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
    fn a_file_written_to_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let mapped = Mapped::open(&path).unwrap();
        let mut other = OpenOptions::new().write(true).open(&path).unwrap();
        other.seek(SeekFrom::Start(500)).unwrap();
        other.write_all(&[9]).unwrap();
        other.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(1)).unwrap();
        assert_eq!(mapped.check().unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn a_file_that_is_replaced_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder);
        let mapped = Mapped::open(&path).unwrap();
        std::fs::write(folder.path().join("new"), [1]).unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert_eq!(mapped.bytes()[LONG - 1], 7);
        mapped.check().unwrap();
    }

    #[test]
    fn what_cannot_be_mapped_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty");
        File::create(&path).unwrap();
        assert_eq!(Mapped::open(&path).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(Mapped::open(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
