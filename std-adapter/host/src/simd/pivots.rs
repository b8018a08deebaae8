//! Randomly pivoted Cholesky over all rows, or over some, in SIMD lanes.
//!
//! Chen, Epperly, Tropp and Webber (2022): each landmark is drawn in proportion to the residuals of the rows
//! given the landmarks before it. `O(n c)` kernel entries, `n c²/2` multiply-adds, `n (c + d + 1)` values.
//! Accelerated after Epperly, Tropp and Webber (2024): a block of rows is drawn at once in proportion to the
//! current residuals, and each is accepted with the probability `new residual / old residual`, given those
//! accepted before it in the block. The law is that of one row at a time, with one pass over the rows per
//! block, which is a matrix product. A block has an eighth of the rows accepted so far, and at least `BLOCK`:
//! products grow, and few rows are rejected.

use crate::error::Error;
use crate::heap::zeros;
use crate::rng::by_weight;
use crate::simd::{InLanes, Lane, Lanes};
use crate::threads::worth_a_thread;
use dpp_nystrom_core::{Error as CoreError, Landmarks, Random, Scalar, TRIES};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place as solve_lower;
use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};
use rand_core::Rng;
use rayon::prelude::*;

/// The minimum number of rows drawn per block.
const BLOCK: usize = 8;

/// A block has this part of the number of rows accepted before.
const SHARE: usize = 8;

/// Rows held in lanes at a time where their substitutions are not kept.
const PART: usize = 1 << 14;

/// Blocks of lanes per thread task.
const TASK: usize = 64;

/// Columns of the kernel matrix per thread task.
const COLUMNS: usize = 8;

/// Rows in lanes, [`TRIES`] side by side, with their substitutions and residuals.
pub struct Rows<T> {
    /// Numbers per block of lanes.
    width: usize,
    /// The room for landmarks.
    c: usize,
    values: Vec<T>,
    /// For each task one column per landmark, of as many entries as it has lanes.
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
pub fn numbers_to_pivot(c: usize, d: usize) -> usize {
    c + d + 2
}

/// Check that `c` landmarks can be among so many rows.
pub(crate) fn check_count(rows: usize, c: usize) -> Result<(), Error> {
    if c == 0 || rows == 0 {
        return Err(Error::Landmarks(CoreError::Empty));
    }
    if c > rows {
        return Err(Error::Landmarks(CoreError::TooManyLandmarks { landmarks: c, rows }));
    }
    Ok(())
}

impl<T: Lane> Lanes<T> {
    /// Fill an empty landmark set up to `c` by randomly pivoted Cholesky from `candidates`, or from all rows.
    ///
    /// # Errors
    /// [`Error::Landmarks`] with [`CoreError::RankDeficient`] when no row has a residual left,
    /// [`Error::Memory`], [`Error::Cancelled`].
    pub fn pivot<G: InLanes<T>>(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        candidates: Option<&[usize]>,
        random: &mut Random,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let number = |at: usize| candidates.map_or(at, |candidates| candidates[at]);
        let mut rows = Rows::to_pivot(landmarks.ground(), c, candidates)?;
        while landmarks.len() < c {
            if cancelled() {
                return Err(Error::Cancelled);
            }
            let first = landmarks.len();
            let total: f64 = rows.sums.iter().sum();
            rows.check(total, number)?;
            if !(total > 0.0) {
                return Err(Error::Landmarks(CoreError::RankDeficient { rank: first, landmarks: c }));
            }
            // The same draws for every c: a smaller set is a prefix of a larger one.
            for _ in 0..BLOCK.max(first / SHARE) {
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
                    Err(reason) => return Err(Error::Landmarks(reason)),
                }
            }
            if landmarks.len() < c {
                self.pass(&mut rows, landmarks, first);
            }
        }
        Ok(())
    }

    /// Compute the residuals of all rows, or of these: `n c` kernel entries and `n c²/2` multiply-adds.
    /// Residuals at the level of rounding are set to zero.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Cancelled`]; [`Error::Landmarks`] if a residual is not finite.
    pub fn residuals<G: InLanes<T>>(
        &self,
        landmarks: &Landmarks<'_, T, G>,
        rows: Option<&[usize]>,
        residuals: &mut [T],
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        self.residuals_of(landmarks.ground(), landmarks, rows, residuals, cancelled)
    }

    /// Compute the residuals of rows of a ground set, all or these, given landmarks of another of the same
    /// width under the same kernel.
    ///
    /// # Errors
    /// Those of [`residuals`](Self::residuals).
    pub fn residuals_of<G: InLanes<T>>(
        &self,
        ground: &G,
        landmarks: &Landmarks<'_, T, G>,
        rows: Option<&[usize]>,
        residuals: &mut [T],
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let number = |at: usize| rows.map_or(at, |rows| rows[at]);
        for (part, residuals) in residuals.chunks_mut(PART).enumerate() {
            if cancelled() {
                return Err(Error::Cancelled);
            }
            let first = part * PART;
            let mut rows = Rows::new(ground, residuals.len(), |at| number(first + at), landmarks.len())?;
            self.pass(&mut rows, landmarks, 0);
            residuals.copy_from_slice(&rows.residuals[..residuals.len()]);
            if let Some(at) = residuals.iter().position(|residual| !residual.is_finite()) {
                let row = number(first + at);
                return Err(Error::Landmarks(CoreError::NotFinite { row, column: row }));
            }
        }
        Ok(())
    }

