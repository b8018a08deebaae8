//! Rows that arrive in batches: landmarks of the first, sums of all.

use crate::arrays::{Array, Names, Numbers, vector};
use crate::model::{Model, metric_of};
use crate::options::{Choice, Options};
use crate::run::{run, to_python};
use dpp_nystrom::pipeline;
use dpp_nystrom::regression::{FitSpec, Folds};
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
}

type State<'py> =
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Option<Vec<usize>>, Option<String>, Option<Vec<f64>>);

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
        run(py, options.threads, |observer| {
            let data = rows.dataset(Some(target), None, &names)?;
            let source = data.source(checked.scale)?;
            let rows = source.as_rows();
            let selected = pipeline::select(rows, &checked.params(rows)?, observer)?;
            let spec = selected.fit_spec(checked.ridge, checked.seed)?;
            let folds = spec.empty()?;
            let rows = selected.selection.landmarks.rows().map(<[usize]>::to_vec);
            let scales = selected.metric.as_ref().and_then(|metric| metric.inverse_length_scales());
            let scales = scales.map(<[f64]>::to_vec);
            let metric = Some(metric_of(&selected));
            Ok(Self { spec, folds, rows, metric, scales })
        })
    }

    /// Return the sums with the rows of a batch.
    fn add(
        &self,
        py: Python<'_>,
        rows: Array<'_>,
        target: PyReadonlyArray1<'_, f64>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let (rows, target) = (rows.rows()?, vector(&target)?);
        let features = self.spec.features();
        if rows.features != features {
            let text = format!("the rows have {} features, expected {features}", rows.features);
            return Err(PyValueError::new_err(text));
        }
        run(py, threads, |_| {
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
            Ok(Self { spec: spec.clone(), folds, rows, metric, scales })
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
        run(py, threads, |observer| {
            let fitted = self.spec.conclude(&self.folds, ridge, "data", observer)?;
            let mut model = fitted.model;
            model.scales.clone_from(&self.scales);
            Ok(Model { model, validation_error: fitted.validation_nrmse, metric: self.metric.clone() })
        })
    }

    #[staticmethod]
    fn of_state(
        spec: &[u8],
        folds: &[u8],
        rows: Option<Vec<usize>>,
        metric: Option<String>,
        scales: Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let spec = FitSpec::from_bytes(spec).map_err(to_python)?;
        let folds = spec.read(folds).map_err(to_python)?;
        Ok(Self { spec, folds, rows, metric, scales })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, State<'py>)> {
        let spec = PyBytes::new(py, &self.spec.to_bytes().map_err(to_python)?);
        let folds = PyBytes::new(py, &self.spec.state(&self.folds).map_err(to_python)?);
        let state = (spec, folds, self.rows.clone(), self.metric.clone(), self.scales.clone());
        Ok((py.get_type::<Self>().getattr("of_state")?.unbind(), state))
    }
}
