//! The search for the fewest landmarks within an error tolerance, and the error curve it measures.
//!
//! A method is nested if its landmarks for c are the first c of a longer run. For a nested method, one run
//! and one pass over the rows give the trace error after every landmark, which never increases: `n c` kernel
//! entries and `n c²/2` multiply-adds. c is doubled until the error is within the tolerance. Other methods
//! select anew for every c. c is doubled until the error is within the tolerance, then found by bisection
//! between the largest c that is not and the smallest that is. So the number returned is within the
//! tolerance, and one landmark less was not. Errors of independent draws need not decrease with c, so a
//! smaller number that was not tried may by chance be within the tolerance.

use crate::approximation::{CurvePoint, curve::trace_curve};
use crate::error::{Cause, Error};
use crate::landmarks::{Selection, Selector, Start, Task, chain::select_in_order, procedure::Procedure, run};
use crate::observer::{Silent, go_on};
use crate::regression::{Ridge, fit::validation_error};
use dpp_nystrom_core::Error as CoreError;
use std::fmt;

#[cfg(test)]
mod tests;

/// The number of landmarks in the first run of a nested method.
const FIRST: usize = 32;

/// The most landmarks that are tried where nothing else is said.
const MOST: usize = 1_000;

/// The error that the tolerance applies to.
///
/// ```
/// use dpp_nystrom::{Ridge, landmarks::Criterion};
///
/// assert_eq!(Criterion::Trace.to_string(), "trace error / trace");
/// assert_eq!(Criterion::Prediction(Ridge::CrossValidated).to_string(), "10-fold error");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// The relative trace error `tr(K - K̃) / tr K`.
    Trace,
    /// The root mean square error of ridge regression in 10-fold cross-validation, in standard deviations of
    /// the target. The landmarks are the same in all folds.
    Prediction(Ridge),
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trace => "trace error / trace",
            Self::Prediction(_) => "10-fold error",
        })
    }
}

/// The largest acceptable error, and the maximum number of landmarks.
///
/// ```
/// use dpp_nystrom::landmarks::{Criterion, Tolerance};
/// use dpp_nystrom::pipeline::{Landmarks, Params, select};
/// use dpp_nystrom::{Dataset, Scale, kernel::KernelParams, observer::NoObserver, selectors::Greedy};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// let source = data.source(Scale::Standard)?;
/// let landmarks = Landmarks::Within(Tolerance { error: 0.01, criterion: Criterion::Trace, most: 50 });
/// let params = Params { landmarks, kernel: KernelParams::default(), selector: &Greedy, ..Params::default() };
/// let selected = select(source.as_rows(), &params, &NoObserver)?;
/// assert!(selected.trace_error(0)?.of_all.fraction <= 0.01);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The largest acceptable error.
    pub error: f64,
    /// The kind of error.
    pub criterion: Criterion,
    /// The maximum number of landmarks.
    pub most: usize,
}

impl Tolerance {
    /// Return the tolerance that takes at most half of so many rows as landmarks, and no more than 1,000.
    ///
    /// ```
    /// use dpp_nystrom::landmarks::{Criterion, Tolerance};
    ///
    /// let most = |rows| Tolerance::among(rows, 0.01, Criterion::Trace).most;
    /// assert_eq!((most(60), most(5_000)), (30, 1_000));
    /// ```
    pub fn among(rows: usize, error: f64, criterion: Criterion) -> Self {
        Self { error, criterion, most: (rows / 2).clamp(1, MOST) }
    }
}

/// The result of [`fewest`].
///
/// ```
/// use dpp_nystrom::approximation::Gram;
/// use dpp_nystrom::core::Matrix;
/// use dpp_nystrom::landmarks::{Criterion, Task, Tolerance, fewest};
/// use dpp_nystrom::selectors::Greedy;
///
/// let matrix = Matrix::new(&[4.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 1.0])?;
/// let gram = Gram::over(&matrix, None);
/// let tolerance = Tolerance { error: 0.1, criterion: Criterion::Trace, most: 3 };
/// let search = fewest(&Greedy, &Task::new(&gram, 1), tolerance)?;
/// assert_eq!(search.landmarks, 2); // 1/14 is left of the trace
/// assert!(search.curve.is_sorted_by_key(|point| point.landmarks));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToleranceSearch {
    /// The landmarks. The seconds are those of all selections tried, without the error measurements.
    pub selection: Selection,
    /// The number of landmarks.
    pub landmarks: usize,
    /// The error for every number of landmarks that was measured, in ascending order.
    pub curve: Vec<CurvePoint>,
}

/// Find the fewest landmarks of a selector whose error is within the tolerance. Ignores `task.c`.
///
/// # Errors
/// `ErrorKind::Landmarks` with the smallest error measured, if no number of landmarks up to the maximum is
/// enough; the errors of the selector.
pub fn fewest(
    selector: &dyn Selector,
    task: &Task<'_>,
    tolerance: Tolerance,
) -> Result<ToleranceSearch, Error> {
    let most = tolerance.most.min(task.gram.len());
    if most == 0 {
        return Err(Error::landmarks(CoreError::Empty));
    }
    let search = Search { selector, task, tolerance: Tolerance { most, ..tolerance } };
    match if tolerance.criterion == Criterion::Trace { search.along()? } else { None } {
        Some(found) => Ok(found),
        None => search.between(),
    }
}

