//! Ridge leverage scores from a sample of a half of the rows, which is drawn by scores from a sample of a quarter, and
//! so on down to c rows.
//!
//! With `S` a sample of which row `j` was kept with probability `p_j`, row `i` has the estimate
//! `(k(i, i) - k_S(i)ᵀ (K_SS + λP)⁻¹ k_S(i)) / λ`, `P = diag(p_j)`. Where `S` is good enough, 3/2 of it is between
//! the exact score and three times that (Musco and Musco 2017). A level keeps a row with the estimate times
//! `ln c`; its λ is the tail of the sample beyond `k = c/(4 ln c)` eigenvalues over k, the source's choice for a given
//! number of landmarks, and not the γ of the regression. The last level draws c rows.
//!
//! No factor of the source's proof is kept in the probabilities (3/2, and 16 for its `ln`): with them a sample of
//! these sizes would be all the rows. `O(N c)` kernel evaluations, `O(N c²)` operations.

use crate::approximation::features::Ground;
use crate::error::Error;
use crate::heap::Heap;
use crate::landmarks::methods::draw::{by_weight, refused};
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task};
use crate::linalg::eigen::eigenvalues;
use dpp_nystrom_core::{Cholesky, Error as CoreError, GroundSet, Random, Scalar};
use faer::Mat;
use rand::seq::SliceRandom;
use rand_core::Rng;
use rayon::prelude::*;

/// Select rows by ridge leverage scores that are estimated on halves of the rows, recursively (Musco and Musco 2017,
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
        let (sample, lambda) = recurse(ground, c, oversampling(c), Lambda::Tail, &mut random)?;
        let rows: Vec<usize> = (0..ground.len()).collect();
        let mut weights = estimates(ground, &rows, &sample, lambda)?;
        weights.iter_mut().for_each(|weight| *weight = weight.min(1.0));
        by_weight(ground, c, &mut weights, &mut random)
    }
}

/// Rows, and the probability with which each was kept.
pub(crate) struct Sample {
    rows: Vec<usize>,
    kept: Vec<f64>,
}

#[cfg(test)]
impl Sample {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// How a level's λ is found.
#[derive(Clone, Copy)]
pub(crate) enum Lambda {
    /// This one at every level: Algorithm 2.
    #[cfg_attr(not(test), expect(dead_code, reason = "what exact scores are compared with"))]
    Fixed(f64),
    /// The tail of the sample's spectrum: Algorithm 3.
    Tail,
}

impl Lambda {
    /// `(tr SᵀKS - Σ_{i<=k} σ_i(SᵀKS)) / k`, with the sample scaled by `1/√p_j`.
    fn of(self, ground: &Ground<'_>, sample: &Sample, size: usize) -> Result<f64, Error> {
        let Sample { rows, kept } = sample;
        let count = rows.len();
        let k = (size as f64 / (4.0 * oversampling(size))).ceil() as usize;
        if let Self::Fixed(lambda) = self {
            return Ok(lambda);
        }
        let scaled = Mat::from_fn(count, count, |i, j| {
            ground.entry(rows[i.max(j)], rows[i.min(j)]) / (kept[i] * kept[j]).sqrt()
        });
        let values = eigenvalues(&scaled)?;
        let tail: f64 = values.iter().skip(k).sum();
        let trace: f64 = values.iter().sum();
        // A sample of no more than k rows has no tail: what rounding lets one tell.
        Ok((tail / k as f64).max(count as f64 * f64::EPSILON * trace).max(f64::MIN_POSITIVE))
    }
}

/// What a score is multiplied by for the probability of keeping its row: `ln c`, at least one.
fn oversampling(size: usize) -> f64 {
    (size as f64).ln().max(1.0)
}

/// The sample of about `size` rows from a half of all, each kept with the probability `oversampling` times its
/// estimate, and the λ for the scores of all from it.
pub(crate) fn recurse(
    ground: &Ground<'_>,
    size: usize,
    oversampling: f64,
    lambda: Lambda,
    random: &mut Random,
) -> Result<(Sample, f64), Error> {
    let mut order: Vec<usize> = (0..ground.len()).collect();
    order.shuffle(random);
    let mut sizes = vec![ground.len()];
    let mut least = ground.len();
    while least > size {
        least = least.div_ceil(2);
        sizes.push(least);
    }
    let mut sample = Sample { rows: order[..least].to_vec(), kept: vec![1.0; least] };
    // All rows are the caller's, and of the fewest all are kept.
    for &level in sizes.iter().skip(1).rev().skip(1) {
        let rows = &order[..level];
        let scores = estimates(ground, rows, &sample, lambda.of(ground, &sample, size)?)?;
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
    let lambda = lambda.of(ground, &sample, size)?;
    Ok((sample, lambda))
}

/// `(k(i, i) - k_S(i)ᵀ (K_SS + λP)⁻¹ k_S(i)) / λ` of these rows, not under zero.
pub(crate) fn estimates(
    ground: &Ground<'_>,
    rows: &[usize],
    sample: &Sample,
    lambda: f64,
) -> Result<Vec<f64>, Error> {
    let mut memory = Heap::new(sample.rows.len())?;
    let mut factor = Cholesky::new(memory.lend().factor).map_err(refused)?;
    let mut members: Vec<usize> = Vec::with_capacity(sample.rows.len());
    let mut column = vec![0.0; sample.rows.len()];
    for (&row, &kept) in sample.rows.iter().zip(&sample.kept) {
        let column = &mut column[..members.len()];
        ground.column(row, &members, column);
        match factor.append(column, ground.diagonal(row) + lambda * kept) {
            Ok(()) => members.push(row),
            // λ is rounding beside the kernel, and the row adds nothing to those before it.
            Err(CoreError::NotPositive { .. }) => {}
            Err(reason) => return Err(refused(reason)),
        }
    }
    rows.par_iter()
        .map_init(
            || vec![0.0; members.len()],
            |z, &row| {
                ground.column(row, &members, z);
                factor.solve_lower(z).map_err(refused)?;
                let met: f64 = z.iter().map(|entry| entry * entry).sum();
                Ok(((ground.diagonal(row) - met) / lambda).max(0.0))
            },
        )
        .collect()
}
