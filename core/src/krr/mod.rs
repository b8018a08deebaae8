//! Kernel ridge regression on the landmarks, one row at a time, without storing rows.

mod levels;
mod solve;
mod state;
#[cfg(feature = "hmac")]
mod tag;

pub use solve::{FeatureWeights, Solution, Solved};
pub use state::{Origin, StateHeader, state_bytes, state_bytes_forgotten, state_bytes_of};
#[cfg(feature = "hmac")]
pub use tag::{sign_state, verify_state};

use crate::error::{Error, Known, row_number};
use crate::memory::{
    MOST_ROWS, RidgeMemory, check_capacity, check_length, row_mut, rows_of, rows_of_mut, take,
};
use crate::scalar::{Scalar, Sum, apply_givens, fill, rotation};
use crate::sections::Writer;
use levels::{Earlier, Level, has_earlier};

/// Ridge regression from rows that are added one at a time: `c(c + 1)/2` numbers of `R`, and for each target
/// `c` numbers of `Qᵀy` and the residual sum of squares that no weights can remove. Two accumulators over the
/// same features merge into one. In `f32` it keeps `R` and `Qᵀy` twice, so that rows are not lost to rounding
/// ([`add_row`](Self::add_row)).
///
/// The estimator is `f(x) = k_C(x)ᵀ w`, `(K_{C,·} K_{·,C} + Nγ K_CC) w = K_{C,·} y`, which on the training
/// rows equals `K̃ (K̃ + NγI)⁻¹ y`. The regularisation γ is multiplied by the number of rows `N`.
///
/// # Accuracy when `K_CC` is nearly singular
///
/// The normal equations above square the condition number of `K_{·,C}` and multiply it by that of `K_CC`.
/// Instead, with `φ = L⁻¹ k_C` of [`crate::Nystrom`], the problem is ridge regression with the identity as
/// its penalty,
///
/// `min_β ‖Φβ - y‖² + Nγ ‖β‖²`, `w = L⁻ᵀ β`,
///
/// and its triangle `R`, `RᵀR = ΦᵀΦ`, is updated by Givens rotations (QR by Givens rotations, Golub and Van
/// Loan §5.2.5; as in square-root recursive least squares). The product `ΦᵀΦ` is never formed. The
/// regularisation is `c` further rows `√(Nγ) e_i`. So the amplification of rounding errors is the square root
/// of that of the normal equations: in `f32` a regularisation of 10⁻¹⁰ still has an effect, where a sum of
/// products loses it at 10⁻⁷. Weights of the kernel can be as large as `‖β‖` over the smallest pivot of `L`,
/// which is at least `√(c ε k)`: `k_C(x)ᵀ w` is then accurate to about `√ε ‖β‖`.
///
/// # Variance
///
/// The regression is the mean of a Gaussian process on the landmarks whose prior variance is
/// `s²/λ · k(x, x)`, `λ = Nγ`, with noise of variance `s²`. Its marginal likelihood, where γ is given, is
/// greatest at `s² = J/N`, with `J` the minimum above. With `S` the triangle that [`RidgeRegression::solve`]
/// leaves, `SᵀS = ΦᵀΦ + λI`, the variance of a new observation at `x` is
///
/// `s² (r/λ + h + 1)`, `r = k(x, x) - ‖φ(x)‖²`, `h = ‖S⁻ᵀφ(x)‖²`.
///
/// `r` is the Nyström residual, the part of `x` that the landmarks do not know: far from all of them the
/// variance is that of the prior, `s² (k(x, x)/λ + 1)`. `h` is the leverage. A γ that was chosen for
/// prediction makes the intervals too wide rather than too narrow where the bandwidth is small; a factor that
/// is measured on rows ([`crate::Uncertainty`]) corrects this.
///
/// # Several targets
///
/// The rotations depend on the features alone, so targets share `R`. Each keeps its own `Qᵀy` and residual
/// sum of squares.
///
/// # Example
///
/// ```
/// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
///
/// let mut memory = RidgeWorkspace::<f64, 2>::new();
/// let mut ridge = RidgeRegression::new(2, memory.lend())?;
/// ridge.add(&[1.0, 0.0], 2.0)?;
/// ridge.add(&[0.0, 1.0], 3.0)?;
/// ridge.add(&[1.0, 1.0], 5.0)?;
/// let solution = ridge.solve(0.0)?;
/// assert!(solution.weights.iter().zip([2.0, 3.0]).all(|(weight, expected)| (weight - expected).abs() < 1e-15));
/// assert!(solution.squared_error < 1e-28);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RidgeRegression<'a, T> {
    /// Row-major with `dim` entries a row: `R` of the recent rows in the upper triangle.
    square: &'a mut [T],
    diagonal: &'a mut [T],
    /// `Qᵀy` of the first target.
    targets: &'a mut [T],
    row: &'a mut [T],
    /// `β` while it is computed, and of the last solution.
    solution: &'a mut [T],
    dim: usize,
    counts: Counts<T>,
    /// Of the first target.
    rss: Sum<T>,
    /// The variance of the noise, of the last solution.
    noise: T,
    /// A block for each further target: `Qᵀy`, the two parts of its residual sum of squares, and what remains
    /// of the target of the row that is being added.
    further: &'a mut [T],
    earlier: Earlier<'a, T>,
}

