//! Scales of the features, learned from the target.

use crate::approximation::gram::Gram;
use crate::data::prepared::Prepared;
use crate::error::Error;
use crate::kernel::{kind::KernelKind, metric::Metric, spec::KernelSpec};
use crate::landmarks::{Selector, Task, run, selectors::RpCholesky};
use crate::metric::descent::{Measured, Point, descend};
use crate::metric::objective::Problem;
use crate::observer::{Observer, Silent, go_on};
use crate::regression::ridge_grid;
use crate::rng::{RngStream, stream};
use dpp_nystrom_core::Error as CoreError;
use faer::{Mat, MatRef};
use rand::seq::index;

/// The maximum number of rows that scales are learned on.
const LEARNING_ROWS: usize = 4_096;

/// One in so many of them is held out.
const HELD_OUT: usize = 5;

/// Steps of a descent with the same landmarks.
const STEPS: u64 = 40;

/// Steps on all learning rows, once the scales are chosen: more would fit them to these rows.
const LAST_STEPS: u64 = 15;

/// A scale below this multiple of the largest one is 0.
const NEGLIGIBLE: f64 = 1e-6;

/// Scales of the features and what they are worth.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LearnedScales {
    /// A scale for each standardised feature, at least 0; 0 for a feature that does not matter.
    pub scales: Vec<f64>,
    /// Root mean squared error with them on rows held out, in standard deviations of the target.
    pub error: f64,
    /// The same error with one bandwidth.
    pub error_of_one: f64,
}

impl LearnedScales {
    /// Return whether a fit with this metric uses them.
    pub fn are_used(&self, metric: Metric) -> bool {
        match metric {
            Metric::One => false,
            Metric::Scales => true,
            Metric::Auto => self.error < self.error_of_one,
        }
    }
}

/// Learn a scale for each feature, for a regression on `landmarks` landmarks.
///
/// Up to [`LEARNING_ROWS`] rows are drawn, and a fifth of them held out. From one bandwidth for all features, 40 steps of
/// L-BFGS lower the leave-one-out error on the others; landmarks are then selected anew in the metric found, by pivoted
/// Cholesky, and 40 more steps follow. The error on the rows held out, which no step has seen, stops each descent, and is
/// compared with that of one bandwidth. Last, 15 steps on all learning rows.
///
/// A step costs three to four times a fit to the learning rows. Deterministic in `seed`, on one thread.
///
/// # Errors
/// [`Error::Metric`] for a kernel without a bandwidth and for fewer learning rows than two for each landmark,
/// [`Error::NoTarget`], [`Error::ConstantTarget`], [`Error::Landmarks`], [`Error::Cancelled`].
pub(crate) fn learn_scales(
    data: &Prepared,
    kernel: KernelSpec,
    landmarks: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<LearnedScales, Error> {
    if !kernel.kind.has_bandwidth() {
        return Err(Error::Metric {
            problem: "the kernels linear and polynomial have no bandwidth to scale; take another kernel or the metric one",
        });
    }
    let targets = &data.learnable()?.values;
    let drawn = data.len().min(LEARNING_ROWS);
    if drawn - drawn / HELD_OUT < 2 * landmarks {
        return Err(Error::Metric {
            problem: "there are fewer than two rows to learn from for each landmark; select fewer landmarks or take the metric one",
        });
    }
    let rows = index::sample(&mut stream(seed, RngStream::Metric), data.len(), drawn).into_vec();
    let (held, learned) = rows.split_at(drawn / HELD_OUT);
    let gather = |rows: &[usize]| Rows::of(data, targets, rows, kernel.sigma);
    let (held, learned, all) = (gather(held), gather(learned), gather(&rows));
    let (held, learned, all) =
        (held.problem(kernel.kind), learned.problem(kernel.kind), all.problem(kernel.kind));

    observer.begin("metric", 3);
    let search = Search { kernel: kernel.kind, landmarks, seed, observer };
    let ones = vec![1.0; data.dim];
    let one = search.start(&learned, Some(&held), ones)?;
    let mut best = descend(&learned, Some(&held), &one, STEPS);
    search.advance()?;
    // Where the metric leaves fewer independent rows than landmarks, those of the first descent stand.
    if let Ok(again) = search.start(&learned, Some(&held), best.point.scales.clone()) {
        let again = descend(&learned, Some(&held), &again, STEPS);
        if again.held_out < best.held_out {
            best = again;
        }
    }
    search.advance()?;
    let last = match search.start(&all, None, best.point.scales.clone()) {
        Ok(from) => descend(&all, None, &from, LAST_STEPS),
        Err(_) => best.clone(),
    };
    search.advance()?;
    observer.end();
    let largest = last.point.scales.iter().fold(0.0_f64, |largest, scale| largest.max(scale.abs()));
    let scale = |&scale: &f64| if scale.abs() > NEGLIGIBLE * largest { scale.abs() } else { 0.0 };
    Ok(LearnedScales {
        scales: last.point.scales.iter().map(scale).collect(),
        error: best.held_out.sqrt(),
        error_of_one: one.held_out.sqrt(),
    })
}

/// Rows over the bandwidth, and their targets.
struct Rows {
    rows: Mat<f64>,
    targets: Mat<f64>,
}

impl Rows {
    fn of(data: &Prepared, targets: &[f64], rows: &[usize], sigma: f64) -> Self {
        Self {
            rows: Mat::from_fn(rows.len(), data.dim, |i, j| data.rows[rows[i] * data.dim + j] / sigma),
            targets: Mat::from_fn(rows.len(), 1, |i, _| targets[rows[i]]),
        }
    }

    fn problem(&self, kernel: KernelKind) -> Problem<'_> {
        Problem { rows: self.rows.as_ref(), targets: self.targets.as_ref(), kernel }
    }
}

