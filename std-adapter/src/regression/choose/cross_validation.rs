//! Cross-validation of the ridge at the cost of one decomposition.
//!
//! Each fold is an accumulator ([`dpp_nystrom_core::RidgeRegression`]): the triangle `[R q; 0 r]` of its
//! rows, with a column `[q; r]` for each target. The error of weights `β` on it is `‖Rβ - q‖² + ‖r‖²`, summed
//! over the targets. No product `RᵀR` is formed.
//!
//! # All ridges
//!
//! The triangle of all rows is decomposed once, and the change of the weights without a fold is found by
//! conjugate gradients ([`crate::regression::choose::conjugate_gradients`]). Where their steps do not
//! suffice, each fold is left out as follows.
//!
//! # One fold after another
//!
//! The sums of all folds but one are found by halving: the sum outside a half is passed down to it. For `k`
//! folds this takes about `k log₂ k` sums (33 for ten) instead of `k²`, of `2c³/3` operations each, and
//! memory for `log₂ k` triangles per thread beside the folds. Each sum is decomposed, and gives the weights
//! of every ridge.
//!
//! The result does not depend on the number of threads.

use crate::error::{Cause, Error};
use crate::linalg::bidiagonal::Bidiagonal;
use crate::observer::{Observer, go_on};
use crate::regression::{choose::conjugate_gradients::errors_without, rows::triangle::Triangle};
use dpp_nystrom_core::{Error as CoreError, RidgeRegression, Scalar};
use rayon::prelude::*;
use std::borrow::Borrow;

/// The result of [`cross_validate_folds`].
#[derive(Debug)]
pub(crate) struct Validated {
    /// The squared error over all folds for each ridge.
    pub(crate) scores: Vec<(f64, f64)>,
    /// The triangle of all rows.
    pub(crate) whole: Triangle,
}

/// Return the squared error over all folds for each ridge, each fold predicted from the others. It is
/// infinite for a ridge that is too small for the rows: such a ridge is never selected.
///
/// Errors agree with the core's `solve` and `squared_error` to rounding amplified by the condition of the
/// penalised triangle, `max ‖φ‖ / √γ`: a relative 10⁻¹⁰ for γ = 10⁻¹⁰; and to 10⁻⁸ for a fold with directions
/// of its own.
///
/// # Errors
/// `ErrorKind::Data` for fewer than two folds; `ErrorKind::Regression` for folds of different features, for a
/// ridge that is negative or not finite, and if all rows are in one fold; `ErrorKind::Cancelled`.
pub(crate) fn cross_validate_folds<T: Scalar>(
    folds: &[RidgeRegression<'_, T>],
    ridges: &[f64],
    observer: &dyn Observer,
) -> Result<Validated, Error> {
    check(folds, ridges)?;
    let penalised = ridges.iter().all(|&ridge| ridge > 0.0);
    let found = if penalised { by_gradients(folds, ridges, observer)? } else { None };
    let (errors, whole) = found.map_or_else(|| by_decompositions(folds, ridges, observer), Ok)?;
    let total = |at: usize| errors.iter().map(|fold| fold[at]).sum();
    let scores = ridges.iter().enumerate().map(|(at, &ridge)| (ridge, total(at))).collect();
    Ok(Validated { scores, whole })
}

/// The squared errors of each fold for each ridge, and the triangle of all rows.
type Errors = (Vec<Vec<f64>>, Triangle);

/// Find the errors from a decomposition of the other folds.
fn by_decompositions<T: Scalar>(
    folds: &[RidgeRegression<'_, T>],
    ridges: &[f64],
    observer: &dyn Observer,
) -> Result<Errors, Error> {
    let error = |outside: &Triangle, fold: &Triangle| {
        let mut errors = fold.squared_errors(outside.weights(ridges).as_ref());
        let regular = outside.is_regular(T::EPSILON.to_f64());
        for (error, &ridge) in errors.iter_mut().zip(ridges) {
            if !error.is_finite() || (ridge == 0.0 && !regular) {
                *error = f64::INFINITY;
            }
        }
        errors
    };
    each_left_out(folds, ridges, &error, observer)
}

/// Find the errors by conjugate gradients from the weights of all rows. `None` if they are not found.
fn by_gradients<T: Scalar>(
    folds: &[RidgeRegression<'_, T>],
    ridges: &[f64],
    observer: &dyn Observer,
) -> Result<Option<Errors>, Error> {
    observer.begin("folds", folds.len() as u64 - 1 + DECOMPOSITION + FOLD * folds.len() as u64);
    let [whole, ..] = &sums_of_halves(folds, observer)?;
    go_on(observer)?;
    let all = Bidiagonal::new(whole.square(), whole.targets());
    let basis = all.basis();
    observer.advance(DECOMPOSITION);
    let errors = |fold: &RidgeRegression<'_, T>| {
        go_on(observer)?;
        let fold = Triangle::of(fold)?;
        let penalties = ridges.iter().map(|ridge| ((whole.rows() - fold.rows()) * ridge).sqrt());
        let errors = errors_without(&fold, &all, basis.as_ref(), &penalties.collect::<Vec<_>>());
        observer.advance(FOLD);
        Ok(errors)
    };
    let errors = folds.par_iter().map(errors).collect::<Result<Option<Vec<_>>, Error>>()?;
    observer.end();
    Ok(errors.map(|errors| (errors, whole.clone())))
}

/// Return for each fold what `visit` finds from the triangle of the others and its own, and the triangle of
/// all rows.
///
/// # Errors
/// Those of [`cross_validate_folds`].
pub(crate) fn each_left_out<'m, T: Scalar, F: Borrow<RidgeRegression<'m, T>> + Sync, A: Send>(
    folds: &[F],
    ridges: &[f64],
    visit: &(impl Fn(&Triangle, &Triangle) -> A + Sync),
    observer: &dyn Observer,
) -> Result<(Vec<A>, Triangle), Error> {
    check(folds, ridges)?;
    let (left, right) = folds.split_at(folds.len() / 2);
    let steps = [left, right].map(|half| steps_to_leave_out(half.len()));
    observer.begin("folds", folds.len() as u64 - 1 + steps.iter().sum::<u64>());
    let [whole, of_left, of_right] = sums_of_halves(folds, observer)?;
    let (of_left, of_right) = rayon::join(
        || leave_out(left, &of_right, visit, observer),
        || leave_out(right, &of_left, visit, observer),
    );
    let found = of_left?.into_iter().chain(of_right?).collect();
    observer.end();
    Ok((found, whole))
}

/// Check that folds and ridges can be cross-validated.
fn check<'m, T: Scalar>(folds: &[impl Borrow<RidgeRegression<'m, T>>], ridges: &[f64]) -> Result<(), Error> {
    let rows = || folds.iter().map(|fold| fold.borrow().rows() as usize);
    let [first, _, ..] = folds else { return Err(Error(Cause::Folds { rows: rows().sum() })) };
    for shape in [RidgeRegression::features, RidgeRegression::targets] {
        let expected = shape(first.borrow());
        if let Some(found) = folds.iter().map(|fold| shape(fold.borrow())).find(|&found| found != expected) {
            return Err(Error::regression(CoreError::Length { expected, found }));
        }
    }
    if ridges.iter().any(|ridge| !(*ridge >= 0.0 && ridge.is_finite())) {
        return Err(Error::regression(CoreError::Ridge));
    }
    if rows().filter(|&rows| rows > 0).count() < 2 {
        return Err(Error::regression(CoreError::NoRows));
    }
    Ok(())
}

