//! Kernel ridge regression on the landmarks, one row at a time, with no row kept.
//!
//! The estimator is `f(x) = k_C(x)ᵀ w`, `(K_{C,·} K_{·,C} + Nγ K_CC) w = K_{C,·} y`, which on the
//! training rows equals `K̃ (K̃ + NγI)⁻¹ y`. The ridge γ is multiplied by the number of rows `N`.
//!
//! # Why it is sound when `K_CC` is nearly singular
//!
//! The normal equations above square the condition of `K_{·,C}` and multiply it with that of
//! `K_CC`. Instead, with `φ = L⁻¹ k_C` of [`crate::Nystrom`], the problem is ridge regression in
//! coordinates in which the penalty is the identity,
//!
//! `min_β ‖Φβ - y‖² + Nγ ‖β‖²`, `w = L⁻ᵀ β`,
//!
//! and its triangle `R`, `RᵀR = ΦᵀΦ`, is kept by plane rotations (QR by Givens rotations, Golub and
//! Van Loan §5.2.5; as in square-root recursive least squares), never as the product `ΦᵀΦ`. The
//! ridge enters as `c` further rows `√(Nγ) e_i`. So rounding is amplified by the root of what the
//! normal equations suffer: in `f32` a ridge of 10⁻¹⁰ still counts, where a sum of products would
//! have drowned it at 10⁻⁷. Weights of the kernel can be as large as `‖β‖` over the least pivot of
//! `L`, which the floor under the pivots keeps above `√(c ε k)`: `k_C(x)ᵀ w` is then right to some
//! `√ε ‖β‖`.

mod state;

pub use state::state_bytes;

use crate::error::{Error, Known};
use crate::memory::{RidgeMemory, check_capacity, check_length, row, row_mut, take};
use crate::scalar::{Scalar, Sum, apply_givens, rotation};

/// What rows have taught so far: `c(c + 1)/2` numbers of `R`, `c` of `Qᵀy`, and the squared error
/// that no weights can remove. Two accumulators over the same features merge into one.
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
    targets: &'a mut [T],
    row: &'a mut [T],
    dim: usize,
    rows: u64,
    rss: Sum<T>,
}

impl<'a, T: Scalar> RidgeRegression<'a, T> {
    /// An accumulator of no rows yet, each of `dim` features.
    ///
    /// # Errors
    /// [`Error::Empty`] for no features, [`Error::Capacity`].
    pub fn new(dim: usize, memory: RidgeMemory<'a, T>) -> Result<Self, Error> {
        let RidgeMemory { square, diagonal, targets, row } = memory;
        if dim == 0 {
            return Err(Error::Empty);
        }
        let have = diagonal.len().min(targets.len()).min(row.len());
        check_capacity(dim, have)?;
        let square = take(square, dim.saturating_mul(dim))?;
        let (diagonal, targets, row) = (take(diagonal, dim)?, take(targets, dim)?, take(row, dim)?);
        square.fill(T::ZERO);
        targets.fill(T::ZERO);
        Ok(Self { square, diagonal, targets, row, dim, rows: 0, rss: Sum::default() })
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.dim
    }

    /// The number of rows `N` so far, those of merged accumulators included.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Learns one row: its features and its target. `3c²` multiply-adds and `c` square roots.
    ///
    /// In `f32` a row's share of `R` falls under the rounding of what is there after some 10⁷ rows:
    /// for more, merge accumulators of parts.
    ///
    /// # Errors
    /// [`Error::Length`], and [`Error::NotFinite`] with the number of rows before it and the feature
    /// (the target counts as the one after the last).
    pub fn add(&mut self, features: &[T], target: T) -> Result<(), Error> {
        check_length(self.dim, features.len())?;
        let entries = features.iter().chain(core::iter::once(&target));
        if let Some(column) = entries.into_iter().position(|entry| !entry.is_finite()) {
            return Err(Error::NotFinite { row: self.rows as usize, column });
        }
        for (slot, &feature) in self.row.iter_mut().zip(features) {
            *slot = feature;
        }
        let left = self.absorb(0, target).known()?;
        self.rss.add(left * left);
        self.rows += 1;
        Ok(())
    }

