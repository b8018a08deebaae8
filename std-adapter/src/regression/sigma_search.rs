//! Selection of the bandwidth.
//!
//! Cross-validation has two stages. The first compares the values of [`SIGMA_GRID`] on up to [`SAMPLE`] rows
//! and [`SKETCH`] landmarks by the leave-one-out error, from distances that are computed once and take at
//! most 2.4 MB. More rows and landmarks can have another optimum. So the second compares the best value and
//! its neighbours by what the fit itself will do: landmarks are selected anew for each bandwidth, and the
//! 10-fold error is computed on all rows. No distances are kept there: with `d` features they take `d` of
//! some `2.5 c + d` operations per entry.

use crate::approximation::{features::columns, features::independent_points, landmark_set::LandmarkSet};
use crate::data::{prepared::Prepared, source::RowSource, weights::Weights};
use crate::error::{Cause, Error};
use crate::kernel::{
    bandwidth::MEDIAN_SAMPLE, bandwidth::Sigma, bandwidth::distance, bandwidth::median_distance,
    kind::KernelKind, spec::KernelSpec,
};
use crate::observer::{Named, Observer, go_on};
use crate::regression::{
    choose::leave_one_out::Axes, choose::scan::Scan, fit::validation_error, ridge::Ridge,
};
use dpp_nystrom_core::{Error as CoreError, Matrix, kernel::Kernel};
use dpp_nystrom_host::heap::Heap;
use dpp_nystrom_host::rng::{RngStream, stream};
use faer::Mat;
use rand::seq::index;
use rayon::prelude::*;
use std::borrow::Cow;

/// The bandwidths tried in cross-validation, in multiples of the median distance.
pub const SIGMA_GRID: [f64; 9] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// The maximum number of rows in the first stage.
const SAMPLE: usize = 2_000;

/// The maximum number of landmarks in the first stage.
const SKETCH: usize = 150;

/// The maximum number of values by which a grid is extended while its best value is at an end.
const EXTENSIONS: usize = 2;

/// The factor of the least error, a mean of squares, within which the first stage prefers a value nearer to
/// the median distance: where errors hardly differ, a wide kernel gains nothing and extrapolates far.
const FLAT: f64 = 1.02;

/// The number of values compared in the second stage.
const COMPARED: usize = 4;

/// The landmarks of [`choose_bandwidth`].
const LANDMARKS: usize = 100;

/// A bandwidth and how it was chosen.
///
/// ```
/// use dpp_nystrom::kernel::KernelKind;
/// use dpp_nystrom::regression::choose_bandwidth;
/// use dpp_nystrom::{Dataset, Scale, Sigma, observer::NoObserver};
///
/// let x: Vec<f64> = (0..100).map(f64::from).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// let source = data.source(Scale::Standard)?;
/// let choose = |sigma| choose_bandwidth(sigma, KernelKind::Gaussian, source.as_rows(), 0, &NoObserver);
/// assert_eq!(choose(Sigma::Median(2.0))?.sigma, 2.0 * choose(Sigma::Median(1.0))?.sigma);
/// assert!(!choose(Sigma::Value(0.5))?.at_edge);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChosenBandwidth {
    /// σ, in units of the standardised features; 1 for a kernel without a bandwidth.
    pub sigma: f64,
    /// Whether the best value is at an end of those compared: the optimum may lie outside.
    pub at_edge: bool,
}

/// Choose the bandwidth for several fits to a source: cross-validation is for 100 landmarks drawn uniformly,
/// each bandwidth at its best ridge. [`pipeline::select`](crate::pipeline::select) chooses it for its own
/// landmarks.
///
/// # Errors
/// `ErrorKind::Data` if all rows are equal; for `cv` `ErrorKind::Data` without a target,
/// `ErrorKind::Cancelled`, and those of [`fit`](crate::regression::fit()).
pub fn choose_bandwidth(
    choice: Sigma,
    kernel: KernelKind,
    source: &dyn RowSource,
    seed: u64,
    observer: &dyn Observer,
) -> Result<ChosenBandwidth, Error> {
    if let Some(sigma) = without_validation(choice, kernel, source, seed)? {
        return Ok(ChosenBandwidth { sigma, at_edge: false });
    }
    let ridge = Ridge::CrossValidated;
    let landmarks = LandmarkSet::Indices(draw(source, LANDMARKS, seed));
    let search = Search { source, kernel, landmarks: LANDMARKS, ridge, seed, observer };
    search.best(|kernel, observer| validation_error(source, &landmarks, kernel, ridge, seed, observer))
}

