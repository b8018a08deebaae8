//! Kernel ridge regression on the landmarks, one row at a time, with no row kept.
//!
//! The estimator is `f(x) = k_C(x)ᵀ w`, `(K_{C,·} K_{·,C} + Nγ K_CC) w = K_{C,·} y`, which on the training rows equals
//! `K̃ (K̃ + NγI)⁻¹ y`. The regularisation γ is multiplied by the number of rows `N`.
//!
//! # Accuracy when `K_CC` is nearly singular
//!
//! The normal equations above square the condition number of `K_{·,C}` and multiply it by that of `K_CC`. Instead, with
//! `φ = L⁻¹ k_C` of [`crate::Nystrom`], the problem is ridge regression with the identity as its penalty,
//!
//! `min_β ‖Φβ - y‖² + Nγ ‖β‖²`, `w = L⁻ᵀ β`,
//!
//! and its triangle `R`, `RᵀR = ΦᵀΦ`, is updated by Givens rotations (QR by Givens rotations, Golub and Van Loan §5.2.5;
//! as in square-root recursive least squares). The product `ΦᵀΦ` is never formed. The regularisation is `c` further rows
//! `√(Nγ) e_i`. So the amplification of rounding errors is the square root of that of the normal equations: in `f32` a
//! regularisation of 10⁻¹⁰ still has an effect, where a sum of products loses it at 10⁻⁷. Weights of the kernel can be as
//! large as `‖β‖` over the smallest pivot of `L`, which is at least `√(c ε k)`: `k_C(x)ᵀ w` is then accurate to about
//! `√ε ‖β‖`.
//!
//! # Several targets
//!
//! The rotations depend on the features alone, so targets share `R`. Each keeps its own `Qᵀy` and residual sum of squares.

mod state;

pub use state::{Origin, StateHeader, state_bytes, state_bytes_of};

use crate::error::{Error, Known};
use crate::memory::{RidgeMemory, check_capacity, check_length, row, row_mut, rows_of, rows_of_mut, take};
use crate::scalar::{Scalar, Sum, apply_givens, rotation};

/// Ridge regression from rows that are added one at a time: `c(c + 1)/2` numbers of `R`, and for each target `c`
/// numbers of `Qᵀy` and the residual sum of squares that no weights can remove. Two accumulators over the same features
/// merge into one.
///
/// ```
/// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
///
/// let mut memory = RidgeWorkspace::<f64, 2>::new();
/// let mut ridge = RidgeRegression::new(2, memory.lend())?;
/// ridge.add(&[1.0, 0.0], 2.0)?;
/// ridge.add(&[0.0, 1.0], 3.0)?;
/// ridge.add(&[1.0, 1.0], 5.0)?;
/// let mut weights = [0.0; 2];
/// ridge.solve(0.0, &mut weights)?;
/// assert!((weights[0] - 2.0).abs() < 1e-15 && (weights[1] - 3.0).abs() < 1e-15);
/// assert!(ridge.squared_error(&weights)? < 1e-28);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RidgeRegression<'a, T> {
    /// Row-major with `dim` entries a row: `R` in the upper triangle.
    square: &'a mut [T],
    diagonal: &'a mut [T],
    /// `Qᵀy` of the first target.
    targets: &'a mut [T],
    row: &'a mut [T],
    dim: usize,
    rows: u64,
    /// Of the first target.
    rss: Sum<T>,
    /// A block for each further target: `Qᵀy`, the two parts of its residual sum of squares, and what remains of the
    /// target of the row that is being added.
    further: &'a mut [T],
}

impl<'a, T: Scalar> RidgeRegression<'a, T> {
    /// Create an accumulator of rows of `dim` features with one target, without rows yet.
    ///
    /// # Errors
    /// [`Error::Empty`] for no features, [`Error::Capacity`].
    pub fn new(dim: usize, memory: RidgeMemory<'a, T>) -> Result<Self, Error> {
        Self::with_targets(dim, 1, memory, &mut [])
    }

