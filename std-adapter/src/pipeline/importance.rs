//! Permutation importance (Breiman 2001) of the columns of a table.
//!
//! A column is permuted among rows that no choice and no weights have seen, the features of a column of words
//! together, and the models that have not seen them predict again. A kernel depends on a sum over
//! coordinates: of squared or absolute differences, or of products. For each row and landmark the sum is
//! computed once, and only the terms of the permuted column are replaced.
//!
//! Costs `P R F c` kernel values for [`PERMUTATIONS`] `P` of `F` columns in `R` rows, and two terms for each
//! feature of the columns in their place. `R` is at most [`MOST_ROWS`], and so small that about [`WORK`]
//! kernel values are computed, but at least [`FEWEST_ROWS`].

use crate::data::{prepared::Prepared, scaler::Scaler, weights::Weights};
use crate::error::Error;
use crate::model::{Coefficients, Importance, Importances, Model, PERMUTATIONS};
use crate::observer::{Observer, go_on};
use crate::regression::head::Head;
use dpp_nystrom_core::kernel::{Argument, ChosenKernel};
use dpp_nystrom_host::rng::{RngStream, stream};
use dpp_nystrom_host::simd::kernel::InPlace;
use pulp::Arch;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use std::ops::Range;

/// Rows left out, in the units of the file, with the model of the others for each stretch of them.
pub(super) struct Tested<'a> {
    /// Standardised targets, and features in their units.
    pub(super) rows: Prepared,
    /// The model for each stretch, and where it ends.
    pub(super) stretches: Vec<(&'a Model, usize)>,
}

impl Tested<'_> {
    /// Return the model that has not seen a row.
    pub(super) fn model_of(&self, row: usize) -> usize {
        self.stretches.partition_point(|&(_, end)| end <= row)
    }
}

/// The maximum and the minimum number of rows.
const MOST_ROWS: usize = 1_000;
const FEWEST_ROWS: usize = 32;

/// Kernel values, which take some 3 ns each.
const WORK: usize = 1_000_000;

/// An error of numbers below this, in standard deviations, counts as this: a rise over nothing has no
/// measure.
const LEAST_ERROR: f64 = 1e-9;

/// Measure the importance of each column on the rows left out, by the loss of a head and the temperature of
/// its classes. `None` if there is no error, or it is not finite.
///
/// # Errors
/// Those of the kernels; `ErrorKind::Cancelled`.
pub(super) fn importances(
    tested: &Tested<'_>,
    judged: (Head, Option<f64>),
    seed: u64,
    observer: &dyn Observer,
) -> Result<Option<Importances>, Error> {
    let models: Vec<Sums> =
        tested.stretches.iter().map(|(model, _)| Sums::of(model)).collect::<Result<_, _>>()?;
    let columns = tested.rows.table_columns();
    let largest = models.iter().map(Sums::landmarks).max().unwrap_or(1);
    let of_row = (PERMUTATIONS * columns.len() * largest).max(1);
    let count = tested.rows.len().min((WORK / of_row).clamp(FEWEST_ROWS, MOST_ROWS));
    let rows: Vec<usize> = (0..count).map(|at| at * tested.rows.len() / count).collect();
    observer.begin("importances", columns.len() as u64);
    let sample = Sample::of(tested, &rows, &models, judged);
    let error = sample.error(None);
    let mut random = stream(seed, RngStream::Permutations);
    let mut order: Vec<usize> = (0..count).collect();
    let permutations: Vec<Vec<usize>> = (0..PERMUTATIONS)
        .map(|_| {
            order.shuffle(&mut random);
            order.clone()
        })
        .collect();
    let measured = |(name, features): &(&str, Range<usize>)| {
        go_on(observer)?;
        let rise =
            |order: &Vec<usize>| (sample.error(Some((features, order))) - error) / error.max(LEAST_ERROR);
        let rises: Vec<f64> = permutations.iter().map(rise).collect();
        let mean = rises.iter().sum::<f64>() / rises.len() as f64;
        let squares: f64 = rises.iter().map(|rise| (rise - mean).powi(2)).sum();
        let deviation = (squares / (rises.len() - 1) as f64).sqrt();
        observer.advance(1);
        Ok(Importance { column: (*name).to_owned(), rise: mean, deviation })
    };
    let columns = columns.par_iter().map(measured).collect::<Result<Vec<_>, Error>>()?;
    observer.end();
    let found = Importances { columns, rows: count as u64 };
    Ok(Some(found).filter(|found| found.is_well_formed(tested.rows.dim)))
}

/// A model as a function of the sums that its kernel depends on.
struct Sums<'a> {
    scaler: &'a Scaler,
    argument: Argument,
    kernel: ChosenKernel<f64>,
    /// The landmarks, one coordinate of all of them after the other.
    landmarks: Vec<Vec<f64>>,
    /// For each output the mean, the deviation and the weights.
    outputs: Vec<(f64, f64, Vec<f64>)>,
}

