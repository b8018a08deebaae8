//! What a set of landmarks misses: trace, Frobenius and spectral error of `K - K̃`.

use crate::heap::zeros;
use crate::kernel_choice::ChosenKernel;
use crate::{Error, Heap};
use dpp_nystrom_core::kernel::Kernel;
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Nystrom, Points};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::matrix_free::eigen::{
    PartialEigenParams, partial_self_adjoint_eigen, partial_self_adjoint_eigen_scratch,
};
use faer::{Accum, Col, Mat, MatRef, Par};
use rayon::prelude::*;

/// Rows to a task: sums are taken block by block, so that they do not depend on the threads.
const BLOCK: usize = 1_024;

/// Parts that a matrix is worked on in: a number that does not depend on the threads, since the
/// last digits depend on it.
const PARTS: usize = 8;

/// Relative: far under what a sampled figure can show.
const SPECTRAL_TOLERANCE: f64 = 1e-8;

/// Matrices up to this order give all their eigenvalues as fast as one; faer's iteration has no
/// room under an order of 65.
const SMALL: usize = 128;

/// The ground set on which errors are measured: `f64`, whatever precision selected.
pub type Ground<'a> = Points<'a, f64, ChosenKernel<f64>>;

/// `tr(K - K̃)` and its share of `tr K`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceError {
    /// `tr(K - K̃)`.
    pub error: f64,
    /// `tr(K - K̃) / tr K`.
    pub fraction: f64,
}

/// The trace error of these landmarks, by one pass over the rows on all threads. Landmarks that
/// depend on those before them are left out, as the pseudo-inverse has it.
///
/// # Errors
/// [`Error::Landmarks`], [`Error::Memory`].
pub fn trace_error(ground: &Ground<'_>, landmarks: &[usize]) -> Result<TraceError, Error> {
    let mut memory = Heap::new(landmarks.len())?;
    let landmarks = independent(ground, landmarks, &mut memory)?;
    let nystrom = Nystrom::new(&landmarks);
    let blocks: Vec<(f64, f64)> = (0..ground.len().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut phi = vec![0.0; nystrom.rank()];
            let (mut error, mut trace) = (0.0, 0.0);
            for row in block * BLOCK..ground.len().min((block + 1) * BLOCK) {
                error += nystrom.residual(row, &mut phi)?;
                trace += ground.diagonal(row);
            }
            Ok((error, trace))
        })
        .collect::<Result<_, CoreError>>()
        .map_err(|reason| Error::Landmarks { reason })?;
    let error = blocks.iter().map(|block| block.0).sum();
    let trace: f64 = blocks.iter().map(|block| block.1).sum();
    Ok(TraceError { error, fraction: if trace > 0.0 { error / trace } else { 0.0 } })
}

/// The landmarks that are independent of those before them.
pub(crate) fn independent<'a, T, K>(
    ground: &'a Points<'_, T, K>,
    rows: &[usize],
    memory: &'a mut Heap<T>,
) -> Result<Landmarks<'a, T, Points<'a, T, K>>, Error>
where
    T: dpp_nystrom_core::Scalar,
    K: Kernel<T>,
{
    let mut landmarks =
        Landmarks::new(ground, memory.lend()).map_err(|reason| Error::Landmarks { reason })?;
    for &row in rows {
        match landmarks.push(row) {
            Ok(()) | Err(CoreError::NotPositive { .. }) => {}
            Err(reason) => return Err(Error::Landmarks { reason }),
        }
    }
    if landmarks.is_empty() {
        let reason = CoreError::RankDeficient { rank: 0, landmarks: rows.len() };
        return Err(Error::Landmarks { reason });
    }
    Ok(landmarks)
}

