//! The chains of a c-DPP and their starts, on any ground set: those of the core crate, in the lanes of
//! `dpp_nystrom_host::simd`.

use crate::approximation::{AnyGround, Gram, features::push_some};
use crate::data::Prepared;
use crate::error::{Cause, Error};
use crate::kernel::Precision;
use crate::landmarks::{
    ChainKind, Selection, Selector, Start, Steps, Task, blocks, procedure::Procedure, selector::run,
    stopping::Recorded, stopping::run_until_converged,
};
use crate::observer::{Observer, go_on};
use dpp_nystrom_core::{
    Acceptance, Chain, Error as CoreError, Evaluate, GroundSet, Landmarks, Points, Progress, Random, Scalar,
    SlotChain, start,
};
use dpp_nystrom_host::heap::{Heap, zeros};
use dpp_nystrom_host::rng::{RngStream, stream};
use dpp_nystrom_host::{
    simd::bounds::GoOn,
    simd::indexed::Indexed,
    simd::pivots::numbers_to_pivot,
    simd::{InLanes, Lane, Lanes},
};
use rand::seq::index;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::time::Instant;

/// Steps between two progress reports.
const STRIDE: u64 = 1_024;

/// Numbers that a pivoted start may store: 32 MiB in `f64`. Applies to the start of `refined` and to the
/// comparison chain of [`Steps::Auto`]. With more rows, the start reads a sample.
const PIVOTED_NUMBERS: usize = 1 << 22;

/// The maximum number of rows from which k-means++ seeds a chain. With more rows it reads a sample: the start
/// does not change the stationary law, and reading all of 10⁸ rows takes longer than the chain.
const SEEDED_ROWS: usize = 1 << 16;

/// The maximum numbers of rows and of their values of which pivoted Cholesky keeps the features. Of more it
/// keeps bounds of the residuals, and reads the rows where they are.
const KEPT_ROWS: usize = 1 << 15;
const KEPT_VALUES: usize = 1 << 20;

/// Whether pivoted Cholesky keeps the features of so many rows. The number of landmarks does not count, so
/// that a smaller set is a prefix of a larger one.
pub(crate) fn keeps_features(rows: usize, width: usize) -> bool {
    rows <= KEPT_ROWS && rows.saturating_mul(width) <= KEPT_VALUES
}

/// The number of landmarks from which uniform draws are tested in blocks.
const BLOCKED: usize = 2_048;

/// The number of steps in the paper.
const PAPER_STEPS: u64 = 3_000;

/// Return how many rows of `d` features a pivoted start can use while storing at most [`PIVOTED_NUMBERS`]; at
/// least c.
pub(crate) fn pivoted_rows(c: usize, d: usize) -> usize {
    (PIVOTED_NUMBERS / numbers_to_pivot(c, d)).max(c)
}

