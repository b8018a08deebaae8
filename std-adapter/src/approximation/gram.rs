//! The rows under a kernel, and what several methods may need of them: the kernel matrix and its eigenvectors,
//! each computed when first asked for, and once.

use crate::approximation::errors::{TraceError, trace_error, trace_error_of_points};
use crate::approximation::features::{Ground, kernel_matrix};
use crate::approximation::landmark_set::LandmarkSet;
use crate::approximation::spectrum::{RelativeError, SPECTRUM_ROWS, Spectrum};
use crate::data::prepared::Prepared;
use crate::error::Error;
use crate::kernel::spec::KernelSpec;
use crate::linalg::eigen::{Eigen, eigen};
use dpp_nystrom_core::{GroundSet, Points};
use faer::Mat;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Prepared rows under a kernel of a bandwidth.
#[derive(Debug)]
pub struct Gram<'a> {
    data: &'a Prepared,
    kernel: KernelSpec,
    ground: Ground<'a>,
    matrix: Kept<Arc<Mat<f64>>>,
    eigen: Kept<Arc<Eigen>>,
}

/// Computed once, with its seconds, and whether it was asked for since the account was opened.
#[derive(Debug)]
struct Kept<T> {
    value: OnceLock<(T, f64)>,
    asked: AtomicBool,
}

/// What was there when a method began.
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

    /// Open an account: return whether it is computed already, and count requests from now on.
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
    /// The rows under this kernel. Computes nothing yet.
    ///
    /// # Errors
    /// [`Error::Bandwidth`], [`Error::Core`].
    pub fn new(data: &'a Prepared, kernel: KernelSpec) -> Result<Self, Error> {
        Ok(Self { data, kernel, ground: data.ground(kernel)?, matrix: Kept::new(), eigen: Kept::new() })
    }

    /// The rows.
    pub fn data(&self) -> &'a Prepared {
        self.data
    }

    /// The kernel and its bandwidth.
    pub fn kernel(&self) -> KernelSpec {
        self.kernel
    }

    /// The rows as a ground set.
    pub fn ground(&self) -> &Ground<'a> {
        &self.ground
    }

    /// The number of rows N.
    pub fn len(&self) -> usize {
        self.ground.len()
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.ground.is_empty()
    }

    /// Points of as many features as the rows, under the same kernel.
    ///
    /// # Errors
    /// [`Error::Core`].
    pub fn points<'p>(&self, points: &'p [f64]) -> Result<Ground<'p>, Error> {
        Ok(Points::new(points, self.ground.features(), *self.ground.kernel())?)
    }

    /// The trace error of landmarks. One pass over the rows.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Core`], [`Error::Memory`].
    pub fn trace_error(&self, landmarks: &LandmarkSet) -> Result<TraceError, Error> {
        match landmarks {
            LandmarkSet::Indices(rows) => trace_error(&self.ground, rows),
            LandmarkSet::Points(points) => trace_error_of_points(&self.ground, points),
        }
    }

    /// The errors of landmarks relative to the best rank; `spectrum` is that of these rows.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Core`], [`Error::Memory`], [`Error::Eigenvalues`].
    pub fn relative_error(
        &self,
        spectrum: &Spectrum,
        landmarks: &LandmarkSet,
    ) -> Result<Option<RelativeError>, Error> {
        match landmarks {
            LandmarkSet::Indices(rows) => spectrum.relative_error(&self.ground, rows),
            LandmarkSet::Points(points) => spectrum.relative_error_of_points(&self.ground, points),
        }
    }

    /// The kernel matrix: `N²` evaluations, `N²` numbers.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn matrix(&self) -> Result<&Arc<Mat<f64>>, Error> {
        self.matrix.get(|| kernel_matrix(&self.ground).map(Arc::new))
    }

    /// Its eigenvalues and eigenvectors: `O(N³)`, and `N²` numbers more.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Eigenvalues`].
    pub fn eigen(&self) -> Result<&Arc<Eigen>, Error> {
        let matrix = self.matrix()?;
        self.eigen.get(|| eigen(matrix).map(Arc::new))
    }

    /// Refuses more rows than a method does that holds the whole matrix.
    ///
    /// # Errors
    /// [`Error::WholeMatrix`], which names another method.
    pub fn check_whole(&self, method: &'static str, instead: &'static str) -> Result<(), Error> {
        if self.len() > SPECTRUM_ROWS {
            return Err(Error::WholeMatrix { method, rows: self.len(), most: SPECTRUM_ROWS, instead });
        }
        Ok(())
    }

    pub(crate) fn account(&self) -> Account {
        Account { matrix: self.matrix.open(), eigen: self.eigen.open() }
    }

    /// Seconds of what was there and was asked for.
    pub(crate) fn cached_seconds(&self, account: Account) -> f64 {
        self.matrix.cached_seconds(account.matrix) + self.eigen.cached_seconds(account.eigen)
    }
}
