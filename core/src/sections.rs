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
use crate::scalar::{Scalar, numbers_of, to_bytes};

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

/// Writes the sections, one after the other. Each method is one function for all sections, since each of its
/// copies would take flash. What does not fit is counted and not written, and [`seal`](Self::seal) then
/// refuses the state.
pub(crate) struct Writer<'b> {
    bytes: &'b mut [u8],
    magic: &'static [u8; 8],
    /// Where the next byte is written.
    at: usize,
    /// Where the next entry of the table is written.
    entry: usize,
}

impl<'b> Writer<'b> {
    /// Begin a state of `length` bytes in all, in `sections` sections.
    ///
    /// # Errors
    /// [`Error::Capacity`]; nothing is written then.
    pub(crate) fn new(
        bytes: &'b mut [u8],
        magic: &'static [u8; 8],
        sections: usize,
        length: usize,
    ) -> Result<Self, Error> {
        let have = bytes.len();
        let capacity = Error::Capacity { needed: length, have };
        let bytes = bytes.get_mut(..length).ok_or(capacity)?;
        let total = u32::try_from(length).map_err(|_| capacity)?;
        let mut writer = Self { bytes, magic, at: 0, entry: HEADER };
        for word in [0, 0, 0, 1, total, sections as u32] {
            writer.word(word);
        }
        writer.at = HEADER + ENTRY * sections;
        Ok(writer)
    }

    /// Begin the next section.
    #[inline(never)]
    pub(crate) fn section(&mut self, tag: u32) -> &mut Self {
        // Its length, as long as it is open, is where it starts.
        let start = self.at;
        self.close();
        self.at = self.entry;
        self.word(tag);
        self.word(start as u32);
        self.entry = self.at;
        self.at = start;
        self
    }

    /// Replace the start of the last section by its length.
    fn close(&mut self) {
        let at = self.at;
        if let Some(slot) = self.bytes.get_mut(HEADER..self.entry).and_then(<[u8]>::last_chunk_mut::<4>) {
            *slot = (at as u32).wrapping_sub(u32::from_le_bytes(*slot)).to_le_bytes();
        }
    }

    /// Write bytes.
    #[inline(never)]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        for &byte in bytes {
            if let Some(slot) = self.bytes.get_mut(self.at) {
                *slot = byte;
            }
            self.at += 1;
        }
        self
    }

    /// Write an integer of 4 bytes.
    pub(crate) fn word(&mut self, word: u32) -> &mut Self {
        self.bytes(&word.to_le_bytes())
    }

    /// Write the lower 4 bytes of these integers.
    #[inline(never)]
    pub(crate) fn words(&mut self, words: &[usize]) -> &mut Self {
        for &word in words {
            self.word(word as u32);
        }
        self
    }

    /// Write integers of 8 bytes.
    #[inline(never)]
    pub(crate) fn longs(&mut self, longs: &[u64]) -> &mut Self {
        for &long in longs {
            self.bytes(&long.to_le_bytes());
        }
        self
    }

    /// Write numbers.
    #[inline(never)]
    pub(crate) fn numbers<T: Scalar>(&mut self, numbers: &[T]) -> &mut Self {
        for &number in numbers {
            let (bytes, length) = to_bytes(number);
            self.bytes(bytes.get(..length).unwrap_or_default());
        }
        self
    }

    /// Write the magic number and the checksum. Return the length.
    pub(crate) fn seal(mut self) -> Result<usize, Error> {
        self.close();
        let length = self.bytes.len();
        (self.at == length).then_some(()).known()?;
        frame::seal(self.bytes, self.magic).known()?;
        Ok(length)
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
        let (sections, found) = Self::count(bytes.get(HEADER - 4..).ok_or(BytesProblem::Malformed)?, last)?;
        // None is there twice.
        if found == last { Ok(sections) } else { Err(BytesProblem::Malformed) }
    }

    /// Check the number of sections, their table and their content, to the end of `bytes`. The mandatory tags
    /// are 1 to `last`; none of them need be there.
    pub(crate) fn read(bytes: &'b [u8], last: u32) -> Result<Self, BytesProblem> {
        Ok(Self::count(bytes, last)?.0)
    }

    /// [`read`](Self::read), and count the mandatory sections.
    fn count(bytes: &'b [u8], last: u32) -> Result<(Self, u32), BytesProblem> {
        let (count, rest) = bytes.split_first_chunk().ok_or(BytesProblem::Malformed)?;
        let table =
            frame::index(u32::from_le_bytes(*count)).checked_mul(ENTRY).ok_or(BytesProblem::Malformed)?;
        let (table, content) = rest.split_at_checked(table).ok_or(BytesProblem::Malformed)?;
        let sections = Self { table: table.as_chunks().0, content };
        let (mut end, mut found, mut sound) = (0_usize, 0, true);
        for (at, (tag, length)) in sections.entries().enumerate() {
            if (1..=last).contains(&tag) {
                found += 1;
                sound &= !sections.entries().take(at).any(|(other, _)| other == tag);
            } else if tag < OPTIONAL {
                return Err(BytesProblem::Section(tag));
            }
            end = end.checked_add(length).ok_or(BytesProblem::Malformed)?;
        }
        if end == content.len() && sound { Ok((sections, found)) } else { Err(BytesProblem::Malformed) }
    }

    fn entries(self) -> impl Iterator<Item = (u32, usize)> {
        self.table.iter().map(|&[t0, t1, t2, t3, l0, l1, l2, l3]| {
            (u32::from_le_bytes([t0, t1, t2, t3]), frame::index(u32::from_le_bytes([l0, l1, l2, l3])))
        })
    }

    /// Return a section; none where there is none.
    #[inline(never)]
    pub(crate) fn find(self, tag: u32) -> Option<&'b [u8]> {
        let before = self.entries().take_while(|&(other, _)| other != tag);
        let start = before.fold(0_usize, |start, (_, length)| start.saturating_add(length));
        let (_, length) = self.entries().find(|&(other, _)| other == tag)?;
        self.content.get(start..start.saturating_add(length))
    }

    /// Return a section, if it has this length.
    #[inline(never)]
    pub(crate) fn of_length(self, tag: u32, length: usize) -> Result<&'b [u8], BytesProblem> {
        self.find(tag).filter(|section| section.len() == length).ok_or(BytesProblem::Malformed)
    }

    /// Return a section of this many numbers, if all are finite.
    #[inline(never)]
    pub(crate) fn numbers<T: Scalar>(self, tag: u32, count: usize) -> Result<&'b [u8], BytesProblem> {
        let section = self.of_length(tag, count * size_of::<T>())?;
        if numbers_of::<T>(section).all(T::is_finite) { Ok(section) } else { Err(BytesProblem::Malformed) }
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
        let mut writer = Writer::new(bytes, MAGIC, 2, length(2, 11))?;
        writer.section(tags[0]).words(&[2, 257]);
        writer.section(tags[1]).bytes(&[7, 8, 9]);
        writer.seal()
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
