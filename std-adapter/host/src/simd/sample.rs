//! Some rows of a ground set, and k-means++ seeds of them.

use crate::error::Error;
use crate::heap::{Heap, zeros};
use dpp_nystrom_core::{GroundSet, Landmarks, Random, Scalar, start};

/// Draw `c` of `rows` by k-means++ seeding on `sample`, their ground set; return row indices.
pub fn seeds_of<T: Scalar, G: GroundSet<T> + ?Sized>(
    sample: &G,
    rows: &[usize],
    c: usize,
    random: &mut Random,
) -> Result<Vec<usize>, Error> {
    let mut memory = Heap::new(c)?;
    let mut seeds = Landmarks::new(sample, memory.lend()).map_err(Error::Landmarks)?;
    let mut distances = zeros(rows.len(), T::ZERO)?;
    start::kmeans_plus_plus(&mut seeds, c, &mut distances, random).map_err(Error::Landmarks)?;
    Ok(seeds.members().iter().map(|&seed| rows[seed]).collect())
}

/// A ground set restricted to some of its rows.
#[derive(Debug)]
pub struct Sample<'g, G: ?Sized> {
    /// The rows and the kernel.
    pub ground: &'g G,
    /// Their indices.
    pub rows: &'g [usize],
}

impl<T: Scalar, G: GroundSet<T> + ?Sized> GroundSet<T> for Sample<'_, G> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn entry(&self, i: usize, j: usize) -> T {
        self.ground.entry(self.rows[i], self.rows[j])
    }

    fn diagonal(&self, i: usize) -> T {
        self.ground.diagonal(self.rows[i])
    }

    fn squared_distance(&self, i: usize, j: usize) -> T {
        self.ground.squared_distance(self.rows[i], self.rows[j])
    }
}
