//! Landmarks, metric and regression in one.

use crate::data::{dataset::Dataset, scaler::Scale};
use crate::error::Error;
use crate::kernel::params::KernelParams;
use crate::landmarks::{methods::auto::Auto, selector::Selector};
use crate::model::Model;
use crate::observer::{NoObserver, Observer};
use crate::pipeline::{Landmarks, Params, fit};
use crate::regression::{fit::Fitted, ridge::Ridge};
use std::sync::Arc;

/// Kernel ridge regression on landmarks, in a metric that is learned from the target: what `dpp-nystrom fit`
/// and the Python package's `LandmarkRidge` and `LandmarkClassifier` fit. The same rows and seed give the
/// same model, bit for bit.
///
/// ```
/// use dpp_nystrom::{Dataset, LandmarkRidge};
///
/// let x: Vec<f64> = (0..600).map(|i| f64::from(i * i % 599) / 60.0).collect();
/// let y: Vec<f64> = x.chunks(2).map(|x| x[0].sin() + 0.1 * x[1]).collect();
/// let data = Dataset::from_rows(&x, 2)?.with_target(&y)?;
/// let model = LandmarkRidge::default().seed(7).fit(&data)?;
/// let test = model.test_error.expect("300 rows are enough to hold some out");
/// assert!(test.error.value < 0.1); // in standard deviations of the target
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LandmarkRidge {
    landmarks: Landmarks,
    kernel: KernelParams,
    selector: Arc<dyn Selector>,
    ridge: Ridge,
    scale: Scale,
    seed: u64,
}

impl Default for LandmarkRidge {
    /// Decide everything as [`Params::default`] does, for standardised features.
    fn default() -> Self {
        let Params { landmarks, kernel, ridge, seed, .. } = Params::default();
        Self { landmarks, kernel, selector: Arc::new(Auto::USUAL), ridge, scale: Scale::Standard, seed }
    }
}

impl LandmarkRidge {
    /// Set the number of landmarks: the model has as many as there are independent rows where these are
    /// fewer. Default: [as many as pay](crate::pipeline::NumberOfLandmarks).
    pub fn landmarks(self, count: usize) -> Self {
        Self { landmarks: Landmarks::Count(count), ..self }
    }

    /// Set the kernel, its bandwidth and the metric. Default: [`KernelParams::usual`].
    pub fn kernel(self, kernel: impl Into<KernelParams>) -> Self {
        Self { kernel: kernel.into(), ..self }
    }

    /// Set how landmarks are selected. Default: [`Auto`].
    pub fn selector(self, selector: impl Selector + 'static) -> Self {
        Self { selector: Arc::new(selector), ..self }
    }

    /// Set the ridge γ. Default: chosen by 10-fold cross-validation.
    pub fn ridge(self, ridge: Ridge) -> Self {
        Self { ridge, ..self }
    }

    /// Set how features are scaled. Default: to mean 0 and standard deviation 1.
    pub fn scale(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    /// Set the seed of all that is random. Default: 0.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Fit a model to the targets or classes of a data set.
    ///
    /// # Errors
    /// Those of [`pipeline::fit`](fit).
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, ErrorKind, LandmarkRidge};
    ///
    /// let x = [0.0, 1.0, 2.0];
    /// let without_target = Dataset::from_rows(&x, 1)?;
    /// assert_eq!(LandmarkRidge::default().fit(&without_target).unwrap_err().kind(), ErrorKind::Data);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn fit(&self, data: &Dataset<'_>) -> Result<Model, Error> {
        self.fit_observed(data, &NoObserver).map(|fitted| fitted.model)
    }

    /// [`fit`](Self::fit), reporting progress to an observer, and return the errors of the fit along with the
    /// model.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), `ErrorKind::Cancelled`.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, Gaussian, LandmarkRidge, Ridge, Sigma, observer::NoObserver};
    ///
    /// let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
    /// let settings = LandmarkRidge::default().landmarks(12).kernel(Gaussian::new(Sigma::Median(0.5)));
    /// let fitted = settings.ridge(Ridge::CrossValidated).fit_observed(&data, &NoObserver)?;
    /// assert!(fitted.validation_nrmse.is_some_and(|error| error < 0.05));
    /// assert_eq!(fitted.model.landmarks() + fitted.dependent, 12);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn fit_observed(&self, data: &Dataset<'_>, observer: &dyn Observer) -> Result<Fitted, Error> {
        let Self { ref landmarks, kernel, ref selector, ridge, scale, seed } = *self;
        let source = data.source(scale)?;
        let params = Params {
            kernel,
            landmarks: landmarks.clone(),
            selector: &**selector,
            ridge,
            seed,
            ..Params::default()
        };
        Ok(fit(source.as_rows(), &params, None, observer)?.fitted)
    }
}
