//! Several outputs, or classes, in integers.

use super::{Level, QuantisedModel, QuantisedParts, are_small, fixed, squared_distance};
use crate::error::Error;
use crate::memory::{check_length, rows_of};
use crate::model::{Class, Further};

/// A quantised model of several outputs, or of classes: [`crate::Outputs`] in integers, with the kernel
/// values of a row computed once. Each output is that of a [`QuantisedModel`] with its weights, bit for bit.
///
/// ```
/// use dpp_nystrom_core::{QuantisedOutputs, include_model};
///
/// static MODEL: &[u8] = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/core/formats/bits8.bin"));
/// let outputs = QuantisedOutputs::<i8>::from_bytes(MODEL)?; // a model of one output is one
/// let (mut room, mut predicted) = ([0; 8], [0.0]);
/// outputs.predict(&[0.0; 2], &mut room, &mut [0], &mut predicted)?;
/// assert_eq!(outputs.outputs(), 1);
/// assert_eq!(predicted[0], outputs.first().predict(&[0.0; 2], &mut room)?);
/// # Ok::<(), dpp_nystrom_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct QuantisedOutputs<'a, L> {
    model: QuantisedModel<'a, L>,
    further: Further<'a, i32, f32>,
}

impl<'a, L: Level> QuantisedOutputs<'a, L> {
    /// Create the outputs from the model of the first one, and the others; a scale is in the target's units
    /// per unit of the sum. Constant: in a static, inconsistent parts do not compile.
    ///
    /// # Errors
    /// [`Error::Length`] unless each output has a mean, a scale and a weight for each landmark,
    /// [`Error::Quantisation`] for an output whose weights' magnitudes sum to more than 2^31.
    pub const fn new(model: QuantisedModel<'a, L>, further: Further<'a, i32, f32>) -> Result<Self, Error> {
        let count = model.parts.weights.len();
        if let Err(error) = further.check(count) {
            return Err(error);
        }
        let mut rest = further.weights;
        while let Some((weights, others)) = rest.split_at_checked(count) {
            if !are_small(weights) {
                return Err(Error::Quantisation);
            }
            rest = others;
        }
        Ok(Self { model, further })
    }

    pub(super) const fn of_model(model: QuantisedModel<'a, L>) -> Self {
        Self { model, further: Further { weights: &[], means: &[], scales: &[] } }
    }

    /// Return the model of the first output.
    pub const fn first(&self) -> &QuantisedModel<'a, L> {
        &self.model
    }

    /// Return the number of outputs.
    pub const fn outputs(&self) -> usize {
        self.further.count() + 1
    }

    /// Write the outputs for a raw row to `out`, in the targets' units. `room` is scratch for the row's
    /// levels ([`QuantisedModel::room`]), and `sums` for a sum per output.
    ///
    /// # Errors
    /// Those of [`QuantisedModel::predict`], and [`Error::Length`] unless `out` and `sums` have a number per
    /// output.
    pub fn predict(
        &self,
        raw: &[f32],
        room: &mut [i16],
        sums: &mut [i64],
        out: &mut [f32],
    ) -> Result<(), Error> {
        check_length(self.outputs(), out.len())?;
        check_length(self.outputs(), sums.len())?;
        let levels = self.model.levels(raw, room, fixed)?;
        let QuantisedParts { landmarks, weights, step, target_mean, target_scale, .. } = self.model.parts;
        sums.fill(0);
        for (a, (landmark, weight)) in rows_of(landmarks, levels.len()).zip(weights).enumerate() {
            let kernel = i64::from(self.model.kernel(squared_distance(landmark, levels, step)));
            let weights =
                core::iter::once(weight).chain(self.further.of_landmark(self.model.parts.weights.len(), a));
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                *sum = sum.wrapping_add(i64::from(weight).wrapping_mul(kernel));
            }
        }
        let means = core::iter::once(target_mean).chain(self.further.means.iter().copied());
        let scales = core::iter::once(target_scale).chain(self.further.scales.iter().copied());
        for ((out, &sum), (mean, scale)) in out.iter_mut().zip(sums.iter()).zip(means.zip(scales)) {
            *out = mean + scale * sum as f32;
        }
        Ok(())
    }

    /// Return the class of a raw row. `out` holds the outputs afterwards.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict) and of [`Class::of`].
    pub fn classify(
        &self,
        raw: &[f32],
        room: &mut [i16],
        sums: &mut [i64],
        out: &mut [f32],
    ) -> Result<Class<f32>, Error> {
        self.predict(raw, room, sums, out)?;
        Class::of(out)
    }
}
