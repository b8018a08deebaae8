//! Rows under a kernel, with a lazily computed, cached kernel matrix and eigendecomposition.

use crate::approximation::{
    errors::TraceError, errors::trace_error, errors::trace_error_of_points, features::features_of,
    features::features_of_points, features::kernel_matrix, ground::AnyGround, ground::Ground,
    landmark_set::LandmarkSet,
};
use crate::data::{prepared::Prepared, prepared::StandardTarget, weights::Weights};
use crate::error::{Cause, Error};
use crate::kernel::spec::KernelSpec;
use crate::linalg::eigen::{Eigen, eigen};
use dpp_nystrom_core::{GroundSet, Points};
use faer::Mat;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The maximum number of rows for which the kernel matrix and its eigenvalues are computed.
pub const SPECTRUM_ROWS: usize = 10_000;

/// Prepared rows under a kernel with its bandwidth.
///
/// ```
/// use dpp_nystrom::approximation::Gram;
/// use dpp_nystrom::core::Matrix;
///
/// let matrix = Matrix::new(&[2.0, 1.0, 1.0, 2.0])?;
/// let gram = Gram::over(&matrix, None);
/// assert_eq!((gram.len(), gram.matrix()?[(0, 1)]), (2, 1.0));
/// assert!((gram.eigen()?.values[0] - 3.0).abs() < 1e-12);
/// assert!(gram.kernel().is_err()); // that of a matrix is not known
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
pub struct Gram<'a> {
    data: Option<&'a Prepared>,
    /// `None` for a user-defined kernel or a kernel matrix.
    kernel: Option<KernelSpec>,
    ground: AnyGround<'a>,
    matrix: Kept<Arc<Mat<f64>>>,
    eigen: Kept<Arc<Eigen>>,
}

/// A lazily computed value, its computation time in seconds, and whether it was requested since
/// [`open`](Self::open).
#[derive(Debug)]
struct Kept<T> {
    value: OnceLock<(T, f64)>,
    asked: AtomicBool,
}

/// The values that were already computed when a method started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    matrix: bool,
    eigen: bool,
}

impl<T> Kept<T> {
    fn new() -> Self {
        Self { value: OnceLock::new(), asked: AtomicBool::new(false) }
    }

    fn get(&self, compute: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
        self.asked.store(true, Ordering::Relaxed);
        if let Some((value, _)) = self.value.get() {
            return Ok(value);
        }
        let begin = Instant::now();
        let computed = compute()?;
        Ok(&self.value.get_or_init(|| (computed, begin.elapsed().as_secs_f64())).0)
    }

    /// Return whether the value is already computed, and reset the record of requests.
    fn open(&self) -> bool {
        self.asked.store(false, Ordering::Relaxed);
        self.value.get().is_some()
    }

    fn cached_seconds(&self, was_there: bool) -> f64 {
        match self.value.get() {
            Some(&(_, seconds)) if was_there && self.asked.load(Ordering::Relaxed) => seconds,
            _ => 0.0,
        }
    }
}

impl<'a> Gram<'a> {
    /// Combine rows with a kernel, without computing anything yet.
    ///
    /// # Errors
    /// `ErrorKind::Argument`.
    pub fn new(data: &'a Prepared, kernel: KernelSpec) -> Result<Self, Error> {
        let ground = AnyGround::Points(data.ground(kernel)?);
        Ok(Self { data: Some(data), kernel: Some(kernel), ground, matrix: Kept::new(), eigen: Kept::new() })
    }

    /// Take any ground set, and the rows it is over for their target.
    pub fn over(ground: &'a (dyn GroundSet<f64> + Sync), data: Option<&'a Prepared>) -> Self {
        Self { data, ..Self::of(AnyGround::Entries(ground)) }
    }

    /// Take any ground set, of which nothing else is known.
    pub(crate) fn of(ground: AnyGround<'a>) -> Self {
        Self { data: None, kernel: None, ground, matrix: Kept::new(), eigen: Kept::new() }
    }

    /// Return the index of the row with this number in the file; none if it is not among the rows.
    pub(crate) fn row_of(&self, number: usize) -> Option<usize> {
        match self.data {
            Some(data) => data.row_of(number),
            None => (number < self.len()).then_some(number),
        }
    }

    /// Return the number in the file of a row.
    pub(crate) fn number(&self, row: usize) -> usize {
        self.data.map_or(row, |data| data.number(row))
    }

