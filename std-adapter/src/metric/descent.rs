//! Descent on the leave-one-out error by L-BFGS (Liu and Nocedal 1989).

use crate::metric::objective::Problem;
use argmin::core::{CostFunction, Error, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use faer::{Mat, MatRef};
use std::cell::RefCell;

/// Pairs of steps and gradients that L-BFGS keeps.
const MEMORY: usize = 10;

/// The least ridge γ, so that its logarithm is bounded.
const LEAST_RIDGE: f64 = 1e-10;

/// The value of a point at which the error is not finite: larger than `ln J` of any other.
const WORST: f64 = 1e3;

/// Scales of the features, a ridge, and the landmarks they go with.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// One for each feature.
    pub(crate) scales: Vec<f64>,
    /// The ridge γ.
    pub(crate) ridge: f64,
    /// c x d standardised rows, which are scaled as the others.
    pub(crate) landmarks: Mat<f64>,
}

/// A point and its errors.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) point: Point,
    /// The mean squared leave-one-out error.
    pub(crate) left_out: f64,
    /// The mean squared error on rows held out, or `left_out` again where there are none.
    pub(crate) held_out: f64,
}

/// Multiply each column by its scale.
pub(crate) fn scale(matrix: MatRef<'_, f64>, scales: &[f64]) -> Mat<f64> {
    let mut scaled = matrix.to_owned();
    for (j, &scale) in scales.iter().enumerate() {
        scaled.col_as_slice_mut(j).iter_mut().for_each(|value| *value *= scale);
    }
    scaled
}

impl Point {
    /// Measure the errors at this point, and the gradient of `ln J` by the scales and `ln γ`.
    fn evaluate(self, problem: &Problem<'_>, held_out: Option<&Problem<'_>>) -> Option<(Measured, Vec<f64>)> {
        let rows = scale(problem.rows, &self.scales);
        let landmarks = scale(self.landmarks.as_ref(), &self.scales);
        let solved = problem.evaluate(rows.as_ref(), landmarks.as_ref(), self.ridge)?;
        let along = |slopes: &Mat<f64>, rows: MatRef<'_, f64>, j: usize| -> f64 {
            (0..rows.nrows()).map(|i| slopes[(i, j)] * rows[(i, j)]).sum()
        };
        let mut slope: Vec<f64> = (0..self.scales.len())
            .map(|j| {
                along(&solved.rows, problem.rows, j) + along(&solved.landmarks, self.landmarks.as_ref(), j)
            })
            .collect();
        slope.push(solved.ridge * (self.ridge - LEAST_RIDGE));
        slope.iter_mut().for_each(|slope| *slope /= solved.error);
        let finite = solved.error > 0.0 && slope.iter().all(|slope| slope.is_finite());
        let held_out = held_out.map_or(solved.error, |held_out| {
            let rows = scale(held_out.rows, &self.scales);
            held_out.error(rows.as_ref(), landmarks.as_ref(), &solved)
        });
        finite.then_some((Measured { point: self, left_out: solved.error, held_out }, slope))
    }

    /// Return this point with the ridge of `ridges` that has the least leave-one-out error; `None` where no error is finite.
    pub(crate) fn with_best_ridge(
        self,
        problem: &Problem<'_>,
        held_out: Option<&Problem<'_>>,
        ridges: impl Iterator<Item = f64>,
    ) -> Option<Measured> {
        let at = |ridge| Self { ridge, ..self.clone() }.evaluate(problem, held_out);
        let measured = ridges.filter_map(at).map(|(measured, _)| measured);
        measured.min_by(|one, other| one.left_out.total_cmp(&other.left_out))
    }
}

/// A place that was asked for, with value and gradient.
struct Asked {
    place: Vec<f64>,
    value: f64,
    slope: Vec<f64>,
}

/// The objective of `argmin`: `ln J`, whose steps do not depend on the size of the error, by the scales and `ln γ`.
struct Objective<'a, 'b> {
    problem: &'a Problem<'b>,
    held_out: Option<&'a Problem<'b>>,
    landmarks: &'a Mat<f64>,
    /// The last place, since value and gradient are asked for one after the other.
    last: RefCell<Option<Asked>>,
    /// The least leave-one-out error so far.
    least: RefCell<f64>,
    /// Of the points that lowered it, that with the least error on rows held out: the descent is stopped there.
    best: RefCell<Option<Measured>>,
}

impl Objective<'_, '_> {
    fn at(&self, place: &[f64]) -> (f64, Vec<f64>) {
        if let Some(Asked { place: last, value, slope }) = &*self.last.borrow()
            && last == place
        {
            return (*value, slope.clone());
        }
        let (value, slope) = self.compute(place).unwrap_or_else(|| (WORST, vec![0.0; place.len()]));
        *self.last.borrow_mut() = Some(Asked { place: place.to_vec(), value, slope: slope.clone() });
        (value, slope)
    }

    fn compute(&self, place: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (log_ridge, scales) = place.split_last()?;
        let ridge = LEAST_RIDGE + log_ridge.exp();
        let point = Point { scales: scales.to_vec(), ridge, landmarks: self.landmarks.clone() };
        let (measured, slope) = point.evaluate(self.problem, self.held_out)?;
        let value = measured.left_out.ln();
        if measured.left_out < *self.least.borrow() {
            *self.least.borrow_mut() = measured.left_out;
            let mut best = self.best.borrow_mut();
            if best.as_ref().is_none_or(|best| measured.held_out < best.held_out) {
                *best = Some(measured);
            }
        }
        Some((value, slope))
    }
}

impl CostFunction for &Objective<'_, '_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, place: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.at(place).0)
    }
}

impl Gradient for &Objective<'_, '_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, place: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(self.at(place).1)
    }
}

/// Make at most `steps` steps from a point. Of the points on the way that lowered the leave-one-out error, return that with
/// the least error on rows held out.
pub(crate) fn descend(
    problem: &Problem<'_>,
    held_out: Option<&Problem<'_>>,
    from: &Measured,
    steps: u64,
) -> Measured {
    let objective = Objective {
        problem,
        held_out,
        landmarks: &from.point.landmarks,
        last: RefCell::new(None),
        least: RefCell::new(f64::INFINITY),
        best: RefCell::new(None),
    };
    let mut start = from.point.scales.clone();
    start.push((from.point.ridge - LEAST_RIDGE).max(LEAST_RIDGE).ln());
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY);
    // An error of the line search ends the descent: what it has found stands.
    let _ = Executor::new(&objective, solver).configure(|state| state.param(start).max_iters(steps)).run();
    objective.best.into_inner().unwrap_or_else(|| from.clone())
}
