//! The byte format of models: written by `dpp-nystrom export --to bytes`, read in place.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 to 7 | `dppndevc` |
//! | 8 to 11 | CRC-32 of bytes 12 to the end |
//! | 12 to 15 | version: 1, 2 with sections, 3 with a map, or 4 with clipped features |
//! | 16 to 19 | length in bytes, a multiple of 4 |
//! | 20 to 23 | kind: 0 single precision, 1 quantised with 16-bit landmarks, 2 with 8-bit ones |
//! | 24 to 27 | features d |
//! | 28 to 31 | landmarks c |
//! | 32 to 35 | kernel: its `id`, as `docs/formats.md` lists them |
//! | 36 to 51 | the kernel's numbers: its exponent, rate or offset; its degree (quantised: limit, multiplier, shift, step) |
//! | 52 to 59 | the target's mean and scale |
//! | 60 on | single: means d, scales d, landmarks c d, weights c; with a map: rank r, means d, map r d, landmarks c r, weights c |
//! | | clipped: rank r or 0, means d, scales d, inverse bounds d, map r d, landmarks c r or c d, weights c |
//! | | quantised: centres d, factors d, exponents d, weights c, landmarks c d, zeros up to a multiple of 4; with a map: rank r, |
//! | | its shift, centres d, factors d, exponents d, weights c, map r d, zeros, landmarks c r, zeros |
//!
//! Versions from 2 on have sections after the arrays, as `sections.rs` has them: their number, their table,
//! their content.
//!
//! | section | content |
//! | --- | --- |
//! | 1 | the outputs after the first: weights, means, scales |
//! | 2³¹ | [`Limits`]: range, distances, residuals |
//! | 2³¹ + 1 | [`Uncertainty`]: penalty, noise, factor, triangle |
//!
//! Numbers are little-endian, and the first byte is at a multiple of 4, so that the arrays are used in place
//! as slices: nothing is copied, and a prediction reads them as it reads a static. (Decoding each number on
//! use would not need the alignment, but every algorithm would need a second implementation.) `bytemuck`
//! checks and creates the slices, so that this crate needs no `unsafe`. Bytes after the length are ignored: a
//! flash partition may be longer than the model.

use super::assess::{Assessor, Limits, Uncertainty};
use super::outputs::{Further, Outputs};
use super::{Model, Parts, Scaling};
use crate::error::{BytesProblem, Error};
use crate::frame;
use crate::kernel::ChosenKernel;
use crate::krr::Solved;
use crate::scalar::Scalar;
use crate::sections::Sections;
use bytemuck::{AnyBitPattern, PodCastError, try_cast_slice};

pub(super) const MAGIC: &[u8; 8] = b"dppndevc";
/// The latest version.
pub(super) const LATEST: u32 = 4;
/// The version with a map.
const MAPPED: u32 = 3;
/// The version with clipped features, in single precision.
const CLIPPED: u32 = 4;
/// The section of the outputs after the first: without it, one output would be taken for all.
const FURTHER: u32 = 1;
const LIMITS: u32 = 1 << 31;
const UNCERTAINTY: u32 = LIMITS + 1;
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
    /// The rank of the map, if there is one.
    pub(crate) rank: Option<usize>,
    /// Whether features are clipped.
    clipped: bool,
    version: u32,
    rest: &'a [u32],
}

impl<'a> Content<'a> {
    /// Pass over the arrays of this kind.
    fn skip_arrays(&mut self, kind: Kind) -> Result<(), Error> {
        let (d, c) = (self.dim, self.landmarks);
        let numbers = self.numbers(c)?;
        if kind == Kind::Single {
            self.take::<u32>(d)?;
            self.take::<u32>(self.scales()?)?;
            self.take::<u32>(numbers)?;
            return self.take::<u32>(c).map(drop);
        }
        if self.rank.is_some() {
            self.take::<u32>(1)?;
        }
        for _ in 0..3 {
            self.take::<u32>(d)?;
        }
        self.take::<u32>(c)?;
        if self.rank.is_some() {
            self.take::<u16>(self.numbers(d)?)?;
        }
        if kind == Kind::Bits16 {
            self.take::<u16>(numbers).map(drop)
        } else {
            self.take::<u8>(numbers).map(drop)
        }
    }

