//! The weights of the features, and the error they leave.
//!
//! `β` are weights of the features `φ(x)`, `w = L⁻ᵀβ` weights of the kernel values `k_C(x)`. A prediction
//! from the wrong ones is a plausible number, so they have different types: `β` is a [`FeatureWeights`],
//! which no predictor takes, and [`crate::Nystrom::kernel_weights`] alone makes `w`, a slice, from it:
//!
//! ```compile_fail,E0308
//! use dpp_nystrom_core::{Predictor, RidgeRegression, RidgeWorkspace, kernel::Gaussian};
//!
//! let mut memory = RidgeWorkspace::<f32, 2>::new();
//! let mut ridge = RidgeRegression::new(2, memory.lend())?;
//! ridge.add(&[1.0, 0.5], 2.0)?;
//! let solution = ridge.solve(1e-3)?;
//! Predictor::new(Gaussian::new(1.0)?, &[0.0, 1.0], 1, solution.weights)?; // expected a slice: weights of the kernel
//! # Ok::<(), dpp_nystrom_core::Error>(())
//! ```

use super::RidgeRegression;
use super::levels::Level;
use crate::cholesky::substitute;
use crate::error::{Error, Known, row_number};
use crate::memory::{check_length, prefix, row, rows_of};
use crate::scalar::{Scalar, Sum, apply_givens, dot, rotation};

/// Weights `β` of the features: `f(x) = φ(x)ᵀβ`. [`crate::Nystrom::kernel_weights`] makes the weights of the
/// kernel, which predictions take, from them.
///
/// ```
/// use dpp_nystrom_core::FeatureWeights;
///
/// let mut numbers = [0.5, -2.0];
/// let weights = FeatureWeights::new(&mut numbers);
/// assert_eq!(weights.len(), 2);
/// assert_eq!(weights.iter().sum::<f64>(), -1.5);
/// ```
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FeatureWeights<'b, T> {
    values: &'b mut [T],
}

impl<'b, T: Scalar> FeatureWeights<'b, T> {
    /// Take these numbers as weights of the features, for example those of another accumulator's solution.
    pub fn new(values: &'b mut [T]) -> Self {
        Self { values }
    }

    /// Return the weights in the order of the features.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + Clone {
        self.values.iter().copied()
    }

    /// Return the number of weights.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Return the numbers, to work on.
    pub(crate) fn into_values(self) -> &'b mut [T] {
        self.values
    }
}

/// The result of [`RidgeRegression::solve`].
///
/// ```
/// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace, Solution};
///
/// let mut memory = RidgeWorkspace::<f64, 1>::new();
/// let mut ridge = RidgeRegression::new(1, memory.lend())?;
/// ridge.add(&[1.0], 1.0)?;
/// ridge.add(&[1.0], 3.0)?;
/// let Solution { weights, squared_error } = ridge.solve(0.0)?;
/// assert!(weights.iter().all(|weight| (weight - 2.0).abs() < 1e-15));
/// assert!((squared_error - 2.0).abs() < 1e-15); // (2 - 1)² + (2 - 3)²
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use]
pub struct Solution<'b, T> {
    /// The weights `β`, in the accumulator's memory.
    pub weights: FeatureWeights<'b, T>,
    /// `Σ (φ(x)ᵀβ - y)²` over the rows added: the training error.
    pub squared_error: T,
}

/// The error estimate of a solution, from which [variances](RidgeRegression::variance) follow.
///
/// ```
/// use dpp_nystrom_core::Solved;
///
/// let solved = Solved { penalty: 0.5, noise: 0.01 };
/// assert_eq!(solved.variance(0.0, 0.0), 0.01); // that of the noise
/// assert!((solved.variance(1.0, 0.0) - 0.03_f64).abs() < 1e-15); // far from all landmarks
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Solved<T> {
    /// `λ = Nγ`.
    pub penalty: T,
    /// The variance of the noise, `J/N`, with `J` the sum of the squared error and `λ‖β‖²`, for the target
    /// that was solved last.
    pub noise: T,
}

