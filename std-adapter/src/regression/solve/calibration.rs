//! The [`Confidence`] of a model, measured on the rows that it is fitted to.
//!
//! Limits and calibration come from a sample of the training rows, each predicted from all the others: with
//! `φ` its features and `h = ‖S⁻ᵀφ‖²` its leverage, its residual in a regression without it is
//! `(y - ŷ)/(1 - h)`, and its leverage there is `h/(1 - h)` (`λ` unchanged; Allen 1974). So no regression is
//! repeated. A row that is a landmark is measured from the other landmarks: its distance, and its residual
//! `1/(K_CC⁻¹)_ii`. Without these rows the limits would be too low, since diverse landmarks are the rows that
//! are farthest from the others. They have no part in the calibration.
//!
//! The variance of the Gaussian process ([`dpp_nystrom_core::RidgeRegression`]) is multiplied by one factor,
//! so that 90 % of the sample are within [`DEVIATIONS`] standard deviations: a ridge that was chosen for
//! prediction is not that of the largest likelihood, and errors have heavier or lighter tails than a normal
//! law.

use crate::error::Error;
use crate::linalg::eigen::product;
use crate::model::confidence::{Confidence, DEVIATIONS};
use crate::regression::{
    choose::leave_one_out::BLOCK, rows::input::Input, rows::triangle::Triangle, rows::whitening::Columns,
    rows::whitening::Whitening,
};
use dpp_nystrom_core::kernel::Kernel;
use dpp_nystrom_core::{Landmarks, RidgeRegression, Solved};
use dpp_nystrom_host::simd::lane::{Ground, Lane};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, MatRef, Par, traits::RealField};
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
    weight: f64,
}

/// What rows are measured by.
struct Sample<'s, 'm, 'a, 'g, T> {
    input: Input<'s, T>,
    landmarks: &'m Landmarks<'a, T, Ground<'g, T>>,
    whitening: Whitening<'m, 'a, 'g, T>,
    /// The penalised triangle of all rows.
    triangle: MatRef<'s, f64>,
    solved: Solved<f64>,
    weights: &'s [T],
}

impl<T: Lane + RealField> Sample<'_, '_, '_, '_, T> {
    /// Measure the rows at these places.
    fn measure(&self, places: &[usize]) -> Result<Vec<Row>, Error> {
        let Input { targets, kernel, weights, .. } = self.input;
        let row = |place: usize| self.input.row(place);
        let mut phi = self.whitening.kernel_values(places.iter().map(|&place| row(place)))?;
        let of_kernel = Mat::from_fn(self.weights.len(), 1, |k, _| self.weights[k].to_f64());
        let predicted = product(phi.wide().as_ref(), of_kernel.as_ref());
        self.whitening.whiten(&mut phi);
        let explained = phi.squares();
        let mut leverages = phi.wide();
        solve_lower_triangular_in_place(
            self.triangle.transpose(),
            leverages.as_mut().transpose_mut(),
            Par::Seq,
        );

        let near: Vec<Near> = places.iter().map(|&place| self.nearest(row(place))).collect();
        let own: Vec<usize> =
            near.iter().filter(|near| near.is_landmark()).map(|near| near.landmark).collect();
        // Columns of L⁻¹, whose squared lengths are the diagonal of K_CC⁻¹.
        let mut units = Columns::zeros(own.len(), self.landmarks.len())?;
        own.iter().enumerate().for_each(|(i, &landmark)| units.view_mut()[(i, landmark)] = T::ONE);
        self.whitening.whiten(&mut units);
        let mut alone = units.squares().into_iter().map(|square| 1.0 / square);

        let measured = near.iter().enumerate().map(|(i, near)| {
            let diagonal = kernel.diagonal(row(places[i])).to_f64();
            let residual = (diagonal - explained[i]).max(0.0);
            let leverage = leverages.row(i).squared_norm_l2();
            let weight = weights.at(places[i]);
            let free = 1.0 - weight * leverage;
            let error = (targets.at(places[i], 0) - predicted[(i, 0)]) / free;
            let own = if near.is_landmark() {
                alone.next().map(|residual| (near.landmark, [near.second, residual]))
            } else {
                None
            };
            let deviations = error.abs() / self.solved.variance(residual, leverage / free).sqrt();
            Row { beyond: [near.distance, residual], own, deviations, weight }
        });
        Ok(measured.collect())
    }

