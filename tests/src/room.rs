//! Working memory of a size chosen at run time.

use dpp_nystrom_core::{
    EarlierMemory, Error, FactorMemory, FeatureWeights, Memory, RidgeMemory, RidgeRegression, Scalar,
};

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
    /// Create memory for `capacity` landmarks, filled with NaN and with indices past the end, so that reading
    /// what was never written fails.
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
    /// The weights that are being computed.
    pub solution: Vec<T>,
    /// The square, the diagonal and the targets of earlier rows.
    pub earlier: [Vec<T>; 3],
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
            solution: vec![nan; dim],
            earlier: [vec![nan; dim * dim], vec![nan; dim], vec![nan; dim]],
        }
    }

    /// Lend the slices.
    pub fn lend(&mut self) -> RidgeMemory<'_, T> {
        let [square, diagonal, targets] = &mut self.earlier;
        RidgeMemory {
            earlier: EarlierMemory { square, stride: diagonal.len(), diagonal, targets },
            square: &mut self.square,
            diagonal: &mut self.diagonal,
            targets: &mut self.targets,
            row: &mut self.row,
            solution: &mut self.solution,
        }
    }
}

/// Solve for the weights of the features and copy them to `beta`, which a failure leaves as it was.
///
/// # Errors
/// Those of [`RidgeRegression::solve_target`].
///
/// # Panics
/// For another number of weights.
pub fn solve_target<T: Scalar>(
    ridge: &mut RidgeRegression<'_, T>,
    k: usize,
    gamma: T,
    beta: &mut [T],
) -> Result<(), Error> {
    let weights = ridge.solve_target(k, gamma)?.weights;
    assert_eq!(weights.len(), beta.len());
    beta.iter_mut().zip(weights.iter()).for_each(|(slot, weight)| *slot = weight);
    Ok(())
}

/// [`solve_target`] for the first target.
///
/// # Errors
/// Those of [`RidgeRegression::solve`].
pub fn solve<T: Scalar>(ridge: &mut RidgeRegression<'_, T>, gamma: T, beta: &mut [T]) -> Result<(), Error> {
    solve_target(ridge, 0, gamma, beta)
}

/// Return the squared error of any weights of the features.
///
/// # Errors
/// Those of [`RidgeRegression::squared_error_of`].
pub fn squared_error<T: Scalar>(ridge: &RidgeRegression<'_, T>, k: usize, beta: &[T]) -> Result<T, Error> {
    ridge.squared_error_of(k, &FeatureWeights::new(&mut beta.to_vec()))
}
