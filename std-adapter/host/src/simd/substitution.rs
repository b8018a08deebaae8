//! The forward substitution of a block of candidates, one candidate per lane.
//!
//! Landmarks are taken `TILE` at a time. Their kernel entries, and their sums over the earlier landmarks,
//! form independent chains of multiply-adds, which hides latency, and each earlier entry of a substitution is
//! loaded once per tile. A small triangular solve then finishes the tile.

use crate::simd::{InLanes, Lane};
use dpp_nystrom_core::{OpenSlot, TRIES};
use pulp::{Simd, WithSimd};

/// Landmarks per tile.
const TILE: usize = 8;

/// The arguments of a substitution. The lanes' [`TRIES`] values of each feature, and of each entry of the
/// substitutions, are adjacent.
pub struct Substitution<'t, 's, 'a, T: Lane, G> {
    pub(crate) ground: &'t G,
    pub(crate) slot: &'t OpenSlot<'s, 'a, T, G>,
    /// The number of candidates.
    pub candidates: usize,
    /// The candidates' features.
    pub features: &'t [T],
    /// Output: the candidates' substitutions.
    pub z: &'t mut [T],
    /// On entry `k(v, v)`, on return the residuals.
    pub residuals: &'t mut [T; TRIES],
    /// The block may stop once every residual is at or below its threshold.
    pub thresholds: &'t [T; TRIES],
}

impl<T: Lane, G: InLanes<T>> WithSimd for Substitution<'_, '_, '_, T, G> {
    /// Whether the substitution was finished, that is, whether some lane may be accepted.
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Self { ground, slot, candidates, features, z, residuals, thresholds } = self;
        let others = slot.others();
        let features = T::vectors::<S>(&features[..ground.width() * TRIES]);
        let z = T::vectors_mut::<S>(&mut z[..others.len() * TRIES]);
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let (stride, vectors) = (TRIES / lanes, candidates.div_ceil(lanes));
        // Landmarks that fill no tile come first, where there is least to subtract.
        let (rest, tiles) = others.as_rchunks::<TILE>();
        let mut first = 0;
        for &member in rest {
            let (rows, factor) = ([ground.row_of(member)], [slot.row(first)]);
            tile::<T, S, G, 1>(simd, ground, rows, factor, features, stride, vectors, first, z, residuals);
            first += 1;
        }
        for members in tiles {
            // No closures here: what is not inlined is compiled without the machine's vector instructions.
            let mut rows = [ground.row_of(members[0]); TILE];
            let mut factor: [&[T]; TILE] = [&[]; TILE];
            for (r, (row, &member)) in rows.iter_mut().zip(members).enumerate() {
                *row = ground.row_of(member);
                factor[r] = slot.row(first + r);
            }
            tile::<T, S, G, TILE>(simd, ground, rows, factor, features, stride, vectors, first, z, residuals);
            first += TILE;
            let mut fallen = true;
            for (residual, threshold) in residuals.iter().zip(thresholds).take(candidates) {
                // Minus infinity marks an entry that was NaN: finish, and report it.
                fallen &= residual <= threshold && *residual > -(T::ONE / T::ZERO);
            }
            if fallen {
                return false;
            }
        }
        true
    }
}

/// Substitute the landmarks `first..first + R`, with features `rows` and rows `factor` of the factor, for the
/// first `vectors` vectors of candidates.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a struct of them would not stay in registers")]
fn tile<T: Lane, S: Simd, G: InLanes<T>, const R: usize>(
    simd: S,
    ground: &G,
    rows: [G::Row<'_>; R],
    factor: [&[T]; R],
    features: &[T::Vector<S>],
    stride: usize,
    vectors: usize,
    first: usize,
    z: &mut [T::Vector<S>],
    residuals: &mut [T; TRIES],
) {
    let mut heads: [&[T]; R] = [&[]; R];
    let mut tails: [&[T]; R] = [&[]; R];
    for ((head, tail), row) in heads.iter_mut().zip(&mut tails).zip(factor) {
        (*head, *tail) = row.split_at(first);
    }
    let residuals = T::vectors_mut::<S>(residuals);
    let (before, here) = z.split_at_mut(first * stride);
    for vector in 0..vectors {
        let mut values = ground.entries::<S, R>(simd, rows, &features[vector..], stride);
        for t in 0..first {
            let earlier = before[t * stride + vector];
            for (value, head) in values.iter_mut().zip(&heads) {
                *value = T::mul_add(simd, T::splat(simd, -head[t]), earlier, *value);
            }
        }
        let mut residual = residuals[vector];
        for r in 0..R {
            let tail = &tails[r][..=r];
            let mut value = values[r];
            for t in 0..r {
                value = T::mul_add(simd, T::splat(simd, -tail[t]), values[t], value);
            }
            value = T::product(simd, value, T::splat(simd, T::ONE / tail[r]));
            values[r] = value;
            here[r * stride + vector] = value;
            // Never increases, fused or not: a square is subtracted.
            let negative = T::product(simd, value, T::splat(simd, -T::ONE));
            residual = T::mul_add(simd, negative, value, residual);
        }
        residuals[vector] = residual;
    }
}
