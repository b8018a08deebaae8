//! Adaptive sampling of columns: each row is drawn in proportion to `‖E_j‖²`, the squared norm of its column of
//! `E = K - QQᵀK`, where `Q` is an orthonormal basis of the columns drawn before. The first goes by `‖K_j‖²`.
//!
//! One column a round, where the source draws several: `‖E_j‖² = ‖K_j‖² - Σ_t (q_tᵀ K_j)²` loses a square a round,
//! at `N²` multiply-adds, and the columns left out are never formed. `O(N² c)`.

use crate::error::Error;
use crate::heap::Heap;
use crate::landmarks::methods::draw::{one, refused, selected};
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task};
use crate::linalg::gram_schmidt::{Basis, dot};
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
        let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
        task.observer.begin("columns", c as u64);
        while landmarks.len() < c {
            one(&mut landmarks, c, &mut columns.missed, &mut random)?;
            if let Some(&drawn) = landmarks.members().last() {
                columns.remove(drawn);
            }
            task.observer.advance(1);
        }
        task.observer.end();
        Ok(selected(&landmarks))
    }
}

/// The columns of a symmetric matrix less what an orthonormal basis has of them.
pub(crate) struct Columns<'m> {
    matrix: MatRef<'m, f64>,
    basis: Basis,
    norms: Vec<f64>,
    /// `‖E_j‖²`; zero for those in the basis, and at the level of rounding.
    pub(crate) missed: Vec<f64>,
}

impl<'m> Columns<'m> {
    pub(crate) fn new(matrix: MatRef<'m, f64>) -> Self {
        let norms: Vec<f64> =
            (0..matrix.ncols()).into_par_iter().map(|j| matrix.col(j).squared_norm_l2()).collect();
        Self { matrix, basis: Basis::default(), missed: norms.clone(), norms }
    }

    /// Takes the direction of column `j` out of every column.
    pub(crate) fn remove(&mut self, j: usize) {
        self.missed[j] = 0.0;
        // A column of rounding alone has no direction.
        let Some(direction) = self.basis.push(self.matrix.col(j).to_owned()) else { return };
        // At this the square is rounding.
        let floor = self.matrix.nrows() as f64 * f64::EPSILON;
        let matrix = self.matrix;
        self.missed.par_iter_mut().zip(&self.norms).enumerate().for_each(|(j, (missed, norm))| {
            let share = dot(matrix.col(j), direction.as_ref());
            *missed -= share * share;
            if !(*missed > floor * norm) {
                *missed = 0.0;
            }
        });
    }
}
