//! A complete learner in one value: scaling, landmark selection, regression and prediction, from raw rows to
//! predictions in the target's units.
//!
//! A [`Learner`] owns all memory in arrays, and each call borrows the views that the algorithms work on
//! ([`Landmarks`], [`StreamChain`], [`RidgeRegression`]): no field refers to another, so that it can be a
//! static, a field of an RTIC resource or the state of a task. No call copies the arrays or computes the
//! factor again.

mod confidence;
mod exchange;
mod scaling;
mod state;

pub use exchange::Exchange;
pub(crate) use exchange::{MARGIN, TRIAL_ROWS};
pub(crate) use state::{has_pivots, is_order, long, of_two_points, phase_of, progress, state_bytes};

use crate::chain::Progress;
use crate::cholesky::Cholesky;
use crate::error::{Error, Known, Phase, row_number};
use crate::ground_set::{GroundSet, Points};
use crate::kernel::{Gaussian, Kernel};
use crate::krr::{FeatureWeights, RidgeRegression, Solved, Tally};
use crate::landmarks::Landmarks;
use crate::memory::{Memory, RidgeArrays, Workspace, check_length, prefix};
use crate::model::{Model, Parts, Scaling, changed, refusal, standard_target, standardise};
use crate::nystrom::{self, Nystrom};
use crate::scalar::Scalar;
use crate::slot_chain::SlotChain;
use crate::start;
use crate::stream::{Offer, StreamChain};
use crate::swap::Acceptance;
use rand_core::Rng;

/// The number of tries of the open-slot chain per landmark in [`Learner::select`]: eight sweeps of 32.
///
/// This suffices from a uniform start: the mean of `log det K_CC`, the only statistic that the stationary law
/// depends on, is then within half a standard deviation of its value in chains sixteen times as long. This
/// was measured for a spectrum that decays fast and for a flat one (`tests/core/learner.rs`). More tries do
/// no harm.
pub const TRIES_PER_LANDMARK: u64 = 256;

/// The constants that standardise rows of `D` features and their target.
///
/// ```
/// use dpp_nystrom_core::{Error, Learner, Standard, kernel::Gaussian};
///
/// // From a data sheet: degrees, and a sensor whose reading never changes.
/// let standard = Standard { means: [20.0, 3.3], scales: [0.2, 0.0], target_mean: 50.0, target_scale: 8.0 };
/// let mut learner = Learner::<8, 2>::new();
/// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
/// let none = Standard { scales: [0.0; 2], ..standard };
/// assert_eq!(learner.start_scaled(Gaussian::new(1.0)?, &none), Err(Error::Constant { column: 0 }));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Standard<const D: usize, T = f32> {
    /// The features' means.
    pub means: [T; D],
    /// One over the features' standard deviations; 0 for a constant feature, whose value is its mean.
    pub scales: [T; D],
    /// The target's mean.
    pub target_mean: T,
    /// The target's standard deviation.
    pub target_scale: T,
}

