//! The state of a learner as bytes, to keep over a reset: all later results are the same bit for bit.
//!
//! The magic number is `dppnlern`, in the sections of `sections.rs`:
//!
//! | section | content |
//! | --- | --- |
//! | 1 | words: bytes of a number, C, D, phase, landmarks c, prior (0 or 1), rows scaled |
//! | 2 | means D, scales D, the target's mean and scale, γ of the last solution: numbers |
//! | 3 | landmarks c D: numbers |
//! | 4 | the place of each landmark in the factor's order: c words |
//! | 5 | the factor by rows: c(c + 1)/2 numbers |
//! | 6 | steps, proposed, accepted, openings: 8 bytes each |
//! | 7 | rows learned, how many of the first are discounted: 8 bytes each; then the effective number of those: a number |
//! | 8 | `R` by rows, `Qᵀy`, residual sum of squares: c(c + 1)/2 + c + 2 numbers |
//! | 9 | weights c, prior c: numbers |
//! | 10 | 16 bytes of the random generator |
//! | 2³¹ | while a candidate for an exchange is on trial: its row D and its gain, numbers; the rows it was tried on, a word |
//! | 2³¹ + 2 | where rows were learned: their mean residual, the factor of the deviations, λ and the noise of the last solution: numbers |
//! | 2³¹ + 1 | before there are landmarks: the kernel of `(1, 0, …)` and `(7/8, 0, …)`, a number |
//!
//! The kernel is not stored, since it is a type of the program. The reader compares the factor with it, or
//! that one value.

use super::{Learner, Status, exchange::TRIAL_ROWS};
use crate::chain::Progress;
use crate::cholesky::Cholesky;
use crate::error::{BytesProblem, Error, Known, Phase};
use crate::frame::index;
use crate::ground_set::Points;
use crate::kernel::Kernel;
use crate::krr::{Counts, RidgeRegression, Solved, Tally};
use crate::landmarks::is_factored;
use crate::memory::{Memory, prefix};
use crate::scalar::{Scalar, Sum, fill, from_bytes, last_numbers, numbers_of};
use crate::sections::{ENTRY, OPTIONAL, Sections, Writer, length};

const MAGIC: &[u8; 8] = b"dppnlern";
const SHAPE: u32 = 1;
const SCALING: u32 = 2;
const ROWS: u32 = 3;
const MEMBERS: u32 = 4;
const FACTOR: u32 = 5;
const PROGRESS: u32 = 6;
const COUNTS: u32 = 7;
const REGRESSION: u32 = 8;
const WEIGHTS: u32 = 9;
const GENERATOR: u32 = 10;
const SECTIONS: usize = 10;
const TRIAL: u32 = OPTIONAL;
const KERNEL: u32 = OPTIONAL + 1;
const CONFIDENCE: u32 = OPTIONAL + 2;

/// Return the most bytes of a learner's state with `c` landmarks of `d` features: while a candidate is on
/// trial.
pub(crate) const fn state_bytes<T>(c: usize, d: usize) -> usize {
    mandatory_bytes::<T>(c, d) + trial_bytes::<T>(d) + confidence_bytes::<T>()
}

const fn trial_bytes<T>(d: usize) -> usize {
    ENTRY + 4 + size_of::<T>() * (d + 1)
}

const fn confidence_bytes<T>() -> usize {
    ENTRY + 4 * size_of::<T>()
}

/// Return the bytes of the mandatory sections.
const fn mandatory_bytes<T>(c: usize, d: usize) -> usize {
    let number = size_of::<T>();
    let triangle = c * (c + 1) / 2;
    let numbers = (2 * d + 3) + c * d + triangle + 1 + (triangle + c + 2) + 2 * c;
    length(SECTIONS, 4 * 7 + 4 * c + 8 * 4 + 8 * 2 + 16 + number * numbers)
}

impl<const C: usize, const D: usize, K: Kernel<T>, T: Scalar> Learner<C, D, K, T> {
    /// The most bytes of a state: [`crate::Bytes::state`].
    pub const STATE: usize = state_bytes::<T>(C, D);

