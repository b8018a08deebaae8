//! The open-slot chain: Metropolis-within-Gibbs with a systematic scan, many tries per slot.

use crate::chain::{ChainState, Progress};
use crate::error::{Error, Known};
use crate::ground_set::TryGroundSet;
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

/// The number of openings per landmark after which the factor is computed again.
const REFACTOR: u64 = 8;

/// The order in which slots are opened.
///
/// ```
/// use dpp_nystrom_core::{Acceptance, Landmarks, Matrix, Random, Scan, SlotChain, Workspace, start};
///
/// let matrix = Matrix::new(&[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0])?;
/// let mut memory = Workspace::<f64, 2>::new();
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// start::given(&mut landmarks, &[0, 1])?;
/// // The paper's chain without lazy steps.
/// let mut chain = SlotChain::new(landmarks, Acceptance::Barker).with_scan(Scan::Random).with_tries(1);
/// assert_eq!(chain.run(100, &mut Random::seeded(7))?.openings, 100);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Scan {
    /// Every slot once per sweep, in a fixed order.
    #[default]
    Systematic,
    /// A slot drawn uniformly: the step is reversible with respect to the c-DPP.
    Random,
}

/// The open-slot chain of a c-DPP, a Metropolis-within-Gibbs sampler. [`Progress::steps`] and
/// [`Progress::proposed`] count tries.
///
/// A step opens a slot ([`OpenSlot`]) and tries up to [`TRIES`] rows drawn uniformly from all `n`, one after
/// the other. Each try is a Metropolis (or Barker) move on the conditional law of one slot given the others.
/// It is reversible with respect to the c-DPP, and so is its repetition.
///
/// [`Scan`] selects the next slot. A systematic scan opens each slot once per sweep. Each of its steps
/// preserves the law of a c-DPP's landmarks in random order, and so does a sweep, which is not reversible. In
/// a random scan a fraction e⁻² of the slots is still unopened after two sweeps. A random scan with one try
/// and Barker's rule is the paper's chain without lazy steps, except that the row drawn may be a landmark:
/// then nothing happens.
///
/// A try costs at most `c` kernel entries and `c²/2` multiply-adds, less where it is rejected early. Opening
/// slot `i` costs `3(c - i)²`. Nothing of length `n` is stored, and membership is checked only for a row that
/// is about to enter. Discard the first sweeps as burn-in: the stationary law holds in the limit.
///
/// # Drift
///
/// Every opening rotates the factor, and rounding errors accumulate. So the factor is computed again from the
/// kernel every `8 c` openings, about a fortieth of the work. Residuals at or below the rounding
/// error are never admitted ([`crate::Cholesky`]).
///
/// # Example
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

impl<'a, T: Scalar, G: TryGroundSet<T> + ?Sized> SlotChain<'a, T, G> {
    /// Create the chain that starts at these landmarks, with a systematic scan and [`TRIES`] tries per slot.
    pub fn new(landmarks: Landmarks<'a, T, G>, acceptance: Acceptance) -> Self {
        Self::of(ChainState::new(landmarks), acceptance)
    }

    /// Continue the chain of `count` landmarks whose state `memory` still holds. Tries, scan, evaluator
    /// and the landmarks to keep are the defaults and must be set again.
    ///
    /// # Errors
    /// Those of [`Landmarks::resume`], and [`Error::ForeignState`] for counters that no chain can have.
    ///
    /// ```
    /// use dpp_nystrom_core::{Acceptance, Landmarks, Matrix, Random, SlotChain, Workspace};
    ///
    /// let matrix = Matrix::new(&[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0])?;
    /// let (mut memory, mut random) = (Workspace::<f64, 1>::new(), Random::seeded(7));
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// landmarks.push(0)?;
    /// let progress = SlotChain::new(landmarks, Acceptance::Metropolis).run(64, &mut random)?;
    ///
    /// let mut chain = SlotChain::resume(&matrix, 1, memory.lend(), Acceptance::Metropolis, progress)?;
    /// assert_eq!(chain.run(64, &mut random)?.steps, 128);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
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

impl<'a, T: Scalar, G: TryGroundSet<T> + ?Sized, E: Evaluate<T, G>> SlotChain<'a, T, G, E> {
    /// Use another evaluator.
    pub fn with_evaluator<F: Evaluate<T, G>>(self, evaluator: F) -> SlotChain<'a, T, G, F> {
        let Self { state, acceptance, scan, tries, .. } = self;
        SlotChain { state, evaluator, acceptance, scan, tries }
    }

    /// Set the number of tries per slot: at least 1 and at most [`TRIES`].
    pub fn with_tries(self, tries: usize) -> Self {
        Self { tries: tries.clamp(1, TRIES), ..self }
    }

    /// Set the order of the slots.
    pub fn with_scan(self, scan: Scan) -> Self {
        Self { scan, ..self }
    }

    /// Keep the first `count` landmarks: see [`Chain::keeping`](crate::Chain::keeping).
    ///
    /// ```
    /// use dpp_nystrom_core::{Acceptance, Landmarks, Matrix, Random, SlotChain, Workspace, start};
    ///
    /// let matrix = Matrix::new(&[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0])?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// start::given(&mut landmarks, &[1, 0])?;
    /// let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis).keeping(1);
    /// chain.run(100, &mut Random::seeded(7))?;
    /// assert_eq!(chain.landmarks().members()[0], 1);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn keeping(mut self, count: usize) -> Self {
        self.state.kept = count;
        self
    }

    /// Open one slot and run its tries, at most `most`. Return how many rows were admitted. Draws two numbers
    /// per try (rarely more), and before them one for the slot in a random scan.
    ///
    /// # Errors
    /// [`Error::NotFinite`] and [`Error::Read`] from the ground set: the landmarks are as after the tries
    /// before that one, possibly in another order, and the step is not counted.
    ///
    /// ```
    /// use dpp_nystrom_core::{Acceptance, Landmarks, Matrix, Random, SlotChain, Workspace};
    ///
    /// let matrix = Matrix::new(&[1.0, 0.0, 0.0, 4.0])?;
    /// let mut memory = Workspace::<f64, 1>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// landmarks.push(1)?;
    /// let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
    /// let admitted = chain.step(8, &mut Random::seeded(7))?; // at most 8 tries
    /// let progress = chain.progress();
    /// assert_eq!((progress.steps, progress.openings, progress.accepted), (8, 1, u64::from(admitted)));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn step<R: Rng + ?Sized>(&mut self, most: u64, random: &mut R) -> Result<u32, Error> {
        let count = self.state.exchangeable();
        let ChainState { landmarks, progress, kept } = &mut self.state;
        let rows = landmarks.ground().len();
        let tries = usize::try_from(most).unwrap_or(TRIES).min(self.tries);
        let mut admitted = 0;
        if count > 0 && landmarks.len() < rows {
            let slot = *kept
                + match self.scan {
                    // Opened slots are last, so the remaining ones are first.
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

    /// Run `tries` tries.
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

    /// End the chain and return its landmarks.
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

/// Compute the factor again if it is due after this many openings.
pub(crate) fn renew<T, G>(landmarks: &mut Landmarks<'_, T, G>, openings: u64) -> Result<(), Error>
where
    T: Scalar,
    G: TryGroundSet<T> + ?Sized,
{
    if openings.checked_rem(REFACTOR * landmarks.len() as u64) != Some(0) {
        return Ok(());
    }
    match landmarks.refactor() {
        // Too close to singular to factor: the updated factor remains in use.
        Ok(()) | Err(Error::NotPositive { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
