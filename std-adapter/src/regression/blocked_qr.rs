//! Blocked accumulation of rows into a ridge regression.
//!
//! The core rotates rows into its triangle `R` one at a time ([`dpp_nystrom_core::RidgeRegression::add`]): `3c²`
//! multiply-adds, with a square root and a division per entry that stall vector units. Here the features of many rows
//! are computed in SIMD lanes, and the triangle of `[R; Φ]` is found by blocked Householder reflections: `2c²`
//! multiply-adds per row, without forming `ΦᵀΦ`. Both methods give the same triangle, with positive pivots, up to
//! rounding; a test compares the two. A column whose component independent of the preceding columns is below about
//! 10⁻¹² of its length is treated as dependent.
//!
//! The triangle is kept in `f64` for rows of either precision, so that single rows still contribute among 10⁸.

use crate::error::{Error, regression_error};
use crate::heap::zeros;
use crate::simd::{lane::Ground, lane::Lane, pivots::Pass};
use dpp_nystrom_core::{Error as CoreError, Landmarks, RidgeRegression, TRIES};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::{Mat, MatMut, Par, Spec};
use pulp::Arch;

/// The range of rows per block: smaller blocks update the triangle too often, larger ones exceed the cache.
const ROWS: std::ops::RangeInclusive<usize> = 256..=1_024;

/// A block of rows to be added to an accumulator. Working memory is `c² + (2c + d) m` numbers for blocks of `m` rows,
/// with `m = 2c` clamped to [`ROWS`].
pub(crate) struct Block<'b, 'l, 'g, T: Lane> {
    landmarks: &'b Landmarks<'l, T, Ground<'g, T>>,
    arch: Arch,
    /// Rows per block.
    room: usize,
    /// Values of the buffered rows, in lanes, and their substitutions.
    values: Vec<T>,
    substitutions: Vec<T>,
    /// Working memory of a pass over lanes; the residuals are not used here.
    diagonals: Vec<T>,
    residuals: Vec<T>,
    sums: Vec<f64>,
    /// The triangle, with the targets as its last column, above the features and targets of the buffered rows.
    /// Column-major.
    matrix: Vec<f64>,
    reflections: Mat<f64>,
    scratch: MemBuffer,
    numbers: Vec<f64>,
    waiting: usize,
    /// Rows in the accumulator.
    rows: u64,
}

