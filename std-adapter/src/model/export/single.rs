//! A model in single precision.

use crate::error::{Error, export::ExportProblem};
use crate::model::trained::{Coefficients, Model};
use dpp_nystrom_core::{self as core, kernel::ChosenKernel};

/// A [`core::Scaling`] on the heap.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scaling {
    /// One over the features' standard deviations; 0 for a constant feature.
    PerFeature(Vec<f32>),
    /// A map of the features, with these folded in.
    Map {
        /// The number of coordinates r.
        rank: usize,
        /// Its rows, d numbers each.
        rows: Vec<f32>,
    },
    /// The scales, the inverse bounds of a clip, and a map after it if there is one.
    Clipped {
        /// The number of coordinates r of a map.
        rank: Option<usize>,
        /// All numbers, as [`core::Scaling::Clipped`] has them.
        numbers: Vec<f32>,
    },
}

impl Scaling {
    /// Round that of a model.
    fn of(model: &Model) -> Result<Self, Error> {
        let inverse = |&deviation: &f64| if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
        let inverses = model.scaler.deviations.iter().map(inverse).zip(&model.feature_names);
        if let Some(bounds) = &model.scaler.bounds {
            let bounds = bounds.iter().map(inverse).zip(&model.feature_names);
            let columns = inverses.chain(bounds).map(|(value, name)| {
                single(|| format!("the inverse standard deviation or bound of the feature {name:?}"), value)
            });
            let mut numbers = columns.collect::<Result<Vec<f32>, _>>()?;
            let map = model.scaler.map.as_ref();
            numbers.extend(map.iter().flat_map(|map| &map.values).map(|&entry| entry as f32));
            return Ok(Self::Clipped { rank: map.map(|map| map.rank), numbers });
        }
        let Some(map) = &model.scaler.map else {
            let scale = |(value, name): (f64, &String)| {
                single(|| format!("the inverse standard deviation of the feature {name:?}"), value)
            };
            return inverses.map(scale).collect::<Result<_, _>>().map(Self::PerFeature);
        };
        let features = model.feature_names.len();
        let mut rows = vec![0.0; map.values.len()];
        for (feature, (inverse, name)) in inverses.enumerate() {
            let entries = map.values.iter().skip(feature).step_by(features).map(|entry| entry * inverse);
            // Entries far below the largest may be lost.
            let largest = entries.clone().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
            single(|| format!("the map of the feature {name:?}"), largest)?;
            let column = rows.iter_mut().skip(feature).step_by(features);
            column.zip(entries).for_each(|(slot, entry)| *slot = entry as f32);
        }
        Ok(Self::Map { rank: map.rank, rows })
    }

    /// Borrow the numbers.
    pub(crate) fn lend(&self) -> core::Scaling<'_, f32> {
        match self {
            Self::PerFeature(scales) => core::Scaling::PerFeature(scales),
            Self::Map { rank, rows } => core::Scaling::Map { rank: *rank, rows },
            Self::Clipped { rank, numbers } => core::Scaling::Clipped { rank: *rank, numbers },
        }
    }

    /// Return the rank of the map, if it is one.
    pub(crate) fn rank(&self) -> Option<usize> {
        match *self {
            Self::PerFeature(_) => None,
            Self::Map { rank, .. } => Some(rank),
            Self::Clipped { rank, .. } => rank,
        }
    }

    /// Whether features are clipped.
    pub(crate) fn is_clipped(&self) -> bool {
        matches!(self, Self::Clipped { .. })
    }
}

/// The constants of a [`core::Model`] in single precision, on the heap.
#[derive(Clone, Debug)]
pub(crate) struct Single {
    /// The features' means.
    pub(crate) means: Vec<f32>,
    /// The scales or the map applied to the differences from the means.
    pub(crate) scaling: Scaling,
    /// The landmarks' coordinates after it, one landmark after the other.
    pub(crate) landmarks: Vec<f32>,
    /// One weight per landmark.
    pub(crate) weights: Vec<f32>,
    /// The target's mean.
    pub(crate) target_mean: f32,
    /// The target's standard deviation.
    pub(crate) target_scale: f32,
    /// The kernel, whose parameter is precomputed.
    pub(crate) kernel: ChosenKernel<f32>,
}

impl Single {
    /// Round a model to single precision.
    pub(crate) fn of(model: &Model) -> Result<Self, Error> {
        let rounded = |what: &str, values: &[f64]| -> Result<Vec<f32>, Error> {
            values.iter().enumerate().map(|(i, &value)| single(|| format!("{what} {i}"), value)).collect()
        };
        let means = model.scaler.means.iter().zip(&model.feature_names);
        let mean = |(&value, name)| single(|| format!("the mean of the feature {name:?}"), value);
        let Coefficients { landmarks, weights } = model.coefficients.to_f64();
        Ok(Self {
            means: means.map(mean).collect::<Result<_, _>>()?,
            scaling: Scaling::of(model)?,
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
    /// `ErrorKind::Argument` if the parts are inconsistent.
    pub(crate) fn lend(&self) -> Result<core::Model<'_, f32, ChosenKernel<f32>>, Error> {
        let parts = core::Parts {
            means: &self.means,
            scaling: self.scaling.lend(),
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
