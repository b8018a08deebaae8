//! Descent on the leave-one-out error by L-BFGS (Liu and Nocedal 1989).

use crate::linalg::lbfgs::minimise;
use crate::metric::{objective::Problem, objective::Solved, objective::Work, transform::Transform};
use crate::observer::Observer;
use dpp_nystrom_host::simd::Lane;
use faer::{Mat, MatRef};
use std::cell::RefCell;

/// The least ridge γ, so that its logarithm is bounded.
const LEAST_RIDGE: f64 = 1e-10;

/// Evaluations in a row after which the descent of a transform ends, if none lowers the error on the rows
/// held out, or on either half of them, by this share.
const PATIENCE: (usize, f64) = (12, 1e-3);

/// The same of the one metric that was asked for.
const LONGER: usize = 48;

/// With fewer rows than these a descent is in double precision: its steps take little time.
const FEW: usize = 250;

/// The least ridge of a descent in single precision. The rounding errors of sums over N rows are some
/// `10⁻⁷ N`, and `Nγ` is added to these sums: with a smaller ridge they would decide what is solved.
const SINGLE: f64 = 1e-6;

/// The least `J` of a descent in single precision: beside smaller errors, what rounding makes of the features
/// is not small.
const ROUGH: f64 = 0.01;

/// The value of a point at which the error is not finite: larger than `ln J` of any other.
const WORST: f64 = 1e3;

/// A transform, a ridge, and the landmarks they go with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    /// What rows and landmarks are multiplied by.
    pub(crate) transform: Transform,
    /// The ridge γ.
    pub(crate) ridge: f64,
    /// c x d standardised rows, which are transformed as the others.
    pub(crate) landmarks: Mat<f64>,
}

/// How far a descent goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// As far as a comparison of many metrics needs: patience of [`PATIENCE`], and single precision where it
    /// does.
    Compared,
    /// Of a metric that was asked for, as is each that is compared in bytes of flash: patience of
    /// [`LONGER`], in double precision.
    Asked,
}

impl Effort {
    fn patience(self) -> usize {
        match self {
            Self::Compared => PATIENCE.0,
            Self::Asked => LONGER,
        }
    }
}

/// What a descent moves besides the ridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// The numbers of the transform.
    Transform,
    /// The landmarks.
    Landmarks,
    /// Both.
    Both,
}

/// A point and its errors.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) point: Point,
    /// The mean squared leave-one-out error.
    pub(crate) left_out: f64,
    /// The mean squared error on rows held out, or `left_out` again where there are none.
    pub(crate) held_out: f64,
    /// The point with the least error on either [half](half) of the rows held out, and that error. The other
    /// half has not been seen by the choice of this point.
    pub(crate) by_half: [(f64, Point); 2],
}

/// The number of rows of `count` held out that are the first half.
pub(crate) fn half(count: usize) -> usize {
    count / 2
}

impl Measured {
    /// Return the errors on the rows held out and on either half of them.
    fn errors(&self) -> [f64; 3] {
        [self.held_out, self.by_half[0].0, self.by_half[1].0]
    }

    /// Return the better of two places, on all rows held out and on either half.
    pub(crate) fn or(self, other: Self) -> Self {
        let least = |(one, other): ((f64, Point), (f64, Point))| if other.0 < one.0 { other } else { one };
        let ([first, second], [other_first, other_second]) = (self.by_half, other.by_half);
        let by_half = [(first, other_first), (second, other_second)].map(least);
        let Self { point, left_out, held_out, .. } = other;
        match held_out < self.held_out {
            true => Self { point, left_out, held_out, by_half },
            false => Self { by_half, point: self.point, left_out: self.left_out, held_out: self.held_out },
        }
    }
}

impl Point {
    /// Return the numbers that are moved: those of the transform, the landmarks by columns, and
    /// `ln (γ - LEAST_RIDGE)`.
    fn place(&self, moves: Moves) -> Vec<f64> {
        let mut place = Vec::new();
        if moves != Moves::Landmarks {
            place.extend(self.transform.numbers());
        }
        if moves != Moves::Transform {
            place.extend(columns(&self.landmarks));
        }
        place.push((self.ridge - LEAST_RIDGE).max(LEAST_RIDGE).ln());
        place
    }

