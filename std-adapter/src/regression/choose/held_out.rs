//! Errors of rows that are held out, with their standard errors.

use crate::data::source::Partition;
use crate::data::source::RowSource;
use crate::data::{prepared::Prepared, weights::Weights};
use crate::model::Estimate;
use std::collections::BTreeMap;

/// Rows, and what models predict that had no part in them.
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Params, fit};
/// use dpp_nystrom::{Dataset, Scale, kernel::KernelParams, observer::NoObserver};
///
/// let x: Vec<f64> = (0..400).map(|i| f64::from(i % 200) / 20.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let params = Params { landmarks: Landmarks::Count(8), kernel: KernelParams::default(), ..Params::default() };
/// let source = data.source(Scale::Standard)?;
/// let held = fit(source.as_rows(), &params, None, &NoObserver)?.held_out.expect("enough rows");
/// assert_eq!((held.targets.len(), held.outputs.len()), (held.rows.len(), held.rows.len()));
/// assert!((held.targets[0] - y[held.rows[0]]).abs() < 1e-9);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeldOut {
    /// The rows of the source.
    pub rows: Vec<usize>,
    /// The targets, in their own units, row by row; of classes, their indicators.
    pub targets: Vec<f64>,
    /// The outputs for them.
    pub outputs: Vec<f64>,
}

/// Estimate a mean over rows by their weights, with its standard error: rows of one group, or of a stretch of
/// time, err alike, and count as one draw. Widened by [`student`]. `None` for fewer than two draws.
pub(crate) fn estimate(values: &[f64], rows: &Prepared) -> Option<Estimate> {
    let (weights, count) = (Weights(rows.weights.as_deref()), values.len());
    let all = weights.sum(count);
    let mean = values.iter().enumerate().map(|(row, value)| weights.at(row) * value).sum::<f64>() / all;
    let stretches = count.isqrt().max(1);
    let draw = |row: usize| match rows.partition() {
        Partition::Groups(groups) => groups[row] as usize,
        Partition::Time => row * stretches / count,
        Partition::Rows => row,
    };
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for (row, value) in values.iter().enumerate() {
        *sums.entry(draw(row)).or_default() += weights.at(row) * (value - mean);
    }
    let drawn = sums.len();
    let free = drawn.checked_sub(1).filter(|&free| free > 0)? as f64;
    let power = |exponent| sums.values().map(|sum| sum.powi(exponent)).sum::<f64>();
    let (squares, drawn) = (power(2), drawn as f64);
    let kurtosis = if squares > 0.0 { drawn * power(4) / (squares * squares) } else { 1.0 };
    let variance = squares * drawn / free;
    let widened = student(free.min(2.0 * drawn / (kurtosis - 1.0).max(0.0)));
    Some(Estimate { value: mean, standard_error: widened * variance.sqrt() / all })
}

/// Return the quantile of Student's t with so many degrees of freedom over the normal one, at 97.5 %: from
/// three on the expansion of Fisher and Cornish (1960), which is too low for fewer. The variance of `n` draws
/// of kurtosis `κ` has `2n/(κ - 1)` of them (Satterthwaite 1946): few where some rows err far more than
/// others. A standard error times this covers as often, two of it to either side, as one that is known.
fn student(freedom: f64) -> f64 {
    const TERMS: [f64; 3] = [1.304_030, 1.440_077, 1.210_365];
    const OF_ONE: f64 = 6.482_877;
    const OF_TWO: f64 = 2.195_271;
    let expansion = |freedom: f64| TERMS.iter().fold(0.0, |sum, term| (sum + term) / freedom) + 1.0;
    // The logarithm is nearly linear in one over the degrees of freedom.
    let between = |(low, at_low): (f64, f64), (high, at_high): (f64, f64)| {
        let share = (1.0 / low - 1.0 / freedom) / (1.0 / low - 1.0 / high);
        at_low * (at_high / at_low).powf(share)
    };
    match freedom {
        ..1.0 => OF_ONE,
        ..2.0 => between((1.0, OF_ONE), (2.0, OF_TWO)),
        ..3.0 => between((2.0, OF_TWO), (3.0, expansion(3.0))),
        _ => expansion(freedom),
    }
}

/// Return the square root of a mean of squares, with its standard error to first order.
pub(crate) fn root(Estimate { value, standard_error }: Estimate) -> Estimate {
    let root = value.sqrt();
    Estimate { value: root, standard_error: if root > 0.0 { standard_error / (2.0 * root) } else { 0.0 } }
}

