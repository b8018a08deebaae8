//! The spectrum of a Nyström approximation from p columns, for approximate scores.
//!
//! The columns are drawn in proportion to `k(i, i)`, as in the paper (uniformly if the kernel is a function
//! of a distance). With the features `Φ` of [`dpp_nystrom::core::Nystrom`], `K̃ = ΦᵀΦ`. The eigenvectors
//! `v_j` and eigenvalues `s_j` of the small matrix `ΦΦᵀ` give those of `K̃`: `Φᵀ v_j / √s_j` and `s_j`. `N p`
//! kernel evaluations, `O(N p² + p³)` operations, `2 N p` numbers.

use super::{diagonal, scores::within};
use crate::linalg::product;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::{Eigen, LandmarkSet, rank};
use dpp_nystrom::core::{Error as CoreError, Landmarks, Random};
use dpp_nystrom::landmarks::{Task, draw_row};
use dpp_nystrom::observer::go_on;
use dpp_nystrom_host::heap::Heap;

/// The default number of columns per landmark.
const COLUMNS: usize = 4;

/// Return the eigenvalues of `K̃` above rounding, and their eigenvectors of N entries.
pub(super) fn sketch(task: &Task<'_>, columns: Option<usize>, random: &mut Random) -> Result<Eigen, Error> {
    let ground = task.gram.ground();
    let count = task.gram.len();
    let p = match columns {
        Some(columns) => within("columns", columns, count)?,
        None => (COLUMNS * task.c).min(count),
    };
    let mut memory = Heap::new(p)?;
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(Error::landmarks)?;
    let mut weights = diagonal::weights(ground);
    // Columns that depend on others add nothing: fewer than p are enough.
    while landmarks.len() < p
        && let Some(row) = draw_row(&weights, random)?
    {
        weights[row] = 0.0;
        match landmarks.push(row) {
            Ok(()) | Err(CoreError::NotPositive { .. }) => {}
            Err(reason) => return Err(Error::landmarks(reason)),
        }
    }
    go_on(task.observer)?;
    let features = task.gram.features(&LandmarkSet::Indices(landmarks.members().to_vec()))?;
    go_on(task.observer)?;
    let Eigen { mut values, vectors } = Eigen::of(&product(features.as_ref(), features.transpose()))?;
    values.truncate(rank(&values));
    let mut vectors = product(features.transpose(), vectors.get(.., ..values.len()));
    for (j, value) in values.iter().enumerate() {
        let root = value.sqrt();
        vectors.col_mut(j).iter_mut().for_each(|entry| *entry /= root);
    }
    Ok(Eigen { values, vectors })
}
