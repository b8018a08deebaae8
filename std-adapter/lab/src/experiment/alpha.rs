//! Theorem 3's α, bounded from below by sampling.

use crate::error::Error;
use crate::rng::{Stream, stream};
use crate::theory::contraction::contraction;
use dpp_nystrom::{approximation::AnyGround, core::GroundSet};
use rand::seq::index;

/// Triples (S, r, t) drawn.
const TRIPLES: u64 = 4;

/// Return the largest of some uniformly drawn α(S, r, t), a lower bound of α; none if no pair of states was
/// found.
pub(super) fn lower_bound(ground: &AnyGround<'_>, c: usize, seed: u64) -> Result<Option<f64>, Error> {
    let mut most: Option<f64> = None;
    if c + 1 > ground.len() {
        return Ok(None);
    }
    for triple in 0..TRIPLES {
        let mut random = stream(seed.wrapping_add(triple), Stream::Triples);
        let rows = index::sample(&mut random, ground.len(), c + 1).into_vec();
        let (shared, pair) = rows.split_at(c - 1);
        if let Some(alpha) = contraction(ground, shared, pair[0], pair[1])? {
            most = Some(most.map_or(alpha, |most| most.max(alpha)));
        }
    }
    Ok(most)
}
