//! The framing of this crate's files: magic, version, length and CRC-32 before the content.
//!
//! | bytes | content |
//! | --- | --- |
//! | 8 | magic |
//! | 4 | version |
//! | 0, 4 or 8 | length of the content |
//! | 4 | CRC-32 of the content, or of version, length and content |
//! | then | the content, in postcard's format |
//!
//! All integers are little-endian. Content is returned only if the whole frame is valid.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// A kind of framed file.
pub(crate) struct Frame {
    /// The first eight bytes.
    pub(crate) magic: &'static [u8; 8],
    /// The version to write.
    pub(crate) version: u32,
    /// The latest version that can be read; the earliest is 1.
    pub(crate) latest: u32,
    /// The width of the length field.
    pub(crate) length: Length,
    /// Whether other data may follow the content. If not, the length must match the end of the file.
    pub(crate) followed: bool,
}

/// The encoding of the content's length, and its number of bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// No length field: the content ends at the end of the file.
    None = 0,
    /// Four bytes, covered by the checksum.
    Four = 4,
    /// Eight bytes.
    Eight = 8,
}

impl Length {
    /// Whether the field holds this number of bytes.
    fn holds(self, bytes: u64) -> bool {
        self != Self::Four || u32::try_from(bytes).is_ok()
    }
}

/// The reason a framed file is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameProblem {
    /// A different kind of file.
    Foreign,
    /// An unsupported version.
    Version(u32),
    /// The file ends early.
    Truncated,
    /// More bytes than the length field states.
    Longer,
    /// The checksum does not match.
    Corrupt,
}

/// Whether a file begins with these bytes; false if it cannot be read. Standard input and pipes must keep
/// their first bytes, so they do not.
pub(crate) fn begins_with(path: &Path, magic: &[u8; 8]) -> bool {
    let mut found = [0; 8];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut found)).is_ok()
        && found == *magic
}

/// Read to the end, or this many bytes. Memory that cannot be had is an error.
fn read_at_most(input: &mut impl Read, limit: u64) -> io::Result<Vec<u8>> {
    const STEP: usize = 1 << 20;
    let mut content = Vec::new();
    loop {
        content.try_reserve(STEP)?;
        let left = limit - content.len() as u64;
        let read = input.by_ref().take(left.min(STEP as u64)).read_to_end(&mut content)?;
        if read == 0 {
            return Ok(content);
        }
    }
}

impl Frame {
    /// Return the size of the header in bytes.
    pub(crate) fn header(&self) -> usize {
        16 + self.length as usize
    }

    fn checksum(&self, between: &[u8], content: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        if self.length == Length::Four {
            hasher.update(between);
        }
        hasher.update(content);
        hasher.finalize()
    }

    /// Write the header and the content.
    ///
    /// # Errors
    /// Errors of `out`, and `InvalidInput` for content too long for the length field.
    pub(crate) fn write(&self, out: &mut (impl Write + ?Sized), content: &[u8]) -> io::Result<()> {
        if !self.length.holds(content.len() as u64) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let length = &(content.len() as u64).to_le_bytes()[..self.length as usize];
        let between = [self.version.to_le_bytes().as_slice(), length].concat();
        out.write_all(self.magic)?;
        out.write_all(&between)?;
        out.write_all(&self.checksum(&between, content).to_le_bytes())?;
        out.write_all(content)
    }

