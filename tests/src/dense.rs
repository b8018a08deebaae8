//! Reference linear algebra in `f64`, by `faer`.

use faer::linalg::solvers::{Solve, SolveLstsq};
use faer::{Mat, Side};

fn square(matrix: &[f64], n: usize) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| matrix[i * n + j])
}

fn column(values: &[f64]) -> Mat<f64> {
    Mat::from_fn(values.len(), 1, |i, _| values[i])
}

fn values(column: &Mat<f64>) -> Vec<f64> {
    (0..column.nrows()).map(|i| column[(i, 0)]).collect()
}

/// Return the eigenvalues of a symmetric matrix, ascending.
///
/// # Panics
/// When they do not converge.
pub fn eigenvalues(matrix: &[f64], n: usize) -> Vec<f64> {
    square(matrix, n).self_adjoint_eigenvalues(Side::Lower).expect("finite entries converge")
}

/// Return the row-major Cholesky factor of a positive definite matrix.
///
/// # Panics
/// When it is not positive definite.
pub fn cholesky(matrix: &[f64], n: usize) -> Vec<f64> {
    let factor = square(matrix, n).llt(Side::Lower).expect("a positive definite matrix");
    let lower = factor.L();
    (0..n * n).map(|at| if at % n <= at / n { lower[(at / n, at % n)] } else { 0.0 }).collect()
}

/// Solve `matrix x = right` for a square matrix that is not singular. Not by faer 0.24's LU with full
/// pivoting, which can leave residuals of a tenth at order 7, and NaN.
pub fn solve(matrix: &[f64], n: usize, right: &[f64]) -> Vec<f64> {
    values(&square(matrix, n).partial_piv_lu().solve(&column(right)))
}

/// Minimise `‖A x - b‖` for a tall row-major `A` of `dim` columns, by QR.
pub fn least_squares(rows: &[f64], dim: usize, right: &[f64]) -> Vec<f64> {
    let tall = Mat::from_fn(right.len(), dim, |i, j| rows[i * dim + j]);
    values(&tall.qr().solve_lstsq(&column(right)))
}

/// Return a row-major `n x c` matrix of orthonormal columns, by QR of these entries.
pub fn orthonormal(entries: &[f64], n: usize, c: usize) -> Vec<f64> {
    let basis = Mat::from_fn(n, c, |i, j| entries[i * c + j]).qr().compute_thin_Q();
    (0..n * c).map(|at| basis[(at / c, at % c)]).collect()
}

/// Return the pseudo-inverse of a symmetric positive semidefinite matrix, with eigenvalues below `relative`
/// times the largest taken as zero.
///
/// # Panics
/// When the eigenvalues do not converge.
pub fn pseudo_inverse(matrix: &[f64], n: usize, relative: f64) -> Vec<f64> {
    let eigen = square(matrix, n).self_adjoint_eigen(Side::Lower).expect("finite entries converge");
    let (vectors, spectrum) = (eigen.U(), eigen.S());
    let largest = (0..n).map(|i| spectrum[i]).fold(0.0, f64::max);
    let mut inverse = vec![0.0; n * n];
    for k in (0..n).filter(|&k| spectrum[k] > relative * largest) {
        for i in 0..n {
            for j in 0..n {
                inverse[i * n + j] += vectors[(i, k)] * vectors[(j, k)] / spectrum[k];
            }
        }
    }
    inverse
}

/// Return `A B`, row-major, `A` of `inner` columns.
pub fn product(a: &[f64], inner: usize, b: &[f64], dim: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(a.len() / inner * dim);
    for row in a.chunks(inner) {
        for j in 0..dim {
            out.push(row.iter().enumerate().map(|(k, &entry)| entry * b[k * dim + j]).sum());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::solve;

    /// Condition 2,000, and a matrix on which full pivoting goes wrong.
    #[test]
    fn solutions_solve() {
        let n = 7;
        let pairs = [(0, 2, 8.017_305e-4), (1, 4, 0.105_512_9), (2, 5, 0.021_346_3), (5, 6, 0.661_596_8)];
        let mut matrix = vec![0.0; n * n];
        for row in [1, 5] {
            let column = |j: usize| {
                let found = pairs.iter().find(|&&(a, b, _)| (a, b) == (row.min(j), row.max(j)));
                if j == row { 1.0 } else { found.map_or(0.0, |pair| pair.2) }
            };
            for (at, entry) in matrix.iter_mut().enumerate() {
                *entry += column(at / n) * column(at % n);
            }
        }
        (0..n).for_each(|i| matrix[i * (n + 1)] += 7e-4);
        let right = [0.774, 2.443, -1.115, -1.377, 2.088, -0.0898, -1.027];
        let x = solve(&matrix, n, &right);
        for (row, right) in matrix.chunks(n).zip(right) {
            let found: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((found - right).abs() < 1e-11, "{found} {right}");
        }
    }
}
