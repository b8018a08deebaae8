//! A quantised model from bytes, in the format of [`crate::Model::from_bytes`].

use super::{QuantisedMap, QuantisedModel, QuantisedOutputs, QuantisedParts};
use crate::error::{BytesProblem, Error};
use crate::model::{Content, Extras, Kind, open};
use bytemuck::AnyBitPattern;

impl<'a> QuantisedModel<'a, i16> {
    /// Use the model in these bytes, in place, as [`crate::Model::from_bytes`] does.
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with the problem.
    ///
    /// ```
    /// use dpp_nystrom_core::{BytesProblem, Error, QuantisedModel, include_model};
    ///
    /// static MODEL: &[u8] = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/core/formats/bits16.bin"));
    /// assert_eq!(QuantisedModel::<i16>::from_bytes(MODEL)?.features(), 2);
    /// let other = QuantisedModel::<i8>::from_bytes(MODEL).err();
    /// assert_eq!(other, Some(Error::ModelBytes(BytesProblem::Kind)));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let (parts, extras) = parts(open(bytes, Kind::Bits16)?)?;
        extras.one_output()?;
        Self::new(parts).map_err(malformed)
    }
}

impl<'a> QuantisedOutputs<'a, i16> {
    /// Use the outputs in these bytes, in place, as [`crate::Outputs::from_bytes`] does; a model of one
    /// output is one.
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with the problem.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let (parts, extras) = parts(open(bytes, Kind::Bits16)?)?;
        let landmarks = parts.weights.len();
        let model = QuantisedModel::<i16>::new(parts).map_err(malformed)?;
        match extras.further {
            None => Ok(Self::of_model(model)),
            Some(further) => Self::new(model, further.read(landmarks)?).map_err(malformed),
        }
    }
}

impl<'a> QuantisedModel<'a, i8> {
    /// Use the model in these bytes, in place, as [`crate::Model::from_bytes`] does.
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with the problem.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let (parts, extras) = parts(open(bytes, Kind::Bits8)?)?;
        extras.one_output()?;
        Self::new(parts).map_err(malformed)
    }
}

impl<'a> QuantisedOutputs<'a, i8> {
    /// Use the outputs in these bytes, in place, as [`crate::Outputs::from_bytes`] does; a model of one
    /// output is one.
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with the problem.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let (parts, extras) = parts(open(bytes, Kind::Bits8)?)?;
        let landmarks = parts.weights.len();
        let model = QuantisedModel::<i8>::new(parts).map_err(malformed)?;
        match extras.further {
            None => Ok(Self::of_model(model)),
            Some(further) => Self::new(model, further.read(landmarks)?).map_err(malformed),
        }
    }
}

fn malformed(_: Error) -> Error {
    Error::ModelBytes(BytesProblem::Malformed)
}

fn parts<L: AnyBitPattern>(mut content: Content<'_>) -> Result<(QuantisedParts<'_, L>, Extras<'_>), Error> {
    let (d, c) = (content.dim, content.landmarks);
    let (entries, numbers) = (content.numbers(d)?, content.numbers(c)?);
    let [limit, multiplier, shift, step] = content.numbers;
    let map_shift = if content.rank.is_some() { content.take(1)?.first().copied() } else { None };
    let parts = QuantisedParts {
        centres: content.take(d)?,
        factors: content.take(d)?,
        exponents: content.take(d)?,
        weights: content.take(c)?,
        map: match content.rank.zip(map_shift) {
            Some((rank, shift)) => Some(QuantisedMap { rank, rows: content.take(entries)?, shift }),
            None => None,
        },
        landmarks: content.take(numbers)?,
        limit,
        multiplier,
        shift,
        step: step as i32,
        target_mean: content.target_mean,
        target_scale: content.target_scale,
    };
    let extras = content.extras()?;
    // Only the Gaussian kernel is quantised.
    let sound = content.kernel == 0 && parts.target_mean.is_finite() && parts.target_scale.is_finite();
    if sound { Ok((parts, extras)) } else { Err(Error::ModelBytes(BytesProblem::Malformed)) }
}
