//! Closed-form leave-one-out residuals of ridge regression, and their rank-one update for an added feature.
//!
//! With features `Φ`, one column per row, and regularisation `λ = Nγ`, the hat matrix is `H = Φᵀ(ΦΦᵀ + λI)⁻¹Φ`. The
//! residual of row `i` in a regression without it is `(y_i - ŷ_i)/(1 - h_ii)` (Allen 1974; `λ` is unchanged for the
//! remaining `N - 1` rows). With `ΦΦᵀ = VDVᵀ` and `W = (D + λI)^-½ VᵀΦ`, `H = WᵀW`: one eigendecomposition serves all
//! ridges.
//!
//! Adding a feature with values `b` over all rows: with `P = I - H`, `u = Pb` and `s = λ + bᵀu`, block elimination in
//! `ΦΦᵀ + λI` gives the residuals `r - u (uᵀy)/s` and the diagonal `p_i - u_i²/s`. Evaluating `q` candidate features,
//! each added alone, costs `2 q N c` multiply-adds instead of `q N c²`.

use crate::error::Error;
use crate::linalg::eigen::{Eigen, eigen, product};
use dpp_nystrom_core::Error as CoreError;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// `1 - h_ii` below this is rounding error: the row has leverage 1 and its leave-one-out residual is undefined.
const FREE: f64 = 1e-12;

/// Rows whose residuals are computed together.
pub(crate) const BLOCK: usize = 256;

/// Return the sum of vectors, in their order.
pub(crate) fn sum_of(parts: &[Vec<f64>], length: usize) -> Vec<f64> {
    (0..length).map(|at| parts.iter().map(|part| part[at]).sum()).collect()
}

/// The eigenbasis of `ΦΦᵀ`, from the triangle of all rows, for features that are not kept.
#[derive(Debug)]
pub(crate) struct Basis {
    /// `V`, one eigenvector per column.
    pub(crate) vectors: Mat<f64>,
    /// `D`.
    values: Vec<f64>,
    /// `VᵀΦy`.
    along: Vec<f64>,
}

impl Basis {
    /// Decompose the triangle `[R q]` with `RᵀR = ΦΦᵀ` and `Rᵀq = Φy`: `R = USVᵀ`, so `D = S²`. Nothing is squared before.
    ///
    /// # Errors
    /// [`Error::Eigenvalues`].
    pub(crate) fn of_triangle(triangle: MatRef<'_, f64>, targets: MatRef<'_, f64>) -> Result<Self, Error> {
        let svd = triangle.svd().map_err(|_| Error::Eigenvalues)?;
        let along = svd.U().transpose() * targets;
        let values: Vec<f64> = svd.S().column_vector().iter().copied().collect();
        Ok(Self {
            along: values.iter().enumerate().map(|(k, value)| value * along[(k, 0)]).collect(),
            values: values.iter().map(|value| value * value).collect(),
            vectors: svd.V().to_owned(),
        })
    }

    /// Return the sum of squared leave-one-out residuals of some rows for each `λ`, from their `VᵀΦ`.
    pub(crate) fn squares(&self, features: MatRef<'_, f64>, targets: &[f64], loads: &[f64]) -> Vec<f64> {
        squares(features, &self.values, &self.along, targets, loads)
    }
}

/// [`Basis::squares`]: `ŷ = (VᵀΦ)ᵀ (D + λ)⁻¹ VᵀΦy` and `h_ii = Σ_k (VᵀΦ)²_ki / (D_k + λ)`, as two products for all `λ`.
fn squares(
    features: MatRef<'_, f64>,
    values: &[f64],
    along: &[f64],
    targets: &[f64],
    loads: &[f64],
) -> Vec<f64> {
    let (rank, n) = (features.nrows(), features.ncols());
    let inverse = |k: usize, at: usize| 1.0 / (values[k] + loads[at]);
    let inverses = Mat::from_fn(rank, loads.len(), inverse);
    let weights = Mat::from_fn(rank, loads.len(), |k, at| inverse(k, at) * along[k]);
    let fitted = product(features.transpose(), weights.as_ref());
    let squared = Mat::from_fn(n, rank, |i, k| features[(k, i)] * features[(k, i)]);
    let leverages = product(squared.as_ref(), inverses.as_ref());
    let residual = |i: usize, at: usize| without(targets[i] - fitted[(i, at)], 1.0 - leverages[(i, at)]);
    (0..loads.len()).map(|at| (0..n).map(|i| residual(i, at).powi(2)).sum()).collect()
}

