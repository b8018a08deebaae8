//! Append a member at the last place.

use super::Cholesky;
use super::solve::forward;
use crate::error::{Error, Known};
use crate::memory::{check_capacity, check_length, row_mut};
use crate::scalar::{Scalar, dot};

impl<T: Scalar> Cholesky<'_, T> {
    /// Append a member, given its entries with the present members in their order and its diagonal entry.
    ///
    /// # Errors
    /// [`Error::Length`] unless `column` has an entry per member, [`Error::Capacity`] when full,
    /// [`Error::NotFinite`], and [`Error::NotPositive`] when the new member depends on the others.
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Error, Workspace};
    ///
    /// let mut memory = Workspace::<f64, 3>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.append(&[], 9.0)?;
    /// factor.append(&[6.0], 5.0)?; // [9 6; 6 5]
    /// assert_eq!(factor.row(1), [2.0, 1.0]);
    /// assert_eq!(factor.append(&[9.0, 6.0], 9.0), Err(Error::NotPositive { pivot: 2 })); // a copy of the first
    /// assert_eq!((factor.order(), factor.capacity()), (2, 3));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn append(&mut self, column: &[T], diagonal: T) -> Result<(), Error> {
        self.load(column, diagonal)?;
        self.append_loaded(diagonal)
    }

    /// Check a column and copy it to the working column.
    pub(super) fn load(&mut self, column: &[T], diagonal: T) -> Result<(), Error> {
        check_length(self.order, column.len())?;
        let entries = column.iter().chain(core::iter::once(&diagonal));
        if let Some(at) = entries.into_iter().position(|entry| !entry.is_finite()) {
            return Err(Error::NotFinite { row: self.order, column: at });
        }
        for (working, &entry) in self.column.iter_mut().zip(column) {
            *working = entry;
        }
        Ok(())
    }

    /// [`append`](Self::append) of the working column.
    pub(crate) fn append_loaded(&mut self, diagonal: T) -> Result<(), Error> {
        let order = self.order;
        check_capacity(order + 1, self.stride)?;
        let z = self.column.get_mut(..order).known()?;
        forward(self.square, self.stride, order, z).known()?;
        let residual = diagonal - dot(z, z);
        if !(residual > Self::floor(order, diagonal)) {
            return Err(Error::NotPositive { pivot: order });
        }
        self.write_row(order, residual).known()?;
        self.order = order + 1;
        Ok(())
    }

    /// Write the working column and the square root of its residual as row `i`.
    #[must_use]
    pub(super) fn write_row(&mut self, i: usize, residual: T) -> Option<()> {
        let (pivot, left) = row_mut(self.square, self.stride, i, i + 1)?.split_last_mut()?;
        for (entry, &z) in left.iter_mut().zip(self.column.iter()) {
            *entry = z;
        }
        *pivot = residual.sqrt();
        Some(())
    }
}
