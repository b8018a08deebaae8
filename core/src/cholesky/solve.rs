//! Triangular systems: `c²/2` multiply-adds each.

use super::Cholesky;
use crate::memory::{check_width, row};
use crate::scalar::dot;
use crate::{Error, Scalar};

/// `L z = b` for the first `order` rows, in place.
pub(super) fn forward<T: Scalar>(square: &[T], stride: usize, order: usize, b: &mut [T]) {
    for k in 0..order {
        let Some((&pivot, left)) = row(square, stride, k, k + 1).split_last() else { return };
        let Some((z, rest)) = b.split_at_mut_checked(k) else { return };
        let Some(b) = rest.first_mut() else { return };
        *b = (*b - dot(left, z)) / pivot;
    }
}

impl<T: Scalar> Cholesky<'_, T> {
    /// `L z = b`, in place.
    ///
    /// # Errors
    /// [`Error::Width`] unless `b` has an entry per member.
    pub fn solve_lower(&self, b: &mut [T]) -> Result<(), Error> {
        check_width(self.order, b.len())?;
        forward(self.square, self.stride, self.order, b);
        Ok(())
    }

    /// `Lᵀ x = z`, in place.
    ///
    /// # Errors
    /// [`Error::Width`] unless `z` has an entry per member.
    pub fn solve_upper(&self, z: &mut [T]) -> Result<(), Error> {
        check_width(self.order, z.len())?;
        for k in (0..self.order).rev() {
            let Some((&pivot, left)) = self.row(k).split_last() else { break };
            let Some((before, rest)) = z.split_at_mut_checked(k) else { break };
            let Some(x) = rest.first_mut() else { break };
            *x /= pivot;
            for (z, &entry) in before.iter_mut().zip(left) {
                *z -= entry * *x;
            }
        }
        Ok(())
    }

    /// `K_YY x = b`, in place.
    ///
    /// # Errors
    /// [`Error::Width`] unless `b` has an entry per member.
    pub fn solve(&self, b: &mut [T]) -> Result<(), Error> {
        self.solve_lower(b)?;
        self.solve_upper(b)
    }
}
