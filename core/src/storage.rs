//! Bytes that survive a loss of power: two slots in NOR flash, of which one is always whole.
//!
//! A save erases and writes the slot that does not hold the newest bytes, reads it back, and only then counts
//! it as the newest. The power may fail at any moment: what was being erased or written then holds arbitrary
//! bits, which the checksum refuses (a wrong one passes with probability 2⁻³²), or cannot be read, as on
//! flash with ECC. The other slot still holds the bytes before.
//!
//! A driver for flash with ECC must return an error for a word that cannot be read, and not end in a fault
//! (on STM32 the NMI). Saves erase the slots in turn: units rated for 10,000 erasures last 20,000 saves. A
//! save returns when it has erased, written and read back.
//!
//! | bytes of a slot | content |
//! | --- | --- |
//! | 0 to 7 | `dppnslot` |
//! | 8 to 11 | CRC-32 of bytes 12 to the end |
//! | 12 to 15 | version: 1 |
//! | 16 to 19 | length in bytes, this header included |
//! | 20 to 27 | sequence number: the larger one is newer |
//! | 28 to 31 | zero |
//! | 32 on | the bytes, then ones up to a whole unit of writing |
//!
//! The first piece, with the header, is written last. The module is generic over `embedded-storage`, the
//! trait that drivers of flash implement; it is a feature, `embedded-storage`, and nothing else in this crate
//! depends on it.

use crate::checksum::Crc32;
use crate::frame::{CHECKED, index};
use embedded_storage::nor_flash::NorFlash;

/// Bytes that are read or written at a time, on the stack.
const PIECE: usize = 256;
const HEADER: usize = 32;
const MAGIC: &[u8; 8] = b"dppnslot";
const VERSION: u32 = 1;

/// Why bytes could not be kept or read back. `E` is the error of the flash.
///
/// ```
/// use dpp_nystrom_core::StorageError;
///
/// let error = StorageError::<core::convert::Infallible>::Capacity { needed: 9_000, have: 4_064 };
/// assert_eq!(error.to_string(), "9000 bytes do not fit 4064");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StorageError<E> {
    /// An error of the flash.
    Flash(E),
    /// The region is not within the flash, or its halves are not whole units of erasing.
    Region,
    /// More bytes than a slot, or than the room to read them into, can hold.
    Capacity {
        /// Bytes needed.
        needed: usize,
        /// Bytes available.
        have: usize,
    },
    /// The flash does not hold what was written: it is worn out or protected. The bytes before are still
    /// there.
    Unverified,
    /// The bytes have changed since they were found: open the slots again.
    Damaged,
}

impl<E: core::fmt::Debug> core::fmt::Display for StorageError<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Flash(error) => write!(f, "flash: {error:?}"),
            Self::Region => {
                f.write_str("the region must be two halves of whole units of erasing, within the flash")
            }
            Self::Capacity { needed, have } => write!(f, "{needed} bytes do not fit {have}"),
            Self::Unverified => f.write_str("the flash does not hold what was written"),
            Self::Damaged => f.write_str("the bytes have changed since they were found"),
        }
    }
}

impl<E: core::fmt::Debug> core::error::Error for StorageError<E> {}

