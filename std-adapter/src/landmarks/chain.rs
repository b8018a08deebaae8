//! Landmarks from rows.

use crate::data::prepared::Prepared;
use crate::error::Error;
use crate::heap::{Heap, zeros};
use crate::kernel::precision::Precision;

use crate::landmarks::stopping::{Recorded, run_until_converged};
use crate::observer::Observer;
use crate::regression::train::{Setting, single};
use crate::rng::{RngStream, stream};
use crate::simd::engine::{Engine, Plain};
use crate::simd::lanes::Lanes;
use crate::simd::pivots::numbers_to_pivot;
use dpp_nystrom_core::{
    Acceptance, Chain, GroundSet, Landmarks, Points, Progress, Random, Rule, Scalar, SlotChain, start,
};
use rand::seq::index;
use std::fmt;
use std::str::FromStr;
use std::time::Instant;

/// Steps between two looks at the observer.
const STRIDE: u64 = 1_024;

/// Numbers that a pivoted start may hold, that of `refined` and that of the chain which [`Steps::Auto`] compares
/// with: 32 MiB in `f64`. With more rows than that it looks at a sample of them.
const PIVOTED_NUMBERS: usize = 1 << 22;

/// Rows that k-means++ seeds a chain among. Of more it looks at a sample: where a chain starts does not change what it
/// samples, and a look at all of 10⁸ rows takes longer than the chain.
const SEEDED_ROWS: usize = 1 << 16;

/// The paper's number of steps.
const PAPER_STEPS: u64 = 3_000;

/// How landmarks are selected.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// The chain of a c-DPP, from a start.
    Kdpp {
        /// Where it starts.
        start: Start,
        /// Which chain.
        chain: ChainKind,
        /// How many steps.
        steps: Steps,
    },
    /// A start alone: rows drawn uniformly, k-means++ seeds, or pivoted Cholesky.
    Start(Start),
    /// These rows.
    Given(Vec<usize>),
}

/// Which chain: all have the same stationary law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainKind {
    /// The open-slot chain with Metropolis' acceptance, its tries in vector lanes: the fast one.
    Slot,
    /// A swap at a time: the paper's Algorithm 1, or Metropolis' rule.
    Swap(Rule),
}

/// How long a chain runs.
///
/// ```
/// use dpp_nystrom::landmarks::Steps;
///
/// assert_eq!("auto".parse(), Ok(Steps::Auto));
/// assert_eq!("3000".parse(), Ok(Steps::Count(3_000)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// Until it and another chain from an unlike start are at rest and agree: the split R̂ of their
    /// log-determinants is at most 1.05. For [`ChainKind::Swap`], 3,000 as in the paper.
    Auto,
    /// So many: proposals of the open-slot chain, steps of the others.
    Count(u64),
}

impl FromStr for Steps {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            other => other
                .parse()
                .map(Self::Count)
                .map_err(|_| format!("{text:?} is no number of steps: give a whole number or auto")),
        }
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Count(count) => count.fmt(f),
        }
    }
}

/// A first set of landmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The seeds of k-means++, as the paper starts. A chain over more than 65,536 rows starts from the seeds of so
    /// many drawn at random.
    KmeansPlusPlus,
    /// Rows drawn uniformly.
    Uniform,
    /// Randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2022): each row drawn in proportion to
    /// what those before it miss.
    Pivoted {
        /// Of so many rows drawn at random; of all rows if none is said.
        rows: Option<usize>,
    },
    /// Greedily pivoted Cholesky (Fine and Scheinberg 2002): each row the one that those before it miss most
    /// of. Nothing is random.
    Greedy,
}

/// What was selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The rows, counted from 0, in ascending order.
    pub landmarks: Vec<usize>,
    /// `log det K_CC`.
    pub log_det: f64,
    /// Steps taken, by the chain that the landmarks come from.
    pub steps: u64,
    /// Swaps accepted.
    pub accepted: u64,
    /// Whether the chain came to rest; none where the number of steps was given.
    pub converged: Option<bool>,
    /// Seconds for the start and the steps.
    pub seconds: f64,
}

/// Rows of `d` features whose pivoted start, in lanes, holds no more than [`PIVOTED_NUMBERS`]; c at least.
pub(crate) fn pivoted_rows(c: usize, d: usize) -> usize {
    fitting(numbers_to_pivot(c, d), c)
}

