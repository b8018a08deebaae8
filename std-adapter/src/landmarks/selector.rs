//! The interface of all selectors, [`Selector`], and the function that runs them, [`run`].
//!
//! A selector is a value with its own parameters ([`crate::selectors`]); what it works on is a [`Task`]. The list of
//! all of them, with costs and sources, is in [`crate::landmarks::methods`].

use crate::approximation::gram::Gram;
use crate::error::Error;
use crate::kernel::precision::Precision;
use crate::landmarks::procedure::Procedure;
use crate::landmarks::selection::Selection;
use crate::observer::{NoObserver, Observer};
use crate::rng::{RngStream, stream};
use dpp_nystrom_core::{Error as CoreError, Random};
use std::fmt;
use std::time::Instant;

/// A way of selecting landmarks.
pub trait Selector: fmt::Debug + Send + Sync {
    /// Return its name, as on the command line and in results.
    fn name(&self) -> &'static str;

    /// Return what it needs of the data. By default: all rows in memory, unless it works in place.
    fn needs(&self) -> Needs {
        let rows = if self.in_place().is_some() { RowAccess::InPlace } else { RowAccess::InMemory };
        Needs { rows, ..Needs::default() }
    }

    /// Return the procedure that selects the same rows without the rows in memory, if there is one.
    #[doc(hidden)]
    fn in_place(&self) -> Option<Procedure> {
        None
    }

    /// Return the rows of the data set that it always selects, if its parameters say which.
    fn fixed(&self) -> Option<&[usize]> {
        None
    }

    /// Return the rows in the order of selection, if the first c of a longer order are what [`select`](Self::select)
    /// returns for c; `None` for other selectors.
    ///
    /// # Errors
    /// Those of [`select`](Self::select).
    fn order(&self, _: &Task<'_>) -> Result<Option<Vec<usize>>, Error> {
        Ok(None)
    }

    /// Select landmarks. Call [`run`] instead, which checks the number asked for and measures the seconds.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Memory`], and for some selectors [`Error::WholeMatrix`], [`Error::Knob`],
    /// [`Error::Eigenvalues`].
    fn select(&self, task: &Task<'_>) -> Result<Selection, Error>;
}

/// What a selector needs of the data, and what its landmarks are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// How it reads the rows.
    pub rows: RowAccess,
    /// Whether it reads the target.
    pub target: bool,
    /// Whether its landmarks are points of their own and not rows.
    pub points: bool,
}

/// How a selector reads rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowAccess {
    /// All of them, in memory.
    #[default]
    InMemory,
    /// In memory, but a random sample of at most this many is enough.
    Sample(usize),
    /// A few of them, where they lie: in memory or in a row store.
    InPlace,
}

/// What a selector works on.
///
/// ```
/// use dpp_nystrom::approximation::Gram;
/// use dpp_nystrom::data::{Prepared, table::Table};
/// use dpp_nystrom::kernel::{KernelKind, KernelSpec};
/// use dpp_nystrom::landmarks::{Task, run};
/// use dpp_nystrom::selectors::{Kdpp, Refined};
///
/// # fn main() -> Result<(), dpp_nystrom::Error> {
/// # let features: Vec<f64> = (0..100).map(|i| f64::from(i).sin()).collect();
/// # let feature_names = vec!["a".to_owned()];
/// # let table = Table { name: String::new(), feature_names, dim: 1, features, target: None, target_name: None };
/// let data = Prepared::new(table, None, 0)?;
/// let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 0.5 })?;
/// let task = Task { seed: 7, ..Task::new(&gram, 4) };
/// let sampled = run(&Kdpp::default(), &task)?;
/// let refined = run(&Refined::default().sweeps(5), &task)?;
/// assert!(gram.trace_error(&refined.landmarks)?.error <= gram.trace_error(&sampled.landmarks)?.error);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The rows under the kernel.
    pub gram: &'a Gram<'a>,
    /// The number of landmarks.
    pub c: usize,
    /// The arithmetic of the chains and of pivoted Cholesky. Other weights are computed in `f64`.
    pub precision: Precision,
    /// The seed.
    pub seed: u64,
    /// The ridge γ of the regression that follows, if it is known: ridge leverage scores use Nγ. Without one they use
    /// the ridge at which the effective dimension is c.
    pub ridge: Option<f64>,
    /// Told of the progress.
    pub observer: &'a dyn Observer,
}

impl<'a> Task<'a> {
    /// Ask for `c` landmarks, in `f64` with seed 0.
    pub fn new(gram: &'a Gram<'a>, c: usize) -> Self {
        Self { gram, c, precision: Precision::F64, seed: 0, ridge: None, observer: &NoObserver }
    }

    /// Return the random numbers of the selection.
    pub(crate) fn random(&self) -> Random {
        stream(self.seed, RngStream::Landmarks)
    }
}

/// Run a selector and measure its seconds. What it uses of the Gram matrix counts as if it had computed it, also where
/// another selector was the first to ask.
///
/// # Errors
/// [`Error::Landmarks`] for no landmarks and for more than there are rows; the selector's.
pub fn run(selector: &dyn Selector, task: &Task<'_>) -> Result<Selection, Error> {
    let rows = task.gram.len();
    let reason = match task.c {
        0 => CoreError::Empty,
        landmarks if landmarks > rows => CoreError::TooManyLandmarks { landmarks, rows },
        _ => {
            let account = task.gram.account();
            let begin = Instant::now();
            let selection = selector.select(task)?;
            let seconds = begin.elapsed().as_secs_f64() + task.gram.cached_seconds(account);
            return Ok(Selection { seconds, ..selection });
        }
    };
    Err(Error::Landmarks { reason })
}

/// Refuse a parameter outside its range.
pub(crate) fn within(option: &'static str, value: usize, most: usize) -> Result<usize, Error> {
    if (1..=most).contains(&value) { Ok(value) } else { Err(Error::Knob { option, value, most }) }
}