/// Select `c` landmarks of a custom ground set with any storage, in `f32` or `f64`.
///
/// ```
/// use dpp_nystrom::approximation::LandmarkSet;
/// use dpp_nystrom::core::Matrix;
/// use dpp_nystrom::landmarks::select;
/// use dpp_nystrom::observer::NoObserver;
/// use dpp_nystrom::selectors::Greedy;
///
/// # fn main() -> Result<(), dpp_nystrom::Error> {
/// let matrix = Matrix::new(&[4.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 1.0])?;
/// let selection = select(&matrix, 2, &Greedy, 0, &NoObserver)?;
/// assert_eq!(selection.landmarks, LandmarkSet::Indices(vec![0, 1]));
/// # Ok(()) }
/// ```
///
/// Every method runs that does not need coordinates of rows: all but `Kmeans` and `KmeansSnapped`, and
/// `RefinedRidge`, which needs targets. Kernel values are evaluated one by one, everything else as for the
/// kernels of this crate. Methods that are not pivoted Cholesky or a chain compute in `f64`.
///
/// # Errors
/// `ErrorKind::Landmarks` with the reason from the core crate, `ErrorKind::Memory`; `ErrorKind::Unsupported`
/// for selectors that need coordinates, `ErrorKind::Data` for those that need targets.
pub fn select<T: Lane, G: GroundSet<T> + Sync + ?Sized>(
    ground: &G,
    c: usize,
    selector: &dyn Selector,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection, Error> {
    select_with_data(ground, None, c, selector, seed, observer)
}

/// Return the open-slot chain that [`Kdpp`](crate::selectors::Kdpp) runs, from these landmarks: the core's,
/// with proposals evaluated in vector lanes.
///
/// ```
/// use dpp_nystrom::approximation::AnyGround;
/// use dpp_nystrom::core::{Landmarks, Matrix, Random, start};
/// use dpp_nystrom_host::heap::Heap;
/// use dpp_nystrom::landmarks::slot_chain;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let matrix = Matrix::new(&[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0])?;
/// let ground = AnyGround::Entries(&matrix);
/// let (mut memory, mut random) = (Heap::new(2)?, Random::seeded(7));
/// let mut landmarks = Landmarks::new(&ground, memory.lend())?;
/// start::uniform(&mut landmarks, 2, &mut random)?;
/// let mut chain = slot_chain(landmarks)?;
/// chain.run(100, &mut random)?;
/// assert!(chain.progress().accepted > 0);
/// # Ok(()) }
/// ```
///
/// # Errors
/// `ErrorKind::Memory`.
pub fn slot_chain<'a>(
    landmarks: Landmarks<'a, f64, AnyGround<'a>>,
) -> Result<SlotChain<'a, f64, AnyGround<'a>, impl Evaluate<f64, AnyGround<'a>> + use<'a>>, Error> {
    let lanes = Lanes::new(landmarks.len(), landmarks.ground().width())?;
    Ok(SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(lanes))
}

/// [`select()`], with the rows that `ground` is over, for their target.
pub(crate) fn select_with_data<T: Lane, G: GroundSet<T> + Sync + ?Sized>(
    ground: &G,
    data: Option<&Prepared>,
    c: usize,
    selector: &dyn Selector,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Selection, Error> {
    // Lanes hold the numbers of rows in 32 bits.
    if u32::try_from(ground.len()).is_err() {
        let (index, len) = (ground.len() - 1, u32::MAX as usize);
        return Err(Error::landmarks(CoreError::OutOfRange { index, len }));
    }
    if let Some(procedure) = selector.on_ground() {
        return Ok(select_with(&Indexed(ground), c, &procedure, seed, observer)?.1);
    }
    let in_double = InDouble { ground, scalar: PhantomData };
    let gram = Gram::over(&in_double, data);
    run(selector, &Task { seed, observer, ..Task::new(&gram, c) }).map_err(|error| match error {
        Error(Cause::BuiltInKernel { instead, .. }) => Error(Cause::BuiltInKernel {
            problem: format!("{} does not work with a custom kernel or a kernel matrix", selector.reader()),
            instead,
        }),
        error => error,
    })
}

/// A ground set, read in `f64`.
struct InDouble<'g, T, G: ?Sized> {
    ground: &'g G,
    scalar: PhantomData<fn() -> T>,
}

impl<T: Scalar, G: GroundSet<T> + ?Sized> GroundSet<f64> for InDouble<'_, T, G> {
    fn len(&self) -> usize {
        self.ground.len()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.ground.entry(i, j).to_f64()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.ground.diagonal(i).to_f64()
    }

    fn squared_distance(&self, i: usize, j: usize) -> f64 {
        self.ground.squared_distance(i, j).to_f64()
    }
}

