//! Adaptive column sampling: each row is drawn with probability proportional to `‖E_j‖²`, the squared norm of
//! its column of `E = K - QQᵀK`, where `Q` is an orthonormal basis of the columns drawn before. The first row
//! is drawn in proportion to `‖K_j‖²`.
//!
//! One column is drawn per round, while the source draws several. `‖E_j‖² = ‖K_j‖² - Σ_t (q_tᵀ K_j)²` is
//! updated by one square per round, at `N²` multiply-adds, and the residual columns are never formed.
//! `O(N² c)`.

use crate::linalg::{Basis, dot};
use dpp_nystrom::Error;
use dpp_nystrom::faer::MatRef;
use dpp_nystrom::landmarks::{Selection, Selector, Task};
use rayon::prelude::*;

/// Select rows one by one in proportion to the squared norm of their column's residual (Deshpande,
/// Rademacher, Vempala and Wang 2006). `N²` kernel evaluations and numbers, `O(N² c)` operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdaptiveFull;

impl Selector for AdaptiveFull {
    fn name(&self) -> &'static str {
        "adapfull"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        task.gram.check_whole(self.name(), "adappart")?;
        let mut columns = Columns::new(task.gram.matrix()?.as_ref().as_ref());
        task.observer.begin("columns", task.c as u64);
        let selection = task.draw(columns.norms.clone(), &mut task.random(), |drawn, residuals| {
            if let Some(&last) = drawn.last() {
                columns.remove(last, residuals);
            }
            task.observer.advance(1);
            Ok(())
        })?;
        task.observer.end();
        Ok(selection)
    }
}

/// The columns of a symmetric matrix, and an orthonormal basis of some of them.
pub(super) struct Columns<'m> {
    matrix: MatRef<'m, f64>,
    basis: Basis,
    /// `‖K_j‖²`.
    pub(super) norms: Vec<f64>,
}

impl<'m> Columns<'m> {
    pub(super) fn new(matrix: MatRef<'m, f64>) -> Self {
        let norms: Vec<f64> =
            (0..matrix.ncols()).into_par_iter().map(|j| matrix.col(j).squared_norm_l2()).collect();
        Self { matrix, basis: Basis::default(), norms }
    }

    /// Project the direction of column `j` out of every column, of which the residuals are `‖E_j‖²`; zero for
    /// columns in the basis, and at the level of rounding.
    pub(super) fn remove(&mut self, j: usize, residuals: &mut [f64]) {
        residuals[j] = 0.0;
        // A column whose residual is a rounding error has no direction.
        let Some(direction) = self.basis.push(self.matrix.col(j).to_owned()) else { return };
        // Squares up to this value are rounding errors.
        let floor = self.matrix.nrows() as f64 * f64::EPSILON;
        let matrix = self.matrix;
        residuals.par_iter_mut().zip(&self.norms).enumerate().for_each(|(j, (residual, norm))| {
            let share = dot(matrix.col(j), direction.as_ref());
            *residual -= share * share;
            if !(*residual > floor * norm) {
                *residual = 0.0;
            }
        });
    }
}