impl<'a, T: Scalar> RidgeRegression<'a, T> {
    /// Create an accumulator of rows of `dim` features with one target, without rows yet.
    ///
    /// # Errors
    /// [`Error::Empty`] for no features, [`Error::Capacity`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f32, 2>::new();
    /// let refused = RidgeRegression::new(3, memory.lend()).err();
    /// assert_eq!(refused, Some(Error::Capacity { needed: 3, have: 2 }));
    /// let ridge = RidgeRegression::new(2, memory.lend())?;
    /// assert_eq!((ridge.features(), ridge.targets(), ridge.rows()), (2, 1, 0));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn new(dim: usize, memory: RidgeMemory<'a, T>) -> Result<Self, Error> {
        Self::with_targets(dim, 1, memory, &mut [])
    }

    /// Create an accumulator of rows of `dim` features with several targets, for several outputs or the
    /// indicators of classes. All share one `R`, so that a further target costs `2c` multiply-adds a row.
    /// `further` needs [`further_numbers`](Self::further_numbers).
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
    /// assert!(ridge.solve_target(1, 0.0)?.weights.iter().eq([-1.0, 4.0]));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn with_targets(
        dim: usize,
        targets: usize,
        memory: RidgeMemory<'a, T>,
        further: &'a mut [T],
    ) -> Result<Self, Error> {
        let RidgeMemory { square, diagonal, targets: column, row, solution, earlier } = memory;
        if dim == 0 || targets == 0 {
            return Err(Error::Empty);
        }
        let have = diagonal.len().min(column.len()).min(row.len()).min(solution.len());
        check_capacity(dim, have)?;
        let square = take(square, dim.saturating_mul(dim))?;
        let (diagonal, column, row) = (take(diagonal, dim)?, take(column, dim)?, take(row, dim)?);
        let solution = take(solution, dim)?;
        let further = take(further, Self::further_numbers(dim, targets))?;
        square.fill(T::ZERO);
        column.fill(T::ZERO);
        further.fill(T::ZERO);
        let blocks = targets.saturating_sub(1).saturating_mul(block(dim));
        let (further, of_earlier) = further.split_at_mut_checked(blocks).known()?;
        let earlier = Earlier::new(dim, earlier, of_earlier)?;
        let (counts, rss) = (Counts::default(), Sum::default());
        let noise = T::ZERO;
        Ok(Self {
            square,
            diagonal,
            targets: column,
            row,
            solution,
            dim,
            counts,
            rss,
            noise,
            further,
            earlier,
        })
    }

    /// Return the numbers of memory that the targets after the first need.
    pub const fn further_numbers(dim: usize, targets: usize) -> usize {
        let earlier = if has_earlier::<T>() { dim } else { 0 };
        targets.saturating_sub(1).saturating_mul(block(dim).saturating_add(earlier))
    }

    /// Return the number of features.
    pub fn features(&self) -> usize {
        self.dim
    }

    /// Return the number of targets.
    pub fn targets(&self) -> usize {
        1 + self.further.len().checked_div(block(self.dim)).unwrap_or(0)
    }

    /// Return the number of rows so far, those of merged accumulators included.
    pub fn rows(&self) -> u64 {
        self.counts.rows
    }

    /// Return the effective number of rows `N`, by which γ is multiplied: that of [`rows`](Self::rows),
    /// unless rows were discounted ([`forget`](Self::forget)).
    pub fn effective_rows(&self) -> T {
        self.counts.effective()
    }

    /// Add a row with one target: [`add_row`](Self::add_row).
    ///
    /// # Errors
    /// Those of [`add_row`](Self::add_row).
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f32, 2>::new();
    /// let mut ridge = RidgeRegression::new(2, memory.lend())?;
    /// ridge.add(&[1.0, 0.5], 2.0)?;
    /// let refused = ridge.add(&[1.0, f32::INFINITY], 2.0);
    /// assert_eq!(refused, Err(Error::NotFinite { row: 1, column: 1 }));
    /// assert_eq!(ridge.rows(), 1);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn add(&mut self, features: &[T], target: T) -> Result<(), Error> {
        self.add_row(features, core::slice::from_ref(&target))
    }

    /// Add a row: its features and its targets. `3c²` multiply-adds and `c` square roots, and `2c`
    /// multiply-adds for each target after the first.
    ///
    /// In `f32` rows are collected in a triangle of their own, and 2¹⁵ of them at a time are folded into that
    /// of the rows before them, which costs `c³` multiply-adds more. An accumulator is full at 2³⁵ effective
    /// rows, 3.4·10¹⁰. Below that, prediction errors agreed with those of `f64` to a relative 2·10⁻⁴ (16
    /// features, γ = 10⁻⁶; the crate's README).
    ///
    /// # Errors
    /// [`Error::Length`], and [`Error::NotFinite`] with the number of rows before it and the feature (targets
    /// count as the columns after the features), [`Error::RowCount`] when full. The row is not learned then.
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f64, 1>::new();
    /// let mut further = [0.0; RidgeRegression::<f64>::further_numbers(1, 3)];
    /// let mut ridge = RidgeRegression::with_targets(1, 3, memory.lend(), &mut further)?;
    /// ridge.add_row(&[2.0], &[2.0, 4.0, 6.0])?;
    /// let mut slopes = [0.0; 3];
    /// for (k, slope) in slopes.iter_mut().enumerate() {
    ///     *slope = ridge.solve_target(k, 0.0)?.weights.iter().sum();
    /// }
    /// assert_eq!(slopes, [1.0, 2.0, 3.0]);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn add_row(&mut self, features: &[T], targets: &[T]) -> Result<(), Error> {
        check_length(self.dim, features.len())?;
        let Some((&target, others)) = targets.split_first() else {
            return Err(Error::Length { expected: self.targets(), found: 0 });
        };
        if !(others.is_empty() && self.further.is_empty()) {
            check_length(self.targets(), targets.len())?;
        }
        let rows = sum_of_rows(self.counts.rows, 1).ok_or(Error::RowCount)?;
        if self.counts.recent >= T::ROWS_APART {
            if self.counts.effective() >= T::from_rows(T::MOST_ROWS) {
                return Err(Error::RowCount);
            }
            self.gather().and_then(|()| self.set_apart()).known()?;
        }
        self.learn(features, target, others, rows)
    }

    /// Learn a row, the `rows`-th. Out of line, so that its stack is not added to that of a fold.
    #[inline(never)]
    fn learn(&mut self, features: &[T], target: T, others: &[T], rows: u64) -> Result<(), Error> {
        let (weight, root) = self.counts.weight();
        for (slot, &feature) in self.row.iter_mut().zip(features) {
            *slot = root * feature;
        }
        let targets = core::iter::once(&target).chain(others);
        let mut scaled = self.row.iter().copied().chain(targets.map(|&target| root * target));
        if let Some(column) = scaled.position(|entry| !entry.is_finite()) {
            return Err(Error::NotFinite { row: row_number(self.counts.rows), column });
        }
        if !self.further.is_empty() {
            set_targets(self.further, self.dim, others, root).known()?;
        }
        let left = self.absorb(0, root * target).known()?;
        self.add_residuals(left).known()?;
        self.counts.count(rows, weight);
        Ok(())
    }

    /// Discount the rows so far: each counts `lambda` times what it counted before, in the weights, in the
    /// squared error and in `N`. A few operations, and `c²/2` multiplications each time that the rows have
    /// lost three quarters of their weight.
    ///
    /// A regression that forgets before each row, as recursive least squares with a forgetting factor does
    /// (Haykin, *Adaptive Filter Theory*, §10), tracks drift: `N` approaches `1/(1 - λ)` rows. Directions in
    /// which no rows arrive lose what was learned there, and the regularisation returns them to 0.
    ///
    /// In `f32` the numbers below 1 are `1 - k 2⁻²⁴`, so that the longest memory is that of 1.7·10⁷ rows: for
    /// a longer one, forget before each tenth row, say. In any precision the result is that of the `lambda`
    /// that is passed.
    ///
    /// A call that would leave fewer than 1/16 of an effective row is refused: without new rows, nothing
    /// would be left to solve.
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f64, 1>::new();
    /// let mut ridge = RidgeRegression::new(1, memory.lend())?;
    /// ridge.add(&[1.0], 0.0)?;
    /// ridge.forget(0.25)?;
    /// ridge.add(&[1.0], 5.0)?; // the mean of 0 and 5, weighted by 1/4 and 1
    /// let solution = ridge.solve(0.0)?;
    /// assert!(solution.weights.iter().all(|weight| (weight - 4.0).abs() < 1e-15));
    /// assert_eq!(ridge.effective_rows(), 1.25);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Forgetting`] unless `0 < lambda <= 1`, [`Error::Forgotten`] where fewer than 1/16 of an
    /// effective row would be left. Nothing is changed then.
    pub fn forget(&mut self, lambda: T) -> Result<(), Error> {
        if !(lambda > T::ZERO && lambda <= T::ONE) {
            return Err(Error::Forgetting);
        }
        if lambda == T::ONE || self.counts.rows == 0 {
            return Ok(());
        }
        if !(lambda * self.effective_rows() >= T::from_f64(LEAST_ROWS)) {
            return Err(Error::Forgotten);
        }
        match self.counts.discount(lambda) {
            root if root == T::ONE => Ok(()),
            root => self.scale(root, root * root).known(),
        }
    }

    /// Count the rows so far as `effective` rows, by which γ is multiplied. This is for weighted rows: a row
    /// of weight `w` is added with its features and targets times `√w`, and counts as `w` rows.
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// let (mut memory, mut other) = (RidgeWorkspace::<f64, 1>::new(), RidgeWorkspace::<f64, 1>::new());
    /// let (mut twice, mut weighted) =
    ///     (RidgeRegression::new(1, memory.lend())?, RidgeRegression::new(1, other.lend())?);
    /// (0..4).try_for_each(|_| twice.add(&[1.0], 3.0))?;
    /// weighted.add(&[2.0], 6.0)?; // a row of weight 4
    /// weighted.count_as(4.0)?;
    /// assert!(twice.solve(0.5)?.weights.iter().eq(weighted.solve(0.5)?.weights.iter()));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RowCount`] unless `effective` is at least 0 and finite, and 0 without rows. Nothing is changed
    /// then.
    pub fn count_as(&mut self, effective: T) -> Result<(), Error> {
        if !(effective >= T::ZERO && effective.is_finite() && (self.rows() > 0 || effective == T::ZERO)) {
            return Err(Error::RowCount);
        }
        let discounted = Sum { sum: effective / self.counts.kept(), ..Sum::NONE };
        self.counts = Counts { before: self.counts.rows, discounted, ..self.counts };
        Ok(())
    }

    /// Replace the features by linear functions of them, as if all rows had been added with `A φ` for `φ`.
    /// `map` computes `A φ` in place and is called `c` times. `2c³` multiply-adds and the calls. The state
    /// must be settled.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the feature for a result of `map` that is not finite. The state is then
    /// unspecified.
    pub(crate) fn map_features(&mut self, mut map: impl FnMut(&mut [T])) -> Result<(), Error> {
        self.settled().known()?;
        self.counts.penalty = T::ZERO;
        self.copy_down(T::ONE).known()?;
        for (slot, &target) in self.solution.iter_mut().zip(self.targets.iter()) {
            *slot = target;
        }
        self.clear();
        for k in 0..self.dim {
            self.row.fill(T::ZERO);
            *self.row.get_mut(k).known()? = *self.diagonal.get(k).known()?;
            // Column k of the lower triangle is row k of the copy.
            for (j, slot) in self.row.iter_mut().enumerate().skip(k + 1) {
                *slot = *self.square.get(j * self.dim + k).known()?;
            }
            map(self.row);
            if let Some(column) = self.row.iter().position(|entry| !entry.is_finite()) {
                return Err(Error::NotFinite { row: row_number(self.counts.rows), column });
            }
            let target = *self.solution.get(k).known()?;
            let left = self.absorb(0, target).known()?;
            self.rss.add(left * left);
        }
        Ok(())
    }

    /// Replace the last feature `φ_c` of all rows by `ρ φ_c + √(1 - ρ²) ψ`, with `ψ` unknown, of mean 0 and
    /// of the mean square of `φ_c`: in expectation, `RᵀR` and `Qᵀy` are those of rows `ρ φ_c` and of one
    /// further row, of target 0. `2c` multiply-adds. The state must be settled.
    pub(crate) fn replace_last(&mut self, rho: T) -> Result<(), Error> {
        self.settled().known()?;
        let last = self.dim.saturating_sub(1);
        let mut squares = Sum::default();
        for row in self.square.chunks_exact_mut(self.dim.max(1)) {
            let entry = row.last_mut().known()?;
            squares.add(*entry * *entry);
            *entry *= rho;
        }
        let unknown = (T::ONE - rho * rho) * squares.total();
        self.row.fill(T::ZERO);
        *self.row.get_mut(last).known()? = if unknown > T::ZERO { unknown.sqrt() } else { T::ZERO };
        let left = self.absorb(last, T::ZERO).known()?;
        self.rss.add(left * left);
        Ok(())
    }

    /// Return what [`resume`](Self::resume) needs besides the memory.
    pub(crate) fn tally(&self) -> Tally<T> {
        Tally { counts: self.counts, rss: self.rss, noise: self.noise }
    }

    /// Continue with one target and `dim` features on memory that still holds their state. Without the square
    /// of earlier rows only what a settled state needs can be done, and what reads the last solution.
    pub(crate) fn resume(dim: usize, memory: RidgeMemory<'a, T>, tally: Tally<T>) -> Result<Self, Error> {
        let RidgeMemory { square, diagonal, targets: column, row, solution, earlier } = memory;
        Ok(Self {
            square: take(square, dim.saturating_mul(dim))?,
            diagonal: take(diagonal, dim)?,
            targets: take(column, dim)?,
            row: take(row, dim)?,
            solution: take(solution, dim)?,
            dim,
            counts: tally.counts,
            rss: tally.rss,
            noise: tally.noise,
            further: &mut [],
            earlier: Earlier::resume(earlier),
        })
    }

    /// Copy `R` of the recent rows, times `root`, to the lower triangle, transposed.
    #[must_use]
    fn copy_down(&mut self, root: T) -> Option<()> {
        for k in 0..self.dim {
            *self.diagonal.get_mut(k)? = root * *self.square.get(k * self.dim + k)?;
            for j in k + 1..self.dim {
                *self.square.get_mut(j * self.dim + k)? = root * *self.square.get(k * self.dim + j)?;
            }
        }
        Some(())
    }

    /// Return the triangle of the recent rows.
    fn level(&self) -> Level<'_, T> {
        Level::recent(self.square, self.targets, self.further)
    }

    /// Check that all rows are in one triangle, and that no discount is pending.
    fn settled(&self) -> Option<()> {
        (!self.is_apart() && self.counts.kept() == T::ONE).then_some(())
    }

    /// Rotate the working row, zero before entry `first`, into the triangle. Return what remains of its first
    /// target; the others are in their blocks.
    #[must_use]
    #[inline(never)]
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

    /// Merge what `other` has learned, as if its rows had been added here: all later results agree with one
    /// pass up to rounding. `c³` multiply-adds. In `f32` a merge rounds as much as folding 2¹⁵ rows does: a
    /// million merges do no harm.
    ///
    /// # Errors
    /// [`Error::Length`] when the numbers of features or of targets differ, [`Error::RowCount`] where both
    /// together are more than full ([`add_row`](Self::add_row)). The caller must ensure that they are
    /// features of the same landmarks ([`crate::digest`]).
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// let (mut memory, mut other) = (RidgeWorkspace::<f64, 1>::new(), RidgeWorkspace::<f64, 1>::new());
    /// let mut total = RidgeRegression::new(1, memory.lend())?;
    /// let mut device = RidgeRegression::new(1, other.lend())?;
    /// total.add(&[1.0], 2.0)?;
    /// device.add(&[1.0], 6.0)?;
    /// device.add(&[1.0], 7.0)?;
    /// total.merge(&device)?;
    /// assert_eq!(total.rows(), 3);
    /// assert!(total.solve(0.0)?.weights.iter().all(|weight| (weight - 5.0).abs() < 1e-14)); // the mean
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn merge(&mut self, other: &RidgeRegression<'_, T>) -> Result<(), Error> {
        check_length(self.dim, other.dim)?;
        check_length(self.targets(), other.targets())?;
        sum_of_rows(self.counts.rows, other.counts.rows).ok_or(Error::RowCount)?;
        let (own_rows, others_rows) = (self.effective_rows(), other.effective_rows());
        if own_rows + others_rows > T::from_rows(T::MOST_ROWS) {
            return Err(Error::RowCount);
        }
        self.gather().known()?;
        // From the other's units of weight to those here.
        let square = other.counts.kept() / self.counts.kept();
        let root = if square == T::ONE { T::ONE } else { square.sqrt() };
        if other.is_apart() {
            self.absorb_level(Some(other.earlier.level()), root).known()?;
        }
        self.absorb_level(Some(other.level()), root).known()?;
        let size = block(self.dim);
        self.rss.add(square * other.rss.total());
        for (own, block) in rows_of_mut(self.further, size).zip(rows_of(other.further, size)) {
            let [sum, lost, _] = own.get_mut(self.dim..).and_then(<[T]>::first_chunk_mut).known()?;
            let &[more, more_lost, _] = block.get(self.dim..).and_then(<[T]>::first_chunk).known()?;
            let mut rss = Sum { sum: *sum, lost: *lost };
            rss.add(square * (more + more_lost));
            (*sum, *lost) = (rss.sum, rss.lost);
        }
        self.counts.merge(other.counts, square);
        Ok(())
    }

    /// Return the state as numbers, which [`restore`](Self::restore) reads back bit for bit: the triangle `R`
    /// by rows, then for each target `Qᵀy` and the two parts of its residual sum of squares. Keep
    /// [`rows`](Self::rows) beside them. An accumulator that has forgotten also needs its effective rows:
    /// [`write_state`](Self::write_state) keeps all.
    ///
    /// # Errors
    /// [`Error::Unsettled`] after 2¹⁵ rows in `f32`, and after [`forget`](Self::forget), until
    /// [`settle`](Self::settle).
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// let (mut memory, mut other) = (RidgeWorkspace::<f32, 2>::new(), RidgeWorkspace::<f32, 2>::new());
    /// let mut ridge = RidgeRegression::new(2, memory.lend())?;
    /// ridge.add(&[1.0, 0.5], 2.0)?;
    ///
    /// let mut kept = [0.0; RidgeRegression::<f32>::numbers_kept(2)];
    /// kept.iter_mut().zip(ridge.numbers()?).for_each(|(slot, number)| *slot = number);
    /// let mut restored = RidgeRegression::new(2, other.lend())?;
    /// restored.restore(ridge.rows(), &kept)?;
    /// assert!(restored.numbers()?.eq(ridge.numbers()?));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn numbers(&self) -> Result<impl Iterator<Item = T>, Error> {
        self.settled().ok_or(Error::Unsettled)?;
        let rows = rows_of(self.square, self.dim).enumerate();
        let triangle = rows.flat_map(|(k, row)| row.iter().skip(k));
        let Sum { sum, lost } = self.rss;
        // Without the last of a block, which is scratch.
        let blocks = rows_of(self.further, block(self.dim)).flat_map(|block| block.iter().take(self.dim + 2));
        Ok(triangle.chain(self.targets.iter()).copied().chain([sum, lost]).chain(blocks.copied()))
    }

    /// Return how many [`numbers`](Self::numbers) there are for one target.
    pub const fn numbers_kept(dim: usize) -> usize {
        Self::numbers_kept_of(dim, 1)
    }

    /// Return how many [`numbers`](Self::numbers) there are for several targets.
    pub const fn numbers_kept_of(dim: usize, targets: usize) -> usize {
        dim * (dim + 1) / 2 + targets * (dim + 2)
    }

    /// Read back what [`numbers`](Self::numbers) returned: all later results are the same bit for bit. The
    /// present state is replaced.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are as many numbers as for these features and targets,
    /// [`Error::NotFinite`] with the position of one that is not, [`Error::RowCount`]. Nothing is changed
    /// then.
    pub fn restore(&mut self, rows: u64, numbers: &[T]) -> Result<(), Error> {
        check_length(Self::numbers_kept_of(self.dim, self.targets()), numbers.len())?;
        if let Some(column) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(Error::NotFinite { row: 0, column });
        }
        let rows = sum_of_rows(rows, 0).ok_or(Error::RowCount)?;
        self.take_back(Counts::of(rows), &mut numbers.iter().copied()).known()
    }

    /// Write what [`numbers`](Self::numbers) returns, of a regression that is settled.
    pub(crate) fn save(&self, writer: &mut Writer<'_>) {
        debug_assert!(self.settled().is_some(), "earlier rows would not be saved");
        for (k, row) in rows_of(self.square, self.dim).enumerate() {
            writer.numbers(row.get(k..).unwrap_or_default());
        }
        let Sum { sum, lost } = self.rss;
        writer.numbers(self.targets).numbers(&[sum, lost]);
        for block in rows_of(self.further, block(self.dim)) {
            writer.numbers(block.get(..self.dim + 2).unwrap_or_default());
        }
    }

    /// Read back what [`save`](Self::save) wrote.
    pub(crate) fn load(&mut self, counts: Counts<T>, mut bytes: &[u8]) {
        for (k, row) in rows_of_mut(self.square, self.dim).enumerate() {
            bytes = fill(row.get_mut(k..).unwrap_or_default(), bytes);
        }
        bytes = fill(self.targets, bytes);
        let mut ends = [T::ZERO; 2];
        bytes = fill(&mut ends, bytes);
        let [sum, lost] = ends;
        self.rss = Sum { sum, lost };
        for block in rows_of_mut(self.further, block(self.dim)) {
            bytes = fill(block.get_mut(..self.dim + 2).unwrap_or_default(), bytes);
        }
        self.counts = counts;
    }

    /// [`restore`](Self::restore) from the right number of finite numbers.
    #[must_use]
    pub(crate) fn take_back(
        &mut self,
        counts: Counts<T>,
        numbers: &mut impl Iterator<Item = T>,
    ) -> Option<()> {
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
        self.counts = counts;
        Some(())
    }
}

