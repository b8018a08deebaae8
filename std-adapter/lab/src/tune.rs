//! Joint selection of bandwidth and ridge by cross-validation over a grid, as in the paper.
//!
//! Each row is predicted by ridge regression on the nine folds that do not contain it
//! ([`FOLDS`]); the error is the root mean square over all rows. All grid points share the
//! same folds.

use crate::linalg::product;
use crate::rng::{Stream, stream};
use dpp_nystrom::approximation::{Eigen, Gram};
use dpp_nystrom::core::Error as CoreError;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::faer::{Mat, MatRef};
use dpp_nystrom::landmarks::ExactKDpp;
use dpp_nystrom::observer::{Named, Observer, go_on};
use dpp_nystrom::regression::{FOLDS, Scan, choose_bandwidth, folds_of, ridge_errors};
use dpp_nystrom::{Error, ErrorKind};
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, KernelSpec},
};
use rand::seq::index;
use serde::Serialize;

/// The regression to cross-validate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regressor {
    /// Ridge regression on all rows outside the fold: `O(N³)` per fold and bandwidth.
    Full,
    /// Ridge regression on landmarks drawn uniformly from the rows: `O(N c²)` per bandwidth.
    Nystrom {
        /// The number of landmarks.
        landmarks: usize,
    },
}

/// The points at which to cross-validate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid<'a> {
    /// Bandwidths, in multiples of the median distance between rows.
    pub multiples: &'a [f64],
    /// How many bandwidths to add around or beyond the best of them.
    pub further: usize,
    /// The ridges γ.
    pub ridges: &'a [f64],
}

/// Cross-validation errors over a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Surface {
    /// The bandwidths, ascending.
    pub sigmas: Vec<f64>,
    /// The median distance between rows; `None` for a kernel without a bandwidth.
    pub median: Option<f64>,
    /// The ridges γ, ascending.
    pub ridges: Vec<f64>,
    /// For each bandwidth, the error for each ridge, in standard deviations of the target; `None` where the
    /// equations could not be solved.
    pub errors: Vec<Vec<Option<f64>>>,
    /// The index of the best bandwidth.
    pub best_sigma: usize,
    /// The index of the best ridge.
    pub best_ridge: usize,
}

impl Surface {
    /// Return the least error.
    pub fn least(&self) -> f64 {
        self.errors[self.best_sigma][self.best_ridge].unwrap_or(f64::NAN)
    }

    /// Return whether the best bandwidth is the first or last of several: the optimum may lie outside the
    /// grid.
    pub fn sigma_at_edge(&self) -> bool {
        at_edge(self.best_sigma, self.sigmas.len())
    }

    /// Return whether the best ridge is the first or last of several.
    pub fn ridge_at_edge(&self) -> bool {
        at_edge(self.best_ridge, self.ridges.len())
    }
}

/// Return whether a place is the first or the last of several.
fn at_edge(place: usize, count: usize) -> bool {
    count > 1 && (place == 0 || place + 1 == count)
}

