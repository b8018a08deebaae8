//! Working memory: algorithms borrow slices, and owners only hold arrays.
//!
//! An owner lends a struct of named slices. The algorithms check their lengths once, on entry. [`Workspace`]
//! and [`RidgeWorkspace`] own arrays, on the stack or in a static; the package `dpp-nystrom` has owners on
//! the heap. No function here moves a large value through the stack.

use crate::error::Error;
use crate::scalar::Scalar;

/// The maximum number of rows and of steps: as a number in `f64`, γ times which is the penalty, it is exact.
pub(crate) const MOST_ROWS: u64 = 1 << 53;

/// Memory of a [`crate::Cholesky`] factor of up to `c` members.
///
/// ```
/// use dpp_nystrom_core::{Cholesky, FactorMemory};
///
/// let (square, column, rotations) = (&mut [0.0_f32; 9], &mut [0.0; 3], &mut [[0.0; 2]; 3]);
/// let memory = FactorMemory { square, column, rotations };
/// assert_eq!(Cholesky::new(memory)?.capacity(), 3);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FactorMemory<'a, T> {
    /// `c x c`, row-major. The lower triangle holds the factor. The upper triangle is scratch for a
    /// refactorisation, so that a failed one leaves the factor unchanged.
    pub square: &'a mut [T],
    /// `c` numbers: the column of a member, then its row of the factor.
    pub column: &'a mut [T],
    /// `c` Givens rotations.
    pub rotations: &'a mut [[T; 2]],
}

/// Memory of a set of up to `c` [`crate::Landmarks`], and of a [`crate::Chain`] over it.
///
/// ```
/// use dpp_nystrom_core::{FactorMemory, Landmarks, Matrix, Memory};
///
/// let matrix = Matrix::new(&[2.0_f32, 1.0, 1.0, 2.0])?;
/// let (square, column, rotations) = (&mut [0.0; 4], &mut [0.0; 2], &mut [[0.0; 2]; 2]);
/// let (factor, members) = (FactorMemory { square, column, rotations }, &mut [0; 2]);
/// let memory = Memory { factor, landmarks: members };
/// let mut landmarks = Landmarks::new(&matrix, memory)?;
/// landmarks.push(1)?;
/// assert_eq!(landmarks.members(), [1]);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Memory<'a, T> {
    /// The factor of `K_YY`.
    pub factor: FactorMemory<'a, T>,
    /// `c` indices of rows.
    pub landmarks: &'a mut [usize],
}

/// Memory of a [`crate::RidgeRegression`] with up to `c` features.
///
/// ```
/// use dpp_nystrom_core::{EarlierMemory, RidgeMemory, RidgeRegression};
///
/// let (square, [diagonal, targets, row, solution]) = (&mut [0.0_f64; 4], &mut [[0.0; 2]; 4]);
/// let memory = RidgeMemory { square, diagonal, targets, row, solution, earlier: EarlierMemory::default() };
/// assert!(RidgeRegression::new(2, memory).is_ok());
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RidgeMemory<'a, T> {
    /// `c x c`, row-major. The upper triangle accumulates `R`. The lower triangle is scratch for the
    /// solution, so that rows can be added afterwards.
    pub square: &'a mut [T],
    /// `c` numbers: the diagonal of the triangle that is solved.
    pub diagonal: &'a mut [T],
    /// `c` numbers: the accumulated `Qᵀy`.
    pub targets: &'a mut [T],
    /// `c` numbers: the row that is being added.
    pub row: &'a mut [T],
    /// `c` numbers: the weights that are being computed. So those that the caller has are kept when a solve
    /// fails.
    pub solution: &'a mut [T],
    /// In `f32` for the triangle of earlier rows. `f64` needs none: the default.
    pub earlier: EarlierMemory<'a, T>,
}