    /// Create an accumulator of rows of `dim` features with several targets, for several outputs or the indicators of
    /// classes. All share one `R`, so that a further target costs `2c` multiply-adds a row. `further` needs
    /// [`further_numbers`](Self::further_numbers).
    ///
    /// # Errors
    /// [`Error::Empty`] for no features or no targets, [`Error::Capacity`].
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f64, 2>::new();
    /// let mut further = [0.0; RidgeRegression::<f64>::further_numbers(2, 2)];
    /// let mut ridge = RidgeRegression::with_targets(2, 2, memory.lend(), &mut further)?;
    /// ridge.add_row(&[1.0, 0.0], &[2.0, -1.0])?;
    /// ridge.add_row(&[0.0, 1.0], &[3.0, 4.0])?;
    /// let mut weights = [0.0; 2];
    /// ridge.solve_target(1, 0.0, &mut weights)?;
    /// assert_eq!(weights, [-1.0, 4.0]);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn with_targets(
        dim: usize,
        targets: usize,
        memory: RidgeMemory<'a, T>,
        further: &'a mut [T],
    ) -> Result<Self, Error> {
        let RidgeMemory { square, diagonal, targets: column, row } = memory;
        if dim == 0 || targets == 0 {
            return Err(Error::Empty);
        }
        let have = diagonal.len().min(column.len()).min(row.len());
        check_capacity(dim, have)?;
        let square = take(square, dim.saturating_mul(dim))?;
        let (diagonal, column, row) = (take(diagonal, dim)?, take(column, dim)?, take(row, dim)?);
        let further = take(further, Self::further_numbers(dim, targets))?;
        square.fill(T::ZERO);
        column.fill(T::ZERO);
        further.fill(T::ZERO);
        Ok(Self { square, diagonal, targets: column, row, dim, rows: 0, rss: Sum::default(), further })
    }

    /// Return the numbers of memory that the targets after the first need.
    pub const fn further_numbers(dim: usize, targets: usize) -> usize {
        targets.saturating_sub(1).saturating_mul(dim.saturating_add(3))
    }

    /// Return the number of features.
    pub fn features(&self) -> usize {
        self.dim
    }

    /// Return the number of targets.
    pub fn targets(&self) -> usize {
        1 + self.further.len().checked_div(block(self.dim)).unwrap_or(0)
    }

    /// Return the number of rows `N` so far, those of merged accumulators included.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Add a row with one target: [`add_row`](Self::add_row).
    ///
    /// # Errors
    /// Those of [`add_row`](Self::add_row).
    pub fn add(&mut self, features: &[T], target: T) -> Result<(), Error> {
        self.add_row(features, core::slice::from_ref(&target))
    }

    /// Add a row: its features and its targets. `3c²` multiply-adds and `c` square roots, and `2c` multiply-adds for
    /// each target after the first.
    ///
    /// In `f32` the contribution of a row falls below the rounding error of `R` after some 10⁷ rows: for more, merge
    /// accumulators of parts.
    ///
    /// # Errors
    /// [`Error::Length`], and [`Error::NotFinite`] with the number of rows before it and the feature (targets count
    /// as the columns after the features), [`Error::RowCount`].
    pub fn add_row(&mut self, features: &[T], targets: &[T]) -> Result<(), Error> {
        check_length(self.dim, features.len())?;
        let Some((&target, others)) = targets.split_first() else {
            return Err(Error::Length { expected: self.targets(), found: 0 });
        };
        if !(others.is_empty() && self.further.is_empty()) {
            check_length(self.targets(), targets.len())?;
        }
        if let Some(column) = features.iter().chain(targets).position(|entry| !entry.is_finite()) {
            let row = usize::try_from(self.rows).unwrap_or(usize::MAX);
            return Err(Error::NotFinite { row, column });
        }
        let rows = self.rows.checked_add(1).ok_or(Error::RowCount)?;
        for (slot, &feature) in self.row.iter_mut().zip(features) {
            *slot = feature;
        }
        if !self.further.is_empty() {
            set_targets(self.further, self.dim, others).known()?;
        }
        let left = self.absorb(0, target).known()?;
        self.add_residuals(left).known()?;
        self.rows = rows;
        Ok(())
    }

    /// Rotate the working row, zero before entry `first`, into the triangle. Return what remains of its first target;
    /// the others are in their blocks.
    #[must_use]
    fn absorb(&mut self, first: usize, target: T) -> Option<T> {
        let mut left = target;
        for k in first..self.dim {
            let entries = row_mut(self.square, self.dim, k, self.dim)?.get_mut(k..)?;
            let (pivot, entries) = entries.split_first_mut()?;
            let (&mut lead, incoming) = self.row.get_mut(k..)?.split_first_mut()?;
            if lead == T::ZERO {
                continue;
            }
            let (rotation, rotated_pivot) = rotation(*pivot, lead);
            *pivot = rotated_pivot;
            for (entry, carried) in entries.iter_mut().zip(incoming) {
                *entry = apply_givens(*entry, carried, rotation);
            }
            let slot = self.targets.get_mut(k)?;
            *slot = apply_givens(*slot, &mut left, rotation);
            if !self.further.is_empty() {
                rotate_targets(self.further, self.dim, k, rotation)?;
            }
        }
        Some(left)
    }

    /// Add the squares of what remains of a row's targets to the residual sums of squares.
    #[must_use]
    fn add_residuals(&mut self, left: T) -> Option<()> {
        self.rss.add(left * left);
        if self.further.is_empty() { Some(()) } else { add_squares(self.further, self.dim) }
    }

    /// Merge what `other` has learned, as if its rows had been added here: all later results agree with one pass up to
    /// rounding. `c³` multiply-adds.
    ///
    /// # Errors
    /// [`Error::Length`] when the numbers of features or of targets differ, [`Error::RowCount`]. The caller must ensure that they are
    /// features of the same landmarks ([`crate::digest`]).
    pub fn merge(&mut self, other: &RidgeRegression<'_, T>) -> Result<(), Error> {
        check_length(self.dim, other.dim)?;
        check_length(self.targets(), other.targets())?;
        let rows = self.rows.checked_add(other.rows).ok_or(Error::RowCount)?;
        let size = block(self.dim);
        for k in 0..self.dim {
            let incoming = row(other.square, other.dim, k, other.dim).known()?;
            for (slot, &entry) in self.row.iter_mut().zip(incoming).skip(k) {
                *slot = entry;
            }
            for (own, block) in rows_of_mut(self.further, size).zip(rows_of(other.further, size)) {
                *own.last_mut().known()? = *block.get(k).known()?;
            }
            let target = *other.targets.get(k).known()?;
            let left = self.absorb(k, target).known()?;
            self.add_residuals(left).known()?;
        }
        self.rss.add(other.rss.total());
        for (own, block) in rows_of_mut(self.further, size).zip(rows_of(other.further, size)) {
            let [sum, lost, _] = own.get_mut(self.dim..).and_then(<[T]>::first_chunk_mut).known()?;
            let &[more, more_lost, _] = block.get(self.dim..).and_then(<[T]>::first_chunk).known()?;
            let mut rss = Sum { sum: *sum, lost: *lost };
            rss.add(more + more_lost);
            (*sum, *lost) = (rss.sum, rss.lost);
        }
        self.rows = rows;
        Ok(())
    }

    /// Return the state as numbers, which [`restore`](Self::restore) reads back bit for bit: the triangle `R` by rows,
    /// then for each target `Qᵀy` and the two parts of its residual sum of squares. Keep [`rows`](Self::rows) beside
    /// them.
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// let (mut memory, mut other) = (RidgeWorkspace::<f32, 2>::new(), RidgeWorkspace::<f32, 2>::new());
    /// let mut ridge = RidgeRegression::new(2, memory.lend())?;
    /// ridge.add(&[1.0, 0.5], 2.0)?;
    ///
    /// let mut kept = [0.0; RidgeRegression::<f32>::numbers_kept(2)];
    /// kept.iter_mut().zip(ridge.numbers()).for_each(|(slot, number)| *slot = number);
    /// let mut restored = RidgeRegression::new(2, other.lend())?;
    /// restored.restore(ridge.rows(), &kept)?;
    /// assert!(restored.numbers().eq(ridge.numbers()));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn numbers(&self) -> impl Iterator<Item = T> {
        let rows = rows_of(self.square, self.dim).enumerate();
        let triangle = rows.flat_map(|(k, row)| row.iter().skip(k));
        let Sum { sum, lost } = self.rss;
        // Without the last of a block, which is scratch.
        let blocks = rows_of(self.further, block(self.dim)).flat_map(|block| block.iter().take(self.dim + 2));
        triangle.chain(self.targets.iter()).copied().chain([sum, lost]).chain(blocks.copied())
    }

    /// Return how many [`numbers`](Self::numbers) there are for one target.
    pub const fn numbers_kept(dim: usize) -> usize {
        Self::numbers_kept_of(dim, 1)
    }

    /// Return how many [`numbers`](Self::numbers) there are for several targets.
    pub const fn numbers_kept_of(dim: usize, targets: usize) -> usize {
        dim * (dim + 1) / 2 + targets * (dim + 2)
    }

    /// Read back what [`numbers`](Self::numbers) returned: all later results are the same bit for bit. The present
    /// state is replaced.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are as many numbers as for these features and targets, [`Error::NotFinite`] with
    /// the position of one that is not.
    pub fn restore(&mut self, rows: u64, numbers: &[T]) -> Result<(), Error> {
        check_length(Self::numbers_kept_of(self.dim, self.targets()), numbers.len())?;
        if let Some(column) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(Error::NotFinite { row: 0, column });
        }
        self.take_back(rows, &mut numbers.iter().copied()).known()
    }

    /// [`restore`](Self::restore) from the right number of finite numbers.
    #[must_use]
    fn take_back(&mut self, rows: u64, numbers: &mut impl Iterator<Item = T>) -> Option<()> {
        let triangle = rows_of_mut(self.square, self.dim).enumerate();
        for slot in triangle.flat_map(|(k, row)| row.iter_mut().skip(k)) {
            *slot = numbers.next()?;
        }
        for slot in self.targets.iter_mut() {
            *slot = numbers.next()?;
        }
        self.rss = Sum { sum: numbers.next()?, lost: numbers.next()? };
        for block in rows_of_mut(self.further, block(self.dim)) {
            for slot in block.iter_mut().take(self.dim + 2) {
                *slot = numbers.next()?;
            }
        }
        self.rows = rows;
        Some(())
    }

    /// Compute the weights `β` of `min ‖Φβ - y‖² + Nγ‖β‖²` for the first target:
    /// [`solve_target`](Self::solve_target).
    ///
    /// # Errors
    /// Those of [`solve_target`](Self::solve_target).
    pub fn solve(&mut self, gamma: T, weights: &mut [T]) -> Result<(), Error> {
        self.solve_target(0, gamma, weights)
    }

    /// Compute the weights `β` of `min ‖Φβ - y‖² + Nγ‖β‖²` for target `k`, with γ the regularisation `gamma`. Rows can
    /// be added afterwards. `c³/2` multiply-adds.
    ///
    /// # Errors
    /// [`Error::NoRows`], [`Error::Ridge`] unless γ is finite and not negative, [`Error::Length`] unless there is a
    /// weight per feature, [`Error::OutOfRange`] for the target, and [`Error::NotPositive`] with the feature that the
    /// rows and the regularisation leave undetermined: `weights` are then unspecified.
    pub fn solve_target(&mut self, k: usize, gamma: T, weights: &mut [T]) -> Result<(), Error> {
        check_length(self.dim, weights.len())?;
        if self.rows == 0 {
            return Err(Error::NoRows);
        }
        if !(gamma >= T::ZERO && gamma.is_finite()) {
            return Err(Error::Ridge);
        }
        for (weight, &target) in weights.iter_mut().zip(self.target(k)?.0) {
            *weight = target;
        }
        let penalty = (T::from_rows(self.rows) * gamma).sqrt();
        self.copy_down().known()?;
        self.penalise(penalty, weights).known()?;
        // With a penalty every pivot is at least that large, whatever the rows.
        let floor = if penalty > T::ZERO { T::ZERO } else { self.rounding_of_pivots() };
        if let Some(pivot) = self.diagonal.iter().position(|&pivot| !(pivot > floor)) {
            return Err(Error::NotPositive { pivot });
        }
        for k in (0..self.dim).rev() {
            let (before, rest) = weights.split_at_mut_checked(k).known()?;
            let weight = rest.first_mut().known()?;
            let entries = row(self.square, self.dim, k, k).known()?;
            *weight /= *self.diagonal.get(k).known()?;
            for (before, &entry) in before.iter_mut().zip(entries) {
                *before -= entry * *weight;
            }
        }
        Ok(())
    }

    /// Return `Qᵀy` and the residual sum of squares of target `k`.
    fn target(&self, k: usize) -> Result<(&[T], Sum<T>), Error> {
        if k == 0 { Ok((self.targets, self.rss)) } else { self.further_target(k) }
    }

    #[inline(never)]
    fn further_target(&self, k: usize) -> Result<(&[T], Sum<T>), Error> {
        let none = Error::OutOfRange { index: k, len: self.targets() };
        let block = rows_of(self.further, block(self.dim)).nth(k.wrapping_sub(1)).ok_or(none)?;
        let (column, rest) = block.split_at_checked(self.dim).known()?;
        let &[sum, lost, _] = rest.first_chunk().known()?;
        Ok((column, Sum { sum, lost }))
    }

    /// Return the rounding error of the copy's pivots.
    fn rounding_of_pivots(&self) -> T {
        let larger = |most, &pivot| if pivot > most { pivot } else { most };
        T::from_count(self.dim) * T::EPSILON * self.diagonal.iter().fold(T::ZERO, larger)
    }

    /// Copy `R` to the lower triangle, transposed.
    #[must_use]
    fn copy_down(&mut self) -> Option<()> {
        for k in 0..self.dim {
            *self.diagonal.get_mut(k)? = *self.square.get(k * self.dim + k)?;
            for j in k + 1..self.dim {
                *self.square.get_mut(j * self.dim + k)? = *self.square.get(k * self.dim + j)?;
            }
        }
        Some(())
    }

    /// Rotate the rows `penalty · e_i` into the copy of the triangle.
    #[must_use]
    fn penalise(&mut self, penalty: T, targets: &mut [T]) -> Option<()> {
        if !(penalty > T::ZERO) {
            return Some(());
        }
        for i in 0..self.dim {
            self.row.fill(T::ZERO);
            *self.row.get_mut(i)? = penalty;
            let mut left = T::ZERO;
            for k in i..self.dim {
                let (pivot, lead) = (self.diagonal.get_mut(k)?, *self.row.get(k)?);
                let (rotation, rotated_pivot) = rotation(*pivot, lead);
                *pivot = rotated_pivot;
                // Column k of the lower triangle is row k of the copy.
                let below = self.square.get_mut((k + 1) * self.dim..)?;
                for (below, carried) in rows_of_mut(below, self.dim).zip(self.row.get_mut(k + 1..)?) {
                    let entry = below.get_mut(k)?;
                    *entry = apply_givens(*entry, carried, rotation);
                }
                let target = targets.get_mut(k)?;
                *target = apply_givens(*target, &mut left, rotation);
            }
        }
        Some(())
    }

    /// Return the squared error of the first target: [`squared_error_of`](Self::squared_error_of).
    ///
    /// # Errors
    /// Those of [`squared_error_of`](Self::squared_error_of).
    pub fn squared_error(&self, weights: &[T]) -> Result<T, Error> {
        self.squared_error_of(0, weights)
    }

    /// Return `Σ (φ(x)ᵀβ - y)²` of target `k` over the rows added, from the accumulator alone: the training error, or
    /// the error on a fold that was held out of another accumulator. `c²/2` multiply-adds.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a weight per feature, [`Error::OutOfRange`] for the target.
    pub fn squared_error_of(&self, k: usize, weights: &[T]) -> Result<T, Error> {
        check_length(self.dim, weights.len())?;
        let (targets, mut total) = self.target(k)?;
        for (k, &target) in targets.iter().enumerate() {
            let mut left = -target;
            let entries = row(self.square, self.dim, k, self.dim).known()?;
            for (&entry, &weight) in entries.iter().zip(weights).skip(k) {
                left += entry * weight;
            }
            total.add(left * left);
        }
        Ok(total.total())
    }
}