    /// Return how many numbers so many rows of coordinates have.
    pub(crate) fn numbers(&self, rows: usize) -> Result<usize, Error> {
        let width = self.rank.unwrap_or(self.dim);
        rows.checked_mul(width).ok_or(Error::ModelBytes(BytesProblem::Malformed))
    }

    /// Return how many numbers scale the features.
    fn scales(&self) -> Result<usize, Error> {
        let of_map = if self.rank.is_some() { self.numbers(self.dim)? } else { 0 };
        let of_features = match (self.clipped, self.rank) {
            (true, _) => self.dim.saturating_mul(2),
            (false, None) => self.dim,
            (false, Some(_)) => 0,
        };
        Ok(of_map.saturating_add(of_features))
    }

    /// Return the next array of `count` elements, which takes whole words.
    pub(crate) fn take<N: AnyBitPattern>(&mut self, count: usize) -> Result<&'a [N], Error> {
        let malformed = Error::ModelBytes(BytesProblem::Malformed);
        let words = count.checked_mul(size_of::<N>()).ok_or(malformed)?.div_ceil(size_of::<u32>());
        let (array, rest) = self.rest.split_at_checked(words).ok_or(malformed)?;
        self.rest = rest;
        let array: &[N] = try_cast_slice(array).map_err(|_| malformed)?;
        array.get(..count).ok_or(malformed)
    }

    /// Read what follows the last array: nothing in version 1.
    pub(crate) fn extras(&self) -> Result<Extras<'a>, Error> {
        self.sections().map_err(Error::ModelBytes)
    }

    fn sections(&self) -> Result<Extras<'a>, BytesProblem> {
        use BytesProblem::Malformed;
        if self.version == 1 {
            return if self.rest.is_empty() { Ok(Extras::default()) } else { Err(Malformed) };
        }
        let bytes: &[u8] = try_cast_slice(self.rest).map_err(|_| Malformed)?;
        let sections = Sections::read(bytes, FURTHER)?;
        let words = |tag| match sections.find(tag).map(try_cast_slice::<u8, u32>) {
            None => Ok(None),
            Some(words) => words.map(Some).map_err(|_| Malformed),
        };
        let limits = words(LIMITS)?.map(|words| limits(words).ok_or(Malformed)).transpose()?;
        let uncertainty = words(UNCERTAINTY)?.map(|words| uncertainty(words).ok_or(Malformed)).transpose()?;
        Ok(Extras { further: words(FURTHER)?.map(FurtherWords), limits, uncertainty })
    }
}

/// What the sections add.
#[derive(Default)]
pub(crate) struct Extras<'a> {
    pub(crate) further: Option<FurtherWords<'a>>,
    pub(crate) limits: Option<Limits<f32>>,
    pub(crate) uncertainty: Option<Uncertainty<'a, f32>>,
}

impl Extras<'_> {
    /// Refuse further outputs, for a reader of one.
    pub(crate) fn one_output(&self) -> Result<(), Error> {
        if self.further.is_none() { Ok(()) } else { Err(Error::ModelBytes(BytesProblem::Outputs)) }
    }
}

/// The section of the outputs after the first.
#[derive(Clone, Copy)]
pub(crate) struct FurtherWords<'a>(&'a [u32]);

impl<'a> FurtherWords<'a> {
    /// Read the outputs of so many landmarks, whose weights are of the type `W`.
    pub(crate) fn read<W: AnyBitPattern>(self, landmarks: usize) -> Result<Further<'a, W, f32>, Error> {
        let further = (|| {
            let count = self.0.len().checked_div(landmarks.checked_add(2)?)?;
            let (weights, rest) = self.0.split_at_checked(count.checked_mul(landmarks)?)?;
            let (means, scales) = rest.split_at_checked(count)?;
            let (means, scales): (&[f32], &[f32]) = (floats(means)?, floats(scales)?);
            let finite = means.iter().chain(scales).all(|number| number.is_finite());
            let further = Further { weights: try_cast_slice(weights).ok()?, means, scales };
            (finite && further.check(landmarks).is_ok()).then_some(further)
        })();
        further.ok_or(Error::ModelBytes(BytesProblem::Malformed))
    }

    /// Read the outputs of a model in single precision.
    pub(crate) fn floats(self, landmarks: usize) -> Result<Further<'a, f32, f32>, Error> {
        let further: Further<'a, f32, f32> = self.read(landmarks)?;
        let finite = further.weights.iter().all(|weight| weight.is_finite());
        if finite { Ok(further) } else { Err(Error::ModelBytes(BytesProblem::Malformed)) }
    }
}