    /// Read the version and the content, of at most `most` bytes.
    ///
    /// # Errors
    /// Errors of `input`. The inner error is the reason the frame is invalid.
    pub(crate) fn read(
        &self,
        input: &mut impl Read,
        most: u64,
    ) -> io::Result<Result<(u32, Vec<u8>), FrameProblem>> {
        let mut header = Vec::new();
        input.by_ref().take(self.header() as u64).read_to_end(&mut header)?;
        if !header.starts_with(&self.magic[..header.len().min(8)]) {
            return Ok(Err(FrameProblem::Foreign));
        }
        let rest = header.get(8..).unwrap_or_default();
        let Some(version) = rest.first_chunk::<4>() else {
            return Ok(Err(FrameProblem::Truncated));
        };
        // A future version may have a different header, so the version is parsed even if the rest of the
        // header is missing.
        let version = u32::from_le_bytes(*version);
        if !(1..=self.latest).contains(&version) {
            return Ok(Err(FrameProblem::Version(version)));
        }
        let (between, checksum) = match rest.split_last_chunk::<4>() {
            Some(parts) if header.len() == self.header() => parts,
            _ => return Ok(Err(FrameProblem::Truncated)),
        };
        let length = &between[4..];
        let mut bytes = [0; 8];
        bytes[..length.len()].copy_from_slice(length);
        let wanted = if length.is_empty() { u64::MAX } else { u64::from_le_bytes(bytes) };
        // Bound the memory for an endless input: the header gives the maximum length.
        let limit = if self.followed { wanted } else { wanted.saturating_add(1) };
        let content = read_at_most(input, limit.min(most.saturating_add(1)))?;
        if content.len() as u64 > most {
            return Ok(Err(FrameProblem::Longer));
        }
        if self.length != Length::None {
            match (content.len() as u64).cmp(&wanted) {
                Ordering::Less => return Ok(Err(FrameProblem::Truncated)),
                Ordering::Greater => return Ok(Err(FrameProblem::Longer)),
                Ordering::Equal => {}
            }
        }
        if self.checksum(between, &content) != u32::from_le_bytes(*checksum) {
            return Ok(Err(FrameProblem::Corrupt));
        }
        Ok(Ok((version, content)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, FrameProblem, Length, begins_with, read_at_most};
    use std::io::{self, Read};

    const MAGIC: &[u8; 8] = b"a frame\n";

    fn frame(length: Length, followed: bool) -> Frame {
        Frame { magic: MAGIC, version: 2, latest: 3, length, followed }
    }

    fn written(frame: &Frame, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame.write(&mut bytes, content).unwrap();
        bytes
    }

    /// The checksum stands last in the header; with four bytes of length it is of version and length too.
    #[test]
    fn a_frame_has_its_bytes_in_their_places() {
        let content = b"content";
        for (length, width) in [(Length::None, 0), (Length::Four, 4), (Length::Eight, 8)] {
            let frame = frame(length, false);
            let bytes = written(&frame, content);
            assert_eq!((frame.header(), bytes.len()), (16 + width, 16 + width + content.len()));
            assert_eq!((&bytes[..8], &bytes[8..12]), (&MAGIC[..], &[2, 0, 0, 0][..]));
            assert_eq!(bytes[12..12 + width], (content.len() as u64).to_le_bytes()[..width]);
            let covered = if width == 4 { [&bytes[8..16], content].concat() } else { content.to_vec() };
            let checksum = crc32fast::hash(&covered).to_le_bytes();
            assert_eq!(bytes[12 + width..16 + width], checksum);
            assert_eq!(frame.read(&mut &bytes[..], 7).unwrap(), Ok((2, content.to_vec())));
        }
    }

    #[test]
    fn four_bytes_hold_lengths_below_4_gib() {
        let (most, more) = (u64::from(u32::MAX), 1 << 32);
        let holds = |bytes| [Length::None, Length::Four, Length::Eight].map(|length| length.holds(bytes));
        assert_eq!((holds(most), holds(more)), ([true; 3], [true, false, true]));
    }

    #[test]
    fn what_is_wrong_with_a_frame_is_named() {
        for (length, followed) in [(Length::None, false), (Length::Four, false), (Length::Eight, true)] {
            let frame = frame(length, followed);
            let bytes = written(&frame, b"content");
            let read = |bytes: &[u8], most| frame.read(&mut &bytes[..], most).unwrap().unwrap_err();
            assert_eq!(read(&bytes, 6), FrameProblem::Longer);
            assert_eq!(read(b"a frame of another kind", 100), FrameProblem::Foreign);
            for (byte, version) in [(0, 0), (4, 4)] {
                let mut other = bytes.clone();
                other[8] = byte;
                assert_eq!(read(&other, 100), FrameProblem::Version(version));
            }
            for end in 0..bytes.len() {
                let expected = match length {
                    Length::None if end >= frame.header() => FrameProblem::Corrupt,
                    _ => FrameProblem::Truncated,
                };
                assert_eq!(read(&bytes[..end], 100), expected, "{end}");
            }
            let mut other = bytes.clone();
            *other.last_mut().unwrap() ^= 1;
            assert_eq!(read(&other, 100), FrameProblem::Corrupt);
            let longer = [&bytes[..], b"more"].concat();
            match (length, followed) {
                (_, true) => assert!(frame.read(&mut &longer[..], 100).unwrap().is_ok()),
                (Length::None, _) => assert_eq!(read(&longer, 100), FrameProblem::Corrupt),
                _ => assert_eq!(read(&longer, 100), FrameProblem::Longer),
            }
        }
    }

    #[test]
    fn a_file_is_told_by_its_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert!(!begins_with(&path, MAGIC) && !begins_with(folder.path(), MAGIC));
        for (content, expected) in [
            (&b"a frame\nand more"[..], true),
            (&MAGIC[..], true),
            (b"a frame", false),
            (b"another file", false),
        ] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(begins_with(&path, MAGIC), expected, "{content:?}");
        }
    }

    /// The length that a damaged file claims is no reason to read all that follows.
    #[test]
    fn no_more_is_read_than_asked_for() {
        for limit in [0, 1, 4, (1 << 20) + 1, 3 << 20] {
            assert_eq!(read_at_most(&mut io::repeat(7).take(8 << 20), limit).unwrap().len() as u64, limit);
        }
        assert_eq!(read_at_most(&mut &[1, 2, 3][..], 4).unwrap(), [1, 2, 3]);
    }
}
