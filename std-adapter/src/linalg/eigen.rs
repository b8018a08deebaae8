//! Eigenvalues and eigenvectors of positive semidefinite matrices, singular values, and products.
//!
//! The operators and decompositions of faer's matrices split their work by the number of threads, and sum in another order with each.
//! These split it into [`PARTS`].

use crate::error::Error;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::matrix_free::eigen::{
    PartialEigenParams, partial_self_adjoint_eigen, partial_self_adjoint_eigen_scratch,
};
use faer::{Accum, Col, Mat, MatRef, Par, diag::Diag, linalg::matmul::matmul};

/// Parts into which a matrix product is split. A constant, so that the last digits do not depend on the number
/// of threads.
pub(crate) const PARTS: usize = 8;

/// Relative tolerance of an iterative eigenvalue, far below the errors of sampling.
const SPECTRAL_TOLERANCE: f64 = 1e-8;

/// Matrices up to this order are decomposed in full, which is as fast; `faer`'s iteration needs an order of
/// at least 65.
const SMALL: usize = 128;

/// Return `A B`, summed in an order that does not depend on the threads.
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::<f64>::zeros(a.nrows(), b.ncols());
    matmul(product.as_mut(), Accum::Replace, a, b, 1.0, Par::rayon(PARTS));
    product
}

/// The decomposition `U S Vᵀ` of a square matrix, with descending singular values.
pub(crate) struct Singular {
    pub(crate) left: Mat<f64>,
    pub(crate) values: Vec<f64>,
    pub(crate) right: Mat<f64>,
}

/// Decompose a square matrix: `O(n³)`.
///
/// # Errors
/// [`Error::Eigenvalues`].
pub(crate) fn singular(matrix: MatRef<'_, f64>) -> Result<Singular, Error> {
    let (n, parallel, all) = (matrix.ncols(), Par::rayon(PARTS), ComputeSvdVectors::Full);
    let (mut left, mut right) = (Mat::zeros(n, n), Mat::zeros(n, n));
    let mut values = Diag::<f64>::zeros(n);
    let mut buffer = MemBuffer::new(svd_scratch::<f64>(n, n, all, all, parallel, Default::default()));
    let (u, v, stack) = (Some(left.as_mut()), Some(right.as_mut()), MemStack::new(&mut buffer));
    svd(matrix, values.as_mut(), u, v, parallel, stack, Default::default())
        .map_err(|_| Error::Eigenvalues)?;
    Ok(Singular { left, values: values.column_vector().iter().copied().collect(), right })
}

/// Return the numerical rank: how many of the descending eigenvalues exceed `n ε λ_1`.
pub(crate) fn rank(eigenvalues: &[f64]) -> usize {
    let largest = eigenvalues.first().copied().unwrap_or(0.0);
    let floor = eigenvalues.len() as f64 * f64::EPSILON * largest;
    eigenvalues.iter().take_while(|&&value| value > floor).count()
}

/// Eigenvalues in descending order, and the eigenvectors, one per column, in the same order.
#[derive(Clone, Debug)]
pub struct Eigen {
    /// The eigenvalues, non-negative.
    pub values: Vec<f64>,
    /// The eigenvectors.
    pub vectors: Mat<f64>,
}

/// Decompose a positive semidefinite matrix: `O(n³)`.
pub(crate) fn eigen(matrix: &Mat<f64>) -> Result<Eigen, Error> {
    let n = matrix.nrows();
    let mut vectors = Mat::<f64>::zeros(n, n);
    let mut values = decompose(matrix, Some(&mut vectors))?;
    // faer returns them ascending.
    values.reverse();
    let vectors = vectors.as_ref().reverse_cols().to_owned();
    Ok(Eigen { values, vectors })
}

/// Return the eigenvalues of a positive semidefinite matrix in descending order.
pub(crate) fn eigenvalues(matrix: &Mat<f64>) -> Result<Vec<f64>, Error> {
    let mut values = decompose(matrix, None)?;
    values.sort_unstable_by(|x, y| y.total_cmp(x));
    Ok(values)
}

/// Return the eigenvalues of a positive semidefinite matrix in ascending order; write the eigenvectors to
/// `vectors`.
fn decompose(matrix: &Mat<f64>, vectors: Option<&mut Mat<f64>>) -> Result<Vec<f64>, Error> {
    let (n, parallel) = (matrix.nrows(), Par::rayon(PARTS));
    let parameters = Default::default();
    let wanted = if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let mut buffer = MemBuffer::new(self_adjoint_evd_scratch::<f64>(n, wanted, parallel, parameters));
    let mut values = Diag::<f64>::zeros(n);
    let (matrix, vectors) = (matrix.as_ref(), vectors.map(Mat::as_mut));
    self_adjoint_evd(matrix, values.as_mut(), vectors, parallel, MemStack::new(&mut buffer), parameters)
        .map_err(|_| Error::Eigenvalues)?;
    // Rounding can make the smallest slightly negative.
    Ok(values.column_vector().iter().map(|value| value.max(0.0)).collect())
}

/// Return the largest eigenvalue of a positive semidefinite matrix.
pub(crate) fn largest_eigenvalue(matrix: &Mat<f64>) -> Result<f64, Error> {
    let n = matrix.nrows();
    let full = || Ok(eigenvalues(matrix)?.first().copied().unwrap_or(0.0));
    if n <= SMALL {
        return full();
    }
    let parameters = PartialEigenParams::default();
    let parallel = Par::rayon(PARTS);
    let mut vectors = Mat::<f64>::zeros(n, 1);
    let mut values = [0.0];
    // A start vector that no symmetry of the rows makes orthogonal to the eigenvector.
    let start = Col::from_fn(n, |i| 1.0 / ((i % 17 + 1) as f64).sqrt());
    let start = &start / start.norm_l2();
    let mut buffer =
        MemBuffer::new(partial_self_adjoint_eigen_scratch(&matrix.as_ref(), 1, parallel, parameters));
    let found = partial_self_adjoint_eigen(
        vectors.as_mut(),
        &mut values,
        &matrix.as_ref(),
        start.as_ref(),
        SPECTRAL_TOLERANCE,
        parallel,
        MemStack::new(&mut buffer),
        parameters,
    );
    // Fall back to the full decomposition where the iteration has not converged.
    if found.n_converged_eigen == 1 { Ok(values[0]) } else { full() }
}
