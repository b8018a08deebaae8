//! The state of a detector as bytes, to keep over a reset: all later results are the same bit for bit.
//!
//! The magic number is `dppndtct`, in the sections of `sections.rs`:
//!
//! | section | content |
//! | --- | --- |
//! | 1 | words: bytes of a number, C, D, phase, landmarks c, rows scaled, N, rows of the candidate's trial |
//! | 2 | medians D, one over the deviations D: numbers |
//! | 3 | landmarks c D: numbers |
//! | 4 | the place of each landmark in the factor's order: c words |
//! | 5 | the factor by rows: c(c + 1)/2 numbers |
//! | 6 | steps, proposed, accepted, openings: 8 bytes each |
//! | 7 | scores taken, alarms, scores since the last, rows offered for exchanges: 8 bytes each |
//! | 8 | the 16 largest scores, the threshold after the last alarm, its step, the credit of alarms: numbers |
//! | 9 | what each landmark explains c, the candidate D and its gain: numbers |
//! | 10 | 16 bytes of the random generator |
//! | 2³¹ | while the scaling is measured: the sample, up to 32 D numbers |
//! | 2³¹ + 1 | before there are landmarks: the kernel of `(1, 0, …)` and `(7/8, 0, …)`, a number |
//!
//! The kernel is not stored, since it is a type of the program. The reader compares the factor with it, or
//! that one value.

use super::threshold::{TAIL, Threshold};
use super::{Detector, SAMPLE, Status};
use crate::chain::Progress;
use crate::cholesky::Cholesky;
use crate::error::{BytesProblem, Error, Known, Phase};
use crate::frame::index;
use crate::ground_set::Points;
use crate::kernel::Kernel;
use crate::landmarks::is_factored;
use crate::learner::{TRIAL_ROWS, has_pivots, is_order, long, of_two_points, phase_of, progress};
use crate::memory::{MOST_ROWS, Memory, prefix};
use crate::nystrom::left;
use crate::scalar::{Scalar, fill, from_bytes, numbers_of};
use crate::sections::{ENTRY, OPTIONAL, Sections, Writer, length};

const MAGIC: &[u8; 8] = b"dppndtct";
const SHAPE: u32 = 1;
const SCALING: u32 = 2;
const ROWS: u32 = 3;
const MEMBERS: u32 = 4;
const FACTOR: u32 = 5;
const PROGRESS: u32 = 6;
const COUNTS: u32 = 7;
const THRESHOLD: u32 = 8;
const USES: u32 = 9;
const GENERATOR: u32 = 10;
const SECTIONS: usize = 10;
const SAMPLED: u32 = OPTIONAL;
const KERNEL: u32 = OPTIONAL + 1;

/// Return the bytes of the mandatory sections.
const fn mandatory_bytes<T>(c: usize, d: usize) -> usize {
    let numbers = 2 * d + c * d + c * (c + 1) / 2 + (TAIL + 3) + (c + d + 1);
    length(SECTIONS, 4 * 8 + 4 * c + 8 * 4 + 8 * 4 + 16 + size_of::<T>() * numbers)
}

/// Return the bytes of the sections that a state without landmarks has too.
const fn early_bytes<T>(sampled: usize, d: usize) -> usize {
    2 * ENTRY + size_of::<T>() * (sampled * d + 1)
}

