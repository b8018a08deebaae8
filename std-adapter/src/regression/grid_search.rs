//! Joint selection of bandwidth and ridge by cross-validation over a grid, as in the paper.
//!
//! Each row is predicted by ridge regression on the nine folds that do not contain it
//! ([`crate::regression::folds::FOLDS`]); the error is the root mean square over all rows. All grid points share the
//! same folds.

use crate::approximation::{features::kernel_matrix, spectrum::check_rows};
use crate::data::prepared::Prepared;
use crate::error::Error;
use crate::kernel::{bandwidth::median_distance, kind::KernelKind, spec::KernelSpec};
use crate::linalg::eigen::{eigen, product};
use crate::observer::{Observer, go_on};
use crate::regression::{
    folds::FOLDS, folds::deal_folds, input::Input, regress::cross_validate, sigma_search::at_edge,
};
use crate::rng::{RngStream, stream};
use dpp_nystrom_core::Error as CoreError;
use faer::Mat;
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

/// Cross-validation errors over a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Surface {
    /// The bandwidths, ascending.
    pub sigmas: Vec<f64>,
    /// The median distance between rows; `None` for a kernel without a bandwidth.
    pub median: Option<f64>,
    /// The ridges γ, ascending.
    pub ridges: Vec<f64>,
    /// For each bandwidth, the error for each ridge, in standard deviations of the target; `None` where the equations
    /// could not be solved.
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

    /// Return whether the best bandwidth is the first or last of several: the optimum may lie outside the grid.
    pub fn sigma_at_edge(&self) -> bool {
        at_edge(self.best_sigma, self.sigmas.len())
    }

    /// Return whether the best ridge is the first or last of several.
    pub fn ridge_at_edge(&self) -> bool {
        at_edge(self.best_ridge, self.ridges.len())
    }
}

/// Cross-validate bandwidths, given in multiples of the median distance between rows, jointly with ridges.
///
/// A kernel without a bandwidth has a single bandwidth entry, σ = 1.
///
/// # Errors
/// [`Error::NoTarget`], [`Error::ConstantTarget`], [`Error::Folds`] if no grid point could be solved,
/// [`Error::MedianZero`], [`Error::Bandwidth`], [`Error::Regression`] for ridges that are not positive,
/// [`Error::SpectrumRows`] for too many rows for the full regression, [`Error::Landmarks`].
pub fn tune(
    data: &Prepared,
    kernel: KernelKind,
    regressor: Regressor,
    multiples: &[f64],
    ridges: &[f64],
    seed: u64,
    observer: &dyn Observer,
) -> Result<Surface, Error> {
    let targets = &data.learnable()?.values;
    if ridges.is_empty() || ridges.iter().any(|&ridge| !(ridge > 0.0 && ridge.is_finite())) {
        return Err(Error::Regression { reason: CoreError::Ridge });
    }
    let (median, mut sigmas) = if kernel.has_bandwidth() {
        let median = median_distance(&data.rows, data.dim, kernel, seed)?;
        (Some(median), multiples.iter().map(|multiple| multiple * median).collect())
    } else {
        (None, vec![1.0])
    };
    let mut ridges = ridges.to_vec();
    for grid in [&mut sigmas, &mut ridges] {
        grid.sort_unstable_by(f64::total_cmp);
        grid.dedup();
    }
    let folds: Vec<u8> = deal_folds(data.len(), seed).collect();
    let landmarks = match regressor {
        Regressor::Full => {
            check_rows(data.len())?;
            Vec::new()
        }
        Regressor::Nystrom { landmarks } => draw(data, landmarks, seed)?,
    };
    observer.begin("bandwidths", sigmas.len() as u64);
    let mut errors = Vec::with_capacity(sigmas.len());
    for &sigma in &sigmas {
        let spec = KernelSpec { kind: kernel, sigma };
        let squares: Vec<f64> = match regressor {
            Regressor::Full => full(data, targets, spec, &ridges, &folds)?,
            Regressor::Nystrom { .. } => {
                let scores =
                    cross_validate(Input::of(data, &landmarks, spec.build()?)?, ridges.clone(), seed)?.scores;
                scores.into_iter().map(|(_, squares)| squares).collect()
            }
        };
        let root = |squares: f64| Some((squares / data.len() as f64).sqrt()).filter(|root| root.is_finite());
        errors.push(squares.into_iter().map(root).collect::<Vec<_>>());
        observer.advance(1);
        go_on(observer)?;
    }
    observer.end();
    let places = (0..sigmas.len()).flat_map(|sigma| (0..ridges.len()).map(move |ridge| (sigma, ridge)));
    let solved = places.filter_map(|(sigma, ridge)| errors[sigma][ridge].map(|error| (error, sigma, ridge)));
    let (_, best_sigma, best_ridge) =
        solved.min_by(|one, other| one.0.total_cmp(&other.0)).ok_or(Error::Folds { rows: data.len() })?;
    Ok(Surface { sigmas, median, ridges, errors, best_sigma, best_ridge })
}

/// Return the features of rows drawn uniformly.
fn draw(data: &Prepared, landmarks: usize, seed: u64) -> Result<Vec<f64>, Error> {
    let rows = data.len();
    let reason = match landmarks {
        0 => CoreError::Empty,
        _ if landmarks > rows => CoreError::TooManyLandmarks { landmarks, rows },
        _ => {
            let mut random = stream(seed, RngStream::Landmarks);
            return data.gather(&index::sample(&mut random, rows, landmarks).into_vec());
        }
    };
    Err(Error::Landmarks { reason })
}

