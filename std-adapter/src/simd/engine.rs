//! The two evaluators: one row at a time over any ground set, or many rows in SIMD lanes.

use crate::error::{Error, landmarks_error};
use crate::heap::{Heap, zeros};
use crate::observer::{Observer, go_on};
use crate::rng::by_weight;
use dpp_nystrom_core::{
    Error as CoreError, Evaluate, GroundSet, Landmarks, Nystrom, OneByOne, Random, Scalar, start,
};
use rand_core::Rng;

/// How candidates are evaluated and passes over the rows are made.
pub(crate) trait Engine<T: Scalar, G: GroundSet<T> + ?Sized>: Evaluate<T, G> {
    /// Fill an empty landmark set up to `c` by randomly pivoted Cholesky over `candidates`, or over all rows.
    fn pivot(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        candidates: Option<&[usize]>,
        random: &mut Random,
        observer: &dyn Observer,
    ) -> Result<(), Error>;

    /// Fill an empty landmark set up to `c` by greedily pivoted Cholesky over all rows: each landmark is the
    /// first row with the largest residual.
    fn pivot_greedily(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        observer: &dyn Observer,
    ) -> Result<(), Error>;

    /// Return how many values [`pivot`](Self::pivot) stores per row it considers.
    fn numbers_to_pivot(&self, c: usize) -> usize;

    /// Draw `c` of these rows by k-means++ seeding.
    fn seeds(&self, ground: &G, rows: &[usize], c: usize, random: &mut Random) -> Result<Vec<usize>, Error> {
        seeds_of(&Sample { ground, rows }, rows, c, random)
    }
}

/// Draw `c` of `rows` by k-means++ seeding on `sample`, their ground set; return row indices.
pub(crate) fn seeds_of<T: Scalar, G: GroundSet<T> + ?Sized>(
    sample: &G,
    rows: &[usize],
    c: usize,
    random: &mut Random,
) -> Result<Vec<usize>, Error> {
    let mut memory = Heap::new(c)?;
    let mut seeds = Landmarks::new(sample, memory.lend()).map_err(landmarks_error)?;
    let mut distances = zeros(rows.len(), T::ZERO)?;
    start::kmeans_plus_plus(&mut seeds, c, &mut distances, random).map_err(landmarks_error)?;
    Ok(seeds.members().iter().map(|&seed| rows[seed]).collect())
}

/// A ground set restricted to some of its rows.
struct Sample<'g, G: ?Sized> {
    ground: &'g G,
    rows: &'g [usize],
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

impl<T: Scalar, G: GroundSet<T> + ?Sized> Engine<T, G> for OneByOne {
    /// Chen, Epperly, Tropp and Webber (2022), recomputing every residual for every landmark: `n c³/6`
    /// multiply-adds, `n c²/2` kernel entries, `n` values stored.
    fn pivot(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        candidates: Option<&[usize]>,
        random: &mut Random,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        push_by_residual(landmarks, c, candidates, observer, |residuals| {
            let total: f64 = residuals.iter().sum();
            if !(total > 0.0) {
                return None;
            }
            let mut place = f64::from_draw(random.next_u32()) * total;
            by_weight(residuals.iter().copied(), &mut place)
        })
    }

    /// `n c³/6` multiply-adds, `n c²/2` kernel entries, `n` values stored.
    fn pivot_greedily(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        push_by_residual(landmarks, c, None, observer, |residuals| {
            let largest = residuals.iter().copied().fold(0.0, f64::max);
            residuals.iter().position(|&residual| residual > 0.0 && residual == largest)
        })
    }

    fn numbers_to_pivot(&self, _: usize) -> usize {
        1
    }
}

/// Fill a landmark set up to `c` with the rows that `next` chooses by their residuals, which are recomputed for every
/// landmark.
fn push_by_residual<T: Scalar, G: GroundSet<T> + ?Sized>(
    landmarks: &mut Landmarks<'_, T, G>,
    c: usize,
    candidates: Option<&[usize]>,
    observer: &dyn Observer,
    mut next: impl FnMut(&[f64]) -> Option<usize>,
) -> Result<(), Error> {
    let number = |at: usize| candidates.map_or(at, |candidates| candidates[at]);
    let mut phi = zeros(c, T::ZERO)?;
    let mut residuals = zeros(candidates.map_or(landmarks.ground().len(), <[usize]>::len), 0.0)?;
    while landmarks.len() < c {
        go_on(observer)?;
        let nystrom = Nystrom::new(landmarks);
        for (at, residual) in residuals.iter_mut().enumerate() {
            let phi = &mut phi[..nystrom.rank()];
            *residual = nystrom.residual(number(at), phi).map_err(landmarks_error)?.to_f64();
        }
        loop {
            let rank = landmarks.len();
            let at =
                next(&residuals).ok_or(landmarks_error(CoreError::RankDeficient { rank, landmarks: c }))?;
            match landmarks.push(number(at)) {
                Ok(()) => break,
                // The residual is a rounding error: do not select the row again.
                Err(CoreError::NotPositive { .. } | CoreError::Duplicate { .. }) => residuals[at] = 0.0,
                Err(reason) => return Err(landmarks_error(reason)),
            }
        }
    }
    Ok(())
}
