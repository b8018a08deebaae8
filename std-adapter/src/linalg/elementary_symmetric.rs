//! Elementary symmetric polynomials of eigenvalues, on the log scale, because they overflow.
//!
//! `e_j(λ_1..λ_m) = e_j(λ_1..λ_{m-1}) + λ_m e_{j-1}(λ_1..λ_{m-1})` (Kulesza and Taskar 2012, Algorithm 7). No
//! term is negative, so there is no cancellation: the error of an entry is some `m ε` times its logarithm.
//! `O(N c)` for degrees up to `c`.
//!
//! `e_c(K)` normalises the c-DPP, and `(c + 1) e_{c+1} / e_c` is exactly the expectation of its trace error:
//! equation (b) in the proof of Theorem 1 of Li, Jegelka and Sra (2016).

use crate::error::Error;
use dpp_nystrom_host::heap::zeros;

/// Return `log e_0, ..., log e_degree` of non-negative values; minus infinity for a polynomial that is zero.
/// Negative values count as zero. `O(N · degree)`.
pub(crate) fn log_elementary_symmetric(values: &[f64], degree: usize) -> Vec<f64> {
    let mut logs = vec![f64::NEG_INFINITY; degree + 1];
    logs[0] = 0.0;
    for &value in values.iter().filter(|&&value| value > 0.0) {
        let log = value.ln();
        for j in (1..=degree).rev() {
            logs[j] = log_sum(logs[j], log + logs[j - 1]);
        }
    }
    logs
}

/// Return `E tr(K - K̃) = (c + 1) e_{c+1}(K) / e_c(K)` over the c-DPP, from the eigenvalues of `K`; none if
/// `e_c = 0`, since there is no c-DPP of more landmarks than the rank of `K`. `O(N c)`.
///
/// ```
/// use dpp_nystrom::landmarks::expected_trace_error;
///
/// // 2 e₂/e₁ = 2 · (3 · 1)/(3 + 1).
/// assert!(expected_trace_error(&[3.0, 1.0], 1).is_some_and(|error| (error - 1.5).abs() < 1e-12));
/// ```
pub fn expected_trace_error(eigenvalues: &[f64], c: usize) -> Option<f64> {
    let logs = log_elementary_symmetric(eigenvalues, c + 1);
    (logs[c] > f64::NEG_INFINITY).then(|| (c + 1) as f64 * (logs[c + 1] - logs[c]).exp())
}

/// `log e_j` of the first `m` values, for every `m` and every `j` up to the degree: `(N + 1)(c + 1)` entries.
#[derive(Clone, Debug)]
pub(crate) struct SymmetricTable {
    logs: Vec<f64>,
    dim: usize,
}

impl SymmetricTable {
    /// Build the table for these values, all positive.
    pub(crate) fn new(values: &[f64], degree: usize) -> Result<Self, Error> {
        let dim = degree + 1;
        let mut logs = zeros((values.len() + 1) * dim, f64::NEG_INFINITY)?;
        logs[0] = 0.0;
        for (m, value) in values.iter().enumerate() {
            let (before, row) = logs[m * dim..(m + 2) * dim].split_at_mut(dim);
            row[0] = 0.0;
            let log = value.ln();
            for j in 1..dim.min(m + 2) {
                row[j] = log_sum(before[j], log + before[j - 1]);
            }
        }
        Ok(Self { logs, dim })
    }

    /// Return `log e_j` of the first `m` values.
    pub(crate) fn log(&self, m: usize, j: usize) -> f64 {
        self.logs[m * self.dim + j]
    }
}

/// Return `log(exp(x) + exp(y))`.
pub(crate) fn log_sum(x: f64, y: f64) -> f64 {
    let (small, large) = if x < y { (x, y) } else { (y, x) };
    if small == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::{SymmetricTable, expected_trace_error, log_elementary_symmetric};

    #[test]
    fn polynomials_of_four_values_by_hand() {
        // (1 + x)(1 + 2x)(1 + 3x)(1 + 4x)
        let expected = [1.0, 10.0, 35.0, 50.0, 24.0];
        let logs = log_elementary_symmetric(&[4.0, 0.0, 1.0, -1e-18, 3.0, 2.0], 5);
        for (log, value) in logs.iter().zip(expected) {
            assert!((log.exp() / value - 1.0).abs() < 1e-14, "{log} {value}");
        }
        assert_eq!(logs[5], f64::NEG_INFINITY);
    }

    #[test]
    fn expectations_by_hand() {
        assert!((expected_trace_error(&[3.0, 2.0, 1.0], 1).unwrap() - 2.0 * 11.0 / 6.0).abs() < 1e-14);
        assert_eq!(expected_trace_error(&[3.0, 2.0], 2), Some(0.0));
        assert_eq!(expected_trace_error(&[3.0, 0.0], 2), None);
    }

    #[test]
    fn values_whose_products_overflow_and_vanish() {
        let logs = log_elementary_symmetric(&[1e200, 1e200, 1e-200, 1e-200], 4);
        let expected =
            [0.0, (2e200_f64).ln(), 400.0 * 10.0_f64.ln(), 200.0 * 10.0_f64.ln() + 2.0_f64.ln(), 0.0];
        for (log, value) in logs.iter().zip(expected) {
            assert!((log - value).abs() < 1e-12 * value.abs().max(1000.0), "{log} {value}");
        }
    }

    /// All values equal: binomial coefficients, at a size where the polynomials overflow.
    #[test]
    fn equal_values_give_binomial_coefficients() {
        let (n, c) = (3_000, 50);
        let expected = (c + 1) as f64 * 2.5 * (n - c) as f64 / (c + 1) as f64;
        let found = expected_trace_error(&vec![2.5; n], c).unwrap();
        // 3,000 additions to logarithms of about 300, each rounded to ε of that.
        assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
    }

    #[test]
    fn the_last_row_of_the_table_holds_the_polynomials() {
        let values = [0.3, 2.0, 0.01, 5.0];
        let table = SymmetricTable::new(&values, 3).unwrap();
        for m in 0..=4 {
            let logs = log_elementary_symmetric(&values[..m], 3);
            assert!((0..=3).all(|j| table.log(m, j) == logs[j]), "{m}");
        }
    }
}