const fn larger(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

impl<const C: usize, const D: usize, K: Kernel<T>, T: Scalar> Detector<C, D, K, T> {
    /// The most bytes of a state.
    pub const STATE: usize =
        larger(mandatory_bytes::<T>(C, D), mandatory_bytes::<T>(0, D) + early_bytes::<T>(SAMPLE, D));

    /// Write the state, in any phase, to the start of `bytes` and return its length, at most
    /// [`STATE`](Self::STATE). `generator` is 16 bytes that reading returns: the state of the random
    /// generator.
    ///
    /// # Errors
    /// [`Error::Capacity`]; nothing is written then.
    ///
    /// ```
    /// use dpp_nystrom_core::{Detector, Random, kernel::Gaussian};
    ///
    /// let (mut detector, mut random) = (Detector::<4, 1>::new(), Random::seeded(7));
    /// detector.start(Gaussian::new(1.0)?, 1_000)?;
    /// detector.scale(&[20.0], &mut random)?;
    /// let mut bytes = [0; Detector::<4, 1>::STATE];
    /// let length = detector.write_state(random.state(), &mut bytes)?;
    ///
    /// let mut resumed = Detector::<4, 1>::new();
    /// let generator = resumed.read_state(Gaussian::new(1.0)?, &bytes[..length])?;
    /// assert_eq!(Random::resume(generator), random);
    /// assert_eq!(resumed.phase(), detector.phase());
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn write_state(&mut self, generator: [u8; 16], bytes: &mut [u8]) -> Result<usize, Error> {
        let Status { phase, scaled, count, tried, progress, followed, gain, .. } = self.status;
        let Threshold { tail, level, step, credit, every, rows, alarms, since } = self.threshold;
        let Memory { factor, landmarks } = self.memory.lend();
        let factor = Cholesky::assemble(factor, count)?;
        let shape = [size_of::<T>(), C, D, phase as usize, count];
        let sampled = prefix(&self.sample, sample_of(phase, scaled));
        let unselected = phase == Phase::Scaling || (phase == Phase::Selecting && count == 0);
        let kernel = self.kernel.as_ref().filter(|_| unselected).map(of_two_points::<D, K, T>);
        let (early, also) = match kernel {
            Some(_) => (2, early_bytes::<T>(sampled.len(), D)),
            None => (0, 0),
        };
        let length = mandatory_bytes::<T>(count, D) + also;
        let mut writer = Writer::new(bytes, MAGIC, SECTIONS + early, length)?;
        writer.section(SHAPE).words(&shape).word(scaled).word(every).word(tried);
        writer.section(SCALING).numbers(&self.centres).numbers(&self.scales);
        writer.section(ROWS).numbers(prefix(&self.rows, count).as_flattened());
        writer.section(MEMBERS).words(prefix(landmarks, count));
        factor.save(writer.section(FACTOR));
        let Progress { steps, proposed, accepted, openings } = progress;
        writer.section(PROGRESS).longs(&[steps, proposed, accepted, openings]);
        writer.section(COUNTS).longs(&[rows, alarms, since, followed]);
        writer.section(THRESHOLD).numbers(&tail).numbers(&[level, step, credit]);
        writer.section(USES).numbers(prefix(&self.uses, count)).numbers(&self.candidate).numbers(&[gain]);
        writer.section(GENERATOR).bytes(&generator);
        if let Some(value) = kernel {
            writer.section(SAMPLED).numbers(sampled.as_flattened());
            writer.section(KERNEL).numbers(&[value]);
        }
        writer.seal()
    }

    /// Read a state that [`write_state`](Self::write_state) wrote, and continue from it. Return the
    /// generator's bytes. The present state is replaced. All later results are the same bit for bit.
    ///
    /// # Errors
    /// [`Error::SavedBytes`] with the problem, and [`Error::ForeignState`] for a state without landmarks that
    /// was saved under another kernel: the detector is unchanged. [`Error::ForeignState`] for landmarks of
    /// another kernel; the detector is then idle.
    ///
    /// ```
    /// use dpp_nystrom_core::{BytesProblem, Detector, Error, kernel::Gaussian};
    ///
    /// let kernel = Gaussian::new(1.0)?;
    /// let mut bytes = [0; Detector::<4, 1>::STATE];
    /// let length = Detector::<4, 1>::new().write_state([0; 16], &mut bytes)?;
    /// bytes[length / 2] ^= 1;
    /// let refused = Detector::<4, 1>::new().read_state(kernel, &bytes[..length]);
    /// assert_eq!(refused, Err(Error::SavedBytes(BytesProblem::Corrupt)));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn read_state(&mut self, kernel: K, bytes: &[u8]) -> Result<[u8; 16], Error> {
        let state = Saved::<T>::parse::<C, D>(bytes).map_err(Error::SavedBytes)?;
        let Status { count, tried, .. } = state.status;
        if state.kernel.is_some_and(|value| value != of_two_points::<D, K, T>(&kernel)) {
            return Err(Error::ForeignState);
        }
        self.kernel = Some(kernel);
        self.status = Status::IDLE;
        self.threshold = Threshold::new(0);
        fill(&mut self.scales, fill(&mut self.centres, state.scaling));
        fill(self.rows.as_flattened_mut(), state.rows);
        fill(self.sample.as_flattened_mut(), state.sample);
        self.uses.fill(T::ZERO);
        fill(&mut self.candidate, fill(self.uses.get_mut(..count).known()?, state.uses));

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
        if tried > 0 {
            // What it was computed from has not changed since.
            let candidate = self.candidate;
            self.status.count = count;
            let diagonal = self.represent(&candidate, 0).map_err(|_| Error::ForeignState);
            self.status.count = 0;
            let residual = left(diagonal?, self.phi.get(..count).known()?);
            self.of_candidate = self.phi;
            self.status = Status { left: residual, ..state.status };
        } else {
            self.status = state.status;
        }
        self.threshold = state.threshold;
        Ok(state.generator)
    }
}

