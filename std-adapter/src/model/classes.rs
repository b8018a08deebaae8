//! Classes from outputs, with calibrated probabilities.
//!
//! The outputs `f_k` of a model of classes estimate the indicators, 1 in rows of class `k` and else 0. The
//! class is that of the largest output. Its probability is estimated with one number, the temperature `T`
//! (Guo, Pleiss, Sun and Weinberger 2017):
//!
//! `p_k = exp(f_k/T) / Σ_j exp(f_j/T)`
//!
//! `T` has the largest likelihood on rows that were predicted without their fold. The likelihood of `n` rows
//! counts a label as right with probability `1 - 1/(n + 2)`, as in Platt (1999), so that classes without an
//! error leave `T` positive. `-ln p_k` is convex in `1/T`: Newton's method finds it.

use crate::data::{columns::Classes, weights::Weights};
use crate::error::{Cause, Error, check_length};
use dpp_nystrom_core::{Class, Error as CoreError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The least and the largest `1/T`.
const SHARPNESS: [f64; 2] = [1e-3, 1e6];

/// Steps of Newton's method, and the relative change after which it ends.
const STEPS: usize = 100;
const CHANGE: f64 = 1e-10;

/// The classes of a model, and the temperature of their probabilities.
///
/// ```
/// use dpp_nystrom::{data::Classes, model::Classifier};
///
/// let classes = Classes { column: "species".into(), labels: vec!["setosa".into(), "virginica".into()] };
/// let classifier = Classifier { classes, temperature: 0.25 };
/// let found = classifier.classify(&[0.25, 0.75])?; // outputs of a model, one for each class
/// assert_eq!((found.index, found.margin), (1, 0.5));
/// assert!((found.probability - 1.0 / (1.0 + (-2.0_f64).exp())).abs() < 1e-12);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Classifier {
    /// The classes.
    pub classes: Classes,
    /// `T`.
    pub temperature: f64,
}

/// The class of a row.
///
/// ```
/// use dpp_nystrom::{Dataset, LandmarkRidge};
///
/// let x: Vec<f64> = (0..200).map(|i| f64::from(i % 100)).collect();
/// let class: Vec<f64> = x.iter().map(|&x| f64::from(u8::from(x > 49.0))).collect();
/// let data = Dataset::from_rows(&x, 1)?.with_classes(&class, &["cold", "warm"])?;
/// let model = LandmarkRidge::default().landmarks(8).fit(&data)?;
/// let [sure, unsure] = model.classify(&[10.0, 49.5])?[..] else { panic!("two rows") };
/// assert!(sure.index == 0 && sure.probability > unsure.probability);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Classified {
    /// The index of its label.
    pub index: usize,
    /// Its probability.
    pub probability: f64,
    /// By how much its output exceeds the second largest.
    pub margin: f64,
}

impl Classifier {
    /// Return the class of a row from its outputs.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for fewer than two outputs, `ErrorKind::Data` for one that is not finite.
    pub fn classify(&self, outputs: &[f64]) -> Result<Classified, Error> {
        let Class { index, margin } = Class::of(outputs)?;
        Ok(Classified { index, margin, probability: log_probability(outputs, index, self.temperature).exp() })
    }

    /// Take the temperature with the largest likelihood of rows of these classes, which had no part in the
    /// weights; `outputs` has a number for each row and class, row by row. Without rows nothing changes.
    ///
    /// ```
    /// use dpp_nystrom::{data::Classes, model::Classifier};
    ///
    /// let classes = Classes { column: "species".into(), labels: vec!["setosa".into(), "virginica".into()] };
    /// let mut classifier = Classifier { classes, temperature: 1.0 };
    /// classifier.calibrate(&[0.9, 0.1, 0.2, 0.8, 0.7, 0.3, 0.6, 0.4], &[0, 1, 0, 1])?; // the last is wrong
    /// assert!(classifier.temperature < 1.0);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ErrorKind::Argument` unless there is an output for each row and class, `ErrorKind::Data` for one
    /// that is not finite and for a number that is no index of a class. The temperature is then unchanged.
    pub fn calibrate(&mut self, outputs: &[f64], of_rows: &[usize]) -> Result<(), Error> {
        let classes = self.classes.labels.len();
        check_length("outputs of rows", of_rows.len().saturating_mul(classes), outputs.len())?;
        if let Some(at) = outputs.iter().position(|output| !output.is_finite()) {
            return Err(CoreError::NotFinite { row: at / classes.max(1), column: at % classes.max(1) }.into());
        }
        if let Some(row) = of_rows.iter().position(|&class| class >= classes) {
            return Err(Error(Cause::Unlabelled { row, labels: classes }));
        }
        if !of_rows.is_empty() {
            self.temperature = temperature(outputs, classes, of_rows, Weights::default());
        }
        Ok(())
    }

