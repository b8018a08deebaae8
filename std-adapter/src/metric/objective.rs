//! The leave-one-out error of ridge regression on landmarks, and its gradient in the rows, the landmarks and
//! the ridge.
//!
//! Rows `X` and landmarks `Z` are transformed already. With `K = k(X, Z)`, `k(Z, Z) + εI = LLᵀ`, `Φ = KL⁻ᵀ`,
//! `G = ΦᵀΦ + NγI`:
//!
//! `W = G⁻¹ΦᵀY`, `R = Y - ΦW`, `M = ΦG⁻¹`, `h_i = m_iᵀφ_i`, `e_i = r_i/(1 - h_i)`, `J = Σ e²/N`.
//!
//! The weights are solved for inside (variable projection, Golub and Pereyra 1973). With
//! `a_i = 2e_i/(N(1 - h_i))`, `b_i = Σ 2e_i²/(N(1 - h_i))` over the targets, `Q = Mᵀa`, `B = diag b`:
//!
//! - `∂J/∂Φ = -aWᵀ - RQᵀ + (ΦQ)Wᵀ + 2BM - 2Φ(MᵀBM)`, `∂J/∂γ = N(Σ qw - tr MᵀBM)`,
//! - `∂J/∂K = (∂J/∂Φ)L⁻¹`, and through the factor (Murray 2016), `L̄ = tril(-(∂J/∂K)ᵀΦ)`, `S = tril(LᵀL̄)`
//!   with half its diagonal, `∂J/∂k(Z, Z) = L⁻ᵀSL⁻¹`,
//! - from there through the kernel to `X` and `Z`, which is both arguments of `k(Z, Z)`: so no matrix is
//!   symmetrised.
//!
//! With weights of mean 1, `K` and `Y` are those of the rows times the square roots of their weights.
//!
//! An evaluation costs some `4.5Nc² + 4Ncd` multiply-adds, three times a fit. Rows are evaluated in blocks,
//! on all threads, and the sums of blocks are added in their order: the number of threads changes no bit.

use crate::data::weights::Weights;
use crate::kernel::kind::KernelKind;
use crate::linalg::triangle::factor;
use crate::regression::choose::leave_one_out::Axes;
use dpp_nystrom_core::kernel::Argument;
use dpp_nystrom_host::simd::kernel::InPlace;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place as solve_lower, solve_upper_triangular_in_place as solve_upper,
};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// The rows of a block, whose matrices a processor's second cache holds.
const BLOCK: usize = 256;

/// Added to the diagonal of the landmarks' kernel matrix, so that dependent landmarks have a factor.
const JITTER: f64 = 1e-8;

/// Kernel values and slopes below this are 0. Products of a few of them would be subnormal numbers, on which
/// processors take a hundred times as long: some rows far from all others made a fit take 40 times as long.
const LEAST: f64 = 1e-75;

/// `1 - h_ii` is not taken to be less: a row of leverage 1 would have an unbounded error.
const FREE: f64 = 1e-9;

/// Rows, their targets and a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem<'a> {
    /// N x d, over the bandwidth, but not transformed.
    pub(crate) rows: MatRef<'a, f64>,
    /// N x m.
    pub(crate) targets: MatRef<'a, f64>,
    /// The weights of the rows, of mean 1.
    pub(crate) weights: Weights<'a>,
    /// The kernel, with bandwidth 1.
    pub(crate) kernel: KernelKind,
}

/// The error, its gradient and the weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solved {
    /// `J`.
    pub(crate) error: f64,
    /// `∂J/∂X`, N x d.
    pub(crate) rows: Mat<f64>,
    /// `∂J/∂Z`, c x d.
    pub(crate) landmarks: Mat<f64>,
    /// `∂J/∂γ`.
    pub(crate) ridge: f64,
    /// The weights of the kernel's values, c x m.
    weights: Mat<f64>,
}

