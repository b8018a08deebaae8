//! The byte format of models: written by `dpp-nystrom export --to bytes`, read in place.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 7 | `dppndevc` |
//! | 8 to 11 | CRC-32 of bytes 12 to the end |
//! | 12 to 15 | version: 1 |
//! | 16 to 19 | length in bytes, a multiple of 4 |
//! | 20 to 23 | kind: 0 single precision, 1 quantised with 16-bit landmarks, 2 with 8-bit ones |
//! | 24 to 27 | features d |
//! | 28 to 31 | landmarks c |
//! | 32 to 35 | kernel: 0 Gaussian, 1 Laplace, 2 Matérn 3/2, 3 Matérn 5/2, 4 polynomial, 5 linear |
//! | 36 to 51 | the kernel's numbers: its exponent, rate or offset; its degree (quantised: limit, multiplier, shift, step) |
//! | 52 to 59 | the target's mean and scale |
//! | 60 on | single: means d, scales d, landmarks c d, weights c |
//! | | quantised: centres d, factors d, exponents d, weights c, landmarks c d, zeros up to a multiple of 4 |
//!
//! Numbers are little-endian, and the first byte is at a multiple of 4, so that the arrays are used in place as slices:
//! nothing is copied, and a prediction reads them as it reads a static. (Decoding each number on use would not need the
//! alignment, but every algorithm would need a second implementation.) `bytemuck` checks and creates the slices, so that
//! this crate needs no `unsafe`. Bytes after the length are ignored: a flash partition may be longer than the model.

use super::{Model, Parts};
use crate::error::{BytesProblem, Error};
use crate::frame;
use crate::kernel::{ChosenKernel, Gaussian, Laplace, Linear, Matern32, Matern52, Polynomial};
use crate::scalar::Scalar;
use bytemuck::{AnyBitPattern, PodCastError, try_cast_slice};

pub(super) const MAGIC: &[u8; 8] = b"dppndevc";
pub(super) const VERSION: u32 = 1;
/// The number of words before the arrays.
const HEADER: usize = 15;

/// The representation of a model's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Single = 0,
    Bits16 = 1,
    Bits8 = 2,
}

/// The content of the header, and the arrays after it.
pub(crate) struct Content<'a> {
    pub(crate) dim: usize,
    pub(crate) landmarks: usize,
    pub(crate) kernel: u32,
    /// The kernel's parameters.
    pub(crate) numbers: [u32; 4],
    pub(crate) target_mean: f32,
    pub(crate) target_scale: f32,
    rest: &'a [u32],
}

impl<'a> Content<'a> {
    /// Return the next array of `count` elements, which takes whole words.
    pub(crate) fn take<N: AnyBitPattern>(&mut self, count: usize) -> Result<&'a [N], Error> {
        let malformed = Error::ModelBytes(BytesProblem::Malformed);
        let words = count.checked_mul(size_of::<N>()).ok_or(malformed)?.div_ceil(size_of::<u32>());
        let (array, rest) = self.rest.split_at_checked(words).ok_or(malformed)?;
        self.rest = rest;
        let array: &[N] = try_cast_slice(array).map_err(|_| malformed)?;
        array.get(..count).ok_or(malformed)
    }

    /// Check that nothing follows the last array.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.rest.is_empty() { Ok(()) } else { Err(Error::ModelBytes(BytesProblem::Malformed)) }
    }
}

/// Check and open bytes of this kind.
pub(crate) fn open(bytes: &[u8], kind: Kind) -> Result<Content<'_>, Error> {
    parse(bytes, kind).map_err(Error::ModelBytes)
}

fn parse(bytes: &[u8], kind: Kind) -> Result<Content<'_>, BytesProblem> {
    if cfg!(target_endian = "big") {
        return Err(BytesProblem::BigEndian);
    }
    let (_, bytes) = frame::open(bytes, MAGIC, VERSION..=VERSION, HEADER * size_of::<u32>())?;
    let words: &[u32] = try_cast_slice(bytes).map_err(|error| match error {
        PodCastError::TargetAlignmentGreaterAndInputNotAligned => BytesProblem::Misaligned,
        _ => BytesProblem::Malformed,
    })?;
    let (header, rest) = words.split_first_chunk::<HEADER>().ok_or(BytesProblem::Malformed)?;
    let &[_, _, _, _, _, found, dim, landmarks, kernel, a, b, c, d, mean, scale] = header;
    if found != kind as u32 {
        return Err(BytesProblem::Kind);
    }
    Ok(Content {
        dim: dim as usize,
        landmarks: landmarks as usize,
        kernel,
        numbers: [a, b, c, d],
        target_mean: f32::from_bits(mean),
        target_scale: f32::from_bits(scale),
        rest,
    })
}

impl<'a> Model<'a, f32, ChosenKernel<f32>> {
    /// Use the model in these bytes, in place.
    ///
    /// Reads each byte once, for the checksum, at some 20 instructions a byte. Bytes after the model's end are ignored.
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with the problem: bytes that are not aligned to 4, damaged, truncated, or of another
    /// format.
    ///
    /// ```
    /// use dpp_nystrom_core::{BytesProblem, Error, Model};
    ///
    /// /// Bytes at a multiple of 4, as the linker's or the flash controller's.
    /// #[repr(align(4))]
    /// struct Flash([u8; 64]);
    /// static ERASED: Flash = Flash([0xff; 64]);
    ///
    /// assert_eq!(Model::from_bytes(&ERASED.0).unwrap_err(), Error::ModelBytes(BytesProblem::Foreign));
    /// ```
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut content = open(bytes, Kind::Single)?;
        let (d, c) = (content.dim, content.landmarks);
        let numbers = c.checked_mul(d).ok_or(Error::ModelBytes(BytesProblem::Malformed))?;
        let parts = Parts {
            means: content.take(d)?,
            scales: content.take(d)?,
            landmarks: content.take(numbers)?,
            weights: content.take(c)?,
            target_mean: content.target_mean,
            target_scale: content.target_scale,
        };
        content.end()?;
        if !parts.are_finite() {
            return Err(Error::ModelBytes(BytesProblem::Malformed));
        }
        let [number, degree, ..] = content.numbers;
        let number = f32::from_bits(number);
        let kernel = match content.kernel {
            0 => Gaussian::from_exponent(number).map(ChosenKernel::Gaussian),
            1 => Laplace::from_rate(number).map(ChosenKernel::Laplace),
            2 => Matern32::from_rate(number).map(ChosenKernel::Matern32),
            3 => Matern52::from_rate(number).map(ChosenKernel::Matern52),
            4 => Polynomial::constant(degree, number).map(ChosenKernel::Polynomial),
            5 => Ok(ChosenKernel::Linear(Linear)),
            _ => return Err(Error::ModelBytes(BytesProblem::Malformed)),
        };
        kernel
            .and_then(|kernel| Self::new(kernel, parts))
            .map_err(|_| Error::ModelBytes(BytesProblem::Malformed))
    }
}

impl<T: Scalar> Parts<'_, T> {
    fn are_finite(&self) -> bool {
        let Parts { means, scales, landmarks, weights, target_mean, target_scale } = *self;
        let arrays = [means, scales, landmarks, weights, &[target_mean, target_scale]];
        arrays.iter().all(|array| array.iter().all(|value| value.is_finite()))
    }
}
