//! One slot of the landmarks, held open: many rows are tried against the same `c - 1` others.
//!
//! The occupant is rotated to the last place of the factor (`O(c²)`, once). Then the residual of any
//! row given the others is one forward substitution, and the substitution of a row that is taken is
//! already the new last row: accepting costs nothing more. A residual `k(v, v) - Σ z²` only falls as
//! rows of the factor are used, so a try can stop, its remaining kernel entries never evaluated, as
//! soon as it is at or under what acceptance asks for ([`Acceptance::threshold`]).

use crate::cholesky::Cholesky;
use crate::error::{Error, Known};
use crate::ground_set::GroundSet;
use crate::landmarks::Landmarks;
use crate::memory::{check_length, prefix};
use crate::scalar::Scalar;
use crate::swap::Acceptance;

/// A row that asks to enter, with the number that decides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Proposal<T> {
    /// The row, a landmark or not.
    pub entering: usize,
    /// Uniform in [0, 1).
    pub uniform: T,
}

/// The last slot of the landmarks, open to other rows.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OpenSlot<'s, 'a, T, G: ?Sized> {
    landmarks: &'s mut Landmarks<'a, T, G>,
    acceptance: Acceptance,
    /// Of the present occupant, given the others.
    residual: T,
}

impl<'s, 'a, T: Scalar, G: GroundSet<T> + ?Sized> OpenSlot<'s, 'a, T, G> {
    /// Opens a slot: its landmark moves to the last one, those after it down by one.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn new(
        landmarks: &'s mut Landmarks<'a, T, G>,
        slot: usize,
        acceptance: Acceptance,
    ) -> Result<Self, Error> {
        if slot >= landmarks.len() {
            return Err(Error::OutOfRange { index: slot, len: landmarks.len() });
        }
        landmarks.move_to_last(slot)?;
        let pivot = landmarks.factor().pivot(landmarks.len() - 1);
        Ok(Self { landmarks, acceptance, residual: pivot * pivot })
    }

    /// The occupant's residual given the others.
    pub fn residual(&self) -> T {
        self.residual
    }

    /// The other landmarks, in the factor's order.
    pub fn others(&self) -> &[usize] {
        prefix(self.landmarks.members(), self.landmarks.len().saturating_sub(1))
    }

    /// Row `i` of the factor, up to and with its diagonal entry.
    pub fn row(&self, i: usize) -> &[T] {
        self.landmarks.factor().row(i)
    }

    /// The ground set.
    pub fn ground(&self) -> &'a G {
        self.landmarks.ground()
    }

    /// What the residual of a row with `k(v, v) = diagonal` must exceed: what acceptance asks for,
    /// and never less than the floor of rounding.
    pub fn threshold(&self, uniform: T, diagonal: T) -> T {
        let asked = self.acceptance.threshold(uniform, self.residual);
        let floor = Cholesky::<T>::floor(self.others().len(), diagonal);
        if asked > floor { asked } else { floor }
    }

    /// Decides about rows whose residuals against the others are known, in their order: each is compared
    /// with the occupant that those before it have left. Answers how many were let in; a landmark is not.
    /// `substitution(i, z)` is asked once at most, for the substitution of the `i`-th row, the last to enter:
    /// it fills all of `z`, one number for each of the others.
    ///
    /// # Errors
    /// [`Error::Length`] unless each proposal has a diagonal and a residual. [`Error::NotFinite`] at the first
    /// residual that is no number: those before it stay admitted.
    pub fn decide(
        &mut self,
        proposals: &[Proposal<T>],
        diagonals: &[T],
        residuals: &[T],
        substitution: impl FnOnce(usize, &mut [T]),
    ) -> Result<u32, Error> {
        check_length(proposals.len(), diagonals.len())?;
        check_length(proposals.len(), residuals.len())?;
        let mut admitted = 0;
        let mut last = None;
        let mut outcome = Ok(());
        let tried = proposals.iter().zip(diagonals).zip(residuals).enumerate();
        for (i, ((&Proposal { entering, uniform }, &diagonal), &residual)) in tried {
            if !residual.is_finite() {
                outcome = Err(Error::NotFinite { row: entering, column: entering });
                break;
            }
            // The occupant's own place still has the row that was there before.
            let present = last.map_or_else(|| self.landmarks.members().last().copied(), |(_, row)| Some(row));
            if residual > self.threshold(uniform, diagonal)
                && present != Some(entering)
                && !self.others().contains(&entering)
            {
                self.residual = residual;
                last = Some((i, entering));
                admitted += 1;
            }
        }
        if let Some((i, entering)) = last {
            let others = self.others().len();
            let (_, _, factor) = self.landmarks.parts_mut();
            substitution(i, factor.column_mut()?.get_mut(..others).known()?);
            self.landmarks.overwrite_last(entering, self.residual)?;
        }
        outcome.map(|()| admitted)
    }

    /// Lets a row in whose substitution is in the working column; a landmark is not.
    fn admit_substituted(&mut self, entering: usize, residual: T) -> Result<bool, Error> {
        let admitted = !self.landmarks.contains(entering);
        if admitted {
            self.landmarks.overwrite_last(entering, residual)?;
            self.residual = residual;
        }
        Ok(admitted)
    }

    /// Tries one row.
    ///
    /// # Errors
    /// [`Error::NotFinite`] when the ground set answers so, [`Error::OutOfRange`].
    pub fn try_one(&mut self, proposal: Proposal<T>) -> Result<bool, Error> {
        let Proposal { entering, uniform } = proposal;
        let ground = self.landmarks.ground();
        if entering >= ground.len() {
            return Err(Error::OutOfRange { index: entering, len: ground.len() });
        }
        let diagonal = ground.diagonal(entering);
        if !diagonal.is_finite() {
            return Err(Error::NotFinite { row: entering, column: entering });
        }
        let threshold = self.threshold(uniform, diagonal);
        let (ground, members, factor) = self.landmarks.parts_mut();
        let found = factor.residual_above(diagonal, threshold, |range, column| {
            ground.column(entering, members.get(range)?, column);
            Some(())
        })?;
        match found {
            Some(residual) if !residual.is_finite() => {
                Err(Error::NotFinite { row: entering, column: entering })
            }
            // Positive, so that a threshold that is no number admits nobody.
            Some(residual) if residual > threshold => self.admit_substituted(entering, residual),
            _ => Ok(false),
        }
    }
}

/// How a block of proposals is tried against an open slot, in their order: each is compared with the
/// occupant that those before it have left. Other evaluators than [`OneByOne`] compute the same, only
/// faster.
pub trait Evaluate<T: Scalar, G: GroundSet<T> + ?Sized> {
    /// Tries them all; answers how many were admitted.
    ///
    /// # Errors
    /// [`Error::NotFinite`] when the ground set answers so, [`Error::OutOfRange`]; those tried before stay
    /// admitted.
    fn evaluate(
        &mut self,
        slot: &mut OpenSlot<'_, '_, T, G>,
        proposals: &[Proposal<T>],
    ) -> Result<u32, Error>;
}

/// One proposal after the other: any ground set, no memory, each stopped as early as can be.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OneByOne;

impl<T: Scalar, G: GroundSet<T> + ?Sized> Evaluate<T, G> for OneByOne {
    fn evaluate(
        &mut self,
        slot: &mut OpenSlot<'_, '_, T, G>,
        proposals: &[Proposal<T>],
    ) -> Result<u32, Error> {
        let mut admitted = 0;
        for &proposal in proposals {
            admitted += u32::from(slot.try_one(proposal)?);
        }
        Ok(admitted)
    }
}
