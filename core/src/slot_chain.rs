//! The open-slot chain: the c-DPP's law, many tries to an open slot.
//!
//! A step opens a slot ([`OpenSlot`]) and tries up to [`TRIES`] rows drawn uniformly from all `n`, one
//! after the other. Each try is a Metropolis (or Barker) move on the conditional law of one slot given the
//! others, which is reversible with respect to the c-DPP; so is the same move repeated.
//!
//! [`Scan`] says which slot comes next. A systematic scan opens each once in a sweep. Every step of it leaves
//! the law of a c-DPP's landmarks in random order as it is, and so does a sweep, which is not reversible. Of
//! slots drawn at random e⁻² are still unopened in two sweeps' time. With slots drawn, one try and Barker's
//! rule it is the paper's chain without its coin, but that a row drawn may be a landmark: then nothing
//! happens.
//!
//! A try costs at most `c` kernel entries and `c²/2` multiply-adds, less where it is rejected early;
//! opening costs `3(c - i)²`. Nothing of length `n` is stored, and membership is looked up only for
//! a row that is about to enter.
//!
//! # Drift
//!
//! Every opening turns the factor, and rounding adds up. So the factor is made anew from the kernel
//! every [`REFACTOR`]` · c` openings: about a fortieth of the work. Residuals at the level of rounding
//! are never admitted ([`crate::Cholesky`]'s floor).

use crate::chain::{ChainState, Progress};
use crate::error::{Error, Known};
use crate::ground_set::GroundSet;
use crate::landmarks::Landmarks;
use crate::memory::Memory;
use crate::random::below;
use crate::scalar::Scalar;
use crate::slot::{Evaluate, OneByOne, OpenSlot, Proposal};
use crate::swap::Acceptance;
use core::ops::Deref;
use rand_core::Rng;

/// The most rows that are tried at one slot, and the default.
pub const TRIES: usize = 32;

/// The factor is made anew after so many openings for each landmark.
const REFACTOR: u64 = 8;

/// Which slot is opened next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Scan {
    /// Every slot once in a sweep: the one that was opened longest ago comes last.
    #[default]
    Systematic,
    /// A slot drawn uniformly: the step is reversible with respect to the c-DPP.
    Random,
}

/// A c-DPP chain that holds slots open. [`Progress::steps`] and [`Progress::proposed`] count tries.
///
/// ```
/// use dpp_nystrom_core::{Acceptance, Landmarks, Points, Random, SlotChain, Workspace, kernel::Gaussian, start};
///
/// const ROWS: [f32; 12] = [0.0, 0.1, 0.2, 0.9, 1.0, 1.1, 2.0, 2.1, 3.0, 3.2, 3.3, 5.0];
/// let ground = Points::new(&ROWS, 1, Gaussian::new(0.7)?)?;
/// let mut memory = Workspace::<f32, 4>::new();
/// let mut random = Random::seeded(7);
/// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
/// start::uniform(&mut landmarks, 4, &mut random)?;
///
/// let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
/// chain.run(1_000, &mut random)?;
/// assert_eq!(chain.progress().steps, 1_000);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SlotChain<'a, T, G: ?Sized, E = OneByOne> {
    state: ChainState<'a, T, G>,
    evaluator: E,
    acceptance: Acceptance,
    scan: Scan,
    tries: usize,
}

impl<'a, T: Scalar, G: GroundSet<T> + ?Sized> SlotChain<'a, T, G> {
    /// The chain that starts at these landmarks, [`TRIES`] to a slot, one try after the other.
    pub fn new(landmarks: Landmarks<'a, T, G>, acceptance: Acceptance) -> Self {
        Self::of(ChainState::new(landmarks), acceptance)
    }

    /// The chain of `count` landmarks whose state `memory` still holds. Tries, scan and evaluator are the defaults:
    /// set them again.
    ///
    /// # Errors
    /// Those of [`Landmarks::resume`].
    pub fn resume(
        ground: &'a G,
        count: usize,
        memory: Memory<'a, T>,
        acceptance: Acceptance,
        progress: Progress,
    ) -> Result<Self, Error> {
        Ok(Self::of(ChainState::resume(ground, count, memory, progress)?, acceptance))
    }

