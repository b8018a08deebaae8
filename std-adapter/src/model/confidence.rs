//! Range, novelty limits and variance of predictions, which [`crate::regression::fit`] measures.

use dpp_nystrom_core::Limits;
use serde::{Deserialize, Serialize};

/// The standard deviations within which 90 % of normal errors are.
pub(crate) const DEVIATIONS: f64 = 1.645;

/// Limits, noise and triangle of a model.
///
/// ```
/// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
///
/// let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
/// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
/// let limits = model.confidence.as_ref().expect("measured on the rows").limits();
/// assert!(limits.range[0] >= -1.0 && limits.range[1] <= 1.0);
/// assert!(model.assess(&[500.0])?[0].nearest > limits.nearest[2]); // unlike all rows
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// The least and the greatest target, in its units.
    pub range: [f64; 2],
    /// The distances to the nearest landmark, in standard deviations of the features (with a map: after it),
    /// that a half, a tenth and a hundredth of the rows exceed.
    pub nearest: [f64; 3],
    /// The Nyström residuals that a half, a tenth and a hundredth of the rows exceed.
    pub residual: [f64; 3],
    /// `λ`, the number of rows times γ.
    pub penalty: f64,
    /// The variance of the noise, in squared standard deviations of the target, with the factor of the
    /// calibration.
    pub noise: f64,
    /// `Sᵀ` by rows: `c(c + 1)/2` numbers. Empty: there are no variances.
    pub triangle: Vec<f64>,
}

impl Confidence {
    /// Return the limits.
    pub fn limits(&self) -> Limits<f64> {
        Limits { range: self.range, nearest: self.nearest, residual: self.residual }
    }

    /// Whether the numbers are consistent for a model of `c` landmarks.
    pub(crate) fn is_well_formed(&self, c: usize) -> bool {
        let numbers = [&self.range[..], &self.nearest, &self.residual, &[self.penalty, self.noise]];
        let mut numbers = numbers.into_iter().flatten().chain(&self.triangle);
        numbers.all(|number| number.is_finite())
            && self.range[0] <= self.range[1]
            && [self.nearest, self.residual].iter().all(|limits| limits.is_sorted())
            && self.penalty > 0.0
            && self.noise >= 0.0
            && (self.triangle.is_empty() || self.triangle.len() == c * (c + 1) / 2)
    }
}
