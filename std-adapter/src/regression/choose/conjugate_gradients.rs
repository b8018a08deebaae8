//! The errors of a fold without it, for all ridges, by conjugate gradients from the weights of all rows.
//!
//! The triangle of all rows is decomposed once, `U B Vᵀ` ([`Bidiagonal`]). Let `B_λ` be the triangle of
//! `[B; √λ I]`, which takes `O(c)`, `C = RV` that of the fold in the basis, and `E = C B_λ⁻¹`. Without the
//! fold, the normal equations are those of `B_λᵀ (I - EᵀE) B_λ`, and `I - EᵀE` is close to the identity: a
//! fold is a tenth of the rows. So the change of the weights, `(I - EᵀE)⁻¹ Eᵀe` for the residuals `e` of the
//! fold under the weights of all rows, takes some ten steps of conjugate gradients (Hestenes and Stiefel
//! 1952; Golub and Van Loan §11.3), of `2c²` multiply-adds for each ridge, in products of matrices. What is
//! subtracted is relative to the identity, so the condition of the features does not matter. Rows in
//! directions that the other folds hardly have do: there, or if the steps do not suffice, nothing is
//! returned.

use crate::linalg::bidiagonal::{Bidiagonal, Penalised};
use crate::regression::rows::triangle::Triangle;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par};

/// Steps, at most; what their residuals fall to; and the least curvature, against that of all rows, at which
/// rounding is small enough.
const STEPS: usize = 200;
const RESIDUAL: f64 = 1e-12;
const CURVATURE: f64 = 1e-8;

/// Return the squared error of each `√λ`'s weights without a fold on its rows, summed over the targets:
/// `c³/2` multiply-adds, and `2c²` a step for each `√λ` and target. `all` is the triangle of all rows, and
/// `basis` its `V`. `None` if [`STEPS`] do not suffice.
pub(crate) fn errors_without(
    fold: &Triangle,
    all: &Bidiagonal,
    basis: MatRef<'_, f64>,
    penalties: &[f64],
) -> Option<Vec<f64>> {
    let mut system = System::new(fold, all, basis, penalties);
    let mut active = system.columns();
    for _ in 0..STEPS {
        active = (0..active).rev().find(|&at| system.is_open(at)).map_or(0, |at| at + 1);
        if active == 0 {
            break;
        }
        system.step(active)?;
    }
    if (0..system.columns()).any(|at| system.is_open(at)) {
        return None;
    }
    let (left, outputs) = (fold.left().sum::<f64>(), fold.targets().ncols());
    let error = |at: usize| {
        let own = at * outputs..(at + 1) * outputs;
        left + own.map(|column| square(system.residuals.col_as_slice(column))).sum::<f64>()
    };
    Some((0..penalties.len()).map(error).collect())
}

/// The equations of the weights without a fold, and how far they are solved. There is a column for each
/// target of each ridge, one ridge after the other: as a rule those of large ones are done first.
struct System {
    /// `C`.
    own: Mat<f64>,
    /// `B_λ` of each column.
    triangles: Vec<Penalised>,
    /// The fold's residuals under the weights so far.
    residuals: Mat<f64>,
    /// Their gradients by the weights that `B_λ` gives, and the squared lengths of these: those that were
    /// reached, and those that are small enough.
    gradients: Mat<f64>,
    squares: Vec<f64>,
    enough: Vec<f64>,
    /// The next step in the same coordinates, as a change of the weights, and what it changes.
    directions: Mat<f64>,
    moves: Mat<f64>,
    images: Mat<f64>,
    turned: Mat<f64>,
}

