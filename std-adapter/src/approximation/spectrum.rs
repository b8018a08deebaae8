//! Frobenius and spectral errors relative to the best approximation of the same rank.

use crate::approximation::features::{Ground, features_of, kernel_matrix};
use crate::error::Error;
use crate::linalg::eigen::{PARTS, eigenvalues, largest_eigenvalue, rank};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use std::sync::Arc;

/// The kernel matrix of all rows and its eigenvalues: `n²` numbers, computed once in `O(n³)`.
#[derive(Debug)]
pub struct Spectrum {
    matrix: Arc<Mat<f64>>,
    /// Descending.
    eigenvalues: Vec<f64>,
}

/// Errors relative to the best approximation of the same rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeError {
    /// `‖K - K̃‖_F / ‖K - K_k‖_F`.
    pub frobenius: f64,
    /// `‖K - K̃‖_2 / ‖K - K_k‖_2`.
    pub spectral: f64,
}

impl Spectrum {
    /// Compute the spectrum of the kernel matrix over the ground set.
    ///
    /// # Errors
    /// [`Error::Landmarks`] if the matrix is not finite, [`Error::Memory`], [`Error::Eigenvalues`].
    pub fn of(ground: &Ground<'_>) -> Result<Self, Error> {
        Self::of_matrix(kernel_matrix(ground)?.into())
    }

    /// Compute the spectrum of a kernel matrix.
    ///
    /// # Errors
    /// [`Error::Eigenvalues`].
    pub fn of_matrix(matrix: Arc<Mat<f64>>) -> Result<Self, Error> {
        let eigenvalues = eigenvalues(&matrix)?;
        Ok(Self { matrix, eigenvalues })
    }

    /// Return the eigenvalues of `K`, in descending order.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// Measure the errors of these landmarks relative to the best rank `k = c`.
    ///
    /// Returns `None` if `K` has no higher rank up to rounding, `σ_{c+1} <= n ε σ_1`, where the ratio would be 0/0.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Memory`].
    pub fn relative_error(
        &self,
        ground: &Ground<'_>,
        landmarks: &[usize],
    ) -> Result<Option<RelativeError>, Error> {
        self.relative_error_of(landmarks.len(), || features_of(ground, landmarks))
    }

    /// Measure the errors of `ΦᵀΦ` relative to the best rank `c`, for features given as one column per row.
    pub(crate) fn relative_error_of(
        &self,
        c: usize,
        features: impl FnOnce() -> Result<Mat<f64>, Error>,
    ) -> Result<Option<RelativeError>, Error> {
        let Some(best) = self.best(c) else { return Ok(None) };
        let norms = residual_norms(&self.matrix, &features()?)?;
        Ok(Some(RelativeError {
            frobenius: norms.frobenius / best.frobenius,
            spectral: norms.spectral / best.spectral,
        }))
    }

    /// Return the Frobenius and spectral error of the best rank `c`; `None` if `K` has no higher rank.
    fn best(&self, c: usize) -> Option<ResidualNorms> {
        let tail = self.eigenvalues.get(c..).unwrap_or(&[]);
        let spectral = tail.first().copied().unwrap_or(0.0);
        let frobenius = tail.iter().map(|value| value * value).sum::<f64>().sqrt();
        (rank(&self.eigenvalues) > c).then_some(ResidualNorms { frobenius, spectral })
    }
}

/// `‖K - K̃‖_F` and `‖K - K̃‖_2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResidualNorms {
    pub(crate) frobenius: f64,
    pub(crate) spectral: f64,
}

/// Compute the norms of `K - ΦᵀΦ`: `n² c` multiply-adds, and `n²` numbers.
pub(crate) fn residual_norms(matrix: &Mat<f64>, features: &Mat<f64>) -> Result<ResidualNorms, Error> {
    let mut residual = matrix.clone();
    matmul(residual.as_mut(), Accum::Add, features.transpose(), features, -1.0, Par::rayon(PARTS));
    // Rounding can make a zero error slightly negative.
    let spectral = largest_eigenvalue(&residual)?.max(0.0);
    Ok(ResidualNorms { frobenius: residual.norm_l2(), spectral })
}

/// The maximum number of training rows for which the kernel matrix and its eigenvalues are computed.
pub const SPECTRUM_ROWS: usize = 10_000;

/// Return `Error::SpectrumRows` for more than [`SPECTRUM_ROWS`] rows.
pub(crate) fn check_rows(rows: usize) -> Result<(), Error> {
    if rows > SPECTRUM_ROWS { Err(Error::SpectrumRows { rows, most: SPECTRUM_ROWS }) } else { Ok(()) }
}
