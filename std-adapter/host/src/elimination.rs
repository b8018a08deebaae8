//! Residuals by elimination on a whole kernel matrix: the reference for tests of the fast methods.

use dpp_nystrom_core::GroundSet;

/// Return `K - K̃`, eliminating these landmarks one after the other.
pub fn residuals(ground: &impl GroundSet<f64>, landmarks: &[usize]) -> Vec<Vec<f64>> {
    let n = ground.len();
    let entry = |i: usize, j: usize| if i == j { ground.diagonal(i) } else { ground.entry(i, j) };
    let mut k: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
    for &out in landmarks {
        let own = k[out].clone();
        for row in &mut k {
            let factor = row[out] / own[out];
            row.iter_mut().zip(&own).for_each(|(entry, own)| *entry -= factor * own);
        }
    }
    k
}

/// Return `tr(K - K̃)`.
pub fn trace_residual(ground: &impl GroundSet<f64>, landmarks: &[usize]) -> f64 {
    residuals(ground, landmarks).iter().enumerate().map(|(i, row)| row[i]).sum()
}
