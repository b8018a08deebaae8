//! Multi-threaded ridge regression on landmarks over all rows.
//!
//! Rows are accumulated in parts ([`crate::regression::solve::parts`]). All else follows from their sums: the
//! choice of the ridge ([`crate::regression::choose`]), the weights ([`crate::regression::solve::solution`]),
//! and what a head needs of rows that are predicted without their fold.

use crate::approximation::features::independent_points;
use crate::error::{Cause, Error};
use crate::linalg::eigen::product;
use crate::observer::Observer;
use crate::regression::{
    checkpoint::Rounds, choose::choice::Chosen, choose::choice::choose, choose::scan::least,
    choose::second_pass::leave_one_out, head::Head, ridge::Candidates, rows::input::Input,
    rows::triangle::Triangle, solve::calibration::measure, solve::iterative::few, solve::iterative::iterate,
    solve::iterative::pays, solve::logistic::logistic, solve::parts::Asked, solve::parts::Parts,
    solve::solution::Quality, solve::solution::Regression, solve::solution::WithoutFold,
    solve::solution::conclude_at, solve::solution::without_part,
};
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Nystrom, Points, RidgeRegression};
use dpp_nystrom_host::heap::{Heap, RidgeHeap};
use dpp_nystrom_host::simd::lane::{Ground, Lane};
use faer::traits::RealField;

/// Ask for weights alone.
fn weights_alone(seed: u64) -> Asked<'static> {
    Asked { head: Head::Values, seed, measured: false, left_out: &[], judged: None }
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
    let (ridges, asked) = (Candidates::BestOf(ridges), weights_alone(seed));
    let fitted = regress(input, &ridges, asked, &mut Rounds::default(), observer)?;
    Ok(fitted.quality)
}

/// Return the squared error of each of these ridges in 10-fold cross-validation, summed over rows and
/// targets.
///
/// # Errors
/// Those of [`regress`].
pub(crate) fn errors_of_ridges<T: Lane + RealField>(
    input: Input<'_, T>,
    ridges: &[f64],
    seed: u64,
    observer: &dyn Observer,
) -> Result<Vec<f64>, Error> {
    let (candidates, asked) = (Candidates::BestOf(ridges.to_vec()), weights_alone(seed));
    check(&input, &candidates)?;
    // Conjugate gradients leave out most ridges.
    let fitted = by_sums(input, &candidates, asked, &mut Rounds::default(), observer)?;
    let errors: Vec<f64> = fitted.quality.scores.into_iter().map(|(_, squares)| squares).collect();
    debug_assert_eq!(errors.len(), ridges.len(), "an error for each ridge");
    Ok(errors)
}

/// Fit weights to the rows: `c` kernel evaluations and `O(c²)` per row, then `O(c³)`; and [`measure`] on a
/// sample of them how far they can be relied on, if it is asked for. Weights without each of the folds that
/// are left out follow from the sums of the others: `O(c³)` each.
///
/// # Errors
/// `ErrorKind::Landmarks`, `ErrorKind::Regression` with the core's reason, `ErrorKind::Memory`,
/// `ErrorKind::Cancelled`.
pub(crate) fn regress<T: Lane + RealField>(
    input: Input<'_, T>,
    ridges: &Candidates,
    asked: Asked<'_>,
    rounds: &mut Rounds<'_>,
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    check(&input, ridges)?;
    if pays(input.landmarks.len() / input.dim, input.targets.rows(), ridges, asked.head, rounds) {
        let begin = ridge_of_few(input, ridges, asked, observer)?;
        return iterate(input, ridges, begin, asked, observer);
    }
    by_sums(input, ridges, asked, rounds, observer)
}

/// [`regress`] by the sums of all rows.
fn by_sums<T: Lane + RealField>(
    input: Input<'_, T>,
    ridges: &Candidates,
    asked: Asked<'_>,
    rounds: &mut Rounds<'_>,
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    let ground = Points::new(input.landmarks, input.dim, input.kernel).map_err(Error::landmarks)?;
    let mut memory = Heap::new(ground.len())?;
    let landmarks = independent_points(&ground, &mut memory)?;
    let landmarks = &landmarks;
    let (rank, outputs) = (landmarks.len(), input.targets.outputs());
    let parts = Parts::new(input, ridges, asked, rank);
    let heaps = (0..parts.count).map(|_| RidgeHeap::with_targets(rank, outputs));
    let mut heaps = heaps.collect::<Result<Vec<_>, _>>()?;
    let sums = heaps.iter_mut().map(|heap| heap.regression(rank, outputs));
    let mut sums = sums.collect::<Result<Vec<_>, _>>().map_err(Error::regression)?;
    parts.accumulate(landmarks, &mut sums, rounds, observer)?;
    match asked.head {
        Head::Values => least_squares(input, landmarks, ridges, asked, (&parts, &mut sums), observer),
        Head::Classes => {
            let whole = Triangle::of_all(&sums)?;
            let gram = product(whole.square().transpose(), whole.square());
            logistic(input, landmarks, gram.as_ref(), ridges, asked, observer)
        }
    }
}

/// Return the ridge of a few of the landmarks, chosen without the folds that are left out.
fn ridge_of_few<T: Lane + RealField>(
    input: Input<'_, T>,
    ridges: &Candidates,
    asked: Asked<'_>,
    observer: &dyn Observer,
) -> Result<f64, Error> {
    if let Candidates::One(ridge) = ridges {
        return Ok(*ridge);
    }
    let (landmarks, asked) = (few(&input), Asked { measured: false, ..asked });
    let input = Input { landmarks: &landmarks, ..input };
    let fitted = regress(input, ridges, asked, &mut Rounds::default(), observer)?;
    Ok(fitted.without.first().map_or(fitted.quality.ridge, |without| without.ridge))
}

