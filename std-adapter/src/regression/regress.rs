//! Multi-threaded ridge regression on landmarks over all rows.
//!
//! Rows are split into a number of parts that does not depend on the number of threads. Each part has its own
//! accumulator, and accumulators are merged in order, so results are reproducible on any machine. Threads
//! work on different parts, or share the work of one where parts are few or large
//! ([`crate::regression::blocked_qr`]). A sample of all rows is read once more, for the triangle by which the
//! first rows of each part are whitened. Cross-validation needs no second pass: the parts are then the folds,
//! and all follows from their accumulators ([`crate::regression::cross_validation`]).

use crate::approximation::features::independent_points;
use crate::error::{Cause, Error};
use crate::linalg::eigen::product;
use crate::model::confidence::Confidence;
use crate::observer::{Observer, go_on};
use crate::regression::{
    blocked_qr::{Block, Pilot},
    calibration::measure,
    checkpoint::Rounds,
    cross_validation::BLOCKED,
    cross_validation::Triangle,
    cross_validation::Validated,
    cross_validation::cross_validate_folds,
    cross_validation::merge,
    cross_validation::weights_without_folds,
    folds::FOLDS,
    input::Input,
    leave_one_out::BLOCK,
    leave_one_out::sum_of,
    ridge::Candidates,
    robust::Aggregate,
    robust::geometric_median,
    whitening::Whitening,
};
use dpp_nystrom_core::{
    Error as CoreError, FeatureWeights, GroundSet, Landmarks, Nystrom, Points, RidgeRegression, Scalar,
    Solution,
};
use dpp_nystrom_host::heap::{Heap, RidgeHeap, zeros};
use dpp_nystrom_host::simd::lane::{Ground, Lane};
use faer::{Mat, MatRef, traits::RealField};
use rayon::prelude::*;
use std::array;

/// Rows between two progress updates.
const STRIDE: usize = 1_024;

/// Rows per round, over all parts.
const ROUND: usize = 1 << 16;

/// Rows per round and part, at least, for each landmark: a round ends with `O(c³)` operations.
const ROUND_OF_RANK: usize = 16;

/// Rows per landmark in each part of a fit with the ridge given, and the most parts.
const OF_PART: usize = 200;
const PARTS: usize = 16;

/// With fewer parts, or with this many landmarks, all threads share the work of one part, and there is one
/// block of `O(c²)` memory instead of one per thread.
const FEW: usize = 4;
pub(crate) const LARGE: usize = 2_048;

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
    /// If they were asked for, the outputs for each row of a regression without its fold, row by row.
    pub(crate) held_out: Option<Vec<f64>>,
    /// The regressions without each of the folds that were asked for.
    pub(crate) without: Vec<WithoutFold<T>>,
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
    /// Each candidate with its squared error over all folds and targets.
    pub(crate) scores: Vec<(f64, f64)>,
}

