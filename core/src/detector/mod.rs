//! An anomaly detector without a target: it learns from rows what is usual, and a threshold for the rate of
//! false alarms that is asked for.
//!
//! The score of a row is its novelty: the Nyström residual `k(z, z) - ‖φ(z)‖²` of the standardised row,
//! stretched where it would end (`novelty` in `nystrom.rs`). Landmarks are those of a stream
//! ([`StreamChain`]). [`Detector`] has the phases; `scaling.rs`, `threshold.rs` and `exchange.rs` say what is
//! estimated, from how many rows, and with what error.

mod exchange;
mod scaling;
mod state;
mod threshold;

use crate::chain::Progress;
use crate::cholesky::Cholesky;
use crate::error::{Error, Known, Phase, row_number};
use crate::ground_set::Points;
use crate::kernel::{Gaussian, Kernel};
use crate::landmarks::Landmarks;
use crate::memory::{Memory, Workspace, prefix};
use crate::model::{changed, refusal, standardise};
use crate::nystrom::{Nystrom, novelty, novelty_beyond};
use crate::scalar::Scalar;
use crate::stream::{Offer, StreamChain};
use rand_core::Rng;
use scaling::SAMPLE;
use threshold::{Judgement, Threshold};

/// What a [`Detector`] says of a row.
///
/// ```
/// use dpp_nystrom_core::Verdict;
///
/// fn lamp(verdict: Verdict<f32>) -> &'static str {
///     match verdict {
///         Verdict::Alarm { feature: 0, .. } => "red: the temperature",
///         Verdict::Alarm { .. } => "red",
///         Verdict::Learning { .. } => "yellow",
///         _ => "green",
///     }
/// }
/// assert_eq!(lamp(Verdict::Learning { missing: 900 }), "yellow");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Verdict<T> {
    /// The threshold is still being learned, from this row too: no row is judged yet.
    Learning {
        /// Rows that are needed before rows are judged.
        missing: u64,
    },
    /// The row is usual.
    Known {
        /// Its [`Detector::score`].
        score: T,
    },
    /// The row is not usual.
    Alarm {
        /// Its [`Detector::score`].
        score: T,
        /// The feature that is farthest from the nearest landmark.
        feature: usize,
        /// How far, in deviations of the feature; infinite for another value of a feature that was constant.
        distance: T,
    },
}