/// A learner of up to `C` landmarks of `D` features, with all the memory it needs: [`crate::Bytes::learner`].
/// It learns one target; [`crate::Outputs`] predicts several.
///
/// # Phases
///
/// | phase | calls | ended by |
/// | --- | --- | --- |
/// | [`Phase::Idle`] | | [`start`](Self::start), [`start_scaled`](Self::start_scaled), [`start_from`](Self::start_from) |
/// | [`Phase::Scaling`] | [`scale`](Self::scale) | [`freeze_scaling`](Self::freeze_scaling) |
/// | [`Phase::Selecting`] | [`offer`](Self::offer) | [`freeze_landmarks`](Self::freeze_landmarks), or [`select`](Self::select) from a table |
/// | [`Phase::Learning`] | [`learn`](Self::learn), [`forget`](Self::forget), [`exchange`](Self::exchange), [`residual`](Self::residual) | [`solve`](Self::solve) |
/// | [`Phase::Predicting`] | the same, and [`predict`](Self::predict), [`assess`](Self::assess) | |
///
/// [`choose_gamma`](Self::choose_gamma) goes with `solve`; [`write_state`](Self::write_state) and
/// [`read_state`](Self::read_state) may be called in any phase. A call in another phase returns
/// [`Error::Phase`] and changes nothing. The phases are values and not types, because a static has one type
/// for its whole life: a learner that changed its type would have to move through the stack, and the phase of
/// one that is read from storage is known only at run time. Rows are arrays of `D` features: another width
/// does not compile.
///
/// # Standardisation
///
/// `z_i = (x_i - mean_i) · scale_i`, as in [`Model`]. Kernel, landmarks and regression see only `z`. A
/// learner has no map: to continue learning on a model with one, use [`RidgeRegression`] as in the example of
/// [`Model::digest`]. The target's mean is the value that predictions return to far from all landmarks, in
/// place of an intercept.
///
/// # Rows
///
/// The rows of scaling, of the landmarks and of learning must each cover the whole range of operation, in no
/// particular order. Neighbouring readings of a fast sensor are nearly copies: take every tenth, or spread
/// them over a full cycle.
///
/// # Constant features
///
/// A column is constant where its deviation over the rows of [`scale`](Self::scale) is at most `4 ε` of its
/// mean: 4.8e-7 of it in `f32`, 8.9e-16 in `f64`. Examples are a stuck sensor, and values that single
/// precision cannot resolve: 1013.25 ± 0.0004, or seconds since 1970 over some minutes. If such a feature
/// matters, subtract a constant from it first. [`freeze_scaling`](Self::freeze_scaling) refuses constant
/// columns, and [`freeze_scaling_allowing`](Self::freeze_scaling_allowing) accepts those listed. The scale of
/// an accepted column is 0, and the kernel ignores it. A row in which it differs from its mean by more than
/// `16 ε` of the mean is unknown to the learner:
///
/// | call | such a row |
/// | --- | --- |
/// | [`offer`](Self::offer), [`select`](Self::select), [`learn`](Self::learn), [`exchange`](Self::exchange) | [`Error::Changed`]: start again, and measure the scaling |
/// | [`residual`](Self::residual) | `k(z, z)`, as far from all landmarks |
/// | [`assess`](Self::assess) | an infinite distance, that residual, and the variance of the prior |
/// | [`predict`](Self::predict) | the prediction without the feature |
///
/// # A prior
///
/// A learner that starts from a model ([`start_from`](Self::start_from)) learns the model's errors: the
/// regression is on `y - f_0(x)`, so that γ shrinks the weights towards the model's and not towards 0.
/// Without rows, or once they are forgotten, it predicts as the model does. This needs no memory beyond the
/// model's weights.
///
/// # Example
///
/// ```
/// use dpp_nystrom_core::{Learner, Random, kernel::Gaussian};
/// use rand_core::Rng;
///
/// let mut learner = Learner::<8, 1, Gaussian<f64>, f64>::new(); // in firmware a static
/// let mut random = Random::seeded(7);
/// let mut readings = Random::seeded(8);
/// let mut read = || {
///     let celsius = 15.0 + f64::from(readings.next_u32()) / 4e8;
///     ([celsius], (celsius / 3.0).sin())
/// };
///
/// learner.start(Gaussian::new(1.0)?);
/// for _ in 0..100 {
///     let (row, target) = read();
///     learner.scale(&row, target)?;
/// }
/// learner.freeze_scaling()?;
/// for _ in 0..300 {
///     learner.offer(&read().0, &mut random)?;
/// }
/// learner.freeze_landmarks()?;
/// for _ in 0..200 {
///     let (row, target) = read();
///     learner.learn(&row, target)?;
/// }
/// learner.solve(1e-9)?;
/// assert!((learner.predict(&[20.0])? - (20.0_f64 / 3.0).sin()).abs() < 0.01);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Learner<const C: usize, const D: usize, K = Gaussian<f32>, T = f32> {
    /// The landmarks' factor and their order. The upper triangle of the square holds the regression's
    /// triangle of earlier rows: nothing is factored again while rows are learned.
    memory: Workspace<T, C>,
    ridge: RidgeArrays<T, C>,
    /// Standardised landmarks.
    rows: [[T; D]; C],
    means: [T; D],
    /// Sums of squared deviations, while the scaling is measured.
    scales: [T; D],
    /// The weights of the kernel, in the order of `rows`.
    weights: [T; C],
    /// The weights that the regression adds to, in the order of `rows`.
    prior: [T; C],
    phi: [T; C],
    /// The standardised row that is on trial for an exchange.
    candidate: [T; D],
    kernel: Option<K>,
    status: Status<T>,
}

/// The part of the state that is not an array. It starts as zeros, so that a static takes no flash.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Status<T> {
    phase: Phase,
    /// Whether the regression adds to the weights of a model.
    has_prior: bool,
    /// The number of rows that the scaling was measured on.
    scaled: u32,
    /// Landmarks.
    count: usize,
    progress: Progress,
    tally: Tally<T>,
    target_mean: T,
    /// The sum of squared deviations, while the scaling is measured.
    target_scale: T,
    /// γ of the last solution.
    gamma: T,
    /// The sum over the rows of the trial of what the candidate would explain.
    gain: T,
    /// The number of rows of the candidate's trial, itself included; 0 without a candidate.
    tried: u32,
    /// The mean residual of the rows learned.
    residual: T,
    /// The factor that calibrates claimed deviations; 0 before a solution.
    spread: T,
    /// The error estimate of the solution that the weights come from; zeros unless it has a penalty.
    claim: Solved<T>,
}

