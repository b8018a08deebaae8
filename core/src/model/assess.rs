//! The reliability of a model's predictions: the distance of a row from the landmarks, the variance, and the
//! limits beyond which both are unusual.
//!
//! A model predicts for any `x`. Three numbers measure how reliable the prediction is, in the order of their
//! cost:
//!
//! | number | of a landmark | far from all | needs | cost |
//! | --- | --- | --- | --- | --- |
//! | distance to the nearest landmark, in standard deviations of the features, or as a map has it | 0 | grows | the model | `c d` |
//! | Nyström residual `k(x, x) - ‖φ(x)‖²` | 0 | `k(x, x)` | the factor | `c` kernel values, `c²/2` |
//! | variance of a new observation, in the target's units squared | that of the noise, times 1 + leverage | that of the prior | the factor and the triangle | `c²/2` more |
//!
//! (costs in multiply-adds beside those of the prediction.) [`Limits`] are their quantiles on rows that the
//! regression did not see.

use super::{Model, check_triangle};
use crate::cholesky::substitute;
use crate::error::{Error, Known};
use crate::kernel::Kernel;
use crate::krr::Solved;
use crate::memory::rows_of;
use crate::nystrom::left;
use crate::scalar::{Scalar, dot};

/// A prediction and its reliability.
///
/// ```
/// use dpp_nystrom_core::{Model, Parts, Scaling, kernel::Gaussian};
///
/// let parts = Parts {
///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[0.0], weights: &[1.5],
///     target_mean: 5.0, target_scale: 2.0,
/// };
/// let model = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
/// let assessment = model.assess(&[26.0], &mut [0.0])?;
/// assert_eq!(assessment.nearest, 3.0); // 6 units of 2 each
/// assert!(assessment.value < 5.1 && assessment.variance.is_none());
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Assessment<T> {
    /// The prediction, in the target's units.
    pub value: T,
    /// The distance to the nearest landmark, in standard deviations of the features, or as a map has it; in
    /// levels for a [`crate::QuantisedModel`]. Infinite where a feature that was constant in training has
    /// another value ([`Model::assess`]).
    pub nearest: T,
    /// The Nyström residual `k(x, x) - ‖φ(x)‖²`, where the factor is known.
    pub residual: Option<T>,
    /// The variance of a new observation, in the target's units squared, where the triangle of a solution is
    /// known.
    pub variance: Option<T>,
}

/// The fraction of rows beyond a limit, among rows that the regression did not see.
///
/// ```
/// use dpp_nystrom_core::{Limits, Model, Parts, Rarity, Scaling, kernel::Gaussian};
///
/// let parts = Parts {
///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[0.0], weights: &[1.5],
///     target_mean: 5.0, target_scale: 2.0,
/// };
/// let model = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
/// let limits = Limits { range: [2.0, 8.0], nearest: [0.5, 1.0, 2.0], residual: [0.2, 0.6, 0.9] };
/// let assessment = model.assess(&[23.0], &mut [0.0])?; // 1.5 deviations away
/// let novel = [Rarity::Half, Rarity::Tenth, Rarity::Hundredth].map(|rarity| limits.is_novel(&assessment, rarity));
/// assert_eq!(novel, [true, true, false]);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Rarity {
    /// One of two.
    Half,
    /// One of ten.
    Tenth,
    /// One of a hundred.
    Hundredth,
}

/// Typical ranges, measured at training time: the range of the target, and quantiles of an [`Assessment`] on
/// rows that the regression did not see. `dpp-nystrom` measures them.
///
/// ```
/// use dpp_nystrom_core::{Limits, include_model};
///
/// static MODEL: &[u8] = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/core/formats/sections.bin"));
/// let limits = Limits::from_bytes(MODEL)?.expect("exported with limits");
/// assert!(limits.range[0] <= limits.range[1] && limits.nearest.is_sorted());
/// assert_eq!(limits.clamp(1e9), limits.range[1]);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Limits<T> {
    /// The least and the greatest target.
    pub range: [T; 2],
    /// The distances that a half, a tenth and a hundredth of the rows exceed.
    pub nearest: [T; 3],
    /// The residuals that a half, a tenth and a hundredth of the rows exceed.
    pub residual: [T; 3],
}

