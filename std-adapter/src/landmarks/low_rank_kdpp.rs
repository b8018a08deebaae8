//! Exact samples of the c-DPP of `K = B Bᵀ`, from the `N x D` features `B` and without the kernel matrix.
//!
//! The nonzero eigenvalues of K are those of `Bᵀ B = U Λ Uᵀ`, and its eigenvectors are the columns of
//! `W = B U Λ^(-1/2)` (the dual of Kulesza and Taskar 2012, section 3.3). Sampling has the two phases of
//! [`ExactKDpp`](crate::landmarks::ExactKDpp). The second selects row `i` with probability proportional to
//! its residual `‖w_iJ‖² - Σ_k (w_iJ·q_k)²` in the eigenvectors J of the first. It draws by rejection, after
//! Barthelmé, Tremblay and Amblard (2022): a row is proposed in proportion to its leverage score `‖w_i‖²`,
//! which no residual exceeds, and accepted with the probability `residual/‖w_i‖²`. Theirs are the scores in
//! J, which cost `N c` a sample. Those in all eigenvectors are tabulated once.
//!
//! The residuals sum to `c - k` after k selections and the scores to the rank r, so a sample takes
//! `r (1 + 1/2 + … + 1/c)` proposals. Each costs r multiply-adds, and c k more if `‖w_iJ‖²` does not reject
//! it already. No step of a sample depends on N but the binary search of a proposal.

use crate::approximation::Ground;
use crate::error::{Cause, Error, check_rows};
use crate::landmarks::eigenvector_law::{EigenvectorLaw, orthogonal, uniform};
use crate::landmarks::selector::check_count;
use crate::linalg::eigen::{eigen, product};
use crate::linalg::{dot, expected_trace_error};
use dpp_nystrom_core::{Error as CoreError, GroundSet, kernel::ChosenKernel};
use dpp_nystrom_host::heap::zeros;
use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};
use rand_core::Rng;
use rayon::prelude::*;

/// Rows per task.
const BLOCK: usize = 4_096;

/// The most features of a kernel whose low-rank form is used.
const MOST: usize = 4_096;

/// An exact sampler of c-DPPs of the kernel matrix of features, `K = B Bᵀ`, for any size `c` up to its rank.
///
/// ```
/// use dpp_nystrom::core::Random;
/// use dpp_nystrom::landmarks::LowRankKDpp;
///
/// // A million embeddings of four numbers.
/// let embeddings: Vec<f64> = (0..4_000_000).map(|i| f64::from(i).powi(2).sin()).collect();
/// let exact = LowRankKDpp::new(&embeddings, 4)?;
/// let sample = exact.with_size(3)?.sample(&mut Random::seeded(7));
/// assert_eq!(sample.len(), 3);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
pub struct LowRankKDpp {
    /// The positive eigenvalues, descending.
    values: Vec<f64>,
    /// The eigenvectors, row-major: as many numbers per row as there are values.
    vectors: Vec<f64>,
    /// The sums of the leverage scores of each row and those before it.
    sums: Vec<f64>,
}

