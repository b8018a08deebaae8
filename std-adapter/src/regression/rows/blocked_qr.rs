//! Blocked accumulation of rows into a ridge regression.
//!
//! The core rotates rows into its triangle `R` one at a time ([`dpp_nystrom_core::RidgeRegression::add`]):
//! `3c²` multiply-adds, with a square root and a division per entry that stall vector units. Here a block of
//! rows costs `c` kernel values a row in SIMD lanes and `c²` multiply-adds as matrix products: half of them
//! to whiten the rows, half for the products of their columns.
//!
//! # Method
//!
//! `RᵀR = ΦᵀΦ` over the rows so far, `Φ = K L⁻ᵀ`. For the rows that follow, `Ψ = Φ R⁻¹ = K (R Lᵀ)⁻¹` takes
//! one triangular solve, as `Φ` does. With `SᵀS = I + ΨᵀΨ` the triangle of all rows is `S R`. This is
//! Cholesky QR with a preconditioner from a sample of the rows (Fan, Guo and Lin 2021; Balabanov and Grigori
//! 2022), here from those that came before.
//!
//! - **Rounding.** The eigenvalues of `I + ΨᵀΨ` lie between 1 and `1 + ‖Ψ‖²`, whatever the condition of the
//!   features, and `‖ΨᵀΨ‖_F` is measured for every block and kept below [`limit`]. So each column of `R` has
//!   a relative error of at most `p(c, m) u (1 + limit)`, `p` a modest polynomial, as by Householder
//!   reflections, and not of `u cond(Φ)²`, as for normal equations of `Φ`; `u` is the rounding unit of the
//!   rows' precision. Rows behave as if `K` had been rounded.
//! - **Reflections where it does not apply.** The triangle of `[R; Φ]` by blocked Householder reflections
//!   costs four times as much, and needs no `R⁻¹`. It takes the first `2c` rows, and every block with
//!   `‖ΨᵀΨ‖_F > limit` for the `R` of all rows before it: rows in directions that those had not. A column
//!   whose component independent of the preceding columns is below about 10⁻¹² of its length is treated as
//!   dependent.
//! - **Pilot.** Parts of one set of rows each begin without rows. A sample of all of them goes through
//!   reflections once ([`Pilot`]), and the first blocks of every part are whitened by its `R`:
//!   `SᵀS = εI + ΨᵀΨ` with `ε = c u`, as if the sample counted `ε` times in the part. Errors are then
//!   relative to the rows of the sample, and so to the sum of all parts.
//! - **Targets.** With weights `q` in the basis of `Ψ`, the residuals `e = y - Ψq` give `t = S⁻ᵀ Ψᵀe`,
//!   `Sq + t` is the new `q`, and the residual sum of squares grows by `‖e‖² - ‖t‖²`, at least
//!   `‖e‖²/(1 + limit)`: it does not cancel.
//!
//! Sums over rows are kept in `f64` for rows of either precision, so that single rows still contribute among
//! 10⁸. Results do not depend on the number of threads.

use crate::error::{Cause, Error};
use crate::linalg::{eigen::PARTS, triangle::zero_matrix};
use dpp_nystrom_core::{Error as CoreError, Landmarks, RidgeRegression, TRIES};
use dpp_nystrom_host::heap::zeros;
use dpp_nystrom_host::simd::lane::{Ground, InLanes, Lane, set_row};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place as solve_lower;
use faer::traits::RealField;
use faer::{Accum, Mat, MatMut, MatRef, Par, Spec};
use pulp::Arch;
use rayon::prelude::*;

/// The range of rows per block: smaller blocks update the triangle too often, larger ones exceed the cache.
const ROWS: std::ops::RangeInclusive<usize> = 1_024..=4_096;

/// The largest `‖ΨᵀΨ‖_F` of rows that are whitened by the same triangle: that of eigenvalues of 8, and what
/// any few features may have.
fn limit(rank: usize) -> f64 {
    (8.0 * (rank as f64).sqrt()).max(64.0)
}

/// Columns of a triangular product computed together.
const PANEL: usize = 128;

/// The range of columns, and the number of rows, per thread task.
const TASK: std::ops::RangeInclusive<usize> = 128..=512;
const ROWS_OF_TASK: usize = 256;

/// Landmarks from which on decompositions run on all threads.
const LARGE: usize = 1_024;

/// The triangle by which the features of a block are whitened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whitener {
    /// None is computed.
    None,
    /// `L`: features `Φ`.
    Landmarks,
    /// `R Lᵀ`, `R` of the rows so far: features `Ψ`.
    Rows,
}

/// The triangle of a sample of the rows, by which the first rows of several accumulators are whitened:
/// `3c²/2` numbers.
pub(crate) struct Pilot<T> {
    /// `R`, with the weights of each target in a column after it.
    triangle: Mat<f64>,
    /// The transpose of `R Lᵀ`.
    factor: Mat<T>,
}

