//! Closed-form leave-one-out residuals of ridge regression, and their rank-one update for an added feature.
//!
//! With features `Φ`, one column per row, and regularisation `λ = Nγ`, the hat matrix is
//! `H = Φᵀ(ΦΦᵀ + λI)⁻¹Φ`. The residual of row `i` in a regression without it is `(y_i - ŷ_i)/(1 - h_ii)`
//! (Allen 1974; `λ` is unchanged for the remaining `N - 1` rows). With `ΦΦᵀ = VDVᵀ` and
//! `W = (D + λI)^-½ VᵀΦ`, `H = WᵀW`: one eigendecomposition serves all ridges.
//!
//! Adding features with values `B` over all rows, one column each, and the inner products `G`: with
//! `P = I - H`, `V = PB` and `S = λG + BᵀV = TTᵀ`, block elimination in `ΦΦᵀ + λI` gives the residuals
//! `r - X T⁻¹Vᵀy` and the diagonal `p_i - ‖x_i‖²`, with `X = V T⁻ᵀ`. Evaluating `q` candidate features, each
//! added alone, costs `2 q N c` multiply-adds instead of `q N c²`. Further candidates are eliminated from `V`
//! and `S` in the same way, without `Φ`.

use crate::error::{Cause, Error};
use crate::linalg::{
    eigen::Eigen, eigen::Singular, eigen::eigen, eigen::lower_product, eigen::product, eigen::singular,
    triangle::factor,
};
use dpp_nystrom_core::Error as CoreError;
use dpp_nystrom_host::threads::worth_a_thread;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place as solve_lower;
use faer::{Mat, MatRef, Par, Scale};
use rayon::prelude::*;

/// `1 - h_ii` below this is rounding error: the row has leverage 1 and its leave-one-out residual is
/// undefined.
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
    /// `VᵀΦy`, a column for each target.
    along: Mat<f64>,
}

impl Basis {
    /// Decompose the triangle `[R q]`, with a `q` for each target, with `RᵀR = ΦΦᵀ` and `Rᵀq = Φy`:
    /// `R = USVᵀ`, so `D = S²`. Nothing is squared before.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`.
    pub(crate) fn of_triangle(triangle: MatRef<'_, f64>, targets: MatRef<'_, f64>) -> Result<Self, Error> {
        let Singular { left, values, right: vectors } = singular(triangle)?;
        let mut along = product(left.transpose(), targets);
        for column in along.col_iter_mut() {
            column.iter_mut().zip(&values).for_each(|(entry, value)| *entry *= value);
        }
        Ok(Self { along, values: values.iter().map(|value| value * value).collect(), vectors })
    }

    /// Return the sum of squared leave-one-out residuals of some rows for each `λ`, from their `VᵀΦ` and a
    /// column for each target.
    pub(crate) fn squares(
        &self,
        features: MatRef<'_, f64>,
        targets: MatRef<'_, f64>,
        loads: &[f64],
    ) -> Vec<f64> {
        squares(features, &self.values, self.along.as_ref(), targets, loads)
    }
}

