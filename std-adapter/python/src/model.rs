//! Models: fitted, saved, loaded, exported.

use crate::arrays::{Array, Names, table, vector};
use crate::options::{Checked, Options, kernel_name};
use crate::run::{How, run, to_python};
use crate::table::{Reading, Recipe};
use dpp_nystrom::approximation::Components;
use dpp_nystrom::core::Assessment;
use dpp_nystrom::data::{Prepared, RowSource};
use dpp_nystrom::kernel::Metric;
use dpp_nystrom::model::export::{Bits, Bundle, Form, Name, With, landmark_rows};
use dpp_nystrom::model::{Importance, TestError};
use dpp_nystrom::observer::Observer;
use dpp_nystrom::pipeline::{self, Candidate, Outcome, Selected};
use dpp_nystrom::{Error, ErrorKind, Nystroem, Ridge};
use dpp_nystrom_host::atomic_file::write_whole;
use dpp_nystrom_lab::Error as LabError;
use dpp_nystrom_lab::report::{Origin, Subject, Summary, Undo};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// Return the name of the metric of a selection.
pub(crate) fn metric_of(selected: &Selected<'_>) -> String {
    selected.metric.as_ref().map_or(Metric::One, |learned| learned.metric).to_string()
}

/// The parameters that undo what became of columns.
const UNDO: Undo = [
    "keep has columns that stay",
    "",
    "categorical_features has columns of words",
    "strict=True refuses them",
    "",
    "with means, and 0/1 features mark them; missing has others",
];

/// What the page of a fit is made from.
struct Page {
    subject: Subject,
    choices: Vec<Vec<String>>,
}

/// A trained model.
#[pyclass(frozen, module = "dpp_nystrom._native")]
pub(crate) struct Model {
    pub(crate) model: dpp_nystrom::Model,
    /// The error by which the ridge was chosen, in standard deviations of the target.
    #[pyo3(get)]
    pub(crate) validation_error: Option<f64>,
    /// The metric; none for a model that was loaded.
    #[pyo3(get)]
    pub(crate) metric: Option<String>,
    /// None for a model that was loaded, unpickled or made of sums.
    page: Option<Page>,
}

/// Return an error of a page as one of the library.
fn of_page(error: LabError) -> Error {
    match error {
        LabError::Library(error) => error,
        other => Error::new(ErrorKind::Unsupported, other.to_string()),
    }
}

impl Model {
    /// A model that has no page.
    pub(crate) fn without_page(
        model: dpp_nystrom::Model,
        validation_error: Option<f64>,
        metric: Option<String>,
    ) -> Self {
        Self { model, validation_error, metric, page: None }
    }

    fn of(rows: &dyn RowSource, checked: &Checked, observer: &dyn Observer) -> Result<Self, Error> {
        let (outcome, method) = match checked.flash_params() {
            Some(params) => {
                let found = pipeline::fit_in_flash(rows, &params, observer)?;
                let method = match found.chosen {
                    Candidate { line: true, .. } => "line",
                    Candidate { free: true, .. } => "free",
                    _ => checked.selector.name(),
                };
                (found.outcome, method)
            }
            None => {
                let outcome = pipeline::fit(rows, &checked.params(rows)?, None, observer)?;
                (outcome, checked.selector.name())
            }
        };
        let summary = Summary::of(&outcome, method, checked.ridge == Ridge::LeaveOneOut);
        let mut choices = summary.choices(&outcome.fitted.model, &UNDO);
        choices.push(vec!["seed".to_owned(), checked.seed.to_string()]);
        let page = Page { subject: Subject::of(&outcome, rows).map_err(of_page)?, choices };
        let Outcome { selected, fitted, .. } = outcome;
        let (metric, validation_error) = (Some(metric_of(&selected)), fitted.validation_nrmse);
        Ok(Self { model: fitted.model, validation_error, metric, page: Some(page) })
    }
}

#[pymethods]
impl Model {
    /// Select landmarks, and fit ridge regression on them.
    #[new]
    fn fit(
        py: Python<'_>,
        rows: Array<'_>,
        target: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        names: Names,
        options: Options,
    ) -> PyResult<Self> {
        let (rows, target) = (rows.rows()?, vector(&target)?);
        let weights = weights.as_ref().map(vector).transpose()?;
        let checked = options.check()?;
        run(py, options.how(rows.len()), |observer| {
            let data = rows.dataset(Some(target), weights, &names)?;
            let source = data.source(checked.scale)?;
            Self::of(source.as_rows(), &checked, observer)
        })
    }

    /// Select landmarks among the rows of a table, and fit ridge regression on them.
    #[staticmethod]
    fn of_table(py: Python<'_>, reading: &Bound<'_, Reading>, options: Options) -> PyResult<Self> {
        let (reading, checked) = (&reading.get().0, options.check()?);
        run(py, options.how(reading.table.features.len()), |observer| {
            let rows = Prepared::of_reading(reading.clone(), None, 0)?.scaled(checked.scale)?;
            Self::of(&rows, &checked, observer)
        })
    }

