//! Multi-threaded ridge regression on landmarks over all rows.
//!
//! Rows are split into a number of parts that does not depend on the number of threads. Each part has its own
//! accumulator, and accumulators are merged in order, so results are reproducible on any machine. Cross-validation
//! needs no second pass: the parts are then the folds, and all follows from their accumulators
//! ([`crate::regression::cross_validation`]).

use crate::approximation::features::independent_points;
use crate::error::{Error, landmarks_error, regression_error};
use crate::heap::{Heap, RidgeHeap, zeros};
use crate::model::confidence::Confidence;
use crate::observer::{NoObserver, Observer, go_on};
use crate::regression::{
    blocked_qr::Block, calibration::measure, checkpoint::Rounds, cross_validation::Triangle,
    cross_validation::Validated, cross_validation::cross_validate_folds, folds::FOLDS, folds::deal_folds,
    input::Input, ridge::Candidates,
};
use crate::simd::lane::Lane;
use dpp_nystrom_core::{
    Error as CoreError, FeatureWeights, GroundSet, Nystrom, Points, RidgeRegression, Scalar, Solution,
};
use rayon::prelude::*;

/// Rows between two progress updates.
const STRIDE: usize = 1_024;

/// Rows per round, over all parts.
const ROUND: usize = 1 << 16;

/// Features from which on accumulators are merged by blocks: for fewer, the core's rotations are as fast.
const BLOCKED: usize = 64;

/// Kernel weights fitted to rows.
#[derive(Clone, Debug)]
pub(crate) struct Regression<T> {
    /// Indices of the linearly independent landmarks.
    pub(crate) kept: Vec<usize>,
    /// A kernel weight for each of them.
    pub(crate) weights: Vec<T>,
    /// The ridge, and the errors of the weights.
    pub(crate) quality: Quality,
    /// What is known of the predictions, if it was measured.
    pub(crate) confidence: Option<Confidence>,
}

/// The ridge of a regression, and the errors of its weights.
#[derive(Clone, Debug)]
pub(crate) struct Quality {
    /// The ridge.
    pub(crate) ridge: f64,
    /// Root mean squared error on the training rows.
    pub(crate) train_error: f64,
    /// Root mean squared error over the folds, if the ridge was cross-validated.
    pub(crate) validation_error: Option<f64>,
    /// Each candidate with its squared error over all folds.
    pub(crate) scores: Vec<(f64, f64)>,
}

/// Cross-validate these ridges, without progress reports.
///
/// # Errors
/// Those of [`regress`].
pub(crate) fn cross_validate(input: Input<'_, f64>, ridges: Vec<f64>, seed: u64) -> Result<Quality, Error> {
    let ridges = Candidates::BestOf(ridges);
    regress(input, &ridges, seed, &mut Rounds::default(), false, &NoObserver).map(|fitted| fitted.quality)
}

