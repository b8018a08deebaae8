//! The leave-one-out error of ridge regression on landmarks, and its gradient in the rows, the landmarks and
//! the ridge.
//!
//! Rows `X` and landmarks `Z` are transformed already. With `K = k(X, Z)`, `k(Z, Z) + εI = LLᵀ`, `Φ = KL⁻ᵀ`,
//! `ΦᵀΦ + NγI = TTᵀ`:
//!
//! `U = ΦT⁻ᵀ`, `v = UᵀY`, `R = Y - Uv`, `h_i = ‖u_i‖²`, `e_i = r_i/(1 - h_i)`, `J = Σ e²/N`.
//!
//! The weights are solved for inside (variable projection, Golub and Pereyra 1973). With
//! `a_i = 2e_i/(N(1 - h_i))`, `b_i = Σ 2e_i²/(N(1 - h_i))` over the targets, `q = Uᵀa`, `B = diag b`,
//! `C = UᵀBU`, `P = ½(qvᵀ + vqᵀ) - C`:
//!
//! - `∂J/∂K = ((Uq - a)vᵀ - Rqᵀ + 2BU - 2UC) T⁻¹L⁻¹`,
//! - `J` depends on `k(Z, Z)` by the penalty `Nγ k(Z, Z)` on the weights of kernel values alone, and so
//!   `∂J/∂k(Z, Z) = Nγ L⁻ᵀT⁻ᵀ P T⁻¹L⁻¹` and `∂J/∂γ = N tr T⁻ᵀPT⁻¹`,
//! - from there through the kernel to `X` and `Z`, which is both arguments of `k(Z, Z)`.
//!
//! With weights of mean 1, `K` and `Y` are those of the rows times the square roots of their weights.
//!
//! What grows with N may be in single precision: what is solved, of the order of c, is always in double.
//!
//! The gradient costs some `3.5Nc² + 4Ncd` multiply-adds, two and a half times a fit. Rows are evaluated in
//! blocks, on all threads, and the sums of blocks are added in their order: the number of threads changes no
//! bit.

use crate::data::weights::Weights;
use crate::kernel::kind::KernelKind;
use crate::linalg::{in_precision, increase, negligible, triangle::factor};
use crate::regression::choose::leave_one_out::Axes;
use dpp_nystrom_core::Scalar;
use dpp_nystrom_core::kernel::Argument;
use dpp_nystrom_host::simd::{Lane, kernel::InPlace};
use dpp_nystrom_host::threads::worth_a_thread;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place as solve_lower;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// The rows of a block, whose matrices a processor's second cache holds.
const BLOCK: usize = 256;

/// Added to the diagonal of the landmarks' kernel matrix, so that dependent landmarks have a factor.
const JITTER: f64 = 1e-8;

/// Return what `1 - h_ii` is at least taken to be: a row of leverage 1 would have an unbounded error.
fn least_free<T: Scalar>() -> T {
    T::EPSILON.sqrt() / T::from_f64(16.0)
}

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

/// The error and the weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solved {
    /// `J`.
    pub(crate) error: f64,
    /// The weights of the kernel's values, c x m.
    weights: Mat<f64>,
}

/// The gradient of the error.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gradient {
    /// `∂J/∂X`, N x d.
    pub(crate) rows: Mat<f64>,
    /// `∂J/∂Z`, c x d.
    pub(crate) landmarks: Mat<f64>,
    /// `∂J/∂γ`.
    pub(crate) ridge: f64,
}

/// A block of rows, times the square roots of their weights, and its working memory, N x c each.
struct Block<T: Lane> {
    /// The first row.
    first: usize,
    /// `Y`.
    targets: Mat<T>,
    /// `K`, then `U`, then `∂J/∂K`.
    values: Mat<T>,
    /// `Φ`, then `BU`, then `∂J/∂K LT`.
    phi: Mat<T>,
    /// The slopes of [`kernel_values`] of `K`.
    slopes: Mat<T>,
}

/// The working memory of evaluations with the same problem and number of landmarks.
pub(crate) struct Work<T: Lane> {
    blocks: Vec<Block<T>>,
    /// Blocks that are worth a thread.
    task: usize,
}

