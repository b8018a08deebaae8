//! What landmarks miss of a whole kernel matrix, by elimination: what tests hold the fast ways to.

use dpp_nystrom_core::GroundSet;

/// `K - K̃` of these landmarks, taken out one after the other.
pub(crate) fn missed(ground: &impl GroundSet<f64>, landmarks: &[usize]) -> Vec<Vec<f64>> {
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

/// `tr(K - K̃)` of them.
pub(crate) fn trace_missed(ground: &impl GroundSet<f64>, landmarks: &[usize]) -> f64 {
    missed(ground, landmarks).iter().enumerate().map(|(i, row)| row[i]).sum()
}