/// Two slots in a region of a NOR flash, for the state of a [`crate::Learner`] or any other bytes.
///
/// ```
/// use dpp_nystrom_core::{Slots, StorageError};
/// # use core::convert::Infallible;
/// # use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
/// #
/// # struct Flash([u8; 8_192]);
/// # impl ErrorType for Flash { type Error = Infallible; }
/// # impl ReadNorFlash for Flash {
/// #     const READ_SIZE: usize = 1;
/// #     fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Infallible> {
/// #         bytes.copy_from_slice(&self.0[offset as usize..][..bytes.len()]);
/// #         Ok(())
/// #     }
/// #     fn capacity(&self) -> usize { self.0.len() }
/// # }
/// # impl NorFlash for Flash {
/// #     const WRITE_SIZE: usize = 4;
/// #     const ERASE_SIZE: usize = 4_096;
/// #     fn erase(&mut self, from: u32, to: u32) -> Result<(), Infallible> {
/// #         self.0[from as usize..to as usize].fill(0xff);
/// #         Ok(())
/// #     }
/// #     fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Infallible> {
/// #         self.0[offset as usize..][..bytes.len()].copy_from_slice(bytes);
/// #         Ok(())
/// #     }
/// # }
/// # let driver = Flash([0xff; 8_192]);
///
/// let mut slots = Slots::open(driver, 0, 8_192)?; // two sectors of 4,096 bytes
/// assert_eq!((slots.capacity(), slots.saved()), (4_064, None));
/// slots.save(b"a state")?;
/// assert_eq!(slots.save(b"a later state")?, 2); // the sequence number
///
/// let mut slots = Slots::open(slots.into_flash(), 0, 8_192)?; // after a reset
/// let mut room = [0; 64];
/// assert_eq!(slots.load(&mut room)?, Some(&b"a later state"[..]));
/// assert_eq!(slots.save(&[0; 5_000]), Err(StorageError::Capacity { needed: 5_000, have: 4_064 }));
/// # Ok::<(), StorageError<Infallible>>(())
/// ```
///
/// # A learner that goes on after a reset
///
/// ```
/// use dpp_nystrom_core::{Error, Learner, Random, Slots, kernel::Gaussian};
/// # use core::convert::Infallible;
/// # use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
/// #
/// # struct Flash([u8; 8_192]);
/// # impl ErrorType for Flash { type Error = Infallible; }
/// # impl ReadNorFlash for Flash {
/// #     const READ_SIZE: usize = 1;
/// #     fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Infallible> {
/// #         bytes.copy_from_slice(&self.0[offset as usize..][..bytes.len()]);
/// #         Ok(())
/// #     }
/// #     fn capacity(&self) -> usize { self.0.len() }
/// # }
/// # impl NorFlash for Flash {
/// #     const WRITE_SIZE: usize = 4;
/// #     const ERASE_SIZE: usize = 4_096;
/// #     fn erase(&mut self, from: u32, to: u32) -> Result<(), Infallible> {
/// #         self.0[from as usize..to as usize].fill(0xff);
/// #         Ok(())
/// #     }
/// #     fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Infallible> {
/// #         self.0[offset as usize..][..bytes.len()].copy_from_slice(bytes);
/// #         Ok(())
/// #     }
/// # }
/// # let mut driver = Flash([0xff; 8_192]);
///
/// type Device = Learner<16, 4>;
///
/// /// Go on from a saved state, or start.
/// fn begin(device: &mut Device, saved: Option<&[u8]>) -> Result<Random, Error> {
///     let kernel = Gaussian::new(6.0)?;
///     match saved {
///         Some(state) => Ok(Random::resume(device.read_state(kernel, state)?)),
///         None => {
///             device.start(kernel);
///             Ok(Random::seeded(7))
///         }
///     }
/// }
///
/// let mut slots = Slots::open(&mut driver, 0, 8_192)?;
/// let mut state = [0; Device::STATE];
/// let mut device = Device::new();
/// let random = begin(&mut device, slots.load(&mut state)?)?;
/// device.scale(&[20.5, 0.1, 3.0, 7.0], 1.2)?; // and so on
///
/// let length = device.write_state(random.state(), &mut state)?; // in any phase, once an hour, say
/// slots.save(&state[..length])?;
///
/// let mut slots = Slots::open(&mut driver, 0, 8_192)?; // after a reset
/// let mut device = Device::new();
/// begin(&mut device, slots.load(&mut state)?)?;
/// device.scale(&[20.1, 0.3, 3.0, 6.5], 1.3)?; // the second row
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Slots<F> {
    flash: F,
    start: u32,
    /// Bytes of a slot.
    half: usize,
    newest: Option<Found>,
    /// Whether a slot could not be read when they were opened.
    unreadable: bool,
}

/// A slot with whole bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Found {
    second: bool,
    sequence: u64,
    /// The header included.
    length: usize,
    checksum: u32,
}

/// What is written to a slot.
struct Image<'b> {
    header: [u8; HEADER],
    bytes: &'b [u8],
}

impl Image<'_> {
    fn length(&self) -> usize {
        HEADER + self.bytes.len()
    }

    /// Write the bytes from `at` on; beyond the end, ones.
    fn piece(&self, at: usize, piece: &mut [u8]) {
        let image = self.header.iter().chain(self.bytes).skip(at);
        let padded = image.copied().chain(core::iter::repeat(0xff));
        piece.iter_mut().zip(padded).for_each(|(slot, byte)| *slot = byte);
    }
}

