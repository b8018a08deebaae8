//! Selections, and the feature map.

use crate::arrays::{Array, Names, Numbers, table, vector};
use crate::model::metric_of;
use crate::options::{Options, kernel_kind, kernel_name};
use crate::run::{run, to_python};
use dpp_nystrom::core::{Matrix, Random};
use dpp_nystrom::kernel::{KernelKind, KernelParams, KernelSpec, Kinds};
use dpp_nystrom::landmarks::{ExactKDpp, Selection};
use dpp_nystrom::{
    Dataset, Error, Nystroem, landmarks, pipeline, regression::choose_bandwidth, selectors::Given,
};
use dpp_nystrom::{
    Scale, data,
    data::{Columns, Scaler},
};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A fitted feature map.
#[pyclass(frozen, module = "dpp_nystrom._native")]
pub(crate) struct Map {
    map: Nystroem,
    parts: Parts,
    /// Row indices of the landmarks; none if they are not rows.
    #[pyo3(get)]
    rows: Option<Vec<usize>>,
    /// The metric.
    #[pyo3(get)]
    metric: Option<String>,
}

/// What a map is made of, and restored from.
#[derive(Clone)]
struct Parts {
    scaler: Scaler,
    /// Scaled and mapped, row-major.
    landmarks: Vec<f64>,
    kernel: KernelSpec,
}

/// A [`Scaler`] in the types of Python: means, deviations, and rank and values of a map.
type ScalerState = (Vec<f64>, Vec<f64>, Option<(usize, Vec<f64>)>);

/// [`Parts`], rows and metric in the types of Python: scaler, landmarks, kernel, bandwidth, rows, metric.
type State = (ScalerState, Vec<f64>, (String, u32, f64), f64, Option<Vec<usize>>, Option<String>);

impl Parts {
    fn map(&self) -> Result<Nystroem, Error> {
        let Self { scaler, landmarks, kernel } = self.clone();
        let columns = Columns {
            name: "data".to_owned(),
            feature_names: (0..scaler.means.len()).map(|feature| format!("x{feature}")).collect(),
            scaler,
            target: None,
            further: Vec::new(),
            classes: None,
        };
        Nystroem::of_landmarks(columns, landmarks, kernel)
    }
}

#[pymethods]
impl Map {
    /// Select landmarks and factor their kernel matrix.
    #[new]
    fn fit(
        py: Python<'_>,
        rows: Array<'_>,
        target: Option<PyReadonlyArray1<'_, f64>>,
        names: Names,
        options: Options,
    ) -> PyResult<Self> {
        let (rows, target) = (rows.rows()?, target.as_ref().map(vector).transpose()?);
        let checked = options.check()?;
        run(py, options.threads, |observer| {
            let data = rows.dataset(target, None, &names)?;
            let source = data.source(checked.scale)?;
            let rows = source.as_rows();
            let selected = pipeline::select(rows, &checked.params(rows)?, observer)?;
            let scaler = selected.source().columns().scaler;
            let landmarks = selected.selection.landmarks.features(selected.source())?;
            let parts = Parts { scaler, landmarks, kernel: selected.kernel };
            let rows = selected.selection.landmarks.rows().map(<[usize]>::to_vec);
            let metric = Some(metric_of(&selected));
            Ok(Self { map: parts.map()?, parts, rows, metric })
        })
    }

    /// Restore a map from its state.
    #[staticmethod]
    fn of_state(state: State) -> PyResult<Self> {
        let ((means, deviations, map), landmarks, kernel, sigma, rows, metric) = state;
        let kind = kernel_kind(&kernel.0, kernel.1, kernel.2)?;
        let scaler = Scaler { means, deviations, map: map.map(|(rank, values)| data::Map { rank, values }) };
        let parts = Parts { scaler, landmarks, kernel: KernelSpec { kind, sigma } };
        Ok(Self { map: parts.map().map_err(to_python)?, parts, rows, metric })
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (State,))> {
        let Parts { scaler, landmarks, kernel: KernelSpec { kind, sigma } } = self.parts.clone();
        let Scaler { means, deviations, map } = scaler;
        let scaler = (means, deviations, map.map(|map| (map.rank, map.values)));
        let (degree, offset) = match kind {
            KernelKind::Polynomial { degree, offset } => (degree, offset),
            _ => (0, 0.0),
        };
        let kernel = (kernel_name(kind).to_owned(), degree, offset);
        let state = (scaler, landmarks, kernel, sigma, self.rows.clone(), self.metric.clone());
        Ok((py.get_type::<Self>().getattr("of_state")?.unbind(), (state,)))
    }

    /// The number of features of a transformed row.
    #[getter]
    fn rank(&self) -> usize {
        self.map.rank()
    }

    /// The bandwidth; none for a kernel without one.
    #[getter]
    fn sigma(&self) -> Option<f64> {
        self.parts.kernel.bandwidth()
    }