impl<T: Scalar> Solved<T> {
    /// Return the variance of a new observation from the Nyström residual and the leverage of its row.
    pub fn variance(&self, residual: T, leverage: T) -> T {
        self.noise * (residual / self.penalty + leverage + T::ONE)
    }
}

impl<T: Scalar> RidgeRegression<'_, T> {
    /// Compute the weights `β` of `min ‖Φβ - y‖² + Nγ‖β‖²` for the first target:
    /// [`solve_target`](Self::solve_target).
    ///
    /// # Errors
    /// Those of [`solve_target`](Self::solve_target).
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f64, 1>::new();
    /// let mut ridge = RidgeRegression::new(1, memory.lend())?;
    /// assert_eq!(ridge.solve(1.0).err(), Some(Error::NoRows));
    /// ridge.add(&[1.0], 4.0)?;
    /// assert!(ridge.solve(1.0)?.weights.iter().all(|weight| (weight - 2.0).abs() < 1e-15)); // 4/(1 + γ)
    /// assert_eq!(ridge.solve(-1.0).err(), Some(Error::Ridge));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn solve(&mut self, gamma: T) -> Result<Solution<'_, T>, Error> {
        self.solve_target(0, gamma)
    }

    /// Compute the weights `β` of `min ‖Φβ - y‖² + Nγ‖β‖²` for target `k`, with γ the regularisation `gamma`,
    /// and their squared error. Rows can be added afterwards. `c³/2` multiply-adds, in `f32` `c³` after 2¹⁵
    /// rows.
    ///
    /// The weights are in the accumulator's own memory. So after a failure the weights with which a device
    /// predicts are unchanged.
    ///
    /// # Errors
    /// [`Error::NoRows`] without effective rows, [`Error::Ridge`] unless γ is finite and not negative and
    /// `Nγ` does not underflow, [`Error::OutOfRange`] for the target, [`Error::NotPositive`] with the feature
    /// that the rows and the regularisation leave undetermined, and [`Error::NotFinite`] with the feature (as
    /// its column) whose weight overflows, or the number of features where the squared error does. Rows can
    /// still be added.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f64, 1>::new();
    /// let mut further = [0.0; RidgeRegression::<f64>::further_numbers(1, 2)];
    /// let mut ridge = RidgeRegression::with_targets(1, 2, memory.lend(), &mut further)?;
    /// ridge.add_row(&[1.0], &[4.0, -6.0])?;
    /// assert!(ridge.solve_target(1, 1.0)?.weights.iter().all(|weight| (weight + 3.0).abs() < 1e-15));
    /// assert_eq!(ridge.solve_target(2, 1.0).err(), Some(Error::OutOfRange { index: 2, len: 2 }));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn solve_target(&mut self, k: usize, gamma: T) -> Result<Solution<'_, T>, Error> {
        self.find(k, gamma)?;
        let squared_error = self.squared_error_at(k, self.solution)?;
        if !squared_error.is_finite() {
            return Err(Error::NotFinite { row: row_number(self.counts.rows), column: self.dim });
        }
        self.note(squared_error, gamma);
        Ok(Solution { weights: FeatureWeights::new(self.solution), squared_error })
    }

    /// Return the γ that maximises the likelihood of the first target, to pass to [`solve`](Self::solve). It
    /// uses only the rows that were added.
    ///
    /// It maximises the marginal likelihood of the Gaussian process behind the [variances](Self::variance)
    /// (Rasmussen and Williams, *Gaussian Processes for Machine Learning*, §5.4): with `J(λ)` the minimum of
    /// `‖Φβ - y‖² + λ‖β‖²`, and `s² = J/N`, the least
    ///
    /// `N ln J + ln det(ΦᵀΦ/λ + I)`
    ///
    /// over the `λ = Nγ` from `‖R‖²` down, a factor of 4 apart, to the least one; of equal ones the largest.
    /// Each costs `c³/2` multiply-adds and `c` logarithms, and there are at most 11. The last solution's
    /// triangle is lost.
    ///
    /// The least γ is 2⁻²⁰, 9.5·10⁻⁷, of the mean `‖φ‖²`; in [`crate::Learner::choose_gamma`] of the mean
    /// `k(z, z)` of the landmarks. Where targets have next to no noise, the likelihood alone takes γ down to
    /// the rounding error, and says nothing of rows that are unlike those added. Since `σ/(σ² + λ) ≤ 1/(2√λ)`
    /// for each singular value `σ` of `Φ`, `‖β‖ ≤ ‖y‖/(2√λ)`: with 2⁻²⁰ and `k(x, x) = 1` no prediction, of
    /// any row, is beyond 512 root mean squares of the targets, and its rounding error in `f32`, `√ε ‖β‖`, is
    /// below 0.18 of one. For exact targets a smaller γ can be passed to [`solve`](Self::solve).
    ///
    /// # Errors
    /// [`Error::NoRows`]; [`Error::NotPositive`] (of pivot 0) where all features of all rows are 0, or their
    /// squares underflow or overflow: add rows nearer to the landmarks; [`Error::NotFinite`] with the number
    /// of rows and of features where the squares of the targets overflow. [`solve`](Self::solve) accepts what
    /// is returned, as long as no rows are added.
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// // A line through noise of deviation .1, and through noise alone.
    /// let mut gammas = [1.0, 0.0].map(|slope| {
    ///     let mut memory = RidgeWorkspace::<f64, 1>::new();
    ///     let mut ridge = RidgeRegression::new(1, memory.lend())?;
    ///     for at in 0..100 {
    ///         let (x, noise) = (f64::from(at % 10) / 10.0, if at * 7 % 3 == 0 { 0.2 } else { -0.1 });
    ///         ridge.add(&[x], slope * x + noise)?;
    ///     }
    ///     ridge.choose_gamma()
    /// });
    /// let [line, noise] = [gammas[0]?, gammas[1]?];
    /// assert!(line < 0.02 && noise > 0.1);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn choose_gamma(&mut self) -> Result<T, Error> {
        self.choose_gamma_of(T::ZERO)
    }

    /// [`choose_gamma`](Self::choose_gamma) with the mean `k(x, x)` of rows, or 0 for the mean `‖φ‖²`.
    pub(crate) fn choose_gamma_of(&mut self, diagonal: T) -> Result<T, Error> {
        let count = self.effective_rows();
        if !(count > T::ZERO) {
            return Err(Error::NoRows);
        }
        let [joined, _] = self.penalised_copy(0, T::ZERO)?;
        let rest = self.counts.kept() * self.rss.total() + joined;
        let squares = self
            .penalised()
            .fold(T::ZERO, |sum, (entries, pivot)| sum + dot(entries, entries) + pivot * pivot);
        let scale = if diagonal > T::ZERO { count * diagonal } else { squares };
        if !(scale > T::ZERO && scale.is_finite() && squares.is_finite()) {
            return Err(Error::NotPositive { pivot: 0 });
        }
        // The second: neither γ nor `Nγ` loses digits to underflow.
        let least_normal = T::SMALLEST / T::EPSILON * larger(count, T::ONE);
        let smallest = larger(T::from_f64(LEAST_GAMMA) * scale, least_normal);
        let mut penalty = larger(squares, smallest);
        let (mut best, mut least) = (penalty, self.unlikelihood(penalty)?);
        // The largest `J`, which is at least the squared error of any solution.
        if !(rest + least[0]).is_finite() {
            return Err(Error::NotFinite { row: row_number(self.counts.rows), column: self.dim });
        }
        while penalty > smallest {
            penalty = larger(penalty / T::from_count(4), smallest);
            let [left, volume] = self.unlikelihood(penalty)?;
            // In differences: for 10⁸ rows in `f32` those of `N ln J` are below its rounding error.
            let [before, volume_before] = least;
            let change = (left - before) / (rest + before);
            if count * log_of_one_and(change) + (volume - volume_before) < T::ZERO {
                (best, least) = (penalty, [left, volume]);
            }
        }
        Ok(best / count)
    }

    /// Return the part of `J(λ)` that the penalty adds, and `ln det(ΦᵀΦ/λ + I)`.
    #[inline(never)]
    fn unlikelihood(&mut self, penalty: T) -> Result<[T; 2], Error> {
        let root = penalty.sqrt();
        let [_, left] = self.penalised_copy(0, root)?;
        let logs = self.diagonal.iter().fold(T::ZERO, |sum, &pivot| sum + (pivot / root).ln());
        Ok([left, logs + logs])
    }

    /// Return the error estimate of the last solution; none where [`variance`](Self::variance) is an error.
    pub fn solved(&self) -> Option<Solved<T>> {
        let solved = Solved { penalty: self.counts.penalty, noise: self.noise };
        (solved.penalty > T::ZERO).then_some(solved)
    }

    /// Return the triangle of the last solution, transposed: `Sᵀ` by rows, `c(c + 1)/2` numbers, with
    /// `SᵀS = ΦᵀΦ + λI`. Meaningless where [`solved`](Self::solved) is none.
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f64, 1>::new();
    /// let mut ridge = RidgeRegression::new(1, memory.lend())?;
    /// assert_eq!(ridge.solved(), None);
    /// ridge.add(&[3.0], 1.0)?;
    /// let _ = ridge.solve(16.0)?; // S² = 3² + 16
    /// assert!(ridge.solved_triangle().all(|pivot| (pivot - 5.0).abs() < 1e-14));
    /// assert_eq!(ridge.solved().map(|solved| solved.penalty), Some(16.0));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn solved_triangle(&self) -> impl Iterator<Item = T> {
        self.penalised().flat_map(|(entries, pivot)| entries.iter().copied().chain([pivot]))
    }

    /// The rows of `Sᵀ`, each with its entries before the pivot, and the pivot.
    fn penalised(&self) -> impl Iterator<Item = (&[T], T)> {
        let rows = rows_of(self.square, self.dim).zip(self.diagonal.iter()).enumerate();
        rows.map(|(k, (row, &pivot))| (prefix(row, k), pivot))
    }

    /// Return the leverage `h = ‖S⁻ᵀφ‖²` of a row in the last solution, from its features `φ`, which are
    /// overwritten. `c²/2` multiply-adds.
    ///
    /// For a row that was learned it is the diagonal of the hat matrix: its residual in a regression without
    /// it, and with the same `λ`, is that in this one over `1 - h`.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a number per feature, [`Error::Unsolved`].
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f64, 1>::new();
    /// let mut ridge = RidgeRegression::new(1, memory.lend())?;
    /// for target in [1.0, 2.0, 6.0] {
    ///     ridge.add(&[1.0], target)?;
    /// }
    /// let _ = ridge.solve(1e-12)?;
    /// assert!((ridge.leverage(&mut [1.0])? - 1.0 / 3.0).abs() < 1e-9); // one of three equal rows
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn leverage(&self, phi: &mut [T]) -> Result<T, Error> {
        self.solved().ok_or(Error::Unsolved)?;
        check_length(self.dim, phi.len())?;
        substitute(self.penalised(), phi).known()?;
        Ok(dot(phi, phi))
    }

    /// Return the variance of a new observation, in the squared units of the target, as of the last solution:
    /// rows that were added since then do not count. `phi` holds the row's features and is overwritten;
    /// `residual` is [`crate::Nystrom::residual`]. `c²/2` multiply-adds.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f64, 1>::new();
    /// let mut ridge = RidgeRegression::new(1, memory.lend())?;
    /// for target in [0.9, 1.1] {
    ///     ridge.add(&[1.0], target)?;
    /// }
    /// assert_eq!(ridge.variance(0.0, &mut [1.0]), Err(Error::Unsolved));
    /// let _ = ridge.solve(0.01)?; // λ = 0.02
    /// let (known, unknown) = (ridge.variance(0.0, &mut [1.0])?, ridge.variance(1.0, &mut [0.0])?);
    /// assert!((unknown / known - (1.0 / 0.02 + 1.0) / (1.0 / 2.02 + 1.0)).abs() < 1e-9);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`leverage`](Self::leverage).
    pub fn variance(&self, residual: T, phi: &mut [T]) -> Result<T, Error> {
        let solved = self.solved().ok_or(Error::Unsolved)?;
        Ok(solved.variance(residual, self.leverage(phi)?))
    }

    /// Store the error estimate of the solution. Out of line, for the same reason as the parts of
    /// [`find`](Self::find).
    #[inline(never)]
    fn note(&mut self, squared_error: T, gamma: T) {
        let count = self.effective_rows();
        let penalty = count * gamma;
        let noise = (squared_error + penalty * dot(self.solution, self.solution)) / count;
        if noise.is_finite() {
            (self.counts.penalty, self.noise) = (penalty, noise);
        }
    }

    /// Compute the weights in `solution`. Its parts are out of line, as the squared error: each is rare and
    /// needs its own stack.
    fn find(&mut self, k: usize, gamma: T) -> Result<(), Error> {
        if !(self.effective_rows() > T::ZERO) {
            return Err(Error::NoRows);
        }
        if !(gamma >= T::ZERO && gamma.is_finite()) {
            return Err(Error::Ridge);
        }
        let penalty = self.effective_rows() * gamma;
        if gamma > T::ZERO && !(penalty >= T::SMALLEST) {
            return Err(Error::Ridge);
        }
        let penalty = penalty.sqrt();
        self.penalised_copy(k, penalty)?;
        self.substitute_back(penalty)
    }

    /// Compute the weights in `solution` from the copy, with whose rows `penalty` was.
    #[inline(never)]
    fn substitute_back(&mut self, penalty: T) -> Result<(), Error> {
        // With a penalty every pivot is at least that large, whatever the rows.
        let floor = if penalty > T::ZERO { T::ZERO } else { self.rounding_of_pivots() };
        if let Some(pivot) = self.diagonal.iter().position(|&pivot| !(pivot > floor)) {
            return Err(Error::NotPositive { pivot });
        }
        for k in (0..self.dim).rev() {
            let (before, rest) = self.solution.split_at_mut_checked(k).known()?;
            let weight = rest.first_mut().known()?;
            let entries = row(self.square, self.dim, k, k).known()?;
            *weight /= *self.diagonal.get(k).known()?;
            for (before, &entry) in before.iter_mut().zip(entries) {
                *before -= entry * *weight;
            }
        }
        if let Some(column) = self.solution.iter().position(|weight| !weight.is_finite()) {
            return Err(Error::NotFinite { row: row_number(self.counts.rows), column });
        }
        Ok(())
    }

    /// Compute the copy of the triangle of all rows with the rows `penalty · e_i`, and `Qᵀy` of target `k` in
    /// `solution` with them. Return the sums of squares that the earlier rows and the penalty leave: with
    /// that of the target they are the least `‖Φβ - y‖² + penalty² ‖β‖²`. The last solution's triangle is
    /// lost.
    fn penalised_copy(&mut self, k: usize, penalty: T) -> Result<[T; 2], Error> {
        let kept = self.counts.kept();
        let root = if kept == T::ONE { kept } else { kept.sqrt() };
        self.copy_recent(k, root)?;
        let joined = if self.is_apart() { self.join(Some(k), root)? } else { T::ZERO };
        let left = if penalty > T::ZERO { self.join(None, penalty)? } else { T::ZERO };
        Ok([joined, left])
    }

    /// Compute the copy of the triangle of the recent rows, and `Qᵀy` of target `k` in `solution`, times
    /// `root`.
    #[inline(never)]
    fn copy_recent(&mut self, k: usize, root: T) -> Result<(), Error> {
        let recent = Level::recent(self.square, self.targets, self.further);
        let (targets, _) = target(recent, self.rss, self.dim, k)?;
        for (weight, &target) in self.solution.iter_mut().zip(targets) {
            *weight = root * target;
        }
        self.counts.penalty = T::ZERO;
        self.copy_down(root).known()
    }

    /// Return the rounding error of the copy's pivots.
    fn rounding_of_pivots(&self) -> T {
        let largest = self.diagonal.iter().fold(T::ZERO, |most, &pivot| larger(pivot, most));
        T::from_count(self.dim) * T::EPSILON * largest
    }

    /// Rotate rows into the copy of the triangle and `solution`: those of the earlier triangle with target
    /// `k`, or without one `e_i`, all times `root`. Return the sum of the squares that remain of the targets.
    #[inline(never)]
    fn join(&mut self, earlier: Option<usize>, root: T) -> Result<T, Error> {
        let mut squares = T::ZERO;
        for i in 0..self.dim {
            let target = if let Some(k) = earlier {
                let level = self.earlier.level();
                level.copy_row(self.row, i, root).known()?;
                let (targets, _) = target(level, self.rss, self.dim, k)?;
                root * *targets.get(i).known()?
            } else {
                self.row.fill(T::ZERO);
                *self.row.get_mut(i).known()? = root;
                T::ZERO
            };
            let left = self.absorb_into_copy(i, target).known()?;
            squares += left * left;
        }
        Ok(squares)
    }

    /// Rotate the working row, from entry `first` on, and its target into the copy of the triangle and
    /// `solution`. Return what remains of the target.
    #[must_use]
    fn absorb_into_copy(&mut self, first: usize, target: T) -> Option<T> {
        let mut left = target;
        for k in first..self.dim {
            let (pivot, lead) = (self.diagonal.get_mut(k)?, *self.row.get(k)?);
            let (rotation, rotated_pivot) = rotation(*pivot, lead);
            *pivot = rotated_pivot;
            // Column k of the lower triangle is row k of the copy.
            for (j, carried) in self.row.iter_mut().enumerate().skip(k + 1) {
                let entry = self.square.get_mut(j * self.dim + k)?;
                *entry = apply_givens(*entry, carried, rotation);
            }
            let target = self.solution.get_mut(k)?;
            *target = apply_givens(*target, &mut left, rotation);
        }
        Some(left)
    }

    /// Return the squared error of the first target: [`squared_error_of`](Self::squared_error_of).
    ///
    /// # Errors
    /// Those of [`squared_error_of`](Self::squared_error_of).
    ///
    /// ```
    /// use dpp_nystrom_core::{RidgeRegression, RidgeWorkspace};
    ///
    /// let (mut memory, mut other) = (RidgeWorkspace::<f64, 1>::new(), RidgeWorkspace::<f64, 1>::new());
    /// let mut training = RidgeRegression::new(1, memory.lend())?;
    /// let mut held_out = RidgeRegression::new(1, other.lend())?;
    /// training.add(&[1.0], 2.0)?;
    /// held_out.add(&[1.0], 2.5)?;
    /// held_out.add(&[2.0], 3.0)?;
    /// let solution = training.solve(0.0)?;
    /// assert!((held_out.squared_error(&solution.weights)? - 1.25).abs() < 1e-14); // 0.5² + 1²
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn squared_error(&self, weights: &FeatureWeights<'_, T>) -> Result<T, Error> {
        self.squared_error_of(0, weights)
    }

    /// Return `Σ (φ(x)ᵀβ - y)²` of target `k` over the rows added, from the accumulator alone: the error on a
    /// fold that was held out of the accumulator that solved for these weights. `c²/2` multiply-adds.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a weight per feature, [`Error::OutOfRange`] for the target.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, FeatureWeights, RidgeRegression, RidgeWorkspace};
    ///
    /// let mut memory = RidgeWorkspace::<f64, 1>::new();
    /// let mut further = [0.0; RidgeRegression::<f64>::further_numbers(1, 2)];
    /// let mut ridge = RidgeRegression::with_targets(1, 2, memory.lend(), &mut further)?;
    /// ridge.add_row(&[1.0], &[4.0, -6.0])?;
    /// let mut zero = [0.0];
    /// let weights = FeatureWeights::new(&mut zero);
    /// assert_eq!((ridge.squared_error_of(0, &weights)?, ridge.squared_error_of(1, &weights)?), (16.0, 36.0));
    /// assert_eq!(ridge.squared_error_of(2, &weights), Err(Error::OutOfRange { index: 2, len: 2 }));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn squared_error_of(&self, k: usize, weights: &FeatureWeights<'_, T>) -> Result<T, Error> {
        self.squared_error_at(k, weights.values)
    }

    /// Return `Σ (φ(x)ᵀa)²` over the rows added, for a direction `a`.
    pub(crate) fn squares_along(&self, direction: &[T]) -> Result<T, Error> {
        let mut total = Sum::default();
        let earlier = self.is_apart().then(|| self.earlier.level());
        for level in [self.level()].into_iter().chain(earlier) {
            for k in 0..self.dim {
                let (pivot, entries) = level.row(self.dim, k).known()?;
                let (&first, others) = direction.get(k..).and_then(<[T]>::split_first).known()?;
                let along = pivot * first + dot(entries, others);
                total.add(along * along);
            }
        }
        Ok(self.counts.kept() * total.total())
    }

    #[inline(never)]
    fn squared_error_at(&self, k: usize, weights: &[T]) -> Result<T, Error> {
        check_length(self.dim, weights.len())?;
        let (_, mut total) = target(self.level(), self.rss, self.dim, k)?;
        let earlier = self.is_apart().then(|| self.earlier.level());
        for level in [self.level()].into_iter().chain(earlier) {
            let (targets, _) = target(level, self.rss, self.dim, k)?;
            for (k, &target) in targets.iter().enumerate() {
                let (pivot, entries) = level.row(self.dim, k).known()?;
                let (&first, weights) = weights.get(k..).and_then(<[T]>::split_first).known()?;
                let mut left = pivot * first - target;
                for (&entry, &weight) in entries.iter().zip(weights) {
                    left += entry * weight;
                }
                total.add(left * left);
            }
        }
        Ok(self.counts.kept() * total.total())
    }
}

