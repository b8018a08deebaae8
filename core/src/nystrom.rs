//! The Nyström approximation `K̃ = K_{·,C} K_CC† K_{C,·}`.
//!
//! With `K_CC = L Lᵀ` the features `φ(x) = L⁻¹ k_C(x)` have `K̃(x, x') = φ(x)ᵀ φ(x')`. The residual
//! `k(x, x) - ‖φ(x)‖²` is the approximation error at `x`, and its sum over all rows is the trace error
//! `tr(K - K̃)`. Features cost `c` kernel entries and `c²/2` multiply-adds a row. So the whole approximation
//! is `O(n c² + c³)`, not the `O(n c³)` that the paper prints.
//!
//! # The pseudo-inverse
//!
//! `K̃` projects onto the span of the landmarks and does not depend on which of them span it. So a landmark
//! that depends on those before it ([`Error::NotPositive`] from [`crate::Landmarks::push`]) can be left out,
//! and `K̃` equals that of the pseudo-inverse: `φ` has as many entries as the numerical rank of `K_CC`.

use crate::error::{Error, Known};
use crate::ground_set::TryGroundSet;
use crate::krr::FeatureWeights;
use crate::landmarks::Landmarks;
use crate::memory::check_length;
use crate::scalar::{Scalar, Sum, dot};

/// The Nyström approximation from a set of landmarks.
///
/// ```
/// use dpp_nystrom_core::{Landmarks, Nystrom, Points, Workspace, kernel::Gaussian, start};
///
/// let rows = [0.0, 0.5, 1.0, 3.0];
/// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
/// let mut memory = Workspace::<f64, 2>::new();
/// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
/// start::given(&mut landmarks, &[0, 3])?;
///
/// let nystrom = Nystrom::new(&landmarks);
/// let mut phi = [0.0; 2];
/// assert!(nystrom.residual(0, &mut phi)? < 1e-15); // a landmark is reproduced exactly
/// assert!(nystrom.residual(2, &mut phi)? > 0.1);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Nystrom<'m, 'a, T, G: ?Sized> {
    landmarks: &'m Landmarks<'a, T, G>,
}

impl<'m, 'a, T: Scalar, G: TryGroundSet<T> + ?Sized> Nystrom<'m, 'a, T, G> {
    /// Create the approximation from these landmarks.
    pub fn new(landmarks: &'m Landmarks<'a, T, G>) -> Self {
        Self { landmarks }
    }

