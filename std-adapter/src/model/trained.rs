//! A trained model: landmarks, weights, and the statistics that standardise raw rows.

use crate::data::columns::{Columns, TargetColumn};
use crate::data::{scaler::Scaler, table::input::Table, table::recipe::Recipe};
use crate::error::{Error, check_length, check_rows};
use crate::heap::zeros;
use crate::kernel::spec::KernelSpec;
use crate::model::confidence::Confidence;
use dpp_nystrom_core::{Predictor, Scalar};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows per prediction task.
const BLOCK: usize = 1_024;

/// Landmarks and weights in the precision of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coefficients<T> {
    /// Landmarks, standardised and mapped, one after the other.
    pub landmarks: Vec<T>,
    /// One weight per landmark.
    pub weights: Vec<T>,
}

/// [`Coefficients`] in either precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AnyCoefficients {
    /// Single precision.
    F32(Coefficients<f32>),
    /// Double precision.
    F64(Coefficients<f64>),
}

impl AnyCoefficients {
    /// Return them in double precision.
    pub fn to_f64(&self) -> Coefficients<f64> {
        let double = |values: &[f32]| values.iter().copied().map(f64::from).collect();
        match self {
            Self::F32(Coefficients { landmarks, weights }) => {
                Coefficients { landmarks: double(landmarks), weights: double(weights) }
            }
            Self::F64(coefficients) => coefficients.clone(),
        }
    }
}

/// A fitted model. It predicts from raw rows, with the training rows' statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The names of the features, in order.
    pub feature_names: Vec<String>,
    /// The name of the target.
    pub target_name: String,
    /// The features' statistics, and the map, which is a section of its own in a file.
    pub scaler: Scaler,
    /// The target's mean.
    pub target_mean: f64,
    /// The target's standard deviation.
    pub target_deviation: f64,
    /// The kernel and its bandwidth.
    pub kernel: KernelSpec,
    /// The regularisation γ (the ridge).
    pub ridge: f64,
    /// The training file's name, without folder and extension.
    pub trained_on: String,
    /// Number of training rows.
    pub trained_rows: u64,
    /// Row indices of the landmarks in the training file, from 0; empty if the landmarks are points rather than rows.
    pub landmark_rows: Vec<u64>,
    /// Root mean square error on the training rows, over the target's standard deviation.
    pub train_nrmse: f64,
    /// Landmarks and weights.
    pub coefficients: AnyCoefficients,
    /// What it knows of its predictions, if it was fitted to rows at hand: a section of its own in a file.
    #[serde(skip)]
    pub confidence: Option<Confidence>,
    /// The share of each feature in the learned metric, as of [`LearnedMetric::importances`](crate::pipeline::LearnedMetric::importances);
    /// none for one bandwidth. A section of its own in a file.
    #[serde(skip)]
    pub importances: Option<Vec<f64>>,
    /// How the columns of a table become its features, if there is more to it than their names: a section of its own in
    /// a file.
    #[serde(skip)]
    pub recipe: Option<Recipe>,
}

impl Model {
    /// Return the number of landmarks.
    pub fn landmarks(&self) -> usize {
        match &self.coefficients {
            AnyCoefficients::F32(coefficients) => coefficients.weights.len(),
            AnyCoefficients::F64(coefficients) => coefficients.weights.len(),
        }
    }

    /// Return how the columns of a table become the features: what the model stores, or columns of these names.
    pub fn recipe(&self) -> Recipe {
        let stored = self.recipe.clone();
        stored.unwrap_or_else(|| Recipe::of_names(&self.feature_names, Some(&self.target_name)))
    }

    /// Return the names and statistics of the columns that the model was trained on.
    pub fn columns(&self) -> Columns {
        Columns {
            name: self.trained_on.clone(),
            feature_names: self.feature_names.clone(),
            scaler: self.scaler.clone(),
            target: Some(TargetColumn {
                name: self.target_name.clone(),
                mean: self.target_mean,
                deviation: self.target_deviation,
            }),
        }
    }

    /// Predict the target, in its own units, for each raw row of `rows`: row-major, as many features a row as the model
    /// has, in their order and units. On all threads; `c d` multiply-adds, with a map of rank r `(c + d) r`, and `c` kernel values a row.
    ///
    /// # Errors
    /// [`Error::Ragged`] if the length of `rows` is not a multiple of the number of features, [`Error::Prediction`] for a row
    /// whose prediction is not finite, because it overflows or the row holds NaN.
    pub fn predict(&self, rows: &[f64]) -> Result<Vec<f64>, Error> {
        let dim = self.feature_names.len();
        check_rows(rows.len(), dim)?;
        match &self.coefficients {
            AnyCoefficients::F32(coefficients) => self.predict_in(coefficients, rows),
            AnyCoefficients::F64(coefficients) => self.predict_in(coefficients, rows),
        }
    }

    /// Predict the target for each row of a table with the model's features.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of features; those of [`predict`](Self::predict).
    pub fn predict_table(&self, table: &Table) -> Result<Vec<f64>, Error> {
        check_length("features", self.feature_names.len(), table.dim)?;
        self.predict(&table.features)
    }

    fn predict_in<T: Scalar>(&self, coefficients: &Coefficients<T>, rows: &[f64]) -> Result<Vec<f64>, Error> {
        let (dim, width) = (self.feature_names.len(), self.scaler.width());
        let kernel = self.kernel.build::<T>()?;
        let predictor = Predictor::new(kernel, &coefficients.landmarks, width, &coefficients.weights)?;
        let mut predictions = zeros(rows.len() / dim, 0.0)?;
        predictions.par_chunks_mut(BLOCK).zip(rows.par_chunks(BLOCK * dim)).enumerate().try_for_each(
            |(block, (predictions, rows))| {
                let mut scaled = vec![0.0; width];
                let mut row = vec![T::ZERO; width];
                let rows = rows.chunks_exact(dim);
                for (at, (prediction, features)) in predictions.iter_mut().zip(rows).enumerate() {
                    self.scaler.apply_row(features, &mut scaled);
                    row.iter_mut().zip(&scaled).for_each(|(value, &scaled)| *value = T::from_f64(scaled));
                    let standard = predictor.predict(&row)?.to_f64();
                    *prediction = self.target_mean + self.target_deviation * standard;
                    if !prediction.is_finite() {
                        return Err(Error::Prediction { row: block * BLOCK + at });
                    }
                }
                Ok(())
            },
        )?;
        Ok(predictions)
    }

    /// Whether the parts are consistent with each other; a file can pass its checksum and still be malformed.
    pub(crate) fn is_well_formed(&self) -> bool {
        let dim = self.feature_names.len();
        let Coefficients { landmarks, weights } = self.coefficients.to_f64();
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        dim > 0
            && self.scaler.is_well_formed(dim)
            && finite(&[self.target_mean, self.target_deviation, self.kernel.sigma, self.ridge])
            && !weights.is_empty()
            && (self.landmark_rows.is_empty() || weights.len() == self.landmark_rows.len())
            && Some(landmarks.len()) == weights.len().checked_mul(self.scaler.width())
            && finite(&landmarks)
            && finite(&weights)
            && self.kernel.build::<f64>().is_ok()
            && self.confidence.as_ref().is_none_or(|confidence| confidence.is_well_formed(weights.len()))
            && self.importances.as_ref().is_none_or(|shares| {
                shares.len() == dim && shares.iter().all(|share| (0.0..=1.0).contains(share))
            })
            && self.recipe.as_ref().is_none_or(|recipe| recipe.is_well_formed(&self.feature_names))
    }
}