impl<'b, 'l, 'g, T: Lane> Block<'b, 'l, 'g, T> {
    /// Allocate a block for rows on these landmarks.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub(crate) fn new(landmarks: &'b Landmarks<'l, T, Ground<'g, T>>) -> Result<Self, Error> {
        let (rank, dim) = (landmarks.len(), landmarks.ground().features());
        let room = (2 * rank).clamp(*ROWS.start(), *ROWS.end()).next_multiple_of(TRIES);
        let (rows, columns) = (rank + 1 + room, rank + 1);
        let block = recommended_block_size::<f64>(rows, columns);
        let scratch = qr_in_place_scratch::<f64>(rows, columns, block, Par::Seq, Spec::default());
        Ok(Self {
            landmarks,
            arch: Arch::new(),
            room,
            values: zeros(room * dim, T::ZERO)?,
            substitutions: zeros(room * rank, T::ZERO)?,
            diagonals: zeros(room, T::ZERO)?,
            residuals: zeros(room, T::ZERO)?,
            sums: zeros(room / TRIES, 0.0)?,
            matrix: zeros(rows.saturating_mul(columns), 0.0)?,
            reflections: Mat::zeros(block, columns),
            scratch: MemBuffer::try_new(scratch)
                .map_err(|_| Error::Memory { bytes: scratch.size_bytes() })?,
            numbers: zeros(RidgeRegression::<f64>::numbers_kept(rank), 0.0)?,
            waiting: 0,
            rows: 0,
        })
    }

    /// Load the state of an accumulator, which must have as many features as there are landmarks.
    pub(crate) fn begin(&mut self, ridge: &RidgeRegression<'_, f64>) {
        let (rank, length) = (self.landmarks.len(), self.column_length());
        self.rows = ridge.rows();
        self.waiting = 0;
        let mut numbers = ridge.numbers();
        for (place, value) in places(rank, length).zip(&mut numbers) {
            self.matrix[place] = value;
        }
        self.matrix[rank * length + rank] = numbers.take(2).sum::<f64>().max(0.0).sqrt();
        self.clear();
    }

    /// Return the number of rows of the matrix.
    fn column_length(&self) -> usize {
        self.landmarks.len() + 1 + self.room
    }

    /// Zero the entries below the triangle.
    fn clear(&mut self) {
        let (rank, length) = (self.landmarks.len(), self.column_length());
        for (j, column) in self.matrix.chunks_exact_mut(length).enumerate() {
            column[j + 1..=rank].fill(0.0);
        }
    }

    /// Add one row, standardised and in the landmarks' precision, with its target.
    ///
    /// # Errors
    /// [`Error::Regression`] with [`CoreError::NotFinite`]. The row is counted from the first in the accumulator; the
    /// column equals the number of features if the target is not finite. The error may be delayed until later rows fill
    /// the block.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = T>, target: f64) -> Result<(), Error> {
        let dim = self.landmarks.ground().features();
        let (block, lane) = (self.waiting / TRIES, self.waiting % TRIES);
        let slots = self.values[block * TRIES * dim..].iter_mut().skip(lane).step_by(TRIES);
        for (slot, value) in slots.zip(row) {
            *slot = value;
        }
        let (rank, length) = (self.landmarks.len(), self.column_length());
        self.matrix[rank * length + rank + 1 + self.waiting] = target;
        self.waiting += 1;
        if self.waiting == self.room { self.absorb() } else { Ok(()) }
    }

    /// Absorb the buffered rows and store the state in the accumulator.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(crate) fn end(&mut self, ridge: &mut RidgeRegression<'_, f64>) -> Result<(), Error> {
        self.absorb()?;
        let (rank, length) = (self.landmarks.len(), self.column_length());
        let Self { matrix, numbers, .. } = self;
        let sign = |row: usize| if matrix[row * length + row] < 0.0 { -1.0 } else { 1.0 };
        let residual = matrix[rank * length + rank];
        numbers.clear();
        numbers.extend(places(rank, length).map(|place| sign(place % length) * matrix[place]));
        numbers.extend([residual * residual, 0.0]);
        ridge.restore(self.rows, &self.numbers).map_err(regression_error)
    }

    /// Absorb the buffered rows into the triangle.
    fn absorb(&mut self) -> Result<(), Error> {
        if self.waiting == 0 {
            return Ok(());
        }
        let (rank, dim) = (self.landmarks.len(), self.landmarks.ground().features());
        let blocks = self.waiting.div_ceil(TRIES);
        self.arch.dispatch(Pass {
            landmarks: self.landmarks,
            first: 0,
            z: rank * TRIES,
            values: &self.values[..blocks * dim * TRIES],
            substitutions: &mut self.substitutions[..blocks * rank * TRIES],
            diagonals: &self.diagonals[..blocks * TRIES],
            residuals: &mut self.residuals[..blocks * TRIES],
            sums: &mut self.sums[..blocks],
        });
        let first = rank + 1;
        let length = self.column_length();
        for (k, column) in self.matrix.chunks_exact_mut(length).enumerate() {
            let column = &mut column[first..first + self.waiting];
            if k < rank {
                let blocks = self.substitutions.chunks_exact(rank * TRIES);
                for (slots, block) in column.chunks_mut(TRIES).zip(blocks) {
                    for (slot, value) in slots.iter_mut().zip(&block[k * TRIES..(k + 1) * TRIES]) {
                        *slot = value.to_f64();
                    }
                }
            }
            if let Some(at) = column.iter().position(|entry| !entry.is_finite()) {
                let row = self.rows as usize + at;
                return Err(regression_error(CoreError::NotFinite { row, column: k }));
            }
        }
        let whole = MatMut::from_column_major_slice_mut(&mut self.matrix, length, rank + 1);
        let used = whole.subrows_mut(0, first + self.waiting);
        let stack = MemStack::new(&mut self.scratch);
        qr_in_place(used, self.reflections.as_mut(), Par::Seq, stack, Spec::default());
        self.clear();
        self.rows += self.waiting as u64;
        self.waiting = 0;
        Ok(())
    }
}

