//! Every way of selecting landmarks behind one interface, [`Selector`], and in one list, [`METHODS`].
//!
//! A method is a file of this folder and a line of the list: `select`, `fit` and `evaluate` then know it by
//! name, and their help tells of it.
//!
//! | method | selects | kernel evaluations | numbers held | source |
//! | --- | --- | --- | --- | --- |
//! | `auto` | as refined, pivoted Cholesky or uniform, by budget and spectrum | that of its choice | that of its choice | |
//! | `kdpp` | a c-DPP's rows, by a chain | c a try | c² | Li, Jegelka, Sra 2016, Algorithm 1 |
//! | `kdpp-exact` | a c-DPP's rows, exactly | N² | 2 N² | Kulesza, Taskar 2012, Algorithms 1 and 8 |
//! | `uniform` | rows drawn uniformly | c²/2 | c² | Williams, Seeger 2001 |
//! | `kmeans++` | seeds of k-means++ | N c distances | N + c² | Arthur, Vassilvitskii 2007 |
//! | `rpcholesky` | randomly pivoted Cholesky | N c | N (c + d) | Chen, Epperly, Tropp, Webber 2022 |
//! | `greedy` | the largest residual next | N c | N (c + d) | Fine, Scheinberg 2002 |
//! | `diagonal` | rows by `k(i, i)` | N | N + c² | Drineas, Mahoney 2005 |
//! | `column-norm` | rows by `‖K_i‖²` | N² | N + c² | Drineas, Kannan, Mahoney 2006 |
//! | `lev` | rows by leverage score | N² | 2 N² | Gittens, Mahoney 2013 |
//! | `reglev` | rows by ridge leverage score | N² | 2 N² | Alaoui, Mahoney 2015 |
//! | `applev` | as `lev`, scores from p columns | N p | N p | Li, Jegelka, Sra 2016, §6.4 |
//! | `appreglev` | as `reglev`, scores from p columns | N p | N p | Alaoui, Mahoney 2015 |
//! | `adapfull` | rows by what K's columns miss | N² | N² | Deshpande, Rademacher, Vempala, Wang 2006 |
//! | `adappart` | the same of the columns chosen | N c | N c | Kumar, Mohri, Talwalkar 2012 |
//! | `recursive-rls` | ridge leverage scores, by halves | about 2 N c | N + c² | Musco, Musco 2017, Algorithm 3 |
//! | `refined` | rows exchanged as long as the trace error falls | N c a sweep | N (c + d) | swap search |
//! | `refined-ridge` | the same as long as the regression's leave-one-out error falls | N c a landmark | N c | swap search |
//! | `kmeans` | centroids, which are no rows | N c distances a round | N + c d | Zhang, Tsang, Kwok 2008 |
//! | `kmeans-snapped` | the rows nearest to them | the same | N + c d | Zhang, Tsang, Kwok 2008 |
//! | `given` | one's own rows | c²/2 | c² | |
//!
//! Methods that hold N² numbers refuse more than [`crate::SPECTRUM_ROWS`] rows and say which method goes on.
//!
//! # Drawing
//!
//! Rows are drawn one after the other without replacement, each in proportion to its weight among those left;
//! a row that depends on those drawn before it is passed over. So there are always c independent rows, or an
//! error. The sources of `lev`, `reglev` and `column-norm` draw with replacement, to prove what they prove; the
//! experiments of the c-DPP paper, and ours, compare sets of c distinct rows.
//!
//! Weights are computed in `f64`; the setting's precision is that of the chains, the starts and `greedy`.

mod adaptive_full;
mod adaptive_partial;
mod approximate_leverage;
mod approximate_ridge_leverage;
mod auto;
mod column_norm;
mod diagonal;
mod draw;
mod given;
mod gram;
mod greedy;
mod kdpp;
mod kdpp_exact;
mod kmeans;
mod kmeans_plus_plus;
mod kmeans_snapped;
mod leverage;
mod lloyd;
mod recursive_rls;
mod refined;
mod refined_ridge;
mod ridge_leverage;
mod rpcholesky;
mod scores;
mod sketch;
#[cfg(test)]
mod tests;
mod uniform;

pub use gram::Gram;

use crate::approximation::independent_points;
use crate::observer::Observer;
use crate::prepare::Prepared;
use crate::refine::{Gain, Refinement, refine};
use crate::seeds::{RngStream, stream};
use crate::select::{ChainKind, Selection, Start, Steps};
use crate::train::Setting;
use crate::{Error, Heap};
use dpp_nystrom_core::Error as CoreError;
use std::fmt;
use std::time::{Duration, Instant};