/// Return the squared error over all folds for each ridge.
///
/// For each fold, the kernel matrix of the `n` training rows is decomposed once for all ridges:
/// `K_vt (K_tt + nγ I)⁻¹ y = (K_vt U) (Λ + nγ)⁻¹ (Uᵀ y)`.
fn full(
    data: &Prepared,
    targets: &[f64],
    kernel: KernelSpec,
    ridges: &[f64],
    folds: &[u8],
) -> Result<Vec<f64>, Error> {
    let matrix = kernel_matrix(&data.ground(kernel)?)?;
    let mut squares = vec![0.0; ridges.len()];
    for fold in 0..FOLDS.min(data.len()) {
        let (held, others): (Vec<usize>, Vec<usize>) =
            (0..data.len()).partition(|&row| usize::from(folds[row]) == fold);
        let inner = eigen(&Mat::from_fn(others.len(), others.len(), |i, j| matrix[(others[i], others[j])]))?;
        let outer = Mat::from_fn(held.len(), others.len(), |i, j| matrix[(held[i], others[j])]);
        let y = Mat::from_fn(others.len(), 1, |i, _| targets[others[i]]);
        let along = product(inner.vectors.transpose(), y.as_ref());
        let turned = product(outer.as_ref(), inner.vectors.as_ref());
        for (ridge, squares) in ridges.iter().zip(&mut squares) {
            let penalty = others.len() as f64 * ridge;
            let weights = Mat::from_fn(others.len(), 1, |k, _| along[(k, 0)] / (inner.values[k] + penalty));
            let predicted = product(turned.as_ref(), weights.as_ref());
            let errors = held.iter().zip(predicted.col_as_slice(0)).map(|(&row, found)| targets[row] - found);
            *squares += errors.map(|error| error * error).sum::<f64>();
        }
    }
    Ok(squares)
}

#[cfg(test)]
mod tests {
    use super::{Regressor, Surface, tune};
    use crate::data::{prepared::Prepared, table::input::Table};
    use crate::error::Error;
    use crate::kernel::kind::KernelKind;
    use crate::landmarks::exact_kdpp::uniform;
    use crate::observer::NoObserver;
    use dpp_nystrom_core::Random;

    /// A sine with noise, over two features of which one is irrelevant.
    fn waves(rows: usize) -> Prepared {
        let mut random = Random::seeded(4);
        let features: Vec<f64> = (0..2 * rows).map(|_| uniform(&mut random)).collect();
        let target =
            features.chunks(2).map(|row| (9.0 * row[0]).sin() + 0.3 * (uniform(&mut random) - 0.5)).collect();
        let table = Table {
            name: "waves".to_owned(),
            feature_names: vec!["a".to_owned(), "b".to_owned()],
            dim: 2,
            features,
            target: Some(target),
            target_name: Some("y".to_owned()),
        };
        Prepared::new(table, None, 0).unwrap()
    }

    const MULTIPLES: [f64; 5] = [0.1, 0.2, 0.4, 0.8, 1.6];
    const RIDGES: [f64; 6] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];

    fn surface(data: &Prepared, regressor: Regressor) -> Surface {
        tune(data, KernelKind::Gaussian, regressor, &MULTIPLES, &RIDGES, 3, &NoObserver).unwrap()
    }

    /// Representer theorem: with every training row a landmark, the solution lies in the span of the training rows, so
    /// both regressors agree.
    #[test]
    fn all_rows_as_landmarks_are_the_full_regression() {
        let data = waves(90);
        let full = surface(&data, Regressor::Full);
        let nystrom = surface(&data, Regressor::Nystrom { landmarks: 90 });
        for (sigma, (row, other)) in full.errors.iter().zip(&nystrom.errors).enumerate() {
            for ((one, other), ridge) in row.iter().zip(other).zip(RIDGES) {
                let (one, other) = (one.unwrap(), other.unwrap());
                // Rows that depend on others up to rounding are not landmarks. The core's predictions are then accurate
                // to √ε ‖β‖, and ‖β‖ is at most ‖y‖ / (2 √(Nγ)), with ‖y‖ = √N here.
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
            tune(&data, KernelKind::Gaussian, regressor, multiples, ridges, 3, &NoObserver).unwrap()
        };
        let surface = of(&[4.0, 2.0, 8.0], &[1.0, 0.1, 0.1]);
        assert!(surface.sigma_at_edge() && surface.ridge_at_edge());
        assert_eq!((surface.best_sigma, surface.ridges.len(), surface.errors.len()), (0, 2, 3));
        let surface = of(&[1.0], &[0.1]);
        assert!(!surface.sigma_at_edge() && !surface.ridge_at_edge());
        let linear = tune(&data, KernelKind::Linear, regressor, &MULTIPLES, &RIDGES, 3, &NoObserver).unwrap();
        assert_eq!((linear.sigmas, linear.median), (vec![1.0], None));
    }

    #[test]
    fn what_cannot_be_tuned_is_refused() {
        let data = waves(20);
        let of = |landmarks, ridges: &[f64]| {
            let regressor = Regressor::Nystrom { landmarks };
            tune(&data, KernelKind::Gaussian, regressor, &MULTIPLES, ridges, 3, &NoObserver).unwrap_err()
        };
        assert!(matches!(of(0, &RIDGES), Error::Landmarks { .. }));
        assert!(matches!(of(21, &RIDGES), Error::Landmarks { .. }));
        for ridges in [&[][..], &[0.0], &[f64::NAN], &[-1.0]] {
            assert!(matches!(of(5, ridges), Error::Regression { .. }));
        }
    }
}
