//! The cost model of [`crate::selectors::Auto`], and its plan.
//!
//! A plan starts from a pilot sample: the residuals of pivoted Cholesky on [`PILOT_ROWS`] rows drawn at random. If the
//! residual is zero, exchanges cannot reduce it. If the residual with all landmarks is more than [`FLAT`] times that
//! with half of them, the spectrum is flat: the rows nearest to the k-means centroids are then the better start, if
//! the budget allows for them. The rest of the budget is spent on sweeps, at most [`SWEEPS`]. If all of them fit with
//! more candidates, the plan uses more candidates. If they do not fit, it measures the error on fewer rows, or plans no
//! sweeps.
//!
//! The budget is counted in operations, not in elapsed time: a second is [`RATE`] multiply-adds of [`Cost`]. So the
//! plan is a function of the rows, the seed and the budget alone. The same seed selects the same rows on a slower
//! machine, which takes longer. Targets are not read unless the objective requires them, so that a later
//! cross-validation is unbiased.

use crate::approximation::curve::{CurvePoint, trace_curve};
use crate::error::Error;
use crate::landmarks::chain::{pivoted_rows, select_with};
use crate::landmarks::methods::lloyd::ROUNDS;
use crate::landmarks::procedure::{Procedure, Start};
use crate::landmarks::selector::Task;
use crate::landmarks::swap_search::{Refinement, WHOLE_ROWS, WIDER};
use crate::rng::{RngStream, stream};
use crate::simd::lanes::Lanes;
use dpp_nystrom_core::Error as CoreError;
use rand::seq::index;
use std::time::Duration;

/// Rows of the pilot sample, or four times the number of landmarks if that is more.
const PILOT_ROWS: usize = 1_024;

/// Multiply-adds per second of budget: half of the lowest rate measured on a core with AVX-512, over a pass, a sweep
/// and a round of k-means.
const RATE: f64 = 4e9;

/// The cost of a kernel entry in multiply-adds, in addition to those for its features.
const ENTRY: f64 = 10.0;

/// The spectrum is flat if the residual with all landmarks exceeds this fraction of the residual with half of them.
const FLAT: f64 = 0.6;

/// The fraction of the trace below which a residual is a rounding error.
const NOTHING: f64 = 1e-12;

/// The maximum number of sweeps: further ones gain little.
const SWEEPS: u64 = 10;

/// The minimum number of sweeps: if fewer fit, the error is measured on fewer rows.
const FEW: u64 = 3;

/// The number of candidates if the budget allows all sweeps with this many.
const MANY: usize = 1_000;

/// The minimum number of sampled rows per landmark.
const LEAST: usize = 20;

/// Plan within a budget: draw the pilot sample if the budget allows it, and plan with the rest.
pub(crate) fn plan_for(task: &Task<'_>, time: Duration) -> Result<Plan, Error> {
    let (rows, d) = (task.gram.len(), task.gram.ground().features());
    let cost = Cost { c: task.c as f64, d: d as f64 };
    let operations = time.as_secs_f64() * RATE;
    let pilot_rows = PILOT_ROWS.max(4 * task.c).min(rows);
    let size = Size { rows, c: task.c, d };
    if 4.0 * cost.pass(pilot_rows) > operations {
        return Ok(plan(size, cost, Budget { time, operations }, None));
    }
    let left = Budget { time, operations: operations - cost.pass(pilot_rows) };
    Ok(plan(size, cost, left, Some(pilot(task, pilot_rows)?)))
}

/// The cost in multiply-adds of selecting c landmarks among rows of d features.
#[derive(Clone, Copy, Debug)]
struct Cost {
    c: f64,
    d: f64,
}

impl Cost {
    /// Return the cost of computing the residuals of this many rows, or of pivoted Cholesky on them.
    fn pass(self, rows: usize) -> f64 {
        rows as f64 * self.c * (self.d + ENTRY + self.c / 2.0)
    }

    /// Return the cost of a sweep with this many candidates, without its pass over the rows.
    fn sweep(self, candidates: usize) -> f64 {
        let pairs = WIDER as f64 * (candidates as f64).powi(2);
        pairs * (self.d + ENTRY + self.c + 2.0 * self.c)
    }

    /// Return the cost of k-means, its seeds and its nearest rows. A feature costs two: a difference and its square.
    fn snapped(self, rows: usize) -> f64 {
        2.0 * rows as f64 * self.c * self.d * (ROUNDS + 2) as f64
    }
}

