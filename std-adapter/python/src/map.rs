//! Selections, and the feature map.

use crate::arrays::{Array, Names, Numbers, table, vector};
use crate::model::metric_of;
use crate::options::{Checked, Options, kernel_kind, kernel_name};
use crate::run::{run, to_python};
use dpp_nystrom::approximation::{Conditional, Gram, SPECTRUM_ROWS};
use dpp_nystrom::core::{GroundSet, Matrix, Random, Scalar};
use dpp_nystrom::kernel::{KernelKind, KernelParams, KernelSpec, Kinds};
use dpp_nystrom::landmarks::{ExactKDpp, LowRankKDpp, RejectionKDpp, SizedKDpp, SizedLowRankKDpp};
use dpp_nystrom::observer::Observer;
use dpp_nystrom::{
    Dataset, Error, Nystroem, landmarks, pipeline, regression::choose_bandwidth, selectors::Given,
};
use dpp_nystrom::{
    Scale, data,
    data::{Columns, Scaler},
};
use dpp_nystrom_host::simd::Lane;
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

/// A [`Scaler`] in the types of Python: means, deviations, rank and values of a map, and the bounds of
/// clipped features.
type ScalerState = (Vec<f64>, Vec<f64>, Option<(usize, Vec<f64>)>, Option<Vec<f64>>);

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
        run(py, options.how(rows.len()), |observer| {
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
        let ((means, deviations, map, bounds), landmarks, kernel, sigma, rows, metric) = state;
        let kind = kernel_kind(&kernel.0, kernel.1, kernel.2)?;
        let map = map.map(|(rank, values)| data::Map { rank, values });
        let scaler = Scaler { means, deviations, map, bounds };
        let parts = Parts { scaler, landmarks, kernel: KernelSpec { kind, sigma } };
        Ok(Self { map: parts.map().map_err(to_python)?, parts, rows, metric })
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (State,))> {
        let Parts { scaler, landmarks, kernel: KernelSpec { kind, sigma } } = self.parts.clone();
        let Scaler { means, deviations, map, bounds } = scaler;
        let scaler = (means, deviations, map.map(|map| (map.rank, map.values)), bounds);
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

/// Return the rows that a selector selects, in the order of selection and with the gain of each: among rows
/// of features, or of a kernel matrix.
#[pyfunction]
pub(crate) fn select(
    py: Python<'_>,
    rows: Array<'_>,
    target: Option<PyReadonlyArray1<'_, f64>>,
    precomputed: bool,
    options: Options,
) -> PyResult<Vec<(usize, f64)>> {
    let (rows, target) = (rows.rows()?, target.as_ref().map(vector).transpose()?);
    let checked = options.check()?;
    let order = run(py, options.how(rows.len()), |observer| {
        if precomputed {
            return match rows.values {
                Numbers::Double(values) => of_matrix(values, rows.features, &options, &checked, observer),
                Numbers::Single(values) => of_matrix(values, rows.features, &options, &checked, observer),
            };
        }
        let data = rows.dataset(target, None, &Names::default())?;
        let source = data.source(checked.scale)?;
        let rows = source.as_rows();
        let selected = pipeline::select(rows, &checked.params(rows)?, observer)?;
        let in_order = selected.in_order()?;
        Ok(selected.selection.landmarks.rows().map(|_| in_order))
    })?;
    order.ok_or_else(|| {
        PyValueError::new_err(
            "the landmarks of this selector are points, not rows; use Nystroem and components_",
        )
    })
}

/// Select among the rows of a kernel matrix.
fn of_matrix<T: Lane>(
    values: &[T],
    rows: usize,
    options: &Options,
    checked: &Checked,
    observer: &dyn Observer,
) -> Result<Option<Vec<(usize, f64)>>, Error> {
    let matrix = Matrix::new(values)?;
    let select = |count| landmarks::select(&matrix, count, &*checked.selector, checked.seed, observer);
    let selection = options.count.map_or_else(|| pipeline::with_usual(rows, select), select)?;
    // The order of rows that were selected all at once is found in double precision.
    selection.in_order(&Gram::over(&Doubled(matrix), None)).map(Some)
}

/// A kernel matrix, read in double precision.
struct Doubled<'a, T>(Matrix<'a, T>);

impl<T: Scalar> GroundSet<f64> for Doubled<'_, T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.0.entry(i, j).to_f64()
    }
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
    let included = options.include.clone();
    let seed = options.check()?.seed;
    exactly(py, rows, precomputed, options, |exact, _| {
        let mut random = Random::seeded(seed);
        let sample = |_| {
            let mut sample = exact.sample(&mut random)?;
            sample.extend(&included);
            sample.sort_unstable();
            Ok(sample)
        };
        (0..samples).map(sample).collect()
    })
}