/// The features of a block of rows, times the square roots of their weights.
struct Block {
    /// The first row.
    first: usize,
    /// `Φ`.
    phi: Mat<f64>,
    /// The slopes of [`kernel_values`] of `K`.
    slopes: Mat<f64>,
    /// `Y`.
    targets: Mat<f64>,
}

/// The features of all rows.
struct Features {
    blocks: Vec<Block>,
    /// `L`.
    lower: Mat<f64>,
    /// The slopes of [`kernel_values`] of `k(Z, Z)`.
    home_slopes: Mat<f64>,
}

/// What a regression leaves of a block of rows, and what leaving out each row changes.
struct LeftOut {
    /// `B^½ M`.
    shares: Mat<f64>,
    /// The diagonal of `B^½`.
    roots: Vec<f64>,
    /// `R`.
    residuals: Mat<f64>,
    /// `a`, a row each.
    a: Mat<f64>,
    /// The block's part of `NJ`.
    squares: f64,
    /// The block's part of `Q`.
    q: Mat<f64>,
    /// The block's part of `MᵀBM`, below its diagonal.
    curvature: Mat<f64>,
}

/// The gradient of a block's rows, and its part of that of the landmarks.
struct Slope {
    rows: Mat<f64>,
    landmarks: Mat<f64>,
    /// The block's part of `(∂J/∂K)ᵀΦ`, on and below its diagonal.
    bar: Mat<f64>,
}

impl Features {
    fn of(problem: &Problem<'_>, rows: MatRef<'_, f64>, landmarks: MatRef<'_, f64>) -> Option<Self> {
        let Problem { kernel, weights, targets, .. } = *problem;
        let (mut lower, home_slopes) = kernel_values(kernel, landmarks, landmarks);
        (0..lower.nrows()).for_each(|a| lower[(a, a)] = 1.0 + JITTER);
        factor(&mut lower)?;
        let block = |first: usize| {
            let len = BLOCK.min(rows.nrows() - first);
            let (mut phi, slopes) = kernel_values(kernel, rows.subrows(first, len), landmarks);
            weights.skip(first).scale(phi.as_mut());
            solve_lower(lower.as_ref(), phi.as_mut().transpose_mut(), Par::Seq);
            let mut targets = targets.subrows(first, len).to_owned();
            weights.skip(first).scale(targets.as_mut());
            Block { first, phi, slopes, targets }
        };
        let blocks = (0..rows.nrows()).into_par_iter().step_by(BLOCK).map(block).collect();
        Some(Self { blocks, lower, home_slopes })
    }

    /// Return the features of all rows, a column each.
    fn columns(&self) -> Mat<f64> {
        let count = self.blocks.iter().map(|block| block.phi.nrows()).sum();
        let mut all = Mat::zeros(self.lower.nrows(), count);
        for Block { first, phi, .. } in &self.blocks {
            all.as_mut().subcols_mut(*first, phi.nrows()).copy_from(phi.transpose());
        }
        all
    }

    /// Return the factor of `G`, and `W`.
    fn weights(&self, outputs: usize, load: f64) -> Option<(Mat<f64>, Mat<f64>)> {
        let c = self.lower.nrows();
        let of_block = |Block { phi, targets, .. }: &Block| {
            let mut gram = Mat::zeros(c, c);
            add_lower(gram.as_mut(), phi.transpose(), phi.as_ref());
            (gram, product(phi.transpose(), targets.as_ref()))
        };
        let parts: Vec<_> = self.blocks.par_iter().map(of_block).collect();
        let zero = (Mat::zeros(c, c), Mat::zeros(c, outputs));
        let (mut penalised, mut weights) = parts
            .into_iter()
            .fold(zero, |(gram, along), (of_gram, of_along)| (gram + of_gram, along + of_along));
        (0..c).for_each(|k| penalised[(k, k)] += load);
        factor(&mut penalised)?;
        solve_lower(penalised.as_ref(), weights.as_mut(), Par::Seq);
        solve_upper(penalised.transpose(), weights.as_mut(), Par::Seq);
        Some((penalised, weights))
    }
}

