//! Predictions of rows that had no part in the weights.

use crate::approximation::landmark_set::LandmarkSet;
use crate::data::{prepared::Prepared, source::Order, source::RowSource};
use crate::error::Error;
use crate::kernel::spec::KernelSpec;
use crate::observer::Observer;
use crate::regression::{checkpoint::Rounds, input::Input, regress::regress, ridge::Candidates};
use crate::rng::{RngStream, stream};
use rand::seq::index;
use std::borrow::Cow;

/// The maximum number of rows that are predicted without their fold. The standard error of an error over so many rows is below half
/// a per cent of their standard deviation.
pub const HELD_OUT_ROWS: usize = 1 << 16;

/// Rows, and what a regression without them predicts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeldOut {
    /// The rows of the source.
    pub rows: Vec<usize>,
    /// The targets, in their own units, row by row; of classes, their indicators.
    pub targets: Vec<f64>,
    /// The outputs for them.
    pub outputs: Vec<f64>,
    /// Whether the metric was learned without these rows as well: they are then those that chose it.
    pub from_metric: bool,
}

impl HeldOut {
    /// Take outputs in standard deviations of the targets, row by row, for all rows of `data`, which are these of the source.
    pub(crate) fn of(data: &Prepared, rows: Vec<usize>, mut outputs: Vec<f64>, from_metric: bool) -> Self {
        let columns = data.targets().count().max(1);
        let mut targets = vec![0.0; outputs.len()];
        let both = targets.chunks_exact_mut(columns).zip(outputs.chunks_exact_mut(columns));
        for (row, (targets, outputs)) in both.enumerate() {
            for (column, (target, output)) in data.targets().zip(targets.iter_mut().zip(outputs)) {
                *target = column.mean + column.deviation * column.values[row];
                *output = column.mean + column.deviation * *output;
            }
        }
        Self { rows, targets, outputs, from_metric }
    }
}

/// Predict each row by a regression on the nine folds without it: all rows of a source, or [`HELD_OUT_ROWS`] of them drawn at random, whose
/// regressions have as many rows.
///
/// Costs a pass over these rows with `O(c²)` multiply-adds each, and `O(c³)`. The folds are those of [`fit`](crate::regression::fit)
/// with this seed where all rows are predicted.
///
/// # Errors
/// Those of [`fit`](crate::regression::fit), [`Error::Folds`].
pub(crate) fn held_out(
    source: &dyn RowSource,
    landmarks: &LandmarkSet,
    kernel: KernelSpec,
    ridge: f64,
    seed: u64,
    observer: &dyn Observer,
) -> Result<HeldOut, Error> {
    let points = landmarks.features(source)?;
    let mut rows: Vec<usize> = (0..source.len()).collect();
    if source.len() > HELD_OUT_ROWS {
        rows = index::sample(&mut stream(seed, RngStream::Rows), source.len(), HELD_OUT_ROWS).into_vec();
        rows.sort_unstable();
    }
    source.expect(Order::Random);
    let data = match source.as_prepared() {
        Some(data) if data.len() == rows.len() => Cow::Borrowed(data),
        _ => Cow::Owned(source.gather(&rows)?),
    };
    let input = Input { held_out: true, ..Input::of(&data, &points, kernel.build()?)? };
    let ridge = Candidates::BestOf(vec![ridge]);
    let fitted = regress(input, &ridge, seed, &mut Rounds::default(), true, observer)?;
    source.check()?;
    let outputs = fitted.held_out.ok_or(Error::Folds { rows: rows.len() })?;
    Ok(HeldOut::of(&data, rows, outputs, false))
}

#[cfg(test)]
mod tests {
    use super::{HELD_OUT_ROWS, held_out};
    use crate::approximation::landmark_set::LandmarkSet;
    use crate::data::prepared::{Prepared, StandardTarget};
    use crate::data::weights::Weights;
    use crate::kernel::{kind::KernelKind, precision::Precision, spec::KernelSpec};
    use crate::observer::NoObserver;
    use crate::regression::{FitParams, Ridge, fit};

    fn rows(count: usize, further: bool) -> Prepared {
        let value = |i: usize| ((i as f64 * 0.754_877_666).fract() - 0.5) * 4.0;
        let mut data = Prepared::unscaled((0..2 * count).map(value).collect(), 2);
        let target = |shift: usize| {
            let own =
                |row: &[f64], i: usize| 7.0 + 3.0 * (row[0] + shift as f64).sin() + 0.2 * value(i * i + 5);
            data.rows.chunks(2).enumerate().map(|(i, row)| own(row, i)).collect()
        };
        let [first, second] = [0, 1]
            .map(|shift| StandardTarget::of(format!("y{shift}"), target(shift), Weights::default()).unwrap());
        data.target = Some(first);
        data.further = if further { vec![second] } else { Vec::new() };
        data
    }

    /// Against the error of the folds, which is found from their triangles, without a prediction.
    #[test]
    fn errors_are_those_of_cross_validation() {
        let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 0.8 };
        for (further, groups) in [(false, false), (true, false), (false, true)] {
            let mut data = rows(600, further);
            data.groups = groups.then(|| (0..600).map(|row| row / 20).collect());
            let landmarks = LandmarkSet::Indices((0..600).step_by(40).collect());
            let params =
                FitParams { kernel, ridge: Ridge::CrossValidated, precision: Precision::F64, seed: 5 };
            let fitted = fit(&data, &landmarks, params, None, &NoObserver).unwrap();
            let found = held_out(&data, &landmarks, kernel, fitted.model.ridge, 5, &NoObserver).unwrap();
            let columns: Vec<_> = data.targets().collect();
            let both = found.outputs.iter().zip(&found.targets).enumerate();
            let squares: f64 = both
                .map(|(at, (output, target))| {
                    ((output - target) / columns[at % columns.len()].deviation).powi(2)
                })
                .sum();
            let (error, expected) =
                ((squares / found.outputs.len() as f64).sqrt(), fitted.validation_nrmse.unwrap());
            assert!((error / expected - 1.0).abs() < 1e-9, "{further} {groups}: {error} {expected}");
            let chosen = fitted.ridge_errors.iter().find(|(ridge, _)| *ridge == fitted.model.ridge);
            assert!((chosen.unwrap().1 / expected - 1.0).abs() < 1e-12, "{:?}", fitted.ridge_errors);
            let first = &columns[0];
            assert!((found.targets[0] - (first.mean + first.deviation * first.values[0])).abs() < 1e-12);
        }
    }

    #[test]
    fn of_many_rows_a_sample_is_predicted() {
        let data = rows(HELD_OUT_ROWS + 1_000, false);
        let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 0.8 };
        let landmarks = LandmarkSet::Indices(vec![1, 5, 9, 17]);
        let found = held_out(&data, &landmarks, kernel, 1e-6, 0, &NoObserver).unwrap();
        assert_eq!(found.rows.len(), HELD_OUT_ROWS);
        assert!(found.rows.is_sorted_by(|one, next| one < next) && found.rows.last() > Some(&HELD_OUT_ROWS));
        let target = data.target.as_ref().unwrap();
        for (place, &row) in found.rows.iter().enumerate().step_by(999) {
            let expected = target.mean + target.deviation * target.values[row];
            assert!((found.targets[place] - expected).abs() < 1e-12);
        }
    }
}
