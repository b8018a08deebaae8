//! Fitting a model to a source of rows and landmarks.

use crate::approximation::landmark_set::LandmarkSet;
use crate::data::{columns::Columns, columns::RowSlices, source::Order, source::RowSource};
use crate::error::{Cause, Error};
use crate::kernel::{precision::Precision, spec::KernelSpec};
use crate::model::confidence::Confidence;
use crate::model::trained::{AnyCoefficients, Coefficients, Model, Output};
use crate::observer::Observer;
use crate::regression::{
    checkpoint::Checkpoint, checkpoint::Rounds, head::Head, head::class_errors::ClassErrors,
    params::FitParams, ridge::Ridge, rows::input::Input, solve::parts::Asked, solve::regress::cross_validate,
    solve::regress::regress, solve::solution::Quality, solve::solution::Regression, solve::solution::Unseen,
    solve::solution::WithoutFold,
};
use dpp_nystrom_core::Scalar;
use dpp_nystrom_host::simd::lane::Lane;
use faer::traits::RealField;
use std::mem;

/// A fitted model and its errors.
///
/// ```
/// use dpp_nystrom::{Dataset, KernelRidge, Nystroem, observer::NoObserver};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let map = Nystroem::params(8).fit(&data)?;
/// let fitted = KernelRidge::params(&map).fit_observed(&data, &NoObserver)?;
/// let chosen = fitted.ridge_errors.iter().map(|&(_, error)| error).fold(f64::INFINITY, f64::min);
/// assert!(fitted.validation_nrmse.is_some_and(|error| (error - chosen).abs() < 1e-12));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// The number of landmarks dropped because they are linearly dependent under this kernel.
    pub dependent: usize,
    /// Root mean squared error over the folds, or of leaving out each row, in standard deviations of the
    /// target, if the ridge was chosen by it. Of several targets, over all of them; of classes, that of their
    /// probabilities.
    pub validation_nrmse: Option<f64>,
    /// Whether that is the error of one fold: of more than 2,048 landmarks and eight times as many rows.
    pub one_fold: bool,
    /// Each ridge that was compared, with its root mean squared error, as
    /// [`validation_nrmse`](Self::validation_nrmse) is that of the ridge that was chosen. Few are compared
    /// where that is the error of one fold.
    pub ridge_errors: Vec<(f64, f64)>,
    /// The errors of classes, on rows that had no part in the weights.
    pub class_errors: Option<ClassErrors>,
    /// The landmarks that are not left out: places among those given.
    pub(crate) kept: Vec<usize>,
    /// The models of the rows without each of the folds that were asked for.
    pub(crate) without: Vec<Without>,
}

/// A model of the rows without a fold.
#[derive(Clone, Debug)]
pub(crate) struct Without {
    pub(crate) fold: u8,
    pub(crate) model: Model,
}

/// Fit ridge regression on landmarks to all rows of a source, in one pass.
///
/// Costs `O(N c²)` multiply-adds and `O(c²)` memory, plus a byte per row if the ridge is cross-validated. An
/// interrupted fit resumes from its checkpoint and yields the same model bit for bit.
///
/// Several targets share landmarks, factor and ridge. The ridge has the least sum of squared errors over the
/// standardised targets, so that no target's units outweigh the others.
///
/// Classes are told apart by multinomial logistic regression on the same features: some dozens of passes
/// over them, each of `2c` multiply-adds a row and class; of few rows by least squares where these are no
/// worse. The ridge is that of the least log-loss on rows
/// held out, which also give [`ClassErrors`] and the temperature of probabilities. Features take `8Nc` bytes,
/// at most 512 MiB: of more rows an evenly spaced sample is taken. Folds are stratified.
///
/// # Errors
/// `ErrorKind::Data` for no target or a constant one, `ErrorKind::Landmarks`, `ErrorKind::Regression`,
/// `ErrorKind::Memory`, `ErrorKind::Cancelled`; errors of the source and of the checkpoint.
pub fn fit(
    source: &dyn RowSource,
    landmarks: &LandmarkSet,
    params: FitParams,
    checkpoint: Option<&mut Checkpoint>,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    fit_without(source, landmarks, params, Apart::default(), checkpoint, observer)
}

/// The rows that have no part in a further fit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Apart<'a> {
    /// Folds: there is a model without each.
    pub(crate) folds: &'a [u8],
    /// Rows by which a metric was chosen that was learned on others; `None` if none was learned.
    pub(crate) judged: Option<&'a [usize]>,
}

