//! Fitting a model to a source of rows and landmarks.

use crate::approximation::landmark_set::LandmarkSet;
use crate::data::columns::{Columns, RowSlices, Targets};
use crate::data::prepared::Prepared;
use crate::data::source::{Order, RowSource};
use crate::error::Error;
use crate::kernel::precision::Precision;
use crate::kernel::spec::KernelSpec;
use crate::model::trained::{AnyCoefficients, Coefficients, Model};
use crate::observer::{NoObserver, Observer};
use crate::regression::checkpoint::{Checkpoint, Kept, Key};
use crate::regression::params::FitParams;
use crate::regression::regress::{Input, Regression, Rounds, regress};
use crate::regression::ridge::{Ridge, ridge_grid};
use crate::simd::lane::Lane;
use dpp_nystrom_core::{RidgeRegression, Scalar};

/// A fitted model and its errors.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// The number of landmarks dropped because they are linearly dependent under this kernel.
    pub dependent: usize,
    /// Root mean squared error over the folds, in standard deviations of the target, if the ridge was cross-validated.
    pub validation_nrmse: Option<f64>,
    /// The landmarks that are not left out: places among those given.
    pub(crate) kept: Vec<usize>,
}

/// Fit ridge regression on landmarks to all rows of a source, in one pass.
///
/// Costs `O(N c²)` multiply-adds and `O(c²)` memory, plus a byte per row if the ridge is cross-validated. An
/// interrupted fit resumes from its checkpoint and yields the same model bit for bit.
///
/// # Errors
/// [`Error::NoTarget`], [`Error::ConstantTarget`], [`Error::Landmarks`], [`Error::Regression`], [`Error::Memory`],
/// [`Error::Cancelled`]; errors of the source and of the checkpoint.
pub fn fit(
    source: &dyn RowSource,
    landmarks: &LandmarkSet,
    params: FitParams,
    checkpoint: Option<&mut Checkpoint>,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    source.verify()?;
    let columns = source.columns();
    columns.learnable()?;
    source.expect(Order::Sequential);
    let work = Work { source, columns: &columns, landmarks, params, observer };
    match (source.slices(), params.precision) {
        (Some(RowSlices::F64(rows, Some(targets))), Precision::F64) => {
            work.fit(rows, Targets::F64(targets), AnyCoefficients::F64, checkpoint)
        }
        (Some(RowSlices::F64(rows, Some(targets))), Precision::F32) => {
            work.fit(&single(rows), Targets::F64(targets), AnyCoefficients::F32, checkpoint)
        }
        (Some(RowSlices::F32(rows, Some(targets))), _) => {
            work.fit(rows, Targets::F32(targets), AnyCoefficients::F32, checkpoint)
        }
        _ => Err(Error::NoTarget),
    }
}

/// Return the root mean squared error in 10-fold cross-validation, in standard deviations of the target.
///
/// Uses the given ridge or the best of [`ridge_grid`], and computes in `f64`.
pub(crate) fn validation_error(
    data: &Prepared,
    landmarks: &LandmarkSet,
    kernel: KernelSpec,
    ridge: Ridge,
    seed: u64,
) -> Result<f64, Error> {
    let points = landmarks.features(data)?;
    let input = Input {
        rows: &data.rows,
        dim: data.dim,
        targets: data.learnable()?.values.as_slice().into(),
        landmarks: &points,
        kernel: &kernel.build()?,
    };
    let ridges = match ridge {
        Ridge::Value(value) => vec![value],
        Ridge::CrossValidated => ridge_grid().collect(),
    };
    let (fitted, _) = regress(input, Ridge::CrossValidated, &ridges, seed, &mut (), &NoObserver)?;
    fitted.validation_error.ok_or(Error::Folds { rows: data.len() })
}

pub(crate) fn single(rows: &[f64]) -> Vec<f32> {
    rows.iter().map(|&value| value as f32).collect()
}

