//! Adaptive sampling from the selected columns alone, in ten rounds of c/10 rows.
//!
//! Let `C` be the columns of the rows R selected so far, `W` their submatrix of K and `W_k` its best rank-k
//! approximation. The Nyström approximation of rank k reproduces `C` as `C W_k† W`. The residual is `C U Uᵀ`, with `U`
//! the eigenvectors of `W` that `W_k` omits. Row `j` is drawn in proportion to the squared norm of its row of the
//! residual, `‖C_j U‖²`. k is the smallest rank that retains [`ENERGY`] of the trace of `W`, and omits at least one
//! eigenvector. The first rows are drawn uniformly.

use crate::error::{Error, landmarks_error};
use crate::heap::Heap;
use crate::landmarks::methods::draw::{one, selected};
use crate::landmarks::{Selection, Selector, Task};
use crate::linalg::eigen::eigen;
use crate::observer::go_on;
use dpp_nystrom_core::{GroundSet, Landmarks};
use faer::Mat;
use rayon::prelude::*;

/// The number of rounds.
const ROUNDS: usize = 10;

/// The fraction of the trace that the rank-k approximation retains.
const ENERGY: f64 = 0.8;

/// Select as [`AdaptiveFull`](crate::selectors::AdaptiveFull), from the selected columns alone, in ten rounds (Kumar,
/// Mohri and Talwalkar 2012). `N c` kernel evaluations and numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdaptivePartial;

impl Selector for AdaptivePartial {
    fn name(&self) -> &'static str {
        "adappart"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let (c, ground) = (task.c, task.gram.ground());
        let mut random = task.random();
        let mut memory = Heap::new(c)?;
        let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(landmarks_error)?;
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(c);
        let mut weights = vec![1.0; ground.len()];
        let rounds = ROUNDS.min(c);
        task.observer.begin("rounds", rounds as u64);
        for round in 1..=rounds {
            while landmarks.len() < round * c / rounds {
                one(&mut landmarks, c, &mut weights, &mut random)?;
            }
            task.observer.advance(1);
            go_on(task.observer)?;
            if landmarks.len() == c {
                break;
            }
            for &member in &landmarks.members()[columns.len()..] {
                columns
                    .push((0..ground.len()).into_par_iter().map(|row| ground.entry(row, member)).collect());
            }
            weights = residuals(&columns, landmarks.members())?;
        }
        task.observer.end();
        Ok(selected(&landmarks))
    }
}

/// Return `‖C_j U‖²` for every row `j`; zero for the members.
pub(crate) fn residuals(columns: &[Vec<f64>], members: &[usize]) -> Result<Vec<f64>, Error> {
    let r = members.len();
    let own = Mat::from_fn(r, r, |i, j| columns[i.min(j)][members[i.max(j)]]);
    let eigen = eigen(&own)?;
    let total: f64 = eigen.values.iter().sum();
    let mut kept = 0.0;
    let held = |value: &f64| {
        kept += value;
        kept >= ENERGY * total
    };
    let rank = eigen.values.iter().position(held).map_or(r, |last| last + 1).min(r - 1);
    let rows = columns.first().map_or(0, Vec::len);
    let mut weights: Vec<f64> = (0..rows)
        .into_par_iter()
        .map(|row| {
            let shares = (rank..r).map(|j| {
                let share: f64 =
                    columns.iter().enumerate().map(|(i, column)| column[row] * eigen.vectors[(i, j)]).sum();
                share * share
            });
            shares.sum()
        })
        .collect();
    for &member in members {
        weights[member] = 0.0;
    }
    Ok(weights)
}
