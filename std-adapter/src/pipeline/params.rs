//! The parameters of a pipeline, and what happens where they leave something open.

use crate::data::source::RowSource;
use crate::error::{Cause, Error};
use crate::kernel::{params::KernelParams, precision::Precision};
use crate::landmarks::{methods::auto::Auto, selector::Selector, tolerance::Tolerance};
use crate::metric::Metrics;
#[cfg(doc)]
use crate::pipeline::NumberOfLandmarks;
use crate::regression::ridge::Ridge;
use dpp_nystrom_core::Error as CoreError;
use std::time::Instant;

/// The maximum number of landmarks where none is given.
const USUAL: usize = 100;

/// The landmarks to select.
///
/// ```
/// use dpp_nystrom::pipeline::{Landmarks, Params, select};
/// use dpp_nystrom::{Dataset, Scale, kernel::KernelParams, observer::NoObserver};
///
/// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
/// let data = Dataset::from_rows(&x, 1)?;
/// let source = data.source(Scale::Standard)?;
/// let landmarks = Landmarks::Rows(vec![10, 50, 90]);
/// let params = Params { landmarks, kernel: KernelParams::default(), ..Params::default() };
/// let selected = select(source.as_rows(), &params, &NoObserver)?;
/// assert_eq!(selected.selection.landmarks.rows(), Some(&[10, 50, 90][..]));
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Landmarks {
    /// The usual number: that of [`with_usual`]. [`fit`](crate::pipeline::fit) to rows in memory takes
    /// [more](NumberOfLandmarks) where these lower the error.
    #[default]
    Usual,
    /// This number of landmarks. [`fit`](crate::pipeline::fit) takes as many as there are independent rows
    /// where these are fewer; [`select`](crate::pipeline::select) refuses.
    Count(usize),
    /// The fewest landmarks whose error is within a tolerance.
    Within(Tolerance),
    /// These rows of the source.
    Rows(Vec<usize>),
    /// This number of points, at most 100, or as many as there are independent rows. They begin as rows, and
    /// move together with the metric: the selector is not used.
    Free(usize),
}

/// The parameters of a pipeline. The default is what happens when nothing is said, on the command line, in
/// Python and in [`LandmarkRidge`](crate::LandmarkRidge): the usual number of landmarks, selected by
/// [`Auto`], under [`KernelParams::usual`], with a cross-validated ridge.
///
/// ```
/// use dpp_nystrom::kernel::{KernelKind, KernelParams, Metric, Precision};
/// use dpp_nystrom::pipeline::{Landmarks, Params};
/// use dpp_nystrom::{Ridge, Sigma, selectors::Refined};
///
/// let usual = Params::default();
/// assert_eq!((usual.landmarks, usual.kernel.metric), (Landmarks::Usual, Metric::Auto));
/// let refined = Refined::default();
/// let params = Params {
///     kernel: KernelParams::new(KernelKind::Matern52, Sigma::CrossValidated),
///     landmarks: Landmarks::Count(200),
///     selector: &refined,
///     ridge: Ridge::LeaveOneOut,
///     precision: Precision::F32,
///     seed: 7,
///     metrics: None,
/// };
/// assert_eq!(params.kernel.metric, Metric::One);
/// ```
#[derive(Clone, Debug)]
pub struct Params<'a> {
    /// The kernel, and how its bandwidth is chosen.
    pub kernel: KernelParams,
    /// The landmarks to select.
    pub landmarks: Landmarks,
    /// How they are selected.
    pub selector: &'a dyn Selector,
    /// The ridge γ of the regression.
    pub ridge: Ridge,
    /// The precision; for a row store, that of the store is used.
    pub precision: Precision,
    /// The random seed.
    pub seed: u64,
    /// Metrics that fits to the same rows share; none: each learns its own.
    pub metrics: Option<&'a Metrics>,
}

impl Default for Params<'_> {
    fn default() -> Self {
        Self {
            kernel: KernelParams::usual(),
            landmarks: Landmarks::Usual,
            selector: &Auto::USUAL,
            ridge: Ridge::CrossValidated,
            precision: Precision::F64,
            seed: 0,
            metrics: None,
        }
    }
}

/// Run with the usual number of landmarks among `rows` rows: a quarter of them, and at most 100. Where fewer
/// rows are independent under the kernel, run again with as many as are.
///
/// ```
/// use dpp_nystrom::pipeline::with_usual;
///
/// assert_eq!(with_usual(5_000, Ok)?, 100);
/// assert_eq!(with_usual(90, Ok)?, 22);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
///
/// # Errors
/// Those of `run`.
pub fn with_usual<A>(rows: usize, run: impl FnMut(usize) -> Result<A, Error>) -> Result<A, Error> {
    with_at_most(usual(rows), run)
}

/// Return the usual number of landmarks among so many rows.
pub(super) fn usual(rows: usize) -> usize {
    (rows / 4).clamp(1, USUAL)
}

/// Run with so many landmarks. Where fewer rows are independent under the kernel, run again with as many as
/// are.
fn with_at_most<A>(mut count: usize, mut run: impl FnMut(usize) -> Result<A, Error>) -> Result<A, Error> {
    loop {
        match run(count) {
            Err(error) => match independent(&error) {
                Some(rank) if rank < count => count = rank,
                _ => return Err(error),
            },
            done => return done,
        }
    }
}

/// Return the number of independent rows, at least one, if they are too few.
fn independent(error: &Error) -> Option<usize> {
    match error {
        Error(Cause::Landmarks { reason: CoreError::RankDeficient { rank, .. } }) => Some(*rank),
        _ => None,
    }
    .filter(|&rank| rank > 0)
}

