//! A trained model in flash: it takes raw rows and returns predictions in the target's units.
//!
//! `y(x) = mean + scale · f(z)`, `z_i = (x_i - mean_i) · scale_i`, with `f` of [`Predictor`]. `scale_i` is
//! one over the feature's standard deviation, or 0 for a constant feature: a multiplication, since a division
//! is slow on many processors. With a learned map, `z = B (x - mean)` has fewer coordinates than features
//! ([`Scaling`]).
//!
//! The parts are borrowed and used in place. They come from a static in the program, which is checked at
//! compile time ([`Model::new`] is constant), or from bytes ([`Model::from_bytes`]) in a flash partition that
//! is written separately or in the program ([`include_model!`](crate::include_model)). `dpp-nystrom export`
//! writes both.

mod assess;
mod bytes;
mod include;
mod outputs;
mod scaling;

pub use assess::{Assessment, Assessor, Limits, Rarity, Uncertainty};
pub(crate) use bytes::{Content, Extras, Kind, open};
pub use include::ModelBytes;
pub use outputs::{Class, Further, Outputs};
pub use scaling::Scaling;
pub(crate) use scaling::{changed, refusal, rounding, standardise};

use crate::cholesky::Cholesky;
use crate::digest::digest;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::memory::check_length;
use crate::predictor::Predictor;
use crate::scalar::Scalar;

/// The parts of a [`Model`], in the order of its byte format.
///
/// ```
/// use dpp_nystrom_core::{Error, Model, Parts, Scaling, kernel::Gaussian};
///
/// let parts = Parts {
///     means: &[20.0, 50.0],
///     scaling: Scaling::PerFeature(&[0.5, 0.1]),
///     landmarks: &[0.0, 0.0, 1.0, 1.0], // two of two coordinates
///     weights: &[0.3, 0.7],
///     target_mean: 5.0,
///     target_scale: 2.0,
/// };
/// assert!(Model::new(Gaussian::new(1.0_f32)?, parts).is_ok());
/// let short = Parts { landmarks: &[0.0, 0.0, 1.0], ..parts };
/// let refused = Model::new(Gaussian::new(1.0_f32)?, short);
/// assert_eq!(refused.err(), Some(Error::Length { expected: 4, found: 3 }));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Parts<'a, T> {
    /// The features' means.
    pub means: &'a [T],
    /// The scaling of the differences from the means: one factor per feature, or a map.
    pub scaling: Scaling<'a, T>,
    /// The landmarks' scaled coordinates, one landmark after the other.
    pub landmarks: &'a [T],
    /// A weight for each landmark.
    pub weights: &'a [T],
    /// The target's mean.
    pub target_mean: T,
    /// The target's standard deviation.
    pub target_scale: T,
}

/// A trained model that takes raw rows. It borrows its parts and copies nothing.
///
/// ```
/// use dpp_nystrom_core::{Model, Parts, Scaling, kernel::Gaussian};
///
/// static MODEL: Model<'static, f32, Gaussian<f32>> = {
///     let Ok(kernel) = Gaussian::from_exponent(-0.5) else { panic!("a positive bandwidth") };
///     let parts = Parts {
///         means: &[20.0, 1_000.0],
///         scaling: Scaling::PerFeature(&[0.2, 0.05]),
///         landmarks: &[0.0, 0.0, 1.0, 1.0],
///         weights: &[1.0, -1.0],
///         target_mean: 7.0,
///         target_scale: 2.0,
///     };
///     match Model::new(kernel, parts) {
///         Ok(model) => model,
///         Err(_) => panic!("parts that fit each other"),
///     }
/// };
///
/// // Half way between the two landmarks.
/// let prediction = MODEL.predict(&[22.5, 1_010.0], &mut [0.0; 2])?;
/// assert!((prediction - 7.0).abs() < 1e-6);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Model<'a, T, K> {
    predictor: Predictor<'a, T, K>,
    means: &'a [T],
    scaling: Scaling<'a, T>,
    target_mean: T,
    target_scale: T,
}

impl<'a, T: Scalar, K: Kernel<T> + Copy> Model<'a, T, K> {
    /// Create the model from its parts. Constant: in a static, inconsistent parts do not compile.
    ///
    /// # Errors
    /// [`Error::Empty`] for no features, no coordinates or no weights, [`Error::Length`] unless there are as
    /// many scales as means, or rows of a map as long as these and no more of them, and that number times
    /// `weights` numbers of landmarks.
    pub const fn new(kernel: K, parts: Parts<'a, T>) -> Result<Self, Error> {
        let Parts { means, scaling, landmarks, weights, target_mean, target_scale } = parts;
        let width = match scaling.width(means.len()) {
            Ok(width) => width,
            Err(error) => return Err(error),
        };
        if let Err(error) = check_landmarks(width, landmarks.len(), weights.len()) {
            return Err(error);
        }
        let predictor = Predictor::of_checked(kernel, landmarks, width, weights);
        Ok(Self { predictor, means, scaling, target_mean, target_scale })
    }

