//! Fewer landmarks for the same error: exchanges that lower the trace error itself.
//!
//! A sweep draws m candidates, half of them uniformly and half in proportion to their residuals, and in the
//! same way twice as many rows, and holds the residuals of all pairs of the two. Each landmark
//! in turn leaves, and the candidate comes that takes most of the trace error off, importance-weighted, of the
//! rows drawn; the landmark is one of them. After each sweep the trace error is measured, and the best set seen
//! is kept: the outcome is never worse than the start.
//!
//! A sweep costs `2m²` kernel entries, `2m² c` multiply-adds to begin with and as many exchanges, and one pass over
//! the rows, `N c²/2`; it holds `2m²` numbers in `f32`, `m (c + d)`, and `2N`. With m = N the sums are exact, and a
//! sweep is the greedy exchange over all rows. Over a million rows, or as many as are asked for, the error is measured
//! on so many of them, drawn once, and candidates come from these.
//!
//! The drop that an exchange brings is that of the adaptive methods (Deshpande, Rademacher, Vempala and Wang
//! 2006) with one column held out; exchanging until nothing gains is the local search that combinatorial column
//! selection knows (for instance Arai, Maung, Xu and Schweitzer 2016).

use crate::error::Error;
use crate::heap::{Heap, zeros};
use crate::observer::Observer;
use crate::simd::lanes::{Ground, Lanes};
use crate::simd::subset::Subset;
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Random, Scalar, start};
use rand::seq::index;
use rand_core::Rng;
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// Rows up to which the trace error is measured on all of them, if no other number is asked for.
pub(crate) const WHOLE_ROWS: usize = 1_000_000;

/// Rows over which what an exchange brings is summed, to a candidate.
pub(crate) const WIDER: usize = 2;

/// What exchanges of landmarks lower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The trace error `tr(K - K̃)`.
    #[default]
    Trace,
    /// The leave-one-out error of ridge regression on the landmarks. Needs a target.
    Ridge,
}

/// How long and how widely exchanges are searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refinement {
    /// Sweeps over the landmarks, at most; fewer where sums over all rows find nothing more to outcome.
    pub sweeps: u64,
    /// Candidates m drawn for each; what they bring is summed over twice as many rows.
    pub sample: usize,
    /// No sweep begins after so long.
    pub budget: Option<Duration>,
    /// Rows up to which the error is measured on all of them; of more, so many are drawn, once.
    pub rows: usize,
}

impl Default for Refinement {
    fn default() -> Self {
        Self { sweeps: 3, sample: 400, budget: None, rows: WHOLE_ROWS }
    }
}

/// Refined landmarks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refined {
    /// In ascending order.
    pub(crate) landmarks: Vec<usize>,
    /// `log det K_CC`.
    pub(crate) log_det: f64,
    pub(crate) outcome: RefinementOutcome,
}

/// The outcome of a refinement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefinementOutcome {
    /// The error that was lowered.
    pub objective: Objective,
    /// Sweeps done.
    pub sweeps: u64,
    /// Exchanges made, those of sweeps that were not kept among them.
    pub exchanges: u64,
    /// Rows over which the error was measured: all, or a sample of more.
    pub measured: usize,
    /// The error over these rows before: of the trace, `Σ (k_jj - k̃_jj)`; of the regression, the mean squared
    /// leave-one-out error in squared standard deviations of the target.
    pub before: f64,
    /// And after.
    pub after: f64,
}