/// Return the probability of each row to be in a c-DPP's sample of `options.count` rows.
#[pyfunction]
pub(crate) fn inclusion(
    py: Python<'_>,
    rows: Array<'_>,
    precomputed: bool,
    options: Options,
) -> PyResult<Vec<f64>> {
    let included = options.include.clone();
    exactly(py, rows, precomputed, options, |exact, count| {
        let mut probabilities = match exact {
            Exact::Whole(sized) => sized.inclusion_probabilities(),
            Exact::LowRank(sized) => sized.inclusion_probabilities(),
            Exact::Rejection(probabilities, _) => probabilities.to_vec(),
            Exact::Nothing => vec![0.0; count],
        };
        included.iter().for_each(|&row| probabilities[row] = 1.0);
        Ok(probabilities)
    })
}

/// The c-DPP of the rows that are not included.
#[derive(Clone, Copy)]
enum Exact<'a> {
    Whole(&'a SizedKDpp<'a>),
    LowRank(&'a SizedLowRankKDpp<'a>),
    /// Of more rows than the matrix is decomposed of: estimated probabilities, and a sampler.
    Rejection(&'a [f64], &'a dyn Fn(&mut Random) -> Result<Vec<usize>, Error>),
    /// All rows of a sample are included.
    Nothing,
}

impl Exact<'_> {
    fn sample(self, random: &mut Random) -> Result<Vec<usize>, Error> {
        match self {
            Self::Whole(sized) => Ok(sized.sample(random)),
            Self::LowRank(sized) => Ok(sized.sample(random)),
            Self::Rejection(_, sample) => sample(random),
            Self::Nothing => Ok(Vec::new()),
        }
    }
}

/// Call `act` with the c-DPP of the rows that are not included, and the number of rows.
fn exactly<A: Send>(
    py: Python<'_>,
    rows: Array<'_>,
    precomputed: bool,
    options: Options,
    act: impl FnOnce(Exact<'_>, usize) -> Result<A, Error> + Send,
) -> PyResult<A> {
    let rows = rows.rows()?;
    let (checked, size) = (options.check()?, options.size()?);
    if checked.kernel.kinds == Kinds::Any {
        return Err(PyValueError::new_err("a sample has no target that tells kernels apart; name a kernel"));
    }
    run(py, options.how(rows.len()), |observer| {
        let (seed, KernelParams { kind, sigma, .. }) = (checked.seed, checked.kernel);
        if precomputed {
            return of_size(&Matrix::new(&rows.doubled())?, size, &options, observer, act);
        }
        let data = rows.dataset(None, None, &Names::default())?;
        let source = data.source(checked.scale)?;
        let sigma = choose_bandwidth(sigma, kind, source.as_rows(), seed, observer)?.sigma;
        let prepared = source.as_rows().in_memory("an exact sample", seed)?;
        let ground = prepared.ground(KernelSpec { kind, sigma })?;
        if options.qualities(ground.len())?.is_none()
            && let Some(exact) = LowRankKDpp::of(&ground)?
        {
            return act(Exact::LowRank(&exact.with_size(size)?), ground.len());
        }
        of_size(&ground, size, &options, observer, act)
    })
}

fn of_size<G: GroundSet<f64> + Sync, A>(
    ground: &G,
    size: usize,
    options: &Options,
    observer: &dyn Observer,
    act: impl FnOnce(Exact<'_>, usize) -> Result<A, Error>,
) -> Result<A, Error> {
    match options.qualities(ground.len())? {
        Some(quality) => {
            let rest = Conditional::new(ground, &quality, &options.include)?;
            of_rest(&rest, size, options, observer, act)
        }
        None => of_rest(ground, size, options, observer, act),
    }
}

fn of_rest<G: GroundSet<f64> + Sync, A>(
    ground: &G,
    size: usize,
    options: &Options,
    observer: &dyn Observer,
    act: impl FnOnce(Exact<'_>, usize) -> Result<A, Error>,
) -> Result<A, Error> {
    let (rows, size) = (ground.len(), size.saturating_sub(options.include.len()));
    if size == 0 && !options.include.is_empty() {
        return act(Exact::Nothing, rows);
    }
    if rows > SPECTRUM_ROWS {
        let exact = RejectionKDpp::pivoted(ground, size, options.seed, observer)?;
        let sample = |random: &mut Random| exact.sample_observed(random, observer);
        return act(Exact::Rejection(exact.estimated_inclusion_probabilities(), &sample), rows);
    }
    let exact = ExactKDpp::new(ground)?;
    act(Exact::Whole(&exact.with_size(size)?), rows)
}