impl<T: Scalar> Status<T> {
    const IDLE: Self = Self {
        phase: Phase::Idle,
        has_prior: false,
        scaled: 0,
        count: 0,
        progress: Progress { steps: 0, proposed: 0, accepted: 0, openings: 0 },
        tally: Tally::NONE,
        target_mean: T::ZERO,
        target_scale: T::ZERO,
        gamma: T::ZERO,
        gain: T::ZERO,
        tried: 0,
        residual: T::ZERO,
        spread: T::ZERO,
        claim: Solved { penalty: T::ZERO, noise: T::ZERO },
    };
}

impl<const C: usize, const D: usize, K, T: Scalar> Learner<C, D, K, T> {
    /// Return an idle learner. Constant and all zeros: a static of it takes RAM, no flash, and no code to
    /// initialise.
    pub const fn new() -> Self {
        Self {
            memory: Workspace::new(),
            ridge: RidgeArrays::new(),
            rows: [[T::ZERO; D]; C],
            means: [T::ZERO; D],
            scales: [T::ZERO; D],
            weights: [T::ZERO; C],
            prior: [T::ZERO; C],
            phi: [T::ZERO; C],
            candidate: [T::ZERO; D],
            kernel: None,
            status: Status::IDLE,
        }
    }

    /// Return the phase.
    pub fn phase(&self) -> Phase {
        self.status.phase
    }

    /// Return the number of landmarks: `C`, or fewer where the rows had no further independent one.
    pub fn landmarks(&self) -> usize {
        self.status.count
    }

    /// Return the standardised landmarks.
    pub fn rows(&self) -> &[[T; D]] {
        prefix(&self.rows, self.status.count)
    }

    /// Return the counters of the selection, exchanges included.
    pub fn progress(&self) -> Progress {
        self.status.progress
    }

    /// Return the number of rows learned.
    pub fn learned(&self) -> u64 {
        self.status.tally.rows()
    }

    /// Return the effective number of rows learned: fewer than [`learned`](Self::learned) after
    /// [`forget`](Self::forget).
    pub fn effective_rows(&self) -> T {
        self.status.tally.effective_rows()
    }

    /// Check that learning is possible.
    fn check_learning(&self) -> Result<(), Error> {
        match self.status.phase {
            Phase::Learning | Phase::Predicting => Ok(()),
            found => Err(Error::Phase { expected: Phase::Learning, found }),
        }
    }

    fn check(&self, expected: Phase) -> Result<(), Error> {
        let found = self.status.phase;
        if found == expected { Ok(()) } else { Err(Error::Phase { expected, found }) }
    }

    /// Return the regression, with the triangle of earlier rows.
    fn regression(&mut self) -> Result<RidgeRegression<'_, T>, Error> {
        let Status { count, tally, .. } = self.status;
        RidgeRegression::resume(count, self.ridge.lend(self.memory.lend_upper()), tally)
    }

    /// Merge the learned rows into one triangle.
    fn settle(&mut self) -> Result<(), Error> {
        let mut ridge = self.regression()?;
        ridge.settle()?;
        self.status.tally = ridge.tally();
        Ok(())
    }

    /// Standardise a raw row; errors name it as the `row`-th.
    fn standardise(&self, raw: &[T; D], row: u64) -> Result<[T; D], Error> {
        let mut standard = [T::ZERO; D];
        match standardise(raw, &self.means, &self.scales, &mut standard) {
            None => Ok(standard),
            Some(column) => Err(refusal(raw, row_number(row), column)),
        }
    }

    /// [`standardise`](Self::standardise) a row for the landmarks or the regression, and refuse one whose
    /// constant features have other values.
    fn admit(&self, raw: &[T; D], row: u64) -> Result<[T; D], Error> {
        let standard = self.standardise(raw, row)?;
        match changed(raw, &self.means, &self.scales) {
            None => Ok(standard),
            Some(column) => Err(Error::Changed { row: row_number(row), column }),
        }
    }
}

