//! Multinomial logistic regression on the features of the landmarks.
//!
//! The logits of a row are `z = Wᵀφ(x) + b`, and `W` minimises
//!
//! `Σ_i ω_i (-ln p_i) / n + γ/2 ‖W‖²`, `p = softmax(z)` of the row's own class,
//!
//! by L-BFGS in `U = P W`, where `PᵀP = ΦᵀΦ/4n + γI`: of two classes the Hessian is at most `PᵀP`, so that
//! few steps suffice whatever the features' scales are. `b_k` is the share of class `k` over [`UNIT`], which
//! is its log-odds to first order. γ is that with the least log-loss on rows held out, from large to small,
//! each from the weights of the one before.
//!
//! Of few rows, weights of least squares of the indicators are taken, unless those of the log-loss have the
//! lower log-loss on the rows held out, at the best temperature of each, by more than its standard error.
//!
//! Outputs stay what they are for least squares, estimates of indicators in their units, `f = z` [`UNIT`]:
//! the largest is the class, and the temperature is calibrated by rows that had no part in the weights.

use crate::data::weights::Weights;
use crate::error::{Cause, Error};
use crate::linalg::{
    eigen::lower_product, eigen::product, in_precision, increase, lbfgs::minimise, negligible,
    triangle::factor, triangle::solve_loaded,
};
use crate::model::classes::{log_probability, temperature};
use crate::observer::Observer;
use crate::regression::{
    choose::held_out::is_lower, choose::scan::least, choose::scan::least_on_grid, rows::folds::FOLDS,
};
use dpp_nystrom_host::simd::{Lane, exponential::Exponentials};
use dpp_nystrom_host::threads::worth_a_thread;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Mat, MatRef, Par};
use pulp::Arch;
use rayon::prelude::*;
use std::cell::Cell;

/// What a logit counts in units of the indicators: the slope of the logistic function at a half.
pub(crate) const UNIT: f64 = 0.25;

/// Steps of L-BFGS, and the relative change of the objective after which it ends: of a model, of a candidate
/// for γ, and of one for a [rival](Purpose::Compared).
type Ends = (u64, f64);
const MODEL: Ends = (100, 3e-5);
const CANDIDATE: Ends = (100, 3e-4);
const COMPARED: Ends = (40, 3e-4);

/// Blocks of rows, whose sums are added in order, so that the last digits do not depend on the threads.
const BLOCKS: usize = 64;
const BLOCK: usize = 256;

/// The most features that are copied without the rows left out: 16 MB, twice.
const COPIED: usize = 1 << 21;

/// The candidates for γ: powers of ten down from the first, until the last were so many above the least; from
/// the first up, where it is the best, to where the probabilities are nearly the shares of the classes; and,
/// of a model, half powers beside the least.
const FIRST: f64 = 0.1;
const DECADES: i32 = 9;
const UP: i32 = 2;
const RISES: usize = 2;
const RISES_COMPARED: usize = 1;

/// The fold of rows that are held out instead of folds.
pub(crate) const JUDGED: u8 = FOLDS as u8;

/// Folds that are held out together for the choice of γ, and the rows that are held out at least.
const TOGETHER: usize = 3;
const HELD_OUT: usize = 2_000;

/// Rows below which least squares is tried as well, and its candidates for γ as half powers of ten.
const FEW: usize = 2_000;
const OF_SQUARES: [i32; 2] = [-18, 2];

/// What the weights minimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// The log-loss.
    Log,
    /// The squared error of the indicators.
    Squares,
}

/// What γ is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A model.
    Model,
    /// A metric or a number of landmarks that is compared with others: γ is a power of ten, and the ridges of
    /// least squares are not all tried.
    Compared,
}

/// Rows of classes: their features, classes, folds, weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// `c` features of each row, a column each.
    pub(crate) features: MatRef<'a, f64>,
    /// The class of each row.
    pub(crate) classes: &'a [usize],
    /// The mean and the deviation of each class's indicator.
    pub(crate) indicators: &'a [(f64, f64)],
    /// The fold of each row, or [`JUDGED`].
    pub(crate) folds: &'a [u8],
    /// The weights of the rows.
    pub(crate) weights: Weights<'a>,
}

/// The errors of some rows by their probabilities.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    /// The sum of the weights.
    rows: f64,
    /// The weighted sum of `-ln p` of the own classes.
    log: f64,
    /// The weighted sum of the squared differences of probabilities and indicators, in standard deviations.
    squares: f64,
}

impl Losses {
    /// Return the root mean squared error over rows and classes.
    pub(crate) fn error(self, classes: usize) -> f64 {
        (self.squares / (self.rows * classes as f64)).sqrt()
    }
}