/// A block of rows to be added to an accumulator. Working memory for `c` landmarks of `d` features is
/// `4c² + (2c + d) m` numbers for blocks of `m` rows, with `m = 2c` clamped to [`ROWS`].
pub(crate) struct Block<'b, 'l, 'g, T: Lane> {
    landmarks: &'b Landmarks<'l, T, Ground<'g, T>>,
    arch: Arch,
    /// Columns and rows per task: all of them on one thread.
    columns: usize,
    rows_of_task: usize,
    decompose: Par,
    /// Rows per block.
    room: usize,
    /// The number of targets.
    outputs: usize,
    /// Values of the buffered rows, in lanes, with room for as many as there were so far; and their targets,
    /// row by row.
    values: Vec<T>,
    targets: Vec<f64>,
    /// What multiplies their features, if any row was added with another number than 1: the square roots of
    /// weights.
    roots: Vec<T>,
    /// Their kernel values with the landmarks, and then their features, by columns.
    features: Vec<T>,
    whitener: Whitener,
    /// The transpose of the whitener's triangle, lower.
    factor: Mat<T>,
    /// `ΨᵀΨ` of a block, lower.
    product: Mat<T>,
    /// `ΨᵀΨ`, lower, and for each target `Ψᵀe` and `‖e‖²`, of the rows that are not yet in the triangle, and
    /// their number.
    gram: Mat<f64>,
    shares: Mat<f64>,
    squares: Vec<f64>,
    /// The sum of `‖ΨᵀΨ‖_F` over their blocks.
    norm: f64,
    pending: usize,
    /// The triangle, with the targets as its last columns, above the features and targets of the buffered
    /// rows. Column-major. What is left of a target is the length of its column from row `c` on.
    matrix: Vec<f64>,
    reflections: Mat<f64>,
    scratch: MemBuffer,
    numbers: Vec<f64>,
    waiting: usize,
    /// Rows in the triangle and pending.
    rows: u64,
    /// How often the rows of the triangle count: once, or `ε` times for those of a pilot.
    count: f64,
}

impl<'b, 'l, 'g, T: Lane + RealField> Block<'b, 'l, 'g, T> {
    /// Allocate a block for rows with `outputs` targets on these landmarks, which works on one thread, or
    /// with `parallel` on all of them.
    ///
    /// # Errors
    /// `ErrorKind::Memory`.
    pub(crate) fn new(
        landmarks: &'b Landmarks<'l, T, Ground<'g, T>>,
        outputs: usize,
        parallel: bool,
    ) -> Result<Self, Error> {
        let rank = landmarks.len();
        let (columns, rows_of_task) = match parallel {
            true => ((rank / 6).clamp(*TASK.start(), *TASK.end()).min(rank), ROWS_OF_TASK),
            false => (rank, usize::MAX),
        };
        let decompose = if parallel && rank >= LARGE { Par::rayon(PARTS) } else { Par::Seq };
        let room = (2 * rank).clamp(*ROWS.start(), *ROWS.end()).next_multiple_of(TRIES);
        let (height, width) = (rank + outputs + room, rank + outputs);
        let block = recommended_block_size::<f64>(height, width);
        let scratch = StackReq::any_of(&[
            qr_in_place_scratch::<f64>(height, width, block, decompose, Spec::default()),
            cholesky_in_place_scratch::<f64>(rank, decompose, Spec::default()),
        ]);
        Ok(Self {
            landmarks,
            arch: Arch::new(),
            columns,
            rows_of_task,
            decompose,
            room,
            outputs,
            values: Vec::new(),
            targets: zeros(room.saturating_mul(outputs), 0.0)?,
            roots: Vec::new(),
            features: zeros(room.saturating_mul(rank), T::ZERO)?,
            whitener: Whitener::None,
            factor: zero_matrix(rank)?,
            product: zero_matrix(rank)?,
            gram: zero_matrix(rank)?,
            shares: Mat::zeros(rank, outputs),
            squares: vec![0.0; outputs],
            norm: 0.0,
            pending: 0,
            matrix: zeros(height.saturating_mul(width), 0.0)?,
            reflections: Mat::zeros(block, width),
            scratch: MemBuffer::try_new(scratch)
                .map_err(|_| Error(Cause::Memory { bytes: scratch.size_bytes() }))?,
            numbers: zeros(RidgeRegression::<f64>::numbers_kept_of(rank, outputs), 0.0)?,
            waiting: 0,
            rows: 0,
            count: 1.0,
        })
    }

    /// Return the number of rows that a pilot for blocks of these landmarks takes.
    pub(crate) fn rows_of_pilot(landmarks: &Landmarks<'l, T, Ground<'g, T>>) -> usize {
        (4 * landmarks.len()).max(*ROWS.start())
    }

