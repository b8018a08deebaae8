//! Triangular systems: `c²/2` multiply-adds each.

use super::Cholesky;
use crate::error::{Error, Known};
use crate::memory::check_length;
use crate::scalar::Scalar;

/// Rows and columns of a tile: enough independent sums to hide the latency of each, with shared operands loaded
/// once.
pub(super) const TILE: usize = 8;
/// Half a tile, for the rows that do not fill a whole one.
const HALF: usize = TILE / 2;

/// Solve `L z = b` for the first `order` rows, in place: `z_k = (b_k - l_k0 z_0 - l_k1 z_1 - …) / l_kk`, in this
/// order.
#[must_use]
pub(super) fn forward<T: Scalar>(square: &[T], stride: usize, order: usize, b: &mut [T]) -> Option<()> {
    forward_from(square, stride, 0, order, b)
}

/// [`forward`] for the rows from `from` on, a multiple of [`TILE`], after those before are solved.
#[must_use]
pub(super) fn forward_from<T: Scalar>(
    square: &[T],
    stride: usize,
    from: usize,
    order: usize,
    b: &mut [T],
) -> Option<()> {
    let mut rows = square.get(from.wrapping_mul(stride)..)?;
    for j in from / TILE..order / TILE {
        rows = tile::<T, TILE>(rows, stride, j, b)?;
    }
    for j in order / TILE * 2..order / HALF {
        rows = tile::<T, HALF>(rows, stride, j, b)?;
    }
    let k = order - order % HALF;
    match order % HALF {
        1 => last::<T, 1>(rows, stride, k, b),
        2 => last::<T, 2>(rows, stride, k, b),
        3 => last::<T, 3>(rows, stride, k, b),
        _ => Some(()),
    }
}

/// [`forward`] for the `j`-th `R` rows, with which `rows` begins. Return the rows after them.
#[inline(always)]
fn tile<'s, T: Scalar, const R: usize>(
    mut rows: &'s [T],
    stride: usize,
    j: usize,
    b: &mut [T],
) -> Option<&'s [T]> {
    // In blocks of `R`: `j` is the only index to check.
    let (known, rest) = b.as_chunks_mut::<R>().0.split_at_mut_checked(j)?;
    let mut left: [&[[T; HALF]]; R] = [&[]; R];
    let mut corner: [&[T]; R] = [&[]; R];
    for (left, corner) in left.iter_mut().zip(&mut corner) {
        let (row, after) = rows.split_at_checked(stride)?;
        let (before, own) = row.as_chunks::<R>().0.split_at_checked(j)?;
        *left = before.as_flattened().as_chunks().0;
        *corner = own.first()?;
        rows = after;
    }
    substitute(left, corner, known.as_flattened().as_chunks().0, rest.first_mut()?)?;
    Some(rows)
}

/// [`forward`] for the `R` rows from `k` on, with which `rows` begins; `k` is a multiple of [`HALF`].
#[inline(always)]
fn last<T: Scalar, const R: usize>(mut rows: &[T], stride: usize, k: usize, b: &mut [T]) -> Option<()> {
    let (known, rest) = b.split_at_mut_checked(k)?;
    let mut left: [&[[T; HALF]]; R] = [&[]; R];
    let mut corner: [&[T]; R] = [&[]; R];
    for (left, corner) in left.iter_mut().zip(&mut corner) {
        let (row, after) = rows.split_at_checked(stride)?;
        let (before, own) = row.split_at_checked(k)?;
        *left = before.as_chunks().0;
        *corner = own;
        rows = after;
    }
    substitute(left, corner, known.as_chunks().0, rest.first_chunk_mut()?)
}

/// Solve `R` rows side by side: their entries `left` of a tile's triangle, then the triangle.
#[inline(always)]
fn substitute<T: Scalar, const R: usize>(
    left: [&[[T; HALF]]; R],
    triangle: [&[T]; R],
    known: &[[T; HALF]],
    places: &mut [T; R],
) -> Option<()> {
    let mut values = *places;
    for t in 0..known.len() {
        let known = known.get(t)?;
        for (value, left) in values.iter_mut().zip(left) {
            for (&entry, &z) in left.get(t)?.iter().zip(known) {
                *value -= entry * z;
            }
        }
    }
    for (i, entries) in triangle.iter().enumerate() {
        let (solved, rest) = values.split_at_mut_checked(i)?;
        let value = rest.first_mut()?;
        let (before, own) = entries.split_at_checked(i)?;
        for (&entry, &z) in before.iter().zip(solved.iter()) {
            *value -= entry * z;
        }
        *value /= *own.first()?;
    }
    *places = values;
    Some(())
}

impl<T: Scalar> Cholesky<'_, T> {
    /// Solve `L z = b`, in place.
    ///
    /// # Errors
    /// [`Error::Length`] unless `b` has an entry per member.
    pub fn solve_lower(&self, b: &mut [T]) -> Result<(), Error> {
        check_length(self.order, b.len())?;
        forward(self.square, self.stride, self.order, b).known()
    }

    /// Solve `Lᵀ x = z`, in place.
    ///
    /// # Errors
    /// [`Error::Length`] unless `z` has an entry per member.
    pub fn solve_upper(&self, z: &mut [T]) -> Result<(), Error> {
        check_length(self.order, z.len())?;
        for k in (0..self.order).rev() {
            let (&pivot, left) = self.row(k).split_last().known()?;
            let (before, rest) = z.split_at_mut_checked(k).known()?;
            let x = rest.first_mut().known()?;
            *x /= pivot;
            for (z, &entry) in before.iter_mut().zip(left) {
                *z -= entry * *x;
            }
        }
        Ok(())
    }

    /// Solve `K_YY x = b`, in place.
    ///
    /// # Errors
    /// [`Error::Length`] unless `b` has an entry per member.
    pub fn solve(&self, b: &mut [T]) -> Result<(), Error> {
        self.solve_lower(b)?;
        self.solve_upper(b)
    }
}
