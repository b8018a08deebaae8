//! The rows that a metric is learned on, and those held out that judge it.

use crate::data::{prepared::Prepared, prepared::StandardTarget, weights::Weights};
use crate::kernel::kind::KernelKind;
use crate::linalg::eigen::product;
use crate::metric::{descent::Point, objective::Problem};
use crate::observer::Observer;
use crate::regression::{
    head::Head, head::logistic::FoldSet, head::logistic::JUDGED, head::logistic::Rows as Classes,
    rows::split::Split,
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

    /// Return the loss of each row held out, times its weight: of values the squared error; of classes the
    /// log-loss of logistic regression, at the best γ and temperature.
    pub(super) fn losses(
        &self,
        problems: &Problems<'_>,
        point: &Point,
        observer: &dyn Observer,
    ) -> Option<Vec<f64>> {
        let held = &problems.held;
        let count = self.targets.len();
        let (left, outputs) = match self.head {
            Head::Values => (point.left(&problems.learned, held)?, vec![0.0; held.rows.nrows() * count]),
            Head::Classes => (Mat::zeros(held.rows.nrows(), count), self.logits(problems, point, observer)?),
        };
        let temperature = self.head.temperature(&outputs, &self.classes[..left.nrows()], held.weights);
        let rows = outputs.chunks_exact(count).zip(&self.classes).enumerate();
        let loss = |(i, (outputs, &class)): (usize, (&[f64], &usize))| {
            let residuals = left.row(i).iter().copied();
            held.weights.at(i) * self.head.loss(outputs, residuals, class, temperature)
        };
        Some(rows.map(loss).collect())
    }

    /// Return the logits of the rows held out, row by row.
    fn logits(&self, problems: &Problems<'_>, point: &Point, observer: &dyn Observer) -> Option<Vec<f64>> {
        let (all, held) = (&problems.all, problems.held.rows.nrows());
        let features = point.features(all)?;
        let gram = product(features.as_ref(), features.transpose());
        let folds: Vec<u8> = (0..self.classes.len()).map(|row| if row < held { JUDGED } else { 0 }).collect();
        let indicators: Vec<(f64, f64)> =
            self.targets.iter().map(|target| (target.mean, target.deviation)).collect();
        let rows = Classes {
            features: features.as_ref(),
            classes: &self.classes,
            indicators: &indicators,
            folds: &folds,
            weights: all.weights,
        };
        let path = rows.choose(gram.as_ref(), None, FoldSet::NONE, observer).ok()?;
        Some(rows.held_out(&path).1)
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