/// [`fit`], and fit a model to all rows but those of each fold `apart`. Its ridge is chosen without them.
///
/// # Errors
/// Those of [`fit`].
pub(crate) fn fit_without(
    source: &dyn RowSource,
    landmarks: &LandmarkSet,
    params: FitParams,
    apart: Apart<'_>,
    checkpoint: Option<&mut Checkpoint>,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    source.verify()?;
    let columns = source.columns();
    columns.learnable()?;
    if checkpoint.is_some() {
        unweighted(source, "a checkpoint")?;
    }
    source.expect(Order::Sequential);
    let fit = Fit { source, landmarks, params, apart };
    match (source.slices(), params.precision) {
        (Some(RowSlices::F64(rows, _)), Precision::F64) => {
            fit.of_rows(rows, checkpoint, observer, AnyCoefficients::F64)
        }
        (Some(RowSlices::F64(rows, _)), Precision::F32) => {
            let rows: Vec<f32> = rows.iter().map(|&value| value as f32).collect();
            fit.of_rows(&rows, checkpoint, observer, AnyCoefficients::F32)
        }
        (Some(RowSlices::F32(rows, _)), _) => {
            let params = FitParams { precision: Precision::F32, ..params };
            Fit { params, ..fit }.of_rows(rows, checkpoint, observer, AnyCoefficients::F32)
        }
        (None, _) => Err(Error(Cause::NoTarget)),
    }
}

/// Refuse rows that have weights: `what` counts each once.
///
/// # Errors
/// `ErrorKind::Unsupported`.
pub(crate) fn unweighted(source: &dyn RowSource, what: &'static str) -> Result<(), Error> {
    if source.weights().is_some() { Err(Error(Cause::Unweighted { what })) } else { Ok(()) }
}

/// What a fit takes besides its rows in some precision.
struct Fit<'a> {
    source: &'a dyn RowSource,
    landmarks: &'a LandmarkSet,
    params: FitParams,
    apart: Apart<'a>,
}

impl Fit<'_> {
    /// Fit to rows in the precision `T`, which `coefficients` names.
    fn of_rows<T: Lane + RealField>(
        &self,
        rows: &[T],
        checkpoint: Option<&mut Checkpoint>,
        observer: &dyn Observer,
        coefficients: fn(Coefficients<T>) -> AnyCoefficients,
    ) -> Result<Fitted, Error> {
        let Self { source, landmarks, params, apart: Apart { folds: left_out, judged } } = *self;
        let FitParams { kernel, ridge, seed, .. } = params;
        let columns = source.columns();
        let head = Head::of(&columns);
        let points = points(source, landmarks)?;
        let input = Input::of(source, rows, &points, kernel)?;
        let mut rounds = Rounds::new(source, checkpoint, &input, params, (head.is_calibrated(), left_out));
        let asked = Asked { head, seed, measured: true, left_out, judged };
        let fitted = regress(input, &ridge.into(), asked, &mut rounds, observer);
        // If the file of a source was truncated, its rows read as zeros, which may itself cause an error.
        source.check()?;
        let numbers = landmarks.rows().unwrap_or_default().iter().map(|&row| source.row_number(row) as u64);
        let numbers: Vec<u64> = numbers.collect();
        let mut fitted = fitted?;
        let (held_out, without) = (fitted.held_out.take(), mem::take(&mut fitted.without));
        let rows = source.len() as u64;
        let mut found = assemble(&columns, rows, &points, &numbers, fitted, kernel, coefficients)?;
        let without = without.into_iter().map(|WithoutFold { fold, ridge, weights }| {
            let weights: Vec<f64> = weights.iter().map(|weight| weight.to_f64()).collect();
            Without { fold, model: found.model.with_weights(ridge, &weights) }
        });
        found.without = without.collect();
        if let Some(Unseen { rows, outputs }) = held_out.filter(|held_out| !held_out.rows.is_empty()) {
            found.calibrate(head, outputs, &source.gather(&rows)?, seed)?;
        }
        Ok(found)
    }
}