fn floats(words: &[u32]) -> Option<&[f32]> {
    try_cast_slice(words).ok()
}

/// Read the limits.
fn limits(words: &[u32]) -> Option<Limits<f32>> {
    let &[least, greatest, a, b, c, p, q, r] = floats(words)? else { return None };
    let limits = Limits { range: [least, greatest], nearest: [a, b, c], residual: [p, q, r] };
    limits.is_sound().then_some(limits)
}

/// Read the triangles, of equal lengths.
fn uncertainty(words: &[u32]) -> Option<Uncertainty<'_, f32>> {
    let (&[penalty, noise], numbers) = floats(words)?.split_first_chunk()?;
    let (factor, triangle) = numbers.split_at_checked(numbers.len() / 2)?;
    let uncertainty = Uncertainty { factor, triangle, solved: Solved { penalty, noise } };
    uncertainty.is_sound().then_some(uncertainty)
}

/// Read the limits of a model of any kind.
fn limits_of(bytes: &[u8]) -> Result<Option<Limits<f32>>, Error> {
    let kinds = [Kind::Single, Kind::Bits16, Kind::Bits8];
    let other = Error::ModelBytes(BytesProblem::Kind);
    for kind in kinds {
        match open(bytes, kind) {
            Err(error) if error == other => {}
            Err(error) => return Err(error),
            Ok(mut content) => {
                content.skip_arrays(kind)?;
                return content.extras().map(|extras| extras.limits);
            }
        }
    }
    Err(other)
}

/// Check and open bytes of this kind.
pub(crate) fn open(bytes: &[u8], kind: Kind) -> Result<Content<'_>, Error> {
    parse(bytes, kind).map_err(Error::ModelBytes)
}

fn parse(bytes: &[u8], kind: Kind) -> Result<Content<'_>, BytesProblem> {
    if cfg!(target_endian = "big") {
        return Err(BytesProblem::BigEndian);
    }
    let (version, bytes) = frame::open(bytes, MAGIC, 1..=LATEST, HEADER * size_of::<u32>())?;
    let words: &[u32] = try_cast_slice(bytes).map_err(|error| match error {
        PodCastError::TargetAlignmentGreaterAndInputNotAligned => BytesProblem::Misaligned,
        _ => BytesProblem::Malformed,
    })?;
    let (header, rest) = words.split_first_chunk::<HEADER>().ok_or(BytesProblem::Malformed)?;
    let &[_, _, _, _, _, found, dim, landmarks, kernel, a, b, c, d, mean, scale] = header;
    if found != kind as u32 {
        return Err(BytesProblem::Kind);
    }
    let clipped = version == CLIPPED;
    if clipped && kind != Kind::Single {
        return Err(BytesProblem::Malformed);
    }
    let (rank, rest) = if version == MAPPED || clipped {
        let (&rank, rest) = rest.split_first().ok_or(BytesProblem::Malformed)?;
        (Some(rank as usize).filter(|&rank| !clipped || rank > 0), rest)
    } else {
        (None, rest)
    };
    Ok(Content {
        rank,
        clipped,
        dim: dim as usize,
        landmarks: landmarks as usize,
        kernel,
        numbers: [a, b, c, d],
        target_mean: f32::from_bits(mean),
        target_scale: f32::from_bits(scale),
        version,
        rest,
    })
}