impl Block {
    /// Leave out each row of `count` in all, with the factor of `G` and `W`.
    fn leave_out(&self, factor: MatRef<'_, f64>, weights: MatRef<'_, f64>, count: f64) -> LeftOut {
        let Self { phi, targets, .. } = self;
        let (len, c, outputs) = (phi.nrows(), phi.ncols(), targets.ncols());
        let mut shares = phi.clone();
        solve_lower(factor, shares.as_mut().transpose_mut(), Par::Seq);
        solve_upper(factor.transpose(), shares.as_mut().transpose_mut(), Par::Seq);
        let mut residuals = targets.clone();
        add(residuals.as_mut(), phi.as_ref(), weights, -1.0);
        let mut free = vec![1.0; len];
        for k in 0..c {
            for ((free, m), f) in free.iter_mut().zip(shares.col_as_slice(k)).zip(phi.col_as_slice(k)) {
                *free -= m * f;
            }
        }
        free.iter_mut().for_each(|free| *free = free.max(FREE));
        let (mut a, mut roots, mut squares) = (Mat::zeros(len, outputs), vec![0.0; len], 0.0);
        for t in 0..outputs {
            for (i, (free, b)) in free.iter().zip(&mut roots).enumerate() {
                let left_out = residuals[(i, t)] / free;
                a[(i, t)] = 2.0 * left_out / (count * free);
                *b += left_out * a[(i, t)];
                squares += left_out * left_out;
            }
        }
        roots.iter_mut().for_each(|b| *b = b.sqrt());
        let q = product(shares.transpose(), a.as_ref());
        for k in 0..c {
            shares.col_as_slice_mut(k).iter_mut().zip(&roots).for_each(|(share, root)| *share *= root);
        }
        let mut curvature = Mat::zeros(c, c);
        add_lower(curvature.as_mut(), shares.transpose(), shares.as_ref());
        LeftOut { shares, roots, residuals, a, squares, q, curvature }
    }

    /// Return `∂J/∂K`, and `(∂J/∂K)ᵀΦ` on and below its diagonal, with the sums over all blocks.
    fn by_values(
        &self,
        left_out: LeftOut,
        (weights, q, curvature): (MatRef<'_, f64>, MatRef<'_, f64>, MatRef<'_, f64>),
        lower: MatRef<'_, f64>,
    ) -> (Mat<f64>, Mat<f64>) {
        let LeftOut { shares: mut slope, roots, residuals, a, .. } = left_out;
        let c = slope.ncols();
        for k in 0..c {
            slope.col_as_slice_mut(k).iter_mut().zip(&roots).for_each(|(share, root)| *share *= 2.0 * root);
        }
        add(slope.as_mut(), self.phi.as_ref(), curvature, -2.0);
        let mut fitted = product(self.phi.as_ref(), q);
        fitted -= &a;
        add(slope.as_mut(), fitted.as_ref(), weights.transpose(), 1.0);
        add(slope.as_mut(), residuals.as_ref(), q.transpose(), -1.0);
        solve_upper(lower.transpose(), slope.as_mut().transpose_mut(), Par::Seq);
        let mut bar = Mat::zeros(c, c);
        add_lower(bar.as_mut(), slope.transpose(), self.phi.as_ref());
        (slope, bar)
    }
}

impl Problem<'_> {
    /// Return the targets times the square roots of the weights.
    pub(crate) fn weighted_targets(&self) -> Mat<f64> {
        let mut targets = self.targets.to_owned();
        self.weights.scale(targets.as_mut());
        targets
    }

    /// Return the squared error of a solution on each of these rows, transformed, times its weight; the sum
    /// of those of the targets.
    pub(crate) fn squares(
        &self,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        solved: &Solved,
    ) -> Vec<f64> {
        let left = self.left(rows, landmarks, solved);
        (0..left.nrows()).map(|i| self.weights.at(i) * left.row(i).squared_norm_l2()).collect()
    }

