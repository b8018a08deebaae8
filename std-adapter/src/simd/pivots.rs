//! Randomly pivoted Cholesky over all rows, or over some, in SIMD lanes.
//!
//! Chen, Epperly, Tropp and Webber (2022): each landmark is drawn in proportion to the residuals of the rows
//! given the landmarks before it. `O(n c)` kernel entries, `n c²/2` multiply-adds, `n (c + d + 1)` values.
//! Accelerated after Epperly, Tropp and Webber (2024): [`BLOCK`] rows are drawn at once in proportion to the
//! current residuals, and each is accepted with the probability `new residual / old residual`, given those
//! accepted before it in the block. The law is that of one row at a time, with one pass over the rows per block.

use crate::error::{Error, landmarks_error};
use crate::heap::zeros;
use crate::observer::{Observer, go_on};
use crate::rng::by_weight;
use crate::simd::{Lane, Lanes, engine::Engine, engine::seeds_of, lane::Ground, substitution::tile};
use dpp_nystrom_core::{Error as CoreError, GroundSet, Landmarks, Points, Random, Scalar, TRIES};
use pulp::{Simd, WithSimd};
use rand_core::Rng;
use rayon::prelude::*;

/// Rows drawn per block.
const BLOCK: usize = 8;

/// Rows held in lanes at a time where their substitutions are not kept.
const PART: usize = 1 << 14;

/// Blocks of lanes per thread task.
const TASK: usize = 64;

/// Rows in lanes, [`TRIES`] side by side, with their substitutions and residuals.
pub(crate) struct Rows<T> {
    /// Feature values per block of lanes.
    features: usize,
    z: usize,
    values: Vec<T>,
    substitutions: Vec<T>,
    /// `k(i, i)`; zero beyond the last row.
    diagonals: Vec<T>,
    /// The residual of each row.
    residuals: Vec<T>,
    /// The sum of the residuals in each block of lanes.
    sums: Vec<f64>,
}

/// Return how many values a pivoted start in lanes stores for a row of `d` features: its features, its
/// substitution, its diagonal and its residual.
pub(crate) fn numbers_to_pivot(c: usize, d: usize) -> usize {
    c + d + 2
}

impl<T: Lane> Lanes<T> {
    /// Fill an empty landmark set up to `c` by randomly pivoted Cholesky from `candidates`, or from all rows.
    ///
    /// # Errors
    /// [`Error::Landmarks`] with [`CoreError::RankDeficient`] when no row has a residual left,
    /// [`Error::Memory`], [`Error::Cancelled`].
    pub fn pivot(
        &self,
        landmarks: &mut Landmarks<'_, T, Ground<'_, T>>,
        c: usize,
        candidates: Option<&[usize]>,
        random: &mut Random,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let number = |at: usize| candidates.map_or(at, |candidates| candidates[at]);
        let mut rows = Rows::to_pivot(landmarks.ground(), c, candidates)?;
        while landmarks.len() < c {
            go_on(observer)?;
            let first = landmarks.len();
            let total: f64 = rows.sums.iter().sum();
            if !(total > 0.0) {
                return Err(landmarks_error(CoreError::RankDeficient { rank: first, landmarks: c }));
            }
            // The same draws for every c: a smaller set is a prefix of a larger one.
            for _ in 0..BLOCK {
                if landmarks.len() == c {
                    break;
                }
                let place = f64::from_draw(random.next_u32()) * total;
                let uniform = T::from_draw(random.next_u32());
                let at = rows.at(place);
                let before = rows.residuals[at];
                let index = number(at);
                if landmarks.contains(index) {
                    continue;
                }
                match landmarks.push(index) {
                    Ok(()) => {
                        let pivot = landmarks.factor().pivot(landmarks.len() - 1);
                        if !(uniform * before < pivot * pivot) {
                            landmarks.truncate(landmarks.len() - 1);
                        }
                    }
                    // Not positive because of rounding: exclude it from later draws.
                    Err(CoreError::NotPositive { .. }) => rows.exclude(at),
                    Err(reason) => return Err(landmarks_error(reason)),
                }
            }
            if landmarks.len() < c {
                self.pass(&mut rows, landmarks, first);
            }
        }
        Ok(())
    }

    /// Compute the residuals of all rows, or of these: `n c` kernel entries and `n c²/2` multiply-adds. Residuals
    /// at the level of rounding are set to zero.
    ///
    /// # Errors
    /// [`Error::Memory`]; [`Error::Landmarks`] if a residual is not finite.
    pub(crate) fn residuals(
        &self,
        landmarks: &Landmarks<'_, T, Ground<'_, T>>,
        rows: Option<&[usize]>,
        residuals: &mut [T],
    ) -> Result<(), Error> {
        let number = |at: usize| rows.map_or(at, |rows| rows[at]);
        for (part, residuals) in residuals.chunks_mut(PART).enumerate() {
            let first = part * PART;
            let mut rows =
                Rows::new(landmarks.ground(), residuals.len(), |at| number(first + at), landmarks.len())?;
            self.pass(&mut rows, landmarks, 0);
            residuals.copy_from_slice(&rows.residuals[..residuals.len()]);
            if let Some(at) = residuals.iter().position(|residual| !residual.is_finite()) {
                let row = number(first + at);
                return Err(landmarks_error(CoreError::NotFinite { row, column: row }));
            }
        }
        Ok(())
    }

