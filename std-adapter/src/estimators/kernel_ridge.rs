//! Kernel ridge regression on the landmarks of a feature map.

use crate::approximation::landmark_set::LandmarkSet;
use crate::data::{columns::TargetColumn, dataset::Dataset};
use crate::error::{Cause, Error};
use crate::estimators::nystroem::{Input, Nystroem};
use crate::kernel::precision::Precision;
use crate::model::trained::Model;
use crate::observer::{NoObserver, Observer};
use crate::regression::{
    choose::leave_one_out::Axes, fit::Fitted, fit::fit, fit::unweighted, params::FitParams,
    ridge::Candidates, ridge::Ridge, rows::accumulator::Accumulator, rows::folds::deal_folds,
    solve::solution::solve,
};
use dpp_nystrom_core::kernel::Kernel;
use faer::MatRef;

/// Kernel ridge regression, `min ‖Φβ - y‖² + Nγ‖β‖²` on the features of a [`Nystroem`] map.
///
/// ```
/// use dpp_nystrom::selectors::Kdpp;
/// use dpp_nystrom::{Dataset, Gaussian, KernelRidge, Nystroem, Ridge, Sigma};
///
/// let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let map = Nystroem::params(12).kernel(Gaussian::new(Sigma::Median(0.5))).selector(Kdpp::default()).fit(&data)?;
/// let model = KernelRidge::params(&map).ridge(Ridge::CrossValidated).fit(&data)?;
/// let error = model.predict(&x)?.iter().zip(&y).map(|(found, y)| (found - y).abs()).fold(0.0, f64::max);
/// assert!(error < 0.05);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KernelRidge;

impl KernelRidge {
    /// Configure a regression on the features of a map, with the map's precision and seed.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
    ///
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
    /// let map = Nystroem::params(8).fit(&data)?;
    /// let model = KernelRidge::params(&map).fit(&data)?;
    /// assert_eq!(model.landmarks(), map.rank());
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn params<K>(map: &Nystroem<K>) -> KernelRidgeParams<'_, K> {
        let (precision, seed) = (map.settings.precision, map.settings.seed);
        KernelRidgeParams { map, ridge: Ridge::CrossValidated, precision, seed }
    }
}

/// The parameters of a [`KernelRidge`] regression.
///
/// ```
/// use dpp_nystrom::{Dataset, KernelRidge, Nystroem, Ridge, kernel::Precision};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let map = Nystroem::params(8).fit(&data)?;
/// let params = KernelRidge::params(&map).ridge(Ridge::Value(1e-6)).precision(Precision::F32);
/// assert_eq!(params.fit(&data)?.ridge, 1e-6);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
pub struct KernelRidgeParams<'m, K> {
    map: &'m Nystroem<K>,
    ridge: Ridge,
    precision: Precision,
    seed: u64,
}

impl<'m, K> KernelRidgeParams<'m, K> {
    /// Set the ridge γ: a value, or chosen by 10-fold cross-validation.
    pub fn ridge(self, ridge: Ridge) -> Self {
        Self { ridge, ..self }
    }

    /// Set the precision; for a row store, that of the store is used.
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Set the seed of the folds.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

impl KernelRidgeParams<'_, dpp_nystrom_core::kernel::ChosenKernel<f64>> {
    /// Fit a model that can be saved and exported.
    ///
    /// # Errors
    /// `ErrorKind::Data` for no target or a constant one, `ErrorKind::Regression`, `ErrorKind::Memory`,
    /// errors of the data set; `ErrorKind::Unsupported` for a map of a kernel matrix, for which
    /// [`fit_features`](Self::fit_features) is available.
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
        let (Input::Points { all, .. }, Some(kernel)) = (&self.map.input, self.map.spec) else {
            let problem = "a model of a kernel matrix cannot be saved".to_owned();
            return Err(Error(Cause::BuiltInKernel { problem, instead: "fit with fit_features" }));
        };
        let source = self.map.source(data)?;
        let params = FitParams { kernel, ridge: self.ridge, precision: self.precision, seed: self.seed };
        let landmarks = LandmarkSet::Points(all.clone());
        let mut fitted = fit(source.as_rows(), &landmarks, params, None, observer)?;
        let rows = self.map.landmarks();
        fitted.model.landmark_rows =
            fitted.kept.iter().filter_map(|&place| rows.get(place)).map(|&row| row as u64).collect();
        Ok(fitted)
    }
}