impl<F: NorFlash> Slots<F> {
    /// Use the region of `length` bytes from `start` on, a slot in each half, and look for the newest whole
    /// bytes. It reads the region once. A slot that cannot be read is passed over if the other is whole
    /// ([`has_unreadable`](Self::has_unreadable)).
    ///
    /// Units of writing and reading that do not divide 256 bytes do not compile.
    ///
    /// # Errors
    /// [`StorageError::Region`]; [`StorageError::Flash`] if a slot cannot be read and the other is not whole:
    /// try again, and where the error stays erase the region, of which no save can be read.
    pub fn open(flash: F, start: u32, length: usize) -> Result<Self, StorageError<F::Error>> {
        const {
            assert!(PIECE.is_multiple_of(F::WRITE_SIZE) && PIECE.is_multiple_of(F::READ_SIZE));
            assert!(
                F::ERASE_SIZE.is_multiple_of(F::WRITE_SIZE) && F::ERASE_SIZE.is_multiple_of(F::READ_SIZE)
            );
        }
        let half = length / 2;
        let end = index(start).checked_add(length).ok_or(StorageError::Region)?;
        let whole = |bytes: usize| bytes.checked_rem(F::ERASE_SIZE) == Some(0);
        if half < HEADER
            || length != 2 * half
            || !whole(index(start))
            || !whole(half)
            || end > flash.capacity()
        {
            return Err(StorageError::Region);
        }
        if u32::try_from(end).is_err() {
            return Err(StorageError::Region);
        }
        let mut slots = Self { flash, start, half, newest: None, unreadable: false };
        let (first, second) = (slots.find(false), slots.find(true));
        slots.unreadable = first.is_err() || second.is_err();
        slots.newest = match (first, second) {
            (Ok(Some(first)), Ok(Some(second))) if second.sequence > first.sequence => Some(second),
            (Ok(Some(whole)), _) | (_, Ok(Some(whole))) => Some(whole),
            (Err(error), _) | (_, Err(error)) => return Err(error),
            (Ok(None), Ok(None)) => None,
        };
        Ok(slots)
    }

    /// Return the most bytes that can be saved.
    pub fn capacity(&self) -> usize {
        self.half - HEADER
    }

    /// Return the number of bytes of the newest save, if there is one.
    pub fn saved(&self) -> Option<usize> {
        self.newest.map(|newest| newest.length - HEADER)
    }

    /// Return the sequence number of the newest save, from 1: 0 if there is none.
    pub fn sequence(&self) -> u64 {
        self.newest.map_or(0, |newest| newest.sequence)
    }

    /// Return whether a slot could not be read when they were opened: a save was interrupted on flash with
    /// ECC, or the flash fails, and the newest save may be lost. The next save erases that slot.
    pub fn has_unreadable(&self) -> bool {
        self.unreadable
    }