    /// Subtract the contribution of the landmarks from `first` on from every row's residual.
    pub(crate) fn pass(&self, rows: &mut Rows<T>, landmarks: &Landmarks<'_, T, Ground<'_, T>>, first: usize) {
        let Rows { features, z, values, substitutions, diagonals, residuals, sums } = rows;
        let (features, z) = (*features, *z);
        values
            .par_chunks(TASK * features)
            .zip(substitutions.par_chunks_mut(TASK * z))
            .zip(diagonals.par_chunks(TASK * TRIES))
            .zip(residuals.par_chunks_mut(TASK * TRIES))
            .zip(sums.par_chunks_mut(TASK))
            .for_each(|((((values, substitutions), diagonals), residuals), sums)| {
                let pass = Pass { landmarks, first, z, values, substitutions, diagonals, residuals, sums };
                self.arch.dispatch(pass);
            });
    }
}

impl<T: Lane> Engine<T, Ground<'_, T>> for Lanes<T> {
    fn pivot(
        &self,
        landmarks: &mut Landmarks<'_, T, Ground<'_, T>>,
        c: usize,
        candidates: Option<&[usize]>,
        random: &mut Random,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        Self::pivot(self, landmarks, c, candidates, random, observer)
    }

    /// Fine and Scheinberg (2002). Costs what [`pivot`](Self::pivot) does, with one pass per landmark.
    fn pivot_greedily(
        &self,
        landmarks: &mut Landmarks<'_, T, Ground<'_, T>>,
        c: usize,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let mut rows = Rows::to_pivot(landmarks.ground(), c, None)?;
        if let Some(row) = rows.residuals.iter().position(|residual| !residual.is_finite()) {
            return Err(landmarks_error(CoreError::NotFinite { row, column: row }));
        }
        while landmarks.len() < c {
            go_on(observer)?;
            let first = landmarks.len();
            let Some(at) = rows.largest() else {
                return Err(landmarks_error(CoreError::RankDeficient { rank: first, landmarks: c }));
            };
            match landmarks.push(at) {
                Ok(()) => self.pass(&mut rows, landmarks, first),
                // Not positive because of rounding: exclude it.
                Err(CoreError::NotPositive { .. } | CoreError::Duplicate { .. }) => rows.exclude(at),
                Err(reason) => return Err(landmarks_error(reason)),
            }
        }
        Ok(())
    }

    fn numbers_to_pivot(&self, c: usize) -> usize {
        numbers_to_pivot(c, self.features.len() / TRIES)
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
        let slots = copy.par_chunks_mut(dim.max(1)).zip(rows);
        slots.for_each(|(slot, &row)| slot.copy_from_slice(ground.row(row)));
        seeds_of(&Points::assumed_finite(&copy, dim, *ground.kernel())?, rows, c, random)
    }
}

impl<T: Lane> Rows<T> {
    /// Gather all rows, or the candidates, for `c` landmarks of them.
    fn to_pivot(ground: &Ground<'_, T>, c: usize, candidates: Option<&[usize]>) -> Result<Self, Error> {
        let count = candidates.map_or(ground.len(), <[usize]>::len);
        if c == 0 || count == 0 {
            return Err(landmarks_error(CoreError::Empty));
        }
        if c > count {
            return Err(landmarks_error(CoreError::TooManyLandmarks { landmarks: c, rows: count }));
        }
        Self::new(ground, count, |at| candidates.map_or(at, |candidates| candidates[at]), c)
    }

    pub(crate) fn new(
        ground: &Ground<'_, T>,
        count: usize,
        number: impl Fn(usize) -> usize + Sync,
        c: usize,
    ) -> Result<Self, Error> {
        let blocks = count.div_ceil(TRIES);
        let (features, z) = (ground.features() * TRIES, c * TRIES);
        let mut values = zeros(blocks.saturating_mul(features), T::ZERO)?;
        let mut diagonals = zeros(blocks * TRIES, T::ZERO)?;
        // On all threads, to overlap the page faults of rows that lie far apart.
        values.par_chunks_mut(features.max(1)).zip(diagonals.par_chunks_mut(TRIES)).enumerate().for_each(
            |(block, (values, diagonals))| {
                for (lane, diagonal) in diagonals.iter_mut().enumerate().take(count - block * TRIES) {
                    let row = number(block * TRIES + lane);
                    for (slot, &feature) in values.iter_mut().skip(lane).step_by(TRIES).zip(ground.row(row)) {
                        *slot = feature;
                    }
                    *diagonal = ground.diagonal(row);
                }
            },
        );
        let residuals = diagonals.clone();
        let sums = residuals.chunks(TRIES).map(sum).collect();
        let substitutions = zeros(blocks.saturating_mul(z), T::ZERO)?;
        Ok(Self { features, z, values, substitutions, diagonals, residuals, sums })
    }

