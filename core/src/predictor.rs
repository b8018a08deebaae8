//! Prediction from landmarks and weights, which may be in flash.

use crate::error::Error;
use crate::kernel::{Kernel, UNROLLED, squared_distance};
use crate::memory::{check_finite, check_length, rows_of};
use crate::scalar::Scalar;

/// A fitted model `f(x) = Σ_a w_a k(x_a, x)`. It borrows its parts and copies nothing.
///
/// ```
/// use dpp_nystrom_core::{Predictor, kernel::Gaussian};
///
/// static LANDMARKS: [f32; 4] = [0.0, 0.0, 1.0, 1.0];
/// static WEIGHTS: [f32; 2] = [1.0, -1.0];
/// let model = Predictor::new(Gaussian::new(1.0)?, &LANDMARKS, 2, &WEIGHTS)?;
/// assert!(model.predict(&[0.5, 0.5])?.abs() < 1e-7);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Predictor<'a, T, K> {
    kernel: K,
    landmarks: &'a [T],
    dim: usize,
    weights: &'a [T],
}

impl<'a, T: Scalar, K: Kernel<T>> Predictor<'a, T, K> {
    /// Create the model from landmarks, rows of `dim` features, and a weight for each.
    ///
    /// # Errors
    /// [`Error::Empty`] for no features or no weights, [`Error::Length`] unless there are as many
    /// landmarks as weights.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Predictor, kernel::Linear};
    ///
    /// let refused = Predictor::new(Linear, &[0.0, 0.0, 1.0], 2, &[1.0, -1.0]);
    /// assert_eq!(refused.err(), Some(Error::Length { expected: 4, found: 3 }));
    /// ```
    pub fn new(kernel: K, landmarks: &'a [T], dim: usize, weights: &'a [T]) -> Result<Self, Error> {
        if dim == 0 || weights.is_empty() {
            return Err(Error::Empty);
        }
        check_length(dim.saturating_mul(weights.len()), landmarks.len())?;
        Ok(Self { kernel, landmarks, dim, weights })
    }

    /// Create the model from parts whose lengths the caller has checked.
    pub(crate) const fn of_checked(kernel: K, landmarks: &'a [T], dim: usize, weights: &'a [T]) -> Self
    where
        K: Copy,
    {
        Self { kernel, landmarks, dim, weights }
    }

    pub(crate) const fn landmarks(&self) -> &'a [T] {
        self.landmarks
    }

    pub(crate) const fn width(&self) -> usize {
        self.dim
    }

    pub(crate) const fn weights(&self) -> &'a [T] {
        self.weights
    }

    pub(crate) const fn kernel(&self) -> K
    where
        K: Copy,
    {
        self.kernel
    }

    /// Return the number of features of a row.
    pub fn features(&self) -> usize {
        self.dim
    }

    /// Return the prediction for one row: `c` kernel evaluations, summed in the landmarks' order.
    ///
    /// # Errors
    /// [`Error::Length`] unless `x` has the landmarks' number of features, and [`Error::NotFinite`] (of
    /// row 0) for a feature that is NaN or infinite.
    ///
    /// ```
    /// use dpp_nystrom_core::{Error, Predictor, kernel::Linear};
    ///
    /// let model = Predictor::new(Linear, &[1.0, 0.0, 0.0, 1.0], 2, &[3.0, -1.0])?;
    /// assert_eq!(model.predict(&[2.0, 5.0])?, 1.0);
    /// assert_eq!(model.predict(&[2.0]), Err(Error::Length { expected: model.features(), found: 1 }));
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn predict(&self, x: &[T]) -> Result<T, Error> {
        check_length(self.dim, x.len())?;
        check_finite(x)?;
        Ok(self.predict_finite(x))
    }

    /// [`predict`](Self::predict) for a row of finite numbers and the right length.
    #[inline(always)]
    pub(crate) fn predict_finite(&self, x: &[T]) -> T {
        if let Ok(x) = <&[T; UNROLLED]>::try_from(x) {
            self.weighted(
                self.landmarks.as_chunks::<UNROLLED>().0.iter().map(|landmark| landmark.as_slice()),
                x,
            )
        } else {
            self.weighted(rows_of(self.landmarks, self.dim), x)
        }
    }

    /// Return the distance from a row of the right length to the nearest landmark.
    pub(crate) fn nearest(&self, x: &[T]) -> T {
        let distances = rows_of(self.landmarks, self.dim).map(|landmark| squared_distance(landmark, x));
        distances.reduce(|least, other| if other < least { other } else { least }).unwrap_or(T::ZERO).sqrt()
    }

    #[inline(always)]
    fn weighted<'l>(&self, landmarks: impl Iterator<Item = &'l [T]>, x: &[T]) -> T {
        let mut sum = T::ZERO;
        for (landmark, &weight) in landmarks.zip(self.weights) {
            sum += weight * self.kernel.value(landmark, x);
        }
        sum
    }
}

#[cfg(feature = "micromath")]
impl Predictor<'_, f32, crate::kernel::Gaussian<f32>> {
    /// [`predict`](Self::predict) with the exponential of the crate `micromath`, for landmarks that were
    /// selected and fitted with the crate's own. It is a method of the predictor and not a kernel, so that it
    /// cannot be used in a factor or a log-determinant.
    ///
    /// Each kernel value has a relative error of up to 2.4·10⁻³, against 8.15·10⁻⁸ for
    /// [`predict`](Self::predict). The error of the prediction is at most that fraction of
    /// `Σ |w_a| k(x_a, x)`, which can be much larger than the prediction. It takes about twice the
    /// instructions on a Cortex-M4F (`docs/target.md`), and is there to compare with.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict).
    ///
    /// ```
    /// use dpp_nystrom_core::{Predictor, kernel::Gaussian};
    ///
    /// let model = Predictor::new(Gaussian::new(1.0_f32)?, &[0.0, 1.0], 1, &[1.0, 2.0])?;
    /// let (own, coarse) = (model.predict(&[0.5])?, model.predict_micromath(&[0.5])?);
    /// assert!((own - coarse).abs() < 2.4e-3 * own);
    /// # Ok::<(), dpp_nystrom_core::Error>(())
    /// ```
    pub fn predict_micromath(&self, x: &[f32]) -> Result<f32, Error> {
        use micromath::F32Ext;
        check_length(self.dim, x.len())?;
        check_finite(x)?;
        let exponent = self.kernel.exponent();
        let mut sum = 0.0;
        for (landmark, &weight) in rows_of(self.landmarks, self.dim).zip(self.weights) {
            sum += weight * F32Ext::exp(exponent * squared_distance(landmark, x));
        }
        Ok(sum)
    }
}
