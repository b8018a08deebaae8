//! The rows that a metric is learned on, and those held out that judge it.

use crate::data::{prepared::Prepared, prepared::StandardTarget, weights::Weights};
use crate::kernel::kind::KernelKind;
use crate::linalg::{eigen::lower_product, eigen::product, triangle::solve_loaded};
use crate::metric::descent::{Measured, Point, half};
use crate::metric::objective::Problem;
use crate::observer::Observer;
use crate::regression::{
    choose::scan::least_on_grid, head::Head, head::logistic::FoldSet, head::logistic::JUDGED,
    head::logistic::Purpose, head::logistic::Rows as Classes, ridge::ridge_grid, rows::split::Split,
};
use faer::{Mat, MatRef};

/// Rows over the bandwidth, and their targets.
struct Rows {
    rows: Mat<f64>,
    targets: Mat<f64>,
    weights: Option<Vec<f64>>,
}

impl Rows {
    fn of(data: &Prepared, targets: MatRef<'_, f64>, rows: &[usize], sigma: f64) -> Self {
        Self {
            rows: Mat::from_fn(rows.len(), data.dim, |i, j| data.rows[rows[i] * data.dim + j] / sigma),
            targets: Mat::from_fn(rows.len(), targets.ncols(), |i, t| targets[(rows[i], t)]),
            weights: data.weights().gather(rows),
        }
    }

    fn problem(&self, kernel: KernelKind) -> Problem<'_> {
        let weights = Weights(self.weights.as_deref());
        Problem { rows: self.rows.as_ref(), targets: self.targets.as_ref(), weights, kernel }
    }
}

/// The rows of a search, and what is known of those held out.
pub(super) struct Sample<'a> {
    held: Rows,
    learned: Rows,
    /// Both.
    all: Rows,
    head: Head,
    targets: Vec<&'a StandardTarget>,
    /// The classes of those held out, and then of those to learn from.
    classes: Vec<usize>,
}

/// The rows of a search under a kernel.
#[derive(Clone, Copy)]
pub(super) struct Problems<'a> {
    pub(super) held: Problem<'a>,
    pub(super) learned: Problem<'a>,
    /// Both.
    pub(super) all: Problem<'a>,
}

impl<'a> Sample<'a> {
    pub(super) fn of(data: &'a Prepared, split: &Split, sigma: f64) -> Self {
        let (targets, head) = (data.target_matrix(), Head::of(&data.columns()));
        let gather = |rows: &[usize]| Rows::of(data, targets.as_ref(), rows, sigma);
        Self {
            held: gather(&split.held),
            learned: gather(&split.learned),
            all: gather(&[&split.held[..], &split.learned].concat()),
            head,
            targets: data.targets().collect(),
            classes: head.classes(data, &[&split.held[..], &split.learned].concat()),
        }
    }

