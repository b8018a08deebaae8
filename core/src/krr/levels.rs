//! Two triangles, so that a row is not rounded away, and a discount that is applied rarely.
//!
//! The triangle `R` of `N` rows grows as `√N`, and a further row changes an entry by some `1/(2N)` of it. In
//! `f32` that is less than a unit in its last place from `N = 1/(2ε)` on, 4·10⁶, and rounding decides what
//! remains of it. The errors of rows are not independent: they grow faster than `√N` (predictions from one
//! triangle were wrong by 0.002 after 10⁶ rows, 0.05 after 10⁷ and 0.4 after 4·10⁷). So new rows go into a
//! triangle of their own, which after [`Scalar::ROWS_APART`] rows is rotated into that of the rows before
//! them, as [`RidgeRegression::merge`] does: of `m` rows each, the errors are those of `m` and of `N/m`
//! steps. Pairwise summation does the same for sums (Higham, *Accuracy and Stability of Numerical
//! Algorithms*, §4.2). Solutions read both triangles and fold nothing.
//!
//! A discount multiplies `R` by `√λ`, which `f32` rounds: for `λ = 1 - 10⁻⁶` the multiple of an entry's last
//! place that is subtracted is some 5, and each entry decays at a rate of its own. So the discount `Λ` of all
//! rows so far is kept apart, a new row is multiplied by `1/√Λ`, and when `Λ` has fallen to 1/4 all is
//! halved, which is exact.

use super::{RidgeRegression, block};
use crate::error::{Error, Known};
use crate::memory::{EarlierMemory, check_capacity, rows_of, rows_of_mut, take};
use crate::scalar::{Scalar, Sum};

/// Whether accumulators have a triangle of earlier rows.
pub(super) const fn has_earlier<T: Scalar>() -> bool {
    T::ROWS_APART < u64::MAX
}

/// The triangle of the earlier rows, and their `Qᵀy`.
#[derive(Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Earlier<'a, T> {
    memory: EarlierMemory<'a, T>,
    /// `c` numbers for each further target.
    further: &'a mut [T],
}

impl<'a, T: Scalar> Earlier<'a, T> {
    /// Take what `dim` features need; nothing in `f64`.
    pub(super) fn new(dim: usize, memory: EarlierMemory<'a, T>, further: &'a mut [T]) -> Result<Self, Error> {
        if !has_earlier::<T>() {
            return Ok(Self::default());
        }
        let EarlierMemory { square, stride, diagonal, targets } = memory;
        check_capacity(dim, stride)?;
        let square = take(square, dim.saturating_mul(stride))?;
        let (diagonal, targets) = (take(diagonal, dim)?, take(targets, dim)?);
        Ok(Self { memory: EarlierMemory { square, stride, diagonal, targets }, further })
    }

    /// Take memory that still holds what it held, or none.
    pub(super) fn resume(memory: EarlierMemory<'a, T>) -> Self {
        Self { memory, further: &mut [] }
    }

    pub(super) fn level(&self) -> Level<'_, T> {
        let EarlierMemory { square, stride, diagonal, targets } = &self.memory;
        Level { square, stride: *stride, diagonal: Some(diagonal), targets, further: self.further }
    }
}

/// A triangle and its right-hand sides, to be read.
#[derive(Clone, Copy)]
pub(super) struct Level<'l, T> {
    pub(super) square: &'l [T],
    pub(super) stride: usize,
    /// None where it is in the square.
    pub(super) diagonal: Option<&'l [T]>,
    pub(super) targets: &'l [T],
    pub(super) further: &'l [T],
}

impl<'l, T: Scalar> Level<'l, T> {
    /// Return that of the recent rows.
    pub(super) fn recent(square: &'l [T], targets: &'l [T], further: &'l [T]) -> Self {
        Self { square, stride: targets.len(), diagonal: None, targets, further }
    }

    /// Return row `k` of `dim`: its pivot and the entries after it.
    pub(super) fn row(&self, dim: usize, k: usize) -> Option<(T, &'l [T])> {
        let start = k.wrapping_mul(self.stride);
        let (pivot, entries) =
            self.square.get(start.wrapping_add(k)..start.wrapping_add(dim))?.split_first()?;
        let pivot = self.diagonal.map_or(Some(pivot), |diagonal| diagonal.get(k))?;
        Some((*pivot, entries))
    }

    /// Copy row `k`, times `factor`, to `row`; what is before entry `k` stays.
    pub(super) fn copy_row(&self, row: &mut [T], k: usize, factor: T) -> Option<()> {
        let (pivot, entries) = self.row(row.len(), k)?;
        let (slot, after) = row.get_mut(k..)?.split_first_mut()?;
        *slot = factor * pivot;
        for (slot, &entry) in after.iter_mut().zip(entries) {
            *slot = factor * entry;
        }
        Some(())
    }

    /// Return how many numbers a further target has, of which the first are `Qᵀy`.
    pub(super) fn width(&self, dim: usize) -> usize {
        if self.diagonal.is_some() { dim } else { block(dim) }
    }
}

