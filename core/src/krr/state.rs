//! The state of a ridge regression as bytes, to store over a reset or to send to a server that merges a
//! fleet.
//!
//! All versions begin with the frame of all formats: magic number `dppnstat` (0 to 7), CRC-32 of bytes 12 to
//! the end (8 to 11), version (12 to 15) and length in bytes (16 to 19). Everything is little-endian, at any
//! alignment. Bytes after the length are ignored.
//!
//! Version 1, for one target:
//!
//! | bytes | content |
//! | --- | --- |
//! | 20 to 23 | bytes of a number: 4 or 8 |
//! | 24 to 27 | features c |
//! | 28 to 35 | digest of the landmarks |
//! | 36 to 43 | rows N |
//! | 44 on | `R` by rows, `Qᵀy`, residual sum of squares: the numbers of [`RidgeRegression::numbers`] |
//!
//! Version 2, for several targets, with an [`Origin`], or of an accumulator that has forgotten:
//!
//! | bytes | content |
//! | --- | --- |
//! | 20 to 43 | as in version 1 |
//! | 44 to 51 | device; with a counter of zero too, zero: no origin |
//! | 52 to 59 | counter |
//! | 60 to 91 | authentication tag; zero: none. `sign_state` writes and `verify_state` checks it (feature `hmac`) |
//! | 92 to 95 | number of sections s |
//! | 96 on | s times: tag (4 bytes), length in bytes (4 bytes) |
//! | 96 + 8s on | the content of the sections, in the order of the table |
//!
//! | section | content |
//! | --- | --- |
//! | 1 | `R` by rows: `c(c + 1)/2` numbers |
//! | 2 | for each target `Qᵀy` and the two parts of its residual sum of squares: `c + 2` numbers |
//! | 3 | of an accumulator that has forgotten ([`RidgeRegression::forget`]): how many of the first rows (8 bytes), and their effective number (a number) |
//! | 2³¹ and above | optional: a reader skips those it does not know |
//!
//! Every other section is mandatory, and a reader that does not know it refuses the state.
//!
//! Version 3 is version 2 of device 0 and counter 0, which version 2 cannot tell from no origin. The writer
//! uses the first version that can hold the state, so that its bytes are those from before the later
//! versions.
//!
//! Rows learned on different landmarks or under another kernel are features of different spaces. Their
//! accumulators have the same shape, but merging them is meaningless. So the state contains the digest of the
//! landmarks ([`crate::digest`]), and a reader refuses another one. It also refuses numbers that no rows can
//! have left.

use super::{Counts, RidgeRegression};
use crate::error::{BytesProblem, Error, Known};
use crate::frame;
use crate::memory::{MOST_ROWS, check_length};
use crate::scalar::{Scalar, bytes_of, from_bytes, numbers_of};
use crate::sections::{self, ENTRY};

pub(super) const MAGIC: &[u8; 8] = b"dppnstat";
/// The first byte of the authentication tag, of version 2.
#[cfg(feature = "hmac")]
pub(super) const TAG: usize = 60;
/// The bytes before the numbers, of version 1.
const HEADER: usize = 44;
/// The bytes before the section table, of version 2.
const HEADER_2: usize = 96;
const TRIANGLE: u32 = 1;
const TARGETS: u32 = 2;
const FORGOTTEN: u32 = 3;

/// Return the length in bytes of a state with one target and no [`Origin`].
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

/// Return the length in bytes of a state with several targets, or with an [`Origin`].
///
/// ```
/// use dpp_nystrom_core::{state_bytes, state_bytes_of};
///
/// // A longer header with a table of two sections, and the numbers of two more targets.
/// assert_eq!(state_bytes_of::<f32>(16, 3), state_bytes::<f32>(16) + 52 + 16 + 4 * 2 * (16 + 2));
/// ```
pub const fn state_bytes_of<T: Scalar>(dim: usize, targets: usize) -> usize {
    HEADER_2 + 2 * ENTRY + size_of::<T>() * RidgeRegression::<T>::numbers_kept_of(dim, targets)
}