    /// Return the landmarks, in the order of the features.
    pub fn members(&self) -> &'m [usize] {
        self.landmarks.members()
    }

    /// Return the number of features, which is the number of independent landmarks.
    pub fn rank(&self) -> usize {
        self.landmarks.len()
    }

    /// Transform `k_C(x)`, the kernel of any point with the landmarks in their order, to `φ(x)`, in place.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is an entry per landmark.
    ///
    /// ```
    /// use dpp_nystrom_core::{Landmarks, Nystrom, Points, Workspace, kernel::Gaussian, start};
    ///
    /// let rows = [0.0, 0.5, 1.0, 3.0];
    /// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
    /// start::given(&mut landmarks, &[0, 3])?;
    /// let mut phi = [0.0; 2];
    /// ground.column_at(&[3.0], landmarks.members(), &mut phi)?; // k_C(x)
    /// Nystrom::new(&landmarks).transform(&mut phi)?;
    /// assert!((phi[0] * phi[0] + phi[1] * phi[1] - 1.0).abs() < 1e-15); // k(x, x) of a landmark
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn transform(&self, column: &mut [T]) -> Result<(), Error> {
        self.landmarks.factor().solve_lower(column)
    }

    /// Compute `φ` of row `i` of the ground set.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Length`] unless `phi` has an entry per landmark,
    /// [`Error::NotFinite`], and [`Error::Read`]: `phi` may then hold anything.
    ///
    /// ```
    /// use dpp_nystrom_core::{Landmarks, Nystrom, Points, Workspace, kernel::Gaussian, start};
    ///
    /// let rows = [0.0, 0.5, 1.0, 3.0];
    /// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
    /// start::given(&mut landmarks, &[0, 3])?;
    /// let mut phi = [0.0; 2];
    /// Nystrom::new(&landmarks).features(0, &mut phi)?;
    /// assert_eq!(phi, [1.0, 0.0]); // the first landmark
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn features(&self, i: usize, phi: &mut [T]) -> Result<(), Error> {
        let ground = self.landmarks.ground();
        if i >= ground.len() {
            return Err(Error::OutOfRange { index: i, len: ground.len() });
        }
        check_length(self.rank(), phi.len())?;
        ground.try_column(i, self.landmarks.members(), phi)?;
        self.features_at(i, phi)
    }

    /// Transform `k_C(x)` of any point to `φ(x)`, in place, after checking that it is finite. Errors name the
    /// point `i`.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is an entry per landmark, and [`Error::NotFinite`].
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Landmarks, Matrix, Nystrom, Workspace, start};
    ///
    /// let matrix = Matrix::new(&[4.0, 2.0, 2.0, 2.0])?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// start::given(&mut landmarks, &[0, 1])?;
    /// let nystrom = Nystrom::new(&landmarks);
    /// let mut phi = [6.0, 5.0]; // the kernel of a new point with both landmarks
    /// nystrom.features_at(70, &mut phi)?;
    /// assert_eq!(phi, [3.0, 2.0]);
    /// let refused = nystrom.features_at(70, &mut [6.0, f64::NAN]);
    /// assert_eq!(refused, Err(Error::NotFinite { row: 70, column: 1 }));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    // Out of line, so that its stack is not added to the caller's.
    #[inline(never)]
    pub fn features_at(&self, i: usize, column: &mut [T]) -> Result<(), Error> {
        check_length(self.rank(), column.len())?;
        if let Some(at) = column.iter().position(|entry| !entry.is_finite()) {
            return Err(Error::NotFinite { row: i, column: *self.landmarks.members().get(at).known()? });
        }
        self.transform(column)
    }

    /// Return `K̃(x, x')` from the features of both.
    ///
    /// # Errors
    /// [`Error::Length`] unless each has an entry per landmark.
    ///
    /// ```
    /// use dpp_nystrom_core::{GroundSet, Landmarks, Nystrom, Points, Workspace, kernel::Gaussian, start};
    ///
    /// let rows = [0.0, 0.5, 1.0, 3.0];
    /// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
    /// start::given(&mut landmarks, &[0, 3])?;
    /// let nystrom = Nystrom::new(&landmarks);
    /// let (mut phi, mut other) = ([0.0; 2], [0.0; 2]);
    /// nystrom.features(1, &mut phi)?;
    /// nystrom.features(3, &mut other)?;
    /// assert!((nystrom.entry(&phi, &other)? - ground.entry(1, 3)).abs() < 1e-15); // exact with a landmark
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn entry(&self, phi: &[T], other: &[T]) -> Result<T, Error> {
        check_length(self.rank(), phi.len())?;
        check_length(self.rank(), other.len())?;
        Ok(dot(phi, other))
    }

    /// Return the residual of row `i`, `k(i, i) - ‖φ(i)‖²`, at least zero. `phi` holds `φ(i)` afterwards.
    ///
    /// # Errors
    /// Those of [`features`](Self::features).
    pub fn residual(&self, i: usize, phi: &mut [T]) -> Result<T, Error> {
        self.features(i, phi)?;
        Ok(left(self.landmarks.ground().try_diagonal(i)?, phi))
    }

    /// Return the residual of any point from `k(x, x)` and `k_C(x)`. `column` holds `k_C(x)` before and
    /// `φ(x)` afterwards. Errors name the point `i`.
    ///
    /// # Errors
    /// Those of [`features_at`](Self::features_at).
    ///
    /// ```
    /// use dpp_nystrom_core::{Landmarks, Nystrom, Points, Workspace, kernel::Gaussian, start};
    ///
    /// let rows = [0.0, 0.5, 1.0, 3.0];
    /// let ground = Points::new(&rows, 1, Gaussian::new(1.0)?)?;
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
    /// start::given(&mut landmarks, &[0, 3])?;
    /// let mut column = [0.0; 2];
    /// ground.column_at(&[40.0], landmarks.members(), &mut column)?; // a point far from all rows
    /// assert_eq!(Nystrom::new(&landmarks).residual_at(4, 1.0, &mut column)?, 1.0);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn residual_at(&self, i: usize, diagonal: T, column: &mut [T]) -> Result<T, Error> {
        self.features_at(i, column)?;
        Ok(left(diagonal, column))
    }

    /// Return `tr(K - K̃)` over the ground set, one row at a time. `phi` is scratch for one row.
    ///
    /// # Errors
    /// Those of [`features`](Self::features).
    ///
    /// ```
    /// use dpp_nystrom_core::{Landmarks, Matrix, Nystrom, Workspace, start};
    ///
    /// let matrix = Matrix::new(&[4.0, 2.0, 2.0, 2.0])?;
    /// let mut memory = Workspace::<f64, 1>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// start::given(&mut landmarks, &[0])?;
    /// assert_eq!(Nystrom::new(&landmarks).trace_error(&mut [0.0])?, 1.0); // 0 and 2 - 2²/4
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn trace_error(&self, phi: &mut [T]) -> Result<T, Error> {
        let mut total = Sum::default();
        for i in 0..self.landmarks.ground().len() {
            total.add(self.residual(i, phi)?);
        }
        Ok(total.total())
    }

    /// Compute the weights of the kernel, `w = L⁻ᵀβ`, from those of the features: `k_C(x)ᵀw = φ(x)ᵀβ`. `c²/2`
    /// multiply-adds.
    ///
    /// # Errors
    /// [`Error::Length`] unless both have a weight per landmark, [`Error::NotFinite`] with the landmark (as
    /// its column) whose weight overflows. `weights` are then as before.
    ///
    /// ```
    /// use dpp_nystrom_core::{FeatureWeights, Landmarks, Matrix, Nystrom, Workspace, start};
    ///
    /// let matrix = Matrix::new(&[4.0, 2.0, 2.0, 2.0])?; // L = [2 0; 1 1]
    /// let mut memory = Workspace::<f64, 2>::new();
    /// let mut landmarks = Landmarks::new(&matrix, memory.lend())?;
    /// start::given(&mut landmarks, &[0, 1])?;
    /// let (mut beta, mut weights) = ([7.0, 3.0], [0.0; 2]);
    /// Nystrom::new(&landmarks).kernel_weights(FeatureWeights::new(&mut beta), &mut weights)?;
    /// assert_eq!(weights, [2.0, 3.0]); // Lᵀw = β
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn kernel_weights(&self, of_features: FeatureWeights<'_, T>, weights: &mut [T]) -> Result<(), Error> {
        check_length(self.rank(), of_features.len())?;
        check_length(self.rank(), weights.len())?;
        let values = of_features.into_values();
        self.landmarks.factor().solve_upper(values)?;
        if let Some(at) = values.iter().position(|weight| !weight.is_finite()) {
            let column = *self.landmarks.members().get(at).known()?;
            return Err(Error::NotFinite { row: column, column });
        }
        for (weight, &value) in weights.iter_mut().zip(values.iter()) {
            *weight = value;
        }
        Ok(())
    }
}