/// Return the landmarks in the order of selection, if selections are nested: the first c of a longer order
/// are those that are selected for c. `None` for other selectors.
fn order(selector: &dyn Selector, task: &Task<'_>) -> Result<Option<Vec<usize>>, Error> {
    match selector.on_ground() {
        Some(procedure @ Procedure::Start(Start::Greedy | Start::Pivoted { .. })) => {
            Ok(Some(select_in_order(task, &procedure)?.0))
        }
        _ => Ok(None),
    }
}

struct Search<'a, 'g> {
    selector: &'a dyn Selector,
    task: &'a Task<'g>,
    tolerance: Tolerance,
}

impl Search<'_, '_> {
    /// Search along the order of a nested method; `None` for other methods.
    fn along(&self) -> Result<Option<ToleranceSearch>, Error> {
        let mut most = self.tolerance.most;
        let mut c = FIRST.min(most);
        loop {
            let order = match order(self.selector, &Task { c, ..*self.task }) {
                Ok(Some(order)) => order,
                Ok(None) => return Ok(None),
                // The rank limits the number of independent rows: continue with that number.
                Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { rank, .. } }))
                    if rank > 0 && rank < c =>
                {
                    (most, c) = (rank, rank);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let curve = trace_curve(self.task.gram.ground(), &order)?;
            match curve.iter().find(|point| self.is_within(point.error)) {
                Some(found) => {
                    let landmarks = found.landmarks;
                    let selection = run(self.selector, &Task { c: landmarks, ..*self.task })?;
                    return Ok(Some(ToleranceSearch { selection, landmarks, curve }));
                }
                None if c >= most => return Err(self.out_of_reach(&curve, most)),
                None => c = c.saturating_mul(2).min(most),
            }
        }
    }

    /// Search by a new selection for each number of landmarks.
    fn between(&self) -> Result<ToleranceSearch, Error> {
        let observer = self.task.observer;
        let mut most = self.tolerance.most;
        let mut tried = Vec::new();
        let mut seconds = 0.0;
        let mut c = self.selector.fewest().min(most);
        // The largest number that is not enough, and the smallest that is.
        let (mut few, mut enough) = (c - 1, None);
        observer.begin("numbers of landmarks", u64::from(2 * usize::BITS - 2 * most.leading_zeros()));
        while enough.as_ref().is_none_or(|&(most, _)| most > few + 1) {
            let selection = match run(self.selector, &Task { c, observer: &Silent(observer), ..*self.task }) {
                Ok(selection) => selection,
                Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { rank, .. } }))
                    if rank > few && rank < c =>
                {
                    (most, c) = (rank, rank);
                    continue;
                }
                Err(error) => return Err(error),
            };
            seconds += selection.seconds;
            let error = self.error(&selection)?;
            tried.push(CurvePoint { landmarks: c, error });
            observer.advance(1);
            go_on(observer)?;
            if self.is_within(error) {
                enough = Some((c, selection));
            } else {
                few = c;
                if c >= most {
                    break;
                }
            }
            c = match &enough {
                Some((enough, _)) => few + (enough - few) / 2,
                None => c.saturating_mul(2).min(most),
            };
        }
        observer.end();
        tried.sort_by_key(|point| point.landmarks);
        match enough {
            Some((landmarks, selection)) => {
                let selection = Selection { seconds, ..selection };
                Ok(ToleranceSearch { selection, landmarks, curve: tried })
            }
            None => Err(self.out_of_reach(&tried, most)),
        }
    }

    fn error(&self, selection: &Selection) -> Result<f64, Error> {
        let Task { gram, seed, .. } = *self.task;
        match self.tolerance.criterion {
            Criterion::Trace => Ok(gram.trace_error(&selection.landmarks)?.fraction),
            Criterion::Prediction(ridge) => validation_error(
                gram.data()?,
                &selection.landmarks,
                gram.kernel()?,
                ridge,
                seed,
                &Silent(self.task.observer),
            ),
        }
    }

    fn is_within(&self, error: f64) -> bool {
        error <= self.tolerance.error
    }

    fn out_of_reach(&self, curve: &[CurvePoint], most: usize) -> Error {
        let least = curve.iter().min_by(|one, other| one.error.total_cmp(&other.error));
        let Tolerance { error, criterion, .. } = self.tolerance;
        Error(Cause::Tolerance {
            tolerance: error,
            criterion: criterion.to_string(),
            most,
            least: least.map_or(f64::NAN, |point| point.error),
            landmarks: least.map_or(0, |point| point.landmarks),
            method: self.selector.name(),
        })
    }
}