/// γ, the errors by which it was chosen, and the weights to start from.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    loss: Loss,
    pub(crate) ridge: f64,
    /// Each candidate with its errors on rows held out.
    pub(crate) scores: Vec<(f64, Losses)>,
    /// Folds that were held out together, and the weights without them, at γ: at least one.
    held_out: Vec<(FoldSet, Mat<f64>)>,
}

/// A candidate for γ, its errors on rows held out, and the weights without each part of them.
struct Tried {
    ridge: f64,
    losses: Losses,
    weights: Vec<Mat<f64>>,
}

/// Return the place of the least log-loss.
fn best(tried: &[Tried]) -> usize {
    let losses = tried.iter().map(|tried| tried.losses.log / tried.losses.rows).enumerate();
    losses.min_by(|(_, one), (_, other)| one.total_cmp(other)).map_or(0, |(place, _)| place)
}

/// A set of folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoldSet(u16);

impl FoldSet {
    pub(crate) const NONE: Self = Self(0);

    /// Return that of a list.
    pub(crate) fn of(folds: &[u8]) -> Self {
        Self(folds.iter().fold(0, |set, fold| set | 1 << fold))
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn contains(self, fold: u8) -> bool {
        self.0 >> fold & 1 == 1
    }
}

/// The sums of least squares of the indicators.
struct Squares {
    /// On and below the diagonal.
    gram: Mat<f64>,
    right: Mat<f64>,
    /// The sum of the weights of the rows.
    count: f64,
}

impl Squares {
    /// Return `W` at this γ; `None` where features are dependent.
    fn solve(&self, ridge: f64) -> Option<Mat<f64>> {
        solve_loaded(&self.gram, self.count * ridge, &self.right)
    }
}

/// Rows that a solution sees.
struct Seen<'a> {
    features: Features<'a>,
    classes: Vec<usize>,
    weights: Vec<f64>,
}

/// Features: a column for each row, and the same by rows.
enum Features<'a> {
    /// Those of all rows.
    All(MatRef<'a, f64>),
    Double([Mat<f64>; 2]),
    Single([Mat<f32>; 2]),
}

impl Seen<'_> {
    /// Return the log-loss, and its gradient by `W`.
    fn loss(&self, weights: &Mat<f64>, indicators: &[(f64, f64)]) -> (f64, Mat<f64>) {
        match &self.features {
            Features::All(features) => self.loss_in([*features, features.transpose()], weights, indicators),
            Features::Double(both) => self.loss_in(both.each_ref().map(Mat::as_ref), weights, indicators),
            Features::Single(both) => self.loss_in(both.each_ref().map(Mat::as_ref), weights, indicators),
        }
    }

    fn loss_in<T: Lane>(
        &self,
        [features, by_row]: [MatRef<'_, T>; 2],
        weights: &Mat<f64>,
        indicators: &[(f64, f64)],
    ) -> (f64, Mat<f64>) {
        let (c, outputs, count) = (weights.nrows(), weights.ncols(), self.classes.len());
        let weights = in_precision::<T>(weights.as_ref());
        let block = count.div_ceil(BLOCKS).max(BLOCK);
        let arch = Arch::new();
        let of_block = |first: usize| {
            let len = block.min(count - first);
            // A column a class, so that lanes are rows.
            let mut rest = Mat::from_fn(len, outputs, |_, k| T::from_f64(indicators[k].0 / UNIT));
            let rows = by_row.subrows(first, len);
            matmul(rest.as_mut(), Accum::Add, rows, weights.as_ref(), T::ONE, Par::Seq);
            let mut largest = rest.col_as_slice(0).to_vec();
            for k in 1..outputs {
                let column = largest.iter_mut().zip(rest.col_as_slice(k));
                column.for_each(|(most, &z)| *most = if z > *most { z } else { *most });
            }
            let seen = &self.weights[first..first + len];
            let own = |i: usize| self.classes[first + i];
            let mut loss: f64 = (0..len).map(|i| seen[i] * (largest[i] - rest[(i, own(i))]).to_f64()).sum();
            let mut sums = vec![T::ZERO; len];
            for k in 0..outputs {
                let column = rest.col_as_slice_mut(k);
                column.iter_mut().zip(&largest).for_each(|(z, &most)| *z -= most);
                arch.dispatch(Exponentials(column));
                sums.iter_mut().zip(&*column).for_each(|(sum, &part)| *sum += part);
            }
            loss += seen.iter().zip(&sums).map(|(weight, sum)| weight * sum.to_f64().ln()).sum::<f64>();
            sums.iter_mut().zip(seen).for_each(|(sum, &weight)| *sum = T::from_f64(weight) / *sum);
            for k in 0..outputs {
                let column = rest.col_as_slice_mut(k).iter_mut().zip(&sums);
                column.for_each(|(part, &share)| {
                    *part = if *part < negligible() { T::ZERO } else { *part * share }
                });
            }
            (0..len).for_each(|i| rest[(i, own(i))] -= T::from_f64(seen[i]));
            let mut slope = Mat::zeros(c, outputs);
            let columns = features.subcols(first, len);
            matmul(slope.as_mut(), Accum::Replace, columns, rest.as_ref(), T::ONE, Par::Seq);
            (loss, slope)
        };
        let firsts = (0..count).into_par_iter().step_by(block);
        let task = worth_a_thread(2 * block * c * outputs);
        let blocks: Vec<_> = firsts.with_min_len(task).map(of_block).collect();
        let (mut loss, mut slope) = (0.0, Mat::zeros(c, outputs));
        for (of_block, slope_of_block) in &blocks {
            loss += of_block;
            increase(&mut slope, slope_of_block);
        }
        (loss, slope)
    }
}

