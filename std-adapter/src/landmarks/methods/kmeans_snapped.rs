//! The rows nearest to the centroids of k-means. For each centroid in turn: the nearest row that is not yet
//! selected and is linearly independent of those that are.

use crate::error::Error;
use crate::landmarks::methods::draw::push;
use crate::landmarks::methods::lloyd::{centroids, squared_distance};
use crate::landmarks::{Selection, Selector, Task};
use crate::observer::go_on;
use dpp_nystrom_core::{Error as CoreError, Landmarks};
use dpp_nystrom_host::heap::Heap;
use rayon::prelude::*;

/// Select the distinct rows nearest to the centroids of k-means (Zhang, Tsang and Kwok 2008). Costs as much
/// as [`Kmeans`](crate::selectors::Kmeans).
///
/// ```
/// use dpp_nystrom::{Dataset, Nystroem, selectors::KmeansSnapped};
///
/// let x = [0.0, 0.1, 0.2, 50.0, 99.0];
/// let map = Nystroem::params(3).selector(KmeansSnapped).fit(&Dataset::from_rows(&x, 1)?)?;
/// assert_eq!(map.landmarks().len(), 3); // rows, nearest to the centroids
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct KmeansSnapped;

impl Selector for KmeansSnapped {
    fn name(&self) -> &'static str {
        "kmeans-snapped"
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        let (data, ground) = (task.gram.data()?, task.gram.ground());
        let centroids = centroids(task)?;
        let mut memory = Heap::new(task.c)?;
        let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(Error::landmarks)?;
        for centroid in centroids.chunks_exact(data.dim) {
            go_on(task.observer)?;
            let mut distances: Vec<f64> =
                data.rows.par_chunks_exact(data.dim).map(|row| squared_distance(row, centroid)).collect();
            loop {
                let nearest = distances.iter().enumerate().min_by(|one, other| one.1.total_cmp(other.1));
                let Some((row, distance)) = nearest else { break };
                if !distance.is_finite() {
                    let rank = landmarks.len();
                    return Err(Error::landmarks(CoreError::RankDeficient { rank, landmarks: task.c }));
                }
                if push(&mut landmarks, row)? {
                    break;
                }
                distances[row] = f64::INFINITY;
            }
        }
        Ok(Selection::rows(landmarks.members().to_vec(), landmarks.log_det()))
    }
}
