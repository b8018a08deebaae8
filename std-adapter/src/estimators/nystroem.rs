//! The Nyström feature map: landmarks, and the features `φ(x) = L⁻¹ k_C(x)` of any row, where `L Lᵀ = K_CC`.
//!
//! `φ(x)ᵀ φ(y)` is the Nyström approximation `K̃` (Williams and Seeger 2001). With `c` landmarks, a row costs
//! `c` kernel evaluations and `c²/2` multiply-adds. Landmarks that depend on preceding ones are dropped, in
//! accordance with the pseudo-inverse: the number of features is [`rank`](Nystroem::rank).

use crate::approximation::{
    errors::TraceError, features::independent_points, gram::Gram, landmark_set::LandmarkSet,
};
use crate::data::{
    columns::Columns, dataset::Dataset, dataset::Rows, dataset::Source, prepared::Prepared, scaler::Scale,
    source::RowSource,
};
use crate::error::{Cause, Error, check_length, check_rows};
use crate::kernel::{params::KernelParams, precision::Precision, spec::KernelSpec};
use crate::landmarks::{
    chain::select_with_data, methods::auto::Auto, selection::Selection, selector::Selector,
};
use crate::model::{export::unscaled, trained::AnyCoefficients, trained::Model};
use crate::observer::{NoObserver, Observer};
use crate::pipeline::{self, Landmarks as Wanted, Params};
use dpp_nystrom_core::kernel::{ChosenKernel, Kernel};
use dpp_nystrom_core::{Error as CoreError, GroundSet, Matrix, Points};
use dpp_nystrom_host::heap::{Heap, zeros};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, MatMut, Par};
use rayon::prelude::*;

/// Rows per task.
const BLOCK: usize = 1_024;

/// A fitted Nyström feature map, over the kernel `K`.
///
/// ```
/// use dpp_nystrom::selectors::Uniform;
/// use dpp_nystrom::{Dataset, Gaussian, Nystroem, Sigma};
///
/// let x: Vec<f64> = (0..400).map(|i| f64::from(i % 29)).collect();
/// let data = Dataset::from_rows(&x, 2)?;
/// let map = Nystroem::params(10)
///     .kernel(Gaussian::new(Sigma::Median(2.0)))
///     .selector(Uniform::default())
///     .seed(7)
///     .fit(&data)?;
/// let phi = map.transform(&x)?;
/// assert_eq!(phi.len(), data.len() * map.rank());
/// assert!(map.trace_error(&data)? < 0.1);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
pub struct Nystroem<K = ChosenKernel<f64>> {
    pub(crate) columns: Columns,
    pub(crate) input: Input<K>,
    pub(crate) spec: Option<KernelSpec>,
    pub(crate) settings: Settings,
    /// Its rows are numbered as in the data set.
    selection: Selection,
    /// Whether the rows of a store stayed in it.
    in_place: bool,
    /// Places of the independent landmarks among all.
    kept: Vec<usize>,
    /// `L`, the factor of the independent landmarks.
    factor: Mat<f64>,
}

/// The settings that a regression on the map inherits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) scale: Scale,
    pub(crate) precision: Precision,
    pub(crate) seed: u64,
}

/// How kernel values between a row and the landmarks are obtained.
#[derive(Debug)]
pub(crate) enum Input<K> {
    /// From the features of all landmarks.
    Points { all: Vec<f64>, kernel: K },
    /// From a row of the kernel matrix.
    Gram,
}

impl Nystroem {
    /// Configure a map with at most `c` landmarks, by default those of [`Auto`], under a Gaussian kernel with
    /// the median distance between rows as bandwidth.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, Nystroem};
    ///
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i * i % 97)).collect();
    /// let map = Nystroem::params(5).fit(&Dataset::from_rows(&x, 1)?)?;
    /// assert_eq!((map.landmarks().len(), map.rank()), (5, 5));
    /// assert!(map.selection().plan.is_some()); // that of Auto
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn params(c: usize) -> NystroemParams {
        NystroemParams {
            c,
            kernel: KernelParams::default(),
            selector: Box::new(Auto::default()),
            settings: Settings { scale: Scale::Standard, precision: Precision::F64, seed: 0 },
        }
    }
}