/// Check that rows and targets agree, and that the ridge can be chosen.
fn check<T>(input: &Input<'_, T>, ridges: &Candidates) -> Result<(), Error> {
    let (expected, found) = (input.rows.len().checked_div(input.dim).unwrap_or(0), input.targets.rows());
    if found != expected {
        return Err(Error::regression(CoreError::Length { expected, found }));
    }
    match ridges {
        Candidates::One(value) if !(value * expected as f64).is_finite() => {
            Err(Error::regression(CoreError::Ridge))
        }
        Candidates::BestLeaveOneOut(_) if input.deal.keeps_together() => Err(Error(Cause::LeftOutAlone)),
        _ => Ok(()),
    }
}

/// Minimise the squared error over the targets, from the sums of the parts.
fn least_squares<T: Lane + RealField>(
    input: Input<'_, T>,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    ridges: &Candidates,
    asked: Asked<'_>,
    (parts, sums): (&Parts<'_, T>, &mut [RidgeRegression<'_, f64>]),
    observer: &dyn Observer,
) -> Result<Regression<T>, Error> {
    let nystrom = Nystrom::new(landmarks);
    let chosen = choose_ridge(input, landmarks, sums, ridges, observer)?;
    let mut without = Vec::new();
    for &fold in asked.left_out {
        match without_part(&nystrom, sums, parts.of_fold(fold), ridges, observer) {
            Ok((ridge, weights)) => without.push(WithoutFold { fold, ridge, weights }),
            Err(Error(Cause::Cancelled)) => return Err(Error(Cause::Cancelled)),
            // The other rows alone may determine no weights.
            Err(_) => {}
        }
    }
    let fitted = Regression { without, ..conclude_at(&nystrom, sums, chosen)? };
    let confidence = match sums.first() {
        Some(whole) if asked.measured && input.targets.outputs() == 1 => {
            measure(input, landmarks, whole, fitted.quality.ridge, &fitted.weights)?
        }
        _ => None,
    };
    Ok(Regression { confidence, ..fitted })
}

/// Choose the ridge by the sums of the parts, or by leaving out each row in a second pass.
fn choose_ridge<T: Lane + RealField>(
    input: Input<'_, T>,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    sums: &[RidgeRegression<'_, f64>],
    ridges: &Candidates,
    observer: &dyn Observer,
) -> Result<Chosen, Error> {
    let Candidates::BestLeaveOneOut(grid) = ridges else { return choose(sums, ridges, observer) };
    let rows = input.targets.rows();
    let scores = leave_one_out(input, landmarks, sums, grid, observer)?;
    let (ridge, squares) = least(scores.iter().copied()).ok_or(Error(Cause::Folds { rows }))?;
    let validation_error = Some((squares / (rows * input.targets.outputs()) as f64).sqrt());
    Ok(Chosen { ridge, validation_error, scores, sum: None })
}

#[cfg(test)]
mod tests {
    use super::{Asked, Head, Input, least, regress};
    use crate::approximation::features::independent_points;
    use crate::data::{columns::Targets, prepared::StandardTarget, targets::TargetRows};
    use crate::data::{weights::Weights, weights::normalised};
    use crate::error::{Cause, Error};
    use crate::kernel::kind::KernelKind;
    use crate::observer::NoObserver;
    use crate::regression::{
        checkpoint::Rounds, choose::leave_one_out, ridge::Candidates, ridge::Ridge, ridge::ridge_grid,
        rows::folds::Deal, solve::solution::solve,
    };
    use dpp_nystrom_core::{Nystrom, Points};
    use dpp_nystrom_host::heap::Heap;
    use dpp_nystrom_host::simd::lane::Lane;
    use faer::{Mat, traits::RealField};

    const ASKED: Asked<'_> =
        Asked { head: Head::Values, seed: 0, measured: false, left_out: &[], judged: None };

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
            weights: Weights(weights),
            deal: Deal::default(),
            landmarks: &landmarks,
            kernel,
        };
        let candidates = Candidates::BestLeaveOneOut(ridges.to_vec());
        let found = regress(input, &candidates, ASKED, &mut Rounds::default(), &NoObserver).unwrap();

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
        let (best, squares) = least(found.quality.scores.iter().copied()).unwrap();
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
    fn the_grid_has_half_powers_of_ten() {
        let grid: Vec<f64> = ridge_grid().collect();
        assert_eq!((grid.len(), grid[0]), (23, 1e-10));
        assert!((grid[18] - 0.1).abs() < 1e-16 && (grid[22] - 10.0).abs() < 1e-14);
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
                weights: Weights::default(),
                deal: Deal::default(),
                landmarks,
                kernel,
            };
            regress(input, &candidates, ASKED, &mut Rounds::default(), &NoObserver).unwrap()
        };
        let ridges = vec![1e-5, 1e-3, 1e-1];
        for candidates in [Candidates::BestOf(ridges.clone()), Candidates::BestLeaveOneOut(ridges)] {
            let all = on(&targets, candidates.clone());
            let alone = targets.each_ref().map(|target| on(std::slice::from_ref(target), candidates.clone()));
            for (at, &(ridge, squares)) in all.quality.scores.iter().enumerate() {
                let sum: f64 = alone.iter().map(|one| one.quality.scores[at].1).sum();
                assert!((squares - sum).abs() <= tolerance * sum, "{candidates:?} {ridge}: {squares} {sum}");
            }
            let (best, squares) = least(all.quality.scores.iter().copied()).unwrap();
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