/// Return the bandwidth that needs no cross-validation: a number, a multiple of the median distance, or 1 for
/// a kernel without one. The median is that of up to [`MEDIAN_SAMPLE`] rows drawn from all, wherever they are
/// stored; from the sample, if no rows are in this process.
pub(crate) fn without_validation(
    choice: Sigma,
    kernel: KernelKind,
    source: &dyn RowSource,
    seed: u64,
) -> Result<Option<f64>, Error> {
    Ok(match choice {
        _ if !kernel.has_bandwidth() => Some(1.0),
        Sigma::Value(sigma) => Some(sigma),
        Sigma::Median(multiple) => Some(multiple * median_of(source, kernel, seed)?),
        Sigma::CrossValidated => None,
    })
}

/// Return the median distance between rows of a source.
pub(crate) fn median_of(source: &dyn RowSource, kernel: KernelKind, seed: u64) -> Result<f64, Error> {
    let rows = match source.slices() {
        Some(_) => Cow::Owned(source.gather(&draw(source, MEDIAN_SAMPLE, seed))?),
        None => source.sample(MEDIAN_SAMPLE, seed)?,
    };
    median_distance(&rows.rows, rows.dim, kernel, seed)
}

/// Draw the numbers of at most `most` rows, in random order: of more rows, the first are the same.
fn draw(source: &dyn RowSource, most: usize, seed: u64) -> Vec<usize> {
    let rows = source.len();
    index::sample(&mut stream(seed, RngStream::Bandwidth), rows, rows.min(most)).into_vec()
}

/// A cross-validation of the bandwidth.
pub(crate) struct Search<'a> {
    /// The rows: a sample, if those of the fit are not in this process.
    pub(crate) source: &'a dyn RowSource,
    pub(crate) kernel: KernelKind,
    /// The number of landmarks of the fit.
    pub(crate) landmarks: usize,
    pub(crate) ridge: Ridge,
    pub(crate) seed: u64,
    pub(crate) observer: &'a dyn Observer,
}

impl Search<'_> {
    /// Return the bandwidth with the least error that `fit` returns for all rows and landmarks. It is called
    /// for [`COMPARED`] bandwidths. Those under which landmarks are linearly dependent are not chosen;
    /// smaller ones are tried instead.
    ///
    /// # Errors
    /// `ErrorKind::Data` if all rows are equal, for no target or a constant one, `ErrorKind::Cancelled`,
    /// those of `fit`.
    pub(crate) fn best(
        &self,
        mut fit: impl FnMut(KernelSpec, &dyn Observer) -> Result<f64, Error>,
    ) -> Result<ChosenBandwidth, Error> {
        let median = median_of(self.source, self.kernel, self.seed)?;
        let spec = |multiple: f64| KernelSpec { kind: self.kernel, sigma: multiple * median };
        let rows = self.source.gather(&draw(self.source, SAMPLE, self.seed))?;
        let sketch = Sketch::new(&rows, self.kernel, self.landmarks.min(SKETCH), self.ridge)?;
        let mut scan = Scan::default();
        self.observer.begin("bandwidths", SIGMA_GRID.len() as u64);
        for multiple in SIGMA_GRID {
            scan.add(multiple, sketch.error(spec(multiple))?);
            self.observer.advance(1);
            go_on(self.observer)?;
        }
        for _ in 0..EXTENSIONS {
            let Some(multiple) = scan.beyond() else { break };
            scan.add(multiple, sketch.error(spec(multiple))?);
            go_on(self.observer)?;
        }
        self.observer.end();
        let first = scan.nearest_to_median(FLAT).unwrap_or(1.0);

        let (mut scan, mut failure) = (Scan::default(), None);
        let mut next = Some(first);
        while let Some(multiple) = next {
            let compared = scan.tried.len() + 1;
            let named = Named { outer: self.observer, name: &format!("bandwidth {compared} of {COMPARED}") };
            match fit(spec(multiple), &named) {
                Ok(error) => scan.add(multiple, error),
                Err(Error(Cause::Landmarks { reason: reason @ CoreError::RankDeficient { .. } })) => {
                    scan.add(multiple, f64::INFINITY);
                    failure = Some(reason);
                }
                Err(error) => return Err(error),
            }
            go_on(self.observer)?;
            next = match scan.tried.len() {
                1 => Some(first / 2.0),
                2 => Some(first * 2.0),
                tried if tried < COMPARED || scan.best().is_none() => scan.finer().or(scan.smaller()),
                _ => None,
            };
        }
        match (scan.best(), failure) {
            (Some(best), _) => {
                let at_edge = scan.beyond().is_some();
                Ok(ChosenBandwidth { sigma: spec(best).sigma, at_edge })
            }
            (None, Some(reason)) => Err(Error::landmarks(reason)),
            (None, None) => Err(Error(Cause::Folds { rows: self.source.len() })),
        }
    }
}