/// [`Basis::squares`]: `ŷ = (VᵀΦ)ᵀ (D + λ)⁻¹ VᵀΦy` and `h_ii = Σ_k (VᵀΦ)²_ki / (D_k + λ)`, as two products for all `λ`.
fn squares(
    features: MatRef<'_, f64>,
    values: &[f64],
    along: MatRef<'_, f64>,
    targets: MatRef<'_, f64>,
    loads: &[f64],
) -> Vec<f64> {
    let (rank, n) = (features.nrows(), features.ncols());
    let inverse = |k: usize, at: usize| 1.0 / (values[k] + loads[at]);
    let inverses = Mat::from_fn(rank, loads.len(), inverse);
    let squared = Mat::from_fn(n, rank, |i, k| features[(k, i)] * features[(k, i)]);
    let leverages = product(squared.as_ref(), inverses.as_ref());
    let mut sums = vec![0.0; loads.len()];
    for (target, along) in targets.col_iter().zip(along.col_iter()) {
        let weights = Mat::from_fn(rank, loads.len(), |k, at| inverse(k, at) * along[k]);
        let fitted = product(features.transpose(), weights.as_ref());
        let residual = |i: usize, at: usize| without(target[i] - fitted[(i, at)], 1.0 - leverages[(i, at)]);
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += (0..n).map(|i| residual(i, at).powi(2)).sum::<f64>();
        }
    }
    sums
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
    /// `ErrorKind::Landmarks`.
    pub(crate) fn new(features: &Mat<f64>) -> Result<Self, Error> {
        if features.nrows() == 0 {
            return Ok(Self { features: features.clone(), values: Vec::new() });
        }
        let gram = lower_product(features.as_ref(), features.transpose());
        let Eigen { values, vectors } = eigen(&gram)?;
        Ok(Self { features: product(vectors.transpose(), features.as_ref()), values })
    }

    /// Return the ridge γ with the least leave-one-out error, and that error, a mean of squares over rows and
    /// targets, a column each.
    ///
    /// The error is infinite if, at every ridge, some row has leverage 1.
    ///
    /// # Errors
    /// `ErrorKind::Regression` if `ridges` is empty.
    pub(crate) fn best(&self, targets: MatRef<'_, f64>, ridges: &[f64]) -> Result<(f64, f64), Error> {
        let rows = targets.nrows();
        let n = rows as f64;
        let loads: Vec<f64> = ridges.iter().map(|ridge| ridge * n).collect();
        let along = product(self.features.as_ref(), targets);
        let task = worth_a_thread(2 * BLOCK * self.values.len() * ridges.len());
        let blocks = (0..rows).into_par_iter().step_by(BLOCK).with_min_len(task).map(|first| {
            let count = BLOCK.min(rows - first);
            let features = self.features.subcols(first, count);
            squares(features, &self.values, along.as_ref(), targets.subrows(first, count), &loads)
        });
        let squares = sum_of(&blocks.collect::<Vec<_>>(), ridges.len());
        let count = n * targets.ncols() as f64;
        let errors = ridges.iter().zip(squares).map(|(&ridge, squares)| (ridge, squares / count));
        errors
            .min_by(|one, other| one.1.total_cmp(&other.1))
            .ok_or(Error(Cause::Regression { reason: CoreError::Ridge }))
    }
}

/// The residuals of a ridge regression: `y - ŷ`, and `1 - h_ii`.
#[derive(Clone, Debug)]
pub(crate) struct Residuals {
    raw: Vec<f64>,
    free: Vec<f64>,
}

impl Residuals {
    /// Return the leave-one-out residual of each row; infinite where it is undefined.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = f64> {
        self.raw.iter().zip(&self.free).map(|(&residual, &free)| without(residual, free))
    }

    /// Subtract `X a` from the residuals and the squares of `X` from the diagonal.
    fn explain(&mut self, columns: MatRef<'_, f64>, weights: &[f64]) {
        for (k, weight) in weights.iter().enumerate() {
            let column = columns.col(k).iter();
            for ((residual, free), entry) in self.raw.iter_mut().zip(&mut self.free).zip(column) {
                *residual -= entry * weight;
                *free -= entry * entry;
            }
        }
    }
}

/// A ridge regression.
#[derive(Debug)]
pub(crate) struct Fitted {
    /// `Wᵀ`.
    scaled: Mat<f64>,
    load: f64,
    pub(crate) residuals: Residuals,
}

impl Fitted {
    /// Fit the regression with regularisation `λ` to features given as one column per row: `N c²`. A `λ` at
    /// the level of rounding counts as that.
    ///
    /// # Errors
    /// `ErrorKind::Regression` for features that are not finite.
    pub(crate) fn new(features: &Mat<f64>, targets: &[f64], load: f64) -> Result<Self, Error> {
        let rank = features.nrows();
        let mut residuals = Residuals { raw: targets.to_vec(), free: vec![1.0; targets.len()] };
        let mut scaled = features.transpose().to_owned();
        let mut gram = product(features.as_ref(), features.transpose());
        let trace: f64 = gram.diagonal().column_vector().iter().sum();
        let load = load.max(4.0 * rank as f64 * f64::EPSILON * trace);
        gram.diagonal_mut().column_vector_mut().iter_mut().for_each(|entry| *entry += load);
        factor(&mut gram).ok_or(Error(Cause::Regression { reason: CoreError::NotPositive { pivot: 0 } }))?;
        scaled.par_row_chunks_mut(BLOCK).for_each(|rows| {
            solve_lower(gram.as_ref(), rows.transpose_mut(), Par::Seq);
        });
        let y = MatRef::from_column_major_slice(targets, targets.len(), 1);
        let shares = product(scaled.transpose(), y);
        residuals.explain(scaled.as_ref(), shares.col_as_slice(0));
        Ok(Self { scaled, load, residuals })
    }