/// Return by how many bytes the state of an accumulator that has forgotten ([`RidgeRegression::forget`]) is
/// longer than [`state_bytes_of`].
///
/// ```
/// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace, state_bytes_forgotten, state_bytes_of};
///
/// let mut memory = RidgeWorkspace::<f64, 2>::new();
/// let mut ridge = RidgeRegression::new(2, memory.lend())?;
/// ridge.add(&[1.0, 0.5], 2.0)?;
/// ridge.forget(0.5)?;
/// let mut bytes = [0; state_bytes_of::<f64>(2, 1) + state_bytes_forgotten::<f64>()];
/// assert_eq!(ridge.write_state(0xD16E57, &mut bytes)?, bytes.len());
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
pub const fn state_bytes_forgotten<T: Scalar>() -> usize {
    ENTRY + size_of::<u64>() + size_of::<T>()
}

/// The device that wrote a state, and when: a server can refuse a state that it has merged before.
///
/// ```
/// use dpp_nystrom_core::{Origin, RidgeRegression, RidgeWorkspace, StateHeader, state_bytes_of};
///
/// let mut memory = RidgeWorkspace::<f32, 2>::new();
/// let mut ridge = RidgeRegression::new(2, memory.lend())?;
/// ridge.add(&[1.0, 0.5], 2.0)?;
/// let origin = Origin { device: 12, counter: 3 };
/// let mut bytes = [0; state_bytes_of::<f32>(2, 1)];
/// ridge.write_state_from(origin, 0xD16E57, &mut bytes)?;
/// assert_eq!(StateHeader::read(&bytes)?.origin, Some(origin));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Origin {
    /// The device's identifier.
    pub device: u64,
    /// A counter that increases with each state of the device, also over resets: `dpp-nystrom merge --seen`
    /// refuses one that does not.
    pub counter: u64,
}

/// The header of a state, which can be read before there is an accumulator of its shape.
///
/// ```
/// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace, StateHeader, state_bytes};
///
/// let mut memory = RidgeWorkspace::<f32, 2>::new();
/// let mut ridge = RidgeRegression::new(2, memory.lend())?;
/// ridge.add(&[1.0, 0.5], 2.0)?;
/// let mut bytes = [0; state_bytes::<f32>(2)];
/// ridge.write_state(0xD16E57, &mut bytes)?;
///
/// let header = StateHeader::read(&bytes)?; // before there is an accumulator
/// assert_eq!((header.features, header.targets, header.rows), (2, 1, 1));
/// assert_eq!((header.number_bytes, header.digest, header.length), (4, 0xD16E57, bytes.len()));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct StateHeader {
    /// The version of the format: 1, 2 or 3.
    pub version: u32,
    /// The length in bytes.
    pub length: usize,
    /// The bytes of a number: 4 or 8.
    pub number_bytes: usize,
    /// The number of features.
    pub features: usize,
    /// The number of targets.
    pub targets: usize,
    /// The digest of the landmarks ([`crate::digest`]).
    pub digest: u64,
    /// The number of rows.
    pub rows: u64,
    /// The device and its counter, if the state has them.
    pub origin: Option<Origin>,
    /// The authentication tag, which reading does not check: `verify_state` does. Zero: none.
    pub tag: [u8; 32],
}

impl StateHeader {
    /// Check the bytes of a state of any version and return its header.
    ///
    /// # Errors
    /// [`Error::StateBytes`] with the problem.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        parse(bytes).map(|content| content.header).map_err(Error::StateBytes)
    }
}

/// The content of a state.
struct Content<'s> {
    header: StateHeader,
    triangle: &'s [u8],
    targets: &'s [u8],
    forgotten: Option<&'s [u8]>,
}

