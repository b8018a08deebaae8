//! Residuals of some candidates against some rows, updated as landmarks are swapped.
//!
//! For `q` candidates and `m` rows, which include the candidates and the landmarks, `R = K - ΦᵀΦ` is stored:
//! `q m` values. Removing the landmark `i` gives `R + aaᵀ`, with `a` the last feature of all rows when `i` is
//! ordered last; replacing it by the row `v` gives `R + aaᵀ - bbᵀ`, `b = r_·v / √r_vv`. The reduction of the
//! weighted trace error `Σ_j w_j r_jv² / r_vv` by all `q` swaps thus costs one pass over `R`; the same pass
//! applies the previous swap. A landmark that is removed becomes a candidate, in place of the one that
//! entered.

use crate::error::Error;
use crate::heap::zeros;
use crate::simd::{InLanes, Lanes, kernel::Entries, pivots::Rows};
use dpp_nystrom_core::Landmarks;
use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

#[cfg(test)]
mod tests;

/// Rows are padded to a multiple of this many values: two vectors of the widest instruction set.
const WIDE: usize = 32;

/// Candidates per thread task.
const TASK: usize = 32;

/// Candidate landmarks, and the rows over which their error reduction is summed.
#[derive(Clone, Debug)]
pub struct Subset {
    arch: Arch,
    /// Row indices into the ground set, the landmarks first.
    rows: Vec<usize>,
    /// The number of `rows`, rounded up to a multiple of [`WIDE`].
    stride: usize,
    weights: Vec<f32>,
    /// `R`, one candidate after another; in `f32`, because only sums of squared entries are compared.
    residuals: Vec<f32>,
    /// The candidates' positions in `rows`.
    candidates: Vec<usize>,
    /// One feature of all rows per landmark, in the order of `places`.
    features: Vec<Vec<f64>>,
    /// The landmarks' positions in `rows`.
    places: Vec<usize>,
    /// Kernel diagonals.
    diagonals: Vec<f64>,
    /// `a`, and the `a` and `b` of the last swap while it is not yet applied to `residuals`.
    leaving: Vec<f32>,
    left: Vec<f32>,
    entered: Vec<f32>,
    /// Whether a swap is still to be applied.
    is_pending: bool,
    drops: Vec<f32>,
    /// The largest residual that each candidate has had; its rounding error is relative to that.
    largest: Vec<f32>,
}

