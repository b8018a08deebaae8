//! A model in single precision.

use crate::error::Error;
use crate::error::export::ExportProblem;
use crate::model::trained::{AnyCoefficients, Model};
use dpp_nystrom_core as core;
use dpp_nystrom_core::kernel::ChosenKernel;

/// The constants of a [`core::Model`] in single precision, on the heap.
#[derive(Clone, Debug, PartialEq)]
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
    /// The kernel with its precomputed parameter.
    pub kernel: SingleKernel,
}

/// A kernel and its precomputed parameter, which leaves no arithmetic to the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SingleKernel {
    /// `-1/(2σ²)`.
    Gaussian(f32),
    /// `1/σ`.
    Laplace(f32),
    /// `√3/σ`.
    Matern32(f32),
    /// `√5/σ`.
    Matern52(f32),
    /// Degree and offset.
    Polynomial(u32, f32),
    /// No parameter.
    Linear,
}

impl Single {
    /// Round a model to single precision.
    pub(crate) fn of(model: &Model) -> Result<Self, Error> {
        let rounded = |what: &str, values: &[f64]| -> Result<Vec<f32>, Error> {
            values.iter().enumerate().map(|(i, &value)| single(|| format!("{what} {i}"), value)).collect()
        };
        let named = |what: &str, values: &[f64]| -> Result<Vec<f32>, Error> {
            let names = values.iter().zip(&model.feature_names);
            names
                .map(|(&value, name)| single(|| format!("the {what} of the feature {name:?}"), value))
                .collect()
        };
        let inverses: Vec<f64> = model
            .scaler
            .deviations
            .iter()
            .map(|&deviation| if deviation > 0.0 { 1.0 / deviation } else { 0.0 })
            .collect();
        let (landmarks, weights) = match &model.coefficients {
            AnyCoefficients::F32(trained) => (trained.landmarks.clone(), trained.weights.clone()),
            AnyCoefficients::F64(trained) => {
                (rounded("coordinate", &trained.landmarks)?, rounded("weight", &trained.weights)?)
            }
        };
        Ok(Self {
            means: named("mean", &model.scaler.means)?,
            scales: named("inverse standard deviation", &inverses)?,
            landmarks,
            weights,
            target_mean: single(|| "the target's mean".to_owned(), model.target_mean)?,
            target_scale: single(|| "the target's standard deviation".to_owned(), model.target_deviation)?,
            kernel: match model.kernel.build::<f32>()? {
                ChosenKernel::Gaussian(kernel) => SingleKernel::Gaussian(kernel.exponent()),
                ChosenKernel::Laplace(kernel) => SingleKernel::Laplace(kernel.rate()),
                ChosenKernel::Matern32(kernel) => SingleKernel::Matern32(kernel.rate()),
                ChosenKernel::Matern52(kernel) => SingleKernel::Matern52(kernel.rate()),
                ChosenKernel::Polynomial(kernel) => {
                    SingleKernel::Polynomial(kernel.degree(), kernel.offset())
                }
                ChosenKernel::Linear(_) => SingleKernel::Linear,
            },
        })
    }

    /// Borrow the values as the core's model.
    ///
    /// # Errors
    /// [`Error::Core`] if the parts are inconsistent.
    pub fn lend(&self) -> Result<core::Model<'_, f32, ChosenKernel<f32>>, Error> {
        use core::kernel::{Gaussian, Laplace, Linear, Matern32, Matern52, Polynomial};
        let kernel = match self.kernel {
            SingleKernel::Gaussian(exponent) => ChosenKernel::Gaussian(Gaussian::from_exponent(exponent)?),
            SingleKernel::Laplace(rate) => ChosenKernel::Laplace(Laplace::from_rate(rate)?),
            SingleKernel::Matern32(rate) => ChosenKernel::Matern32(Matern32::from_rate(rate)?),
            SingleKernel::Matern52(rate) => ChosenKernel::Matern52(Matern52::from_rate(rate)?),
            SingleKernel::Polynomial(degree, offset) => {
                ChosenKernel::Polynomial(Polynomial::constant(degree, offset)?)
            }
            SingleKernel::Linear => ChosenKernel::Linear(Linear),
        };
        let parts = core::Parts {
            means: &self.means,
            scales: &self.scales,
            landmarks: &self.landmarks,
            weights: &self.weights,
            target_mean: self.target_mean,
            target_scale: self.target_scale,
        };
        Ok(core::Model::new(kernel, parts)?)
    }
}

/// Round to single precision.
pub(crate) fn single(what: impl FnOnce() -> String, value: f64) -> Result<f32, Error> {
    let rounded = value as f32;
    // An inverse that is zero or subnormal cannot undo a scaling.
    let lost = value != 0.0 && rounded == 0.0;
    if rounded.is_finite() && !lost {
        Ok(rounded)
    } else {
        Err(ExportProblem::Range { what: what(), value }.into())
    }
}