    /// Return a column of Nyström features for each row of the ground set.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn features<G: InLanes<T>>(&self, landmarks: &Landmarks<'_, T, G>) -> Result<Mat<T>, Error> {
        let (ground, c) = (landmarks.ground(), landmarks.len());
        let mut rows = Rows::new(ground, ground.len(), |at| at, c)?;
        self.pass(&mut rows, landmarks, 0);
        Ok(Mat::from_fn(c, ground.len(), |k, i| rows.substitution(i, k)))
    }

    /// Return the kernel of all rows with some, one column for each of these.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn columns<G: InLanes<T>>(&self, ground: &G, columns: &[usize]) -> Result<Mat<T>, Error> {
        let count = ground.len();
        let rows = Rows::new(ground, count, |at| at, 0)?;
        let mut entries = zeros(count * columns.len(), T::ZERO)?;
        entries.par_chunks_mut(COLUMNS * count).zip(columns.par_chunks(COLUMNS)).for_each(
            |(entries, rows_of)| {
                ground.runs(self.arch, rows_of, count, rows.values(), entries);
            },
        );
        Ok(MatRef::from_column_major_slice(&entries, count, columns.len()).to_owned())
    }

    /// Subtract the contribution of the landmarks from `first` on from every row's residual: for each task of
    /// rows `E`, the substitutions are `(K - Z Hᵀ) T⁻ᵀ`, with `Z` those of the landmarks before, and `[H T]`
    /// the new rows of the factor.
    pub fn pass<G: InLanes<T>>(&self, rows: &mut Rows<T>, landmarks: &Landmarks<'_, T, G>, first: usize) {
        let (ground, last) = (landmarks.ground(), landmarks.len());
        let new = &landmarks.members()[first..];
        let mut factor = Mat::<T>::zeros(new.len(), last);
        for r in 0..new.len() {
            landmarks
                .factor()
                .row(first + r)
                .iter()
                .enumerate()
                .for_each(|(k, &entry)| factor[(r, k)] = entry);
        }
        let (head, own) = factor.as_ref().split_at_col(first);
        // A residual at the level of rounding counts as zero.
        let floor = T::from_count(last + 1) * T::EPSILON;
        let Rows { width, c, values, substitutions, diagonals, residuals, sums } = rows;
        let (width, c) = (*width, *c);
        let task = worth_a_thread(TASK * (width + TRIES * last) * new.len());
        values
            .par_chunks(TASK * width)
            .with_min_len(task)
            .zip(substitutions.par_chunks_mut(TASK * TRIES * c.max(1)))
            .zip(diagonals.par_chunks(TASK * TRIES))
            .zip(residuals.par_chunks_mut(TASK * TRIES))
            .zip(sums.par_chunks_mut(TASK))
            .for_each(|((((values, substitutions), diagonals), residuals), sums)| {
                let count = diagonals.len();
                let (before, entries) = substitutions[..last * count].split_at_mut(first * count);
                ground.runs(self.arch, new, count, values, entries);
                let before = MatRef::from_column_major_slice(before, count, first);
                let mut columns = MatMut::from_column_major_slice_mut(entries, count, new.len());
                if first > 0 {
                    matmul(columns.as_mut(), Accum::Add, before, head.transpose(), -T::ONE, Par::Seq);
                }
                solve_lower(own, columns.transpose_mut(), Par::Seq);
                for column in entries.chunks_exact(count) {
                    residuals.iter_mut().zip(column).for_each(|(left, &entry)| *left -= entry * entry);
                }
                for (left, &diagonal) in residuals.iter_mut().zip(diagonals) {
                    if *left <= floor * diagonal {
                        *left = T::ZERO;
                    }
                }
                sums.iter_mut().zip(residuals.chunks(TRIES)).for_each(|(total, lanes)| *total = sum(lanes));
            });
    }

    /// Fill an empty landmark set up to `c` by greedily pivoted Cholesky over all rows (Fine and Scheinberg
    /// 2001): each landmark is the first row with the largest residual. Costs what [`pivot`](Self::pivot)
    /// does, with one pass per landmark.
    ///
    /// # Errors
    /// Those of [`pivot`](Self::pivot).
    pub fn pivot_greedily<G: InLanes<T>>(
        &self,
        landmarks: &mut Landmarks<'_, T, G>,
        c: usize,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let mut rows = Rows::to_pivot(landmarks.ground(), c, None)?;
        while landmarks.len() < c {
            if cancelled() {
                return Err(Error::Cancelled);
            }
            let first = landmarks.len();
            rows.check(rows.sums.iter().sum(), |at| at)?;
            let Some(at) = rows.largest() else {
                return Err(Error::Landmarks(CoreError::RankDeficient { rank: first, landmarks: c }));
            };
            match landmarks.push(at) {
                Ok(()) => self.pass(&mut rows, landmarks, first),
                // Not positive because of rounding: exclude it.
                Err(CoreError::NotPositive { .. } | CoreError::Duplicate { .. }) => rows.exclude(at),
                Err(reason) => return Err(Error::Landmarks(reason)),
            }
        }
        Ok(())
    }
}

