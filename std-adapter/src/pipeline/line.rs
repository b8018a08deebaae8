//! Regression on the features themselves.

use crate::approximation::LandmarkSet;
use crate::data::{map::Map, source::RowSource};
use crate::error::{Cause, Error};
use crate::kernel::{kind::KernelKind, precision::Precision, spec::KernelSpec};
use crate::landmarks::selection::Selection;
use crate::model::{AnyCoefficients, Coefficients, Model};
use crate::observer::Observer;
use crate::pipeline::{outcome::Outcome, select::Selected};
use crate::regression::{FitParams, fit as regression, fit::Apart, ridge::Ridge};
use std::time::Instant;

/// Return the landmarks of a line, and the rank of its map: a coordinate for each output, or no map where the
/// features are not more.
pub(super) fn line_shape(features: usize, outputs: usize) -> (usize, Option<usize>) {
    if outputs < features.max(2) { (outputs, Some(outputs)) } else { (features, None) }
}

/// Fit a line `Wᵀx` to scaled rows. Its model is a map to a coordinate for each output, of which the linear
/// kernel has the axes as landmarks: of one output two numbers a feature on a device. Fit one to the rows
/// without each of these folds as well.
///
/// The kernel values of the axes of the features are the features, and their weights are `W`: `O(N d²)`
/// multiply-adds.
///
/// # Errors
/// `ErrorKind::Unsupported` for mapped rows; those of [`fit`](crate::regression::fit).
pub(super) fn fit_line<'s>(
    source: &'s dyn RowSource,
    ridge: Ridge,
    seed: u64,
    folds: &[u8],
    observer: &dyn Observer,
) -> Result<Outcome<'s>, Error> {
    let begin = Instant::now();
    let dim = source.width();
    if source.columns().scaler.map.is_some() {
        return Err(Error(Cause::Metric { problem: "a linear model needs the rows before the map" }));
    }
    let axes = LandmarkSet::Points(axes(dim));
    let kernel = KernelSpec { kind: KernelKind::Linear, sigma: 1.0 };
    let precision = Precision::F64;
    let params = FitParams { kernel, ridge, precision, seed };
    let mut fitted =
        regression::fit_without(source, &axes, params, Apart { folds, judged: None }, None, observer)?;
    fitted.without.iter_mut().for_each(|without| as_map(&mut without.model));
    as_map(&mut fitted.model);
    // It was measured between the axes.
    fitted.model.confidence = None;
    fitted.model.recipe = source.recipe().filter(|recipe| !recipe.is_plain()).cloned();
    let selected = Selected {
        source,
        memory: None,
        kernel,
        metric: None,
        metric_seconds: 0.0,
        sigma_at_edge: false,
        precision,
        selection: Selection::rows(Vec::new(), 0.0),
        sample: None,
        curve: None,
        number: None,
    };
    let fit_seconds = begin.elapsed().as_secs_f64();
    Ok(Outcome { selected, fitted, fit_seconds, held_out: None, untested: None })
}

/// Return the unit vectors, one after the other.
fn axes(dim: usize) -> Vec<f64> {
    (0..dim).flat_map(|i| (0..dim).map(move |j| f64::from(u8::from(i == j)))).collect()
}

/// Make the weights of the axes a map, if it is smaller.
fn as_map(model: &mut Model) {
    let dim = model.feature_names.len();
    let mut weights = model.coefficients.to_f64().weights;
    weights.extend(model.further.iter().flat_map(|output| &output.weights));
    let of_feature =
        |i: usize| weights.iter().skip(i).step_by(dim).map(|weight| weight * weight).sum::<f64>();
    model.scales = Some((0..dim).map(|i| of_feature(i).sqrt()).collect());
    let (outputs, Some(rank)) = line_shape(dim, 1 + model.further.len()) else { return };
    let unit = axes(outputs);
    let mut own = unit.chunks_exact(outputs).map(<[f64]>::to_vec);
    let first = own.next().unwrap_or_default();
    model.further.iter_mut().zip(own).for_each(|(output, own)| output.weights = own);
    model.scaler.map = Some(Map { rank, values: weights });
    model.coefficients = AnyCoefficients::F64(Coefficients { landmarks: unit, weights: first });
}