    /// Write the state, in any phase, to the start of `bytes` and return its length, at most
    /// [`STATE`](Self::STATE). The regression is [settled](RidgeRegression::settle), so that this learner and
    /// one that reads the state continue identically, bit for bit. After 2¹⁵ rows in `f32`, and after
    /// [`forget`](Self::forget), settling rounds: both then differ by rounding from a learner that was never
    /// saved. `generator` is 16 bytes that reading returns: the state of the random generator.
    ///
    /// # Errors
    /// [`Error::Capacity`]; nothing is written then.
    ///
    /// ```
    /// use dpp_nystrom_core::{Learner, Random, kernel::Gaussian};
    ///
    /// let (mut learner, random) = (Learner::<4, 1>::new(), Random::seeded(7));
    /// learner.start(Gaussian::new(1.0)?);
    /// learner.scale(&[20.0], 1.0)?;
    /// let mut bytes = [0; Learner::<4, 1>::STATE];
    /// let length = learner.write_state(random.state(), &mut bytes)?;
    ///
    /// let mut resumed = Learner::<4, 1>::new();
    /// let generator = resumed.read_state(Gaussian::new(1.0)?, &bytes[..length])?;
    /// assert_eq!(Random::resume(generator), random);
    /// assert_eq!(resumed.phase(), learner.phase());
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn write_state(&mut self, generator: [u8; 16], bytes: &mut [u8]) -> Result<usize, Error> {
        self.settle()?;
        let Status { phase, has_prior, scaled, count, progress, tally, .. } = self.status;
        let Status { target_mean, target_scale, gamma, gain, tried, residual, spread, claim, .. } =
            self.status;
        let Memory { factor, landmarks } = self.memory.lend();
        let factor = Cholesky::assemble(factor, count)?;
        // There is none before the landmarks are frozen.
        let learning = phase == Phase::Learning || phase == Phase::Predicting;
        let shape = [size_of::<T>(), C, D, phase as usize, count, usize::from(has_prior)];
        let Progress { steps, proposed, accepted, openings } = progress;
        let Counts { rows, before, discounted, .. } = tally.counts;
        let kernel = self.kernel.as_ref().filter(|_| count == 0).map(of_two_points::<D, K, T>);
        let optional = [
            (kernel.is_some(), ENTRY + size_of::<T>()),
            (tried > 0, trial_bytes::<T>(D)),
            (rows > 0, confidence_bytes::<T>()),
        ];
        let (mut sections, mut length) = (SECTIONS, mandatory_bytes::<T>(count, D));
        for (_, bytes) in optional.into_iter().filter(|&(is_there, _)| is_there) {
            (sections, length) = (sections + 1, length + bytes);
        }
        let mut writer = Writer::new(bytes, MAGIC, sections, length)?;
        writer.section(SHAPE).words(&shape).word(scaled);
        let constants = [target_mean, target_scale, gamma];
        writer.section(SCALING).numbers(&self.means).numbers(&self.scales).numbers(&constants);
        writer.section(ROWS).numbers(prefix(&self.rows, count).as_flattened());
        writer.section(MEMBERS).words(prefix(landmarks, count));
        factor.save(writer.section(FACTOR));
        writer.section(PROGRESS).longs(&[steps, proposed, accepted, openings]);
        writer.section(COUNTS).longs(&[rows, before]).numbers(&[discounted.sum]);
        writer.section(REGRESSION);
        if learning {
            RidgeRegression::resume(count, self.ridge.lend(&mut []), tally)?.save(&mut writer);
        } else {
            for _ in 0..RidgeRegression::<T>::numbers_kept(count) {
                writer.numbers(&[T::ZERO]);
            }
        }
        writer.section(WEIGHTS).numbers(prefix(&self.weights, count)).numbers(prefix(&self.prior, count));
        writer.section(GENERATOR).bytes(&generator);
        if let Some(value) = kernel {
            writer.section(KERNEL).numbers(&[value]);
        }
        if tried > 0 {
            writer.section(TRIAL).numbers(&self.candidate).numbers(&[gain]).word(tried);
        }
        if rows > 0 {
            writer.section(CONFIDENCE).numbers(&[residual, spread, claim.penalty, claim.noise]);
        }
        writer.seal()
    }