    pub(super) fn under(&self, kernel: KernelKind) -> Problems<'_> {
        let [held, learned, all] = [&self.held, &self.learned, &self.all].map(|rows| rows.problem(kernel));
        Problems { held, learned, all }
    }

    /// Return the loss of each row held out, times its weight: of values the squared error; of classes
    /// the log-loss of logistic regression, at the best γ and temperature. Each half of these rows is
    /// judged where the descent was stopped by the other.
    pub(super) fn losses(
        &self,
        problems: &Problems<'_>,
        found: &Measured,
        observer: &dyn Observer,
    ) -> Option<Vec<f64>> {
        let [(_, by_first), (_, by_second)] = &found.by_half;
        let mut losses = self.losses_at(problems, by_second, observer)?;
        if by_first != by_second {
            let first = half(losses.len());
            losses.truncate(first);
            losses.extend(self.losses_at(problems, by_first, observer)?.drain(first..));
        }
        Some(losses)
    }

    fn losses_at(&self, problems: &Problems<'_>, point: &Point, observer: &dyn Observer) -> Option<Vec<f64>> {
        match self.head {
            Head::Values => Some(self.of_values(problems, &point.left(&problems.learned, &problems.held)?)),
            Head::Classes => self.of_classes(problems, &point.features(&problems.all)?, observer),
        }
    }

    /// Return the squared error of each row held out, times its weight.
    pub(super) fn squares(&self, problems: &Problems<'_>, found: &Measured) -> Option<Vec<f64>> {
        Some(problems.held.squares_of(&found.point.left(&problems.learned, &problems.held)?))
    }

    /// Return [`losses`](Self::losses) at the ridge with the least of them, for values too.
    pub(super) fn least_losses(
        &self,
        problems: &Problems<'_>,
        point: &Point,
        observer: &dyn Observer,
    ) -> Option<Vec<f64>> {
        let features = point.features(&problems.all)?;
        match self.head {
            Head::Values => {
                let regression = Regression::new(problems, &features);
                let at = |ridge| {
                    let losses = self.of_values(problems, &regression.left(problems, ridge)?);
                    let error: f64 = losses.iter().sum();
                    error.is_finite().then_some((losses, error))
                };
                least_on_grid(&ridge_grid().collect::<Vec<_>>(), at)
            }
            Head::Classes => self.of_classes(problems, &features, observer),
        }
    }

    /// Return the losses of rows held out of which a solution leaves so much.
    fn of_values(&self, problems: &Problems<'_>, left: &Mat<f64>) -> Vec<f64> {
        let outputs = vec![0.0; left.ncols()];
        let loss = |i: usize| self.head.loss(&outputs, left.row(i).iter().copied(), 0, 1.0);
        (0..left.nrows()).map(|i| problems.held.weights.at(i) * loss(i)).collect()
    }

    /// Return the losses of rows held out, from the features of all.
    fn of_classes(
        &self,
        problems: &Problems<'_>,
        features: &Mat<f64>,
        observer: &dyn Observer,
    ) -> Option<Vec<f64>> {
        let held = &problems.held;
        let gram = product(features.as_ref(), features.transpose());
        let is_held = |row: usize| row < held.rows.nrows();
        let folds: Vec<u8> =
            (0..self.classes.len()).map(|row| if is_held(row) { JUDGED } else { 0 }).collect();
        let indicators: Vec<(f64, f64)> =
            self.targets.iter().map(|target| (target.mean, target.deviation)).collect();
        let rows = Classes {
            features: features.as_ref(),
            classes: &self.classes,
            indicators: &indicators,
            folds: &folds,
            weights: problems.all.weights,
        };
        let path = rows.choose(gram.as_ref(), (None, Purpose::Compared), FoldSet::NONE, observer).ok()?;
        let (_, logits) = rows.held_out(&path);
        let temperature = self.head.temperature(&logits, &self.classes[..held.rows.nrows()], held.weights);
        let rows = logits.chunks_exact(self.targets.len()).zip(&self.classes).enumerate();
        let loss = |(i, (logits, &class)): (usize, (&[f64], &usize))| {
            held.weights.at(i) * self.head.loss(logits, std::iter::empty(), class, temperature)
        };
        Some(rows.map(loss).collect())
    }

    /// Return the error of rows with these losses.
    pub(super) fn error(&self, losses: &[f64]) -> f64 {
        self.head.error(losses.iter().sum::<f64>() / losses.len() as f64)
    }

    /// Return by how many standard errors of the difference the error of a larger metric must be lower.
    pub(super) fn margin(&self) -> f64 {
        self.head.margin()
    }
}

/// A ridge regression on features of the rows to learn from.
struct Regression<'a> {
    /// The features of those held out: a column each.
    held: MatRef<'a, f64>,
    /// On and below the diagonal.
    gram: Mat<f64>,
    right: Mat<f64>,
}

impl<'a> Regression<'a> {
    /// Take the features of those held out, and then of those to learn from.
    fn new(problems: &Problems<'_>, features: &'a Mat<f64>) -> Self {
        let Problems { held, learned, .. } = problems;
        let (held, of_learned) = features.as_ref().split_at_col(held.rows.nrows());
        let mut weighted = of_learned.to_owned();
        learned.weights.scale(weighted.transpose_mut());
        let right = product(weighted.as_ref(), learned.weighted_targets().as_ref());
        Self { held, gram: lower_product(weighted.as_ref(), weighted.transpose()), right }
    }

    /// Return what the solution at this ridge leaves of the targets of the rows held out; `None` without one.
    fn left(&self, problems: &Problems<'_>, ridge: f64) -> Option<Mat<f64>> {
        let load = ridge * problems.learned.rows.nrows() as f64;
        let weights = solve_loaded(&self.gram, load, &self.right)?;
        Some(problems.held.targets - product(self.held.transpose(), weights.as_ref()))
    }
}