fn fitting(numbers: usize, c: usize) -> usize {
    (PIVOTED_NUMBERS / numbers).max(c)
}

/// Selects `c` landmarks of a ground set; ground sets of any storage, `f32` or `f64`.
///
/// # Errors
/// [`Error::Landmarks`] with the core's reason, [`Error::Memory`].
pub fn select<T, G>(
    ground: &G,
    c: usize,
    method: &Method,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection, Error>
where
    T: Scalar,
    G: GroundSet<T> + ?Sized,
{
    select_with(ground, c, method, seed, observer, || Ok(Plain))
}

/// [`select()`] with engines of its own.
pub(crate) fn select_with<T, G, E>(
    ground: &G,
    c: usize,
    method: &Method,
    seed: u64,
    observer: &dyn Observer,
    engine: impl Fn() -> Result<E, Error>,
) -> Result<Selection, Error>
where
    T: Scalar,
    G: GroundSet<T> + ?Sized,
    E: Engine<T, G>,
{
    if c > ground.len() {
        let reason = dpp_nystrom_core::Error::TooManyLandmarks { landmarks: c, rows: ground.len() };
        return Err(Error::Landmarks { reason });
    }
    let begin = Instant::now();
    let mut random = stream(seed, RngStream::Landmarks);
    let mut memory = Heap::new(c)?;
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    let engine = &engine;
    let mut progress = Progress::default();
    let mut converged = None;
    match *method {
        Method::Given(ref rows) => start::given(&mut landmarks, rows).map_err(refused)?,
        Method::Start(start) => first(&mut landmarks, c, start, &mut random, &engine()?)?,
        Method::Kdpp { start, chain: ChainKind::Swap(rule), steps } => {
            first_of_chain(&mut landmarks, c, start, &mut random, &engine()?)?;
            let mut chain = Chain::new(landmarks, rule);
            let steps = if let Steps::Count(count) = steps { count } else { PAPER_STEPS };
            in_strides(steps, observer, |steps| chain.run(steps, &mut random).map(drop))?;
            progress = chain.progress();
            landmarks = chain.into_landmarks();
        }
        Method::Kdpp { start, chain: ChainKind::Slot, steps: Steps::Count(steps) } => {
            let engine = engine()?;
            first_of_chain(&mut landmarks, c, start, &mut random, &engine)?;
            let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(engine);
            in_strides(steps, observer, |steps| chain.run(steps, &mut random).map(drop))?;
            progress = chain.progress();
            landmarks = chain.into_landmarks();
        }
        Method::Kdpp { start, chain: ChainKind::Slot, steps: Steps::Auto } => {
            let mut other_random = stream(seed, RngStream::OtherChain);
            let mut other_memory = Heap::new(c)?;
            let mut other = Landmarks::new(ground, other_memory.lend()).map_err(refused)?;
            let (engine, other_engine) = (engine()?, engine()?);
            let rows = fitting(engine.numbers_to_pivot(c), c);
            let other_start = match start {
                Start::Pivoted { .. } => Start::Uniform,
                _ => Start::Pivoted { rows: (ground.len() > rows).then_some(rows) },
            };
            first_of_chain(&mut landmarks, c, start, &mut random, &engine)?;
            first_of_chain(&mut other, c, other_start, &mut other_random, &other_engine)?;
            let mut asked = recorded(landmarks, engine, random);
            let mut other = recorded(other, other_engine, other_random);
            converged = Some(run_until_converged(&mut asked, &mut other, observer)?);
            progress = asked.chain.progress();
            landmarks = asked.chain.into_landmarks();
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let log_det = landmarks.log_det().to_f64();
    let mut landmarks = landmarks.members().to_vec();
    landmarks.sort_unstable();
    let Progress { steps, accepted, .. } = progress;
    Ok(Selection { landmarks, log_det, steps, accepted, converged, seconds })
}

/// The rows of a start in the order in which it takes them.
pub(crate) fn start_with<T, G, E>(
    ground: &G,
    c: usize,
    start: Start,
    seed: u64,
    engine: &E,
) -> Result<Vec<usize>, Error>
where
    T: Scalar,
    G: GroundSet<T> + ?Sized,
    E: Engine<T, G>,
{
    let mut memory = Heap::new(c)?;
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    first(&mut landmarks, c, start, &mut stream(seed, RngStream::Landmarks), engine)?;
    Ok(landmarks.members().to_vec())
}

fn recorded<'a, T, G, E>(landmarks: Landmarks<'a, T, G>, engine: E, random: Random) -> Recorded<'a, T, G, E>
where
    T: Scalar,
    G: GroundSet<T> + ?Sized,
    E: Engine<T, G>,
{
    Recorded::new(SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(engine), random)
}

/// Runs so many steps in strides, and shows them.
fn in_strides(
    steps: u64,
    observer: &dyn Observer,
    mut run: impl FnMut(u64) -> Result<(), dpp_nystrom_core::Error>,
) -> Result<(), Error> {
    observer.begin("chain", steps);
    let mut left = steps;
    while left > 0 {
        let steps = left.min(STRIDE);
        run(steps).map_err(refused)?;
        observer.advance(steps);
        left -= steps;
    }
    observer.end();
    Ok(())
}

fn first<T, G, E>(
    landmarks: &mut Landmarks<'_, T, G>,
    c: usize,
    start: Start,
    random: &mut Random,
    engine: &E,
) -> Result<(), Error>
where
    T: Scalar,
    G: GroundSet<T> + ?Sized,
    E: Engine<T, G>,
{
    let count = landmarks.ground().len();
    match start {
        Start::Uniform => start::uniform(landmarks, c, random).map_err(refused),
        Start::KmeansPlusPlus => {
            let mut distances = zeros(count, T::ZERO)?;
            start::kmeans_plus_plus(landmarks, c, &mut distances, random).map_err(refused)
        }
        Start::Pivoted { rows: Some(rows) } if rows < count => {
            let sample = index::sample(random, count, rows).into_vec();
            engine.pivot(landmarks, c, Some(&sample), random)
        }
        Start::Pivoted { .. } => engine.pivot(landmarks, c, None, random),
        Start::Greedy => engine.pivot_greedily(landmarks, c),
    }
}

/// [`first`], for a chain to go on from: k-means++ over a sample where there are very many rows.
fn first_of_chain<T, G, E>(
    landmarks: &mut Landmarks<'_, T, G>,
    c: usize,
    start: Start,
    random: &mut Random,
    engine: &E,
) -> Result<(), Error>
where
    T: Scalar,
    G: GroundSet<T> + ?Sized,
    E: Engine<T, G>,
{
    let ground = landmarks.ground();
    if start != Start::KmeansPlusPlus || ground.len() <= SEEDED_ROWS.max(c) {
        return first(landmarks, c, start, random, engine);
    }
    let sample = index::sample(random, ground.len(), SEEDED_ROWS.max(c)).into_vec();
    let rows = engine.seeds(ground, &sample, c, random)?;
    start::given(landmarks, &rows).map_err(refused)
}

fn refused(reason: dpp_nystrom_core::Error) -> Error {
    Error::Landmarks { reason }
}

/// Selects landmarks of the prepared rows in the setting's precision; rows are counted among the
/// prepared ones.
///
/// # Errors
/// Those of [`crate::landmarks::chain::select()`].
pub fn select_rows(
    data: &Prepared,
    c: usize,
    method: &Method,
    setting: Setting,
    observer: &dyn Observer,
) -> Result<Selection, Error> {
    let Setting { kernel, precision, seed } = setting;
    match precision {
        Precision::F64 => {
            let ground = Points::new(&data.rows, data.dim, kernel.build::<f64>()?)?;
            select_with(&ground, c, method, seed, observer, || Lanes::new(c, data.dim))
        }
        Precision::F32 => {
            let rows = single(data);
            let ground = Points::new(&rows, data.dim, kernel.build::<f32>()?)?;
            select_with(&ground, c, method, seed, observer, || Lanes::new(c, data.dim))
        }
    }
}

/// The rows of a start in the order in which it takes them.
pub(crate) fn start_in_order(
    data: &Prepared,
    c: usize,
    start: Start,
    setting: Setting,
) -> Result<Vec<usize>, Error> {
    let Setting { kernel, precision, seed } = setting;
    match precision {
        Precision::F64 => {
            let ground = Points::new(&data.rows, data.dim, kernel.build::<f64>()?)?;
            start_with(&ground, c, start, seed, &Lanes::new(c, data.dim)?)
        }
        Precision::F32 => {
            let rows = single(data);
            let ground = Points::new(&rows, data.dim, kernel.build::<f32>()?)?;
            start_with(&ground, c, start, seed, &Lanes::new(c, data.dim)?)
        }
    }
}