impl<'a> Sums<'a> {
    fn of(model: &'a Model) -> Result<Self, Error> {
        let Coefficients { landmarks, weights } = model.coefficients.to_f64();
        let width = model.scaler.width();
        let coordinate = |j: usize| landmarks.iter().skip(j).step_by(width.max(1)).copied().collect();
        let further = model.further.iter().map(|output| output.weights.clone());
        let of_outputs = std::iter::once(weights).chain(further);
        Ok(Self {
            scaler: &model.scaler,
            argument: model.kernel.kind.about().argument,
            kernel: model.kernel.build()?,
            landmarks: (0..width).map(coordinate).collect(),
            outputs: model
                .targets()
                .zip(of_outputs)
                .map(|(target, weights)| (target.mean, target.deviation, weights))
                .collect(),
        })
    }

    fn landmarks(&self) -> usize {
        self.outputs.first().map_or(0, |(_, _, weights)| weights.len())
    }

    /// Return what a coordinate adds to the sum.
    fn term(&self, x: f64, z: f64) -> f64 {
        match self.argument {
            Argument::SquaredDistance => (x - z) * (x - z),
            Argument::L1Distance => (x - z).abs(),
            Argument::InnerProduct => x * z,
        }
    }

    /// Add the terms of a coordinate to the sums of all landmarks, `sign` times.
    fn add(&self, sums: &mut [f64], j: usize, x: f64, sign: f64) {
        sums.iter_mut().zip(&self.landmarks[j]).for_each(|(sum, &z)| *sum += sign * self.term(x, z));
    }
}

/// Rows whose columns are permuted.
struct Sample<'a> {
    models: &'a [Sums<'a>],
    /// The place of the model for each row.
    model_of: Vec<usize>,
    /// Features in their units.
    rows: Vec<&'a [f64]>,
    /// Scaled and mapped.
    scaled: Vec<Vec<f64>>,
    /// For each row, its sums with all landmarks.
    sums: Vec<Vec<f64>>,
    /// The targets in their units, and what divides their residuals.
    targets: Vec<Vec<f64>>,
    deviations: Vec<f64>,
    head: Head,
    /// The class of each row, and the temperature.
    classes: Vec<usize>,
    temperature: f64,
    weights: Vec<f64>,
}

