//! The content of a saved state: tagged sections in a [`frame`].
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 19 | the frame: magic number, CRC-32, version, length |
//! | 20 to 23 | number of sections s |
//! | 24 on | s times: tag (4 bytes), length in bytes (4 bytes) |
//! | 24 + 8s on | the content of the sections, in the order of the table |
//!
//! Little-endian, at any alignment. A reader skips the tags from 2³¹ on that it does not know, and refuses a
//! state with another tag that it does not know.

use crate::error::{BytesProblem, Error, Known};
use crate::frame;

/// The bytes before the table.
const HEADER: usize = 24;
/// The bytes of a section in the table.
pub(crate) const ENTRY: usize = 8;
/// The first tag of optional sections.
pub(crate) const OPTIONAL: u32 = 1 << 31;

/// Return the bytes of a state with this many sections of this many bytes in all.
pub(crate) const fn length(sections: usize, content: usize) -> usize {
    HEADER + ENTRY * sections + content
}

/// Writes the sections, one after the other.
pub(crate) struct Writer<'b> {
    table: &'b mut [[u8; ENTRY]],
    content: &'b mut [u8],
}

impl<'b> Writer<'b> {
    /// Write a state of `length` bytes in all, in `sections` sections that `write` writes. Return the length.
    ///
    /// # Errors
    /// [`Error::Capacity`]; nothing is written then.
    pub(crate) fn write(
        bytes: &mut [u8],
        magic: &[u8; 8],
        sections: usize,
        length: usize,
        write: impl FnOnce(&mut Writer<'_>) -> Option<()>,
    ) -> Result<usize, Error> {
        let have = bytes.len();
        let capacity = Error::Capacity { needed: length, have };
        let bytes = bytes.get_mut(..length).ok_or(capacity)?;
        let total = u32::try_from(length).map_err(|_| capacity)?;
        let (header, rest) = bytes.split_at_mut_checked(HEADER).known()?;
        let words = [0, 0, 0, 1, total, sections as u32].into_iter().flat_map(u32::to_le_bytes);
        header.iter_mut().zip(words).for_each(|(slot, byte)| *slot = byte);
        let (table, content) = rest.split_at_mut_checked(ENTRY * sections).known()?;
        let mut writer = Writer { table: table.as_chunks_mut().0, content };
        write(&mut writer).known()?;
        debug_assert!(writer.table.is_empty() && writer.content.is_empty(), "a state of the stated length");
        frame::seal(bytes, magic).known()?;
        Ok(length)
    }

    /// Write the next section.
    #[must_use]
    pub(crate) fn section(&mut self, tag: u32, bytes: impl Iterator<Item = u8>) -> Option<()> {
        let mut written = 0;
        for (slot, byte) in self.content.iter_mut().zip(bytes) {
            *slot = byte;
            written += 1;
        }
        let content = core::mem::take(&mut self.content);
        self.content = content.get_mut(written..)?;
        let (entry, table) = core::mem::take(&mut self.table).split_first_mut()?;
        self.table = table;
        let words = [tag, written as u32].into_iter().flat_map(u32::to_le_bytes);
        entry.iter_mut().zip(words).for_each(|(slot, byte)| *slot = byte);
        Some(())
    }
}

/// The sections of a state that was checked.
#[derive(Clone, Copy)]
pub(crate) struct Sections<'b> {
    table: &'b [[u8; ENTRY]],
    content: &'b [u8],
}

impl<'b> Sections<'b> {
    /// Check the bytes of a state whose mandatory tags are 1 to `last`.
    pub(crate) fn open(bytes: &'b [u8], magic: &[u8; 8], last: u32) -> Result<Self, BytesProblem> {
        let (_, bytes) = frame::open(bytes, magic, 1..=1, HEADER)?;
        let sections = Self::read(bytes.get(HEADER - 4..).ok_or(BytesProblem::Malformed)?, last)?;
        if (1..=last).all(|tag| sections.find(tag).is_some()) {
            Ok(sections)
        } else {
            Err(BytesProblem::Malformed)
        }
    }

    /// Check the number of sections, their table and their content, to the end of `bytes`. The mandatory tags
    /// are 1 to `last`; none of them need be there.
    pub(crate) fn read(bytes: &'b [u8], last: u32) -> Result<Self, BytesProblem> {
        let (count, rest) = bytes.split_first_chunk().ok_or(BytesProblem::Malformed)?;
        let table =
            frame::index(u32::from_le_bytes(*count)).checked_mul(ENTRY).ok_or(BytesProblem::Malformed)?;
        let (table, content) = rest.split_at_checked(table).ok_or(BytesProblem::Malformed)?;
        let sections = Self { table: table.as_chunks().0, content };
        let mut end = 0_usize;
        for (tag, length) in sections.entries() {
            if !(1..=last).contains(&tag) && tag < OPTIONAL {
                return Err(BytesProblem::Section(tag));
            }
            end = end.checked_add(length).ok_or(BytesProblem::Malformed)?;
        }
        let repeated = |tag| sections.entries().filter(|&(other, _)| other == tag).count() > 1;
        if end == content.len() && !(1..=last).any(repeated) {
            Ok(sections)
        } else {
            Err(BytesProblem::Malformed)
        }
    }

