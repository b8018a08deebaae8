//! The errors of classes, on rows that were predicted without their fold.

use crate::data::{columns::TargetColumn, source::RowSource, targets::TargetRows, weights::Weights};
use crate::error::{Cause, Error};
use crate::model::classes::{log_probability, temperature};
use crate::regression::rows::folds::Deal;
use dpp_nystrom_core::Class;

/// The largest number of rows from which the temperature is learned: one number does not gain from more.
const CALIBRATED: usize = 1 << 16;

/// How well rows are classified that had no part in the weights. Shares and means are over the weights of the
/// rows.
///
/// ```
/// use dpp_nystrom::regression::ClassTally;
///
/// let mut tally = ClassTally::new(2);
/// for (own, taken, probability) in [(0, 0, 0.9_f64), (0, 0, 0.8), (0, 1, 0.4), (1, 1, 0.7)] {
///     tally.add(own, taken, -probability.ln());
/// }
/// let errors = tally.errors().expect("rows were counted");
/// assert!((errors.accuracy - 3.0 / 4.0).abs() < 1e-12);
/// assert!((errors.balanced_accuracy - 5.0 / 6.0).abs() < 1e-12); // of 2/3 and 1
/// assert_eq!(errors.confusion, [[2, 1], [0, 1]]);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClassErrors {
    /// The share of rows with the right class.
    pub accuracy: f64,
    /// The mean over the classes of the share of their rows with the right class.
    pub balanced_accuracy: f64,
    /// The mean of `-ln p` of the right class, `p` with the temperature of the other folds.
    pub log_loss: f64,
    /// For each class the numbers of its rows that were taken for each class.
    pub confusion: Vec<Vec<u64>>,
}

/// Sums over rows from which their [`ClassErrors`] follow.
///
/// ```
/// use dpp_nystrom::regression::ClassTally;
///
/// assert!(ClassTally::new(2).errors().is_none()); // no rows
/// let mut tally = ClassTally::new(2);
/// tally.add(1, 1, 0.25);
/// assert_eq!(tally.errors().map(|errors| (errors.accuracy, errors.log_loss)), Some((1.0, 0.25)));
/// ```
#[derive(Clone, Debug)]
pub struct ClassTally {
    confusion: Vec<Vec<u64>>,
    /// For each class the weights of its rows, and of those with the right class.
    weights: Vec<[f64; 2]>,
    losses: f64,
}

impl ClassTally {
    /// Return that of no rows, for so many classes.
    pub fn new(classes: usize) -> Self {
        Self { confusion: vec![vec![0; classes]; classes], weights: vec![[0.0; 2]; classes], losses: 0.0 }
    }

    /// Count a row of the class `own` that is taken for the class `taken`, and its log-loss, `-ln p` of its
    /// own class. A class past the last is not counted.
    pub fn add(&mut self, own: usize, taken: usize, log_loss: f64) {
        self.add_weighted(own, taken, log_loss, 1.0);
    }

    /// [`add`](Self::add) a row of this weight. The confusion counts it as one row.
    pub(crate) fn add_weighted(&mut self, own: usize, taken: usize, log_loss: f64, weight: f64) {
        let count = self.confusion.get_mut(own).and_then(|row| row.get_mut(taken));
        if let (Some(count), Some([sum, right])) = (count, self.weights.get_mut(own)) {
            *count += 1;
            *sum += weight;
            *right += if own == taken { weight } else { 0.0 };
            self.losses += weight * log_loss;
        }
    }

    /// Return the errors; none if no rows were counted.
    pub fn errors(self) -> Option<ClassErrors> {
        let Self { confusion, weights, losses } = self;
        let [all, right] = weights.iter().fold([0.0; 2], |[a, b], [sum, right]| [a + sum, b + right]);
        let shares = weights.iter().filter(|[sum, _]| *sum > 0.0).map(|[sum, right]| right / sum);
        let shares: Vec<f64> = shares.collect();
        (all > 0.0).then(|| ClassErrors {
            accuracy: right / all,
            balanced_accuracy: shares.iter().sum::<f64>() / shares.len() as f64,
            log_loss: losses / all,
            confusion,
        })
    }
}