    /// Return the features of these rows, transformed: a column each, without the weights.
    pub(crate) fn features(&self, rows: MatRef<'_, f64>, landmarks: MatRef<'_, f64>) -> Option<Mat<f64>> {
        let unweighted = Problem { weights: Weights::default(), ..*self };
        Some(Features::of(&unweighted, rows, landmarks)?.columns())
    }

    /// Return what a solution leaves of the targets of these rows, transformed.
    pub(crate) fn left(
        &self,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        solved: &Solved,
    ) -> Mat<f64> {
        let mut values = distances(self.kernel, rows, landmarks);
        in_place(self.kernel, &mut values, None);
        let mut left = self.targets.to_owned();
        add(left.as_mut(), values.as_ref(), solved.weights.as_ref(), -1.0);
        left
    }

    /// Return the mean outer product of the gradients of a solution's predictions, by the transformed rows;
    /// the sum of those of the targets.
    pub(crate) fn gradients(
        &self,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        solved: &Solved,
    ) -> Mat<f64> {
        let (_, slopes) = kernel_values(self.kernel, rows, landmarks);
        let mut outer = Mat::zeros(rows.ncols(), rows.ncols());
        for t in 0..self.targets.ncols() {
            let weights = Mat::from_fn(rows.nrows(), landmarks.nrows(), |_, a| solved.weights[(a, t)]);
            let (mut gradients, _) = through(self.kernel, rows, landmarks, weights, &slopes);
            self.weights.scale(gradients.as_mut());
            add(outer.as_mut(), gradients.transpose(), gradients.as_ref(), 1.0 / rows.nrows() as f64);
        }
        outer
    }

    /// Return the ridge of these with the least error; `None` where no error is finite.
    pub(crate) fn best_ridge(
        &self,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        ridges: impl Iterator<Item = f64>,
    ) -> Option<f64> {
        let features = Features::of(self, rows, landmarks)?.columns();
        let targets = self.weighted_targets();
        let (ridge, error) =
            Axes::new(&features).ok()?.best(targets.as_ref(), &ridges.collect::<Vec<_>>()).ok()?;
        error.is_finite().then_some(ridge)
    }

    /// Solve with these rows, transformed, and landmarks; `None` where the error is not finite.
    pub(crate) fn evaluate(
        &self,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        ridge: f64,
    ) -> Option<Solved> {
        let (c, d, m) = (landmarks.nrows(), rows.ncols(), self.targets.ncols());
        let count = rows.nrows() as f64;
        let features = Features::of(self, rows, landmarks)?;
        let (factor, weights) = features.weights(m, count * ridge)?;
        let Features { blocks, lower, home_slopes } = &features;
        let left_out = |block: &Block| block.leave_out(factor.as_ref(), weights.as_ref(), count);
        let left_out: Vec<LeftOut> = blocks.par_iter().map(left_out).collect();
        let (mut squares, mut q, mut curvature) = (0.0, Mat::zeros(c, m), Mat::zeros(c, c));
        for block in &left_out {
            squares += block.squares;
            q += &block.q;
            curvature += &block.curvature;
        }
        let error = squares / count;
        if !error.is_finite() {
            return None;
        }
        for k in 0..c {
            (0..k).for_each(|j| curvature[(j, k)] = curvature[(k, j)]);
        }
        let along: f64 = (0..m).map(|t| (0..c).map(|k| q[(k, t)] * weights[(k, t)]).sum::<f64>()).sum();
        let trace: f64 = (0..c).map(|k| curvature[(k, k)]).sum();

        let sums = (weights.as_ref(), q.as_ref(), curvature.as_ref());
        let slope = |(block, left_out): (&Block, LeftOut)| {
            let (mut by_values, bar) = block.by_values(left_out, sums, lower.as_ref());
            self.weights.skip(block.first).scale(by_values.as_mut());
            let rows = rows.subrows(block.first, by_values.nrows());
            let (rows, landmarks) = through(self.kernel, rows, landmarks, by_values, &block.slopes);
            Slope { rows, landmarks, bar }
        };
        let slopes: Vec<Slope> = blocks.par_iter().zip(left_out).map(slope).collect();
        let (mut of_rows, mut of_landmarks) = (Mat::zeros(rows.nrows(), d), Mat::zeros(c, d));
        let mut bar = Mat::zeros(c, c);
        for (block, slope) in blocks.iter().zip(slopes) {
            of_rows.as_mut().subrows_mut(block.first, slope.rows.nrows()).copy_from(slope.rows);
            of_landmarks += slope.landmarks;
            bar += slope.bar;
        }
        // Through the factor: `L̄` is the negative of what stands below the diagonal.
        let inner = product(lower.transpose(), bar.as_ref());
        let half = |i, j| if i == j { -0.5 } else { -f64::from(i > j) };
        let mut home = Mat::from_fn(c, c, |i, j| half(i, j) * inner[(i, j)]);
        solve_upper(lower.transpose(), home.as_mut(), Par::Seq);
        solve_upper(lower.transpose(), home.as_mut().transpose_mut(), Par::Seq);

        let mut kernel_weights = weights;
        solve_upper(lower.transpose(), kernel_weights.as_mut(), Par::Seq);
        // A landmark is in both arguments of its own kernel matrix.
        let (first, second) = through(self.kernel, landmarks, landmarks, home, home_slopes);
        of_landmarks += first;
        of_landmarks += second;
        Some(Solved {
            error,
            rows: of_rows,
            landmarks: of_landmarks,
            ridge: count * (along - trace),
            weights: kernel_weights,
        })
    }
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::zeros(a.nrows(), b.ncols());
    add(product.as_mut(), a, b, 1.0);
    product
}

