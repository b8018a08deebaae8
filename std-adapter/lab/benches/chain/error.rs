//! Time to a given error: that of Algorithm 1 after 3,000 steps, and that of randomly pivoted Cholesky.
//!
//! Errors are measured first, untimed: means over the seeds of `tr(K - K̃)/tr K`, for the slot chains at
//! [`CHECKPOINTS`]. The first checkpoint at which a chain's mean reaches the target error is the number of
//! tries that is then timed, including the start's factorisation but without measuring errors, alternating
//! with the compared methods. A chain with fresh determinants has the law of Algorithm 1: it is timed for
//! [`FRESH_STEPS`] steps, and scaled. For a pivoted start the chains' times exclude the pivoting, except in
//! `start+chain/pivot`: that is the sum of both, up to the first checkpoint after 0 at or below the c-DPP's
//! expectation, `(c + 1) e_(c+1)/e_c` of the eigenvalues over `tr K`, for at most 4,000 rows; for more, below
//! the mean of the same chains after the last checkpoint, which stands in for it.

use crate::data::{NAMES, named};
use crate::fresh::Fresh;
use crate::report::{Report, Table};
use crate::timing::Times;
use crate::{Error, Request};
use dpp_nystrom::approximation::trace_error;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{KernelKind, median_distance};
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{Acceptance, Chain, Error as CoreError, Landmarks, Points, Rule, SlotChain, start};
use dpp_nystrom_host::heap::Heap;
use dpp_nystrom_host::rng::{RngStream, stream};
use dpp_nystrom_host::simd::{Lane, Lanes};
use dpp_nystrom_lab::spectrum::Spectrum;
use serde_json::Value;

const PAPER_STEPS: u64 = 3_000;
const FRESH_STEPS: u64 = 300;
const CHECKPOINTS: [u64; 17] =
    [0, 100, 150, 200, 300, 400, 600, 800, 1_200, 1_600, 2_400, 3_200, 4_800, 6_400, 9_600, 12_800, 25_600];
/// Maximum number of rows for which all eigenvalues are computed.
const SPECTRUM_ROWS: usize = 4_000;

const HEADS: &[&str] = &[
    "A1/slot f64",
    "A1/slot f32",
    "fresh/slot",
    "pivot/slot",
    "pivot/slot to its error",
    "start+chain/pivot",
    "rows             ",
    " c",
    "sigma",
    "start  ",
    "A1 error",
    "pivot error",
    "c-DPP error",
    "start+chain error",
    "its tries",
    "tries f64",
    "tries f32",
    "tries to pivot error",
    "A1 ms",
    "slot f64 ms",
    "slot f32 ms",
    "pivot f64 ms",
    "pivot f32 ms",
    "slot f64 ns/try",
    "slot f32 ns/try",
    "A1 ns/step",
    "bandwidth",
];

type Ground<'g, T> = Points<'g, T, ChosenKernel<T>>;

fn refused(reason: CoreError) -> Error {
    Error::landmarks(reason)
}

#[derive(Clone, Copy, PartialEq)]
enum From {
    Uniform,
    Pivoted,
}

/// One configuration.
struct Case<'d> {
    name: &'d str,
    c: usize,
    medians: f64,
    sigma: f64,
    exact: Option<f64>,
    double: Ground<'d, f64>,
    single: Ground<'d, f32>,
    seeds: u64,
}

pub(crate) fn run(request: &Request, report: &mut Report) -> Result<(), Error> {
    let title = "time to the error of 3,000 steps of Algorithm 1 (A1, O(c²) updates, f64); sigma in medians";
    let mut table = report.table("error", title, HEADS);
    for name in NAMES {
        if !request.wants_rows(name) {
            continue;
        }
        let Some(data) = named(name)? else { continue };
        let (rows, dim) = (data.rows(), data.dim());
        let rows_single: Vec<f32> = rows.iter().map(|&value| value as f32).collect();
        let median = median_distance(rows, dim, KernelKind::Gaussian, 0)?;
        for medians in [1.0, 3.0, 10.0] {
            let sigma = medians * median;
            let double = data.ground(KernelSpec { kind: KernelKind::Gaussian, sigma })?;
            let spectrum = if data.len() <= SPECTRUM_ROWS { Some(Spectrum::of(&double)?) } else { None };
            let counts: &[usize] = if name.starts_with("cal") { &[20, 50] } else { &[50] };
            for &c in counts {
                let exact = spectrum.as_ref().and_then(|spectrum| spectrum.expected_trace_fraction(c));
                let single = Points::new(&rows_single, dim, KernelKind::Gaussian.build(sigma)?)?;
                let double = data.ground(KernelSpec { kind: KernelKind::Gaussian, sigma })?;
                let seeds = if request.quick { 5 } else { 10 };
                let case = Case { name, c, medians, sigma, exact, double, single, seeds };
                for from in [From::Uniform, From::Pivoted] {
                    case.measure(from, &mut table)?;
                }
            }
        }
    }
    Ok(())
}

