//! The cost model of [`crate::selectors::Auto`], and its plan.
//!
//! A plan starts from a pilot sample: the residuals of pivoted Cholesky on [`PILOT_ROWS`] rows drawn at
//! random. If the residual is zero, exchanges cannot reduce it. If the residual with all landmarks is more
//! than [`FLAT`] times that with half of them, the spectrum is flat: the rows nearest to the k-means
//! centroids are then the better start, if the budget allows for them. The rest of the budget is spent on
//! sweeps, at most [`SWEEPS`]. If all of them fit with more candidates, the plan uses more candidates. If
//! they do not fit, it measures the error on fewer rows, or plans no sweeps.
//!
//! The budget is counted in operations, not in elapsed time: a second is [`RATE`] multiply-adds as counted by
//! [`Problem`]. So the plan is a function of the rows, the seed and the budget alone. The same seed selects
//! the same rows on a slower machine, which takes longer. Targets are not read unless the objective requires
//! them, so that a later cross-validation is unbiased.

use crate::approximation::{CurvePoint, curve::trace_curve};
use crate::error::{Cause, Error};
use crate::landmarks::{
    Refinement, Start, Task, chain::pivoted_rows, chain::select_with, methods::lloyd::ROUNDS,
    procedure::Procedure, swap_search::CANDIDATES, swap_search::WHOLE_ROWS,
};
use dpp_nystrom_core::Error as CoreError;
use dpp_nystrom_host::rng::{RngStream, stream};
use dpp_nystrom_host::simd::InLanes;
use rand::seq::index;
use std::time::Duration;

/// Rows of the pilot sample, or four times the number of landmarks if that is more.
const PILOT_ROWS: usize = 1_024;

/// Multiply-adds per second of budget: half of the lowest rate measured on a core with AVX-512, over a pass,
/// a sweep and a round of k-means.
const RATE: f64 = 4e9;

/// The cost of a kernel entry in multiply-adds, in addition to those for its features.
const ENTRY: f64 = 10.0;

/// The spectrum is flat if the residual with all landmarks exceeds this fraction of the residual with half of
/// them.
const FLAT: f64 = 0.6;

/// The fraction of the trace below which a residual is a rounding error.
const NOTHING: f64 = 1e-12;

/// The maximum number of sweeps: further ones gain little.
const SWEEPS: u64 = 10;

/// The minimum number of sweeps: if fewer fit, the error is measured on fewer rows.
const FEW: u64 = 2;

/// The number of candidates if the budget allows all sweeps with this many; more if
/// [`Refinement::default`] has more.
const MANY: usize = 1_500;

/// Multiply-adds of a sweep per pair of candidates and per landmark: two products, and the swaps.
const PRODUCTS: f64 = 2.5;

/// The minimum number of sampled rows per landmark.
const LEAST: usize = 20;

/// The budget if none is given: this multiple of the cost of residuals on all rows, which is about that of a
/// regression, within [`USUAL`], in seconds.
const PASSES: f64 = 10.0;
const USUAL: (f64, f64) = (0.1, 1.0);

/// Plan within a budget: draw the pilot sample if the budget allows it, and plan with the rest.
pub(crate) fn plan_for(task: &Task<'_>, time: Option<Duration>) -> Result<Plan, Error> {
    let (rows, c, d) = (task.gram.len(), task.c, task.gram.ground().width());
    let kmeans = task.gram.data().is_ok();
    let problem = Problem { rows, c, d, kmeans, time: Duration::ZERO, operations: 0.0 };
    let time = time.unwrap_or_else(|| problem.usual());
    let problem = Problem { time, operations: time.as_secs_f64() * RATE, ..problem };
    let pilot_rows = PILOT_ROWS.max(4 * c).min(rows);
    let cost = problem.pass(pilot_rows);
    if 4.0 * cost > problem.operations {
        return Ok(plan(problem, None));
    }
    let left = Problem { operations: problem.operations - cost, ..problem };
    Ok(plan(left, Some(pilot(task, pilot_rows)?)))
}