/// The methods, in the order in which help lists them.
pub static METHODS: &[&dyn Selector] = &[
    &auto::Auto,
    &kdpp::Kdpp,
    &kdpp_exact::KdppExact,
    &uniform::Uniform,
    &kmeans_plus_plus::KmeansPlusPlus,
    &rpcholesky::RpCholesky,
    &greedy::Greedy,
    &diagonal::Diagonal,
    &column_norm::ColumnNorm,
    &leverage::Leverage,
    &ridge_leverage::RidgeLeverage,
    &approximate_leverage::ApproximateLeverage,
    &approximate_ridge_leverage::ApproximateRidgeLeverage,
    &adaptive_full::AdaptiveFull,
    &adaptive_partial::AdaptivePartial,
    &recursive_rls::RecursiveRls,
    &refined::RefinedRows,
    &refined_ridge::RefinedRidge,
    &kmeans::Kmeans,
    &kmeans_snapped::KmeansSnapped,
    &given::Given,
];

/// The method of this name.
///
/// ```
/// use dpp_nystrom::methods;
///
/// assert!(methods::find("rpcholesky").is_some());
/// assert!(methods::find("magic").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static dyn Selector> {
    METHODS.iter().copied().find(|method| method.name() == name)
}

/// A way of selecting landmarks.
pub trait Selector: Sync {
    /// Its name on the command line and in results.
    fn name(&self) -> &'static str;

    /// What it is and what it costs.
    fn about(&self) -> About;

    /// The number of landmarks, where the options alone say it, whatever number is asked for.
    fn fixed(&self, _: &Options) -> Option<usize> {
        None
    }

    /// Whether it refines what it selects by itself.
    fn refines(&self) -> bool {
        false
    }

    /// Whether it looks at the targets of the rows.
    fn needs_target(&self) -> bool {
        false
    }

    /// The rows in the order in which they were taken, where the first c of a longer order are what [`select`]
    /// answers for c; none of other methods.
    ///
    /// # Errors
    /// Those of [`select`].
    ///
    /// [`select`]: Self::select
    fn order(&self, _: &Task<'_>) -> Result<Option<Vec<usize>>, Error> {
        Ok(None)
    }

    /// Selects landmarks. Called through [`run`], which checks the number asked for.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Memory`], and for some methods [`Error::WholeMatrix`],
    /// [`Error::Knob`], [`Error::Eigenvalues`].
    fn select(&self, task: &Task<'_>) -> Result<Chosen, Error>;
}

impl fmt::Debug for dyn Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for dyn Selector {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// A method in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// One line, as help has it.
    pub help: &'static str,
    /// Who published it, and where in the publication.
    pub source: &'static str,
    /// Kernel evaluations for N rows and c landmarks.
    pub evaluations: &'static str,
    /// Numbers held.
    pub memory: &'static str,
    /// Whether it reads all rows.
    pub reads_all: bool,
    /// Whether its landmarks are rows, and not points of their own.
    pub rows: bool,
}

/// What exchanges of landmarks lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// The trace error `tr(K - K̃)`.
    Trace,
    /// The leave-one-out error of ridge regression on the landmarks: `refined` is `refined-ridge` then.
    Ridge,
}

/// What `auto` may spend if nothing else is said.
const BUDGET: Duration = Duration::from_secs(1);

/// What methods can be told beside the number of landmarks; each looks at its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Where the chain of `kdpp` starts.
    pub start: Start,
    /// Which chain.
    pub chain: ChainKind,
    /// Its steps.
    pub steps: Steps,
    /// Rows that `rpcholesky` looks at; all if none is said.
    pub pivot_rows: Option<usize>,
    /// The rank k of the space that `lev` and `applev` take their scores of; c if none is said.
    pub rank: Option<usize>,
    /// The columns p that `applev` and `appreglev` take their scores from; 4 c if none is said.
    pub columns: Option<usize>,
    /// How the rows of any method are refined; `refined` and `refined-ridge` refine anyway.
    pub refinement: Option<Refinement>,
    /// What `refined` lowers.
    pub objective: Objective,
    /// What `auto` may spend.
    pub budget: Duration,
    /// The rows of `given`.
    pub given: Vec<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            start: Start::KmeansPlusPlus,
            chain: ChainKind::Slot,
            steps: Steps::Auto,
            pivot_rows: None,
            rank: None,
            columns: None,
            refinement: None,
            objective: Objective::Trace,
            budget: BUDGET,
            given: Vec::new(),
        }
    }
}

/// What is asked of a method.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The rows under the kernel.
    pub gram: &'a Gram<'a>,
    /// The number of landmarks.
    pub c: usize,
    /// Kernel, bandwidth, precision and seed. The first two are the Gram matrix's.
    pub setting: Setting,
    /// The ridge γ of the regression that follows, if it is known: `reglev` and `appreglev` take Nγ. Without
    /// one they take what makes the effective dimension c.
    pub ridge: Option<f64>,
    /// The knobs.
    pub options: &'a Options,
    /// Told of work that may take long.
    pub observer: &'a dyn Observer,
}

/// Landmarks: rows, or points of their own.
#[derive(Clone, Debug, PartialEq)]
pub enum LandmarkSet {
    /// Rows, counted among the prepared ones from 0, in ascending order.
    Indices(Vec<usize>),
    /// Standardised points, one row of features after the other.
    Points(Vec<f64>),
}

