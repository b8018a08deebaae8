//! What a set of landmarks misses: trace, Frobenius and spectral error of `K - K̃`.

use crate::heap::zeros;
use crate::kernel_choice::ChosenKernel;
use crate::{Error, Heap};
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
use std::sync::Arc;

/// Rows to a task: sums are taken block by block, so that they do not depend on the threads.
const BLOCK: usize = 1_024;

/// Parts that a matrix is worked on in: a number that does not depend on the threads, since the
/// last digits depend on it.
pub(crate) const PARTS: usize = 8;

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
    missed(ground, ground, &landmarks)
}

/// [`trace_error`] of landmarks that are points of their own, as many features each as the rows.
///
/// # Errors
/// Those of [`trace_error`], [`Error::Core`].
pub fn trace_error_of_points(ground: &Ground<'_>, points: &[f64]) -> Result<TraceError, Error> {
    let home = Points::new(points, ground.features(), *ground.kernel())?;
    let mut memory = Heap::new(home.len())?;
    let landmarks = independent_points(&home, &mut memory)?;
    missed(ground, &home, &landmarks)
}

/// The trace error of landmarks that are rows of `home`.
fn missed(
    ground: &Ground<'_>,
    home: &Ground<'_>,
    landmarks: &Landmarks<'_, f64, Ground<'_>>,
) -> Result<TraceError, Error> {
    let nystrom = Nystrom::new(landmarks);
    let blocks: Vec<(f64, f64)> = (0..ground.len().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut phi = vec![0.0; nystrom.rank()];
            let (mut error, mut trace) = (0.0, 0.0);
            for row in block * BLOCK..ground.len().min((block + 1) * BLOCK) {
                home.column_at(ground.row(row), landmarks.members(), &mut phi);
                let diagonal = ground.diagonal(row);
                error += nystrom.residual_at(row, diagonal, &mut phi)?;
                trace += diagonal;
            }
            Ok((error, trace))
        })
        .collect::<Result<_, CoreError>>()
        .map_err(|reason| Error::Landmarks { reason })?;
    let error = blocks.iter().map(|block| block.0).sum();
    let trace: f64 = blocks.iter().map(|block| block.1).sum();
    Ok(TraceError { error, fraction: if trace > 0.0 { error / trace } else { 0.0 } })
}

/// The features `φ` of every row, a column a row, from landmarks that are rows of `home`.
pub(crate) fn features(
    ground: &Ground<'_>,
    home: &Ground<'_>,
    landmarks: &Landmarks<'_, f64, Ground<'_>>,
) -> Result<Mat<f64>, Error> {
    let nystrom = Nystrom::new(landmarks);
    let mut features = Mat::<f64>::zeros(nystrom.rank(), ground.len());
    features
        .par_col_iter_mut()
        .enumerate()
        .try_for_each(|(row, phi)| match phi.try_as_col_major_mut() {
            Some(phi) => {
                let phi = phi.as_slice_mut();
                home.column_at(ground.row(row), landmarks.members(), phi);
                nystrom.features_at(row, phi)
            }
            None => Ok(()),
        })
        .map_err(|reason| Error::Landmarks { reason })?;
    Ok(features)
}

/// The points of `home` that are independent of those before them.
pub(crate) fn independent_points<'a>(
    home: &'a Ground<'_>,
    memory: &'a mut Heap<f64>,
) -> Result<Landmarks<'a, f64, Ground<'a>>, Error> {
    independent(home, &(0..home.len()).collect::<Vec<_>>(), memory)
}

/// The landmarks that are independent of those before them.
pub(crate) fn independent<'a, T, G>(
    ground: &'a G,
    rows: &[usize],
    memory: &'a mut Heap<T>,
) -> Result<Landmarks<'a, T, G>, Error>
where
    T: dpp_nystrom_core::Scalar,
    G: GroundSet<T> + ?Sized,
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
    /// The spectrum of the kernel matrix over the ground set.
    ///
    /// # Errors
    /// [`Error::Landmarks`] where the matrix is not finite, [`Error::Memory`], [`Error::Eigenvalues`].
    pub fn of(ground: &Ground<'_>) -> Result<Self, Error> {
        Self::of_matrix(kernel_matrix(ground)?.into())
    }

    /// The spectrum of a kernel matrix.
    ///
    /// # Errors
    /// [`Error::Eigenvalues`].
    pub fn of_matrix(matrix: Arc<Mat<f64>>) -> Result<Self, Error> {
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
        let Some(best) = self.best(landmarks.len()) else { return Ok(None) };
        let mut memory = Heap::new(landmarks.len())?;
        let landmarks = independent(ground, landmarks, &mut memory)?;
        self.relative(&features(ground, ground, &landmarks)?, best).map(Some)
    }

    /// [`relative_error`](Self::relative_error) of landmarks that are points of their own.
    ///
    /// # Errors
    /// Those of [`relative_error`](Self::relative_error), [`Error::Core`].
    pub fn relative_error_of_points(
        &self,
        ground: &Ground<'_>,
        points: &[f64],
    ) -> Result<Option<RelativeError>, Error> {
        let home = Points::new(points, ground.features(), *ground.kernel())?;
        let Some(best) = self.best(home.len()) else { return Ok(None) };
        let mut memory = Heap::new(home.len())?;
        let landmarks = independent_points(&home, &mut memory)?;
        self.relative(&features(ground, &home, &landmarks)?, best).map(Some)
    }

    /// The errors of `FᵀF` relative to the best rank `c`, for features of every row, a column a row.
    pub(crate) fn relative_error_of(
        &self,
        features: &Mat<f64>,
        c: usize,
    ) -> Result<Option<RelativeError>, Error> {
        self.best(c).map(|best| self.relative(features, best)).transpose()
    }

    /// Frobenius and spectral error of the best rank `c`; none where `K` has no higher rank.
    fn best(&self, c: usize) -> Option<RelativeError> {
        let tail = self.eigenvalues.get(c..).unwrap_or(&[]);
        let spectral = tail.first().copied().unwrap_or(0.0);
        let frobenius = tail.iter().map(|value| value * value).sum::<f64>().sqrt();
        (rank(&self.eigenvalues) > c).then_some(RelativeError { frobenius, spectral })
    }

    /// The errors of `ΦᵀΦ` over the best ones.
    fn relative(&self, features: &Mat<f64>, best: RelativeError) -> Result<RelativeError, Error> {
        let norms = residual_norms(&self.matrix, features)?;
        Ok(RelativeError {
            frobenius: norms.frobenius / best.frobenius,
            spectral: norms.spectral / best.spectral,
        })
    }
}

