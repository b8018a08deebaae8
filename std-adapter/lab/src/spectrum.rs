//! Frobenius and spectral errors relative to the best approximation of the same rank.

use crate::linalg::PARTS;
use dpp_nystrom::approximation::{Gram, LandmarkSet, rank};
use dpp_nystrom::core::GroundSet;
use dpp_nystrom::faer::dyn_stack::{MemBuffer, MemStack};
use dpp_nystrom::faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use dpp_nystrom::faer::linalg::matmul::matmul;
use dpp_nystrom::faer::matrix_free::eigen::{
    PartialEigenParams, partial_self_adjoint_eigen, partial_self_adjoint_eigen_scratch,
};
use dpp_nystrom::faer::{Accum, Col, Mat, Par, diag::Diag};
use dpp_nystrom::landmarks::expected_trace_error;
use dpp_nystrom::{Error, ErrorKind};
use std::sync::Arc;

/// Relative tolerance of an iterative eigenvalue, far below the errors of sampling.
const SPECTRAL_TOLERANCE: f64 = 1e-8;

/// Matrices up to this order are decomposed in full, which is as fast; `faer`'s iteration needs an order of
/// at least 65.
const SMALL: usize = 128;

/// The kernel matrix of all rows and its eigenvalues: `n²` numbers, computed once in `O(n³)`.
#[derive(Debug)]
pub struct Spectrum {
    matrix: Arc<Mat<f64>>,
    /// Descending.
    eigenvalues: Vec<f64>,
}

/// The norms of an error matrix, or their ratios to those of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norms {
    /// In the Frobenius norm.
    pub frobenius: f64,
    /// In the spectral norm.
    pub spectral: f64,
}

impl Norms {
    /// Return `‖K - K_k‖`, the error of the best rank `k`, from the eigenvalues of `K` in descending order;
    /// for `k = 0`, `‖K‖`.
    pub fn best(eigenvalues: &[f64], k: usize) -> Self {
        let tail = eigenvalues.get(k..).unwrap_or(&[]);
        Self {
            frobenius: tail.iter().map(|value| value * value).sum::<f64>().sqrt(),
            spectral: tail.first().copied().unwrap_or(0.0),
        }
    }

    /// Compute the norms of `K - ΦᵀΦ`, for features given as one column per row: `n² c` multiply-adds, and
    /// `n²` numbers.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`.
    pub fn of_residual(matrix: &Mat<f64>, features: &Mat<f64>) -> Result<Self, Error> {
        let mut residual = matrix.clone();
        matmul(residual.as_mut(), Accum::Add, features.transpose(), features, -1.0, Par::rayon(PARTS));
        // Rounding can make a zero error slightly negative.
        let spectral = largest_eigenvalue(&residual)?.max(0.0);
        Ok(Self { frobenius: residual.norm_l2(), spectral })
    }

    /// Divide each norm by that of `other`.
    pub fn relative_to(self, other: Self) -> Self {
        Self { frobenius: self.frobenius / other.frobenius, spectral: self.spectral / other.spectral }
    }
}

impl Spectrum {
    /// Compute the spectrum of the kernel matrix over the ground set.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks` if the matrix is not finite, `ErrorKind::Memory`, `ErrorKind::Landmarks`.
    pub fn of(ground: &(dyn GroundSet<f64> + Sync)) -> Result<Self, Error> {
        Self::of_matrix(Arc::clone(Gram::over(ground, None).matrix()?))
    }

    /// Compute the spectrum of a kernel matrix.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`.
    pub fn of_matrix(matrix: Arc<Mat<f64>>) -> Result<Self, Error> {
        let eigenvalues = eigenvalues(&matrix)?;
        Ok(Self { matrix, eigenvalues })
    }

    /// Return the eigenvalues of `K`, in descending order.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// Return the expected trace error of a c-DPP over the trace; none if `K` has a lower rank.
    pub fn expected_trace_fraction(&self, c: usize) -> Option<f64> {
        let trace: f64 = self.eigenvalues.iter().sum();
        expected_trace_error(&self.eigenvalues, c).map(|error| error / trace)
    }

    /// Measure `‖K - K̃‖ / ‖K - K_c‖`, the errors of `c` landmarks among these rows relative to the best rank
    /// `c`.
    ///
    /// Returns `None` if `K` has no higher rank up to rounding, `λ_{c+1} <= n ε λ_1`, where the ratio would
    /// be 0/0.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`, `ErrorKind::Argument`, `ErrorKind::Memory`.
    pub fn relative_error(&self, gram: &Gram<'_>, landmarks: &LandmarkSet) -> Result<Option<Norms>, Error> {
        let count = match landmarks {
            LandmarkSet::Indices(rows) => rows.len(),
            LandmarkSet::Points(_) => landmarks.count(gram.data()?.dim()),
        };
        self.relative_error_of(count, || gram.features(landmarks))
    }

    /// Measure the errors of `ΦᵀΦ` relative to the best rank `c`, for features given as one column per row;
    /// `None` as for [`relative_error`](Self::relative_error).
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`, those of `features`.
    pub fn relative_error_of(
        &self,
        c: usize,
        features: impl FnOnce() -> Result<Mat<f64>, Error>,
    ) -> Result<Option<Norms>, Error> {
        if rank(&self.eigenvalues) <= c {
            return Ok(None);
        }
        let norms = Norms::of_residual(&self.matrix, &features()?)?;
        Ok(Some(norms.relative_to(Norms::best(&self.eigenvalues, c))))
    }
}

/// Return the eigenvalues of a positive semidefinite matrix in descending order.
fn eigenvalues(matrix: &Mat<f64>) -> Result<Vec<f64>, Error> {
    let (n, parallel, parameters) = (matrix.nrows(), Par::rayon(PARTS), Default::default());
    let wanted = ComputeEigenvectors::No;
    let mut buffer = MemBuffer::new(self_adjoint_evd_scratch::<f64>(n, wanted, parallel, parameters));
    let mut values = Diag::<f64>::zeros(n);
    let stack = MemStack::new(&mut buffer);
    self_adjoint_evd(matrix.as_ref(), values.as_mut(), None, parallel, stack, parameters).map_err(|_| {
        Error::new(
            ErrorKind::Landmarks,
            "the eigenvalues of the kernel matrix did not converge; try another bandwidth or other rows",
        )
    })?;
    // Rounding can make the smallest slightly negative.
    let mut values: Vec<f64> = values.column_vector().iter().map(|value| value.max(0.0)).collect();
    values.sort_unstable_by(|x, y| y.total_cmp(x));
    Ok(values)
}

/// Return the largest eigenvalue of a positive semidefinite matrix.
fn largest_eigenvalue(matrix: &Mat<f64>) -> Result<f64, Error> {
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
