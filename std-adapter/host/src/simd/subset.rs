//! Swaps of landmarks for candidates, chosen by a weighted trace error over some rows.
//!
//! The `m` rows are the c landmarks and the candidates. Stored are `Φ`, c features of the rows, and a
//! c × c factor `F` with `Φ = F K_C`, so that `FᵀF = K_CC⁻¹`. The rows of `A = FᵀΦ` are the dual features
//! `K_CC⁻¹K_C`. Entries that belong to row `j` are stored times `√w_j`, the root of its weight, so that inner
//! products are weighted sums over the rows.
//!
//! A candidate `v` has the residual `e = k_v - Φᵀφ_v`. Adding it to the landmarks lowers the error by
//! `‖e‖²/e_v`. If landmark `i` is removed after that, the error rises by
//!
//! ```text
//!     ‖A_i - x_i e/e_v‖² / (‖F_i‖² + x_i²/e_v),   x = Fᵀφ_v,
//! ```
//!
//! with `F_i` a column of `F`. So two products, `2 m c` multiply-adds, give the change of the error for every
//! swap of `v` (FasterPAM evaluates the swaps of k-medoids in the same way: Schubert and Rousseeuw 2021).
//! Candidates are evaluated in blocks, where these are matrix products. The best swap of a block is made as
//! long as it lowers the error. It costs some `6 m c`: a Householder reflection of the features turns the
//! direction that only landmark `i` spans into one of them, `a`, which `b = (e + a_v a)/√(e_v + a_v²)`
//! replaces. The residuals of the block change by `a aᵀ - b bᵀ`.

