//! The exact c-DPP: `Pr(C) = det K_CC / e_c(K)` over all sets of `c` rows, and identities that follow from
//! it.

use crate::determinant::{determinant, exact_determinant, principal};
use crate::subsets::{index_of, subsets};

/// A law over the sets of `c` of `n` rows.
#[derive(Clone, Debug)]
pub struct Law {
    /// The states, in the order of [`subsets`].
    pub states: Vec<Vec<usize>>,
    /// The probability of each.
    pub probabilities: Vec<f64>,
}

impl Law {
    /// Return the c-DPP of a row-major `n x n` matrix.
    pub fn new(matrix: &[f64], n: usize, c: usize) -> Self {
        Self::from_weights(n, c, |members| determinant(&principal(matrix, n, members), c))
    }

    /// Return the c-DPP of a matrix of integers; every determinant is exact.
    pub fn exact(matrix: &[i64], n: usize, c: usize) -> Self {
        Self::from_weights(n, c, |members| exact_determinant(&principal(matrix, n, members), c) as f64)
    }

    /// Return the law of randomly pivoted Cholesky of a matrix of integers: of all orders in which the rows
    /// of a set can be drawn, each in proportion to its residual, a quotient of determinants.
    pub fn of_pivots(matrix: &[i64], n: usize, c: usize) -> Self {
        let members = |set: usize| (0..n).filter(|i| set >> i & 1 == 1).collect::<Vec<_>>();
        let minor: Vec<f64> = (0..1_usize << n)
            .map(|set| exact_determinant(&principal(matrix, n, &members(set)), members(set).len()) as f64)
            .collect();
        let mut reached = vec![0.0; 1 << n];
        reached[0] = 1.0;
        for set in 0..1_usize << n {
            let residuals: Vec<(usize, f64)> = (0..n)
                .filter(|i| set >> i & 1 == 0)
                .map(|i| set | 1 << i)
                .map(|set_i| (set_i, minor[set_i] / minor[set]))
                .collect();
            let total: f64 = residuals.iter().map(|(_, residual)| residual).sum();
            for (next, residual) in residuals {
                reached[next] += reached[set] * residual / total;
            }
        }
        let states = subsets(n, c);
        let bits = |state: &Vec<usize>| state.iter().map(|i| 1 << i).sum::<usize>();
        let probabilities = states.iter().map(|state| reached[bits(state)]).collect();
        Self { states, probabilities }
    }

    fn from_weights(n: usize, c: usize, weight: impl Fn(&[usize]) -> f64) -> Self {
        let states = subsets(n, c);
        let weights: Vec<f64> = states.iter().map(|members| weight(members)).collect();
        let total: f64 = weights.iter().sum();
        Self { states, probabilities: weights.iter().map(|weight| weight / total).collect() }
    }

    /// Return the index of a set, whose members may be in any order.
    pub fn index(&self, members: &[usize]) -> usize {
        index_of(&self.states, members)
    }

    /// Return the state at which the cumulative probability exceeds a number in [0, 1).
    pub fn state_at(&self, uniform: f64) -> &[usize] {
        let mut below = 0.0;
        for (state, probability) in self.states.iter().zip(&self.probabilities) {
            below += probability;
            if uniform < below {
                return state;
            }
        }
        self.states.last().map_or(&[], |state| state)
    }
}

/// Return `log e_0, ..., log e_degree` of numbers that are not negative, by the recursion
/// `e_k(λ_1..λ_m) = e_k(λ_1..λ_{m-1}) + λ_m e_{k-1}(λ_1..λ_{m-1})` on logarithms: every term is positive, so
/// nothing cancels.
pub fn log_elementary_symmetric(values: &[f64], degree: usize) -> Vec<f64> {
    let mut logs = vec![f64::NEG_INFINITY; degree + 1];
    logs[0] = 0.0;
    for &value in values.iter().filter(|&&value| value > 0.0) {
        for k in (1..=degree).rev() {
            logs[k] = log_sum(logs[k], value.ln() + logs[k - 1]);
        }
    }
    logs
}

fn log_sum(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}

/// Return `E tr(K - K̃) = (c + 1) e_{c+1}(K) / e_c(K)` for `C` of the c-DPP, from the eigenvalues of `K`.
pub fn expected_trace_error(eigenvalues: &[f64], c: usize) -> f64 {
    let logs = log_elementary_symmetric(eigenvalues, c + 1);
    (c + 1) as f64 * (logs[c + 1] - logs[c]).exp()
}

#[cfg(test)]
mod tests {
    use super::{Law, expected_trace_error, log_elementary_symmetric};

    #[test]
    fn symmetric_polynomials_at_a_point_computed_by_hand() {
        let logs = log_elementary_symmetric(&[1.0, 2.0, 3.0], 4);
        for (log, value) in logs.iter().zip([1.0, 6.0, 11.0, 6.0]) {
            assert!((log.exp() - value).abs() < 1e-13, "{log} {value}");
        }
        assert_eq!(logs[4], f64::NEG_INFINITY);
    }

    #[test]
    fn the_law_of_a_diagonal_matrix_is_its_products() {
        let law = Law::new(&[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], 3, 2);
        for (probability, product) in law.probabilities.iter().zip([2.0, 3.0, 6.0]) {
            assert!((probability - product / 11.0).abs() < 1e-15);
        }
        assert_eq!((law.state_at(0.0), law.state_at(0.999)), (&[0, 1][..], &[1, 2][..]));
        assert_eq!(Law::exact(&[1, 0, 0, 2], 2, 1).probabilities, [1.0 / 3.0, 2.0 / 3.0]);
    }

    #[test]
    fn all_rows_as_landmarks_leave_no_error() {
        assert_eq!(expected_trace_error(&[1.0, 2.0], 2), 0.0);
        assert!((expected_trace_error(&[1.0, 2.0], 0) - 3.0).abs() < 1e-15);
    }
}
