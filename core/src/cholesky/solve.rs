//! Triangular systems: `c²/2` multiply-adds each.

use super::Cholesky;
use crate::error::{Error, Known};
use crate::memory::{check_length, rows_of};
use crate::scalar::{Scalar, dot};

/// Rows of a tile: enough independent sums to hide the latency of each, with shared operands loaded once.
pub(super) const TILE: usize = 8;
/// The columns that are used together, and the rows of a tile where a whole one does not fit.
const HALF: usize = TILE / 2;

/// Solve `L z = b` in place, for a triangle whose rows are not in a square: each has its entries before the
/// pivot, and the pivot.
#[must_use]
pub(crate) fn substitute<'r, T: Scalar>(rows: impl Iterator<Item = (&'r [T], T)>, b: &mut [T]) -> Option<()> {
    for (k, (entries, pivot)) in rows.enumerate() {
        let (known, rest) = b.split_at_mut_checked(k)?;
        let slot = rest.first_mut()?;
        *slot = (*slot - dot(entries, known)) / pivot;
    }
    Some(())
}

/// Solve `L z = b` for the first `order` rows, in place: `z_k = (b_k - l_k0 z_0 - l_k1 z_1 - …) / l_kk`, in
/// this order.
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
        rows = whole_tile(rows, stride, j, b)?;
    }
    if order % TILE >= HALF {
        rows = half_tile(rows, stride, order / TILE * 2, b)?;
    }
    let k = order - order % HALF;
    match order % HALF {
        // A landmark less than a multiple of four, as in each try of the open slot.
        3 => last::<T, 3>(rows, stride, k, b),
        _ => (k..order).zip(rows_of(rows, stride)).try_for_each(|(at, row)| last_one(row, at, b)),
    }
}

/// [`forward`] for the `j`-th [`TILE`] rows, with which `rows` begins. Return the rows after them.
#[inline(always)]
fn whole_tile<'s, T: Scalar>(rows: &'s [T], stride: usize, j: usize, b: &mut [T]) -> Option<&'s [T]> {
    let (known, places) = b.as_chunks_mut().0.split_at_mut_checked(2 * j)?;
    let (upper, rows) = Four::read(rows, stride, 2 * j)?;
    let (lower, rows) = Four::read(rows, stride, 2 * j)?;
    let [first, second] = places.first_chunk_mut()?;
    let (mut y, mut z) = (*first, *second);
    for i in 0..known.len() {
        let known = known.get(i)?;
        y = less(y, upper.before(i)?, known);
        z = less(z, lower.before(i)?, known);
    }
    let y = corner(y, upper.own(0)?);
    let z = corner(less(z, lower.own(0)?, &y), lower.own(1)?);
    (*first, *second) = (y, z);
    Some(rows)
}

/// [`forward`] for the `j`-th [`HALF`] rows, with which `rows` begins. Return the rows after them.
#[inline(always)]
fn half_tile<'s, T: Scalar>(rows: &'s [T], stride: usize, j: usize, b: &mut [T]) -> Option<&'s [T]> {
    let (known, places) = b.as_chunks_mut().0.split_at_mut_checked(j)?;
    let (upper, rows) = Four::read(rows, stride, j)?;
    let place = places.first_mut()?;
    let mut y = *place;
    for i in 0..known.len() {
        y = less(y, upper.before(i)?, known.get(i)?);
    }
    *place = corner(y, upper.own(0)?);
    Some(rows)
}