/// The least γ that is chosen, as a share of the mean `k(x, x)`: [`RidgeRegression::choose_gamma`] says why.
const LEAST_GAMMA: f64 = 1.0 / 1_048_576.0;

fn larger<T: Scalar>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// Return `ln(1 + u)`, also for a small `u` (Higham, *Accuracy and Stability of Numerical Algorithms*,
/// §1.14.1).
fn log_of_one_and<T: Scalar>(u: T) -> T {
    let sum = T::ONE + u;
    if sum == T::ONE { u } else { sum.ln() * u / (sum - T::ONE) }
}

/// Return `Qᵀy` and, of the recent rows' blocks, the residual sum of squares of target `k`.
fn target<T: Scalar>(
    level: Level<'_, T>,
    first: Sum<T>,
    dim: usize,
    k: usize,
) -> Result<(&[T], Sum<T>), Error> {
    if k == 0 { Ok((level.targets, first)) } else { further_target(level, dim, k) }
}

#[inline(never)]
fn further_target<T: Scalar>(level: Level<'_, T>, dim: usize, k: usize) -> Result<(&[T], Sum<T>), Error> {
    let width = level.width(dim);
    let none = Error::OutOfRange { index: k, len: 1 + level.further.len().checked_div(width).unwrap_or(0) };
    let block = rows_of(level.further, width).nth(k.wrapping_sub(1)).ok_or(none)?;
    let (column, rest) = block.split_at_checked(dim).known()?;
    // Blocks of earlier rows have none.
    let &[sum, lost] = rest.first_chunk().unwrap_or(&[T::ZERO; 2]);
    Ok((column, Sum { sum, lost }))
}
