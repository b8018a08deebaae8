//! Rows that arrive in batches: landmarks of the first, sums of all.

use crate::arrays::{Array, Names, Numbers, borrowed, vector};
use crate::model::{Model, metric_of};
use crate::options::{Choice, Options};
use crate::run::{How, run, to_python};
use dpp_nystrom::pipeline;
use dpp_nystrom::regression::{FitSpec, Folds};
use dpp_nystrom::{Error, ErrorKind};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The sums of a regression on landmarks, over rows in batches. A batch makes new sums; these stay as they
/// are.
#[pyclass(frozen, module = "dpp_nystrom._native")]
pub(crate) struct Sums {
    spec: FitSpec,
    folds: Folds,
    /// Row indices of the landmarks in the first batch; none if they are not rows.
    #[pyo3(get)]
    rows: Option<Vec<usize>>,
    #[pyo3(get)]
    metric: Option<String>,
    /// The inverse length-scales of the metric.
    scales: Option<Vec<f64>>,
    /// Of classes, the last rows that had no part in the sums when they were predicted.
    unseen: Unseen,
}

/// Outputs for rows, one for each class, and their classes.
type Unseen = (Vec<f64>, Vec<usize>);

/// Rows by which the probabilities of classes are calibrated.
const UNSEEN: usize = 1 << 12;

type State<'py> =
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Option<Vec<usize>>, Option<String>, Option<Vec<f64>>, Unseen);

#[pymethods]
impl Sums {
    /// Select landmarks among the rows of the first batch. No row is summed.
    #[new]
    fn select(
        py: Python<'_>,
        rows: Array<'_>,
        target: PyReadonlyArray1<'_, f64>,
        names: Names,
        options: Options,
    ) -> PyResult<Self> {
        let (rows, target) = (rows.rows()?, vector(&target)?);
        let checked = options.check()?;
        run(py, options.how(rows.len()), |observer| {
            let data = rows.dataset(Some(target), None, &names)?;
            let source = data.source(checked.scale)?;
            let rows = source.as_rows();
            let selected = pipeline::select(rows, &checked.params(rows)?, observer)?;
            let spec = selected.fit_spec(checked.ridge, checked.seed)?;
            let spec = match &names.labels {
                Some(labels) => spec.with_labels(&borrowed(labels))?,
                None => spec,
            };
            let folds = spec.empty()?;
            let rows = selected.selection.landmarks.rows().map(<[usize]>::to_vec);
            let scales = selected.metric.as_ref().and_then(|metric| metric.inverse_length_scales());
            let scales = scales.map(<[f64]>::to_vec);
            let metric = Some(metric_of(&selected));
            Ok(Self { spec, folds, rows, metric, scales, unseen: Unseen::default() })
        })
    }

    /// Return the sums with the rows of a batch. Of classes, `outputs` are those of the model of these sums,
    /// none for the first rows.
    fn add(
        &self,
        py: Python<'_>,
        rows: Array<'_>,
        target: PyReadonlyArray1<'_, f64>,
        outputs: Option<Array<'_>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let (rows, target) = (rows.rows()?, vector(&target)?);
        let outputs = outputs.as_ref().map(Array::rows).transpose()?;
        let features = self.spec.features();
        if rows.features != features {
            let text = format!("the rows have {} features, expected {features}", rows.features);
            return Err(PyValueError::new_err(text));
        }
        let how = How { threads, numbers: rows.len(), progress: None };
        run(py, how, |_| {
            let column = |feature: usize| -> Vec<f64> {
                match rows.values {
                    Numbers::Double(values) => {
                        values.iter().skip(feature).step_by(features).copied().collect()
                    }
                    Numbers::Single(values) => {
                        values.iter().skip(feature).step_by(features).copied().map(f64::from).collect()
                    }
                }
            };
            let columns: Vec<Vec<f64>> = (0..features).map(column).collect();
            let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let mut folds = self.folds.clone();
            self.spec.accumulate(&mut folds, &columns, target)?;
            let Self { spec, rows, metric, scales, .. } = self;
            let (rows, metric, scales) = (rows.clone(), metric.clone(), scales.clone());
            let mut unseen = self.unseen.clone();
            if let Some(outputs) = outputs {
                fits(spec, outputs.len(), target.len())?;
                unseen.0.extend_from_slice(&outputs.doubled());
                unseen.1.extend(target.iter().map(|&class| class as usize));
                let over = unseen.1.len().saturating_sub(UNSEEN);
                unseen.1.drain(..over);
                unseen.0.drain(..over * outputs.features);
            }
            Ok(Self { spec: spec.clone(), folds, rows, metric, scales, unseen })
        })
    }

    /// The number of rows that were summed.
    #[getter]
    fn count(&self) -> u64 {
        self.folds.rows()
    }

    /// Solve the regression.
    fn model(&self, py: Python<'_>, ridge: Choice, threads: Option<usize>) -> PyResult<Model> {
        let ridge = ridge.ridge()?;
        let numbers = self.spec.landmarks.len();
        run(py, How { threads, numbers, progress: None }, |observer| {
            let fitted = self.spec.conclude(&self.folds, ridge, "data", observer)?;
            let mut model = fitted.model;
            model.scales.clone_from(&self.scales);
            if let Some(classifier) = &mut model.classifier {
                classifier.calibrate(&self.unseen.0, &self.unseen.1)?;
            }
            Ok(Model::without_page(model, fitted.validation_nrmse, self.metric.clone()))
        })
    }

    #[staticmethod]
    fn of_state(
        spec: &[u8],
        folds: &[u8],
        rows: Option<Vec<usize>>,
        metric: Option<String>,
        scales: Option<Vec<f64>>,
        unseen: Unseen,
    ) -> PyResult<Self> {
        let spec = FitSpec::from_bytes(spec).map_err(to_python)?;
        let folds = spec.read(folds).map_err(to_python)?;
        fits(&spec, unseen.0.len(), unseen.1.len()).map_err(to_python)?;
        Ok(Self { spec, folds, rows, metric, scales, unseen })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, State<'py>)> {
        let spec = PyBytes::new(py, &self.spec.to_bytes().map_err(to_python)?);
        let folds = PyBytes::new(py, &self.spec.state(&self.folds).map_err(to_python)?);
        let (rows, metric, scales) = (self.rows.clone(), self.metric.clone(), self.scales.clone());
        let state = (spec, folds, rows, metric, scales, self.unseen.clone());
        Ok((py.get_type::<Self>().getattr("of_state")?.unbind(), state))
    }
}

/// Check that there are outputs for each class of so many rows.
fn fits(spec: &FitSpec, outputs: usize, rows: usize) -> Result<(), Error> {
    let expected = spec.classes.as_ref().map_or(0, |classes| classes.labels.len()).saturating_mul(rows);
    if outputs == expected {
        return Ok(());
    }
    let problem = format!("{outputs} outputs for {rows} rows, expected {expected}");
    Err(Error::new(ErrorKind::Argument, problem))
}