    /// Return this point with other numbers in its [`place`](Self::place).
    fn at(&self, place: &[f64], moves: Moves) -> Option<Self> {
        let (log_ridge, numbers) = place.split_last()?;
        let mut point = Self { ridge: LEAST_RIDGE + log_ridge.exp(), ..self.clone() };
        let (count, dim) = (self.landmarks.nrows(), self.landmarks.ncols());
        let (of_transform, of_landmarks) = match moves {
            Moves::Transform => (numbers, None),
            Moves::Landmarks => (&[][..], Some(numbers)),
            Moves::Both => {
                let (first, second) = numbers.split_at_checked(numbers.len().checked_sub(count * dim)?)?;
                (first, Some(second))
            }
        };
        if moves != Moves::Landmarks {
            point.transform = self.transform.with(of_transform);
        }
        if let Some(numbers) = of_landmarks {
            point.landmarks = MatRef::from_column_major_slice(numbers, count, dim).to_owned();
        }
        Some(point)
    }

    /// Measure the errors at this point, and the gradient of `ln J` by its [`place`](Self::place).
    fn evaluate<T: Lane>(
        self,
        (problem, work): (&Problem<'_>, &mut Work<T>),
        held_out: Option<&Problem<'_>>,
        moves: Moves,
    ) -> Option<(Measured, Vec<f64>)> {
        let Self { transform, ridge, landmarks: home } = &self;
        let (rows, landmarks) = (transform.apply(problem.rows), transform.apply(home.as_ref()));
        let (solved, gradient) = problem.evaluate(work, rows.as_ref(), landmarks.as_ref(), *ridge)?;
        let mut slope = Vec::new();
        if moves != Moves::Landmarks {
            slope = transform.slope(gradient.rows.as_ref(), problem.rows);
            let of_landmarks = transform.slope(gradient.landmarks.as_ref(), home.as_ref());
            slope.iter_mut().zip(of_landmarks).for_each(|(slope, of_landmarks)| *slope += of_landmarks);
        }
        if moves != Moves::Transform {
            slope.extend(columns(&transform.back(gradient.landmarks.as_ref())));
        }
        slope.push(gradient.ridge * (ridge - LEAST_RIDGE));
        slope.iter_mut().for_each(|slope| *slope /= solved.error);
        let finite = solved.error > 0.0 && slope.iter().all(|slope| slope.is_finite());
        finite.then(|| (self.measured(&solved, landmarks.as_ref(), held_out), slope))
    }

    /// Measure the errors of the solution at this point, with the landmarks transformed.
    fn measured(
        self,
        solved: &Solved,
        landmarks: MatRef<'_, f64>,
        held_out: Option<&Problem<'_>>,
    ) -> Measured {
        let (held_out, halves) = held_out.map_or((solved.error, [solved.error; 2]), |held_out| {
            let rows = self.transform.apply(held_out.rows);
            let squares = held_out.squares(rows.as_ref(), landmarks, solved);
            let mean = |squares: &[f64]| squares.iter().sum::<f64>() / squares.len().max(1) as f64;
            let (first, second) = squares.split_at(half(squares.len()));
            (mean(&squares), [first, second].map(mean))
        });
        let by_half = halves.map(|error| (error, self.clone()));
        Measured { point: self, left_out: solved.error, held_out, by_half }
    }

    /// Return this point with the ridge of `ridges` that has the least leave-one-out error; `None` where no
    /// error is finite.
    pub(crate) fn with_best_ridge(
        mut self,
        problem: &Problem<'_>,
        held_out: Option<&Problem<'_>>,
        ridges: impl Iterator<Item = f64>,
    ) -> Option<Measured> {
        let (rows, landmarks) =
            (self.transform.apply(problem.rows), self.transform.apply(self.landmarks.as_ref()));
        self.ridge = problem.best_ridge(rows.as_ref(), landmarks.as_ref(), ridges)?;
        let mut work = Work::<f64>::new(problem, landmarks.nrows());
        let solved = problem.solve(&mut work, rows.as_ref(), landmarks.as_ref(), self.ridge)?;
        (solved.error > 0.0).then(|| self.measured(&solved, landmarks.as_ref(), held_out))
    }

    /// Return what the solution leaves of the targets of rows held out: a column for each target.
    pub(crate) fn left(&self, problem: &Problem<'_>, held_out: &Problem<'_>) -> Option<Mat<f64>> {
        let [rows, held, landmarks] =
            [problem.rows, held_out.rows, self.landmarks.as_ref()].map(|rows| self.transform.apply(rows));
        let mut work = Work::<f64>::new(problem, landmarks.nrows());
        let solved = problem.solve(&mut work, rows.as_ref(), landmarks.as_ref(), self.ridge)?;
        Some(held_out.left(held.as_ref(), landmarks.as_ref(), &solved))
    }

    /// Return the features of the rows of a problem: a column each.
    pub(crate) fn features(&self, problem: &Problem<'_>) -> Option<Mat<f64>> {
        let [rows, landmarks] =
            [problem.rows, self.landmarks.as_ref()].map(|rows| self.transform.apply(rows));
        problem.features(rows.as_ref(), landmarks.as_ref())
    }

    /// Return the mean outer product of the gradients, d x d.
    pub(crate) fn gradients(&self, problem: &Problem<'_>) -> Option<Mat<f64>> {
        let [rows, landmarks] =
            [problem.rows, self.landmarks.as_ref()].map(|rows| self.transform.apply(rows));
        let mut work = Work::<f64>::new(problem, landmarks.nrows());
        let solved = problem.solve(&mut work, rows.as_ref(), landmarks.as_ref(), self.ridge)?;
        Some(problem.gradients(rows.as_ref(), landmarks.as_ref(), &solved))
    }
}

/// Return the entries of a matrix by columns.
fn columns(matrix: &Mat<f64>) -> impl Iterator<Item = f64> + '_ {
    (0..matrix.ncols()).flat_map(|j| matrix.col_as_slice(j).iter().copied())
}