/// The selection of c landmarks among rows of d features within a budget; costs are in multiply-adds.
#[derive(Clone, Copy, Debug)]
struct Problem {
    rows: usize,
    c: usize,
    d: usize,
    /// Whether the rows have coordinates.
    kmeans: bool,
    /// The budget as given.
    time: Duration,
    /// The budget left.
    operations: f64,
}

impl Problem {
    /// Return the cost of computing the residuals of this many rows, or of pivoted Cholesky on them.
    fn pass(self, rows: usize) -> f64 {
        let (c, d) = (self.c as f64, self.d as f64);
        rows as f64 * c * (d + ENTRY + c / 2.0)
    }

    /// Return the budget if none is given, in milliseconds.
    fn usual(self) -> Duration {
        let seconds = PASSES * self.pass(self.rows) / RATE;
        Duration::from_millis((1e3 * seconds.clamp(USUAL.0, USUAL.1)) as u64)
    }

    /// Return the cost of a sweep with this many candidates, without its pass over the rows.
    fn sweep(self, candidates: usize) -> f64 {
        let entry = 0.5 * (self.d as f64 + ENTRY);
        (candidates as f64).powi(2) * (entry + PRODUCTS * self.c as f64)
    }

    /// Return the cost of k-means, its seeds and its nearest rows. A feature costs two: a difference and its
    /// square.
    fn snapped(self) -> f64 {
        2.0 * self.rows as f64 * self.c as f64 * self.d as f64 * (ROUNDS + 2) as f64
    }
}

/// The trace error of pivoted Cholesky on the pilot sample.
#[derive(Clone, Copy, Debug)]
struct Pilot {
    rows: usize,
    /// The error with half of the landmarks.
    half: f64,
    /// The error with all landmarks.
    all: f64,
}

/// The methods a plan can select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlannedMethod {
    KmeansSnapped,
    Refined,
    RpCholesky,
    Uniform,
}

fn pilot(task: &Task<'_>, rows: usize) -> Result<Pilot, Error> {
    let mut random = stream(task.seed, RngStream::Pilot);
    let sample = index::sample(&mut random, task.gram.len(), rows).into_vec();
    let procedure = Procedure::Start(Start::Pivoted { rows: None });
    let curve = task.gram.ground().on_rows(&sample, |ground| {
        let (order, _) = select_with(ground, task.c, &procedure, task.seed, task.observer)?;
        trace_curve(ground, &order)
    });
    let curve = match curve {
        Err(Error(Cause::Landmarks { reason: CoreError::RankDeficient { .. } })) => {
            return Ok(Pilot { rows, half: 0.0, all: 0.0 });
        }
        curve => curve?,
    };
    let residual =
        |c: usize| curve.iter().find(|point: &&CurvePoint| point.landmarks == c).map_or(1.0, |p| p.error);
    Ok(Pilot { rows, half: residual(task.c / 2), all: residual(task.c) })
}

/// A plan and the reason for it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) method: PlannedMethod,
    pub(crate) pivot_rows: Option<usize>,
    pub(crate) refinement: Option<Refinement>,
    pub(crate) reason: String,
}

/// Return the plan for these numbers.
fn plan(problem: Problem, pilot: Option<Pilot>) -> Plan {
    let Problem { rows, c, d, kmeans, time, operations } = problem;
    let seen = match pilot {
        None => format!("{time:?} leaves no time to measure what landmarks explain"),
        Some(Pilot { rows: of, half, all }) => format!(
            "{c} landmarks of pivoted Cholesky leave {all:.2e} of the kernel's trace, and {} leave {half:.2e} (on {of} rows)",
            c / 2
        ),
    };
    let fitting = pivoted_rows(c, d).min(rows);
    let refinement = pilot.filter(|pilot| pilot.all > NOTHING).and_then(|_| sweeps(problem, fitting));
    let Some((refinement, pivoted)) = refinement else {
        return without_exchanges(problem, fitting, pilot, &seen);
    };
    let (sweeps, sample) = (refinement.sweeps, refinement.candidates(c));
    let measured = refinement.rows.min(rows);
    let over =
        if measured >= rows { "all rows".to_owned() } else { format!("{measured} of the {rows} rows") };
    let pass = problem.pass(measured);
    let spent = problem.snapped() + pass + sweeps as f64 * (problem.sweep(sample) + pass);
    let is_flat = pilot.is_some_and(|pilot| pilot.all > FLAT * pilot.half);
    if is_flat && kmeans && measured >= rows && spent <= operations {
        let reason = format!(
            "{seen}, hardly less: there the rows next to the centroids of k-means are the better start; {sweeps} sweeps of \
             exchanges, of {sample} candidates each, fit into {time:?} beside them"
        );
        let method = PlannedMethod::KmeansSnapped;
        return Plan { method, pivot_rows: None, refinement: Some(refinement), reason };
    }
    let reason = format!(
        "{sweeps} sweeps of exchanges, of {sample} candidates each and measured on {over}, fit into {time:?}; {seen}"
    );
    let pivot_rows = (pivoted < fitting).then_some(pivoted);
    Plan { method: PlannedMethod::Refined, pivot_rows, refinement: Some(refinement), reason }
}