/// The parameters of a [`Nystroem`] map.
///
/// ```
/// use dpp_nystrom::kernel::{KernelKind, Precision};
/// use dpp_nystrom::{Dataset, Nystroem, Scale, selectors::Uniform};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i * i % 97)).collect();
/// let params = Nystroem::params(5)
///     .kernel(KernelKind::Matern52)
///     .selector(Uniform)
///     .scale(Scale::Robust)
///     .precision(Precision::F32)
///     .seed(7);
/// let map = params.fit(&Dataset::from_rows(&x, 1)?)?;
/// assert_eq!(map.kernel().map(|kernel| kernel.kind), Some(KernelKind::Matern52));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Debug)]
pub struct NystroemParams<K = KernelParams> {
    c: usize,
    kernel: K,
    selector: Box<dyn Selector>,
    settings: Settings,
}

/// A user-defined kernel.
///
/// ```
/// use dpp_nystrom::core::kernel::Kernel;
/// use dpp_nystrom::{Dataset, Nystroem, Scale, selectors::Greedy};
///
/// /// The histogram intersection kernel.
/// #[derive(Clone)]
/// struct Intersection;
///
/// impl Kernel<f64> for Intersection {
///     fn value(&self, x: &[f64], y: &[f64]) -> f64 {
///         x.iter().zip(y).map(|(x, y)| x.min(*y)).sum()
///     }
/// }
///
/// let x = [0.2, 0.8, 0.5, 0.5, 0.9, 0.1, 0.3, 0.7];
/// let data = Dataset::from_rows(&x, 2)?;
/// let params = Nystroem::params(2).selector(Greedy).scale(Scale::None);
/// let map = params.custom_kernel(Intersection).fit(&data)?;
/// assert_eq!((map.rank(), map.kernel()), (2, None));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CustomKernel<K>(K);

impl<P> NystroemParams<P> {
    /// Set the kernel, one of [`crate::kernel`].
    pub fn kernel(self, kernel: impl Into<KernelParams>) -> NystroemParams {
        let Self { c, selector, settings, .. } = self;
        NystroemParams { c, kernel: kernel.into(), selector, settings }
    }

    /// Set a user-defined kernel, on scaled rows. It is evaluated pair by pair; everything else runs as for a
    /// built-in kernel, on all threads. Kmeans and KmeansSnapped, which move points, return
    /// `ErrorKind::Unsupported`; Auto does not choose them.
    pub fn custom_kernel<K: Kernel<f64> + Clone + Sync>(self, kernel: K) -> NystroemParams<CustomKernel<K>> {
        let Self { c, selector, settings, .. } = self;
        NystroemParams { c, kernel: CustomKernel(kernel), selector, settings }
    }

    /// Set the selector of landmarks.
    pub fn selector(self, selector: impl Selector + 'static) -> Self {
        Self { selector: Box::new(selector), ..self }
    }

    /// Set the random seed; the same seed gives the same map for any number of threads.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Set how features are scaled before kernel evaluation.
    pub fn scale(mut self, scale: Scale) -> Self {
        self.settings.scale = scale;
        self
    }

    /// Set the precision of chains and regressions; for a row store, that of the store is used.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.settings.precision = precision;
        self
    }
}

impl NystroemParams {
    /// Fit the map to a data set: scale its rows, choose the bandwidth, select landmarks, factor `K_CC`.
    ///
    /// # Errors
    /// `ErrorKind::Data` for rows that cannot be scaled, `ErrorKind::Argument`, `ErrorKind::Landmarks`,
    /// `ErrorKind::Memory`, and errors of the selector. For a kernel matrix, `ErrorKind::Unsupported` for a
    /// selector that needs features.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, ErrorKind, Nystroem};
    ///
    /// let x = [0.0, 1.0, 2.0];
    /// let refused = Nystroem::params(4).fit(&Dataset::from_rows(&x, 1)?).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::Landmarks); // more than rows
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn fit(&self, data: &Dataset<'_>) -> Result<Nystroem, Error> {
        self.fit_observed(data, &NoObserver)
    }

