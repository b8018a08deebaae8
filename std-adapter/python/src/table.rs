//! Tables of words, gaps and numbers, read by the rules of the program.

use crate::arrays::{table, vector};
use crate::run::to_python;
use dpp_nystrom::data::table::{self, Labels, Missing, Options, Target, Unknown, Values};
use dpp_nystrom::data::table::{Form, Taken};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The values of a column: numbers, fields and their levels, or fields.
#[derive(FromPyObject)]
enum Cells<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Levels(Vec<String>, Vec<String>),
    Fields(Vec<String>),
}

/// The columns of a table, and whether their names are not just `x0`, `x1`, ...
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Frame<'py> {
    columns: Vec<(String, Cells<'py>)>,
    named: bool,
}

/// How a table is learned from.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct How {
    targets: Vec<String>,
    classes: bool,
    weight: Option<String>,
    group: Option<String>,
    words: Vec<String>,
    keep: Vec<String>,
    missing: String,
    strict: bool,
}

impl Cells<'_> {
    fn values(&self) -> PyResult<Values<'_>> {
        Ok(match self {
            Self::Numbers(values) => Values::Numbers(vector(values)?),
            Self::Levels(fields, levels) => Values::Levels(fields, levels),
            Self::Fields(fields) => Values::Fields(fields),
        })
    }
}

impl Frame<'_> {
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&table::Frame<'_>) -> Result<R, dpp_nystrom::Error> + Send,
    ) -> PyResult<R> {
        let columns = self.columns.iter().map(|(name, cells)| Ok((name.clone(), cells.values()?)));
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        let frame = table::Frame::new(columns, self.named).map_err(to_python)?;
        py.detach(|| read(&frame)).map_err(to_python)
    }
}

impl How {
    fn options(&self) -> PyResult<Options> {
        let missing = match self.missing.as_str() {
            "indicator" => Missing::Indicator,
            "mean" => Missing::Mean,
            "error" => Missing::Error,
            other => {
                let text = format!("invalid missing {other:?}: expected indicator, mean or error");
                return Err(PyValueError::new_err(text));
            }
        };
        let mut targets: Vec<Target> = self.targets.iter().cloned().map(Target::Name).collect();
        let mut options = Options {
            target: match targets.len() {
                0 => Target::None,
                1 => targets.remove(0),
                _ => Target::Several(targets),
            },
            labels: if self.classes { Labels::All } else { Labels::None },
            weight: self.weight.clone(),
            group: self.group.clone(),
            words: self.words.clone(),
            keep: self.keep.clone(),
            missing,
            as_it_is: !self.strict,
            ..Options::default()
        };
        options.limits.classes = u64::MAX;
        Ok(options)
    }
}

/// Return the names of columns as a table has them: without blanks around, and of those without a name by the
/// index.
#[pyfunction]
pub(crate) fn column_names(names: Vec<String>) -> PyResult<Vec<String>> {
    let columns = names.into_iter().map(|name| (name, Values::Numbers(&[]))).collect();
    let frame = table::Frame::new(columns, true).map_err(to_python)?;
    Ok(frame.names().into_iter().map(str::to_owned).collect())
}

/// A table that was read to learn from it.
#[pyclass(frozen, module = "dpp_nystrom._native")]
pub(crate) struct Reading(pub(crate) table::Reading);

#[pymethods]
impl Reading {
    #[new]
    fn learn(py: Python<'_>, frame: Frame<'_>, how: How) -> PyResult<Self> {
        let options = how.options()?;
        frame.with(py, |frame| options.read_frame(frame)).map(Self)
    }

    #[getter]
    fn recipe(&self) -> Recipe {
        Recipe(self.0.recipe.clone())
    }

    /// The features of the rows that were kept.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, self.0.table.features.clone(), self.0.table.dim)
    }

    /// Their target, the first of several; of classes the index of the label.
    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.0.table.target.clone().map(|target| PyArray1::from_vec(py, target))
    }

    /// The labels of the classes.
    #[getter]
    fn labels(&self) -> Option<Vec<String>> {
        self.0.recipe.classes.clone()
    }

    /// The sum of the weights of these rows, or their number.
    #[getter]
    fn total(&self) -> f64 {
        let table = &self.0.table;
        table.weights.as_ref().map_or(table.rows() as f64, |weights| weights.iter().sum())
    }

    /// The rows that were left out for gaps in the target, or a weight of 0.
    #[getter]
    fn dropped(&self) -> Vec<usize> {
        self.0.remarks.dropped.clone()
    }

    /// The number of rows that were left out for gaps.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.remarks.lost()
    }
}

/// How the columns of a table become features.
#[pyclass(frozen, module = "dpp_nystrom._native")]
pub(crate) struct Recipe(pub(crate) table::Recipe);

#[pymethods]
impl Recipe {
    /// The features of rows, and the number of words that were in no training row.
    fn read<'py>(
        &self,
        py: Python<'py>,
        frame: Frame<'_>,
        strict: bool,
    ) -> PyResult<(Bound<'py, PyAny>, u64)> {
        let unknown = if strict { Unknown::Error } else { Unknown::Zero };
        let options = Options { unknown, ..Options::default() };
        let read = frame.with(py, |frame| options.read_frame_for(&self.0, frame))?;
        Ok((table(py, read.table.features, read.table.dim)?, read.remarks.unknown))
    }

    /// The columns of which features are made, in their order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Those of words.
    #[getter]
    fn words(&self) -> Vec<String> {
        let words = self.0.columns.iter().filter(|column| column.levels.is_some());
        words.map(|column| column.name.clone()).collect()
    }

    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.0.feature_names()
    }

    /// The columns that were not read as they stand, what became of them, and whether they were left out.
    #[getter]
    fn taken(&self) -> Vec<(String, String, bool)> {
        let of = |taken: &Taken| (taken.column.clone(), taken.how.to_string(), taken.how.is_left_out());
        self.0.taken.iter().map(of).collect()
    }

    #[staticmethod]
    fn of_state(state: &[u8]) -> PyResult<Self> {
        let invalid = |_| PyValueError::new_err("damaged state of a table's recipe");
        let (recipe, apart): (table::Recipe, Apart) = postcard::from_bytes(state).map_err(invalid)?;
        let (forms, missing_values, decimal_comma, as_it_is, taken) = apart;
        let mut recipe = table::Recipe { missing_values, decimal_comma, as_it_is, taken, ..recipe };
        recipe.columns.iter_mut().zip(forms).for_each(|(column, form)| column.form = form);
        Ok(Self(recipe))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, (Bound<'py, PyBytes>,))> {
        let table::Recipe { missing_values, decimal_comma, as_it_is, taken, .. } = self.0.clone();
        let forms = self.0.columns.iter().map(|column| column.form.clone()).collect();
        let apart: Apart = (forms, missing_values, decimal_comma, as_it_is, taken);
        let state = postcard::to_allocvec(&(&self.0, apart));
        let state = state.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((py.get_type::<Self>().getattr("of_state")?.unbind(), (PyBytes::new(py, &state),)))
    }
}

/// What a recipe keeps apart from its serialised form: forms of columns, markers, decimal comma, whether it
/// is of a table that was taken as it is, and what became of its columns.
type Apart = (Vec<Form>, Option<Vec<String>>, bool, bool, Vec<Taken>);
