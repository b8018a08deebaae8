//! The rows and landmarks of a regression.

use crate::data::{columns::Targets, prepared::Prepared};
use crate::error::Error;
use dpp_nystrom_core::kernel::ChosenKernel;

/// Scaled rows with targets, and the landmarks to regress on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a, T> {
    /// Rows of `dim` numbers.
    pub(crate) rows: &'a [T],
    /// How many numbers a row has: one a feature, or the rank of a map.
    pub(crate) dim: usize,
    /// A target for each row.
    pub(crate) targets: Targets<'a>,
    /// Landmarks of `dim` numbers.
    pub(crate) landmarks: &'a [T],
    /// The kernel.
    pub(crate) kernel: ChosenKernel<T>,
}

impl<'a> Input<'a, f64> {
    /// Take the rows and targets of a data set.
    ///
    /// # Errors
    /// [`Error::NoTarget`], [`Error::ConstantTarget`].
    pub(crate) fn of(
        data: &'a Prepared,
        landmarks: &'a [f64],
        kernel: ChosenKernel<f64>,
    ) -> Result<Self, Error> {
        let targets = data.learnable()?.values.as_slice().into();
        Ok(Self { rows: &data.rows, dim: data.dim, targets, landmarks, kernel })
    }
}
