//! Frobenius and spectral errors relative to the best approximation of the same rank.

use crate::approximation::features::{features_of, kernel_matrix};
use crate::error::Error;
use crate::linalg::eigen::{PARTS, eigenvalues, largest_eigenvalue, rank};
use crate::linalg::expected_trace_error;
use dpp_nystrom_core::GroundSet;
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

/// The norms of an error matrix, or their ratios to those of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norms {
    /// In the Frobenius norm.
    pub frobenius: f64,
    /// In the spectral norm.
    pub spectral: f64,
}

impl Norms {
    /// Return `‖K - K_k‖`, the error of the best rank `k`, from the eigenvalues of `K` in descending order; for `k = 0`,
    /// `‖K‖`.
    pub fn best(eigenvalues: &[f64], k: usize) -> Self {
        let tail = eigenvalues.get(k..).unwrap_or(&[]);
        Self {
            frobenius: tail.iter().map(|value| value * value).sum::<f64>().sqrt(),
            spectral: tail.first().copied().unwrap_or(0.0),
        }
    }

    /// Compute the norms of `K - ΦᵀΦ`, for features given as one column per row: `n² c` multiply-adds, and `n²` numbers.
    ///
    /// # Errors
    /// [`Error::Eigenvalues`].
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
    /// [`Error::Landmarks`] if the matrix is not finite, [`Error::Memory`], [`Error::Eigenvalues`].
    pub fn of(ground: &(impl GroundSet<f64> + Sync + ?Sized)) -> Result<Self, Error> {
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

    /// Check that there are at most [`SPECTRUM_ROWS`] rows.
    ///
    /// # Errors
    /// [`Error::SpectrumRows`].
    pub fn check_rows(rows: usize) -> Result<(), Error> {
        if rows > SPECTRUM_ROWS { Err(Error::SpectrumRows { rows, most: SPECTRUM_ROWS }) } else { Ok(()) }
    }

    /// Return the expected trace error of a c-DPP, `(c + 1) e_{c+1} / e_c`; none if `K` has a lower rank.
    pub fn expected_trace_error(&self, c: usize) -> Option<f64> {
        expected_trace_error(&self.eigenvalues, c)
    }

    /// Return the eigenvalues of `K`, in descending order.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// Measure `‖K - K̃‖ / ‖K - K_c‖`, the errors of these `c` landmarks relative to the best rank `c`.
    ///
    /// Returns `None` if `K` has no higher rank up to rounding, `λ_{c+1} <= n ε λ_1`, where the ratio would be 0/0.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Memory`].
    pub fn relative_error(
        &self,
        ground: &(impl GroundSet<f64> + Sync + ?Sized),
        landmarks: &[usize],
    ) -> Result<Option<Norms>, Error> {
        self.relative_error_of(landmarks.len(), || features_of(ground, landmarks))
    }

    /// Measure the errors of `ΦᵀΦ` relative to the best rank `c`, for features given as one column per row; `None` as for
    /// [`relative_error`](Self::relative_error).
    ///
    /// # Errors
    /// [`Error::Eigenvalues`], those of `features`.
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

/// The maximum number of training rows for which the kernel matrix and its eigenvalues are computed.
pub const SPECTRUM_ROWS: usize = 10_000;
