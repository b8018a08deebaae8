//! A trained model: landmarks, weights, and the statistics that standardise raw rows.

use crate::data::columns::{Columns, TargetColumn};
use crate::data::{scaler::Scaler, table::input::Table, table::recipe::Recipe};
use crate::error::{Cause, Error, check_length, check_rows};
use crate::kernel::spec::KernelSpec;
use crate::model::{
    bits::Bits, classes::Classifier, confidence::Confidence, measured::Importances, measured::TestError,
};
use dpp_nystrom_core::{Error as CoreError, Further, Outputs, Parts, Scalar, Scaling};
use dpp_nystrom_host::heap::zeros;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows per prediction task.
const BLOCK: usize = 1_024;

/// Landmarks and weights in the precision of training.
///
/// ```
/// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
/// let coefficients = model.coefficients.to_f64();
/// assert_eq!(coefficients.weights.len(), model.landmarks());
/// assert_eq!(coefficients.landmarks.len(), model.landmarks()); // of one feature
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coefficients<T> {
    /// Landmarks, standardised and mapped, one after the other.
    pub landmarks: Vec<T>,
    /// One weight per landmark.
    pub weights: Vec<T>,
}

/// [`Coefficients`] in either precision.
///
/// ```
/// use dpp_nystrom::model::{AnyCoefficients, Coefficients};
///
/// let single = AnyCoefficients::F32(Coefficients { landmarks: vec![0.5], weights: vec![2.0] });
/// assert_eq!(single.to_f64(), Coefficients { landmarks: vec![0.5], weights: vec![2.0] });
/// ```
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

    /// Return the same landmarks with other weights.
    fn with_weights(&self, weights: &[f64]) -> Self {
        match self {
            Self::F32(Coefficients { landmarks, .. }) => Self::F32(Coefficients {
                landmarks: landmarks.clone(),
                weights: weights.iter().map(|&weight| weight as f32).collect(),
            }),
            Self::F64(Coefficients { landmarks, .. }) => {
                Self::F64(Coefficients { landmarks: landmarks.clone(), weights: weights.to_vec() })
            }
        }
    }
}

/// An output after the first: a further target on the same landmarks.
///
/// ```
/// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let y: Vec<f64> = x.iter().flat_map(|x| [x.sin(), x.cos()]).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_targets(&y, &["sine", "cosine"])?;
/// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
/// let output = &model.further[0];
/// assert_eq!((output.target.name.as_str(), output.weights.len()), ("cosine", model.landmarks()));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// The target.
    pub target: TargetColumn,
    /// One weight per landmark.
    pub weights: Vec<f64>,
}

/// A fitted model. It predicts from raw rows, with the training rows' statistics.
///
/// ```
/// use dpp_nystrom::{Dataset, KernelRidge, Model, Nystroem};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?.with_names(&["time"], "level")?;
/// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
/// assert_eq!((model.trained_rows, model.outputs(), model.feature_names[0].as_str()), (100, 1, "time"));
/// let received = Model::from_bytes(&model.to_bytes()?)?;
/// assert_eq!(received.predict(&[2.0])?, model.predict(&[2.0])?);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The names of the features, in order.
    pub feature_names: Vec<String>,
    /// The name of the first target.
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
    /// Row indices of the landmarks in the training file, from 0; empty if the landmarks are points rather
    /// than rows.
    pub landmark_rows: Vec<u64>,
    /// Root mean square error on the training rows, over the target's standard deviation; of several targets,
    /// over all of them.
    pub train_nrmse: f64,
    /// Landmarks and weights.
    pub coefficients: AnyCoefficients,
    /// The limits and variances of its predictions, if it was fitted to rows: a section of its own in a file.
    #[serde(skip)]
    pub confidence: Option<Confidence>,
    /// The inverse length-scale of each standardised feature in the learned metric, in bandwidths; of a map,
    /// the norm of its column. None for one bandwidth. A section of its own in a file.
    #[serde(skip)]
    pub scales: Option<Vec<f64>>,
    /// By how much the error rises where a column is permuted, if it was measured. A section of its own in a
    /// file.
    #[serde(skip)]
    pub importances: Option<Importances>,
    /// The error on rows that no choice has seen, if it was measured. A section of its own in a file.
    #[serde(skip)]
    pub test_error: Option<TestError>,
    /// The integers in which it was fitted to be exported, as [`fit_in_flash`](crate::pipeline::fit_in_flash)
    /// chooses them; none for single precision. A section of its own in a file.
    #[serde(skip)]
    pub quantise: Option<Bits>,
    /// How the columns of a table become its features, if there is more to it than their names: a section of
    /// its own in a file.
    #[serde(skip)]
    pub recipe: Option<Recipe>,
    /// The outputs after the first, with [`classifier`](Self::classifier) a section of its own in a file.
    #[serde(skip)]
    pub further: Vec<Output>,
    /// The classes, if the outputs estimate their indicators.
    #[serde(skip)]
    pub classifier: Option<Classifier>,
}

