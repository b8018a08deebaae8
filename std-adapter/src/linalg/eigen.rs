//! Eigenvalues and eigenvectors of positive semidefinite matrices, singular values, and products.
//!
//! The operators and decompositions of faer's matrices split their work by the number of threads, and sum in
//! another order with each. These split it into [`PARTS`].

use crate::error::{Cause, Error};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Accum, Mat, MatRef, Par, diag::Diag, linalg::matmul::matmul};

/// Parts into which a matrix product is split. A constant, so that the last digits do not depend on the
/// number of threads.
pub(crate) const PARTS: usize = 8;

/// Multiply-adds below which a product is not split, and the order below which a matrix is decomposed by one
/// thread: the parts would wait for each other longer than they take.
const LARGE: usize = 1 << 22;
const LARGE_ORDER: usize = 256;

/// Split what is large into [`PARTS`].
fn split(large: bool) -> Par {
    if large { Par::rayon(PARTS) } else { Par::Seq }
}

/// Return the multiply-adds of `A B`.
fn work(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> usize {
    a.nrows().saturating_mul(a.ncols()).saturating_mul(b.ncols())
}

/// Return `A B`, summed in an order that does not depend on the threads.
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::<f64>::zeros(a.nrows(), b.ncols());
    matmul(product.as_mut(), Accum::Replace, a, b, 1.0, split(work(a, b) >= LARGE));
    product
}

/// Return `A B` on and below its diagonal, and zeros above, for half the work of [`product`].
pub(crate) fn lower_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::<f64>::zeros(a.nrows(), b.ncols());
    let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    let parallel = split(work(a, b) / 2 >= LARGE);
    triangular::matmul(product.as_mut(), lower, Accum::Replace, a, full, b, full, 1.0, parallel);
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
/// `ErrorKind::Landmarks`.
pub(crate) fn singular(matrix: MatRef<'_, f64>) -> Result<Singular, Error> {
    let (n, all) = (matrix.ncols(), ComputeSvdVectors::Full);
    let parallel = split(n >= LARGE_ORDER);
    let (mut left, mut right) = (Mat::zeros(n, n), Mat::zeros(n, n));
    let mut values = Diag::<f64>::zeros(n);
    let mut buffer = MemBuffer::new(svd_scratch::<f64>(n, n, all, all, parallel, Default::default()));
    let (u, v, stack) = (Some(left.as_mut()), Some(right.as_mut()), MemStack::new(&mut buffer));
    svd(matrix, values.as_mut(), u, v, parallel, stack, Default::default())
        .map_err(|_| Error(Cause::Eigenvalues))?;
    Ok(Singular { left, values: values.column_vector().iter().copied().collect(), right })
}

/// Return the numerical rank: how many of the descending eigenvalues exceed `n ε λ_1`.
pub fn rank(eigenvalues: &[f64]) -> usize {
    let largest = eigenvalues.first().copied().unwrap_or(0.0);
    let floor = eigenvalues.len() as f64 * f64::EPSILON * largest;
    eigenvalues.iter().take_while(|&&value| value > floor).count()
}

/// Eigenvalues in descending order, and the eigenvectors, one per column, in the same order.
///
/// ```
/// use dpp_nystrom::approximation::{Eigen, rank};
/// use dpp_nystrom::faer::mat;
///
/// let eigen = Eigen::of(&mat![[1.0, 1.0], [1.0, 1.0]])?;
/// assert!((eigen.values[0] - 2.0).abs() < 1e-12);
/// assert_eq!(rank(&eigen.values), 1);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Eigen {
    /// The eigenvalues, non-negative.
    pub values: Vec<f64>,
    /// The eigenvectors.
    pub vectors: Mat<f64>,
}

impl Eigen {
    /// Decompose a positive semidefinite matrix: `O(n³)`.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`.
    pub fn of(matrix: &Mat<f64>) -> Result<Self, Error> {
        eigen(matrix)
    }
}

/// Decompose a positive semidefinite matrix: `O(n³)`. Entries above its diagonal are not read.
pub(crate) fn eigen(matrix: &Mat<f64>) -> Result<Eigen, Error> {
    let (n, parameters, wanted) = (matrix.nrows(), Default::default(), ComputeEigenvectors::Yes);
    let parallel = split(n >= LARGE_ORDER);
    let mut buffer = MemBuffer::new(self_adjoint_evd_scratch::<f64>(n, wanted, parallel, parameters));
    let (mut values, mut vectors) = (Diag::<f64>::zeros(n), Mat::<f64>::zeros(n, n));
    let (stack, out) = (MemStack::new(&mut buffer), Some(vectors.as_mut()));
    self_adjoint_evd(matrix.as_ref(), values.as_mut(), out, parallel, stack, parameters)
        .map_err(|_| Error(Cause::Eigenvalues))?;
    // faer returns them ascending. Rounding can make the smallest slightly negative.
    let mut values: Vec<f64> = values.column_vector().iter().map(|value| value.max(0.0)).collect();
    values.reverse();
    Ok(Eigen { values, vectors: vectors.as_ref().reverse_cols().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::{eigen, lower_product, product};
    use faer::Mat;

    #[test]
    fn the_lower_half_is_enough() {
        let a = Mat::from_fn(40, 70, |i, j| ((i * 31 + j * 17) as f64 * 0.754_877_666).fract() - 0.5);
        let (whole, mut lower) =
            (product(a.as_ref(), a.transpose()), lower_product(a.as_ref(), a.transpose()));
        for j in 0..40 {
            assert!((0..j).all(|i| lower[(i, j)] == 0.0));
            assert!((j..40).all(|i| (lower[(i, j)] - whole[(i, j)]).abs() < 1e-13));
            (0..j).for_each(|i| lower[(i, j)] = f64::NAN);
        }
        let (found, expected) = (eigen(&lower).unwrap().values, eigen(&whole).unwrap().values);
        assert!(found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-12));
    }
}
