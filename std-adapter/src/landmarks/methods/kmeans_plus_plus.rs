//! The seeds of k-means++: [`dpp_nystrom_core::start::kmeans_plus_plus`].

use crate::error::Error;
use crate::landmarks::{Selection, Selector, Start, Task, chain::select_rows, procedure::Procedure};

/// Select the seeds of k-means++ (Arthur and Vassilvitskii 2007): each row is drawn in proportion to its
/// squared distance to the nearest seed before it. `N c` distances.
///
/// ```
/// use dpp_nystrom::{Dataset, Nystroem, selectors::KmeansPlusPlus};
///
/// let x = [0.0, 0.1, 0.2, 500.0, 500.1, 999.0];
/// let map = Nystroem::params(3).selector(KmeansPlusPlus).fit(&Dataset::from_rows(&x, 1)?)?;
/// assert!(map.landmarks().contains(&5)); // far from the others
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct KmeansPlusPlus;

const KMEANS_PLUS_PLUS: Procedure = Procedure::Start(Start::KmeansPlusPlus);

impl Selector for KmeansPlusPlus {
    fn name(&self) -> &'static str {
        "kmeans++"
    }

    fn on_ground(&self) -> Option<Procedure> {
        Some(KMEANS_PLUS_PLUS)
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        select_rows(task, &KMEANS_PLUS_PLUS)
    }
}