/// Return the sweeps that fit the budget and the rows of their start; `None` if fewer than [`FEW`] fit.
fn sweeps(problem: Problem, fitting: usize) -> Option<(Refinement, usize)> {
    let many = Refinement::default().candidates(problem.c).max(MANY);
    let fit = |measured: usize, candidates: usize| {
        let pass = problem.pass(measured);
        let left = problem.operations - problem.pass(measured.min(fitting)) - pass;
        (left / (problem.sweep(candidates) + pass)).floor().clamp(0.0, SWEEPS as f64) as u64
    };
    let all = problem.rows.min(WHOLE_ROWS);
    let with = |measured: usize, sample: usize| {
        // All rows: the default of `Refinement::rows`.
        let measured = if measured == all { WHOLE_ROWS } else { measured };
        Refinement {
            sweeps: fit(measured.min(all), sample),
            sample: Some(sample),
            budget: None,
            rows: measured,
        }
    };
    if fit(all, many) == SWEEPS {
        return Some((with(all, many), fitting));
    }
    if fit(all, CANDIDATES) >= FEW {
        return Some((with(all, CANDIDATES), fitting));
    }
    // Plan few sweeps. The remaining budget pays for their passes and those of the start, on fewer rows.
    let left = problem.operations - FEW as f64 * problem.sweep(CANDIDATES);
    let measured = (left / (problem.pass(1) * (FEW + 2) as f64)).floor().max(0.0) as usize;
    let enough = measured >= LEAST * problem.c && measured > CANDIDATES;
    enough.then(|| (Refinement { sweeps: FEW, ..with(measured, CANDIDATES) }, measured.min(fitting)))
}

/// Return a plan without refinement: pivoted Cholesky on as many rows as the budget allows, or uniform rows.
fn without_exchanges(problem: Problem, fitting: usize, pilot: Option<Pilot>, seen: &str) -> Plan {
    let Problem { rows, c, time, operations, .. } = problem;
    let refinement = None;
    let pivoted = ((operations / problem.pass(1)).floor().max(0.0) as usize).min(fitting);
    if pivoted < (LEAST * c).min(rows) {
        let scarce = if pivoted == fitting { "a memory of 32 MiB".to_owned() } else { format!("{time:?}") };
        let reason = format!(
            "rows are drawn at random: {scarce} is not enough for pivoted Cholesky on {LEAST} rows for each of {c} landmarks; {seen}"
        );
        return Plan { method: PlannedMethod::Uniform, pivot_rows: None, refinement, reason };
    }
    let why = match pilot {
        Some(Pilot { all, .. }) if !(all > NOTHING) => {
            "nothing is left that exchanges of landmarks could gain".to_owned()
        }
        _ => format!(
            "{time:?} is enough for pivoted Cholesky on {pivoted} rows, not for exchanges of landmarks"
        ),
    };
    let pivot_rows = (pivoted < rows).then_some(pivoted);
    Plan { method: PlannedMethod::RpCholesky, pivot_rows, refinement, reason: format!("{why}; {seen}") }
}

#[cfg(test)]
mod tests {
    use super::{MANY, Pilot, Plan, PlannedMethod, Problem, RATE, SWEEPS, WHOLE_ROWS, pivoted_rows, plan};
    use std::time::Duration;

