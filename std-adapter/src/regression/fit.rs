//! Ridge regression on landmarks, over all rows on all threads.
//!
//! Rows are dealt into parts whose number does not depend on the threads; each part fills an
//! accumulator of the core and these merge in order, so a result is the same on any machine.
//! Cross-validation needs no further pass: a fold's accumulator knows the error that any weights
//! make on it ([`dpp_nystrom_core::RidgeRegression::squared_error`]).

use crate::approximation::features::independent;
use crate::error::Error;
use crate::heap::{Heap, RidgeHeap, zeros};
use crate::observer::Observer;
use crate::regression::blocked_qr::Block;
use crate::regression::folds::{Deal, FOLDS};
use crate::regression::observer::{FitObserver, NoFitObserver};
use crate::regression::ridge::{Ridge, ridge_grid};
use crate::simd::lane::Lane;
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{Error as CoreError, GroundSet, Nystrom, Points, RidgeRegression, Scalar};
use rayon::prelude::*;

/// Rows between two looks at the observer.
const STRIDE: usize = 1_024;

/// Rows between two looks of a [`FitObserver`].
const ROUND: usize = 1 << 16;

/// Weights fitted to rows, and what was learned on the way.
#[derive(Clone, Debug)]
pub struct Regression<T> {
    /// The landmarks that are independent: places among those given.
    pub kept: Vec<usize>,
    /// A weight of the kernel for each of them.
    pub weights: Vec<T>,
    /// The ridge.
    pub ridge: f64,
    /// Root of the mean squared error on the rows fitted to.
    pub train_error: f64,
    /// Root of the mean squared error over the folds, where the ridge was cross-validated.
    pub validation_error: Option<f64>,
}

/// Rows with targets, and the landmarks to regress on.
#[derive(Clone, Copy, Debug)]
pub struct RegressionInput<'a, T> {
    /// Rows of `dim` features.
    pub rows: &'a [T],
    /// The number of features.
    pub dim: usize,
    /// A target for each row.
    pub targets: Targets<'a>,
    /// Landmarks of `dim` features.
    pub landmarks: &'a [T],
    /// The kernel.
    pub kernel: &'a ChosenKernel<T>,
}

/// Targets in either precision.
///
/// ```
/// use dpp_nystrom::regression::Targets;
///
/// assert_eq!(Targets::from(&[1.0, 0.5][..]).len(), 2);
/// assert_eq!(Targets::F32(&[0.5]).at(0), 0.5);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Single precision.
    F32(&'a [f32]),
}

impl Targets<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
        }
    }

    /// None.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The target of a row.
    ///
    /// # Panics
    /// If there are no more than `row`.
    pub fn at(&self, row: usize) -> f64 {
        match self {
            Self::F64(values) => values[row],
            Self::F32(values) => f64::from(values[row]),
        }
    }
}

impl<'a> From<&'a [f64]> for Targets<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::F64(values)
    }
}

/// Fits weights to the rows: `c` kernel evaluations and `O(c²)` a row, `O(c³)` at the end.
///
/// # Errors
/// [`Error::Landmarks`], [`Error::Regression`] with the core's reason, [`Error::Memory`].
pub fn fit<T: Lane>(
    problem: RegressionInput<'_, T>,
    ridge: Ridge,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    let grid: Vec<f64> = ridge_grid().collect();
    Ok(fit_observed(problem, ridge, &grid, seed, &mut NoFitObserver, observer)?.0)
}

/// Ridges with their squared errors over all folds.
pub(crate) type Scores = Vec<(f64, f64)>;

/// [`fit`] with ridges of one's own to cross-validate, and their squared errors over all folds; none where
/// the ridge is given.
pub(crate) fn fit_scored<T: Lane>(
    problem: RegressionInput<'_, T>,
    ridge: Ridge,
    grid: &[f64],
    seed: u64,
    observer: &dyn Observer,
) -> Result<(Regression<T>, Scores), Error> {
    fit_observed(problem, ridge, grid, seed, &mut NoFitObserver, observer)
}

