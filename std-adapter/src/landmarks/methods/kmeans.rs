//! The centroids of k-means as landmarks.

use crate::error::Error;
use crate::landmarks::{Needs, Selection, Selector, Task, methods::lloyd::centroids};

/// Select the centroids of k-means (Zhang, Tsang and Kwok 2008), which are points and not rows. `N c`
/// distances per round, at most 100 rounds; `N + c d` numbers.
///
/// ```
/// use dpp_nystrom::{Dataset, Nystroem, selectors::Kmeans};
///
/// let x = [0.0, 0.2, 50.0, 50.2, 99.0, 99.2]; // three clusters
/// let map = Nystroem::params(3).selector(Kmeans).fit(&Dataset::from_rows(&x, 1)?)?;
/// assert!(map.landmarks().is_empty()); // points, not rows
/// assert_eq!(map.landmark_points()?.len(), 3);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Kmeans;

impl Selector for Kmeans {
    fn name(&self) -> &'static str {
        "kmeans"
    }

    fn needs(&self) -> Needs {
        Needs { points: true, ..Needs::default() }
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        Selection::points(task.gram, centroids(task)?)
    }
}
