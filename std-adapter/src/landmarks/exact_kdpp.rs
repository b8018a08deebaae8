//! Exact samples of the c-DPP, from all eigenvalues and eigenvectors of `K`.
//!
//! A c-DPP is a mixture of projection DPPs (Hough, Krishnapur, Peres and Virág 2006; Kulesza and Taskar
//! 2011). A sample takes two phases:
//!
//! 1. `c` eigenvectors `V`, a set `J` with probability `Π_{j∈J} λ_j / e_c(λ)`: from the last eigenvalue to
//!    the first, each with probability `λ_m e_{l-1}(λ_1..λ_{m-1}) / e_l(λ_1..λ_m)` where `l` are still to be
//!    chosen. The polynomials are tabled once as logarithms, `(N + 1)(c + 1)` numbers.
//! 2. `c` rows with probability `det (V Vᵀ)_CC`, one after the other: row `i` with probability in proportion
//!    to `‖v_i‖² - Σ_k (v_i·q_k)²`, with `v_i` the rows of `V` and `q_1, q_2, …` an orthonormal basis of
//!    those chosen. Each choice adds one vector to the basis and takes one product of `V` with it: `O(N c²)`
//!    in all. (Algorithm 1 of Kulesza and Taskar turns `V` itself, `O(N c³)`.)
//!
//! The residuals of phase 2 add up to `c - k` after `k` choices, at least one: no choice is made among
//! rounding errors, whatever the spectrum of `K`. Eigenvalues of `N ε λ_1` and under it are rounding, and
//! count as zero.

use crate::approximation::features::kernel_matrix;
use crate::approximation::spectrum::check_rows;
use crate::error::Error;
use crate::linalg::eigen::{Eigen, eigen, rank};
use crate::linalg::elementary_symmetric::{SymmetricTable, expected_trace_error};
use dpp_nystrom_core::{Error as CoreError, GroundSet};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rand_core::Rng;
use std::sync::Arc;

/// Exact c-DPPs of one kernel matrix, of any size `c`.
///
/// ```
/// use dpp_nystrom::landmarks::ExactKDpp;
/// use dpp_nystrom_core::{Matrix, Random};
///
/// # fn main() -> Result<(), dpp_nystrom::Error> {
/// // Rows 0 and 2 agree: they never come together.
/// let matrix = Matrix::new(&[2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0])?;
/// let exact = ExactKDpp::new(&matrix)?;
/// let landmarks = exact.sample(2, &mut Random::seeded(7))?;
/// assert!(landmarks.contains(&1));
/// assert!(exact.sample(3, &mut Random::seeded(7)).is_err());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ExactKDpp {
    eigen: Arc<Eigen>,
    rank: usize,
}

impl ExactKDpp {
    /// Decomposes the kernel matrix of a ground set of up to [`SPECTRUM_ROWS`] rows: `O(N³)` once, up to `5N²`
    /// numbers while it runs and `N²` after it.
    ///
    /// # Errors
    /// [`Error::SpectrumRows`] for more rows, [`Error::Landmarks`] where the matrix is not finite or the
    /// ground set empty, [`Error::Memory`], [`Error::Eigenvalues`].
    pub fn new<G: GroundSet<f64> + Sync + ?Sized>(ground: &G) -> Result<Self, Error> {
        check_rows(ground.len())?;
        Ok(Self::from_eigen(eigen(&kernel_matrix(ground)?)?))
    }

    pub(crate) fn from_eigen(eigen: impl Into<Arc<Eigen>>) -> Self {
        let eigen = eigen.into();
        let rank = rank(&eigen.values);
        Self { eigen, rank }
    }

    pub(crate) fn eigen(&self) -> &Eigen {
        &self.eigen
    }

    /// The eigenvalues of `K`, descending.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigen.values
    }

    /// The number of eigenvalues over `N ε λ_1`: the most landmarks that a sample can have.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The expectation of the trace error of a sample of `c` rows, [`crate::linalg::elementary_symmetric::expected_trace_error`] over the
    /// eigenvalues that count; none over the rank.
    pub fn expected_trace_error(&self, c: usize) -> Option<f64> {
        expected_trace_error(&self.eigen.values[..self.rank], c)
    }

    /// The c-DPP of this size, to sample from many times: `O(N c)` time and `(N + 1)(c + 1)` numbers for its
    /// table.
    ///
    /// # Errors
    /// [`Error::Landmarks`] for no landmarks, for more than rows, and for more than the rank;
    /// [`Error::Memory`].
    pub fn with_size(&self, c: usize) -> Result<SizedKDpp<'_>, Error> {
        self.check_size(c)?;
        let table = SymmetricTable::new(&self.eigen.values[..self.rank], c)?;
        Ok(SizedKDpp { whole: self, table, c })
    }

    pub(crate) fn check_size(&self, c: usize) -> Result<(), Error> {
        let rows = self.eigen.values.len();
        let reason = match c {
            0 => CoreError::Empty,
            _ if c > rows => CoreError::TooManyLandmarks { landmarks: c, rows },
            _ if c > self.rank => CoreError::RankDeficient { rank: self.rank, landmarks: c },
            _ => return Ok(()),
        };
        Err(Error::Landmarks { reason })
    }

    /// One sample: `c` rows in ascending order. `O(N c²)`; for many of one size [`ExactKDpp::with_size`]
    /// makes the table once.
    ///
    /// # Errors
    /// Those of [`ExactKDpp::with_size`].
    pub fn sample<R: Rng + ?Sized>(&self, c: usize, random: &mut R) -> Result<Vec<usize>, Error> {
        Ok(self.with_size(c)?.sample(random))
    }
}

