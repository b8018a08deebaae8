//! Measure means and deviations, and refuse columns that do not vary.

use super::{Learner, Status};
use crate::error::{Error, Phase, row_number};
use crate::kernel::Kernel;
use crate::model::rounding;
use crate::scalar::Scalar;

impl<const C: usize, const D: usize, K: Kernel<T>, T: Scalar> Learner<C, D, K, T> {
    /// Measure the scaling with a raw row and its target.
    ///
    /// # Errors
    /// [`Error::Phase`], and with the number of rows before it and the feature (`D` for the target)
    /// [`Error::NotFinite`], or [`Error::TooLarge`] where the sum of squared deviations overflows.
    /// [`Error::RowCount`] from 2²⁴ rows in `f32` and 2³² - 1 in `f64`, since a row would be lost in the sums'
    /// rounding: freeze the scaling. A row that is refused is not counted.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Learner, kernel::Gaussian};
    ///
    /// let mut learner = Learner::<4, 1>::new();
    /// learner.start(Gaussian::new(1.0)?);
    /// learner.scale(&[20.0], 1.0)?;
    /// assert_eq!(learner.scale(&[f32::NAN], 1.0), Err(Error::NotFinite { row: 1, column: 0 }));
    /// assert!(learner.is_constant(0)); // of one row
    /// learner.scale(&[22.0], 3.0)?;
    /// assert!(!learner.is_constant(0));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn scale(&mut self, row: &[T; D], target: T) -> Result<(), Error> {
        self.check(Phase::Scaling)?;
        let scaled = u64::from(self.status.scaled);
        if let Some(column) = row.iter().chain([&target]).position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { row: row_number(scaled), column });
        }
        let count = T::from_rows(scaled + 1);
        if count == T::from_rows(scaled) || self.status.scaled == u32::MAX {
            return Err(Error::RowCount);
        }
        let Status { target_mean, target_scale, .. } = self.status;
        let means = self.means.iter().copied().chain([target_mean]);
        let sums = self.scales.iter().copied().chain([target_scale]);
        for (column, ((mut mean, mut squares), &value)) in
            means.zip(sums).zip(row.iter().chain([&target])).enumerate()
        {
            deviate(&mut mean, &mut squares, value, count);
            if !squares.is_finite() {
                return Err(Error::TooLarge { row: row_number(scaled), column });
            }
        }
        for ((mean, squares), &value) in self.means.iter_mut().zip(&mut self.scales).zip(row) {
            deviate(mean, squares, value, count);
        }
        let Status { target_mean, target_scale, .. } = &mut self.status;
        deviate(target_mean, target_scale, target, count);
        self.status.scaled += 1;
        Ok(())
    }

    /// Whether a column is constant over the rows measured so far. Features are numbered from 0, and the
    /// target is column `D`. Once the scaling is frozen: whether a feature was constant.
    pub fn is_constant(&self, column: usize) -> bool {
        let Status { phase, scaled, target_mean, target_scale, .. } = self.status;
        let (mean, scale) = match (self.means.get(column), self.scales.get(column)) {
            (Some(&mean), Some(&scale)) => (mean, scale),
            _ if column == D => (target_mean, target_scale),
            _ => return false,
        };
        let count = T::from_rows(u64::from(scaled.max(1)));
        if phase == Phase::Scaling { constant(scale, count, mean) } else { scale == T::ZERO }
    }

    /// Stop measuring and fix the scaling. Continue in [`Phase::Selecting`].
    ///
    /// # Errors
    /// [`Error::Phase`], [`Error::Empty`] where no row was measured, and [`Error::Constant`] with the first
    /// feature that is constant, or with `D` for the target ([constant features](Self#constant-features)):
    /// measuring can continue.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Learner, Phase, kernel::Gaussian};
    ///
    /// let mut learner = Learner::<4, 1>::new();
    /// learner.start(Gaussian::new(1.0)?);
    /// assert_eq!(learner.freeze_scaling(), Err(Error::Empty));
    /// for (celsius, hours) in [(18.0, 4.0), (20.0, 5.0), (25.0, 7.5)] {
    ///     learner.scale(&[celsius], hours)?;
    /// }
    /// learner.freeze_scaling()?;
    /// assert_eq!(learner.phase(), Phase::Selecting);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn freeze_scaling(&mut self) -> Result<(), Error> {
        self.freeze_scaling_allowing(&[])
    }

    /// [`freeze_scaling`](Self::freeze_scaling), accepting these columns as constant: features by their
    /// number from 0, and the target as `D`. A target that is constant is learned in its own units, as if its
    /// deviation were 1. This also serves a learner without a target, of which only the
    /// [`residual`](Self::residual) is used.
    ///
    /// # Errors
    /// Those of [`freeze_scaling`](Self::freeze_scaling), and [`Error::Constant`] (of column 0) where all
    /// features are constant.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Learner, kernel::Gaussian};
    ///
    /// let mut learner = Learner::<4, 2>::new();
    /// learner.start(Gaussian::new(1.0)?);
    /// for celsius in [19.0, 20.0, 21.5] {
    ///     learner.scale(&[celsius, 1013.25], 0.0)?; // the second sensor is stuck, and there is no target
    /// }
    /// assert_eq!(learner.freeze_scaling(), Err(Error::Constant { column: 1 }));
    /// assert!(learner.is_constant(1) && learner.is_constant(2));
    /// learner.freeze_scaling_allowing(&[1, 2])?;
    /// assert!(learner.is_constant(1));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn freeze_scaling_allowing(&mut self, columns: &[usize]) -> Result<(), Error> {
        self.check(Phase::Scaling)?;
        if self.status.scaled == 0 {
            return Err(Error::Empty);
        }
        let refused = |&column: &usize| self.is_constant(column) && !columns.contains(&column);
        if let Some(column) = (0..=D).find(refused) {
            return Err(Error::Constant { column });
        }
        if (0..D).all(|column| self.is_constant(column)) {
            return Err(Error::Constant { column: 0 });
        }
        let count = T::from_rows(u64::from(self.status.scaled));
        for (scale, &mean) in self.scales.iter_mut().zip(&self.means) {
            *scale = if constant(*scale, count, mean) { T::ZERO } else { T::ONE / (*scale / count).sqrt() };
        }
        let Status { target_mean, target_scale, .. } = &mut self.status;
        *target_scale = if constant(*target_scale, count, *target_mean) {
            T::ONE
        } else {
            (*target_scale / count).sqrt()
        };
        self.status.phase = Phase::Selecting;
        Ok(())
    }
}

/// Whether a column of this mean and of this sum of squared deviations over `count` rows is constant.
fn constant<T: Scalar>(squares: T, count: T, mean: T) -> bool {
    let deviation = (squares / count).sqrt();
    // Below the least normal number, one over it overflows.
    !(deviation > rounding(mean) && deviation >= T::SMALLEST)
}

/// Add a value to a mean and to the sum of squared deviations from it (Welford 1962), as the `count`-th.
fn deviate<T: Scalar>(mean: &mut T, squares: &mut T, value: T, count: T) {
    let before = value - *mean;
    *mean += before / count;
    *squares += before * (value - *mean);
}