    /// Return the rows with their coordinates, which k-means and errors of points need.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported` for a user-defined kernel or a kernel matrix.
    pub fn data(&self) -> Result<&'a Prepared, Error> {
        self.data.filter(|_| self.kernel.is_some()).ok_or_else(no_coordinates)
    }

    /// Return the target if it varies.
    ///
    /// # Errors
    /// `ErrorKind::Data` for no target or a constant one.
    pub fn target(&self) -> Result<&'a StandardTarget, Error> {
        self.data.ok_or(Error(Cause::NoTarget))?.learnable()
    }

    /// Return the weights of the rows.
    pub(crate) fn weights(&self) -> Weights<'a> {
        self.data.map_or(Weights::default(), Prepared::weights)
    }

    /// Return the kernel with its bandwidth.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported` for a user-defined kernel or a kernel matrix.
    pub fn kernel(&self) -> Result<KernelSpec, Error> {
        self.kernel.ok_or_else(no_coordinates)
    }

    /// Return the rows as a ground set.
    pub fn ground(&self) -> &AnyGround<'a> {
        &self.ground
    }

    /// Return the number of rows N.
    pub fn len(&self) -> usize {
        self.ground.len()
    }

    /// Return whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ground.is_empty()
    }

    /// Return a ground set of points with as many features as the rows, under the same kernel.
    ///
    /// # Errors
    /// `ErrorKind::Argument`, those of [`kernel`](Self::kernel).
    pub fn points<'p>(&self, points: &'p [f64]) -> Result<Ground<'p>, Error> {
        let rows = self.rows()?;
        Ok(Points::new(points, rows.features(), *rows.kernel())?)
    }

    /// Return the rows of features.
    ///
    /// # Errors
    /// Those of [`kernel`](Self::kernel).
    pub(crate) fn rows(&self) -> Result<&Ground<'a>, Error> {
        match &self.ground {
            AnyGround::Points(rows) => Ok(rows),
            AnyGround::Entries(_) | AnyGround::Conditional(_) => Err(no_coordinates()),
        }
    }

    /// Return a column of Nyström features for each row: see [`features_of`].
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`, `ErrorKind::Argument`, `ErrorKind::Memory`.
    pub fn features(&self, landmarks: &LandmarkSet) -> Result<Mat<f64>, Error> {
        match landmarks {
            LandmarkSet::Indices(rows) => features_of(&self.ground, rows),
            LandmarkSet::Points(points) => features_of_points(self.rows()?, points),
        }
    }

    /// Measure the trace error of landmarks, in one pass over the rows.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`, `ErrorKind::Argument`, `ErrorKind::Memory`.
    pub fn trace_error(&self, landmarks: &LandmarkSet) -> Result<TraceError, Error> {
        match landmarks {
            LandmarkSet::Indices(rows) => trace_error(&self.ground, rows),
            LandmarkSet::Points(points) => trace_error_of_points(self.rows()?, points),
        }
    }

    /// Return the kernel matrix: `N²` evaluations, `N²` numbers.
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    pub fn matrix(&self) -> Result<&Arc<Mat<f64>>, Error> {
        self.matrix.get(|| kernel_matrix(&self.ground).map(Arc::new))
    }

    /// Return the eigenvalues and eigenvectors of the kernel matrix: `O(N³)`, and `N²` more numbers.
    ///
    /// # Errors
    /// `ErrorKind::Memory`, `ErrorKind::Landmarks`.
    pub fn eigen(&self) -> Result<&Arc<Eigen>, Error> {
        let matrix = self.matrix()?;
        self.eigen.get(|| eigen(matrix).map(Arc::new))
    }

    /// Check that the full kernel matrix is permitted for this many rows.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported`, which names an alternative method.
    pub fn check_whole(&self, method: &'static str, instead: &'static str) -> Result<(), Error> {
        if self.len() > SPECTRUM_ROWS {
            return Err(Error(Cause::WholeMatrix { method, rows: self.len(), most: SPECTRUM_ROWS, instead }));
        }
        Ok(())
    }

    pub(crate) fn account(&self) -> Account {
        Account { matrix: self.matrix.open(), eigen: self.eigen.open() }
    }

    /// Return the computation time, in seconds, of cached values that the method reused.
    pub(crate) fn cached_seconds(&self, account: Account) -> f64 {
        self.matrix.cached_seconds(account.matrix) + self.eigen.cached_seconds(account.eigen)
    }
}

fn no_coordinates() -> Error {
    Error(Cause::BuiltInKernel {
        problem: "a custom kernel or a kernel matrix gives no coordinates of rows".to_owned(),
        instead: "choose another method than kmeans and kmeans-snapped, which move points",
    })
}