/// A detector of up to `C` landmarks of `D` features, with all the memory it needs. In `f32` on a 32-bit
/// processor `4 C² + 4 C D + 28 C + 140 D + 176` bytes: 2,464 for 16 landmarks of 4 features. Nothing else is
/// needed but stack, 0.9 to 1.2 KB with 4 features on a Cortex-M4F.
///
/// # Phases
///
/// | phase | calls | ended by |
/// | --- | --- | --- |
/// | [`Phase::Idle`] | | [`start`](Self::start) |
/// | [`Phase::Scaling`] | [`scale`](Self::scale) | [`freeze_scaling`](Self::freeze_scaling) |
/// | [`Phase::Selecting`] | [`offer`](Self::offer) | [`freeze_landmarks`](Self::freeze_landmarks) |
/// | [`Phase::Learning`] | [`check`](Self::check): [`Verdict::Learning`] | `16 N` rows |
/// | [`Phase::Predicting`] | [`check`](Self::check), [`exchange`](Self::exchange) | [`forget`](Self::forget) |
///
/// A call in another phase returns [`Error::Phase`] and changes nothing. The threshold is learned from rows
/// that came after the landmarks, and of them alone: a landmark explains itself, and rows that landmarks were
/// chosen from score less than others.
///
/// # The rate of false alarms
///
/// Asked is one in `N` rows. There is no alarm before the threshold is learned from `16 N` rows. The rate is
/// then `1/N` on average over devices, whatever the law of the rows, with a standard deviation of a quarter:
/// within half and twice of `1/N` on 99 devices of 100. Afterwards the threshold follows the rows, so that
/// [`alarms`](Self::alarms) is [`judged`](Self::judged)`/N` up to some 16 alarms for each `β` by which the
/// threshold has moved. `β` is the scale of the tail of the scores: a threshold that is higher by `β` divides
/// the rate of alarms by 2.718.
///
/// - A fault that lasts becomes usual, slowly: one that scores `h β` above the threshold alarms for at least
///   `5 (h - 1) N` rows. Afterwards the threshold falls again, by `β` in `16 N` rows, and
///   [`forget`](Self::forget) learns it anew.
/// - The first `16 N` rows should be usual. Each anomaly among them takes the place of one row in the tail:
///   of `a` the rate is `(16 - a)/16` of what was asked, and catches up.
/// - Rows that follow one another closely are alike: alarms come in bursts then, and the rate of `16 N` rows
///   varies more. Check every tenth reading, or a feature of a window.
///
/// # Drift
///
/// The threshold follows scores that grow by up to `3/16 β` in `N` rows. Landmarks do so only where
/// [`exchange`](Self::exchange) is called. After a change that is meant, [`forget`](Self::forget) learns the
/// threshold again, and [`start`](Self::start) all of it.
///
/// # Example
///
/// ```
/// use dpp_nystrom_core::{Detector, Error, Random, Verdict, kernel::Gaussian};
/// use rand_core::Rng;
///
/// let mut detector = Detector::<8, 2>::new(); // in firmware a static
/// let (mut random, mut readings) = (Random::seeded(7), Random::seeded(8));
/// let mut read = || {
///     let unit = readings.next_u32() as f32 / 4_294_967_296.0;
///     let noise = readings.next_u32() as f32 / 4_294_967_296.0;
///     [20.0 + 10.0 * unit, 3.0 - unit + 0.1 * noise] // a voltage that falls with the temperature
/// };
///
/// detector.start(Gaussian::new(1.0)?, 100)?; // one false alarm in 100 rows
/// for _ in 0..200 {
///     detector.scale(&read(), &mut random)?;
/// }
/// detector.freeze_scaling()?;
/// for _ in 0..200 {
///     detector.offer(&read(), &mut random)?;
/// }
/// detector.freeze_landmarks()?;
/// for _ in 0..1_600 {
///     assert!(matches!(detector.check(&read())?, Verdict::Learning { .. }));
/// }
/// for _ in 0..10_000 {
///     detector.check(&read())?;
/// }
/// assert_eq!(detector.judged(), 10_000);
/// assert!((50..=200).contains(&detector.alarms()));
/// // Each of the two is usual alone.
/// assert!(matches!(detector.check(&[20.0, 2.0])?, Verdict::Alarm { .. }));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Detector<const C: usize, const D: usize, K = Gaussian<f32>, T = f32> {
    memory: Workspace<T, C>,
    /// Standardised landmarks.
    rows: [[T; D]; C],
    /// Raw rows, while the scaling is measured.
    sample: [[T; D]; SAMPLE],
    centres: [T; D],
    scales: [T; D],
    phi: [T; C],
    /// What each landmark explains, in the order of `rows`: `exchange.rs`.
    uses: [T; C],
    /// The standardised row that is on trial for an exchange, and its features.
    candidate: [T; D],
    of_candidate: [T; C],
    threshold: Threshold<T>,
    kernel: Option<K>,
    status: Status<T>,
}

/// The part of the state that is not an array. It starts as zeros, so that a static takes no flash.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Status<T> {
    phase: Phase,
    /// The number of rows that the scaling was measured on.
    scaled: u32,
    /// Landmarks.
    count: usize,
    /// The number of rows of the candidate's trial, itself included; 0 without a candidate.
    tried: u32,
    progress: Progress,
    /// Rows that `uses` is a mean of.
    followed: u64,
    /// The residual of the candidate.
    left: T,
    /// The sum over the rows of the trial of what the candidate would explain.
    gain: T,
}