    /// The landmarks in the units of the rows.
    #[getter]
    fn landmarks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, self.map.landmark_points().map_err(to_python)?, self.parts.scaler.means.len())
    }

    /// The features of rows, in their precision.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        rows: Array<'_>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let shape = (self.parts.scaler.means.len(), self.map.rank());
        rows.rows()?.each(py, shape, threads, |rows| self.map.transform(rows))
    }
}

/// A feature map of landmarks that are known by their kernel matrix alone.
#[pyclass(frozen, module = "dpp_nystrom._native")]
pub(crate) struct GramMap {
    map: Nystroem,
    /// The kernel matrix of the landmarks.
    gram: Vec<f64>,
}

#[pymethods]
impl GramMap {
    /// Factor the kernel matrix of the landmarks, row-major.
    #[new]
    fn of(gram: Vec<f64>) -> PyResult<Self> {
        let count = gram.len().isqrt();
        let fit = |gram: &[f64]| {
            let all = Given::new((0..count).collect::<Vec<_>>());
            Nystroem::params(count).selector(all).scale(Scale::None).fit(&Dataset::from_gram(gram, count)?)
        };
        Ok(Self { map: fit(&gram).map_err(to_python)?, gram })
    }

    fn __reduce__(&self, py: Python<'_>) -> (Py<PyAny>, (Vec<f64>,)) {
        (py.get_type::<Self>().into_any().unbind(), (self.gram.clone(),))
    }

    /// The number of features of a transformed row.
    #[getter]
    fn rank(&self) -> usize {
        self.map.rank()
    }

    /// The features of rows, of which each has its kernel with the landmarks, in their precision.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        rows: Array<'_>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let shape = (self.gram.len().isqrt(), self.map.rank());
        rows.rows()?.each(py, shape, threads, |rows| self.map.transform(rows))
    }
}

/// Return the rows that a selector selects: among rows of features, or of a kernel matrix.
#[pyfunction]
pub(crate) fn select(
    py: Python<'_>,
    rows: Array<'_>,
    target: Option<PyReadonlyArray1<'_, f64>>,
    precomputed: bool,
    options: Options,
) -> PyResult<Vec<usize>> {
    let (rows, target) = (rows.rows()?, target.as_ref().map(vector).transpose()?);
    let checked = options.check()?;
    let (selector, seed) = (&*checked.selector, checked.seed);
    let selection = run(py, options.threads, |observer| {
        if precomputed {
            let select = |count| match rows.values {
                Numbers::Double(values) => {
                    landmarks::select(&Matrix::new(values)?, count, selector, seed, observer)
                }
                Numbers::Single(values) => {
                    landmarks::select(&Matrix::new(values)?, count, selector, seed, observer)
                }
            };
            return options.count.map_or_else(|| pipeline::with_usual(rows.features, select), select);
        }
        let data = rows.dataset(target, None, &Names::default())?;
        let source = data.source(checked.scale)?;
        let rows = source.as_rows();
        let selected = pipeline::select(rows, &checked.params(rows)?, observer)?;
        Ok(selected.selection)
    })?;
    indices(&selection)
}

fn indices(selection: &Selection) -> PyResult<Vec<usize>> {
    let points = || {
        PyValueError::new_err(
            "the landmarks of this selector are points, not rows; use Nystroem and components_",
        )
    };
    selection.landmarks.rows().map(<[usize]>::to_vec).ok_or_else(points)
}

/// Draw samples of a c-DPP, each of `options.count` rows, from the eigenvectors of the kernel matrix.
#[pyfunction]
pub(crate) fn sample_exact(
    py: Python<'_>,
    rows: Array<'_>,
    precomputed: bool,
    samples: usize,
    options: Options,
) -> PyResult<Vec<Vec<usize>>> {
    let rows = rows.rows()?;
    let (checked, size) = (options.check()?, options.size()?);
    if checked.kernel.kinds == Kinds::Any {
        return Err(PyValueError::new_err("a sample has no target that tells kernels apart; name a kernel"));
    }
    run(py, options.threads, |observer| {
        let (seed, KernelParams { kind, sigma, .. }) = (checked.seed, checked.kernel);
        let exact = if precomputed {
            ExactKDpp::new(&Matrix::new(&rows.doubled())?)
        } else {
            let data = rows.dataset(None, None, &Names::default())?;
            let source = data.source(checked.scale)?;
            let sigma = choose_bandwidth(sigma, kind, source.as_rows(), seed, observer)?.sigma;
            let prepared = source.as_rows().in_memory("an exact sample", seed)?;
            ExactKDpp::new(&prepared.ground(KernelSpec { kind, sigma })?)
        }?;
        let (sized, mut random) = (exact.with_size(size)?, Random::seeded(seed));
        Ok((0..samples).map(|_| sized.sample(&mut random)).collect())
    })
}