struct Search<'a> {
    kernel: KernelKind,
    landmarks: usize,
    seed: u64,
    observer: &'a dyn Observer,
}

impl Search<'_> {
    /// Select landmarks in the metric of these scales, and choose the ridge.
    fn start(
        &self,
        problem: &Problem<'_>,
        held_out: Option<&Problem<'_>>,
        scales: Vec<f64>,
    ) -> Result<Measured, Error> {
        let landmarks = self.select(problem.rows, &scales)?;
        let point = Point { scales, ridge: 0.0, landmarks };
        point
            .with_best_ridge(problem, held_out, ridge_grid())
            .ok_or(Error::Regression { reason: CoreError::Ridge })
    }

    fn select(&self, rows: MatRef<'_, f64>, scales: &[f64]) -> Result<Mat<f64>, Error> {
        let (n, d) = (rows.nrows(), rows.ncols());
        let row = |i: usize| scales.iter().enumerate().map(move |(j, scale)| rows[(i, j)] * scale);
        let data = Prepared::unscaled((0..n).flat_map(row).collect(), d);
        let gram = Gram::new(&data, KernelSpec { kind: self.kernel, sigma: 1.0 })?;
        let silent = Silent(self.observer);
        let task = Task { seed: self.seed, observer: &silent, ..Task::new(&gram, self.landmarks) };
        let selector: &dyn Selector = &RpCholesky::default();
        let selection = run(selector, &task)?;
        let members = selection.landmarks.rows().unwrap_or_default();
        Ok(Mat::from_fn(members.len(), d, |a, j| rows[(members[a], j)]))
    }

    fn advance(&self) -> Result<(), Error> {
        self.observer.advance(1);
        go_on(self.observer)
    }
}

#[cfg(test)]
mod tests {
    use super::learn_scales;
    use crate::data::prepared::{Prepared, StandardTarget};
    use crate::kernel::{kind::KernelKind, spec::KernelSpec};
    use crate::observer::NoObserver;

    /// Rows of five features, of which the target depends on the first two.
    fn planted() -> Prepared {
        let value = |i: usize| ((i as f64 * 0.754_877_666_246_7).fract() - 0.5) * 3.4;
        let mut data = Prepared::unscaled((0..2_500).map(|i| value(i * i % 7_919)).collect(), 5);
        let targets = data.rows.chunks_exact(5).map(|row| (2.0 * row[0]).sin() + row[1]).collect();
        data.target = Some(StandardTarget::of("y".into(), targets).unwrap());
        data
    }

    #[test]
    fn every_kernel_learns_which_features_matter() {
        let data = planted();
        for kind in [KernelKind::Gaussian, KernelKind::Laplace, KernelKind::Matern32, KernelKind::Matern52] {
            let learn =
                |seed| learn_scales(&data, KernelSpec { kind, sigma: 3.0 }, 20, seed, &NoObserver).unwrap();
            let learned = learn(1);
            let least = learned.scales[0].min(learned.scales[1]);
            assert!(learned.scales[2..].iter().all(|&scale| scale < 0.3 * least), "{kind:?} {learned:?}");
            assert!(learned.error < 0.6 * learned.error_of_one, "{kind:?} {learned:?}");
            assert_eq!(learn(1), learned);
        }
    }
}