impl LowRankKDpp {
    /// Decompose the features of rows, `dim` of each, row-major. `2 N D²` multiply-adds and `O(D³)`; stores
    /// `N (rank + 1)` numbers.
    ///
    /// Eigenvalues up to `N ε λ_1` count as zero, with N the larger of rows and features.
    ///
    /// # Errors
    /// `ErrorKind::Argument` unless `features` divides into whole rows, `ErrorKind::Landmarks` for numbers
    /// that are not finite, `ErrorKind::Memory`.
    pub fn new(features: &[f64], dim: usize) -> Result<Self, Error> {
        check_rows(features.len(), dim)?;
        if let Some(at) = features.iter().position(|value| !value.is_finite()) {
            return Err(Error::landmarks(CoreError::NotFinite { row: at / dim, column: at % dim }));
        }
        let count = features.len() / dim;
        let rows = MatRef::from_row_major_slice(features, count, dim);
        let dual = eigen(&product(rows.transpose(), rows))?;
        let floor = count.max(dim) as f64 * f64::EPSILON * dual.values.first().copied().unwrap_or(0.0);
        if !floor.is_finite() {
            return Err(Error(Cause::Eigenvalues));
        }
        let rank = dual.values.iter().take_while(|&&value| value > floor).count();
        if rank == 0 {
            return Err(Error::landmarks(CoreError::RankDeficient { rank, landmarks: 1 }));
        }
        let values = dual.values[..rank].to_vec();
        let scaled = Mat::from_fn(dim, rank, |i, k| dual.vectors[(i, k)] / values[k].sqrt());
        let mut vectors = zeros(count.saturating_mul(rank), 0.0)?;
        let mut sums = zeros(count, 0.0)?;
        let blocks = vectors.par_chunks_mut(BLOCK * rank).zip(features.par_chunks(BLOCK * dim));
        blocks.zip(sums.par_chunks_mut(BLOCK)).for_each(|((vectors, features), scores)| {
            let features = MatRef::from_row_major_slice(features, scores.len(), dim);
            let to = MatMut::from_row_major_slice_mut(vectors, scores.len(), rank);
            matmul(to, Accum::Replace, features, &scaled, 1.0, Par::Seq);
            for (score, vector) in scores.iter_mut().zip(vectors.chunks_exact(rank)) {
                *score = dot(vector, vector);
            }
        });
        let mut sum = 0.0;
        for score in &mut sums {
            sum += *score;
            *score = sum;
        }
        Ok(Self { values, vectors, sums })
    }

    /// Decompose the kernel matrix of rows under a kernel that is the inner product of fewer features than
    /// there are rows: the linear one, and the polynomial one with its monomials; `None` for any other.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    ///
    /// ```
    /// use dpp_nystrom::approximation::Ground;
    /// use dpp_nystrom::kernel::{KernelKind, KernelSpec};
    /// use dpp_nystrom::landmarks::LowRankKDpp;
    ///
    /// let rows: Vec<f64> = (0..100).map(|i| f64::from(i).powi(2).sin()).collect();
    /// let of = |kind| LowRankKDpp::of(&Ground::new(&rows, 2, KernelSpec { kind, sigma: 1.0 }.build()?)?);
    /// let quadratic = of(KernelKind::Polynomial { degree: 2, offset: 1.0 })?;
    /// assert!(quadratic.is_some_and(|exact| exact.rank() == 6)); // 1, x, y, x², xy, y²
    /// assert!(of(KernelKind::Gaussian)?.is_none());
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn of(ground: &Ground<'_>) -> Result<Option<Self>, Error> {
        let features = features_of_kernel(ground)?;
        features.map(|(features, width)| Self::new(&features, width)).transpose()
    }

    /// Whether the kernel is an inner product of features, of however many.
    pub(crate) fn has_form(ground: &Ground<'_>) -> bool {
        matches!(ground.kernel(), ChosenKernel::Linear(_) | ChosenKernel::Polynomial(_))
    }

    /// Return the positive eigenvalues of `K` in descending order.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.values
    }

    /// Return the number of positive eigenvalues: the maximum number of landmarks of a sample.
    pub fn rank(&self) -> usize {
        self.values.len()
    }

    /// Return the expected trace error of a sample of `c` rows, `(c + 1) e_{c+1} / e_c`. `None` if `c`
    /// exceeds the rank.
    pub fn expected_trace_error(&self, c: usize) -> Option<f64> {
        expected_trace_error(&self.values, c)
    }

    /// Return the c-DPP of this size, to draw any number of samples from. `O(rank c)`.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks` if `c` is zero, exceeds the number of rows, or exceeds the rank;
    /// `ErrorKind::Memory`.
    pub fn with_size(&self, c: usize) -> Result<SizedLowRankKDpp<'_>, Error> {
        check_count(c, self.sums.len())?;
        Ok(SizedLowRankKDpp { whole: self, law: EigenvectorLaw::new(&self.values, c)?, c })
    }

    fn vector(&self, row: usize) -> &[f64] {
        let rank = self.rank();
        &self.vectors[row * rank..(row + 1) * rank]
    }
}

