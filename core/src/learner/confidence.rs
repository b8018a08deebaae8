//! The reliability of predictions: residuals, variances and their calibration.
//!
//! The variance of [`crate::Uncertainty`] is `s² v(x)`, `v(x) = r(x)/λ + h(x) + 1`. The noise `s²` of a
//! solution contains all of its errors on the learned rows: the random part, and the part of the function
//! that the landmarks cannot represent. The term `r/λ` counts the latter again, and dominates where the
//! bandwidth is small: 90 % intervals then cover all rows. So a learner keeps the mean residual `r̄` of the
//! learned rows and divides by `r̄/λ + 1`: a row with that residual has the variance of the noise.
//!
//! Errors are seldom normal. Each row that is learned while there are weights has an error that did not
//! affect them. Deviations are multiplied by a factor `κ`, adapted so that one of ten such errors exceeds
//! 1.645 deviations: `κ` is multiplied by 1.009 after a larger error and by .999 after a smaller one (Robbins
//! and Monro 1951, for the quantile), and adapts to a stream within some 500 rows. `κ` is reset to 1 where γ
//! changes by a factor of 8.
//!
//! `tests/adapter/confidence.rs` has the coverage on five data sets.

use super::{Learner, Status, standard_target};
use crate::cholesky::Cholesky;
use crate::error::{Error, Known, Phase};
use crate::ground_set::Points;
use crate::kernel::Kernel;
use crate::krr::{RidgeRegression, Solved};
use crate::landmarks::Landmarks;
use crate::memory::Memory;
use crate::model::{Assessment, changed};
use crate::nystrom::Nystrom;
use crate::scalar::Scalar;

/// The steps of the factor, which stays between 2⁻¹⁰ and 2¹⁰, where an error is beyond a claimed interval of
/// 90 % and where it is within.
const STEPS: [f64; 2] = [1.009, 0.999];

impl<T: Scalar> Status<T> {
    /// Return the error of the prediction of a row from its kernel values, in deviations of the target; none
    /// without weights.
    pub(super) fn error_of(
        &self,
        members: &[usize],
        column: &[T],
        weights: &[T],
        target: T,
    ) -> Result<Option<T>, Error> {
        if self.phase != Phase::Predicting {
            return Ok(None);
        }
        let mut error = standard_target(target, self.target_mean, self.target_scale);
        for (&place, &value) in members.iter().zip(column) {
            error -= value * *weights.get(place).known()?;
        }
        Ok(Some(error))
    }

    /// Return `r̄/λ + 1`.
    fn usual(&self, solved: &Solved<T>) -> T {
        self.residual / solved.penalty + T::ONE
    }

    /// Adapt the factor to the error of a row that the solution did not know, in deviations of the target.
    pub(super) fn calibrate(&mut self, error: T, residual: T) {
        let claim = self.claim;
        if !(claim.penalty > T::ZERO) {
            return;
        }
        let variance = claim.variance(residual, T::ZERO) / self.usual(&claim);
        let [beyond, within] = STEPS;
        let is_beyond = error.abs() > T::from_f64(1.645) * self.spread * variance.sqrt();
        let spread = self.spread * T::from_f64(if is_beyond { beyond } else { within });
        // A solution that leaves nothing of its rows claims nothing that a factor could mend.
        if spread > T::from_f64(1.0 / 1024.0) && spread < T::from_f64(1024.0) {
            self.spread = spread;
        }
    }
}