/// Cross-validate these ridges.
///
/// # Errors
/// Those of [`regress`].
pub(crate) fn cross_validate<T: Lane + RealField>(
    input: Input<'_, T>,
    ridges: Vec<f64>,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Quality, Error> {
    let ridges = Candidates::BestOf(ridges);
    regress(input, &ridges, seed, &mut Rounds::default(), false, observer).map(|fitted| fitted.quality)
}

/// [`regress_without`] no folds.
///
/// # Errors
/// Those of [`regress_without`].
pub(crate) fn regress<T: Lane + RealField>(
    input: Input<'_, T>,
    ridges: &Candidates,
    seed: u64,
    rounds: &mut Rounds<'_>,
    measured: bool,
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    regress_without(input, ridges, seed, rounds, (measured, &[]), observer)
}

/// Fit weights to the rows: `c` kernel evaluations and `O(c²)` per row, then `O(c³)`; and [`measure`] on a
/// sample of them how far they can be relied on, if it is asked for. Weights without each of the folds
/// `left_out` follow from the sums of the others: `O(c³)` each.
///
/// # Errors
/// `ErrorKind::Landmarks`, `ErrorKind::Regression` with the core's reason, `ErrorKind::Memory`,
/// `ErrorKind::Cancelled`.
pub(crate) fn regress_without<T: Lane + RealField>(
    input: Input<'_, T>,
    ridges: &Candidates,
    seed: u64,
    rounds: &mut Rounds<'_>,
    (measured, left_out): (bool, &[u8]),
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    let Input { rows, dim, targets, landmarks, kernel, deal, .. } = input;
    let outputs = targets.outputs();
    let count = rows.len().checked_div(dim).unwrap_or(0);
    if targets.rows() != count {
        return Err(Error::regression(CoreError::Length { expected: count, found: targets.rows() }));
    }
    if let Candidates::One(value) = ridges
        && !(value * count as f64).is_finite()
    {
        return Err(Error::regression(CoreError::Ridge));
    }
    if let (Candidates::BestLeaveOneOut(_), true) = (ridges, deal.keeps_together()) {
        return Err(Error(Cause::LeftOutAlone));
    }
    let ground = Points::new(landmarks, dim, kernel).map_err(Error::landmarks)?;
    let mut memory = Heap::new(ground.len())?;
    let landmarks = independent_points(&ground, &mut memory)?;
    let nystrom = Nystrom::new(&landmarks);
    let rank = nystrom.rank();

    // Rows are held out however the ridge is chosen.
    let are_folds = matches!(ridges, Candidates::BestOf(_)) || input.held_out || !left_out.is_empty();
    let ranges = (count / (OF_PART * rank)).clamp(1, PARTS);
    // With the ridge given, the folds that are not left out need not be told apart.
    let part_of_fold: [u8; FOLDS] = match ridges {
        Candidates::One(_) if !input.held_out => together(left_out, ranges),
        _ => array::from_fn(|fold| fold as u8),
    };
    let deal_parts = || deal.folds(count, seed).map(|fold| part_of_fold[usize::from(fold)]);
    let (parts, mut dealt) = match are_folds {
        true => {
            let last = part_of_fold[..FOLDS.min(count)].iter().max();
            (last.map_or(0, |&last| usize::from(last) + 1), Some(deal_parts()))
        }
        false => (ranges, None),
    };
    let heaps = (0..parts).map(|_| RidgeHeap::with_targets(rank, outputs));
    let mut heaps = heaps.collect::<Result<Vec<_>, _>>()?;
    let mut accumulators = heaps
        .iter_mut()
        .map(|heap| heap.regression(rank, outputs))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Error::regression)?;

    observer.begin("rows", count as u64);
    // Folds share the rows of a round; other parts are contiguous ranges.
    let whole = ROUND.max(ROUND_OF_RANK.saturating_mul(rank * parts));
    let (longest, stride) = match dealt {
        Some(_) => (count, whole),
        None => (count.div_ceil(parts), whole.div_ceil(parts)),
    };
    let range = |part: usize| match are_folds {
        true => (0, count),
        false => (part * count / parts, (part + 1) * count / parts),
    };
    let seen =
        |part: usize, rounds: usize| (range(part).1 - range(part).0).min(rounds.saturating_mul(stride));
    let mut round = rounds.resume(&mut accumulators, |rounds| match dealt {
        Some(_) => seen(0, rounds),
        None => (0..parts).map(|part| seen(part, rounds)).sum(),
    })?;
    observer.advance(accumulators.iter().map(RidgeRegression::rows).sum());
    let mut part_of = Vec::new();
    dealt.iter_mut().flatten().take(round * stride).for_each(drop);
    let share = parts < FEW || rank >= LARGE;
    let pilot = match parts > 1 && round == 0 {
        true => pilot_of(input, &landmarks, observer)?,
        false => None,
    };
    let mut shared = None;
    while round * stride < longest {
        part_of.clear();
        part_of.extend(dealt.iter_mut().flatten().take(stride.min(longest - round * stride)));
        let add = |block: &mut Option<_>, (part, accumulator): (usize, &mut RidgeRegression<'_, f64>)| {
            let block = match block {
                Some(block) => block,
                None => block.insert(Block::new(&landmarks, outputs, share)?),
            };
            let (begin, end) = range(part);
            let first = begin + round * stride;
            let mut seen = 0;
            block.begin_with(accumulator, pilot.as_ref())?;
            for row in first..end.min(first + stride) {
                if part_of.get(row - first).is_some_and(|&of| usize::from(of) != part) {
                    continue;
                }
                let features = rows[row * dim..(row + 1) * dim].iter().copied();
                block.push_weighted(features, input.targets.of_row(row), input.weights.root(row))?;
                seen += 1;
                if seen == STRIDE {
                    go_on(observer)?;
                    observer.advance(seen as u64);
                    seen = 0;
                }
            }
            observer.advance(seen as u64);
            block.end(accumulator)
        };
        if share {
            accumulators.iter_mut().enumerate().try_for_each(|part| add(&mut shared, part))?;
        } else {
            accumulators.par_iter_mut().enumerate().try_for_each_init(|| None, add)?;
        }
        go_on(observer)?;
        round += 1;
        rounds.after_round(round, &accumulators)?;
    }
    drop(shared);
    if input.weights.0.is_some() {
        let mut sums = vec![0.0; parts];
        match are_folds {
            true => (0..count).zip(deal_parts()).for_each(|(row, part)| {
                sums[usize::from(part)] += input.weights.at(row);
            }),
            false => sums.iter_mut().enumerate().for_each(|(part, sum)| {
                *sum = (range(part).0..range(part).1).map(|row| input.weights.at(row)).sum();
            }),
        }
        for (accumulator, sum) in accumulators.iter_mut().zip(sums) {
            accumulator.count_as(sum).map_err(Error::regression)?;
        }
    }
    observer.end();

    let chosen = match ridges {
        Candidates::BestLeaveOneOut(grid) => {
            let scores = leave_one_out(input, &landmarks, &accumulators, grid, observer)?;
            let (best, squares) = least(&scores).ok_or(Error(Cause::Folds { rows: count }))?;
            let validation_error = Some((squares / (count * outputs) as f64).sqrt());
            Chosen { ridge: best, validation_error, scores, sum: None }
        }
        _ => choose(&accumulators, ridges, observer)?,
    };
    let held_out = match input.held_out && measured {
        true => {
            let weights = weights_without_folds(&accumulators, chosen.ridge, observer)?;
            let folds: Vec<u8> = deal.folds(count, seed).collect();
            Some(predict_held_out(input, &landmarks, &folds, &weights, observer)?)
        }
        false => None,
    };
    let mut without = Vec::new();
    for &fold in left_out {
        let part = usize::from(part_of_fold[usize::from(fold)]);
        match without_part(&nystrom, &mut accumulators, part, ridges, observer) {
            Ok((ridge, weights)) => without.push(WithoutFold { fold, ridge, weights }),
            Err(Error(Cause::Cancelled)) => return Err(Error(Cause::Cancelled)),
            // The other rows alone may determine no weights.
            Err(_) => {}
        }
    }
    let mut fitted = conclude_at(&nystrom, &mut accumulators, chosen)?;
    fitted.held_out = held_out;
    fitted.without = without;
    if measured
        && outputs == 1
        && let Some(whole) = accumulators.first()
    {
        fitted.confidence = measure(input, &landmarks, whole, fitted.quality.ridge, &fitted.weights)?;
    }
    Ok(fitted)
}