impl<T: Scalar> Limits<T> {
    /// Return the value, clamped to the range of the training targets.
    ///
    /// ```
    /// use dpp_nystrom_core::Limits;
    ///
    /// let limits = Limits { range: [0.0_f32, 50.0], nearest: [0.5, 1.0, 2.0], residual: [0.01, 0.05, 0.2] };
    /// assert_eq!([-3.0, 7.0, 386.0].map(|value| limits.clamp(value)), [0.0, 7.0, 50.0]);
    /// ```
    pub fn clamp(&self, value: T) -> T {
        let [least, greatest] = self.range;
        if value < least {
            least
        } else if value > greatest {
            greatest
        } else {
            value
        }
    }

    /// Whether the distance or the residual of a row is beyond its limit. Among rows like those of training,
    /// this holds for less than twice the stated fraction.
    ///
    /// ```
    /// use dpp_nystrom_core::{Limits, Model, Parts, Rarity, Scaling, kernel::Gaussian};
    ///
    /// let parts = Parts {
    ///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[0.0], weights: &[1.5],
    ///     target_mean: 5.0, target_scale: 2.0,
    /// };
    /// let model = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
    /// let limits = Limits { range: [2.0, 8.0], nearest: [0.5, 1.0, 2.0], residual: [0.2, 0.6, 0.9] };
    /// let stuck_sensor = model.assess(&[85.0], &mut [0.0])?;
    /// assert!(limits.is_novel(&stuck_sensor, Rarity::Hundredth));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn is_novel(&self, assessment: &Assessment<T>, rarity: Rarity) -> bool {
        let limit = |[half, tenth, hundredth]: [T; 3]| match rarity {
            Rarity::Half => half,
            Rarity::Tenth => tenth,
            Rarity::Hundredth => hundredth,
        };
        assessment.nearest > limit(self.nearest)
            || assessment.residual.is_some_and(|residual| residual > limit(self.residual))
    }

    /// Whether all are finite and in order.
    pub(super) fn is_sound(&self) -> bool {
        let &Self { range: [least, greatest], nearest: [a, b, c], residual: [p, q, r] } = self;
        let ordered = least <= greatest && a <= b && b <= c && p <= q && q <= r;
        ordered && [least, greatest, a, c, p, r].into_iter().all(T::is_finite)
    }
}

/// The two triangles from which residuals and variances are computed, by rows (row i has i + 1 numbers), in
/// the order of the landmarks.
///
/// ```
/// use dpp_nystrom_core::{Assessor, Error, Model, Parts, Scaling, Solved, Uncertainty, kernel::Gaussian};
///
/// let parts = Parts {
///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[-1.0, 1.0], weights: &[0.3, 0.7],
///     target_mean: 5.0, target_scale: 2.0,
/// };
/// let model = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
/// let solved = Solved { penalty: 0.5, noise: 0.01 };
/// let uncertainty = Uncertainty { factor: &[1.0], triangle: &[10.0], solved }; // of one landmark, not two
/// let refused = Assessor::new(model, None, Some(uncertainty));
/// assert_eq!(refused.err(), Some(Error::Length { expected: 3, found: 1 }));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Uncertainty<'a, T> {
    /// `L`, with `LLᵀ = K_CC`: `c(c + 1)/2` numbers.
    pub factor: &'a [T],
    /// `Sᵀ` of the solution ([`crate::RidgeRegression::solved_triangle`]): `c(c + 1)/2` numbers.
    pub triangle: &'a [T],
    /// The penalty and the variance of the noise, in the regression's units. `dpp-nystrom` scales the noise
    /// so that 90 % of rows that the regression did not see are within 1.645 standard deviations.
    pub solved: Solved<T>,
}

impl<T: Scalar> Uncertainty<'_, T> {
    pub(super) fn is_sound(&self) -> bool {
        let numbers = || self.factor.iter().chain(self.triangle).copied();
        let pivots = |triangle| packed(triangle).all(|(_, pivot)| pivot > T::ZERO);
        let Solved { penalty, noise } = self.solved;
        numbers().all(T::is_finite)
            && pivots(self.factor)
            && pivots(self.triangle)
            && penalty > T::ZERO
            && noise >= T::ZERO
            && (penalty + noise).is_finite()
    }
}

/// The rows of a triangle, each with its entries before the pivot, and the pivot.
fn packed<T: Copy>(triangle: &[T]) -> impl Iterator<Item = (&[T], T)> {
    let mut rest = triangle;
    (1_usize..).map_while(move |length| {
        let (row, after) = rest.split_at_checked(length)?;
        rest = after;
        row.split_last().map(|(&pivot, entries)| (entries, pivot))
    })
}