#[derive(Clone, Copy, Debug)]
struct Budget {
    time: Duration,
    operations: f64,
}

#[derive(Clone, Copy, Debug)]
struct Size {
    rows: usize,
    c: usize,
    d: usize,
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
    let data = task.gram.data();
    let mut random = stream(task.seed, RngStream::Pilot);
    let features = data.gather(&index::sample(&mut random, data.len(), rows).into_vec())?;
    let ground = task.gram.points(&features)?;
    let procedure = Procedure::Start(Start::Pivoted { rows: None });
    let lanes = || Lanes::new(task.c, ground.features());
    let order = match select_with(&ground, task.c, &procedure, task.seed, task.observer, lanes) {
        Ok((order, _)) => order,
        Err(Error::Landmarks { reason: CoreError::RankDeficient { .. } }) => {
            return Ok(Pilot { rows, half: 0.0, all: 0.0 });
        }
        Err(error) => return Err(error),
    };
    let curve = trace_curve(&ground, &order)?;
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
fn plan(size: Size, cost: Cost, budget: Budget, pilot: Option<Pilot>) -> Plan {
    let Size { rows, c, d } = size;
    let time = budget.time;
    let seen = match pilot {
        None => format!("{time:?} leaves no time to look at the spectrum"),
        Some(Pilot { rows: of, half, all }) => format!(
            "of {of} rows, {c} landmarks of pivoted Cholesky leave {:.2e} of the trace and {} leave {:.2e}: the spectrum {}",
            all,
            c / 2,
            half,
            if all > FLAT * half { "is flat" } else { "decays" }
        ),
    };
    let fitting = pivoted_rows(c, d).min(rows);
    let refinement =
        pilot.filter(|pilot| pilot.all > NOTHING).and_then(|_| sweeps(rows, fitting, cost, budget));
    let Some((refinement, pivoted)) = refinement else {
        return without_exchanges(size, cost, budget, fitting, pilot, &seen);
    };
    let Refinement { sweeps, sample, .. } = refinement;
    let measured = refinement.rows.min(rows);
    let over =
        if measured >= rows { "all rows".to_owned() } else { format!("{measured} of the {rows} rows") };
    let spent =
        |start: f64| start + cost.pass(measured) + sweeps as f64 * (cost.sweep(sample) + cost.pass(measured));
    let is_flat = pilot.is_some_and(|pilot| pilot.all > FLAT * pilot.half);
    if is_flat && measured >= rows && spent(cost.snapped(rows)) <= budget.operations {
        let reason = format!(
            "{seen}, where the rows next to the centroids of k-means are the better start; {sweeps} sweeps of {sample} \
             candidates fit into {time:?} beside it"
        );
        return Plan {
            method: PlannedMethod::KmeansSnapped,
            pivot_rows: None,
            refinement: Some(refinement),
            reason,
        };
    }
    let reason =
        format!("{seen}; {sweeps} sweeps of {sample} candidates, measured on {over}, fit into {time:?}");
    let pivot_rows = (pivoted < fitting).then_some(pivoted);
    Plan { method: PlannedMethod::Refined, pivot_rows, refinement: Some(refinement), reason }
}

/// Return the sweeps that fit the budget and the rows of their start; `None` if fewer than [`FEW`] fit.
fn sweeps(rows: usize, fitting: usize, cost: Cost, budget: Budget) -> Option<(Refinement, usize)> {
    let usual = Refinement::default();
    let fit = |measured: usize, candidates: usize| {
        let left = budget.operations - cost.pass(measured.min(fitting)) - cost.pass(measured);
        (left / (cost.sweep(candidates) + cost.pass(measured))).floor().clamp(0.0, SWEEPS as f64) as u64
    };
    let all = rows.min(WHOLE_ROWS);
    let with = |measured: usize, sample: usize| {
        // All rows: the default of `Refinement::rows`.
        let measured = if measured == all { WHOLE_ROWS } else { measured };
        Refinement { sweeps: fit(measured.min(all), sample), sample, budget: None, rows: measured }
    };
    if fit(all, MANY) == SWEEPS {
        return Some((with(all, MANY), fitting));
    }
    if fit(all, usual.sample) >= FEW {
        return Some((with(all, usual.sample), fitting));
    }
    // Plan few sweeps. The remaining budget pays for their passes and those of the start, on fewer rows.
    let left = budget.operations - FEW as f64 * cost.sweep(usual.sample);
    let measured = (left / (cost.pass(1) * (FEW + 2) as f64)).floor().max(0.0) as usize;
    let enough = measured >= LEAST * cost.c as usize && measured > WIDER * usual.sample;
    enough.then(|| (Refinement { sweeps: FEW, ..with(measured, usual.sample) }, measured.min(fitting)))
}

fn without_exchanges(
    size: Size,
    cost: Cost,
    budget: Budget,
    fitting: usize,
    pilot: Option<Pilot>,
    seen: &str,
) -> Plan {
    let (refinement, time) = (None, budget.time);
    let pivoted = ((budget.operations / cost.pass(1)).floor().max(0.0) as usize).min(fitting);
    if pivoted < (LEAST * size.c).min(size.rows) {
        let reason = format!("{seen}; {time:?} is not enough to read {LEAST} rows for each landmark");
        return Plan { method: PlannedMethod::Uniform, pivot_rows: None, refinement, reason };
    }
    let why = match pilot {
        Some(Pilot { all, .. }) if !(all > NOTHING) => "nothing is left for exchanges to gain".to_owned(),
        _ => format!("{time:?} is enough for pivoted Cholesky on {pivoted} rows, and not for exchanges"),
    };
    let pivot_rows = (pivoted < size.rows).then_some(pivoted);
    Plan { method: PlannedMethod::RpCholesky, pivot_rows, refinement, reason: format!("{seen}; {why}") }
}

#[cfg(test)]
mod tests {
    use super::{
        Budget, Cost, Pilot, Plan, PlannedMethod, RATE, SWEEPS, Size, WHOLE_ROWS, pivoted_rows, plan,
    };
    use std::time::Duration;