    /// Return the landmark nearest to a row.
    fn nearest(&self, row: &[T]) -> Near {
        let square = |landmark: &[T]| {
            let differences = landmark.iter().zip(row).map(|(&a, &b)| (a - b).to_f64());
            differences.map(|difference| difference * difference).sum::<f64>()
        };
        let ground = self.landmarks.ground();
        let mut near = Near { distance: f64::INFINITY, second: f64::INFINITY, landmark: 0 };
        for (landmark, &member) in self.landmarks.members().iter().enumerate() {
            let distance = square(ground.row(member));
            if distance < near.distance {
                near = Near { distance, second: near.distance, landmark };
            } else {
                near.second = near.second.min(distance);
            }
        }
        Near { distance: near.distance.sqrt(), second: near.second.sqrt(), ..near }
    }
}

/// The landmark nearest to a row.
struct Near {
    distance: f64,
    /// The distance to the second nearest; infinite if there is none.
    second: f64,
    landmark: usize,
}

impl Near {
    /// Whether the row equals the landmark, and there are others.
    fn is_landmark(&self) -> bool {
        self.distance == 0.0 && self.second.is_finite()
    }
}

/// Return the number that one of `part` rows exceeds, by their weights: of numbers in descending order, each
/// with its weight.
fn exceeded(column: &[(f64, f64)], part: f64) -> f64 {
    let all: f64 = column.iter().map(|(_, weight)| weight).sum();
    let mut above = 0.0;
    let found = column.iter().find(|(_, weight)| {
        above += weight;
        above > all / part
    });
    found.or(column.last()).map_or(f64::NAN, |(number, _)| *number)
}

/// Measure the confidence of a regression on its rows, in standard deviations of the target. `weights` are
/// those of the kernel. None for fewer than [`FEWEST`] rows beside the landmarks, or without a ridge.
pub(crate) fn measure<T: Lane + RealField>(
    input: Input<'_, T>,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    regression: &RidgeRegression<'_, f64>,
    ridge: f64,
    weights: &[T],
) -> Result<Option<Confidence>, Error> {
    let targets = input.targets;
    let rank = landmarks.len();
    let Some(penalised) = Triangle::of(regression)?.penalised(ridge) else { return Ok(None) };
    let rows_learned = regression.effective_rows();
    let solved =
        Solved { penalty: ridge * rows_learned, noise: penalised[(rank, rank)].powi(2) / rows_learned };
    let count = targets.rows();
    let sample = count.min(SAMPLE);
    let sampled = |at: usize| (at as u128 * count as u128 / sample as u128) as usize;
    let block = Sample {
        input,
        whitening: Whitening::new(landmarks),
        landmarks,
        triangle: penalised.submatrix(0, 0, rank, rank),
        solved,
        weights,
    };
    let blocks = (0..sample).into_par_iter().step_by(BLOCK);
    let measured = blocks.map(|first| {
        let places: Vec<usize> = (first..sample.min(first + BLOCK)).map(sampled).collect();
        block.measure(&places)
    });
    let measured: Vec<Row> = measured.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().collect();
    let (mut columns, mut landmarks_met) = ([const { Vec::new() }; 3], vec![false; rank]);
    for Row { mut beyond, own, deviations, weight } in measured {
        match own {
            // Further rows that equal a landmark are not it.
            Some((place, others)) if !std::mem::replace(&mut landmarks_met[place], true) => beyond = others,
            _ => columns[2].push((deviations, weight)),
        }
        columns[0].push((beyond[0], weight));
        columns[1].push((beyond[1], weight));
    }
    if columns[2].len() < FEWEST || columns.iter().flatten().any(|(number, _)| !number.is_finite()) {
        return Ok(None);
    }
    columns.iter_mut().for_each(|column| column.sort_unstable_by(|one, other| other.0.total_cmp(&one.0)));
    let [nearest, residual, deviations] = columns;
    let limits = |column: &[(f64, f64)]| [2.0, 10.0, 100.0].map(|part| exceeded(column, part));
    let factor = exceeded(&deviations, 10.0) / DEVIATIONS;
    let Solved { penalty, noise } = solved;
    let targets = (0..count).map(|row| targets.at(row, 0));
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

#[cfg(test)]
mod tests {
    use super::exceeded;

    /// A number of weight w is w numbers.
    #[test]
    fn shares_of_weighted_numbers() {
        let weighted: Vec<(f64, f64)> =
            (0..40).rev().map(|i| (f64::from(i), f64::from(1 + i * i % 3))).collect();
        let repeated: Vec<(f64, f64)> =
            weighted.iter().flat_map(|&(number, weight)| vec![(number, 1.0); weight as usize]).collect();
        for part in [2_usize, 10, 100] {
            let place = repeated.len() / part;
            assert_eq!(exceeded(&repeated, part as f64), repeated[place].0);
            assert_eq!(exceeded(&weighted, part as f64), repeated[place].0, "{part}");
        }
    }
}