impl<const C: usize, const D: usize, K: Kernel<T>, T: Scalar> Learner<C, D, K, T> {
    /// Return the Nyström residual `k(z, z) - ‖φ(z)‖²` of a raw row, standardised as `z`: the part of the row
    /// that the landmarks do not represent. 0 for a landmark; `k(z, z)`, which is 1 for a Gaussian kernel,
    /// for a row far from all of them, and for one in which a [constant feature](Self#constant-features) has
    /// another value. It needs no target and no solution. `c` kernel values and `c²/2` multiply-adds.
    ///
    /// # Errors
    /// [`Error::Phase`], and of row 0 [`Error::NotFinite`] or [`Error::TooLarge`] with the feature,
    /// [`Error::NotFinite`] with a landmark with which the kernel overflows.
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Random, Standard, kernel::Gaussian};
    ///
    /// let mut learner = Learner::<2, 1>::new();
    /// let standard = Standard { means: [20.0], scales: [0.5], target_mean: 0.0, target_scale: 1.0 };
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// learner.select(&[[18.0], [22.0]], &mut Random::seeded(7))?;
    /// assert!(learner.residual(&[18.0])? < 1e-6); // a landmark
    /// assert!(learner.residual(&[19.0])? < 0.2); // not far from it
    /// assert!(learner.residual(&[40.0])? > 0.99); // far away
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn residual(&mut self, row: &[T; D]) -> Result<T, Error> {
        self.check_learning()?;
        let raw = row;
        let row = self.standardise(raw, 0)?;
        let (count, kernel) = (self.status.count, self.kernel.as_ref().known()?);
        let ground = Points::trusted(self.rows.as_flattened(), D, C, kernel);
        let Memory { factor, landmarks } = self.memory.lend();
        let landmarks = Landmarks::assemble(&ground, Cholesky::assemble(factor, count)?, landmarks);
        let phi = self.phi.get_mut(..count).known()?;
        match changed(raw, &self.means, &self.scales) {
            None => ground.column_at(&row, landmarks.members(), phi)?,
            Some(_) => phi.fill(T::ZERO),
        }
        Nystrom::new(&landmarks).residual_at(0, kernel.diagonal(&row), phi)
    }

    /// Predict a raw row and measure how reliable the prediction is: [`predict`](Self::predict), the distance
    /// to the nearest landmark, the [`residual`](Self::residual), and the variance of a new observation under
    /// the last solution.
    ///
    /// 90 % of new observations are within 1.645 standard deviations, the root of the variance, if γ is that
    /// of [`choose_gamma`](Self::choose_gamma) and the rows are like those learned. Rows learned after a
    /// solution calibrate it, also where errors are not normal. Of a row unlike those learned it is larger,
    /// at the γ of [`choose_gamma`](Self::choose_gamma), but promises no share: look at the residual and the
    /// distance as well. It does not cover a usual row whose target is not usual, as the first of an outage.
    ///
    /// There is no variance after [`read_state`](Self::read_state), [`start_from`](Self::start_from) or a
    /// solution that failed, until [`solve`](Self::solve) has succeeded with a positive γ: its triangle is
    /// not stored. `2c` kernel values and `c²` multiply-adds.
    ///
    /// # Errors
    /// [`Error::Phase`], and those of [`residual`](Self::residual).
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Random, Standard, kernel::Gaussian};
    ///
    /// let standard = Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
    /// let mut learner = Learner::<2, 1>::new();
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// learner.select(&[[-1.0], [1.0]], &mut Random::seeded(7))?;
    /// for row in 0..50 {
    ///     learner.learn(&[1.0], if row % 2 == 0 { 1.9 } else { 2.1 })?;
    /// }
    /// learner.solve(1e-3)?;
    /// let (near, far) = (learner.assess(&[1.0])?, learner.assess(&[30.0])?);
    /// assert!((near.nearest, far.nearest) == (0.0, 29.0));
    /// assert!(near.variance < Some(0.02) && far.variance > near.variance);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn assess(&mut self, row: &[T; D]) -> Result<Assessment<T>, Error> {
        let mut assessment = self.model()?.assess(row, &mut [T::ZERO; D])?;
        let residual = self.residual(row)?;
        assessment.residual = Some(residual);
        let Status { count, tally, target_scale, .. } = self.status;
        let ridge = RidgeRegression::resume(count, self.ridge.lend(&mut []), tally)?;
        let variance = ridge.variance(residual, self.phi.get_mut(..count).known()?);
        let scale = target_scale * self.status.spread;
        assessment.variance = match (variance, ridge.solved()) {
            (Ok(variance), Some(solved)) => Some(scale * scale * variance / self.status.usual(&solved)),
            _ => None,
        };
        Ok(assessment)
    }
}
