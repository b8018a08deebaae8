//! What landmarks miss of the pairs of some candidates and some rows, and how an exchange changes it.
//!
//! Of `q` candidates against `m` rows, the candidates and the landmarks among them, `R = K - ΦᵀΦ` is held, `q m`
//! numbers. Without the landmark `i` it is `R + aaᵀ`, with `a` the rows' last features when `i` stands last; with
//! the row `v` in its place `R + aaᵀ - bbᵀ`, `b = r_·v / √r_vv`. So the drop in the weighted trace error
//! `Σ_j w_j r_jv² / r_vv` of all `q` exchanges costs one pass over `R`, in which the exchange before it is carried
//! out. A landmark that leaves takes the place of the candidate that comes.

use crate::error::Error;
use crate::heap::zeros;
use crate::simd::kernel;
use crate::simd::lane::Lane;
use crate::simd::lanes::{Ground, Lanes};
use crate::simd::pivots::Rows;
use dpp_nystrom_core::{GroundSet, Landmarks, TRIES};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

#[cfg(test)]
mod tests;

/// Numbers that a candidate's entries are rounded up to a multiple of: two vectors of the widest instruction set.
const WIDE: usize = 32;

/// Candidates to a task of a thread.
const TASK: usize = 32;

/// Candidates for landmarks, and rows over which what they would take off is summed.
#[derive(Clone, Debug)]
pub(crate) struct Subset {
    arch: Arch,
    /// Rows of the ground set, the landmarks first.
    rows: Vec<usize>,
    /// `rows`, rounded up to [`WIDE`].
    stride: usize,
    weights: Vec<f32>,
    /// `R`, a candidate's entries side by side; `f32`, for what is compared are sums of their squares.
    missed: Vec<f32>,
    /// Where the candidates stand among the rows.
    candidates: Vec<usize>,
    /// For each landmark, in the order of `places`, a feature of all rows.
    features: Vec<Vec<f64>>,
    /// Where the landmarks stand among the rows.
    places: Vec<usize>,
    /// Kernel diagonals.
    diagonals: Vec<f64>,
    /// `a`, `b`, and those of the exchange that is not yet carried out in `missed`.
    leaving: Vec<f32>,
    left: Vec<f32>,
    entered: Vec<f32>,
    /// Whether there is one.
    is_due: bool,
    drops: Vec<f32>,
    /// The largest residual that each candidate has had, to which its rounding is relative.
    largest: Vec<f32>,
}

impl Subset {
    /// The rows `others`, with their weights, beside the landmarks, whose weight is one; the candidates are these
    /// places of `others`.
    pub(crate) fn new(
        lanes: &Lanes<f64>,
        landmarks: &Landmarks<'_, f64, Ground<'_, f64>>,
        others: &[usize],
        weights: &[f64],
        candidates: &[usize],
    ) -> Result<Self, Error> {
        let ground = landmarks.ground();
        let c = landmarks.len();
        let rows = [landmarks.members(), others].concat();
        let count = rows.len();
        let stride = count.next_multiple_of(WIDE);
        let candidates: Vec<usize> = candidates.iter().map(|at| c + at).collect();
        let chosen: Vec<usize> = candidates.iter().map(|&at| rows[at]).collect();
        let mut in_lanes = Rows::new(ground, count, |at| rows[at], c)?;
        lanes.pass(&mut in_lanes, landmarks, 0);
        let mut flat = zeros(count * c, 0.0)?;
        for (at, row) in flat.chunks_exact_mut(c.max(1)).enumerate() {
            for (k, feature) in row.iter_mut().enumerate() {
                *feature = in_lanes.substitution(at, k);
            }
        }
        let phi = MatRef::from_row_major_slice(&flat, count, c);
        let mut missed = zeros(chosen.len() * stride, 0.0_f32)?;
        missed
            .par_chunks_mut(TASK * stride)
            .zip(chosen.par_chunks(TASK).zip(candidates.par_chunks(TASK)))
            .try_for_each(|(missed, (chosen, at))| {
                let mut entries = zeros(chosen.len() * count, 0.0)?;
                let all = Entries { ground, rows: chosen, count, in_lanes: &in_lanes, entries: &mut entries };
                lanes.arch.dispatch(all);
                let own: Vec<f64> =
                    at.iter().flat_map(|&at| flat[at * c..(at + 1) * c].iter().copied()).collect();
                let own = MatRef::from_row_major_slice(&own, chosen.len(), c);
                let out = MatMut::from_row_major_slice_mut(&mut entries, chosen.len(), count);
                matmul(out, Accum::Add, own, phi.transpose(), -1.0, Par::Seq);
                for (to, from) in missed.chunks_exact_mut(stride).zip(entries.chunks_exact(count)) {
                    for (to, &from) in to.iter_mut().zip(from) {
                        *to = from as f32;
                    }
                }
                Ok::<(), Error>(())
            })?;
        let features = (0..c).map(|k| (0..count).map(|at| flat[at * c + k]).collect()).collect();
        let mut all = zeros(stride, 0.0_f32)?;
        all[..c].fill(1.0);
        for (to, &weight) in all[c..].iter_mut().zip(weights) {
            *to = weight as f32;
        }
        let diagonals = rows.iter().map(|&row| ground.diagonal(row)).collect();
        let empty = || zeros(stride, 0.0_f32);
        Ok(Self {
            arch: lanes.arch,
            rows,
            stride,
            weights: all,
            missed,
            drops: zeros(candidates.len(), 0.0_f32)?,
            largest: zeros(candidates.len(), 0.0_f32)?,
            candidates,
            features,
            places: (0..c).collect(),
            diagonals,
            leaving: empty()?,
            left: empty()?,
            entered: empty()?,
            is_due: false,
        })
    }