/// The c-DPP of one size.
#[derive(Debug)]
pub struct SizedKDpp<'a> {
    whole: &'a ExactKDpp,
    table: SymmetricTable,
    c: usize,
}

impl SizedKDpp<'_> {
    /// `log e_c(K)`, the logarithm of what `det K_CC` is divided by to make a probability.
    pub fn log_normaliser(&self) -> f64 {
        self.table.log(self.whole.rank, self.c)
    }

    /// One sample: `c` rows in ascending order. `N c²` multiply-adds.
    pub fn sample<R: Rng + ?Sized>(&self, random: &mut R) -> Vec<usize> {
        let chosen = self.eigenvectors(random);
        let vectors = &self.whole.eigen.vectors;
        let rows = vectors.nrows();
        let basis = Mat::from_fn(rows, self.c, |i, k| vectors[(i, chosen[k])]);
        let mut residuals: Vec<f64> =
            (0..rows).map(|i| (0..self.c).map(|k| basis[(i, k)] * basis[(i, k)]).sum()).collect();
        let mut members: Vec<usize> = Vec::with_capacity(self.c);
        let mut directions: Vec<Vec<f64>> = Vec::with_capacity(self.c);
        let mut direction = Mat::<f64>::zeros(self.c, 1);
        let mut projections = Mat::<f64>::zeros(rows, 1);
        while members.len() < self.c {
            let member = in_proportion(&residuals, uniform(random));
            members.push(member);
            residuals[member] = 0.0;
            let fresh = orthogonal((0..self.c).map(|k| basis[(member, k)]).collect(), &directions);
            for (k, &entry) in fresh.iter().enumerate() {
                direction[(k, 0)] = entry;
            }
            directions.push(fresh);
            matmul(projections.as_mut(), Accum::Replace, &basis, &direction, 1.0, Par::Seq);
            for (residual, projection) in residuals.iter_mut().zip(projections.col(0).iter()) {
                // Those chosen stay at zero.
                *residual = (*residual - projection * projection).max(0.0);
            }
        }
        members.sort_unstable();
        members
    }

    /// Phase 1: places of `c` eigenvectors.
    fn eigenvectors<R: Rng + ?Sized>(&self, random: &mut R) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(self.c);
        for m in (1..=self.whole.rank).rev() {
            let left = self.c - chosen.len();
            if left == 0 {
                break;
            }
            let log = self.whole.eigen.values[m - 1].ln() + self.table.log(m - 1, left - 1)
                - self.table.log(m, left);
            // As many as are left: all of them, whatever rounding says.
            if left == m || uniform(random) < log.exp() {
                chosen.push(m - 1);
            }
        }
        chosen
    }
}

/// In [0, 1), of 53 bits.
pub(crate) fn uniform<R: Rng + ?Sized>(random: &mut R) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A place in proportion to weights that are not negative, for a uniform number in [0, 1).
fn in_proportion(weights: &[f64], uniform: f64) -> usize {
    let bound = uniform * weights.iter().sum::<f64>();
    let mut below = 0.0;
    let mut last = 0;
    for (place, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            below += weight;
            last = place;
            if below > bound {
                break;
            }
        }
    }
    last
}

/// The unit vector of what `vector` has beside an orthonormal basis. Twice is enough (Giraud, Langou and
/// Rozložník 2005).
fn orthogonal(mut vector: Vec<f64>, basis: &[Vec<f64>]) -> Vec<f64> {
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    for _ in 0..2 {
        for other in basis {
            let along = dot(&vector, other);
            for (entry, other) in vector.iter_mut().zip(other) {
                *entry -= along * other;
            }
        }
    }
    let norm = dot(&vector, &vector).sqrt();
    for entry in &mut vector {
        *entry /= norm;
    }
    vector
}