    fn planned(rows: usize, c: usize, d: usize, seconds: f64, pilot: Option<(f64, f64)>) -> Plan {
        let budget = Budget { time: Duration::from_secs_f64(seconds), operations: seconds * RATE };
        let pilot = pilot.map(|(half, all)| Pilot { rows: 1_024, half, all });
        plan(Size { rows, c, d }, Cost { c: c as f64, d: d as f64 }, budget, pilot)
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
                    let now = refinement.map_or((0, 0, 0), |r| (r.rows, r.sample, r.sweeps));
                    // A larger budget adds rows first, then candidates, then sweeps.
                    assert!(now >= before, "{rows}: {before:?} {now:?}");
                    assert!(now.2 <= SWEEPS);
                    before = now;
                }
                assert_eq!(before, (WHOLE_ROWS, 1_000, SWEEPS), "{rows}");
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
                let cost = Cost { c: c as f64, d: d as f64 };
                let refinement = plan.refinement.unwrap();
                let measured = refinement.rows.min(rows);
                let start = match plan.method {
                    PlannedMethod::KmeansSnapped => cost.snapped(rows),
                    _ => cost.pass(plan.pivot_rows.unwrap_or(pivoted_rows(c, d)).min(rows)),
                };
                let sweeps = refinement.sweeps as f64 * (cost.sweep(refinement.sample) + cost.pass(measured));
                let total = start + cost.pass(measured) + sweeps;
                assert!(total <= seconds * RATE, "{rows} {seconds}: {total:e}");
            }
        }
    }

    #[test]
    fn the_choice_follows_the_spectrum_and_the_budget() {
        let chosen = |rows, seconds, pilot| planned(rows, 50, 8, seconds, pilot).method;
        assert_eq!(chosen(4_000, 1.0, DECAYS), PlannedMethod::Refined);
        assert_eq!(chosen(4_000, 10.0, FLAT), PlannedMethod::KmeansSnapped);
        assert_eq!(chosen(1_000_000, 1.0, FLAT), PlannedMethod::Refined);
        assert_eq!(chosen(4_000, 1.0, Some((1e-14, 0.0))), PlannedMethod::RpCholesky);
        assert_eq!(chosen(4_000, 0.03, DECAYS), PlannedMethod::RpCholesky);
        assert_eq!(chosen(4_000, 0.0, None), PlannedMethod::Uniform);
        for pilot in [DECAYS, FLAT] {
            let plan = planned(4_000, 50, 8, 10.0, pilot);
            let word = if pilot == FLAT { "is flat" } else { "decays" };
            assert!(plan.reason.contains(word) && plan.reason.contains("10s"), "{}", plan.reason);
        }
    }
}