    /// Return the leave-one-out error, a mean of squares.
    #[cfg(test)]
    pub(crate) fn error(&self) -> f64 {
        let squares = self.residuals.left_out().map(|residual| residual * residual);
        squares.sum::<f64>() / self.residuals.raw.len() as f64
    }

    /// Return the candidates `B`, one column per feature, with the inner products `G`: `2 N c` for each.
    pub(crate) fn candidates(&self, features: &Mat<f64>, inner: &Mat<f64>, targets: &[f64]) -> Pool {
        let shares = product(self.scaled.transpose(), features.as_ref());
        let left = features - product(self.scaled.as_ref(), shares.as_ref());
        let normal = product(features.transpose(), left.as_ref()) + inner * Scale(self.load);
        let y = MatRef::from_column_major_slice(targets, targets.len(), 1);
        let along = product(left.transpose(), y).col_as_slice(0).to_vec();
        Pool { residuals: self.residuals.clone(), left, normal, along }
    }
}

/// A regression, and features that can be added to it.
#[derive(Debug)]
pub(crate) struct Pool {
    residuals: Residuals,
    /// `V`.
    left: Mat<f64>,
    /// `S`.
    normal: Mat<f64>,
    /// `Vᵀy`.
    along: Vec<f64>,
}

impl Pool {
    /// Return the regression with the features `added`, and the candidates `kept`: for `p` added and `q` kept
    /// features `N p (p/2 + q)` multiply-adds. `None` if the added features are dependent.
    pub(crate) fn with(&self, added: &[usize], kept: &[usize]) -> Option<Self> {
        let pick = |of: &[usize]| Mat::from_fn(self.left.nrows(), of.len(), |i, k| self.left[(i, of[k])]);
        let normal =
            |of: &[usize], by: &[usize]| Mat::from_fn(of.len(), by.len(), |i, k| self.normal[(of[i], by[k])]);
        let mut next = Self {
            residuals: self.residuals.clone(),
            left: pick(kept),
            normal: normal(kept, kept),
            along: kept.iter().map(|&k| self.along[k]).collect(),
        };
        if added.is_empty() {
            return Some(next);
        }
        let mut triangle = normal(added, added);
        factor(&mut triangle)?;
        let mut columns = pick(added);
        columns.par_row_chunks_mut(BLOCK).for_each(|rows| {
            solve_lower(triangle.as_ref(), rows.transpose_mut(), Par::Seq);
        });
        let mut between = normal(added, kept);
        solve_lower(triangle.as_ref(), between.as_mut(), Par::Seq);
        let mut weights = Mat::from_fn(added.len(), 1, |k, _| self.along[added[k]]);
        solve_lower(triangle.as_ref(), weights.as_mut(), Par::Seq);
        next.residuals.explain(columns.as_ref(), weights.col_as_slice(0));
        next.left -= product(columns.as_ref(), between.as_ref());
        next.normal -= product(between.transpose(), between.as_ref());
        let explained = product(between.transpose(), weights.as_ref());
        next.along.iter_mut().zip(explained.col_as_slice(0)).for_each(|(along, part)| *along -= part);
        Some(next)
    }

    /// Return the leave-one-out residuals with the candidate at `k`, as [`Residuals::left_out`] does.
    pub(crate) fn left_out(&self, k: usize) -> impl Iterator<Item = f64> {
        let scale = self.normal[(k, k)];
        let (weight, inverse) = (self.along[k] / scale, 1.0 / scale);
        let Residuals { raw, free } = &self.residuals;
        let rows = raw.iter().zip(free).zip(self.left.col_as_slice(k));
        rows.map(move |((&residual, &free), &left)| {
            without(residual - left * weight, free - left * left * inverse)
        })
    }

    /// Return the leave-one-out error with the candidate at `k`, a mean of squares.
    pub(crate) fn error(&self, k: usize) -> f64 {
        self.left_out(k).map(|residual| residual * residual).sum::<f64>() / self.left.nrows() as f64
    }
}