/// Return the rows of the sample that are in use.
fn sample_of(phase: Phase, scaled: u32) -> usize {
    match (phase, scaled as usize) {
        (Phase::Scaling, scaled) if scaled < SAMPLE => scaled,
        (Phase::Scaling, _) => SAMPLE,
        _ => 0,
    }
}

/// The content of a state that was checked.
struct Saved<'b, T> {
    status: Status<T>,
    threshold: Threshold<T>,
    scaling: &'b [u8],
    rows: &'b [u8],
    members: &'b [u8],
    factor: &'b [u8],
    uses: &'b [u8],
    sample: &'b [u8],
    /// [`of_two_points`].
    kernel: Option<T>,
    generator: [u8; 16],
}

impl<'b, T: Scalar> Saved<'b, T> {
    fn parse<const C: usize, const D: usize>(bytes: &'b [u8]) -> Result<Self, BytesProblem> {
        use BytesProblem::Malformed;
        let sections = Sections::open(bytes, MAGIC, SECTIONS as u32)?;
        let [number, c, d, phase, count, scaled, every, tried] = sections.words::<8>(SHAPE)?;
        if index(number) != size_of::<T>() {
            return Err(BytesProblem::Precision);
        }
        if [index(c), index(d)] != [C, D] {
            return Err(BytesProblem::Size);
        }
        let (phase, count) = (phase_of(phase, index(count), C)?, index(count));
        let section = |tag, count| sections.numbers::<T>(tag, count);
        let scaling = section(SCALING, 2 * D)?;
        let (rows, factor) = (section(ROWS, count * D)?, section(FACTOR, count * (count + 1) / 2)?);
        let uses = section(USES, count + D + 1)?;
        let members = sections.of_length(MEMBERS, 4 * count)?;
        let gain = numbers_of::<T>(uses).last().ok_or(Malformed)?;
        let positive = |number: T| number >= T::ZERO;
        if !is_order(members)
            || !has_pivots::<T>(factor)
            || !numbers_of::<T>(scaling).skip(D).all(positive)
            || !numbers_of::<T>(uses).take(count).all(positive)
            || !positive(gain)
        {
            return Err(Malformed);
        }
        let (threshold, followed) = threshold::<T>(&sections, phase, every)?;
        let trial = tried == 0 || (followed > threshold.memory() && index(tried) <= TRIAL_ROWS * count);
        let kernel = sections.find(KERNEL).map(from_bytes);
        let sampled = sample_of(phase, scaled);
        if !trial {
            return Err(Malformed);
        }
        let sample = if sampled > 0 { section(SAMPLED, sampled * D)? } else { &[] };
        let progress = progress(&sections, PROGRESS)?;
        Ok(Self {
            status: Status { phase, scaled, count, tried, progress, followed, left: T::ZERO, gain },
            threshold,
            scaling,
            rows,
            members,
            factor,
            uses,
            sample,
            kernel,
            generator: *sections.of_length(GENERATOR, 16)?.first_chunk().ok_or(Malformed)?,
        })
    }
}

/// Read the threshold of a detector in this phase, and the rows offered for exchanges.
fn threshold<T: Scalar>(
    sections: &Sections<'_>,
    phase: Phase,
    every: u32,
) -> Result<(Threshold<T>, u64), BytesProblem> {
    use BytesProblem::Malformed;
    let counts = sections.of_length(COUNTS, 32)?;
    let [rows, alarms, since, followed] =
        [long(counts, 0)?, long(counts, 1)?, long(counts, 2)?, long(counts, 3)?];
    let mut numbers = numbers_of::<T>(sections.of_length(THRESHOLD, (TAIL + 3) * size_of::<T>())?);
    let mut next =
        || numbers.next().filter(|&number| number >= T::ZERO && number.is_finite()).ok_or(Malformed);
    let mut tail = [T::ZERO; TAIL];
    for slot in &mut tail {
        *slot = next()?;
    }
    let (level, step, credit) = (next()?, next()?, next()?);
    let threshold = Threshold { tail, level, step, credit, every, rows, alarms, since };
    let descending = tail.iter().zip(tail.iter().skip(1)).all(|(before, after)| before >= after);
    let early = !(phase == Phase::Learning || phase == Phase::Predicting);
    let sound = rows <= MOST_ROWS
        && followed <= MOST_ROWS
        && since <= threshold.judged()
        && alarms <= threshold.judged()
        && credit <= T::from_count(TAIL)
        && descending
        && (phase == Phase::Idle || every >= 2)
        && (!early || rows == 0)
        && threshold.is_learned() == (phase == Phase::Predicting)
        && (phase != Phase::Predicting || step > T::ZERO);
    if sound { Ok((threshold, followed)) } else { Err(Malformed) }
}
