//! The swap chain of a c-DPP: Algorithm 1 of Li, Jegelka and Sra (2016).
//!
//! With probability 1/2 a step does nothing. Otherwise it draws a landmark `u` and a row `v` that is not a
//! landmark, both uniformly, and exchanges them with probability `r/(1 + r)`, `r = det K_{Y∪v\u} / det K_Y`.
//! The chain is reversible, and its stationary law is `Pr(Y) = det K_YY / e_c(K)`. A step costs `c + 1`
//! kernel entries and `O(c²)` operations, independent of `n`. Nothing of length `n` is stored.
//!
//! Departures from the paper, at the caller's choice ([`Rule`]): the lazy steps can be left out, since only
//! the proof needs them, and the acceptance can be Metropolis'. The printed algorithm claims an exact sample
//! from any start. The sample is exact in the limit only, and the start must have `det K_YY > 0`, which
//! [`Landmarks`] ensures.

use crate::error::Error;
use crate::ground_set::TryGroundSet;
use crate::landmarks::Landmarks;
use crate::memory::{MOST_ROWS, Memory};
use crate::random::below;
use crate::scalar::Scalar;
use crate::swap::Acceptance;
use core::ops::Deref;
use rand_core::Rng;

/// The variant of the chain: every rule has the same stationary law.
///
/// ```
/// use dpp_nystrom_core::{Acceptance, Rule};
///
/// let rule = Rule { lazy: false, ..Rule::ALGORITHM_1 }; // the paper's acceptance, without lazy steps
/// assert_eq!(rule.acceptance, Acceptance::Barker);
/// assert!(!Rule::METROPOLIS.lazy && Rule::ALGORITHM_1.lazy);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rule {
    /// The acceptance probability.
    pub acceptance: Acceptance,
    /// Do nothing with probability 1/2.
    pub lazy: bool,
}

impl Rule {
    /// The paper's Algorithm 1: lazy, `r/(1 + r)`. Theorem 3 bounds its mixing time.
    pub const ALGORITHM_1: Self = Self { acceptance: Acceptance::Barker, lazy: true };
    /// `min(1, r)`, not lazy: at least twice as many swaps as Algorithm 1.
    pub const METROPOLIS: Self = Self { acceptance: Acceptance::Metropolis, lazy: false };
}

/// The result of one step.
///
/// ```
/// use dpp_nystrom_core::{Chain, Landmarks, Matrix, Random, Rule, Step, Workspace};
///
/// let matrix = Matrix::new(&[1.0, 0.0, 0.0, 4.0])?; // row 1 has the larger determinant
/// let mut memory = Workspace::<f64, 1>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// landmarks.push(0)?;
/// let mut chain = Chain::new(landmarks, Rule::METROPOLIS);
/// assert_eq!(chain.step(&mut Random::seeded(7))?, Step::Accepted { leaving: 0, entering: 1 });
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Step {
    /// A lazy step, or no swap is possible: no landmark that may leave, or no other row.
    Held,
    /// The proposed swap was rejected.
    Rejected,
    /// One landmark was exchanged.
    Accepted {
        /// The row that was a landmark before.
        leaving: usize,
        /// The row that is a landmark now.
        entering: usize,
    },
}

/// The counters of a chain.
///
/// ```
/// use dpp_nystrom_core::{Chain, Landmarks, Matrix, Random, Rule, Workspace};
///
/// let matrix = Matrix::new(&[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0])?;
/// let mut memory = Workspace::<f64, 1>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// landmarks.push(1)?;
/// let progress = Chain::new(landmarks, Rule::ALGORITHM_1).run(1_000, &mut Random::seeded(7))?;
/// assert_eq!(progress.steps, 1_000);
/// assert!((450..550).contains(&progress.proposed)); // the other half are lazy
/// assert!((200..300).contains(&progress.accepted)); // equal determinants: r/(1 + r) = 1/2
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Progress {
    /// Steps taken.
    pub steps: u64,
    /// Steps that proposed a swap.
    pub proposed: u64,
    /// Proposals that were accepted.
    pub accepted: u64,
    /// Slots opened, for chains that open slots. It determines when they refactor.
    #[cfg_attr(feature = "serde", serde(default))]
    pub openings: u64,
}

impl Progress {
    /// Whether a chain can have these counters. They are far from overflow then, and stay so.
    pub(crate) fn is_possible(self) -> bool {
        let Self { steps, proposed, accepted, openings } = self;
        accepted <= proposed && proposed <= steps && steps <= MOST_ROWS && openings <= MOST_ROWS
    }

    /// Refuse counters that no chain can have.
    pub(crate) fn check(self) -> Result<(), Error> {
        if self.is_possible() { Ok(()) } else { Err(Error::ForeignState) }
    }
}

/// The state of a chain over a ground set: landmarks and counters. [`Chain`] and [`crate::SlotChain`]
/// dereference to it.
///
/// ```
/// use dpp_nystrom_core::{Acceptance, ChainState, Landmarks, Matrix, Random, SlotChain, Workspace, start};
///
/// fn acceptance_rate(state: &ChainState<'_, f64, Matrix<'_, f64>>) -> f64 {
///     state.progress().accepted as f64 / state.progress().proposed as f64
/// }
///
/// let matrix = Matrix::new(&[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0])?;
/// let mut memory = Workspace::<f64, 2>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// start::given(&mut landmarks, &[0, 1])?;
/// let mut chain = SlotChain::new(landmarks, Acceptance::Barker);
/// chain.run(1_000, &mut Random::seeded(7))?;
/// assert!((0.1..0.6).contains(&acceptance_rate(&chain)));
/// assert!(chain.log_det() >= 3.0_f64.ln() - 1e-12); // the least of the three pairs
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ChainState<'a, T, G: ?Sized> {
    pub(crate) landmarks: Landmarks<'a, T, G>,
    pub(crate) progress: Progress,
    /// The number of landmarks, from the first on, that are never exchanged.
    pub(crate) kept: usize,
}