/// Of the points that lowered the leave-one-out error, that with the least error on rows held out: the
/// descent is stopped there.
#[derive(Debug)]
struct Best {
    /// The least leave-one-out error so far.
    least: f64,
    found: Option<Measured>,
    /// The [errors](Measured::errors) when one of them was last lower than before by the share of
    /// [`PATIENCE`], and the evaluations since.
    errors: [f64; 3],
    since: usize,
}

impl Best {
    fn meet(&mut self, measured: Measured) {
        if measured.left_out < self.least {
            self.least = measured.left_out;
            let errors = measured.errors();
            if errors.iter().zip(&self.errors).any(|(error, before)| *error < (1.0 - PATIENCE.1) * before) {
                self.errors = std::array::from_fn(|k| errors[k].min(self.errors[k]));
                self.since = 0;
            }
            self.found = Some(match self.found.take() {
                Some(best) => best.or(measured),
                None => measured,
            });
        }
    }
}

/// Make at most `steps` steps from a point. Of the points on the way that lowered the leave-one-out error,
/// return that with the least error on rows held out. The descent of a transform ends earlier where that
/// error does not fall any more ([`Effort`]); landmarks that move go on.
///
/// The [compared](Effort::Compared) descent of a transform on [`FEW`] rows or more, from a ridge of ten times
/// [`SINGLE`] or more and an error of [`ROUGH`] or more, is in single precision. Where that leads to less, it
/// goes on in double.
///
/// # Errors
/// `ErrorKind::Cancelled`, after at most one evaluation more.
pub(crate) fn descend(
    problem: &Problem<'_>,
    held_out: Option<&Problem<'_>>,
    from: &Measured,
    how: (Moves, u64, Effort),
    observer: &dyn Observer,
) -> Result<Measured, crate::error::Error> {
    let is_single = |at: &Measured| at.point.ridge >= 10.0 * SINGLE && at.left_out >= ROUGH;
    let (moves, _, effort) = how;
    let may_be_single = (moves, effort) == (Moves::Transform, Effort::Compared);
    if !may_be_single || problem.rows.nrows() < FEW || !is_single(from) {
        return descend_in::<f64>(problem, held_out, from, how, observer);
    }
    let found = descend_in::<f32>(problem, held_out, from, how, observer)?;
    match is_single(&found) {
        true => Ok(found),
        false => Ok(descend_in::<f64>(problem, held_out, &found, how, observer)?.or(found)),
    }
}

