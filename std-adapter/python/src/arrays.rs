//! Arrays of numpy, borrowed, and results as arrays.

use crate::run::{How, run};
use dpp_nystrom::core::Error as CoreError;
use dpp_nystrom::observer::Observer;
use dpp_nystrom::{Dataset, Error, ErrorKind, data::Value};
use numpy::{Element, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, prelude::*};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::borrow::Cow;

/// Rows for each thread that are transformed or predicted between two looks at signals: four tasks of the
/// library.
const BLOCK: usize = 1 << 12;

/// A two-dimensional array in either precision.
#[derive(FromPyObject)]
pub(crate) enum Array<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// Rows of this many features, row-major.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) values: Numbers<'a>,
    pub(crate) features: usize,
}

#[derive(Clone, Copy)]
pub(crate) enum Numbers<'a> {
    Double(&'a [f64]),
    Single(&'a [f32]),
}

impl Array<'_> {
    /// Borrow the values.
    pub(crate) fn rows(&self) -> PyResult<Rows<'_>> {
        let (values, features) = match self {
            Self::Double(array) => (slice(array)?.map(Numbers::Double), array.shape()[1]),
            Self::Single(array) => (slice(array)?.map(Numbers::Single), array.shape()[1]),
        };
        let values =
            values.ok_or_else(|| PyTypeError::new_err("the array is not C-contiguous and aligned"))?;
        Ok(Rows { values, features })
    }
}

/// Return the values in the order of rows; none if they lie otherwise.
fn slice<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<Option<&'a [T]>> {
    if array.is_empty() {
        return Err(PyValueError::new_err(format!("the array is empty: its shape is {:?}", array.shape())));
    }
    // A slice exists in either order.
    Ok(array.as_slice().ok().filter(|_| array.is_c_contiguous()))
}

/// Borrow a one-dimensional array.
pub(crate) fn vector<'a>(array: &'a PyReadonlyArray1<'_, f64>) -> PyResult<&'a [f64]> {
    array.as_slice().map_err(|_| PyTypeError::new_err("the array is not contiguous and aligned"))
}

/// The names of features and target, those of several targets, which lie row by row, and the labels of which
/// the target is the index.
#[derive(Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Names {
    features: Option<Vec<String>>,
    target: String,
    targets: Option<Vec<String>>,
    pub(crate) labels: Option<Vec<String>>,
}

pub(crate) fn borrowed(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

impl<'a> Rows<'a> {
    /// Return the number of values.
    pub(crate) fn len(&self) -> usize {
        match self.values {
            Numbers::Double(values) => values.len(),
            Numbers::Single(values) => values.len(),
        }
    }

    /// Borrow the rows as a data set, with a target and weights if there are any.
    pub(crate) fn dataset(
        self,
        target: Option<&'a [f64]>,
        weights: Option<&'a [f64]>,
        names: &Names,
    ) -> Result<Dataset<'a>, Error> {
        let data = match self.values {
            Numbers::Double(values) => Dataset::from_rows(values, self.features),
            Numbers::Single(values) => Dataset::from_rows(values, self.features),
        }?;
        let own = data.feature_names().to_vec();
        let features = borrowed(names.features.as_ref().unwrap_or(&own));
        let data = match weights {
            Some(weights) => data.with_weights(weights)?,
            None => data,
        };
        let data = match (target, &names.labels, &names.targets) {
            (Some(target), _, Some(targets)) => data.with_targets(target, &borrowed(targets))?,
            (Some(target), Some(labels), None) => data.with_classes(target, &borrowed(labels))?,
            (Some(target), None, None) => data.with_target(target)?,
            (None, ..) => data,
        };
        data.with_names(&features, &names.target)
    }

    /// Return the values in double precision.
    pub(crate) fn doubled(self) -> Cow<'a, [f64]> {
        match self.values {
            Numbers::Double(values) => Cow::Borrowed(values),
            Numbers::Single(values) => values.iter().copied().map(f64::from).collect(),
        }
    }

    /// Return `width` numbers for each row as an array in the precision of the rows. `work` computes them for
    /// the rows that it is given; rows in single precision are converted block by block.
    pub(crate) fn each<'py>(
        self,
        py: Python<'py>,
        (features, width): (usize, usize),
        threads: Option<usize>,
        work: impl Fn(&[f64]) -> Result<Vec<f64>, Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.features != features {
            let text = format!("the rows have {} features, expected {features}", self.features);
            return Err(PyValueError::new_err(text));
        }
        let how = How { threads, numbers: self.len(), progress: None };
        match self.values {
            Numbers::Double(values) => {
                let all = run(py, how, |observer| blocks(values, (features, width), work, observer))?;
                table(py, all, width)
            }
            Numbers::Single(values) => {
                let all = run(py, how, |observer| blocks(values, (features, width), work, observer))?;
                table(py, all, width)
            }
        }
    }
}

/// Return values as an array of this many columns.
pub(crate) fn table<T: Element>(py: Python<'_>, values: Vec<T>, width: usize) -> PyResult<Bound<'_, PyAny>> {
    let rows = values.len() / width.max(1);
    let array: Bound<'_, PyArray2<T>> = PyArray1::from_vec(py, values).reshape([rows, width])?;
    Ok(array.into_any())
}

fn blocks<T: Value>(
    values: &[T],
    (features, width): (usize, usize),
    work: impl Fn(&[f64]) -> Result<Vec<f64>, Error>,
    observer: &dyn Observer,
) -> Result<Vec<T>, Error> {
    let count = (values.len() / features).saturating_mul(width);
    let mut all: Vec<T> = Vec::new();
    let memory = |_| {
        let bytes = count.saturating_mul(size_of::<T>());
        Error::new(
            ErrorKind::Memory,
            format!("out of memory: {bytes} bytes needed; use fewer landmarks or rows, or precision f32"),
        )
    };
    all.try_reserve_exact(count).map_err(memory)?;
    let size = BLOCK * rayon::current_num_threads();
    for (block, rows) in values.chunks(size * features).enumerate() {
        if observer.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, "cancelled"));
        }
        let rows: Vec<f64> = rows.iter().map(|value| value.to_f64()).collect();
        if let Some(at) = rows.iter().position(|value| !value.is_finite()) {
            let (row, column) = (block * size + at / features, at % features);
            return Err(CoreError::NotFinite { row, column }.into());
        }
        let found = work(&rows).map_err(|error| error.after_rows(block * size))?;
        all.extend(found.into_iter().map(T::from_f64));
    }
    Ok(all)
}