/// The places in the matrix of the numbers of an accumulator: `R` by rows, then `Qᵀy`.
fn places(rank: usize, length: usize) -> impl Iterator<Item = usize> {
    let triangle = (0..rank).flat_map(move |i| (i..rank).map(move |j| j * length + i));
    triangle.chain((0..rank).map(move |i| rank * length + i))
}

#[cfg(test)]
mod tests {
    use super::{Block, ROWS};
    use crate::approximation::features::independent;
    use crate::error::Error;
    use crate::heap::{Heap, RidgeHeap};
    use crate::kernel::kind::KernelKind;
    use crate::simd::lane::Lane;
    use dpp_nystrom_core::{Error as CoreError, Nystrom, Points, RidgeRegression};

    /// Rows of an independent generator, and a target that the landmarks cannot fit exactly.
    fn rows<T: Lane>(count: usize, dim: usize) -> (Vec<T>, Vec<f64>) {
        let value = |i: usize| ((i as f64 * 0.754_877_666).fract() - 0.5) * 4.0 + (i as f64 * 0.31).sin();
        let rows: Vec<T> = (0..count * dim).map(|i| T::from_f64(value(i))).collect();
        let target = |row: &[T]| row.iter().map(|value| (value.to_f64() * 3.0).sin()).sum();
        let targets = rows.chunks(dim).map(target).collect();
        (rows, targets)
    }

    /// `[Φ y]ᵀ[Φ y]`, from the values of an accumulator.
    fn products(ridge: &RidgeRegression<'_, f64>) -> Vec<f64> {
        let c = ridge.features();
        let numbers: Vec<f64> = ridge.numbers().collect();
        let mut triangle = vec![vec![0.0; c + 1]; c + 1];
        let mut next = numbers.into_iter();
        for (i, row) in triangle.iter_mut().enumerate().take(c) {
            row[i..c].iter_mut().for_each(|slot| *slot = next.next().unwrap());
            assert!(row[i] >= 0.0, "pivot {i}: {}", row[i]);
        }
        triangle.iter_mut().take(c).for_each(|row| row[c] = next.next().unwrap());
        triangle[c][c] = (next.next().unwrap() + next.next().unwrap()).sqrt();
        assert_eq!(next.next(), None);
        let product = |i: usize, j: usize| triangle.iter().map(|row| row[i] * row[j]).sum();
        (0..=c).flat_map(|i| (i..=c).map(move |j| product(i, j)).collect::<Vec<f64>>()).collect()
    }

    /// Add the rows in two runs, with another accumulator's rows in between, and compare the state with the core's.
    fn agree<T: Lane>(kind: KernelKind, c: usize, dim: usize, count: usize, tolerance: f64) {
        agree_on_different::<T>(kind, c, dim, count, count, tolerance);
    }

