//! Factor the matrix from scratch, which removes the rounding error of many swaps.
//!
//! The new factor is built in the upper triangle, whose row `t` holds its column `t`, and copied down only
//! when it is complete. The entries that a tile of sums needs of a column are then contiguous. [`TILE`] rows
//! are computed at a time against as many columns, so that shared operands are loaded once. The order of each
//! sum does not depend on the tiles: `l_kj = (a_kj - l_k0 l_j0 - l_k1 l_j1 - …) / l_jj`, and `l_kk` is the
//! square root of the remainder of `a_kk`.

use super::Cholesky;
use crate::error::{Error, Known};
use crate::memory::{check_capacity, check_length, row, row_mut, rows_of_mut};
use crate::scalar::Scalar;

/// Rows and columns of a tile.
const TILE: usize = 4;

impl<T: Scalar> Cholesky<'_, T> {
    /// Factor the matrix of the present members again, from `entry(i, j)`, `j <= i`. `c³/6` multiply-adds and
    /// `c²/2` entries.
    ///
    /// # Errors
    /// [`Error::NotFinite`], and [`Error::NotPositive`] with the pivot at which the matrix is singular; the
    /// factor is unchanged.
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Error, Workspace};
    ///
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, &[9.0, 6.0, 6.0, 5.0])?;
    /// factor.refactor(|i, j| if i == j { 4.0 } else { 2.0 })?; // another matrix of the same members
    /// assert_eq!((factor.row(0), factor.row(1)), (&[2.0][..], &[1.0, 3.0_f64.sqrt()][..]));
    /// assert_eq!(factor.refactor(|_, _| 1.0), Err(Error::NotPositive { pivot: 1 }));
    /// assert_eq!(factor.pivot(0), 2.0); // unchanged
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn refactor(&mut self, mut entry: impl FnMut(usize, usize) -> T) -> Result<(), Error> {
        self.try_refactor(|i, j| Ok(entry(i, j)))
    }

    /// [`refactor`](Self::refactor) from entries that may fail to be read; the factor is then unchanged.
    pub(crate) fn try_refactor(
        &mut self,
        mut entry: impl FnMut(usize, usize) -> Result<T, Error>,
    ) -> Result<(), Error> {
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

    /// Factor a given symmetric matrix and replace all members: `order` rows that follow one another in
    /// `matrix`, of which the lower triangle is read. Costs as much as [`refactor`](Self::refactor).
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
    /// Those of [`refactor`](Self::refactor), [`Error::Capacity`], and [`Error::Length`] unless there are
    /// `order²` entries; the factor is unchanged.
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

    /// Read row `k` of the matrix into column `k` of the upper triangle, and its diagonal entry into the
    /// working column.
    #[inline(always)]
    fn read(
        &mut self,
        k: usize,
        entry: &mut impl FnMut(usize, usize) -> Result<T, Error>,
    ) -> Result<(), Error> {
        let diagonal = entry(k, k)?;
        if !diagonal.is_finite() {
            return Err(Error::NotFinite { row: k, column: k });
        }
        *self.column.get_mut(k).known()? = diagonal;
        for (j, row) in rows_of_mut(self.square, self.stride).take(k).enumerate() {
            let value = entry(k, j)?;
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
            self.tile::<[T; TILE]>(source, j, k).known()?;
        }
        self.corner(source, k).known()?
    }

    /// Compute row `k` alone.
    fn make_row(&mut self, source: &impl Source<T>, k: usize) -> Result<(), Error> {
        let tiles = k - k % TILE;
        for j in (0..tiles).step_by(TILE) {
            self.tile::<[T; 1]>(source, j, k).known()?;
        }
        for j in tiles..k {
            self.entry(source, j, k).known()?;
        }
        let diagonal = source.diagonal(self.column, k).known()?;
        let residual = self.less_products(diagonal, k, k).known()?;
        self.new_pivot(k, diagonal, residual).map(|_| ())
    }

    /// Compute the entries of the rows from `k` on, as many as `R` holds, in the [`TILE`] columns from `j`
    /// on. Written out: at `opt-level = "s"` no loop is unrolled, and the sums of a loop would stay in
    /// memory.
    #[inline(always)]
    #[must_use]
    fn tile<R: Rows<T>>(&mut self, source: &impl Source<T>, j: usize, k: usize) -> Option<()> {
        let stride = self.stride;
        let (above, own) = self.square.split_at_mut_checked(j.wrapping_mul(stride))?;
        let pivots = self.column.get(j..)?.first_chunk()?;
        let [mut v0, mut v1, mut v2, mut v3] = source.tile::<R>(own, stride, j, k)?;
        // Two rows at a time: `j` is a multiple of `TILE`.
        for pair in above.chunks_exact(stride.wrapping_mul(2).max(1)) {
            let (row, next) = pair.split_at_checked(stride)?;
            let &[e0, e1, e2, e3] = row.get(j..)?.first_chunk()?;
            let of_k = R::read(row.get(k..)?)?;
            v0 = v0.less(e0, of_k);
            v1 = v1.less(e1, of_k);
            v2 = v2.less(e2, of_k);
            v3 = v3.less(e3, of_k);
            let &[e0, e1, e2, e3] = next.get(j..)?.first_chunk()?;
            let of_k = R::read(next.get(k..)?)?;
            v0 = v0.less(e0, of_k);
            v1 = v1.less(e1, of_k);
            v2 = v2.less(e2, of_k);
            v3 = v3.less(e3, of_k);
        }
        let &[p0, p1, p2, p3] = pivots;
        let (row, rest) = own.split_at_mut_checked(stride)?;
        let &[_, e1, e2, e3] = row.get(j..)?.first_chunk()?;
        let v0 = v0.over(p0);
        v0.write(row.get_mut(k..)?)?;
        let (row, rest) = rest.split_at_mut_checked(stride)?;
        let &[_, _, f2, f3] = row.get(j..)?.first_chunk()?;
        let v1 = v1.less(e1, v0).over(p1);
        v1.write(row.get_mut(k..)?)?;
        let (row, rest) = rest.split_at_mut_checked(stride)?;
        let &[_, _, _, g3] = row.get(j..)?.first_chunk()?;
        let v2 = v2.less(e2, v0).less(f2, v1).over(p2);
        v2.write(row.get_mut(k..)?)?;
        v3.less(e3, v0).less(f3, v1).less(g3, v2).over(p3).write(rest.get_mut(k..stride)?)
    }

    /// Compute the entry of row `k` in column `j`.
    #[must_use]
    fn entry(&mut self, source: &impl Source<T>, j: usize, k: usize) -> Option<()> {
        let value = source.entry(self.square, self.stride, j, k)?;
        let value = self.less_products(value, j, k)? / *self.column.get(j)?;
        *row_mut(self.square, self.stride, j, self.stride)?.get_mut(k)? = value;
        Some(())
    }

    /// Subtract the products of rows `j` and `k` in the columns before `j`.
    fn less_products(&self, value: T, j: usize, k: usize) -> Option<T> {
        let mut left = value;
        for row in self.square.chunks_exact(self.stride.max(1)).take(j) {
            left -= *row.get(j)? * *row.get(k)?;
        }
        Some(left)
    }

    /// Compute the entries of a tile of rows, those from `k` on, in their own columns, and the pivots.
    #[inline(always)]
    fn corner(&mut self, source: &impl Source<T>, k: usize) -> Option<Result<(), Error>> {
        let stride = self.stride;
        let (above, own) = self.square.split_at_checked(k.wrapping_mul(stride))?;
        let [[_, mut b0, mut c0, mut d0], [_, _, mut c1, mut d1], [_, _, _, mut d2], _] =
            source.tile::<[T; TILE]>(own, stride, k, k)?;
        let e0 = source.diagonal(self.column, k)?;
        let e1 = source.diagonal(self.column, k + 1)?;
        let e2 = source.diagonal(self.column, k + 2)?;
        let e3 = source.diagonal(self.column, k + 3)?;
        let (mut s0, mut s1, mut s2, mut s3) = (e0, e1, e2, e3);
        let mut rest = above;
        for _ in 0..k {
            let (row, after) = rest.split_at_checked(stride)?;
            let &[a, b, c, d] = row.get(k..)?.first_chunk()?;
            s0 -= a * a;
            b0 -= a * b;
            c0 -= a * c;
            d0 -= a * d;
            s1 -= b * b;
            c1 -= b * c;
            d1 -= b * d;
            s2 -= c * c;
            d2 -= c * d;
            s3 -= d * d;
            rest = after;
        }
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

/// The entries of one column in the rows that are computed together: four, or one.
trait Rows<T>: Copy {
    /// Read the entries with which `from` begins.
    fn read(from: &[T]) -> Option<Self>;
    /// Write the entries over those with which `to` begins.
    #[must_use]
    fn write(self, to: &mut [T]) -> Option<()>;
    /// Return the columns of the rows that `row` returns one after the other, in the columns of a tile.
    fn transposed(row: impl FnMut() -> Option<[T; TILE]>) -> Option<[Self; TILE]>;
    /// Return `self - entry · others`.
    fn less(self, entry: T, others: Self) -> Self;
    /// Return `self / pivot`.
    fn over(self, pivot: T) -> Self;
}

impl<T: Scalar> Rows<T> for [T; TILE] {
    #[inline(always)]
    fn read(from: &[T]) -> Option<Self> {
        from.first_chunk().copied()
    }

    #[inline(always)]
    fn write(self, to: &mut [T]) -> Option<()> {
        *to.first_chunk_mut()? = self;
        Some(())
    }

    #[inline(always)]
    fn transposed(mut row: impl FnMut() -> Option<[T; TILE]>) -> Option<[Self; TILE]> {
        let [a0, a1, a2, a3] = row()?;
        let [b0, b1, b2, b3] = row()?;
        let [c0, c1, c2, c3] = row()?;
        let [d0, d1, d2, d3] = row()?;
        Some([[a0, b0, c0, d0], [a1, b1, c1, d1], [a2, b2, c2, d2], [a3, b3, c3, d3]])
    }

    #[inline(always)]
    fn less(self, entry: T, [a, b, c, d]: Self) -> Self {
        let [v, w, x, y] = self;
        [v - entry * a, w - entry * b, x - entry * c, y - entry * d]
    }

    #[inline(always)]
    fn over(self, pivot: T) -> Self {
        let [v, w, x, y] = self;
        [v / pivot, w / pivot, x / pivot, y / pivot]
    }
}

impl<T: Scalar> Rows<T> for [T; 1] {
    #[inline(always)]
    fn read(from: &[T]) -> Option<Self> {
        from.first_chunk().copied()
    }

    #[inline(always)]
    fn write(self, to: &mut [T]) -> Option<()> {
        *to.first_chunk_mut()? = self;
        Some(())
    }

    #[inline(always)]
    fn transposed(mut row: impl FnMut() -> Option<[T; TILE]>) -> Option<[Self; TILE]> {
        let [a, b, c, d] = row()?;
        Some([[a], [b], [c], [d]])
    }

    #[inline(always)]
    fn less(self, entry: T, [other]: Self) -> Self {
        let [value] = self;
        [value - entry * other]
    }

    #[inline(always)]
    fn over(self, pivot: T) -> Self {
        let [value] = self;
        [value / pivot]
    }
}

/// The source of the matrix entries.
trait Source<T> {
    /// Return the entries of the rows from `k` on in the columns of the tile from `j` on. `rows` is the
    /// square from row `j` on.
    fn tile<R: Rows<T>>(&self, rows: &[T], stride: usize, j: usize, k: usize) -> Option<[R; TILE]>;

    /// Return the entry of row `k` in column `j`; `square` is the square.
    fn entry(&self, square: &[T], stride: usize, j: usize, k: usize) -> Option<T>;

    /// Return the `k`-th diagonal entry; `column` is the working column.
    fn diagonal(&self, column: &[T], k: usize) -> Option<T>;
}

/// Entries that were read into the upper triangle and the working column.
struct Read;

impl<T: Scalar> Source<T> for Read {
    #[inline(always)]
    fn tile<R: Rows<T>>(&self, rows: &[T], stride: usize, _: usize, k: usize) -> Option<[R; TILE]> {
        let (a, rest) = rows.split_at_checked(stride)?;
        let (b, rest) = rest.split_at_checked(stride)?;
        let (c, rest) = rest.split_at_checked(stride)?;
        let d = rest.get(..stride)?;
        Some([R::read(a.get(k..)?)?, R::read(b.get(k..)?)?, R::read(c.get(k..)?)?, R::read(d.get(k..)?)?])
    }

    #[inline(always)]
    fn entry(&self, square: &[T], stride: usize, j: usize, k: usize) -> Option<T> {
        row(square, stride, j, stride)?.get(k).copied()
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
        row(self.matrix, self.order, k, self.order)
    }
}

impl<T: Scalar> Source<T> for Given<'_, T> {
    #[inline(always)]
    fn tile<R: Rows<T>>(&self, _: &[T], _: usize, j: usize, k: usize) -> Option<[R; TILE]> {
        let mut rows = self.matrix.get(k.wrapping_mul(self.order)..)?;
        R::transposed(|| {
            let (row, after) = rows.split_at_checked(self.order)?;
            rows = after;
            row.get(j..)?.first_chunk().copied()
        })
    }

    #[inline(always)]
    fn entry(&self, _: &[T], _: usize, j: usize, k: usize) -> Option<T> {
        self.row(k)?.get(j).copied()
    }

    #[inline(always)]
    fn diagonal(&self, _: &[T], k: usize) -> Option<T> {
        self.row(k)?.get(k).copied()
    }
}