/// The c-DPP of one size, returned by [`LowRankKDpp::with_size`].
///
/// ```
/// use dpp_nystrom::core::Random;
/// use dpp_nystrom::landmarks::LowRankKDpp;
///
/// let exact = LowRankKDpp::new(&[1.0, 3.0_f64.sqrt()], 1)?; // K = [1 √3; √3 3]
/// let (sized, mut random) = (exact.with_size(1)?, Random::seeded(7));
/// let often = (0..1_000).filter(|_| sized.sample(&mut random) == [1]).count();
/// assert!((700..800).contains(&often)); // with probability 3/4
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
pub struct SizedLowRankKDpp<'a> {
    whole: &'a LowRankKDpp,
    law: EigenvectorLaw<'a>,
    c: usize,
}

impl SizedLowRankKDpp<'_> {
    /// Return `log e_c(K)`: a set `C` has the probability `det K_CC / e_c(K)`.
    pub fn log_normaliser(&self) -> f64 {
        self.law.log_normaliser()
    }

    /// Return the probability of each row to be in a sample; the sum is c. `N rank` multiply-adds.
    ///
    /// ```
    /// use dpp_nystrom::landmarks::LowRankKDpp;
    ///
    /// let exact = LowRankKDpp::new(&[1.0, 3.0_f64.sqrt()], 1)?;
    /// let probabilities = exact.with_size(1)?.inclusion_probabilities();
    /// assert!((probabilities[1] - 0.75).abs() < 1e-12);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn inclusion_probabilities(&self) -> Vec<f64> {
        let shares = self.law.shares();
        let rows = self.whole.vectors.par_chunks_exact(self.whole.rank());
        rows.map(|row| row.iter().zip(&shares).map(|(entry, share)| share * entry * entry).sum()).collect()
    }

    /// Draw one sample: `c` rows in ascending order. About `rank (log c + 1)` proposals of rank
    /// multiply-adds and a binary search each, and `c³ log c` multiply-adds.
    pub fn sample<R: Rng + ?Sized>(&self, random: &mut R) -> Vec<usize> {
        let (whole, chosen) = (self.whole, self.law.draw(random));
        let total = whole.sums.last().copied().unwrap_or(0.0);
        let mut members: Vec<usize> = Vec::with_capacity(self.c);
        let mut directions: Vec<Vec<f64>> = Vec::with_capacity(self.c);
        let mut part = vec![0.0; self.c];
        while members.len() < self.c {
            let place = uniform(random) * total;
            let row = whole.sums.partition_point(|&sum| sum <= place).min(whole.sums.len() - 1);
            let vector = whole.vector(row);
            let threshold = uniform(random) * dot(vector, vector);
            part.iter_mut().zip(&chosen).for_each(|(entry, &k)| *entry = vector[k]);
            let mut residual = dot(&part, &part);
            for direction in &directions {
                if residual <= threshold {
                    break;
                }
                let along = dot(&part, direction);
                residual -= along * along;
            }
            // The residual of a row that was selected is a rounding error.
            if residual > threshold && !members.contains(&row) {
                members.push(row);
                directions.push(orthogonal(part.clone(), &directions));
            }
        }
        members.sort_unstable();
        members
    }
}