// What follows is out of line, so that one target takes neither more stack nor more instructions.

/// Write a row's further targets into the last place of their blocks.
#[must_use]
#[inline(never)]
fn set_targets<T: Scalar>(further: &mut [T], dim: usize, targets: &[T]) -> Option<()> {
    for (block, &target) in rows_of_mut(further, block(dim)).zip(targets) {
        *block.last_mut()? = target;
    }
    Some(())
}

/// Apply a rotation to the `k`-th entries of the further targets and to what remains of the row's.
#[must_use]
#[inline(never)]
fn rotate_targets<T: Scalar>(further: &mut [T], dim: usize, k: usize, rotation: [T; 2]) -> Option<()> {
    for block in rows_of_mut(further, block(dim)) {
        let (left, block) = block.split_last_mut()?;
        let slot = block.get_mut(k)?;
        *slot = apply_givens(*slot, left, rotation);
    }
    Some(())
}

/// Add the square of what remains of each further target to its residual sum of squares.
#[must_use]
#[inline(never)]
fn add_squares<T: Scalar>(further: &mut [T], dim: usize) -> Option<()> {
    for block in rows_of_mut(further, block(dim)) {
        let [sum, lost, left] = block.get_mut(dim..)?.first_chunk_mut()?;
        let mut rss = Sum { sum: *sum, lost: *lost };
        rss.add(*left * *left);
        (*sum, *lost) = (rss.sum, rss.lost);
    }
    Some(())
}

/// The length of a further target's block.
const fn block(dim: usize) -> usize {
    // Saturating: `dim` is the caller's.
    dim.saturating_add(3)
}
