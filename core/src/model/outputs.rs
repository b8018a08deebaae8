//! Several outputs on the same landmarks, and classes.
//!
//! The kernel values of a row are computed once, so that a further output costs `c` multiply-adds. Each
//! output is that of a [`Model`] with its weights, bit for bit.
//!
//! # Classes
//!
//! One output for each class: on the device, learned on 1 for a row of the class and 0 for another, by least
//! squares. An output then estimates the probability of the class, and the estimates sum to 1, up to what the
//! regularisation leaves. Targets of -1 instead of 0 give the same classes, and margins twice as large, which
//! are not differences of probabilities. A server's are those of logistic regression: their softmax over a
//! temperature is the probability.

use super::Model;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::memory::{check_length, rows_of};
use crate::scalar::Scalar;

/// The outputs after the first: their weights, of the type `W`, and their conversion to raw units.
///
/// ```
/// use dpp_nystrom_core::{Error, Further, Model, Outputs, Parts, Scaling, kernel::Gaussian};
///
/// let parts = Parts {
///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[-1.0, 1.0], weights: &[1.0, 0.0],
///     target_mean: 0.0, target_scale: 1.0,
/// };
/// let first = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
/// let two = Further { weights: &[0.0, 1.0, 0.5, 0.5], means: &[0.0, 3.0], scales: &[1.0, 2.0] };
/// assert_eq!(Outputs::new(first, two)?.outputs(), 3);
/// let short = Further { weights: &[0.0, 1.0, 0.5], ..two };
/// assert_eq!(Outputs::new(first, short).err(), Some(Error::Length { expected: 4, found: 3 }));
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Further<'a, W, T> {
    /// A weight for each landmark, one output after the other.
    pub weights: &'a [W],
    /// The targets' means.
    pub means: &'a [T],
    /// The targets' standard deviations.
    pub scales: &'a [T],
}

impl<'a, W, T: Copy> Further<'a, W, T> {
    /// Return the number of outputs after the first.
    pub(crate) const fn count(&self) -> usize {
        self.means.len()
    }

    /// Check that the lengths are consistent, for this number of landmarks.
    pub(crate) const fn check(&self, landmarks: usize) -> Result<(), Error> {
        let count = self.count();
        if self.scales.len() != count {
            return Err(Error::Length { expected: count, found: self.scales.len() });
        }
        let (expected, found) = (count.saturating_mul(landmarks), self.weights.len());
        if found == expected { Ok(()) } else { Err(Error::Length { expected, found }) }
    }

    /// Return the weight of landmark `a` in each output.
    pub(crate) fn of_landmark(&self, landmarks: usize, a: usize) -> impl Iterator<Item = &'a W> {
        rows_of(self.weights, landmarks).filter_map(move |weights| weights.get(a))
    }
}

/// The class with the largest output.
///
/// ```
/// use dpp_nystrom_core::{Class, Error};
///
/// let Class { index, margin } = Class::of(&[0.1_f32, 0.2, 0.7])?;
/// assert!(index == 2 && (margin - 0.5).abs() < 1e-7);
/// assert_eq!(Class::of(&[1.0_f32]), Err(Error::Empty)); // one class
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Class<T> {
    /// Its number, from 0.
    pub index: usize,
    /// By how much its output exceeds the second largest.
    pub margin: T,
}

impl<T: Scalar> Class<T> {
    /// Return the class with the largest of these outputs, the first of equal ones.
    ///
    /// # Errors
    /// [`Error::Empty`] for fewer than two, [`Error::NotFinite`] (of row 0) with an output that is not.
    ///
    /// ```
    /// use dpp_nystrom_core::Class;
    ///
    /// assert_eq!(Class::of(&[0.25, 0.75, 0.5]), Ok(Class { index: 1, margin: 0.25 }));
    /// ```
    pub fn of(outputs: &[T]) -> Result<Self, Error> {
        if let Some(column) = outputs.iter().position(|output| !output.is_finite()) {
            return Err(Error::NotFinite { row: 0, column });
        }
        let [first, second, ..] = *outputs else { return Err(Error::Empty) };
        let (mut index, mut best, mut next) =
            if second > first { (1, second, first) } else { (0, first, second) };
        for (at, &output) in outputs.iter().enumerate().skip(2) {
            if output > best {
                (index, best, next) = (at, output, best);
            } else if output > next {
                next = output;
            }
        }
        Ok(Self { index, margin: best - next })
    }
}