/// Features in the eigenbasis of their Gram matrix.
#[derive(Debug)]
pub(crate) struct Axes {
    /// `VᵀΦ`, one column per row.
    features: Mat<f64>,
    /// `D`.
    values: Vec<f64>,
}

impl Axes {
    /// Decompose features given as one column per row: `N c²`.
    ///
    /// # Errors
    /// [`Error::Eigenvalues`].
    pub(crate) fn new(features: &Mat<f64>) -> Result<Self, Error> {
        if features.nrows() == 0 {
            return Ok(Self { features: features.clone(), values: Vec::new() });
        }
        let gram = product(features.as_ref(), features.transpose());
        let Eigen { values, vectors } = eigen(&gram)?;
        Ok(Self { features: product(vectors.transpose(), features.as_ref()), values })
    }

    /// Fit the regression with regularisation `λ`: `2 N c`.
    pub(crate) fn fit(&self, targets: &[f64], load: f64) -> Fitted {
        let (rank, n) = (self.features.nrows(), targets.len());
        let scales: Vec<f64> = self.values.iter().map(|value| 1.0 / (value + load).sqrt()).collect();
        let scaled = Mat::from_fn(rank, n, |k, i| self.features[(k, i)] * scales[k]);
        let y = MatRef::from_column_major_slice(targets, n, 1);
        let shares = product(scaled.as_ref(), y);
        let (mut raw, mut free) = (targets.to_vec(), vec![1.0; n]);
        for (i, (residual, free)) in raw.iter_mut().zip(&mut free).enumerate() {
            for k in 0..rank {
                let entry = scaled[(k, i)];
                *residual -= entry * shares[(k, 0)];
                *free -= entry * entry;
            }
        }
        Fitted { scaled, load, raw, free }
    }

    /// Return the ridge γ with the least leave-one-out error, and that error, a mean of squares.
    ///
    /// The error is infinite if, at every ridge, some row has leverage 1.
    ///
    /// # Errors
    /// [`Error::Regression`] if `ridges` is empty.
    pub(crate) fn best(&self, targets: &[f64], ridges: &[f64]) -> Result<(f64, f64), Error> {
        let n = targets.len() as f64;
        let loads: Vec<f64> = ridges.iter().map(|ridge| ridge * n).collect();
        let along =
            product(self.features.as_ref(), MatRef::from_column_major_slice(targets, targets.len(), 1));
        let along = along.col_as_slice(0);
        let blocks = (0..targets.len()).into_par_iter().step_by(BLOCK).map(|first| {
            let count = BLOCK.min(targets.len() - first);
            let features = self.features.subcols(first, count);
            squares(features, &self.values, along, &targets[first..first + count], &loads)
        });
        let squares = sum_of(&blocks.collect::<Vec<_>>(), ridges.len());
        let errors = ridges.iter().zip(squares).map(|(&ridge, squares)| (ridge, squares / n));
        errors
            .min_by(|one, other| one.1.total_cmp(&other.1))
            .ok_or(Error::Regression { reason: CoreError::Ridge })
    }
}

/// A ridge regression and its residuals.
#[derive(Debug)]
pub(crate) struct Fitted {
    /// `W`.
    scaled: Mat<f64>,
    load: f64,
    /// `y - ŷ`.
    raw: Vec<f64>,
    /// `1 - h_ii`.
    free: Vec<f64>,
}

/// A regression with one added feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extended<'a> {
    fitted: &'a Fitted,
    /// `u = Pb`.
    left: &'a [f64],
    /// `s`.
    scale: f64,
    /// `uᵀy / s`.
    weight: f64,
}

