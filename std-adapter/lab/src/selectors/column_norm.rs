//! Rows in proportion to the squared norm `‖K_i‖²` of their column of K. The columns are computed one by one
//! and not stored, so the number of rows is not limited.

use dpp_nystrom::Error;
use dpp_nystrom::approximation::AnyGround;
use dpp_nystrom::core::GroundSet;
use dpp_nystrom::landmarks::{Selection, Selector, Task};
use dpp_nystrom::observer::{Observer, go_on};
use rayon::prelude::*;

/// Select rows in proportion to the squared norm of their column of K (Drineas, Kannan and Mahoney 2006).
/// `N²` kernel evaluations, `N + c²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColumnNorm;

impl Selector for ColumnNorm {
    fn name(&self) -> &'static str {
        "column-norm"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        task.draw(weights(task.gram.ground(), task.observer)?, &mut task.random(), |_, _| Ok(()))
    }
}

/// Return `‖K_i‖² = Σ_j k(i, j)²` for every row.
fn weights(ground: &AnyGround<'_>, observer: &dyn Observer) -> Result<Vec<f64>, Error> {
    observer.begin("columns", ground.len() as u64);
    let norms = (0..ground.len())
        .into_par_iter()
        .map(|i| {
            go_on(observer)?;
            let squares = (0..ground.len()).map(|j| ground.entry(i, j).powi(2));
            let norm = squares.sum();
            observer.advance(1);
            Ok(norm)
        })
        .collect::<Result<_, Error>>()?;
    observer.end();
    Ok(norms)
}