/// Cross-validate bandwidths, given in multiples of the median distance between rows, jointly with ridges.
///
/// After the given bandwidths, `further` ones are tried: the next one outside while the best is at an end,
/// else one between the best and its better neighbour. A kernel without a bandwidth has a single bandwidth
/// entry, σ = 1.
///
/// # Errors
/// `ErrorKind::Data` for no target, a constant one, or if no grid point could be solved, `ErrorKind::Data`
/// for too few rows, `ErrorKind::Argument` for parameters out of range, `ErrorKind::Regression` for ridges
/// that are not positive, `ErrorKind::Unsupported` for too many rows for the full regression,
/// `ErrorKind::Landmarks`.
pub fn tune(
    data: &Prepared,
    kernel: KernelKind,
    regressor: Regressor,
    grid: Grid<'_>,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Surface, Error> {
    data.learnable()?;
    let Grid { multiples, further, ridges } = grid;
    if ridges.is_empty() || ridges.iter().any(|&ridge| !(ridge > 0.0 && ridge.is_finite())) {
        return Err(Error::regression(CoreError::Ridge));
    }
    let (median, mut given, further) = if kernel.has_bandwidth() {
        let median = choose_bandwidth(Sigma::Median(1.0), kernel, data, seed, observer)?.sigma;
        (Some(median), multiples.iter().map(|multiple| multiple * median).collect(), further)
    } else {
        (None, vec![1.0], 0)
    };
    let mut ridges = ridges.to_vec();
    for grid in [&mut given, &mut ridges] {
        grid.sort_unstable_by(f64::total_cmp);
        grid.dedup();
    }
    let folds = folds_of(data, seed);
    let columns: Vec<_> = data.targets().map(|target| &target.values).collect();
    let targets = Mat::from_fn(data.len(), columns.len(), |row, t| columns[t][row]);
    let landmarks = match regressor {
        Regressor::Full => {
            ExactKDpp::check_rows(data.len())?;
            Vec::new()
        }
        Regressor::Nystrom { landmarks } => draw(data, landmarks, seed)?,
    };
    let (mut sigmas, mut errors, mut scan) = (Vec::new(), Vec::new(), Scan::default());
    let count = given.len() + further;
    for at in 0..count {
        let Some(sigma) = given.get(at).copied().or_else(|| scan.finer()) else { break };
        let named = Named { outer: observer, name: &format!("bandwidth {} of {count}", at + 1) };
        let spec = KernelSpec { kind: kernel, sigma };
        let squares: Vec<f64> = match regressor {
            Regressor::Full => full(data, targets.as_ref(), spec, &ridges, &folds, &named)?,
            Regressor::Nystrom { .. } => ridge_errors(data, &landmarks, spec, &ridges, seed, &named)?,
        };
        let root = |squares: f64| {
            Some((squares / (data.len() * targets.ncols()) as f64).sqrt()).filter(|root| root.is_finite())
        };
        let line: Vec<Option<f64>> = squares.into_iter().map(root).collect();
        scan.add(sigma, line.iter().flatten().copied().fold(f64::INFINITY, f64::min));
        let place = sigmas.partition_point(|&other| other < sigma);
        sigmas.insert(place, sigma);
        errors.insert(place, line);
        go_on(observer)?;
    }
    let places = (0..sigmas.len()).flat_map(|sigma| (0..ridges.len()).map(move |ridge| (sigma, ridge)));
    let solved = places.filter_map(|(sigma, ridge)| errors[sigma][ridge].map(|error| (error, sigma, ridge)));
    let (_, best_sigma, best_ridge) =
        solved.min_by(|one, other| one.0.total_cmp(&other.0)).ok_or_else(|| {
            Error::new(
                ErrorKind::Data,
                format!("{} rows are too few to cross-validate; give the ridge as a number", data.len()),
            )
        })?;
    Ok(Surface { sigmas, median, ridges, errors, best_sigma, best_ridge })
}

/// Return the features of rows drawn uniformly.
fn draw(data: &Prepared, landmarks: usize, seed: u64) -> Result<Vec<f64>, Error> {
    let rows = data.len();
    let reason = match landmarks {
        0 => CoreError::Empty,
        _ if landmarks > rows => CoreError::TooManyLandmarks { landmarks, rows },
        _ => {
            let mut random = stream(seed, Stream::Landmarks);
            return data.gather(&index::sample(&mut random, rows, landmarks).into_vec());
        }
    };
    Err(Error::landmarks(reason))
}