/// Return the sum of two numbers of rows; none for more than [`MOST_ROWS`].
fn sum_of_rows(one: u64, other: u64) -> Option<u64> {
    one.checked_add(other).filter(|&rows| rows <= MOST_ROWS)
}

/// The least effective number of rows that forgetting leaves.
const LEAST_ROWS: f64 = 0.0625;

/// The number of rows, and how much of them has been forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Counts<T> {
    /// All rows.
    pub(crate) rows: u64,
    /// Those that are in `discounted`.
    pub(crate) before: u64,
    /// Those that are in the triangle of recent rows; all, unless there are earlier ones.
    pub(crate) recent: u64,
    /// The effective number of `before`, in units of `Λ`.
    pub(crate) discounted: Sum<T>,
    /// `1 - Λ`, `Λ` above 1/4: what the accumulated rows must still be discounted by. All that is accumulated
    /// is in units of it.
    pub(crate) faded: Sum<T>,
    /// `λ` of the last solution; 0 where its triangle is not kept. It is here since it takes the place of
    /// padding.
    pub(crate) penalty: T,
}

impl<T: Scalar> Counts<T> {
    /// The zero of an accumulator without rows.
    pub(crate) const NONE: Self =
        Self { rows: 0, before: 0, recent: 0, discounted: Sum::NONE, faded: Sum::NONE, penalty: T::ZERO };