impl<T: Scalar> Status<T> {
    const IDLE: Self = Self {
        phase: Phase::Idle,
        scaled: 0,
        count: 0,
        tried: 0,
        progress: Progress { steps: 0, proposed: 0, accepted: 0, openings: 0 },
        followed: 0,
        left: T::ZERO,
        gain: T::ZERO,
    };
}

/// A standardised row, and what there is to say of it.
struct Seen<const D: usize, T> {
    row: [T; D],
    score: T,
    /// The feature that is farthest from the nearest landmark, and how far, where that was needed.
    farthest: Option<(usize, T)>,
}

impl<const C: usize, const D: usize, K, T: Scalar> Detector<C, D, K, T> {
    /// Return an idle detector. Constant and all zeros: a static of it takes RAM, no flash, and no code to
    /// initialise.
    pub const fn new() -> Self {
        Self {
            memory: Workspace::new(),
            rows: [[T::ZERO; D]; C],
            sample: [[T::ZERO; D]; SAMPLE],
            centres: [T::ZERO; D],
            scales: [T::ZERO; D],
            phi: [T::ZERO; C],
            uses: [T::ZERO; C],
            candidate: [T::ZERO; D],
            of_candidate: [T::ZERO; C],
            threshold: Threshold::new(0),
            kernel: None,
            status: Status::IDLE,
        }
    }

    /// Return the phase.
    pub fn phase(&self) -> Phase {
        self.status.phase
    }

    /// Return the standardised landmarks: `C`, or fewer where the rows had no further independent one.
    pub fn rows(&self) -> &[[T; D]] {
        prefix(&self.rows, self.status.count)
    }

    /// Return the present threshold of scores; none before it is learned.
    pub fn threshold(&self) -> Option<T> {
        (self.status.phase == Phase::Predicting).then(|| self.threshold.present())
    }

    /// Return the number of rows judged: those that [`check`](Self::check) found known or alarmed at. The
    /// rows that the threshold was learned from are not among them.
    pub fn judged(&self) -> u64 {
        self.threshold.judged()
    }

    /// Return the number of alarms. Over [`judged`](Self::judged) it is the rate of alarms: that of false
    /// ones, where there were no others.
    pub fn alarms(&self) -> u64 {
        self.threshold.alarms
    }

    fn check_phase(&self, expected: Phase) -> Result<(), Error> {
        let found = self.status.phase;
        if found == expected { Ok(()) } else { Err(Error::Phase { expected, found }) }
    }

    /// Check that there are landmarks.
    fn check_selected(&self) -> Result<(), Error> {
        match self.status.phase {
            Phase::Learning | Phase::Predicting => Ok(()),
            found => Err(Error::Phase { expected: Phase::Learning, found }),
        }
    }

    /// Standardise a raw row, and refuse one that is not finite; errors name it as the `number`-th.
    fn standardise(&self, raw: &[T; D], number: u64) -> Result<[T; D], Error> {
        let mut row = [T::ZERO; D];
        match standardise(raw, &self.centres, &self.scales, &mut row) {
            None => Ok(row),
            Some(column) => Err(refusal(raw, row_number(number), column)),
        }
    }

    /// [`standardise`](Self::standardise) a row that may become a landmark, and refuse one whose constant
    /// features have other values.
    fn admit(&self, raw: &[T; D], number: u64) -> Result<[T; D], Error> {
        let row = self.standardise(raw, number)?;
        match changed(raw, &self.centres, &self.scales) {
            None => Ok(row),
            Some(column) => Err(Error::Changed { row: row_number(number), column }),
        }
    }

    /// Return the feature of a standardised row that is farthest from the nearest landmark, and how far. Out
    /// of line, since few rows need it.
    #[inline(never)]
    fn farthest(&self, row: &[T; D]) -> (usize, T) {
        let mut nearest = None;
        for landmark in self.rows() {
            let squared = distances(landmark, row).fold(T::ZERO, |sum, value| sum + value * value);
            if nearest.is_none_or(|(least, _)| squared < least) {
                nearest = Some((squared, landmark));
            }
        }
        let mut farthest = (0, T::ZERO);
        let nearest = nearest.into_iter().flat_map(|(_, landmark)| distances(landmark, row));
        for (column, distance) in nearest.enumerate() {
            if distance > farthest.1 {
                farthest = (column, distance);
            }
        }
        farthest
    }
}