impl Model {
    /// Return the number of landmarks.
    pub fn landmarks(&self) -> usize {
        match &self.coefficients {
            AnyCoefficients::F32(coefficients) => coefficients.weights.len(),
            AnyCoefficients::F64(coefficients) => coefficients.weights.len(),
        }
    }

    /// Return how the columns of a table become the features: what the model stores, or columns of these
    /// names.
    pub fn recipe(&self) -> Recipe {
        let stored = self.recipe.clone();
        let recipe = stored.unwrap_or_else(|| Recipe::of_names(&self.feature_names, Some(&self.target_name)));
        match &self.classifier {
            Some(Classifier { classes, .. }) => Recipe {
                target: Some(classes.column.clone()),
                classes: Some(classes.labels.clone()),
                ..recipe
            },
            None => Recipe {
                further: self.further.iter().map(|output| output.target.name.clone()).collect(),
                ..recipe
            },
        }
    }

    /// Return the name of the column that weighted the training rows, if there was one.
    pub fn weight(&self) -> Option<&str> {
        self.recipe.as_ref()?.weight.as_deref()
    }

    /// Return the number of outputs: one, or that of targets or classes.
    pub fn outputs(&self) -> usize {
        1 + self.further.len()
    }

    /// Return the target of each output.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
    ///
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    /// let y: Vec<f64> = x.iter().flat_map(|x| [x.sin(), x.cos()]).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_targets(&y, &["sine", "cosine"])?;
    /// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
    /// assert!(model.targets().map(|target| target.name).eq(["sine", "cosine"]));
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn targets(&self) -> impl Iterator<Item = TargetColumn> {
        let (name, mean, deviation) = (self.target_name.clone(), self.target_mean, self.target_deviation);
        let further = self.further.iter().map(|output| output.target.clone());
        std::iter::once(TargetColumn { name, mean, deviation }).chain(further)
    }

    /// Return this model with another ridge and other weights, one output after the other.
    pub(crate) fn with_weights(&self, ridge: f64, weights: &[f64]) -> Self {
        let (first, others) = weights.split_at(self.landmarks());
        let mut further = self.further.clone();
        for (output, weights) in further.iter_mut().zip(others.chunks_exact(self.landmarks().max(1))) {
            output.weights = weights.to_vec();
        }
        let coefficients = self.coefficients.with_weights(first);
        Self { ridge, coefficients, further, confidence: None, ..self.clone() }
    }