    /// Return the triangle of the rows since [`begin`](Self::begin), as a pilot.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(crate) fn pilot(&mut self) -> Result<Pilot<T>, Error> {
        self.absorb()?;
        self.commit()?;
        if self.whitener != Whitener::Rows {
            self.whiten_by_rows();
        }
        let (rank, length) = (self.landmarks.len(), self.column_length());
        let matrix = MatRef::from_column_major_slice(&self.matrix, length, rank + self.outputs);
        Ok(Pilot { triangle: matrix.subrows(0, rank).to_owned(), factor: self.factor.clone() })
    }

    /// [`begin`](Self::begin), with the pilot of a sample of rows if the accumulator has none.
    ///
    /// # Errors
    /// Those of [`begin`](Self::begin).
    pub(crate) fn begin_with(
        &mut self,
        ridge: &RidgeRegression<'_, f64>,
        pilot: Option<&Pilot<T>>,
    ) -> Result<(), Error> {
        self.begin(ridge)?;
        let (Some(Pilot { triangle, factor }), 0) = (pilot, ridge.rows()) else { return Ok(()) };
        let length = self.column_length();
        for (j, column) in self.matrix.chunks_exact_mut(length).enumerate() {
            let own = triangle.col_as_slice(j).iter().take(j + 1);
            column.iter_mut().zip(own).for_each(|(slot, value)| *slot = *value);
        }
        self.factor.copy_from(factor);
        self.whitener = Whitener::Rows;
        self.count = self.landmarks.len() as f64 * T::EPSILON.to_f64();
        Ok(())
    }

    /// Leave the pilot, of which no row was taken.
    fn leave_pilot(&mut self) {
        if self.count < 1.0 {
            self.count = 1.0;
            self.matrix.fill(0.0);
            self.clear();
        }
    }

    /// Load the state of an accumulator, which must have as many features as there are landmarks, and these
    /// targets.
    ///
    /// # Errors
    /// `ErrorKind::Regression` with [`CoreError::Unsettled`].
    pub(crate) fn begin(&mut self, ridge: &RidgeRegression<'_, f64>) -> Result<(), Error> {
        let mut numbers = ridge.numbers().map_err(Error::regression)?;
        let (rank, length) = (self.landmarks.len(), self.column_length());
        self.rows = ridge.rows();
        (self.waiting, self.count) = (0, 1.0);
        for (place, value) in triangle(rank, length).zip(&mut numbers) {
            self.matrix[place] = value;
        }
        for (t, column) in self.matrix.chunks_exact_mut(length).skip(rank).enumerate() {
            column.iter_mut().take(rank).zip(&mut numbers).for_each(|(slot, value)| *slot = value);
            column[rank..rank + t].fill(0.0);
            column[rank + t] = numbers.by_ref().take(2).sum::<f64>().max(0.0).sqrt();
        }
        self.clear();
        self.forget_pending();
        Ok(())
    }

    /// Return the number of rows of the matrix.
    fn column_length(&self) -> usize {
        self.landmarks.len() + self.outputs + self.room
    }

    /// Zero the entries below the triangle, which has changed.
    fn clear(&mut self) {
        let (order, length) = (self.landmarks.len() + self.outputs, self.column_length());
        for (j, column) in self.matrix.chunks_exact_mut(length).enumerate() {
            column[j + 1..order].fill(0.0);
        }
        if self.whitener == Whitener::Rows {
            self.whitener = Whitener::None;
        }
    }

    fn forget_pending(&mut self) {
        self.gram.fill(0.0);
        self.shares.fill(0.0);
        self.squares.fill(0.0);
        (self.norm, self.pending) = (0.0, 0);
    }

    /// Add one row, standardised and in the landmarks' precision, with its targets.
    ///
    /// # Errors
    /// `ErrorKind::Regression` with [`CoreError::NotFinite`]. The row is counted from the first in the
    /// accumulator; the columns after the features are the targets. The error may be delayed until later rows
    /// fill the block.
    pub(crate) fn push(
        &mut self,
        row: impl IntoIterator<Item = T>,
        targets: impl IntoIterator<Item = f64>,
    ) -> Result<(), Error> {
        self.push_weighted(row, targets, 1.0)
    }

    /// [`push`](Self::push) a row whose features and targets are multiplied by `root`, the square root of its
    /// weight.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(crate) fn push_weighted(
        &mut self,
        row: impl IntoIterator<Item = T>,
        targets: impl IntoIterator<Item = f64>,
        root: f64,
    ) -> Result<(), Error> {
        let dim = self.landmarks.ground().features();
        let end = (self.waiting / TRIES + 1) * TRIES * dim;
        if self.values.len() < end {
            // A block of a few wide rows does not pay for all that it has room for.
            let (held, all) = (self.values.len(), self.room * dim);
            let more = held.clamp(end - held, all - held);
            let failed = |_| Error(Cause::Memory { bytes: (held + more) * size_of::<T>() });
            self.values.try_reserve_exact(more).map_err(failed)?;
            self.values.resize(end, T::ZERO);
        }
        set_row(&mut self.values, dim, self.waiting, row);
        let own = self.targets.iter_mut().skip(self.waiting * self.outputs).take(self.outputs);
        own.zip(targets).for_each(|(slot, target)| *slot = root * target);
        if root != 1.0 {
            self.roots.resize(self.room, T::ONE);
        }
        if let Some(slot) = self.roots.get_mut(self.waiting) {
            *slot = T::from_f64(root);
        }
        self.waiting += 1;
        if self.waiting == self.room { self.absorb() } else { Ok(()) }
    }

    /// Absorb the buffered rows and store the state in the accumulator.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(crate) fn end(&mut self, ridge: &mut RidgeRegression<'_, f64>) -> Result<(), Error> {
        self.absorb()?;
        self.commit()?;
        self.leave_pilot();
        let (rank, length) = (self.landmarks.len(), self.column_length());
        let Self { matrix, numbers, .. } = self;
        let sign = |row: usize| if matrix[row * length + row] < 0.0 { -1.0 } else { 1.0 };
        numbers.clear();
        numbers.extend(triangle(rank, length).map(|place| sign(place % length) * matrix[place]));
        for (t, column) in matrix.chunks_exact(length).skip(rank).enumerate() {
            numbers.extend(column.iter().take(rank).enumerate().map(|(i, entry)| sign(i) * entry));
            numbers.extend([column[rank..=rank + t].iter().map(|left| left * left).sum(), 0.0]);
        }
        ridge.restore(self.rows, &self.numbers).map_err(Error::regression)
    }

    /// Absorb the buffered rows.
    fn absorb(&mut self) -> Result<(), Error> {
        if self.waiting == 0 {
            return Ok(());
        }
        if !self.absorb_whitened()? {
            self.reflect()?;
        }
        self.rows += self.waiting as u64;
        self.waiting = 0;
        Ok(())
    }

    /// Add the products of the whitened rows to those pending, and return true; or return false if the rows
    /// so far are too few or too different, or if a value is not finite.
    fn absorb_whitened(&mut self) -> Result<bool, Error> {
        let is_finite = self.targets[..self.waiting * self.outputs].iter().all(|target| target.is_finite());
        while is_finite && (self.count < 1.0 || self.rows >= 2 * self.landmarks.len() as u64) {
            if self.whitener != Whitener::Rows {
                self.whiten_by_rows();
            }
            self.evaluate();
            self.solve();
            let norm = self.norm + self.multiply();
            // False for NaN, of a triangle that is singular.
            if norm <= limit(self.landmarks.len()) {
                self.norm = norm;
                self.add_products();
                return Ok(true);
            }
            if self.pending == 0 {
                break;
            }
            // Too different from the rows in the triangle, but perhaps not from those pending.
            self.commit()?;
        }
        self.commit()?;
        Ok(false)
    }

    /// Evaluate the kernel between the buffered rows and the landmarks.
    fn evaluate(&mut self) {
        let (ground, count) = (self.landmarks.ground(), self.waiting);
        let (arch, values) = (self.arch, &self.values[..]);
        let columns = &mut self.features[..count * self.landmarks.len()];
        let task = self.columns;
        let tasks = columns.par_chunks_mut(task * count).zip(self.landmarks.members().par_chunks(task));
        let roots = &self.roots;
        tasks.for_each(|(entries, rows)| {
            ground.runs(arch, rows, count, values, entries);
            for column in entries.chunks_exact_mut(count) {
                column.iter_mut().zip(roots).for_each(|(entry, &root)| *entry *= root);
            }
        });
    }

    /// Replace kernel values by features.
    fn solve(&mut self) {
        let (count, rank) = (self.waiting, self.landmarks.len());
        let columns = &mut self.features[..count * rank];
        let columns = MatMut::from_column_major_slice_mut(columns, count, rank);
        columns.par_row_chunks_mut(self.rows_of_task.min(count)).for_each(|rows| {
            solve_lower(self.factor.as_ref(), rows.transpose_mut(), Par::Seq);
        });
    }

    /// Compute `R Lᵀ`: `c³/2` multiply-adds.
    fn whiten_by_rows(&mut self) {
        let (rank, length) = (self.landmarks.len(), self.column_length());
        let triangle = MatRef::from_column_major_slice(&self.matrix, length, rank + self.outputs);
        let landmarks = self.landmarks;
        self.factor.par_row_chunks_mut(PANEL).enumerate().for_each(|(panel, mut out)| {
            let (first, width) = (panel * PANEL, out.nrows());
            let next = first + width;
            // Columns of Lᵀ.
            let mut columns = Mat::<f64>::zeros(next, width);
            for j in 0..width {
                let row = landmarks.factor().row(first + j);
                for (slot, entry) in columns.col_as_slice_mut(j).iter_mut().zip(row) {
                    *slot = entry.to_f64();
                }
            }
            let mut product = Mat::<f64>::zeros(next, width);
            triangular::matmul(
                product.as_mut(),
                BlockStructure::Rectangular,
                Accum::Replace,
                triangle.submatrix(0, 0, next, next),
                BlockStructure::TriangularUpper,
                columns.as_ref(),
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
            for j in 0..width {
                for (k, &entry) in product.col_as_slice(j).iter().enumerate().take(first + j + 1) {
                    out[(j, k)] = T::from_f64(entry);
                }
            }
        });
        self.whitener = Whitener::Rows;
    }

    /// Compute `ΨᵀΨ` of the buffered rows, and return its Frobenius norm.
    fn multiply(&mut self) -> f64 {
        let (count, rank) = (self.waiting, self.landmarks.len());
        let features = MatRef::from_column_major_slice(&self.features[..count * rank], count, rank);
        let task = self.columns;
        self.product.par_col_chunks_mut(task).enumerate().for_each(|(panel, columns)| {
            let (first, width) = (panel * task, columns.ncols());
            let (diagonal, below) = columns.subrows_mut(first, rank - first).split_at_row_mut(width);
            let own = features.subcols(first, width);
            triangular::matmul(
                diagonal,
                BlockStructure::TriangularLower,
                Accum::Replace,
                own.transpose(),
                BlockStructure::Rectangular,
                own,
                BlockStructure::Rectangular,
                T::ONE,
                Par::Seq,
            );
            let others = features.subcols(first + width, rank - first - width);
            matmul(below, Accum::Replace, others.transpose(), own, T::ONE, Par::Seq);
        });
        let squares = |j: usize| {
            let column = self.product.col(j).subrows(j, rank - j).squared_norm_l2().to_f64();
            2.0 * column - self.product[(j, j)].to_f64().powi(2)
        };
        (0..rank).map(squares).sum::<f64>().sqrt()
    }

    /// Add the products of the buffered rows to those pending.
    fn add_products(&mut self) {
        let (count, rank, length) = (self.waiting, self.landmarks.len(), self.column_length());
        for j in 0..rank {
            let products = self.product.col_as_slice(j)[j..].iter();
            for (sum, product) in self.gram.col_as_slice_mut(j)[j..].iter_mut().zip(products) {
                *sum += product.to_f64();
            }
        }
        let features = MatRef::from_column_major_slice(&self.features[..count * rank], count, rank);
        let outputs = self.outputs;
        let weights =
            Mat::<T>::from_fn(rank, outputs, |k, t| T::from_f64(self.matrix[(rank + t) * length + k]));
        let mut fitted = Mat::<T>::zeros(count, outputs);
        matmul(fitted.as_mut(), Accum::Replace, features, weights.as_ref(), T::ONE, Par::Seq);
        for (t, squares) in self.squares.iter_mut().enumerate() {
            let targets = self.targets.iter().skip(t).step_by(outputs);
            for (residual, &target) in fitted.col_as_slice_mut(t).iter_mut().zip(targets) {
                let exact = target - residual.to_f64();
                *squares += exact * exact;
                *residual = T::from_f64(exact);
            }
        }
        let mut shares = Mat::<T>::zeros(rank, outputs);
        matmul(shares.as_mut(), Accum::Replace, features.transpose(), fitted.as_ref(), T::ONE, Par::Seq);
        for t in 0..outputs {
            for (sum, share) in self.shares.col_as_slice_mut(t).iter_mut().zip(shares.col_as_slice(t)) {
                *sum += share.to_f64();
            }
        }
        self.pending += count;
    }

    /// Add the pending rows to the triangle: `c³/2` multiply-adds.
    fn commit(&mut self) -> Result<(), Error> {
        if self.pending == 0 {
            return Ok(());
        }
        let (rank, length) = (self.landmarks.len(), self.column_length());
        // With the rows of the triangle counted once, the matrix is I plus a product, and the first try
        // succeeds.
        let products = if self.count < 1.0 { self.gram.clone() } else { Mat::new() };
        loop {
            (0..rank).for_each(|j| self.gram[(j, j)] += self.count);
            let stack = MemStack::new(&mut self.scratch);
            let gram = self.gram.as_mut();
            match cholesky_in_place(gram, Default::default(), self.decompose, stack, Spec::default()) {
                Ok(_) => break,
                Err(_) if self.count < 1.0 => {
                    self.count = (16.0 * self.count).min(1.0);
                    self.gram.copy_from(&products);
                }
                Err(_) => return Err(Error::regression(CoreError::NotPositive { pivot: rank })),
            }
        }
        self.count = 1.0;
        solve_lower(self.gram.as_ref(), self.shares.as_mut(), Par::Seq);
        // Rows of S, the transpose of the lower factor, by columns of R.
        let factor = self.gram.as_ref();
        self.matrix.par_chunks_mut(length * PANEL).enumerate().for_each(|(panel, columns)| {
            let width = columns.len() / length;
            let (end, columns) = (
                (panel * PANEL + width).min(rank),
                MatMut::from_column_major_slice_mut(columns, length, width),
            );
            let mut columns = columns.subrows_mut(0, end);
            for first in (0..end).step_by(PANEL) {
                let next = (first + PANEL).min(end);
                let mut rows = Mat::<f64>::zeros(next - first, width);
                triangular::matmul(
                    rows.as_mut(),
                    BlockStructure::Rectangular,
                    Accum::Replace,
                    factor.submatrix(first, first, next - first, next - first).transpose(),
                    BlockStructure::TriangularUpper,
                    columns.as_ref().subrows(first, next - first),
                    BlockStructure::Rectangular,
                    1.0,
                    Par::Seq,
                );
                matmul(
                    rows.as_mut(),
                    Accum::Add,
                    factor.submatrix(next, first, end - next, next - first).transpose(),
                    columns.as_ref().subrows(next, end - next),
                    1.0,
                    Par::Seq,
                );
                columns.as_mut().subrows_mut(first, next - first).copy_from(&rows);
            }
        });
        for (t, column) in self.matrix.chunks_exact_mut(length).skip(rank).enumerate() {
            let mut explained = 0.0;
            for (slot, &share) in column.iter_mut().zip(self.shares.col_as_slice(t)) {
                *slot += share;
                explained += share * share;
            }
            let residual = column[rank + t];
            column[rank + t] = (residual * residual + (self.squares[t] - explained).max(0.0)).sqrt();
        }
        self.clear();
        self.forget_pending();
        Ok(())
    }

    /// Add the buffered rows to the triangle by reflections.
    fn reflect(&mut self) -> Result<(), Error> {
        self.leave_pilot();
        let (count, rank, length) = (self.waiting, self.landmarks.len(), self.column_length());
        if self.whitener != Whitener::Landmarks {
            for j in 0..rank {
                for (k, &entry) in self.landmarks.factor().row(j).iter().enumerate() {
                    self.factor[(j, k)] = entry;
                }
            }
            self.whitener = Whitener::Landmarks;
        }
        self.evaluate();
        self.solve();
        let first = rank + self.outputs;
        for (k, column) in self.matrix.chunks_exact_mut(length).enumerate() {
            let column = &mut column[first..first + count];
            match self.features[..count * rank].chunks_exact(count).nth(k) {
                Some(features) => {
                    column.iter_mut().zip(features).for_each(|(slot, value)| *slot = value.to_f64());
                }
                None => {
                    let targets = self.targets.iter().skip(k - rank).step_by(self.outputs);
                    column.iter_mut().zip(targets).for_each(|(slot, &target)| *slot = target);
                }
            }
            if let Some(at) = column.iter().position(|entry| !entry.is_finite()) {
                let row = self.rows as usize + at;
                return Err(Error::regression(CoreError::NotFinite { row, column: k }));
            }
        }
        let whole = MatMut::from_column_major_slice_mut(&mut self.matrix, length, first);
        // The triangle of no rows is zero.
        let above = if self.rows == 0 { first } else { 0 };
        let used = whole.subrows_mut(above, first + count - above);
        let order = used.nrows().min(first);
        let stack = MemStack::new(&mut self.scratch);
        let reflections = self.reflections.as_mut().subcols_mut(0, order);
        qr_in_place(used, reflections, self.decompose, stack, Spec::default());
        if above > 0 {
            self.matrix
                .chunks_exact_mut(length)
                .for_each(|column| column.copy_within(first..first + order, 0));
        }
        self.clear();
        Ok(())
    }
}