impl<'m, K: Kernel<f64> + Clone + Sync> KernelRidgeParams<'m, K> {
    /// Fit weights to the map's features, for any kernel, in `f64`.
    ///
    /// # Errors
    /// `ErrorKind::Data` for no target or a constant one, `ErrorKind::Regression`, `ErrorKind::Memory`,
    /// `ErrorKind::Unsupported` for a data set with weights, errors of the data set.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, KernelRidge, Nystroem, Ridge};
    ///
    /// let x: Vec<f64> = (0..30).map(|i| f64::from(i) / 5.0).collect();
    /// let row = |x: f64| (0..30).map(move |j| (-(x - f64::from(j) / 5.0).powi(2)).exp());
    /// let matrix: Vec<f64> = x.iter().flat_map(|&x| row(x)).collect(); // of rows that need no features
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let data = Dataset::from_gram(&matrix, 30)?.with_target(&y)?;
    /// let map = Nystroem::params(10).fit(&data)?;
    /// let fitted = KernelRidge::params(&map).ridge(Ridge::Value(1e-8)).fit_features(&data)?;
    /// assert!((fitted.predict(&matrix[..30])?[0] - y[0]).abs() < 0.05);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn fit_features(&self, data: &Dataset<'_>) -> Result<FeatureRidge<'m, K>, Error> {
        let source = self.map.source(data)?;
        unweighted(source.as_rows(), "a regression on features")?;
        let rows = source.as_rows().in_memory("a regression on features", self.seed)?;
        let target = rows.learnable()?;
        let phi = self.map.transform_scaled(&rows.rows)?;
        let rank = self.map.rank();
        let folds: Vec<u8> = match self.ridge {
            Ridge::CrossValidated => deal_folds(rows.len(), self.seed).collect(),
            Ridge::Value(_) | Ridge::LeaveOneOut => vec![0; rows.len()],
        };
        let ridge = match self.ridge {
            Ridge::LeaveOneOut => {
                let axes = Axes::new(&MatRef::from_column_major_slice(&phi, rank, rows.len()).to_owned())?;
                Candidates::One(axes.best(rows.target_matrix().as_ref(), &self.ridge.candidates())?.0)
            }
            ridge => ridge.into(),
        };
        let count = folds.iter().max().map_or(1, |&last| usize::from(last) + 1);
        let empty = vec![Accumulator::empty(rank)?; count];
        let (weights, quality) = Accumulator::on_all(&empty, |parts| {
            for ((phi, &value), &fold) in phi.chunks_exact(rank).zip(&target.values).zip(&folds) {
                parts[usize::from(fold)].add(phi, value).map_err(Error::regression)?;
            }
            solve(parts, &ridge, &NoObserver)
        })?;
        Ok(FeatureRidge { map: self.map, weights, ridge: quality.ridge, target: TargetColumn::from(target) })
    }
}

/// Ridge regression on the features of a map with any kernel.
///
/// ```
/// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let map = Nystroem::params(8).fit(&data)?;
/// let fitted = KernelRidge::params(&map).fit_features(&data)?;
/// assert_eq!(fitted.weights().len(), map.rank());
/// assert!(fitted.ridge() < 1e-3 && (fitted.predict(&[2.0])?[0] - 2.0_f64.sin()).abs() < 0.05);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
pub struct FeatureRidge<'m, K> {
    map: &'m Nystroem<K>,
    weights: Vec<f64>,
    ridge: f64,
    target: TargetColumn,
}

impl<K: Kernel<f64> + Clone + Sync> FeatureRidge<'_, K> {
    /// Return the weights β of the features, for a target of mean 0 and standard deviation 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Return the ridge γ.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Predict the target, in its original units, for raw rows.
    ///
    /// # Errors
    /// Those of [`Nystroem::transform`].
    pub fn predict(&self, rows: &[f64]) -> Result<Vec<f64>, Error> {
        let phi = self.map.transform(rows)?;
        let TargetColumn { mean, deviation, .. } = self.target;
        let value =
            |phi: &[f64]| phi.iter().zip(&self.weights).map(|(phi, weight)| phi * weight).sum::<f64>();
        Ok(phi.chunks_exact(self.map.rank()).map(|phi| mean + deviation * value(phi)).collect())
    }
}