/// Return the triangles of all rows, and of those of each half of the folds.
fn sums_of_halves<'m, T: Scalar, F: Borrow<RidgeRegression<'m, T>> + Sync>(
    folds: &[F],
    observer: &dyn Observer,
) -> Result<[Triangle; 3], Error> {
    let (left, right) = folds.split_at(folds.len() / 2);
    let (of_left, of_right) = rayon::join(|| Triangle::of_all(left), || Triangle::of_all(right));
    let (of_left, of_right) = (of_left?, of_right?);
    let whole = of_left.plus(&of_right);
    observer.advance(folds.len() as u64 - 1);
    Ok([whole, of_left, of_right])
}

/// The time of a decomposition with the weights and errors of all ridges, in sums of triangles.
const DECOMPOSITION: u64 = 6;

/// The time of the gradients for a fold, in sums of triangles.
const FOLD: u64 = 4;

/// Return the time of [`leave_out`] for this many folds, in sums of triangles.
fn steps_to_leave_out(folds: usize) -> u64 {
    match folds {
        0 => 0,
        1 => DECOMPOSITION,
        _ => folds as u64 + steps_to_leave_out(folds / 2) + steps_to_leave_out(folds - folds / 2),
    }
}

/// Return for each of these folds what `visit` finds from the other folds with the rows outside, and from its
/// own.
fn leave_out<'m, T: Scalar, F: Borrow<RidgeRegression<'m, T>> + Sync, A: Send>(
    folds: &[F],
    outside: &Triangle,
    visit: &(impl Fn(&Triangle, &Triangle) -> A + Sync),
    observer: &dyn Observer,
) -> Result<Vec<A>, Error> {
    go_on(observer)?;
    if let [fold] = folds {
        let found = visit(outside, &Triangle::of(fold.borrow())?);
        observer.advance(DECOMPOSITION);
        return Ok(vec![found]);
    }
    let (left, right) = folds.split_at(folds.len() / 2);
    let without = |half: &[F], other: &[F]| {
        let outside = outside.clone().with_rows_of(other)?;
        observer.advance(other.len() as u64);
        leave_out(half, &outside, visit, observer)
    };
    let (of_left, of_right) = rayon::join(|| without(left, right), || without(right, left));
    Ok(of_left?.into_iter().chain(of_right?).collect())
}