impl<T: Scalar> RidgeRegression<'_, T> {
    /// Whether some rows are in the triangle of earlier ones.
    pub(super) fn is_apart(&self) -> bool {
        self.counts.recent != self.counts.rows
    }

    /// Bring all rows into one triangle, and apply what was forgotten: the state is then the one that
    /// [`numbers`](Self::numbers) and [`write_state`](Self::write_state) return. Results change only by
    /// rounding. `c³` multiply-adds where there are two triangles, otherwise at most `c²/2`.
    ///
    /// In `f32` each call after new rows rounds as a fold does ([`add_row`](Self::add_row)): a million of
    /// them do no harm.
    ///
    /// # Errors
    /// None but [`Error::Internal`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f32, 1>::new();
    /// let mut ridge = RidgeRegression::new(1, memory.lend())?;
    /// ridge.add(&[1.0], 3.0)?;
    /// ridge.add(&[1.0], 5.0)?;
    /// ridge.forget(0.5)?;
    /// assert_eq!(ridge.numbers().err(), Some(Error::Unsettled));
    /// ridge.settle()?;
    /// assert!(ridge.numbers().is_ok());
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn settle(&mut self) -> Result<(), Error> {
        self.gather().known()?;
        let kept = self.counts.kept();
        if kept != T::ONE {
            self.scale(kept.sqrt(), kept).known()?;
        }
        self.counts.settle();
        Ok(())
    }

    /// Rotate the earlier rows and the recent ones into one triangle.
    #[must_use]
    #[inline(never)]
    pub(super) fn gather(&mut self) -> Option<()> {
        if !self.is_apart() {
            return Some(());
        }
        self.swap_levels()?;
        self.absorb_level(None, T::ONE)?;
        self.counts.recent = self.counts.rows;
        Some(())
    }

    /// Make room for recent rows: those so far, which are in one triangle, become the earlier ones.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub(super) fn set_apart(&mut self) -> Option<()> {
        self.swap_levels()?;
        self.clear();
        self.rss.carry();
        for block in rows_of_mut(self.further, block(self.dim)) {
            let parts = block.get_mut(self.dim..).and_then(<[T]>::first_chunk_mut);
            let [sum, lost] = parts?;
            let mut rss = Sum { sum: *sum, lost: *lost };
            rss.carry();
            (*sum, *lost) = (rss.sum, rss.lost);
        }
        self.counts.recent = 0;
        Some(())
    }

    /// Zero the triangle of recent rows and its right-hand sides.
    pub(super) fn clear(&mut self) {
        let dim = self.dim;
        for (k, row) in rows_of_mut(self.square, dim).enumerate() {
            row.iter_mut().skip(k).for_each(|entry| *entry = T::ZERO);
        }
        self.targets.fill(T::ZERO);
        for block in rows_of_mut(self.further, block(dim)) {
            block.iter_mut().take(dim).for_each(|target| *target = T::ZERO);
        }
    }

    /// Exchange the triangles of the recent and of the earlier rows.
    #[must_use]
    fn swap_levels(&mut self) -> Option<()> {
        let (dim, EarlierMemory { square, stride, diagonal, targets }) = (self.dim, &mut self.earlier.memory);
        let rows = rows_of_mut(self.square, dim).zip(rows_of_mut(square, *stride)).enumerate();
        for ((k, (row, earlier)), pivot) in rows.zip(diagonal.iter_mut()) {
            core::mem::swap(row.get_mut(k)?, pivot);
            for (entry, earlier) in row.iter_mut().zip(earlier).skip(k + 1) {
                core::mem::swap(entry, earlier);
            }
        }
        for (target, earlier) in self.targets.iter_mut().zip(targets.iter_mut()) {
            core::mem::swap(target, earlier);
        }
        for (block, earlier) in
            rows_of_mut(self.further, block(dim)).zip(rows_of_mut(self.earlier.further, dim))
        {
            for (target, earlier) in block.iter_mut().zip(earlier) {
                core::mem::swap(target, earlier);
            }
        }
        Some(())
    }

    /// Rotate the rows of a triangle, or of that of the earlier rows, times `factor`, into that of the recent
    /// rows.
    #[must_use]
    pub(super) fn absorb_level(&mut self, level: Option<Level<'_, T>>, factor: T) -> Option<()> {
        let dim = self.dim;
        for k in 0..dim {
            let level = level.unwrap_or_else(|| self.earlier.level());
            level.copy_row(self.row, k, factor)?;
            let others = rows_of(level.further, level.width(dim));
            for (own, other) in rows_of_mut(self.further, block(dim)).zip(others) {
                *own.last_mut()? = factor * *other.get(k)?;
            }
            let target = factor * *level.targets.get(k)?;
            let left = self.absorb(k, target)?;
            self.add_residuals(left)?;
        }
        Some(())
    }

    /// Multiply `R` and `Qᵀy` by `root`, and residual sums of squares by its square.
    #[must_use]
    #[inline(never)]
    pub(super) fn scale(&mut self, root: T, square: T) -> Option<()> {
        let dim = self.dim;
        for (k, row) in rows_of_mut(self.square, dim).enumerate() {
            multiply(row.get_mut(k..)?, root);
        }
        multiply(self.targets, root);
        self.rss = self.rss.times(square);
        for block in rows_of_mut(self.further, block(dim)) {
            let (targets, rest) = block.split_at_mut_checked(dim)?;
            multiply(targets, root);
            multiply(rest, square);
        }
        if self.is_apart() {
            let EarlierMemory { square, stride, diagonal, targets } = &mut self.earlier.memory;
            for (k, row) in rows_of_mut(square, *stride).take(dim).enumerate() {
                multiply(row.get_mut(k + 1..dim)?, root);
            }
            multiply(diagonal, root);
            multiply(targets, root);
            multiply(self.earlier.further, root);
        }
        Some(())
    }
}

#[inline(never)]
fn multiply<T: Scalar>(slots: &mut [T], factor: T) {
    slots.iter_mut().for_each(|slot| *slot *= factor);
}