impl Fitted {
    /// Calibrate the head of the model by outputs for rows that had no part in them ([`Head::calibrate`]).
    ///
    /// # Errors
    /// `ErrorKind::Data` for an output that is not finite.
    pub(crate) fn calibrate(
        &mut self,
        head: Head,
        outputs: Vec<f64>,
        source: &dyn RowSource,
        seed: u64,
    ) -> Result<(), Error> {
        if let Some((errors, classifier)) = head.calibrate(outputs, source, seed)? {
            (self.class_errors, self.model.classifier) = (Some(errors), Some(classifier));
        }
        Ok(())
    }
}

/// Return the landmarks as points in the precision `T`.
fn points<T: Scalar>(source: &dyn RowSource, landmarks: &LandmarkSet) -> Result<Vec<T>, Error> {
    Ok(landmarks.features(source)?.iter().map(|&value| T::from_f64(value)).collect())
}

/// Return the root mean squared error in 10-fold cross-validation, in standard deviations of the target.
///
/// Uses the given ridge or the best of [`ridge_grid`](crate::regression::ridge_grid), in the precision of the
/// rows.
///
/// # Errors
/// Those of [`fit`], `ErrorKind::Data` for too few folds.
pub(crate) fn validation_error(
    source: &dyn RowSource,
    landmarks: &LandmarkSet,
    kernel: KernelSpec,
    ridge: Ridge,
    seed: u64,
    observer: &dyn Observer,
) -> Result<f64, Error> {
    source.expect(Order::Sequential);
    let ridges = ridge.candidates();
    let quality = match source.slices() {
        Some(RowSlices::F64(rows, _)) => {
            let points = points(source, landmarks)?;
            cross_validate(Input::of(source, rows, &points, kernel)?, ridges, seed, observer)
        }
        Some(RowSlices::F32(rows, _)) => {
            let points = points(source, landmarks)?;
            cross_validate(Input::of(source, rows, &points, kernel)?, ridges, seed, observer)
        }
        None => return Err(Error(Cause::NoTarget)),
    };
    // If the file of a source was truncated, its rows read as zeros, which may itself cause an error.
    source.check()?;
    quality?.validation_error.ok_or(Error(Cause::Folds { rows: source.len() }))
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
    let (dim, rank) = (columns.width(), fitted.kept.len());
    let Quality { train_error, validation_error, .. } = fitted.quality;
    let mut numbers_found = [train_error].into_iter().chain(validation_error);
    if !numbers_found.all(f64::is_finite) || fitted.weights.iter().any(|weight| !weight.is_finite()) {
        return Err(Error(Cause::NotFinite));
    }
    let mut landmarks = Vec::with_capacity(fitted.kept.len() * dim);
    for &place in &fitted.kept {
        landmarks.extend_from_slice(&points[place * dim..(place + 1) * dim]);
    }
    let (first, others) = fitted.weights.split_at(rank);
    let further = columns.further.iter().zip(others.chunks_exact(rank.max(1)));
    let further = further.map(|(target, weights)| Output {
        target: target.clone(),
        weights: weights.iter().map(|weight| weight.to_f64()).collect(),
    });
    let model = Model {
        feature_names: columns.feature_names.clone(),
        target_name: target.name.clone(),
        scaler: columns.scaler.clone(),
        target_mean: target.mean,
        target_deviation: target.deviation,
        kernel,
        ridge: fitted.quality.ridge,
        trained_on: columns.name.clone(),
        trained_rows: rows,
        landmark_rows: fitted.kept.iter().filter_map(|&place| numbers.get(place).copied()).collect(),
        train_nrmse: fitted.quality.train_error,
        further: further.collect(),
        classifier: None,
        coefficients: coefficients(Coefficients { landmarks, weights: first.to_vec() }),
        scales: None,
        importances: None,
        test_error: None,
        quantise: None,
        confidence: fitted.confidence.map(|confidence| Confidence {
            range: confidence.range.map(|end| target.mean + target.deviation * end),
            ..confidence
        }),
        recipe: None,
    };
    let dependent = points.len() / dim - fitted.kept.len();
    let Quality { validation_error: validation_nrmse, one_fold, scores, .. } = fitted.quality;
    let numbers = rows as f64 * model.outputs() as f64;
    let ridge_errors =
        scores.into_iter().map(|(ridge, squares)| (ridge, (squares / numbers).sqrt())).collect();
    Ok(Fitted {
        model,
        dependent,
        validation_nrmse,
        one_fold,
        ridge_errors,
        class_errors: None,
        kept: fitted.kept,
        without: Vec::new(),
    })
}