use crate::error::Error;
use crate::heap::zeros;
use crate::simd::{InLanes, Lanes, pivots::Rows};
use dpp_nystrom_core::{Landmarks, TRIES};
use faer::linalg::matmul::{dot::inner_prod, matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place as solve_lower;
use faer::{Accum, ColRef, Conj, Mat, MatRef, Par};
use rayon::prelude::*;

#[cfg(test)]
mod tests;

/// Candidates per block: whole blocks of lanes.
pub const BLOCK: usize = TRIES;

/// A swap is made if it lowers the error by more than this part of what its candidate explains.
const LEAST: f64 = 1e-6;

/// `‖A_i‖²` is summed anew where an update cancels all but this part of it.
const CANCELLED: f64 = 1e-3;

/// Landmarks, candidates, and the rows over which the error of swaps is summed.
#[derive(Clone, Debug)]
pub struct Subset {
    /// Row indices into the ground set, the first candidates first, then the first landmarks.
    rows: Vec<usize>,
    /// `√w_j`.
    roots: Vec<f64>,
    /// Kernel diagonals.
    diagonals: Vec<f64>,
    /// The landmarks' positions in `rows`.
    places: Vec<usize>,
    /// The kernel of the candidates of each block with all from the first of them on: one column each.
    entries: Vec<Vec<f64>>,
    /// The kernel of all candidates with each of the first landmarks that has left.
    left: Vec<Option<Vec<f64>>>,
    /// `Φ` times `√w_j`, one column per feature.
    features: Mat<f64>,
    /// `F`, one column per landmark.
    factor: Mat<f64>,
    /// `‖A_i‖²`.
    energies: Vec<f64>,
}

/// The candidates of a block that can still be swapped in.
struct Open {
    /// Their positions in `rows`.
    places: Vec<usize>,
    /// `e` times `√w_j`, one column per candidate.
    residuals: Mat<f64>,
    /// `x = Fᵀφ_v`, one column per candidate.
    duals: Mat<f64>,
    /// `A_i·e`, one column per candidate.
    products: Mat<f64>,
}

/// A swap: the column of an open candidate, the landmark that leaves, and the decrease of the error.
struct Swap {
    column: usize,
    leaving: usize,
    gain: f64,
}

impl Subset {
    /// Build from the landmarks, with weight one, and the candidates `others` with their weights. `q²/2`
    /// kernel entries for q candidates, `4 q² + 8 q c` bytes.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn new(
        lanes: &Lanes<f64>,
        landmarks: &Landmarks<'_, f64, impl InLanes<f64>>,
        others: &[usize],
        weights: &[f64],
    ) -> Result<Self, Error> {
        let ground = landmarks.ground();
        let c = landmarks.len();
        let rows = [others, landmarks.members()].concat();
        let (q, count) = (others.len(), rows.len());
        let mut in_lanes = Rows::new(ground, count, |at| rows[at], c)?;
        lanes.pass(&mut in_lanes, landmarks, 0);
        let mut roots = zeros(count, 1.0)?;
        roots.iter_mut().zip(weights).for_each(|(root, weight)| *root = weight.sqrt());
        let mut features = Mat::zeros(count, c);
        for (k, feature) in features.as_mut().col_iter_mut().enumerate() {
            for (at, (entry, root)) in feature.iter_mut().zip(&roots).enumerate() {
                *entry = root * in_lanes.substitution(at, k);
            }
        }
        let mut factor = Mat::identity(c, c);
        let lower = landmarks.factor();
        let lower = Mat::from_fn(c, c, |i, j| if j <= i { lower.row(i)[j] } else { 0.0 });
        solve_lower(lower.as_ref(), factor.as_mut(), Par::Seq);
        // A pair of candidates is evaluated in the block of the first.
        let blocks = others.par_chunks(BLOCK).enumerate().map(|(block, own)| {
            let (first, values) = (block * BLOCK, &in_lanes.values()[block * BLOCK * ground.width()..]);
            let mut entries = zeros((q - first) * own.len(), 0.0)?;
            ground.runs(lanes.arch, own, q - first, values, &mut entries);
            Ok(entries)
        });
        let mut subset = Self {
            entries: blocks.collect::<Result<_, Error>>()?,
            left: vec![None; c],
            diagonals: rows.iter().map(|&row| ground.diagonal(row)).collect(),
            places: (q..count).collect(),
            energies: Vec::new(),
            rows,
            roots,
            features,
            factor,
        };
        for first in (0..c).step_by(BLOCK) {
            let some = subset.factor.subcols(first, BLOCK.min(c - first));
            let duals = product(subset.features.as_ref(), some);
            subset.energies.extend(duals.col_iter().map(|dual| dual.squared_norm_l2()));
        }
        Ok(subset)
    }

    /// Return the landmarks.
    pub fn landmarks(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(|&place| self.rows[place])
    }

    /// Return the number of blocks of candidates.
    pub fn blocks(&self) -> usize {
        self.entries.len()
    }

    /// Swap landmarks for candidates of a block as long as that lowers the weighted error, the best swap
    /// first, and return the number of swaps.
    pub fn improve(&mut self, block: usize) -> usize {
        let mut open = self.open(block);
        let mut swaps = 0;
        while let Some(swap) = self.best(&open) {
            self.make(&mut open, &swap);
            swaps += 1;
        }
        swaps
    }

    /// Compute the residuals of the candidates of a block that are no landmarks, and their products with the
    /// dual features.
    fn open(&self, block: usize) -> Open {
        let (count, c) = self.features.shape();
        let (q, first) = (count - c, block * BLOCK);
        let places: Vec<usize> =
            (first..q.min(first + BLOCK)).filter(|at| !self.places.contains(at)).collect();
        let mut own = Mat::zeros(c, places.len());
        for (mut own, &place) in own.as_mut().col_iter_mut().zip(&places) {
            own.copy_from((1.0 / self.roots[place]) * self.features.row(place).transpose());
        }
        let mut residuals = Mat::zeros(count, places.len());
        for (column, &place) in places.iter().enumerate() {
            self.kernel(block, place, residuals.col_as_slice_mut(column));
        }
        matmul(residuals.as_mut(), Accum::Add, &self.features, &own, -1.0, Par::Seq);
        for at in (0..c).filter(|&at| self.left[at].is_none()) {
            residuals.row_mut(q + at).fill(0.0);
        }
        let projected = product(self.features.transpose(), residuals.as_ref());
        let duals = product(self.factor.transpose(), own.as_ref());
        let products = product(self.factor.transpose(), projected.as_ref());
        Open { places, residuals, duals, products }
    }

    /// Write the kernel of all rows with a candidate of a block, times the roots of their weights; nothing
    /// for the first landmarks that are still landmarks.
    fn kernel(&self, block: usize, place: usize, column: &mut [f64]) {
        let q = self.rows.len() - self.places.len();
        let (candidates, landmarks) = column.split_at_mut(q);
        let (before, from) = candidates.split_at_mut(block * BLOCK);
        for (earlier, tile) in before.chunks_exact_mut(BLOCK).enumerate() {
            let (height, at) = (q - earlier * BLOCK, place - earlier * BLOCK);
            tile.iter_mut()
                .enumerate()
                .for_each(|(k, entry)| *entry = self.entries[earlier][k * height + at]);
        }
        let own = place - block * BLOCK;
        from.copy_from_slice(&self.entries[block][own * from.len()..(own + 1) * from.len()]);
        candidates.iter_mut().zip(&self.roots).for_each(|(entry, root)| *entry *= root);
        for (entry, left) in landmarks.iter_mut().zip(&self.left) {
            *entry = left.as_ref().map_or(0.0, |left| left[place]);
        }
    }

    /// Return the swap of an open candidate that lowers the error most, if one does.
    fn best(&self, open: &Open) -> Option<Swap> {
        let sizes: Vec<f64> = self.factor.col_iter().map(|column| column.squared_norm_l2()).collect();
        let mut best: Option<Swap> = None;
        for (column, &place) in open.places.iter().enumerate() {
            let residuals = open.residuals.col(column);
            let (residual, squares) = (residuals[place] / self.roots[place], residuals.squared_norm_l2());
            let explained = self.explained(place, residual, squares);
            if !(explained > 0.0) {
                continue;
            }
            let (duals, products) = (open.duals.col(column), open.products.col(column));
            for (i, &landmark) in self.places.iter().enumerate() {
                let x = duals[i] / residual;
                let lost = self.energies[i] - 2.0 * x * products[i] + x * x * squares;
                // The landmark counts once, whatever its weight: see `explained`.
                let lost = lost - (self.roots[landmark].powi(2) - 1.0);
                let gain = explained - lost / (sizes[i] + x * x * residual);
                if gain > best.as_ref().map_or(LEAST * explained, |best| best.gain) {
                    best = Some(Swap { column, leaving: i, gain });
                }
            }
        }
        best
    }

    /// Return the error that a candidate of residual `e_v` and `‖e‖²` explains, with its own weight counted
    /// as one: a weighted row stands for rows that were left out, but a landmark covers only itself exactly.
    /// Nothing is explained if the residual is at the level of rounding.
    fn explained(&self, place: usize, residual: f64, squares: f64) -> f64 {
        let floor = 16.0 * self.places.len() as f64 * f64::EPSILON * self.diagonals[place];
        if residual > floor { squares / residual - (self.roots[place].powi(2) - 1.0) * residual } else { 0.0 }
    }

    /// Make a swap.
    fn make(&mut self, open: &mut Open, swap: &Swap) {
        let Swap { column, leaving: i, .. } = *swap;
        let (count, c) = self.features.shape();
        let (place, present) = (open.places[column], self.places[i]);
        if let Some(at) = present.checked_sub(count - c) {
            // A landmark's column of K is a combination of the features.
            let kernel = &self.features * self.features.row(present).transpose();
            self.left[at] =
                Some(kernel.iter().zip(&self.roots[..count - c]).map(|(k, root)| k / root).collect());
        }
        let k = self.turn(i);
        let e = open.residuals.col(column);
        let root = self.roots[place];
        let mut two = Mat::zeros(count, 2);
        let (mut a, mut b) = two.two_cols_mut(0, 1);
        a.copy_from(self.features.col(k));
        let own = a[place] / root;
        let scale = 1.0 / (e[place] / root + own * own).sqrt();
        b.copy_from(scale * (e + own * a.as_ref()));
        // The dual features change by -g aᵀ + f bᵀ.
        let g = self.factor.row(k).transpose().to_owned();
        let mut rest = (1.0 / root) * self.features.row(place).transpose();
        rest[k] = 0.0;
        let mut f = -scale * (self.factor.transpose() * rest);
        f[i] = scale;
        let both = Mat::from_fn(c, 2, |j, side| if side == 0 { -g[j] } else { f[j] });
        let with = self.factor.transpose() * (self.features.transpose() * &two);
        let (aa, ab, bb) =
            (two.col(0).squared_norm_l2(), dot(two.col(0), two.col(1)), two.col(1).squared_norm_l2());

        self.features.col_mut(k).copy_from(two.col(1));
        self.factor.row_mut(k).copy_from(f.transpose());
        self.places[i] = place;
        for j in 0..c {
            let by_a = g[j] * (g[j] * aa - 2.0 * with[(j, 0)]);
            let by_b = f[j] * (f[j] * bb + 2.0 * with[(j, 1)]);
            let updated = self.energies[j] + by_a + by_b - 2.0 * g[j] * f[j] * ab;
            let is_exact = j != i && updated > CANCELLED * self.energies[j];
            self.energies[j] = if is_exact { updated } else { self.energy(j) };
        }
        open.remove(column);
        let own = Mat::from_fn(2, open.places.len(), |side, column| {
            let place = open.places[column];
            two[(place, side)] / self.roots[place]
        });
        let sign = [1.0, -1.0];
        let signed = Mat::from_fn(2, own.ncols(), |side, column| sign[side] * own[(side, column)]);
        let add = |to: &mut Mat<f64>, x: MatRef<'_, f64>, y: &Mat<f64>| {
            matmul(to.as_mut(), Accum::Add, x, y, 1.0, Par::Seq);
        };
        add(&mut open.residuals, two.as_ref(), &signed);
        let with_residuals = product(two.transpose(), open.residuals.as_ref());
        add(&mut open.products, with.as_ref(), &signed);
        add(&mut open.products, both.as_ref(), &with_residuals);
        add(&mut open.duals, both.as_ref(), &own);
    }

    /// Reflect the features so that one of them, whose index is returned, is the only one to which landmark
    /// `i` contributes.
    fn turn(&mut self, i: usize) -> usize {
        let mut direction = self.factor.col(i).to_owned();
        direction *= 1.0 / direction.norm_l2();
        let largest =
            |best: usize, k: usize| if direction[k].abs() > direction[best].abs() { k } else { best };
        let k = (0..direction.nrows()).fold(0, largest);
        // H = I - u uᵀ/|u_k| takes the direction to -sign(u_k) e_k; u = direction + sign(u_k) e_k.
        direction[k] += 1.0_f64.copysign(direction[k]);
        let (u, share) = (direction.as_mat(), -1.0 / direction[k].abs());
        let along = product(self.features.as_ref(), u);
        matmul(self.features.as_mut(), Accum::Add, &along, u.transpose(), share, Par::Seq);
        let along = product(u.transpose(), self.factor.as_ref());
        matmul(self.factor.as_mut(), Accum::Add, u, &along, share, Par::Seq);
        // The rest of the landmark's column is zero but for rounding.
        for row in (0..direction.nrows()).filter(|&row| row != k) {
            self.factor[(row, i)] = 0.0;
        }
        k
    }

    /// Return `‖A_i‖²`.
    fn energy(&self, i: usize) -> f64 {
        (&self.features * self.factor.col(i)).squared_norm_l2()
    }
}

/// Return `A B`.
fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::zeros(a.nrows(), b.ncols());
    matmul(product.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    product
}

/// Return `xᵀy`.
fn dot(x: ColRef<'_, f64>, y: ColRef<'_, f64>) -> f64 {
    inner_prod(x.transpose(), Conj::No, y, Conj::No)
}

impl Open {
    /// Remove a candidate; the last one takes its column.
    fn remove(&mut self, column: usize) {
        let last = self.places.len() - 1;
        self.places.swap_remove(column);
        for matrix in [&mut self.residuals, &mut self.duals, &mut self.products] {
            if column < last {
                let (mut left, right) = matrix.as_mut().split_at_col_mut(last);
                left.as_mut().col_mut(column).copy_from(right.col(0));
            }
            matrix.truncate(matrix.nrows(), last);
        }
    }
}