/// Memory for the triangle of a [`crate::RidgeRegression`]'s earlier rows, those before the last
/// [`Scalar::ROWS_APART`].
///
/// ```
/// use dpp_nystrom_core::{EarlierMemory, Error, RidgeMemory, RidgeRegression, RidgeWorkspace};
///
/// let mut workspace = RidgeWorkspace::<f32, 2>::new();
/// let lent = workspace.lend();
/// assert_eq!((lent.earlier.square.len(), lent.earlier.stride), (4, 2));
/// // Single precision needs it.
/// let without = RidgeMemory { earlier: EarlierMemory::default(), ..lent };
/// assert!(matches!(RidgeRegression::new(2, without), Err(Error::Capacity { .. })));
/// ```
#[derive(Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct EarlierMemory<'a, T> {
    /// `c` rows of `stride` numbers, of which those right of the diagonal are used; the others stay as they
    /// are.
    pub square: &'a mut [T],
    /// At least `c`.
    pub stride: usize,
    /// `c` numbers: the diagonal.
    pub diagonal: &'a mut [T],
    /// `c` numbers: `Qᵀy`.
    pub targets: &'a mut [T],
}

/// Memory for up to `C` landmarks in arrays: on the stack, or in a static.
///
/// ```
/// use dpp_nystrom_core::{Workspace, bytes};
///
/// assert_eq!(size_of::<Workspace<f32, 16>>(), bytes::<f32>(16, 0).select);
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Workspace<T, const C: usize> {
    square: [[T; C]; C],
    column: [T; C],
    rotations: [[T; 2]; C],
    landmarks: [usize; C],
}

impl<T: Scalar, const C: usize> Workspace<T, C> {
    /// Return zeroed memory. It is constant, so that a static needs no code to initialise.
    pub const fn new() -> Self {
        Self {
            square: [[T::ZERO; C]; C],
            column: [T::ZERO; C],
            rotations: [[T::ZERO; 2]; C],
            landmarks: [0; C],
        }
    }

    /// Lend the square without the factor: what is right of its diagonal is free between refactorisations.
    pub(crate) fn lend_upper(&mut self) -> &mut [T] {
        self.square.as_flattened_mut()
    }

    /// Lend the slices, to one algorithm at a time.
    pub fn lend(&mut self) -> Memory<'_, T> {
        Memory {
            factor: FactorMemory {
                square: self.square.as_flattened_mut(),
                column: &mut self.column,
                rotations: &mut self.rotations,
            },
            landmarks: &mut self.landmarks,
        }
    }
}

impl<T: Scalar, const C: usize> Default for Workspace<T, C> {
    fn default() -> Self {
        Self::new()
    }
}

/// Memory for ridge regression on up to `C` landmarks in arrays.
///
/// ```
/// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace, bytes};
///
/// let mut memory = RidgeWorkspace::<f32, 16>::new();
/// assert_eq!(size_of_val(&memory), bytes::<f32>(16, 0).learn);
/// let ridge = RidgeRegression::new(10, memory.lend())?; // up to 16
/// assert_eq!(ridge.features(), 10);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RidgeWorkspace<T, const C: usize> {
    arrays: RidgeArrays<T, C>,
    earlier: [[T; C]; C],
}

impl<T: Scalar, const C: usize> RidgeWorkspace<T, C> {
    /// Return zeroed memory.
    pub const fn new() -> Self {
        Self { arrays: RidgeArrays::new(), earlier: [[T::ZERO; C]; C] }
    }

    /// Lend the slices, to one accumulator at a time.
    pub fn lend(&mut self) -> RidgeMemory<'_, T> {
        self.arrays.lend(self.earlier.as_flattened_mut())
    }
}

/// A [`RidgeWorkspace`] without the square of earlier rows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct RidgeArrays<T, const C: usize> {
    square: [[T; C]; C],
    diagonal: [T; C],
    targets: [T; C],
    row: [T; C],
    pub(crate) solution: [T; C],
    earlier_diagonal: [T; C],
    earlier_targets: [T; C],
}

impl<T: Scalar, const C: usize> RidgeArrays<T, C> {
    pub(crate) const fn new() -> Self {
        let zeros = [T::ZERO; C];
        Self {
            square: [zeros; C],
            diagonal: zeros,
            targets: zeros,
            row: zeros,
            solution: zeros,
            earlier_diagonal: zeros,
            earlier_targets: zeros,
        }
    }

    /// Lend the slices, and for earlier rows those right of the diagonal of a square with rows of `C`.
    pub(crate) fn lend<'a>(&'a mut self, earlier: &'a mut [T]) -> RidgeMemory<'a, T> {
        RidgeMemory {
            square: self.square.as_flattened_mut(),
            diagonal: &mut self.diagonal,
            targets: &mut self.targets,
            row: &mut self.row,
            solution: &mut self.solution,
            earlier: EarlierMemory {
                square: earlier,
                stride: C,
                diagonal: &mut self.earlier_diagonal,
                targets: &mut self.earlier_targets,
            },
        }
    }
}

