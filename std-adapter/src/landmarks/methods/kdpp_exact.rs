//! Exact samples of the c-DPP: from the eigenvectors of the kernel matrix or of a low-rank form of it, or by
//! rejection.

use crate::approximation::{SPECTRUM_ROWS, features::independent};
use crate::error::Error;
use crate::landmarks::{ExactKDpp, LowRankKDpp, RejectionKDpp, Selection, Selector, Task};
use crate::observer::go_on;
use dpp_nystrom_host::heap::Heap;
use std::sync::Arc;

/// Sample a c-DPP exactly, from all eigenvectors of K (Kulesza and Taskar 2012, Algorithms 1 and 8). `N²`
/// kernel evaluations, `O(N³)` operations, `2 N²` numbers; up to
/// [`SPECTRUM_ROWS`](crate::approximation::SPECTRUM_ROWS) rows.
///
/// Of more rows by rejection ([`RejectionKDpp`]; α-DPP of Calandriello, Dereziński and Valko 2020), from the
/// features of 2 c to 16 c rows of pivoted Cholesky: `O(N c²)` multiply-adds, and those of the proposals,
/// which hardly depend on N. An error if these are too many.
///
/// For the linear and the polynomial kernel, with fewer monomials D than rows, from the eigenvectors of the
/// `D x D` matrix ([`LowRankKDpp`]): `2 N D²` multiply-adds, `2 N D` numbers, any number of rows.
///
/// ```
/// use dpp_nystrom::core::Matrix;
/// use dpp_nystrom::landmarks::select;
/// use dpp_nystrom::{observer::NoObserver, selectors::KdppExact};
///
/// let matrix = Matrix::new(&[2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0])?; // rows 0 and 2 agree
/// let selection = select(&matrix, 2, &KdppExact, 7, &NoObserver)?;
/// assert!(selection.landmarks.rows().is_some_and(|rows| rows.contains(&1)));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct KdppExact;

impl Selector for KdppExact {
    fn name(&self) -> &'static str {
        "kdpp-exact"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let rows = match low_rank(task)? {
            Some(exact) => exact.with_size(task.c)?.sample(&mut task.random()),
            None if task.gram.len() > SPECTRUM_ROWS => {
                let exact = RejectionKDpp::pivoted(task.gram.ground(), task.c, task.seed, task.observer)?;
                exact.sample_observed(&mut task.random(), task.observer)?
            }
            None => {
                let exact = ExactKDpp::from_eigen(Arc::clone(task.eigen(self.name(), "kdpp")?));
                exact.sample(task.c, &mut task.random())?
            }
        };
        let mut memory = Heap::new(task.c)?;
        let log_det = independent(task.gram.ground(), &rows, &mut memory)?.log_det();
        Ok(Selection::rows(rows, log_det))
    }
}

/// Return the sampler of a kernel of low rank; none for another kernel, or where it saves nothing.
fn low_rank(task: &Task<'_>) -> Result<Option<LowRankKDpp>, Error> {
    match task.gram.rows() {
        Ok(rows) if LowRankKDpp::has_form(rows) => {
            task.observer.begin("eigenvectors", 1);
            let exact = LowRankKDpp::of(rows)?;
            go_on(task.observer)?;
            task.observer.end();
            Ok(exact)
        }
        _ => Ok(None),
    }
}
