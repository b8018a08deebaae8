//! Working memory of a size chosen at run time.

use dpp_nystrom_core::{FactorMemory, Memory, RidgeMemory, Scalar};

/// The memory of a set of landmarks, owned.
#[derive(Clone, Debug)]
pub struct Room<T> {
    /// The square of the factor.
    pub square: Vec<T>,
    /// The working column.
    pub column: Vec<T>,
    /// The rotations.
    pub rotations: Vec<[T; 2]>,
    /// The members.
    pub landmarks: Vec<usize>,
}

impl<T: Scalar> Room<T> {
    /// Create memory for `capacity` landmarks, filled with NaN and with indices past the end, so that reading what was never
    /// written fails.
    pub fn new(capacity: usize) -> Self {
        let nan = T::from_f64(f64::NAN);
        Self {
            square: vec![nan; capacity * capacity],
            column: vec![nan; capacity],
            rotations: vec![[nan; 2]; capacity],
            landmarks: vec![usize::MAX; capacity],
        }
    }

    /// Lend the slices.
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

/// The memory of a ridge regression, owned.
#[derive(Clone, Debug)]
pub struct RidgeRoom<T> {
    /// The square of the triangle.
    pub square: Vec<T>,
    /// The solution's diagonal.
    pub diagonal: Vec<T>,
    /// The accumulated targets.
    pub targets: Vec<T>,
    /// The row that is being added.
    pub row: Vec<T>,
}

impl<T: Scalar> RidgeRoom<T> {
    /// Create memory for `dim` features, filled with NaN.
    pub fn new(dim: usize) -> Self {
        let nan = T::from_f64(f64::NAN);
        Self {
            square: vec![nan; dim * dim],
            diagonal: vec![nan; dim],
            targets: vec![nan; dim],
            row: vec![nan; dim],
        }
    }

    /// Lend the slices.
    pub fn lend(&mut self) -> RidgeMemory<'_, T> {
        RidgeMemory {
            square: &mut self.square,
            diagonal: &mut self.diagonal,
            targets: &mut self.targets,
            row: &mut self.row,
        }
    }
}