impl Rows<'_> {
    pub(crate) fn outputs(&self) -> usize {
        self.indicators.len()
    }

    /// Return `W` of these rows. `gram` is `ΦᵀΦ` of all rows, and `start` the weights to begin with.
    ///
    /// # Errors
    /// `ErrorKind::Cancelled`.
    fn solve(
        &self,
        gram: MatRef<'_, f64>,
        ridge: f64,
        seen: &Seen<'_>,
        (start, (steps, change)): (&Mat<f64>, Ends),
        observer: &dyn Observer,
    ) -> Result<Mat<f64>, Error> {
        let (c, outputs) = (self.features.nrows(), self.outputs());
        let rows: f64 = seen.weights.iter().sum();
        let precondition =
            precondition(gram, ridge, self.weights.sum(self.classes.len())).ok_or(Error(Cause::NotFinite))?;
        let at = |u: &[f64]| {
            let mut w = MatRef::from_column_major_slice(u, c, outputs).to_owned();
            solve_upper_triangular_in_place(precondition.as_ref(), w.as_mut(), Par::Seq);
            let (loss, mut slope) = seen.loss(&w, self.indicators);
            let value = loss / rows + 0.5 * ridge * w.squared_norm_l2();
            for k in 0..outputs {
                for j in 0..c {
                    slope[(j, k)] = slope[(j, k)] / rows + ridge * w[(j, k)];
                }
            }
            solve_lower_triangular_in_place(precondition.transpose(), slope.as_mut(), Par::Seq);
            (value, numbers(&slope))
        };
        let begin = numbers(&(&precondition * start));
        let first = at(&begin);
        let change = change * first.0;
        // It is asked for again, before all others.
        let first = Cell::new(Some(first));
        let function = |u: &[f64]| Some(first.take().filter(|_| u == begin).unwrap_or_else(|| at(u)));
        let found = minimise(begin.clone(), (steps, change), observer, function)?;
        let mut w = MatRef::from_column_major_slice(&found, c, outputs).to_owned();
        solve_upper_triangular_in_place(precondition.as_ref(), w.as_mut(), Par::Seq);
        Ok(w)
    }

    /// Return all rows but those of these folds, with a copy of their features unless that is large: in
    /// single precision to compare. Without a copy, rows of these folds are among them, with weight 0.
    fn seen(&self, without: FoldSet, purpose: Purpose) -> Seen<'_> {
        let size = self.features.nrows().saturating_mul(self.features.ncols());
        let (rows, features) = if size > COPIED {
            ((0..self.classes.len()).collect(), Features::All(self.features))
        } else {
            let rows: Vec<usize> = self.not_of_folds(without).collect();
            let features = match purpose {
                Purpose::Model => Features::Double(self.copy(&rows)),
                Purpose::Compared => Features::Single(self.copy(&rows)),
            };
            (rows, features)
        };
        let weight = |&row: &usize| match without.contains(self.folds[row]) {
            true => 0.0,
            false => self.weights.at(row),
        };
        let classes = rows.iter().map(|&row| self.classes[row]).collect();
        Seen { features, classes, weights: rows.iter().map(weight).collect() }
    }

    /// Copy the features of these rows, a column each and a row each: 0 where they are [`negligible`].
    fn copy<T: Lane>(&self, rows: &[usize]) -> [Mat<T>; 2] {
        let mut columns = Mat::<T>::zeros(self.features.nrows(), rows.len());
        let least = negligible::<T>().to_f64();
        for (i, &row) in rows.iter().enumerate() {
            let own = self.features.col(row).iter();
            let in_precision = own.map(|&from| T::from_f64(if from.abs() < least { 0.0 } else { from }));
            columns.col_as_slice_mut(i).iter_mut().zip(in_precision).for_each(|(to, from)| *to = from);
        }
        let by_row = columns.transpose().to_owned();
        [columns, by_row]
    }

    /// Return the logits of some rows, a column each.
    fn logits(&self, weights: MatRef<'_, f64>, first: usize, len: usize) -> Mat<f64> {
        let mut logits = Mat::from_fn(self.outputs(), len, |k, _| self.indicators[k].0 / UNIT);
        let features = self.features.subcols(first, len);
        matmul(logits.as_mut(), Accum::Add, weights.transpose(), features, 1.0, Par::Seq);
        logits
    }

    /// Return the logits of each of these rows, row by row.
    fn predict(&self, weights: MatRef<'_, f64>, rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|&row| numbers(&self.logits(weights, row, 1))).collect()
    }

    /// Add the errors of these rows.
    pub(crate) fn add_losses(
        &self,
        weights: MatRef<'_, f64>,
        rows: impl Iterator<Item = usize>,
        losses: &mut Losses,
    ) {
        for row in rows {
            let mut own = self.predict(weights, &[row]);
            let (weight, class) = (self.weights.at(row), self.classes[row]);
            losses.rows += weight;
            losses.log -= weight * log_probability(&own, class, 1.0);
            softmax(&mut own);
            own[class] -= 1.0;
            let squares =
                own.iter().zip(self.indicators).map(|(rest, (_, deviation))| (rest / deviation).powi(2));
            losses.squares += weight * squares.sum::<f64>();
        }
    }

    /// Choose γ by rows that are held out of those in no fold of `unseen`, if it is not given, as well as the
    /// purpose needs it.
    ///
    /// # Errors
    /// `ErrorKind::Cancelled`; `ErrorKind::Data` if no rows can be held out.
    pub(crate) fn choose(
        &self,
        gram: MatRef<'_, f64>,
        (given, purpose): (Option<f64>, Purpose),
        unseen: FoldSet,
        observer: &dyn Observer,
    ) -> Result<Path, Error> {
        let splits = self.splits(unseen);
        if splits.is_empty() {
            return Err(Error(Cause::Folds { rows: self.classes.len() }));
        }
        let (ends, rises) = match purpose {
            Purpose::Model => (CANDIDATE, RISES),
            Purpose::Compared => (COMPARED, RISES_COMPARED),
        };
        let seen: Vec<_> = splits.iter().map(|&held| self.seen(unseen.with(held), purpose)).collect();
        let attempt = |ridge: f64, start: &[Mat<f64>]| {
            let mut losses = Losses::default();
            let mut weights = Vec::with_capacity(splits.len());
            for ((&held, seen), start) in splits.iter().zip(&seen).zip(start) {
                let found = self.solve(gram, ridge, seen, (start, ends), observer)?;
                self.add_losses(found.as_ref(), self.of_folds(held), &mut losses);
                weights.push(found);
            }
            Ok::<_, Error>(Tried { ridge, losses, weights })
        };
        let zeros = vec![Mat::zeros(self.features.nrows(), self.outputs()); splits.len()];
        let mut tried: Vec<Tried> = Vec::new();
        if let Some(ridge) = given {
            tried.push(attempt(ridge, &zeros)?);
        } else {
            for tenth in 0..DECADES {
                let start = tried.last().map_or(&zeros, |last| &last.weights);
                tried.push(attempt(FIRST * 10_f64.powi(-tenth), start)?);
                if tried.len() - 1 - best(&tried) == rises {
                    break;
                }
            }
            for tenth in 1..=UP {
                // The last that was tried upwards is the best so far, or the first of all.
                let last = if tenth == 1 { 0 } else { tried.len() - 1 };
                if best(&tried) != last {
                    break;
                }
                let found = attempt(FIRST * 10_f64.powi(tenth), &tried[last].weights)?;
                tried.push(found);
            }
            if purpose == Purpose::Model {
                let (decade, half) = (&tried[best(&tried)], 10_f64.sqrt());
                let beside =
                    [half, half.recip()].map(|factor| attempt(decade.ridge * factor, &decade.weights));
                for beside in beside {
                    tried.push(beside?);
                }
            }
        }
        let scores = tried.iter().map(|tried| (tried.ridge, tried.losses)).collect();
        let Tried { ridge, weights, .. } = tried.swap_remove(best(&tried));
        let by_log_loss =
            Path { loss: Loss::Log, ridge, scores, held_out: splits.iter().copied().zip(weights).collect() };
        if given.is_some() || self.classes.len() >= FEW {
            return Ok(by_log_loss);
        }
        let own = self.calibrated(&by_log_loss);
        let other = self.by_squares(&splits, unseen, purpose);
        Ok(other.filter(|other| !is_lower(&own, &self.calibrated(other), 1.0)).unwrap_or(by_log_loss))
    }

    /// Choose γ of least squares by rows that are held out: by their log-loss at the best temperature.
    fn by_squares(&self, splits: &[FoldSet], unseen: FoldSet, purpose: Purpose) -> Option<Path> {
        let [first, last] = OF_SQUARES;
        let ridges: Vec<f64> = (first..=last).map(|half| 10_f64.powf(f64::from(half) / 2.0)).collect();
        let squares: Vec<_> = splits.iter().map(|&held| (held, self.squares(unseen.with(held)))).collect();
        let at = |ridge: f64| {
            let of_split = |(held, squares): &(FoldSet, Squares)| Some((*held, squares.solve(ridge)?));
            let held_out = squares.iter().map(of_split).collect::<Option<Vec<_>>>()?;
            let mut losses = Losses::default();
            held_out.iter().for_each(|(held, weights)| {
                self.add_losses(weights.as_ref(), self.of_folds(*held), &mut losses);
            });
            let path = Path { loss: Loss::Squares, ridge, scores: vec![(ridge, losses)], held_out };
            let error = self.calibrated(&path).iter().sum();
            Some((path, error))
        };
        if purpose == Purpose::Compared {
            return least_on_grid(&ridges, at);
        }
        let paths: Vec<(Path, f64)> = ridges.into_iter().filter_map(at).collect();
        let scores = paths.iter().flat_map(|(path, _)| path.scores.clone()).collect();
        least(paths).map(|(best, _)| Path { scores, ..best })
    }

    /// Return the log-loss of each row held out, times its weight, at their best temperature.
    fn calibrated(&self, path: &Path) -> Vec<f64> {
        let (rows, logits) = self.held_out(path);
        let own: Vec<usize> = rows.iter().map(|&row| self.classes[row]).collect();
        let weights = self.weights.gather(&rows);
        let weights = Weights(weights.as_deref());
        let temperature = temperature(&logits, self.outputs(), &own, weights);
        let losses = logits.chunks_exact(self.outputs()).zip(&own).enumerate();
        let losses = losses
            .map(|(at, (logits, &class))| -weights.at(at) * log_probability(logits, class, temperature));
        losses.collect()
    }

    /// Return the sums of least squares of the indicators, of all rows but those of these folds.
    fn squares(&self, without: FoldSet) -> Squares {
        let rows: Vec<usize> = self.not_of_folds(without).collect();
        let root = |i: usize| self.weights.root(rows[i]);
        let phi =
            Mat::from_fn(self.features.nrows(), rows.len(), |j, i| root(i) * self.features[(j, rows[i])]);
        let target = |i: usize, k: usize| {
            let own = f64::from(u8::from(self.classes[rows[i]] == k));
            root(i) * (own - self.indicators[k].0) / UNIT
        };
        let targets = Mat::from_fn(rows.len(), self.outputs(), target);
        let gram = lower_product(phi.as_ref(), phi.transpose());
        let right = product(phi.as_ref(), targets.as_ref());
        let count = rows.iter().map(|&row| self.weights.at(row)).sum();
        Squares { gram, right, count }
    }

    /// Return the rows of these folds.
    fn of_folds(&self, folds: FoldSet) -> impl Iterator<Item = usize> {
        (0..self.classes.len()).filter(move |&row| folds.contains(self.folds[row]))
    }

    /// Return the rows of all other folds.
    fn not_of_folds(&self, folds: FoldSet) -> impl Iterator<Item = usize> {
        (0..self.classes.len()).filter(move |&row| !folds.contains(self.folds[row]))
    }

    /// Return folds to hold out together, until enough rows are: [`JUDGED`] alone if rows are in it.
    fn splits(&self, unseen: FoldSet) -> Vec<FoldSet> {
        let mut sizes = [0; FOLDS + 1];
        self.folds.iter().for_each(|&fold| sizes[usize::from(fold)] += 1);
        if sizes[FOLDS] > 0 {
            return vec![FoldSet::of(&[JUDGED])];
        }
        let seen: Vec<u8> =
            (0..JUDGED).filter(|&fold| sizes[usize::from(fold)] > 0 && !unseen.contains(fold)).collect();
        let mut splits = Vec::new();
        let mut held = 0;
        for folds in seen.chunks(TOGETHER.min(seen.len() / 2).max(1)) {
            if held >= HELD_OUT || folds.len() == seen.len() {
                break;
            }
            held += folds.iter().map(|&fold| sizes[usize::from(fold)]).sum::<usize>();
            splits.push(FoldSet::of(folds));
        }
        splits
    }

    /// Return `W` of all rows but those of these folds, at the γ that was chosen.
    ///
    /// # Errors
    /// `ErrorKind::Cancelled`.
    pub(crate) fn without(
        &self,
        gram: MatRef<'_, f64>,
        path: &Path,
        without: FoldSet,
        observer: &dyn Observer,
    ) -> Result<Mat<f64>, Error> {
        match path.loss {
            Loss::Log => {
                let (seen, start) = (self.seen(without, Purpose::Model), &path.held_out[0].1);
                self.solve(gram, path.ridge, &seen, (start, MODEL), observer)
            }
            Loss::Squares => self.squares(without).solve(path.ridge).ok_or(Error(Cause::NotFinite)),
        }
    }

    /// Return the rows that were held out for the choice of γ, and the logits of each.
    pub(crate) fn held_out(&self, path: &Path) -> (Vec<usize>, Vec<f64>) {
        let (mut rows, mut logits) = (Vec::new(), Vec::new());
        for (held, weights) in &path.held_out {
            let own: Vec<usize> = self.of_folds(*held).collect();
            logits.extend(self.predict(weights.as_ref(), &own));
            rows.extend(own);
        }
        (rows, logits)
    }
}

