//! Matrix products whose last digits do not depend on the number of threads, and orthonormal bases.

use dpp_nystrom::faer::linalg::matmul::{dot::inner_prod, matmul};
use dpp_nystrom::faer::{Accum, Col, ColRef, Conj, Mat, MatRef, Par};

/// Parts into which a product is split.
pub(crate) const PARTS: usize = 8;

/// Return `A B`, summed in an order that does not depend on the threads.
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::<f64>::zeros(a.nrows(), b.ncols());
    matmul(product.as_mut(), Accum::Replace, a, b, 1.0, Par::rayon(PARTS));
    product
}

/// An orthonormal basis, built one vector at a time.
#[derive(Debug, Default)]
pub(crate) struct Basis {
    vectors: Vec<Col<f64>>,
}

impl Basis {
    /// Add the component of a vector orthogonal to the basis, and return the new basis vector; none if that
    /// component is rounding, at most `n ε` of the vector. `O(n)` per vector of the basis.
    pub(crate) fn push(&mut self, vector: Col<f64>) -> Option<&Col<f64>> {
        let floor = vector.nrows() as f64 * f64::EPSILON * vector.norm_l2();
        let mut left = vector;
        // Twice is enough (Giraud, Langou and Rozložník 2005).
        for _ in 0..2 {
            for known in &self.vectors {
                let share = dot(known.as_ref(), left.as_ref());
                left -= share * known;
            }
        }
        let norm = left.norm_l2();
        if !(norm > floor) {
            return None;
        }
        self.vectors.push((1.0 / norm) * left);
        self.vectors.last()
    }

    pub(crate) fn vectors(&self) -> &[Col<f64>] {
        &self.vectors
    }
}

/// Return `xᵀy`.
pub(crate) fn dot(x: ColRef<'_, f64>, y: ColRef<'_, f64>) -> f64 {
    inner_prod(x.transpose(), Conj::No, y, Conj::No)
}

#[cfg(test)]
mod tests {
    use super::{Basis, dot};
    use dpp_nystrom::faer::Col;

    /// Powers of nearly equal values, linearly dependent up to some 10⁻¹⁰.
    #[test]
    fn nearly_dependent_vectors_become_orthonormal() {
        let mut basis = Basis::default();
        for power in 0..8 {
            assert!(basis.push(Col::from_fn(50, |i| (1.0 + 0.02 * i as f64).powi(power))).is_some());
        }
        for (i, one) in basis.vectors().iter().enumerate() {
            for (j, other) in basis.vectors().iter().enumerate() {
                let expected = f64::from(u8::from(i == j));
                assert!((dot(one.as_ref(), other.as_ref()) - expected).abs() < 1e-14, "{i} {j}");
            }
        }
        let dependent = &basis.vectors()[2] + 3.0 * &basis.vectors()[5];
        assert!(basis.push(dependent).is_none());
        assert!(basis.push(Col::zeros(50)).is_none());
    }
}
