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
//! An evaluation costs some `6Nc² + 4Ncd` multiply-adds, three to four times a fit, on one thread.

use crate::data::weights::Weights;
use crate::kernel::{kind::KernelKind, native::Native};
use crate::linalg::triangle::factor;
use crate::regression::choose::scan::least;
use dpp_nystrom_core::kernel::{Argument, Formula, Visit};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place as solve_lower, solve_upper_triangular_in_place as solve_upper,
};
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// Added to the diagonal of the landmarks' kernel matrix, so that dependent landmarks have a factor.
const JITTER: f64 = 1e-8;

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
#[derive(Clone, Debug)]
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

/// The features of rows, times the square roots of their weights.
struct Features {
    /// `Φ`.
    phi: Mat<f64>,
    /// `L`.
    lower: Mat<f64>,
    /// `ΦᵀΦ`.
    gram: Mat<f64>,
    /// The slopes of [`kernel_values`] of `K` and of `k(Z, Z)`.
    slopes: [Mat<f64>; 2],
}

/// A regression on features, and what leaving out each row changes.
struct LeftOut {
    /// `M`.
    shares: Mat<f64>,
    /// `W`.
    weights: Mat<f64>,
    /// `R`.
    residuals: Mat<f64>,
    /// `1 - h`.
    free: Vec<f64>,
    /// `J`.
    error: f64,
}

impl Features {
    fn of(problem: &Problem<'_>, rows: MatRef<'_, f64>, landmarks: MatRef<'_, f64>) -> Option<Self> {
        let Problem { kernel, weights, .. } = *problem;
        let (mut phi, slopes) = kernel_values(kernel, rows, landmarks);
        weights.scale(phi.as_mut());
        let (mut lower, home_slopes) = kernel_values(kernel, landmarks, landmarks);
        (0..lower.nrows()).for_each(|a| lower[(a, a)] = 1.0 + JITTER);
        factor(&mut lower)?;
        solve_lower(lower.as_ref(), phi.as_mut().transpose_mut(), Par::Seq);
        let gram = product(phi.transpose(), phi.as_ref());
        Some(Self { phi, lower, gram, slopes: [slopes, home_slopes] })
    }

