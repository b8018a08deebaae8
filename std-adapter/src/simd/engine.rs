//! The two evaluators: one row at a time over any ground set, or many rows in SIMD lanes.

use crate::error::Error;
use crate::heap::{Heap, zeros};
use crate::simd::lane::{Ground, Lane};
use crate::simd::lanes::Lanes;
use dpp_nystrom_core::{
    Error as CoreError, Evaluate, GroundSet, Landmarks, Nystrom, OneByOne, OpenSlot, Points, Proposal,
    Random, Scalar, start,
};
use rand_core::Rng;
use rayon::prelude::*;

/// How candidates are evaluated and passes over the rows are made.
pub(crate) trait Engine<T: Scalar, G: GroundSet<T> + ?Sized>: Evaluate<T, G> {
    /// Fill an empty landmark set up to `c` by randomly pivoted Cholesky over `candidates`, or over all rows.
    fn pivot(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        candidates: Option<&[usize]>,
        random: &mut Random,
    ) -> Result<(), Error>;

    /// Fill an empty landmark set up to `c` by greedily pivoted Cholesky over all rows: each landmark is the
    /// first row with the largest residual.
    fn pivot_greedily(&self, landmarks: &mut Landmarks<'_, T, G>, c: usize) -> Result<(), Error>;

    /// Return how many values [`pivot`](Self::pivot) stores per row it considers.
    fn numbers_to_pivot(&self, c: usize) -> usize;

    /// Draw `c` of these rows by k-means++ seeding.
    fn seeds(&self, ground: &G, rows: &[usize], c: usize, random: &mut Random) -> Result<Vec<usize>, Error> {
        seeds_of(&Sample { ground, rows }, rows, c, random)
    }
}

/// Draw `c` of `rows` by k-means++ seeding on `sample`, their ground set; return row indices.
fn seeds_of<T: Scalar, G: GroundSet<T> + ?Sized>(
    sample: &G,
    rows: &[usize],
    c: usize,
    random: &mut Random,
) -> Result<Vec<usize>, Error> {
    let refused = |reason| Error::Landmarks { reason };
    let mut memory = Heap::new(c)?;
    let mut seeds = Landmarks::new(sample, memory.lend()).map_err(refused)?;
    let mut distances = zeros(rows.len(), T::ZERO)?;
    start::kmeans_plus_plus(&mut seeds, c, &mut distances, random).map_err(refused)?;
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

/// Evaluates one row at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl<T: Scalar, G: GroundSet<T> + ?Sized> Evaluate<T, G> for Plain {
    fn evaluate(
        &mut self,
        slot: &mut OpenSlot<'_, '_, T, G>,
        proposals: &[Proposal<T>],
    ) -> Result<u32, CoreError> {
        OneByOne.evaluate(slot, proposals)
    }
}

impl<T: Scalar, G: GroundSet<T> + ?Sized> Engine<T, G> for Plain {
    /// Chen, Epperly, Tropp and Webber (2022), recomputing every residual for every landmark: `n c³/6`
    /// multiply-adds, `n c²/2` kernel entries, `n` values stored.
    fn pivot(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        candidates: Option<&[usize]>,
        random: &mut Random,
    ) -> Result<(), Error> {
        let refused = |reason| Error::Landmarks { reason };
        let ground = landmarks.ground();
        let count = candidates.map_or(ground.len(), <[usize]>::len);
        let number = |at: usize| candidates.map_or(at, |candidates| candidates[at]);
        let mut phi = zeros(c, T::ZERO)?;
        let mut residuals = zeros(count, 0.0)?;
        while landmarks.len() < c {
            residuals_into(landmarks, number, &mut phi, &mut residuals)?;
            loop {
                let total: f64 = residuals.iter().sum();
                if !(total > 0.0) {
                    let rank = landmarks.len();
                    return Err(refused(CoreError::RankDeficient { rank, landmarks: c }));
                }
                let mut place = f64::from_draw(random.next_u32()) * total;
                let passed = |residual: &f64| {
                    place -= residual;
                    place < 0.0 && *residual > 0.0
                };
                let last = || residuals.iter().rposition(|&residual| residual > 0.0);
                let Some(at) = residuals.iter().position(passed).or_else(last) else { continue };
                match landmarks.push(number(at)) {
                    Ok(()) => break,
                    Err(CoreError::NotPositive { .. } | CoreError::Duplicate { .. }) => residuals[at] = 0.0,
                    Err(reason) => return Err(refused(reason)),
                }
            }
        }
        Ok(())
    }

