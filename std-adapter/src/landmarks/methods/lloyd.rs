//! Lloyd's k-means (Lloyd 1982) in feature space, from the seeds of k-means++.

use crate::approximation::LandmarkSet;
use crate::error::Error;
use crate::landmarks::{Selector, Task, methods::kmeans_plus_plus::KmeansPlusPlus};
use crate::observer::{Observer, go_on};
use rayon::prelude::*;

/// Rows per parallel task. Sums are computed block by block, so that they do not depend on the number of
/// threads.
const BLOCK: usize = 1_024;

/// The maximum number of rounds: the last ones move the centroids little.
pub(crate) const ROUNDS: usize = 100;

/// Return the centroids of the task's rows: `c` points, concatenated.
pub(crate) fn centroids(task: &Task<'_>) -> Result<Vec<f64>, Error> {
    let data = task.gram.data()?;
    let seeds = match KmeansPlusPlus.select(task)?.landmarks {
        LandmarkSet::Indices(rows) => data.gather(&rows)?,
        LandmarkSet::Points(points) => points,
    };
    task.observer.begin("k-means", ROUNDS as u64);
    let centroids = lloyd(&data.rows, data.dim, seeds, task.observer, |_| task.observer.advance(1))?;
    task.observer.end();
    Ok(centroids)
}

/// Move every centroid to the mean of the rows nearest to it until no row changes its cluster. A centroid
/// without rows does not move. Calls `each` in every round with the inertia `Σ min ‖x - m‖²`, which never
/// increases. `N c` distances per round.
///
/// # Errors
/// `ErrorKind::Cancelled`, after at most one block of rows on each thread.
pub(crate) fn lloyd(
    rows: &[f64],
    dim: usize,
    mut centroids: Vec<f64>,
    observer: &dyn Observer,
    mut each: impl FnMut(f64),
) -> Result<Vec<f64>, Error> {
    let count = rows.len() / dim;
    let mut sides = vec![usize::MAX; count];
    for _ in 0..ROUNDS {
        let parts = rows.par_chunks(BLOCK * dim).zip(sides.par_chunks_mut(BLOCK)).map(|(rows, sides)| {
            go_on(observer)?;
            Ok(Part::of(rows, sides, &centroids, dim))
        });
        let parts = parts.collect::<Result<Vec<Part>, Error>>()?;
        let mut whole = Part::empty(centroids.len(), dim);
        for part in &parts {
            whole.add(part);
        }
        each(whole.inertia);
        if !whole.moved {
            break;
        }
        for ((centroid, sum), &count) in
            centroids.chunks_exact_mut(dim).zip(whole.sums.chunks_exact(dim)).zip(&whole.counts)
        {
            if count > 0 {
                for (value, sum) in centroid.iter_mut().zip(sum) {
                    *value = sum / count as f64;
                }
            }
        }
    }
    Ok(centroids)
}

/// The contribution of a block of rows to the next centroids.
struct Part {
    sums: Vec<f64>,
    counts: Vec<usize>,
    inertia: f64,
    moved: bool,
}

impl Part {
    fn empty(numbers: usize, dim: usize) -> Self {
        Self { sums: vec![0.0; numbers], counts: vec![0; numbers / dim], inertia: 0.0, moved: false }
    }

    fn of(rows: &[f64], sides: &mut [usize], centroids: &[f64], dim: usize) -> Self {
        let mut part = Self::empty(centroids.len(), dim);
        for (row, side) in rows.chunks_exact(dim).zip(sides) {
            let (nearest, distance) = nearest(row, centroids);
            part.moved |= *side != nearest;
            *side = nearest;
            part.inertia += distance;
            part.counts[nearest] += 1;
            for (sum, value) in part.sums[nearest * dim..].iter_mut().zip(row) {
                *sum += value;
            }
        }
        part
    }

    fn add(&mut self, other: &Self) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum += other);
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += other);
        self.inertia += other.inertia;
        self.moved |= other.moved;
    }
}

/// Return the index of the nearest point and its squared distance. Ties go to the first.
fn nearest(row: &[f64], points: &[f64]) -> (usize, f64) {
    let distances = points.chunks_exact(row.len()).map(|point| squared_distance(row, point)).enumerate();
    distances.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best })
}

/// Return `‖x - y‖²`.
pub(crate) fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum()
}