/// The places in the matrix of the entries of `R`, by rows.
fn triangle(rank: usize, length: usize) -> impl Iterator<Item = usize> {
    (0..rank).flat_map(move |i| (i..rank).map(move |j| j * length + i))
}

#[cfg(test)]
mod tests {
    use super::{Block, ROWS, TRIES};
    use crate::approximation::features::independent;
    use crate::error::{Cause, Error};
    use crate::kernel::kind::KernelKind;
    use dpp_nystrom_core::{Error as CoreError, Nystrom, Points, RidgeRegression};
    use dpp_nystrom_host::heap::{Heap, RidgeHeap};
    use dpp_nystrom_host::rng::{RngStream, stream};
    use dpp_nystrom_host::simd::lane::Lane;
    use faer::prelude::SolveLstsq;
    use faer::{Mat, traits::RealField};
    use rand_core::Rng;

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
        let numbers: Vec<f64> = ridge.numbers().unwrap().collect();
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

    /// Add the rows in two runs, with another accumulator's rows in between, and compare the state with the
    /// core's.
    fn agree<T: Lane + RealField>(kind: KernelKind, c: usize, dim: usize, count: usize, tolerance: f64) {
        agree_on_different::<T>(kind, c, dim, count, count, tolerance);
    }

    /// [`agree`], with `different` distinct rows repeated.
    fn agree_on_different<T: Lane + RealField>(
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
        let mut block = Block::new(&landmarks, 1, false).unwrap();
        let pairs = rows.chunks(dim).zip(targets.iter().copied()).cycle().take(count);
        let pairs: Vec<(&[T], f64)> = pairs.collect();
        for (part, pairs) in pairs.chunks(count.div_ceil(2)).enumerate() {
            if part == 1 {
                block.begin(&elsewhere).unwrap();
                block.push(home[..dim].iter().copied(), [1e3]).unwrap();
                block.end(&mut elsewhere).unwrap();
            }
            block.begin(&one).unwrap();
            pairs.iter().for_each(|&(row, target)| block.push(row.iter().copied(), [target]).unwrap());
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
        // Fewer rows than landmarks, one block exactly, one row more, not a multiple of the lanes, and many
        // landmarks.
        for count in [2, 5, *ROWS.start() * 2, *ROWS.start() * 2 + 1, 777] {
            agree::<f64>(KernelKind::Gaussian, 9, 2, count, 1e-12);
        }
        // Rows that span fewer dimensions than there are landmarks, over several blocks.
        agree_on_different::<f64>(KernelKind::Gaussian, 9, 2, 2_000, 4, 1e-12);
        agree::<f64>(KernelKind::Gaussian, 1, 1, 50, 1e-12);
        agree::<f64>(KernelKind::Laplace, 150, 4, 1_500, 1e-12);
    }

    /// Rows with singular values from 1 to 10⁻⁸ and their targets.
    fn ill_conditioned(count: usize, c: usize) -> (Mat<f64>, Vec<f64>) {
        let mut random = stream(3, RngStream::Rows);
        let mut uniform = || f64::from(random.next_u32()) / f64::from(1_u32 << 31) - 1.0;
        let lengths = |k: usize| 1e-8_f64.powf(k as f64 / (c - 1) as f64);
        let independent = Mat::from_fn(count, c, |_, k| uniform() * lengths(k));
        // An orthogonal matrix: the cosine transform.
        let axes = Mat::from_fn(c, c, |k, j| {
            let cosine = (std::f64::consts::PI * (j as f64 + 0.5) * k as f64 / c as f64).cos();
            cosine * (if k == 0 { 1.0 } else { 2.0 } / c as f64).sqrt()
        });
        (independent * axes, (0..count).map(|_| uniform()).collect())
    }

    /// Compare predictions with those of one QR decomposition of all rows, in root mean squares.
    fn predicts<T: Lane + RealField>(gamma: f64, tolerance: f64) {
        let (count, c) = (12_000, 40);
        let (rows, targets) = ill_conditioned(count, c);
        // As the precision has them.
        let rows = Mat::from_fn(count, c, |i, j| T::from_f64(rows[(i, j)]).to_f64());
        // Landmarks along the axes, so that the features are the rows themselves.
        let home: Vec<T> = (0..c * c).map(|at| if at % (c + 1) == 0 { T::ONE } else { T::ZERO }).collect();
        let ground = Points::new(&home, c, KernelKind::Linear.build::<T>(1.0).unwrap()).unwrap();
        let mut memory = Heap::new(c).unwrap();
        let landmarks = independent(&ground, &(0..c).collect::<Vec<_>>(), &mut memory).unwrap();
        let mut heap = RidgeHeap::new(c).unwrap();
        let mut ridge = RidgeRegression::new(c, heap.lend()).unwrap();
        let mut block = Block::new(&landmarks, 1, false).unwrap();
        block.begin(&ridge).unwrap();
        for (i, &target) in targets.iter().enumerate() {
            block.push((0..c).map(|j| T::from_f64(rows[(i, j)])), [target]).unwrap();
        }
        assert!(block.pending > 0, "no rows by products");
        block.end(&mut ridge).unwrap();
        let weights: Vec<f64> = ridge.solve(gamma).unwrap().weights.iter().collect();
        let penalty = (gamma * count as f64).sqrt();
        let system = Mat::from_fn(count + c, c, |i, j| match i.checked_sub(count) {
            None => rows[(i, j)],
            Some(i) => {
                if i == j {
                    penalty
                } else {
                    0.0
                }
            }
        });
        let right = Mat::from_fn(count + c, 1, |i, _| targets.get(i).copied().unwrap_or(0.0));
        let expected = system.qr().solve_lstsq(&right);
        let difference = Mat::from_fn(c, 1, |k, _| weights[k] - expected[(k, 0)]);
        let error = (&rows * difference).norm_l2() / (&rows * &expected).norm_l2();
        assert!(error <= tolerance, "{error:e}");
    }

    #[test]
    fn predictions_at_condition_1e8() {
        // Without a ridge, the condition times the rounding unit. Normal equations have its square.
        predicts::<f64>(0.0, 1e-6);
        // The rounding unit over √γ, the least length that counts: 0.006. Normal equations have u / γ = 600.
        predicts::<f32>(1e-10, 5e-3);
    }

    #[test]
    fn rows_in_new_directions_are_added_by_reflections() {
        // The first rows leave directions out, or have them at the level of rounding.
        for faint in [0.0, 1e-14, 1e-7] {
            let (c, count) = (8, 6_000);
            let home: Vec<f64> = (0..c * c).map(|at| if at % (c + 1) == 0 { 1.0 } else { 0.0 }).collect();
            let ground = Points::new(&home, c, KernelKind::Linear.build::<f64>(1.0).unwrap()).unwrap();
            let mut memory = Heap::new(c).unwrap();
            let landmarks = independent(&ground, &(0..c).collect::<Vec<_>>(), &mut memory).unwrap();
            let (mut rows, targets) = rows::<f64>(count, c);
            let early = |i: usize| i < 4_000 || (i > 5_000 && i.is_multiple_of(2));
            for (i, row) in rows.chunks_mut(c).enumerate().filter(|(i, _)| early(*i)) {
                row[c - 2] *= faint;
                row[c - 1] = row[0] + faint * (i as f64 * 0.37).sin();
            }
            let (mut heap, mut other) = (RidgeHeap::new(c).unwrap(), RidgeHeap::new(c).unwrap());
            let mut found = RidgeRegression::new(c, heap.lend()).unwrap();
            let mut expected = RidgeRegression::new(c, other.lend()).unwrap();
            let mut block = Block::new(&landmarks, 1, false).unwrap();
            block.begin(&found).unwrap();
            for (row, &target) in rows.chunks(c).zip(&targets) {
                block.push(row.iter().copied(), [target]).unwrap();
                expected.add(row, target).unwrap();
            }
            block.end(&mut found).unwrap();
            let scale: f64 = products(&expected).iter().fold(0.0, |most, value| most.max(value.abs()));
            for (found, expected) in products(&found).iter().zip(products(&expected)) {
                assert!((found - expected).abs() <= 1e-12 * scale, "{faint:e}: {found:e} {expected:e}");
            }
        }
    }

    /// Parts of some rows, whitened by a pilot of all, against the core.
    fn parts_agree<T: Lane + RealField>(tolerance: f64) {
        let (c, dim, count) = (40, 3, 9_000);
        let (mut rows, targets) = rows::<T>(count, dim);
        // The last part is in directions that the pilot has not.
        rows.iter_mut()
            .skip((count - 1_500) * dim)
            .for_each(|value| *value = T::from_f64(9.0 + 2.0 * value.to_f64()));
        let mut home = rows[..(c - 3) * dim].to_vec();
        home.extend(&rows[(count - 3) * dim..]);
        let ground = Points::new(&home, dim, KernelKind::Gaussian.build::<T>(2.0).unwrap()).unwrap();
        let mut memory = Heap::new(c).unwrap();
        let landmarks = independent(&ground, &(0..c).collect::<Vec<_>>(), &mut memory).unwrap();
        let (rank, nystrom) = (landmarks.len(), Nystrom::new(&landmarks));
        let mut block = Block::new(&landmarks, 1, false).unwrap();
        let mut heap = RidgeHeap::new(rank).unwrap();
        block.begin(&RidgeRegression::new(rank, heap.lend()).unwrap()).unwrap();
        for row in (0..count - 1_500).step_by(5) {
            block.push(rows[row * dim..(row + 1) * dim].iter().copied(), [targets[row]]).unwrap();
        }
        let pilot = block.pilot().unwrap();
        // Several blocks, few rows, fewer than there are landmarks, none, and new directions.
        for part in [0..5_000, 5_000..5_300, 5_300..5_311, 7_000..7_000, 5_311..count] {
            let (mut heap, mut other) = (RidgeHeap::new(rank).unwrap(), RidgeHeap::new(rank).unwrap());
            let mut found = RidgeRegression::new(rank, heap.lend()).unwrap();
            let mut core = RidgeRegression::<f64>::new(rank, other.lend()).unwrap();
            block.begin_with(&found, Some(&pilot)).unwrap();
            let mut phi = vec![T::ZERO; rank];
            for row in part.clone() {
                let (row, target) = (&rows[row * dim..(row + 1) * dim], targets[row]);
                block.push(row.iter().copied(), [target]).unwrap();
                ground.column_at(row, landmarks.members(), &mut phi).unwrap();
                nystrom.transform(&mut phi).unwrap();
                core.add(&phi.iter().map(|value| value.to_f64()).collect::<Vec<_>>(), target).unwrap();
            }
            assert!(block.count < 1.0 || part.end == count, "{part:?}: no pilot");
            block.end(&mut found).unwrap();
            assert_eq!(found.rows(), part.len() as u64);
            let scale = products(&core).iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            for (found, expected) in products(&found).iter().zip(products(&core)) {
                assert!((found - expected).abs() <= tolerance * scale, "{part:?}: {found:e} {expected:e}");
            }
        }
    }

    #[test]
    fn a_pilot_leaves_parts_as_they_are() {
        parts_agree::<f64>(1e-11);
        parts_agree::<f32>(1e-3);
    }

    #[test]
    fn a_shared_block_does_not_depend_on_the_threads() {
        let (c, dim, count) = (300, 5, 4_000);
        let (home, _) = rows::<f32>(c, dim);
        let ground = Points::new(&home, dim, KernelKind::Laplace.build::<f32>(0.7).unwrap()).unwrap();
        let mut memory = Heap::new(c).unwrap();
        let landmarks = independent(&ground, &(0..c).collect::<Vec<_>>(), &mut memory).unwrap();
        let (rows, targets) = rows::<f32>(count, dim);
        let numbers = |threads: usize, parallel: bool| -> Vec<f64> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut heap = RidgeHeap::new(landmarks.len()).unwrap();
            let mut ridge = RidgeRegression::new(landmarks.len(), heap.lend()).unwrap();
            pool.install(|| {
                let mut block = Block::new(&landmarks, 1, parallel).unwrap();
                block.begin(&ridge).unwrap();
                rows.chunks(dim).zip(&targets).for_each(|(row, &target)| {
                    block.push(row.iter().copied(), [target]).unwrap();
                });
                block.end(&mut ridge).unwrap();
            });
            ridge.numbers().unwrap().collect()
        };
        let one = numbers(1, true);
        assert!((2..4).all(|threads| numbers(threads, true) == one));
        let alone = numbers(1, false);
        let scale = alone.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        assert!(one.iter().zip(&alone).all(|(one, other)| (one - other).abs() <= 1e-5 * scale));
    }

