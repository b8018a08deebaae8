//! Exact samples of the c-DPP, from all eigenvalues and eigenvectors of `K`.
//!
//! A c-DPP is a mixture of projection DPPs (Hough, Krishnapur, Peres and Virág 2006; Kulesza and Taskar
//! 2011). Sampling has two phases:
//!
//! 1. Select `c` eigenvectors `V`, the set `J` with probability `Π_{j∈J} λ_j / e_c(λ)`
//!    (`eigenvector_law`).
//! 2. Select `c` rows with probability `det (V Vᵀ)_CC`, one after the other: row `i` with probability
//!    proportional to `‖v_i‖² - Σ_k (v_i·q_k)²`, with `v_i` the rows of `V` and `q_1, q_2, …` an orthonormal
//!    basis of the rows selected so far. Each selection adds one vector to the basis and multiplies `V` by
//!    it: `O(N c²)` in total. (Algorithm 1 of Kulesza and Taskar updates `V` itself, `O(N c³)`.)
//!
//! The residuals of phase 2 sum to `c - k` after `k` selections, at least one. So rounding errors never
//! decide a selection, whatever the spectrum of `K`. Eigenvalues up to `N ε λ_1` are rounding errors and
//! count as zero.

use crate::approximation::{SPECTRUM_ROWS, features::kernel_matrix};
use crate::error::{Cause, Error};
use crate::landmarks::eigenvector_law::{EigenvectorLaw, orthogonal, uniform};
use crate::landmarks::selector::check_count;
use crate::linalg::{Eigen, eigen::eigen, eigen::rank, expected_trace_error};
use dpp_nystrom_core::GroundSet;
use dpp_nystrom_host::rng::by_weight;
use faer::{Accum, Mat, MatRef, Par, linalg::matmul::matmul};
use rand_core::Rng;
use std::sync::Arc;

/// An exact sampler of c-DPPs of one kernel matrix, for any size `c`.
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
    /// Decompose the kernel matrix of a ground set of up to [`SPECTRUM_ROWS`] rows. `O(N³)` once; stores up
    /// to `5N²` numbers during the decomposition and `N²` after it.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported` for more rows, `ErrorKind::Landmarks` if the matrix is not finite or the
    /// ground set is empty, `ErrorKind::Memory`, `ErrorKind::Landmarks`.
    pub fn new<G: GroundSet<f64> + Sync + ?Sized>(ground: &G) -> Result<Self, Error> {
        Self::check_rows(ground.len())?;
        Ok(Self::from_eigen(eigen(&kernel_matrix(ground)?)?))
    }

    /// Check that there are at most [`SPECTRUM_ROWS`] rows.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported`.
    pub fn check_rows(rows: usize) -> Result<(), Error> {
        if rows > SPECTRUM_ROWS {
            Err(Error(Cause::SpectrumRows { rows, most: SPECTRUM_ROWS }))
        } else {
            Ok(())
        }
    }

    /// Take a decomposition of the kernel matrix, such as [`Gram::eigen`](crate::approximation::Gram::eigen).
    pub fn from_eigen(eigen: impl Into<Arc<Eigen>>) -> Self {
        let eigen = eigen.into();
        let rank = rank(&eigen.values);
        Self { eigen, rank }
    }

    /// Return the eigenvalues of `K` in descending order.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigen.values
    }

    /// Return the number of eigenvalues above `N ε λ_1`: the maximum number of landmarks of a sample.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Return the expected trace error of a sample of `c` rows, `(c + 1) e_{c+1} / e_c` of the nonzero
    /// eigenvalues. `None` if `c` exceeds the rank.
    ///
    /// ```
    /// use dpp_nystrom::core::Matrix;
    /// use dpp_nystrom::landmarks::ExactKDpp;
    ///
    /// let matrix = Matrix::new(&[1.0, 0.0, 0.0, 3.0])?;
    /// let exact = ExactKDpp::new(&matrix)?;
    /// // Row 0 is left with probability 3/4, row 1 with 1/4: 3/4 · 1 + 1/4 · 3.
    /// assert!(exact.expected_trace_error(1).is_some_and(|error| (error - 1.5).abs() < 1e-12));
    /// assert_eq!(exact.expected_trace_error(3), None);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn expected_trace_error(&self, c: usize) -> Option<f64> {
        expected_trace_error(&self.eigen.values[..self.rank], c)
    }

    /// Return the c-DPP of this size, to draw any number of samples from. `O(N c)` time and `(N + 1)(c + 1)`
    /// numbers for its table.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks` if `c` is zero, exceeds the number of rows, or exceeds the rank;
    /// `ErrorKind::Memory`.
    pub fn with_size(&self, c: usize) -> Result<SizedKDpp<'_>, Error> {
        check_count(c, self.eigen.values.len())?;
        let law = EigenvectorLaw::new(&self.eigen.values[..self.rank], c)?;
        Ok(SizedKDpp { whole: self, law, c })
    }

    /// Draw one sample: `c` rows in ascending order. `O(N c²)`. To draw several samples of one size, use
    /// [`ExactKDpp::with_size`], which computes the table once.
    ///
    /// # Errors
    /// Those of [`ExactKDpp::with_size`].
    pub fn sample<R: Rng + ?Sized>(&self, c: usize, random: &mut R) -> Result<Vec<usize>, Error> {
        Ok(self.with_size(c)?.sample(random))
    }
}