impl<'a, T: Scalar, G: TryGroundSet<T> + ?Sized> ChainState<'a, T, G> {
    pub(crate) fn new(landmarks: Landmarks<'a, T, G>) -> Self {
        Self { landmarks, progress: Progress::default(), kept: 0 }
    }

    pub(crate) fn resume(
        ground: &'a G,
        count: usize,
        memory: Memory<'a, T>,
        progress: Progress,
    ) -> Result<Self, Error> {
        progress.check()?;
        Ok(Self { landmarks: Landmarks::resume(ground, count, memory)?, progress, kept: 0 })
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

    /// Return the number of landmarks that may be exchanged.
    pub(crate) fn exchangeable(&self) -> usize {
        self.landmarks.len().saturating_sub(self.kept)
    }
}

/// A c-DPP chain over the rows of a ground set.
///
/// To stop and resume with the same results bit for bit, keep the lent memory, the generator and
/// [`progress`](ChainState::progress), and call [`Chain::resume`].
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

impl<'a, T: Scalar, G: TryGroundSet<T> + ?Sized> Chain<'a, T, G> {
    /// Create the chain that starts at these landmarks.
    pub fn new(landmarks: Landmarks<'a, T, G>, rule: Rule) -> Self {
        Self { state: ChainState::new(landmarks), rule }
    }

    /// Continue the chain of `count` landmarks whose state `memory` still holds. Those to be kept must be set
    /// again.
    ///
    /// # Errors
    /// Those of [`Landmarks::resume`], and [`Error::ForeignState`] for counters that no chain can have.
    pub fn resume(
        ground: &'a G,
        count: usize,
        memory: Memory<'a, T>,
        rule: Rule,
        progress: Progress,
    ) -> Result<Self, Error> {
        Ok(Self { state: ChainState::resume(ground, count, memory, progress)?, rule })
    }

    /// Keep the first `count` landmarks: only the others are exchanged. The stationary law is that of the
    /// c-DPP given that it contains them, `Pr(C) ∝ det K_CC` over the sets that do.
    ///
    /// ```
    /// use dpp_nystrom_core::{Chain, Landmarks, Matrix, Random, Rule, Workspace, start};
    ///
    /// let matrix = Matrix::new(&[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0])?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// start::given(&mut landmarks, &[1])?; // must remain
    /// start::uniform(&mut landmarks, 2, &mut Random::seeded(7))?;
    /// let mut chain = Chain::new(landmarks, Rule::METROPOLIS).keeping(1);
    /// chain.run(100, &mut Random::seeded(7))?;
    /// assert_eq!(chain.landmarks().members()[0], 1);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn keeping(mut self, count: usize) -> Self {
        self.state.kept = count;
        self
    }

    /// Run one step. It draws one number for laziness, if the rule is lazy, and one each for the slot, the
    /// row and the acceptance of a proposal (rarely more: drawing below a bound may reject).
    ///
    /// # Errors
    /// [`Error::NotFinite`] and [`Error::Read`] from the ground set; only the generator has changed.
    ///
    /// ```
    /// use dpp_nystrom_core::{Chain, Landmarks, Matrix, Random, Rule, Step, Workspace};
    ///
    /// let matrix = Matrix::new(&[2.0, 1.0, 1.0, 2.0])?;
    /// let mut memory = Workspace::<f32, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// landmarks.push(0)?;
    /// landmarks.push(1)?;
    /// let mut chain = Chain::new(landmarks, Rule::METROPOLIS);
    /// assert_eq!(chain.step(&mut Random::seeded(7))?, Step::Held); // every row is a landmark
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn step<R: Rng + ?Sized>(&mut self, random: &mut R) -> Result<Step, Error> {
        let count = self.state.exchangeable();
        let ChainState { landmarks, progress, kept } = &mut self.state;
        let outside = landmarks.ground().len() - landmarks.len();
        // The high bit: in many small generators the low ones are the weakest.
        if count == 0 || outside == 0 || (self.rule.lazy && random.next_u32() >> 31 == 0) {
            progress.steps += 1;
            return Ok(Step::Held);
        }
        let slot = *kept + below(random, count);
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

    /// Run `steps` steps.
    ///
    /// # Errors
    /// Those of [`step`](Self::step), at the step that failed.
    pub fn run<R: Rng + ?Sized>(&mut self, steps: u64, random: &mut R) -> Result<Progress, Error> {
        for _ in 0..steps {
            self.step(random)?;
        }
        Ok(self.state.progress)
    }

    /// End the chain and return its landmarks.
    ///
    /// ```
    /// use dpp_nystrom_core::{Chain, Landmarks, Nystrom, Points, Random, Rule, Workspace, kernel::Gaussian, start};
    ///
    /// let rows = [0.0, 0.1, 0.9, 1.1, 2.0, 5.0];
    /// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
    /// let mut memory = Workspace::<f64, 3>::new();
    /// let mut random = Random::seeded(7);
    /// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
    /// start::uniform(&mut landmarks, 3, &mut random)?;
    /// let mut chain = Chain::new(landmarks, Rule::METROPOLIS);
    /// chain.run(500, &mut random)?;
    /// let landmarks = chain.into_landmarks();
    /// assert!(Nystrom::new(&landmarks).trace_error(&mut [0.0; 3])? < 2.0); // of a trace of 6
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn into_landmarks(self) -> Landmarks<'a, T, G> {
        self.state.landmarks
    }

    /// Return the rule.
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
