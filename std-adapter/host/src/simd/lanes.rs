//! Many candidates at once: the host's evaluator of the open-slot chain (Metropolis-within-Gibbs with a
//! systematic scan).
//!
//! The same forward substitution as the core's ([`dpp_nystrom_core::OpenSlot::try_one`]), for [`TRIES`]
//! candidates side by side, one per lane. `pulp` selects the instruction set at run time, so a portable build
//! uses AVX2, AVX-512 or NEON where available. A block stops early when every lane's residual has fallen to
//! the threshold that its acceptance test sets for the present occupant: the first candidate is then
//! rejected, so the occupant stays, so the second is rejected, and so on. Otherwise all lanes are finished
//! and tested in order.
//!
//! The result differs from the core's in rounding alone: multiply-adds are fused where the machine can, sums
//! have another order, and the exponential is a polynomial. Tests compare every lane with the core.

use crate::error::Error;
use crate::heap::zeros;
use crate::simd::{InLanes, Lane, substitution::Substitution};
use dpp_nystrom_core::{Error as CoreError, Evaluate, OpenSlot, Proposal, TRIES};
use pulp::Arch;

/// Working memory of the lanes for up to `c` landmarks of `d` features: `32 (c + d)` values.
#[derive(Debug)]
pub struct Lanes<T> {
    pub(crate) arch: Arch,
    /// The candidates' features, feature-major: the lanes' values of one feature are adjacent.
    pub features: Vec<T>,
    /// The candidates' substitutions, in the same layout.
    pub z: Vec<T>,
}

impl<T: Lane> Lanes<T> {
    /// Allocate for `c` landmarks of `d` features.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn new(c: usize, d: usize) -> Result<Self, Error> {
        Ok(Self {
            arch: Arch::new(),
            features: zeros(d.saturating_mul(TRIES), T::ZERO)?,
            z: zeros(c.saturating_mul(TRIES), T::ZERO)?,
        })
    }

    /// Interleave the candidates' rows. Lanes without a proposal keep their old values.
    pub fn gather(&mut self, ground: &impl InLanes<T>, proposals: &[Proposal<T>]) {
        for (lane, proposal) in proposals.iter().enumerate().take(TRIES) {
            ground.put(proposal.entering, self.features.iter_mut().skip(lane).step_by(TRIES));
        }
    }
}

impl<T: Lane, G: InLanes<T>> Evaluate<T, G> for Lanes<T> {
    fn evaluate(
        &mut self,
        slot: &mut OpenSlot<'_, '_, T, G>,
        proposals: &[Proposal<T>],
    ) -> Result<u32, CoreError> {
        proposals.chunks(TRIES).map(|block| self.evaluate_block(slot, block)).sum()
    }
}

impl<T: Lane> Lanes<T> {
    /// [`evaluate`](Evaluate::evaluate) for at most [`TRIES`] proposals.
    fn evaluate_block(
        &mut self,
        slot: &mut OpenSlot<'_, '_, T, impl InLanes<T>>,
        proposals: &[Proposal<T>],
    ) -> Result<u32, CoreError> {
        let ground = slot.ground();
        let others = slot.others().len();
        if others * TRIES > self.z.len() {
            return Err(CoreError::Capacity { needed: others, have: self.z.len() / TRIES });
        }
        if ground.width() * TRIES > self.features.len() {
            return Err(CoreError::Capacity { needed: ground.width(), have: self.features.len() / TRIES });
        }
        let len = ground.len();
        if let Some(past) = proposals.iter().find(|proposal| proposal.entering >= len) {
            return Err(CoreError::OutOfRange { index: past.entering, len });
        }
        self.gather(ground, proposals);
        let mut diagonals = [T::ZERO; TRIES];
        // A lane without a proposal never delays the early exit.
        let mut thresholds = [T::ONE / T::ZERO; TRIES];
        for ((diagonal, threshold), proposal) in diagonals.iter_mut().zip(&mut thresholds).zip(proposals) {
            *diagonal = ground.diagonal(proposal.entering);
            if !diagonal.is_finite() {
                return Err(CoreError::NotFinite { row: proposal.entering, column: proposal.entering });
            }
            *threshold = slot.threshold(proposal.uniform, *diagonal);
        }
        let mut residuals = diagonals;
        let finished = self.arch.dispatch(Substitution {
            ground,
            slot,
            candidates: proposals.len(),
            features: &self.features,
            z: &mut self.z,
            residuals: &mut residuals,
            thresholds: &thresholds,
        });
        if !finished {
            return Ok(0);
        }
        let tried = proposals.len();
        slot.decide(proposals, &diagonals[..tried], &residuals[..tried], |lane, column| {
            let (entries, _) = self.z.as_chunks::<TRIES>();
            for (slot, entry) in column.iter_mut().zip(entries) {
                *slot = entry[lane];
            }
        })
    }
}