    /// `n c³/6` multiply-adds, `n c²/2` kernel entries, `n` values stored.
    fn pivot_greedily(&self, landmarks: &mut Landmarks<'_, T, G>, c: usize) -> Result<(), Error> {
        let refused = |reason| Error::Landmarks { reason };
        let mut phi = zeros(c, T::ZERO)?;
        let mut residuals = zeros(landmarks.ground().len(), 0.0)?;
        while landmarks.len() < c {
            residuals_into(landmarks, |row| row, &mut phi, &mut residuals)?;
            loop {
                let largest = |most: (usize, f64), (row, &residual): (usize, &f64)| {
                    if residual > most.1 { (row, residual) } else { most }
                };
                let (row, residual) = residuals.iter().enumerate().fold((0, 0.0), largest);
                if !(residual > 0.0) {
                    let rank = landmarks.len();
                    return Err(refused(CoreError::RankDeficient { rank, landmarks: c }));
                }
                match landmarks.push(row) {
                    Ok(()) => break,
                    Err(CoreError::NotPositive { .. } | CoreError::Duplicate { .. }) => residuals[row] = 0.0,
                    Err(reason) => return Err(refused(reason)),
                }
            }
        }
        Ok(())
    }

    fn numbers_to_pivot(&self, _: usize) -> usize {
        1
    }
}

/// Compute the residual of each row from scratch.
fn residuals_into<T: Scalar, G: GroundSet<T> + ?Sized>(
    landmarks: &Landmarks<'_, T, G>,
    number: impl Fn(usize) -> usize,
    phi: &mut [T],
    residuals: &mut [f64],
) -> Result<(), Error> {
    let nystrom = Nystrom::new(landmarks);
    let phi = &mut phi[..nystrom.rank()];
    for (at, residual) in residuals.iter_mut().enumerate() {
        *residual = nystrom.residual(number(at), phi).map_err(|reason| Error::Landmarks { reason })?.to_f64();
    }
    Ok(())
}

impl<T: Lane> Engine<T, Ground<'_, T>> for Lanes<T> {
    fn pivot(
        &self,
        landmarks: &mut Landmarks<'_, T, Ground<'_, T>>,
        c: usize,
        candidates: Option<&[usize]>,
        random: &mut Random,
    ) -> Result<(), Error> {
        Self::pivot(self, landmarks, c, candidates, random)
    }

    fn pivot_greedily(&self, landmarks: &mut Landmarks<'_, T, Ground<'_, T>>, c: usize) -> Result<(), Error> {
        Self::pivot_greedily(self, landmarks, c)
    }

    fn numbers_to_pivot(&self, c: usize) -> usize {
        self.numbers_to_pivot(c)
    }

    /// Works on a copy of the rows: every landmark is compared with all of them, and rows scattered over a large
    /// file would each cost a cache miss or a page fault.
    fn seeds(
        &self,
        ground: &Ground<'_, T>,
        rows: &[usize],
        c: usize,
        random: &mut Random,
    ) -> Result<Vec<usize>, Error> {
        let dim = ground.features();
        let mut copy = zeros(rows.len().saturating_mul(dim), T::ZERO)?;
        copy.par_chunks_mut(dim.max(1))
            .zip(rows)
            .for_each(|(slot, &row)| slot.copy_from_slice(ground.row(row)));
        seeds_of(&Points::assumed_finite(&copy, dim, *ground.kernel())?, rows, c, random)
    }
}