/// Return how far two rows are apart in each feature.
fn distances<'r, T: Scalar>(a: &'r [T], b: &'r [T]) -> impl Iterator<Item = T> {
    a.iter().zip(b).map(|(&a, &b)| (a - b).abs())
}

impl<const C: usize, const D: usize, K, T: Scalar> Default for Detector<C, D, K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const C: usize, const D: usize, K: Kernel<T>, T: Scalar> Detector<C, D, K, T> {
    /// Start with this kernel of standardised rows, and with one false alarm in `every` rows: 100 are 1 %.
    /// Continue in [`Phase::Scaling`]. Everything learned before is discarded.
    ///
    /// The kernel decides which anomalies score high: a Gaussian one of 1.5√D deviations is a start. A
    /// narrow one tells modes apart, a wide one is of use where features are smooth functions of few causes.
    /// The rate of false alarms does not depend on it.
    ///
    /// # Errors
    /// [`Error::Rate`] for less than 2 rows: the detector is unchanged.
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Error, Phase, kernel::Gaussian};
    ///
    /// let mut detector = Detector::<8, 2>::new();
    /// assert_eq!(detector.start(Gaussian::new(1.0)?, 1), Err(Error::Rate));
    /// detector.start(Gaussian::new(1.0)?, 1_000)?; // 0.1 %, from the 16,000th row on
    /// assert_eq!(detector.phase(), Phase::Scaling);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn start(&mut self, kernel: K, every: u32) -> Result<(), Error> {
        if every < 2 {
            return Err(Error::Rate);
        }
        self.kernel = Some(kernel);
        self.threshold = Threshold::new(every);
        self.status = Status { phase: Phase::Scaling, ..Status::IDLE };
        self.uses.fill(T::ZERO);
        Ok(())
    }

    /// Offer a raw row of a stream as a landmark: [`StreamChain::offer`], of which 16 rows per landmark
    /// suffice. These rows should be usual: a landmark makes rows like it known.
    ///
    /// # Errors
    /// [`Error::Phase`], and with the number of rows before it and the feature [`Error::NotFinite`],
    /// [`Error::TooLarge`], or [`Error::Changed`] for another value of a constant feature. The landmarks are
    /// unchanged except for their order.
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Error, Offer, Random, kernel::Gaussian};
    ///
    /// let (mut detector, mut random) = (Detector::<2, 1>::new(), Random::seeded(7));
    /// detector.start(Gaussian::new(1.0)?, 100)?;
    /// for at in 0..32 {
    ///     detector.scale(&[at as f32], &mut random)?;
    /// }
    /// detector.freeze_scaling()?;
    /// assert_eq!(detector.offer(&[15.5], &mut random)?, Offer::Joined { place: 0 });
    /// assert_eq!(detector.rows(), [[0.0]]); // the median
    /// # Ok::<(), Error>(())
    /// ```
    pub fn offer<R: Rng + ?Sized>(&mut self, row: &[T; D], random: &mut R) -> Result<Offer, Error> {
        self.check_phase(Phase::Selecting)?;
        let row = self.admit(row, self.status.progress.steps)?;
        let mut chain = self.chain()?;
        let offer = chain.offer(&row, random)?;
        (self.status.count, self.status.progress) = (chain.len(), chain.progress());
        Ok(offer)
    }

    /// Return the chain of the landmarks.
    fn chain(&mut self) -> Result<StreamChain<'_, T, &K>, Error> {
        let Status { count, progress, .. } = self.status;
        let (kernel, rows) = (self.kernel.as_ref().known()?, self.rows.as_flattened_mut());
        StreamChain::assemble(kernel, D, rows, self.memory.lend(), count, progress)
    }

    /// End the selection, and learn the threshold from the rows that follow. Continue in
    /// [`Phase::Learning`].
    ///
    /// # Errors
    /// [`Error::Phase`], [`Error::Empty`] without landmarks.
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Error, Phase, Random, Verdict, kernel::Gaussian};
    ///
    /// let (mut detector, mut random) = (Detector::<2, 1>::new(), Random::seeded(7));
    /// detector.start(Gaussian::new(1.0)?, 100)?;
    /// for at in 0..32 {
    ///     detector.scale(&[at as f32], &mut random)?;
    /// }
    /// detector.freeze_scaling()?;
    /// assert_eq!(detector.freeze_landmarks(), Err(Error::Empty));
    /// detector.offer(&[15.5], &mut random)?;
    /// detector.freeze_landmarks()?;
    /// assert_eq!(detector.check(&[16.0])?, Verdict::Learning { missing: 1_599 });
    /// # Ok::<(), Error>(())
    /// ```
    pub fn freeze_landmarks(&mut self) -> Result<(), Error> {
        self.check_phase(Phase::Selecting)?;
        if self.status.count == 0 {
            return Err(Error::Empty);
        }
        self.status.phase = Phase::Learning;
        Ok(())
    }

    /// Judge a raw row. In [`Phase::Learning`] the threshold is learned from it; afterwards an alarm raises
    /// the threshold a little, and each row lowers it ([the rate](Self#the-rate-of-false-alarms)). `C` kernel
    /// values and `C²/2` multiply-adds, and `C D` more for an alarm.
    ///
    /// # Errors
    /// [`Error::Phase`], and with the number of rows before it [`Error::NotFinite`] or [`Error::TooLarge`]
    /// with the feature, [`Error::NotFinite`] with a landmark with which the kernel overflows: the row is not
    /// counted, and nothing has changed.
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Error, Random, Verdict, kernel::Gaussian};
    ///
    /// let (mut detector, mut random) = (Detector::<4, 2>::new(), Random::seeded(7));
    /// detector.start(Gaussian::new(1.0)?, 10)?;
    /// let row = |at: usize| [(at % 8) as f32, (at % 8) as f32 * 0.1];
    /// (0..40).try_for_each(|at| detector.scale(&row(at), &mut random))?;
    /// detector.freeze_scaling()?;
    /// (0..40).try_for_each(|at| detector.offer(&row(at), &mut random).map(drop))?;
    /// detector.freeze_landmarks()?;
    /// (0..160).try_for_each(|at| detector.check(&row(at)).map(drop))?;
    /// assert!(matches!(detector.check(&[3.0, 0.3])?, Verdict::Known { .. }));
    /// let Verdict::Alarm { feature, distance, .. } = detector.check(&[3.0, 7.3])? else { panic!() };
    /// assert!(feature == 1 && distance > 20.0);
    /// assert_eq!(detector.check(&[3.0, f32::NAN]), Err(Error::NotFinite { row: 162, column: 1 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn check(&mut self, row: &[T; D]) -> Result<Verdict<T>, Error> {
        let seen = self.see(row, self.threshold.rows)?;
        let score = seen.score;
        Ok(match self.threshold.take(score) {
            Judgement::Learning(missing) => {
                if missing == 0 {
                    self.status.phase = Phase::Predicting;
                }
                Verdict::Learning { missing }
            }
            Judgement::Known => Verdict::Known { score },
            Judgement::Alarm => {
                let (feature, distance) = seen.farthest.unwrap_or_else(|| self.farthest(&seen.row));
                Verdict::Alarm { score, feature, distance }
            }
        })
    }

    /// Return the novelty of a raw row, and change nothing: the residual `k(z, z) - ‖φ(z)‖²` of its
    /// standardised form `z`, stretched to `k(z, z) ln(k(z, z)/‖φ(z)‖²)`, so that it still grows where the
    /// residual is `k(z, z)` up to rounding. 0 for a landmark. The kernel has no unit, nor has the score.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), of row 0.
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Error, Random, kernel::Gaussian};
    ///
    /// let (mut detector, mut random) = (Detector::<2, 1>::new(), Random::seeded(7));
    /// detector.start(Gaussian::new(1.0)?, 100)?;
    /// (0..32).try_for_each(|at| detector.scale(&[at as f32], &mut random))?;
    /// detector.freeze_scaling()?;
    /// detector.offer(&[15.5], &mut random)?;
    /// detector.freeze_landmarks()?;
    /// let scores: Vec<f32> = [15.5, 16.0, 100.0, 1e6, 1e9].map(|x| detector.score(&[x]).unwrap()).to_vec();
    /// assert!(scores[0] == 0.0 && scores.is_sorted_by(|a, b| a < b));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn score(&mut self, row: &[T; D]) -> Result<T, Error> {
        self.see(row, 0).map(|seen| seen.score)
    }

    /// Forget the threshold and the counters, and learn the threshold again from the rows that follow. The
    /// landmarks remain. Continue in [`Phase::Learning`].
    ///
    /// # Errors
    /// [`Error::Phase`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Error, Phase, Random, kernel::Gaussian};
    ///
    /// let (mut detector, mut random) = (Detector::<2, 1>::new(), Random::seeded(7));
    /// detector.start(Gaussian::new(1.0)?, 10)?;
    /// (0..32).try_for_each(|at| detector.scale(&[at as f32], &mut random))?;
    /// detector.freeze_scaling()?;
    /// detector.offer(&[15.5], &mut random)?;
    /// detector.freeze_landmarks()?;
    /// (0..160).try_for_each(|at| detector.check(&[at as f32 / 5.0]).map(drop))?;
    /// assert!(detector.threshold().is_some());
    /// detector.forget()?;
    /// assert_eq!((detector.threshold(), detector.phase()), (None, Phase::Learning));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn forget(&mut self) -> Result<(), Error> {
        self.check_selected()?;
        self.threshold = Threshold::new(self.threshold.every);
        self.status.phase = Phase::Learning;
        Ok(())
    }

    /// Score a raw row; errors name it as the `number`-th.
    fn see(&mut self, raw: &[T; D], number: u64) -> Result<Seen<D, T>, Error> {
        self.check_selected()?;
        let row = self.standardise(raw, number)?;
        let changed = changed(raw, &self.centres, &self.scales);
        let diagonal = self.represent(&row, number)?;
        let count = self.status.count;
        let (score, farthest) = match (changed, novelty(diagonal, self.phi.get(..count).known()?)) {
            // Above the scores of all other rows, under any kernel.
            (Some(column), _) => (T::ONE / T::SMALLEST, Some((column, T::ONE / T::ZERO))),
            (None, Some(score)) => (score, None),
            (None, None) => {
                let farthest = self.farthest(&row);
                (novelty_beyond(diagonal, farthest.1), Some(farthest))
            }
        };
        if score.is_finite() {
            Ok(Seen { row, score, farthest })
        } else {
            Err(Error::NotFinite { row: row_number(number), column: count })
        }
    }

    /// Compute the features of a standardised row, in `phi`. Return `k(z, z)`.
    fn represent(&mut self, row: &[T; D], number: u64) -> Result<T, Error> {
        let (count, kernel) = (self.status.count, self.kernel.as_ref().known()?);
        let ground = Points::trusted(self.rows.as_flattened(), D, C, kernel);
        let Memory { factor, landmarks } = self.memory.lend();
        let landmarks = Landmarks::assemble(&ground, Cholesky::assemble(factor, count)?, landmarks);
        let phi = self.phi.get_mut(..count).known()?;
        ground.column_at(row, landmarks.members(), phi)?;
        Nystrom::new(&landmarks).features_at(row_number(number), phi)?;
        Ok(kernel.diagonal(row))
    }
}