/// Check the bytes of a state.
fn parse(bytes: &[u8]) -> Result<Content<'_>, BytesProblem> {
    let (version, content) = frame::open(bytes, MAGIC, 1..=3, HEADER)?;
    let words = content.as_chunks::<4>().0.first_chunk::<11>().ok_or(BytesProblem::Malformed)?;
    let [_, _, _, _, _, number_bytes, dim, low, high, rows, more_rows] = words.map(u32::from_le_bytes);
    let mut header = StateHeader {
        version,
        length: content.len(),
        number_bytes: frame::index(number_bytes),
        features: frame::index(dim),
        targets: 1,
        digest: long(low, high),
        rows: long(rows, more_rows),
        origin: None,
        tag: [0; 32],
    };
    if number_bytes != 4 && number_bytes != 8 {
        return Err(BytesProblem::Malformed);
    }
    let (triangle, targets, forgotten) = if version == 1 {
        let length = triangle_bytes(&header).ok_or(BytesProblem::Malformed)?;
        let numbers = content.get(HEADER..).ok_or(BytesProblem::Malformed)?;
        let (triangle, targets) = numbers.split_at_checked(length).ok_or(BytesProblem::Malformed)?;
        (triangle, targets, None)
    } else {
        sections(content, &mut header)?
    };
    let target_bytes =
        header.features.checked_add(2).and_then(|count| count.checked_mul(header.number_bytes));
    let target_bytes = target_bytes.ok_or(BytesProblem::Malformed)?;
    header.targets = targets.len().checked_div(target_bytes).ok_or(BytesProblem::Malformed)?;
    let whole = header.targets.checked_mul(target_bytes) == Some(targets.len());
    let one = version > 1 || header.targets == 1;
    if !whole || !one || header.targets == 0 || Some(triangle.len()) != triangle_bytes(&header) {
        return Err(BytesProblem::Malformed);
    }
    Ok(Content { header, triangle, targets, forgotten })
}

/// The bytes of the triangle, of the targets and of what was forgotten.
type Sections<'a> = (&'a [u8], &'a [u8], Option<&'a [u8]>);

/// Read what versions 2 and 3 add to the header. Return the sections.
fn sections<'a>(content: &'a [u8], header: &mut StateHeader) -> Result<Sections<'a>, BytesProblem> {
    let words = content.get(HEADER..).and_then(|words| words.as_chunks::<4>().0.first_chunk::<12>());
    let &[device, more_device, counter, more_counter, ref tag @ ..] = words.ok_or(BytesProblem::Malformed)?;
    let word = u32::from_le_bytes;
    let device = long(word(device), word(more_device));
    let counter = long(word(counter), word(more_counter));
    header.origin = match (header.version, device, counter) {
        (2, 0, 0) => None,
        // One state has one form.
        (3, 0, 0) | (2, ..) => Some(Origin { device, counter }),
        _ => return Err(BytesProblem::Malformed),
    };
    header.tag = *tag.as_flattened().first_chunk().ok_or(BytesProblem::Malformed)?;
    let sections =
        sections::Sections::read(content.get(HEADER_2 - 4..).ok_or(BytesProblem::Malformed)?, FORGOTTEN)?;
    match (sections.find(TRIANGLE), sections.find(TARGETS)) {
        (Some(triangle), Some(targets)) => Ok((triangle, targets, sections.find(FORGOTTEN))),
        _ => Err(BytesProblem::Malformed),
    }
}

/// Return `c(c + 1)/2` numbers in bytes.
fn triangle_bytes(header: &StateHeader) -> Option<usize> {
    let dim = header.features;
    dim.checked_mul(dim.checked_add(1)?).map(|twice| twice / 2)?.checked_mul(header.number_bytes)
}