impl Fitted {
    /// Return the leave-one-out residual of each row; infinite where it is undefined.
    pub(crate) fn residuals(&self) -> impl Iterator<Item = f64> {
        self.raw.iter().zip(&self.free).map(|(&residual, &free)| without(residual, free))
    }

    /// Return the leave-one-out error, a mean of squares.
    #[cfg(test)]
    pub(crate) fn error(&self) -> f64 {
        self.residuals().map(|residual| residual * residual).sum::<f64>() / self.raw.len() as f64
    }

    /// Return `PB` for features `B`, one column per feature.
    pub(crate) fn left_of(&self, features: &Mat<f64>) -> Mat<f64> {
        if self.scaled.nrows() == 0 {
            return features.clone();
        }
        let shares = product(self.scaled.as_ref(), features.as_ref());
        features - product(self.scaled.transpose(), shares.as_ref())
    }

    /// Return the regression with the feature `b` added, where `left` is `Pb`.
    pub(crate) fn extended<'a>(&'a self, feature: &[f64], left: &'a [f64], targets: &[f64]) -> Extended<'a> {
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let scale = self.load + dot(feature, left).max(0.0);
        Extended { fitted: self, left, scale, weight: dot(left, targets) / scale }
    }
}

impl Extended<'_> {
    /// Return the residuals as [`Fitted::residuals`] does.
    pub(crate) fn residuals(&self) -> impl Iterator<Item = f64> {
        let Self { fitted: Fitted { raw, free, .. }, left, scale, weight } = *self;
        let inverse = 1.0 / scale;
        raw.iter().zip(free).zip(left).map(move |((&residual, &free), &left)| {
            without(residual - left * weight, free - left * left * inverse)
        })
    }

    /// Return the error as [`Fitted::error`] does.
    pub(crate) fn error(&self) -> f64 {
        self.residuals().map(|residual| residual * residual).sum::<f64>() / self.left.len() as f64
    }
}