/// Four rows of the factor in blocks of four columns: those before the rows' own tile, and the others.
struct Four<'s, T> {
    before: [&'s [[T; HALF]]; 4],
    own: [&'s [[T; HALF]]; 4],
}

impl<'s, T> Four<'s, T> {
    /// Read the rows with which `rows` begins, whose tile begins at block `j`. Return them and the rows after
    /// them.
    #[inline(always)]
    fn read(rows: &'s [T], stride: usize, j: usize) -> Option<(Self, &'s [T])> {
        let (a, rows) = rows.split_at_checked(stride)?;
        let (b, rows) = rows.split_at_checked(stride)?;
        let (c, rows) = rows.split_at_checked(stride)?;
        let (d, rows) = rows.split_at_checked(stride)?;
        let (a, own_a) = a.as_chunks().0.split_at_checked(j)?;
        let (b, own_b) = b.as_chunks().0.split_at_checked(j)?;
        let (c, own_c) = c.as_chunks().0.split_at_checked(j)?;
        let (d, own_d) = d.as_chunks().0.split_at_checked(j)?;
        Some((Self { before: [a, b, c, d], own: [own_a, own_b, own_c, own_d] }, rows))
    }

    #[inline(always)]
    fn before(&self, i: usize) -> Option<[&'s [T; HALF]; 4]> {
        let [a, b, c, d] = self.before;
        Some([a.get(i)?, b.get(i)?, c.get(i)?, d.get(i)?])
    }

    #[inline(always)]
    fn own(&self, i: usize) -> Option<[&'s [T; HALF]; 4]> {
        let [a, b, c, d] = self.own;
        Some([a.get(i)?, b.get(i)?, c.get(i)?, d.get(i)?])
    }
}

// Written out: at `opt-level = "s"` no loop is unrolled, and the sums of a loop would stay in memory.

/// Subtract the products of four entries and the values that they multiply, in order.
#[inline(always)]
fn less_one<T: Scalar>(sum: T, [a, b, c, d]: &[T; HALF], [s, t, u, v]: &[T; HALF]) -> T {
    sum - *a * *s - *b * *t - *c * *u - *d * *v
}

/// [`less_one`] for four rows.
#[inline(always)]
fn less<T: Scalar>(sums: [T; 4], rows: [&[T; HALF]; 4], known: &[T; HALF]) -> [T; 4] {
    let ([w, x, y, z], [a, b, c, d]) = (sums, rows);
    [less_one(w, a, known), less_one(x, b, known), less_one(y, c, known), less_one(z, d, known)]
}

/// Solve the triangle at the end of four rows.
#[inline(always)]
fn corner<T: Scalar>([w, x, y, z]: [T; 4], rows: [&[T; HALF]; 4]) -> [T; 4] {
    let [&[p, ..], &[a, q, ..], &[b, c, r, _], &[d, e, f, s]] = rows;
    let w = w / p;
    let x = (x - a * w) / q;
    let y = (y - b * w - c * x) / r;
    [w, x, y, (z - d * w - e * x - f * y) / s]
}

/// [`forward`] for the `R` rows from `k` on, with which `rows` begins: fewer than [`HALF`], which `k` is a
/// multiple of.
#[inline(always)]
fn last<T: Scalar, const R: usize>(mut rows: &[T], stride: usize, k: usize, b: &mut [T]) -> Option<()> {
    let (known, places) = b.split_at_mut_checked(k)?;
    let (known, places) = (known.as_chunks().0, places.first_chunk_mut::<R>()?);
    let mut before: [&[[T; HALF]]; R] = [&[]; R];
    let mut triangle: [&[T]; R] = [&[]; R];
    for (before, triangle) in before.iter_mut().zip(&mut triangle) {
        let (row, after) = rows.split_at_checked(stride)?;
        let (row, own) = row.split_at_checked(k)?;
        (*before, *triangle) = (row.as_chunks().0, own);
        rows = after;
    }
    let mut values = *places;
    for i in 0..known.len() {
        let known = known.get(i)?;
        for (value, row) in values.iter_mut().zip(before) {
            *value = less_one(*value, row.get(i)?, known);
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

/// [`last`] for one row: its sum has the same order.
#[inline(always)]
fn last_one<T: Scalar>(row: &[T], k: usize, b: &mut [T]) -> Option<()> {
    let (known, rest) = b.split_at_mut_checked(k)?;
    let (entries, own) = row.split_at_checked(k)?;
    let value = rest.first_mut()?;
    for (&entry, &z) in entries.iter().zip(known.iter()) {
        *value -= entry * z;
    }
    *value /= *own.first()?;
    Some(())
}

impl<T: Scalar> Cholesky<'_, T> {
    /// Solve `L z = b`, in place.
    ///
    /// # Errors
    /// [`Error::Length`] unless `b` has an entry per member.
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Workspace};
    ///
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, &[9.0, 6.0, 6.0, 5.0])?; // L = [3 0; 2 1]
    /// let mut b = [3.0, 4.0];
    /// factor.solve_lower(&mut b)?;
    /// assert_eq!(b, [1.0, 2.0]);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn solve_lower(&self, b: &mut [T]) -> Result<(), Error> {
        check_length(self.order, b.len())?;
        forward(self.square, self.stride, self.order, b).known()
    }

    /// Solve `Lᵀ x = z`, in place.
    ///
    /// # Errors
    /// [`Error::Length`] unless `z` has an entry per member.
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Workspace};
    ///
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, &[9.0, 6.0, 6.0, 5.0])?; // L = [3 0; 2 1]
    /// let mut z = [7.0, 2.0];
    /// factor.solve_upper(&mut z)?;
    /// assert_eq!(z, [1.0, 2.0]);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
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
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Error, Workspace};
    ///
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, &[9.0, 6.0, 6.0, 5.0])?;
    /// let mut b = [21.0, 16.0];
    /// factor.solve(&mut b)?;
    /// assert_eq!(b, [1.0, 2.0]);
    /// assert_eq!(factor.solve(&mut [0.0]), Err(Error::Length { expected: 2, found: 1 }));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn solve(&self, b: &mut [T]) -> Result<(), Error> {
        self.solve_lower(b)?;
        self.solve_upper(b)
    }
}