    /// The landmarks, in the order in which they would leave.
    pub(crate) fn landmarks(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(|&place| self.rows[place])
    }

    /// Looks for the candidate that, in the place of the landmark that has waited longest, takes most of the
    /// weighted trace error off, and lets it in; the landmark itself is one of them. Answers whether another came.
    pub(crate) fn improve(&mut self) -> bool {
        let c = self.places.len();
        self.open();
        self.look();
        for candidate in 0..self.candidates.len() {
            self.largest[candidate] = self.largest[candidate].max(self.residual(candidate));
        }
        let mut best = (None, self.drop_of_present());
        for candidate in 0..self.candidates.len() {
            let drop = self.drop_of(candidate);
            if drop > best.1 * (1.0 + 1e-6) {
                best = (Some(candidate), drop);
            }
        }
        let Some(candidate) = best.0 else { return false };
        let (present, place) = (self.places[c - 1], self.candidates[candidate]);
        let a = self.leaving[place];
        let own = &mut self.missed[candidate * self.stride..(candidate + 1) * self.stride];
        let scale = 1.0 / (own[place] + a * a).sqrt();
        for ((entry, missed), &leaving) in self.entered.iter_mut().zip(own).zip(&self.leaving) {
            *entry = (*missed + a * leaving) * scale;
            // Of the landmark that leaves, whose line this is from now on, nothing was missed.
            *missed = 0.0;
        }
        self.left.copy_from_slice(&self.leaving);
        self.is_due = true;
        for (feature, &entered) in self.features[c - 1].iter_mut().zip(&self.entered) {
            *feature = f64::from(entered);
        }
        self.places[c - 1] = place;
        self.candidates[candidate] = present;
        self.largest[candidate] = self.leaving[present] * self.leaving[present];
        true
    }

    /// Carries out the exchange that is due, and sums `w_j (r_jv + a_j a_v)²` for every candidate `v`.
    fn look(&mut self) {
        let Self { arch, stride, weights, missed, candidates, leaving, left, entered, drops, .. } = self;
        let (arch, stride, weights, leaving) = (*arch, *stride, &**weights, &**leaving);
        let due = self.is_due.then_some((&**left, &**entered));
        missed
            .par_chunks_mut(TASK * stride)
            .zip(candidates.par_chunks(TASK))
            .zip(drops.par_chunks_mut(TASK))
            .for_each(|((missed, candidates), drops)| {
                arch.dispatch(Look { stride, missed, weights, candidates, leaving, due, drops });
            });
        self.is_due = false;
    }

    /// What the landmark that left would take off again: of what its feature alone explains, all.
    fn drop_of_present(&self) -> f32 {
        let (weights, _) = self.weights.as_chunks::<WIDE>();
        let (leaving, _) = self.leaving.as_chunks::<WIDE>();
        let mut sums = [0.0_f32; WIDE];
        for (weights, leaving) in weights.iter().zip(leaving) {
            for lane in 0..WIDE {
                sums[lane] += weights[lane] * leaving[lane] * leaving[lane];
            }
        }
        let present = self.places[self.places.len() - 1];
        let a = self.leaving[present];
        sums.iter().sum::<f32>() - (self.weights[present] - 1.0) * a * a
    }

    /// What the landmarks but the open one miss of a candidate.
    fn residual(&self, candidate: usize) -> f32 {
        let at = self.candidates[candidate];
        self.missed[candidate * self.stride + at] + self.leaving[at] * self.leaving[at]
    }

    /// What a candidate would take off, its own weight counted once: rows in proportion to whose weights others
    /// were left out stand for these, but no row stands for another's being chosen.
    fn drop_of(&self, candidate: usize) -> f32 {
        let at = self.candidates[candidate];
        let residual = self.residual(candidate);
        // At the level of rounding there is nothing to choose: of the diagonal in `f64`, and of what it was in `f32`.
        let floor = 16.0 * self.places.len() as f64 * f64::EPSILON * self.diagonals[at];
        let rounding = 64.0 * f32::EPSILON * self.largest[candidate];
        if !(f64::from(residual) > floor && residual > rounding) {
            return 0.0;
        }
        self.drops[candidate] / residual - (self.weights[at] - 1.0) * residual
    }