impl<const C: usize, const D: usize, K, T: Scalar> Default for Learner<C, D, K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const C: usize, const D: usize, K: Kernel<T>, T: Scalar> Learner<C, D, K, T> {
    /// Start with this kernel of standardised rows, without scaling or landmarks: [`Phase::Scaling`].
    /// Everything learned before is discarded.
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Phase, kernel::Gaussian};
    ///
    /// let mut learner = Learner::<8, 2>::new();
    /// learner.start(Gaussian::new(1.0)?); // a bandwidth of one standard deviation
    /// assert_eq!((learner.phase(), learner.landmarks(), learner.learned()), (Phase::Scaling, 0, 0));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn start(&mut self, kernel: K) {
        self.restart(kernel, Phase::Scaling);
        self.means.fill(T::ZERO);
        self.scales.fill(T::ZERO);
    }

    /// Start with this kernel and known constants: [`Phase::Selecting`]. Everything learned before is
    /// discarded.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a constant that is not finite (row 0 for means, 1 for scales; column `D` for
    /// the target's), [`Error::Scale`] for a negative scale, [`Error::Constant`] where all scales are 0, or
    /// that of the target. The learner is unchanged.
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Phase, Standard, kernel::Gaussian};
    ///
    /// let standard = Standard { means: [20.0], scales: [0.2], target_mean: 0.0, target_scale: 1.0 };
    /// let mut learner = Learner::<8, 1>::new();
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// assert_eq!(learner.phase(), Phase::Selecting);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn start_scaled(&mut self, kernel: K, standard: &Standard<D, T>) -> Result<(), Error> {
        let Standard { means, scales, target_mean, target_scale } = standard;
        for (row, (constants, of_target)) in
            [(means, target_mean), (scales, target_scale)].into_iter().enumerate()
        {
            let mut constants = constants.iter().chain([of_target]);
            if let Some(column) = constants.position(|constant| !constant.is_finite()) {
                return Err(Error::NotFinite { row, column });
            }
        }
        if let Some(column) = scales.iter().chain([target_scale]).position(|&scale| scale < T::ZERO) {
            return Err(Error::Scale { column });
        }
        if scales.iter().all(|&scale| scale == T::ZERO) {
            return Err(Error::Constant { column: 0 });
        }
        if *target_scale == T::ZERO {
            return Err(Error::Constant { column: D });
        }
        self.restart(kernel, Phase::Selecting);
        copy(&mut self.means, means);
        copy(&mut self.scales, scales);
        (self.status.target_mean, self.status.target_scale) = (*target_mean, *target_scale);
        Ok(())
    }

    /// Start from a model, with its scaling, landmarks and weights: [`Phase::Predicting`]. Rows learned
    /// afterwards correct the model, whose weights are the prior. `c³/6` multiply-adds.
    ///
    /// # Errors
    /// [`Error::Length`] for a model of another number of features, [`Error::Map`] for one with a map,
    /// [`Error::Capacity`] for more than `C` landmarks, [`Error::Constant`] (of column `D`) for one of a
    /// constant target, [`Error::NotFinite`], and [`Error::NotPositive`] with the landmark that depends on
    /// those before it, in this precision. After one of the last two the learner is idle.
    ///
    /// A model of [`crate::include_model!`] or [`Model::from_bytes`] has the kernel that the bytes name: the
    /// learner is then a `Learner<C, D, ChosenKernel<f32>>`, 8 bytes larger.
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Model, Parts, Scaling, kernel::Gaussian};
    ///
    /// let parts = Parts {
    ///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[-1.0, 1.0], weights: &[0.3, 0.7],
    ///     target_mean: 5.0, target_scale: 2.0,
    /// };
    /// let model = Model::new(Gaussian::new(1.0_f32)?, parts)?; // in firmware from flash
    /// let mut learner = Learner::<2, 1>::new();
    /// learner.start_from(&model)?;
    /// assert_eq!(learner.predict(&[21.0])?, model.predict(&[21.0], &mut [0.0])?);
    /// for _ in 0..100 {
    ///     learner.learn(&[21.0], 9.0)?; // what the model does not know
    /// }
    /// learner.solve(1e-4)?;
    /// assert!((learner.predict(&[21.0])? - 9.0).abs() < 0.01);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn start_from(&mut self, model: &Model<'_, T, K>) -> Result<(), Error>
    where
        K: Copy,
    {
        check_length(D, model.features())?;
        let Scaling::PerFeature(scales) = model.scaling() else { return Err(Error::Map) };
        let count = model.weights().len();
        crate::memory::check_capacity(count, C)?;
        if model.target_scale() == T::ZERO {
            return Err(Error::Constant { column: D });
        }
        self.restart(model.kernel(), Phase::Idle);
        copy(&mut self.means, model.means());
        copy(&mut self.scales, scales);
        copy(self.rows.as_flattened_mut(), model.landmarks());
        copy(&mut self.weights, model.weights());
        copy(&mut self.prior, model.weights());
        let kernel = self.kernel.as_ref().known()?;
        let ground = Points::new(prefix(self.rows.as_flattened(), count * D), D, kernel)?;
        let mut landmarks = Landmarks::new(&ground, self.memory.lend())?;
        for place in 0..count {
            landmarks.push(place)?;
        }
        RidgeRegression::new(count, self.ridge.lend(self.memory.lend_upper()))?;
        let status = &mut self.status;
        (status.target_mean, status.target_scale) = (model.target_mean(), model.target_scale());
        (status.phase, status.has_prior, status.count) = (Phase::Predicting, true, count);
        Ok(())
    }

    fn restart(&mut self, kernel: K, phase: Phase) {
        self.kernel = Some(kernel);
        self.status = Status { phase, ..Status::IDLE };
        self.prior.fill(T::ZERO);
    }

    /// Offer a raw row of a stream as a landmark: [`StreamChain::offer`]. Sixteen independent rows per
    /// landmark suffice, where a table needs 64 tries (measured: the table of steps in this crate's README).
    ///
    /// The rows must cover the range of operation: the landmarks are among them. Neighbouring readings of a
    /// fast sensor are nearly copies and count as one; offer every tenth, or spread them over a full cycle
    /// ([limitations](StreamChain#limitations)).
    ///
    /// # Errors
    /// [`Error::Phase`], and with the number of rows before it and the feature [`Error::NotFinite`],
    /// [`Error::TooLarge`] or [`Error::Changed`]. The landmarks are unchanged except for their order.
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Offer, Random, Standard, kernel::Gaussian};
    ///
    /// let (mut learner, mut random) = (Learner::<2, 1>::new(), Random::seeded(7));
    /// let standard = Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// assert_eq!(learner.offer(&[0.5], &mut random)?, Offer::Joined { place: 0 });
    /// assert_eq!(learner.offer(&[0.5], &mut random)?, Offer::Declined); // a copy
    /// assert_eq!(learner.offer(&[2.5], &mut random)?, Offer::Joined { place: 1 });
    /// assert_eq!(learner.rows(), [[0.5], [2.5]]);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn offer<R: Rng + ?Sized>(&mut self, row: &[T; D], random: &mut R) -> Result<Offer, Error> {
        self.check(Phase::Selecting)?;
        let row = self.admit(row, self.status.progress.steps)?;
        let Status { count, progress, .. } = self.status;
        let (kernel, rows) = (self.kernel.as_ref().known()?, self.rows.as_flattened_mut());
        let mut chain = StreamChain::assemble(kernel, D, rows, self.memory.lend(), count, progress)?;
        let offer = chain.offer(&row, random)?;
        (self.status.count, self.status.progress) = (chain.len(), chain.progress());
        Ok(offer)
    }

    /// Select landmarks among the raw rows of a table, and freeze them: a uniform start, and
    /// [`TRIES_PER_LANDMARK`] tries of the open-slot chain for each. Return their number: fewer than `C`
    /// where the table has no further independent row. Rows offered before are forgotten.
    ///
    /// Nothing of the table's length is stored: it is read once as a check, and each try standardises the
    /// rows that it reads.
    ///
    /// # Errors
    /// [`Error::Phase`], [`Error::Empty`], with the row and the feature [`Error::NotFinite`],
    /// [`Error::TooLarge`] or [`Error::Changed`], and [`Error::NotFinite`] with two rows for which the kernel
    /// is not finite. There are no landmarks then.
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Phase, Random, Standard, kernel::Gaussian};
    ///
    /// let table: [[f32; 1]; 64] = core::array::from_fn(|at| [at as f32 / 8.0]);
    /// let standard = Standard { means: [4.0], scales: [0.5], target_mean: 0.0, target_scale: 1.0 };
    /// let mut learner = Learner::<4, 1>::new();
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// assert_eq!(learner.select(&table, &mut Random::seeded(7))?, 4);
    /// assert_eq!(learner.phase(), Phase::Learning);
    /// assert!(learner.residual(&[4.3])? < 0.5);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn select<R: Rng + ?Sized>(&mut self, table: &[[T; D]], random: &mut R) -> Result<usize, Error> {
        self.check(Phase::Selecting)?;
        self.status.count = 0;
        for (row, raw) in table.iter().enumerate() {
            self.admit(raw, row as u64)?;
        }
        let (means, scales) = (&self.means, &self.scales);
        let ground = Table { rows: table, means, scales, kernel: self.kernel.as_ref().known()? };
        let mut landmarks = Landmarks::new(&ground, self.memory.lend())?;
        start::uniform_up_to(&mut landmarks, C, random)?;
        let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
        let tries = TRIES_PER_LANDMARK.saturating_mul(chain.landmarks().len() as u64);
        self.status.progress = chain.run(tries, random)?;
        let landmarks = chain.into_landmarks();
        for (row, &member) in self.rows.iter_mut().zip(landmarks.members()) {
            *row = ground.row(member);
        }
        self.status.count = landmarks.len();
        for (place, member) in self.memory.lend().landmarks.iter_mut().enumerate() {
            *member = place;
        }
        self.freeze_landmarks()?;
        Ok(self.status.count)
    }

    /// End the selection. Continue in [`Phase::Learning`].
    ///
    /// # Errors
    /// [`Error::Phase`], [`Error::Empty`] without landmarks.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Learner, Phase, Random, Standard, kernel::Gaussian};
    ///
    /// let standard = Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
    /// let mut learner = Learner::<2, 1>::new();
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// assert_eq!(learner.freeze_landmarks(), Err(Error::Empty));
    /// learner.offer(&[0.5], &mut Random::seeded(7))?;
    /// learner.freeze_landmarks()?;
    /// assert_eq!((learner.phase(), learner.landmarks()), (Phase::Learning, 1));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn freeze_landmarks(&mut self) -> Result<(), Error> {
        self.check(Phase::Selecting)?;
        RidgeRegression::new(self.status.count, self.ridge.lend(self.memory.lend_upper()))?;
        self.status.tally = Tally::NONE;
        self.status.phase = Phase::Learning;
        Ok(())
    }

    /// Learn a raw row and its target: `c` kernel values and `7c²/2` multiply-adds, and `c³` more after each
    /// 2¹⁵ rows.
    ///
    /// A learner in `f32` that forgets nothing is full at 2³⁵ rows, 3.4·10¹⁰, a year at 1 kHz: until then it
    /// is as accurate as in `f64` ([`RidgeRegression::add_row`]).
    ///
    /// # Errors
    /// [`Error::RowCount`] when full, [`Error::Phase`], and with the number of rows before it and the feature
    /// (`D` for the target): [`Error::NotFinite`], also with a landmark with which the kernel overflows;
    /// [`Error::TooLarge`] for a feature whose coordinate overflows, or a target beyond 1.4e14 standard
    /// deviations in `f32`; [`Error::Changed`]. A row that is refused is not learned.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Learner, Random, Standard, kernel::Gaussian};
    ///
    /// let standard = Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
    /// let mut learner = Learner::<2, 1>::new();
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// learner.select(&[[-1.0], [1.0]], &mut Random::seeded(7))?;
    /// learner.learn(&[0.5], 2.0)?;
    /// assert_eq!(learner.learn(&[f32::NAN], 2.0), Err(Error::NotFinite { row: 1, column: 0 }));
    /// assert_eq!(learner.learn(&[0.5], f32::NAN), Err(Error::NotFinite { row: 1, column: 1 }));
    /// assert_eq!(learner.learned(), 1);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn learn(&mut self, row: &[T; D], target: T) -> Result<(), Error> {
        self.check_learning()?;
        let learned = self.learned();
        let row = self.admit(row, learned)?;
        let Status { count, tally, target_mean, target_scale, has_prior, .. } = self.status;
        let mut left = standard_target(target, target_mean, target_scale);
        let ground = Points::trusted(self.rows.as_flattened(), D, C, self.kernel.as_ref().known()?);
        let Memory { factor, landmarks } = self.memory.lend();
        let landmarks = Landmarks::assemble(&ground, Cholesky::assemble(factor, count)?, landmarks);
        let phi = self.phi.get_mut(..count).known()?;
        ground.column_at(&row, landmarks.members(), phi)?;
        let error = self.status.error_of(landmarks.members(), phi, &self.weights, target)?;
        if has_prior {
            for (&place, &value) in landmarks.members().iter().zip(phi.iter()) {
                left -= value * *self.prior.get(place).known()?;
            }
        }
        if !target.is_finite() {
            return Err(Error::NotFinite { row: row_number(learned), column: D });
        }
        if !(left.abs() <= T::SUMMABLE) {
            return Err(Error::TooLarge { row: row_number(learned), column: D });
        }
        let diagonal = ground.kernel().diagonal(&row);
        Nystrom::new(&landmarks).features_at(row_number(learned), phi)?;
        let mut ridge = RidgeRegression::resume(count, self.ridge.lend(self.memory.lend_upper()), tally)?;
        ridge.add(phi, left)?;
        let residual = nystrom::left(diagonal, phi);
        let rows = ridge.effective_rows();
        if let Some(error) = error {
            self.status.calibrate(error, residual);
        }
        self.status.tally = ridge.tally();
        self.status.residual += (residual - self.status.residual) / rows;
        Ok(())
    }

    /// Discount the rows learned so far, as [`RidgeRegression::forget`] does. To track drift, call it with
    /// the same λ, such as 0.99, before every [`learn`](Self::learn). Any λ that the precision can represent
    /// works: in `f32` up to `1 - 2⁻²⁴`, a memory of 1.7·10⁷ rows.
    ///
    /// # Errors
    /// [`Error::Phase`], and those of [`RidgeRegression::forget`]: [`Error::Forgotten`] where no rows arrive.
    /// The state is then unchanged.
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Random, Standard, kernel::Gaussian};
    ///
    /// let standard = Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
    /// let mut learner = Learner::<2, 1>::new();
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// learner.select(&[[-1.0], [1.0]], &mut Random::seeded(7))?;
    /// for row in 0..200 {
    ///     learner.forget(0.9)?;
    ///     learner.learn(&[1.0], if row < 150 { 2.0 } else { 5.0 })?; // the target drifts
    /// }
    /// learner.solve(1e-6)?;
    /// assert!((learner.predict(&[1.0])? - 5.0).abs() < 0.05);
    /// assert!((learner.effective_rows() - 10.0).abs() < 0.01); // 1/(1 - 0.9), of 200
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn forget(&mut self, lambda: T) -> Result<(), Error> {
        self.check_learning()?;
        let mut ridge = self.regression()?;
        ridge.forget(lambda)?;
        self.status.tally = ridge.tally();
        Ok(())
    }

    /// Return the γ that maximises the likelihood of the learned targets, to pass to [`solve`](Self::solve):
    /// [`RidgeRegression::choose_gamma`]. It is at least 2⁻²⁰, 9.5·10⁻⁷, of the mean `k(z, z)` of the
    /// landmarks, which is 1 for a Gaussian kernel. So it is accepted also where the rows learned have left
    /// all landmarks: predictions of such rows are the target's mean. The weights and the phase do not
    /// change, and there are no variances before the next solution. With a Gaussian kernel at most 11 times
    /// the cost of [`solve`](Self::solve).
    ///
    /// # Errors
    /// [`Error::Phase`], and those of [`RidgeRegression::choose_gamma`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Random, Standard, kernel::Gaussian};
    /// use rand_core::Rng;
    ///
    /// let (mut learner, mut random) = (Learner::<8, 1>::new(), Random::seeded(7));
    /// let standard = Standard { means: [0.5], scales: [2.0], target_mean: 0.0, target_scale: 1.0 };
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// let table: [[f32; 1]; 64] = core::array::from_fn(|at| [at as f32 / 64.0]);
    /// learner.select(&table, &mut random)?;
    /// for row in table.iter().cycle().take(500) {
    ///     let noise = random.next_u32() as f32 / 4294967296.0 - 0.5; // of deviation 0.29
    ///     learner.learn(row, (6.0 * row[0]).sin() + noise)?;
    /// }
    /// let gamma = learner.choose_gamma()?;
    /// learner.solve(gamma)?;
    /// let deviation = learner.assess(&[0.4])?.variance.map_or(0.0, f32::sqrt);
    /// assert!((0.25..0.35).contains(&deviation));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn choose_gamma(&mut self) -> Result<T, Error> {
        self.check_learning()?;
        let kernel = self.kernel.as_ref().known()?;
        let sum = self.rows().iter().fold(T::ZERO, |sum, row| sum + kernel.diagonal(row));
        let diagonal = sum / T::from_count(self.status.count);
        let mut ridge = self.regression()?;
        let gamma = ridge.choose_gamma_of(diagonal);
        self.status.tally = ridge.tally();
        gamma
    }

    /// Compute the weights from the rows learned, with the regularisation γ = `gamma`, multiplied by the
    /// [effective number of rows](Self::effective_rows). Continue in [`Phase::Predicting`]. Return the root
    /// mean squared error over those rows, in the target's units. `c³/2` multiply-adds, in `f32` `c³` after
    /// 2¹⁵ rows. Rows learned afterwards count from the next solution on. In `f32` weights and error are
    /// those of `f64` up to rounding, however many rows were learned ([`learn`](Self::learn)).
    ///
    /// [`choose_gamma`](Self::choose_gamma) chooses γ. The variances of [`assess`](Self::assess) are
    /// calibrated at that γ: far below it they are too large, even where predictions are as accurate.
    ///
    /// # Errors
    /// [`Error::Phase`], and those of [`RidgeRegression::solve`]: the weights are as before.
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Phase, Random, Standard, kernel::Gaussian};
    ///
    /// let standard = Standard { means: [0.0], scales: [1.0], target_mean: 10.0, target_scale: 2.0 };
    /// let mut learner = Learner::<2, 1>::new();
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// learner.select(&[[-1.0], [1.0]], &mut Random::seeded(7))?;
    /// for (x, y) in [(-1.0, 8.0), (1.0, 12.0)] {
    ///     learner.learn(&[x], y)?;
    /// }
    /// let error = learner.solve(1e-6)?; // root mean square, in the target's units
    /// assert!(error < 1e-3 && learner.phase() == Phase::Predicting);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn solve(&mut self, gamma: T) -> Result<T, Error> {
        self.check_learning()?;
        let Status { count, tally, target_scale, .. } = self.status;
        let mut ridge = RidgeRegression::resume(count, self.ridge.lend(self.memory.lend_upper()), tally)?;
        // Until the weights are those of the solution, its triangle is not that of the weights.
        self.status.tally.counts.penalty = T::ZERO;
        let solved = ridge.solve(gamma).map(|solution| solution.squared_error);
        let (tally, claim) = (ridge.tally(), ridge.solved());
        if solved.is_err() {
            self.status.tally = tally;
        }
        let squared_error = solved?;
        let ground = Points::trusted(self.rows.as_flattened(), D, C, self.kernel.as_ref().known()?);
        let Memory { factor, landmarks } = self.memory.lend();
        let landmarks = Landmarks::assemble(&ground, Cholesky::assemble(factor, count)?, landmarks);
        let phi = self.phi.get_mut(..count).known()?;
        let weights = FeatureWeights::new(self.ridge.solution.get_mut(..count).known()?);
        Nystrom::new(&landmarks).kernel_weights(weights, phi)?;
        self.status.tally = tally;
        self.status.claim = claim.unwrap_or(Status::IDLE.claim);
        for (&place, &weight) in landmarks.members().iter().zip(phi.iter()) {
            *self.weights.get_mut(place).known()? = *self.prior.get(place).known()? + weight;
        }
        // What another γ claims was not compared with any error.
        let other = T::from_count(8);
        if !(gamma < other * self.status.gamma && self.status.gamma < other * gamma) {
            self.status.spread = T::ONE;
        }
        (self.status.phase, self.status.gamma) = (Phase::Predicting, gamma);
        Ok((squared_error / tally.effective_rows()).sqrt() * target_scale)
    }

    /// Return the prediction for a raw row, in the target's units: [`Model::predict`]. A [constant
    /// feature](Self#constant-features) is ignored: [`assess`](Self::assess) says whether it has another
    /// value.
    ///
    /// # Errors
    /// [`Error::Phase`], and [`Error::NotFinite`] or [`Error::TooLarge`] (of row 0) with the feature.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Learner, Model, Parts, Scaling, kernel::Gaussian};
    ///
    /// let parts = Parts {
    ///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[0.0], weights: &[1.5],
    ///     target_mean: 5.0, target_scale: 2.0,
    /// };
    /// let mut learner = Learner::<1, 1>::new();
    /// learner.start_from(&Model::new(Gaussian::new(1.0)?, parts)?)?;
    /// assert_eq!(learner.predict(&[20.0])?, 8.0); // 5 + 2 · 1.5 at the landmark
    /// assert_eq!(learner.predict(&[90.0])?, 5.0); // the target's mean, far from it
    /// assert_eq!(learner.predict(&[f32::NAN]), Err(Error::NotFinite { row: 0, column: 0 }));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn predict(&self, row: &[T; D]) -> Result<T, Error> {
        self.model()?.predict(row, &mut [T::ZERO; D])
    }

    /// Return what was learned as a model.
    ///
    /// # Errors
    /// [`Error::Phase`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Random, Standard, kernel::Gaussian};
    ///
    /// let standard = Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
    /// let mut learner = Learner::<2, 1>::new();
    /// learner.start_scaled(Gaussian::new(1.0)?, &standard)?;
    /// learner.select(&[[-1.0], [1.0]], &mut Random::seeded(7))?;
    /// assert!(learner.model().is_err()); // nothing was solved
    /// learner.learn(&[1.0], 3.0)?;
    /// learner.solve(1e-3)?;
    /// let model = learner.model()?;
    /// assert_eq!(model.weights().len(), 2);
    /// assert_eq!(model.predict(&[0.5], &mut [0.0])?, learner.predict(&[0.5])?);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn model(&self) -> Result<Model<'_, T, &K>, Error> {
        self.check(Phase::Predicting)?;
        let parts = Parts {
            means: &self.means,
            scaling: Scaling::PerFeature(&self.scales),
            landmarks: self.rows().as_flattened(),
            weights: prefix(&self.weights, self.status.count),
            target_mean: self.status.target_mean,
            target_scale: self.status.target_scale,
        };
        Model::new(self.kernel.as_ref().known()?, parts)
    }
}