/// What leaving out each row of a block changes.
struct LeftOut<T: Lane> {
    /// `R`.
    residuals: Mat<T>,
    /// `a`, a row each.
    a: Mat<T>,
    /// `b`.
    b: Vec<T>,
    /// The block's part of `NJ`.
    squares: f64,
}

/// What is solved of rows and landmarks.
struct Parts<T: Lane> {
    /// `L⁻¹`.
    home_inverse: Mat<f64>,
    /// The slopes of [`kernel_values`] of `k(Z, Z)`.
    home_slopes: Mat<f64>,
    /// `T⁻¹`.
    inverse: Mat<f64>,
    /// `T⁻¹L⁻¹`.
    to_values: Mat<f64>,
    /// `v`.
    along: Mat<f64>,
    left_out: Vec<LeftOut<T>>,
}

impl<T: Lane> Work<T> {
    pub(crate) fn new(problem: &Problem<'_>, landmarks: usize) -> Self {
        let block = |first: usize| {
            let len = BLOCK.min(problem.rows.nrows() - first);
            let mut targets = in_precision::<T>(problem.targets.subrows(first, len));
            problem.weights.skip(first).scale(targets.as_mut());
            let [values, phi, slopes] = [(); 3].map(|()| Mat::zeros(len, landmarks));
            Block { first, targets, values, phi, slopes }
        };
        let task = worth_a_thread(BLOCK * landmarks * landmarks);
        Self { blocks: (0..problem.rows.nrows()).step_by(BLOCK).map(block).collect(), task }
    }

    /// Compute `Φ`, and return `L⁻¹` and the slopes of [`kernel_values`] of `k(Z, Z)`. `None` for landmarks
    /// without a factor, and for another number of rows or landmarks than this memory is for.
    fn features(
        &mut self,
        problem: &Problem<'_>,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
    ) -> Option<(Mat<f64>, Mat<f64>)> {
        let Problem { kernel, weights, .. } = *problem;
        let count: usize = self.blocks.iter().map(|block| block.values.nrows()).sum();
        let fits = count == rows.nrows()
            && self.blocks.iter().all(|block| block.values.ncols() == landmarks.nrows());
        debug_assert!(fits, "working memory of another problem");
        if !fits {
            return None;
        }
        let [mut lower, mut home_slopes] = [(); 2].map(|()| Mat::zeros(landmarks.nrows(), landmarks.nrows()));
        kernel_values(kernel, landmarks, landmarks, (&mut lower, Some(&mut home_slopes)));
        (0..lower.nrows()).for_each(|a| lower[(a, a)] = 1.0 + JITTER);
        factor(&mut lower)?;
        let inverse = inverse(&lower);
        let to_phi = in_precision::<T>(inverse.as_ref());
        self.blocks.par_iter_mut().with_min_len(self.task).for_each(
            |Block { first, values, phi, slopes, .. }| {
                let rows = rows.subrows(*first, values.nrows());
                kernel_values(kernel, rows, landmarks, (values, Some(slopes)));
                weights.skip(*first).scale(values.as_mut());
                by_transpose(phi, values, &to_phi);
            },
        );
        Some((inverse, home_slopes))
    }

    /// Return `T⁻¹` and `v`.
    fn weights(&self, (landmarks, outputs): (usize, usize), load: f64) -> Option<(Mat<f64>, Mat<f64>)> {
        let of_block = |Block { phi, targets, .. }: &Block<T>| {
            let mut gram = Mat::zeros(landmarks, landmarks);
            add_lower(gram.as_mut(), phi.transpose(), phi.as_ref());
            (gram, product(phi.transpose(), targets.as_ref()))
        };
        let parts: Vec<_> = self.blocks.par_iter().with_min_len(self.task).map(of_block).collect();
        let (mut penalised, mut along) = (Mat::zeros(landmarks, landmarks), Mat::zeros(landmarks, outputs));
        for (gram, of_targets) in &parts {
            increase(&mut penalised, gram);
            increase(&mut along, of_targets);
        }
        (0..landmarks).for_each(|k| penalised[(k, k)] += load);
        factor(&mut penalised)?;
        let inverse = inverse(&penalised);
        let along = product(inverse.as_ref(), along.as_ref());
        Some((inverse, along))
    }
}

