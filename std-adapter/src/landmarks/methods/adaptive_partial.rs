//! Adaptive sampling from the columns chosen alone, in ten rounds of c/10 rows.
//!
//! With `C` the columns of the rows R chosen so far, `W` their own matrix and `W_k` its best rank-k part, the
//! Nyström approximation of rank k gives `C` back as `C W_k† W`; its residual is `C U Uᵀ`, with `U` the eigenvectors
//! of `W` that `W_k` lacks. Row `j` is drawn in proportion to the squared norm of its row of that, `‖C_j U‖²`.
//! k is the least rank that holds [`ENERGY`] of the trace of `W`, and leaves out one at least. The first rows are
//! uniform.

use crate::error::Error;
use crate::heap::Heap;
use crate::landmarks::methods::draw::{one, refused, selected};
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task};
use crate::linalg::eigen::eigen;
use dpp_nystrom_core::{GroundSet, Landmarks};
use faer::Mat;
use rayon::prelude::*;

/// Rounds of drawing.
const ROUNDS: usize = 10;

/// The share of the trace that the rank keeps.
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
        let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(c);
        let mut weights = vec![1.0; ground.len()];
        let rounds = ROUNDS.min(c);
        task.observer.begin("rounds", rounds as u64);
        for round in 1..=rounds {
            while landmarks.len() < round * c / rounds {
                one(&mut landmarks, c, &mut weights, &mut random)?;
            }
            task.observer.advance(1);
            if landmarks.len() == c {
                break;
            }
            for &member in &landmarks.members()[columns.len()..] {
                columns
                    .push((0..ground.len()).into_par_iter().map(|row| ground.entry(row, member)).collect());
            }
            weights = missed(&columns, landmarks.members())?;
        }
        task.observer.end();
        Ok(selected(&landmarks))
    }
}

/// `‖C_j U‖²` of every row `j`; zero for the members.
pub(crate) fn missed(columns: &[Vec<f64>], members: &[usize]) -> Result<Vec<f64>, Error> {
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