impl<T: Scalar, const C: usize> Default for RidgeWorkspace<T, C> {
    fn default() -> Self {
        Self::new()
    }
}

/// Check `have >= needed`.
pub(crate) fn check_capacity(needed: usize, have: usize) -> Result<(), Error> {
    if have < needed { Err(Error::Capacity { needed, have }) } else { Ok(()) }
}

/// Check `found == expected`.
pub(crate) fn check_length(expected: usize, found: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Length { expected, found }) }
}

/// Check that a row, which errors call row 0, has neither NaN nor infinity.
#[inline(always)]
pub(crate) fn check_finite<T: Scalar>(row: &[T]) -> Result<(), Error> {
    // One NaN or infinity makes the sum one, whatever the others.
    let sum = match row {
        // Written out: at `opt-level = "s"` no loop is unrolled.
        [a, b, c, d, e, f, g, h] => *a + *b + *c + *d + *e + *f + *g + *h,
        row => row.iter().fold(T::ZERO, |sum, &value| sum + value),
    };
    if sum.is_finite() { Ok(()) } else { find_not_finite(row) }
}

/// [`check_finite`] one by one: the sum of finite numbers may overflow.
#[cold]
#[inline(never)]
fn find_not_finite<T: Scalar>(row: &[T]) -> Result<(), Error> {
    match row.iter().position(|value| !value.is_finite()) {
        Some(column) => Err(Error::NotFinite { row: 0, column }),
        None => Ok(()),
    }
}

/// Return the first `needed` elements of lent memory.
pub(crate) fn take<V>(lent: &mut [V], needed: usize) -> Result<&mut [V], Error> {
    let have = lent.len();
    lent.get_mut(..needed).ok_or(Error::Capacity { needed, have })
}

/// Return the first `len` elements, which exist, since lengths are checked where memory is lent. For
/// accessors that cannot fail: debug builds panic otherwise, and a release returns all elements.
#[inline]
pub(crate) fn prefix<V>(lent: &[V], len: usize) -> &[V] {
    debug_assert!(len <= lent.len(), "an invariant of dpp-nystrom-core does not hold");
    lent.get(..len).unwrap_or(lent)
}

/// The rows of `width` elements that follow one another in a slice, as `chunks_exact` returns them. At
/// `opt-level = "z"` that one, zipped, is left with a division by the width, and so with a panic. A loop over
/// one slice alone has none.
pub(crate) fn rows_of<V>(slice: &[V], width: usize) -> Rows<'_, V> {
    Rows { rest: slice, width: width.max(1) }
}

/// [`rows_of`], to write.
pub(crate) fn rows_of_mut<V>(slice: &mut [V], width: usize) -> RowsMut<'_, V> {
    RowsMut { rest: slice, width: width.max(1) }
}

/// See [`rows_of`].
#[derive(Clone)]
pub(crate) struct Rows<'a, V> {
    rest: &'a [V],
    width: usize,
}

impl<'a, V> Iterator for Rows<'a, V> {
    type Item = &'a [V];

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (row, rest) = self.rest.split_at_checked(self.width)?;
        self.rest = rest;
        Some(row)
    }
}

/// See [`rows_of_mut`].
pub(crate) struct RowsMut<'a, V> {
    rest: &'a mut [V],
    width: usize,
}

impl<'a, V> Iterator for RowsMut<'a, V> {
    type Item = &'a mut [V];

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let (row, rest) = core::mem::take(&mut self.rest).split_at_mut_checked(self.width)?;
        self.rest = rest;
        Some(row)
    }
}

/// Return the first `order` entries of row `i` of a row-major square.
#[inline]
pub(crate) fn row<V>(square: &[V], stride: usize, i: usize, order: usize) -> Option<&[V]> {
    let start = i.wrapping_mul(stride);
    square.get(start..start.wrapping_add(order))
}

/// [`row`], to write.
#[inline]
pub(crate) fn row_mut<V>(square: &mut [V], stride: usize, i: usize, order: usize) -> Option<&mut [V]> {
    let start = i.wrapping_mul(stride);
    square.get_mut(start..start.wrapping_add(order))
}