fn long(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

impl<T: Scalar> RidgeRegression<'_, T> {
    /// Write the state to the start of `bytes` and return its length. `digest` is that of the landmarks
    /// ([`crate::digest`]). The length is [`state_bytes`] for one target, otherwise [`state_bytes_of`], and
    /// that of [`state_bytes_forgotten`] more once rows were forgotten. The accumulator is
    /// [settled](Self::settle), so that it and an accumulator that reads the state continue identically.
    ///
    /// # Errors
    /// [`Error::Capacity`]; nothing is written then.
    ///
    /// ```
    /// use dpp_nystrom_core::{BytesProblem, Error, RidgeRegression, RidgeWorkspace, state_bytes};
    ///
    /// let (mut memory, mut other) = (RidgeWorkspace::<f32, 2>::new(), RidgeWorkspace::<f32, 2>::new());
    /// let mut ridge = RidgeRegression::new(2, memory.lend())?;
    /// ridge.add(&[1.0, 0.5], 2.0)?;
    ///
    /// let mut bytes = [0; state_bytes::<f32>(2)];
    /// ridge.write_state(0xD16E57, &mut bytes)?;
    /// let mut received = RidgeRegression::new(2, other.lend())?;
    /// received.read_state(0xD16E57, &bytes)?;
    /// assert!(received.numbers()?.eq(ridge.numbers()?));
    /// let refused = Err(Error::StateBytes(BytesProblem::OtherLandmarks));
    /// assert_eq!(received.read_state(7, &bytes), refused);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn write_state(&mut self, digest: u64, bytes: &mut [u8]) -> Result<usize, Error> {
        self.write(None, digest, bytes)
    }

    /// [`write_state`](Self::write_state) with the device and a counter. The length is [`state_bytes_of`].
    ///
    /// # Errors
    /// [`Error::Capacity`]; nothing is written then.
    pub fn write_state_from(
        &mut self,
        origin: Origin,
        digest: u64,
        bytes: &mut [u8],
    ) -> Result<usize, Error> {
        self.write(Some(origin), digest, bytes)
    }

    fn write(&mut self, origin: Option<Origin>, digest: u64, bytes: &mut [u8]) -> Result<usize, Error> {
        self.settle()?;
        let (dim, targets) = (self.features(), self.targets());
        let Counts { rows, before, discounted, .. } = self.counts;
        let first = targets == 1 && origin.is_none() && before == 0;
        let more = if before == 0 { 0 } else { state_bytes_forgotten::<T>() };
        let needed = if first { state_bytes::<T>(dim) } else { state_bytes_of::<T>(dim, targets) + more };
        let have = bytes.len();
        let capacity = Error::Capacity { needed, have };
        let bytes = bytes.get_mut(..needed).ok_or(capacity)?;
        let length = u32::try_from(needed).map_err(|_| capacity)?;
        let version = match origin {
            _ if first => 1,
            Some(Origin { device: 0, counter: 0 }) => 3,
            _ => 2,
        };
        let Origin { device, counter } = origin.unwrap_or(Origin { device: 0, counter: 0 });
        let words = [0, 0, 0, version, length, size_of::<T>() as u32, dim as u32];
        let counts = [digest, rows].into_iter().flat_map(u64::to_le_bytes);
        let header = words.into_iter().flat_map(u32::to_le_bytes).chain(counts);

        let triangle = dim * (dim + 1) / 2 * size_of::<T>();
        let rest = needed.saturating_sub(HEADER_2 + 2 * ENTRY + triangle + more);
        let count = if before == 0 { 2_u8 } else { 3 };
        let length = (8 + size_of::<T>()) as u32;
        let table = [u32::from(count), TRIANGLE, triangle as u32, TARGETS, rest as u32, FORGOTTEN, length];
        let table = table.into_iter().take(1 + 2 * usize::from(count)).flat_map(u32::to_le_bytes);
        let origin = [device, counter].into_iter().flat_map(u64::to_le_bytes);
        let second = origin.chain([0; 32]).chain(table).take(if first { 0 } else { usize::MAX });

        let numbers = self.numbers()?.flat_map(bytes_of);
        // Beyond the end unless rows were forgotten.
        let forgotten = before.to_le_bytes().into_iter().chain(bytes_of(discounted.sum));
        for (slot, byte) in bytes.iter_mut().zip(header.chain(second).chain(numbers).chain(forgotten)) {
            *slot = byte;
        }
        frame::seal(bytes, MAGIC).known()?;
        Ok(needed)
    }

    /// Read a state of any version, written here or elsewhere: all later results are the same bit for bit.
    /// The present state is replaced. To keep it, read into another accumulator and [`merge`](Self::merge).
    /// Bytes after the state's end are ignored.
    ///
    /// # Errors
    /// [`Error::StateBytes`] with the problem, [`Error::Length`] for another number of features or targets.
    /// The accumulator is unchanged.
    ///
    /// ```
    /// use dpp_nystrom_core::{BytesProblem, Error, RidgeRegression, RidgeWorkspace, state_bytes};
    ///
    /// let mut memory = RidgeWorkspace::<f64, 1>::new();
    /// let mut ridge = RidgeRegression::new(1, memory.lend())?;
    /// ridge.add(&[1.0], 4.0)?;
    /// let mut bytes = [0; state_bytes::<f64>(1)];
    /// ridge.write_state(0xD16E57, &mut bytes)?;
    /// bytes[60] ^= 1;
    /// let damaged = Err(Error::StateBytes(BytesProblem::Corrupt));
    /// assert_eq!(ridge.read_state(0xD16E57, &bytes), damaged);
    /// assert_eq!(ridge.rows(), 1); // unchanged
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn read_state(&mut self, digest: u64, bytes: &[u8]) -> Result<(), Error> {
        let refuse = |problem| Err(Error::StateBytes(problem));
        let Content { header, triangle, targets, forgotten } = parse(bytes).map_err(Error::StateBytes)?;
        if header.number_bytes != size_of::<T>() {
            return refuse(BytesProblem::Precision);
        }
        for (expected, found) in [(self.features(), header.features), (self.targets(), header.targets)] {
            check_length(expected, found)?;
        }
        if header.digest != digest {
            return refuse(BytesProblem::OtherLandmarks);
        }
        let mut numbers = [triangle, targets].into_iter().flat_map(numbers_of::<T>);
        if numbers.clone().any(|number| !number.is_finite()) || !possible::<T>(&header, triangle, targets) {
            return refuse(BytesProblem::Malformed);
        }
        let counts = match forgotten {
            None => Some(Counts::of(header.rows)),
            Some(bytes) => forgotten_counts(header.rows, bytes),
        };
        let Some(counts) = counts else { return refuse(BytesProblem::Malformed) };
        self.take_back(counts, &mut numbers).known()
    }
}