impl Params<'_> {
    /// Run with what is left open decided for a source: the number of landmarks, and whether kernels are
    /// compared.
    pub(super) fn settled<A>(
        &self,
        source: &dyn RowSource,
        mut run: impl FnMut(&Params<'_>) -> Result<A, Error>,
    ) -> Result<A, Error> {
        let is_classes = source.columns().classes.is_some();
        let with = |count| self.kernel.settled(count, is_classes);
        match &self.landmarks {
            Landmarks::Usual => {
                let mut kernel = None;
                with_usual(source.len(), |count| {
                    let kernel = *kernel.get_or_insert_with(|| with(count));
                    run(&Params { kernel, landmarks: Landmarks::Count(count), ..self.clone() })
                })
            }
            &Landmarks::Count(count) | &Landmarks::Free(count) => {
                run(&Params { kernel: with(count), ..self.clone() })
            }
            Landmarks::Rows(rows) => run(&Params { kernel: with(rows.len()), ..self.clone() }),
            Landmarks::Within(_) => run(&Params { kernel: with(0), ..self.clone() }),
        }
    }

    /// Run as [`settled`](Self::settled), with at most the number of landmarks that is given: as many as
    /// there are independent rows. If none is given, `run` chooses it first. Return the seconds of the runs
    /// that failed as well.
    pub(super) fn settled_at_most<A>(
        &self,
        source: &dyn RowSource,
        mut run: impl FnMut(&Params<'_>) -> Result<A, Error>,
    ) -> Result<(A, f64), Error> {
        let mut failed = 0.0;
        let mut run = |params: &Params<'_>| {
            let begin = Instant::now();
            run(params).inspect_err(|_| failed += begin.elapsed().as_secs_f64())
        };
        let mut at_most = |most, of: fn(usize) -> Landmarks| {
            with_at_most(most, |count| {
                Params { landmarks: of(count), ..self.clone() }.settled(source, &mut run)
            })
        };
        let is_open = self.selector.fixed().is_none();
        let found = match self.landmarks {
            Landmarks::Usual if is_open => self.usual_at_most(source, &mut run),
            Landmarks::Count(count) if is_open => at_most(count.min(source.len()), Landmarks::Count),
            Landmarks::Free(count) => at_most(count, Landmarks::Free),
            _ => self.settled(source, &mut run),
        };
        found.map(|found| (found, failed))
    }

    /// Run with a number of landmarks that `run` chooses, or where they are not independent with as many as
    /// are.
    fn usual_at_most<A>(
        &self,
        source: &dyn RowSource,
        run: &mut impl FnMut(&Params<'_>) -> Result<A, Error>,
    ) -> Result<A, Error> {
        let kernel = self.kernel.settled(usual(source.len()), source.columns().classes.is_some());
        let params = Params { kernel, ..self.clone() };
        let found = run(&params);
        let most = match &found {
            // A selector may refuse more, though their kernel matrix has a factor.
            Err(error @ Error(Cause::Landmarks { .. })) => independent(error).unwrap_or(usual(source.len())),
            _ => return found,
        };
        with_at_most(most, |count| run(&Params { landmarks: Landmarks::Count(count), ..params.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Landmarks, Params};
    use crate::error::{Error, ErrorKind};
    use crate::kernel::params::KernelParams;
    use crate::observer::NoObserver;
    use crate::pipeline::{fit, select};
    use crate::{Dataset, Scale};
    use dpp_nystrom_core::Error as CoreError;
    use std::time::Duration;

    /// Rows in five places: a fit has five landmarks, however many are asked for; a selection is refused.
    #[test]
    fn a_fit_has_as_many_landmarks_as_rows_are_independent() {
        let x: Vec<f64> = (0..200).map(|row| f64::from(row % 5)).collect();
        let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let data = Dataset::from_rows(&x, 1).unwrap().with_target(&y).unwrap();
        let source = data.source(Scale::Standard).unwrap();
        for kernel in [KernelParams::default(), KernelParams::usual()] {
            for landmarks in
                [Landmarks::Count(12), Landmarks::Count(1_000), Landmarks::Free(12), Landmarks::Usual]
            {
                let params = Params { landmarks, kernel, ..Params::default() };
                let model = fit(source.as_rows(), &params, None, &NoObserver).unwrap().fitted.model;
                assert_eq!(model.landmarks(), 5, "{params:?}");
            }
        }
        let params =
            Params { landmarks: Landmarks::Count(12), kernel: KernelParams::default(), ..Params::default() };
        let refused = select(source.as_rows(), &params, &NoObserver).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Landmarks);
    }

    #[test]
    fn the_seconds_of_runs_that_fail_are_counted() {
        let x = [0.0, 1.0, 2.0, 3.0, 4.0];
        let data = Dataset::from_rows(&x, 1).unwrap();
        let source = data.source(Scale::Standard).unwrap();
        let run = |params: &Params<'_>| {
            std::thread::sleep(Duration::from_millis(2));
            match params.landmarks {
                Landmarks::Count(3) => Ok(()),
                _ => Err(Error::landmarks(CoreError::RankDeficient { rank: 3, landmarks: 5 })),
            }
        };
        let failed = |count| {
            let params = Params { landmarks: Landmarks::Count(count), ..Params::default() };
            params.settled_at_most(source.as_rows(), run).unwrap().1
        };
        assert_eq!(failed(3), 0.0);
        assert!(failed(5) >= 0.002);
    }
}