/// A small regression for any bandwidth, from distances that are computed once.
struct Sketch<'a> {
    /// A column for each, weighted.
    targets: Mat<f64>,
    weights: Weights<'a>,
    /// The distances of each row to the landmarks, which are the first rows.
    distances: Vec<f64>,
    landmarks: usize,
    ridges: Vec<f64>,
}

impl<'a> Sketch<'a> {
    fn new(data: &'a Prepared, kernel: KernelKind, landmarks: usize, ridge: Ridge) -> Result<Self, Error> {
        data.learnable()?;
        let weights = data.weights();
        let mut targets = data.target_matrix();
        weights.scale(targets.as_mut());
        let landmarks = landmarks.min(data.len());
        let row = |at: usize| &data.rows[at * data.dim..(at + 1) * data.dim];
        let to_landmarks =
            |at: usize| (0..landmarks).map(move |landmark| distance(kernel, row(at), row(landmark)));
        let distances = (0..data.len()).into_par_iter().flat_map_iter(to_landmarks).collect();
        Ok(Self { targets, weights, distances, landmarks, ridges: ridge.candidates() })
    }

    /// Return the least leave-one-out error over the ridges, a mean of squares.
    fn error(&self, kernel: KernelSpec) -> Result<f64, Error> {
        // All kernels with a bandwidth are functions of the distance, so a distance is a row of one feature.
        let kernel = kernel.build::<f64>()?;
        let values: Vec<f64> =
            self.distances.par_iter().map(|&distance| kernel.value(&[distance], &[0.0])).collect();
        let home = Matrix::new(&values[..self.landmarks * self.landmarks])?;
        let mut memory = Heap::new(self.landmarks)?;
        let landmarks = independent_points(&home, &mut memory)?;
        let mut features = columns(&landmarks, self.targets.nrows(), |row, column| {
            let values = &values[row * self.landmarks..(row + 1) * self.landmarks];
            for (slot, &member) in column.iter_mut().zip(landmarks.members()) {
                *slot = values[member];
            }
            Ok(())
        })?;
        self.weights.scale(features.transpose_mut());
        Axes::new(&features)?.best(self.targets.as_ref(), &self.ridges).map(|(_, error)| error)
    }
}

#[cfg(test)]
mod tests {
    use super::{COMPARED, Search, Sketch, median_of};
    use crate::approximation::features::features_of_points;
    use crate::data::{prepared::Prepared, table::input::Table, weights::normalised};
    use crate::error::{Cause, Error};
    use crate::kernel::{kind::KernelKind, spec::KernelSpec};
    use crate::observer::NoObserver;
    use crate::regression::choose::scan::LEAST;
    use crate::regression::{choose::leave_one_out::Axes, ridge::Ridge};
    use dpp_nystrom_core::Error as CoreError;

    fn waves(rows: usize) -> Prepared {
        let value = |i: usize| (i as f64 * 0.754_877_666).fract();
        let features: Vec<f64> = (0..2 * rows).map(value).collect();
        let target = features.chunks(2).map(|row| (5.0 * row[0]).sin() + row[1]).collect();
        let table = Table {
            name: "waves".to_owned(),
            feature_names: vec!["a".to_owned(), "b".to_owned()],
            dim: 2,
            features,
            target: Some(target),
            target_name: Some("y".to_owned()),
            weights: None,
        };
        Prepared::new(table, None, 0).unwrap()
    }

