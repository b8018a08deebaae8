//! The factor anew from the matrix: rounding of many swaps is forgotten.

use super::Cholesky;
use crate::{Error, Scalar};

impl<T: Scalar> Cholesky<'_, T> {
    /// Factors the matrix of the present members anew from `entry(i, j)`, `j <= i`. `c³/6`
    /// multiply-adds and `c²/2` entries. The new factor grows in the upper triangle and moves down
    /// only when it is whole.
    ///
    /// # Errors
    /// [`Error::NotFinite`], and [`Error::NotPositive`] with the pivot at which the matrix proved
    /// singular; the factor is as it was.
    pub fn refactor(&mut self, mut entry: impl FnMut(usize, usize) -> T) -> Result<(), Error> {
        let stride = self.stride;
        for k in 0..self.order {
            let diagonal = entry(k, k);
            if !diagonal.is_finite() {
                return Err(Error::NotFinite { row: k, column: k });
            }
            let mut residual = diagonal;
            for j in 0..k {
                let mut value = entry(k, j);
                if !value.is_finite() {
                    return Err(Error::NotFinite { row: k, column: j });
                }
                // Row t of the upper triangle holds column t of the new factor.
                for upper in self.square.chunks(stride.max(1)).take(j) {
                    if let (Some(&of_k), Some(&of_j)) = (upper.get(k), upper.get(j)) {
                        value -= of_k * of_j;
                    }
                }
                value /= self.column.get(j).copied().unwrap_or(T::ONE);
                if let Some(slot) = self.square.get_mut(j * stride + k) {
                    *slot = value;
                }
                residual -= value * value;
            }
            if !(residual > Self::floor(k, diagonal)) {
                return Err(Error::NotPositive { pivot: k });
            }
            if let Some(slot) = self.column.get_mut(k) {
                *slot = residual.sqrt();
            }
        }
        for k in 0..self.order {
            for j in 0..k {
                let value = self.square.get(j * stride + k).copied().unwrap_or(T::ZERO);
                if let Some(slot) = self.square.get_mut(k * stride + j) {
                    *slot = value;
                }
            }
            if let (Some(slot), Some(&pivot)) = (self.square.get_mut(k * stride + k), self.column.get(k)) {
                *slot = pivot;
            }
        }
        Ok(())
    }
}
