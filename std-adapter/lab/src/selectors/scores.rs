//! Leverage scores from eigenvalues and eigenvectors, of the kernel matrix or of a sketch.
//!
//! With `K = Σ λ_j u_j u_jᵀ`, row `i` has the score `l_i = Σ_j w_j u_ij²`. Leverage scores of the best rank-k
//! space have the weights `w_j = 1` for the first k and 0 for the others, and sum to k. Ridge leverage
//! scores, the diagonal of `K (K + μI)⁻¹`, have `w_j = λ_j/(λ_j + μ)`, and sum to the effective dimension.

use dpp_nystrom::Error;
use dpp_nystrom::approximation::{Eigen, rank};
use dpp_nystrom::landmarks::Task;
use rayon::prelude::*;

/// Rows per parallel task.
const BLOCK: usize = 256;

/// Check that a parameter is in the range `1..=most`.
pub(super) fn within(option: &'static str, value: usize, most: usize) -> Result<usize, Error> {
    if (1..=most).contains(&value) { Ok(value) } else { Err(Error::out_of_range(option, value, most)) }
}

/// Return the weights `w_j`: 1 for each of the first `k` eigenvalues above rounding.
pub(super) fn leading(eigen: &Eigen, k: usize) -> Vec<f64> {
    vec![1.0; k.min(rank(&eigen.values))]
}

/// Return the weights `w_j = λ_j/(λ_j + μ)` for the eigenvalues above rounding.
pub(super) fn ridge(eigen: &Eigen, mu: f64) -> Vec<f64> {
    eigen.values[..rank(&eigen.values)].iter().map(|value| value / (value + mu)).collect()
}

/// Return the ridge weights at the task's ridge, `μ = Nγ`; without one, at the μ of effective dimension c.
pub(super) fn ridge_for(task: &Task<'_>, eigen: &Eigen) -> Vec<f64> {
    let of_dimension = || ridge_of_dimension(eigen, task.c);
    ridge(eigen, task.ridge.map_or_else(of_dimension, |gamma| gamma * task.gram.len() as f64))
}

/// Return the scores `l_i = Σ_j w_j u_ij²`, over as many eigenvectors as there are weights.
pub(super) fn leverage(eigen: &Eigen, weights: &[f64]) -> Vec<f64> {
    let vectors = eigen.vectors.as_ref();
    let mut scores = vec![0.0; vectors.nrows()];
    scores.par_chunks_mut(BLOCK).enumerate().for_each(|(block, scores)| {
        for (j, weight) in weights.iter().enumerate() {
            for (at, score) in scores.iter_mut().enumerate() {
                let entry = vectors[(block * BLOCK + at, j)];
                *score += weight * entry * entry;
            }
        }
    });
    scores
}

/// Return the μ at which the effective dimension `Σ λ_j/(λ_j + μ)` is `c`. If the rank is at most `c`, return
/// the smallest μ above rounding.
pub(super) fn ridge_of_dimension(eigen: &Eigen, c: usize) -> f64 {
    let dimension = |mu| ridge(eigen, mu).iter().sum::<f64>();
    let eigenvalues = &eigen.values;
    let largest = eigenvalues.first().copied().unwrap_or(0.0);
    // At this μ the dimension is at most tr K / μ = c.
    let mut above = eigenvalues.iter().sum::<f64>() / c as f64;
    let mut below = largest * eigenvalues.len() as f64 * f64::EPSILON;
    if !(below < above) || dimension(below) <= c as f64 {
        return below.max(f64::MIN_POSITIVE);
    }
    // Bisect an interval of at most 53 doublings to a relative width of 10⁻¹².
    while above / below > 1.0 + 1e-12 {
        let middle = (above * below).sqrt();
        if !(middle > below && middle < above) {
            break;
        }
        if dimension(middle) > c as f64 { below = middle } else { above = middle }
    }
    above
}