impl<T: Lane> Block<T> {
    /// Leave out each row of `count` in all, with `T⁻¹` and `v`.
    fn leave_out(&mut self, inverse: &Mat<T>, along: MatRef<'_, T>, count: f64) -> LeftOut<T> {
        let Self { targets, values: hats, phi: weighted, .. } = self;
        by_transpose(hats, weighted, inverse);
        let (len, c, outputs) = (hats.nrows(), hats.ncols(), targets.ncols());
        let mut residuals = targets.clone();
        add(residuals.as_mut(), hats.as_ref(), along, -T::ONE);
        let mut free = vec![T::ONE; len];
        for k in 0..c {
            free.iter_mut().zip(hats.col_as_slice(k)).for_each(|(free, &hat)| *free -= hat * hat);
        }
        let least = least_free();
        free.iter_mut().for_each(|free| *free = if *free < least { least } else { *free });
        let (mut a, mut b, mut squares) = (Mat::zeros(len, outputs), vec![T::ZERO; len], 0.0);
        let share = T::from_f64(2.0 / count);
        for t in 0..outputs {
            let columns = residuals.col_as_slice(t).iter().zip(a.col_as_slice_mut(t));
            for ((&residual, a), (&free, b)) in columns.zip(free.iter().zip(&mut b)) {
                let left_out = residual / free;
                *a = share * left_out / free;
                *b += left_out * *a;
                squares += left_out.to_f64().powi(2);
            }
        }
        LeftOut { residuals, a, b, squares }
    }

    /// Return the block's part of `q`, and of `C` on and below its diagonal.
    fn curvature(&mut self, LeftOut { a, b, .. }: &LeftOut<T>) -> (Mat<T>, Mat<T>) {
        let Self { values: hats, phi: weighted, .. } = self;
        let c = hats.ncols();
        let q = product(hats.transpose(), a.as_ref());
        for k in 0..c {
            let columns = weighted.col_as_slice_mut(k).iter_mut().zip(hats.col_as_slice(k));
            columns.zip(b).for_each(|((weighted, &hat), &b)| *weighted = b * hat);
        }
        let mut curvature = Mat::zeros(c, c);
        add_lower(curvature.as_mut(), hats.transpose(), weighted.as_ref());
        (q, curvature)
    }

    /// Compute `∂J/∂K`, with the sums over all blocks and `T⁻¹L⁻¹`.
    fn differentiate(
        &mut self,
        LeftOut { residuals, a: mut fitted, .. }: LeftOut<T>,
        [along, q, curvature, inverse]: &[Mat<T>; 4],
    ) {
        let Self { values: hats, phi: slope, .. } = self;
        add(slope.as_mut(), hats.as_ref(), curvature.as_ref(), -T::ONE);
        (0..slope.ncols())
            .for_each(|k| slope.col_as_slice_mut(k).iter_mut().for_each(|slope| *slope += *slope));
        add(fitted.as_mut(), hats.as_ref(), q.as_ref(), -T::ONE);
        add(slope.as_mut(), fitted.as_ref(), along.transpose(), -T::ONE);
        add(slope.as_mut(), residuals.as_ref(), q.transpose(), -T::ONE);
        by_lower(hats, slope, inverse);
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
        self.squares_of(&self.left(rows, landmarks, solved))
    }

    /// Return the square of what is left of each of these rows, times its weight.
    pub(crate) fn squares_of(&self, left: &Mat<f64>) -> Vec<f64> {
        (0..left.nrows()).map(|i| self.weights.at(i) * left.row(i).squared_norm_l2()).collect()
    }

    /// Return the features of these rows, transformed: a column each, without the weights.
    pub(crate) fn features(&self, rows: MatRef<'_, f64>, landmarks: MatRef<'_, f64>) -> Option<Mat<f64>> {
        Problem { weights: Weights::default(), ..*self }.weighted_features(rows, landmarks)
    }

    /// Return the features of these rows, transformed, times the roots of their weights: a column each.
    fn weighted_features(&self, rows: MatRef<'_, f64>, landmarks: MatRef<'_, f64>) -> Option<Mat<f64>> {
        let mut work = Work::<f64>::new(self, landmarks.nrows());
        work.features(self, rows, landmarks)?;
        let mut all = Mat::zeros(landmarks.nrows(), rows.nrows());
        for Block { first, phi, .. } in &work.blocks {
            all.as_mut().subcols_mut(*first, phi.nrows()).copy_from(phi.transpose());
        }
        Some(all)
    }

