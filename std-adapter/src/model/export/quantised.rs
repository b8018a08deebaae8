//! A model with a Gaussian kernel in integers.
//!
//! The landmarks are rounded to the nearest levels, so the model's function, `f = Σ_a w_a k(x_a, ·)`, is no
//! longer in the span of the device's kernel functions. The weights are therefore recomputed: they are those
//! of the projection of `f` onto the span of the rounded landmarks `x'_a` in the kernel's RKHS norm,
//! `K(x', x') w' = K(x', x) w`. Landmarks whose pivot falls below the factor's floor, because rounded
//! landmarks coincide, are dropped.
//!
//! One step δ is used for all features, so that distances are preserved: the largest coordinate of a landmark
//! plus [`MARGIN`] bandwidths is 2^14 - 1 levels. A row beyond that is clamped, where every landmark's kernel
//! is negligible.
//!
//! With a learned map these are the levels of its coordinates. Those of the features, from which an integer
//! map leads to them, end at [`SPAN`] standard deviations, and the entries of the map have as many bits as
//! its sums allow.

use crate::approximation::features::independent_points;
use crate::data::map::Map;
use crate::error::{Error, export::ExportProblem};
use crate::kernel::kind::KernelKind;
use crate::model::export::single::single;
use crate::model::trained::{Coefficients, Model};
use dpp_nystrom_core::{self as core, Level, Points, kernel::Kernel};
use dpp_nystrom_host::heap::Heap;
use std::f64::consts::LOG2_E;

/// Levels on either side of the mean.
const LEVELS: f64 = 16_383.0;
/// Bandwidths beyond the largest coordinate; the kernel is `exp(-8)` there.
const MARGIN: f64 = 4.0;
/// Standard deviations of the features' levels before a map.
const SPAN: f64 = 32.0;
/// Maximum size of a level, in bandwidths.
const COARSEST: f64 = 1.0 / 32.0;
/// Bound on fixed-point features and their centres.
const FIXED: f64 = (1_u32 << 30) as f64 - 1.0;
/// `log₂` of the inverse of the largest kernel value that counts as zero.
const NEGLIGIBLE: f64 = 31.0;

/// The constants of a [`core::QuantisedModel`], on the heap. [`core::QuantisedParts`] documents them.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub(crate) struct Quantised<L> {
    pub(crate) centres: Vec<i32>,
    pub(crate) factors: Vec<i32>,
    pub(crate) exponents: Vec<i32>,
    pub(crate) map: Option<IntegerMap>,
    pub(crate) landmarks: Vec<L>,
    pub(crate) weights: Vec<i32>,
    pub(crate) limit: u32,
    pub(crate) multiplier: u32,
    pub(crate) shift: u32,
    pub(crate) step: i32,
    pub(crate) target_mean: f32,
    pub(crate) target_scale: f32,
}

/// A [`core::QuantisedMap`] on the heap.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) struct IntegerMap {
    pub(crate) rank: usize,
    pub(crate) rows: Vec<i16>,
    pub(crate) shift: u32,
}

impl IntegerMap {
    /// Round a map from levels of `from` standard deviations to levels of `to`.
    fn of(map: &Map, deviations: &[f64], from: f64, to: f64) -> Result<Self, Error> {
        // A constant feature has the level 0.
        let varies = deviations.iter().map(|&deviation| if deviation > 0.0 { from / to } else { 0.0 });
        let entries: Vec<f64> =
            map.values.iter().zip(varies.cycle()).map(|(entry, scale)| entry * scale).collect();
        let size = |row: &[f64]| row.iter().map(|entry| entry.abs()).sum::<f64>();
        let most = entries.chunks(deviations.len()).map(size).fold(0.0, f64::max);
        let largest = entries.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
        // Each entry may round up by a half.
        let sums = f64::from(1_u32 << 16) - deviations.len() as f64;
        let shift = (sums / most).log2().min((f64::from(i16::MAX) / largest).log2()).floor().min(30.0);
        if !(shift >= 0.0) {
            return Err(ExportProblem::Map.into());
        }
        let round = |entry: &f64| (entry * shift.exp2()).round() as i16;
        Ok(Self { rank: map.rank, rows: entries.iter().map(round).collect(), shift: shift as u32 })
    }