impl System {
    /// Begin at the weights of all rows.
    fn new(fold: &Triangle, all: &Bidiagonal, basis: MatRef<'_, f64>, penalties: &[f64]) -> Self {
        let targets = fold.targets();
        let (c, outputs) = (targets.nrows(), targets.ncols());
        let columns = penalties.len() * outputs;
        let mut own = Mat::<f64>::zeros(c, c);
        triangular::matmul(
            own.as_mut(),
            BlockStructure::Rectangular,
            Accum::Replace,
            fold.square(),
            BlockStructure::TriangularUpper,
            basis,
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        let mut weights = Mat::<f64>::zeros(c, columns);
        let triangles: Vec<_> = (0..columns)
            .map(|at| {
                let z = weights.col_as_slice_mut(at);
                let triangle = all.penalised(penalties[at / outputs], at % outputs, z);
                triangle.solve(z);
                triangle
            })
            .collect();
        let mut residuals = Mat::from_fn(c, columns, |i, at| -targets[(i, at % outputs)]);
        matmul(residuals.as_mut(), Accum::Add, own.as_ref(), weights.as_ref(), 1.0, Par::Seq);
        let mut gradients = Mat::<f64>::zeros(c, columns);
        matmul(gradients.as_mut(), Accum::Replace, own.transpose(), residuals.as_ref(), 1.0, Par::Seq);
        let mut squares = vec![0.0; columns];
        for (at, triangle) in triangles.iter().enumerate() {
            triangle.solve_transposed(gradients.col_as_slice_mut(at));
            squares[at] = square(gradients.col_as_slice(at));
        }
        let enough = squares.iter().map(|square| RESIDUAL.powi(2) * square).collect();
        let (images, turned) = (Mat::zeros(c, columns), Mat::zeros(c, columns));
        let directions = gradients.clone();
        Self {
            own,
            triangles,
            residuals,
            gradients,
            squares,
            enough,
            directions,
            moves: weights,
            images,
            turned,
        }
    }

    fn columns(&self) -> usize {
        self.triangles.len()
    }

    /// Whether a column is not solved. True for NaN.
    fn is_open(&self, at: usize) -> bool {
        !(self.squares[at] <= self.enough[at])
    }

    /// Make a step in each open column of the first `active`. `None` where the curvature is too small.
    fn step(&mut self, active: usize) -> Option<()> {
        for (at, triangle) in self.triangles.iter().enumerate().take(active) {
            let own = self.moves.col_as_slice_mut(at);
            own.copy_from_slice(self.directions.col_as_slice(at));
            triangle.solve(own);
        }
        let own = &self.own;
        let mut images = self.images.subcols_mut(0, active);
        matmul(images.as_mut(), Accum::Replace, own.as_ref(), self.moves.subcols(0, active), 1.0, Par::Seq);
        let turned = self.turned.subcols_mut(0, active);
        matmul(turned, Accum::Replace, own.transpose(), images.as_ref(), 1.0, Par::Seq);
        (0..active).try_for_each(|at| if self.is_open(at) { self.step_of(at) } else { Some(()) })
    }

    /// Make the step of one column.
    fn step_of(&mut self, at: usize) -> Option<()> {
        let (turned, image) = (self.turned.col_as_slice_mut(at), self.images.col_as_slice(at));
        self.triangles[at].solve_transposed(turned);
        let direction = self.directions.col_as_slice_mut(at);
        let length = square(direction);
        let curvature = length - square(image);
        // False for NaN.
        if !(curvature > CURVATURE * length) {
            return None;
        }
        let step = self.squares[at] / curvature;
        let residual = self.residuals.col_as_slice_mut(at);
        residual.iter_mut().zip(image).for_each(|(slot, change)| *slot += step * change);
        let gradient = self.gradients.col_as_slice_mut(at);
        for (slot, (own, turned)) in gradient.iter_mut().zip(direction.iter().zip(turned)) {
            *slot -= step * (own - *turned);
        }
        let next = square(gradient);
        let share = next / self.squares[at];
        self.squares[at] = next;
        direction.iter_mut().zip(gradient).for_each(|(slot, own)| *slot = *own + share * *slot);
        Some(())
    }
}

fn square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}