/// Refine landmarks. One that depends on those before it is replaced by the row with the largest residual.
///
/// # Errors
/// [`Error::Landmarks`], [`Error::Memory`].
pub(crate) fn refine(
    ground: &Ground<'_, f64>,
    landmarks: &[usize],
    refinement: Refinement,
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<Refined, Error> {
    let refused = |reason| Error::Landmarks { reason };
    let begin = Instant::now();
    let (n, c) = (ground.len(), landmarks.len());
    let lanes = Lanes::new(c, ground.features())?;
    // No fewer than the landmarks: these have to come from them.
    let most = refinement.rows.max(c);
    let measured: Option<Vec<usize>> = (n > most).then(|| index::sample(random, n, most).into_vec());
    let measured = measured.as_deref();
    let mut memory = Heap::new(c)?;
    let mut residuals = zeros(measured.map_or(n, <[usize]>::len), 0.0)?;
    let mut set = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    for &row in landmarks {
        match set.push(row) {
            Ok(()) | Err(CoreError::NotPositive { .. }) => {}
            Err(reason) => return Err(refused(reason)),
        }
    }
    lanes.residuals(&set, measured, &mut residuals)?;
    let before: f64 = residuals.iter().sum();
    complete(&lanes, &mut set, c, measured, &mut residuals)?;
    let mut best = set.members().to_vec();
    let mut log_det = set.log_det();
    let mut outcome = RefinementOutcome {
        objective: Objective::Trace,
        sweeps: 0,
        exchanges: 0,
        measured: residuals.len(),
        before,
        after: residuals.iter().sum(),
    };
    let sample = refinement.sample.min(residuals.len().saturating_sub(c));
    let exact = sample + c >= n;
    observer.begin("refinement", refinement.sweeps.saturating_mul(c as u64));
    while outcome.sweeps < refinement.sweeps && outcome.after > 0.0 && sample > 0 {
        if refinement.budget.is_some_and(|budget| begin.elapsed() >= budget) {
            break;
        }
        let drawn = draw(&best, measured, &residuals, sample, random);
        let mut subset = Subset::new(&lanes, &set, &drawn.rows, &drawn.weights, &drawn.candidates)?;
        let mut moved = 0;
        for _ in 0..c {
            moved += u64::from(subset.improve());
            observer.advance(1);
        }
        outcome.sweeps += 1;
        outcome.exchanges += moved;
        let mut better = false;
        if moved > 0 {
            let candidate: Vec<usize> = subset.landmarks().collect();
            set.truncate(0);
            if start::given(&mut set, &candidate).is_ok() {
                let mut missed = zeros(residuals.len(), 0.0)?;
                lanes.residuals(&set, measured, &mut missed)?;
                let error = missed.iter().sum();
                better = error < outcome.after;
                if better {
                    (best, residuals, outcome.after, log_det) = (candidate, missed, error, set.log_det());
                }
            }
            if !better {
                set.truncate(0);
                start::given(&mut set, &best).map_err(refused)?;
            }
        }
        // The same sums once more would find the same.
        if exact && !better {
            break;
        }
    }
    observer.end();
    best.sort_unstable();
    Ok(Refined { landmarks: best, log_det, outcome })
}

/// Fill the landmarks up, each time with the row with the largest residual.
fn complete(
    lanes: &Lanes<f64>,
    set: &mut Landmarks<'_, f64, Ground<'_, f64>>,
    c: usize,
    measured: Option<&[usize]>,
    residuals: &mut [f64],
) -> Result<(), Error> {
    while set.len() < c {
        let largest = residuals.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1));
        let Some((at, _)) = largest.filter(|(_, residual)| **residual > 0.0) else {
            let reason = CoreError::RankDeficient { rank: set.len(), landmarks: c };
            return Err(Error::Landmarks { reason });
        };
        match set.push(measured.map_or(at, |rows| rows[at])) {
            Ok(()) => lanes.residuals(set, measured, residuals)?,
            // Rounding; not to be taken aoutcome.
            Err(CoreError::NotPositive { .. } | CoreError::Duplicate { .. }) => residuals[at] = 0.0,
            Err(reason) => return Err(Error::Landmarks { reason }),
        }
    }
    Ok(())
}

/// Rows that are no landmarks, with the weights that make sums over them those over all rows.
#[derive(Debug)]
struct Drawn {
    rows: Vec<usize>,
    weights: Vec<f64>,
    /// LandmarkSet of `rows`.
    candidates: Vec<usize>,
}

/// Draws about so many candidates, half of them uniformly and half in proportion to the residuals, and in the
/// same way [`WIDER`] times as many rows, the candidates among them.
fn draw(
    landmarks: &[usize],
    measured: Option<&[usize]>,
    residuals: &[f64],
    sample: usize,
    random: &mut Random,
) -> Drawn {
    let n = residuals.len();
    let total: f64 = residuals.iter().sum();
    let row = |at: usize| measured.map_or(at, |rows| rows[at]);
    let mut taken = landmarks.to_vec();
    taken.sort_unstable();
    let is_free = |at: usize| taken.binary_search(&row(at)).is_err();
    // Each row is taken with the probability min(1, m (1/2N + r/2Σr)) on its own: weights are its inverse, and
    // rows that carry much are in for certain.
    let share = |m: usize, residual: f64| {
        if m + landmarks.len() >= n { 1.0 } else { m as f64 * (0.5 / n as f64 + 0.5 * residual / total) }
    };
    let wide = sample.saturating_mul(WIDER);
    let mut drawn = Drawn { rows: Vec::new(), weights: Vec::new(), candidates: Vec::new() };
    for (at, &residual) in residuals.iter().enumerate() {
        let uniform = f64::from_draw(random.next_u32());
        let probability = share(wide, residual);
        if uniform < probability && is_free(at) {
            if uniform < share(sample, residual) {
                drawn.candidates.push(drawn.rows.len());
            }
            drawn.rows.push(row(at));
            drawn.weights.push(1.0 / probability.min(1.0));
        }
    }
    drawn
}