/// Rows for each of a pilot, at least.
const OF_PILOT: usize = 2;

/// Return the pilot of a sample of the rows for parts that have none, if there are rows enough that it saves
/// time.
fn pilot_of<T: Lane + RealField>(
    input: Input<'_, T>,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    observer: &dyn Observer,
) -> Result<Option<Pilot<T>>, Error> {
    let Input { rows, dim, targets, .. } = input;
    let (count, outputs) = (targets.rows(), targets.outputs());
    let sample = Block::rows_of_pilot(landmarks);
    if count < OF_PILOT.saturating_mul(sample) {
        return Ok(None);
    }
    observer.begin("sample of rows", sample as u64);
    let mut heap = RidgeHeap::with_targets(landmarks.len(), outputs)?;
    let mut block = Block::new(landmarks, outputs, true)?;
    block.begin(&heap.regression(landmarks.len(), outputs).map_err(Error::regression)?)?;
    let row_of = |at: usize| (at as u128 * count as u128 / sample as u128) as usize;
    let add = |at: usize| {
        let row = row_of(at);
        let features = rows[row * dim..(row + 1) * dim].iter().copied();
        block.push_weighted(features, targets.of_row(row), input.weights.root(row))?;
        if (at + 1).is_multiple_of(STRIDE) {
            go_on(observer)?;
            observer.advance(STRIDE as u64);
        }
        Ok(())
    };
    let added = (0..sample).try_for_each(add).and_then(|()| block.pilot());
    observer.end();
    match added {
        Ok(pilot) => Ok(Some(pilot)),
        // The pass over all rows says where it is.
        Err(Error(Cause::Regression { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Return the sum of squared leave-one-out residuals over the targets for each ridge, in a second pass over
/// the rows that the parts have accumulated: `3c²/2` multiply-adds a row.
fn leave_one_out<T: Lane + RealField>(
    input: Input<'_, T>,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    parts: &[RidgeRegression<'_, f64>],
    ridges: &[f64],
    observer: &dyn Observer,
) -> Result<Vec<(f64, f64)>, Error> {
    let Input { rows, dim, targets, .. } = input;
    let (count, rank, outputs) = (targets.rows(), landmarks.len(), targets.outputs());
    let basis = Triangle::of_all(parts)?.basis()?;
    let whitening = Whitening::new(landmarks);
    let loads: Vec<f64> = ridges.iter().map(|ridge| ridge * count as f64).collect();
    observer.begin("rows left out", count as u64);
    let block = |first: usize| {
        go_on(observer)?;
        let last = (first + BLOCK).min(count);
        let rows = rows[first * dim..last * dim].chunks_exact(dim);
        let mut features = whitening.kernel_values(rows)?;
        whitening.whiten(&mut features);
        let features = features.view().transpose();
        let features = Mat::from_fn(rank, last - first, |k, i| {
            input.weights.root(first + i) * features[(k, i)].to_f64()
        });
        let features = product(basis.vectors.transpose(), features.as_ref());
        let targets = (first..last).flat_map(|row| {
            let root = input.weights.root(row);
            input.targets.of_row(row).map(move |target| root * target)
        });
        let targets: Vec<f64> = targets.collect();
        let targets = MatRef::from_row_major_slice(&targets, last - first, outputs);
        let squares = basis.squares(features.as_ref(), targets, &loads);
        observer.advance((last - first) as u64);
        Ok(squares)
    };
    let blocks = (0..count).into_par_iter().step_by(BLOCK).map(block).collect::<Result<Vec<_>, Error>>()?;
    observer.end();
    Ok(ridges.iter().copied().zip(sum_of(&blocks, ridges.len())).collect())
}

/// Return the outputs of a regression without the fold of each row, in standard deviations of the targets,
/// row by row: in a second pass over the rows, `c²/2` multiply-adds and `c` for each target. `weights` are
/// those of the features without each fold.
fn predict_held_out<T: Lane + RealField>(
    input: Input<'_, T>,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    folds: &[u8],
    weights: &[Mat<f64>],
    observer: &dyn Observer,
) -> Result<Vec<f64>, Error> {
    let Input { rows, dim, .. } = input;
    let (rank, outputs) = (landmarks.len(), input.targets.outputs());
    let whitening = Whitening::new(landmarks);
    observer.begin("rows held out", folds.len() as u64);
    let of_fold = |fold: usize| -> Vec<usize> {
        (0..folds.len()).filter(|&row| usize::from(folds[row]) == fold).collect()
    };
    let of_folds: Vec<Vec<usize>> = (0..weights.len()).map(of_fold).collect();
    let blocks = of_folds
        .iter()
        .zip(weights)
        .flat_map(|(own, weights)| own.chunks(BLOCK).map(move |places| (places, weights)));
    let predict = |&(places, weights): &(&[usize], &Mat<f64>)| {
        go_on(observer)?;
        let own = places.iter().map(|&row| &rows[row * dim..(row + 1) * dim]);
        let mut features = whitening.kernel_values(own)?;
        whitening.whiten(&mut features);
        let features = features.view();
        let features = Mat::from_fn(places.len(), rank, |i, k| features[(i, k)].to_f64());
        observer.advance(places.len() as u64);
        Ok(product(features.as_ref(), weights.as_ref()))
    };
    let blocks: Vec<_> = blocks.collect();
    let found = blocks.par_iter().map(predict).collect::<Result<Vec<_>, Error>>()?;
    let mut predictions = zeros(folds.len().saturating_mul(outputs), 0.0)?;
    for ((places, _), found) in blocks.into_iter().zip(found) {
        for (i, &row) in places.iter().enumerate() {
            let own = predictions[row * outputs..(row + 1) * outputs].iter_mut();
            own.enumerate().for_each(|(t, slot)| *slot = found[(i, t)]);
        }
    }
    observer.end();
    Ok(predictions)
}

/// A ridge, and what it was chosen by.
struct Chosen {
    ridge: f64,
    validation_error: Option<f64>,
    scores: Vec<(f64, f64)>,
    /// The triangle of all rows, if it is known.
    sum: Option<Triangle>,
}

/// Choose the ridge. The parts are the folds if it is cross-validated.
fn choose<A: Scalar>(
    parts: &[RidgeRegression<'_, A>],
    ridges: &Candidates,
    observer: &dyn Observer,
) -> Result<Chosen, Error> {
    match ridges {
        Candidates::One(ridge) => {
            Ok(Chosen { ridge: *ridge, validation_error: None, scores: Vec::new(), sum: None })
        }
        Candidates::BestOf(grid) => {
            let Validated { scores, whole } = cross_validate_folds(parts, grid, observer)?;
            let numbers = numbers_fitted(parts);
            let (ridge, error) = least(&scores).ok_or(Error(Cause::Folds { rows: numbers as usize }))?;
            let validation_error = Some((error / numbers).sqrt());
            Ok(Chosen { ridge, validation_error, scores, sum: Some(whole) })
        }
        Candidates::BestLeaveOneOut(_) => Err(Error(Cause::LeaveOneOut)),
    }
}

/// Return the number of rows, by their weights, times that of targets.
fn numbers_fitted<A: Scalar>(parts: &[RidgeRegression<'_, A>]) -> f64 {
    parts.iter().map(|part| part.effective_rows().to_f64() * part.targets() as f64).sum()
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
    Ok((weights, Quality { ridge, train_error: (squared_error / numbers).sqrt(), validation_error, scores }))
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
    in_kernel_weights(nystrom, &weights, Quality { ridge, train_error, validation_error: None, scores })
}

fn conclude_at<T: Scalar, A: Scalar, G: GroundSet<T> + ?Sized>(
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
fn kernel_weights<T: Scalar, G: GroundSet<T> + ?Sized>(
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
fn without_part<T: Scalar, G: GroundSet<T> + ?Sized>(
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

/// Return the part of each fold: those that are left out have one of their own, and the others share up to
/// `most`.
fn together(left_out: &[u8], most: usize) -> [u8; FOLDS] {
    let others = most.min(FOLDS.saturating_sub(left_out.len())).max(1);
    let (mut alone, mut shared) = (others.., (0..others).cycle());
    array::from_fn(|fold| {
        let is_alone = left_out.contains(&(fold as u8));
        let part = if is_alone { alone.next() } else { shared.next() };
        part.unwrap_or(0) as u8
    })
}

/// Return the pair with the least finite second value.
fn least(scores: &[(f64, f64)]) -> Option<(f64, f64)> {
    let finite = scores.iter().copied().filter(|(_, error)| error.is_finite());
    finite.min_by(|one, other| one.1.total_cmp(&other.1))
}

#[cfg(test)]
mod tests {
    use super::{Input, least, regress, solve};
    use crate::approximation::features::independent_points;
    use crate::data::{columns::Targets, prepared::StandardTarget, targets::TargetRows};
    use crate::data::{weights::Weights, weights::normalised};
    use crate::error::{Cause, Error};
    use crate::kernel::kind::KernelKind;
    use crate::observer::NoObserver;
    use crate::regression::{
        checkpoint::Rounds, folds::Deal, leave_one_out, ridge::Candidates, ridge::Ridge, ridge::ridge_grid,
    };
    use dpp_nystrom_core::{Nystrom, Points};
    use dpp_nystrom_host::heap::Heap;
    use dpp_nystrom_host::simd::lane::Lane;
    use faer::{Mat, traits::RealField};

    /// Compare the leave-one-out errors of a fit with those of its features, times the square roots of the
    /// weights.
    fn leave_one_out_agrees<T: Lane + RealField>(
        (rows, c): (usize, usize),
        sigma: f64,
        weights: Option<&[f64]>,
        ridges: &[f64],
        tolerance: f64,
    ) {
        let value = |i: usize| ((i as f64 * 0.754_877_666).fract() - 0.5) * 4.0;
        let features: Vec<f64> = (0..rows * 2).map(|i| f64::from(value(i) as f32)).collect();
        let noise = |i: usize| value(i * i + 7) / 20.0;
        let targets: Vec<f64> =
            features.chunks(2).enumerate().map(|(i, x)| (2.0 * x[0]).sin() + x[1] + noise(i)).collect();
        let in_t = |values: &[f64]| values.iter().map(|&value| T::from_f64(value)).collect::<Vec<_>>();
        let (own, landmarks) = (in_t(&features), in_t(&features[..2 * c]));
        let kernel = KernelKind::Gaussian.build(sigma).unwrap();
        let input = Input {
            rows: &own,
            dim: 2,
            targets: TargetRows::Columns(Targets::F64(&targets), &[]),
            held_out: false,
            weights: Weights(weights),
            deal: Deal::default(),
            landmarks: &landmarks,
            kernel,
        };
        let candidates = Candidates::BestLeaveOneOut(ridges.to_vec());
        let found = regress(input, &candidates, 0, &mut Rounds::default(), false, &NoObserver).unwrap();

        // The core's features, in the same precision: that of the factor's small pivots decides on what the
        // penalty acts.
        let ground = Points::new(&landmarks, 2, kernel).unwrap();
        let mut memory = Heap::new(c).unwrap();
        let members = independent_points(&ground, &mut memory).unwrap();
        let nystrom = Nystrom::new(&members);
        let mut phi = Mat::<f64>::zeros(nystrom.rank(), rows);
        let mut column = vec![T::ZERO; nystrom.rank()];
        for (i, row) in own.chunks(2).enumerate() {
            ground.column_at(row, members.members(), &mut column).unwrap();
            nystrom.features_at(i, &mut column).unwrap();
            let root = input.weights.root(i);
            (0..column.len()).for_each(|k| phi[(k, i)] = root * column[k].to_f64());
        }
        let targets: Vec<f64> =
            targets.iter().enumerate().map(|(i, target)| input.weights.root(i) * target).collect();
        assert_eq!((found.kept.len(), found.quality.scores.len()), (phi.nrows(), ridges.len()));
        for &(ridge, squares) in &found.quality.scores {
            let fitted = leave_one_out::Fitted::new(&phi, &targets, ridge * rows as f64).unwrap();
            let expected = fitted.error() * rows as f64;
            assert!((squares - expected).abs() <= tolerance * expected, "{ridge:e}: {squares} {expected}");
        }
        let (best, squares) = least(&found.quality.scores).unwrap();
        assert_eq!(found.quality.ridge, best);
        assert_eq!(found.quality.validation_error, Some((squares / rows as f64).sqrt()));
    }

    #[test]
    fn each_row_is_left_out_in_a_second_pass() {
        let ridges: Vec<f64> = ridge_grid().collect();
        // Several blocks of rows and parts; a narrow and a wide bandwidth.
        leave_one_out_agrees::<f64>((2_000, 30), 1.0, None, &ridges, 1e-5);
        leave_one_out_agrees::<f64>((700, 60), 0.7, None, &ridges[4..], 1e-5);
        let weights = normalised((0..2_000).map(|row| 1.0 + f64::from(row * row % 7)).collect());
        leave_one_out_agrees::<f64>((2_000, 30), 1.0, Some(&weights), &ridges, 1e-5);
        // Two orders of the substitution differ by √ε times the weights, some 3e-4, which rows of high
        // leverage amplify.
        leave_one_out_agrees::<f32>((2_000, 30), 1.0, None, &ridges[8..], 1e-2);
        leave_one_out_agrees::<f32>((2_000, 30), 1.0, Some(&weights), &ridges[8..], 1e-2);
    }

    #[test]
    fn states_alone_have_no_leave_one_out_error() {
        let candidates = Candidates::from(Ridge::LeaveOneOut);
        assert!(matches!(solve::<f64>(&mut [], &candidates, &NoObserver), Err(Error(Cause::LeaveOneOut))));
    }

    #[test]
    fn the_grid_and_its_least() {
        let grid: Vec<f64> = ridge_grid().collect();
        assert_eq!((grid.len(), grid[0]), (19, 1e-10));
        assert!((grid[18] - 0.1).abs() < 1e-16);
        assert_eq!(least(&[(1.0, f64::INFINITY), (2.0, 5.0), (3.0, 4.0)]), Some((3.0, 4.0)));
        assert_eq!(least(&[(1.0, f64::NAN)]), None);
    }

    /// Several targets have the predictions of each alone, and the sum of their errors.
    fn targets_agree<T: Lane + RealField>((rows, c): (usize, usize), tolerance: f64) {
        let value = |i: usize| ((i as f64 * 0.754_877_666).fract() - 0.5) * 4.0;
        let features: Vec<T> = (0..rows * 2).map(|i| T::from_f64(value(i))).collect();
        let target = |t: usize| {
            let y = |x: &[T]| ((1.0 + t as f64) * x[0].to_f64()).sin() + x[1].to_f64() * value(t + 3);
            let values = features.chunks(2).enumerate().map(|(i, x)| y(x) + value(i * i + t) / 20.0);
            StandardTarget::of(format!("y{t}"), values.collect(), Weights::default()).unwrap()
        };
        let targets = [target(0), target(1), target(2)];
        let landmarks = &features[..2 * c];
        let kernel = KernelKind::Gaussian.build(0.7).unwrap();
        let on = |targets: &[StandardTarget], candidates: Candidates| {
            let (first, further) = targets.split_first().unwrap();
            let input = Input {
                rows: &features[..],
                dim: 2,
                targets: TargetRows::Columns(Targets::F64(&first.values), further),
                held_out: false,
                weights: Weights::default(),
                deal: Deal::default(),
                landmarks,
                kernel,
            };
            regress(input, &candidates, 0, &mut Rounds::default(), false, &NoObserver).unwrap()
        };
        let ridges = vec![1e-5, 1e-3, 1e-1];
        for candidates in [Candidates::BestOf(ridges.clone()), Candidates::BestLeaveOneOut(ridges)] {
            let all = on(&targets, candidates.clone());
            let alone = targets.each_ref().map(|target| on(std::slice::from_ref(target), candidates.clone()));
            for (at, &(ridge, squares)) in all.quality.scores.iter().enumerate() {
                let sum: f64 = alone.iter().map(|one| one.quality.scores[at].1).sum();
                assert!((squares - sum).abs() <= tolerance * sum, "{candidates:?} {ridge}: {squares} {sum}");
            }
            let (best, squares) = least(&all.quality.scores).unwrap();
            let root = |squares: f64| (squares / (3 * rows) as f64).sqrt();
            assert_eq!((all.quality.ridge, all.quality.validation_error), (best, Some(root(squares))));
            let (mut train, rank) = (0.0, all.kept.len());
            for (target, weights) in targets.iter().zip(all.weights.chunks_exact(rank)) {
                let one = on(std::slice::from_ref(target), Candidates::One(best));
                train += one.quality.train_error.powi(2) * rows as f64;
                // Weights of many landmarks are determined badly, and predictions well.
                let ground = Points::new(landmarks, 2, kernel).unwrap();
                let mut column = vec![T::ZERO; rank];
                for x in features.chunks(2).step_by(7) {
                    ground.column_at(x, &all.kept, &mut column).unwrap();
                    let predicted = |weights: &[T]| {
                        let terms = column.iter().zip(weights);
                        terms.map(|(value, weight)| value.to_f64() * weight.to_f64()).sum::<f64>()
                    };
                    let (found, expected) = (predicted(weights), predicted(&one.weights));
                    assert!((found - expected).abs() <= 100.0 * tolerance, "{c}: {found:?} {expected:?}");
                }
            }
            let train = root(train);
            assert!((all.quality.train_error - train).abs() <= tolerance * train);
        }
    }

    #[test]
    fn several_targets_have_the_predictions_of_each() {
        targets_agree::<f64>((2_500, 9), 1e-8);
        targets_agree::<f64>((2_500, 80), 1e-7);
        targets_agree::<f64>((4_000, 250), 1e-7);
        targets_agree::<f32>((2_500, 80), 1e-4);
    }
}
