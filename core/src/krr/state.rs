//! What an accumulator has learned, as bytes that travel: from a device to the server that merges a fleet, or
//! over a reset.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 7 | `dppnstat` |
//! | 8 to 11 | CRC-32 of what follows, up to the length |
//! | 12 to 15 | version: 1 |
//! | 16 to 19 | length of all of it in bytes |
//! | 20 to 23 | bytes of a number: 4 or 8 |
//! | 24 to 27 | features c |
//! | 28 to 35 | digest of the landmarks |
//! | 36 to 43 | rows learned |
//! | 44 on | the numbers of [`RidgeRegression::numbers`] |
//!
//! Little-endian, at any alignment. Rows learned on different landmarks, or under another kernel, are features of
//! different spaces: their accumulators have the same shape, and their sum is nonsense. So the digest of the landmarks
//! travels inside ([`crate::digest`]), and another one is refused.

use super::RidgeRegression;
use crate::error::{BytesProblem, Error, Known};
use crate::frame;
use crate::scalar::{Scalar, to_bytes};

const MAGIC: &[u8; 8] = b"dppnstat";
const VERSION: u32 = 1;
const HEADER: usize = 44;

/// Bytes of the state of so many features.
///
/// ```
/// use dpp_nystrom_core::state_bytes;
///
/// const ROOM: usize = state_bytes::<f32>(16);
/// assert_eq!(ROOM, 44 + 4 * (16 * 17 / 2 + 16 + 2));
/// ```
pub const fn state_bytes<T: Scalar>(dim: usize) -> usize {
    HEADER + size_of::<T>() * RidgeRegression::<T>::numbers_kept(dim)
}

impl<T: Scalar> RidgeRegression<'_, T> {
    /// Writes what was learned to the first [`state_bytes`] of `bytes`, and answers how many these are. `digest` is
    /// that of the landmarks ([`crate::digest`]).
    ///
    /// # Errors
    /// [`Error::Capacity`]; nothing is written then.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, RidgeRegression, RidgeWorkspace, BytesProblem, state_bytes};
    ///
    /// let (mut memory, mut other) = (RidgeWorkspace::<f32, 2>::new(), RidgeWorkspace::<f32, 2>::new());
    /// let mut ridge = RidgeRegression::new(2, memory.lend())?;
    /// ridge.add(&[1.0, 0.5], 2.0)?;
    ///
    /// let mut bytes = [0; state_bytes::<f32>(2)];
    /// ridge.write_state(0xD16E57, &mut bytes)?;
    /// let mut received = RidgeRegression::new(2, other.lend())?;
    /// received.read_state(0xD16E57, &bytes)?;
    /// assert!(received.numbers().eq(ridge.numbers()));
    /// let refused = Err(Error::StateBytes(BytesProblem::OtherLandmarks));
    /// assert_eq!(received.read_state(7, &bytes), refused);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn write_state(&self, digest: u64, bytes: &mut [u8]) -> Result<usize, Error> {
        let needed = state_bytes::<T>(self.features());
        let have = bytes.len();
        let bytes = bytes.get_mut(..needed).ok_or(Error::Capacity { needed, have })?;
        let words = [VERSION, needed as u32, size_of::<T>() as u32, self.features() as u32];
        let header = [0; 12].into_iter().chain(words.into_iter().flat_map(u32::to_le_bytes));
        let counts = [digest, self.rows()].into_iter().flat_map(u64::to_le_bytes);
        let numbers = self.numbers().flat_map(|number| {
            let (bytes, len) = to_bytes(number);
            bytes.into_iter().take(len)
        });
        for (slot, byte) in bytes.iter_mut().zip(header.chain(counts).chain(numbers)) {
            *slot = byte;
        }
        frame::seal(bytes, MAGIC).ok_or(Error::Capacity { needed, have })?;
        Ok(needed)
    }

    /// Takes back what [`write_state`](Self::write_state) wrote, here or elsewhere: all later results are the same
    /// bit for bit. What was here before is forgotten; to keep it, read into another accumulator and
    /// [`merge`](Self::merge). Bytes after the state's end are not looked at.
    ///
    /// # Errors
    /// [`Error::StateBytes`] with what is wrong, [`Error::Length`] for another number of features.
    pub fn read_state(&mut self, digest: u64, bytes: &[u8]) -> Result<(), Error> {
        let (rows, numbers) = self.check_state(digest, bytes)?;
        let mut numbers = numbers.chunks_exact(size_of::<T>()).map(from_bytes::<T>);
        if numbers.clone().any(|number| !number.is_finite()) {
            return Err(Error::StateBytes(BytesProblem::Malformed));
        }
        self.take_back(rows, &mut numbers).known()
    }

    /// The rows and the bytes of the numbers, of a state that is whole and of these landmarks.
    fn check_state<'b>(&self, digest: u64, bytes: &'b [u8]) -> Result<(u64, &'b [u8]), Error> {
        let refuse = |problem| Err(Error::StateBytes(problem));
        let (_, content) = frame::open(bytes, MAGIC, VERSION..=VERSION, HEADER).map_err(Error::StateBytes)?;
        let header = content.as_chunks::<4>().0.first_chunk::<11>();
        let Some(header) = header else { return refuse(BytesProblem::Malformed) };
        let [_, _, _, _, length, number, dim, low, high, rows, more] = header.map(u32::from_le_bytes);
        if number as usize != size_of::<T>() {
            return refuse(BytesProblem::Precision);
        }
        if dim as usize != self.features() {
            return Err(Error::Length { expected: self.features(), found: dim as usize });
        }
        if length as usize != state_bytes::<T>(self.features()) {
            return refuse(BytesProblem::Malformed);
        }
        if u64::from(high) << 32 | u64::from(low) != digest {
            return refuse(BytesProblem::OtherLandmarks);
        }
        let rows = u64::from(more) << 32 | u64::from(rows);
        Ok((rows, content.get(HEADER..).ok_or(Error::StateBytes(BytesProblem::Malformed))?))
    }
}

/// A number from its bytes; NaN for another count of them.
fn from_bytes<T: Scalar>(bytes: &[u8]) -> T {
    let value = match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
        (Ok(bytes), _) => f64::from(f32::from_le_bytes(bytes)),
        (_, Ok(bytes)) => f64::from_le_bytes(bytes),
        _ => f64::NAN,
    };
    T::from_f64(value)
}