/// Run a procedure. Return the rows in the order of selection, and the selection.
pub(crate) fn select_with<T: Lane, G: InLanes<T>>(
    ground: &G,
    c: usize,
    procedure: &Procedure,
    seed: u64,
    observer: &dyn Observer,
) -> Result<(Vec<usize>, Selection), Error> {
    if c > ground.len() {
        return Err(Error::landmarks(CoreError::TooManyLandmarks { landmarks: c, rows: ground.len() }));
    }
    let begin = Instant::now();
    let mut random = stream(seed, RngStream::Landmarks);
    if c >= BLOCKED && *procedure == Procedure::Start(Start::Uniform) {
        let (rows, selection) = blocks::uniform(ground, c, &mut random, observer)?;
        return Ok((rows, Selection { seconds: begin.elapsed().as_secs_f64(), ..selection }));
    }
    let mut memory = Heap::new(c)?;
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(Error::landmarks)?;
    let make_lanes = || Lanes::new(c, ground.width());
    let lanes = make_lanes()?;
    let mut progress = Progress::default();
    let mut convergence = None;
    match *procedure {
        Procedure::Given(ref rows) => push_some(&mut landmarks, rows)?,
        Procedure::Start(start) => first(&mut landmarks, c, start, &mut random, &lanes, observer)?,
        Procedure::Kdpp { start, chain, steps } => {
            first_of_chain(&mut landmarks, c, start, &mut random, &lanes, observer)?;
            match (chain, steps) {
                // There is no other row to exchange one for.
                _ if c == ground.len() => {}
                (ChainKind::Swap(rule), _) => {
                    let mut chain = Chain::new(landmarks, rule);
                    let steps = if let Steps::Count(count) = steps { count } else { PAPER_STEPS };
                    in_strides(steps, observer, |steps| chain.run(steps, &mut random).map(drop))?;
                    progress = chain.progress();
                    landmarks = chain.into_landmarks();
                }
                (ChainKind::Slot, Steps::Count(steps)) => {
                    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(lanes);
                    in_strides(steps, observer, |steps| chain.run(steps, &mut random).map(drop))?;
                    progress = chain.progress();
                    landmarks = chain.into_landmarks();
                }
                (ChainKind::Slot, Steps::Auto) => {
                    let mut other_random = stream(seed, RngStream::OtherChain);
                    let mut other_memory = Heap::new(c)?;
                    let mut other = Landmarks::new(ground, other_memory.lend()).map_err(Error::landmarks)?;
                    let rows = pivoted_rows(c, ground.width());
                    let other_start = match start {
                        Start::Pivoted { .. } => Start::Uniform,
                        _ => Start::Pivoted { rows: (ground.len() > rows).then_some(rows) },
                    };
                    first_of_chain(&mut other, c, other_start, &mut other_random, &lanes, observer)?;
                    let mut asked = Recorded::new(landmarks, lanes, random);
                    let mut other = Recorded::new(other, make_lanes()?, other_random);
                    convergence = Some(run_until_converged(&mut asked, &mut other, observer)?);
                    progress = asked.chain.progress();
                    landmarks = asked.chain.into_landmarks();
                }
            }
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let Progress { steps, accepted, .. } = progress;
    let selected = Selection::of_landmarks(&landmarks);
    // The members of a chain are in no order.
    let order = selected.order.filter(|_| !matches!(procedure, Procedure::Kdpp { .. }));
    let members = landmarks.members().to_vec();
    Ok((members, Selection { order, steps, accepted, convergence, seconds, ..selected }))
}

/// Run this many steps in strides and report progress to the observer.
fn in_strides(
    steps: u64,
    observer: &dyn Observer,
    mut run: impl FnMut(u64) -> Result<(), CoreError>,
) -> Result<(), Error> {
    observer.begin("chain", steps);
    let mut left = steps;
    while left > 0 {
        let steps = left.min(STRIDE);
        run(steps).map_err(Error::landmarks)?;
        observer.advance(steps);
        go_on(observer)?;
        left -= steps;
    }
    observer.end();
    Ok(())
}

/// Fill an empty landmark set with a start.
fn first<T: Lane, G: InLanes<T>>(
    landmarks: &mut Landmarks<'_, T, G>,
    c: usize,
    start: Start,
    random: &mut Random,
    lanes: &Lanes<T>,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let count = landmarks.ground().len();
    let cancelled = &|| observer.is_cancelled();
    let is_kept = keeps_features(count, landmarks.ground().width());
    match start {
        Start::Uniform => start::uniform(landmarks, c, random).map_err(Error::landmarks),
        Start::KmeansPlusPlus => {
            let mut distances = zeros(count, T::ZERO)?;
            let seeded = start::kmeans_plus_plus_while(landmarks, c, &mut distances, random, || !cancelled());
            if seeded.map_err(Error::landmarks)? { Ok(()) } else { Err(Error(Cause::Cancelled)) }
        }
        Start::Pivoted { rows: Some(rows) } if rows < count => {
            let sample = index::sample(random, count, rows).into_vec();
            Ok(lanes.pivot(landmarks, c, Some(&sample), random, cancelled)?)
        }
        Start::Pivoted { .. } if !is_kept => {
            counted(observer, c, |go_on| Ok(lanes.pivot_by_bounds(landmarks, c, random, go_on)?))
        }
        Start::Pivoted { .. } => Ok(lanes.pivot(landmarks, c, None, random, cancelled)?),
        Start::Greedy if !is_kept => {
            counted(observer, c, |go_on| Ok(lanes.pivot_greedily_by_bounds(landmarks, c, go_on)?))
        }
        Start::Greedy => Ok(lanes.pivot_greedily(landmarks, c, cancelled)?),
    }
}

/// Run pivoted Cholesky up to `c` landmarks and report these to the observer.
fn counted(
    observer: &dyn Observer,
    c: usize,
    pivot: impl FnOnce(GoOn<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    observer.begin("landmarks", c as u64);
    let reported = Cell::new(0);
    pivot(&|landmarks| {
        let before = reported.replace(landmarks);
        observer.advance(landmarks.saturating_sub(before) as u64);
        if observer.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    observer.advance(c.saturating_sub(reported.get()) as u64);
    observer.end();
    Ok(())
}

/// Select the start of a chain as [`first`], but run k-means++ on a sample if there are more than
/// [`SEEDED_ROWS`] rows.
fn first_of_chain<T: Lane, G: InLanes<T>>(
    landmarks: &mut Landmarks<'_, T, G>,
    c: usize,
    start: Start,
    random: &mut Random,
    lanes: &Lanes<T>,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let ground = landmarks.ground();
    if start != Start::KmeansPlusPlus || ground.len() <= SEEDED_ROWS.max(c) {
        return first(landmarks, c, start, random, lanes, observer);
    }
    let sample = index::sample(random, ground.len(), SEEDED_ROWS.max(c)).into_vec();
    let rows = ground.seeds(&sample, c, random)?;
    start::given(landmarks, &rows).map_err(Error::landmarks)
}

/// Select landmarks among the task's rows, in the task's precision.
pub(crate) fn select_rows(task: &Task<'_>, procedure: &Procedure) -> Result<Selection, Error> {
    Ok(select_in_order(task, procedure)?.1)
}

/// Select as [`select_rows`]. Return the rows in the order of selection, and the selection.
pub(crate) fn select_in_order(
    task: &Task<'_>,
    procedure: &Procedure,
) -> Result<(Vec<usize>, Selection), Error> {
    let &Task { gram, c, seed, observer, .. } = task;
    match (task.precision, gram.ground()) {
        (Precision::F32, AnyGround::Points(points)) => {
            let rows: Vec<f32> = gram.data()?.rows.iter().map(|&value| value as f32).collect();
            let ground = Points::new(&rows, points.features(), gram.kernel()?.build::<f32>()?)?;
            select_with(&ground, c, procedure, seed, observer)
        }
        (_, ground) => select_with(ground, c, procedure, seed, observer),
    }
}
