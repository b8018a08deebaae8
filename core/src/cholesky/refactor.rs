//! The factor anew from the matrix: rounding of many swaps is forgotten.
//!
//! The new factor grows in the upper triangle, whose row `t` holds its column `t`, and moves down only when it is
//! whole: what a tile of sums needs of a column then stands side by side. [`TILE`] rows are made at a time against as
//! many columns, so that what sums share is loaded once. Each is taken in the columns' order, whatever the tile:
//! `l_kj = (a_kj - l_k0 l_j0 - l_k1 l_j1 - …) / l_jj`, and `l_kk` is the root of what is left of `a_kk`.

use super::Cholesky;
use crate::memory::check_capacity;
use crate::{Error, Scalar};

/// Rows and columns of a tile.
const TILE: usize = 4;

impl<T: Scalar> Cholesky<'_, T> {
    /// Factors the matrix of the present members anew from `entry(i, j)`, `j <= i`. `c³/6`
    /// multiply-adds and `c²/2` entries.
    ///
    /// # Errors
    /// [`Error::NotFinite`], and [`Error::NotPositive`] with the pivot at which the matrix proved
    /// singular; the factor is as it was.
    pub fn refactor(&mut self, entry: impl FnMut(usize, usize) -> T) -> Result<(), Error> {
        self.factor(self.order, entry)
    }

    /// Factors a matrix of `order` members, in the place of those that there were, from `entry(i, j)`, `j <= i`:
    /// at the cost of [`refactor`](Self::refactor).
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Stack};
    ///
    /// let matrix = [[4.0, 2.0], [2.0, 5.0]];
    /// let mut memory = Stack::<f64, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, |i, j| matrix[i][j])?;
    /// assert_eq!((factor.row(0), factor.row(1)), (&[2.0][..], &[1.0, 2.0][..]));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`refactor`](Self::refactor), and [`Error::Capacity`]; the factor is as it was.
    pub fn factor(&mut self, order: usize, mut entry: impl FnMut(usize, usize) -> T) -> Result<(), Error> {
        check_capacity(order, self.stride)?;
        for k in 0..order {
            self.read(k, &mut entry)?;
            if k % TILE == TILE - 1 {
                self.make_tile(k + 1 - TILE)?;
            } else if k >= order - order % TILE {
                self.make_row(k)?;
            }
        }
        self.move_down(order);
        self.order = order;
        Ok(())
    }

    /// Row `k` of the matrix comes into column `k` of the upper triangle, its diagonal entry into the working
    /// column.
    #[inline(always)]
    fn read(&mut self, k: usize, entry: &mut impl FnMut(usize, usize) -> T) -> Result<(), Error> {
        let diagonal = entry(k, k);
        if !diagonal.is_finite() {
            return Err(Error::NotFinite { row: k, column: k });
        }
        if let Some(slot) = self.column.get_mut(k) {
            *slot = diagonal;
        }
        for (j, row) in self.square.chunks_exact_mut(self.stride.max(1)).take(k).enumerate() {
            let value = entry(k, j);
            if !value.is_finite() {
                return Err(Error::NotFinite { row: k, column: j });
            }
            if let Some(slot) = row.get_mut(k) {
                *slot = value;
            }
        }
        Ok(())
    }

    /// Makes a tile of rows of the new factor, those from `k` on, from the matrix's. What is not there is lent memory,
    /// whose lengths were checked.
    fn make_tile(&mut self, k: usize) -> Result<(), Error> {
        for j in (0..k).step_by(TILE) {
            self.tile::<TILE, TILE>(j, k);
        }
        self.corner(k).unwrap_or(Ok(()))
    }

    /// The same of row `k` alone.
    fn make_row(&mut self, k: usize) -> Result<(), Error> {
        let tiles = k - k % TILE;
        for j in (0..tiles).step_by(TILE) {
            self.tile::<TILE, 1>(j, k);
        }
        for j in tiles..k {
            self.tile::<1, 1>(j, k);
        }
        let Some([[residual]]) = self.corner_products(k) else { return Ok(()) };
        self.new_pivot(k, residual).map(|_| ())
    }

    /// The entries of the rows from `k` on in the `A` columns from `j` on.
    #[inline(always)]
    fn tile<const A: usize, const B: usize>(&mut self, j: usize, k: usize) -> Option<()> {
        let stride = self.stride;
        let (above, own) = self.square.split_at_mut_checked(j.wrapping_mul(stride))?;
        let pivots = self.column.get(j..)?.first_chunk::<A>()?;
        let mut tile = [[T::ZERO; B]; A];
        let mut rest = &*own;
        for values in &mut tile {
            let (row, after) = rest.split_at_checked(stride)?;
            *values = *row.get(k..)?.first_chunk()?;
            rest = after;
        }
        let mut rest = &*above;
        for _ in 0..j {
            let (row, after) = rest.split_at_checked(stride)?;
            let of_j = row.get(j..)?.first_chunk::<A>()?;
            let of_k = row.get(k..)?.first_chunk::<B>()?;
            for (values, &entry) in tile.iter_mut().zip(of_j) {
                take_product(values, entry, of_k);
            }
            rest = after;
        }
        let mut rest = own;
        for (a, &pivot) in pivots.iter().enumerate() {
            let (row, after) = rest.split_at_mut_checked(stride)?;
            let of_j = *row.get(j..)?.first_chunk::<A>()?;
            let (done, below) = tile.split_at_mut_checked(a + 1)?;
            let done = done.last_mut()?;
            for value in done.iter_mut() {
                *value /= pivot;
            }
            for (values, &entry) in below.iter_mut().zip(of_j.get(a + 1..)?) {
                take_product(values, entry, done);
            }
            *row.get_mut(k..)?.first_chunk_mut()? = *done;
            rest = after;
        }
        Some(())
    }

    /// The entries of a tile of rows, those from `k` on, in their own columns, and the pivots. Written out, since a
    /// loop over pivots is not unrolled, and keeps what it works on in memory.
    #[inline(always)]
    fn corner(&mut self, k: usize) -> Option<Result<(), Error>> {
        let [[s0, b0, c0, d0], [_, s1, c1, d1], [_, _, s2, d2], [_, _, _, s3]] = self.corner_products(k)?;
        let pivot = match self.new_pivot(k, s0) {
            Ok(pivot) => pivot,
            Err(error) => return Some(Err(error)),
        };
        let (b0, c0, d0) = (b0 / pivot, c0 / pivot, d0 / pivot);
        let pivot = match self.new_pivot(k + 1, s1 - b0 * b0) {
            Ok(pivot) => pivot,
            Err(error) => return Some(Err(error)),
        };
        let (c1, d1) = ((c1 - b0 * c0) / pivot, (d1 - b0 * d0) / pivot);
        let pivot = match self.new_pivot(k + 2, s2 - c0 * c0 - c1 * c1) {
            Ok(pivot) => pivot,
            Err(error) => return Some(Err(error)),
        };
        let d2 = (d2 - c0 * d0 - c1 * d1) / pivot;
        if let Err(error) = self.new_pivot(k + 3, s3 - d0 * d0 - d1 * d1 - d2 * d2) {
            return Some(Err(error));
        }
        let stride = self.stride;
        let (row, rest) = self.square.get_mut(k.wrapping_mul(stride)..)?.split_at_mut_checked(stride)?;
        *row.get_mut(k + 1..)?.first_chunk_mut()? = [b0, c0, d0];
        let (row, rest) = rest.split_at_mut_checked(stride)?;
        *row.get_mut(k + 2..)?.first_chunk_mut()? = [c1, d1];
        *rest.get_mut(k + 3)? = d2;
        Some(Ok(()))
    }

    /// The root of what is left of the `k`-th diagonal entry, which it takes the place of.
    #[inline(always)]
    fn new_pivot(&mut self, k: usize, residual: T) -> Result<T, Error> {
        let Some(slot) = self.column.get_mut(k) else { return Ok(residual) };
        if !(residual > Self::floor(k, *slot)) {
            return Err(Error::NotPositive { pivot: k });
        }
        *slot = residual.sqrt();
        Ok(*slot)
    }

    /// The entries on and above the diagonal of the rows from `k` on in their own columns, less the products of the
    /// columns before.
    #[inline(always)]
    fn corner_products<const R: usize>(&self, k: usize) -> Option<[[T; R]; R]> {
        let stride = self.stride;
        let (above, own) = self.square.split_at_checked(k.wrapping_mul(stride))?;
        let diagonals = self.column.get(k..)?.first_chunk::<R>()?;
        let mut tile = [[T::ZERO; R]; R];
        let mut rest = own;
        for (a, (values, &diagonal)) in tile.iter_mut().zip(diagonals).enumerate() {
            let (row, after) = rest.split_at_checked(stride)?;
            *values = *row.get(k..)?.first_chunk()?;
            *values.get_mut(a)? = diagonal;
            rest = after;
        }
        let mut rest = above;
        for _ in 0..k {
            let (row, after) = rest.split_at_checked(stride)?;
            let of_k = row.get(k..)?.first_chunk::<R>()?;
            for (values, &entry) in tile.iter_mut().zip(of_k) {
                take_product(values, entry, of_k);
            }
            rest = after;
        }
        Some(tile)
    }

    /// The new factor to its place under the diagonal, and the pivots on it.
    fn move_down(&mut self, order: usize) {
        let stride = self.stride;
        for k in (0..order).step_by(TILE) {
            let Some((above, own)) = self.square.split_at_mut_checked(k.wrapping_mul(stride)) else { return };
            if let Some((a, rest)) = own.split_at_mut_checked(stride)
                && let Some((b, rest)) = rest.split_at_mut_checked(stride)
                && let Some((c, d)) = rest.split_at_mut_checked(stride)
                && k + TILE <= order
            {
                let slots = a.iter_mut().zip(b).zip(c.iter_mut().zip(d));
                for (((a, b), (c, d)), row) in slots.zip(above.chunks_exact(stride.max(1))) {
                    let Some(entries) = row.get(k..).and_then(|row| row.first_chunk::<TILE>()) else {
                        return;
                    };
                    [*a, *b, *c, *d] = *entries;
                }
            }
        }
        for k in 0..order {
            let tiles = if k < order - order % TILE { k - k % TILE } else { 0 };
            for t in tiles..k {
                let value = self.square.get(t * stride + k).copied().unwrap_or(T::ZERO);
                if let Some(slot) = self.square.get_mut(k * stride + t) {
                    *slot = value;
                }
            }
            if let (Some(diagonal), Some(&pivot)) = (self.square.get_mut(k * stride + k), self.column.get(k))
            {
                *diagonal = pivot;
            }
        }
    }
}

/// `values -= entry · others`.
#[inline(always)]
fn take_product<T: Scalar>(values: &mut [T], entry: T, others: &[T]) {
    for (value, &other) in values.iter_mut().zip(others) {
        *value -= entry * other;
    }
}