/// A model of several outputs, or of classes.
///
/// ```
/// use dpp_nystrom_core::{Class, Further, Model, Outputs, Parts, Scaling, kernel::Gaussian};
///
/// let parts = Parts {
///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[-1.0, 1.0], weights: &[1.0, 0.0],
///     target_mean: 0.0, target_scale: 1.0,
/// };
/// let cold = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
/// let warm = Further { weights: &[0.0, 1.0], means: &[0.0], scales: &[1.0] };
/// let classes = Outputs::new(cold, warm)?;
/// let Class { index, margin } = classes.classify(&[22.0], &mut [0.0], &mut [0.0; 2])?;
/// assert!(index == 1 && margin > 0.8);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
///
/// A device learns the outputs with one triangle: [`crate::RidgeRegression::with_targets`], then
/// `solve_target` and [`crate::Nystrom::kernel_weights`] for each.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Outputs<'a, T, K> {
    model: Model<'a, T, K>,
    further: Further<'a, T, T>,
}

impl<'a, T: Scalar, K: Kernel<T> + Copy> Outputs<'a, T, K> {
    /// Create the outputs from the model of the first one, and the others. Constant: in a static,
    /// inconsistent parts do not compile.
    ///
    /// # Errors
    /// [`Error::Length`] unless each output has a mean, a scale and a weight for each landmark.
    pub const fn new(model: Model<'a, T, K>, further: Further<'a, T, T>) -> Result<Self, Error> {
        match further.check(model.weights().len()) {
            Ok(()) => Ok(Self { model, further }),
            Err(error) => Err(error),
        }
    }

    /// Return the model of the first output.
    pub const fn first(&self) -> &Model<'a, T, K> {
        &self.model
    }

    /// Return the number of outputs.
    pub const fn outputs(&self) -> usize {
        self.further.count() + 1
    }

    /// Write the outputs for a raw row to `out`, in the targets' units. `room` is scratch: the first model's
    /// [`width`](Model::width).
    ///
    /// # Errors
    /// Those of [`Model::predict`], and [`Error::Length`] unless `out` has a number per output.
    ///
    /// ```
    /// use dpp_nystrom_core::{Further, Model, Outputs, Parts, Scaling, kernel::Gaussian};
    ///
    /// let parts = Parts {
    ///     means: &[20.0], scaling: Scaling::PerFeature(&[0.5]), landmarks: &[0.0], weights: &[1.0],
    ///     target_mean: 5.0, target_scale: 2.0,
    /// };
    /// let first = Model::<f32, _>::new(Gaussian::new(1.0)?, parts)?;
    /// let outputs = Outputs::new(first, Further { weights: &[-1.0], means: &[0.5], scales: &[0.1] })?;
    /// let mut predicted = [0.0; 2];
    /// outputs.predict(&[20.0], &mut [0.0], &mut predicted)?; // at the landmark
    /// assert_eq!(predicted, [7.0, 0.4]);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn predict(&self, raw: &[T], room: &mut [T], out: &mut [T]) -> Result<(), Error> {
        check_length(self.outputs(), out.len())?;
        let row = self.model.standardise(raw, room)?;
        out.fill(T::ZERO);
        let (kernel, landmarks) = (self.model.kernel(), self.model.weights().len());
        let rows = rows_of(self.model.landmarks(), row.len()).zip(self.model.weights());
        for (a, (landmark, weight)) in rows.enumerate() {
            let value = kernel.value(landmark, row);
            let weights = core::iter::once(weight).chain(self.further.of_landmark(landmarks, a));
            for (sum, &weight) in out.iter_mut().zip(weights) {
                *sum += weight * value;
            }
        }
        let means = core::iter::once(self.model.target_mean()).chain(self.further.means.iter().copied());
        let scales = core::iter::once(self.model.target_scale()).chain(self.further.scales.iter().copied());
        for (sum, (mean, scale)) in out.iter_mut().zip(means.zip(scales)) {
            *sum = mean + scale * *sum;
        }
        Ok(())
    }

    /// Return the class of a raw row. `out` holds the outputs afterwards.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict) and of [`Class::of`].
    pub fn classify(&self, raw: &[T], room: &mut [T], out: &mut [T]) -> Result<Class<T>, Error> {
        self.predict(raw, room, out)?;
        Class::of(out)
    }
}