impl LandmarkSet {
    /// The number of landmarks, of so many features each.
    pub fn count(&self, dim: usize) -> usize {
        match self {
            Self::Indices(rows) => rows.len(),
            Self::Points(points) => points.len().checked_div(dim).unwrap_or(0),
        }
    }

    /// The features of the landmarks, one after the other.
    ///
    /// # Errors
    /// [`Error::Core`] for a row past the end.
    pub fn features(&self, data: &Prepared) -> Result<Vec<f64>, Error> {
        match self {
            Self::Indices(rows) => data.gather(rows),
            Self::Points(points) => Ok(points.clone()),
        }
    }
}

/// What a method selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The landmarks.
    pub places: LandmarkSet,
    /// `log det K_CC`; minus infinity for points that depend on each other.
    pub log_det: f64,
    /// Steps taken, by a chain.
    pub steps: u64,
    /// Swaps accepted, by a chain.
    pub accepted: u64,
    /// Whether the chain came to rest; none without one, and where the number of steps was given.
    pub converged: Option<bool>,
    /// What refinement came to, where there was one.
    pub gain: Option<Gain>,
    /// What was done and why, of a method that chooses among others.
    pub choice: Option<Choice>,
}

/// What `auto` chose.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The method.
    pub method: &'static str,
    /// Options of the command line that, with this method, select the same rows.
    pub options: String,
    /// Why, in a sentence or two.
    pub reason: String,
}

impl Chosen {
    fn of(places: LandmarkSet, log_det: f64) -> Self {
        Self { places, log_det, steps: 0, accepted: 0, converged: None, gain: None, choice: None }
    }

    /// Rows of a determinant that is known.
    pub fn rows(mut rows: Vec<usize>, log_det: f64) -> Self {
        rows.sort_unstable();
        Self::of(LandmarkSet::Indices(rows), log_det)
    }

    /// Points of as many features as the Gram matrix's rows.
    ///
    /// # Errors
    /// [`Error::Landmarks`], [`Error::Memory`].
    pub fn points(gram: &Gram<'_>, points: Vec<f64>) -> Result<Self, Error> {
        let count = points.len() / gram.ground().features();
        let mut memory = Heap::new(count)?;
        let home = gram.points(&points)?;
        let independent = independent_points(&home, &mut memory)?;
        let log_det = if independent.len() < count { f64::NEG_INFINITY } else { independent.log_det() };
        Ok(Self::of(LandmarkSet::Points(points), log_det))
    }
}

impl From<Selection> for Chosen {
    fn from(selection: Selection) -> Self {
        let Selection { landmarks, log_det, steps, accepted, converged, .. } = selection;
        Self { steps, accepted, converged, ..Self::of(LandmarkSet::Indices(landmarks), log_det) }
    }
}

/// Runs a method; answers what it selected and its seconds. What it takes from the Gram matrix counts as if it
/// had computed it, also where another method was the first to ask. Its rows are refined if the options ask for
/// it.
///
/// # Errors
/// [`Error::NoRows`] for points that are to be refined;
/// [`Error::Landmarks`] for no landmarks and for more than there are rows; the method's.
pub fn run(method: &dyn Selector, task: &Task<'_>) -> Result<(Chosen, f64), Error> {
    let rows = task.gram.len();
    let reason = match task.c {
        0 => CoreError::Empty,
        landmarks if landmarks > rows => CoreError::TooManyLandmarks { landmarks, rows },
        _ => {
            let account = task.gram.account();
            let begin = Instant::now();
            let chosen = selected(method, task)?;
            let seconds = begin.elapsed().as_secs_f64() + task.gram.cached_seconds(account);
            return Ok((chosen, seconds));
        }
    };
    Err(Error::Landmarks { reason })
}

/// What a method selected, refined if the options ask for it and it does not do so itself.
fn selected(method: &dyn Selector, task: &Task<'_>) -> Result<Chosen, Error> {
    let chosen = method.select(task)?;
    match task.options.refinement {
        Some(refinement) if !method.refines() => refined_rows(method.name(), task, chosen, refinement),
        _ => Ok(chosen),
    }
}

/// The rows that a method selected, refined.
fn refined_rows(
    method: &'static str,
    task: &Task<'_>,
    chosen: Chosen,
    refinement: Refinement,
) -> Result<Chosen, Error> {
    let LandmarkSet::Indices(rows) = chosen.places else { return Err(Error::NoRows { method }) };
    let mut random = stream(task.setting.seed, RngStream::Refinement);
    let refined = refine(task.gram.ground(), &rows, refinement, &mut random, task.observer)?;
    let (places, log_det, gain) =
        (LandmarkSet::Indices(refined.landmarks), refined.log_det, Some(refined.gain));
    Ok(Chosen { places, log_det, gain, ..chosen })
}

/// Refuses a knob outside its range.
fn within(option: &'static str, value: usize, most: usize) -> Result<usize, Error> {
    if (1..=most).contains(&value) { Ok(value) } else { Err(Error::Knob { option, value, most }) }
}
