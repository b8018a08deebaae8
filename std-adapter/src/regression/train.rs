//! From prepared rows and landmarks to a model.

use crate::approximation::landmark_set::LandmarkSet;
use crate::data::prepared::Prepared;
use crate::error::Error;
use crate::kernel::precision::Precision;
use crate::kernel::spec::KernelSpec;
use crate::model::trained::{AnyCoefficients, Coefficients, Model};
use crate::observer::{NoObserver, Observer};
use crate::regression::fit::{Regression, RegressionInput, fit, fit_scored};
use crate::regression::ridge::{Ridge, ridge_grid};
use crate::simd::lane::Lane;
use dpp_nystrom_core::Scalar;

/// What [`select_rows`] and [`train`] need to know beside the rows.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The kernel.
    pub kernel: KernelSpec,
    /// The arithmetic.
    pub precision: Precision,
    /// The seed.
    pub seed: u64,
}

/// A trained model, and how well it does on the rows that it was trained on.
#[derive(Clone, Debug)]
pub struct Training {
    /// The model.
    pub model: Model,
    /// Landmarks left out because they depend on others.
    pub dependent: usize,
    /// Root mean squared error over the folds, in standard deviations of the target, where the
    /// ridge was cross-validated.
    pub validation_nrmse: Option<f64>,
}

/// Fits ridge regression on these landmarks, rows counted among the prepared ones.
///
/// # Errors
/// [`Error::NoTarget`], [`Error::ConstantTarget`], and those of [`fit`].
pub fn train(
    data: &Prepared,
    landmarks: &[usize],
    ridge: Ridge,
    setting: Setting,
    observer: &dyn Observer,
) -> Result<Training, Error> {
    train_at(data, &LandmarkSet::Indices(landmarks.to_vec()), ridge, setting, observer)
}

/// [`train`] on landmarks that may be points of their own: the model has no row numbers then.
///
/// # Errors
/// Those of [`train`].
pub fn train_at(
    data: &Prepared,
    landmarks: &LandmarkSet,
    ridge: Ridge,
    setting: Setting,
    observer: &dyn Observer,
) -> Result<Training, Error> {
    match setting.precision {
        Precision::F64 => {
            train_in(&data.rows, data, landmarks, ridge, setting, AnyCoefficients::F64, observer)
        }
        Precision::F32 => {
            train_in(&single(data), data, landmarks, ridge, setting, AnyCoefficients::F32, observer)
        }
    }
}

/// The root mean square error in 10-fold cross-validation, in standard deviations of the target, at the ridge
/// given or at the best of [`ridge_grid`]; in `f64`.
pub(crate) fn validation_error(
    data: &Prepared,
    landmarks: &LandmarkSet,
    ridge: Ridge,
    setting: Setting,
) -> Result<f64, Error> {
    let points = landmarks.features(data)?;
    let problem = RegressionInput {
        rows: &data.rows,
        dim: data.dim,
        targets: data.learnable()?.values.as_slice().into(),
        landmarks: &points,
        kernel: &setting.kernel.build()?,
    };
    let ridges = match ridge {
        Ridge::Value(value) => vec![value],
        Ridge::CrossValidated => ridge_grid().collect(),
    };
    let (fitted, _) = fit_scored(problem, Ridge::CrossValidated, &ridges, setting.seed, &NoObserver)?;
    fitted.validation_error.ok_or(Error::Folds { rows: data.len() })
}

fn train_in<T: Lane>(
    rows: &[T],
    data: &Prepared,
    landmarks: &LandmarkSet,
    ridge: Ridge,
    setting: Setting,
    numbers: fn(Coefficients<T>) -> AnyCoefficients,
    observer: &dyn Observer,
) -> Result<Training, Error> {
    let Setting { kernel, seed, .. } = setting;
    let target = data.learnable()?;
    let points: Vec<T> = match landmarks {
        LandmarkSet::Indices(rows) => data.gather(rows)?,
        LandmarkSet::Points(points) => points.iter().map(|&value| T::from_f64(value)).collect(),
    };
    let problem = RegressionInput {
        rows,
        dim: data.dim,
        targets: target.values.as_slice().into(),
        landmarks: &points,
        kernel: &kernel.build()?,
    };
    assemble(data, landmarks, &points, fit(problem, ridge, seed, observer)?, setting, numbers)
}

/// A model from what was fitted on `points`, the features of `landmarks`. The number of rows is that of `data`.
pub(crate) fn assemble<T: Scalar>(
    data: &Prepared,
    landmarks: &LandmarkSet,
    points: &[T],
    fitted: Regression<T>,
    setting: Setting,
    numbers: fn(Coefficients<T>) -> AnyCoefficients,
) -> Result<Training, Error> {
    let Setting { kernel, .. } = setting;
    let target = data.learnable()?;
    let dependent = points.len() / data.dim - fitted.kept.len();
    let mut kept = Vec::with_capacity(fitted.kept.len() * data.dim);
    for &place in &fitted.kept {
        kept.extend_from_slice(&points[place * data.dim..(place + 1) * data.dim]);
    }
    let landmark_rows = match landmarks {
        LandmarkSet::Indices(rows) => {
            fitted.kept.iter().map(|&place| data.number(rows[place]) as u64).collect()
        }
        LandmarkSet::Points(_) => Vec::new(),
    };
    let model = Model {
        feature_names: data.feature_names.clone(),
        target_name: target.name.clone(),
        scaler: data.statistics.clone(),
        target_mean: target.mean,
        target_deviation: target.deviation,
        kernel,
        ridge: fitted.ridge,
        trained_on: data.name.clone(),
        trained_rows: data.len() as u64,
        landmark_rows,
        train_nrmse: fitted.train_error,
        coefficients: numbers(Coefficients { landmarks: kept, weights: fitted.weights }),
    };
    Ok(Training { model, dependent, validation_nrmse: fitted.validation_error })
}

pub(crate) fn single(data: &Prepared) -> Vec<f32> {
    data.rows.iter().map(|&value| value as f32).collect()
}
