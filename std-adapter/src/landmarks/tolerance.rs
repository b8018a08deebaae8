//! The fewest landmarks within an error, and the curve that was seen on the way.
//!
//! Of a method whose landmarks are nested, the first c of a longer run being what it selects for c, one run and one
//! pass over the rows give the trace error after every landmark, which falls with each: `n c` kernel entries and
//! `n c²/2` multiply-adds, for c doubled until it is enough. Other methods select anew for every c that is tried:
//! doubled until the error is within the tolerance, then halved between the last that was not and the first that was.
//! So the number returned is within, and one less, where it was tried last, is not. Errors of fresh draws need
//! not fall with every landmark, and a smaller number between those tried might have been within by luck.

use crate::approximation::curve::{CurvePoint, trace_curve};
use crate::error::Error;
use crate::landmarks::selection::Selection;
use crate::landmarks::selector::{Selector, Task, run};
use crate::observer::NoObserver;
use crate::regression::ridge::Ridge;
use crate::regression::train::{Setting, validation_error};
use dpp_nystrom_core::Error as CoreError;
use std::fmt;

#[cfg(test)]
mod tests;

/// Landmarks of the first run of a nested method.
const FIRST: usize = 32;

/// The error that has to be within.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// `tr(K - K̃) / tr K`.
    Trace,
    /// The error of ridge regression in 10-fold cross-validation, root mean square, in standard deviations of the
    /// target. The landmarks stay as they are in all folds.
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

/// How large an error may be, and how many landmarks may be spent on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The error that is good enough.
    pub error: f64,
    /// Which error.
    pub criterion: Criterion,
    /// Landmarks, at most.
    pub most: usize,
}

/// The outcome of [`fewest`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToleranceSearch {
    /// The landmarks. The seconds are those of all selections tried, without the measurements.
    pub selection: Selection,
    /// Their number.
    pub landmarks: usize,
    /// Every number of landmarks whose error was measured, ascending.
    pub curve: Vec<CurvePoint>,
}

/// Find the fewest landmarks of a selector whose error is within the tolerance; `task.c` is ignored.
///
/// # Errors
/// [`Error::Tolerance`] where the most that are allowed are not enough, with the least error seen; the method's.
pub fn fewest(
    selector: &dyn Selector,
    task: &Task<'_>,
    tolerance: Tolerance,
) -> Result<ToleranceSearch, Error> {
    let most = tolerance.most.min(task.gram.len());
    if most == 0 {
        return Err(Error::Landmarks { reason: CoreError::Empty });
    }
    let search = Search { selector, task, tolerance: Tolerance { most, ..tolerance } };
    match if tolerance.criterion == Criterion::Trace { search.along()? } else { None } {
        Some(found) => Ok(found),
        None => search.between(),
    }
}

struct Search<'a, 'g> {
    selector: &'a dyn Selector,
    task: &'a Task<'g>,
    tolerance: Tolerance,
}

impl Search<'_, '_> {
    /// Along the order of a nested method; none of others.
    fn along(&self) -> Result<Option<ToleranceSearch>, Error> {
        let mut most = self.tolerance.most;
        let mut c = FIRST.min(most);
        loop {
            let order = match self.selector.order(&Task { c, ..*self.task }) {
                Ok(Some(order)) => order,
                Ok(None) => return Ok(None),
                // There are no more independent rows: as many as there are.
                Err(Error::Landmarks { reason: CoreError::RankDeficient { rank, .. } })
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

    /// Selecting anew for each number of landmarks.
    fn between(&self) -> Result<ToleranceSearch, Error> {
        let observer = self.task.observer;
        let mut most = self.tolerance.most;
        let mut tried = Vec::new();
        let mut seconds = 0.0;
        // Those that are too few, and those that are enough.
        let (mut few, mut enough) = (0, None);
        let mut c = 1;
        observer.begin("numbers of landmarks", u64::from(2 * usize::BITS - 2 * most.leading_zeros()));
        while enough.as_ref().is_none_or(|&(most, _)| most > few + 1) {
            let selection = match run(self.selector, &Task { c, observer: &NoObserver, ..*self.task }) {
                Ok(selection) => selection,
                Err(Error::Landmarks { reason: CoreError::RankDeficient { rank, .. } })
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
        let Task { gram, precision, seed, .. } = *self.task;
        match self.tolerance.criterion {
            Criterion::Trace => Ok(gram.trace_error(&selection.landmarks)?.fraction),
            Criterion::Prediction(ridge) => {
                let setting = Setting { kernel: gram.kernel(), precision, seed };
                validation_error(gram.data(), &selection.landmarks, ridge, setting)
            }
        }
    }

    fn is_within(&self, error: f64) -> bool {
        error <= self.tolerance.error
    }

    fn out_of_reach(&self, curve: &[CurvePoint], most: usize) -> Error {
        let least = curve.iter().min_by(|one, other| one.error.total_cmp(&other.error));
        let Tolerance { error, criterion, .. } = self.tolerance;
        Error::Tolerance {
            tolerance: error,
            criterion,
            most,
            least: least.map_or(f64::NAN, |point| point.error),
            landmarks: least.map_or(0, |point| point.landmarks),
            method: self.selector.name(),
        }
    }
}
