//! A quantised model from its bytes; the format is the one of [`crate::Model::from_bytes`].

use super::{QuantisedModel, QuantisedParts};
use crate::error::{BytesProblem, Error};
use crate::model::{Content, Kind, open};
use bytemuck::AnyBitPattern;

impl<'a> QuantisedModel<'a, i16> {
    /// The model in these bytes, which are used where they lie: as [`crate::Model::from_bytes`].
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with what is wrong.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        parts(open(bytes, Kind::Bits16)?).and_then(|parts| Self::new(parts).map_err(malformed))
    }
}

impl<'a> QuantisedModel<'a, i8> {
    /// The model in these bytes, which are used where they lie: as [`crate::Model::from_bytes`].
    ///
    /// # Errors
    /// [`Error::ModelBytes`] with what is wrong.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        parts(open(bytes, Kind::Bits8)?).and_then(|parts| Self::new(parts).map_err(malformed))
    }
}

fn malformed(_: Error) -> Error {
    Error::ModelBytes(BytesProblem::Malformed)
}

fn parts<L: AnyBitPattern>(mut content: Content<'_>) -> Result<QuantisedParts<'_, L>, Error> {
    let (d, c) = (content.dim, content.landmarks);
    let numbers = c.checked_mul(d).ok_or(Error::ModelBytes(BytesProblem::Malformed))?;
    let [limit, multiplier, shift, step] = content.numbers;
    let parts = QuantisedParts {
        centres: content.take(d)?,
        factors: content.take(d)?,
        exponents: content.take(d)?,
        weights: content.take(c)?,
        landmarks: content.take(numbers)?,
        limit,
        multiplier,
        shift,
        step: step as i32,
        target_mean: content.target_mean,
        target_scale: content.target_scale,
    };
    content.end()?;
    // The Gaussian alone is quantised.
    let sound = content.kernel == 0 && parts.target_mean.is_finite() && parts.target_scale.is_finite();
    if sound { Ok(parts) } else { Err(Error::ModelBytes(BytesProblem::Malformed)) }
}