/// The errors of rows, and what each row adds to them.
#[derive(Debug)]
pub(crate) struct Classed {
    pub(crate) errors: ClassErrors,
    /// The temperature of all rows.
    pub(crate) temperature: f64,
    /// The log-loss of each row.
    pub(crate) losses: Vec<f64>,
    /// 1 for each row that is taken for a wrong class, else 0.
    pub(crate) wrong: Vec<f64>,
}

/// Return the errors of outputs, in standard deviations of the indicators, row by row, that were predicted
/// without the rows, or without their folds.
///
/// # Errors
/// `ErrorKind::Data` for an output that is not finite.
pub(crate) fn class_errors(
    mut outputs: Vec<f64>,
    source: &dyn RowSource,
    seed: u64,
) -> Result<Classed, Error> {
    let (columns, own_targets, rows) = (source.columns(), TargetRows::of(source)?, source.len());
    let weights = Weights(source.weights());
    let classes = own_targets.outputs();
    let targets: Vec<&TargetColumn> = columns.target.iter().chain(&columns.further).collect();
    for row in outputs.chunks_exact_mut(classes) {
        row.iter_mut()
            .zip(&targets)
            .for_each(|(slot, target)| *slot = target.mean + target.deviation * *slot);
    }
    let folds: Vec<u8> = Deal::of(source).folds(rows, seed).collect();
    let own = |row: usize| &outputs[row * classes..(row + 1) * classes];
    let stride = rows.div_ceil(CALIBRATED).max(1);
    let without = |fold: Option<u8>| {
        let sample: Vec<usize> =
            (0..rows).step_by(stride).filter(|&row| fold.is_none_or(|fold| folds[row] != fold)).collect();
        let outputs: Vec<f64> = sample.iter().flat_map(|&row| own(row).iter().copied()).collect();
        let own: Vec<usize> = sample.iter().map(|&row| own_targets.class_of(row)).collect();
        temperature(&outputs, classes, &own, Weights(weights.gather(&sample).as_deref()))
    };
    let last = folds.iter().copied().max().unwrap_or(0);
    let temperatures: Vec<f64> = (0..=last).map(|fold| without(Some(fold))).collect();
    let mut tally = ClassTally::new(classes);
    let (mut losses, mut wrong) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for row in 0..rows {
        let (class, taken) = (own_targets.class_of(row), Class::of(own(row))?.index);
        let loss = -log_probability(own(row), class, temperatures[usize::from(folds[row])]);
        tally.add_weighted(class, taken, loss, weights.at(row));
        losses.push(loss);
        wrong.push(f64::from(u8::from(class != taken)));
    }
    let errors = tally.errors().ok_or(Error(Cause::Folds { rows }))?;
    Ok(Classed { errors, temperature: without(None), losses, wrong })
}

#[cfg(test)]
mod tests {
    use super::{ClassTally, Weights, class_errors, log_probability, temperature};
    use crate::data::{columns::Classes, prepared::Prepared, prepared::StandardTarget};
    use crate::regression::rows::folds::Deal;

    #[test]
    fn errors_are_counted_by_hand() {
        let rows = [(0, 0, 0.1), (0, 0, 0.2), (0, 1, 0.9), (1, 1, 0.4), (3, 0, 2.0)];
        let mut tally = ClassTally::new(4);
        rows.into_iter().for_each(|(own, taken, loss)| tally.add(own, taken, loss));
        let errors = tally.errors().unwrap();
        assert_eq!(errors.confusion, [[2, 1, 0, 0], [0, 1, 0, 0], [0; 4], [1, 0, 0, 0]]);
        assert!((errors.accuracy - 0.6).abs() < 1e-15 && (errors.log_loss - 0.72).abs() < 1e-15);
        // The third class has no rows.
        assert!((errors.balanced_accuracy - (2.0 / 3.0 + 1.0) / 3.0).abs() < 1e-15);
        assert!(ClassTally::new(2).errors().is_none());
    }

