//! The [`Confidence`] of a model, measured on the rows that it is fitted to.
//!
//! Limits and calibration come from a sample of the training rows, each predicted from all the others: with `φ` its features and
//! `h = ‖S⁻ᵀφ‖²` its leverage, its residual in a regression without it is `(y - ŷ)/(1 - h)`, and its leverage there is `h/(1 - h)`
//! (`λ` unchanged; Allen 1974). So no regression is repeated. A row that is a landmark is measured from the other landmarks: its
//! distance, and its residual `1/(K_CC⁻¹)_ii`. Without these rows the limits would be too low, since diverse landmarks are the rows that
//! are farthest from the others. They have no part in the calibration.
//!
//! The variance of the Gaussian process ([`dpp_nystrom_core::RidgeRegression`]) is multiplied by one factor, so that 90 % of the
//! sample are within [`DEVIATIONS`] standard deviations: a ridge that was chosen for prediction is not that of the largest likelihood,
//! and errors have heavier or lighter tails than a normal law.

use crate::error::{Error, landmarks_error};
use crate::model::confidence::{Confidence, DEVIATIONS};
use crate::regression::{cross_validation::Triangle, input::Input};
use dpp_nystrom_core::kernel::{ChosenKernel, Kernel};
use dpp_nystrom_core::{GroundSet, Nystrom, Points, RidgeRegression, Scalar, Solved};
use faer::{Mat, Par, linalg::triangular_solve::solve_lower_triangular_in_place};
use rayon::prelude::*;

/// The largest number of rows in the sample: its hundredth is measured to some 15 %.
const SAMPLE: usize = 4_096;

/// The fewest rows, of which one of a hundred can be beyond a limit.
const FEWEST: usize = 100;

/// What is measured of a row.
struct Row {
    /// Its distance to the nearest landmark, and its residual.
    beyond: [f64; 2],
    /// Of a row that equals a landmark: its place, and distance and residual without it.
    own: Option<(usize, [f64; 2])>,
    /// Its error when it is predicted from the others, in standard deviations of its variance.
    deviations: f64,
}

/// Measure the confidence of a regression on its rows, in standard deviations of the target. `weights` are those of the kernel. None for
/// fewer than [`FEWEST`] rows beside the landmarks, or without a ridge.
pub(crate) fn measure<T: Scalar, G: GroundSet<T> + Sync + ?Sized>(
    input: Input<'_, T>,
    nystrom: &Nystrom<'_, '_, T, G>,
    points: &Points<'_, T, ChosenKernel<T>>,
    regression: &RidgeRegression<'_, f64>,
    ridge: f64,
    weights: &[T],
) -> Result<Option<Confidence>, Error> {
    let Input { rows, dim, targets, landmarks, kernel } = input;
    let rank = nystrom.rank();
    let Some(penalised) = Triangle::of(regression).penalised(ridge) else { return Ok(None) };
    let triangle = penalised.submatrix(0, 0, rank, rank);
    let rows_learned = regression.rows() as f64;
    let solved =
        Solved { penalty: ridge * rows_learned, noise: penalised[(rank, rank)].powi(2) / rows_learned };
    let count = rows.len() / dim;
    let sample = count.min(SAMPLE);
    let measured = (0..sample).into_par_iter().map_init(
        || (vec![T::ZERO; rank], Mat::<f64>::zeros(rank, 1)),
        |(phi, wide), at| {
            let row_at = (at as u128 * count as u128 / sample as u128) as usize;
            let row = &rows[row_at * dim..(row_at + 1) * dim];
            let square = |landmark: &[T]| {
                let differences = landmark.iter().zip(row).map(|(&a, &b)| (a - b).to_f64());
                differences.map(|difference| difference * difference).sum::<f64>()
            };
            let kept = nystrom.members().iter().map(|&place| &landmarks[place * dim..(place + 1) * dim]);
            let (mut nearest, mut second, mut place) = (f64::INFINITY, f64::INFINITY, 0);
            for (at, distance) in kept.map(square).enumerate() {
                if distance < nearest {
                    (nearest, second, place) = (distance, nearest, at);
                } else {
                    second = second.min(distance);
                }
            }
            points.column_at(row, nystrom.members(), phi).map_err(landmarks_error)?;
            let predicted: f64 = phi.iter().zip(weights).map(|(&k, &w)| k.to_f64() * w.to_f64()).sum();
            let diagonal = kernel.diagonal(row);
            let residual = nystrom.residual_at(row_at, diagonal, phi).map_err(landmarks_error)?;
            wide.col_as_slice_mut(0)
                .iter_mut()
                .zip(phi.iter())
                .for_each(|(wide, &value)| *wide = value.to_f64());
            solve_lower_triangular_in_place(triangle.transpose(), wide.as_mut(), Par::Seq);
            let leverage = wide.squared_norm_l2();
            let free = 1.0 - leverage;
            let left = (targets.at(row_at) - predicted) / free;
            let variance = solved.variance(residual.to_f64(), leverage / free);
            let own = if nearest == 0.0 && second.is_finite() {
                phi.fill(T::ZERO);
                phi[place] = T::ONE;
                nystrom.transform(phi)?;
                let inverse: f64 = phi.iter().map(|value| value.to_f64() * value.to_f64()).sum();
                Some((place, [second.sqrt(), 1.0 / inverse]))
            } else {
                None
            };
            let deviations = left.abs() / variance.sqrt();
            Ok(Row { beyond: [nearest.sqrt(), residual.to_f64()], own, deviations })
        },
    );
    let measured = measured.collect::<Result<Vec<Row>, Error>>()?;
    let (mut columns, mut landmarks_met) = ([const { Vec::new() }; 3], vec![false; nystrom.rank()]);
    for Row { mut beyond, own, deviations } in measured {
        match own {
            // Further rows that equal a landmark are not it.
            Some((place, others)) if !std::mem::replace(&mut landmarks_met[place], true) => beyond = others,
            _ => columns[2].push(deviations),
        }
        columns[0].push(beyond[0]);
        columns[1].push(beyond[1]);
    }
    if columns[2].len() < FEWEST || columns.iter().flatten().any(|number| !number.is_finite()) {
        return Ok(None);
    }
    columns.iter_mut().for_each(|column| column.sort_unstable_by(f64::total_cmp));
    let [nearest, residual, deviations] = columns;
    let exceeded = |column: &[f64], part: usize| column[column.len() - 1 - column.len() / part];
    let limits = |column: &[f64]| [2, 10, 100].map(|part| exceeded(column, part));
    let factor = exceeded(&deviations, 10) / DEVIATIONS;
    let Solved { penalty, noise } = solved;
    let targets = (0..count).map(|row| targets.at(row));
    let range = targets.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], y| [a.min(y), b.max(y)]);
    Ok(Some(Confidence {
        range,
        nearest: limits(&nearest),
        residual: limits(&residual),
        penalty,
        noise: noise * factor * factor,
        triangle: (0..rank).flat_map(|j| penalised.col_as_slice(j)[..=j].iter().copied()).collect(),
    }))
}
