//! Which eigenvectors an exact sample of a c-DPP is taken from.
//!
//! Each set `J` of c eigenvectors has the probability `Π_{j∈J} λ_j / e_c(λ)`. Going from the last eigenvalue
//! to the first, each is selected with probability `λ_m e_{l-1}(λ_1..λ_{m-1}) / e_l(λ_1..λ_m)`, where `l` is
//! the number still to be selected. The polynomials are tabulated once as logarithms.

use crate::error::Error;
use crate::linalg::{dot, elementary_symmetric::SymmetricTable};
use dpp_nystrom_core::Error as CoreError;
use rand_core::Rng;

/// The law of the sets of c eigenvectors, of which the positive eigenvalues are known. `(rank + 1)(c + 1)`
/// numbers.
#[derive(Debug)]
pub(crate) struct EigenvectorLaw<'a> {
    values: &'a [f64],
    table: SymmetricTable,
    c: usize,
}

impl<'a> EigenvectorLaw<'a> {
    /// Tabulate the law. `O(rank c)`.
    pub(crate) fn new(values: &'a [f64], c: usize) -> Result<Self, Error> {
        if c > values.len() {
            return Err(Error::landmarks(CoreError::RankDeficient { rank: values.len(), landmarks: c }));
        }
        Ok(Self { values, table: SymmetricTable::new(values, c)?, c })
    }

    /// Return `log e_c` of the eigenvalues.
    pub(crate) fn log_normaliser(&self) -> f64 {
        self.table.log(self.values.len(), self.c)
    }

    /// Draw a set, and return its indices.
    pub(crate) fn draw<R: Rng + ?Sized>(&self, random: &mut R) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(self.c);
        for m in (1..=self.values.len()).rev() {
            let left = self.c - chosen.len();
            if left == 0 {
                break;
            }
            if left == m || uniform(random) < self.probability(m, left) {
                chosen.push(m - 1);
            }
        }
        chosen
    }

    /// Return the probability of each eigenvector to be in the set; the sum is c.
    pub(crate) fn shares(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.values.len()];
        // The law of how many are still to be selected.
        let mut left = vec![0.0; self.c + 1];
        left[self.c] = 1.0;
        for m in (1..=self.values.len()).rev() {
            for count in 1..=self.c {
                let moved = left[count] * self.probability(m, count);
                left[count] -= moved;
                left[count - 1] += moved;
                shares[m - 1] += moved;
            }
        }
        shares
    }

    /// Return the probability that eigenvector `m`, from 1, is selected if `left` of the first `m` are.
    fn probability(&self, m: usize, left: usize) -> f64 {
        // All that remain if exactly as many are needed, whatever the rounding.
        if left >= m {
            return 1.0;
        }
        let log = self.values[m - 1].ln() + self.table.log(m - 1, left - 1) - self.table.log(m, left);
        log.exp().min(1.0)
    }
}

/// Return a uniform number in [0, 1) with 53 random bits.
pub(crate) fn uniform<R: Rng + ?Sized>(random: &mut R) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Return the normalised component of `vector` orthogonal to an orthonormal basis. Two passes of Gram-Schmidt
/// are enough (Giraud, Langou and Rozložník 2005).
pub(crate) fn orthogonal(mut vector: Vec<f64>, basis: &[Vec<f64>]) -> Vec<f64> {
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
