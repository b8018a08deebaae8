//! The rows and landmarks of a regression.

use crate::data::{prepared::Prepared, targets::TargetRows, weights::Weights};
use crate::error::Error;
use crate::regression::folds::Deal;
use dpp_nystrom_core::kernel::ChosenKernel;

/// Scaled rows with targets, and the landmarks to regress on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a, T> {
    /// Rows of `dim` numbers.
    pub(crate) rows: &'a [T],
    /// How many numbers a row has: one a feature, or the rank of a map.
    pub(crate) dim: usize,
    /// The targets of each row.
    pub(crate) targets: TargetRows<'a>,
    /// Whether rows are predicted without their fold, as those of classes are.
    pub(crate) held_out: bool,
    /// The weights of the rows.
    pub(crate) weights: Weights<'a>,
    /// How rows are dealt to folds.
    pub(crate) deal: Deal<'a>,
    /// Landmarks of `dim` numbers.
    pub(crate) landmarks: &'a [T],
    /// The kernel.
    pub(crate) kernel: ChosenKernel<T>,
}

impl<'a> Input<'a, f64> {
    /// Take the rows and targets of a data set.
    ///
    /// # Errors
    /// Those of [`Prepared::learnable`].
    pub(crate) fn of(
        data: &'a Prepared,
        landmarks: &'a [f64],
        kernel: ChosenKernel<f64>,
    ) -> Result<Self, Error> {
        data.learnable()?;
        Ok(Self {
            rows: &data.rows,
            dim: data.dim,
            targets: TargetRows::of(data)?,
            held_out: data.classes.is_some(),
            weights: data.weights(),
            deal: Deal::of(data),
            landmarks,
            kernel,
        })
    }
}