struct Work<'s> {
    source: &'s dyn RowSource,
    columns: &'s Columns,
    landmarks: &'s LandmarkSet,
    params: FitParams,
    observer: &'s dyn Observer,
}

impl Work<'_> {
    fn fit<T: Lane>(
        &self,
        rows: &[T],
        targets: Targets<'_>,
        coefficients: fn(Coefficients<T>) -> AnyCoefficients,
        checkpoint: Option<&mut Checkpoint>,
    ) -> Result<Fitted, Error> {
        let Self { source, columns, landmarks, params, observer } = *self;
        let FitParams { kernel, ridge, seed, .. } = params;
        let points = landmarks.features(source)?;
        let precision = if size_of::<T>() == size_of::<f32>() { Precision::F32 } else { Precision::F64 };
        let checkpoint = checkpoint
            .map(|checkpoint| checkpoint.of(Key::new(source, &points, FitParams { precision, ..params })));
        let mut rounds = Watched { source, checkpoint };
        let points: Vec<T> = points.iter().map(|&value| T::from_f64(value)).collect();
        let input =
            Input { rows, dim: columns.features(), targets, landmarks: &points, kernel: &kernel.build()? };
        let grid: Vec<f64> = ridge_grid().collect();
        let fitted = regress(input, ridge, &grid, seed, &mut rounds, observer);
        // If the file of a source was truncated, its rows read as zeros, which may itself cause an error.
        source.check()?;
        let numbers = match landmarks {
            LandmarkSet::Indices(rows) => rows.iter().map(|&row| source.row_number(row) as u64).collect(),
            LandmarkSet::Points(_) => Vec::new(),
        };
        let rows = source.len() as u64;
        assemble(columns, rows, &points, &numbers, fitted?.0, kernel, coefficients)
    }
}

/// Build the model of a regression on `points`. `numbers` holds their row numbers if they are rows.
pub(crate) fn assemble<T: Scalar>(
    columns: &Columns,
    rows: u64,
    points: &[T],
    numbers: &[u64],
    fitted: Regression<T>,
    kernel: KernelSpec,
    coefficients: fn(Coefficients<T>) -> AnyCoefficients,
) -> Result<Fitted, Error> {
    let target = columns.learnable()?;
    let dim = columns.features();
    let mut landmarks = Vec::with_capacity(fitted.kept.len() * dim);
    for &place in &fitted.kept {
        landmarks.extend_from_slice(&points[place * dim..(place + 1) * dim]);
    }
    let model = Model {
        feature_names: columns.feature_names.clone(),
        target_name: target.name.clone(),
        scaler: columns.scaler.clone(),
        target_mean: target.mean,
        target_deviation: target.deviation,
        kernel,
        ridge: fitted.ridge,
        trained_on: columns.name.clone(),
        trained_rows: rows,
        landmark_rows: fitted.kept.iter().filter_map(|&place| numbers.get(place).copied()).collect(),
        train_nrmse: fitted.train_error,
        coefficients: coefficients(Coefficients { landmarks, weights: fitted.weights }),
    };
    let dependent = points.len() / dim - fitted.kept.len();
    Ok(Fitted { model, dependent, validation_nrmse: fitted.validation_error, kept: fitted.kept })
}

/// Stops the fit if the source was shortened or altered, and writes its checkpoint.
struct Watched<'s> {
    source: &'s dyn RowSource,
    checkpoint: Option<Kept<'s>>,
}

impl Rounds for Watched<'_> {
    fn resume(&mut self, accumulators: &mut [RidgeRegression<'_, f64>]) -> Result<usize, Error> {
        self.checkpoint.as_mut().map_or(Ok(0), |checkpoint| checkpoint.resume(accumulators))
    }

    fn after_round(&mut self, rounds: usize, accumulators: &[RidgeRegression<'_, f64>]) -> Result<(), Error> {
        self.source.check()?;
        self.checkpoint.as_mut().map_or(Ok(()), |checkpoint| checkpoint.after_round(rounds, accumulators))
    }
}
