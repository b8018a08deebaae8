//! Heads: what the outputs of a regression stand for, and by which loss they are judged.
//!
//! | | values | classes |
//! | --- | --- | --- |
//! | targets | standardised numbers | 1 in rows of the class and else 0, standardised, one output a class |
//! | weights | least squares | least log-loss; least squares where sums of rows merge |
//! | loss of a row | mean squared residual over the outputs | `-ln p` of its class |
//! | error | root of the mean loss | mean loss; the share of wrong classes beside it |
//! | probabilities | none | softmax of the outputs over a temperature, which is calibrated |
//!
//! All that depends on the head goes through [`Head`]. Another one is a file for what it computes and a
//! variant, which the matches below and that of [`regress`](crate::regression::solve::regress::regress) then
//! ask for.

pub(crate) mod class_errors;
pub(crate) mod logistic;

use crate::data::{
    columns::Columns, prepared::Prepared, source::RowSource, targets::class_of, weights::Weights,
};
use crate::error::Error;
use crate::model::classes::{Classifier, log_probability, temperature};
use crate::model::measured::TestError;
use crate::regression::choose::held_out::{estimate, root, share};
use crate::regression::head::class_errors::{ClassErrors, Classed, class_errors};

/// The standard errors by which the log-loss of classes must be lower for a difference to count: log-losses
/// of a few rows decide on classes.
const CLASS_MARGIN: f64 = 2.0;

/// What the outputs of a regression stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// The targets themselves.
    Values,
    /// The classes, by an output for each.
    Classes,
}

impl Head {
    /// Return the head of rows with these columns.
    pub(crate) fn of(columns: &Columns) -> Self {
        if columns.classes.is_some() { Self::Classes } else { Self::Values }
    }

    /// Whether [`calibrate`](Self::calibrate) needs outputs of all rows without their fold.
    pub(crate) fn is_calibrated(self) -> bool {
        match self {
            Self::Values => false,
            Self::Classes => true,
        }
    }

    /// Return by how many standard errors of the difference an error must be lower to be preferred.
    pub(crate) fn margin(self) -> f64 {
        match self {
            Self::Values => 1.0,
            Self::Classes => CLASS_MARGIN,
        }
    }

    /// Return the class of each of these rows; for values all are 0.
    pub(crate) fn classes(self, data: &Prepared, rows: &[usize]) -> Vec<usize> {
        match self {
            Self::Values => vec![0; rows.len()],
            Self::Classes => rows.iter().map(|&row| class_of(&data.further, row)).collect(),
        }
    }

    /// Return the temperature with the largest likelihood of rows of these classes; 1 for values. `outputs`
    /// are in the units of the targets, row by row.
    pub(crate) fn temperature(self, outputs: &[f64], classes: &[usize], weights: Weights<'_>) -> f64 {
        match self {
            Self::Values => 1.0,
            Self::Classes => temperature(outputs, outputs.len() / classes.len().max(1), classes, weights),
        }
    }

    /// Return the loss of a row from its outputs, in the units of the targets, and its residuals, in standard
    /// deviations; `class` and `temperature` are not used for values.
    pub(crate) fn loss(
        self,
        outputs: &[f64],
        residuals: impl Iterator<Item = f64>,
        class: usize,
        temperature: f64,
    ) -> f64 {
        match self {
            Self::Values => residuals.map(|residual| residual * residual).sum::<f64>() / outputs.len() as f64,
            Self::Classes => -log_probability(outputs, class, temperature),
        }
    }

    /// Return the error of rows with this mean loss.
    pub(crate) fn error(self, mean: f64) -> f64 {
        match self {
            Self::Values => mean.sqrt(),
            Self::Classes => mean,
        }
    }

    /// Return the mean loss of rows with this error.
    pub(crate) fn mean_loss(self, error: f64) -> f64 {
        match self {
            Self::Values => error * error,
            Self::Classes => error,
        }
    }

    /// Return the errors of classes and what turns outputs into probabilities, from outputs that were
    /// predicted without the rows or their folds, in standard deviations of the targets, row by row. `None`
    /// for values.
    ///
    /// # Errors
    /// `ErrorKind::Data` for an output that is not finite.
    pub(crate) fn calibrate(
        self,
        outputs: Vec<f64>,
        source: &dyn RowSource,
        seed: u64,
    ) -> Result<Option<(ClassErrors, Classifier)>, Error> {
        let (Self::Classes, Some(classes)) = (self, source.columns().classes) else { return Ok(None) };
        let Classed { errors, temperature, .. } = class_errors(outputs, source, seed)?;
        Ok(Some((errors, Classifier { classes, temperature })))
    }

    /// Return the test error of outputs, in the units of the targets, of rows that they have not seen, and
    /// the errors of classes. No test error if the rows are of one group.
    ///
    /// # Errors
    /// `ErrorKind::Data` for an output that is not finite.
    pub(crate) fn test(
        self,
        outputs: &[f64],
        rows: &Prepared,
        seed: u64,
    ) -> Result<(Option<TestError>, Option<ClassErrors>), Error> {
        let targets: Vec<_> = rows.targets().collect();
        let standard = outputs.chunks_exact(targets.len()).map(|outputs| {
            let own = outputs.iter().zip(&targets);
            own.map(|(output, target)| (output - target.mean) / target.deviation).collect::<Vec<_>>()
        });
        let count = rows.len();
        let measured = |error, log_loss| TestError { rows: count as u64, error, log_loss };
        match self {
            Self::Values => {
                let losses = standard.enumerate().map(|(row, outputs)| {
                    let residuals =
                        outputs.iter().zip(&targets).map(|(output, target)| output - target.values[row]);
                    self.loss(&outputs, residuals, 0, 1.0)
                });
                let error = estimate(&losses.collect::<Vec<_>>(), rows).map(root);
                Ok((error.map(|error| measured(error, None)), None))
            }
            Self::Classes => {
                let Classed { errors, losses, wrong, .. } =
                    class_errors(standard.flatten().collect(), rows, seed)?;
                let estimates = estimate(&wrong, rows).zip(estimate(&losses, rows));
                let test = estimates.map(|(wrong, losses)| measured(share(wrong, count), Some(losses)));
                Ok((test, Some(errors)))
            }
        }
    }
}