    /// Return the features of all rows, in lanes.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    /// Return entry `k` of a row's substitution.
    pub(crate) fn substitution(&self, at: usize, k: usize) -> T {
        self.substitutions[at / TRIES * self.z + k * TRIES + at % TRIES]
    }

    /// Return the row at which the running sum of the residuals exceeds `place`.
    fn at(&self, mut place: f64) -> usize {
        let block = by_weight(self.sums.iter().copied(), &mut place).unwrap_or(0);
        let lanes = &self.residuals[block * TRIES..(block + 1) * TRIES];
        block * TRIES + by_weight(lanes.iter().map(|residual| residual.to_f64()), &mut place).unwrap_or(0)
    }

    /// Return the first row with the largest residual, or none if all are zero.
    fn largest(&self) -> Option<usize> {
        let mut largest = (None, T::ZERO);
        for (at, &residual) in self.residuals.iter().enumerate() {
            if residual > largest.1 {
                largest = (Some(at), residual);
            }
        }
        largest.0
    }

    fn exclude(&mut self, at: usize) {
        self.residuals[at] = T::ZERO;
        self.sums[at / TRIES] = sum(&self.residuals[at / TRIES * TRIES..(at / TRIES + 1) * TRIES]);
    }
}

fn sum<T: Scalar>(residuals: &[T]) -> f64 {
    residuals.iter().map(|residual| residual.to_f64()).sum()
}

/// One pass over some blocks of lanes.
pub(crate) struct Pass<'p, 'l, 'g, T: Lane> {
    pub(crate) landmarks: &'p Landmarks<'l, T, Ground<'g, T>>,
    pub(crate) first: usize,
    pub(crate) z: usize,
    pub(crate) values: &'p [T],
    pub(crate) substitutions: &'p mut [T],
    pub(crate) diagonals: &'p [T],
    pub(crate) residuals: &'p mut [T],
    pub(crate) sums: &'p mut [f64],
}

impl<T: Lane> WithSimd for Pass<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { landmarks, first, z, values, substitutions, diagonals, residuals, sums } = self;
        let features = landmarks.ground().features() * TRIES;
        let blocks = values.chunks_exact(features).zip(substitutions.chunks_exact_mut(z));
        let known = residuals.as_chunks_mut().0.iter_mut().zip(diagonals.chunks_exact(TRIES)).zip(sums);
        for ((values, z), ((residuals, diagonals), sum)) in blocks.zip(known) {
            let (values, z) = (T::vectors::<S>(values), T::vectors_mut::<S>(z));
            let mut at = first;
            while at < landmarks.len() {
                at = match landmarks.len() - at {
                    8.. => some::<T, S, 8>(simd, landmarks, at, values, z, residuals),
                    4.. => some::<T, S, 4>(simd, landmarks, at, values, z, residuals),
                    2.. => some::<T, S, 2>(simd, landmarks, at, values, z, residuals),
                    _ => some::<T, S, 1>(simd, landmarks, at, values, z, residuals),
                };
            }
            // A residual at the level of rounding counts as zero.
            let floor = T::from_count(landmarks.len() + 1) * T::EPSILON;
            let mut total = 0.0;
            for (residual, &diagonal) in residuals.iter_mut().zip(diagonals) {
                if !(*residual > floor * diagonal) {
                    *residual = T::ZERO;
                }
                total += residual.to_f64();
            }
            *sum = total;
        }
    }
}

/// Substitute `R` landmarks from `at` on; return the index after them.
#[inline(always)]
fn some<T: Lane, S: Simd, const R: usize>(
    simd: S,
    landmarks: &Landmarks<'_, T, Ground<'_, T>>,
    at: usize,
    features: &[T::Vector<S>],
    z: &mut [T::Vector<S>],
    residuals: &mut [T; TRIES],
) -> usize {
    let ground = landmarks.ground();
    let stride = TRIES / (size_of::<T::Vector<S>>() / size_of::<T>());
    let mut rows: [&[T]; R] = [&[]; R];
    let mut factor: [&[T]; R] = [&[]; R];
    for r in 0..R {
        rows[r] = ground.row(landmarks.members()[at + r]);
        factor[r] = landmarks.factor().row(at + r);
    }
    tile::<T, S, R>(simd, ground.kernel(), rows, factor, features, stride, stride, at, z, residuals);
    at + R
}
