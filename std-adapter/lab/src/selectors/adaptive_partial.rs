//! Adaptive sampling from the selected columns alone, in ten rounds of c/10 rows.
//!
//! Let `C` be the columns of the rows R selected so far, `W` their submatrix of K and `W_k` its best rank-k
//! approximation. The Nyström approximation of rank k reproduces `C` as `C W_k† W`. The residual is `C U Uᵀ`,
//! with `U` the eigenvectors of `W` that `W_k` omits. Row `j` is drawn in proportion to the squared norm of
//! its row of the residual, `‖C_j U‖²`. k is the smallest rank that retains [`ENERGY`] of the trace of `W`,
//! and omits at least one eigenvector. The first rows are drawn uniformly.

use dpp_nystrom::Error;
use dpp_nystrom::approximation::Eigen;
use dpp_nystrom::core::GroundSet;
use dpp_nystrom::faer::Mat;
use dpp_nystrom::landmarks::{Selection, Selector, Task};
use rayon::prelude::*;

/// The number of rounds.
const ROUNDS: usize = 10;

/// The fraction of the trace that the rank-k approximation retains.
const ENERGY: f64 = 0.8;

/// Select as [`AdaptiveFull`](super::AdaptiveFull), from the selected columns alone, in ten rounds (Kumar,
/// Mohri and Talwalkar 2012). `N c` kernel evaluations and numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdaptivePartial;

impl Selector for AdaptivePartial {
    fn name(&self) -> &'static str {
        "adappart"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let (c, ground) = (task.c, task.gram.ground());
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(c);
        let (mut round, rounds) = (1, ROUNDS.min(c));
        task.observer.begin("rounds", rounds as u64);
        let selection = task.draw(vec![1.0; ground.len()], &mut task.random(), |drawn, weights| {
            if drawn.len() < round * c / rounds {
                return Ok(());
            }
            round += 1;
            task.observer.advance(1);
            if drawn.len() < c {
                for &member in &drawn[columns.len()..] {
                    let column = (0..ground.len()).into_par_iter().map(|row| ground.entry(row, member));
                    columns.push(column.collect());
                }
                weights.copy_from_slice(&residuals(&columns, drawn)?);
            }
            Ok(())
        })?;
        task.observer.end();
        Ok(selection)
    }
}

/// Return `‖C_j U‖²` for every row `j`; zero for the members.
pub(super) fn residuals(columns: &[Vec<f64>], members: &[usize]) -> Result<Vec<f64>, Error> {
    let r = members.len();
    let own = Mat::from_fn(r, r, |i, j| columns[i.min(j)][members[i.max(j)]]);
    let eigen = Eigen::of(&own)?;
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
