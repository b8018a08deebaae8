//! Exchange landmarks during learning, where that lowers the error.
//!
//! # When
//!
//! The landmarks should explain the rows that arrive: the sum of the rows' residuals should be small. A row
//! that is offered becomes a *candidate* `z` and is tried on the `2c` rows offered after it. With `r(x, z) =
//! k(x, z) - φ(x)·φ(z)`, what the landmarks leave of the kernel, it would explain as a further landmark
//!
//! `gain = mean of r(x, z)²/r(z, z)`
//!
//! of a row's residual. What the landmark `x_i` explains that no other does is known for all rows that were
//! learned, discounted as they are: the mean square of the feature along `a_i = L⁻¹e_i`, which is orthogonal
//! to the features of the other landmarks,
//!
//! `loss_i = ‖R a_i‖²/(N ‖a_i‖²)`.
//!
//! The landmark with the least loss is exchanged for the candidate if the gain is more than 4 times that
//! loss, since what was learned along `a_i` is lost too and the new feature is learned from the rows that
//! follow. So there is at most one exchange in `2c + 1` rows, none before `2c` effective rows were learned,
//! and soon none in a stationary stream: `tests/core/exchange.rs` has the errors for streams that are
//! stationary, drift, jump and wander. An exchange is a step of swap search on the residuals and not of the
//! c-DPP's chain: a chain never settles, and each of its steps would cost as much as an exchange.
//!
//! # How
//!
//! The regression stores `R`, in the features of the present landmarks. Let `x_i` leave and `z` enter.
//!
//! - The landmarks in another order, `x_i` last, have features that are an orthogonal transform of the
//!   present ones. So `R` in those is exact: the Givens rotations that move `x_i` to the last place, applied
//!   to the columns of `R`.
//! - The other `c - 1` features do not depend on the last landmark.
//! - The last feature is `(k_z(x) - Σ_j l_zj φ_j(x))/√s_z`, with the sum over the others, where before it was
//!   that of `x_i`. The rows that were learned are gone, and with them `k_z(x)`. Its best estimate from the
//!   old features is `ρ φ_c(x)`, with `ρ` the correlation of `z` and `x_i` given the others:
//!   `ρ = (k(z, x_i) - l_z·l_i)/√(s_z s_i)`, at most 1 in magnitude. (It is the projection of `k_z` onto the
//!   span of the old landmarks, or the conditional expectation of a Gaussian process.) The rest,
//!   `√(1 - ρ²) ψ(x)`, is unknown. Its mean square is taken to be that of `φ_c`, so that the sum of the
//!   squares of the last feature stays. Without this term the weight would be divided by `ρ` instead of
//!   multiplied, as in a regression on a variable that is measured with errors.
//!
//! A near copy of `x_i` (`ρ` near 1) loses nothing. A row that has nothing in common with it (`ρ = 0`) loses
//! what was learned in one direction of `c`: its weight is 0 until rows are learned there.

use super::{Learner, Status, copy};
use crate::cholesky::Cholesky;
use crate::error::{Error, Known, Phase, row_number};
use crate::ground_set::{GroundSet, Points};
use crate::kernel::Kernel;
use crate::krr::RidgeRegression;
use crate::landmarks::Landmarks;
use crate::memory::Memory;
use crate::nystrom::{self, Nystrom};
use crate::scalar::{Scalar, dot};
use crate::stream::Offered;

/// The rows that a candidate is tried on, and the effective rows before the first exchange, for each
/// landmark.
pub(crate) const TRIAL_ROWS: usize = 2;
/// How many times the loss the gain must be.
pub(crate) const MARGIN: usize = 4;

/// What [`Learner::exchange`] did.
///
/// ```
/// use dpp_nystrom_core::{Exchange, Learner, Random, Standard, kernel::Gaussian};
///
/// let standard = Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
/// let mut learner = Learner::<1, 1>::new();
/// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
/// learner.select(&[[0.0]], &mut Random::seeded(7))?;
/// assert_eq!(learner.exchange(&[4.0])?, Exchange::FewRows);
/// learner.learn(&[4.0], 1.0)?;
/// learner.learn(&[4.0], 1.0)?;
/// assert_eq!(learner.exchange(&[0.0])?, Exchange::Dependent); // the landmark itself
/// assert_eq!(learner.exchange(&[4.0])?, Exchange::OnTrial);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Exchange {
    /// The candidate, a row offered before, has replaced a landmark.
    Replaced {
        /// Its index in [`Learner::rows`]: anything the caller stores for that row is out of date.
        place: usize,
    },
    /// Declined: there are fewer than `2c` effective rows that say what a landmark explains.
    FewRows,
    /// Declined: the landmarks explain the row.
    Dependent,
    /// Declined for now: a candidate, this row or one before it, is on trial.
    OnTrial,
    /// Declined: the trial has ended, and the candidate explains too little.
    NoGain,
}

