//! Weights from the sums of rows.

use crate::error::Error;
use crate::model::confidence::Confidence;
use crate::observer::Observer;
use crate::regression::{
    choose::choice::Chosen, choose::choice::choose, choose::choice::numbers_fitted, ridge::Candidates,
    rows::triangle::BLOCKED, rows::triangle::Triangle, rows::triangle::merge, solve::robust::Aggregate,
    solve::robust::geometric_median,
};
use dpp_nystrom_core::{
    Error as CoreError, FeatureWeights, GroundSet, Nystrom, RidgeRegression, Scalar, Solution,
};
use dpp_nystrom_host::heap::zeros;

/// Kernel weights fitted to rows.
#[derive(Clone, Debug)]
pub(crate) struct Regression<T> {
    /// Indices of the linearly independent landmarks.
    pub(crate) kept: Vec<usize>,
    /// A kernel weight for each of them, one target after the other.
    pub(crate) weights: Vec<T>,
    /// The ridge, and the errors of the weights.
    pub(crate) quality: Quality,
    /// What is known of the predictions, if it was measured.
    pub(crate) confidence: Option<Confidence>,
    /// If they were asked for, outputs of rows that had no part in them.
    pub(crate) held_out: Option<Unseen>,
    /// The regressions without each of the folds that were asked for.
    pub(crate) without: Vec<WithoutFold<T>>,
}

/// Outputs of rows that had no part in them, in standard deviations of the targets, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Unseen {
    pub(crate) rows: Vec<usize>,
    pub(crate) outputs: Vec<f64>,
}

/// A regression on the rows of all folds but one, which had no part in the choice of its ridge either.
#[derive(Clone, Debug)]
pub(crate) struct WithoutFold<T> {
    /// The fold that is left out.
    pub(crate) fold: u8,
    /// The ridge.
    pub(crate) ridge: f64,
    /// A kernel weight for each landmark that was kept, one target after the other.
    pub(crate) weights: Vec<T>,
}

/// The ridge of a regression, and the errors of its weights.
#[derive(Clone, Debug)]
pub(crate) struct Quality {
    /// The ridge.
    pub(crate) ridge: f64,
    /// Root mean squared error on the training rows and over the targets.
    pub(crate) train_error: f64,
    /// Root mean squared error over the folds, if the ridge was cross-validated.
    pub(crate) validation_error: Option<f64>,
    /// Whether that is the error of one fold.
    pub(crate) one_fold: bool,
    /// Each candidate with its squared error over all folds and targets.
    pub(crate) scores: Vec<(f64, f64)>,
}