/// Replace logits by probabilities.
fn softmax(logits: &mut [f64]) {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for logit in &mut *logits {
        *logit = (*logit - largest).exp();
        sum += *logit;
    }
    logits.iter_mut().for_each(|part| *part /= sum);
}

/// Return `P` with `PᵀP = ΦᵀΦ/4n + γI`; `None` if numbers are not finite.
fn precondition(gram: MatRef<'_, f64>, ridge: f64, rows: f64) -> Option<Mat<f64>> {
    let c = gram.ncols();
    let trace: f64 = (0..c).map(|j| gram[(j, j)]).sum();
    let added = ridge + f64::EPSILON * trace * UNIT / rows;
    let entry = |i: usize, j: usize| gram[(i, j)] * UNIT / rows + if i == j { added } else { 0.0 };
    let mut lower = Mat::from_fn(c, c, entry);
    factor(&mut lower)?;
    Some(lower.transpose().to_owned())
}

/// Return the numbers of a matrix by columns.
fn numbers(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.ncols()).flat_map(|k| matrix.col_as_slice(k).iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Features, FoldSet, JUDGED, Loss, Mat, Purpose, Rows, Seen, UNIT, Weights, is_lower};
    use crate::observer::NoObserver;
    use dpp_nystrom_host::rng::{RngStream, stream};
    use faer::MatRef;
    use rand::RngExt;

    /// Rows of `c` features and their classes, which some features tell apart but for noise.
    struct Sample {
        features: Mat<f64>,
        classes: Vec<usize>,
        indicators: Vec<(f64, f64)>,
        folds: Vec<u8>,
    }

    impl Sample {
        fn new(count: usize, c: usize, classes: usize) -> Self {
            let mut random = stream(11, RngStream::Folds);
            let features = Mat::from_fn(c, count, |_, _| random.random::<f64>() - 0.5);
            let score = |i: usize, k: usize| 4.0 * features[(k, i)];
            let class = |i: usize| {
                let noisy = (0..classes).map(|k| score(i, k)).enumerate();
                let taken = noisy.max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(k, _)| k);
                if i.is_multiple_of(5) { i % classes } else { taken }
            };
            let classes_of: Vec<usize> = (0..count).map(class).collect();
            let share = |k: usize| classes_of.iter().filter(|&&own| own == k).count() as f64 / count as f64;
            let indicators =
                (0..classes).map(share).map(|share| (share, (share * (1.0 - share)).sqrt())).collect();
            let folds = (0..count).map(|i| (i % 10) as u8).collect();
            Self { features, classes: classes_of, indicators, folds }
        }

        fn rows(&self) -> Rows<'_> {
            Rows {
                features: self.features.as_ref(),
                classes: &self.classes,
                indicators: &self.indicators,
                folds: &self.folds,
                weights: Weights::default(),
            }
        }

        /// Any matrix will do: it decides how many steps are taken, not where they end.
        fn gram(&self) -> Mat<f64> {
            let square = self.classes.len() as f64 / 12.0;
            Mat::from_fn(
                self.features.nrows(),
                self.features.nrows(),
                |i, j| if i == j { square } else { 0.0 },
            )
        }

        fn solved(&self, ridge: f64, without: FoldSet) -> Mat<f64> {
            let start = Mat::zeros(self.features.nrows(), self.indicators.len());
            self.rows()
                .solve(
                    self.gram().as_ref(),
                    ridge,
                    &self.rows().seen(without, Purpose::Model),
                    (&start, (100, 1e-14)),
                    &NoObserver,
                )
                .unwrap()
        }
    }

    /// The penalised log-loss, as its definition says.
    fn objective(sample: &Sample, weights: MatRef<'_, f64>, ridge: f64, left_out: Option<u8>) -> f64 {
        let (mut loss, mut rows) = (0.0, 0.0);
        for (i, &class) in sample.classes.iter().enumerate() {
            if Some(sample.folds[i]) == left_out {
                continue;
            }
            let logit = |k: usize| {
                let terms = (0..weights.nrows()).map(|j| weights[(j, k)] * sample.features[(j, i)]);
                terms.sum::<f64>() + sample.indicators[k].0 / UNIT
            };
            let sum: f64 = (0..weights.ncols()).map(|k| logit(k).exp()).sum();
            loss -= logit(class) - sum.ln();
            rows += 1.0;
        }
        loss / rows + 0.5 * ridge * weights.squared_norm_l2()
    }

    #[test]
    fn no_weight_moved_lowers_the_objective() {
        let sample = Sample::new(300, 5, 3);
        for left_out in [None, Some(4)] {
            let without = left_out.map_or(FoldSet::NONE, |fold| FoldSet::of(&[fold]));
            let found = sample.solved(1e-2, without);
            let least = objective(&sample, found.as_ref(), 1e-2, left_out);
            assert!(least < 0.9 * 3_f64.ln(), "{least}");
            for (j, k) in (0..5).flat_map(|j| (0..3).map(move |k| (j, k))) {
                let moved = |by: f64| {
                    let mut weights = found.clone();
                    weights[(j, k)] += by;
                    objective(&sample, weights.as_ref(), 1e-2, left_out)
                };
                let slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
                assert!(slope.abs() < 1e-6, "{left_out:?} {j} {k}: {slope}");
            }
        }
    }

    /// Rows left out count nothing, whether they are copied or not; single precision is as good as it can be.
    #[test]
    fn copies_have_the_same_loss() {
        let sample = Sample::new(700, 5, 3);
        let rows = sample.rows();
        let without = FoldSet::of(&[2, 7]);
        let double = rows.seen(without, Purpose::Model);
        let single = rows.seen(without, Purpose::Compared);
        let all = Seen {
            features: Features::All(rows.features),
            classes: sample.classes.clone(),
            weights: sample
                .folds
                .iter()
                .map(|&fold| if without.contains(fold) { 0.0 } else { 1.0 })
                .collect(),
        };
        assert!(matches!(double.features, Features::Double(_)) && double.classes.len() == 560);
        assert!(matches!(single.features, Features::Single(_)) && single.classes.len() == 560);
        let weights = Mat::from_fn(5, 3, |j, k| ((j * 3 + k) as f64 * 0.754_877_666).fract() - 0.5);
        let (loss, slope) = all.loss(&weights, rows.indicators);
        for (seen, within) in [(double, 1e-12), (single, 1e-5)] {
            let (other, slope_of_other) = seen.loss(&weights, rows.indicators);
            assert!((loss - other).abs() < within * loss, "{loss} {other}");
            assert!((&slope - slope_of_other).norm_max() < within * slope.norm_max());
        }
    }

    #[test]
    fn a_row_of_weight_two_is_two_rows() {
        let mut sample = Sample::new(120, 4, 3);
        let weight = |i: usize| if i.is_multiple_of(3) { 2.0 } else { 1.0 };
        let mean = 4.0 / 3.0;
        let weights: Vec<f64> = (0..120).map(|i| weight(i) / mean).collect();
        let start = Mat::zeros(4, 3);
        let rows = Rows { weights: Weights(Some(&weights)), ..sample.rows() };
        let gram = sample.gram();
        let weighted = rows
            .solve(
                gram.as_ref(),
                1e-2,
                &rows.seen(FoldSet::NONE, Purpose::Model),
                (&start, (100, 1e-14)),
                &NoObserver,
            )
            .unwrap();
        let places: Vec<usize> = (0..120).flat_map(|i| vec![i; weight(i) as usize]).collect();
        sample.features = Mat::from_fn(4, places.len(), |j, i| sample.features[(j, places[i])]);
        sample.classes = places.iter().map(|&i| sample.classes[i]).collect();
        sample.folds = places.iter().map(|&i| sample.folds[i]).collect();
        let repeated = sample.solved(1e-2, FoldSet::NONE);
        assert!((weighted - repeated).norm_max() < 1e-5);
    }

    /// Weights of least squares solve its normal equations, and the log-loss must be lower by more than
    /// noise.
    #[test]
    fn least_squares_are_taken_of_few_rows_unless_logs_are_lower() {
        let sample = Sample::new(150, 5, 3);
        let (rows, gram) = (sample.rows(), sample.gram());
        let without = FoldSet::of(&[3]);
        let found = rows.squares(without).solve(1e-2).unwrap();
        for (j, k) in (0..5).flat_map(|j| (0..3).map(move |k| (j, k))) {
            let (mut slope, mut count) = (0.0, 0.0);
            for (i, &class) in sample.classes.iter().enumerate().filter(|(i, _)| sample.folds[*i] != 3) {
                let fitted: f64 = (0..5).map(|t| found[(t, k)] * sample.features[(t, i)]).sum();
                let target = (f64::from(u8::from(class == k)) - sample.indicators[k].0) / UNIT;
                slope += (fitted - target) * sample.features[(j, i)];
                count += 1.0;
            }
            assert!((slope + count * 1e-2 * found[(j, k)]).abs() < 1e-9, "{j} {k}");
        }
        let taken = rows.choose(gram.as_ref(), (None, Purpose::Model), FoldSet::NONE, &NoObserver).unwrap();
        let splits: Vec<FoldSet> = taken.held_out.iter().map(|(held, _)| *held).collect();
        let squares = rows.by_squares(&splits, FoldSet::NONE, Purpose::Model).unwrap();
        let given =
            rows.choose(gram.as_ref(), (Some(1e-2), Purpose::Model), FoldSet::NONE, &NoObserver).unwrap();
        assert_eq!((given.loss, squares.loss), (Loss::Log, Loss::Squares));
        let compared = rows.by_squares(&splits, FoldSet::NONE, Purpose::Compared).unwrap();
        assert_eq!((compared.ridge, compared.scores.len()), (squares.ridge, 1));
        let quick =
            rows.choose(gram.as_ref(), (None, Purpose::Compared), FoldSet::NONE, &NoObserver).unwrap();
        assert_eq!(quick.loss, taken.loss);
        let other = rows.calibrated(&squares);
        assert!(taken.loss == Loss::Squares || is_lower(&rows.calibrated(&taken), &other, 1.0));
    }

    /// Other classes in the rows that no choice sees change neither γ nor the weights without them, bit for
    /// bit; in the rows held out they change the choice alone.
    #[test]
    fn choices_see_no_rows_left_out() {
        let sample = Sample::new(400, 6, 3);
        let unseen = FoldSet::of(&[9]);
        let turned = |fold: u8| {
            let turn =
                |(i, &class): (usize, &usize)| if sample.folds[i] == fold { (class + 1) % 3 } else { class };
            sample.classes.iter().enumerate().map(turn).collect::<Vec<_>>()
        };
        let gram = sample.gram();
        let of = |rows: Rows<'_>| {
            let path = rows.choose(gram.as_ref(), (None, Purpose::Model), unseen, &NoObserver).unwrap();
            let weights = rows.without(gram.as_ref(), &path, unseen, &NoObserver).unwrap();
            (path, weights)
        };
        let (path, weights) = of(sample.rows());
        assert!(path.ridge < 0.1 && path.scores.len() > 4, "{path:?}");
        let [own, other] = [turned(9), turned(0)];
        let (of_unseen, same) = of(Rows { classes: &own, ..sample.rows() });
        assert_eq!((of_unseen.ridge, &same), (path.ridge, &weights));
        // Of few rows these are least squares: so are the weights of the log-loss.
        let logs = |rows: Rows<'_>| {
            rows.choose(gram.as_ref(), (Some(1e-3), Purpose::Model), unseen, &NoObserver).unwrap().held_out
        };
        assert_eq!(logs(Rows { classes: &own, ..sample.rows() }), logs(sample.rows()));
        let (_, changed) = of(Rows { classes: &other, ..sample.rows() });
        assert_ne!(changed, weights);
        let (rows, logits) = sample.rows().held_out(&path);
        assert_eq!((rows.len(), logits.len()), (360, 3 * 360));
        assert!(rows.iter().all(|&row| sample.folds[row] != 9));

        // Rows that judge are held out alone, and their classes have no part in the weights for them.
        let mut folds = sample.folds.clone();
        (0..400)
            .step_by(4)
            .filter(|&row| folds[row] != 9)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|row| folds[row] = JUDGED);
        let judged = Rows { folds: &folds, ..sample.rows() };
        let path = judged.choose(gram.as_ref(), (Some(1e-3), Purpose::Model), unseen, &NoObserver).unwrap();
        let (rows, logits) = judged.held_out(&path);
        assert!(rows.iter().all(|&row| folds[row] == JUDGED) && rows.len() == 100, "{}", rows.len());
        let other: Vec<usize> =
            (0..400).map(|row| if folds[row] == JUDGED { 0 } else { sample.classes[row] }).collect();
        let turned = Rows { classes: &other, ..judged };
        let path = turned.choose(gram.as_ref(), (Some(1e-3), Purpose::Model), unseen, &NoObserver).unwrap();
        assert_eq!(turned.held_out(&path).1, logits);
    }
}