impl<const C: usize, const D: usize, K: Kernel<T>, T: Scalar> Learner<C, D, K, T> {
    /// Offer a raw row in exchange for a landmark, while learning. It can be called with each row, and
    /// exchanges only where that lowers the error: where the rows that arrive are no longer like those that
    /// the landmarks were selected from. A row becomes a candidate if there is none, is tried on the `2c`
    /// rows that are offered after it, and replaces the landmark that explains least if it explains more than
    /// 4 times as much. While rows are like those of the selection, there are no further exchanges.
    ///
    /// After an exchange the weights are computed again with the γ of the last solution; if there are none
    /// with it, the phase is [`Phase::Learning`], and [`solve`](Self::solve) says why. The number of
    /// landmarks does not grow.
    ///
    /// `2c` kernel values and `c²` multiply-adds for a row on trial, `c³` at the end of a trial, and `3c³`
    /// more for an exchange.
    ///
    /// # Errors
    /// [`Error::Phase`], and with the number of rows before it and the feature [`Error::NotFinite`],
    /// [`Error::TooLarge`] or [`Error::Changed`], or [`Error::NotFinite`] with a landmark with which the
    /// kernel overflows: nothing has changed.
    ///
    /// ```
    /// use dpp_nystrom_core::{Exchange, Learner, Random, Standard, kernel::Gaussian};
    ///
    /// let mut learner = Learner::<2, 1>::new();
    /// let standard = Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// learner.select(&[[-1.0], [1.0]], &mut Random::seeded(7))?;
    /// let mut exchanges = 0;
    /// for at in 0..300 {
    ///     let x = if at < 100 { 1.0 } else { 5.0 } + (at % 7) as f32 / 7.0; // it moves
    ///     learner.forget(0.9)?;
    ///     learner.learn(&[x], x * x)?;
    ///     exchanges += u32::from(matches!(learner.exchange(&[x])?, Exchange::Replaced { .. }));
    /// }
    /// assert!((1..4).contains(&exchanges));
    /// assert!(learner.residual(&[5.5])? < 0.1);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn exchange(&mut self, row: &[T; D]) -> Result<Exchange, Error> {
        self.check_learning()?;
        let row = self.admit(row, self.status.progress.steps)?;
        let rows = TRIAL_ROWS * self.status.count;
        if !(self.effective_rows() >= T::from_count(rows)) {
            self.status.progress.steps += 1;
            return Ok(Exchange::FewRows);
        }
        if self.status.tried == 0 {
            return self.begin_trial(&row);
        }
        let explained = self.explained(&row)?;
        self.status.gain += explained;
        self.status.tried = self.status.tried.saturating_add(1);
        self.status.progress.steps += 1;
        if self.status.gain.is_finite() && (self.status.tried as usize) <= rows {
            return Ok(Exchange::OnTrial);
        }
        self.status.tried = 0;
        self.status.progress.proposed += 1;
        let gain = self.status.gain / T::from_count(rows);
        let (slot, loss) = self.least_loss()?;
        if gain.is_finite() && gain > T::from_count(MARGIN) * loss {
            self.replace_landmark(slot)
        } else {
            Ok(Exchange::NoGain)
        }
    }

    /// Make a standardised row the candidate, unless it depends on the landmarks.
    fn begin_trial(&mut self, row: &[T; D]) -> Result<Exchange, Error> {
        self.candidate = *row;
        let residual = self.explained(row)?;
        self.status.progress.steps += 1;
        if !(residual > T::ZERO) {
            return Ok(Exchange::Dependent);
        }
        (self.status.gain, self.status.tried) = (T::ZERO, 1);
        Ok(Exchange::OnTrial)
    }

    /// Return what the candidate would explain of the residual of a standardised row: `r(x, z)²/r(z, z)`, or
    /// 0 where `r(z, z)` is rounding error.
    fn explained(&mut self, row: &[T; D]) -> Result<T, Error> {
        let (count, kernel) = (self.status.count, self.kernel.as_ref().known()?);
        let number = row_number(self.status.progress.steps);
        let ground = Points::trusted(self.rows.as_flattened(), D, C, kernel);
        let Memory { factor, landmarks } = self.memory.lend();
        let landmarks = Landmarks::assemble(&ground, Cholesky::assemble(factor, count)?, landmarks);
        let approximation = Nystrom::new(&landmarks);
        let of_candidate = self.phi.get_mut(..count).known()?;
        ground.column_at(&self.candidate, landmarks.members(), of_candidate)?;
        let diagonal = kernel.diagonal(&self.candidate);
        let residual = approximation.residual_at(number, diagonal, of_candidate)?;
        if nystrom::is_rounding(residual, diagonal, count) {
            return Ok(T::ZERO);
        }
        let of_row = self.ridge.lend(&mut []).row.get_mut(..count).known()?;
        ground.column_at(row, landmarks.members(), of_row)?;
        approximation.features_at(number, of_row)?;
        Ok(nystrom::explained(kernel.value(&self.candidate, row), of_row, of_candidate, residual))
    }

    /// Return the slot of the landmark whose loss is least, and the loss.
    fn least_loss(&mut self) -> Result<(usize, T), Error> {
        let Status { count, tally, .. } = self.status;
        let direction = self.phi.get_mut(..count).known()?;
        let mut least = None;
        for slot in 0..count {
            direction.fill(T::ZERO);
            *direction.get_mut(slot).known()? = T::ONE;
            Cholesky::assemble(self.memory.lend().factor, count)?.solve_lower(direction)?;
            // The triangle of earlier rows is beside the factor.
            let ridge = RidgeRegression::resume(count, self.ridge.lend(self.memory.lend_upper()), tally)?;
            let loss = ridge.squares_along(direction)? / dot(direction, direction);
            if least.is_none_or(|(_, least)| loss < least) {
                least = Some((slot, loss));
            }
        }
        let (slot, loss) = least.known()?;
        Ok((slot, loss / tally.effective_rows()))
    }

    /// Replace the landmark at `slot` by the candidate.
    fn replace_landmark(&mut self, slot: usize) -> Result<Exchange, Error> {
        let (count, kernel) = (self.status.count, self.kernel.as_ref().known()?);
        let points = Points::trusted(self.rows.as_flattened(), D, C, kernel);
        let ground = Offered { points, row: &self.candidate };
        let Memory { factor, landmarks } = self.memory.lend();
        let mut landmarks = Landmarks::assemble(&ground, Cholesky::assemble(factor, count)?, landmarks);
        let swap = landmarks.swap(slot, C)?;
        if !(swap.entering > T::ZERO) {
            return Ok(Exchange::NoGain);
        }
        let place = *landmarks.members().get(slot).known()?;

        self.status.tally.counts.penalty = T::ZERO;
        let mut ridge =
            RidgeRegression::resume(count, self.ridge.lend(self.memory.lend_upper()), self.status.tally)?;
        ridge.settle()?;
        self.status.tally = ridge.tally();
        // The substitution of the entering row is still in the working column.
        let Memory { factor, landmarks } = self.memory.lend();
        let mut landmarks = Landmarks::assemble(&ground, Cholesky::assemble(factor, count)?, landmarks);
        let mut ridge = RidgeRegression::resume(count, self.ridge.lend(&mut []), self.status.tally)?;
        // β of the prior is Lᵀw.
        let phi = self.phi.get_mut(..count).known()?;
        for (j, value) in phi.iter_mut().enumerate() {
            *value = T::ZERO;
            for (i, &place) in landmarks.members().iter().enumerate().skip(j) {
                *value += *landmarks.factor().row(i).get(j).known()? * *self.prior.get(place).known()?;
            }
        }
        landmarks.move_to_last(slot)?;
        let factor = landmarks.factor();
        factor.rotate_features(slot, phi)?;
        let mut done = Ok(());
        ridge.map_features(|phi| done = factor.rotate_features(slot, phi))?;
        done?;

        let (&pivot, leaving) = factor.row(count - 1).split_last().known()?;
        let covariance = ground.entry(C, place) - dot(leaving, factor.working(count - 1)?);
        let correlation = covariance / (pivot * swap.entering.sqrt());
        let correlation = if correlation > T::ONE {
            T::ONE
        } else if correlation < -T::ONE {
            -T::ONE
        } else {
            correlation
        };
        ridge.replace_last(correlation)?;
        *phi.last_mut().known()? *= correlation;
        self.status.tally = ridge.tally();

        landmarks.overwrite_last(C, swap.entering)?;
        let Memory { factor, landmarks } = self.memory.lend();
        *landmarks.get_mut(count - 1).known()? = place;
        Cholesky::assemble(factor, count)?.solve_upper(phi)?;
        for (&place, &weight) in landmarks.iter().zip(phi.iter()) {
            *self.prior.get_mut(place).known()? = weight;
        }
        // An assignment calls `memmove`, which nothing else needs: 1.5 KB of flash.
        copy(self.rows.get_mut(place).known()?, &self.candidate);
        self.status.progress.accepted += 1;

        if self.status.phase == Phase::Predicting {
            self.status.phase = Phase::Learning;
            // Without a solution the exchange stands all the same, and the phase is that of learning.
            let _ = self.solve(self.status.gamma);
        }
        Ok(Exchange::Replaced { place })
    }
}

