//! The traits of `linfa` 0.8, on wrapper types, so that inherent methods do not shadow the trait methods.
//!
//! ```
//! use dpp_nystrom::interop::linfa::{FeatureMap, RidgeOnMap};
//! use dpp_nystrom::{Gaussian, Nystroem, Sigma};
//! use linfa::Dataset;
//! use linfa::traits::{Fit, Predict, Transformer};
//! use ndarray::Array;
//!
//! let x = Array::linspace(0.0, 10.0, 200).into_shape_with_order((200, 1))?;
//! let y = x.column(0).mapv(f64::sin);
//! let data = Dataset::new(x, y);
//! let params = FeatureMap(Nystroem::params(12).kernel(Gaussian::new(Sigma::Median(0.5))));
//! let map = params.fit(&data)?;
//! assert_eq!(map.transform(data.records().view()).nrows(), 200);
//! let model = RidgeOnMap::new(&map.0).fit(&data)?;
//! let error = (&model.predict(data.records()) - data.targets()).mapv(f64::abs).sum() / 200.0;
//! assert!(error < 0.05);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::data::dataset::Dataset;
use crate::estimators::{kernel_ridge::KernelRidge, nystroem::Nystroem, nystroem::NystroemParams};
use crate::interop::ndarray::row_major;
use crate::model::trained::Model;
use crate::regression::ridge::Ridge;
use linfa::dataset::{AsTargets, DatasetBase};
use linfa::traits::{Fit, PredictInplace, Transformer};
use ndarray::{Array1, Array2, ArrayBase, ArrayView2, Data, Ix1, Ix2};

/// Errors of a fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of this crate.
    #[error(transparent)]
    Fit(#[from] crate::error::Error),
    /// An error of `linfa`.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}

/// The parameters of a map, implementing [`Fit`].
#[derive(Debug)]
pub struct FeatureMap(pub NystroemParams);

/// A fitted map, implementing [`Transformer`].
#[derive(Debug)]
pub struct FittedMap(pub Nystroem);

/// Ridge regression on a fitted map, implementing [`Fit`].
#[derive(Clone, Copy, Debug)]
pub struct RidgeOnMap<'m> {
    map: &'m Nystroem,
    ridge: Ridge,
}

/// A fitted model, implementing [`Predict`](linfa::traits::Predict).
#[derive(Clone, Debug)]
pub struct FittedModel(pub Model);

impl<'m> RidgeOnMap<'m> {
    /// Configure a regression on the features of a map, with a cross-validated ridge.
    pub fn new(map: &'m Nystroem) -> Self {
        Self { map, ridge: Ridge::CrossValidated }
    }

    /// Set the ridge.
    pub fn ridge(self, ridge: Ridge) -> Self {
        Self { ridge, ..self }
    }
}

impl<D: Data<Elem = f64>, T> Fit<ArrayBase<D, Ix2>, T, Error> for FeatureMap {
    type Object = FittedMap;

    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> Result<FittedMap, Error> {
        let rows = row_major(&dataset.records);
        Ok(FittedMap(self.0.fit(&Dataset::from_rows(&rows, dataset.records.ncols())?)?))
    }
}

impl Transformer<ArrayView2<'_, f64>, Array2<f64>> for FittedMap {
    /// # Panics
    /// If the number of columns differs or a value is not finite, as the trait cannot return an error. Use
    /// [`Nystroem::transform_array`] to get one.
    fn transform(&self, rows: ArrayView2<'_, f64>) -> Array2<f64> {
        self.0.transform_array(rows).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl<D: Data<Elem = f64>, T: AsTargets<Elem = f64, Ix = Ix1>> Fit<ArrayBase<D, Ix2>, T, Error>
    for RidgeOnMap<'_>
{
    type Object = FittedModel;

    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> Result<FittedModel, Error> {
        let rows = row_major(&dataset.records);
        let targets: Vec<f64> = dataset.targets.as_targets().iter().copied().collect();
        let weights: Option<Vec<f64>> =
            dataset.weights().map(|weights| weights.iter().copied().map(f64::from).collect());
        let data = Dataset::from_rows(&rows, dataset.records.ncols())?.with_target(&targets)?;
        let data = match &weights {
            Some(weights) => data.with_weights(weights)?,
            None => data,
        };
        Ok(FittedModel(KernelRidge::params(self.map).ridge(self.ridge).fit(&data)?))
    }
}

impl<D: Data<Elem = f64>> PredictInplace<ArrayBase<D, Ix2>, Array1<f64>> for FittedModel {
    /// # Panics
    /// If the number of columns differs, as the trait cannot return an error. Use [`Model::predict_array`] to
    /// get one.
    fn predict_inplace<'a>(&'a self, rows: &'a ArrayBase<D, Ix2>, predictions: &mut Array1<f64>) {
        *predictions = self.0.predict_array(rows.view()).unwrap_or_else(|error| panic!("{error}"));
    }

    fn default_target(&self, rows: &ArrayBase<D, Ix2>) -> Array1<f64> {
        Array1::zeros(rows.nrows())
    }
}
