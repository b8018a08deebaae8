//! Goodness of fit of independent draws, and means with their standard errors.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// A chi-square statistic and its degrees of freedom.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// `Σ (observed - expected)² / expected`.
    pub statistic: f64,
    /// The number of cells minus one.
    pub freedom: usize,
}

impl Fit {
    /// Compare independent counts with their probabilities. Cells that expect fewer than five are pooled,
    /// since the chi-square law does not hold there. A count in an impossible cell makes the statistic
    /// infinite.
    ///
    /// # Panics
    /// When the two differ in length.
    pub fn new(counts: &[u64], probabilities: &[f64]) -> Self {
        assert_eq!(counts.len(), probabilities.len());
        let total = counts.iter().sum::<u64>() as f64;
        let mut cells: Vec<(f64, f64)> = Vec::new();
        let mut pool = (0.0, 0.0);
        for (&count, &probability) in counts.iter().zip(probabilities) {
            let (observed, expected) = (count as f64, probability * total);
            if probability == 0.0 {
                if count > 0 {
                    return Self { statistic: f64::INFINITY, freedom: 1 };
                }
            } else if expected < 5.0 {
                pool = (pool.0 + observed, pool.1 + expected);
            } else {
                cells.push((observed, expected));
            }
        }
        if pool.1 >= 5.0 {
            cells.push(pool);
        } else if let Some(smallest) = cells.iter_mut().min_by(|a, b| a.1.total_cmp(&b.1)) {
            *smallest = (smallest.0 + pool.0, smallest.1 + pool.1);
        }
        let statistic =
            cells.iter().map(|(observed, expected)| (observed - expected).powi(2) / expected).sum();
        Self { statistic, freedom: cells.len().saturating_sub(1) }
    }

    /// Combine two independent fits.
    pub fn and(self, other: Self) -> Self {
        Self { statistic: self.statistic + other.statistic, freedom: self.freedom + other.freedom }
    }

    /// Return the bound that a correct sampler exceeds once in a thousand seeds.
    pub fn bound(&self) -> f64 {
        if self.freedom == 0 {
            return f64::MIN_POSITIVE;
        }
        ChiSquared::new(self.freedom as f64).map_or(f64::NAN, |law| law.inverse_cdf(0.999))
    }

    /// Whether the statistic is finite and below its bound.
    pub fn holds(&self) -> bool {
        self.statistic < self.bound()
    }
}

/// Return `½ Σ |p_i - q_i|` between frequencies and probabilities. For `m` draws from the exact law and `s`
/// cells its mean is about `√(s / (2π m))`.
pub fn total_variation(counts: &[u64], probabilities: &[f64]) -> f64 {
    let total = counts.iter().sum::<u64>() as f64;
    counts.iter().zip(probabilities).map(|(&count, p)| (count as f64 / total - p).abs()).sum::<f64>() / 2.0
}

/// Return the mean of independent values and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::{Fit, mean_and_error, total_variation};

    #[test]
    fn a_fit_computed_by_hand() {
        // Expected 50, 30, 16 and, pooled, 4 with the 16: (52-50)²/50 + (25-30)²/30 + (23-20)²/20
        let fit = Fit::new(&[52, 25, 20, 2, 1], &[0.5, 0.3, 0.16, 0.03, 0.01]);
        assert!((fit.statistic - (4.0 / 50.0 + 25.0 / 30.0 + 9.0 / 20.0)).abs() < 1e-12);
        assert_eq!(fit.freedom, 2);
        // The upper 0.001 point of two degrees of freedom is 2 ln 1000.
        assert!((fit.bound() - 2.0 * 1000.0_f64.ln()).abs() < 1e-6 && fit.holds());
        assert!(!Fit::new(&[70, 30], &[0.5, 0.5]).holds());
        assert!(!Fit::new(&[99, 1], &[1.0, 0.0]).holds());
    }

    #[test]
    fn distances_and_means_computed_by_hand() {
        assert!((total_variation(&[6, 4], &[0.5, 0.5]) - 0.1).abs() < 1e-15);
        assert_eq!(mean_and_error(&[1.0, 3.0]), (2.0, 1.0));
    }
}
