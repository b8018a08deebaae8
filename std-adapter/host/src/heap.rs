//! Heap-allocated memory for the core's algorithms, for any number of landmarks.

use crate::error::Error;
use dpp_nystrom_core::{EarlierMemory, FactorMemory, Memory, RidgeMemory, RidgeRegression, Scalar};

/// Memory for up to `c` landmarks; the heap counterpart of [`dpp_nystrom_core::Workspace`].
///
/// ```
/// use dpp_nystrom_host::heap::Heap;
/// use dpp_nystrom_core::{Landmarks, Matrix, start};
///
/// let matrix = Matrix::new(&[2.0, 1.0, 1.0, 2.0])?;
/// let mut memory = Heap::<f64>::new(2)?;
/// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
/// start::given(&mut landmarks, &[0, 1])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Heap<T> {
    square: Vec<T>,
    column: Vec<T>,
    rotations: Vec<[T; 2]>,
    landmarks: Vec<usize>,
}

impl<T: Scalar> Heap<T> {
    /// Allocate for `c` landmarks: `c²` values.
    ///
    /// # Errors
    /// [`Error::Memory`] if the allocation fails.
    pub fn new(c: usize) -> Result<Self, Error> {
        Ok(Self {
            square: zeros(c.saturating_mul(c), T::ZERO)?,
            column: zeros(c, T::ZERO)?,
            rotations: zeros(c, [T::ZERO; 2])?,
            landmarks: zeros(c, 0)?,
        })
    }

    /// Lend the slices to one algorithm.
    pub fn lend(&mut self) -> Memory<'_, T> {
        Memory {
            factor: FactorMemory {
                square: &mut self.square,
                column: &mut self.column,
                rotations: &mut self.rotations,
            },
            landmarks: &mut self.landmarks,
        }
    }
}

/// Memory for ridge regression on up to `c` features; the heap counterpart of
/// [`dpp_nystrom_core::RidgeWorkspace`].
#[derive(Clone, Debug)]
pub struct RidgeHeap<T> {
    square: Vec<T>,
    diagonal: Vec<T>,
    targets: Vec<T>,
    row: Vec<T>,
    solution: Vec<T>,
    further: Vec<T>,
    /// Of earlier rows: the square, the diagonal and the targets; empty in `f64`.
    earlier: [Vec<T>; 3],
    stride: usize,
}

impl<T: Scalar> RidgeHeap<T> {
    /// Allocate for `c` features: `c²` values, in `f32` `2c²`.
    ///
    /// # Errors
    /// [`Error::Memory`] if the allocation fails.
    pub fn new(c: usize) -> Result<Self, Error> {
        Self::with_targets(c, 1)
    }

    /// Allocate for `c` features and several targets.
    ///
    /// # Errors
    /// [`Error::Memory`] if the allocation fails.
    pub fn with_targets(c: usize, targets: usize) -> Result<Self, Error> {
        let earlier = if T::ROWS_APART < u64::MAX { c } else { 0 };
        Ok(Self {
            square: zeros(c.saturating_mul(c), T::ZERO)?,
            earlier: [
                zeros(earlier.saturating_mul(c), T::ZERO)?,
                zeros(earlier, T::ZERO)?,
                zeros(earlier, T::ZERO)?,
            ],
            stride: c,
            further: zeros(RidgeRegression::<T>::further_numbers(c, targets), T::ZERO)?,
            diagonal: zeros(c, T::ZERO)?,
            targets: zeros(c, T::ZERO)?,
            row: zeros(c, T::ZERO)?,
            solution: zeros(c, T::ZERO)?,
        })
    }

    /// Return an accumulator without rows of `c` features with several targets, for which this was allocated.
    ///
    /// # Errors
    /// Those of [`RidgeRegression::with_targets`].
    pub fn regression(
        &mut self,
        c: usize,
        targets: usize,
    ) -> Result<RidgeRegression<'_, T>, dpp_nystrom_core::Error> {
        let (memory, further) = self.parts();
        RidgeRegression::with_targets(c, targets, memory, further)
    }

    /// Lend the slices to one accumulator.
    pub fn lend(&mut self) -> RidgeMemory<'_, T> {
        self.parts().0
    }

    fn parts(&mut self) -> (RidgeMemory<'_, T>, &mut [T]) {
        let Self { square, diagonal, targets, row, solution, further, earlier, stride } = self;
        let [earlier, earlier_diagonal, earlier_targets] = earlier;
        let earlier = EarlierMemory {
            square: earlier,
            stride: *stride,
            diagonal: earlier_diagonal,
            targets: earlier_targets,
        };
        (RidgeMemory { square, diagonal, targets, row, solution, earlier }, further)
    }
}

/// Return `len` copies of `zero`, or an error if the allocation fails.
pub fn zeros<T: Clone>(len: usize, zero: T) -> Result<Vec<T>, Error> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| Error::Memory { bytes: len.saturating_mul(size_of::<T>()) })?;
    values.resize(len, zero);
    Ok(values)
}
