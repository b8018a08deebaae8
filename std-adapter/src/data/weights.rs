//! Weights of rows.
//!
//! A row of weight `w` counts as `w` equal rows: it enters a regression with `√w φ` and `√w y`, and errors
//! are means over the weights. A row of weight 0 is absent. Weights are divided by their mean, so that their
//! unit does not matter: `Nγ` is multiplied by the number of rows, and the ridge γ of weights that are all 10
//! is that of weights that are all 1.

use dpp_nystrom_host::simd::Lane;
use faer::MatMut;

/// The weights of rows, of mean 1 over all of them, or none: each row counts once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weights<'a>(pub(crate) Option<&'a [f64]>);

impl Weights<'_> {
    /// Return the weight of a row.
    pub(crate) fn at(self, row: usize) -> f64 {
        self.0.map_or(1.0, |weights| weights[row])
    }

    /// Return the square root of the weight of a row.
    pub(crate) fn root(self, row: usize) -> f64 {
        self.0.map_or(1.0, |weights| weights[row].sqrt())
    }

    /// Return the sum over so many rows, which are all.
    pub(crate) fn sum(self, rows: usize) -> f64 {
        self.0.map_or(rows as f64, |weights| weights.iter().sum())
    }

    /// Return those of the rows from `first` on.
    pub(crate) fn skip(self, first: usize) -> Self {
        Self(self.0.map(|weights| &weights[first..]))
    }

    /// Multiply the rows of a matrix by the square roots of their weights.
    pub(crate) fn scale<T: Lane>(self, mut matrix: MatMut<'_, T>) {
        let Some(weights) = self.0 else { return };
        for column in matrix.as_mut().col_iter_mut() {
            column.iter_mut().zip(weights).for_each(|(entry, weight)| *entry *= T::from_f64(weight.sqrt()));
        }
    }

    /// Copy the weights of some rows, divided by their mean.
    pub(crate) fn gather(self, rows: &[usize]) -> Option<Vec<f64>> {
        Some(normalised(rows.iter().map(|&row| self.at(row)).collect())).filter(|_| self.0.is_some())
    }
}

/// Divide positive weights by their mean.
pub(crate) fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    // The sum of large weights overflows.
    let unit = if sum.is_finite() { 1.0 } else { weights.iter().copied().fold(0.0, f64::max) };
    let mean = weights.iter().map(|weight| weight / unit).sum::<f64>() / weights.len() as f64;
    weights.iter_mut().for_each(|weight| *weight = *weight / unit / mean);
    weights
}

/// Whether a number can be the weight of a row: finite, and at least 0.
pub(crate) fn is_weight(value: f64) -> bool {
    (0.0..f64::INFINITY).contains(&value)
}

#[cfg(test)]
mod tests {
    use super::normalised;

    #[test]
    fn weights_have_mean_1_in_any_unit() {
        assert_eq!(normalised(vec![1.0, 2.0, 3.0]), [0.5, 1.0, 1.5]);
        assert_eq!(normalised(vec![f64::MAX; 5]), [1.0; 5]);
        assert_eq!(normalised(vec![1e-310; 3]), [1.0; 3]);
        let tenfold = normalised(vec![10.0, 7.0, 1.0]).into_iter().zip(normalised(vec![100.0, 70.0, 10.0]));
        tenfold.for_each(|(one, ten)| assert!((one - ten).abs() < 1e-15));
    }
}