    /// Regress on the features; `None` where the error is not finite.
    fn leave_out(&self, targets: MatRef<'_, f64>, ridge: f64) -> Option<LeftOut> {
        let Self { phi, gram, .. } = self;
        let (count, c) = (phi.nrows() as f64, phi.ncols());
        let mut penalised = gram.clone();
        (0..c).for_each(|k| penalised[(k, k)] += count * ridge);
        factor(&mut penalised)?;
        let mut shares = phi.clone();
        solve_lower(penalised.as_ref(), shares.as_mut().transpose_mut(), Par::Seq);
        solve_upper(penalised.transpose(), shares.as_mut().transpose_mut(), Par::Seq);
        let weights = product(shares.transpose(), targets);
        let mut residuals = targets.to_owned();
        add(residuals.as_mut(), phi.as_ref(), weights.as_ref(), -1.0);
        let mut free = vec![1.0; phi.nrows()];
        for k in 0..c {
            for ((free, m), f) in free.iter_mut().zip(shares.col_as_slice(k)).zip(phi.col_as_slice(k)) {
                *free -= m * f;
            }
        }
        free.iter_mut().for_each(|free| *free = free.max(FREE));
        let left_out = |t| residuals.col_as_slice(t).iter().zip(&free).map(|(r, free)| (r / free).powi(2));
        let error = (0..targets.ncols()).flat_map(left_out).sum::<f64>() / count;
        error.is_finite().then_some(LeftOut { shares, weights, residuals, free, error })
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

    /// Return the features of these rows, transformed: a row each, without the weights.
    pub(crate) fn features(&self, rows: MatRef<'_, f64>, landmarks: MatRef<'_, f64>) -> Option<Mat<f64>> {
        let unweighted = Problem { weights: Weights::default(), ..*self };
        Features::of(&unweighted, rows, landmarks).map(|features| features.phi)
    }

    /// Return what a solution leaves of the targets of these rows, transformed.
    pub(crate) fn left(
        &self,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        solved: &Solved,
    ) -> Mat<f64> {
        let (values, _) = kernel_values(self.kernel, rows, landmarks);
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
        let features = Features::of(self, rows, landmarks)?;
        let targets = self.weighted_targets();
        let error = |ridge| Some((ridge, features.leave_out(targets.as_ref(), ridge)?.error));
        Some(least(ridges.filter_map(error))?.0)
    }

    /// Solve with these rows, transformed, and landmarks; `None` where the error is not finite.
    pub(crate) fn evaluate(
        &self,
        rows: MatRef<'_, f64>,
        landmarks: MatRef<'_, f64>,
        ridge: f64,
    ) -> Option<Solved> {
        let (n, c, m) = (rows.nrows(), landmarks.nrows(), self.targets.ncols());
        let count = n as f64;
        let features = Features::of(self, rows, landmarks)?;
        let targets = self.weighted_targets();
        let LeftOut { shares, weights, residuals, free, error } =
            features.leave_out(targets.as_ref(), ridge)?;
        let Features { phi, lower, slopes: [slopes, home_slopes], .. } = features;
        let lower = lower.as_ref();
        let (mut a, mut b) = (Mat::zeros(n, m), vec![0.0; n]);
        for t in 0..m {
            for (i, (free, b)) in free.iter().zip(&mut b).enumerate() {
                let left_out = residuals[(i, t)] / free;
                a[(i, t)] = 2.0 * left_out / (count * free);
                *b += left_out * a[(i, t)];
            }
        }

        let q = product(shares.transpose(), a.as_ref());
        let mut weighted = shares.clone();
        let mut trace = 0.0;
        for k in 0..c {
            for ((share, own), b) in
                weighted.col_as_slice_mut(k).iter_mut().zip(shares.col_as_slice(k)).zip(&b)
            {
                *share *= b;
                trace += *share * own;
            }
        }
        let along: f64 = (0..m).map(|t| (0..c).map(|k| q[(k, t)] * weights[(k, t)]).sum::<f64>()).sum();
        // ∂J/∂Φ, and then ∂J/∂K.
        let curvature = product(shares.transpose(), weighted.as_ref());
        let mut slope = weighted * 2.0;
        add(slope.as_mut(), phi.as_ref(), curvature.as_ref(), -2.0);
        let mut fitted = product(phi.as_ref(), q.as_ref());
        fitted -= &a;
        add(slope.as_mut(), fitted.as_ref(), weights.transpose(), 1.0);
        add(slope.as_mut(), residuals.as_ref(), q.transpose(), -1.0);
        solve_upper(lower.transpose(), slope.as_mut().transpose_mut(), Par::Seq);
        // Through the factor.
        let bar = product(slope.transpose(), phi.as_ref());
        let bar = Mat::from_fn(c, c, |i, j| if i >= j { -bar[(i, j)] } else { 0.0 });
        let inner = product(lower.transpose(), bar.as_ref());
        let half = |i, j| if i == j { 0.5 } else { f64::from(i > j) };
        let mut home = Mat::from_fn(c, c, |i, j| half(i, j) * inner[(i, j)]);
        solve_upper(lower.transpose(), home.as_mut(), Par::Seq);
        solve_upper(lower.transpose(), home.as_mut().transpose_mut(), Par::Seq);

        let mut kernel_weights = weights;
        solve_upper(lower.transpose(), kernel_weights.as_mut(), Par::Seq);
        self.weights.scale(slope.as_mut());
        // A landmark is in both arguments of its own kernel matrix.
        let (of_rows, mut of_landmarks) = through(self.kernel, rows, landmarks, slope, &slopes);
        let (first, second) = through(self.kernel, landmarks, landmarks, home, &home_slopes);
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

/// Return the kernel's values, and what [`through`] needs of its derivative: that by half the squared
/// distance, or for an L1 distance by it.
fn kernel_values(kernel: KernelKind, x: MatRef<'_, f64>, z: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
    let mut values = distances(kernel, x, z);
    let mut slopes = Mat::zeros(x.nrows(), z.nrows());
    match kernel.build::<f64>(1.0) {
        Ok(kernel) => kernel.visit(InPlace { values: values.as_mut(), slopes: slopes.as_mut() }),
        // No error is finite then.
        Err(_) => values.fill(f64::NAN),
    }
    (values, slopes)
}

/// Arguments of a kernel of bandwidth 1, which become its values, and their slopes.
struct InPlace<'m> {
    values: MatMut<'m, f64>,
    slopes: MatMut<'m, f64>,
}

impl Visit<f64> for InPlace<'_> {
    type Output = ();

    fn visit<K: Formula<f64>>(self, kernel: K) {
        let (values, slopes) = (self.values.col_iter_mut(), self.slopes.col_iter_mut());
        for (values, slopes) in values.zip(slopes) {
            for (value, slope) in values.iter_mut().zip(slopes.iter_mut()) {
                let argument = Native(*value);
                *value = kernel.value_of(argument).0;
                *slope = kernel.slope_of(argument).0;
            }
        }
    }
}

/// Return the kernel's arguments: the squared distances, or the sums of absolute differences.
fn distances(kernel: KernelKind, x: MatRef<'_, f64>, z: MatRef<'_, f64>) -> Mat<f64> {
    if kernel.about().argument == Argument::L1Distance {
        let (x, mut distances) = (x.to_owned(), Mat::zeros(x.nrows(), z.nrows()));
        for a in 0..z.nrows() {
            let distances = distances.col_as_slice_mut(a);
            for j in 0..z.ncols() {
                let z = z[(a, j)];
                distances.iter_mut().zip(x.col_as_slice(j)).for_each(|(sum, x)| *sum += (x - z).abs());
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
        let (x, mut rows) = (x.to_owned(), Mat::zeros(x.nrows(), x.ncols()));
        let mut landmarks = Mat::zeros(z.nrows(), z.ncols());
        for a in 0..z.nrows() {
            let values = of_values.col_as_slice(a);
            for j in 0..z.ncols() {
                let (x, z) = (x.col_as_slice(j), z[(a, j)]);
                // The kernel has no derivative where they are equal: 0 is between the one-sided ones.
                let signed = |(x, value): (&f64, &f64)| {
                    value * (f64::from(u8::from(*x > z)) - f64::from(u8::from(*x < z)))
                };
                let of_rows = rows.col_as_slice_mut(j);
                of_rows.iter_mut().zip(x.iter().zip(values)).for_each(|(sum, pair)| *sum += signed(pair));
                // Lanes, which a sum in order would not have.
                let mut sums = [0.0; 8];
                for (x, values) in x.chunks(8).zip(values.chunks(8)) {
                    sums.iter_mut().zip(x.iter().zip(values)).for_each(|(sum, pair)| *sum -= signed(pair));
                }
                landmarks[(a, j)] = sums.iter().sum();
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
    use super::{Problem, Solved, kernel_values};
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
}