#[cfg(test)]
mod tests {
    use super::{by_decompositions, by_gradients, cross_validate_folds};
    use crate::error::{Cause, Error};
    use crate::observer::{NoObserver, Observer};
    use crate::regression::ridge::ridge_grid;
    use dpp_nystrom_core::{Error as CoreError, RidgeRegression, Scalar, Solution};
    use dpp_nystrom_host::heap::RidgeHeap;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Folds of rows whose features have lengths from 1 down to `1/condition`, of `span` dimensions.
    fn on_folds<T: Scalar, A>(
        (folds, c, span): (usize, usize, usize),
        condition: f64,
        work: impl FnOnce(&[RidgeRegression<'_, T>]) -> A,
    ) -> A {
        let mut heaps: Vec<_> = (0..folds).map(|_| RidgeHeap::<T>::new(c).unwrap()).collect();
        let mut folds: Vec<_> =
            heaps.iter_mut().map(|heap| RidgeRegression::new(c, heap.lend()).unwrap()).collect();
        let value = |i: usize, k: usize| ((i * 97 + (k % span) * 13) as f64 * 0.754_877_666).fract() - 0.5;
        let scale = |k: usize| condition.powf(-((k % span) as f64) / (span as f64 - 1.0).max(1.0));
        let (mut row, count) = (vec![T::ZERO; c], folds.len());
        for i in 0..20 * c {
            for (k, slot) in row.iter_mut().enumerate() {
                // A mixture of neighbours, so that the triangle is not diagonal.
                let mixed = value(i * i, k) * scale(k) + 0.5 * value(i * i, k + 1) * scale(k + 1);
                *slot = T::from_f64(mixed);
            }
            let target =
                (0..span).map(|k| value(i * i, k) * scale(k).powf(0.7)).sum::<f64>() + value(i, c + 3);
            folds[i % count].add(&row, T::from_f64(target)).unwrap();
        }
        work(&folds)
    }

    /// The scores from a solution by the core for each ridge and fold.
    fn solved<T: Scalar>(folds: &[RidgeRegression<'_, T>], ridges: &[f64]) -> Vec<f64> {
        let score = |&ridge: &f64| -> f64 {
            let error = |held_out: usize| {
                let mut heap = RidgeHeap::new(folds[0].features()).unwrap();
                let mut others = RidgeRegression::new(folds[0].features(), heap.lend()).unwrap();
                for (_, fold) in folds.iter().enumerate().filter(|(at, _)| *at != held_out) {
                    others.merge(fold).unwrap();
                }
                match others.solve(T::from_f64(ridge)) {
                    Ok(Solution { weights, .. }) => folds[held_out].squared_error(&weights).unwrap().to_f64(),
                    Err(CoreError::NotPositive { .. }) => f64::INFINITY,
                    Err(reason) => panic!("{reason}"),
                }
            };
            (0..folds.len()).map(error).sum()
        };
        ridges.iter().map(score).collect()
    }

    fn agree<T: Scalar>(shape: (usize, usize, usize), condition: f64, ridges: &[f64], tolerance: f64) {
        on_folds(shape, condition, |folds: &[RidgeRegression<'_, T>]| {
            let expected = solved(folds, ridges);
            let are_positive = ridges.iter().all(|&ridge| ridge > 0.0);
            let steps = are_positive.then(|| by_gradients(folds, ridges, &NoObserver).unwrap());
            let steps = steps.map(|steps| steps.expect("directions of one fold"));
            for (errors, _) in
                [steps, Some(by_decompositions(folds, ridges, &NoObserver).unwrap())].into_iter().flatten()
            {
                assert_eq!((errors.len(), errors[0].len()), (folds.len(), ridges.len()));
                for (at, (ridge, expected)) in ridges.iter().zip(&expected).enumerate() {
                    let found: f64 = errors.iter().map(|fold| fold[at]).sum();
                    let equal = found == *expected || (found - expected).abs() <= tolerance * expected;
                    assert!(equal, "{shape:?} {condition:e} {ridge:e}: {found:e}, directly {expected:e}");
                }
            }
        });
    }

    #[test]
    fn scores_are_those_of_a_solution_for_each_ridge() {
        let ridges: Vec<f64> = ridge_grid().collect();
        agree::<f64>((10, 50, 50), 1.0, &ridges, 1e-11);
        agree::<f64>((10, 50, 50), 1e8, &ridges, 1e-10);
        agree::<f64>((10, 50, 50), 1e8, &[1e-13, 1e-16], 1e-7);
        // Several blocks of columns, fewer folds, an odd number, and single features.
        agree::<f64>((3, 101, 101), 1e8, &ridges, 1e-10);
        agree::<f64>((2, 2, 2), 1.0, &ridges, 1e-12);
        agree::<f64>((7, 1, 1), 1.0, &ridges, 1e-12);
        // Features of half as many dimensions: the ridge alone determines the weights.
        agree::<f64>((10, 50, 25), 1e4, &ridges, 1e-10);
        // An accumulator in single precision is decomposed in double precision.
        agree::<f32>((10, 50, 50), 1e3, &ridges[6..], 1e-2);
    }

    /// Counts the steps announced and taken.
    #[derive(Default)]
    struct Count(AtomicU64, AtomicU64);

    impl Observer for Count {
        fn begin(&self, _: &str, steps: u64) {
            self.0.fetch_add(steps, Ordering::Relaxed);
        }

        fn advance(&self, steps: u64) {
            self.1.fetch_add(steps, Ordering::Relaxed);
        }

        fn end(&self) {}
    }

    #[test]
    fn all_steps_announced_are_taken() {
        for count in [2, 3, 7, 10] {
            let steps = Count::default();
            on_folds((count, 4, 4), 1.0, |folds: &[RidgeRegression<'_, f64>]| {
                cross_validate_folds(folds, &[1e-3], &steps).unwrap();
            });
            assert_eq!(steps.0.into_inner(), steps.1.into_inner(), "{count}");
        }
    }

    #[test]
    fn a_ridge_too_small_for_the_rows_has_no_score() {
        agree::<f64>((10, 50, 50), 10.0, &[0.0, 1e-3], 1e-10);
        agree::<f64>((10, 50, 25), 10.0, &[0.0, 1e-3], 1e-10);
        on_folds((10, 50, 25), 10.0, |folds: &[RidgeRegression<'_, f64>]| {
            let scores = cross_validate_folds(folds, &[0.0, 1e-3], &NoObserver).unwrap().scores;
            assert!(scores[0].1 == f64::INFINITY && scores[1].1.is_finite(), "{scores:?}");
        });
    }

    #[test]
    fn a_direction_of_one_fold_is_left_out_exactly() {
        let c = 50;
        let mut heap = RidgeHeap::<f64>::new(c).unwrap();
        let mut other = heap.clone();
        let mut own = RidgeRegression::new(c, heap.lend()).unwrap();
        on_folds((10, c, 25), 10.0, |folds: &[RidgeRegression<'_, f64>]| {
            own.merge(&folds[0]).unwrap();
            let mut row = vec![0.0; c];
            row[49] = 1.0;
            own.add(&row, 3.0).unwrap();
            let mut rest = RidgeRegression::new(c, other.lend()).unwrap();
            folds[1..].iter().for_each(|fold| rest.merge(fold).unwrap());
            let folds = [own, rest];
            // With the larger ridge, the others say as much as rounding does not hide.
            for (ridge, by_steps) in [(1e-6, true), (1e-14, false)] {
                assert_eq!(by_gradients(&folds, &[ridge], &NoObserver).unwrap().is_some(), by_steps);
                let found = cross_validate_folds(&folds, &[ridge], &NoObserver).unwrap().scores[0].1;
                let expected = solved(&folds, &[ridge])[0];
                assert!((found - expected).abs() <= 1e-8 * expected, "{ridge:e}: {found:e} {expected:e}");
            }
        });
    }

    #[test]
    fn what_cannot_be_validated_is_refused() {
        on_folds((10, 4, 4), 1.0, |folds: &[RidgeRegression<'_, f64>]| {
            let refused = |folds, ridges: &[f64]| match cross_validate_folds(folds, ridges, &NoObserver) {
                Err(Error(Cause::Regression { reason })) => reason,
                other => panic!("{other:?}"),
            };
            for ridge in [-1.0, f64::NAN, f64::INFINITY] {
                assert_eq!(refused(folds, &[1e-3, ridge]), CoreError::Ridge);
            }
            let single = cross_validate_folds(&folds[..1], &[1e-3], &NoObserver);
            assert!(matches!(single, Err(Error(Cause::Folds { rows: 8 }))), "{single:?}");
            let (mut heap, mut other) = (RidgeHeap::new(4).unwrap(), RidgeHeap::new(4).unwrap());
            let mut full = RidgeRegression::new(4, heap.lend()).unwrap();
            full.merge(&folds[0]).unwrap();
            let empty = RidgeRegression::new(4, other.lend()).unwrap();
            assert_eq!(refused(&[full, empty], &[1e-3]), CoreError::NoRows);
        });
    }
}