fn without(residual: f64, free: f64) -> f64 {
    if free > FREE { residual / free } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::{Axes, Basis, FREE, sum_of, without};
    use crate::rng::{RngStream, stream};
    use faer::Mat;
    use rand_core::Rng;

    fn made_up(rank: usize, n: usize) -> (Mat<f64>, Vec<f64>) {
        let mut random = stream(1, RngStream::Rows);
        let mut next = || f64::from(random.next_u32()) / f64::from(u32::MAX) - 0.5;
        let features = Mat::from_fn(rank, n, |k, _| next() / (1 + k) as f64);
        let targets = (0..n).map(|_| next()).collect();
        (features, targets)
    }

    /// The residual of row `left_out` with weights fitted to all other rows, from the normal equations.
    fn residual_without(features: &Mat<f64>, targets: &[f64], load: f64, left_out: usize) -> f64 {
        let (rank, n) = (features.nrows(), targets.len());
        let others = || (0..n).filter(|&i| i != left_out);
        let mut rows: Vec<Vec<f64>> = (0..rank)
            .map(|k| {
                let entry = |l: usize| others().map(|i| features[(k, i)] * features[(l, i)]).sum::<f64>();
                let mut row: Vec<f64> = (0..rank).map(entry).collect();
                row[k] += load;
                row.push(others().map(|i| features[(k, i)] * targets[i]).sum());
                row
            })
            .collect();
        for k in 0..rank {
            let top = rows[k].clone();
            for (l, row) in rows.iter_mut().enumerate().filter(|(l, _)| *l != k) {
                let factor = row[k] / top[k];
                row.iter_mut().zip(&top).for_each(|(x, y)| *x -= factor * y);
                assert!(factor.is_finite(), "{l}");
            }
        }
        let predicted: f64 = (0..rank).map(|k| rows[k][rank] / rows[k][k] * features[(k, left_out)]).sum();
        targets[left_out] - predicted
    }

    #[test]
    fn the_closed_form_is_refitting_without_each_row() {
        let (features, targets) = made_up(4, 23);
        for load in [1e-6, 0.1, 3.0] {
            let fitted = Axes::new(&features).unwrap().fit(&targets, load);
            let mut total = 0.0;
            for (i, residual) in fitted.residuals().enumerate() {
                let refitted = residual_without(&features, &targets, load, i);
                assert!((residual - refitted).abs() < 1e-10, "{load} {i}: {residual} {refitted}");
                total += refitted * refitted;
            }
            assert!((fitted.error() - total / 23.0).abs() < 1e-10);
        }
    }

    /// The basis of the triangle gives the errors of refitting, for rows in several blocks, down to tiny ridges.
    #[test]
    fn the_triangle_is_enough_for_all_ridges() {
        let (features, targets) = made_up(4, 23);
        let system = Mat::from_fn(23, 4, |i, k| features[(k, i)]);
        let qr = system.qr();
        let y = Mat::from_fn(23, 1, |i, _| targets[i]);
        let along = qr.compute_thin_Q().transpose() * y;
        let basis = Basis::of_triangle(qr.thin_R(), along.as_ref()).unwrap();
        let turned = basis.vectors.transpose() * &features;
        let loads = [1e-8, 1e-6, 0.1, 3.0];
        let parts = [(0, 10), (10, 13)].map(|(first, count)| {
            basis.squares(turned.subcols(first, count), &targets[first..first + count], &loads)
        });
        for (load, total) in loads.into_iter().zip(sum_of(&parts, loads.len())) {
            let refitted =
                (0..23).map(|i| residual_without(&features, &targets, load, i).powi(2)).sum::<f64>();
            assert!((total - refitted).abs() < 1e-9, "{load}: {total} {refitted}");
            let axes = Axes::new(&features).unwrap().best(&targets, &[load / 23.0]).unwrap();
            assert!((axes.1 * 23.0 - refitted).abs() < 1e-9, "{load}: {axes:?} {refitted}");
        }
    }

    #[test]
    fn one_feature_more_is_refitting_with_it() {
        let (features, targets) = made_up(5, 31);
        for rank in [0, 1, 4] {
            let few = Mat::from_fn(rank, 31, |k, i| features[(k, i)]);
            let more = Mat::from_fn(rank + 1, 31, |k, i| features[(k, i)]);
            let feature = Mat::from_fn(31, 1, |i, _| features[(rank, i)]);
            for load in [1e-6, 0.1] {
                let fitted = Axes::new(&few).unwrap().fit(&targets, load);
                let left = fitted.left_of(&feature);
                let extended = fitted.extended(feature.col_as_slice(0), left.col_as_slice(0), &targets);
                let whole = Axes::new(&more).unwrap().fit(&targets, load);
                for (one, other) in extended.residuals().zip(whole.residuals()) {
                    assert!((one - other).abs() < 1e-9, "{rank} {load}: {one} {other}");
                }
                assert!((extended.error() - whole.error()).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn the_ridge_is_that_of_the_least_error() {
        let (features, targets) = made_up(4, 23);
        let axes = Axes::new(&features).unwrap();
        let ridges = [1e-8, 1e-4, 1e-2, 1.0, 100.0];
        let (ridge, error) = axes.best(&targets, &ridges).unwrap();
        let errors = ridges.map(|ridge| axes.fit(&targets, ridge * 23.0).error());
        assert!(errors.iter().all(|&other| error <= other * (1.0 + 1e-12)), "{error} {errors:?}");
        assert!(
            (errors[ridges.iter().position(|&other| other == ridge).unwrap()] - error).abs() < 1e-12 * error
        );
        assert!(axes.best(&targets, &[]).is_err());
    }

    #[test]
    fn a_row_without_a_residual_is_skipped() {
        assert_eq!(without(0.5, 0.25), 2.0);
        assert_eq!(without(0.5, FREE), f64::INFINITY);
        assert_eq!(without(0.5, f64::NAN), f64::INFINITY);
    }
}