/// The c-DPP of one size, returned by [`ExactKDpp::with_size`].
///
/// ```
/// use dpp_nystrom::core::{Matrix, Random};
/// use dpp_nystrom::landmarks::ExactKDpp;
///
/// let matrix = Matrix::new(&[1.0, 0.0, 0.0, 3.0])?;
/// let exact = ExactKDpp::new(&matrix)?;
/// let (sized, mut random) = (exact.with_size(1)?, Random::seeded(7));
/// let often = (0..1_000).filter(|_| sized.sample(&mut random) == [1]).count();
/// assert!((700..800).contains(&often)); // with probability 3/4
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
pub struct SizedKDpp<'a> {
    whole: &'a ExactKDpp,
    law: EigenvectorLaw<'a>,
    c: usize,
}

impl SizedKDpp<'_> {
    /// Return `log e_c(K)`, the log of the normalising constant: a set `C` has the probability
    /// `det K_CC / e_c(K)`.
    pub fn log_normaliser(&self) -> f64 {
        self.law.log_normaliser()
    }

    /// Return the probability of each row to be in a sample; the sum is c. `N rank` multiply-adds.
    ///
    /// Row i is included with probability `Σ_m p_m v_im²`, with `p_m` the probability that phase 1 selects
    /// eigenvector m.
    ///
    /// ```
    /// use dpp_nystrom::core::Matrix;
    /// use dpp_nystrom::landmarks::ExactKDpp;
    ///
    /// // Rows 0 and 2 agree: one of them comes with row 1.
    /// let matrix = Matrix::new(&[2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0])?;
    /// let exact = ExactKDpp::new(&matrix)?;
    /// for (probability, expected) in exact.with_size(2)?.inclusion_probabilities().iter().zip([0.5, 1.0, 0.5]) {
    ///     assert!((probability - expected).abs() < 1e-12);
    /// }
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn inclusion_probabilities(&self) -> Vec<f64> {
        let vectors = &self.whole.eigen.vectors;
        let mut included = vec![0.0; vectors.nrows()];
        for (share, vector) in self.law.shares().into_iter().zip(vectors.col_iter()) {
            for (included, entry) in included.iter_mut().zip(vector.iter()) {
                *included += share * entry * entry;
            }
        }
        included
    }

    /// Draw one sample: `c` rows in ascending order. `N c²` multiply-adds.
    pub fn sample<R: Rng + ?Sized>(&self, random: &mut R) -> Vec<usize> {
        let chosen = self.law.draw(random);
        let vectors = &self.whole.eigen.vectors;
        let rows = vectors.nrows();
        let basis = Mat::from_fn(rows, self.c, |i, k| vectors[(i, chosen[k])]);
        let mut residuals: Vec<f64> =
            (0..rows).map(|i| (0..self.c).map(|k| basis[(i, k)] * basis[(i, k)]).sum()).collect();
        let mut members: Vec<usize> = Vec::with_capacity(self.c);
        let mut directions: Vec<Vec<f64>> = Vec::with_capacity(self.c);
        let mut projections = Mat::<f64>::zeros(rows, 1);
        while members.len() < self.c {
            let mut place = uniform(random) * residuals.iter().sum::<f64>();
            let member = by_weight(residuals.iter().copied(), &mut place).unwrap_or(0);
            members.push(member);
            residuals[member] = 0.0;
            let fresh = orthogonal((0..self.c).map(|k| basis[(member, k)]).collect(), &directions);
            let direction = MatRef::from_column_major_slice(&fresh, self.c, 1);
            matmul(projections.as_mut(), Accum::Replace, &basis, direction, 1.0, Par::Seq);
            directions.push(fresh);
            for (residual, projection) in residuals.iter_mut().zip(projections.col(0).iter()) {
                // The weights of selected rows stay zero.
                *residual = (*residual - projection * projection).max(0.0);
            }
        }
        members.sort_unstable();
        members
    }
}