/// Add `factor A B`.
fn add(to: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>, factor: f64) {
    matmul(to, Accum::Add, a, b, factor, Par::Seq);
}

/// Add `AB` on and below the diagonal.
fn add_lower(to: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(to, lower, Accum::Add, a, full, b, full, 1.0, Par::Seq);
}

/// Return the kernel's values, and what [`through`] needs of its derivative: that by half the squared
/// distance, or for an L1 distance by it.
fn kernel_values(kernel: KernelKind, x: MatRef<'_, f64>, z: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
    let mut values = distances(kernel, x, z);
    let mut slopes = Mat::zeros(x.nrows(), z.nrows());
    in_place(kernel, &mut values, Some(&mut slopes));
    (values, slopes)
}

/// Replace arguments of a kernel of bandwidth 1 by its values, and fill in its slopes.
fn in_place(kernel: KernelKind, values: &mut Mat<f64>, mut slopes: Option<&mut Mat<f64>>) {
    // No error is finite then.
    let Ok(kernel) = kernel.build::<f64>(1.0) else { return values.fill(f64::NAN) };
    let arch = Arch::new();
    for a in 0..values.ncols() {
        let slopes = slopes.as_mut().map_or(&mut [][..], |slopes| slopes.col_as_slice_mut(a));
        let values = values.col_as_slice_mut(a);
        arch.dispatch(InPlace { kernel: &kernel, arguments: &mut *values, slopes: &mut *slopes });
        let not_subnormal = |value: &mut f64| *value = if value.abs() < LEAST { 0.0 } else { *value };
        values.iter_mut().for_each(not_subnormal);
        slopes.iter_mut().for_each(not_subnormal);
    }
}

/// Adds the absolute differences between a feature of rows and of a landmark.
struct Differences<'a> {
    x: &'a [f64],
    z: f64,
    sums: &'a mut [f64],
}

impl NullaryFnOnce for Differences<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.sums.iter_mut().zip(self.x).for_each(|(sum, x)| *sum += (x - self.z).abs());
    }
}

/// Adds `values sign(x - z)` of a feature to `of_rows`, and returns their sum.
struct Signed<'a> {
    x: &'a [f64],
    z: f64,
    values: &'a [f64],
    of_rows: &'a mut [f64],
}

/// The sums that are added up side by side, since one would wait for each addition.
const LANES: usize = 8;