    /// Kernels of kept distances are those of the rows, for every kernel with a bandwidth.
    #[test]
    fn a_sketch_is_a_regression_on_its_first_rows() {
        let mut data = waves(150);
        data.weights = Some(normalised((0..150).map(|row| 1.0 + f64::from(row % 4)).collect()));
        let mut targets = data.target_matrix();
        let root = |row: usize| data.weights().at(row).sqrt();
        targets.col_mut(0).iter_mut().enumerate().for_each(|(row, target)| *target *= root(row));
        for kind in [KernelKind::Gaussian, KernelKind::Laplace, KernelKind::Matern32, KernelKind::Matern52] {
            // Without rounding errors that a tiny ridge would amplify.
            let ridge = Ridge::Value(1e-4);
            let sketch = Sketch::new(&data, kind, 12, ridge).unwrap();
            // Wider, the rank is decided by rounding errors.
            for sigma in [0.2, 0.4] {
                let kernel = KernelSpec { kind, sigma };
                let mut phi = features_of_points(&data.ground(kernel).unwrap(), &data.rows[..24]).unwrap();
                (0..150).for_each(|row| phi.col_mut(row).iter_mut().for_each(|value| *value *= root(row)));
                let (_, expected) =
                    Axes::new(&phi).unwrap().best(targets.as_ref(), &ridge.candidates()).unwrap();
                let found = sketch.error(kernel).unwrap();
                assert!((found - expected).abs() < 1e-7 * expected, "{kind:?} {sigma}: {found} {expected}");
            }
        }
    }

    fn search<A>(data: &Prepared, work: impl FnOnce(&Search<'_>, f64) -> A) -> A {
        let (kernel, ridge) = (KernelKind::Gaussian, Ridge::CrossValidated);
        let median = median_of(data, kernel, 0).unwrap();
        work(&Search { source: data, kernel, landmarks: 20, ridge, seed: 0, observer: &NoObserver }, median)
    }

    #[test]
    fn the_fits_decide_and_are_few() {
        let data = waves(150);
        search(&data, |search, median| {
            // Whatever the first stage prefers, the errors of the fits decide.
            for optimum in [1e-3, 0.9, 1e3] {
                let mut tried = Vec::new();
                let chosen = search.best(|kernel, _| {
                    let error = (kernel.sigma / median / optimum).ln().abs();
                    tried.push((kernel.sigma, error));
                    Ok(error)
                });
                let chosen = chosen.unwrap();
                let least = tried.iter().min_by(|one, other| one.1.total_cmp(&other.1)).unwrap();
                assert_eq!((tried.len(), chosen.sigma), (COMPARED, least.0));
                let outside = |sign: f64| tried.iter().all(|(sigma, _)| sign * sigma >= sign * chosen.sigma);
                assert_eq!(chosen.at_edge, outside(1.0) || outside(-1.0), "{optimum}");
                assert_eq!(chosen.at_edge, optimum != 0.9);
            }
        });
    }

    #[test]
    fn a_bandwidth_with_dependent_landmarks_is_not_chosen() {
        let data = waves(150);
        let deficient = || Error::landmarks(CoreError::RankDeficient { rank: 5, landmarks: 20 });
        search(&data, |search, median| {
            for most in [1.0 / 16.0, 1.0, 1e9] {
                let limit = most * median;
                let chosen = search.best(|kernel, _| match kernel.sigma {
                    sigma if sigma <= limit => Ok(1.0 / sigma),
                    _ => Err(deficient()),
                });
                let chosen = chosen.unwrap();
                assert!(chosen.sigma <= limit, "{most} {chosen:?}");
            }
            let mut smallest = f64::INFINITY;
            let none = search.best(|kernel, _| {
                smallest = smallest.min(kernel.sigma / median);
                Err(deficient())
            });
            assert!(matches!(none, Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { .. } }))));
            assert!((LEAST..2.0 * LEAST).contains(&smallest), "{smallest}");
            let cancelled = search.best(|_, _| Err(Error(Cause::Cancelled)));
            assert!(matches!(cancelled, Err(Error(Cause::Cancelled))));
        });
    }
}