    /// Return what a solution leaves of the targets of these rows, transformed.
    pub(crate) fn left(
        &self,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        solved: &Solved,
    ) -> Mat<f64> {
        let mut values = Mat::zeros(rows.nrows(), landmarks.nrows());
        kernel_values(self.kernel, rows, landmarks, (&mut values, None));
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
        let [mut values, mut slopes] = [(); 2].map(|()| Mat::zeros(rows.nrows(), landmarks.nrows()));
        kernel_values(self.kernel, rows, landmarks, (&mut values, Some(&mut slopes)));
        let mut outer = Mat::zeros(rows.ncols(), rows.ncols());
        for t in 0..self.targets.ncols() {
            (0..landmarks.nrows()).for_each(|a| values.col_as_slice_mut(a).fill(solved.weights[(a, t)]));
            let (mut gradients, _) = through(self.kernel, rows, landmarks, (&mut values, &slopes));
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
        let features = self.weighted_features(rows, landmarks)?;
        let targets = self.weighted_targets();
        let (ridge, error) =
            Axes::new(&features).ok()?.best(targets.as_ref(), &ridges.collect::<Vec<_>>()).ok()?;
        error.is_finite().then_some(ridge)
    }

    /// Solve with these rows, transformed, and landmarks; `None` where the error is not finite. `1.5Nc²`.
    pub(crate) fn solve<T: Lane>(
        &self,
        work: &mut Work<T>,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        ridge: f64,
    ) -> Option<Solved> {
        self.parts(work, rows, landmarks, ridge).map(|(solved, _)| solved)
    }

    /// Solve with these rows, transformed, and landmarks, and return what the gradient needs.
    fn parts<T: Lane>(
        &self,
        work: &mut Work<T>,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        ridge: f64,
    ) -> Option<(Solved, Parts<T>)> {
        let count = rows.nrows() as f64;
        let (home_inverse, home_slopes) = work.features(self, rows, landmarks)?;
        let (inverse, along) = work.weights((landmarks.nrows(), self.targets.ncols()), count * ridge)?;
        let sums = [inverse.as_ref(), along.as_ref()].map(in_precision::<T>);
        let left_out = |block: &mut Block<T>| block.leave_out(&sums[0], sums[1].as_ref(), count);
        let blocks = work.blocks.par_iter_mut().with_min_len(work.task);
        let left_out: Vec<LeftOut<T>> = blocks.map(left_out).collect();
        let error = left_out.iter().map(|block| block.squares).sum::<f64>() / count;
        let to_values = product(inverse.as_ref(), home_inverse.as_ref());
        let weights = product(to_values.transpose(), along.as_ref());
        let parts = Parts { home_inverse, home_slopes, inverse, to_values, along, left_out };
        error.is_finite().then_some((Solved { error, weights }, parts))
    }

    /// Solve with these rows, transformed, and landmarks, and return the gradient too; `None` where the error
    /// is not finite.
    pub(crate) fn evaluate<T: Lane>(
        &self,
        work: &mut Work<T>,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        ridge: f64,
    ) -> Option<(Solved, Gradient)> {
        let (c, d, m) = (landmarks.nrows(), rows.ncols(), self.targets.ncols());
        let count = rows.nrows() as f64;
        let (solved, parts) = self.parts(work, rows, landmarks, ridge)?;
        let (near, rows) = (in_precision::<T>(landmarks), in_precision::<T>(rows));
        let Parts { home_inverse, home_slopes, inverse, to_values, along, left_out } = parts;
        let blocks = work.blocks.par_iter_mut().with_min_len(work.task).zip(&left_out);
        let of_blocks: Vec<_> = blocks.map(|(block, left_out)| block.curvature(left_out)).collect();
        let (mut q, mut curvature) = (Mat::zeros(c, m), Mat::zeros(c, c));
        for (of_q, of_curvature) in &of_blocks {
            increase(&mut q, of_q);
            increase(&mut curvature, of_curvature);
        }
        for k in 0..c {
            (0..k).for_each(|j| curvature[(j, k)] = curvature[(k, j)]);
        }

        let sums =
            [along.as_ref(), q.as_ref(), curvature.as_ref(), to_values.as_ref()].map(in_precision::<T>);
        let slope = |(block, left_out): (&mut Block<T>, LeftOut<T>)| {
            block.differentiate(left_out, &sums);
            let Block { first, values, slopes, .. } = block;
            self.weights.skip(*first).scale(values.as_mut());
            let rows = rows.as_ref().subrows(*first, values.nrows());
            through(self.kernel, rows, near.as_ref(), (values, slopes))
        };
        let blocks = work.blocks.par_iter_mut().with_min_len(work.task).zip(left_out);
        let slopes: Vec<_> = blocks.map(slope).collect();
        let (mut of_rows, mut of_landmarks) = (Mat::zeros(rows.nrows(), d), Mat::zeros(c, d));
        for (block, (by_rows, by_landmarks)) in work.blocks.iter().zip(slopes) {
            let mut rows = of_rows.as_mut().subrows_mut(block.first, by_rows.nrows());
            rows.copy_from(by_rows.map(|slope| slope.to_f64()));
            increase(&mut of_landmarks, &by_landmarks);
        }
        // By the landmarks' kernel values, through the penalty.
        let mut penalty = product(q.as_ref(), along.transpose());
        for k in 0..c {
            for j in 0..=k {
                let mean = 0.5 * (penalty[(j, k)] + penalty[(k, j)]) - curvature[(j, k)];
                (penalty[(j, k)], penalty[(k, j)]) = (mean, mean);
            }
        }
        let penalty = product(inverse.transpose(), product(penalty.as_ref(), inverse.as_ref()).as_ref());
        let trace: f64 = (0..c).map(|k| penalty[(k, k)]).sum();
        let home = product(penalty.as_ref(), home_inverse.as_ref());
        let mut by_home = Mat::zeros(c, c);
        add(by_home.as_mut(), home_inverse.transpose(), home.as_ref(), count * ridge);
        // A landmark is in both arguments of its own kernel matrix.
        let (first, second) = through(self.kernel, landmarks, landmarks, (&mut by_home, &home_slopes));
        increase(&mut of_landmarks, &first);
        increase(&mut of_landmarks, &second);
        Some((solved, Gradient { rows: of_rows, landmarks: of_landmarks, ridge: count * trace }))
    }
}

fn product<T: Lane>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Mat<T> {
    let mut product = Mat::zeros(a.nrows(), b.ncols());
    add(product.as_mut(), a, b, T::ONE);
    product
}

/// Add `factor A B`.
fn add<T: Lane>(to: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>, factor: T) {
    matmul(to, Accum::Add, a, b, factor, Par::Seq);
}

/// Add `AB` on and below the diagonal.
fn add_lower<T: Lane>(to: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(to, lower, Accum::Add, a, full, b, full, T::ONE, Par::Seq);
}

/// Return the inverse of a lower triangular matrix.
fn inverse(lower: &Mat<f64>) -> Mat<f64> {
    let mut inverse = Mat::identity(lower.nrows(), lower.nrows());
    solve_lower(lower.as_ref(), inverse.as_mut(), Par::Seq);
    inverse
}

/// Columns of a product with a triangle that are computed together: wider panels multiply more of its zeros.
const PANEL: usize = 32;

/// Replace a matrix by `ATᵀ` for a lower triangular `T`.
fn by_transpose<T: Lane>(product: &mut Mat<T>, a: &Mat<T>, lower: &Mat<T>) {
    for first in (0..lower.nrows()).step_by(PANEL) {
        let next = (first + PANEL).min(lower.nrows());
        let panel = lower.as_ref().submatrix(first, 0, next - first, next);
        let columns = product.as_mut().subcols_mut(first, next - first);
        matmul(columns, Accum::Replace, a.as_ref().subcols(0, next), panel.transpose(), T::ONE, Par::Seq);
    }
}

/// Replace a matrix by `AT` for a lower triangular `T`.
fn by_lower<T: Lane>(product: &mut Mat<T>, a: &Mat<T>, lower: &Mat<T>) {
    let order = lower.nrows();
    for first in (0..order).step_by(PANEL) {
        let count = PANEL.min(order - first);
        let panel = lower.as_ref().submatrix(first, first, order - first, count);
        let columns = product.as_mut().subcols_mut(first, count);
        matmul(columns, Accum::Replace, a.as_ref().subcols(first, order - first), panel, T::ONE, Par::Seq);
    }
}

/// Replace a matrix by the kernel's values, and another by what [`through`] needs of its derivative: that by
/// half the squared distance, or for an L1 distance by it.
///
/// Distances are computed in double precision: rounding errors of values are multiplied by `L⁻¹`, and those
/// of a squared distance are relative to the squares of the rows.
fn kernel_values<T: Lane>(
    kernel: KernelKind,
    x: MatRef<'_, f64>,
    z: MatRef<'_, f64>,
    (values, mut slopes): (&mut Mat<T>, Option<&mut Mat<T>>),
) {
    // No error is finite then.
    let Ok(spec) = kernel.build::<T>(1.0) else { return values.fill(T::NAN) };
    let (arch, least) = (Arch::new(), negligible::<T>());
    for first in (0..values.ncols()).step_by(PANEL) {
        let count = PANEL.min(values.ncols() - first);
        let distances = distances(kernel, x, z.subrows(first, count));
        for a in 0..count {
            let slopes = slopes.as_mut().map_or(&mut [][..], |slopes| slopes.col_as_slice_mut(first + a));
            let values = values.col_as_slice_mut(first + a);
            let narrowed = values.iter_mut().zip(distances.col_as_slice(a));
            narrowed.for_each(|(value, distance)| *value = T::from_f64(*distance));
            arch.dispatch(InPlace { kernel: &spec, arguments: &mut *values, slopes: &mut *slopes });
            let not_subnormal =
                |value: &mut T| *value = if -least < *value && *value < least { T::ZERO } else { *value };
            values.iter_mut().for_each(not_subnormal);
            slopes.iter_mut().for_each(not_subnormal);
        }
    }
}

/// The sums that are added up side by side, since one would wait for each addition.
const LANES: usize = 8;

/// Return the sum of what is added up side by side.
#[inline(always)]
fn total<T: Lane>(sums: &[T; LANES]) -> T {
    sums.iter().fold(T::ZERO, |total, &sum| total + sum)
}

/// Multiplies `values` by `slopes`, adds the products to `of_rows`, and returns their sum.
struct Sloped<'a, T> {
    values: &'a mut [T],
    slopes: &'a [T],
    of_rows: &'a mut [T],
}