    #[staticmethod]
    fn of_bytes(bytes: &[u8], validation_error: Option<f64>, metric: Option<String>) -> PyResult<Self> {
        let model = dpp_nystrom::Model::from_bytes(bytes);
        let model = model.map_err(|problem| PyValueError::new_err(problem.to_string()))?;
        Ok(Self::without_page(model, validation_error, metric))
    }

    #[expect(clippy::type_complexity, reason = "the protocol's")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Py<PyAny>, (Bound<'py, PyBytes>, Option<f64>, Option<String>))> {
        let state = (self.to_bytes(py)?, self.validation_error, self.metric.clone());
        Ok((py.get_type::<Self>().getattr("of_bytes")?.unbind(), state))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.model.to_bytes().map_err(to_python)?))
    }

    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let model = dpp_nystrom::Model::load(path).map_err(to_python)?;
        Ok(Self::without_page(model, None, None))
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.model.save(path).map_err(to_python)
    }

    /// Write the page of the fit to rows of this name; `again` is the estimator, `notes` what it told.
    fn report(
        &self,
        py: Python<'_>,
        path: PathBuf,
        name: Option<&str>,
        again: &str,
        notes: Vec<String>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let Some(Page { subject, choices }) = &self.page else {
            let text = "the model has no page, which is of a fit: call fit before report; partial_fit, load and pickle keep none";
            return Err(PyValueError::new_err(text));
        };
        let data = name.map(|name| vec!["data".to_owned(), name.to_owned()]);
        let choices: Vec<Vec<String>> = data.into_iter().chain(choices.iter().cloned()).collect();
        let again = ("estimator", again);
        let numbers = self.model.trained_rows as usize * self.model.feature_names.len();
        run(py, How { threads, numbers, progress: None }, |_| {
            let origin = Origin { rows: name, choices: &choices, again, notes: &notes };
            let page = subject.page(&self.model, &origin).map_err(of_page)?;
            Ok(write_whole(&path, |file| file.write_all(page.as_bytes()))?)
        })
    }

    /// The outputs for rows, in their precision: a column for each target or class.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: Array<'_>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let shape = (self.model.feature_names.len(), self.model.outputs());
        rows.rows()?.each(py, shape, threads, |rows| self.model.predict(rows))
    }

    /// For each row, in its precision, the prediction, the standard deviation of a new observation (NaN if
    /// the model has none) and the distance to the nearest landmark.
    fn assess<'py>(
        &self,
        py: Python<'py>,
        rows: Array<'_>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        rows.rows()?.each(py, (self.model.feature_names.len(), 3), threads, |rows| {
            let of =
                |row: Assessment<f64>| [row.value, row.variance.map_or(f64::NAN, f64::sqrt), row.nearest];
            Ok(self.model.assess(rows)?.into_iter().flat_map(of).collect())
        })
    }

    /// Rows and landmarks in the first two kernel principal components of the rows, two numbers each, and the
    /// shares of their variance.
    fn components<'py>(
        &self,
        py: Python<'py>,
        rows: Array<'_>,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<f64>)> {
        let rows = rows.rows()?;
        let how = How { threads, numbers: rows.len(), progress: None };
        let (points, centres, mut shares) = run(py, how, |_| {
            let map = Nystroem::of_model(&self.model)?;
            let features = map.transform(&rows.doubled())?;
            let found = Components::of(&features, map.rank(), 2)?;
            let both = |features: &[f64]| -> Result<Vec<f64>, Error> {
                let (points, width) = (found.project(features)?, found.shares.len());
                let row =
                    |row: usize| [0, 1].map(|at| if at < width { points[row * width + at] } else { 0.0 });
                Ok((0..features.len() / map.rank()).flat_map(row).collect())
            };
            let landmarks = map.transform_scaled(&self.model.coefficients.to_f64().landmarks)?;
            Ok((both(&features)?, both(&landmarks)?, found.shares.clone()))
        })?;
        shares.resize(2, 0.0);
        Ok((table(py, points, 2)?, table(py, centres, 2)?, shares))
    }

    /// Whether the model has what variances need.
    #[getter]
    fn has_variance(&self) -> bool {
        self.model.confidence.as_ref().is_some_and(|confidence| !confidence.triangle.is_empty())
    }

    /// The probabilities of classes for rows, in their precision.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: Array<'_>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let classifier = self.model.classifier.as_ref().ok_or_else(|| {
            to_python(Error::new(
                dpp_nystrom::ErrorKind::Unsupported,
                "the model predicts numbers, not classes; fit it to labels",
            ))
        })?;
        let classes = self.model.outputs();
        rows.rows()?.each(py, (self.model.feature_names.len(), classes), threads, |rows| {
            let outputs = self.model.predict(rows)?;
            let of_row = |own| (0..classes).map(move |class| classifier.log_probability(own, class));
            outputs.chunks_exact(classes).flat_map(of_row).map(|logarithm| Ok(logarithm?.exp())).collect()
        })
    }

    /// The bytes of an exported file.
    fn export<'py>(
        &self,
        py: Python<'py>,
        form: &str,
        quantise: Option<&str>,
        include: Vec<String>,
        name: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let invalid = |what, value: &str, expected| {
            PyValueError::new_err(format!("invalid {what} {value:?}: expected {expected}"))
        };
        let form: Form = form.parse().map_err(PyValueError::new_err)?;
        let name = Name::new(name);
        if form == Form::Onnx {
            if quantise.is_some() || !include.is_empty() {
                let problem = "onnx is the model as it is, in its own precision: omit quantise and include";
                return Err(PyValueError::new_err(problem));
            }
            let written = py.detach(|| self.model.to_onnx(&name));
            return Ok(PyBytes::new(py, &written.map_err(to_python)?));
        }
        let quantise = match quantise {
            None => self.model.quantise,
            Some("f32") => None,
            Some("i16") => Some(Bits::Sixteen),
            Some("i8") => Some(Bits::Eight),
            Some(other) => return Err(invalid("quantise", other, "f32, i16, i8 or None")),
        };
        let mut added = With::default();
        for what in include {
            match what.as_str() {
                "novelty" => added.novelty = true,
                "variance" => added.variance = true,
                other => return Err(invalid("include", other, "novelty, variance")),
            }
        }
        let written = || -> Result<Vec<u8>, Error> {
            Bundle::of(&self.model.each_output(), quantise, added)?.write(form, &name)
        };
        Ok(PyBytes::new(py, &py.detach(written).map_err(to_python)?))
    }

    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.model.feature_names.clone()
    }

    /// How the columns of a table become the features; none if the model was fitted to an array of numbers.
    #[getter]
    fn recipe(&self) -> Option<Recipe> {
        self.model.recipe.as_ref().map(|_| Recipe(self.model.recipe()))
    }

    #[getter]
    fn target_name(&self) -> &str {
        &self.model.target_name
    }

    /// Row indices of the landmarks; empty if they are not rows.
    #[getter]
    fn rows(&self) -> Vec<u64> {
        self.model.landmark_rows.clone()
    }

    /// The landmarks in the units of the rows.
    #[getter]
    fn landmarks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let landmarks = landmark_rows(&self.model).map_err(to_python)?;
        table(py, landmarks.features, landmarks.dim)
    }

    /// The weights of the landmarks' kernel values, for each target in its units.
    #[getter]
    fn weights(&self) -> Vec<Vec<f64>> {
        let of = |model: dpp_nystrom::Model| {
            let weights = model.coefficients.to_f64().weights.into_iter();
            weights.map(|weight| weight * model.target_deviation).collect()
        };
        self.model.each_output().into_iter().map(of).collect()
    }

    /// What is added to the weighted kernel values, for each target.
    #[getter]
    fn intercepts(&self) -> Vec<f64> {
        self.model.each_output().iter().map(|model| model.target_mean).collect()
    }

    /// The labels of the classes; none for a model of numbers.
    #[getter]
    fn labels(&self) -> Option<Vec<String>> {
        self.model.classifier.as_ref().map(|classifier| classifier.classes.labels.clone())
    }

    /// The temperature of the probabilities of classes.
    #[getter]
    fn temperature(&self) -> Option<f64> {
        self.model.classifier.as_ref().map(|classifier| classifier.temperature)
    }

    /// The bandwidth; none for a kernel without one.
    #[getter]
    fn sigma(&self) -> Option<f64> {
        self.model.kernel.bandwidth()
    }

    #[getter]
    fn kernel(&self) -> &'static str {
        kernel_name(self.model.kernel.kind)
    }

    #[getter]
    fn ridge(&self) -> f64 {
        self.model.ridge
    }

    #[getter]
    fn trained_rows(&self) -> u64 {
        self.model.trained_rows
    }

    /// The columns, the rise of the error where each is permuted, and its deviation; none if it was not
    /// measured.
    #[getter]
    fn importances(&self) -> Option<(Vec<String>, Vec<f64>, Vec<f64>)> {
        let measured = self.model.importances.as_ref()?;
        let of = |column: &Importance| (column.column.clone(), column.rise, column.deviation);
        Some(measured.columns.iter().map(of).collect())
    }

    /// The error on rows that no choice has seen with its standard error, and the log-loss of classes with
    /// its own; none if it was not measured.
    #[getter]
    #[expect(clippy::type_complexity, reason = "a tuple of Python's")]
    fn test_error(&self) -> Option<(f64, f64, Option<(f64, f64)>)> {
        let TestError { error, log_loss, .. } = self.model.test_error.as_ref()?;
        let log_loss = log_loss.map(|loss| (loss.value, loss.standard_error));
        Some((error.value, error.standard_error, log_loss))
    }

    /// The inverse length-scales of the features; none for one bandwidth.
    #[getter]
    fn scales(&self) -> Option<Vec<f64>> {
        self.model.scales.clone()
    }
}