/// [`descend`] in this precision.
fn descend_in<T: Lane>(
    problem: &Problem<'_>,
    held_out: Option<&Problem<'_>>,
    from: &Measured,
    (moves, steps, effort): (Moves, u64, Effort),
    observer: &dyn Observer,
) -> Result<Measured, crate::error::Error> {
    let least_ridge = if T::EPSILON.to_f64() > f64::EPSILON { SINGLE } else { LEAST_RIDGE };
    let may_end = held_out.is_some() && moves == Moves::Transform;
    let best = Best { least: f64::INFINITY, found: None, errors: [f64::INFINITY; 3], since: 0 };
    let best = RefCell::new(best);
    let work = RefCell::new(Work::<T>::new(problem, from.point.landmarks.nrows()));
    // `ln J`: its steps do not depend on the size of the error.
    let function = |place: &[f64]| {
        if may_end && best.borrow().since >= effort.patience() {
            return None;
        }
        best.borrow_mut().since += 1;
        let point = from.point.at(place, moves).filter(|point| point.ridge >= least_ridge);
        let found =
            point.and_then(|point| point.evaluate((problem, &mut work.borrow_mut()), held_out, moves));
        let Some((measured, slope)) = found else { return Some((WORST, vec![0.0; place.len()])) };
        let value = measured.left_out.ln();
        best.borrow_mut().meet(measured);
        Some((value, slope))
    };
    minimise(from.point.place(moves), (steps, f64::EPSILON), observer, function)?;
    Ok(best.into_inner().found.unwrap_or_else(|| from.clone()))
}

#[cfg(test)]
mod tests {
    use super::{Effort, LONGER, Moves, PATIENCE, Point, descend};
    use crate::data::weights::Weights;
    use crate::kernel::kind::KernelKind;
    use crate::metric::{objective::Problem, objective::Work, transform::Transform};
    use crate::observer::{NoObserver, Observer};
    use faer::Mat;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts how often a descent asks whether to go on: up to three times an evaluation.
    #[derive(Debug, Default)]
    struct Evaluations(AtomicUsize);

