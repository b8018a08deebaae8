//! Minimisation by L-BFGS (Liu and Nocedal 1989), with the line search of Moré and Thuente (1994).

use crate::observer::{Observer, go_on};
use argmin::core::{CostFunction, Error, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use std::cell::{Cell, RefCell};

/// Pairs of steps and gradients that are kept.
const MEMORY: usize = 10;

/// Evaluations for each step, on average, after which a search ends: a line search may go on for ever where
/// values and gradients do not agree.
const EVALUATIONS: u64 = 20;

/// A point that was asked for.
#[derive(Clone, Debug)]
struct Asked {
    point: Vec<f64>,
    value: f64,
    slope: Vec<f64>,
}

/// The objective of `argmin`, which asks for value and gradient one after the other.
struct Objective<'a, F> {
    function: F,
    observer: &'a dyn Observer,
    /// Evaluations that are left.
    left: Cell<u64>,
    last: RefCell<Option<Asked>>,
    least: RefCell<Option<Asked>>,
}

impl<F: Fn(&[f64]) -> Option<(f64, Vec<f64>)>> Objective<'_, F> {
    fn at(&self, point: &[f64]) -> Result<(f64, Vec<f64>), Error> {
        go_on(self.observer)?;
        if let Some(last) = &*self.last.borrow()
            && last.point == point
        {
            return Ok((last.value, last.slope.clone()));
        }
        let left = self.left.get().checked_sub(1).ok_or_else(|| Error::msg("no evaluations are left"))?;
        self.left.set(left);
        let (value, slope) = (self.function)(point).ok_or_else(|| Error::msg("the function ended it"))?;
        let asked = Asked { point: point.to_vec(), value, slope: slope.clone() };
        let mut least = self.least.borrow_mut();
        if least.as_ref().is_none_or(|least| value < least.value) {
            *least = Some(asked.clone());
        }
        *self.last.borrow_mut() = Some(asked);
        Ok((value, slope))
    }
}

impl<F: Fn(&[f64]) -> Option<(f64, Vec<f64>)>> CostFunction for &Objective<'_, F> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.at(point)?.0)
    }
}

impl<F: Fn(&[f64]) -> Option<(f64, Vec<f64>)>> Gradient for &Objective<'_, F> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(self.at(point)?.1)
    }
}

/// Minimise a function, which returns its value and gradient, and return the point with the least value that
/// was found. It ends after `steps` steps and [`EVALUATIONS`] for each, or after one that changes the value
/// by less than `change`, or where the function returns `None`. An error of the line search ends it too: what
/// it has found stands.
///
/// # Errors
/// `ErrorKind::Cancelled`, after at most one evaluation more.
pub(crate) fn minimise(
    start: Vec<f64>,
    (steps, change): (u64, f64),
    observer: &dyn Observer,
    function: impl Fn(&[f64]) -> Option<(f64, Vec<f64>)>,
) -> Result<Vec<f64>, crate::error::Error> {
    let left = Cell::new(EVALUATIONS.saturating_mul(steps.saturating_add(1)));
    let objective =
        Objective { function, observer, left, last: RefCell::new(None), least: RefCell::new(None) };
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY);
    // Refused for a negative number.
    if let Ok(solver) = solver.with_tolerance_cost(change) {
        let run = Executor::new(&objective, solver);
        let _ = run.configure(|state| state.param(start.clone()).max_iters(steps)).run();
    }
    go_on(observer)?;
    Ok(objective.least.into_inner().map_or(start, |least| least.point))
}

#[cfg(test)]
mod tests {
    use super::{EVALUATIONS, minimise};
    use crate::observer::NoObserver;
    use std::cell::Cell;

    /// The function of Rosenbrock.
    #[test]
    fn the_least_value_is_found() {
        let function = |point: &[f64]| {
            let (a, b) = (1.0 - point[0], point[1] - point[0] * point[0]);
            (a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * point[0] * b, 200.0 * b])
        };
        let all = |point: &[f64]| Some(function(point));
        let found = minimise(vec![-1.2, 1.0], (100, f64::EPSILON), &NoObserver, all).unwrap();
        assert!(found.iter().all(|number| (number - 1.0).abs() < 1e-6), "{found:?}");
        let early = minimise(vec![-1.2, 1.0], (3, f64::EPSILON), &NoObserver, all).unwrap();
        assert!(function(&early).0 < function(&[-1.2, 1.0]).0 && function(&early).0 > 0.1);
        // The function ends the search: what it has found stands.
        let count = Cell::new(0);
        let ended = |point: &[f64]| {
            count.set(count.get() + 1);
            (count.get() <= 20).then(|| function(point))
        };
        let few = minimise(vec![-1.2, 1.0], (100, f64::EPSILON), &NoObserver, ended).unwrap();
        assert_eq!(count.get(), 21);
        assert!(function(&few).0 < function(&[-1.2, 1.0]).0);
    }

    /// Gradients that point the wrong way, and values that are no numbers, end the search.
    #[test]
    fn what_does_not_agree_ends() {
        let count = Cell::new(0);
        let wrong = |point: &[f64]| {
            count.set(count.get() + 1);
            Some((point[0] * point[0], vec![-2.0 * point[0] - 1.0]))
        };
        assert!(minimise(vec![1.0], (3, 1e-9), &NoObserver, wrong).unwrap()[0].is_finite());
        assert!(count.get() <= 4 * EVALUATIONS, "{}", count.get());
        let none = |_: &[f64]| Some((f64::NAN, vec![f64::NAN]));
        assert_eq!(minimise(vec![1.0], (3, 1e-9), &NoObserver, none).unwrap(), [1.0]);
    }
}