impl NullaryFnOnce for Signed<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let Self { x, z, values, of_rows } = self;
        let mut sums = [0.0; LANES];
        for ((x, values), of_rows) in x.chunks(LANES).zip(values.chunks(LANES)).zip(of_rows.chunks_mut(LANES))
        {
            for (sum, ((x, value), of_row)) in sums.iter_mut().zip(x.iter().zip(values).zip(of_rows)) {
                // The kernel has no derivative where they are equal: 0 is between the one-sided ones.
                let above = if *x > z { *value } else { 0.0 };
                let below = if *x < z { *value } else { 0.0 };
                *of_row += above - below;
                *sum += above - below;
            }
        }
        sums.iter().sum()
    }
}

/// Return the kernel's arguments: the squared distances, or the sums of absolute differences.
fn distances(kernel: KernelKind, x: MatRef<'_, f64>, z: MatRef<'_, f64>) -> Mat<f64> {
    if kernel.about().argument == Argument::L1Distance {
        let (arch, x, mut distances) = (Arch::new(), x.to_owned(), Mat::zeros(x.nrows(), z.nrows()));
        for a in 0..z.nrows() {
            for j in 0..z.ncols() {
                let sums = distances.col_as_slice_mut(a);
                arch.dispatch(Differences { x: x.col_as_slice(j), z: z[(a, j)], sums });
            }
        }
        return distances;
    }
    let squares = |rows: MatRef<'_, f64>| -> Vec<f64> {
        (0..rows.nrows()).map(|i| rows.row(i).squared_norm_l2()).collect()
    };
    let (of_x, of_z) = (squares(x), squares(z));
    let mut distances = product(x, z.transpose());
    for (a, z) in of_z.iter().enumerate() {
        for (distance, x) in distances.col_as_slice_mut(a).iter_mut().zip(&of_x) {
            *distance = (x + z - 2.0 * *distance).max(0.0);
        }
    }
    distances
}

/// Return `∂J/∂X` and `∂J/∂Z` from those by the kernel's values and from the kernel's `slopes`:
/// `∂k(x, z)/∂x = slope (x - z)`, or for an L1 distance `slope sign(x - z)`.
fn through(
    kernel: KernelKind,
    x: MatRef<'_, f64>,
    z: MatRef<'_, f64>,
    mut of_values: Mat<f64>,
    slopes: &Mat<f64>,
) -> (Mat<f64>, Mat<f64>) {
    for a in 0..z.nrows() {
        for (value, slope) in of_values.col_as_slice_mut(a).iter_mut().zip(slopes.col_as_slice(a)) {
            *value *= slope;
        }
    }
    if kernel.about().argument == Argument::L1Distance {
        let (arch, x, mut rows) = (Arch::new(), x.to_owned(), Mat::zeros(x.nrows(), x.ncols()));
        let mut landmarks = Mat::zeros(z.nrows(), z.ncols());
        for a in 0..z.nrows() {
            let values = of_values.col_as_slice(a);
            for j in 0..z.ncols() {
                let of_rows = rows.col_as_slice_mut(j);
                let signed = Signed { x: x.col_as_slice(j), z: z[(a, j)], values, of_rows };
                landmarks[(a, j)] = -arch.dispatch(signed);
            }
        }
        return (rows, landmarks);
    }
    let (mut of_x, mut of_z) = (vec![0.0; x.nrows()], vec![0.0; z.nrows()]);
    for (a, of_z) in of_z.iter_mut().enumerate() {
        for (of_x, value) in of_x.iter_mut().zip(of_values.col_as_slice(a)) {
            *of_x += value;
            *of_z += value;
        }
    }
    let mut rows = Mat::from_fn(x.nrows(), x.ncols(), |i, j| of_x[i] * x[(i, j)]);
    let mut landmarks = Mat::from_fn(z.nrows(), z.ncols(), |a, j| of_z[a] * z[(a, j)]);
    add(rows.as_mut(), of_values.as_ref(), z, -1.0);
    add(landmarks.as_mut(), of_values.transpose(), x, -1.0);
    (rows, landmarks)
}