    /// [`fit`](Self::fit), reporting progress to an observer, which can cancel the fit.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), `ErrorKind::Cancelled`.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, ErrorKind, Nystroem, observer::Observer};
    ///
    /// struct Cancelled;
    ///
    /// impl Observer for Cancelled {
    ///     fn begin(&self, _: &str, _: u64) {}
    ///     fn advance(&self, _: u64) {}
    ///     fn end(&self) {}
    ///     fn is_cancelled(&self) -> bool {
    ///         true
    ///     }
    /// }
    ///
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i * i % 97)).collect();
    /// let stopped = Nystroem::params(5).fit_observed(&Dataset::from_rows(&x, 1)?, &Cancelled).unwrap_err();
    /// assert_eq!(stopped.kind(), ErrorKind::Cancelled);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn fit_observed(&self, data: &Dataset<'_>, observer: &dyn Observer) -> Result<Nystroem, Error> {
        let source = data.source(self.settings.scale)?;
        let Settings { precision, seed, .. } = self.settings;
        if let (Rows::Gram(_), Source::Memory(matrix)) = (&data.rows, &source) {
            let ground = Matrix::new(&matrix.rows)?;
            let selection =
                select_with_data(&ground, Some(matrix.as_ref()), self.c, &*self.selector, seed, observer)?;
            let gram = entries(&ground, selection.landmarks.rows().unwrap_or_default());
            return Nystroem::of(matrix.as_ref(), Input::Gram, &gram, selection, self.settings);
        }
        let params = Params {
            kernel: self.kernel,
            landmarks: Wanted::Count(self.c),
            selector: &*self.selector,
            precision,
            seed,
            ..Params::default()
        };
        let selected = pipeline::select(source.as_rows(), &params, observer)?;
        let kernel = selected.kernel.build()?;
        let map = Nystroem::of_points(selected.source(), kernel, selected.selection.clone(), self.settings)?;
        Ok(Nystroem { spec: Some(selected.kernel), ..map })
    }
}

impl<K: Kernel<f64> + Clone + Sync> NystroemParams<CustomKernel<K>> {
    /// Fit the map to the rows of a data set.
    ///
    /// # Errors
    /// Those of [`NystroemParams::fit`]; `ErrorKind::Unsupported` for selectors that need one of the kernels
    /// of [`crate::kernel`], and for data that is a kernel matrix or a row store.
    pub fn fit(&self, data: &Dataset<'_>) -> Result<Nystroem<K>, Error> {
        self.fit_observed(data, &NoObserver)
    }

    /// [`fit`](Self::fit), reporting progress to an observer, which can cancel the fit.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), `ErrorKind::Cancelled`.
    pub fn fit_observed(&self, data: &Dataset<'_>, observer: &dyn Observer) -> Result<Nystroem<K>, Error> {
        let source = data.source(self.settings.scale)?;
        if let Source::Store(_) = source {
            let problem = "a row store does not work with a custom kernel".to_owned();
            return Err(Error(Cause::BuiltInKernel { problem, instead: "give the rows in memory" }));
        }
        let rows = source.as_rows().in_memory("a custom kernel", self.settings.seed)?;
        if let Rows::Gram(_) = data.rows {
            let problem = "a kernel matrix does not work with a custom kernel".to_owned();
            return Err(Error(Cause::BuiltInKernel { problem, instead: "fit to it without custom_kernel" }));
        }
        let kernel = self.kernel.0.clone();
        let ground = Points::new(&rows.rows, rows.dim, kernel.clone())?;
        let (selector, seed) = (&*self.selector, self.settings.seed);
        let selection = select_with_data(&ground, Some(rows.as_ref()), self.c, selector, seed, observer)?;
        Nystroem::of_points(rows.as_ref(), kernel, selection, self.settings)
    }
}

impl Nystroem {
    /// Return the map of a model's landmarks, on which its predictions are linear.
    ///
    /// # Errors
    /// Those of [`of_landmarks`](Self::of_landmarks).
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
    ///
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
    /// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
    /// let map = Nystroem::of_model(&model)?;
    /// assert_eq!(map.transform(&x)?.len(), 100 * map.rank());
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn of_model(model: &Model) -> Result<Self, Error> {
        let landmarks = match &model.coefficients {
            AnyCoefficients::F32(coefficients) => {
                coefficients.landmarks.iter().copied().map(f64::from).collect()
            }
            AnyCoefficients::F64(coefficients) => coefficients.landmarks.clone(),
        };
        Self::of_landmarks(model.columns(), landmarks, model.kernel)
    }