    fn of(state: ChainState<'a, T, G>, acceptance: Acceptance) -> Self {
        Self { state, evaluator: OneByOne, acceptance, scan: Scan::default(), tries: TRIES }
    }
}

impl<'a, T: Scalar, G: GroundSet<T> + ?Sized, E: Evaluate<T, G>> SlotChain<'a, T, G, E> {
    /// The same chain with another evaluator.
    pub fn with_evaluator<F: Evaluate<T, G>>(self, evaluator: F) -> SlotChain<'a, T, G, F> {
        let Self { state, acceptance, scan, tries, .. } = self;
        SlotChain { state, evaluator, acceptance, scan, tries }
    }

    /// The same chain with `tries` rows to a slot: at least 1 and at most [`TRIES`].
    pub fn with_tries(self, tries: usize) -> Self {
        Self { tries: tries.clamp(1, TRIES), ..self }
    }

    /// The same chain with this order of slots.
    pub fn with_scan(self, scan: Scan) -> Self {
        Self { scan, ..self }
    }

    /// One slot, with as many tries as it gets but not more than `most`; answers how many rows were
    /// admitted. Draws two numbers for each try (rarely more), and before them one for the slot in a random scan.
    ///
    /// # Errors
    /// [`Error::NotFinite`] when the ground set answers so: the landmarks are as the tries before that one
    /// have left them, perhaps in another order, and the step is not counted.
    pub fn step<R: Rng + ?Sized>(&mut self, most: u64, random: &mut R) -> Result<u32, Error> {
        let ChainState { landmarks, progress } = &mut self.state;
        let (count, rows) = (landmarks.len(), landmarks.ground().len());
        let tries = usize::try_from(most).unwrap_or(TRIES).min(self.tries);
        let mut admitted = 0;
        if count > 0 && count < rows {
            let slot = match self.scan {
                // Opened slots stand last, so that those still to come are the first ones.
                Scan::Systematic => count - 1 - (progress.openings % count as u64) as usize,
                Scan::Random => below(random, count),
            };
            let mut proposals = [Proposal::default(); TRIES];
            let proposals = proposals.get_mut(..tries).known()?;
            for proposal in proposals.iter_mut() {
                let entering = below(random, rows);
                *proposal = Proposal { entering, uniform: T::from_draw(random.next_u32()) };
            }
            let mut open = OpenSlot::new(landmarks, slot, self.acceptance)?;
            admitted = self.evaluator.evaluate(&mut open, proposals)?;
            progress.proposed += tries as u64;
            progress.accepted += u64::from(admitted);
            progress.openings += 1;
            renew(landmarks, progress.openings)?;
        }
        progress.steps += tries as u64;
        Ok(admitted)
    }

    /// So many tries.
    ///
    /// # Errors
    /// Those of [`step`](Self::step).
    pub fn run<R: Rng + ?Sized>(&mut self, tries: u64, random: &mut R) -> Result<Progress, Error> {
        let last = self.state.progress.steps.saturating_add(tries);
        while self.state.progress.steps < last {
            self.step(last - self.state.progress.steps, random)?;
        }
        Ok(self.state.progress)
    }

    /// The landmarks, and the end of the chain.
    pub fn into_landmarks(self) -> Landmarks<'a, T, G> {
        self.state.landmarks
    }
}

impl<'a, T, G: ?Sized, E> Deref for SlotChain<'a, T, G, E> {
    type Target = ChainState<'a, T, G>;

    fn deref(&self) -> &Self::Target {
        &self.state
    }
}

/// Makes the factor anew if that is due after so many openings.
pub(crate) fn renew<T, G>(landmarks: &mut Landmarks<'_, T, G>, openings: u64) -> Result<(), Error>
where
    T: Scalar,
    G: GroundSet<T> + ?Sized,
{
    if openings.checked_rem(REFACTOR * landmarks.len() as u64) != Some(0) {
        return Ok(());
    }
    match landmarks.refactor() {
        // Too near to singular to be made anew; the factor that there is goes on.
        Ok(()) | Err(Error::NotPositive { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
