//! Greedy nuclear scores: the row that decreases the trace error most, one by one.
//!
//! With the residual matrix `E = K - K̃`, adding row `j` decreases `tr E` by `‖E_j‖²/E_jj`, the nuclear score
//! of the row. The source estimates scores by products of E with random vectors. Here they are exact: E is
//! stored and updated by `E ← E - E_j E_jᵀ/E_jj`, `N²` multiply-adds per row.

use dpp_nystrom::Error;
use dpp_nystrom::faer::Mat;
use dpp_nystrom::landmarks::{Selection, Selector, Task};
use rayon::prelude::*;

/// Select the row that decreases the trace error most, among all rows, one by one (Fornace and Lindsey 2024),
/// with exact scores. Uses the seed only if the rank is below `c`. `N²` kernel evaluations, `O(N² c)`
/// operations, `2 N²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct GreedyNuclear;

impl Selector for GreedyNuclear {
    fn name(&self) -> &'static str {
        "greedy-nuclear"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        task.gram.check_whole(self.name(), "refined")?;
        let mut residual = Residual::new(task.gram.matrix()?.as_ref().to_owned());
        task.observer.begin("rows", task.c as u64);
        let selection = task.draw(residual.best(), &mut task.random(), |drawn, weights| {
            task.observer.advance(1);
            if let Some(&last) = drawn.last().filter(|_| drawn.len() < task.c) {
                residual.remove(last);
                weights.copy_from_slice(&residual.best());
            }
            Ok(())
        })?;
        task.observer.end();
        Ok(selection)
    }
}

/// `E`, with the squared norms of its columns.
struct Residual {
    matrix: Mat<f64>,
    norms: Vec<f64>,
    /// A diagonal entry up to this value is a rounding error.
    floors: Vec<f64>,
}

impl Residual {
    fn new(matrix: Mat<f64>) -> Self {
        let n = matrix.nrows();
        let norms = (0..n).map(|j| matrix.col(j).squared_norm_l2()).collect();
        let floors = (0..n).map(|j| n as f64 * f64::EPSILON * matrix[(j, j)]).collect();
        Self { matrix, norms, floors }
    }

    /// Return the weight one for the row of largest score and zero for all others. No row has a score if all
    /// residuals are rounding errors.
    fn best(&self) -> Vec<f64> {
        let n = self.norms.len();
        let mut weights = vec![0.0; n];
        let positive = (0..n).filter(|&j| self.matrix[(j, j)] > self.floors[j]);
        let scores = positive.map(|j| (j, self.norms[j] / self.matrix[(j, j)]));
        let best = scores.reduce(|best, next| if next.1 > best.1 { next } else { best });
        if let Some((j, _)) = best {
            weights[j] = 1.0;
        }
        weights
    }

    /// Add row `j` to the landmarks.
    fn remove(&mut self, j: usize) {
        let scale = 1.0 / self.matrix[(j, j)].sqrt();
        let feature = scale * self.matrix.col(j);
        let columns = self.matrix.par_col_iter_mut().zip(self.norms.par_iter_mut());
        columns.enumerate().for_each(|(i, (mut column, norm))| {
            column -= feature[i] * &feature;
            *norm = column.squared_norm_l2();
        });
        self.matrix[(j, j)] = 0.0;
    }
}