    /// Return a model of one output for each, as [`Bundle`](crate::model::export::Bundle) takes them.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
    ///
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    /// let y: Vec<f64> = x.iter().flat_map(|x| [x.sin(), x.cos()]).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_targets(&y, &["sine", "cosine"])?;
    /// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
    /// let outputs = model.each_output();
    /// assert_eq!(outputs[1].target_name, "cosine");
    /// assert!((outputs[1].predict(&[2.0])?[0] - model.predict(&[2.0])?[1]).abs() < 1e-12);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn each_output(&self) -> Vec<Self> {
        let first = Self { further: Vec::new(), classifier: None, ..self.clone() };
        let further = self.further.iter().map(|Output { target, weights }| Self {
            target_name: target.name.clone(),
            target_mean: target.mean,
            target_deviation: target.deviation,
            coefficients: first.coefficients.with_weights(weights),
            ..first.clone()
        });
        std::iter::once(first.clone()).chain(further).collect()
    }

    /// Return the names and statistics of the columns that the model was trained on.
    pub fn columns(&self) -> Columns {
        Columns {
            name: self.trained_on.clone(),
            feature_names: self.feature_names.clone(),
            scaler: self.scaler.clone(),
            target: self.targets().next(),
            further: self.targets().skip(1).collect(),
            classes: self.classifier.as_ref().map(|classifier| classifier.classes.clone()),
        }
    }

    /// Predict the target, in its own units, for each raw row of `rows`: row-major, as many features a row as
    /// the model has, in their order and units. Of several [`outputs`](Self::outputs), all are returned, row
    /// by row. On all threads; `c d` multiply-adds, with a map of rank r `(c + d) r`, `c` kernel values, and
    /// `c` multiply-adds for each output a row.
    ///
    /// # Errors
    /// `ErrorKind::Argument` if the length of `rows` is not a multiple of the number of features,
    /// `ErrorKind::Data` for a row whose prediction is not finite, because it overflows or the row holds NaN.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, ErrorKind, KernelRidge, Nystroem};
    ///
    /// let x: Vec<f64> = (0..200).map(|i| f64::from(i % 20)).collect();
    /// let y: Vec<f64> = x.chunks(2).map(|row| row[0] * row[1]).collect();
    /// let data = Dataset::from_rows(&x, 2)?.with_target(&y)?;
    /// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
    /// assert_eq!(model.predict(&[4.0, 5.0, 8.0, 9.0])?.len(), 2); // two rows of two features
    /// assert_eq!(model.predict(&[4.0]).unwrap_err().kind(), ErrorKind::Argument);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn predict(&self, rows: &[f64]) -> Result<Vec<f64>, Error> {
        let dim = self.feature_names.len();
        check_rows(rows.len(), dim)?;
        match &self.coefficients {
            AnyCoefficients::F32(coefficients) => self.predict_in(coefficients, rows),
            AnyCoefficients::F64(coefficients) => self.predict_in(coefficients, rows),
        }
    }

    /// Predict the target for each row of a table with the model's features; of several outputs, all of them,
    /// row by row.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for another number of features; those of [`predict`](Self::predict).
    ///
    /// ```
    /// use dpp_nystrom::data::table::{self, Target};
    /// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("new.csv");
    /// std::fs::write(&path, "time\n2\n5\n")?;
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
    /// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
    /// let table = table::read(&path, &Target::None)?;
    /// assert_eq!(model.predict_table(&table)?, model.predict(&[2.0, 5.0])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn predict_table(&self, table: &Table) -> Result<Vec<f64>, Error> {
        check_length("features", self.feature_names.len(), table.dim)?;
        self.predict(&table.features)
    }

    fn predict_in<T: Scalar>(&self, coefficients: &Coefficients<T>, rows: &[f64]) -> Result<Vec<f64>, Error> {
        let (dim, width, outputs) = (self.feature_names.len(), self.scaler.width(), self.outputs());
        // The core's model computes from standardised rows, and in standard deviations of the targets.
        let (zeros_of, ones_of) = (|count| vec![T::ZERO; count], |count| vec![T::ONE; count]);
        let (means, scales) = (zeros_of(width), ones_of(width));
        let (target_means, target_scales) = (zeros_of(outputs - 1), ones_of(outputs - 1));
        let weights = self.further.iter().flat_map(|output| &output.weights);
        let weights: Vec<T> = weights.copied().map(T::from_f64).collect();
        let parts = Parts {
            means: &means,
            scaling: Scaling::PerFeature(&scales),
            landmarks: &coefficients.landmarks,
            weights: &coefficients.weights,
            target_mean: T::ZERO,
            target_scale: T::ONE,
        };
        let first = dpp_nystrom_core::Model::new(self.kernel.build::<T>()?, parts)?;
        let further = Further { weights: &weights, means: &target_means, scales: &target_scales };
        let model = Outputs::new(first, further)?;
        let targets: Vec<TargetColumn> = self.targets().collect();
        let mut predictions = zeros(rows.len() / dim * outputs, 0.0)?;
        predictions
            .par_chunks_mut(BLOCK * outputs)
            .zip(rows.par_chunks(BLOCK * dim))
            .enumerate()
            .try_for_each(|(block, (predictions, rows))| {
                let mut scaled = vec![0.0; width];
                let (mut row, mut room, mut out) = (zeros_of(width), zeros_of(width), zeros_of(outputs));
                let rows = rows.chunks_exact(dim).zip(predictions.chunks_exact_mut(outputs));
                for (at, (features, predictions)) in rows.enumerate() {
                    self.scaler.scale_row(features, &mut scaled);
                    row.iter_mut().zip(&scaled).for_each(|(value, &scaled)| *value = T::from_f64(scaled));
                    model.predict(&row, &mut room, &mut out).map_err(|error| match error {
                        CoreError::NotFinite { column, .. } => {
                            CoreError::NotFinite { row: block * BLOCK + at, column }
                        }
                        other => other,
                    })?;
                    for ((prediction, standard), target) in predictions.iter_mut().zip(&out).zip(&targets) {
                        *prediction = target.mean + target.deviation * standard.to_f64();
                        if !prediction.is_finite() {
                            return Err(Error(Cause::Prediction { row: block * BLOCK + at }));
                        }
                    }
                }
                Ok(())
            })?;
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
            && self.scales.as_ref().is_none_or(|scales| {
                scales.len() == dim && scales.iter().all(|scale| (0.0..f64::INFINITY).contains(scale))
            })
            && self.importances.as_ref().is_none_or(|importances| importances.is_well_formed(dim))
            && self.test_error.as_ref().is_none_or(TestError::is_well_formed)
            && self.recipe.as_ref().is_none_or(|recipe| recipe.is_well_formed(&self.feature_names))
            && self.further.iter().all(|Output { target, weights: own }| {
                own.len() == weights.len() && finite(own) && finite(&[target.mean, target.deviation])
            })
            && self.classifier.as_ref().is_none_or(|classifier| {
                classifier.classes.labels.len() == self.outputs()
                    && self.outputs() > 1
                    && classifier.temperature > 0.0
                    && classifier.temperature.is_finite()
            })
    }
}
