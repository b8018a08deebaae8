//! The triangle `[R q; 0 r]` of rows: what a regression keeps of them, in `f64`, and what follows from it.
//!
//! `RᵀR = ΦᵀΦ` and `Rᵀq = Φᵀy`; no product is formed. Triangles of different rows add up
//! ([`Triangle::plus`]), in `2c³/3` operations.

use crate::error::Error;
use crate::linalg::{bidiagonal::Bidiagonal, eigen::product, triangle};
use dpp_nystrom_core::{Error as CoreError, RidgeRegression, Scalar};
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Mat, MatRef, Par};
use std::borrow::Borrow;

/// Features from which on accumulators are merged by blocks: for fewer, the core's rotations are as fast.
pub(crate) const BLOCKED: usize = 64;

/// The triangle `[R q; 0 r]` of some rows, in `f64`, with a column for each target.
#[derive(Clone, Debug)]
pub(crate) struct Triangle {
    /// The number of features `c`.
    features: usize,
    /// The effective number of rows `N`, by which γ is multiplied.
    rows: f64,
    values: Mat<f64>,
}

impl Triangle {
    /// Copy that of an accumulator.
    ///
    /// # Errors
    /// `ErrorKind::Regression` with [`CoreError::Unsettled`].
    pub(crate) fn of<T: Scalar>(regression: &RidgeRegression<'_, T>) -> Result<Self, Error> {
        let (c, targets) = (regression.features(), regression.targets());
        let mut values = Mat::zeros(c + targets, c + targets);
        let mut numbers = regression.numbers().map_err(Error::regression)?.map(Scalar::to_f64);
        for i in 0..c {
            for (j, number) in (i..c).zip(&mut numbers) {
                values[(i, j)] = number;
            }
        }
        for j in c..c + targets {
            for (i, number) in (0..c).zip(&mut numbers) {
                values[(i, j)] = number;
            }
            values[(j, j)] = numbers.by_ref().take(2).sum::<f64>().max(0.0).sqrt();
        }
        Ok(Self { features: c, rows: regression.effective_rows().to_f64(), values })
    }