    /// Return the map of these landmarks: scaled points, row-major, as many numbers each as
    /// [`Columns::width`]. They are those of [`Selected`](pipeline::Selected), or were stored.
    ///
    /// ```
    /// use dpp_nystrom::data::{Columns, Scaler};
    /// use dpp_nystrom::kernel::{KernelKind, KernelSpec};
    /// use dpp_nystrom::{Error, Nystroem};
    ///
    /// let scaler = Scaler { means: vec![10.0], deviations: vec![2.0], map: None, bounds: None };
    /// let feature_names = vec!["x".to_owned()];
    /// let columns =
    ///     Columns { name: "waves".into(), feature_names, scaler, target: None, further: Vec::new(), classes: None };
    /// let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 0.5 };
    /// let map = Nystroem::of_landmarks(columns, vec![-1.0, 1.0], kernel)?;
    /// let phi = map.transform(&[8.0])?; // the first landmark, in the units of the rows
    /// assert_eq!(phi, [1.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// `ErrorKind::Data` for a scaler that is not finite or of other features, `ErrorKind::Argument`,
    /// `ErrorKind::Landmarks`, `ErrorKind::Memory`.
    pub fn of_landmarks(columns: Columns, landmarks: Vec<f64>, kernel: KernelSpec) -> Result<Self, Error> {
        if !columns.scaler.is_well_formed(columns.features()) {
            return Err(Error(Cause::Spread { column: columns.name }));
        }
        check_rows(landmarks.len(), columns.width())?;
        let rows = Prepared::of(columns, landmarks.clone(), None, None);
        let selection = Selection::points(&Gram::new(&rows, kernel)?, landmarks)?;
        let settings = Settings { scale: Scale::None, precision: Precision::F64, seed: 0 };
        let map = Self::of_points(&rows, kernel.build()?, selection, settings)?;
        Ok(Self { spec: Some(kernel), ..map })
    }
}

impl<K: Kernel<f64> + Clone + Sync> Nystroem<K> {
    fn of_points(
        source: &dyn RowSource,
        kernel: K,
        selection: Selection,
        settings: Settings,
    ) -> Result<Self, Error> {
        let all = selection.landmarks.features(source)?;
        let ground = Points::new(&all, source.width(), kernel.clone())?;
        let gram = entries(&ground, &(0..ground.len()).collect::<Vec<_>>());
        Self::of(source, Input::Points { all, kernel }, &gram, selection, settings)
    }

    /// Factor the kernel matrix of the landmarks.
    fn of(
        source: &dyn RowSource,
        input: Input<K>,
        gram: &[f64],
        mut selection: Selection,
        settings: Settings,
    ) -> Result<Self, Error> {
        let mut heap = Heap::new(gram.len().isqrt())?;
        let ground = Matrix::new(gram).map_err(Error::landmarks)?;
        let independent = independent_points(&ground, &mut heap)?;
        let kept = independent.members().to_vec();
        let rank = kept.len();
        let entry = |i: usize, j| independent.factor().row(i).get(j).copied().unwrap_or(0.0);
        let factor = Mat::from_fn(rank, rank, entry);
        if let LandmarkSet::Indices(rows) = &mut selection.landmarks {
            rows.iter_mut().for_each(|row| *row = source.row_number(*row));
        }
        let (columns, in_place) = (source.columns(), source.as_prepared().is_none());
        Ok(Self { columns, input, spec: None, settings, selection, in_place, kept, factor })
    }

    /// Return the landmarks: row indices of the data set, from 0, in ascending order. Empty if they are not
    /// rows.
    pub fn landmarks(&self) -> &[usize] {
        self.selection.landmarks.rows().unwrap_or_default()
    }