#[cfg(test)]
mod tests {
    use super::{Axes, BLOCK, Features, LEAST, Problem, Solved, kernel_values};
    use crate::data::weights::{Weights, normalised};
    use crate::kernel::kind::KernelKind;
    use dpp_nystrom_core::kernel::Kernel;
    use faer::{Mat, MatRef};

    fn kernels() -> impl Iterator<Item = KernelKind> {
        KernelKind::ALL.iter().copied().filter(|kind| kind.has_bandwidth())
    }

    fn numbers(rows: usize, columns: usize, seed: f64) -> Mat<f64> {
        let number =
            |i: usize, j: usize| ((seed + i as f64 * 1.7 + j as f64 * 0.31).sin() * 43_758.545_3).fract();
        Mat::from_fn(rows, columns, number)
    }

    fn weights(rows: usize) -> Vec<f64> {
        normalised((0..rows).map(|row| 1.0 + (row % 5) as f64).collect())
    }

    /// Rows at growing distances from one landmark: no value or slope is between 0 and the least.
    #[test]
    fn rows_far_away_have_no_subnormal_values() {
        let (x, z) = (Mat::from_fn(4_000, 1, |i, _| 0.25 * i as f64), Mat::zeros(1, 1));
        for kind in kernels() {
            let (values, slopes) = kernel_values(kind, x.as_ref(), z.as_ref());
            let numbers =
                [values, slopes].map(|numbers| numbers.col(0).iter().copied().collect::<Vec<f64>>());
            let mut numbers = numbers.iter().flatten();
            assert!(numbers.all(|number| *number == 0.0 || number.abs() >= LEAST), "{kind:?}");
        }
    }

    #[test]
    fn values_are_those_of_the_core() {
        let (x, z) = (numbers(9, 3, 0.3), numbers(5, 3, 2.2));
        for kind in kernels() {
            let kernel = kind.build::<f64>(1.0).unwrap();
            let (values, _) = kernel_values(kind, x.as_ref(), z.as_ref());
            let row = |rows: &Mat<f64>, i: usize| rows.row(i).iter().copied().collect::<Vec<f64>>();
            for i in 0..9 {
                for a in 0..5 {
                    let expected = kernel.value(&row(&x, i), &row(&z, a));
                    assert!((values[(i, a)] - expected).abs() < 1e-14, "{kind:?}");
                }
            }
        }
    }