/// Return the squared error over all folds and targets for each ridge.
///
/// For each fold, the kernel matrix of the `n` training rows is decomposed once for all ridges:
/// `K_vt (K_tt + nγ I)⁻¹ y = (K_vt U) (Λ + nγ)⁻¹ (Uᵀ y)`. With weights `W` of sum `n`, `K_vt √W`,
/// `√W K_tt √W` and `√W y` take their places.
fn full(
    data: &Prepared,
    targets: MatRef<'_, f64>,
    kernel: KernelSpec,
    ridges: &[f64],
    folds: &[u8],
    observer: &dyn Observer,
) -> Result<Vec<f64>, Error> {
    let gram = Gram::new(data, kernel)?;
    let matrix = gram.matrix()?;
    let weight = |row: usize| data.row_weights().map_or(1.0, |weights| weights[row]);
    let mut squares = vec![0.0; ridges.len()];
    let count = FOLDS.min(data.len());
    observer.begin("folds", count as u64);
    for fold in 0..count {
        go_on(observer)?;
        let (held, others): (Vec<usize>, Vec<usize>) =
            (0..data.len()).partition(|&row| usize::from(folds[row]) == fold);
        let root = |i: usize| weight(others[i]).sqrt();
        let inner = Eigen::of(&Mat::from_fn(others.len(), others.len(), |i, j| {
            root(i) * root(j) * matrix[(others[i], others[j])]
        }))?;
        let outer = Mat::from_fn(held.len(), others.len(), |i, j| root(j) * matrix[(held[i], others[j])]);
        let y = Mat::from_fn(others.len(), targets.ncols(), |i, t| root(i) * targets[(others[i], t)]);
        let learned: f64 = others.iter().map(|&row| weight(row)).sum();
        let along = product(inner.vectors.transpose(), y.as_ref());
        let turned = product(outer.as_ref(), inner.vectors.as_ref());
        for (ridge, squares) in ridges.iter().zip(&mut squares) {
            let penalty = learned * ridge;
            let weights =
                Mat::from_fn(others.len(), y.ncols(), |k, t| along[(k, t)] / (inner.values[k] + penalty));
            let predicted = product(turned.as_ref(), weights.as_ref());
            for (found, own) in predicted.col_iter().zip(targets.col_iter()) {
                let errors = held.iter().zip(found.iter()).map(|(&row, found)| (row, own[row] - found));
                *squares += errors.map(|(row, error)| weight(row) * error * error).sum::<f64>();
            }
        }
        observer.advance(1);
    }
    observer.end();
    Ok(squares)
}

#[cfg(test)]
mod tests {
    use super::{Grid, Regressor, Surface, tune};
    use dpp_nystrom::core::Random;
    use dpp_nystrom::data::{Prepared, table::Table};
    use dpp_nystrom::kernel::KernelKind;
    use dpp_nystrom::observer::NoObserver;
    use rand::RngExt;

    /// A sine with noise, over two features of which one is irrelevant.
    fn waves(rows: usize) -> Prepared {
        let mut random = Random::seeded(4);
        let features: Vec<f64> = (0..2 * rows).map(|_| random.random()).collect();
        let target = features
            .chunks(2)
            .map(|row| (9.0 * row[0]).sin() + 0.3 * (random.random::<f64>() - 0.5))
            .collect();
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

    const MULTIPLES: [f64; 5] = [0.1, 0.2, 0.4, 0.8, 1.6];
    const RIDGES: [f64; 6] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];

    fn grid<'a>(multiples: &'a [f64], ridges: &'a [f64]) -> Grid<'a> {
        Grid { multiples, further: 0, ridges }
    }

    fn surface(data: &Prepared, regressor: Regressor) -> Surface {
        tune(data, KernelKind::Gaussian, regressor, grid(&MULTIPLES, &RIDGES), 3, &NoObserver).unwrap()
    }

