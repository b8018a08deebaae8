//! One open slot of the landmarks: many rows are tried against the same `c - 1` others.
//!
//! Opening rotates the occupant to the last place of the factor (`O(c²)`, once). The residual of any row
//! given the others is then one forward substitution, and the substitution of an accepted row is the new last
//! row of the factor: accepting costs nothing more. A residual `k(v, v) - Σ z²` only decreases as rows of the
//! factor are used. So a try stops as soon as the residual is at or below the threshold of acceptance
//! ([`Acceptance::threshold`]), and the remaining kernel entries are not evaluated.

use crate::cholesky::Cholesky;
use crate::error::{Error, Known};
use crate::ground_set::TryGroundSet;
use crate::landmarks::Landmarks;
use crate::memory::{check_length, prefix};
use crate::scalar::Scalar;
use crate::swap::Acceptance;

/// A row that is proposed, with the uniform number that decides.
///
/// ```
/// use dpp_nystrom_core::{Acceptance, Landmarks, Matrix, OpenSlot, Proposal, Workspace};
///
/// let matrix = Matrix::new(&[1.0, 0.0, 0.0, 4.0])?;
/// let mut memory = Workspace::<f64, 1>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// landmarks.push(1)?;
/// let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis)?;
/// assert!(!slot.try_one(Proposal { entering: 0, uniform: 0.25 })?); // accepted with probability 1/4
/// assert!(slot.try_one(Proposal { entering: 0, uniform: 0.24 })?);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Proposal<T> {
    /// The row, which may be a landmark.
    pub entering: usize,
    /// Uniform in [0, 1).
    pub uniform: T,
}

/// The last slot of the landmarks, open to other rows.
///
/// ```
/// use dpp_nystrom_core::{Acceptance, Landmarks, Matrix, OpenSlot, Proposal, Workspace, start};
///
/// let matrix = Matrix::new(&[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0])?;
/// let mut memory = Workspace::<f64, 2>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// start::given(&mut landmarks, &[1, 0])?;
/// let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis)?;
/// assert!(slot.others() == [0] && (slot.row(0)[0] - 2.0_f64.sqrt()).abs() < 1e-15);
/// assert!((slot.residual() - 1.5).abs() < 1e-15); // of row 1 given row 0
/// assert!(slot.try_one(Proposal { entering: 2, uniform: 0.9 })?);
/// assert_eq!(landmarks.members(), [0, 2]);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OpenSlot<'s, 'a, T, G: ?Sized> {
    landmarks: &'s mut Landmarks<'a, T, G>,
    acceptance: Acceptance,
    /// The residual of the present occupant given the others.
    residual: T,
}

impl<'s, 'a, T: Scalar, G: TryGroundSet<T> + ?Sized> OpenSlot<'s, 'a, T, G> {
    /// Open a slot: its landmark moves to the last one, and those after it move down by one.
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

    /// Return the occupant's residual given the others.
    pub fn residual(&self) -> T {
        self.residual
    }

    /// Return the other landmarks, in the factor's order.
    pub fn others(&self) -> &[usize] {
        prefix(self.landmarks.members(), self.landmarks.len().saturating_sub(1))
    }

    /// Return row `i` of the factor up to its diagonal entry.
    pub fn row(&self, i: usize) -> &[T] {
        self.landmarks.factor().row(i)
    }

