//! Adaptive column sampling: each row is drawn with probability proportional to `‖E_j‖²`, the squared norm of its
//! column of `E = K - QQᵀK`, where `Q` is an orthonormal basis of the columns drawn before. The first row is drawn in
//! proportion to `‖K_j‖²`.
//!
//! One column is drawn per round, while the source draws several. `‖E_j‖² = ‖K_j‖² - Σ_t (q_tᵀ K_j)²` is updated by
//! one square per round, at `N²` multiply-adds, and the residual columns are never formed. `O(N² c)`.

use crate::error::{Error, landmarks_error};
use crate::heap::Heap;
use crate::landmarks::methods::draw::{one, selected};
use crate::landmarks::{Selection, Selector, Task};
use crate::linalg::gram_schmidt::{Basis, dot};
use crate::observer::go_on;
use dpp_nystrom_core::Landmarks;
use faer::MatRef;
use rayon::prelude::*;

/// Select rows one by one in proportion to the squared norm of their column's residual (Deshpande, Rademacher, Vempala
/// and Wang 2006). `N²` kernel evaluations and numbers, `O(N² c)` operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdaptiveFull;

impl Selector for AdaptiveFull {
    fn name(&self) -> &'static str {
        "adapfull"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let (gram, c) = (task.gram, task.c);
        gram.check_whole(self.name(), "adappart")?;
        let ground = gram.ground();
        let matrix = gram.matrix()?;
        let mut random = task.random();
        let mut columns = Columns::new(matrix.as_ref().as_ref());
        let mut memory = Heap::new(c)?;
        let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(landmarks_error)?;
        task.observer.begin("columns", c as u64);
        while landmarks.len() < c {
            one(&mut landmarks, c, &mut columns.residuals, &mut random)?;
            if let Some(&drawn) = landmarks.members().last() {
                columns.remove(drawn);
            }
            task.observer.advance(1);
            go_on(task.observer)?;
        }
        task.observer.end();
        Ok(selected(&landmarks))
    }
}

/// The columns of a symmetric matrix, with their residuals given an orthonormal basis.
pub(crate) struct Columns<'m> {
    matrix: MatRef<'m, f64>,
    basis: Basis,
    norms: Vec<f64>,
    /// `‖E_j‖²`; zero for columns in the basis, and at the level of rounding.
    pub(crate) residuals: Vec<f64>,
}

impl<'m> Columns<'m> {
    pub(crate) fn new(matrix: MatRef<'m, f64>) -> Self {
        let norms: Vec<f64> =
            (0..matrix.ncols()).into_par_iter().map(|j| matrix.col(j).squared_norm_l2()).collect();
        Self { matrix, basis: Basis::default(), residuals: norms.clone(), norms }
    }

    /// Project the direction of column `j` out of every column.
    pub(crate) fn remove(&mut self, j: usize) {
        self.residuals[j] = 0.0;
        // A column whose residual is a rounding error has no direction.
        let Some(direction) = self.basis.push(self.matrix.col(j).to_owned()) else { return };
        // Squares up to this value are rounding errors.
        let floor = self.matrix.nrows() as f64 * f64::EPSILON;
        let matrix = self.matrix;
        self.residuals.par_iter_mut().zip(&self.norms).enumerate().for_each(|(j, (residuals, norm))| {
            let share = dot(matrix.col(j), direction.as_ref());
            *residuals -= share * share;
            if !(*residuals > floor * norm) {
                *residuals = 0.0;
            }
        });
    }
}
