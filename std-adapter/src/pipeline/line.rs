//! Ridge regression on the features themselves.

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

/// Fit a line `wᵀx` to scaled rows, one target. Its model is a map to one dimension, in which the linear
/// kernel has the landmark 1: two numbers a feature on a device. Fit one to the rows without each of these
/// folds as well.
///
/// The kernel values of the axes as landmarks are the features, and their weights are `w`: `O(N d²)`
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
        return Err(Error(Cause::Metric { problem: "a line needs the rows before the map" }));
    }
    let axes = (0..dim).flat_map(|i| (0..dim).map(move |j| f64::from(u8::from(i == j))));
    let axes = LandmarkSet::Points(axes.collect());
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

/// Make the weights of the axes a map to one dimension.
fn as_map(model: &mut Model) {
    let weights = model.coefficients.to_f64().weights;
    model.scales = Some(weights.iter().map(|weight| weight.abs()).collect());
    model.scaler.map = Some(Map { rank: 1, values: weights });
    model.coefficients = AnyCoefficients::F64(Coefficients { landmarks: vec![1.0], weights: vec![1.0] });
}