    fn problem(rows: usize, c: usize, d: usize, seconds: f64) -> Problem {
        Problem {
            rows,
            c,
            d,
            kmeans: true,
            time: Duration::from_secs_f64(seconds),
            operations: seconds * RATE,
        }
    }

    fn planned(rows: usize, c: usize, d: usize, seconds: f64, pilot: Option<(f64, f64)>) -> Plan {
        plan(problem(rows, c, d, seconds), pilot.map(|(half, all)| Pilot { rows: 1_024, half, all }))
    }

    const DECAYS: Option<(f64, f64)> = Some((0.04, 0.01));
    const FLAT: Option<(f64, f64)> = Some((0.3, 0.25));

    #[test]
    fn more_time_is_never_less_work() {
        for pilot in [DECAYS, FLAT] {
            for (rows, c, d) in [(4_000, 50, 8), (100_000, 50, 8), (3_000_000, 100, 10), (500, 10, 2)] {
                let mut before = (0, 0, 0);
                for tenths in 0..200 {
                    let plan = planned(rows, c, d, 0.001 * 1.06_f64.powi(tenths), pilot);
                    let refinement = plan.refinement;
                    let now = refinement.map_or((0, 0, 0), |r| (r.rows, r.candidates(c), r.sweeps));
                    // A larger budget adds rows first, then candidates, then sweeps.
                    assert!(now >= before, "{rows}: {before:?} {now:?}");
                    assert!(now.2 <= SWEEPS);
                    before = now;
                }
                assert_eq!(before, (WHOLE_ROWS, MANY, SWEEPS), "{rows}");
            }
        }
    }

    #[test]
    fn what_is_planned_fits() {
        for (rows, c, d, seconds) in [
            (4_000, 50, 8, 1.0),
            (100_000, 50, 8, 1.0),
            (1_000_000, 100, 10, 1.0),
            (1_000_000, 100, 10, 30.0),
        ] {
            for pilot in [DECAYS, FLAT] {
                let plan = planned(rows, c, d, seconds, pilot);
                let cost = problem(rows, c, d, seconds);
                let refinement = plan.refinement.unwrap();
                let measured = refinement.rows.min(rows);
                let start = match plan.method {
                    PlannedMethod::KmeansSnapped => cost.snapped(),
                    _ => cost.pass(plan.pivot_rows.unwrap_or(pivoted_rows(c, d)).min(rows)),
                };
                let sweeps =
                    refinement.sweeps as f64 * (cost.sweep(refinement.candidates(c)) + cost.pass(measured));
                let total = start + cost.pass(measured) + sweeps;
                assert!(total <= seconds * RATE, "{rows} {seconds}: {total:e}");
            }
        }
    }

    #[test]
    fn the_usual_budget_is_in_proportion_to_a_pass() {
        let usual = |rows, c| problem(rows, c, 8, 0.0).usual();
        assert_eq!(usual(15_000, 100), Duration::from_millis(255));
        assert_eq!(usual(3_000, 50), Duration::from_millis(100));
        assert_eq!(usual(1_000_000, 500), Duration::from_secs(1));
    }

    #[test]
    fn the_choice_follows_the_spectrum_and_the_budget() {
        let chosen = |rows, seconds, pilot| planned(rows, 50, 8, seconds, pilot).method;
        assert_eq!(chosen(4_000, 1.0, DECAYS), PlannedMethod::Refined);
        assert_eq!(chosen(4_000, 10.0, FLAT), PlannedMethod::KmeansSnapped);
        assert_eq!(chosen(1_000_000, 1.0, FLAT), PlannedMethod::Refined);
        assert_eq!(chosen(4_000, 1.0, Some((1e-14, 0.0))), PlannedMethod::RpCholesky);
        assert_eq!(chosen(4_000, 0.02, DECAYS), PlannedMethod::RpCholesky);
        assert_eq!(chosen(4_000, 0.0, None), PlannedMethod::Uniform);
        for pilot in [DECAYS, FLAT] {
            let plan = planned(4_000, 50, 8, 10.0, pilot);
            let word = if pilot == FLAT { "centroids" } else { "25 leave 4.00e-2" };
            assert!(plan.reason.contains(word) && plan.reason.contains("10s"), "{}", plan.reason);
        }
    }
}
