//! Ridge leverage scores from a sample of half of the rows, which is itself drawn by scores from a sample of
//! a quarter, and so on recursively down to c rows.
//!
//! Let `S` be a sample in which row `j` was kept with probability `p_j`. The estimated score of row `i` is
//! `(k(i, i) - k_S(i)ᵀ (K_SS + λP)⁻¹ k_S(i)) / λ`, `P = diag(p_j)`. If `S` is accurate enough, 3/2 of the
//! estimate is between the exact score and three times the exact score (Musco and Musco 2017). Each level
//! keeps a row with probability `ln c` times its estimate. Its λ is the sum of the eigenvalues of the sample
//! beyond the first `k = c/(4 ln c)`, divided by k. This is the source's choice for a given number of
//! landmarks, and not the γ of the regression. The last level draws c rows.
//!
//! The constants of the source's proof (3/2, and 16 for its `ln`) are left out of the probabilities: with
//! them a sample of these sizes would contain all rows. `O(N c)` kernel evaluations, `O(N c²)` operations.

use crate::spectrum::Spectrum;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::AnyGround;
use dpp_nystrom::core::{Cholesky, Error as CoreError, GroundSet, Random, Scalar};
use dpp_nystrom::faer::Mat;
use dpp_nystrom::landmarks::{Selection, Selector, Task};
use dpp_nystrom::observer::go_on;
use dpp_nystrom_host::heap::Heap;
use rand::seq::SliceRandom;
use rand_core::Rng;
use rayon::prelude::*;
use std::iter::successors;

/// Select rows by ridge leverage scores, estimated recursively on halves of the rows (Musco and Musco 2017,
/// Algorithm 3). About `2 N c` kernel evaluations, `N + c²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecursiveRls;

impl Selector for RecursiveRls {
    fn name(&self) -> &'static str {
        "recursive-rls"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let (c, ground) = (task.c, task.gram.ground());
        let mut random = task.random();
        let lambda = |sample: &Sample| {
            go_on(task.observer)?;
            tail(ground, sample, c)
        };
        let (sample, lambda) = recurse(ground, c, oversampling(c), lambda, &mut random)?;
        let rows: Vec<usize> = (0..ground.len()).collect();
        let mut weights = estimates(ground, &rows, &sample, lambda)?;
        weights.iter_mut().for_each(|weight| *weight = weight.min(1.0));
        task.draw(weights, &mut random, |_, _| Ok(()))
    }
}

/// A sample of rows, with the probability of keeping each.
pub(super) struct Sample {
    pub(super) rows: Vec<usize>,
    kept: Vec<f64>,
}

/// Return the λ of Algorithm 3, `(tr SᵀKS - Σ_{i<=k} σ_i(SᵀKS)) / k`, with the sample scaled by `1/√p_j`.
fn tail(ground: &AnyGround<'_>, sample: &Sample, size: usize) -> Result<f64, Error> {
    let Sample { rows, kept } = sample;
    let count = rows.len();
    let k = (size as f64 / (4.0 * oversampling(size))).ceil() as usize;
    let scaled = Mat::from_fn(count, count, |i, j| {
        ground.entry(rows[i.max(j)], rows[i.min(j)]) / (kept[i] * kept[j]).sqrt()
    });
    let spectrum = Spectrum::of_matrix(scaled.into())?;
    let values = spectrum.eigenvalues();
    let tail: f64 = values.iter().skip(k).sum();
    let trace: f64 = values.iter().sum();
    // The tail of a sample of at most k rows is zero: use the level of rounding instead.
    Ok((tail / k as f64).max(count as f64 * f64::EPSILON * trace).max(f64::MIN_POSITIVE))
}

/// Return the factor between a score and the probability of keeping its row: `ln c`, at least 1.
fn oversampling(size: usize) -> f64 {
    (size as f64).ln().max(1.0)
}

/// Draw a sample of about `size` rows from half of all rows, each kept with probability `oversampling` times
/// its estimate at the λ of the level before. Return the sample and the λ for the scores of all rows.
pub(super) fn recurse(
    ground: &AnyGround<'_>,
    size: usize,
    oversampling: f64,
    lambda: impl Fn(&Sample) -> Result<f64, Error>,
    random: &mut Random,
) -> Result<(Sample, f64), Error> {
    let mut order: Vec<usize> = (0..ground.len()).collect();
    order.shuffle(random);
    let half = |&rows: &usize| (rows > size).then(|| rows.div_ceil(2));
    let sizes: Vec<usize> = successors(Some(ground.len()), half).collect();
    let least = sizes[sizes.len() - 1];
    let mut sample = Sample { rows: order[..least].to_vec(), kept: vec![1.0; least] };
    // Skip the first level, all rows, which is left to the caller, and the last, which keeps all of its rows.
    for &level in sizes.iter().skip(1).rev().skip(1) {
        let rows = &order[..level];
        let scores = estimates(ground, rows, &sample, lambda(&sample)?)?;
        let mut next = Sample { rows: Vec::new(), kept: Vec::new() };
        for (&row, score) in rows.iter().zip(scores) {
            let probability = (oversampling * score).min(1.0);
            if f64::from_draw(random.next_u32()) < probability {
                next.rows.push(row);
                next.kept.push(probability);
            }
        }
        if next.rows.is_empty() {
            let few = size.min(level);
            next = Sample { rows: rows[..few].to_vec(), kept: vec![few as f64 / level as f64; few] };
        }
        sample = next;
    }
    let lambda = lambda(&sample)?;
    Ok((sample, lambda))
}

/// Return `(k(i, i) - k_S(i)ᵀ (K_SS + λP)⁻¹ k_S(i)) / λ` for these rows, at least zero.
pub(super) fn estimates(
    ground: &AnyGround<'_>,
    rows: &[usize],
    sample: &Sample,
    lambda: f64,
) -> Result<Vec<f64>, Error> {
    let mut memory = Heap::new(sample.rows.len())?;
    let mut factor = Cholesky::new(memory.lend().factor).map_err(Error::landmarks)?;
    let mut members: Vec<usize> = Vec::with_capacity(sample.rows.len());
    let mut column = vec![0.0; sample.rows.len()];
    for (&row, &kept) in sample.rows.iter().zip(&sample.kept) {
        let column = &mut column[..members.len()];
        ground.column(row, &members, column);
        match factor.append(column, ground.diagonal(row) + lambda * kept) {
            Ok(()) => members.push(row),
            // λ is at the level of rounding, and the row depends on those before it.
            Err(CoreError::NotPositive { .. }) => {}
            Err(reason) => return Err(Error::landmarks(reason)),
        }
    }
    rows.par_iter()
        .map_init(
            || vec![0.0; members.len()],
            |z, &row| {
                ground.column(row, &members, z);
                factor.solve_lower(z).map_err(Error::landmarks)?;
                let met: f64 = z.iter().map(|entry| entry * entry).sum();
                Ok(((ground.diagonal(row) - met) / lambda).max(0.0))
            },
        )
        .collect()
}