    fn of(rows: u64) -> Self {
        Self { rows, recent: rows, ..Self::NONE }
    }

    /// Return those of a state in which the first `before` rows count as `effective`.
    pub(crate) fn forgotten(rows: u64, before: u64, effective: T) -> Self {
        Self { before, discounted: Sum { sum: effective, ..Sum::NONE }, ..Self::of(rows) }
    }

    /// Return `Λ`.
    fn kept(self) -> T {
        (T::ONE - self.faded.sum) - self.faded.lost
    }

    /// Return the effective number of rows.
    fn effective(self) -> T {
        self.kept() * (self.discounted.total() + T::from_rows(self.rows.wrapping_sub(self.before)))
    }

    /// Return the weight of a further row in units of `Λ`, and its root.
    fn weight(self) -> (T, T) {
        let kept = self.kept();
        if kept == T::ONE { (kept, kept) } else { (T::ONE / kept, T::ONE / kept.sqrt()) }
    }

    /// Count a row of this weight.
    fn count(&mut self, rows: u64, weight: T) {
        if weight != T::ONE {
            self.discounted.add(weight);
            self.discounted.carry();
            self.before = rows;
        }
        self.recent = self.recent.wrapping_add(1);
        self.rows = rows;
    }

    /// Discount all rows. Return what `R` is to be multiplied by: a power of 1/2.
    fn discount(&mut self, mut lambda: T) -> T {
        self.close();
        let (quarter, half) = (T::from_f64(0.25), T::from_f64(0.5));
        let mut root = T::ONE;
        while lambda < quarter {
            lambda *= T::from_f64(4.0);
            root *= half;
        }
        // The product as a difference, whose rounding is relative to what is lost.
        self.faded.add(self.kept() * (T::ONE - lambda));
        if self.kept() <= quarter {
            let Sum { sum, lost } = self.faded.times(T::from_f64(4.0));
            self.faded = Sum { sum: sum - T::from_f64(3.0), lost };
            root *= half;
        }
        self.faded.carry();
        self.discounted = self.discounted.times(root * root);
        root
    }

