//! A Cholesky factor `K_YY = L Lᵀ` of fixed capacity, updated as members are added, removed and exchanged.
//!
//! | call | cost | source |
//! | --- | --- | --- |
//! | [`append`](Cholesky::append) | `c²/2` | a forward substitution |
//! | [`remove`](Cholesky::remove), [`move_to_last`](Cholesky::move_to_last) | `3(c - i)²` | Givens rotations: a rank-one update of the rows after `i`, Golub and Van Loan §6.5.4 |
//! | [`swap`](Cholesky::swap) | `c²/2 + 3(c - i)²` | the same rotations without writing them |
//! | [`replace`](Cholesky::replace) | the sum of the two | |
//! | [`factor`](Cholesky::factor), [`refactor`](Cholesky::refactor) | `c³/6` | from the matrix, by tiles |
//!
//! (in multiply-adds, `i` the member's place.) Removal is an update and not a downdate, so it is stable and
//! cannot fail. A pivot counts as positive above `c ε k(v, v)`, the rounding error of the difference it is
//! computed from: a smaller one carries no information. A larger one can still be inaccurate where the
//! members before it are nearly dependent; the approximation is not affected.

mod append;
mod refactor;
mod remove;
mod replace;
mod solve;

pub(crate) use solve::substitute;

use crate::error::{Error, Known};
use crate::memory::{FactorMemory, check_capacity, row, rows_of_mut};
use crate::scalar::{Scalar, fill};
use crate::sections::Writer;

/// The lower triangular factor of a symmetric positive definite matrix, on lent memory.
///
/// ```
/// use dpp_nystrom_core::{Cholesky, Workspace};
///
/// let mut memory = Workspace::<f64, 3>::new();
/// let mut factor = Cholesky::new(memory.lend().factor)?;
/// factor.append(&[], 4.0)?;
/// factor.append(&[2.0], 5.0)?;
/// assert!((factor.log_det() - 16.0_f64.ln()).abs() < 1e-15);
///
/// let mut x = [8.0, 9.0]; // [4 2; 2 5] x = [8, 9]
/// factor.solve(&mut x)?;
/// assert!((x[0] - 1.375).abs() < 1e-15 && (x[1] - 1.25).abs() < 1e-15);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cholesky<'a, T> {
    /// Row-major with `stride` entries a row. The lower triangle of the first `order` rows holds the factor.
    square: &'a mut [T],
    column: &'a mut [T],
    rotations: &'a mut [[T; 2]],
    stride: usize,
    order: usize,
}

impl<'a, T: Scalar> Cholesky<'a, T> {
    /// Create a factor without members. Its capacity is the length of `memory.column`.
    ///
    /// # Errors
    /// [`Error::Capacity`] when the square or the rotations are too small for that capacity.
    pub fn new(memory: FactorMemory<'a, T>) -> Result<Self, Error> {
        let FactorMemory { square, column, rotations } = memory;
        let capacity = column.len();
        check_capacity(capacity.saturating_mul(capacity), square.len())?;
        check_capacity(capacity, rotations.len())?;
        Ok(Self { square, column, rotations, stride: capacity, order: 0 })
    }

    /// Take over the factor of this order that `memory` still holds.
    pub(crate) fn resume(memory: FactorMemory<'a, T>, order: usize) -> Result<Self, Error> {
        let factor = Self { order, ..Self::new(memory)? };
        check_capacity(order, factor.stride)?;
        let sound = |i| factor.row(i).iter().all(|entry| entry.is_finite()) && factor.pivot(i) > T::ZERO;
        if (0..order).all(sound) { Ok(factor) } else { Err(Error::ForeignState) }
    }

    /// Take over the factor of this order, which the caller knows to be in `memory`.
    pub(crate) fn assemble(memory: FactorMemory<'a, T>, order: usize) -> Result<Self, Error> {
        let factor = Self { order, ..Self::new(memory)? };
        check_capacity(order, factor.stride)?;
        Ok(factor)
    }

    /// Borrow the factor under a shorter lifetime. Members that are appended to the copy count here only
    /// after [`extend`](Self::extend).
    pub(crate) fn reborrow(&mut self) -> Cholesky<'_, T> {
        let Self { stride, order, .. } = *self;
        Cholesky { square: self.square, column: self.column, rotations: self.rotations, stride, order }
    }

    /// Set the order after members were appended to a reborrowed factor.
    pub(crate) fn extend(&mut self, order: usize) {
        self.order = order.min(self.stride);
    }

    /// Return the number of members.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Return the largest possible number of members.
    pub fn capacity(&self) -> usize {
        self.stride
    }

    /// Return row `i` of `L` up to its diagonal entry, or an empty slice past the end.
    pub fn row(&self, i: usize) -> &[T] {
        if i >= self.order {
            return &[];
        }
        let row = row(self.square, self.stride, i, i + 1);
        debug_assert!(row.is_some(), "the square was checked to hold the capacity's rows");
        row.unwrap_or_default()
    }

    /// Return `L_ii`, or zero past the end.
    pub fn pivot(&self, i: usize) -> T {
        self.row(i).last().copied().unwrap_or(T::ZERO)
    }

    /// Return `log det K_YY = 2 Σ log L_ii`, which is zero without members. Costs `c` logarithms.
    pub fn log_det(&self) -> T {
        let mut sum = T::ZERO;
        for i in 0..self.order {
            sum += self.pivot(i).ln();
        }
        sum + sum
    }

    /// Remove the members from `order` on. Exact: the rows before them do not change.
    ///
    /// ```
    /// use dpp_nystrom_core::{Cholesky, Workspace};
    ///
    /// let mut memory = Workspace::<f32, 2>::new();
    /// let mut factor = Cholesky::new(memory.lend().factor)?;
    /// factor.factor(2, &[9.0, 6.0, 6.0, 5.0])?;
    /// factor.truncate(1);
    /// assert_eq!((factor.order(), factor.pivot(0), factor.pivot(1)), (1, 3.0, 0.0));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn truncate(&mut self, order: usize) {
        self.order = self.order.min(order);
    }

    /// Return the working column: an entry per member.
    pub(crate) fn column_mut(&mut self) -> Result<&mut [T], Error> {
        self.column.get_mut(..self.order).known()
    }

    /// Write the factor by rows.
    pub(crate) fn save(&self, writer: &mut Writer<'_>) {
        for i in 0..self.order {
            writer.numbers(self.row(i));
        }
    }

    /// Read back what [`save`](Self::save) wrote.
    pub(crate) fn take_back(&mut self, mut bytes: &[u8]) {
        for (i, row) in rows_of_mut(self.square, self.stride).take(self.order).enumerate() {
            bytes = fill(row.get_mut(..=i).unwrap_or_default(), bytes);
        }
    }

    /// Return the first `count` numbers of the working column: the substitution that the last call has left
    /// there.
    pub(crate) fn working(&self, count: usize) -> Result<&[T], Error> {
        self.column.get(..count).known()
    }

    /// Return the rounding error of a residual, the difference of `diagonal` and a sum of `order` squares.
    pub(crate) fn floor(order: usize, diagonal: T) -> T {
        T::from_count(order + 1) * T::EPSILON * diagonal
    }
}