impl<T: Lane> NullaryFnOnce for Sloped<'_, T> {
    type Output = T;

    #[inline(always)]
    fn call(self) -> T {
        let Self { values, slopes, of_rows } = self;
        let mut sums = [T::ZERO; LANES];
        let chunks = values.chunks_mut(LANES).zip(slopes.chunks(LANES)).zip(of_rows.chunks_mut(LANES));
        for ((values, slopes), of_rows) in chunks {
            for (sum, ((value, &slope), of_row)) in
                sums.iter_mut().zip(values.iter_mut().zip(slopes).zip(of_rows))
            {
                *value *= slope;
                *of_row += *value;
                *sum += *value;
            }
        }
        total(&sums)
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
struct Signed<'a, T> {
    x: &'a [T],
    z: T,
    values: &'a [T],
    of_rows: &'a mut [T],
}

impl<T: Lane> NullaryFnOnce for Signed<'_, T> {
    type Output = T;

    #[inline(always)]
    fn call(self) -> T {
        let Self { x, z, values, of_rows } = self;
        let mut sums = [T::ZERO; LANES];
        for ((x, values), of_rows) in x.chunks(LANES).zip(values.chunks(LANES)).zip(of_rows.chunks_mut(LANES))
        {
            for (sum, ((x, value), of_row)) in sums.iter_mut().zip(x.iter().zip(values).zip(of_rows)) {
                // The kernel has no derivative where they are equal: 0 is between the one-sided ones.
                let above = if *x > z { *value } else { T::ZERO };
                let below = if *x < z { *value } else { T::ZERO };
                *of_row += above - below;
                *sum += above - below;
            }
        }
        total(&sums)
    }
}