/// The kernel matrix of all rows and its eigenvalues: `n²` numbers, and `O(n³)` once.
#[derive(Debug)]
pub struct Spectrum {
    matrix: Mat<f64>,
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
    /// The spectrum of the kernel matrix over the ground set.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Eigenvalues`].
    pub fn of(ground: &Ground<'_>) -> Result<Self, Error> {
        let n = ground.len();
        let mut entries = zeros(n * n, 0.0)?;
        entries.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = ground.entry(i, j);
            }
        });
        let matrix = MatRef::from_row_major_slice(&entries, n, n).to_owned();
        drop(entries);
        let eigenvalues = eigenvalues(&matrix)?;
        Ok(Self { matrix, eigenvalues })
    }

    /// The eigenvalues of `K`, descending.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// The errors of these landmarks relative to the best rank `k = c`; none where `K` has no
    /// higher rank, up to rounding: `σ_{c+1} <= n ε σ_1`, and 0/0 tells nothing.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Memory`].
    pub fn relative_error(
        &self,
        ground: &Ground<'_>,
        landmarks: &[usize],
    ) -> Result<Option<RelativeError>, Error> {
        let c = landmarks.len();
        let tail = self.eigenvalues.get(c..).unwrap_or(&[]);
        let best_frobenius = tail.iter().map(|value| value * value).sum::<f64>().sqrt();
        let best_spectral = tail.first().copied().unwrap_or(0.0);
        let largest = self.eigenvalues.first().copied().unwrap_or(0.0);
        if !(best_spectral > self.eigenvalues.len() as f64 * f64::EPSILON * largest) {
            return Ok(None);
        }
        let mut memory = Heap::new(c)?;
        let landmarks = independent(ground, landmarks, &mut memory)?;
        let nystrom = Nystrom::new(&landmarks);
        let mut features = Mat::<f64>::zeros(nystrom.rank(), ground.len());
        features
            .par_col_iter_mut()
            .enumerate()
            .try_for_each(|(row, phi)| match phi.try_as_col_major_mut() {
                Some(phi) => nystrom.features(row, phi.as_slice_mut()),
                None => Ok(()),
            })
            .map_err(|reason| Error::Landmarks { reason })?;
        let mut residual = self.matrix.clone();
        matmul(residual.as_mut(), Accum::Add, features.transpose(), &features, -1.0, Par::rayon(PARTS));
        Ok(Some(RelativeError {
            frobenius: residual.norm_l2() / best_frobenius,
            spectral: largest_eigenvalue(&residual)? / best_spectral,
        }))
    }
}

/// The eigenvalues of a positive semidefinite matrix, descending.
fn eigenvalues(matrix: &Mat<f64>) -> Result<Vec<f64>, Error> {
    let (n, parallel) = (matrix.nrows(), Par::rayon(PARTS));
    let parameters = Default::default();
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::No, parallel, parameters);
    let mut buffer = MemBuffer::new(scratch);
    let mut values = Diag::<f64>::zeros(n);
    let matrix = matrix.as_ref();
    self_adjoint_evd(matrix, values.as_mut(), None, parallel, MemStack::new(&mut buffer), parameters)
        .map_err(|_| Error::Eigenvalues)?;
    // Rounding leaves the least ones a little under zero.
    let mut values: Vec<f64> = values.column_vector().iter().map(|value| value.max(0.0)).collect();
    values.sort_unstable_by(|x, y| y.total_cmp(x));
    Ok(values)
}

/// The largest eigenvalue of a positive semidefinite matrix.
fn largest_eigenvalue(matrix: &Mat<f64>) -> Result<f64, Error> {
    let n = matrix.nrows();
    let slow_road = || Ok(eigenvalues(matrix)?.first().copied().unwrap_or(0.0));
    if n <= SMALL {
        return slow_road();
    }
    let parameters = PartialEigenParams::default();
    let parallel = Par::rayon(PARTS);
    let mut vectors = Mat::<f64>::zeros(n, 1);
    let mut values = [0.0];
    // A start that no symmetry of the rows makes orthogonal to the vector sought.
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
    // Not found within the restarts: all of them.
    if found.n_converged_eigen == 1 { Ok(values[0]) } else { slow_road() }
}
