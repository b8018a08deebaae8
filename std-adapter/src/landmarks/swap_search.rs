//! Swap search: exchanges of landmarks that reduce the trace error.
//!
//! A sweep draws m candidates, half of them uniformly and half in proportion to their residuals, and takes
//! them in random order, in blocks. For each candidate of a block it computes the change of the trace error
//! by an exchange with each landmark, estimated by an importance-weighted sum over the m candidates and the
//! landmarks ([`Subset`]). The best exchange of the block is made as long as one reduces the error. After
//! each sweep the trace error is measured and the best set so far is kept, so the result is never worse than
//! the start.
//!
//! A sweep costs `m²/2` kernel entries, `2m (m + c) c` multiply-adds, some `6m c` for each exchange, and one
//! pass over the rows, `N c²/2`. It stores `m²/2 + m (2c + d)` numbers, and `2N`. With m = N the sums are
//! exact. With more than a million rows (or [`Refinement::rows`]) the error is measured on a sample of that
//! size, drawn once, and candidates are drawn from this sample.
//!
//! The reduction by an added row is that of the adaptive methods (Deshpande, Rademacher, Vempala and Wang
//! 2006). Exchanging until no exchange reduces the error is local search, as in combinatorial column
//! selection (for instance Arai, Maung, Xu and Schweitzer 2016).

use crate::approximation::features::push_independent;
use crate::error::Error;
use crate::observer::{Observer, go_on};
use dpp_nystrom_core::{Error as CoreError, Landmarks, Random, Scalar, start};
use dpp_nystrom_host::heap::{Heap, zeros};
use dpp_nystrom_host::{
    simd::subset::{BLOCK, Subset},
    simd::{InLanes, Lanes},
};
use rand::seq::{SliceRandom, index};
use rand_core::Rng;
use serde::Serialize;
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// The least number of candidates if none is given, and their number for each landmark.
pub(crate) const CANDIDATES: usize = 700;
const FOR_EACH: usize = 3;

/// The default of [`Refinement::rows`].
pub(crate) const WHOLE_ROWS: usize = 1_000_000;

/// The error that exchanges of landmarks reduce.
///
/// ```
/// use dpp_nystrom::{Dataset, Nystroem, landmarks::Objective, selectors::Refined};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let map = Nystroem::params(5).selector(Refined::default()).fit(&Dataset::from_rows(&x, 1)?)?;
/// let outcome = map.selection().refinement.expect("a refinement");
/// assert_eq!(outcome.objective, Objective::Trace);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The trace error `tr(K - K̃)`.
    #[default]
    Trace,
    /// The leave-one-out error of ridge regression on the landmarks. Requires a target.
    Ridge,
}

/// The options of a swap search.
///
/// ```
/// use dpp_nystrom::landmarks::Refinement;
/// use dpp_nystrom::{Dataset, Nystroem, selectors::Refined};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let one_sweep = Refined::default().refinement(Refinement { sweeps: 1, ..Refinement::default() });
/// let map = Nystroem::params(5).selector(one_sweep).fit(&Dataset::from_rows(&x, 1)?)?;
/// assert!(map.selection().refinement.is_some_and(|outcome| outcome.sweeps <= 1));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refinement {
    /// The maximum number of sweeps over the landmarks. Sweeps over all rows stop early once none reduces the
    /// error.
    pub sweeps: u64,
    /// The number m of candidates drawn per sweep. The reduction of an exchange is summed over them.
    /// `None`: 700, or three for each landmark if that is more. With fewer than landmarks, the sums say
    /// little of what a landmark explains, and a sweep may lower no error.
    pub sample: Option<usize>,
    /// Begin no sweep after this time.
    pub budget: Option<Duration>,
    /// The maximum number of rows on which the error is measured. With more rows, a sample is drawn once.
    pub rows: usize,
}

impl Default for Refinement {
    fn default() -> Self {
        Self { sweeps: 3, sample: None, budget: None, rows: WHOLE_ROWS }
    }
}

impl Refinement {
    /// Return the number of candidates per sweep for `c` landmarks.
    pub(crate) fn candidates(&self, c: usize) -> usize {
        self.sample.unwrap_or_else(|| CANDIDATES.max(FOR_EACH.saturating_mul(c)))
    }
}

/// The result of a refinement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refined {
    /// Row numbers in ascending order.
    pub(crate) landmarks: Vec<usize>,
    /// `log det K_CC`.
    pub(crate) log_det: f64,
    pub(crate) outcome: RefinementOutcome,
}

/// Statistics of a refinement.
///
/// ```
/// use dpp_nystrom::landmarks::Refinement;
/// use dpp_nystrom::{Dataset, Nystroem, selectors::{Exchanged, Uniform}};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let exchanged = Exchanged::new(Uniform, Refinement::default());
/// let map = Nystroem::params(5).selector(exchanged).fit(&Dataset::from_rows(&x, 1)?)?;
/// let outcome = map.selection().refinement.expect("a refinement");
/// assert!(outcome.after <= outcome.before && outcome.measured == 100);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefinementOutcome {
    /// The error that was reduced.
    pub objective: Objective,
    /// The number of sweeps.
    pub sweeps: u64,
    /// The number of exchanges, including those of sweeps that were discarded.
    pub exchanges: u64,
    /// The number of rows on which the error was measured: all, or those of a sample.
    pub measured: usize,
    /// The error on these rows before refinement. For [`Objective::Trace`], `Σ (k_jj - k̃_jj)`; for
    /// [`Objective::Ridge`], the mean squared leave-one-out error in squared standard deviations of the
    /// target.
    pub before: f64,
    /// The error after refinement.
    pub after: f64,
}