    impl Observer for Evaluations {
        fn begin(&self, _: &str, _: u64) {}
        fn advance(&self, _: u64) {}
        fn end(&self) {}
        fn is_cancelled(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed);
            false
        }
    }

    fn numbers(rows: usize, columns: usize, seed: f64) -> Mat<f64> {
        let number =
            |i: usize, j: usize| ((seed + i as f64 * 1.7 + j as f64 * 0.31).sin() * 43_758.545_3).fract();
        Mat::from_fn(rows, columns, number)
    }

    /// Either half of the rows held out stops a descent where its own error is least.
    #[test]
    fn each_half_stops_by_itself() {
        let (x, noise, landmarks) = (numbers(60, 2, 0.3), numbers(60, 1, 5.1), numbers(8, 2, 2.2));
        let y = Mat::from_fn(60, 1, |i, _| (3.0 * x[(i, 0)]).sin() + 0.5 * noise[(i, 0)]);
        let all = Problem {
            rows: x.as_ref(),
            targets: y.as_ref(),
            weights: Weights::default(),
            kernel: KernelKind::Gaussian,
        };
        let part = |first: usize, count: usize| Problem {
            rows: all.rows.subrows(first, count),
            targets: all.targets.subrows(first, count),
            ..all
        };
        let (learned, held) = (part(0, 40), part(40, 20));
        let point = Point { transform: Transform::Scales(vec![1.0; 2]), ridge: 1e-3, landmarks };
        let descended = |held: &Problem<'_>| {
            let (from, _) = point
                .clone()
                .evaluate((&learned, &mut Work::<f64>::new(&learned, 8)), Some(held), Moves::Transform)
                .unwrap();
            descend(&learned, Some(held), &from, (Moves::Transform, 20, Effort::Compared), &NoObserver)
                .unwrap()
        };
        let (both, halves) = (descended(&held), [part(40, 10), part(50, 10)].map(|half| descended(&half)));
        for ((error, point), alone) in both.by_half.iter().zip(&halves) {
            assert_eq!((*error, point), (alone.held_out, &alone.point));
        }
        assert_ne!(both.by_half[0].1, both.by_half[1].1);
        let least = both.by_half.iter().map(|(error, _)| error).sum::<f64>() / 2.0;
        assert!(both.held_out >= least);
    }

    /// Rows held out far from all landmarks have the same error under every transform: its descent ends after
    /// [`PATIENCE`], or later if it was asked for; one of landmarks, or without such rows, goes on.
    #[test]
    fn a_descent_ends_where_rows_held_out_gain_nothing() {
        let (x, landmarks) = (numbers(60, 3, 0.3), numbers(8, 3, 2.2));
        let y = Mat::from_fn(60, 1, |i, _| (3.0 * x[(i, 0)] * x[(i, 1)]).sin());
        let far = Mat::from_fn(20, 3, |_, _| 1e6);
        let weights = Weights::default();
        let learned =
            Problem { rows: x.as_ref(), targets: y.as_ref(), weights, kernel: KernelKind::Gaussian };
        let held = Problem { rows: far.as_ref(), targets: learned.targets.subrows(0, 20), ..learned };
        let point = Point { transform: Transform::Scales(vec![1.0; 3]), ridge: 1e-3, landmarks };
        let evaluations = |held: Option<&Problem<'_>>, moves, effort| {
            let observer = Evaluations::default();
            let (from, _) =
                point.clone().evaluate((&learned, &mut Work::<f64>::new(&learned, 8)), held, moves).unwrap();
            descend(&learned, held, &from, (moves, 100, effort), &observer).unwrap();
            observer.0.into_inner()
        };
        let ended = evaluations(Some(&held), Moves::Transform, Effort::Compared);
        assert!((PATIENCE.0..=3 * (PATIENCE.0 + 1)).contains(&ended), "{ended}");
        let asked = evaluations(Some(&held), Moves::Transform, Effort::Asked);
        assert!(asked >= LONGER, "{asked}");
        for (held, moves) in [(None, Moves::Transform), (Some(&held), Moves::Both)] {
            let all = evaluations(held, moves, Effort::Compared);
            assert!(all > 2 * ended, "{all} {moves:?}");
        }
    }

    #[test]
    fn the_gradient_agrees_with_differences() {
        let (x, y, landmarks) = (numbers(40, 4, 0.3), numbers(40, 2, 5.1), numbers(6, 4, 2.2));
        let weights = [0.5, 1.5].repeat(20);
        let weights = Weights(Some(&weights));
        let transforms = [
            Transform::Scales(vec![0.7, 1.3, 0.4, 0.9]),
            Transform::Map(numbers(2, 4, 7.7)),
            Transform::Map(numbers(4, 4, 8.1)),
        ];
        for &kernel in KernelKind::ALL.iter().filter(|kind| kind.has_bandwidth()) {
            let problem = Problem { rows: x.as_ref(), targets: y.as_ref(), weights, kernel };
            for (transform, moves) in transforms.iter().flat_map(|transform| {
                [Moves::Transform, Moves::Landmarks, Moves::Both].map(|moves| (transform, moves))
            }) {
                let point = Point { transform: transform.clone(), ridge: 1e-2, landmarks: landmarks.clone() };
                let at = |place: &[f64]| {
                    let (measured, slope) = point
                        .at(place, moves)
                        .unwrap()
                        .evaluate((&problem, &mut Work::<f64>::new(&problem, 6)), None, moves)
                        .unwrap();
                    (measured.left_out.ln(), slope)
                };
                let place = point.place(moves);
                let (error, slope) = at(&place);
                assert_eq!(slope.len(), place.len());
                let (here, _) = point
                    .clone()
                    .evaluate((&problem, &mut Work::<f64>::new(&problem, 6)), None, moves)
                    .unwrap();
                assert!((error - here.left_out.ln()).abs() < 1e-12);
                for (number, found) in slope.into_iter().enumerate() {
                    let moved = |by: f64| {
                        let mut place = place.clone();
                        place[number] += by;
                        at(&place).0
                    };
                    let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                    // Differences of the error have an absolute error of some 10⁻¹⁶/step.
                    assert!(
                        (found - expected).abs() < 1e-6 * expected.abs() + 1e-9,
                        "{kernel:?} {moves:?} {number} {found} {expected}"
                    );
                }
            }
        }
    }
}
