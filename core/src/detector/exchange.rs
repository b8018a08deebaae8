//! Exchange landmarks while rows are judged, where the rows move.
//!
//! The rule is that of [`crate::Learner::exchange`]: a row is a candidate, is tried on `2c` rows, and
//! replaces the landmark that explains least if it explains more than 4 times as much. A detector has no
//! regression to say what a landmark `x_i` explains that no other does. It keeps a mean for each: with `a_i =
//! L⁻¹e_i`, which is orthogonal to the features of the other landmarks, a row's part along it is
//! `(a_iᵀφ(x))²/‖a_i‖²`, and `a_iᵀφ(x)` is the `i`-th number of `L⁻ᵀφ(x)`. So the mean of the squares of
//! `L⁻ᵀφ(x)` is kept, and divided by `‖a_i‖²`, the diagonal of `K_CC⁻¹`, at the end of a trial.
//!
//! The mean is of the last `16 N` rows, with weights that fall off: that is the memory of the threshold. A
//! landmark that is of use in one of `N` rows has been so 16 times in them. There is no exchange before.

use super::{Detector, Status};
use crate::cholesky::Cholesky;
use crate::error::{Error, Known, Phase, row_number};
use crate::kernel::Kernel;
use crate::learner::{Exchange, MARGIN, TRIAL_ROWS};
use crate::memory::prefix;
use crate::nystrom::{explained, is_rounding, left};
use crate::scalar::{Scalar, dot};