/// `‖K - K̃‖_F` and `‖K - K̃‖_2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResidualNorms {
    pub(crate) frobenius: f64,
    pub(crate) spectral: f64,
}

/// A column of Nyström features `φ` for each row, `K̃ = ΦᵀΦ`, from landmarks that are rows of any ground set.
pub(crate) fn features_of<G>(ground: &G, landmarks: &[usize]) -> Result<Mat<f64>, Error>
where
    G: GroundSet<f64> + Sync + ?Sized,
{
    let mut memory = Heap::new(landmarks.len())?;
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
    Ok(features)
}

/// The norms of `K - ΦᵀΦ`: `n² c`, and `n²` numbers.
pub(crate) fn residual_norms(matrix: &Mat<f64>, features: &Mat<f64>) -> Result<ResidualNorms, Error> {
    let mut residual = matrix.clone();
    matmul(residual.as_mut(), Accum::Add, features.transpose(), features, -1.0, Par::rayon(PARTS));
    // Where nothing is missed, rounding leaves it a little under zero.
    let spectral = largest_eigenvalue(&residual)?.max(0.0);
    Ok(ResidualNorms { frobenius: residual.norm_l2(), spectral })
}

/// `A B`, in parts whose number does not depend on the threads.
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::<f64>::zeros(a.nrows(), b.ncols());
    matmul(product.as_mut(), Accum::Replace, a, b, 1.0, Par::rayon(PARTS));
    product
}

/// The whole matrix of a ground set.
///
/// # Errors
/// [`Error::Landmarks`] where it is empty or not finite, [`Error::Memory`].
pub(crate) fn kernel_matrix<G: GroundSet<f64> + Sync + ?Sized>(ground: &G) -> Result<Mat<f64>, Error> {
    let n = ground.len();
    if n == 0 {
        return Err(Error::Landmarks { reason: CoreError::Empty });
    }
    let mut entries = zeros(n * n, 0.0)?;
    entries
        .par_chunks_mut(n)
        .enumerate()
        .try_for_each(|(i, row)| {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = if i == j { ground.diagonal(i) } else { ground.entry(i, j) };
                if !entry.is_finite() {
                    return Err(CoreError::NotFinite { row: i, column: j });
                }
            }
            Ok(())
        })
        .map_err(|reason| Error::Landmarks { reason })?;
    Ok(MatRef::from_row_major_slice(&entries, n, n).to_owned())
}

/// The number of eigenvalues, descending, that are more than rounding: over `n ε λ_1`.
pub(crate) fn rank(eigenvalues: &[f64]) -> usize {
    let largest = eigenvalues.first().copied().unwrap_or(0.0);
    let floor = eigenvalues.len() as f64 * f64::EPSILON * largest;
    eigenvalues.iter().take_while(|&&value| value > floor).count()
}

/// Eigenvalues, descending, and the eigenvectors in the same order, one a column.
#[derive(Clone, Debug)]
pub struct Eigen {
    /// The eigenvalues, not under zero.
    pub values: Vec<f64>,
    /// The eigenvectors.
    pub vectors: Mat<f64>,
}

/// All of a positive semidefinite matrix: `O(n³)`.
pub(crate) fn eigen(matrix: &Mat<f64>) -> Result<Eigen, Error> {
    let n = matrix.nrows();
    let mut vectors = Mat::<f64>::zeros(n, n);
    let mut values = decompose(matrix, Some(&mut vectors))?;
    // They come ascending.
    values.reverse();
    let vectors = vectors.as_ref().reverse_cols().to_owned();
    Ok(Eigen { values, vectors })
}

/// The eigenvalues of a positive semidefinite matrix, descending.
pub(crate) fn eigenvalues(matrix: &Mat<f64>) -> Result<Vec<f64>, Error> {
    let mut values = decompose(matrix, None)?;
    values.sort_unstable_by(|x, y| y.total_cmp(x));
    Ok(values)
}

/// The eigenvalues of a positive semidefinite matrix, ascending, and into `vectors` the eigenvectors.
fn decompose(matrix: &Mat<f64>, vectors: Option<&mut Mat<f64>>) -> Result<Vec<f64>, Error> {
    let (n, parallel) = (matrix.nrows(), Par::rayon(PARTS));
    let parameters = Default::default();
    let wanted = if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let mut buffer = MemBuffer::new(self_adjoint_evd_scratch::<f64>(n, wanted, parallel, parameters));
    let mut values = Diag::<f64>::zeros(n);
    let (matrix, vectors) = (matrix.as_ref(), vectors.map(Mat::as_mut));
    self_adjoint_evd(matrix, values.as_mut(), vectors, parallel, MemStack::new(&mut buffer), parameters)
        .map_err(|_| Error::Eigenvalues)?;
    // Rounding leaves the least ones a little under zero.
    Ok(values.column_vector().iter().map(|value| value.max(0.0)).collect())
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
