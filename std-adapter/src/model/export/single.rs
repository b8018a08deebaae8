//! A model in single precision.

use crate::error::{Error, export::ExportProblem};
use crate::model::trained::{Coefficients, Model};
use dpp_nystrom_core::{self as core, kernel::ChosenKernel};

/// The constants of a [`core::Model`] in single precision, on the heap.
#[derive(Clone, Debug)]
pub struct Single {
    /// The features' means.
    pub means: Vec<f32>,
    /// One over their standard deviations; 0 for a constant feature.
    pub scales: Vec<f32>,
    /// Standardised landmarks, one row after the other.
    pub landmarks: Vec<f32>,
    /// One weight per landmark.
    pub weights: Vec<f32>,
    /// The target's mean.
    pub target_mean: f32,
    /// The target's standard deviation.
    pub target_scale: f32,
    /// The kernel, whose parameter is precomputed.
    pub kernel: ChosenKernel<f32>,
}

impl Single {
    /// Round a model to single precision.
    pub(crate) fn of(model: &Model) -> Result<Self, Error> {
        if model.scaler.map.is_some() {
            return Err(ExportProblem::Map.into());
        }
        let rounded = |what: &str, values: &[f64]| -> Result<Vec<f32>, Error> {
            values.iter().enumerate().map(|(i, &value)| single(|| format!("{what} {i}"), value)).collect()
        };
        let named = |what: &str, values: &[f64]| -> Result<Vec<f32>, Error> {
            let names = values.iter().zip(&model.feature_names);
            names
                .map(|(&value, name)| single(|| format!("the {what} of the feature {name:?}"), value))
                .collect()
        };
        let inverse = |&deviation: &f64| if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
        let inverses: Vec<f64> = model.scaler.deviations.iter().map(inverse).collect();
        let Coefficients { landmarks, weights } = model.coefficients.to_f64();
        Ok(Self {
            means: named("mean", &model.scaler.means)?,
            scales: named("inverse standard deviation", &inverses)?,
            landmarks: rounded("coordinate", &landmarks)?,
            weights: rounded("weight", &weights)?,
            target_mean: single(|| "the target's mean".to_owned(), model.target_mean)?,
            target_scale: single(|| "the target's standard deviation".to_owned(), model.target_deviation)?,
            kernel: model.kernel.build()?,
        })
    }

    /// Borrow the values as the core's model.
    ///
    /// # Errors
    /// [`Error::Core`] if the parts are inconsistent.
    pub fn lend(&self) -> Result<core::Model<'_, f32, ChosenKernel<f32>>, Error> {
        let parts = core::Parts {
            means: &self.means,
            scales: &self.scales,
            landmarks: &self.landmarks,
            weights: &self.weights,
            target_mean: self.target_mean,
            target_scale: self.target_scale,
        };
        Ok(core::Model::new(self.kernel, parts)?)
    }
}

/// Round to single precision.
pub(crate) fn single(what: impl FnOnce() -> String, value: f64) -> Result<f32, Error> {
    let rounded = value as f32;
    // An inverse rounded to zero cannot undo a scaling.
    if !rounded.is_finite() || (rounded == 0.0 && value != 0.0) {
        return Err(ExportProblem::Range { what: what(), value }.into());
    }
    Ok(rounded)
}