    /// Read a state that [`write_state`](Self::write_state) wrote, and continue from it. Return the
    /// generator's bytes. The present state is replaced. All later results are the same bit for bit, except
    /// that there are no variances until [`solve`](Self::solve).
    ///
    /// # Errors
    /// [`Error::SavedBytes`] with the problem, and [`Error::ForeignState`] for a state without landmarks that
    /// was saved under another kernel: the learner is unchanged. [`Error::ForeignState`] for landmarks of
    /// another kernel; the learner is then idle.
    ///
    /// ```
    /// use dpp_nystrom_core::{BytesProblem, Error, Learner, kernel::Gaussian};
    ///
    /// let kernel = Gaussian::new(1.0)?;
    /// let mut bytes = [0; Learner::<4, 1>::STATE];
    /// let length = Learner::<4, 1>::new().write_state([0; 16], &mut bytes)?;
    ///
    /// let mut larger = Learner::<8, 1>::new();
    /// let refused = larger.read_state(kernel, &bytes[..length]);
    /// assert_eq!(refused, Err(Error::SavedBytes(BytesProblem::Size)));
    /// assert_eq!(Learner::<4, 1>::new().read_state(kernel, &bytes[..length])?, [0; 16]);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn read_state(&mut self, kernel: K, bytes: &[u8]) -> Result<[u8; 16], Error> {
        let state = Saved::<T>::parse::<C, D>(bytes).map_err(Error::SavedBytes)?;
        let count = state.status.count;
        if state.kernel.is_some_and(|value| value != of_two_points::<D, K, T>(&kernel)) {
            return Err(Error::ForeignState);
        }
        self.kernel = Some(kernel);
        self.status = Status::IDLE;
        fill(&mut self.scales, fill(&mut self.means, state.scaling));
        fill(self.rows.as_flattened_mut(), state.rows);
        fill(&mut self.candidate, state.trial);
        self.weights.fill(T::ZERO);
        self.prior.fill(T::ZERO);
        let weights = fill(self.weights.get_mut(..count).known()?, state.weights);
        fill(self.prior.get_mut(..count).known()?, weights);

        let Memory { factor, landmarks } = self.memory.lend();
        for (member, word) in landmarks.iter_mut().zip(state.members.as_chunks().0) {
            *member = index(u32::from_le_bytes(*word));
        }
        let mut factor = Cholesky::assemble(factor, count)?;
        factor.take_back(state.factor);
        let ground = Points::trusted(self.rows.as_flattened(), D, C, self.kernel.as_ref().known()?);
        let members = prefix(landmarks, count);
        if !(0..count).all(|at| matches!(is_factored(&ground, members, &factor, at), Ok(true))) {
            return Err(Error::ForeignState);
        }
        if count > 0 {
            let mut ridge = RidgeRegression::new(count, self.ridge.lend(self.memory.lend_upper()))?;
            ridge.load(state.status.tally.counts, state.regression);
        }
        self.status = state.status;
        Ok(state.generator)
    }
}

/// Return a value of the kernel that tells bandwidths, degrees and offsets apart.
pub(crate) fn of_two_points<const D: usize, K: Kernel<T>, T: Scalar>(kernel: &K) -> T {
    let point = |first: T| core::array::from_fn::<T, D, _>(|i| if i == 0 { first } else { T::ZERO });
    // By reference, the function that selection and regression call too.
    <&K as Kernel<T>>::value(&kernel, &point(T::ONE), &point(T::from_f64(0.875)))
}

/// The content of a state that was checked.
struct Saved<'b, T> {
    status: Status<T>,
    scaling: &'b [u8],
    rows: &'b [u8],
    members: &'b [u8],
    factor: &'b [u8],
    regression: &'b [u8],
    weights: &'b [u8],
    /// Empty without a candidate.
    trial: &'b [u8],
    /// [`of_two_points`].
    kernel: Option<T>,
    generator: [u8; 16],
}

