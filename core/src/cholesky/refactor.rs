//! Factor the matrix from scratch, which removes the rounding error of many swaps.
//!
//! The new factor is built in the upper triangle, whose row `t` holds its column `t`, and copied down only when it is
//! complete. The entries that a tile of sums needs of a column are then contiguous. [`TILE`] rows are computed at a
//! time against as many columns, so that shared operands are loaded once. The order of each sum does not depend on
//! the tiles: `l_kj = (a_kj - l_k0 l_j0 - l_k1 l_j1 - …) / l_jj`, and `l_kk` is the square root of the remainder of
//! `a_kk`.

use super::Cholesky;
use crate::error::{Error, Known};
use crate::memory::{check_capacity, check_length};
use crate::scalar::Scalar;

/// Rows and columns of a tile.
const TILE: usize = 4;

impl<T: Scalar> Cholesky<'_, T> {
    /// Factor the matrix of the present members again, from `entry(i, j)`, `j <= i`. `c³/6` multiply-adds and `c²/2`
    /// entries.
    ///
    /// # Errors
    /// [`Error::NotFinite`], and [`Error::NotPositive`] with the pivot at which the matrix is singular; the factor is
    /// unchanged.
    pub fn refactor(&mut self, mut entry: impl FnMut(usize, usize) -> T) -> Result<(), Error> {
        let order = self.order;
        for k in 0..order {
            self.read(k, &mut entry)?;
            if k % TILE == TILE - 1 {
                self.make_tile(&Read, k + 1 - TILE)?;
            } else if k >= order - order % TILE {
                self.make_row(&Read, k)?;
            }
        }
        self.move_down(order).known()
    }

    /// Factor a given symmetric matrix and replace all members: `order` rows that follow one another in `matrix`, of
    /// which the lower triangle is read. Costs as much as [`refactor`](Self::refactor).
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Workspace};
    ///
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, &[4.0, 2.0, 2.0, 5.0])?;
    /// assert_eq!((factor.row(0), factor.row(1)), (&[2.0][..], &[1.0, 2.0][..]));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`refactor`](Self::refactor), [`Error::Capacity`], and [`Error::Length`] unless there are `order²`
    /// entries; the factor is unchanged.
    pub fn factor(&mut self, order: usize, matrix: &[T]) -> Result<(), Error> {
        check_capacity(order, self.stride)?;
        check_length(order.saturating_mul(order), matrix.len())?;
        let given = Given { matrix, order };
        // An entry that is not finite makes a residual that is not positive: search only where one was found.
        let place = |k| given.row(k)?.iter().take(k + 1).position(|entry| !entry.is_finite());
        let error = |error| match error {
            Error::NotPositive { pivot } => match place(pivot) {
                Some(column) => Error::NotFinite { row: pivot, column },
                None => error,
            },
            error => error,
        };
        let tiles = order - order % TILE;
        for k in (0..tiles).step_by(TILE) {
            self.make_tile(&given, k).map_err(error)?;
        }
        for k in tiles..order {
            self.make_row(&given, k).map_err(error)?;
        }
        self.move_down(order).known()?;
        self.order = order;
        Ok(())
    }

    /// Read row `k` of the matrix into column `k` of the upper triangle, and its diagonal entry into the working
    /// column.
    #[inline(always)]
    fn read(&mut self, k: usize, entry: &mut impl FnMut(usize, usize) -> T) -> Result<(), Error> {
        let diagonal = entry(k, k);
        if !diagonal.is_finite() {
            return Err(Error::NotFinite { row: k, column: k });
        }
        *self.column.get_mut(k).known()? = diagonal;
        for (j, row) in self.square.chunks_exact_mut(self.stride.max(1)).take(k).enumerate() {
            let value = entry(k, j);
            if !value.is_finite() {
                return Err(Error::NotFinite { row: k, column: j });
            }
            *row.get_mut(k).known()? = value;
        }
        Ok(())
    }

    /// Compute a tile of rows of the new factor, those from `k` on.
    fn make_tile(&mut self, source: &impl Source<T>, k: usize) -> Result<(), Error> {
        for j in (0..k).step_by(TILE) {
            self.tile::<TILE, TILE>(source, j, k).known()?;
        }
        self.corner(source, k).known()?
    }

    /// Compute row `k` alone.
    fn make_row(&mut self, source: &impl Source<T>, k: usize) -> Result<(), Error> {
        let tiles = k - k % TILE;
        for j in (0..tiles).step_by(TILE) {
            self.tile::<TILE, 1>(source, j, k).known()?;
        }
        for j in tiles..k {
            self.tile::<1, 1>(source, j, k).known()?;
        }
        let diagonal = source.diagonal(self.column, k).known()?;
        let [[residual]] = self.corner_products(source, [diagonal], k).known()?;
        self.new_pivot(k, diagonal, residual).map(|_| ())
    }

    /// Compute the entries of the `B` rows from `k` on in the `A` columns from `j` on.
    #[inline(always)]
    #[must_use]
    fn tile<const A: usize, const B: usize>(
        &mut self,
        source: &impl Source<T>,
        j: usize,
        k: usize,
    ) -> Option<()> {
        let stride = self.stride;
        let (above, own) = self.square.split_at_mut_checked(j.wrapping_mul(stride))?;
        let pivots = self.column.get(j..)?.first_chunk::<A>()?;
        let mut tile = source.tile::<A, B>(own, stride, j, k)?;
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

    /// Compute the entries of a tile of rows, those from `k` on, in their own columns, and the pivots. Written out,
    /// since a loop over pivots is not unrolled and keeps its operands in memory.
    #[inline(always)]
    fn corner(&mut self, source: &impl Source<T>, k: usize) -> Option<Result<(), Error>> {
        let mut diagonals = [T::ZERO; TILE];
        for (a, diagonal) in diagonals.iter_mut().enumerate() {
            *diagonal = source.diagonal(self.column, k + a)?;
        }
        let [e0, e1, e2, e3] = diagonals;
        let [[s0, b0, c0, d0], [_, s1, c1, d1], [_, _, s2, d2], [_, _, _, s3]] =
            self.corner_products(source, diagonals, k)?;
        let pivot = match self.new_pivot(k, e0, s0) {
            Ok(pivot) => pivot,
            Err(error) => return Some(Err(error)),
        };
        let (b0, c0, d0) = (b0 / pivot, c0 / pivot, d0 / pivot);
        let pivot = match self.new_pivot(k + 1, e1, s1 - b0 * b0) {
            Ok(pivot) => pivot,
            Err(error) => return Some(Err(error)),
        };
        let (c1, d1) = ((c1 - b0 * c0) / pivot, (d1 - b0 * d0) / pivot);
        let pivot = match self.new_pivot(k + 2, e2, s2 - c0 * c0 - c1 * c1) {
            Ok(pivot) => pivot,
            Err(error) => return Some(Err(error)),
        };
        let d2 = (d2 - c0 * d0 - c1 * d1) / pivot;
        if let Err(error) = self.new_pivot(k + 3, e3, s3 - d0 * d0 - d1 * d1 - d2 * d2) {
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

    /// Store and return the square root of what remains of the `k`-th diagonal entry.
    #[inline(always)]
    fn new_pivot(&mut self, k: usize, diagonal: T, residual: T) -> Result<T, Error> {
        if !(residual > Self::floor(k, diagonal)) {
            return Err(Error::NotPositive { pivot: k });
        }
        let pivot = residual.sqrt();
        *self.column.get_mut(k).known()? = pivot;
        Ok(pivot)
    }

    /// Return the entries on and above the diagonal of the rows from `k` on in their own columns, minus the products of
    /// the columns before.
    #[inline(always)]
    fn corner_products<const R: usize>(
        &self,
        source: &impl Source<T>,
        diagonals: [T; R],
        k: usize,
    ) -> Option<[[T; R]; R]> {
        let stride = self.stride;
        let (above, own) = self.square.split_at_checked(k.wrapping_mul(stride))?;
        let mut tile = source.tile::<R, R>(own, stride, k, k)?;
        for (a, (values, diagonal)) in tile.iter_mut().zip(diagonals).enumerate() {
            *values.get_mut(a)? = diagonal;
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

    /// Copy the new factor below the diagonal, and the pivots onto it.
    #[must_use]
    fn move_down(&mut self, order: usize) -> Option<()> {
        let tiles = order - order % TILE;
        for k in (0..tiles).step_by(TILE) {
            self.move_tile_down(k)?;
        }
        for k in tiles..order {
            for t in 0..k {
                let value = *self.square.get(t * self.stride + k)?;
                *self.square.get_mut(k * self.stride + t)? = value;
            }
            *self.square.get_mut(k * self.stride + k)? = *self.column.get(k)?;
        }
        Some(())
    }

    /// Copy a tile of rows, those from `k` on.
    #[must_use]
    #[inline(always)]
    fn move_tile_down(&mut self, k: usize) -> Option<()> {
        let stride = self.stride;
        let (above, own) = self.square.split_at_mut_checked(k.wrapping_mul(stride))?;
        let (a, rest) = own.split_at_mut_checked(stride)?;
        let (b, rest) = rest.split_at_mut_checked(stride)?;
        let (c, rest) = rest.split_at_mut_checked(stride)?;
        let (d, _) = rest.split_at_mut_checked(stride)?;
        let slots = a.iter_mut().zip(b.iter_mut()).zip(c.iter_mut().zip(d.iter_mut()));
        for (((a, b), (c, d)), row) in slots.zip(above.chunks_exact(stride.max(1))) {
            [*a, *b, *c, *d] = *row.get(k..)?.first_chunk()?;
        }
        let a = a.get_mut(k..)?.first_chunk_mut::<TILE>()?;
        let b = b.get_mut(k..)?.first_chunk_mut::<TILE>()?;
        let c = c.get_mut(k..)?.first_chunk_mut::<TILE>()?;
        let d = d.get_mut(k..)?.first_chunk_mut::<TILE>()?;
        let [of_a, of_b, of_c, of_d] = *self.column.get(k..)?.first_chunk()?;
        *d = [a[3], b[3], c[3], of_d];
        (c[0], c[1], c[2]) = (a[2], b[2], of_c);
        (b[0], b[1]) = (a[1], of_b);
        a[0] = of_a;
        Some(())
    }
}

/// `values -= entry · others`.
#[inline(always)]
fn take_product<T: Scalar>(values: &mut [T], entry: T, others: &[T]) {
    for (value, &other) in values.iter_mut().zip(others) {
        *value -= entry * other;
    }
}

/// The source of the matrix entries.
trait Source<T> {
    /// Return the entries of the `B` rows from `k` on in the `A` columns from `j` on, transposed. `rows` is the square
    /// from row `j` on.
    fn tile<const A: usize, const B: usize>(
        &self,
        rows: &[T],
        stride: usize,
        j: usize,
        k: usize,
    ) -> Option<[[T; B]; A]>;

    /// Return the `k`-th diagonal entry; `column` is the working column.
    fn diagonal(&self, column: &[T], k: usize) -> Option<T>;
}

/// Entries that were read into the upper triangle and the working column.
struct Read;

impl<T: Scalar> Source<T> for Read {
    #[inline(always)]
    fn tile<const A: usize, const B: usize>(
        &self,
        mut rows: &[T],
        stride: usize,
        _: usize,
        k: usize,
    ) -> Option<[[T; B]; A]> {
        let mut tile = [[T::ZERO; B]; A];
        for values in &mut tile {
            let (row, after) = rows.split_at_checked(stride)?;
            *values = *row.get(k..)?.first_chunk()?;
            rows = after;
        }
        Some(tile)
    }

    #[inline(always)]
    fn diagonal(&self, column: &[T], k: usize) -> Option<T> {
        column.get(k).copied()
    }
}

/// Entries in a slice of the caller.
struct Given<'m, T> {
    matrix: &'m [T],
    order: usize,
}

impl<T> Given<'_, T> {
    #[inline(always)]
    fn row(&self, k: usize) -> Option<&[T]> {
        self.matrix.get(k.wrapping_mul(self.order)..)?.get(..self.order)
    }
}

impl<T: Scalar> Source<T> for Given<'_, T> {
    #[inline(always)]
    fn tile<const A: usize, const B: usize>(
        &self,
        _: &[T],
        _: usize,
        j: usize,
        k: usize,
    ) -> Option<[[T; B]; A]> {
        let mut tile = [[T::ZERO; B]; A];
        let mut rows = self.matrix.get(k.wrapping_mul(self.order)..)?;
        for b in 0..B {
            let (row, after) = rows.split_at_checked(self.order)?;
            let entries = row.get(j..)?.first_chunk::<A>()?;
            for (values, &entry) in tile.iter_mut().zip(entries) {
                *values.get_mut(b)? = entry;
            }
            rows = after;
        }
        Some(tile)
    }

    #[inline(always)]
    fn diagonal(&self, _: &[T], k: usize) -> Option<T> {
        self.row(k)?.get(k).copied()
    }
}