    /// Return all landmarks in the units of the rows, row-major; empty for a kernel matrix. In a map, they
    /// are the points of least norm that it maps to the landmarks.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks` if the decomposition of the map does not converge.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, Nystroem, selectors::Given};
    ///
    /// let x = [20.0, 25.0, 31.0, 18.0];
    /// let data = Dataset::from_rows(&x, 1)?;
    /// let map = Nystroem::params(2).selector(Given::new([0, 2])).fit(&data)?;
    /// let points = map.landmark_points()?; // in degrees, as the rows
    /// assert!((points[0] - 20.0).abs() < 1e-12 && (points[1] - 31.0).abs() < 1e-12);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn landmark_points(&self) -> Result<Vec<f64>, Error> {
        match &self.input {
            Input::Points { all, .. } => unscaled(&self.columns.scaler, all.clone()),
            Input::Gram => Ok(Vec::new()),
        }
    }

    /// Return the number of features of [`transform`](Self::transform): that of the independent landmarks.
    pub fn rank(&self) -> usize {
        self.kept.len()
    }

    /// Return the kernel and its bandwidth; `None` for a user-defined kernel or a kernel matrix.
    pub fn kernel(&self) -> Option<KernelSpec> {
        self.spec
    }

    /// Return the result of the selection: landmarks, log-determinant, steps, convergence, seconds.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Return the features `φ` of raw rows: row-major, [`rank`](Self::rank) columns per row. Runs on all
    /// threads. For a map of a kernel matrix, a row holds the kernel of a point with all rows of that matrix.
    ///
    /// # Errors
    /// `ErrorKind::Argument` if the length of `rows` is not a multiple of the number of features,
    /// `ErrorKind::Argument` if a kernel value is not finite; `ErrorKind::Memory`.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, Nystroem, selectors::Given};
    ///
    /// let x = [0.0, 1.0, 2.0, 5.0];
    /// let map = Nystroem::params(2).selector(Given::new([0, 3])).fit(&Dataset::from_rows(&x, 1)?)?;
    /// let phi = map.transform(&[0.0])?; // of the first landmark
    /// assert!((phi[0] - 1.0).abs() < 1e-12 && phi[1].abs() < 1e-12);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn transform(&self, rows: &[f64]) -> Result<Vec<f64>, Error> {
        self.transform_by(rows, self.columns.features(), |raw, row| self.columns.scaler.scale_row(raw, row))
    }

    /// [`transform`](Self::transform), for rows that are scaled, and mapped, already, such as the landmarks
    /// of a model.
    ///
    /// # Errors
    /// Those of [`transform`](Self::transform).
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, Nystroem, Scale, selectors::Given};
    ///
    /// let x = [0.0, 1.0, 2.0, 5.0];
    /// let params = Nystroem::params(2).selector(Given::new([0, 3])).scale(Scale::None);
    /// let map = params.fit(&Dataset::from_rows(&x, 1)?)?;
    /// assert_eq!(map.transform_scaled(&x)?, map.transform(&x)?); // rows that are not scaled
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn transform_scaled(&self, rows: &[f64]) -> Result<Vec<f64>, Error> {
        self.transform_by(rows, self.columns.width(), |scaled, row| row.copy_from_slice(scaled))
    }

    /// [`transform`](Self::transform), for rows of `dim` numbers which `scale` scales.
    fn transform_by(
        &self,
        rows: &[f64],
        dim: usize,
        scale: impl Fn(&[f64], &mut [f64]) + Sync,
    ) -> Result<Vec<f64>, Error> {
        check_rows(rows.len(), dim)?;
        let rank = self.rank();
        let mut features = zeros((rows.len() / dim).saturating_mul(rank), 0.0)?;
        let blocks = features.par_chunks_mut(BLOCK * rank).zip(rows.par_chunks(BLOCK * dim));
        blocks.enumerate().try_for_each(|(block, (features, rows))| {
            self.transform_block(block, rows.chunks_exact(dim), &scale, features)
        })?;
        Ok(features)
    }

    /// Write the features of the rows of one block, which `scale` scales.
    fn transform_block<'r>(
        &self,
        block: usize,
        rows: impl Iterator<Item = &'r [f64]>,
        scale: impl Fn(&[f64], &mut [f64]),
        features: &mut [f64],
    ) -> Result<(), CoreError> {
        let mut row = vec![0.0; self.columns.width()];
        for (phi, raw) in features.chunks_exact_mut(self.rank()).zip(rows) {
            scale(raw, &mut row);
            self.column(&row, phi);
        }
        self.whiten(block * BLOCK, features)
    }

    /// Replace the kernel of some rows, from `first` on, with the independent landmarks by features.
    fn whiten(&self, first: usize, columns: &mut [f64]) -> Result<(), CoreError> {
        let rank = self.rank();
        if let Some(at) = columns.iter().position(|entry| !entry.is_finite()) {
            return Err(CoreError::NotFinite { row: first + at / rank, column: self.kept[at % rank] });
        }
        let count = columns.len() / rank;
        let columns = MatMut::from_column_major_slice_mut(columns, rank, count);
        solve_lower_triangular_in_place(self.factor.as_ref(), columns, Par::Seq);
        Ok(())
    }

    /// Return `tr(K - K̃) / tr K` over the rows of a data set, in one pass.
    ///
    /// Of a row store, and where all rows are too much work, it is measured on rows drawn at random, as
    /// [`pipeline::trace_error`] does.
    ///
    /// # Errors
    /// `ErrorKind::Argument` for other features, and for a map of a kernel matrix unless there are as many
    /// rows as features; `ErrorKind::Data` for non-finite values; `ErrorKind::Memory`, errors of the data
    /// set.
    ///
    /// ```
    /// use dpp_nystrom::{Dataset, Nystroem, selectors::Greedy};
    ///
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    /// let data = Dataset::from_rows(&x, 1)?;
    /// let errors = [2, 4, 8].map(|c| Nystroem::params(c).selector(Greedy).fit(&data)?.trace_error(&data));
    /// let errors = errors.into_iter().collect::<Result<Vec<f64>, _>>()?;
    /// assert!(errors.is_sorted_by(|more, less| more > less) && errors[2] < 1e-3);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn trace_error(&self, data: &Dataset<'_>) -> Result<f64, Error> {
        let source = self.source(data)?;
        let dim = self.columns.width();
        let rows = match self.input {
            Input::Points { .. } => {
                pipeline::measured_rows(source.as_rows(), self.rank(), self.settings.seed)?
            }
            Input::Gram => source.as_rows().sample(usize::MAX, self.settings.seed)?,
        };
        if matches!(self.input, Input::Gram) {
            check_length("rows of the kernel matrix", dim, rows.len())?;
        }
        let features = |row: usize| &rows.rows[row * dim..(row + 1) * dim];
        let diagonal = |row: usize| match &self.input {
            Input::Points { kernel, .. } => kernel.value(features(row), features(row)),
            Input::Gram => features(row)[row],
        };
        let rank = self.rank();
        let blocks = rows.rows.par_chunks(BLOCK * dim).enumerate().map(|(block, scaled)| {
            let mut features = zeros(scaled.len() / dim * rank, 0.0)?;
            let copy = |scaled: &[f64], row: &mut [f64]| row.copy_from_slice(scaled);
            self.transform_block(block, scaled.chunks_exact(dim), copy, &mut features)?;
            let explained = features.chunks_exact(rank).map(|phi| phi.iter().map(|x| x * x).sum::<f64>());
            let residuals = explained.enumerate().map(|(at, explained)| {
                let residual: f64 = diagonal(block * BLOCK + at) - explained;
                residual.max(0.0)
            });
            Ok(residuals.sum())
        });
        let residuals = blocks.collect::<Result<Vec<f64>, Error>>()?.iter().sum();
        let trace = (0..rows.len()).map(diagonal).sum();
        Ok(TraceError::of(residuals, trace).fraction)
    }

    /// Return the rows of a data set, scaled as those that the map was fitted to.
    pub(crate) fn source<'d>(&self, data: &'d Dataset<'_>) -> Result<Source<'d>, Error> {
        data.source_by(&self.columns.scaler, self.in_place)
    }

    /// Evaluate the kernel between a scaled row and the independent landmarks.
    fn column(&self, row: &[f64], out: &mut [f64]) {
        let (dim, landmarks) = (self.columns.width(), self.landmarks());
        for (out, &place) in out.iter_mut().zip(&self.kept) {
            *out = match &self.input {
                Input::Points { all, kernel } => kernel.value(&all[place * dim..(place + 1) * dim], row),
                Input::Gram => row[landmarks[place]],
            };
        }
    }
}

/// Return the kernel matrix of some rows, row-major.
fn entries<G: GroundSet<f64>>(ground: &G, rows: &[usize]) -> Vec<f64> {
    let entry = |i, j| if i == j { ground.diagonal(i) } else { ground.entry(i, j) };
    rows.iter().flat_map(|&i| rows.iter().map(move |&j| entry(i, j))).collect()
}