impl<'b, T: Scalar> Saved<'b, T> {
    fn parse<const C: usize, const D: usize>(bytes: &'b [u8]) -> Result<Self, BytesProblem> {
        use BytesProblem::Malformed;
        let sections = Sections::open(bytes, MAGIC, SECTIONS as u32)?;
        let Shape { phase, count, has_prior, scaled } = Shape::read::<T>(&sections, [C, D])?;
        let triangle = count * (count + 1) / 2;
        let section = |tag, count| sections.numbers::<T>(tag, count);
        let scaling = section(SCALING, 2 * D + 3)?;
        let (rows, factor) = (section(ROWS, count * D)?, section(FACTOR, triangle)?);
        let (regression, weights) =
            (section(REGRESSION, triangle + count + 2)?, section(WEIGHTS, 2 * count)?);
        let members = sections.of_length(MEMBERS, 4 * count)?;
        if !is_order(members) || !has_pivots::<T>(factor) {
            return Err(Malformed);
        }
        let progress = progress(&sections, PROGRESS)?;
        let counts = counts::<T>(&sections)?;
        let late = phase == Phase::Learning || phase == Phase::Predicting;
        let (trial, gain, tried) = trial::<T>(&sections, D, if late { TRIAL_ROWS * count } else { 0 })?;
        let (residual, spread, claim) = confidence::<T>(&sections)?;
        let [target_mean, target_scale, gamma] = last_numbers(scaling);
        let [sum, lost] = last_numbers(regression);
        let tally = Tally { counts, rss: Sum { sum, lost }, noise: T::ZERO };
        Ok(Self {
            status: Status {
                phase,
                has_prior,
                scaled,
                count,
                progress,
                tally,
                target_mean,
                target_scale,
                gamma,
                gain,
                tried,
                residual,
                spread,
                claim,
            },
            scaling,
            rows,
            members,
            factor,
            regression,
            weights,
            trial,
            kernel: sections.find(KERNEL).map(from_bytes),
            generator: *sections.of_length(GENERATOR, 16)?.first_chunk().ok_or(Malformed)?,
        })
    }
}

/// What a learner had reached.
struct Shape {
    phase: Phase,
    count: usize,
    has_prior: bool,
    scaled: u32,
}

impl Shape {
    /// Read the section, of a learner in `T` of these landmarks and features.
    fn read<T>(sections: &Sections<'_>, capacity: [usize; 2]) -> Result<Self, BytesProblem> {
        use BytesProblem::Malformed;
        let [number, c, d, phase, count, prior, scaled] = sections.words::<7>(SHAPE)?;
        if index(number) != size_of::<T>() {
            return Err(BytesProblem::Precision);
        }
        if [index(c), index(d)] != capacity {
            return Err(BytesProblem::Size);
        }
        let (phase, count) = (phase_of(phase, index(count), capacity[0])?, index(count));
        if prior > 1 {
            return Err(Malformed);
        }
        Ok(Self { phase, count, has_prior: prior == 1, scaled })
    }
}

/// Whether the words of this section are a permutation of the landmarks' places.
#[inline(never)]
pub(crate) fn is_order(members: &[u8]) -> bool {
    let words = members.as_chunks::<4>().0;
    let place = |word: &[u8; 4]| index(u32::from_le_bytes(*word));
    words
        .iter()
        .enumerate()
        .all(|(at, word)| place(word) < words.len() && !words.iter().take(at).any(|other| other == word))
}

/// Whether the diagonal of the factor in this section is positive.
#[inline(never)]
pub(crate) fn has_pivots<T: Scalar>(factor: &[u8]) -> bool {
    // The place of the next pivot, and how far it is from the one before.
    let (mut next, mut step, mut positive) = (0, 1, true);
    for (at, number) in numbers_of::<T>(factor).enumerate() {
        if at == next {
            step += 1;
            next += step;
            positive &= number > T::ZERO;
        }
    }
    positive
}

