//! Rows that are left out of all choices of a fit, and the error on them.

use crate::data::source::{Partition, RowSource};
use crate::data::{prepared::Prepared, weights::Weights};
use crate::model::Estimate;
use crate::regression::{FOLDS, folds::Deal};
use std::collections::BTreeSet;

/// The minimum number of rows of which some are left out.
const FEWEST: usize = 20;

/// Folds are left out until they have so many rows and groups; at most [`MOST_PARTS`], so that seven tenths
/// are left to choose by.
const WANTED_ROWS: usize = 120;
const WANTED_GROUPS: usize = 3;
const MOST_PARTS: usize = 3;

/// The maximum number of rows of a fold that are predicted: their standard error is below 1 % of an error
/// with normal residuals.
const MOST_ROWS: usize = 1 << 14;

/// Rows, and what models predict that had no part in them.
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

/// The folds that are left out: the last ones, so that in time order they are the latest.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    /// The fold of each row.
    folds: Vec<u8>,
    /// Those that are left out, at least one.
    pub(crate) parts: Vec<u8>,
}

impl LeftOut {
    /// Choose folds of a source: those of a [`fit`](crate::regression::fit) with this seed. `Err` says why
    /// there are none.
    pub(crate) fn of(source: &dyn RowSource, seed: u64) -> Result<Self, &'static str> {
        let rows = source.len();
        if rows < FEWEST {
            return Err("there are fewer than 20 rows");
        }
        if source.columns().scaler.map.is_some() {
            return Err("the rows are mapped");
        }
        let folds: Vec<u8> = Deal::of(source).folds(rows, seed).collect();
        let mut sizes = [0; FOLDS];
        folds.iter().for_each(|&fold| sizes[usize::from(fold)] += 1);
        let (mut parts, mut left_out, mut groups) = (Vec::new(), 0, BTreeSet::new());
        for fold in (0..FOLDS as u8).rev().filter(|&fold| sizes[usize::from(fold)] > 0) {
            let own = (0..rows).filter(|&row| folds[row] == fold);
            let is_enough = match source.partition() {
                Partition::Groups(of_rows) => {
                    groups.extend(own.map(|row| of_rows[row]));
                    groups.len() >= WANTED_GROUPS
                }
                _ => true,
            };
            parts.push(fold);
            left_out += sizes[usize::from(fold)];
            if (left_out >= WANTED_ROWS && is_enough) || parts.len() == MOST_PARTS {
                break;
            }
        }
        Ok(Self { folds, parts })
    }

    /// Return the rows of a fold, at most [`MOST_ROWS`] of them, evenly spaced.
    pub(crate) fn rows(&self, fold: u8) -> Vec<usize> {
        let rows: Vec<usize> = (0..self.folds.len()).filter(|&row| self.folds[row] == fold).collect();
        let stride = rows.len().div_ceil(MOST_ROWS).max(1);
        rows.into_iter().step_by(stride).collect()
    }

    /// Return the rows of all folds that are not left out: those that choices may see.
    pub(crate) fn seen(&self) -> Vec<usize> {
        (0..self.folds.len()).filter(|&row| !self.parts.contains(&self.folds[row])).collect()
    }
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
    let draws = (0..count).map(draw).max().map_or(0, |last| last + 1);
    let mut sums: Vec<Option<f64>> = vec![None; draws];
    for (row, value) in values.iter().enumerate() {
        *sums[draw(row)].get_or_insert(0.0) += weights.at(row) * (value - mean);
    }
    let drawn = sums.iter().flatten().count();
    let free = drawn.checked_sub(1).filter(|&free| free > 0)? as f64;
    let power = |exponent| sums.iter().flatten().map(|sum| sum.powi(exponent)).sum::<f64>();
    let (squares, drawn) = (power(2), drawn as f64);
    let kurtosis = if squares > 0.0 { drawn * power(4) / (squares * squares) } else { 1.0 };
    let variance = squares * drawn / free;
    let widened = student(free.min(2.0 * drawn / (kurtosis - 1.0).max(0.0)));
    Some(Estimate { value: mean, standard_error: widened * variance.sqrt() / all })
}

/// Return the quantile of Student's t with so many degrees of freedom over the normal one, at 97.5 % (the
/// expansion of Fisher and Cornish 1960). The variance of `n` draws of kurtosis `κ` has `2n/(κ - 1)` of them
/// (Satterthwaite 1946): few where some rows err far more than others. A standard error times this covers as
/// often, two of it to either side, as one that is known.
fn student(freedom: f64) -> f64 {
    const TERMS: [f64; 3] = [1.304_030, 1.440_077, 1.210_365];
    TERMS.iter().fold(0.0, |sum, term| (sum + term) / freedom) + 1.0
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

#[cfg(test)]
mod tests {
    use super::{LeftOut, estimate, root, share, student};
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

    /// Tables of Student's t: 3.1824, 2.2281 and 1.9840 over 1.9600.
    #[test]
    fn quantiles_are_those_of_student() {
        for (freedom, quantile) in [(3.0, 1.6237), (10.0, 1.1368), (100.0, 1.01227)] {
            assert!((student(freedom) - quantile).abs() < 0.04 / freedom, "{freedom}");
        }
        assert_eq!(student(f64::INFINITY), 1.0);
    }

    #[test]
    fn no_error_among_a_few_rows_is_no_certainty() {
        let none = share(Estimate { value: 0.0, standard_error: 0.0 }, 30);
        assert!((none.standard_error - (2.0_f64 / 34.0 * 32.0 / 34.0 / 34.0).sqrt()).abs() < 1e-12);
        assert_eq!(share(Estimate { value: 0.5, standard_error: 0.2 }, 30).standard_error, 0.2);
    }

    #[test]
    fn the_latest_rows_are_left_out_and_more_tenths_of_few() {
        let in_time = Prepared { in_time: true, ..rows(4_000) };
        let left_out = LeftOut::of(&in_time, 0).unwrap();
        assert_eq!(left_out.parts, [9]);
        assert_eq!(left_out.rows(9), (3_600..4_000).collect::<Vec<_>>());
        assert_eq!(left_out.seen(), (0..3_600).collect::<Vec<_>>());
        assert_eq!(LeftOut::of(&rows(700), 0).unwrap().parts, [9, 8]);
        let few = LeftOut::of(&rows(100), 0).unwrap();
        assert_eq!((few.parts.len(), few.seen().len()), (3, 70));
        assert!(LeftOut::of(&rows(19), 0).is_err());
        // Twelve groups of a thousand rows: at least three of them are left out.
        let groups = Prepared { groups: Some((0..12_000).map(|row| row % 12).collect()), ..rows(12_000) };
        let left_out = LeftOut::of(&groups, 0).unwrap();
        let of_rows = groups.groups.as_ref().unwrap();
        let mut own: Vec<u32> =
            left_out.parts.iter().flat_map(|&fold| left_out.rows(fold)).map(|row| of_rows[row]).collect();
        own.sort_unstable();
        own.dedup();
        assert!((3..5).contains(&own.len()), "{own:?}");
        assert!(left_out.seen().iter().all(|&row| !own.contains(&of_rows[row])));
    }
}
