//! Lemma 1, Theorem 1 and Corollary 1: bounds on the error of `K̃` relative to the best rank-`k`
//! approximation.
//!
//! Eigenvalues are given in descending order, `λ_1 >= λ_2 >= …`; `c >= k >= 1` landmarks are drawn from the
//! c-DPP.

use crate::spectrum::Norms;

/// Return Lemma 1's bound (Guruswami and Sinop 2012): `e_{c+1}/e_c <= Σ_{i>k} λ_i / (c + 1 - k)` for
/// `1 <= k <= c`.
pub fn lemma_1(eigenvalues: &[f64], c: usize, k: usize) -> f64 {
    eigenvalues.iter().skip(k).sum::<f64>() / (c + 1 - k) as f64
}

/// Return Theorem 1's bound on `E ‖K - K̃‖ / ‖K - K_k‖`: `(c + 1)/(c + 1 - k) √(N - k)` in the Frobenius
/// norm, `(c + 1)/(c + 1 - k) (N - k)` in the spectral norm.
pub fn theorem_1(rows: usize, c: usize, k: usize) -> Norms {
    let factor = (c + 1) as f64 / (c + 1 - k) as f64;
    let left = (rows - k) as f64;
    Norms { frobenius: factor * left.sqrt(), spectral: factor * left }
}

/// Return Corollary 1's bound: with probability at least `1 - δ` the errors are at most Theorem 1's bounds
/// plus `√(8 c log 1/δ) ‖K‖ / ‖K - K_k‖`. It exceeds the trivial bound, [`corollary_1_trivial`], once
/// [`is_vacuous`] holds.
pub fn corollary_1(eigenvalues: &[f64], c: usize, k: usize, delta: f64) -> Norms {
    let (expected, trivial) = (theorem_1(eigenvalues.len(), c, k), corollary_1_trivial(eigenvalues, k));
    let t = deviation(c, delta);
    Norms {
        frobenius: expected.frobenius + t * trivial.frobenius,
        spectral: expected.spectral + t * trivial.spectral,
    }
}

/// Return the trivial bound `‖K‖ / ‖K - K_k‖`, which holds for every landmark set, since `0 ⪯ K - K̃ ⪯ K`.
pub fn corollary_1_trivial(eigenvalues: &[f64], k: usize) -> Norms {
    Norms::best(eigenvalues, 0).relative_to(Norms::best(eigenvalues, k))
}

/// Return `√(8 c log 1/δ)`: a 1-Lipschitz function of a c-DPP exceeds its mean by this much with probability
/// at most `δ` (Pemantle and Peres 2014).
pub fn deviation(c: usize, delta: f64) -> f64 {
    (8.0 * c as f64 * (1.0 / delta).ln()).sqrt()
}

/// Whether the corollaries are weaker than the trivial bounds: `8 c log 1/δ >= 1`.
pub fn is_vacuous(c: usize, delta: f64) -> bool {
    deviation(c, delta) >= 1.0
}

#[cfg(test)]
mod tests {
    use super::{Norms, corollary_1, corollary_1_trivial, is_vacuous, lemma_1, theorem_1};

    #[test]
    fn bounds_at_a_point_computed_by_hand() {
        let eigenvalues = [6.0, 4.0, 3.0, 0.0];
        assert_eq!(lemma_1(&eigenvalues, 3, 2), 1.5);
        assert_eq!(theorem_1(11, 3, 2), Norms { frobenius: 6.0, spectral: 18.0 });
        assert_eq!(Norms::best(&eigenvalues, 1), Norms { frobenius: 5.0, spectral: 4.0 });
        let trivial = corollary_1_trivial(&eigenvalues, 1);
        assert_eq!(trivial, Norms { frobenius: 61.0_f64.sqrt() / 5.0, spectral: 1.5 });
        // 8 · 2 · log(1/δ) = 4.
        let found = corollary_1(&eigenvalues, 2, 1, (-0.25_f64).exp());
        assert!((found.frobenius - (1.5 * 3.0_f64.sqrt() + 2.0 * trivial.frobenius)).abs() < 1e-14);
        assert!((found.spectral - (4.5 + 3.0)).abs() < 1e-14);
        assert!(is_vacuous(50, 0.05) && !is_vacuous(1, 0.9));
    }
}
