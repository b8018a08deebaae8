//! Predictions with what a model knows of them, and classes.

use crate::approximation::features::independent_points;
use crate::error::{Cause, Error};
use crate::model::{classes::Classified, trained::Coefficients, trained::Model};
use dpp_nystrom_core::{Assessment, Assessor, GroundSet, Parts, Points, Scaling, Solved, Uncertainty};
use dpp_nystrom_host::heap::Heap;
use rayon::prelude::*;

impl Model {
    /// Predict each raw row as [`predict`](Self::predict) does, and say how far the prediction can be relied
    /// on: the distance to the nearest landmark, in standard deviations of the features (with a map: after
    /// it), the Nyström residual, and the variance of a new observation, if the model has the
    /// [`Confidence::triangle`](crate::model::Confidence::triangle). `c²` multiply-adds a row, and `c³/6`
    /// once.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict), `ErrorKind::Unsupported`, and `ErrorKind::Landmarks` if the
    /// landmarks depend on each other in double precision.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
    ///
    /// let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
    /// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
    /// let [near, far] = model.assess(&[2.0, 500.0])?[..] else { panic!("two rows") };
    /// assert!(near.nearest < 1.0 && far.nearest > 10.0); // in standard deviations
    /// assert!(near.residual < Some(0.1) && far.residual > Some(0.9));
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn assess(&self, rows: &[f64]) -> Result<Vec<Assessment<f64>>, Error> {
        if self.outputs() > 1 {
            return Err(Error(Cause::SeveralTargets { what: "an assessment of predictions" }));
        }
        let values = self.predict(rows)?;
        let (dim, width) = (self.feature_names.len(), self.scaler.width());
        let (coefficients, kernel) = (self.coefficients.to_f64(), self.kernel.build::<f64>()?);
        let factor = factor(&coefficients, width, kernel)?;
        let (zeros, ones) = (vec![0.0; width], vec![1.0; width]);
        let model = dpp_nystrom_core::Model::new(
            kernel,
            Parts {
                means: &zeros,
                scaling: Scaling::PerFeature(&ones),
                landmarks: &coefficients.landmarks,
                weights: &coefficients.weights,
                target_mean: self.target_mean,
                target_scale: self.target_deviation,
            },
        )?;
        // Without a triangle, the factor's own takes its place, and the variance is left out.
        let confidence = self.confidence.as_ref().filter(|confidence| !confidence.triangle.is_empty());
        let (triangle, solved) = match confidence {
            Some(confidence) => {
                (&confidence.triangle, Solved { penalty: confidence.penalty, noise: confidence.noise })
            }
            None => (&factor, Solved { penalty: 1.0, noise: 0.0 }),
        };
        let assessor = Assessor::new(model, None, Some(Uncertainty { factor: &factor, triangle, solved }))?;
        let room = width + coefficients.weights.len();
        let assess = |(raw, value): (&[f64], f64), (row, room): &mut (Vec<f64>, Vec<f64>)| {
            self.scaler.scale_row(raw, row);
            let mut assessment = assessor.assess(row, room)?;
            assessment.value = value;
            assessment.variance = assessment.variance.filter(|_| confidence.is_some());
            Ok(assessment)
        };
        rows.par_chunks_exact(dim)
            .zip(values)
            .map_init(|| (vec![0.0; width], vec![0.0; room]), |memory, row| assess(row, memory))
            .collect()
    }

    /// Return the class of each raw row, if this is a model of classes.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict), `ErrorKind::Unsupported`.
    pub fn classify(&self, rows: &[f64]) -> Result<Vec<Classified>, Error> {
        let classifier = self.classifier.as_ref().ok_or(Error(Cause::NoClasses))?;
        let outputs = self.predict(rows)?;
        outputs.chunks_exact(self.outputs()).map(|outputs| classifier.classify(outputs)).collect()
    }

    /// Return the predictions, each no further than the range of the targets that the model was trained on.
    /// All are returned as they are if it has no [`Confidence`](crate::model::Confidence).
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
    ///
    /// let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
    /// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
    /// let clamped = model.clamp(vec![-7.0, 0.5]);
    /// assert!(clamped[0] >= -1.0 && clamped[1] == 0.5); // targets were in [-1, 1]
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn clamp(&self, mut predictions: Vec<f64>) -> Vec<f64> {
        if let Some(confidence) = &self.confidence {
            let limits = confidence.limits();
            predictions.iter_mut().for_each(|value| *value = limits.clamp(*value));
        }
        predictions
    }
}

/// Return the factor of the landmarks by rows.
pub(crate) fn factor(
    coefficients: &Coefficients<f64>,
    dim: usize,
    kernel: dpp_nystrom_core::kernel::ChosenKernel<f64>,
) -> Result<Vec<f64>, Error> {
    let ground = Points::new(&coefficients.landmarks, dim, kernel).map_err(Error::landmarks)?;
    let mut memory = Heap::new(ground.len())?;
    let landmarks = independent_points(&ground, &mut memory)?;
    if landmarks.len() < ground.len() {
        let (rank, landmarks) = (landmarks.len(), ground.len());
        return Err(Error::landmarks(dpp_nystrom_core::Error::RankDeficient { rank, landmarks }));
    }
    Ok((0..landmarks.len()).flat_map(|i| landmarks.factor().row(i).to_vec()).collect())
}
