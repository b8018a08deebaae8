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
//! Methods that hold N² numbers refuse more than [`crate::approximation::spectrum::SPECTRUM_ROWS`] rows and say which method goes on.
//!
//! # Drawing
//!
//! Rows are drawn one after the other without replacement, each in proportion to its weight among those left;
//! a row that depends on those drawn before it is passed over. So there are always c independent rows, or an
//! error. The sources of `lev`, `reglev` and `column-norm` draw with replacement, to prove what they prove; the
//! experiments of the c-DPP paper, and ours, compare sets of c distinct rows.
//!
//! Weights are computed in `f64`; the setting's precision is that of the chains, the starts and `greedy`.

use crate::approximation::gram::Gram;
use crate::approximation::landmark_set::LandmarkSet;
use crate::error::Error;
use crate::landmarks::chain::{ChainKind, Start, Steps};
use crate::landmarks::selection::Chosen;
use crate::landmarks::swap_search::{Refinement, refine};
use crate::observer::Observer;
use crate::regression::train::Setting;
use crate::rng::{RngStream, stream};
use dpp_nystrom_core::Error as CoreError;
use std::fmt;
use std::time::{Duration, Instant};

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
pub(crate) fn selected(method: &dyn Selector, task: &Task<'_>) -> Result<Chosen, Error> {
    let chosen = method.select(task)?;
    match task.options.refinement {
        Some(refinement) if !method.refines() => refined_rows(method.name(), task, chosen, refinement),
        _ => Ok(chosen),
    }
}

/// The rows that a method selected, refined.
pub(crate) fn refined_rows(
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
pub(crate) fn within(option: &'static str, value: usize, most: usize) -> Result<usize, Error> {
    if (1..=most).contains(&value) { Ok(value) } else { Err(Error::Knob { option, value, most }) }
}