impl<'a> Sample<'a> {
    fn of(
        tested: &'a Tested<'_>,
        rows: &[usize],
        models: &'a [Sums<'a>],
        (head, temperature): (Head, Option<f64>),
    ) -> Self {
        let data = &tested.rows;
        let model_of: Vec<usize> = rows.iter().map(|&row| tested.model_of(row)).collect();
        let raw: Vec<&[f64]> =
            rows.iter().map(|&row| &data.rows[row * data.dim..(row + 1) * data.dim]).collect();
        let scaled: Vec<Vec<f64>> = raw
            .iter()
            .zip(&model_of)
            .map(|(raw, &of)| {
                let mut scaled = vec![0.0; models[of].scaler.width()];
                models[of].scaler.scale_row(raw, &mut scaled);
                scaled
            })
            .collect();
        let sums = scaled.iter().zip(&model_of).map(|(scaled, &of)| {
            let mut sums = vec![0.0; models[of].landmarks()];
            scaled.iter().enumerate().for_each(|(j, &x)| models[of].add(&mut sums, j, x, 1.0));
            sums
        });
        let target = |&row: &usize| {
            data.targets().map(|target| target.mean + target.deviation * target.values[row]).collect()
        };
        Self {
            models,
            sums: sums.collect(),
            model_of,
            rows: raw,
            scaled,
            targets: rows.iter().map(target).collect(),
            deviations: data.targets().map(|target| target.deviation).collect(),
            head,
            classes: head.classes(data, rows),
            temperature: temperature.unwrap_or(1.0),
            weights: rows.iter().map(|&row| Weights(data.weights.as_deref()).at(row)).collect(),
        }
    }

    /// Return the error of the rows: the root mean squared error in standard deviations, of classes the
    /// log-loss. These features of each row may be those of another.
    fn error(&self, permuted: Option<(&Range<usize>, &[usize])>) -> f64 {
        let (mut total, arch) = (0.0, Arch::new());
        let mut sums = Vec::new();
        let mut outputs = vec![0.0; self.deviations.len()];
        for row in 0..self.rows.len() {
            let model = &self.models[self.model_of[row]];
            sums.clone_from(&self.sums[row]);
            if let Some((features, order)) = permuted {
                self.replace(row, order[row], features, &mut sums);
            }
            // Terms that are replaced leave rounding errors.
            if model.argument != Argument::InnerProduct {
                sums.iter_mut().for_each(|sum| *sum = sum.max(0.0));
            }
            arch.dispatch(InPlace { kernel: &model.kernel, arguments: &mut sums, slopes: &mut [] });
            for (output, (mean, deviation, weights)) in outputs.iter_mut().zip(&model.outputs) {
                let product = sums.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f64>();
                *output = mean + deviation * product;
            }
            total += self.weights[row] * self.loss(row, &outputs);
        }
        let mean = total / self.weights.iter().sum::<f64>();
        self.head.error(mean)
    }

    fn loss(&self, row: usize, outputs: &[f64]) -> f64 {
        let residuals = outputs.iter().zip(&self.targets[row]).zip(&self.deviations);
        let residuals = residuals.map(|((output, target), deviation)| (output - target) / deviation);
        self.head.loss(outputs, residuals, self.classes[row], self.temperature)
    }

    /// Replace the terms of features by those of another row.
    fn replace(&self, row: usize, other: usize, features: &Range<usize>, sums: &mut [f64]) {
        let (model, scaled) = (&self.models[self.model_of[row]], &self.scaled[row]);
        let Scaler { means, map, .. } = model.scaler;
        let standard = |of: usize, feature: usize| model.scaler.standard(feature, self.rows[of][feature]);
        let Some(map) = map else {
            for feature in features.clone() {
                model.add(sums, feature, scaled[feature], -1.0);
                model.add(sums, feature, standard(other, feature), 1.0);
            }
            return;
        };
        for (j, entries) in map.values.chunks_exact(means.len()).enumerate() {
            let change =
                |feature: usize| entries[feature] * (standard(other, feature) - standard(row, feature));
            let moved = scaled[j] + features.clone().map(change).sum::<f64>();
            model.add(sums, j, scaled[j], -1.0);
            model.add(sums, j, moved, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Head, Sample, Sums};
    use crate::data::source::RowSource;
    use crate::kernel::{kind::KernelKind, metric::Metric, params::KernelParams};
    use crate::landmarks::methods::rpcholesky::RpCholesky;
    use crate::observer::NoObserver;
    use crate::pipeline::fit;
    use crate::pipeline::importance::Tested;
    use crate::pipeline::tested::tests::{params, rows};

    /// Sums whose terms are replaced give the errors of predictions of permuted rows.
    #[test]
    fn errors_of_permuted_rows_are_those_of_their_predictions() {
        let data = rows(200);
        let selector = RpCholesky::default();
        let cases = [
            (KernelKind::Gaussian, Metric::One),
            (KernelKind::Gaussian, Metric::Map(Some(2))),
            (KernelKind::Laplace, Metric::Scales),
            (KernelKind::Laplace, Metric::Map(Some(2))),
            (KernelKind::Matern32, Metric::Scales),
            (KernelKind::Matern52, Metric::One),
            (KernelKind::Polynomial { degree: 2, offset: 1.0 }, Metric::One),
            (KernelKind::Linear, Metric::One),
        ];
        for (kind, metric) in cases {
            let mut params = params(&selector, KernelParams::from(kind).with_metric(metric));
            params.landmarks = crate::pipeline::Landmarks::Count(3);
            let model = fit(&data, &params, None, &NoObserver).unwrap().fitted.model;
            let count = 40;
            let chosen: Vec<usize> = (0..count).map(|at| 3 * at).collect();
            let own = RowSource::gather(&data, &chosen).unwrap();
            let tested = Tested { rows: own, stretches: vec![(&model, count)] };
            let models = [Sums::of(&model).unwrap()];
            let places: Vec<usize> = (0..count).collect();
            let sample = Sample::of(&tested, &places, &models, (Head::Values, None));
            let order: Vec<usize> = (0..count).map(|at| (7 * at + 3) % count).collect();
            for features in [0..1, 2..3, 1..3] {
                let mut permuted = tested.rows.rows.clone();
                for row in 0..count {
                    for feature in features.clone() {
                        permuted[3 * row + feature] = tested.rows.rows[3 * order[row] + feature];
                    }
                }
                let target = tested.rows.target.as_ref().unwrap();
                let predicted = model.predict(&permuted).unwrap();
                let square = |(row, output): (usize, &f64)| {
                    ((output - target.mean) / target.deviation - target.values[row]).powi(2)
                };
                let squares: f64 = predicted.iter().enumerate().map(square).sum();
                let expected = (squares / count as f64).sqrt();
                let found = sample.error(Some((&features, &order)));
                assert!((found - expected).abs() < 1e-7 * expected, "{kind:?} {metric}: {found} {expected}");
            }
            let same: Vec<usize> = (0..count).collect();
            let [one, other] = [None, Some((&(0..3), &same[..]))].map(|permuted| sample.error(permuted));
            assert!((one - other).abs() < 1e-9 * one, "{kind:?} {metric}");
        }
    }
}