    fn lend(&self) -> core::QuantisedMap<'_> {
        core::QuantisedMap { rank: self.rank, rows: &self.rows, shift: self.shift }
    }
}

/// The integer type of a landmark: its conversion and formatting.
pub(crate) trait Stored: Level + std::fmt::Display + PartialEq {
    /// Its width in bits.
    const BITS: u32;
    /// Levels per unit, when the largest coordinate is this many levels.
    fn step(reach: f64) -> i32;
    /// The nearest integer.
    fn nearest(units: f64) -> Self;
    /// Borrow the values as the core's model.
    ///
    /// # Errors
    /// Those of the core if the parts are inconsistent.
    fn model(parts: core::QuantisedParts<'_, Self>) -> Result<core::QuantisedModel<'_, Self>, core::Error>;
}

impl Stored for i16 {
    const BITS: u32 = 16;
    fn step(_: f64) -> i32 {
        1
    }
    fn nearest(units: f64) -> Self {
        units.round() as Self
    }
    fn model(parts: core::QuantisedParts<'_, Self>) -> Result<core::QuantisedModel<'_, Self>, core::Error> {
        core::QuantisedModel::<i16>::new(parts)
    }
}

impl Stored for i8 {
    const BITS: u32 = 8;
    fn step(reach: f64) -> i32 {
        (reach / 127.0).ceil().max(1.0) as i32
    }
    fn nearest(units: f64) -> Self {
        units.round() as Self
    }
    fn model(parts: core::QuantisedParts<'_, Self>) -> Result<core::QuantisedModel<'_, Self>, core::Error> {
        core::QuantisedModel::<i8>::new(parts)
    }
}

impl<L: Stored> Quantised<L> {
    /// Quantise a model.
    pub(crate) fn of(model: &Model) -> Result<Self, Error> {
        if model.kernel.kind != KernelKind::Gaussian {
            let kernel = model.kernel.kind.to_string();
            return Err(ExportProblem::Kernel { kernel }.into());
        }
        if model.scaler.bounds.is_some() {
            return Err(ExportProblem::Clipped.into());
        }
        let (dim, width) = (model.feature_names.len(), model.scaler.width());
        let Coefficients { landmarks, weights } = model.coefficients.to_f64();
        let reach = landmarks.iter().fold(0.0, |reach: f64, value| reach.max(value.abs()));
        let step = (reach + MARGIN * model.kernel.sigma) / LEVELS;
        if !(step <= COARSEST * model.kernel.sigma) {
            return Err(ExportProblem::Coarse { sigma: model.kernel.sigma, reach }.into());
        }
        let unit = L::step(reach / step);
        let stored: Vec<L> =
            landmarks.iter().map(|value| L::nearest(value / (f64::from(unit) * step))).collect();
        let moved: Vec<f64> = stored.iter().map(|value| f64::from(value.level(unit)) * step).collect();
        let (kept, weights) = weights_of_moved(model, &landmarks, &weights, &moved)?;
        let kept_rows = kept.iter().flat_map(|&row| &stored[row * width..(row + 1) * width]);
        let landmarks: Vec<L> = kept_rows.copied().collect();

        let deviations = &model.scaler.deviations;
        let (of_features, map) = match &model.scaler.map {
            Some(map) => (SPAN / LEVELS, Some(IntegerMap::of(map, deviations, SPAN / LEVELS, step)?)),
            None => (step, None),
        };
        let features: Vec<[i32; 3]> =
            (0..dim).map(|feature| fixed_feature(model, feature, of_features)).collect::<Result<_, _>>()?;
        let part = |at: usize| features.iter().map(|feature| feature[at]).collect();
        let level = step / model.kernel.sigma;
        let rate = level * level * LOG2_E / 2.0;
        // The margin keeps a level over 4/2^14 bandwidths, and hence this below 2^32.
        let limit = (NEGLIGIBLE / rate).ceil() as u32;
        let shift = limit.leading_zeros();
        let (weights, unit_weight) = fixed_weights(&weights);
        let target_scale = model.target_deviation / (unit_weight * 2.0_f64.powi(31));
        Ok(Self {
            centres: part(0),
            factors: part(1),
            exponents: part(2),
            map,
            landmarks,
            weights,
            limit,
            multiplier: (rate * 2.0_f64.powi(58 - shift as i32)).round() as u32,
            shift,
            step: unit,
            target_mean: single(|| "the target's mean".to_owned(), model.target_mean)?,
            target_scale: single(|| "the scale of the weights".to_owned(), target_scale)?,
        })
    }