fn copy<T: Copy>(slots: &mut [T], values: &[T]) {
    slots.iter_mut().zip(values).for_each(|(slot, &value)| *slot = value);
}

/// The raw rows of a table that was checked, as standardised rows.
struct Table<'t, T, K, const D: usize> {
    rows: &'t [[T; D]],
    means: &'t [T; D],
    scales: &'t [T; D],
    kernel: &'t K,
}

impl<T: Scalar, K, const D: usize> Table<'_, T, K, D> {
    fn row(&self, i: usize) -> [T; D] {
        let mut row = [T::ZERO; D];
        let raw = self.rows.get(i);
        let found = raw.is_some_and(|raw| standardise(raw, self.means, self.scales, &mut row).is_none());
        debug_assert!(found, "a row of the table, all of whose numbers are finite");
        if !found {
            row.fill(T::NAN);
        }
        row
    }
}

impl<T: Scalar, K: Kernel<T>, const D: usize> GroundSet<T> for Table<'_, T, K, D> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn entry(&self, i: usize, j: usize) -> T {
        self.kernel.value(&self.row(i), &self.row(j))
    }

    fn diagonal(&self, i: usize) -> T {
        self.kernel.diagonal(&self.row(i))
    }

    fn column(&self, i: usize, members: &[usize], out: &mut [T]) {
        let row = self.row(i);
        for (out, &member) in out.iter_mut().zip(members) {
            *out = self.kernel.value(&self.row(member), &row);
        }
    }
}