/// [`fit_scored`] with somebody who looks on.
pub(crate) fn fit_observed<T: Lane>(
    problem: RegressionInput<'_, T>,
    ridge: Ridge,
    grid: &[f64],
    seed: u64,
    rounds: &mut dyn FitObserver,
    observer: &dyn Observer,
) -> Result<(Regression<T>, Scores), Error> {
    let RegressionInput { rows, dim, targets, landmarks, kernel } = problem;
    let count = rows.len().checked_div(dim).unwrap_or(0);
    if targets.len() != count {
        return Err(regression(CoreError::Length { expected: count, found: targets.len() }));
    }
    if let Ridge::Value(value) = ridge
        && !(value * count as f64).is_finite()
    {
        return Err(regression(CoreError::Ridge));
    }
    let ground = Points::new(landmarks, dim, *kernel).map_err(|reason| Error::Landmarks { reason })?;
    let candidates: Vec<usize> = (0..landmarks.len() / dim).collect();
    let mut memory = Heap::new(candidates.len())?;
    let landmarks = independent(&ground, &candidates, &mut memory)?;
    let nystrom = Nystrom::new(&landmarks);
    let rank = nystrom.rank();

    let (parts, mut deal) = match ridge {
        Ridge::CrossValidated => (FOLDS.min(count), Some(Deal::new(FOLDS.min(count), seed))),
        Ridge::Value(_) => ((count / (32 * rank)).clamp(1, 16), None),
    };
    let mut heaps = (0..parts).map(|_| RidgeHeap::new(rank)).collect::<Result<Vec<_>, _>>()?;
    let mut accumulators = heaps
        .iter_mut()
        .map(|heap| RidgeRegression::new(rank, heap.lend()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(regression)?;

    observer.begin("rows", count as u64);
    let mut round = rounds.resume(&mut accumulators)?;
    observer.advance(accumulators.iter().map(RidgeRegression::rows).sum());
    // Folds share the rows of a round, other parts each have their own.
    let (longest, stride) = match deal {
        Some(_) => (count, ROUND),
        None => (count.div_ceil(parts), ROUND.div_ceil(parts)),
    };
    let mut part_of = Vec::new();
    deal.iter_mut().flatten().take(round * stride).for_each(drop);
    while round * stride < longest {
        part_of.clear();
        part_of.extend(deal.iter_mut().flatten().take(stride.min(longest - round * stride)));
        accumulators.par_iter_mut().enumerate().try_for_each_init(
            || None,
            |block, (part, accumulator)| {
                let block = match block {
                    Some(block) => block,
                    None => block.insert(Block::new(&landmarks)?),
                };
                let (begin, end) = match part_of.is_empty() {
                    false => (0, count),
                    true => (part * count / parts, (part + 1) * count / parts),
                };
                let first = begin + round * stride;
                let mut seen = 0;
                block.begin(accumulator);
                for row in first..end.min(first + stride) {
                    if part_of.get(row - first).is_some_and(|&of| usize::from(of) != part) {
                        continue;
                    }
                    let features = rows[row * dim..(row + 1) * dim].iter().copied();
                    block.push(features, targets.at(row))?;
                    seen += 1;
                    if seen == STRIDE {
                        observer.advance(seen as u64);
                        seen = 0;
                    }
                }
                observer.advance(seen as u64);
                block.end(accumulator)
            },
        )?;
        round += 1;
        rounds.after_round(round, &accumulators)?;
    }
    observer.end();

    conclude(&nystrom, &mut accumulators, ridge, grid, observer)
}

/// The regression that parts of the rows, or folds, have taught.
pub(crate) fn conclude<T: Lane, G: GroundSet<T> + ?Sized>(
    nystrom: &Nystrom<'_, '_, T, G>,
    accumulators: &mut [RidgeRegression<'_, f64>],
    ridge: Ridge,
    grid: &[f64],
    observer: &dyn Observer,
) -> Result<(Regression<T>, Scores), Error> {
    let count: u64 = accumulators.iter().map(RidgeRegression::rows).sum();
    let root = |squares: f64| (squares / count as f64).sqrt();
    let (ridge, validation_error, scores) = match ridge {
        Ridge::Value(value) => (value, None, Vec::new()),
        Ridge::CrossValidated => {
            let scores = validate(accumulators, grid, observer)?;
            let (best, error) = least(&scores).ok_or(Error::Folds { rows: count as usize })?;
            (best, Some(root(error)), scores)
        }
    };
    let Some((whole, others)) = accumulators.split_first_mut() else {
        return Err(regression(CoreError::NoRows));
    };
    for other in others {
        whole.merge(other).map_err(regression)?;
    }
    let mut features = zeros(nystrom.rank(), 0.0)?;
    whole.solve(ridge, &mut features).map_err(regression)?;
    let squared = whole.squared_error(&features).map_err(regression)?;
    let mut weights: Vec<T> = features.iter().map(|&weight| T::from_f64(weight)).collect();
    nystrom.kernel_weights(&mut weights).map_err(regression)?;
    let fitted = Regression {
        kept: nystrom.members().to_vec(),
        weights,
        ridge,
        train_error: root(squared),
        validation_error,
    };
    Ok((fitted, scores))
}

/// The squared error over all folds for each ridge, each fold predicted from the others.
pub(crate) fn validate<T: Scalar>(
    folds: &[RidgeRegression<'_, T>],
    ridges: &[f64],
    observer: &dyn Observer,
) -> Result<Scores, Error> {
    if folds.len() < 2 {
        return Err(Error::Folds { rows: folds.iter().map(|fold| fold.rows() as usize).sum() });
    }
    observer.begin("folds", folds.len() as u64);
    let errors: Vec<Vec<f64>> = (0..folds.len())
        .into_par_iter()
        .map(|held_out| {
            let rank = folds[held_out].features();
            let mut heap = RidgeHeap::new(rank)?;
            let mut others = RidgeRegression::new(rank, heap.lend()).map_err(regression)?;
            for (fold, accumulator) in folds.iter().enumerate() {
                if fold != held_out {
                    others.merge(accumulator).map_err(regression)?;
                }
            }
            let mut weights = zeros(rank, T::ZERO)?;
            let errors = ridges
                .iter()
                .map(|&ridge| match others.solve(T::from_f64(ridge), &mut weights) {
                    Ok(()) => Ok(folds[held_out].squared_error(&weights).map_err(regression)?.to_f64()),
                    // Too small a ridge for these rows: never the best.
                    Err(CoreError::NotPositive { .. }) => Ok(f64::INFINITY),
                    Err(reason) => Err(regression(reason)),
                })
                .collect();
            observer.advance(1);
            errors
        })
        .collect::<Result<_, Error>>()?;
    observer.end();
    Ok(ridges
        .iter()
        .enumerate()
        .map(|(at, &ridge)| (ridge, errors.iter().map(|fold| fold[at]).sum()))
        .collect())
}

/// The pair with the least finite second number.
pub(crate) fn least(scores: &[(f64, f64)]) -> Option<(f64, f64)> {
    let finite = scores.iter().copied().filter(|(_, error)| error.is_finite());
    finite.min_by(|one, other| one.1.total_cmp(&other.1))
}

fn regression(reason: CoreError) -> Error {
    Error::Regression { reason }
}

#[cfg(test)]
mod tests {
    use super::least;
    use crate::regression::ridge::ridge_grid;

    #[test]
    fn the_grid_and_its_least() {
        let grid: Vec<f64> = ridge_grid().collect();
        assert_eq!((grid.len(), grid[0]), (19, 1e-10));
        assert!((grid[18] - 0.1).abs() < 1e-16);
        assert_eq!(least(&[(1.0, f64::INFINITY), (2.0, 5.0), (3.0, 4.0)]), Some((3.0, 4.0)));
        assert_eq!(least(&[(1.0, f64::NAN)]), None);
    }
}
