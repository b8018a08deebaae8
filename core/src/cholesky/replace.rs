//! Exchange one member for another.
//!
//! [`Cholesky::swap`] computes the result without writing it: it rotates each row as
//! [`Cholesky::move_to_last`] would and uses the rotated entries for the substitution of the entering column
//! at once. So a rejected proposal leaves the factor unchanged bit for bit, and an accepted one gets exactly
//! the pivot that was computed.

use super::Cholesky;
use super::solve::{TILE, forward, forward_from};
use crate::error::{Error, Known};
use crate::memory::row;
use crate::scalar::{Scalar, apply_givens, dot, rotation};
use crate::swap::Swap;

/// Kernel entries between two comparisons of the residual: whole tiles.
const BLOCK: usize = TILE;

impl<T: Scalar> Cholesky<'_, T> {
    /// Compute how exchanging the member at `place` changes the determinant. `column` has the entering
    /// member's entries with all present members; the entry with the leaving one is ignored.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for the place, [`Error::Length`] unless `column` has an entry per
    /// member, [`Error::NotFinite`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Workspace};
    ///
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, &[9.0, 6.0, 6.0, 5.0])?; // determinant 9
    /// let swap = factor.swap(1, &[3.0, 0.0], 5.0)?; // [9 3; 3 5] has determinant 36
    /// assert!((swap.ratio() - 4.0).abs() < 1e-14);
    /// assert_eq!(factor.row(1), [2.0, 1.0]); // unchanged
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn swap(&mut self, place: usize, column: &[T], diagonal: T) -> Result<Swap<T>, Error> {
        if place >= self.order {
            return Err(Error::OutOfRange { index: place, len: self.order });
        }
        self.load(column, diagonal)?;
        self.propose(place, diagonal)
    }

    /// Exchange the member at `place` for another, which takes the last place; those after the leaving one
    /// move down by one.
    ///
    /// # Errors
    /// Those of [`swap`](Self::swap), and [`Error::NotPositive`] when the entering member depends on those
    /// that remain.
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Workspace};
    ///
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, &[9.0, 6.0, 6.0, 5.0])?;
    /// factor.replace(1, &[3.0, 0.0], 5.0)?; // [9 3; 3 5]
    /// assert!((factor.log_det() - 36.0_f64.ln()).abs() < 1e-14);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn replace(&mut self, place: usize, column: &[T], diagonal: T) -> Result<Swap<T>, Error> {
        let swap = self.swap(place, column, diagonal)?;
        if !(swap.entering > T::ZERO) {
            return Err(Error::NotPositive { pivot: self.order - 1 });
        }
        self.commit(place, swap)?;
        Ok(swap)
    }

    /// [`swap`](Self::swap) for the working column, which becomes the entering member's last row.
    pub(crate) fn propose(&mut self, place: usize, diagonal: T) -> Result<Swap<T>, Error> {
        self.propose_known(place, diagonal).known()
    }

    #[inline]
    fn propose_known(&mut self, place: usize, diagonal: T) -> Option<Swap<T>> {
        let (stride, order) = (self.stride, self.order);
        forward(self.square, stride, place, self.column)?;
        for k in place + 1..order {
            let z = self.substitute_rotated(place, k)?;
            *self.column.get_mut(k - 1)? = z;
        }
        let z = self.column.get(..order.saturating_sub(1))?;
        let residual = diagonal - dot(z, z);
        let entering =
            if residual > Self::floor(order.saturating_sub(1), diagonal) { residual } else { T::ZERO };
        Some(Swap { entering, leaving: self.residual_of(place)? })
    }

    /// Return the substitution's entry for row `k`, rotating the row on the way, and store its rotation.
    #[inline]
    fn substitute_rotated(&mut self, place: usize, k: usize) -> Option<T> {
        let (&pivot, left) = row(self.square, self.stride, k, k + 1)?.split_last()?;
        let (head, tail) = left.split_at_checked(place)?;
        let (&first, tail) = tail.split_first()?;
        let (z, rest) = self.column.split_at_checked(k - 1)?;
        let (z_head, z_tail) = z.split_at_checked(place)?;
        let (known, slot) = self.rotations.get_mut(place + 1..=k)?.split_at_mut_checked(k - place - 1)?;
        let mut sum = dot(head, z_head);
        let mut carried = first;
        for ((&entry, &rotation), &z) in tail.iter().zip(known.iter()).zip(z_tail) {
            sum += apply_givens(entry, &mut carried, rotation) * z;
        }
        let (rotation, pivot) = rotation(pivot, carried);
        *slot.first_mut()? = rotation;
        Some((*rest.get(1)? - sum) / pivot)
    }

    /// Write the working column and the square root of `residual` as the last row.
    pub(crate) fn overwrite_last(&mut self, residual: T) -> Result<(), Error> {
        self.write_row(self.order.saturating_sub(1), residual).known()
    }

    /// Return the residual of a row given all members but the last, or none as soon as it is known to be at
    /// or under `threshold`. The row's entries come in blocks into the working column, from
    /// `entries(range, column)`, and leave it as the substitution. A residual that is NaN or infinite ends
    /// the computation too and is returned.
    pub(crate) fn residual_above(
        &mut self,
        diagonal: T,
        threshold: T,
        mut entries: impl FnMut(core::ops::Range<usize>, &mut [T]) -> Result<(), Error>,
    ) -> Result<Option<T>, Error> {
        let others = self.order.saturating_sub(1);
        let mut residual = diagonal;
        let mut from = 0;
        while from < others {
            let to = others.min(from + BLOCK);
            entries(from..to, self.column.get_mut(from..to).known()?)?;
            forward_from(self.square, self.stride, from, to, self.column).known()?;
            let mut less = |&z: &T| residual -= z * z;
            match self.column.get(from..to).known()? {
                // Written out: at `opt-level = "s"` no loop is unrolled.
                [s, t, u, v, w, x, y, z] => {
                    less(s);
                    less(t);
                    less(u);
                    less(v);
                    less(w);
                    less(x);
                    less(y);
                    less(z);
                }
                z => z.iter().for_each(less),
            }
            if residual <= threshold {
                // Minus infinity is an entry that was not finite.
                return Ok(if residual.is_finite() { None } else { Some(residual) });
            }
            from = to;
        }
        Ok(Some(residual))
    }

    /// Carry out the swap that [`propose`](Self::propose) has just computed.
    pub(crate) fn commit(&mut self, place: usize, swap: Swap<T>) -> Result<(), Error> {
        self.move_to_last(place)?;
        self.overwrite_last(swap.entering)
    }
}