/// Return the initial landmarks of a seed.
fn first<T: Lane>(ground: &Ground<'_, T>, c: usize, from: From, seed: u64) -> Result<Vec<usize>, Error> {
    let mut memory = Heap::new(c)?;
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    let mut random = stream(seed, RngStream::Landmarks);
    match from {
        From::Uniform => start::uniform(&mut landmarks, c, &mut random).map_err(refused)?,
        From::Pivoted => {
            Lanes::new(c, ground.features())?.pivot(&mut landmarks, c, None, &mut random, &|| false)?;
        }
    }
    Ok(landmarks.members().to_vec())
}

/// Return the initial landmarks of every seed in this precision; none if there are too few independent rows.
fn starts<T: Lane>(
    ground: &Ground<'_, T>,
    case: &Case<'_>,
    from: From,
) -> Result<Option<Vec<Vec<usize>>>, Error> {
    let mut all = Vec::new();
    for seed in 0..case.seeds {
        match first(ground, case.c, from, seed) {
            Ok(members) => all.push(members),
            Err(error) if error.name() == "Landmarks" => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(all))
}

fn slot_chain<'g, T: Lane>(
    ground: &'g Ground<'g, T>,
    memory: &'g mut Heap<T>,
    members: &[usize],
) -> Result<SlotChain<'g, T, Ground<'g, T>, Lanes<T>>, Error> {
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    start::given(&mut landmarks, members).map_err(refused)?;
    let lanes = Lanes::new(members.len(), ground.features())?;
    Ok(SlotChain::new(landmarks, Acceptance::Metropolis).with_evaluator(lanes))
}

/// Run the slot chain from these landmarks.
fn run_slots<T: Lane>(ground: &Ground<'_, T>, members: &[usize], tries: u64, seed: u64) -> Result<(), Error> {
    let mut memory = Heap::new(members.len())?;
    let mut chain = slot_chain(ground, &mut memory, members)?;
    chain.run(tries, &mut stream(seed, RngStream::OtherChain)).map(drop).map_err(refused)
}

fn run_paper<'g>(
    ground: &'g Ground<'g, f64>,
    memory: &'g mut Heap<f64>,
    members: &[usize],
    seed: u64,
) -> Result<Vec<usize>, Error> {
    let mut landmarks = Landmarks::new(ground, memory.lend()).map_err(refused)?;
    start::given(&mut landmarks, members).map_err(refused)?;
    let mut chain = Chain::new(landmarks, Rule::ALGORITHM_1);
    chain.run(PAPER_STEPS, &mut stream(seed, RngStream::OtherChain)).map_err(refused)?;
    Ok(chain.landmarks().members().to_vec())
}