impl<'a> Model<'a, f32, ChosenKernel<f32>> {
    /// Use the model in these bytes, in place.
    ///
    /// Reads each byte once, for the checksum, at some 20 instructions a byte. Bytes after the model's end
    /// are ignored.
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with the problem: bytes that are not aligned to 4, damaged, truncated, of
    /// another format, or of a model with several outputs ([`crate::Outputs::from_bytes`]).
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
        let (model, extras) = Self::parse(bytes)?;
        extras.one_output().map(|()| model)
    }

    /// Read the model, which is that of the first output, and the rest.
    fn parse(bytes: &'a [u8]) -> Result<(Self, Extras<'a>), Error> {
        let mut content = open(bytes, Kind::Single)?;
        let (d, c) = (content.dim, content.landmarks);
        let (scales, numbers) = (content.scales()?, content.numbers(c)?);
        let parts = Parts {
            means: content.take(d)?,
            scaling: match (content.rank, content.take(scales)?) {
                (rank, numbers) if content.clipped => Scaling::Clipped { rank, numbers },
                (None, scales) => Scaling::PerFeature(scales),
                (Some(rank), rows) => Scaling::Map { rank, rows },
            },
            landmarks: content.take(numbers)?,
            weights: content.take(c)?,
            target_mean: content.target_mean,
            target_scale: content.target_scale,
        };
        let extras = content.extras()?;
        if !parts.are_finite() {
            return Err(Error::ModelBytes(BytesProblem::Malformed));
        }
        let [number, degree, ..] = content.numbers;
        let malformed = Error::ModelBytes(BytesProblem::Malformed);
        ChosenKernel::of_numbers(content.kernel, f32::from_bits(number), degree)
            .ok_or(malformed)?
            .and_then(|kernel| Self::new(kernel, parts))
            .map(|model| (model, extras))
            .map_err(|_| malformed)
    }
}

impl<T: Scalar> Parts<'_, T> {
    fn are_finite(&self) -> bool {
        let Parts { means, scaling, landmarks, weights, target_mean, target_scale } = *self;
        let arrays = [means, scaling.numbers(), landmarks, weights, &[target_mean, target_scale]];
        arrays.iter().all(|array| array.iter().all(|value| value.is_finite()))
    }
}

impl Limits<f32> {
    /// Return the limits in the bytes of a model of any kind; none where there are none.
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with the problem.
    ///
    /// ```
    /// use dpp_nystrom_core::{Limits, include_model};
    ///
    /// static MODEL: &[u8] = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/core/formats/single.bin"));
    /// assert_eq!(Limits::from_bytes(MODEL)?, None); // exported without them
    /// assert!(Limits::from_bytes(&[0xff; 64]).is_err()); // erased flash
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<Self>, Error> {
        limits_of(bytes)
    }
}

impl<'a> Assessor<'a, f32, ChosenKernel<f32>> {
    /// Use the model in these bytes in place, as [`Model::from_bytes`] does, with its limits and its
    /// uncertainty. Of several outputs it assesses the first.
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with the problem.
    ///
    /// ```
    /// use dpp_nystrom_core::{Assessor, include_model};
    ///
    /// static MODEL: &[u8] = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/core/formats/single.bin"));
    /// let assessor = Assessor::from_bytes(MODEL)?;
    /// assert!(assessor.limits().is_none());
    /// assert!(assessor.assess(&[0.0; 2], &mut [0.0; 2])?.nearest >= 0.0);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let malformed = |_| Error::ModelBytes(BytesProblem::Malformed);
        let (model, extras) = Model::parse(bytes)?;
        let Extras { limits, uncertainty, .. } = extras;
        Self::new(model, limits, uncertainty).map_err(malformed)
    }
}

impl<'a> Outputs<'a, f32, ChosenKernel<f32>> {
    /// Use the outputs in these bytes, in place, as [`Model::from_bytes`] does; a model of one output is one.
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with the problem.
    ///
    /// ```
    /// use dpp_nystrom_core::{Outputs, include_model};
    ///
    /// static MODEL: &[u8] = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/core/formats/single.bin"));
    /// let outputs = Outputs::from_bytes(MODEL)?;
    /// let mut predicted = [0.0];
    /// outputs.predict(&[0.0; 2], &mut [0.0; 2], &mut predicted)?;
    /// assert_eq!(predicted[0], outputs.first().predict(&[0.0; 2], &mut [0.0; 2])?);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let (model, Extras { further, .. }) = Model::parse(bytes)?;
        let further = further.map_or(Ok(NO_FURTHER), |further| further.floats(model.weights().len()))?;
        Self::new(model, further).map_err(|_| Error::ModelBytes(BytesProblem::Malformed))
    }
}

const NO_FURTHER: Further<'static, f32, f32> = Further { weights: &[], means: &[], scales: &[] };