/// Solve the regression over all parts, which are the folds if the ridge is cross-validated, for the feature
/// weights, one target after the other. The first part becomes the sum of all.
///
/// # Errors
/// `ErrorKind::Unsupported` for leave-one-out in folds, `ErrorKind::Data` for too few folds,
/// `ErrorKind::Regression`, `ErrorKind::Cancelled`.
pub(crate) fn solve<A: Scalar>(
    parts: &mut [RidgeRegression<'_, A>],
    ridges: &Candidates,
    observer: &dyn Observer,
) -> Result<(Vec<A>, Quality), Error> {
    let chosen = choose(parts, ridges, observer)?;
    solve_at(parts, chosen)
}

fn solve_at<A: Scalar>(
    parts: &mut [RidgeRegression<'_, A>],
    chosen: Chosen,
) -> Result<(Vec<A>, Quality), Error> {
    let Chosen { ridge, validation_error, scores, sum } = chosen;
    let numbers = numbers_fitted(parts);
    let whole = merge(parts, sum)?;
    let blocked = if whole.features() >= BLOCKED { Triangle::of(whole)?.solve(ridge) } else { None };
    let (weights, squared_error) = match blocked {
        Some((weights, squared_error)) => {
            let columns = (0..weights.ncols()).flat_map(|t| weights.col_as_slice(t));
            (columns.copied().map(A::from_f64).collect(), squared_error)
        }
        None => {
            let (mut all, mut squares) = (Vec::new(), 0.0);
            for target in 0..whole.targets() {
                let Solution { weights, squared_error } =
                    whole.solve_target(target, A::from_f64(ridge)).map_err(Error::regression)?;
                all.extend(weights.iter());
                squares += squared_error.to_f64();
            }
            (all, squares)
        }
    };
    let train_error = (squared_error / numbers).sqrt();
    Ok((weights, Quality { ridge, train_error, validation_error, one_fold: false, scores }))
}

/// [`solve`], or aggregate the solutions of the parts otherwise, and convert the feature weights to kernel
/// weights.
pub(crate) fn conclude<T: Scalar, A: Scalar, G: GroundSet<T> + ?Sized>(
    nystrom: &Nystrom<'_, '_, T, G>,
    parts: &mut [RidgeRegression<'_, A>],
    ridges: &Candidates,
    aggregate: Aggregate,
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    let chosen = choose(parts, ridges, observer)?;
    let Aggregate::Robust = aggregate else { return conclude_at(nystrom, parts, chosen) };
    let (weights, squared_error) = geometric_median(parts, chosen.ridge, observer)?;
    let train_error = (squared_error / numbers_fitted(parts)).sqrt();
    // The folds say nothing of this model.
    let Chosen { ridge, scores, .. } = chosen;
    let quality = Quality { ridge, train_error, validation_error: None, one_fold: false, scores };
    in_kernel_weights(nystrom, &weights, quality)
}

pub(crate) fn conclude_at<T: Scalar, A: Scalar, G: GroundSet<T> + ?Sized>(
    nystrom: &Nystrom<'_, '_, T, G>,
    parts: &mut [RidgeRegression<'_, A>],
    chosen: Chosen,
) -> Result<Regression<T>, Error> {
    let (weights, quality) = solve_at(parts, chosen)?;
    in_kernel_weights(nystrom, &weights, quality)
}

fn in_kernel_weights<T: Scalar, A: Scalar, G: GroundSet<T> + ?Sized>(
    nystrom: &Nystrom<'_, '_, T, G>,
    of_features: &[A],
    quality: Quality,
) -> Result<Regression<T>, Error> {
    let weights = kernel_weights(nystrom, of_features.iter().map(|weight| weight.to_f64()))?;
    let kept = nystrom.members().to_vec();
    Ok(Regression { kept, weights, quality, confidence: None, held_out: None, without: Vec::new() })
}

/// Convert feature weights, one target after the other, to kernel weights.
pub(crate) fn kernel_weights<T: Scalar, G: GroundSet<T> + ?Sized>(
    nystrom: &Nystrom<'_, '_, T, G>,
    of_features: impl Iterator<Item = f64>,
) -> Result<Vec<T>, Error> {
    let mut of_features: Vec<T> = of_features.map(T::from_f64).collect();
    let mut weights = zeros(of_features.len(), T::ZERO)?;
    let rank = nystrom.rank().max(1);
    for (of_features, weights) in of_features.chunks_exact_mut(rank).zip(weights.chunks_exact_mut(rank)) {
        nystrom.kernel_weights(FeatureWeights::new(of_features), weights).map_err(Error::regression)?;
    }
    Ok(weights)
}

/// Fit weights to the rows of all parts but one, and return them with their ridge. It is chosen by these
/// parts alone, as folds, also where it is chosen by leaving out rows.
pub(crate) fn without_part<T: Scalar, G: GroundSet<T> + ?Sized>(
    nystrom: &Nystrom<'_, '_, T, G>,
    parts: &mut [RidgeRegression<'_, f64>],
    part: usize,
    ridges: &Candidates,
    observer: &dyn Observer,
) -> Result<(f64, Vec<T>), Error> {
    let ridges = match ridges {
        Candidates::BestLeaveOneOut(grid) => &Candidates::BestOf(grid.clone()),
        ridges => ridges,
    };
    let last = parts.len() - 1;
    let place = part.min(last);
    parts.swap(place, last);
    let others = &parts[..last];
    let chosen = choose(others, ridges, observer);
    let found = chosen.and_then(|Chosen { ridge, sum, .. }| {
        let sum = sum.map_or_else(|| Triangle::of_all(others), Ok)?;
        let (weights, _) = sum.solve(ridge).ok_or(Error::regression(CoreError::Ridge))?;
        let columns = (0..weights.ncols()).flat_map(|t| weights.col_as_slice(t).iter().copied());
        Ok((ridge, kernel_weights(nystrom, columns)?))
    });
    parts.swap(place, last);
    found
}