    /// Read the newest bytes to the start of `room` and return them: none if nothing was saved.
    ///
    /// # Errors
    /// [`StorageError::Capacity`], [`StorageError::Flash`], [`StorageError::Damaged`].
    pub fn load<'r>(&mut self, room: &'r mut [u8]) -> Result<Option<&'r [u8]>, StorageError<F::Error>> {
        let Some(newest) = self.newest else { return Ok(None) };
        let have = room.len();
        let needed = newest.length - HEADER;
        let room = room.get_mut(..needed).ok_or(StorageError::Capacity { needed, have })?;
        let mut rest = room.iter_mut();
        let found = self.checksum(newest.second, newest.length, |at, byte| {
            if at >= HEADER
                && let Some(slot) = rest.next()
            {
                *slot = byte;
            }
        })?;
        if found == newest.checksum { Ok(Some(room)) } else { Err(StorageError::Damaged) }
    }

    /// Replace the saved bytes. The previous ones remain until the new ones are complete. Return the sequence
    /// number.
    ///
    /// # Errors
    /// [`StorageError::Capacity`] before anything is erased; [`StorageError::Flash`] and
    /// [`StorageError::Unverified`]: the newest bytes are still those before.
    pub fn save(&mut self, bytes: &[u8]) -> Result<u64, StorageError<F::Error>> {
        let (needed, have) = (bytes.len(), self.capacity());
        if needed > have {
            return Err(StorageError::Capacity { needed, have });
        }
        let second = self.newest.is_some_and(|newest| !newest.second);
        let sequence = self.sequence() + 1;
        let length = HEADER + needed;
        let header = [VERSION, length as u32].into_iter().flat_map(u32::to_le_bytes);
        let header = header.chain(sequence.to_le_bytes()).chain([0; 4]);
        let mut checksum = Crc32::new();
        header.clone().chain(bytes.iter().copied()).for_each(|byte| checksum.update(byte));
        let checksum = checksum.finish();
        let mut image = Image { header: [0; HEADER], bytes };
        let words = MAGIC.iter().copied().chain(checksum.to_le_bytes()).chain(header);
        image.header.iter_mut().zip(words).for_each(|(slot, byte)| *slot = byte);

        let start = self.offset(second, 0);
        let end = start + image.length().next_multiple_of(F::ERASE_SIZE) as u32;
        self.flash.erase(start, end).map_err(StorageError::Flash)?;
        let written = image.length().next_multiple_of(F::WRITE_SIZE);
        let mut piece = [0; PIECE];
        for at in (0..written).step_by(PIECE).skip(1).chain([0]) {
            let piece = piece.get_mut(..PIECE.min(written - at)).unwrap_or_default();
            image.piece(at, piece);
            let offset = self.offset(second, at);
            self.flash.write(offset, piece).map_err(StorageError::Flash)?;
        }
        let found = Found { second, sequence, length, checksum };
        if self.find(second)? != Some(found) {
            return Err(StorageError::Unverified);
        }
        self.newest = Some(found);
        self.unreadable = false;
        Ok(sequence)
    }

    /// Give the flash back.
    pub fn into_flash(self) -> F {
        self.flash
    }

    fn offset(&self, second: bool, at: usize) -> u32 {
        // `open` has checked that the end of the region is below 2³².
        self.start + (if second { self.half } else { 0 } + at) as u32
    }

    /// Return what a slot holds, if it is whole.
    fn find(&mut self, second: bool) -> Result<Option<Found>, StorageError<F::Error>> {
        let mut header = [0; HEADER];
        let mut piece = [0; PIECE];
        let count = HEADER.next_multiple_of(F::READ_SIZE);
        let part = piece.get_mut(..count).unwrap_or_default();
        let offset = self.offset(second, 0);
        self.flash.read(offset, part).map_err(StorageError::Flash)?;
        header.iter_mut().zip(part.iter()).for_each(|(slot, &byte)| *slot = byte);
        let [m0, m1, checksum, version, length, low, high, _] = words(&header);
        let magic = [m0, m1].map(u32::to_le_bytes);
        let length = index(length);
        if magic.as_flattened() != MAGIC || version != VERSION || !(HEADER..=self.half).contains(&length) {
            return Ok(None);
        }
        let sequence = u64::from(high) << 32 | u64::from(low);
        let whole = self.checksum(second, length, |_, _| ())? == checksum;
        // The last number is never written: there is one after every other.
        Ok((whole && sequence < u64::MAX).then_some(Found { second, sequence, length, checksum }))
    }

    /// Return the checksum of a slot's bytes, showing each with its place to `each`.
    fn checksum(
        &mut self,
        second: bool,
        length: usize,
        mut each: impl FnMut(usize, u8),
    ) -> Result<u32, StorageError<F::Error>> {
        let mut checksum = Crc32::new();
        let mut piece = [0; PIECE];
        for at in (0..length).step_by(PIECE) {
            let count = PIECE.min((length - at).next_multiple_of(F::READ_SIZE));
            let part = piece.get_mut(..count).unwrap_or_default();
            let offset = self.offset(second, at);
            self.flash.read(offset, part).map_err(StorageError::Flash)?;
            for (place, &byte) in (at..length).zip(part.iter()) {
                if place >= CHECKED {
                    checksum.update(byte);
                }
                each(place, byte);
            }
        }
        Ok(checksum.finish())
    }
}

fn words(header: &[u8; HEADER]) -> [u32; HEADER / 4] {
    let mut words = [0; HEADER / 4];
    for (word, bytes) in words.iter_mut().zip(header.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}