/// Refine landmarks. A landmark that depends on those before it is replaced by the row with the largest
/// residual.
///
/// # Errors
/// `ErrorKind::Landmarks`, `ErrorKind::Memory`, `ErrorKind::Cancelled`.
pub(crate) fn refine(
    ground: &impl InLanes<f64>,
    landmarks: &[usize],
    refinement: Refinement,
    random: &mut Random,
    observer: &dyn Observer,
) -> Result<Refined, Error> {
    let begin = Instant::now();
    let (n, c) = (ground.len(), landmarks.len());
    let lanes = Lanes::new(c, ground.width())?;
    // At least as many rows as landmarks, since the landmarks can be selected from them alone.
    let most = refinement.rows.max(c);
    let measured: Option<Vec<usize>> = (n > most).then(|| index::sample(random, n, most).into_vec());
    let measured = measured.as_deref();
    let mut memory = Heap::new(c)?;
    let mut residuals = zeros(measured.map_or(n, <[usize]>::len), 0.0)?;
    let mut set = Landmarks::new(ground, memory.lend()).map_err(Error::landmarks)?;
    push_independent(&mut set, landmarks)?;
    lanes.residuals(&set, measured, &mut residuals, &|| observer.is_cancelled())?;
    let before: f64 = residuals.iter().sum();
    complete(&lanes, &mut set, c, measured, &mut residuals, observer)?;
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
    let sample = refinement.candidates(c).min(residuals.len().saturating_sub(c));
    let exact = sample + c >= n;
    // About as many blocks as a sweep has.
    let blocks = sample.div_ceil(BLOCK);
    observer.begin("refinement", refinement.sweeps.saturating_mul(blocks as u64));
    while outcome.sweeps < refinement.sweeps && outcome.after > 0.0 && sample > 0 {
        if refinement.budget.is_some_and(|budget| begin.elapsed() >= budget) {
            break;
        }
        let drawn = draw(&best, measured, &residuals, sample, random);
        let mut subset = Subset::new(&lanes, &set, &drawn.rows, &drawn.weights)?;
        let mut moved = 0;
        for block in 0..subset.blocks() {
            moved += subset.improve(block);
            observer.advance(u64::from(block < blocks));
            go_on(observer)?;
        }
        observer.advance(blocks.saturating_sub(subset.blocks()) as u64);
        outcome.sweeps += 1;
        outcome.exchanges += moved as u64;
        let mut better = false;
        if moved > 0 {
            let candidate: Vec<usize> = subset.landmarks().collect();
            set.truncate(0);
            if start::given(&mut set, &candidate).is_ok() {
                let mut updated = zeros(residuals.len(), 0.0)?;
                lanes.residuals(&set, measured, &mut updated, &|| observer.is_cancelled())?;
                let error = updated.iter().sum();
                better = error < outcome.after;
                if better {
                    (best, residuals, outcome.after, log_det) = (candidate, updated, error, set.log_det());
                }
            }
            if !better {
                set.truncate(0);
                start::given(&mut set, &best).map_err(Error::landmarks)?;
            }
        }
        // The sums are exact, so another sweep would find no exchange either.
        if exact && !better {
            break;
        }
    }
    observer.end();
    best.sort_unstable();
    Ok(Refined { landmarks: best, log_det, outcome })
}

/// Add the row with the largest residual until there are `c` landmarks.
fn complete(
    lanes: &Lanes<f64>,
    set: &mut Landmarks<'_, f64, impl InLanes<f64>>,
    c: usize,
    measured: Option<&[usize]>,
    residuals: &mut [f64],
    observer: &dyn Observer,
) -> Result<(), Error> {
    while set.len() < c {
        let largest = residuals.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1));
        let Some((at, _)) = largest.filter(|(_, residual)| **residual > 0.0) else {
            return Err(Error::landmarks(CoreError::RankDeficient { rank: set.len(), landmarks: c }));
        };
        match set.push(measured.map_or(at, |rows| rows[at])) {
            Ok(()) => lanes.residuals(set, measured, residuals, &|| observer.is_cancelled())?,
            // The residual is a rounding error: do not select the row again.
            Err(CoreError::NotPositive { .. } | CoreError::Duplicate { .. }) => residuals[at] = 0.0,
            Err(reason) => return Err(Error::landmarks(reason)),
        }
    }
    Ok(())
}

/// Rows that are not landmarks, with weights under which sums over them estimate sums over all rows.
#[derive(Debug)]
struct Drawn {
    rows: Vec<usize>,
    weights: Vec<f64>,
}

/// Draw about `sample` rows, half of them uniformly and half in proportion to the residuals, in random order.
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
    // Rows are drawn independently, each with the probability min(1, m (1/2N + r/2Σr)) and weighted by its
    // inverse. Rows with large residuals are always drawn.
    let share = |residual: f64| {
        if sample + landmarks.len() >= n {
            1.0
        } else {
            sample as f64 * (0.5 / n as f64 + 0.5 * residual / total)
        }
    };
    let mut drawn = Vec::new();
    for (at, &residual) in residuals.iter().enumerate() {
        let probability = share(residual);
        if f64::from_draw(random.next_u32()) < probability && taken.binary_search(&row(at)).is_err() {
            drawn.push((row(at), 1.0 / probability.min(1.0)));
        }
    }
    drawn.shuffle(random);
    let (rows, weights) = drawn.into_iter().unzip();
    Drawn { rows, weights }
}
