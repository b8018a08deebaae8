//! The frame around bytes that are kept or sent: what they are, whether they are whole.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 7 | the magic number of the format |
//! | 8 to 11 | CRC-32 of bytes 12 to the end |
//! | 12 to 15 | version |
//! | 16 to 19 | length in bytes, this frame included |
//!
//! Little-endian, at any alignment. Bytes after the length are ignored.

use crate::checksum::crc32;
use crate::error::BytesProblem;

/// The first byte that the checksum covers.
pub(crate) const CHECKED: usize = 12;

/// Return a stored word as a length or an index: the largest `usize` for one that 16 bits cannot hold.
pub(crate) fn index(word: u32) -> usize {
    usize::try_from(word).unwrap_or(usize::MAX)
}

/// Check the frame of a format whose header, in every version, has at least `header` bytes. Return the
/// version and the bytes up to the length.
pub(crate) fn open<'a>(
    bytes: &'a [u8],
    magic: &[u8; 8],
    versions: core::ops::RangeInclusive<u32>,
    header: usize,
) -> Result<(u32, &'a [u8]), BytesProblem> {
    let have = bytes.len();
    if !bytes.iter().zip(magic).all(|(byte, expected)| byte == expected) {
        return Err(BytesProblem::Foreign);
    }
    let truncated = |needed| BytesProblem::Truncated { needed, have };
    let words = bytes.get(..header).and_then(|header| header.as_chunks::<4>().0.first_chunk::<5>());
    let [_, _, checksum, version, length] = words.ok_or(truncated(header))?.map(u32::from_le_bytes);
    if !versions.contains(&version) {
        return Err(BytesProblem::Version(version));
    }
    let bytes = bytes.get(..index(length)).ok_or(truncated(index(length)))?;
    match bytes.get(CHECKED..) {
        Some(checked) if crc32(checked) == checksum => Ok((version, bytes)),
        _ => Err(BytesProblem::Corrupt),
    }
}

/// Write the magic number and the checksum over the start of `bytes`, which has everything else. Return none
/// for bytes shorter than the frame.
pub(crate) fn seal(bytes: &mut [u8], magic: &[u8; 8]) -> Option<()> {
    let checksum = crc32(bytes.get(CHECKED..)?).to_le_bytes();
    *bytes.first_chunk_mut()? = *magic;
    *bytes.get_mut(magic.len()..)?.first_chunk_mut()? = checksum;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{open, seal};
    use crate::error::BytesProblem;

    #[test]
    fn a_sealed_frame_opens_and_a_damaged_one_does_not() {
        let mut bytes = [0; 24];
        bytes[12] = 2;
        bytes[16] = 23;
        assert!(seal(&mut bytes[..23], b"anything").is_some());
        assert_eq!(open(&bytes, b"anything", 1..=2, 20), Ok((2, &bytes[..23])));
        assert_eq!(open(&bytes, b"anything", 1..=1, 20).err(), Some(BytesProblem::Version(2)));
        assert_eq!(open(&bytes, b"nothing!", 1..=2, 20).err(), Some(BytesProblem::Foreign));
        let truncated = BytesProblem::Truncated { needed: 23, have: 22 };
        assert_eq!(open(&bytes[..22], b"anything", 1..=2, 20).err(), Some(truncated));
        bytes[20] ^= 1;
        assert_eq!(open(&bytes, b"anything", 1..=2, 20).err(), Some(BytesProblem::Corrupt));
        assert_eq!(seal(&mut bytes[..11], b"anything"), None);
    }
}
