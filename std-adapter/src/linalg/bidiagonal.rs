//! Ridge regression for many ridges from one decomposition.
//!
//! With `R = U B Vᵀ`, `B` upper bidiagonal (Golub and Kahan 1965), the problem `min ‖Rβ - q‖² + λ‖β‖²`
//! becomes `min ‖Bz - Uᵀq‖² + λ‖z‖²` with `β = Vz`. For each `λ` the rows `√λ e_i` are rotated into `B` in
//! `O(c)` (Eldén 1977, algorithm 2.1; Björck 1996, §5.3.4), so a singular value decomposition is not needed.
//! All steps are orthogonal: errors are amplified by the condition of `[R; √λ I]`, not by its square.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
    apply_block_householder_sequence_transpose_on_the_left_in_place_scratch as apply_transpose_scratch,
    apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as apply_transpose,
};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::linalg::svd::bidiag::{bidiag_in_place, bidiag_in_place_scratch};
use faer::{Conj, Mat, MatRef, Par, Spec};

/// `R = U B Vᵀ` and `Uᵀq` for each right-hand side `q`.
#[derive(Debug)]
pub(crate) struct Bidiagonal {
    /// `B` on the diagonal and above; in the rows beyond, the reflections of `V`.
    matrix: Mat<f64>,
    /// The factors of the reflections of `V`.
    right: Mat<f64>,
    /// `Uᵀq`, a column each.
    targets: Mat<f64>,
}

impl Bidiagonal {
    /// Decompose a square matrix, given with each `q` as a column: `8c³/3` operations and `c²` values of
    /// memory, on one thread.
    pub(crate) fn new(matrix: MatRef<'_, f64>, targets: MatRef<'_, f64>) -> Self {
        let order = matrix.ncols();
        let (mut matrix, mut targets) = (matrix.to_owned(), targets.to_owned());
        let block = recommended_block_size::<f64>(order, order);
        let mut left = Mat::<f64>::zeros(block, order);
        let mut right = Mat::<f64>::zeros(block, order.saturating_sub(1));
        let scratch = StackReq::any_of(&[
            bidiag_in_place_scratch::<f64>(order, order, Par::Seq, Spec::default()),
            apply_transpose_scratch::<f64>(order, block, targets.ncols()),
        ]);
        let mut buffer = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut buffer);
        bidiag_in_place(matrix.as_mut(), left.as_mut(), right.as_mut(), Par::Seq, stack, Spec::default());
        apply_transpose(matrix.as_ref(), left.as_ref(), Conj::Yes, targets.as_mut(), Par::Seq, stack);
        Self { matrix, right, targets }
    }

    /// Return the weights `β` for each right-hand side and each `√λ` of it, one column each: `O(c)`, and
    /// `2c²` multiply-adds for the basis.
    ///
    /// Weights are not finite if `λ = 0` and the matrix is singular.
    pub(crate) fn weights(&self, penalties: &[f64]) -> Mat<f64> {
        let order = self.matrix.nrows();
        let mut weights = Mat::<f64>::zeros(order, penalties.len() * self.targets.ncols());
        for t in 0..self.targets.ncols() {
            for (at, &penalty) in penalties.iter().enumerate() {
                let z = weights.col_as_slice_mut(t * penalties.len() + at);
                self.penalised(penalty, t, z).solve(z);
            }
        }
        self.turn(&mut weights);
        weights
    }

    /// Return `V`: `4c³/3` operations.
    pub(crate) fn basis(&self) -> Mat<f64> {
        let mut basis = Mat::identity(self.matrix.nrows(), self.matrix.nrows());
        self.turn(&mut basis);
        basis
    }

    /// Replace each column `z` by `Vz`.
    fn turn(&self, columns: &mut Mat<f64>) {
        let order = self.matrix.nrows();
        if order > 1 {
            let scratch = apply_scratch::<f64>(order - 1, self.right.nrows(), columns.ncols());
            let mut buffer = MemBuffer::new(scratch);
            let stack = MemStack::new(&mut buffer);
            // Row k of the matrix holds the reflection that acts on entries from k + 1 on.
            let basis = self.matrix.transpose().submatrix(1, 0, order - 1, order - 1);
            let rest = columns.as_mut().subrows_mut(1, order - 1);
            apply(basis, self.right.as_ref(), Conj::Yes, rest, Par::Seq, stack);
        }
    }

    /// Return the triangle of `[B; √λ I]`, and write what its rotations make of `[Uᵀq; 0]` for the right-hand
    /// side `t` to `rotated`.
    pub(crate) fn penalised(&self, penalty: f64, t: usize, rotated: &mut [f64]) -> Penalised {
        let order = rotated.len();
        let targets = self.targets.col_as_slice(t);
        let above = |i: usize| if i + 1 < order { self.matrix[(i, i + 1)] } else { 0.0 };
        let (mut pivots, mut fills) = (vec![0.0; order], vec![0.0; order]);
        // The row to be rotated into row i of B: its entry in column i, and its right-hand side.
        let (mut lead, mut left) = (penalty, 0.0);
        for i in 0..order {
            let entry = self.matrix[(i, i)];
            let pivot = entry.hypot(lead);
            let (cosine, sine) = if pivot > 0.0 { (entry / pivot, lead / pivot) } else { (1.0, 0.0) };
            let target = targets[i];
            pivots[i] = pivot;
            fills[i] = cosine * above(i);
            rotated[i] = cosine * target + sine * left;
            // What is left of it has an entry in the next column, and joins that column's row √λ e.
            let (carried, rest) = (-sine * above(i), cosine * left - sine * target);
            lead = carried.hypot(penalty);
            left = if lead > 0.0 { carried / lead * rest } else { 0.0 };
        }
        Penalised { pivots, fills }
    }
}

/// The upper bidiagonal triangle of `[B; √λ I]`: its diagonal, and the entries after it.
#[derive(Debug)]
pub(crate) struct Penalised {
    pivots: Vec<f64>,
    fills: Vec<f64>,
}

impl Penalised {
    /// Solve with the triangle, in place.
    pub(crate) fn solve(&self, values: &mut [f64]) {
        let mut next = 0.0;
        for (value, (pivot, fill)) in values.iter_mut().zip(self.pivots.iter().zip(&self.fills)).rev() {
            *value = (*value - fill * next) / pivot;
            next = *value;
        }
    }

    /// Solve with its transpose, in place.
    pub(crate) fn solve_transposed(&self, values: &mut [f64]) {
        let mut carried = 0.0;
        for (value, (pivot, fill)) in values.iter_mut().zip(self.pivots.iter().zip(&self.fills)) {
            *value = (*value - carried) / pivot;
            carried = fill * *value;
        }
    }
}