    /// Return the number of features of a row.
    pub const fn features(&self) -> usize {
        self.means.len()
    }

    /// Return the number of coordinates of a standardised row, and of a landmark: that of features, or the
    /// rank of a map.
    pub const fn width(&self) -> usize {
        self.predictor.width()
    }

    /// Return the standardised landmarks, [`width`](Self::width) numbers each.
    pub const fn landmarks(&self) -> &'a [T] {
        self.predictor.landmarks()
    }

    /// Return the weights of the kernel, one for each landmark.
    pub const fn weights(&self) -> &'a [T] {
        self.predictor.weights()
    }

    /// Return the features' means.
    pub const fn means(&self) -> &'a [T] {
        self.means
    }

    /// Return the scaling that is applied to the features after their means are subtracted.
    pub const fn scaling(&self) -> Scaling<'a, T> {
        self.scaling
    }

    /// Return the target's mean.
    pub const fn target_mean(&self) -> T {
        self.target_mean
    }

    /// Return the target's standard deviation.
    pub const fn target_scale(&self) -> T {
        self.target_scale
    }

    /// Return this model with other weights of the kernel: for example those that a device has learned on its
    /// landmarks, from [`crate::Nystrom::kernel_weights`]. Predictions remain in the target's units.
    ///
    /// ```
    /// use dpp_nystrom_core::{Model, Parts, Scaling, kernel::Gaussian};
    ///
    /// let parts = Parts {
    ///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[-1.0, 1.0], weights: &[0.3, 0.7],
    ///     target_mean: 5.0, target_scale: 2.0,
    /// };
    /// let model = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
    /// let learned = [0.0, 0.0];
    /// assert_eq!(model.with_weights(&learned)?.predict(&[21.0], &mut [0.0])?, 5.0);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a weight for each landmark.
    pub fn with_weights<'w>(&self, weights: &'w [T]) -> Result<Model<'w, T, K>, Error>
    where
        'a: 'w,
    {
        check_length(self.weights().len(), weights.len())?;
        let predictor = Predictor::of_checked(self.kernel(), self.landmarks(), self.width(), weights);
        Ok(Model { predictor, ..*self })
    }

    /// Return the kernel.
    pub const fn kernel(&self) -> K {
        self.predictor.kernel()
    }

    /// Standardise a raw row into the first [`width`](Self::width) elements of `room`, and return them: the
    /// coordinates that the landmarks have.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict).
    ///
    /// ```
    /// use dpp_nystrom_core::{Model, Parts, Scaling, kernel::Gaussian};
    ///
    /// let parts = Parts {
    ///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[0.0], weights: &[1.0],
    ///     target_mean: 5.0, target_scale: 2.0,
    /// };
    /// let model = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
    /// assert_eq!(model.standardise(&[23.0], &mut [0.0])?, [1.5]);
    /// assert_eq!(model.standard_target(9.0), 2.0);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn standardise<'r>(&self, raw: &[T], room: &'r mut [T]) -> Result<&'r [T], Error> {
        check_length(self.features(), raw.len())?;
        let have = room.len();
        let row = room.get_mut(..self.width()).ok_or(Error::Capacity { needed: self.width(), have })?;
        match self.scaling.apply(raw, self.means, row) {
            None => Ok(row),
            Some(column) => Err(refusal(raw, 0, column)),
        }
    }

    /// Convert a target to the units that [`crate::RidgeRegression`] learns in, the inverse of
    /// [`predict`](Self::predict). Return 0 for a constant target.
    pub fn standard_target(&self, target: T) -> T {
        standard_target(target, self.target_mean, self.target_scale)
    }

    /// Return the digest of this model's landmarks with this factor ([`crate::digest`]). All devices of a
    /// fleet that learns on one model have the same.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Landmarks, Model, Nystrom, Parts, Points, RidgeRegression, RidgeWorkspace, Scaling};
    /// use dpp_nystrom_core::{Workspace, kernel::Gaussian, start, state_bytes};
    ///
    /// // In flash, as exported.
    /// let parts = Parts {
    ///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[-1.0, 1.0], weights: &[0.3, 0.7],
    ///     target_mean: 5.0, target_scale: 2.0,
    /// };
    /// let model = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
    ///
    /// let ground = Points::new(model.landmarks(), model.width(), model.kernel())?;
    /// let (mut memory, mut ridge_memory) = (Workspace::<f32, 2>::new(), RidgeWorkspace::<f32, 2>::new());
    /// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
    /// start::given(&mut landmarks, &[0, 1])?;
    /// let nystrom = Nystrom::new(&landmarks);
    /// let mut ridge = RidgeRegression::new(2, ridge_memory.lend())?;
    /// let (mut room, mut phi) = ([0.0; 1], [0.0; 2]);
    /// for (reading, target) in [([19.0], 4.0), ([22.0], 6.5), ([20.5], 5.0)] {
    ///     let row = model.standardise(&reading, &mut room)?;
    ///     ground.column_at(row, landmarks.members(), &mut phi)?;
    ///     nystrom.transform(&mut phi)?;
    ///     ridge.add(&phi, model.standard_target(target))?;
    /// }
    /// let mut bytes = [0; state_bytes::<f32>(2)];
    /// ridge.write_state(model.digest(landmarks.factor()), &mut bytes)?; // to be sent to whoever merges
    /// # Ok::<(), Error>(())
    /// ```
    pub fn digest(&self, factor: &Cholesky<'_, T>) -> u64 {
        let target = [self.target_mean, self.target_scale];
        digest(&[self.means, self.scaling.numbers(), &target, self.landmarks()], factor)
    }

    /// Return the prediction for one raw row, in the target's units. `room` is scratch for the standardised
    /// row: [`width`](Self::width) numbers.
    ///
    /// Costs as much as [`Predictor::predict`], and a subtraction and a multiplication per feature; with a
    /// map r multiply-adds per feature, and then r features.
    ///
    /// # Errors
    /// [`Error::Length`] unless the row has the model's number of features, [`Error::Capacity`] for a shorter
    /// `room`, [`Error::NotFinite`] (of row 0) for a feature that is NaN or infinite, [`Error::TooLarge`] for
    /// one so far from its mean that a coordinate overflows.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Model, Parts, Scaling, kernel::Gaussian};
    ///
    /// let parts = Parts {
    ///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[0.0], weights: &[1.0],
    ///     target_mean: 5.0, target_scale: 2.0,
    /// };
    /// let model = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
    /// assert_eq!(model.predict(&[20.0], &mut [0.0])?, 7.0);
    /// assert_eq!(model.predict(&[f32::NAN], &mut [0.0]), Err(Error::NotFinite { row: 0, column: 0 }));
    /// assert_eq!(model.predict(&[20.0], &mut []), Err(Error::Capacity { needed: 1, have: 0 }));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn predict(&self, raw: &[T], room: &mut [T]) -> Result<T, Error> {
        let row = self.standardise(raw, room)?;
        Ok(self.target_mean + self.target_scale * self.predictor.predict_finite(row))
    }

    /// [`predict`](Self::predict), with the distance to the nearest landmark: `c` times
    /// [`width`](Self::width) multiply-adds more. Residual and variance are `None`: [`Assessor`] computes
    /// them. `room` begins with the standardised row afterwards.
    ///
    /// A prediction ignores features that were constant in training, whose scale is 0. Where one has another
    /// value, by more than `16 ε` of it, the row is like none of the training, and the distance is infinite.
    /// With a map it is not known which features were constant.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict).
    ///
    /// ```
    /// use dpp_nystrom_core::{Model, Parts, Scaling, kernel::Gaussian};
    ///
    /// let parts = Parts {
    ///     means: &[20.0, 3.3], scaling: Scaling::PerFeature(&[0.5, 0.0]), landmarks: &[0.0, 0.0], weights: &[1.0],
    ///     target_mean: 5.0, target_scale: 2.0,
    /// };
    /// let model = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
    /// assert_eq!(model.assess(&[22.0, 3.3], &mut [0.0; 2])?.nearest, 1.0);
    /// // The supply voltage was constant in training.
    /// assert_eq!(model.assess(&[22.0, 2.9], &mut [0.0; 2])?.nearest, f32::INFINITY);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn assess(&self, raw: &[T], room: &mut [T]) -> Result<Assessment<T>, Error> {
        let row = self.standardise(raw, room)?;
        let value = self.target_mean + self.target_scale * self.predictor.predict_finite(row);
        let nearest = match self.scaling.changed(raw, self.means) {
            None => self.predictor.nearest(row),
            Some(_) => T::from_f64(f64::INFINITY),
        };
        Ok(Assessment { value, nearest, residual: None, variance: None })
    }
}

/// Check the length of a triangle by rows.
pub(crate) const fn check_triangle(order: usize, found: usize) -> Result<(), Error> {
    let expected = order.saturating_mul(order.saturating_add(1)) / 2;
    if found == expected { Ok(()) } else { Err(Error::Length { expected, found }) }
}

/// Return `(y - mean) / scale`, or 0 for a constant target.
pub(crate) fn standard_target<T: Scalar>(target: T, mean: T, scale: T) -> T {
    if scale == T::ZERO { T::ZERO } else { (target - mean) / scale }
}

/// Check the number of landmarks, of so many coordinates each.
pub(crate) const fn check_landmarks(width: usize, landmarks: usize, weights: usize) -> Result<(), Error> {
    if weights == 0 {
        return Err(Error::Empty);
    }
    let expected = width.saturating_mul(weights);
    if landmarks == expected { Ok(()) } else { Err(Error::Length { expected, found: landmarks }) }
}
