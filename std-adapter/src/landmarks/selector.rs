//! The interface of all selectors, [`Selector`], and the function that runs them, [`run`].
//!
//! A selector is a value with its own parameters ([`crate::selectors`]). Its input is a [`Task`]. All
//! selectors are listed with costs and sources in [`crate::landmarks::methods`].

use crate::approximation::Gram;
use crate::error::Error;
use crate::kernel::Precision;
use crate::landmarks::{Selection, procedure::InPlace, procedure::Procedure};
use crate::linalg::Eigen;
use crate::observer::{NoObserver, Observer, go_on};
use dpp_nystrom_core::{Error as CoreError, Random};
use dpp_nystrom_host::rng::{RngStream, stream};
use std::{fmt, sync::Arc, time::Instant};

/// A method of selecting landmarks.
///
/// [`Task::draw`] has an example. The package `dpp-nystrom-lab` has eleven selectors that use nothing but
/// what is public here.
///
/// ```
/// use dpp_nystrom::landmarks::{Selection, Selector, Task};
/// use dpp_nystrom::{Dataset, Error, Nystroem};
///
/// /// Every n-th row.
/// #[derive(Debug)]
/// struct Spaced;
///
/// impl Selector for Spaced {
///     fn name(&self) -> &'static str {
///         "spaced"
///     }
///     fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
///         let rows = (0..task.c).map(|i| i * task.gram.len() / task.c).collect();
///         Ok(Selection::rows(rows, f64::NAN))
///     }
/// }
///
/// let x: Vec<f64> = (0..100).map(f64::from).collect();
/// let map = Nystroem::params(4).selector(Spaced).fit(&Dataset::from_rows(&x, 1)?)?;
/// assert_eq!(map.landmarks(), [0, 25, 50, 75]);
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub trait Selector: fmt::Debug + Send + Sync {
    /// Return the name, as used on the command line and in results.
    fn name(&self) -> &'static str;

    /// Return what the selector requires of the data. Default: all rows in memory, or in place if the
    /// selector supports it.
    fn needs(&self) -> Needs {
        let rows = if self.in_place().is_some() { RowAccess::InPlace } else { RowAccess::InMemory };
        Needs { rows, ..Needs::default() }
    }

    /// Return the procedure that selects without holding all rows in memory, if there is one.
    #[doc(hidden)]
    fn in_place(&self) -> Option<InPlace> {
        None
    }

    /// Return the procedure that selects from any ground set, by entries of its kernel matrix alone, if there
    /// is one.
    #[doc(hidden)]
    fn on_ground(&self) -> Option<Procedure> {
        self.in_place().filter(|in_place| in_place.refinement.is_none()).map(|in_place| in_place.procedure)
    }

    /// Return what reads rows in memory, for messages: the method, or an option of it.
    #[doc(hidden)]
    fn reader(&self) -> String {
        format!("the method {}", self.name())
    }

    /// Return the fixed rows of the data set that the parameters list, if the selection does not depend on
    /// the data.
    fn fixed(&self) -> Option<&[usize]> {
        None
    }

    /// Return the smallest number of landmarks that can be selected.
    fn fewest(&self) -> usize {
        1
    }

    /// Select landmarks. Prefer [`run`], which validates the number of landmarks and measures the duration.
    ///
    /// # Errors
    /// `ErrorKind::Landmarks`, `ErrorKind::Memory`, and for some selectors `ErrorKind::Unsupported`,
    /// `ErrorKind::Argument`, `ErrorKind::Landmarks`.
    fn select(&self, task: &Task<'_>) -> Result<Selection, Error>;
}

impl<S: Selector + ?Sized> Selector for Box<S> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn in_place(&self) -> Option<InPlace> {
        (**self).in_place()
    }

    fn on_ground(&self) -> Option<Procedure> {
        (**self).on_ground()
    }

    fn reader(&self) -> String {
        (**self).reader()
    }

    fn fixed(&self) -> Option<&[usize]> {
        (**self).fixed()
    }

    fn fewest(&self) -> usize {
        (**self).fewest()
    }

    fn select(&self, task: &Task<'_>) -> Result<Selection, Error> {
        (**self).select(task)
    }
}

/// What a selector requires of the data, and what kind of landmarks it returns.
///
/// ```
/// use dpp_nystrom::landmarks::{RowAccess, Selector};
/// use dpp_nystrom::selectors::{Kmeans, RefinedRidge, Uniform};
///
/// assert_eq!(Uniform.needs().rows, RowAccess::InPlace);
/// assert!(RefinedRidge::default().needs().target && Kmeans.needs().points);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// How the selector reads the rows.
    pub rows: RowAccess,
    /// Whether the selector reads the target.
    pub target: bool,
    /// Whether the landmarks are new points instead of rows.
    pub points: bool,
}