    /// Whether both differ in their weights and targets alone.
    pub(crate) fn shares_landmarks(&self, other: &Self) -> bool {
        let Self { weights, target_mean, target_scale, .. } = self.clone();
        *self == Self { weights, target_mean, target_scale, ..other.clone() }
    }

    /// Borrow the values as the core's model.
    ///
    /// # Errors
    /// `ErrorKind::Argument` if the parts are inconsistent.
    pub(crate) fn lend(&self) -> Result<core::QuantisedModel<'_, L>, Error> {
        Ok(L::model(core::QuantisedParts {
            centres: &self.centres,
            factors: &self.factors,
            exponents: &self.exponents,
            map: self.map.as_ref().map(IntegerMap::lend),
            landmarks: &self.landmarks,
            weights: &self.weights,
            limit: self.limit,
            multiplier: self.multiplier,
            shift: self.shift,
            step: self.step,
            target_mean: self.target_mean,
            target_scale: self.target_scale,
        })?)
    }
}

/// Return the centre, the factor and the exponent of a feature; all 0 for a constant one.
fn fixed_feature(model: &Model, feature: usize, step: f64) -> Result<[i32; 3], Error> {
    let (mean, deviation) = (model.scaler.means[feature], model.scaler.deviations[feature]);
    if !(deviation > 0.0) {
        return Ok([0; 3]);
    }
    let name = &model.feature_names[feature];
    let level = step * deviation;
    let range = mean.abs() + LEVELS * step * deviation;
    single(|| format!("the range of the feature {name:?}"), range)?;
    // A level must be well above the subnormal numbers of single precision.
    if level < f64::from(f32::MIN_POSITIVE) * 64.0 {
        let what = format!("the spread of the feature {name:?}");
        return Err(ExportProblem::Range { what, value: deviation }.into());
    }
    let mut exponent = (FIXED / range).log2().floor() as i32;
    // The logarithm may round up to a whole number.
    if range * 2.0_f64.powi(exponent) > FIXED {
        exponent -= 1;
    }
    let unit = 2.0_f64.powi(exponent);
    let factor = (4_294_967_296.0 / (level * unit)).round();
    if !(factor <= f64::from(i32::MAX)) {
        return Err(ExportProblem::Spread { feature: name.clone(), mean, deviation }.into());
    }
    Ok([(mean * unit).round() as i32, factor as i32, exponent])
}

/// Return integer weights whose absolute values sum to at most 2^31, and by what they were multiplied.
fn fixed_weights(weights: &[f64]) -> (Vec<i32>, f64) {
    let size: f64 = weights.iter().map(|weight| weight.abs()).sum();
    // Each weight may round up by a half.
    let most = 2.0_f64.powi(31) - weights.len() as f64;
    let unit = if size > 0.0 { most / size } else { 1.0 };
    (weights.iter().map(|weight| (weight * unit).round() as i32).collect(), unit)
}

/// Return which of the rounded landmarks are independent, and the weights of the projection onto their span.
fn weights_of_moved(
    model: &Model,
    landmarks: &[f64],
    weights: &[f64],
    moved: &[f64],
) -> Result<(Vec<usize>, Vec<f64>), Error> {
    let dim = model.scaler.width();
    let kernel = model.kernel.build::<f64>()?;
    let home = Points::new(moved, dim, kernel)?;
    let mut memory = Heap::new(weights.len())?;
    let independent = independent_points(&home, &mut memory)?;
    let kept = independent.members().to_vec();
    let at = |row: usize| &moved[row * dim..(row + 1) * dim];
    let mut values: Vec<f64> = kept
        .iter()
        .map(|&row| {
            let terms = landmarks.chunks_exact(dim).zip(weights);
            terms.map(|(landmark, weight)| weight * kernel.value(at(row), landmark)).sum()
        })
        .collect();
    independent.factor().solve(&mut values)?;
    Ok((kept, values))
}
