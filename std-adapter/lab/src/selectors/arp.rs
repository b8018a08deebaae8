//! Adaptive randomised pivoting: a projection DPP of the `c` leading eigenvectors of K.
//!
//! With the eigenvectors as the columns of `V`, rows are drawn in proportion to `‖v_i‖²`, the squared norm of
//! row `i` of `V`, and the direction of the row drawn is then projected out of all others. A set `C` has the
//! probability `det(V_C)²`: volume sampling on the eigenvectors. The expected squared Frobenius error of the
//! projection of K on the columns drawn is at most `c + 1` times the best of rank `c`.

use super::adaptive_full::Columns;
use super::scores::leading;
use dpp_nystrom::Error;
use dpp_nystrom::landmarks::{Selection, Selector, Task};

/// Select rows by adaptive randomised pivoting on the `c` leading eigenvectors (Cortinovis and Kressner
/// 2024). `N²` kernel evaluations, `O(N³)` operations, `2 N²` numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arp;

impl Selector for Arp {
    fn name(&self) -> &'static str {
        "arp"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let eigen = task.eigen(self.name(), "rpcholesky")?;
        let rank = leading(eigen, task.c).len();
        let vectors = eigen.vectors.as_ref().subcols(0, rank).transpose().to_owned();
        let mut rows = Columns::new(vectors.as_ref());
        task.observer.begin("rows", task.c as u64);
        let selection = task.draw(rows.norms.clone(), &mut task.random(), |drawn, residuals| {
            if let Some(&last) = drawn.last() {
                rows.remove(last, residuals);
            }
            task.observer.advance(1);
            Ok(())
        })?;
        task.observer.end();
        Ok(selection)
    }
}