/// How a selector reads rows.
///
/// ```
/// use dpp_nystrom::landmarks::{RowAccess, Selector};
/// use dpp_nystrom::selectors::{Kmeans, Refined};
///
/// assert_eq!(Refined::default().needs().rows, RowAccess::InPlace);
/// assert_ne!(Kmeans.needs().rows, RowAccess::InPlace); // it moves points among all rows
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowAccess {
    /// All rows, in memory.
    #[default]
    InMemory,
    /// In memory, but a random sample of at most this many rows is enough.
    Sample(usize),
    /// Where they are: in memory or in a row store.
    InPlace,
}

/// The input of a selector.
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
/// # let table = Table { name: String::new(), feature_names, dim: 1, features, target: None, target_name: None, weights: None };
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
    /// The rows and the kernel.
    pub gram: &'a Gram<'a>,
    /// The number of landmarks.
    pub c: usize,
    /// The precision of the chains and of pivoted Cholesky. All other weights are computed in `f64`.
    pub precision: Precision,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The ridge γ of the regression that follows, if known. Ridge leverage scores use Nγ; without it they
    /// use the ridge at which the effective dimension is c.
    pub ridge: Option<f64>,
    /// The observer of the progress.
    pub observer: &'a dyn Observer,
}

impl<'a> Task<'a> {
    /// Create a task for `c` landmarks, in `f64` with seed 0.
    pub fn new(gram: &'a Gram<'a>, c: usize) -> Self {
        Self { gram, c, precision: Precision::F64, seed: 0, ridge: None, observer: &NoObserver }
    }

    /// Return the random generator of the selection.
    pub fn random(&self) -> Random {
        stream(self.seed, RngStream::Landmarks)
    }

    /// Return the eigenvalues and eigenvectors of the kernel matrix for a method: `O(N³)` and `2 N²` numbers,
    /// computed once for all methods.
    ///
    /// # Errors
    /// `ErrorKind::Unsupported` for too many rows, which names the method `instead`; `ErrorKind::Memory`,
    /// `ErrorKind::Landmarks`, `ErrorKind::Cancelled`.
    pub fn eigen(&self, method: &'static str, instead: &'static str) -> Result<&'a Arc<Eigen>, Error> {
        self.gram.check_whole(method, instead)?;
        self.observer.begin("eigenvectors", 1);
        self.gram.matrix()?;
        go_on(self.observer)?;
        let eigen = self.gram.eigen()?;
        go_on(self.observer)?;
        self.observer.end();
        Ok(eigen)
    }
}

/// Run a selector and measure its duration. Cached parts of the Gram matrix that the selector uses count at
/// their full cost, even if an earlier selector computed them.
///
/// # Errors
/// `ErrorKind::Landmarks` for zero landmarks or more landmarks than rows; the errors of the selector.
///
/// ```
/// use dpp_nystrom::landmarks::{Task, run};
/// use dpp_nystrom::{approximation::Gram, core::Matrix, selectors::Greedy};
///
/// let matrix = Matrix::new(&[4.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 1.0])?;
/// let gram = Gram::over(&matrix, None);
/// let selection = run(&Greedy, &Task::new(&gram, 2))?;
/// assert_eq!(selection.landmarks.rows(), Some(&[0, 1][..]));
/// assert!(run(&Greedy, &Task::new(&gram, 4)).is_err()); // more than rows
/// # Ok::<(), dpp_nystrom::Error>(())
/// ```
pub fn run(selector: &dyn Selector, task: &Task<'_>) -> Result<Selection, Error> {
    check_count(task.c, task.gram.len())?;
    let account = task.gram.account();
    let begin = Instant::now();
    let selection = selector.select(task)?;
    go_on(task.observer)?;
    let seconds = begin.elapsed().as_secs_f64() + task.gram.cached_seconds(account);
    Ok(Selection { seconds, ..selection })
}

/// Check that there are from 1 to `rows` landmarks.
///
/// # Errors
/// `ErrorKind::Landmarks`.
///
/// ```
/// use dpp_nystrom::landmarks::check_count;
///
/// assert!(check_count(10, 10).is_ok());
/// assert!(check_count(11, 10).is_err() && check_count(0, 10).is_err());
/// ```
pub fn check_count(landmarks: usize, rows: usize) -> Result<(), Error> {
    match landmarks {
        0 => Err(Error::landmarks(CoreError::Empty)),
        _ if landmarks > rows => Err(Error::landmarks(CoreError::TooManyLandmarks { landmarks, rows })),
        _ => Ok(()),
    }
}