    fn entries(self) -> impl Iterator<Item = (u32, usize)> {
        self.table.iter().map(|&[t0, t1, t2, t3, l0, l1, l2, l3]| {
            (u32::from_le_bytes([t0, t1, t2, t3]), frame::index(u32::from_le_bytes([l0, l1, l2, l3])))
        })
    }

    /// Return a section; none where there is none.
    pub(crate) fn find(self, tag: u32) -> Option<&'b [u8]> {
        let before = self.entries().take_while(|&(other, _)| other != tag);
        let start = before.fold(0_usize, |start, (_, length)| start.saturating_add(length));
        let (_, length) = self.entries().find(|&(other, _)| other == tag)?;
        self.content.get(start..start.saturating_add(length))
    }

    /// Return a section, if it has this length.
    pub(crate) fn of_length(self, tag: u32, length: usize) -> Result<&'b [u8], BytesProblem> {
        self.find(tag).filter(|section| section.len() == length).ok_or(BytesProblem::Malformed)
    }

    /// Return the words of a section of `N` words.
    pub(crate) fn words<const N: usize>(self, tag: u32) -> Result<[u32; N], BytesProblem> {
        let section = self.of_length(tag, 4 * N)?;
        let words = section.as_chunks().0.first_chunk::<N>().ok_or(BytesProblem::Malformed)?;
        Ok(words.map(u32::from_le_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{Sections, Writer, length};
    use crate::error::{BytesProblem, Error};
    use crate::frame;

    const MAGIC: &[u8; 8] = b"anything";

    fn written(bytes: &mut [u8], tags: [u32; 2]) -> Result<usize, Error> {
        Writer::write(bytes, MAGIC, 2, length(2, 11), |writer| {
            writer.section(tags[0], [2, 0, 0, 0, 1, 1, 0, 0].into_iter())?;
            writer.section(tags[1], [7, 8, 9].into_iter())
        })
    }

    #[test]
    fn sections_are_found_by_their_tags() {
        let mut bytes = [0; 60];
        assert_eq!(written(&mut bytes, [2, 1]), Ok(51));
        let sections = Sections::open(&bytes, MAGIC, 2).unwrap();
        assert_eq!(sections.words::<2>(2), Ok([2, 257]));
        assert_eq!(sections.words::<1>(2), Err(BytesProblem::Malformed));
        assert_eq!(sections.of_length(1, 3), Ok(&[7, 8, 9][..]));
        assert_eq!(sections.of_length(1, 2), Err(BytesProblem::Malformed));
        assert_eq!(sections.of_length(3, 0), Err(BytesProblem::Malformed));
        assert_eq!(written(&mut bytes[..50], [1, 2]), Err(Error::Capacity { needed: 51, have: 50 }));
    }

    #[test]
    fn inconsistent_sections_are_refused() {
        let open = |tags, last| {
            let mut bytes = [0; 51];
            written(&mut bytes, tags).unwrap();
            Sections::open(&bytes, MAGIC, last).map(|_| ())
        };
        assert_eq!(open([1, 2], 2), Ok(()));
        assert_eq!(open([1, 1 << 31], 1), Ok(()));
        assert_eq!(open([1, 3], 2), Err(BytesProblem::Section(3)));
        assert_eq!(open([1, 2], 3), Err(BytesProblem::Malformed));
        assert_eq!(open([1, 1], 1), Err(BytesProblem::Malformed));
        // Lengths, of 8 and 3 bytes, that are not those of the content; the last only by their sum.
        for lengths in [[9, 3], [7, 3], [8, 2], [0, 0], [u32::MAX, 12]] {
            let mut bytes = [0; 51];
            written(&mut bytes, [1, 2]).unwrap();
            bytes[28..32].copy_from_slice(&lengths[0].to_le_bytes());
            bytes[36..40].copy_from_slice(&lengths[1].to_le_bytes());
            frame::seal(&mut bytes, MAGIC).unwrap();
            assert_eq!(Sections::open(&bytes, MAGIC, 2).err(), Some(BytesProblem::Malformed), "{lengths:?}");
        }
    }
}