/// Return features whose inner products are the kernel, row-major, and how many each row has;
/// none if the kernel has no such form, or one of as many features as there are rows.
///
/// A polynomial `(xᵀy + o)^p` has the monomials of degree p of `(x, √o)`, each times the root of its
/// multinomial coefficient.
fn features_of_kernel(ground: &Ground<'_>) -> Result<Option<(Vec<f64>, usize)>, Error> {
    let (degree, offset) = match ground.kernel() {
        ChosenKernel::Linear(_) => (1, 0.0),
        ChosenKernel::Polynomial(kernel) => (kernel.degree(), kernel.offset()),
        _ => return Ok(None),
    };
    let (count, variables) = (ground.len(), ground.features() + usize::from(offset > 0.0));
    let Some(powers) = monomials(variables, degree as usize, MOST.min(count)) else { return Ok(None) };
    let width = powers.len();
    let mut features = zeros(count.saturating_mul(width), 0.0)?;
    features.par_chunks_exact_mut(width).enumerate().for_each(|(i, features)| {
        let row = ground.row(i);
        for (feature, (coefficient, factors)) in features.iter_mut().zip(&powers) {
            let value = |&at: &usize| row.get(at).copied().unwrap_or(offset.sqrt());
            *feature = coefficient * factors.iter().map(value).product::<f64>();
        }
    });
    Ok(Some((features, width)))
}

/// Return the monomials of a degree, each as its factors, with the root of its multinomial coefficient; none
/// if there are more than `most`.
fn monomials(variables: usize, degree: usize, most: usize) -> Option<Vec<(f64, Vec<usize>)>> {
    let mut all = vec![(1.0, Vec::new())];
    for length in 1..=degree {
        let mut longer: Vec<(f64, Vec<usize>)> = Vec::new();
        for (square, factors) in all {
            for variable in factors.last().copied().unwrap_or(0)..variables {
                let mut factors: Vec<usize> = factors.clone();
                factors.push(variable);
                let repeated = factors.iter().filter(|&&factor| factor == variable).count();
                longer.push((square * length as f64 / repeated as f64, factors));
            }
            if longer.len() > most {
                return None;
            }
        }
        all = longer;
    }
    Some(all.into_iter().map(|(square, factors): (f64, _)| (square.sqrt(), factors)).collect())
}

#[cfg(test)]
mod tests {
    use super::{Ground, features_of_kernel, monomials};
    use crate::kernel::{KernelKind, KernelSpec};
    use dpp_nystrom_core::kernel::Kernel;

    #[test]
    fn features_have_the_kernel_as_inner_products() {
        let rows: Vec<f64> = (0..150).map(|i| f64::from(i * 37 % 23) / 7.0 - 1.5).collect();
        for kind in [
            KernelKind::Linear,
            KernelKind::Polynomial { degree: 2, offset: 0.0 },
            KernelKind::Polynomial { degree: 3, offset: 1.5 },
            KernelKind::Polynomial { degree: 1, offset: 2.0 },
        ] {
            let kernel = KernelSpec { kind, sigma: 1.0 }.build::<f64>().unwrap();
            let ground = Ground::new(&rows, 3, kernel).unwrap();
            let (features, width) = features_of_kernel(&ground).unwrap().unwrap();
            for (x, one) in rows.chunks_exact(3).zip(features.chunks_exact(width)) {
                for (y, other) in rows.chunks_exact(3).zip(features.chunks_exact(width)) {
                    let product: f64 = one.iter().zip(other).map(|(a, b)| a * b).sum();
                    let value = kernel.value(x, y);
                    // Some twenty terms, each with a few roundings, of up to 12.5³.
                    assert!((product - value).abs() < 1e-11, "{kind:?}: {product} {value}");
                }
            }
        }
        let gaussian = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }.build::<f64>().unwrap();
        assert!(features_of_kernel(&Ground::new(&rows, 3, gaussian).unwrap()).unwrap().is_none());
        // As many monomials as rows, or more: 3 + 2 over 2.
        assert!(monomials(3, 2, 6).is_some_and(|powers| powers.len() == 6));
        assert!(monomials(3, 2, 5).is_none() && monomials(2_000, 9, 4_096).is_none());
    }
}