fn without(residual: f64, free: f64) -> f64 {
    if free > FREE { residual / free } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::{Axes, Basis, FREE, Fitted, sum_of, without};
    use super::{factor, solve_lower};
    use dpp_nystrom_core::Scalar;
    use dpp_nystrom_host::rng::{RngStream, stream};
    use faer::{Mat, MatRef, Par};
    use rand_core::Rng;

    fn column(targets: &[f64]) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(targets, targets.len(), 1)
    }

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
            let fitted = Fitted::new(&features, &targets, load).unwrap();
            let mut total = 0.0;
            for (i, residual) in fitted.residuals.left_out().enumerate() {
                let refitted = residual_without(&features, &targets, load, i);
                assert!((residual - refitted).abs() < 1e-10, "{load} {i}: {residual} {refitted}");
                total += refitted * refitted;
            }
            assert!((fitted.error() - total / 23.0).abs() < 1e-10);
        }
    }

    /// The basis of the triangle gives the errors of refitting, for rows in several blocks, down to tiny
    /// ridges.
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
            let targets = MatRef::from_column_major_slice(&targets[first..first + count], count, 1);
            basis.squares(turned.subcols(first, count), targets, &loads)
        });
        for (load, total) in loads.into_iter().zip(sum_of(&parts, loads.len())) {
            let refitted =
                (0..23).map(|i| residual_without(&features, &targets, load, i).powi(2)).sum::<f64>();
            assert!((total - refitted).abs() < 1e-9, "{load}: {total} {refitted}");
            let axes = Axes::new(&features).unwrap().best(column(&targets), &[load / 23.0]).unwrap();
            assert!((axes.1 * 23.0 - refitted).abs() < 1e-9, "{load}: {axes:?} {refitted}");
        }
    }

    /// Features added at once, then one more, with inner products that are not the identity: those of `A Φ`,
    /// which spans what `Φ` does, are `A Aᵀ`.
    #[test]
    fn more_features_are_refitting_with_them() {
        let (features, targets) = made_up(7, 31);
        let mut random = stream(3, RngStream::Rows);
        let mixed =
            Mat::from_fn(4, 4, |k, l| f64::from(u8::from(k == l)) + f64::from_draw(random.next_u32()));
        for rank in [0, 1, 3] {
            let few = features.get(..rank, ..).to_owned();
            let others = features.get(rank..rank + 4, ..);
            let pool = (&mixed * others).transpose().to_owned();
            let inner = &mixed * mixed.transpose();
            for load in [1e-6, 0.1] {
                let fitted = Fitted::new(&few, &targets, load).unwrap();
                let candidates = fitted.candidates(&pool, &inner, &targets);
                for added in [vec![], vec![2], vec![3, 0]] {
                    let next = candidates.with(&added, &[1]).unwrap();
                    // An orthonormal basis of the features added and the candidate: the triangle of their
                    // inner products.
                    let chosen = [&added[..], &[1]].concat();
                    let mut triangle =
                        Mat::from_fn(chosen.len(), chosen.len(), |i, j| inner[(chosen[i], chosen[j])]);
                    factor(&mut triangle).unwrap();
                    let mut basis = Mat::from_fn(chosen.len(), 31, |k, i| pool[(i, chosen[k])]);
                    solve_lower(triangle.as_ref(), basis.as_mut(), Par::Seq);
                    let all = Mat::from_fn(rank + chosen.len(), 31, |k, i| {
                        if k < rank { few[(k, i)] } else { basis[(k - rank, i)] }
                    });
                    let whole = Fitted::new(&all, &targets, load).unwrap();
                    for (one, other) in next.left_out(0).zip(whole.residuals.left_out()) {
                        assert!((one - other).abs() < 1e-9, "{rank} {load} {added:?}: {one} {other}");
                    }
                    assert!((next.error(0) - whole.error()).abs() < 1e-10);
                }
            }
        }
    }

    #[test]
    fn the_ridge_is_that_of_the_least_error() {
        let (features, targets) = made_up(4, 23);
        let axes = Axes::new(&features).unwrap();
        let ridges = [1e-8, 1e-4, 1e-2, 1.0, 100.0];
        let (ridge, error) = axes.best(column(&targets), &ridges).unwrap();
        let errors = ridges.map(|ridge| Fitted::new(&features, &targets, ridge * 23.0).unwrap().error());
        assert!(errors.iter().all(|&other| error <= other * (1.0 + 1e-12)), "{error} {errors:?}");
        assert!(
            (errors[ridges.iter().position(|&other| other == ridge).unwrap()] - error).abs() < 1e-12 * error
        );
        assert!(axes.best(column(&targets), &[]).is_err());
    }

    #[test]
    fn a_row_without_a_residual_is_skipped() {
        assert_eq!(without(0.5, 0.25), 2.0);
        assert_eq!(without(0.5, FREE), f64::INFINITY);
        assert_eq!(without(0.5, f64::NAN), f64::INFINITY);
    }
}