    /// Apply `Λ`.
    fn settle(&mut self) {
        if self.faded != Sum::NONE || self.discounted.lost != T::ZERO {
            let sum = self.effective();
            *self =
                Self { before: self.rows, discounted: Sum { sum, ..Sum::NONE }, faded: Sum::NONE, ..*self };
        }
    }

    /// Take all rows into `discounted`.
    fn close(&mut self) {
        self.discounted.add(T::from_rows(self.rows.wrapping_sub(self.before)));
        self.before = self.rows;
    }

    /// Count those of another accumulator, whose units are `square` of those here. Their sum is not too
    /// large.
    fn merge(&mut self, other: Self, square: T) {
        let faded = self.faded != Sum::NONE || other.faded != Sum::NONE;
        let (mut own, mut other) = (*self, other);
        if faded {
            own.close();
            other.close();
        }
        own.discounted.add(square * other.discounted.total());
        own.rows = own.rows.wrapping_add(other.rows);
        own.before = own.before.wrapping_add(other.before);
        own.recent = own.rows;
        *self = own;
    }
}

/// The part of an accumulator's state that is not in its memory.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Tally<T> {
    pub(crate) counts: Counts<T>,
    pub(crate) rss: Sum<T>,
    pub(crate) noise: T,
}

impl<T: Scalar> Tally<T> {
    /// That of an accumulator without rows.
    pub(crate) const NONE: Self = Self { counts: Counts::NONE, rss: Sum::NONE, noise: T::ZERO };

    /// Return the number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.counts.rows
    }

    /// Return the effective number of rows.
    pub(crate) fn effective_rows(&self) -> T {
        self.counts.effective()
    }
}

// What follows is out of line, so that one target takes neither more stack nor more instructions.

/// Write a row's further targets, times `root`, into the last place of their blocks.
#[must_use]
#[inline(never)]
fn set_targets<T: Scalar>(further: &mut [T], dim: usize, targets: &[T], root: T) -> Option<()> {
    for (block, &target) in rows_of_mut(further, block(dim)).zip(targets) {
        *block.last_mut()? = root * target;
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
