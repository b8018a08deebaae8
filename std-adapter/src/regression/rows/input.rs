//! The rows and landmarks of a regression.

use crate::data::{source::RowSource, targets::TargetRows, weights::Weights};
use crate::error::Error;
use crate::kernel::spec::KernelSpec;
use crate::regression::rows::folds::Deal;
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_host::simd::lane::Lane;

/// Scaled rows with targets, and the landmarks to regress on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a, T> {
    /// Rows of `dim` numbers.
    pub(crate) rows: &'a [T],
    /// How many numbers a row has: one a feature, or the rank of a map.
    pub(crate) dim: usize,
    /// The targets of each row.
    pub(crate) targets: TargetRows<'a>,
    /// The weights of the rows.
    pub(crate) weights: Weights<'a>,
    /// How rows are dealt to folds.
    pub(crate) deal: Deal<'a>,
    /// Landmarks of `dim` numbers.
    pub(crate) landmarks: &'a [T],
    /// The kernel.
    pub(crate) kernel: ChosenKernel<T>,
}

impl<'a, T: Lane> Input<'a, T> {
    /// Take the targets, weights and partition of a source. `rows` are its rows.
    ///
    /// # Errors
    /// `ErrorKind::Data` without a target or with a constant one.
    pub(crate) fn of(
        source: &'a dyn RowSource,
        rows: &'a [T],
        landmarks: &'a [T],
        kernel: KernelSpec,
    ) -> Result<Self, Error> {
        let columns = source.columns();
        columns.learnable()?;
        Ok(Self {
            rows,
            dim: columns.width(),
            targets: TargetRows::of(source)?,
            weights: Weights(source.weights()),
            deal: Deal::of(source),
            landmarks,
            kernel: kernel.build()?,
        })
    }

    /// Return a row.
    pub(crate) fn row(&self, row: usize) -> &'a [T] {
        &self.rows[row * self.dim..(row + 1) * self.dim]
    }
}