    /// Turns the features so that those of the first landmark stand last, and takes them out.
    fn open(&mut self) {
        let c = self.places.len();
        let mut carried = self.features.remove(0);
        self.places.rotate_left(1);
        for k in 0..c - 1 {
            let place = self.places[k];
            let (x, y) = (self.features[k][place], carried[place]);
            let r = x.hypot(y);
            if r > 0.0 {
                let turn = Turn { cos: x / r, sin: y / r, one: &mut self.features[k], other: &mut carried };
                self.arch.dispatch(turn);
            }
        }
        for (to, &from) in self.leaving.iter_mut().zip(&carried) {
            *to = from as f32;
        }
        self.features.push(carried);
    }
}

/// The kernel of these rows with the `count` rows in lanes.
struct Entries<'e, 'g> {
    ground: &'e Ground<'g, f64>,
    rows: &'e [usize],
    count: usize,
    in_lanes: &'e Rows<f64>,
    entries: &'e mut [f64],
}

impl WithSimd for Entries<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const TILE: usize = 8;
        let Self { ground, rows, count, in_lanes, entries } = self;
        let lanes = size_of::<S::f64s>() / size_of::<f64>();
        let stride = TRIES / lanes;
        let mut at = 0;
        for tile in entries.chunks_mut(TILE * count) {
            let mut some: [&[f64]; TILE] = [ground.row(rows[at]); TILE];
            for (r, row) in some.iter_mut().enumerate() {
                if let Some(&number) = rows.get(at + r) {
                    *row = ground.row(number);
                }
            }
            for block in 0..count.div_ceil(TRIES) {
                let features = f64::vectors::<S>(in_lanes.block(block));
                for vector in 0..stride {
                    let values = kernel::entries::<f64, S, TILE>(
                        simd,
                        ground.kernel(),
                        some,
                        &features[vector..],
                        stride,
                    );
                    let first = block * TRIES + vector * lanes;
                    if first >= count {
                        break;
                    }
                    let dim = lanes.min(count - first);
                    for (value, row) in values.iter().zip(tile.chunks_mut(count)) {
                        let value: &[f64] = bytemuck::cast_slice(std::slice::from_ref(value));
                        row[first..first + dim].copy_from_slice(&value[..dim]);
                    }
                }
            }
            at += TILE;
        }
    }
}

/// One pass over some candidates' entries, which are written where an exchange is to be carried out.
struct Look<'e> {
    stride: usize,
    missed: &'e mut [f32],
    weights: &'e [f32],
    candidates: &'e [usize],
    leaving: &'e [f32],
    /// `a` and `b` of the exchange.
    due: Option<(&'e [f32], &'e [f32])>,
    drops: &'e mut [f32],
}

impl WithSimd for Look<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { stride, missed, weights, candidates, leaving, due, drops } = self;
        let splat = |value: f32| simd.splat_f32s(value);
        // Two sums, so that neither waits for the other.
        let pairs = |numbers| S::as_simd_f32s(numbers).0.as_chunks::<2>().0;
        let (weights, all) = (pairs(weights), pairs(leaving));
        let weighed = |sum, weight, entry| simd.mul_add_e_f32s(simd.mul_f32s(weight, entry), entry, sum);
        let total = |[one, other]: [S::f32s; 2]| simd.reduce_sum_f32s(simd.add_f32s(one, other));
        let rows = missed.chunks_exact_mut(stride).zip(drops).zip(candidates);
        let Some((left, entered)) = due else {
            for ((row, drop), &at) in rows {
                let own = splat(leaving[at]);
                let mut sums = [splat(0.0); 2];
                for ((missed, leaving), weights) in pairs(row).iter().zip(all).zip(weights) {
                    for i in 0..2 {
                        let entry = simd.mul_add_e_f32s(own, leaving[i], missed[i]);
                        sums[i] = weighed(sums[i], weights[i], entry);
                    }
                }
                *drop = total(sums);
            }
            return;
        };
        let (out, come) = (pairs(left), pairs(entered));
        for ((row, drop), &at) in rows {
            let (own, a, b) = (splat(leaving[at]), splat(left[at]), splat(-entered[at]));
            let mut sums = [splat(0.0); 2];
            let row = S::as_mut_simd_f32s(row).0.as_chunks_mut::<2>().0;
            for ((((missed, leaving), weights), left), entered) in
                row.iter_mut().zip(all).zip(weights).zip(out).zip(come)
            {
                for i in 0..2 {
                    missed[i] = simd.mul_add_e_f32s(a, left[i], missed[i]);
                    missed[i] = simd.mul_add_e_f32s(b, entered[i], missed[i]);
                    let entry = simd.mul_add_e_f32s(own, leaving[i], missed[i]);
                    sums[i] = weighed(sums[i], weights[i], entry);
                }
            }
            *drop = total(sums);
        }
    }
}

/// A plane rotation of two features of all rows.
struct Turn<'e> {
    cos: f64,
    sin: f64,
    one: &'e mut [f64],
    other: &'e mut [f64],
}

impl WithSimd for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { cos, sin, one, other } = self;
        for (one, other) in one.iter_mut().zip(other) {
            (*one, *other) = (cos * *one + sin * *other, cos * *other - sin * *one);
        }
    }
}