/// A model with what is needed to measure the reliability of its predictions. The distance to the nearest
/// landmark needs the model alone ([`Model::assess`]).
///
/// ```
/// use dpp_nystrom_core::{Assessor, Limits, Model, Parts, Rarity, Scaling, Solved, Uncertainty};
/// use dpp_nystrom_core::kernel::Gaussian;
///
/// let parts = Parts {
///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[0.0], weights: &[1.5],
///     target_mean: 5.0, target_scale: 2.0,
/// };
/// let model = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
/// let limits = Limits { range: [2.0, 8.0], nearest: [0.5, 1.0, 2.0], residual: [0.2, 0.6, 0.9] };
/// let solved = Solved { penalty: 0.5, noise: 0.01 };
/// let uncertainty = Uncertainty { factor: &[1.0], triangle: &[10.0], solved };
/// let assessor = Assessor::new(model, Some(limits), Some(uncertainty))?;
///
/// let mut room = [0.0; 2]; // d + c
/// let known = assessor.assess(&[20.0], &mut room)?; // the landmark itself
/// assert_eq!((known.nearest, known.residual), (0.0, Some(0.0)));
/// assert!(!limits.is_novel(&known, Rarity::Half));
///
/// let far = assessor.assess(&[120.0], &mut room)?;
/// assert!(limits.is_novel(&far, Rarity::Hundredth));
/// let prior = 2.0_f32 * 2.0 * 0.01 * (1.0 / 0.5 + 1.0);
/// assert!((far.variance.unwrap_or(0.0) - prior).abs() < 1e-6);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Assessor<'a, T, K> {
    model: Model<'a, T, K>,
    limits: Option<Limits<T>>,
    uncertainty: Option<Uncertainty<'a, T>>,
}

impl<'a, T: Scalar, K: Kernel<T> + Copy> Assessor<'a, T, K> {
    /// Create the assessor from a model and the measurements at training time. Constant: in a static,
    /// triangles of another number of landmarks do not compile.
    ///
    /// # Errors
    /// [`Error::Length`] unless both triangles have `c(c + 1)/2` numbers.
    pub const fn new(
        model: Model<'a, T, K>,
        limits: Option<Limits<T>>,
        uncertainty: Option<Uncertainty<'a, T>>,
    ) -> Result<Self, Error> {
        if let Some(Uncertainty { factor, triangle, .. }) = uncertainty {
            let count = model.weights().len();
            if let Err(error) = check_triangle(count, factor.len()) {
                return Err(error);
            }
            if let Err(error) = check_triangle(count, triangle.len()) {
                return Err(error);
            }
        }
        Ok(Self { model, limits, uncertainty })
    }

    /// Return the model.
    pub const fn model(&self) -> &Model<'a, T, K> {
        &self.model
    }

    /// Return the limits.
    pub const fn limits(&self) -> Option<&Limits<T>> {
        self.limits.as_ref()
    }

    /// Predict a raw row and measure how reliable the prediction is. The prediction is that of
    /// [`Model::predict`], bit for bit. `room` is scratch: the model's [`width`](Model::width), and a number
    /// per landmark for residual and variance.
    ///
    /// # Errors
    /// Those of [`Model::predict`].
    pub fn assess(&self, raw: &[T], room: &mut [T]) -> Result<Assessment<T>, Error> {
        let mut assessment = self.model.assess(raw, room)?;
        let Some(Uncertainty { factor, triangle, solved }) = self.uncertainty else { return Ok(assessment) };
        let (dim, count, have) = (self.model.width(), self.model.weights().len(), room.len());
        let capacity = Error::Capacity { needed: dim.saturating_add(count), have };
        let (row, rest) = room.split_at_mut_checked(dim).ok_or(capacity)?;
        let phi = rest.get_mut(..count).ok_or(capacity)?;
        let kernel = self.model.kernel();
        for (slot, landmark) in phi.iter_mut().zip(rows_of(self.model.landmarks(), dim)) {
            *slot = kernel.value(landmark, row);
        }
        if !assessment.nearest.is_finite() {
            // A constant feature has another value: the landmarks know nothing of the row.
            phi.fill(T::ZERO);
        }
        substitute(packed(factor), phi).known()?;
        let residual = left(kernel.diagonal(row), phi);
        substitute(packed(triangle), phi).known()?;
        let scale = self.model.target_scale();
        assessment.residual = Some(residual);
        assessment.variance = Some(scale * scale * solved.variance(residual, dot(phi, phi)));
        Ok(assessment)
    }
}