    /// [`agree`], with `different` distinct rows repeated.
    fn agree_on_different<T: Lane>(
        kind: KernelKind,
        c: usize,
        dim: usize,
        count: usize,
        different: usize,
        tolerance: f64,
    ) {
        let (home, _) = rows::<T>(c, dim);
        let ground = Points::new(&home, dim, kind.build::<T>(0.7).unwrap()).unwrap();
        let mut memory = Heap::new(c).unwrap();
        let landmarks = independent(&ground, &(0..c).collect::<Vec<_>>(), &mut memory).unwrap();
        let (rank, nystrom) = (landmarks.len(), Nystrom::new(&landmarks));
        let (rows, targets) = rows::<T>(different, dim);

        let (mut heap, mut other) = (RidgeHeap::new(rank).unwrap(), RidgeHeap::new(rank).unwrap());
        let (mut one, mut elsewhere) = (
            RidgeRegression::new(rank, heap.lend()).unwrap(),
            RidgeRegression::new(rank, other.lend()).unwrap(),
        );
        let mut block = Block::new(&landmarks).unwrap();
        let pairs = rows.chunks(dim).zip(targets.iter().copied()).cycle().take(count);
        let pairs: Vec<(&[T], f64)> = pairs.collect();
        for (part, pairs) in pairs.chunks(count.div_ceil(2)).enumerate() {
            if part == 1 {
                block.begin(&elsewhere);
                block.push(home[..dim].iter().copied(), 1e3).unwrap();
                block.end(&mut elsewhere).unwrap();
            }
            block.begin(&one);
            pairs.iter().for_each(|&(row, target)| block.push(row.iter().copied(), target).unwrap());
            block.end(&mut one).unwrap();
        }
        assert_eq!((one.rows(), elsewhere.rows()), (count as u64, 1));

        let mut heap = RidgeHeap::new(rank).unwrap();
        let mut core = RidgeRegression::new(rank, heap.lend()).unwrap();
        let mut phi = vec![T::ZERO; rank];
        for (row, target) in pairs {
            ground.column_at(row, landmarks.members(), &mut phi).unwrap();
            nystrom.transform(&mut phi).unwrap();
            core.add(&phi.iter().map(|value| value.to_f64()).collect::<Vec<_>>(), target).unwrap();
        }
        let (found, expected) = (products(&one), products(&core));
        let scale = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() <= tolerance * scale,
                "{kind:?} {c} {count}: {found:e} {expected:e}"
            );
        }
    }

    #[test]
    fn a_block_learns_what_the_core_learns() {
        let kernels = [
            KernelKind::Gaussian,
            KernelKind::Laplace,
            KernelKind::Matern32,
            KernelKind::Matern52,
            KernelKind::Polynomial { degree: 2, offset: 1.0 },
            KernelKind::Linear,
        ];
        for kind in kernels {
            // Under the linear kernel, more landmarks than features are dependent.
            let c = if kind == KernelKind::Linear { 3 } else { 12 };
            agree::<f64>(kind, c, 3, 2_000, 1e-12);
            agree::<f32>(kind, c, 3, 2_000, 1e-4);
        }
        // Fewer rows than landmarks, one block exactly, one row more, not a multiple of the lanes, and many landmarks.
        for count in [2, 5, *ROWS.start() * 2, *ROWS.start() * 2 + 1, 777] {
            agree::<f64>(KernelKind::Gaussian, 9, 2, count, 1e-12);
        }
        // Rows that span fewer dimensions than there are landmarks, over several blocks.
        agree_on_different::<f64>(KernelKind::Gaussian, 9, 2, 2_000, 4, 1e-12);
        agree::<f64>(KernelKind::Gaussian, 1, 1, 50, 1e-12);
        agree::<f64>(KernelKind::Laplace, 150, 4, 1_500, 1e-12);
    }

    #[test]
    fn the_first_number_that_is_none_is_named() {
        let home = [0.0, 1.0, 5.0];
        let ground = Points::new(&home, 1, KernelKind::Linear.build::<f64>(1.0).unwrap()).unwrap();
        let mut memory = Heap::new(1).unwrap();
        let landmarks = independent(&ground, &[1], &mut memory).unwrap();
        for (values, row, column) in
            [([1.0, 2.0, f64::NAN], 2, 0), ([1.0, f64::INFINITY, 1.0], 1, 0), ([1.0, 2.0, 3.0], 4, 1)]
        {
            let mut heap = RidgeHeap::new(1).unwrap();
            let mut ridge = RidgeRegression::new(1, heap.lend()).unwrap();
            let mut block = Block::new(&landmarks).unwrap();
            block.begin(&ridge);
            values.iter().for_each(|&value| block.push([value], 1.0).unwrap());
            block.push([1.0], 1.0).unwrap();
            block.push([1.0], f64::NAN).unwrap();
            let before: Vec<f64> = ridge.numbers().collect();
            let error = block.end(&mut ridge).unwrap_err();
            let expected = CoreError::NotFinite { row, column };
            assert!(matches!(error, Error::Regression { reason } if reason == expected), "{error:?}");
            assert!(ridge.numbers().eq(before) && ridge.rows() == 0);
        }
    }
}
