//! Exchange a landmark while learning goes on.
//!
//! What the regression knows is `R`, in the features of the present landmarks. Let `x_i` leave and `z` enter.
//!
//! - The landmarks in another order, `x_i` last, have features that are an orthogonal transform of the present ones. So
//!   `R` in those is exact: the Givens rotations that move `x_i` to the last place, applied to the columns of `R`.
//! - The other `c - 1` features do not depend on the last landmark.
//! - The last feature is `(k_z(x) - Σ_j l_zj φ_j(x))/√s_z`, with the sum over the others, where before it was that of `x_i`. The
//!   rows that were learned are gone, and with them `k_z(x)`. Its best estimate from the old features is `ρ φ_c(x)`, with `ρ` the correlation of `z` and `x_i`
//!   given the others: `ρ = (k(z, x_i) - l_z·l_i)/√(s_z s_i)`, at most 1 in magnitude. (It is the projection of `k_z` onto the
//!   span of the old landmarks, or the conditional expectation of a Gaussian process.) The rest, `√(1 - ρ²) ψ(x)`, is unknown.
//!   Its mean square is taken to be that of `φ_c`, so that the sum of the squares of the last feature stays. Without this term
//!   the weight would be divided by `ρ` instead of multiplied, as in a regression on a variable that is measured with errors.
//!
//! A near copy of `x_i` (`ρ` near 1) loses nothing. A row that has nothing in common with it (`ρ = 0`) loses what was
//! learned in one direction of `c`: its weight is 0 until rows are learned there. `tests/core/learner.rs`
//! measures the cost, for 16 landmarks after 500 noisy rows: one exchange raises the error on held-out rows from 0.047 to
//! 0.054, four to 0.070, and sixteen to 0.098, where a restart on the new landmarks has 0.25 after 20 rows and 0.09 after 100.

use super::Learner;
use crate::cholesky::Cholesky;
use crate::error::{Error, Known, Phase};
use crate::ground_set::{GroundSet, Points};
use crate::kernel::Kernel;
use crate::krr::RidgeRegression;
use crate::landmarks::Landmarks;
use crate::memory::Memory;
use crate::random::below;
use crate::scalar::{Scalar, dot};
use crate::stream::{Offer, Offered};
use crate::swap::Acceptance;
use rand_core::Rng;

impl<const C: usize, const D: usize, K: Kernel<T>, T: Scalar> Learner<C, D, K, T> {
    /// Offer a raw row in exchange for a landmark, while learning: a step of the stream's chain, with the same law. What was
    /// learned is expressed in the new features, as far as the old ones determine it. After an exchange the weights are
    /// computed again with the γ of the last solution; if there are none with it, the phase is [`Phase::Learning`], and
    /// [`solve`](Self::solve) says why. Return whether the row has replaced a landmark.
    ///
    /// `c²` multiply-adds for a row that is declined, and `3c³` for an exchange. The number of landmarks does not grow.
    ///
    /// # Errors
    /// [`Error::Phase`], and [`Error::NotFinite`] with the number of rows before it and the feature: nothing has changed.
    pub fn exchange<R: Rng + ?Sized>(&mut self, row: &[T; D], random: &mut R) -> Result<Offer, Error> {
        self.check_learning()?;
        let row = self.standardise(row, self.status.progress.steps)?;
        let count = self.status.count;
        let kernel = self.kernel.as_ref().known()?;
        let points = Points::trusted(self.rows.as_flattened(), D, C, kernel);
        let ground = Offered { points, row: &row };
        let Memory { factor, landmarks } = self.memory.lend();
        let mut landmarks = Landmarks::assemble(&ground, Cholesky::assemble(factor, count)?, landmarks);
        let slot = below(random, count);
        let uniform = T::from_draw(random.next_u32());
        let swap = landmarks.swap(slot, C)?;
        self.status.progress.steps += 1;
        self.status.progress.proposed += 1;
        if !(uniform < swap.probability(Acceptance::Metropolis)) {
            return Ok(Offer::Declined);
        }
        let place = *landmarks.members().get(slot).known()?;

        self.status.tally.counts.penalty = T::ZERO;
        // β of the prior is Lᵀw.
        let mut ridge = RidgeRegression::resume(count, self.ridge.lend(), self.status.tally)?;
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

        // The substitution of the entering row is still in the working column.
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
        *self.rows.get_mut(place).known()? = row;
        self.status.progress.accepted += 1;

        if self.status.phase == Phase::Predicting {
            self.status.phase = Phase::Learning;
            if self.learned() == 0 {
                // The prior alone.
                super::copy(&mut self.weights, &self.prior);
                self.status.phase = Phase::Predicting;
            } else {
                // Without a solution the exchange stands all the same, and the phase is that of learning.
                let _ = self.solve(self.status.gamma);
            }
        }
        Ok(Offer::Replaced { place })
    }
}