impl Subset {
    /// Build from the landmarks, with weight one, and the rows `others` with their weights; `candidates` are
    /// positions in `others`.
    pub fn new(
        lanes: &Lanes<f64>,
        landmarks: &Landmarks<'_, f64, impl InLanes<f64>>,
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
        let mut residuals = zeros(chosen.len() * stride, 0.0_f32)?;
        residuals
            .par_chunks_mut(TASK * stride)
            .zip(chosen.par_chunks(TASK).zip(candidates.par_chunks(TASK)))
            .try_for_each(|(residuals, (chosen, at))| {
                let mut entries = zeros(chosen.len() * count, 0.0)?;
                let all =
                    Entries { ground, rows: chosen, count, values: in_lanes.values(), entries: &mut entries };
                lanes.arch.dispatch(all);
                let own: Vec<f64> =
                    at.iter().flat_map(|&at| flat[at * c..(at + 1) * c].iter().copied()).collect();
                let own = MatRef::from_row_major_slice(&own, chosen.len(), c);
                let out = MatMut::from_row_major_slice_mut(&mut entries, chosen.len(), count);
                matmul(out, Accum::Add, own, phi.transpose(), -1.0, Par::Seq);
                for (to, from) in residuals.chunks_exact_mut(stride).zip(entries.chunks_exact(count)) {
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
            residuals,
            drops: zeros(candidates.len(), 0.0_f32)?,
            largest: zeros(candidates.len(), 0.0_f32)?,
            candidates,
            features,
            places: (0..c).collect(),
            diagonals,
            leaving: empty()?,
            left: empty()?,
            entered: empty()?,
            is_pending: false,
        })
    }

    /// Return the landmarks in the order in which they are considered for removal.
    pub fn landmarks(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(|&place| self.rows[place])
    }

    /// Replace the longest-standing landmark by the candidate that lowers the weighted trace error most; the
    /// landmark itself competes. Return whether it was replaced.
    pub fn improve(&mut self) -> bool {
        let c = self.places.len();
        self.open();
        self.update_drops();
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
        let own = &mut self.residuals[candidate * self.stride..(candidate + 1) * self.stride];
        let scale = 1.0 / (own[place] + a * a).sqrt();
        for ((entry, residual), &leaving) in self.entered.iter_mut().zip(own).zip(&self.leaving) {
            *entry = (*residual + a * leaving) * scale;
            // This row of `R` now belongs to the removed landmark, whose residual was zero.
            *residual = 0.0;
        }
        self.left.copy_from_slice(&self.leaving);
        self.is_pending = true;
        for (feature, &entered) in self.features[c - 1].iter_mut().zip(&self.entered) {
            *feature = f64::from(entered);
        }
        self.places[c - 1] = place;
        self.candidates[candidate] = present;
        self.largest[candidate] = self.leaving[present] * self.leaving[present];
        true
    }

    /// Apply the pending swap, and sum `w_j (r_jv + a_j a_v)²` for every candidate `v`.
    fn update_drops(&mut self) {
        let Self { arch, stride, weights, residuals, candidates, leaving, left, entered, drops, .. } = self;
        let (arch, stride, weights, leaving) = (*arch, *stride, &**weights, &**leaving);
        let pending = self.is_pending.then_some((&**left, &**entered));
        residuals
            .par_chunks_mut(TASK * stride)
            .zip(candidates.par_chunks(TASK))
            .zip(drops.par_chunks_mut(TASK))
            .for_each(|((residuals, candidates), drops)| {
                arch.dispatch(UpdateDrops {
                    stride,
                    residuals,
                    weights,
                    candidates,
                    leaving,
                    pending,
                    drops,
                });
            });
        self.is_pending = false;
    }

    /// Return the error reduction of putting the removed landmark back: everything its feature explains.
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

    /// Return a candidate's residual given the landmarks other than the removed one.
    fn residual(&self, candidate: usize) -> f32 {
        let at = self.candidates[candidate];
        self.residuals[candidate * self.stride + at] + self.leaving[at] * self.leaving[at]
    }

    /// Return a candidate's error reduction, with its own weight counted as one: a weighted row stands for
    /// rows that were left out, but a landmark covers only itself exactly.
    fn drop_of(&self, candidate: usize) -> f32 {
        let at = self.candidates[candidate];
        let residual = self.residual(candidate);
        // Residuals at the level of rounding: of the diagonal in `f64`, and of its earlier values in `f32`.
        let floor = 16.0 * self.places.len() as f64 * f64::EPSILON * self.diagonals[at];
        let rounding = 64.0 * f32::EPSILON * self.largest[candidate];
        if !(f64::from(residual) > floor && residual > rounding) {
            return 0.0;
        }
        self.drops[candidate] / residual - (self.weights[at] - 1.0) * residual
    }

    /// Rotate the features so that those of the first landmark come last, and remove them.
    fn open(&mut self) {
        let c = self.places.len();
        let mut carried = self.features.remove(0);
        self.places.rotate_left(1);
        for k in 0..c - 1 {
            let place = self.places[k];
            let (x, y) = (self.features[k][place], carried[place]);
            let r = x.hypot(y);
            if r > 0.0 {
                let rotation =
                    PlaneRotation { cos: x / r, sin: y / r, one: &mut self.features[k], other: &mut carried };
                self.arch.dispatch(rotation);
            }
        }
        for (to, &from) in self.leaving.iter_mut().zip(&carried) {
            *to = from as f32;
        }
        self.features.push(carried);
    }
}

/// One pass over some candidates' rows of `R`, which applies a pending swap.
struct UpdateDrops<'e> {
    stride: usize,
    residuals: &'e mut [f32],
    weights: &'e [f32],
    candidates: &'e [usize],
    leaving: &'e [f32],
    /// `a` and `b` of the pending swap.
    pending: Option<(&'e [f32], &'e [f32])>,
    drops: &'e mut [f32],
}

impl WithSimd for UpdateDrops<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { stride, residuals, weights, candidates, leaving, pending, drops } = self;
        let splat = |value: f32| simd.splat_f32s(value);
        // Two independent accumulators, to hide latency.
        let pairs = |values| S::as_simd_f32s(values).0.as_chunks::<2>().0;
        let (weights, all) = (pairs(weights), pairs(leaving));
        let weighed = |sum, weight, entry| simd.mul_add_e_f32s(simd.mul_f32s(weight, entry), entry, sum);
        let total = |[one, other]: [S::f32s; 2]| simd.reduce_sum_f32s(simd.add_f32s(one, other));
        let rows = residuals.chunks_exact_mut(stride).zip(drops).zip(candidates);
        let Some((left, entered)) = pending else {
            for ((row, drop), &at) in rows {
                let own = splat(leaving[at]);
                let mut sums = [splat(0.0); 2];
                for ((residuals, leaving), weights) in pairs(row).iter().zip(all).zip(weights) {
                    for i in 0..2 {
                        let entry = simd.mul_add_e_f32s(own, leaving[i], residuals[i]);
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
            for ((((residuals, leaving), weights), left), entered) in
                row.iter_mut().zip(all).zip(weights).zip(out).zip(come)
            {
                for i in 0..2 {
                    residuals[i] = simd.mul_add_e_f32s(a, left[i], residuals[i]);
                    residuals[i] = simd.mul_add_e_f32s(b, entered[i], residuals[i]);
                    let entry = simd.mul_add_e_f32s(own, leaving[i], residuals[i]);
                    sums[i] = weighed(sums[i], weights[i], entry);
                }
            }
            *drop = total(sums);
        }
    }
}

/// A plane rotation of two features of all rows.
struct PlaneRotation<'e> {
    cos: f64,
    sin: f64,
    one: &'e mut [f64],
    other: &'e mut [f64],
}

impl WithSimd for PlaneRotation<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { cos, sin, one, other } = self;
        for (one, other) in one.iter_mut().zip(other) {
            (*one, *other) = (cos * *one + sin * *other, cos * *other - sin * *one);
        }
    }
}