    /// Representer theorem: with every training row a landmark, the solution lies in the span of the training
    /// rows, so both regressors agree.
    #[test]
    fn all_rows_as_landmarks_are_the_full_regression() {
        let data = waves(90);
        let full = surface(&data, Regressor::Full);
        let nystrom = surface(&data, Regressor::Nystrom { landmarks: 90 });
        for (sigma, (row, other)) in full.errors.iter().zip(&nystrom.errors).enumerate() {
            for ((one, other), ridge) in row.iter().zip(other).zip(RIDGES) {
                let (one, other) = (one.unwrap(), other.unwrap());
                // Rows that depend on others up to rounding are not landmarks. The core's predictions are
                // then accurate to √ε ‖β‖, and ‖β‖ is at most ‖y‖ / (2 √(Nγ)), with ‖y‖ = √N here.
                let promised = f64::EPSILON.sqrt() / (2.0 * ridge.sqrt());
                assert!((one - other).abs() < promised, "{sigma} {ridge:e}: {one} {other}");
            }
        }
        assert_eq!((full.best_sigma, full.best_ridge), (nystrom.best_sigma, nystrom.best_ridge));
        assert!(full.least() < 0.3 && !full.sigma_at_edge() && !full.ridge_at_edge(), "{full:?}");
        assert!(full.errors[4][5].unwrap() > 0.8);
    }

    #[test]
    fn a_minimum_at_the_edge_is_reported() {
        let data = waves(60);
        let regressor = Regressor::Nystrom { landmarks: 30 };
        let of = |multiples: &[f64], ridges: &[f64]| {
            tune(&data, KernelKind::Gaussian, regressor, grid(multiples, ridges), 3, &NoObserver).unwrap()
        };
        let surface = of(&[4.0, 2.0, 8.0], &[1.0, 0.1, 0.1]);
        assert!(surface.sigma_at_edge() && surface.ridge_at_edge());
        assert_eq!((surface.best_sigma, surface.ridges.len(), surface.errors.len()), (0, 2, 3));
        let surface = of(&[1.0], &[0.1]);
        assert!(!surface.sigma_at_edge() && !surface.ridge_at_edge());
        let linear =
            tune(&data, KernelKind::Linear, regressor, grid(&MULTIPLES, &RIDGES), 3, &NoObserver).unwrap();
        assert_eq!((linear.sigmas, linear.median), (vec![1.0], None));
    }

    /// From an end of the grid the search goes on outside, and then between the best and its better
    /// neighbour. The points given keep their errors.
    #[test]
    fn further_bandwidths_enclose_the_minimum() {
        let data = waves(90);
        let of = |multiples: &[f64], further| {
            let grid = Grid { multiples, further, ridges: &RIDGES };
            let regressor = Regressor::Nystrom { landmarks: 30 };
            tune(&data, KernelKind::Gaussian, regressor, grid, 3, &NoObserver).unwrap()
        };
        let (given, found) = (of(&[1.6, 3.2], 0), of(&[1.6, 3.2], 5));
        assert_eq!((found.sigmas.len(), found.errors.len()), (7, 7));
        assert!(found.sigmas.is_sorted_by(|one, next| one < next), "{found:?}");
        assert!(given.sigma_at_edge() && !found.sigma_at_edge(), "{found:?}");
        assert!(found.least() < 0.9 * given.least(), "{found:?}");
        assert_eq!(given.sigmas[..], found.sigmas[5..]);
        assert_eq!(given.errors[..], found.errors[5..]);
        let below = of(&[0.025, 0.05], 3);
        assert_eq!(below.sigmas[2] / below.sigmas[1], 2.0);
    }

    #[test]
    fn what_cannot_be_tuned_is_refused() {
        let data = waves(20);
        let of = |landmarks, ridges: &[f64]| {
            let regressor = Regressor::Nystrom { landmarks };
            tune(&data, KernelKind::Gaussian, regressor, grid(&MULTIPLES, ridges), 3, &NoObserver)
                .unwrap_err()
        };
        assert_eq!(of(0, &RIDGES).name(), "Landmarks");
        assert_eq!(of(21, &RIDGES).name(), "Landmarks");
        for ridges in [&[][..], &[0.0], &[f64::NAN], &[-1.0]] {
            assert_eq!(of(5, ridges).name(), "Regression");
        }
    }
}
