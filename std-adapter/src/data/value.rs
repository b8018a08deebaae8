//! Values of rows and targets as users have them, in `f64` or `f32`.

use crate::data::columns::RowSlices;
use crate::error::Error;
use crate::kernel::precision::Precision;
use dpp_nystrom_core::Scalar;
use dpp_nystrom_host::heap::zeros;
use std::borrow::Cow;

/// A number that rows and targets may be given in: `f64` or `f32`.
///
/// ```
/// use dpp_nystrom::{Dataset, Error, data::Value};
///
/// fn rows<T: Value>(readings: &[T]) -> Result<usize, Error> {
///     Ok(Dataset::from_rows(readings, 2)?.len())
/// }
/// assert_eq!((rows(&[1.0_f32; 6])?, rows(&[1.0_f64; 8])?), (3, 4));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub trait Value: Scalar + bytemuck::NoUninit {
    #[doc(hidden)]
    fn values(values: &[Self]) -> Values<'_>;

    #[doc(hidden)]
    fn slices<'a>(rows: &'a [Self], targets: Option<&'a [Self]>) -> RowSlices<'a>;

    #[doc(hidden)]
    fn precision() -> Precision;
}

/// Values borrowed or owned, in either precision.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Values<'a> {
    F64(Cow<'a, [f64]>),
    F32(&'a [f32]),
}

impl Value for f64 {
    fn values(values: &[Self]) -> Values<'_> {
        Values::F64(Cow::Borrowed(values))
    }

    fn slices<'a>(rows: &'a [Self], targets: Option<&'a [Self]>) -> RowSlices<'a> {
        RowSlices::F64(rows, targets)
    }

    fn precision() -> Precision {
        Precision::F64
    }
}

impl Value for f32 {
    fn values(values: &[Self]) -> Values<'_> {
        Values::F32(values)
    }

    fn slices<'a>(rows: &'a [Self], targets: Option<&'a [Self]>) -> RowSlices<'a> {
        RowSlices::F32(rows, targets)
    }

    fn precision() -> Precision {
        Precision::F32
    }
}

impl Values<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
        }
    }

    pub(crate) fn copied(&self) -> Result<Vec<f64>, Error> {
        match self {
            Self::F64(values) => doubled(values),
            Self::F32(values) => doubled(values),
        }
    }

    /// Return the index of the first value that is NaN or infinite.
    pub(crate) fn not_finite(&self) -> Option<usize> {
        match self {
            Self::F64(values) => values.iter().position(|value| !value.is_finite()),
            Self::F32(values) => values.iter().position(|value| !value.is_finite()),
        }
    }
}

/// Copy values to `f64`.
pub(crate) fn doubled<T: Scalar>(values: &[T]) -> Result<Vec<f64>, Error> {
    let mut copy = zeros(values.len(), 0.0)?;
    copy.iter_mut().zip(values).for_each(|(slot, value)| *slot = value.to_f64());
    Ok(copy)
}