    #[test]
    fn a_row_of_weight_w_is_counted_w_times() {
        let rows = [(0, 0, 0.1, 2), (0, 1, 0.9, 1), (1, 1, 0.4, 4), (1, 0, 1.4, 3)];
        let (mut weighted, mut repeated) = (ClassTally::new(2), ClassTally::new(2));
        for (own, taken, loss, weight) in rows {
            weighted.add_weighted(own, taken, loss, f64::from(weight));
            (0..weight).for_each(|_| repeated.add(own, taken, loss));
        }
        let (found, expected) = (weighted.errors().unwrap(), repeated.errors().unwrap());
        assert_eq!(found.confusion, [[1, 1], [1, 1]]);
        assert_eq!(
            (found.accuracy, found.balanced_accuracy),
            (expected.accuracy, expected.balanced_accuracy)
        );
        assert!((found.log_loss - expected.log_loss).abs() < 1e-15);
    }

    #[test]
    fn a_fold_is_judged_by_the_temperature_of_the_others() {
        let rows = 60;
        let label = |row: usize| row / 4 % 3;
        let indicator = |class: usize| {
            let values = (0..rows).map(|row| f64::from(u8::from(label(row) == class))).collect();
            StandardTarget::of(class.to_string(), values, Weights::default()).unwrap()
        };
        let mut data = Prepared::unscaled(vec![0.0; rows], 1);
        data.target = Some(indicator(0));
        data.further = vec![indicator(1), indicator(2)];
        data.classes =
            Some(Classes { column: "y".into(), labels: ["a", "b", "c"].map(String::from).to_vec() });
        let noise = |at: usize| (at as f64 * 0.754_877_666).fract() - 0.5;
        let output = |row: usize, class: usize| {
            f64::from(u8::from(label(row) == class)) + 1.4 * noise(3 * row + class)
        };
        let outputs: Vec<[f64; 3]> = (0..rows).map(|row| [0, 1, 2].map(|class| output(row, class))).collect();
        let targets: Vec<&StandardTarget> = data.targets().collect();
        let standard = outputs.iter().flat_map(|outputs| {
            outputs.iter().zip(&targets).map(|(output, target)| (output - target.mean) / target.deviation)
        });
        let found = class_errors(standard.collect(), &data, 3).unwrap();
        let (errors, of_all) = (found.errors, found.temperature);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / rows as f64;
        assert!((mean(&found.losses) - errors.log_loss).abs() < 1e-12);
        assert!((1.0 - mean(&found.wrong) - errors.accuracy).abs() < 1e-12);

        let folds: Vec<u8> = Deal::of(&data).folds(rows, 3).collect();
        let of_rows = |kept: &dyn Fn(usize) -> bool| {
            let kept: Vec<usize> = (0..rows).filter(|&row| kept(row)).collect();
            let outputs: Vec<f64> = kept.iter().flat_map(|&row| outputs[row]).collect();
            let own: Vec<usize> = kept.iter().map(|&row| label(row)).collect();
            temperature(&outputs, 3, &own, Weights::default())
        };
        let loss = |row: usize| {
            let others = of_rows(&|other| folds[other] != folds[row]);
            -log_probability(&outputs[row], label(row), others)
        };
        let expected = (0..rows).map(loss).sum::<f64>() / rows as f64;
        assert!((errors.log_loss - expected).abs() < 1e-9, "{} {expected}", errors.log_loss);
        assert!((of_all - of_rows(&|_| true)).abs() < 1e-9 * of_all);
        let with_own = (0..rows).map(|row| -log_probability(&outputs[row], label(row), of_all)).sum::<f64>();
        assert!(with_own / (rows as f64) < expected - 1e-4);
        let right = |row: &usize| (0..3).all(|class| outputs[*row][class] <= outputs[*row][label(*row)]);
        let right = (0..rows).filter(right).count() as f64;
        assert!(right < 60.0 && (errors.accuracy - right / rows as f64).abs() < 1e-12);
    }
}