/// Return the kernel's arguments: the squared distances, or the sums of absolute differences.
fn distances(kernel: KernelKind, x: MatRef<'_, f64>, z: MatRef<'_, f64>) -> Mat<f64> {
    let mut distances = Mat::zeros(x.nrows(), z.nrows());
    if kernel.about().argument == Argument::L1Distance {
        let (arch, x) = (Arch::new(), x.to_owned());
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
    matmul(distances.as_mut(), Accum::Replace, x, z.transpose(), 1.0, Par::Seq);
    for (a, z) in of_z.iter().enumerate() {
        for (distance, x) in distances.col_as_slice_mut(a).iter_mut().zip(&of_x) {
            *distance = (x + z - 2.0 * *distance).max(0.0);
        }
    }
    distances
}

/// Return `∂J/∂X` and `∂J/∂Z` from those by the kernel's values, which are multiplied by the kernel's slopes:
/// `∂k(x, z)/∂x = slope (x - z)`, or for an L1 distance `slope sign(x - z)`.
fn through<T: Lane>(
    kernel: KernelKind,
    x: MatRef<'_, T>,
    z: MatRef<'_, T>,
    (of_values, slopes): (&mut Mat<T>, &Mat<T>),
) -> (Mat<T>, Mat<T>) {
    let arch = Arch::new();
    let (mut of_x, mut of_z) = (vec![T::ZERO; x.nrows()], vec![T::ZERO; z.nrows()]);
    for (a, of_z) in of_z.iter_mut().enumerate() {
        let values = of_values.col_as_slice_mut(a);
        *of_z = arch.dispatch(Sloped { values, slopes: slopes.col_as_slice(a), of_rows: &mut of_x });
    }
    if kernel.about().argument == Argument::L1Distance {
        let (x, mut rows) = (x.to_owned(), Mat::zeros(x.nrows(), x.ncols()));
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
    let mut rows = Mat::from_fn(x.nrows(), x.ncols(), |i, j| of_x[i] * x[(i, j)]);
    let mut landmarks = Mat::from_fn(z.nrows(), z.ncols(), |a, j| of_z[a] * z[(a, j)]);
    add(rows.as_mut(), of_values.as_ref(), z, -T::ONE);
    add(landmarks.as_mut(), of_values.transpose(), x, -T::ONE);
    (rows, landmarks)
}

#[cfg(test)]
mod tests {
    use super::{
        Axes, BLOCK, Gradient, PANEL, Problem, Solved, Work, by_lower, by_transpose, kernel_values,
        negligible, product,
    };
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

    /// The kernel's values, and its slopes.
    fn values_of(kind: KernelKind, x: &Mat<f64>, z: &Mat<f64>) -> [Mat<f64>; 2] {
        let [mut values, mut slopes] = [(); 2].map(|()| Mat::zeros(x.nrows(), z.nrows()));
        kernel_values(kind, x.as_ref(), z.as_ref(), (&mut values, Some(&mut slopes)));
        [values, slopes]
    }

    fn evaluate(
        problem: &Problem<'_>,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        ridge: f64,
    ) -> (Solved, Gradient) {
        problem.evaluate(&mut Work::<f64>::new(problem, landmarks.nrows()), rows, landmarks, ridge).unwrap()
    }

    /// Panels of columns leave out zeros of the triangle alone.
    #[test]
    fn products_with_a_triangle_are_those_with_its_zeros() {
        for order in [1, PANEL - 1, PANEL, PANEL + 1, 3 * PANEL + 4] {
            let (a, full) = (numbers(7, order, 0.3), numbers(order, order, 2.2));
            let lower = Mat::from_fn(order, order, |i, j| if j <= i { full[(i, j)] } else { 0.0 });
            let mut found = [(); 2].map(|()| Mat::from_fn(7, order, |_, _| f64::NAN));
            by_transpose(&mut found[0], &a, &lower);
            by_lower(&mut found[1], &a, &lower);
            let expected = [lower.transpose(), lower.as_ref()].map(|factor| product(a.as_ref(), factor));
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).norm_max() < 1e-12, "{order}");
            }
        }
    }

    /// Rows at growing distances from one landmark: no value or slope is between 0 and the least.
    #[test]
    fn rows_far_away_have_no_subnormal_values() {
        let (x, z) = (Mat::from_fn(4_000, 1, |i, _| 0.25 * i as f64), Mat::zeros(1, 1));
        for kind in kernels() {
            let numbers =
                values_of(kind, &x, &z).map(|numbers| numbers.col(0).iter().copied().collect::<Vec<f64>>());
            let mut numbers = numbers.iter().flatten();
            assert!(numbers.all(|number| *number == 0.0 || number.abs() >= negligible()), "{kind:?}");
        }
    }

    #[test]
    fn values_are_those_of_the_core() {
        let (x, z) = (numbers(9, 3, 0.3), numbers(5, 3, 2.2));
        for kind in kernels() {
            let kernel = kind.build::<f64>(1.0).unwrap();
            let [values, _] = values_of(kind, &x, &z);
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
            let weights = Weights(Some(&weights));
            let problem = Problem { rows: x.as_ref(), targets: y.as_ref(), weights, ..*problem };
            let (solved, _) = evaluate(&problem, x.as_ref(), landmarks, ridge);
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
            let (solved, _) = evaluate(&problem, x.as_ref(), z.as_ref(), 1e-2);
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
            let at = |x: &Mat<f64>, z: &Mat<f64>, ridge: f64| -> (Solved, Gradient) {
                evaluate(&problem, x.as_ref(), z.as_ref(), ridge)
            };
            let (_, gradient) = at(&x, &z, 1e-2);
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
                close(gradient.rows[place], &|by| at(&moved(&x, place, by), &z, 1e-2).0.error);
            }
            for place in (0..6).flat_map(|i| (0..3).map(move |j| (i, j))) {
                close(gradient.landmarks[place], &|by| at(&x, &moved(&z, place, by), 1e-2).0.error);
            }
            close(gradient.ridge, &|by| at(&x, &z, 1e-2 + by).0.error);
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
                pool.install(|| evaluate(&problem, x.as_ref(), z.as_ref(), 1e-3))
            };
            let (solved, gradient) = on(1);
            assert_eq!((solved.clone(), gradient.clone()), on(3));
            let features = problem.weighted_features(x.as_ref(), z.as_ref()).unwrap();
            let targets = problem.weighted_targets();
            let (_, error) = Axes::new(&features).unwrap().best(targets.as_ref(), &[1e-3]).unwrap();
            assert!((solved.error / (2.0 * error) - 1.0).abs() < 1e-9, "{kernel:?}");
            for at in [0, BLOCK - 1, BLOCK, count - 1].into_iter().flat_map(|i| (0..3).map(move |j| (i, j))) {
                let error = |by: f64| {
                    let mut moved = x.clone();
                    moved[at] += by;
                    evaluate(&problem, moved.as_ref(), z.as_ref(), 1e-3).0.error
                };
                let (found, expected) = (gradient.rows[at], (error(1e-5) - error(-1e-5)) / 2e-5);
                assert!(
                    (found - expected).abs() < 1e-5 * expected.abs() + 1e-9,
                    "{kernel:?} {at:?} {found} {expected}"
                );
            }
        }
    }

    /// Rows far from the origin, landmarks that nearly depend on each other, and a small ridge.
    #[test]
    fn single_precision_agrees() {
        let count = BLOCK + 50;
        let (mut x, y) = (numbers(count, 3, 0.3), numbers(count, 2, 5.1));
        x.as_mut().col_mut(0).iter_mut().for_each(|value| *value += 30.0);
        let z = Mat::from_fn(20, 3, |a, j| x[(a / 2, j)] + 1e-3 * (a % 2) as f64);
        let weights = weights(count);
        for kernel in kernels() {
            let weights = Weights(Some(&weights));
            let problem = Problem { rows: x.as_ref(), targets: y.as_ref(), weights, kernel };
            let double = evaluate(&problem, x.as_ref(), z.as_ref(), 1e-5);
            let mut work = Work::<f32>::new(&problem, z.nrows());
            let single = problem.evaluate(&mut work, x.as_ref(), z.as_ref(), 1e-5).unwrap();
            let apart = |one: &Mat<f64>, other: &Mat<f64>| (one - other).norm_l2() / one.norm_l2();
            let errors = [
                (single.0.error / double.0.error - 1.0).abs(),
                apart(&double.1.rows, &single.1.rows),
                apart(&double.1.landmarks, &single.1.landmarks),
                (single.1.ridge / double.1.ridge - 1.0).abs(),
            ];
            let bounds = [1e-3, 2e-2, 5e-2, 5e-3];
            assert!(errors.iter().zip(bounds).all(|(error, bound)| *error < bound), "{kernel:?} {errors:?}");
        }
    }
}