    /// The leave-one-out error from its definition: N regressions, each without one row and with the same
    /// penalty.
    fn left_out(problem: &Problem<'_>, rows: MatRef<'_, f64>, landmarks: MatRef<'_, f64>, ridge: f64) -> f64 {
        let n = rows.nrows();
        let mut sum = 0.0;
        for left in 0..n {
            let others = |matrix: MatRef<'_, f64>| {
                Mat::from_fn(n - 1, matrix.ncols(), |i, j| matrix[(i + usize::from(i >= left), j)])
            };
            let (x, y) = (others(rows), others(problem.targets));
            let (one, own) = (rows.subrows(left, 1), problem.targets.subrows(left, 1));
            let ridge = ridge * n as f64 / (n - 1) as f64;
            let mut weights: Vec<f64> = (0..n).map(|row| problem.weights.at(row)).collect();
            let of_own = [weights.remove(left)];
            let problem = Problem { targets: y.as_ref(), weights: Weights(Some(&weights)), ..*problem };
            let solved = problem.evaluate(x.as_ref(), landmarks, ridge).unwrap();
            let own = Problem { targets: own, weights: Weights(Some(&of_own)), ..problem };
            sum += own.squares(one, landmarks, &solved)[0];
        }
        sum / n as f64
    }

    #[test]
    fn the_error_is_that_of_leaving_each_row_out() {
        let (x, y, z) = (numbers(25, 3, 0.3), numbers(25, 2, 5.1), numbers(6, 3, 2.2));
        let weights = weights(25);
        for kernel in kernels() {
            let weights = Weights(Some(&weights));
            let problem = Problem { rows: x.as_ref(), targets: y.as_ref(), weights, kernel };
            let solved = problem.evaluate(x.as_ref(), z.as_ref(), 1e-2).unwrap();
            let expected = left_out(&problem, x.as_ref(), z.as_ref(), 1e-2);
            assert!((solved.error / expected - 1.0).abs() < 1e-9, "{kernel:?} {} {expected}", solved.error);
        }
    }

    #[test]
    fn the_gradient_agrees_with_differences() {
        let step = 1e-6;
        let (x, y, z) = (numbers(40, 3, 0.3), numbers(40, 2, 5.1), numbers(6, 3, 2.2));
        let weights = weights(40);
        for kernel in kernels() {
            let weights = Weights(Some(&weights));
            let problem = Problem { rows: x.as_ref(), targets: y.as_ref(), weights, kernel };
            let at = |x: &Mat<f64>, z: &Mat<f64>, ridge: f64| -> Solved {
                problem.evaluate(x.as_ref(), z.as_ref(), ridge).unwrap()
            };
            let solved = at(&x, &z, 1e-2);
            // Differences of the error have an absolute error of some 10⁻¹⁶/step.
            let close = |found: f64, error: &dyn Fn(f64) -> f64| {
                let expected = (error(step) - error(-step)) / (2.0 * step);
                assert!(
                    (found - expected).abs() < 1e-6 * expected.abs() + 1e-9,
                    "{kernel:?} {found} {expected}"
                );
            };
            let moved = |matrix: &Mat<f64>, at: (usize, usize), by: f64| {
                let mut moved = matrix.clone();
                moved[at] += by;
                moved
            };
            for place in (0..40).flat_map(|i| (0..3).map(move |j| (i, j))) {
                close(solved.rows[place], &|by| at(&moved(&x, place, by), &z, 1e-2).error);
            }
            for place in (0..6).flat_map(|i| (0..3).map(move |j| (i, j))) {
                close(solved.landmarks[place], &|by| at(&x, &moved(&z, place, by), 1e-2).error);
            }
            close(solved.ridge, &|by| at(&x, &z, 1e-2 + by).error);
        }
    }

    /// Of rows in three blocks, the last of them short: the error is that of the eigenbasis, the gradient
    /// that of differences, and one thread computes the same bits as three.
    #[test]
    fn blocks_of_rows_add_up() {
        let count = 2 * BLOCK + 37;
        let (x, y, z) = (numbers(count, 3, 0.3), numbers(count, 2, 5.1), numbers(11, 3, 2.2));
        let weights = weights(count);
        for kernel in kernels() {
            let weights = Weights(Some(&weights));
            let problem = Problem { rows: x.as_ref(), targets: y.as_ref(), weights, kernel };
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| problem.evaluate(x.as_ref(), z.as_ref(), 1e-3).unwrap())
            };
            let solved = on(1);
            assert_eq!(solved, on(3));
            let features = Features::of(&problem, x.as_ref(), z.as_ref()).unwrap().columns();
            let targets = problem.weighted_targets();
            let (_, error) = Axes::new(&features).unwrap().best(targets.as_ref(), &[1e-3]).unwrap();
            assert!((solved.error / (2.0 * error) - 1.0).abs() < 1e-9, "{kernel:?}");
            for at in [0, BLOCK - 1, BLOCK, count - 1].into_iter().flat_map(|i| (0..3).map(move |j| (i, j))) {
                let error = |by: f64| {
                    let mut moved = x.clone();
                    moved[at] += by;
                    problem.evaluate(moved.as_ref(), z.as_ref(), 1e-3).unwrap().error
                };
                let (found, expected) = (solved.rows[at], (error(1e-5) - error(-1e-5)) / 2e-5);
                assert!(
                    (found - expected).abs() < 1e-5 * expected.abs() + 1e-9,
                    "{kernel:?} {at:?} {found} {expected}"
                );
            }
        }
    }
}