/// Whether some rows can have left these numbers. At most [`MOST_ROWS`]; pivots and residual sums of squares
/// are not negative; each row of features fills at most one row of `R`, up to rounding, and without rows
/// nothing is filled.
fn possible<T: Scalar>(header: &StateHeader, triangle: &[u8], targets: &[u8]) -> bool {
    let mut numbers = numbers_of::<T>(triangle);
    let larger = |most: T, entry: T| if entry.abs() > most { entry.abs() } else { most };
    // Householder reflections of a server leave rounding where rotations leave zeros.
    let rounding = numbers.clone().fold(T::ZERO, larger) * T::EPSILON.sqrt();
    let (mut filled, mut sound) = (0_u64, header.rows <= MOST_ROWS);
    for length in (1..=header.features).rev() {
        let mut row = numbers.by_ref().take(length);
        let pivot = row.next().unwrap_or(T::ZERO);
        sound &= pivot >= T::ZERO;
        if row.fold(pivot, larger) > rounding {
            filled = filled.saturating_add(1);
        }
    }
    let mut numbers = numbers_of::<T>(targets);
    for _ in 0..header.targets {
        let column =
            numbers.by_ref().take(header.features).fold(false, |any, entry| any | (entry != T::ZERO));
        let residual = numbers.by_ref().take(2).fold(T::ZERO, |sum, part| sum + part);
        sound &= residual >= T::ZERO && (header.rows > 0 || !(column || residual > T::ZERO));
    }
    sound && filled <= header.rows
}

/// Read the section of what was forgotten, or return none for one that is inconsistent.
fn forgotten_counts<T: Scalar>(rows: u64, bytes: &[u8]) -> Option<Counts<T>> {
    let (before, discounted) = bytes.split_first_chunk()?;
    let (before, discounted) = (u64::from_le_bytes(*before), from_bytes::<T>(discounted));
    // A state in which nothing was forgotten has no section: one state has one form.
    let sound = before > 0 && before <= rows && discounted.is_finite() && discounted >= T::ZERO;
    sound.then_some(Counts::forgotten(rows, before, discounted))
}