    /// Return `R`.
    pub(crate) fn square(&self) -> MatRef<'_, f64> {
        self.values.submatrix(0, 0, self.features, self.features)
    }

    /// Return the columns `q`.
    pub(crate) fn targets(&self) -> MatRef<'_, f64> {
        self.values.submatrix(0, self.features, self.features, self.values.ncols() - self.features)
    }

    /// Return the squared length of what is left of each target.
    pub(crate) fn left(&self) -> impl Iterator<Item = f64> {
        let order = self.values.ncols();
        (self.features..order).map(move |j| (self.features..=j).map(|i| self.values[(i, j)].powi(2)).sum())
    }

    /// Return the triangle of the rows of both.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let values = triangle::sum(self.values.as_ref(), other.values.as_ref());
        Self { rows: self.rows + other.rows, values, ..*self }
    }

    /// Return the triangle of these rows and those of the folds.
    ///
    /// # Errors
    /// Those of [`of`](Self::of).
    pub(crate) fn with_rows_of<'m, T: Scalar>(
        self,
        folds: &[impl Borrow<RidgeRegression<'m, T>>],
    ) -> Result<Self, Error> {
        folds.iter().try_fold(self, |sum, fold| Ok(sum.plus(&Self::of(fold.borrow())?)))
    }

    /// Return the triangle of the rows of all folds.
    ///
    /// # Errors
    /// `ErrorKind::Regression` with [`CoreError::NoRows`] for no folds, and those of [`of`](Self::of).
    pub(crate) fn of_all<'m, T: Scalar>(
        folds: &[impl Borrow<RidgeRegression<'m, T>>],
    ) -> Result<Self, Error> {
        let (first, others) = folds.split_first().ok_or(Error::regression(CoreError::NoRows))?;
        Self::of(first.borrow())?.with_rows_of(others)
    }

    /// Return the effective number of rows.
    pub(crate) fn rows(&self) -> f64 {
        self.rows
    }

    /// Return the sums of squares of the features and of the targets.
    pub(crate) fn squares(&self) -> (f64, f64) {
        (self.square().squared_norm_l2(), self.targets().squared_norm_l2() + self.left().sum::<f64>())
    }

    /// Write the triangle to an accumulator, which counts these rows.
    ///
    /// # Errors
    /// `ErrorKind::Regression` for an accumulator of another number of features, or numbers that are not
    /// finite.
    pub(crate) fn restore<T: Scalar>(
        &self,
        rows: u64,
        regression: &mut RidgeRegression<'_, T>,
    ) -> Result<(), Error> {
        let c = self.features;
        let entry = |i, j| if self.values[(i, i)] < 0.0 { -self.values[(i, j)] } else { self.values[(i, j)] };
        let mut numbers: Vec<f64> = (0..c).flat_map(|i| (i..c).map(move |j| entry(i, j))).collect();
        for (j, left) in (c..).zip(self.left()) {
            numbers.extend((0..c).map(|i| entry(i, j)));
            numbers.extend([left, 0.0]);
        }
        let numbers: Vec<T> = numbers.into_iter().map(T::from_f64).collect();
        regression.restore(rows, &numbers).map_err(Error::regression)?;
        if self.rows == rows as f64 {
            return Ok(());
        }
        regression.count_as(T::from_f64(self.rows)).map_err(Error::regression)
    }

    /// Whether the rows determine the weights without a ridge: no pivot is at most `rounding` times the
    /// largest.
    pub(crate) fn is_regular(&self, rounding: f64) -> bool {
        let c = self.features;
        let pivots = || (0..c).map(|i| self.values[(i, i)].abs());
        let floor = c as f64 * rounding * pivots().fold(0.0, f64::max);
        pivots().all(|pivot| pivot > floor)
    }

    /// Return the weights of this ridge, a column for each target, and their squared error on the rows, as
    /// the core's `solve` does, in `2c³/3` operations; `None` without a penalty, or if the weights are not
    /// finite: the core then says why.
    pub(crate) fn solve(&self, ridge: f64) -> Option<(Mat<f64>, f64)> {
        let penalised = Self { values: self.penalised(ridge)?, ..*self };
        let mut weights = penalised.targets().to_owned();
        solve_upper_triangular_in_place(penalised.square(), weights.as_mut(), Par::Seq);
        let squared_error = self.squared_errors(weights.as_ref()).first().copied()?;
        weights.is_all_finite().then_some((weights, squared_error))
    }

    /// Return `Rβ`, whose squared length over the rows is the mean square of the predictions of `β` on them.
    pub(crate) fn image(&self, weights: MatRef<'_, f64>) -> Mat<f64> {
        self.square() * weights
    }

    /// Return the effective number of weights under this ridge, `c - Nγ ‖S⁻¹‖²`: the trace of `(RᵀR +
    /// NγI)⁻¹RᵀR`. `None` without a penalty. `c³` operations.
    pub(crate) fn effective_weights(&self, ridge: f64) -> Option<f64> {
        let c = self.features;
        let penalised = self.penalised(ridge)?;
        let mut inverse = Mat::<f64>::identity(c, c);
        solve_upper_triangular_in_place(penalised.submatrix(0, 0, c, c), inverse.as_mut(), Par::Seq);
        Some((c as f64 - self.rows * ridge * inverse.squared_norm_l2()).clamp(0.0, c as f64))
    }

    /// Return the triangle `S` of the rows and of `√(Nγ) I`, with a `Qᵀy` in each column after it and what is
    /// left below, of length `√J`, where `J` is the squared error and `Nγ‖β‖²`. The first `c` pivots are
    /// positive. `None` without a penalty.
    pub(crate) fn penalised(&self, ridge: f64) -> Option<Mat<f64>> {
        let (c, order) = (self.features, self.values.ncols());
        let penalty = (self.rows * ridge).sqrt();
        if !(penalty > 0.0 && penalty.is_finite()) {
            return None;
        }
        let mut diagonal = Mat::<f64>::zeros(order, order);
        (0..c).for_each(|i| diagonal[(i, i)] = penalty);
        let mut penalised = triangle::sum(self.values.as_ref(), diagonal.as_ref());
        for i in (0..c).filter(|&i| penalised[(i, i)] < 0.0).collect::<Vec<_>>() {
            penalised.row_mut(i).iter_mut().for_each(|entry| *entry = -*entry);
        }
        Some(penalised)
    }

    /// Return the weights of each target and of each ridge for it, one column each: the core's `solve` for
    /// each of them, in `O(c³)` for all.
    pub(crate) fn weights(&self, ridges: &[f64]) -> Mat<f64> {
        let penalties: Vec<f64> = ridges.iter().map(|ridge| (self.rows * ridge).sqrt()).collect();
        Bidiagonal::new(self.square(), self.targets()).weights(&penalties)
    }

    /// Return the squared error of each ridge's weights on the rows, summed over the targets: the core's
    /// `squared_error`. There are as many columns for each target as there are ridges.
    pub(crate) fn squared_errors(&self, weights: MatRef<'_, f64>) -> Vec<f64> {
        let (c, targets) = (self.features, self.targets());
        let ridges = weights.ncols() / targets.ncols();
        let fitted = product(self.square(), weights);
        let square = |t: usize, column: usize| {
            let differences = (0..c).map(|i| fitted[(i, column)] - targets[(i, t)]);
            differences.map(|difference| difference * difference).sum::<f64>()
        };
        let of_ridge = |at: usize| {
            let of_target = |(t, left): (usize, f64)| square(t, t * ridges + at) + left;
            self.left().enumerate().map(of_target).sum()
        };
        (0..ridges).map(of_ridge).collect()
    }
}

/// Make the first part the sum of all, which is `sum` if it is known, and return it.
pub(crate) fn merge<'p, 'm, A: Scalar>(
    parts: &'p mut [RidgeRegression<'m, A>],
    sum: Option<Triangle>,
) -> Result<&'p mut RidgeRegression<'m, A>, Error> {
    let rows = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.rows()));
    let sum = match parts {
        [first, others @ ..]
            if first.features() >= BLOCKED
                && !others.is_empty()
                && others.iter().all(|other| other.features() == first.features()) =>
        {
            Some(sum.map_or_else(|| Triangle::of_all(parts), Ok)?)
        }
        _ => None,
    };
    let (whole, others) = parts.split_first_mut().ok_or(Error::regression(CoreError::NoRows))?;
    match (sum, rows) {
        (Some(sum), Some(rows)) => sum.restore(rows, whole)?,
        _ => others.iter().try_for_each(|other| whole.merge(other)).map_err(Error::regression)?,
    }
    Ok(whole)
}
