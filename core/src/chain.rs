//! The swap chain of a c-DPP: Algorithm 1 of Li, Jegelka and Sra (2016).
//!
//! A step tosses a coin; on heads it picks a landmark `u` and a row `v` outside, both uniformly,
//! and exchanges them with probability `r/(1 + r)`, `r = det K_{Y∪v\u} / det K_Y`. The chain is
//! reversible and its stationary law is `Pr(Y) = det K_YY / e_c(K)`. A step costs `c + 1` kernel
//! entries and `O(c²)`, whatever `n`; nothing of length `n` is stored.
//!
//! Departures, each at the caller's choice ([`Rule`]): the coin can be left out, since only the
//! proof needs it, and the acceptance can be Metropolis'. The printed algorithm promises an exact
//! sample from any start; it is exact in the limit, and the start must have `det K_YY > 0`, which
//! [`Landmarks`] ensures.

use crate::error::Error;
use crate::ground_set::GroundSet;
use crate::landmarks::Landmarks;
use crate::memory::Memory;
use crate::random::below;
use crate::scalar::Scalar;
use crate::swap::Acceptance;
use core::ops::Deref;
use rand_core::Rng;

/// Which chain: every rule has the same stationary law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rule {
    /// The probability of taking a swap.
    pub acceptance: Acceptance,
    /// Hold still on every second step, by a fair coin.
    pub lazy: bool,
}

impl Rule {
    /// The paper's Algorithm 1: lazy, `r/(1 + r)`. Theorem 3 bounds the mixing time of this one.
    pub const ALGORITHM_1: Self = Self { acceptance: Acceptance::Barker, lazy: true };
    /// `min(1, r)` and no coin: at least twice the moves of Algorithm 1.
    pub const METROPOLIS: Self = Self { acceptance: Acceptance::Metropolis, lazy: false };
}

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Step {
    /// The coin said to hold still, or there is no swap: no landmark, or no row outside.
    Held,
    /// The proposed swap was not taken.
    Rejected,
    /// One landmark was exchanged.
    Accepted {
        /// The row that was a landmark before.
        leaving: usize,
        /// The row that is one now.
        entering: usize,
    },
}

/// How far a chain has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Progress {
    /// Steps taken.
    pub steps: u64,
    /// Steps that proposed a swap.
    pub proposed: u64,
    /// Proposals that were taken.
    pub accepted: u64,
    /// Slots opened, by the chains that open slots: they refactor by this count.
    #[cfg_attr(feature = "serde", serde(default))]
    pub openings: u64,
}

/// What a chain over a ground set holds, whatever its steps are. [`Chain`] and [`crate::SlotChain`] dereference to it.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ChainState<'a, T, G: ?Sized> {
    pub(crate) landmarks: Landmarks<'a, T, G>,
    pub(crate) progress: Progress,
}

impl<'a, T: Scalar, G: GroundSet<T> + ?Sized> ChainState<'a, T, G> {
    pub(crate) fn new(landmarks: Landmarks<'a, T, G>) -> Self {
        Self { landmarks, progress: Progress::default() }
    }

    pub(crate) fn resume(
        ground: &'a G,
        count: usize,
        memory: Memory<'a, T>,
        progress: Progress,
    ) -> Result<Self, Error> {
        Ok(Self { landmarks: Landmarks::resume(ground, count, memory)?, progress })
    }

    /// Return the current landmarks.
    pub fn landmarks(&self) -> &Landmarks<'a, T, G> {
        &self.landmarks
    }

    /// Return `log det K_YY`, from the factor's diagonal.
    pub fn log_det(&self) -> T {
        self.landmarks.log_det()
    }

    /// Return the counters.
    pub fn progress(&self) -> Progress {
        self.progress
    }
}

/// A c-DPP chain over the rows of a ground set.
///
/// To stop and resume bit for bit, keep the lent memory, the generator and [`Chain::progress`];
/// then [`Chain::resume`] goes on as if it had never stopped.
///
/// ```
/// use dpp_nystrom_core::{Chain, Landmarks, Matrix, Random, Rule, Workspace, start};
///
/// let matrix = Matrix::new(&[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0])?;
/// let mut random = Random::seeded(1);
/// let mut memory = Workspace::<f64, 2>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// start::given(&mut landmarks, &[0, 1])?;
///
/// let mut chain = Chain::new(landmarks, Rule::METROPOLIS);
/// chain.run(100, &mut random)?;
/// let progress = chain.progress();
/// assert_eq!(progress.steps, 100);
///
/// let mut chain = Chain::resume(&matrix, 2, memory.lend(), Rule::METROPOLIS, progress)?;
/// chain.run(100, &mut random)?;
/// assert_eq!(chain.progress().steps, 200);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Chain<'a, T, G: ?Sized> {
    state: ChainState<'a, T, G>,
    rule: Rule,
}

impl<'a, T: Scalar, G: GroundSet<T> + ?Sized> Chain<'a, T, G> {
    /// The chain that starts at these landmarks.
    pub fn new(landmarks: Landmarks<'a, T, G>, rule: Rule) -> Self {
        Self { state: ChainState::new(landmarks), rule }
    }

    /// The chain of `count` landmarks whose state `memory` still holds.
    ///
    /// # Errors
    /// Those of [`Landmarks::resume`].
    pub fn resume(
        ground: &'a G,
        count: usize,
        memory: Memory<'a, T>,
        rule: Rule,
        progress: Progress,
    ) -> Result<Self, Error> {
        Ok(Self { state: ChainState::resume(ground, count, memory, progress)?, rule })
    }

    /// One step. Draws one number for the coin if the rule is lazy and, to propose, one each for
    /// the slot, the row and the acceptance (rarely more: drawing below a bound may reject).
    ///
    /// # Errors
    /// [`Error::NotFinite`] when the ground set answers so; nothing has changed but the generator.
    pub fn step<R: Rng + ?Sized>(&mut self, random: &mut R) -> Result<Step, Error> {
        let ChainState { landmarks, progress } = &mut self.state;
        let count = landmarks.len();
        let outside = landmarks.ground().len() - count;
        // The high bit: the low ones are the weakest of many small generators.
        if count == 0 || outside == 0 || (self.rule.lazy && random.next_u32() >> 31 == 0) {
            progress.steps += 1;
            return Ok(Step::Held);
        }
        let slot = below(random, count);
        let entering = landmarks.outside(below(random, outside));
        let uniform = T::from_draw(random.next_u32());
        let swap = landmarks.swap(slot, entering)?;
        progress.steps += 1;
        progress.proposed += 1;
        if uniform < swap.probability(self.rule.acceptance) {
            let leaving = landmarks.commit(slot, entering, swap)?;
            progress.accepted += 1;
            Ok(Step::Accepted { leaving, entering })
        } else {
            Ok(Step::Rejected)
        }
    }

    /// So many steps.
    ///
    /// # Errors
    /// Those of [`step`](Self::step), at the step that failed.
    pub fn run<R: Rng + ?Sized>(&mut self, steps: u64, random: &mut R) -> Result<Progress, Error> {
        for _ in 0..steps {
            self.step(random)?;
        }
        Ok(self.state.progress)
    }

    /// The landmarks, and the end of the chain.
    pub fn into_landmarks(self) -> Landmarks<'a, T, G> {
        self.state.landmarks
    }

    /// The rule.
    pub fn rule(&self) -> Rule {
        self.rule
    }
}

impl<'a, T, G: ?Sized> Deref for Chain<'a, T, G> {
    type Target = ChainState<'a, T, G>;

    fn deref(&self) -> &Self::Target {
        &self.state
    }
}