    /// Return the ground set.
    pub fn ground(&self) -> &'a G {
        self.landmarks.ground()
    }

    /// Return the value that the residual of a row with `k(v, v) = diagonal` must exceed: the threshold of
    /// acceptance, or the rounding error if that is larger.
    ///
    /// ```
    /// use dpp_nystrom_core::{Acceptance, Landmarks, Matrix, OpenSlot, Workspace};
    ///
    /// let matrix = Matrix::new(&[1.0, 0.0, 0.0, 4.0])?;
    /// let mut memory = Workspace::<f64, 1>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// landmarks.push(1)?;
    /// let slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis)?;
    /// assert_eq!(slot.threshold(0.5, 1.0), 2.0); // half the occupant's residual
    /// assert_eq!(slot.threshold(0.0, 1.0), f64::EPSILON); // the rounding error
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn threshold(&self, uniform: T, diagonal: T) -> T {
        let asked = self.acceptance.threshold(uniform, self.residual);
        let floor = Cholesky::<T>::floor(self.others().len(), diagonal);
        if asked > floor { asked } else { floor }
    }

    /// Decide about rows whose residuals against the others are known, in order. Each is compared with the
    /// occupant at that point; a landmark is never admitted. Return how many were admitted.
    /// `substitution(i, z)` is called at most once, for the last row that was admitted, the `i`-th. It must
    /// write that row's substitution to all of `z`, one number for each of the others.
    ///
    /// # Errors
    /// [`Error::Length`] unless each proposal has a diagonal and a residual. [`Error::NotFinite`] at the
    /// first residual that is NaN or infinite: rows admitted before it remain.
    ///
    /// ```
    /// use dpp_nystrom_core::{Acceptance, Landmarks, Matrix, OpenSlot, Proposal, Workspace, start};
    ///
    /// let matrix = Matrix::new(&[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0])?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// start::given(&mut landmarks, &[0, 1])?;
    /// let mut slot = OpenSlot::new(&mut landmarks, 1, Acceptance::Metropolis)?;
    /// // Row 2 has the entry 0 with row 0: its substitution is [0], and its residual its diagonal entry.
    /// let proposals = [Proposal { entering: 2, uniform: 0.9 }];
    /// let admitted = slot.decide(&proposals, &[2.0], &[2.0], |_, z| z.fill(0.0))?;
    /// assert_eq!((admitted, landmarks.members()), (1, &[0, 2][..]));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
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
            // The landmarks still hold the occupant from before this call.
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

    /// Admit a row whose substitution is in the working column, unless it is a landmark.
    fn admit_substituted(&mut self, entering: usize, residual: T) -> Result<bool, Error> {
        let admitted = !self.landmarks.contains(entering);
        if admitted {
            self.landmarks.overwrite_last(entering, residual)?;
            self.residual = residual;
        }
        Ok(admitted)
    }

    /// Try one row. Return whether it was admitted.
    ///
    /// # Errors
    /// [`Error::NotFinite`] and [`Error::Read`] from the ground set, [`Error::OutOfRange`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Acceptance, Error, Landmarks, Matrix, OpenSlot, Proposal, Workspace};
    ///
    /// let matrix = Matrix::new(&[1.0, 0.0, 0.0, 4.0])?;
    /// let mut memory = Workspace::<f64, 1>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// landmarks.push(0)?;
    /// let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Barker)?;
    /// let past_the_end = slot.try_one(Proposal { entering: 2, uniform: 0.0 });
    /// assert_eq!(past_the_end, Err(Error::OutOfRange { index: 2, len: 2 }));
    /// assert!(slot.try_one(Proposal { entering: 1, uniform: 0.79 })?); // r/(1 + r) = 4/5
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn try_one(&mut self, proposal: Proposal<T>) -> Result<bool, Error> {
        let Proposal { entering, uniform } = proposal;
        let ground = self.landmarks.ground();
        if entering >= ground.len() {
            return Err(Error::OutOfRange { index: entering, len: ground.len() });
        }
        let diagonal = ground.try_diagonal(entering)?;
        if !diagonal.is_finite() {
            return Err(Error::NotFinite { row: entering, column: entering });
        }
        let threshold = self.threshold(uniform, diagonal);
        let (ground, members, factor) = self.landmarks.parts_mut();
        let found = factor.residual_above(diagonal, threshold, |range, column| {
            Ok(ground.try_column(entering, members.get(range).known()?, column)?)
        })?;
        match found {
            Some(residual) if !residual.is_finite() => {
                Err(Error::NotFinite { row: entering, column: entering })
            }
            // Written so that a NaN threshold rejects.
            Some(residual) if residual > threshold => self.admit_substituted(entering, residual),
            _ => Ok(false),
        }
    }
}

/// An implementation of trying a block of proposals against an open slot, in order. Each proposal is compared
/// with the occupant at that point. All implementations compute what [`OneByOne`] does, possibly faster.
///
/// ```
/// use core::cell::Cell;
/// use dpp_nystrom_core::{Acceptance, Error, Evaluate, Landmarks, Matrix, OneByOne, OpenSlot, Proposal, Random};
/// use dpp_nystrom_core::{Scalar, SlotChain, TryGroundSet, Workspace};
///
/// /// Counts the blocks of proposals.
/// struct Counting<'c>(&'c Cell<u32>);
///
/// impl<T: Scalar, G: TryGroundSet<T> + ?Sized> Evaluate<T, G> for Counting<'_> {
///     fn evaluate(&mut self, slot: &mut OpenSlot<'_, '_, T, G>, proposals: &[Proposal<T>]) -> Result<u32, Error> {
///         self.0.set(self.0.get() + 1);
///         OneByOne.evaluate(slot, proposals)
///     }
/// }
///
/// let matrix = Matrix::new(&[1.0, 0.0, 0.0, 4.0])?;
/// let mut memory = Workspace::<f64, 1>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// landmarks.push(0)?;
/// let blocks = Cell::new(0);
/// let chain = SlotChain::new(landmarks, Acceptance::Barker).with_tries(16);
/// chain.with_evaluator(Counting(&blocks)).run(64, &mut Random::seeded(7))?;
/// assert_eq!(blocks.get(), 4);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
pub trait Evaluate<T: Scalar, G: TryGroundSet<T> + ?Sized> {
    /// Try all proposals. Return how many were admitted.
    ///
    /// # Errors
    /// [`Error::NotFinite`] and [`Error::Read`] from the ground set, [`Error::OutOfRange`]; rows admitted
    /// before remain.
    fn evaluate(
        &mut self,
        slot: &mut OpenSlot<'_, '_, T, G>,
        proposals: &[Proposal<T>],
    ) -> Result<u32, Error>;
}

/// One proposal after the other, each stopped as early as possible. For any ground set, without memory.
///
/// ```
/// use dpp_nystrom_core::{Acceptance, Evaluate, Landmarks, Matrix, OneByOne, OpenSlot, Proposal, Workspace};
///
/// let matrix = Matrix::new(&[1.0, 0.0, 0.0, 4.0])?;
/// let mut memory = Workspace::<f64, 1>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// landmarks.push(0)?;
/// let mut slot = OpenSlot::new(&mut landmarks, 0, Acceptance::Metropolis)?;
/// let proposals = [1, 0, 0].map(|entering| Proposal { entering, uniform: 0.5 });
/// assert_eq!(OneByOne.evaluate(&mut slot, &proposals)?, 1); // row 1, which row 0 does not displace
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OneByOne;

impl<T: Scalar, G: TryGroundSet<T> + ?Sized> Evaluate<T, G> for OneByOne {
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