impl<const C: usize, const D: usize, K: Kernel<T>, T: Scalar> Detector<C, D, K, T> {
    /// Offer a raw row in exchange for a landmark, while rows are judged. Call it with rows that are known,
    /// and landmarks follow a slow drift: an anomaly does not become one. A row becomes a candidate if there
    /// is none, is tried on the `2c` rows that are offered after it, and replaces the landmark that explains
    /// least of the last `16 N` rows offered if it explains more than 4 times as much. While rows stay as
    /// they are, there are soon no exchanges.
    ///
    /// The threshold remains, and follows. An exchange lowers the scores of rows where the stream is now, so
    /// that there are fewer alarms than asked until the threshold has followed: `β` in `16 N` rows. Rows
    /// where the stream was are novel again. Call [`forget`](Self::forget) to learn the threshold at once.
    ///
    /// `c` kernel values and `c²` multiply-adds; `c³/2` at the end of a trial, and `c³` for an exchange.
    ///
    /// # Errors
    /// [`Error::Phase`], and with the number of rows judged before it [`Error::NotFinite`],
    /// [`Error::TooLarge`] or [`Error::Changed`] with the feature, or [`Error::NotFinite`] with a landmark
    /// with which the kernel overflows: nothing has changed.
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Error, Exchange, Random, Verdict, kernel::Gaussian};
    ///
    /// let (mut detector, mut random) = (Detector::<4, 1>::new(), Random::seeded(7));
    /// detector.start(Gaussian::new(1.0)?, 20)?;
    /// let row = |at: usize| [(at * 7 % 32) as f32];
    /// (0..64).try_for_each(|at| detector.scale(&row(at), &mut random))?;
    /// detector.freeze_scaling()?;
    /// (0..64).try_for_each(|at| detector.offer(&row(at), &mut random).map(drop))?;
    /// detector.freeze_landmarks()?;
    /// let mut exchanges = 0;
    /// for at in 0..20_000 {
    ///     let row = [row(at)[0] + 0.005 * at as f32]; // it drifts by ten deviations
    ///     if let Verdict::Known { .. } = detector.check(&row)? {
    ///         exchanges += u32::from(matches!(detector.exchange(&row)?, Exchange::Replaced { .. }));
    ///     }
    /// }
    /// assert!(exchanges > 4 && detector.alarms() < 2 * detector.judged() / 20);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn exchange(&mut self, row: &[T; D]) -> Result<Exchange, Error> {
        self.check_phase(Phase::Predicting)?;
        let number = self.threshold.rows;
        let row = self.admit(row, number)?;
        let diagonal = self.represent(&row, number)?;
        let Status { count, tried, followed, .. } = self.status;
        let residual = left(diagonal, self.phi.get(..count).known()?);
        let declined = if followed < self.threshold.memory() {
            Some(Exchange::FewRows)
        } else if tried == 0 && is_rounding(residual, diagonal, count) {
            Some(Exchange::Dependent)
        } else {
            None
        };
        let trial = if tried > 0 { self.explained(&row)? } else { T::ZERO };
        if declined.is_none() && tried == 0 {
            (self.candidate, self.of_candidate) = (row, self.phi);
            (self.status.left, self.status.gain) = (residual, T::ZERO);
        }
        self.use_landmarks()?;
        if let Some(declined) = declined {
            return Ok(declined);
        }
        self.status.tried = tried.saturating_add(1);
        let rows = TRIAL_ROWS * count;
        self.status.gain += trial;
        if self.status.gain.is_finite() && (self.status.tried as usize) <= rows {
            return Ok(Exchange::OnTrial);
        }
        self.status.tried = 0;
        let gain = self.status.gain / T::from_count(rows);
        let (slot, loss) = self.least_loss()?;
        if gain.is_finite() && gain > T::from_count(MARGIN) * loss {
            self.replace(slot, gain)
        } else {
            Ok(Exchange::NoGain)
        }
    }

    /// Return what the candidate would explain of a standardised row, whose features are in `phi`.
    fn explained(&self, row: &[T; D]) -> Result<T, Error> {
        let count = self.status.count;
        let (of_row, of_candidate) = (prefix(&self.phi, count), prefix(&self.of_candidate, count));
        let entry = self.kernel.as_ref().known()?.value(&self.candidate, row);
        if entry.is_finite() {
            Ok(explained(entry, of_row, of_candidate, self.status.left))
        } else {
            Err(Error::NotFinite { row: row_number(self.threshold.rows), column: count })
        }
    }

    /// Add to the means what each landmark explains of the row whose features are in `phi`, and overwrite
    /// those.
    fn use_landmarks(&mut self) -> Result<(), Error> {
        let count = self.status.count;
        let parts = self.phi.get_mut(..count).known()?;
        let lent = self.memory.lend();
        Cholesky::assemble(lent.factor, count)?.solve_upper(parts)?;
        let memory = self.threshold.memory();
        let rows = self.status.followed.saturating_add(1);
        let rows = T::from_rows(if rows < memory { rows } else { memory });
        for (&place, &part) in lent.landmarks.iter().zip(parts.iter()) {
            let mean = self.uses.get_mut(place).known()?;
            *mean += (part * part - *mean) / rows;
        }
        self.status.followed = self.status.followed.saturating_add(1);
        Ok(())
    }

    /// Return the slot of the landmark whose loss is least, and the loss.
    fn least_loss(&mut self) -> Result<(usize, T), Error> {
        let count = self.status.count;
        let direction = self.phi.get_mut(..count).known()?;
        let lent = self.memory.lend();
        let factor = Cholesky::assemble(lent.factor, count)?;
        let mut least = None;
        for (slot, &place) in lent.landmarks.iter().take(count).enumerate() {
            direction.fill(T::ZERO);
            *direction.get_mut(slot).known()? = T::ONE;
            factor.solve_lower(direction)?;
            let loss = *self.uses.get(place).known()? / dot(direction, direction);
            if least.is_none_or(|(_, least)| loss < least) {
                least = Some((slot, loss));
            }
        }
        least.known()
    }

    /// Replace the landmark at `slot` by the candidate, which explains `gain` of a row.
    fn replace(&mut self, slot: usize, gain: T) -> Result<Exchange, Error> {
        let candidate = self.candidate;
        let mut chain = self.chain()?;
        let exchanged = chain.exchange(slot, &candidate)?;
        self.status.progress = chain.progress();
        let Some((place, residual)) = exchanged else { return Ok(Exchange::NoGain) };
        // As the last landmark its direction has the square norm `1/residual`.
        *self.uses.get_mut(place).known()? = gain / residual;
        Ok(Exchange::Replaced { place })
    }
}