    /// Turns the working row, zero before entry `first`, into the triangle; answers what is left of
    /// its target.
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
        }
        Some(left)
    }

    /// Learns all that `other` has learned, as if its rows had come here: rows and all later results
    /// agree with one pass up to rounding. `c³` multiply-adds.
    ///
    /// # Errors
    /// [`Error::Length`] when the features differ in number. That they are features of the same
    /// landmarks is the caller's to know.
    pub fn merge(&mut self, other: &RidgeRegression<'_, T>) -> Result<(), Error> {
        check_length(self.dim, other.dim)?;
        for k in 0..self.dim {
            let incoming = row(other.square, other.dim, k, other.dim).known()?;
            for (slot, &entry) in self.row.iter_mut().zip(incoming).skip(k) {
                *slot = entry;
            }
            let target = *other.targets.get(k).known()?;
            let left = self.absorb(k, target).known()?;
            self.rss.add(left * left);
        }
        self.rss.add(other.rss.total());
        self.rows += other.rows;
        Ok(())
    }

    /// All that was learned, as numbers that [`restore`](Self::restore) takes back bit for bit: the triangle `R` by
    /// rows, `Qᵀy`, and the squared error that no weights can remove, in two parts. [`rows`](Self::rows)
    /// is kept beside them.
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
        let rows = self.square.chunks_exact(self.dim.max(1)).enumerate();
        let triangle = rows.flat_map(|(k, row)| row.iter().skip(k));
        let Sum { sum, lost } = self.rss;
        triangle.chain(self.targets.iter()).copied().chain([sum, lost])
    }

    /// How many numbers [`numbers`](Self::numbers) are, for so many features.
    pub const fn numbers_kept(dim: usize) -> usize {
        dim * (dim + 1) / 2 + dim + 2
    }

    /// Takes back what [`numbers`](Self::numbers) gave: all later results are the same bit for bit. What was
    /// here before is forgotten.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are as many numbers as for these features, [`Error::NotFinite`] with the
    /// place of one that is not.
    pub fn restore(&mut self, rows: u64, numbers: &[T]) -> Result<(), Error> {
        check_length(Self::numbers_kept(self.dim), numbers.len())?;
        if let Some(column) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(Error::NotFinite { row: 0, column });
        }
        self.take_back(rows, &mut numbers.iter().copied()).known()
    }

    /// [`restore`](Self::restore) from as many finite numbers as there must be.
    #[must_use]
    fn take_back(&mut self, rows: u64, numbers: &mut impl Iterator<Item = T>) -> Option<()> {
        let triangle = self.square.chunks_exact_mut(self.dim.max(1)).enumerate();
        for slot in triangle.flat_map(|(k, row)| row.iter_mut().skip(k)) {
            *slot = numbers.next()?;
        }
        for slot in self.targets.iter_mut() {
            *slot = numbers.next()?;
        }
        self.rss = Sum { sum: numbers.next()?, lost: numbers.next()? };
        self.rows = rows;
        Some(())
    }

    /// The weights `β` of `min ‖Φβ - y‖² + Nγ‖β‖²`, with γ the `ridge`. More rows can follow. `c³/2`
    /// multiply-adds.
    ///
    /// # Errors
    /// [`Error::NoRows`], [`Error::Ridge`] unless γ is finite and not negative, [`Error::Length`]
    /// unless there is room for a weight per feature, and [`Error::NotPositive`] with the feature
    /// that the rows and the ridge leave undetermined.
    pub fn solve(&mut self, ridge: T, weights: &mut [T]) -> Result<(), Error> {
        check_length(self.dim, weights.len())?;
        if self.rows == 0 {
            return Err(Error::NoRows);
        }
        if !(ridge >= T::ZERO && ridge.is_finite()) {
            return Err(Error::Ridge);
        }
        let penalty = (T::from_count(self.rows as usize) * ridge).sqrt();
        self.copy_down(weights).known()?;
        self.penalise(penalty, weights).known()?;
        // With a ridge every pivot is at least its root, however little the rows say.
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

    /// At or under this, a pivot of the copy is rounding.
    fn rounding_of_pivots(&self) -> T {
        let larger = |most, &pivot| if pivot > most { pivot } else { most };
        T::from_count(self.dim) * T::EPSILON * self.diagonal.iter().fold(T::ZERO, larger)
    }

    /// Copies `R` to the lower triangle, transposed, and its targets to `targets`.
    #[must_use]
    fn copy_down(&mut self, targets: &mut [T]) -> Option<()> {
        for k in 0..self.dim {
            *self.diagonal.get_mut(k)? = *self.square.get(k * self.dim + k)?;
            for j in k + 1..self.dim {
                *self.square.get_mut(j * self.dim + k)? = *self.square.get(k * self.dim + j)?;
            }
        }
        for (target, &kept) in targets.iter_mut().zip(self.targets.iter()) {
            *target = kept;
        }
        Some(())
    }

    /// Turns the rows `penalty · e_i` into the copy of the triangle.
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
                for (below, carried) in
                    self.square.chunks_mut(self.dim.max(1)).zip(self.row.iter_mut()).skip(k + 1)
                {
                    let entry = below.get_mut(k)?;
                    *entry = apply_givens(*entry, carried, rotation);
                }
                let target = targets.get_mut(k)?;
                *target = apply_givens(*target, &mut left, rotation);
            }
        }
        Some(())
    }

    /// `Σ (φ(x)ᵀβ - y)²` over the rows learned, from the accumulator alone: training error, or the
    /// error on a fold that another accumulator was fitted without. `c²/2` multiply-adds.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a weight per feature.
    pub fn squared_error(&self, weights: &[T]) -> Result<T, Error> {
        check_length(self.dim, weights.len())?;
        let mut total = self.rss;
        for (k, &target) in self.targets.iter().enumerate() {
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