    /// Wide rows, of which there may be few.
    #[test]
    fn a_block_holds_the_rows_that_it_was_given() {
        let dim = 3 * TRIES;
        let home = vec![1.0; dim];
        let ground = Points::new(&home, dim, KernelKind::Linear.build::<f64>(1.0).unwrap()).unwrap();
        let mut memory = Heap::new(1).unwrap();
        let landmarks = independent(&ground, &[0], &mut memory).unwrap();
        let mut heap = RidgeHeap::new(1).unwrap();
        let ridge = RidgeRegression::new(1, heap.lend()).unwrap();
        let mut block = Block::new(&landmarks, 1, false).unwrap();
        block.begin(&ridge).unwrap();
        for rows in 1..=block.room + TRIES {
            block.push(std::iter::repeat_n(0.5, dim), [1.0]).unwrap();
            let held = rows.min(block.room).next_multiple_of(TRIES) * dim;
            assert_eq!(block.values.len(), held);
            assert!(block.values.capacity() <= (2 * held).min(block.room * dim));
        }
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
            let mut block = Block::new(&landmarks, 1, false).unwrap();
            block.begin(&ridge).unwrap();
            values.iter().for_each(|&value| block.push([value], [1.0]).unwrap());
            block.push([1.0], [1.0]).unwrap();
            block.push([1.0], [f64::NAN]).unwrap();
            let before: Vec<f64> = ridge.numbers().unwrap().collect();
            let error = block.end(&mut ridge).unwrap_err();
            let expected = CoreError::NotFinite { row, column };
            assert!(matches!(error, Error(Cause::Regression { reason }) if reason == expected), "{error:?}");
            assert!(ridge.numbers().unwrap().eq(before) && ridge.rows() == 0);
        }
    }
}