    /// Return `ln p` of a class, given the outputs of all.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for a class without an output.
    pub fn log_probability(&self, outputs: &[f64], class: usize) -> Result<f64, Error> {
        let len = outputs.len();
        if class >= len {
            return Err(CoreError::OutOfRange { index: class, len }.into());
        }
        Ok(log_probability(outputs, class, self.temperature))
    }
}

/// Return `ln p_k`.
pub(crate) fn log_probability(outputs: &[f64], class: usize, temperature: f64) -> f64 {
    let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = outputs.iter().map(|output| ((output - largest) / temperature).exp()).sum();
    (outputs[class] - largest) / temperature - sum.ln()
}

/// Return the temperature with the largest likelihood of rows with weights of mean 1: `outputs` has a number
/// for each row and class, row by row.
pub(crate) fn temperature(outputs: &[f64], classes: usize, of_rows: &[usize], weights: Weights<'_>) -> f64 {
    let smoothing = 1.0 / (of_rows.len() as f64 + 2.0);
    let wrong = smoothing / (classes as f64 - 1.0);
    // The derivatives of Σ -ln p by s = 1/T are Σ (E f - Σ q f) and Σ Var f.
    let derivatives = |sharpness: f64| {
        let row = |(outputs, &class): (&[f64], &usize)| {
            let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let [mut mass, mut mean, mut square, mut wanted] = [0.0; 4];
            for (k, output) in outputs.iter().enumerate() {
                let below = output - largest;
                let weight = (sharpness * below).exp();
                mass += weight;
                mean += weight * below;
                square += weight * below * below;
                wanted += below * if k == class { 1.0 - smoothing } else { wrong };
            }
            [mean / mass - wanted, square / mass - (mean / mass).powi(2)]
        };
        let blocks = outputs.par_chunks(1_024 * classes).zip(of_rows.par_chunks(1_024)).enumerate();
        let sums = blocks.map(|(block, (outputs, of_rows))| {
            let rows = outputs.chunks_exact(classes).zip(of_rows).map(row).enumerate();
            rows.fold([0.0; 2], |[a, b], (at, [c, d])| {
                let weight = weights.at(1_024 * block + at);
                [a + weight * c, b + weight * d]
            })
        });
        sums.collect::<Vec<_>>().into_iter().fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d])
    };
    let [least, largest] = SHARPNESS;
    let mut sharpness = 1.0_f64;
    for _ in 0..STEPS {
        let [slope, curvature] = derivatives(sharpness);
        let next = if curvature > 0.0 { sharpness - slope / curvature } else { sharpness };
        // Far from the optimum the curvature may be that of another scale.
        let next = next.clamp(sharpness / 2.0, sharpness * 2.0).clamp(least, largest);
        let change = (next - sharpness).abs();
        sharpness = next;
        if change <= CHANGE * sharpness {
            break;
        }
    }
    1.0 / sharpness
}

#[cfg(test)]
mod tests {
    use super::{Weights, log_probability, temperature};

    /// The temperature is that of the least smoothed cross-entropy, found by a search over a grid.
    #[test]
    fn the_temperature_has_the_largest_likelihood() {
        let value = |i: usize| (i as f64 * 0.754_877_666).fract();
        for (classes, noise) in [(2, 1.0), (3, 0.6), (5, 0.0)] {
            let of_rows: Vec<usize> = (0..60).map(|row| row * row % classes).collect();
            let output = |row: usize, k: usize| {
                f64::from(u8::from(of_rows[row] == k)) + noise * 2.0 * (value(row * classes + k) - 0.5)
            };
            let outputs: Vec<f64> = (0..60)
                .flat_map(|row| (0..classes).map(move |k| (row, k)))
                .map(|(row, k)| output(row, k))
                .collect();
            let entropy = |temperature: f64| {
                let smoothing = 1.0 / 62.0;
                let rows = outputs.chunks_exact(classes).zip(&of_rows);
                let row = |(outputs, &class): (&[f64], &usize)| {
                    let other = smoothing / (classes as f64 - 1.0);
                    let share = |k| if k == class { 1.0 - smoothing } else { other };
                    (0..classes).map(|k| -share(k) * log_probability(outputs, k, temperature)).sum::<f64>()
                };
                rows.map(row).sum::<f64>()
            };
            let found = temperature(&outputs, classes, &of_rows, Weights::default());
            let grid = (-400..400).map(|step| found * 1.01_f64.powi(step));
            assert!(grid.map(entropy).all(|other| other >= entropy(found) - 1e-9), "{classes} {found}");
            assert!((1e-3..1e3).contains(&found), "{found}");
        }
    }

    #[test]
    fn probabilities_sum_to_one_for_any_outputs() {
        for outputs in [[0.1, 0.9, -0.2], [1e3, -1e3, 0.0]] {
            let sum: f64 = (0..3).map(|k| log_probability(&outputs, k, 0.2).exp()).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }
        let ratio = log_probability(&[0.1, 0.9], 1, 0.2) - log_probability(&[0.1, 0.9], 0, 0.2);
        assert!((ratio - 4.0).abs() < 1e-12, "{ratio}");
    }
}