impl<T: Lane> Rows<T> {
    /// Gather all rows, or the candidates, for `c` landmarks of them.
    fn to_pivot(ground: &impl InLanes<T>, c: usize, candidates: Option<&[usize]>) -> Result<Self, Error> {
        let count = candidates.map_or(ground.len(), <[usize]>::len);
        check_count(count, c)?;
        Self::new(ground, count, |at| candidates.map_or(at, |candidates| candidates[at]), c)
    }

    /// Put `count` rows into lanes, with room for `c` landmarks.
    pub fn new<G: InLanes<T>>(
        ground: &G,
        count: usize,
        number: impl Fn(usize) -> usize + Sync,
        c: usize,
    ) -> Result<Self, Error> {
        let blocks = count.div_ceil(TRIES);
        let width = ground.width() * TRIES;
        let mut values = zeros(blocks.saturating_mul(width), T::ZERO)?;
        let mut diagonals = zeros(blocks * TRIES, T::ZERO)?;
        // On all threads, to overlap the page faults of rows that lie far apart.
        let blocks_of_rows = values.par_chunks_mut(width.max(1)).with_min_len(worth_a_thread(4 * width));
        blocks_of_rows.zip(diagonals.par_chunks_mut(TRIES)).enumerate().for_each(
            |(block, (values, diagonals))| {
                for (lane, diagonal) in diagonals.iter_mut().enumerate().take(count - block * TRIES) {
                    let row = number(block * TRIES + lane);
                    ground.put(row, values.iter_mut().skip(lane).step_by(TRIES));
                    *diagonal = ground.diagonal(row);
                }
            },
        );
        let residuals = diagonals.clone();
        let sums = residuals.chunks(TRIES).map(sum).collect();
        let substitutions = zeros((blocks * TRIES).saturating_mul(c), T::ZERO)?;
        Ok(Self { width, c, values, substitutions, diagonals, residuals, sums })
    }

    /// Return the numbers of all rows, in lanes.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Return entry `k` of a row's substitution.
    pub fn substitution(&self, at: usize, k: usize) -> T {
        let first = at / (TASK * TRIES) * TASK * TRIES;
        let count = (self.diagonals.len() - first).min(TASK * TRIES);
        self.substitutions[first * self.c + k * count + at - first]
    }

    /// Return an error if a residual is not finite; `total` is the sum of all.
    fn check(&self, total: f64, number: impl Fn(usize) -> usize) -> Result<(), Error> {
        let broken = || self.residuals.iter().position(|residual| !residual.is_finite());
        match (!total.is_finite()).then(broken).flatten() {
            Some(at) => Err(Error::Landmarks(CoreError::NotFinite { row: number(at), column: number(at) })),
            None => Ok(()),
        }
    }

    /// Return the row at which the running sum of the residuals exceeds `place`.
    fn at(&self, mut place: f64) -> usize {
        let block = by_weight(self.sums.iter().copied(), &mut place).unwrap_or(0);
        let lanes = &self.residuals[block * TRIES..(block + 1) * TRIES];
        block * TRIES + by_weight(lanes.iter().map(|residual| residual.to_f64()), &mut place).unwrap_or(0)
    }

    /// Return the residual of a row.
    pub fn residual(&self, at: usize) -> T {
        self.residuals[at]
    }

    /// Return the residual of a row, which is number `row` of the ground set, if it is finite.
    ///
    /// # Errors
    /// [`Error::Landmarks`].
    pub fn finite(&self, at: usize, row: usize) -> Result<T, Error> {
        let residual = self.residuals[at];
        let broken = CoreError::NotFinite { row, column: row };
        if residual.is_finite() { Ok(residual) } else { Err(Error::Landmarks(broken)) }
    }

    /// Return the first row with the largest residual, or none if all are zero.
    pub fn largest(&self) -> Option<usize> {
        let mut largest = (None, T::ZERO);
        for (at, &residual) in self.residuals.iter().enumerate() {
            if residual > largest.1 {
                largest = (Some(at), residual);
            }
        }
        largest.0
    }

    /// Set the residual of a row to zero.
    pub fn exclude(&mut self, at: usize) {
        self.residuals[at] = T::ZERO;
        self.sums[at / TRIES] = sum(&self.residuals[at / TRIES * TRIES..(at / TRIES + 1) * TRIES]);
    }
}

fn sum<T: Scalar>(residuals: &[T]) -> f64 {
    residuals.iter().map(|residual| residual.to_f64()).sum()
}