/// Return an estimate of a share of `rows` rows whose standard error is at least that of Agresti and Coull
/// (1998): no error among a few rows does not mean that there are none.
pub(crate) fn share(found: Estimate, rows: usize) -> Estimate {
    let count = rows as f64 + 4.0;
    let share = (found.value * rows as f64 + 2.0) / count;
    let least = (share * (1.0 - share) / count).sqrt();
    Estimate { standard_error: found.standard_error.max(least), ..found }
}

/// Whether the mean of errors is lower than that of others of the same rows, by more than `margin` standard
/// errors of the difference.
pub(crate) fn is_lower(errors: &[f64], others: &[f64], margin: f64) -> bool {
    let count = errors.len() as f64;
    let differences = || others.iter().zip(errors).map(|(other, error)| other - error);
    let mean = differences().sum::<f64>() / count;
    let variance = differences().map(|difference| (difference - mean).powi(2)).sum::<f64>() / count;
    mean > margin * (variance / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{estimate, root, share, student};
    use crate::data::prepared::Prepared;
    use crate::model::Estimate;

    fn rows(count: usize) -> Prepared {
        Prepared::unscaled(vec![0.0; count], 1)
    }

    #[test]
    fn errors_are_those_of_independent_draws() {
        let values = [1.0, 2.0, 4.0, 9.0];
        let found = estimate(&values, &rows(4)).unwrap();
        // Squares of the differences from 4: 9, 4, 0, 25. The kurtosis is 2.
        assert_eq!(found.value, 4.0);
        assert!((found.standard_error - student(3.0) * (38.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
        let root = root(found);
        assert_eq!((root.value, root.standard_error), (2.0, found.standard_error / 4.0));
        // Two groups: sums of -5 and 5.
        let groups = Prepared { groups: Some(vec![0, 0, 3, 3]), ..rows(4) };
        let found = estimate(&values, &groups).unwrap();
        assert!((found.standard_error - student(1.0) * (50.0_f64 * 2.0).sqrt() / 4.0).abs() < 1e-12);
        let in_time = Prepared { in_time: true, ..rows(4) };
        assert_eq!(estimate(&values, &in_time), Some(found));
        let one = Prepared { groups: Some(vec![1; 4]), ..rows(4) };
        assert_eq!(estimate(&values, &one), None);
        // A row of weight 3 counts as three in the mean, and as one draw.
        let weights = Prepared { weights: Some(vec![1.5, 0.5]), ..rows(2) };
        let found = estimate(&[1.0, 5.0], &weights).unwrap();
        assert_eq!(found.value, 2.0);
        let expected = student(1.0) * ((1.5_f64.powi(2) + 1.5_f64.powi(2)) * 2.0).sqrt() / 2.0;
        assert!((found.standard_error - expected).abs() < 1e-12);
        // One of 100 rows errs: the kurtosis is 98, and the variance has two degrees of freedom.
        let mut values = [0.0; 100];
        values[7] = 1.0;
        let found = estimate(&values, &rows(100)).unwrap();
        let kurtosis: f64 = (0.99_f64.powi(4) + 99.0 * 0.01_f64.powi(4)) / 100.0 / 0.0099_f64.powi(2);
        let expected = student(200.0 / (kurtosis - 1.0)) * (0.0099_f64 / 99.0).sqrt();
        assert!((found.standard_error - expected).abs() < 1e-12);
        assert_eq!(estimate(&[2.0; 5], &rows(5)).unwrap().standard_error, 0.0);
    }

    /// Quantiles of Student's t over 1.9600: those of 3, 10 and 100 degrees of freedom are 3.1824, 2.2281 and
    /// 1.9840, and that of one is 12.7062.
    #[test]
    fn quantiles_are_those_of_student() {
        for (freedom, quantile) in [(3.0, 1.6237), (10.0, 1.1368), (100.0, 1.01227)] {
            assert!((student(freedom) - quantile).abs() < 0.04 / freedom, "{freedom}");
        }
        for (freedom, quantile) in [(1.0, 6.4829), (1.2, 4.4127), (1.5, 3.0698), (2.0, 2.1953), (2.5, 1.8238)]
        {
            assert!((student(freedom) / quantile - 1.0).abs() < 0.03, "{freedom} {}", student(freedom));
        }
        assert_eq!(student(f64::INFINITY), 1.0);
    }

    #[test]
    fn no_error_among_a_few_rows_is_no_certainty() {
        let none = share(Estimate { value: 0.0, standard_error: 0.0 }, 30);
        assert!((none.standard_error - (2.0_f64 / 34.0 * 32.0 / 34.0 / 34.0).sqrt()).abs() < 1e-12);
        assert_eq!(share(Estimate { value: 0.5, standard_error: 0.2 }, 30).standard_error, 0.2);
    }
}