#[cfg(test)]
mod tests {
    use super::{Exchange, Learner};
    use crate::kernel::Gaussian;
    use crate::learner::Standard;
    use crate::random::Random;
    use crate::scalar::Scalar;
    use rand_core::Rng;

    type Device = Learner<6, 2, Gaussian<f64>, f64>;

    /// Where a copy of the leaving landmark enters, only the order of the landmarks changes.
    #[test]
    fn an_exchange_for_a_copy_changes_nothing_but_the_order() {
        let mut random = Random::seeded(7);
        let mut unit = || f64::from(random.next_u32()) / 4_294_967_296.0;
        let table: [[f64; 2]; 100] = core::array::from_fn(|_| [unit(), unit()]);
        let mut learner = Device::new();
        let standard = Standard { means: [0.5; 2], scales: [3.0; 2], target_mean: 0.0, target_scale: 1.0 };
        learner.start_scaled(Gaussian::new(1.0).unwrap(), &standard).unwrap();
        learner.select(&table, &mut random).unwrap();
        for row in &table {
            learner.learn(row, row[0] * row[1]).unwrap();
        }
        learner.solve(1e-4).unwrap();
        let before = table.map(|row| learner.predict(&row).unwrap());
        let first = learner.least_loss().unwrap().1;
        for at in 0..20 {
            let slot = at % 6;
            learner.candidate = learner.rows[learner.memory.lend().landmarks[slot]];
            assert!(matches!(learner.replace_landmark(slot), Ok(Exchange::Replaced { .. })));
        }
        let last = learner.least_loss().unwrap().1;
        assert!(first > 0.0 && (last / first - 1.0).abs() < 1e-9, "{first} {last}");
        for (row, before) in table.iter().zip(before) {
            assert!((learner.predict(row).unwrap() - before).abs() < 1e-9);
        }
    }

    /// What a landmark explains is of all rows, in whichever triangle they are, and of what is forgotten.
    #[test]
    fn a_loss_is_that_of_earlier_rows_too() {
        let mut learner = Learner::<2, 1>::new();
        let standard = Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
        learner.start_scaled(Gaussian::new(1.0).unwrap(), &standard).unwrap();
        learner.select(&[[-1.0], [1.0]], &mut Random::seeded(7)).unwrap();
        // Of the last rows alone the other landmark explains least.
        for at in 0..f32::ROWS_APART + 300 {
            let x = if at < f32::ROWS_APART { 1.0 } else { -1.0 };
            learner.learn(&[x], x).unwrap();
        }
        learner.forget(0.5).unwrap();
        let (slot, loss) = learner.least_loss().unwrap();
        learner.settle().unwrap();
        let (settled_slot, settled) = learner.least_loss().unwrap();
        assert_eq!(slot, settled_slot);
        assert!((loss / settled - 1.0).abs() < 1e-5 && loss < 0.1, "{loss} {settled}");
    }
}
