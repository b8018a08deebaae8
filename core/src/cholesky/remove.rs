//! Remove a member, or move it to the last place.
//!
//! Without row `i`, the rows of `L` after it have one column too many. Givens rotations combine column `i`
//! with their diagonals, row by row. The rotated rows are the factor of the other members. The same
//! rotations, applied to row `i`, give its row at the last place, whose pivot is the square root of its
//! residual given all others.

use super::Cholesky;
use crate::error::{Error, Known};
use crate::memory::{row, row_mut, rows_of_mut};
use crate::scalar::{Scalar, apply_givens, rotation};
use core::cell::Cell;
use core::mem::swap;

impl<T: Scalar> Cholesky<'_, T> {
    /// Remove the member at `place`; those after it move down by one.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Workspace};
    ///
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, &[9.0, 6.0, 6.0, 5.0])?;
    /// factor.remove(0)?;
    /// assert!((factor.pivot(0) - 5.0_f64.sqrt()).abs() < 1e-15); // the factor of [5]
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn remove(&mut self, place: usize) -> Result<(), Error> {
        self.move_to_last(place)?;
        self.order -= 1;
        Ok(())
    }

    /// Move the member at `place` to the last place; those after it move down by one. The matrix changes only
    /// in the order of its members.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Workspace};
    ///
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, &[9.0, 6.0, 6.0, 5.0])?;
    /// factor.move_to_last(0)?; // [5 6; 6 9]
    /// assert!((factor.pivot(0) - 5.0_f64.sqrt()).abs() < 1e-15);
    /// assert!((factor.log_det() - 9.0_f64.ln()).abs() < 1e-15); // 45 - 36
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn move_to_last(&mut self, place: usize) -> Result<(), Error> {
        if place >= self.order {
            return Err(Error::OutOfRange { index: place, len: self.order });
        }
        self.rotate_to_last(place).known()
    }

    #[must_use]
    fn rotate_to_last(&mut self, place: usize) -> Option<()> {
        let (stride, order) = (self.stride, self.order);
        // The leaving row stands before row k, with its entries up to the diagonal. The rows before it are
        // rotated already and have moved up by one.
        let mut k = place + 1;
        while k < order {
            // Rotating a row is one long chain of dependent operations. Four rows side by side hide its
            // latency, with the same arithmetic for each.
            if k + 4 <= order {
                self.pass_four(place, k)?;
                k += 4;
            } else {
                self.pass_one(place, k)?;
                k += 1;
            }
        }
        let tail = row_mut(self.square, stride, order - 1, order)?.get_mut(place..)?;
        let mut carried = *tail.first()?;
        let rotations = self.rotations.get(place + 1..order)?;
        for (entry, &rotation) in tail.iter_mut().zip(rotations) {
            *entry = apply_givens(T::ZERO, &mut carried, rotation);
        }
        *tail.last_mut()? = carried;
        Some(())
    }

    /// Rotate features `φ = L⁻¹k` as the last [`move_to_last`](Self::move_to_last), which was that of
    /// `place`, has rotated the rows of `L`: to those of the members in their new order.
    pub(crate) fn rotate_features(&self, place: usize, phi: &mut [T]) -> Result<(), Error> {
        let mut carried = *phi.get(place).known()?;
        for k in place + 1..self.order {
            let own = *phi.get(k).known()?;
            let rotation = *self.rotations.get(k).known()?;
            *phi.get_mut(k - 1).known()? = apply_givens(own, &mut carried, rotation);
        }
        *phi.get_mut(self.order.saturating_sub(1)).known()? = carried;
        Ok(())
    }

    /// Rotate row `k` and exchange it with the leaving row before it.
    #[must_use]
    fn pass_one(&mut self, place: usize, k: usize) -> Option<()> {
        let mut rows = rows_of_mut(self.square.get_mut((k - 1) * self.stride..)?, self.stride);
        let (leaving, row) = (rows.next()?, rows.next()?);
        for (upper, lower) in leaving.iter_mut().zip(row.iter_mut()).take(place) {
            swap(upper, lower);
        }
        let (own, carried) = (*leaving.get(place)?, *row.get(place)?);
        finish(row, leaving, carried, place + 1, k, self.rotations)?;
        *row.get_mut(place)? = own;
        Some(())
    }

    /// [`pass_one`](Self::pass_one) for the rows `k` to `k + 3`, side by side as far as their rotations are
    /// known.
    #[must_use]
    fn pass_four(&mut self, place: usize, k: usize) -> Option<()> {
        let mut rows = rows_of_mut(self.square.get_mut((k - 1) * self.stride..)?, self.stride);
        let (leaving, a, b) = (rows.next()?, rows.next()?, rows.next()?);
        let (c, d) = (rows.next()?, rows.next()?);
        let heads = leaving.iter_mut().zip(a.iter_mut()).zip(b.iter_mut().zip(c.iter_mut()));
        for (((leaving, a), (b, c)), d) in heads.zip(d.iter_mut()).take(place) {
            let own = *leaving;
            (*leaving, *a, *b, *c, *d) = (*a, *b, *c, *d, own);
        }
        let own = *leaving.get(place)?;
        let (mut a0, mut b0) = (*a.get(place)?, *b.get(place)?);
        let (mut c0, mut d0) = (*c.get(place)?, *d.get(place)?);
        {
            // Each row is read at an entry and written at the one before it.
            let read_d = d.get(place + 1..k)?;
            let [a, b, c] = [&mut *a, &mut *b, &mut *c].map(|row| Cell::from_mut(row).as_slice_of_cells());
            let (read_a, write_a) = (a.get(place + 1..k)?, a.get(place..k - 1)?);
            let (read_b, write_b) = (b.get(place + 1..k)?, b.get(place..k - 1)?);
            let (read_c, write_c) = (c.get(place + 1..k)?, c.get(place..k - 1)?);
            let write =
                leaving.get_mut(place..k - 1)?.iter_mut().zip(write_a).zip(write_b.iter().zip(write_c));
            let read = read_a.iter().zip(read_b).zip(read_c.iter().zip(read_d));
            let known = self.rotations.get(place + 1..k)?;
            for ((((to, to_a), (to_b, to_c)), ((a, b), (c, d))), &rotation) in write.zip(read).zip(known) {
                *to = apply_givens(a.get(), &mut a0, rotation);
                to_a.set(apply_givens(b.get(), &mut b0, rotation));
                to_b.set(apply_givens(c.get(), &mut c0, rotation));
                to_c.set(apply_givens(*d, &mut d0, rotation));
            }
        }
        finish(a, leaving, a0, k, k, self.rotations)?;
        finish(b, a, b0, k, k + 1, self.rotations)?;
        finish(c, b, c0, k, k + 2, self.rotations)?;
        finish(d, c, d0, k, k + 3, self.rotations)?;
        *d.get_mut(place)? = own;
        Some(())
    }

    /// Return `det K_YY` divided by the determinant of the others, which is the residual of the member at
    /// `place`. [`propose`](Self::propose) must have computed the rotations.
    pub(super) fn residual_of(&self, place: usize) -> Option<T> {
        let mut pivot = *row(self.square, self.stride, place, place + 1)?.last()?;
        for &[cos, _] in self.rotations.get(place + 1..self.order)? {
            pivot *= cos;
        }
        Some(pivot * pivot)
    }
}

/// Apply the rotations to the entries of row `k` from `from` on, and compute and store the rotation of its
/// pivot. The results go into `to`, one place before their own.
#[must_use]
fn finish<T: Scalar>(
    row: &[T],
    to: &mut [T],
    mut carried: T,
    from: usize,
    k: usize,
    rotations: &mut [[T; 2]],
) -> Option<()> {
    let (last, rotated) = to.get_mut(from - 1..k)?.split_last_mut()?;
    for ((rotated, &entry), &rotation) in rotated.iter_mut().zip(row.get(from..)?).zip(rotations.get(from..)?)
    {
        *rotated = apply_givens(entry, &mut carried, rotation);
    }
    let (own, pivot) = rotation(*row.get(k)?, carried);
    *last = pivot;
    *rotations.get_mut(k)? = own;
    Some(())
}