impl Case<'_> {
    fn error(&self, members: &[usize]) -> Result<f64, Error> {
        Ok(trace_error(&self.double, members)?.fraction)
    }

    fn mean(&self, mut of: impl FnMut(u64) -> Result<f64, Error>) -> Result<f64, Error> {
        let mut sum = 0.0;
        for seed in 0..self.seeds {
            sum += of(seed)?;
        }
        Ok(sum / self.seeds as f64)
    }

    /// Return the mean error at every checkpoint, until it reaches all target errors.
    fn errors<T: Lane>(
        &self,
        ground: &Ground<'_, T>,
        starts: &[Vec<usize>],
        goals: &[f64],
    ) -> Result<Vec<f64>, Error> {
        let mut memories = Vec::new();
        for _ in starts {
            memories.push(Heap::new(self.c)?);
        }
        let mut chains = Vec::new();
        for ((memory, members), seed) in memories.iter_mut().zip(starts).zip(0..) {
            chains.push((slot_chain(ground, memory, members)?, stream(seed, RngStream::OtherChain)));
        }
        let mut errors: Vec<f64> = Vec::new();
        for tries in CHECKPOINTS {
            let mut sum = 0.0;
            for (chain, random) in &mut chains {
                chain.run(tries - chain.progress().steps, random).map_err(refused)?;
                sum += self.error(chain.landmarks().members())?;
            }
            errors.push(sum / self.seeds as f64);
            if goals.iter().all(|goal| errors.iter().any(|error| error <= goal)) {
                break;
            }
        }
        Ok(errors)
    }

    fn measure(&self, from: From, table: &mut Table<'_>) -> Result<(), Error> {
        let Self { name, c, medians, sigma, exact, ref double, ref single, seeds } = *self;
        let Some(starts_double) = starts(double, self, from)? else {
            println!("{name}, c = {c}, {medians} medians: fewer than {c} independent rows in f64");
            return Ok(());
        };
        let starts_single = starts(single, self, from)?;
        let paper_error = self.mean(|seed| {
            let members = run_paper(double, &mut Heap::new(c)?, &starts_double[seed as usize], seed)?;
            self.error(&members)
        })?;
        let pivot_error = self.mean(|seed| self.error(&first(double, c, From::Pivoted, seed)?))?;

        // From a pivoted start, all checkpoints: the mean of the last one stands in for the expectation.
        let goals = match from {
            From::Uniform => vec![paper_error, pivot_error],
            From::Pivoted => vec![f64::NEG_INFINITY],
        };
        let errors = self.errors(double, &starts_double, &goals)?;
        let expected = match from {
            From::Uniform => exact,
            From::Pivoted => exact.or(errors.last().copied()),
        };
        let reach = |errors: &[f64], goal: f64| errors.iter().position(|&error| error <= goal);
        let tries = reach(&errors, paper_error).map(|at| CHECKPOINTS[at]);
        let to_pivot = match from {
            From::Uniform => reach(&errors, pivot_error).map(|at| CHECKPOINTS[at]),
            From::Pivoted => None,
        };
        let after = match from {
            From::Uniform => None,
            From::Pivoted => expected.and_then(|goal| reach(&errors[1..], goal)).map(|at| at + 1),
        };
        let tries_single = match &starts_single {
            Some(starts) => reach(&self.errors(single, starts, &[paper_error])?, paper_error),
            None => None,
        }
        .map(|at| CHECKPOINTS[at]);

        let start_of = |repetition: u64| &starts_double[(repetition % seeds) as usize];
        // A method that never reaches the error is not timed.
        let times = Times::interleaved(
            4 * seeds,
            &mut [
                &mut |seed| run_paper(double, &mut Heap::new(c)?, start_of(seed), seed).map(drop),
                &mut |seed| run_slots(double, start_of(seed), tries.unwrap_or(0), seed),
                &mut |seed| match &starts_single {
                    Some(starts) => {
                        let members = &starts[(seed % seeds) as usize];
                        run_slots(single, members, tries_single.unwrap_or(0), seed)
                    }
                    None => Ok(()),
                },
                &mut |seed| {
                    let mut chain = Fresh::new(double, start_of(seed))?;
                    let mut random = stream(seed, RngStream::OtherChain);
                    for _ in 0..FRESH_STEPS {
                        chain.step(&mut random);
                    }
                    Ok(())
                },
                &mut |seed| first(double, c, From::Pivoted, seed).map(drop),
                &mut |seed| match &starts_single {
                    Some(_) => first(single, c, From::Pivoted, seed).map(drop).or(Ok(())),
                    None => Ok(()),
                },
                &mut |seed| run_slots(double, start_of(seed), to_pivot.unwrap_or(0), seed),
                &mut |seed| {
                    let members = first(double, c, From::Pivoted, seed)?;
                    after.map_or(Ok(()), |at| run_slots(double, &members, CHECKPOINTS[at], seed))
                },
                &mut |seed| run_slots(double, start_of(seed), 1_600, seed),
                &mut |seed| match &starts_single {
                    Some(starts) => run_slots(single, &starts[(seed % seeds) as usize], 1_600, seed),
                    None => Ok(()),
                },
            ],
        )?;
        let moved = tries.filter(|&tries| tries > 0);
        let ratio = |moved: Option<u64>, of, over, by: f64| -> Value {
            moved.map_or(Value::Null, |_| (times.ratio(of, over) * by).into())
        };
        let milliseconds =
            |known: bool, of| -> Value { if known { (times.seconds(of) * 1e3).into() } else { Value::Null } };
        let by = PAPER_STEPS as f64 / FRESH_STEPS as f64;
        let moved_single = tries_single.filter(|&tries| tries > 0);
        table.row(&[
            ratio(moved, 0, 1, 1.0),
            ratio(moved_single, 0, 2, 1.0),
            ratio(moved, 3, 1, by),
            ratio(moved, 4, 1, 1.0),
            ratio(to_pivot, 4, 6, 1.0),
            ratio(after.map(|at| CHECKPOINTS[at]), 7, 4, 1.0),
            name.into(),
            c.into(),
            medians.into(),
            if from == From::Uniform { "uniform" } else { "pivoted" }.into(),
            paper_error.into(),
            pivot_error.into(),
            expected.into(),
            after.map(|at| errors[at]).into(),
            after.map(|at| CHECKPOINTS[at]).into(),
            tries.into(),
            tries_single.into(),
            to_pivot.into(),
            milliseconds(true, 0),
            milliseconds(moved.is_some(), 1),
            milliseconds(moved_single.is_some(), 2),
            milliseconds(true, 4),
            milliseconds(starts_single.is_some(), 5),
            (times.seconds(8) * 1e9 / 1_600.0).into(),
            if starts_single.is_some() { (times.seconds(9) * 1e9 / 1_600.0).into() } else { Value::Null },
            (times.seconds(0) * 1e9 / PAPER_STEPS as f64).into(),
            sigma.into(),
        ]);
        Ok(())
    }
}
