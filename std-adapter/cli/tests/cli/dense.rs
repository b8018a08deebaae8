//! Reference results from dense matrices, which share no code with the program.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

/// A kernel's formula, written independently.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Formula {
    Gaussian,
    Laplace,
    Matern32,
    Matern52,
    Polynomial(i32, f64),
    Linear,
    RationalQuadratic,
}

impl Formula {
    pub(crate) fn value(self, x: &[f64], y: &[f64], sigma: f64) -> f64 {
        let pairs = || x.iter().zip(y);
        let distance = pairs().map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        let product: f64 = pairs().map(|(x, y)| x * y).sum();
        match self {
            Self::Gaussian => (-distance * distance / (2.0 * sigma * sigma)).exp(),
            Self::Laplace => (-pairs().map(|(x, y)| (x - y).abs()).sum::<f64>() / sigma).exp(),
            Self::Matern32 => {
                let far = 3.0_f64.sqrt() * distance / sigma;
                (1.0 + far) * (-far).exp()
            }
            Self::Matern52 => {
                let far = 5.0_f64.sqrt() * distance / sigma;
                (1.0 + far + far * far / 3.0) * (-far).exp()
            }
            Self::Polynomial(degree, offset) => (product + offset).powi(degree),
            Self::Linear => product,
            Self::RationalQuadratic => 1.0 / (1.0 + distance * distance / (2.0 * sigma * sigma)),
        }
    }

    pub(crate) fn matrix(self, rows: &[Vec<f64>], columns: &[Vec<f64>], sigma: f64) -> Mat<f64> {
        Mat::from_fn(rows.len(), columns.len(), |i, j| self.value(&rows[i], &columns[j], sigma))
    }
}

/// Return mean and standard deviation (divided by `n`) of a column.
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt())
}

/// Standardise rows: features with mean 0 and standard deviation 1.
pub(crate) fn standardised(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    standardised_by(rows, rows)
}

/// Shift and scale rows by the statistics of others.
pub(crate) fn standardised_by(rows: &[Vec<f64>], others: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let statistics: Vec<(f64, f64)> = (0..rows[0].len())
        .map(|at| mean_and_deviation(&others.iter().map(|row| row[at]).collect::<Vec<_>>()))
        .collect();
    rows.iter()
        .map(|row| {
            row.iter().zip(&statistics).map(|(value, (mean, deviation))| (value - mean) / deviation).collect()
        })
        .collect()
}

/// Return the median of all pairs' Euclidean distances, the upper one of two.
pub(crate) fn median_distance(rows: &[Vec<f64>]) -> f64 {
    let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
    let mut all: Vec<f64> = (0..rows.len())
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| distance(&rows[i], &rows[j]))
        .collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// `K - K_NC K_CC⁻¹ K_CN`.
pub(crate) fn residual(kernel: &Mat<f64>, landmarks: &[usize]) -> Mat<f64> {
    let (n, c) = (kernel.nrows(), landmarks.len());
    let small = Mat::from_fn(c, c, |i, j| kernel[(landmarks[i], landmarks[j])]);
    let wide = Mat::from_fn(c, n, |i, j| kernel[(landmarks[i], j)]);
    kernel - wide.transpose() * small.partial_piv_lu().solve(&wide)
}

pub(crate) fn trace(matrix: &Mat<f64>) -> f64 {
    (0..matrix.nrows()).map(|i| matrix[(i, i)]).sum()
}

/// Return the eigenvalues, descending.
pub(crate) fn eigenvalues(matrix: &Mat<f64>) -> Vec<f64> {
    let mut values = matrix.self_adjoint_eigenvalues(Side::Lower).expect("eigenvalues");
    values.sort_by(|x, y| y.total_cmp(x));
    values
}

/// Return the Frobenius and spectral norm of the residual, over those of the best rank-`c` approximation.
pub(crate) fn relative_errors(kernel: &Mat<f64>, landmarks: &[usize]) -> (f64, f64) {
    let of_kernel = eigenvalues(kernel);
    let of_residual = eigenvalues(&residual(kernel, landmarks));
    let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let c = landmarks.len();
    (norm(&of_residual) / norm(&of_kernel[c..]), of_residual[0] / of_kernel[c])
}

/// `log det K_CC`.
pub(crate) fn log_det(kernel: &Mat<f64>, landmarks: &[usize]) -> f64 {
    let c = landmarks.len();
    let small = Mat::from_fn(c, c, |i, j| kernel[(landmarks[i], landmarks[j])]);
    eigenvalues(&small).iter().map(|value| value.ln()).sum()
}

/// `K_XC (K_CN K_NC + NγK_CC)⁻¹ K_CN y`: Nyström ridge regression by its normal equations.
pub(crate) fn ridge_regression(
    new_with_landmarks: &Mat<f64>,
    rows_with_landmarks: &Mat<f64>,
    landmarks: &Mat<f64>,
    targets: &[f64],
    ridge: f64,
) -> Vec<f64> {
    let n = targets.len();
    let targets = Mat::from_fn(n, 1, |i, _| targets[i]);
    let wide = rows_with_landmarks.transpose();
    let normal = wide * rows_with_landmarks + faer::Scale(n as f64 * ridge) * landmarks;
    let weights = normal.partial_piv_lu().solve(wide * targets);
    (new_with_landmarks * weights).col(0).iter().copied().collect()
}

/// `K_XN (K + NγI)⁻¹ y`: ridge regression on all rows.
pub(crate) fn exact_ridge_regression(
    new_with_rows: &Mat<f64>,
    kernel: &Mat<f64>,
    targets: &[f64],
    ridge: f64,
) -> Vec<f64> {
    let n = targets.len();
    let targets = Mat::from_fn(n, 1, |i, _| targets[i]);
    let penalised = Mat::from_fn(n, n, |i, j| kernel[(i, j)] + if i == j { n as f64 * ridge } else { 0.0 });
    let weights = penalised.partial_piv_lu().solve(targets);
    (new_with_rows * weights).col(0).iter().copied().collect()
}