/// Return the phase of this number, if it can have so many landmarks.
pub(crate) fn phase_of(number: u32, count: usize, capacity: usize) -> Result<Phase, BytesProblem> {
    let phases = [Phase::Idle, Phase::Scaling, Phase::Selecting, Phase::Learning, Phase::Predicting];
    let phase = *phases.get(index(number)).ok_or(BytesProblem::Malformed)?;
    let early = phase == Phase::Idle || phase == Phase::Scaling;
    let late = phase == Phase::Learning || phase == Phase::Predicting;
    if count > capacity || (early && count > 0) || (late && count == 0) {
        return Err(BytesProblem::Malformed);
    }
    Ok(phase)
}

/// Return the number at a place of a section of integers.
pub(crate) fn long(bytes: &[u8], at: usize) -> Result<u64, BytesProblem> {
    bytes.as_chunks().0.get(at).map(|long| u64::from_le_bytes(*long)).ok_or(BytesProblem::Malformed)
}

/// Read the progress of a chain, from the section of this tag.
pub(crate) fn progress(sections: &Sections<'_>, tag: u32) -> Result<Progress, BytesProblem> {
    let section = sections.of_length(tag, 32)?;
    let progress = Progress {
        steps: long(section, 0)?,
        proposed: long(section, 1)?,
        accepted: long(section, 2)?,
        openings: long(section, 3)?,
    };
    if progress.is_possible() { Ok(progress) } else { Err(BytesProblem::Malformed) }
}

/// Read how many rows were learned.
fn counts<T: Scalar>(sections: &Sections<'_>) -> Result<Counts<T>, BytesProblem> {
    let section = sections.of_length(COUNTS, 16 + size_of::<T>())?;
    let (rows, before) = (long(section, 0)?, long(section, 1)?);
    let discounted: T = section.get(16..).map(from_bytes).ok_or(BytesProblem::Malformed)?;
    if before > rows || !(discounted >= T::ZERO && discounted.is_finite()) {
        return Err(BytesProblem::Malformed);
    }
    Ok(Counts::forgotten(rows, before, discounted))
}

/// Read the candidate's section: its numbers, its gain, and the rows that it was tried on, at most `most`.
/// None of all without it.
fn trial<'b, T: Scalar>(
    sections: &Sections<'b>,
    d: usize,
    most: usize,
) -> Result<(&'b [u8], T, u32), BytesProblem> {
    if sections.find(TRIAL).is_none() {
        return Ok((&[], T::ZERO, 0));
    }
    let numbers = size_of::<T>() * (d + 1);
    let section = sections.of_length(TRIAL, numbers + 4)?;
    let (numbers, tried) = section.split_at_checked(numbers).ok_or(BytesProblem::Malformed)?;
    let tried = tried.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let gain = numbers_of::<T>(numbers).last().unwrap_or(T::NAN);
    let sound = numbers_of::<T>(numbers).all(T::is_finite) && gain >= T::ZERO;
    if sound && (1..=most).contains(&index(tried)) {
        Ok((numbers, gain, tried))
    } else {
        Err(BytesProblem::Malformed)
    }
}

/// Read the mean residual, the factor of the deviations, and what the last solution says of its errors.
/// States of before have none: 0, 1 and zeros.
fn confidence<T: Scalar>(sections: &Sections<'_>) -> Result<(T, T, Solved<T>), BytesProblem> {
    if sections.find(CONFIDENCE).is_none() {
        return Ok((T::ZERO, T::ONE, Status::IDLE.claim));
    }
    let mut numbers = [T::ZERO; 4];
    fill(&mut numbers, sections.numbers::<T>(CONFIDENCE, 4)?);
    let [residual, spread, penalty, noise] = numbers;
    if numbers.iter().all(|&number| number >= T::ZERO) {
        Ok((residual, spread, Solved { penalty, noise }))
    } else {
        Err(BytesProblem::Malformed)
    }
}