/// Return `k(x, x) - ‖φ(x)‖²`, at least zero.
pub(crate) fn left<T: Scalar>(diagonal: T, phi: &[T]) -> T {
    let residual = diagonal - dot(phi, phi);
    if residual > T::ZERO { residual } else { T::ZERO }
}

/// Return the novelty of a point: its residual, stretched so that it does not end at `k(x, x)`.
///
/// `s = k(x, x) ln(k(x, x)/‖φ(x)‖²)`, at least zero. With the residual `r` it is `-k ln(1 - r/k)`: the
/// residual where that is small, and of the same order as the residual under a kernel whose `k(x, x)` is
/// constant. But far from all landmarks, where `r` is `k(x, x)` up to rounding, it still grows with the
/// distance. None where `‖φ(x)‖²` is so small that it has lost digits: `novelty_beyond` is for those points.
pub(crate) fn novelty<T: Scalar>(diagonal: T, phi: &[T]) -> Option<T> {
    let represented = dot(phi, phi);
    // So it is for the zero of a linear kernel too.
    if represented >= diagonal {
        return Some(T::ZERO);
    }
    let share = represented / diagonal;
    if share >= T::SMALLEST / T::EPSILON { Some(-(diagonal * share.ln())) } else { None }
}

/// Return the novelty of a point that the landmarks represent in no digit, from its distance to the nearest
/// one: more than that of any other point with its `k(x, x)`.
pub(crate) fn novelty_beyond<T: Scalar>(diagonal: T, distance: T) -> T {
    let farthest = T::ONE / T::SMALLEST;
    let distance = if distance < farthest { distance } else { farthest };
    diagonal * ((T::ONE + distance).ln() - (T::SMALLEST / T::EPSILON).ln())
}

/// Return what a further landmark `z` would explain of the residual of `x`: `r(x, z)²/r(z, z)`, with `r(x, z)
/// = k(x, z) - φ(x)·φ(z)`.
pub(crate) fn explained<T: Scalar>(entry: T, of_row: &[T], of_landmark: &[T], residual: T) -> T {
    let left = entry - dot(of_landmark, of_row);
    left * left / residual
}

/// Whether the residual of a point is rounding error of `count` landmarks, as of a factor after a long chain
/// (`is_factored`).
pub(crate) fn is_rounding<T: Scalar>(residual: T, diagonal: T, count: usize) -> bool {
    !(residual > T::from_count(16 * (count + 1)) * T::EPSILON * diagonal)
}