/// Fit weights to the rows: `c` kernel evaluations and `O(c²)` per row, then `O(c³)`; and [`measure`] on a sample of them how far they can
/// be relied on, if it is asked for.
///
/// # Errors
/// [`Error::Landmarks`], [`Error::Regression`] with the core's reason, [`Error::Memory`], [`Error::Cancelled`].
pub(crate) fn regress<T: Lane>(
    input: Input<'_, T>,
    ridges: &Candidates,
    seed: u64,
    rounds: &mut Rounds<'_>,
    measured: bool,
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    let Input { rows, dim, targets, landmarks, kernel } = input;
    let count = rows.len().checked_div(dim).unwrap_or(0);
    if targets.len() != count {
        return Err(regression_error(CoreError::Length { expected: count, found: targets.len() }));
    }
    if let Candidates::One(value) = ridges
        && !(value * count as f64).is_finite()
    {
        return Err(regression_error(CoreError::Ridge));
    }
    let ground = Points::new(landmarks, dim, kernel).map_err(landmarks_error)?;
    let mut memory = Heap::new(ground.len())?;
    let landmarks = independent_points(&ground, &mut memory)?;
    let nystrom = Nystrom::new(&landmarks);
    let rank = nystrom.rank();

    let (parts, mut deal) = match ridges {
        Candidates::BestOf(_) => (FOLDS.min(count), Some(deal_folds(count, seed))),
        Candidates::One(_) => ((count / (32 * rank)).clamp(1, 16), None),
    };
    let mut heaps = (0..parts).map(|_| RidgeHeap::new(rank)).collect::<Result<Vec<_>, _>>()?;
    let mut accumulators = heaps
        .iter_mut()
        .map(|heap| RidgeRegression::new(rank, heap.lend()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(regression_error)?;

    observer.begin("rows", count as u64);
    let mut round = rounds.resume(&mut accumulators)?;
    observer.advance(accumulators.iter().map(RidgeRegression::rows).sum());
    // Folds share the rows of a round; other parts are contiguous ranges.
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
        go_on(observer)?;
        round += 1;
        rounds.after_round(round, &accumulators)?;
    }
    observer.end();

    let mut fitted = conclude(&nystrom, &mut accumulators, ridges, observer)?;
    if measured && let Some(whole) = accumulators.first() {
        fitted.confidence = measure(input, &nystrom, &ground, whole, &fitted.weights)?;
    }
    Ok(fitted)
}

/// Solve the regression over all parts, which are the folds if the ridge is cross-validated, for the feature weights. The
/// first part becomes the sum of all.
pub(crate) fn solve<A: Scalar>(
    parts: &mut [RidgeRegression<'_, A>],
    ridges: &Candidates,
    observer: &dyn Observer,
) -> Result<(Vec<A>, Quality), Error> {
    let count: u64 = parts.iter().map(RidgeRegression::rows).sum();
    let root = |squares: f64| (squares / count as f64).sqrt();
    let (ridge, validation_error, scores, sum) = match ridges {
        Candidates::One(value) => (*value, None, Vec::new(), None),
        Candidates::BestOf(grid) => {
            let Validated { scores, whole } = cross_validate_folds(parts, grid, observer)?;
            let (best, error) = least(&scores).ok_or(Error::Folds { rows: count as usize })?;
            (best, Some(root(error)), scores, Some(whole))
        }
    };
    let whole = merge(parts, sum)?;
    let Solution { weights, squared_error } = whole.solve(A::from_f64(ridge)).map_err(regression_error)?;
    let train_error = root(squared_error.to_f64());
    Ok((weights.iter().collect(), Quality { ridge, train_error, validation_error, scores }))
}

/// Make the first part the sum of all, which is `sum` if it is known, and return it.
fn merge<'p, 'm, A: Scalar>(
    parts: &'p mut [RidgeRegression<'m, A>],
    sum: Option<Triangle>,
) -> Result<&'p mut RidgeRegression<'m, A>, Error> {
    let rows = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.rows()));
    let sum = match parts {
        [first, _, ..] if first.features() >= BLOCKED => {
            Some(sum.map_or_else(|| Triangle::of_all(parts), Ok)?)
        }
        _ => None,
    };
    let (whole, others) = parts.split_first_mut().ok_or(regression_error(CoreError::NoRows))?;
    match (sum, rows) {
        (Some(sum), Some(rows)) => sum.restore(rows, whole)?,
        _ => others.iter().try_for_each(|other| whole.merge(other)).map_err(regression_error)?,
    }
    Ok(whole)
}

/// [`solve`], and convert the feature weights to kernel weights.
pub(crate) fn conclude<T: Scalar, A: Scalar, G: GroundSet<T> + ?Sized>(
    nystrom: &Nystrom<'_, '_, T, G>,
    parts: &mut [RidgeRegression<'_, A>],
    ridges: &Candidates,
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    let (weights, quality) = solve(parts, ridges, observer)?;
    let mut of_features: Vec<T> = weights.iter().map(|&weight| T::from_f64(weight.to_f64())).collect();
    let mut weights = zeros(of_features.len(), T::ZERO)?;
    let of_features = FeatureWeights::new(&mut of_features);
    nystrom.kernel_weights(of_features, &mut weights).map_err(regression_error)?;
    Ok(Regression { kept: nystrom.members().to_vec(), weights, quality, confidence: None })
}

/// Return the pair with the least finite second value.
fn least(scores: &[(f64, f64)]) -> Option<(f64, f64)> {
    let finite = scores.iter().copied().filter(|(_, error)| error.is_finite());
    finite.min_by(|one, other| one.1.total_cmp(&other.1))
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
