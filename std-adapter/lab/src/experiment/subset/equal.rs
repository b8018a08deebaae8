//! How few refined landmarks reach the error of pivoted Cholesky.

use crate::benchmark::Trial;
use crate::error::Error;
use crate::experiment::{Case, Context, Regime, Set, trials::Trials};
use crate::statistics::mean;
use crate::text::{Column, aligned, cell, short_or_dash};
use dpp_nystrom::kernel::{KernelKind, KernelSpec};
use dpp_nystrom::landmarks::{self, Criterion, Task, Tolerance, fewest};
use dpp_nystrom::selectors::{Refined, RpCholesky};
use dpp_nystrom::{approximation::Gram, core::Error as CoreError, data::Prepared};
use serde::{Deserialize, Serialize};

/// The result for one data set, bandwidth and seed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Matched {
    /// The number of pivoted Cholesky's landmarks, and their trace fraction.
    c: usize,
    error: f64,
    /// The smallest number of refined landmarks within that error, and their trace fraction; none if twice as
    /// many do not reach it.
    refined: Option<(usize, f64)>,
}

type Equal = Case<Matched>;

/// Run at the bandwidths of the trials, on newly drawn rows.
pub(super) fn run(context: &Context<'_>, sets: &[Set], trials: &[Trials]) -> Result<Vec<Equal>, Error> {
    let mut all = Vec::new();
    for set in sets {
        for Trials { regime, trials, .. } in trials {
            for seed in context.plan.seeds() {
                let own = |trial: &&Trial| trial.dataset == set.name() && trial.seed == seed;
                let Some(sigma) = trials.iter().find(own).map(|trial| trial.sigma) else { continue };
                let name = format!("equal-{}-{}-{seed}", set.name(), regime.name());
                let matched = context
                    .part("", &name, set, &[("sigma", sigma.into())], || one(context, set, sigma, seed))?;
                if let Some(result) = matched {
                    all.push(Case { set: set.name().to_owned(), regime: *regime, seed, result });
                }
            }
        }
    }
    Ok(all)
}

/// Return none if there are not that many independent rows.
fn one(context: &Context<'_>, set: &Set, sigma: f64, seed: u64) -> Result<Option<Matched>, Error> {
    let (rows, test) = context.plan.split(&set.table);
    let Some(&c) = context.plan.landmarks.iter().filter(|&&c| c < rows - test).max() else { return Ok(None) };
    let data = Prepared::new(set.table.clone(), Some(rows - test), seed)?;
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma })?;
    let task = Task { seed, ..Task::new(&gram, c) };
    let pivoted = match landmarks::run(&RpCholesky::default(), &task) {
        Ok(selection) => selection,
        Err(error) if matches!(error.core(), Some(CoreError::RankDeficient { .. })) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let error = gram.trace_error(&pivoted.landmarks)?.fraction;
    let tolerance = Tolerance { error, criterion: Criterion::Trace, most: 2 * c };
    let refined = match fewest(&Refined::default(), &task, tolerance) {
        Ok(found) => Some((found.landmarks, gram.trace_error(&found.selection.landmarks)?.fraction)),
        Err(error) if error.name() == "Tolerance" => None,
        Err(error) => return Err(error.into()),
    };
    Ok(Some(Matched { c, error, refined }))
}

/// Write `subset-equal.csv`.
pub(super) fn write(context: &Context<'_>, all: &[Equal]) -> Result<(), Error> {
    let columns: [Column<Equal>; 7] = [
        ("dataset", |case| case.set.clone()),
        ("bandwidth", |case| case.regime.name().to_owned()),
        ("seed", |case| case.seed.to_string()),
        ("rpcholesky_landmarks", |case| case.result.c.to_string()),
        ("rpcholesky_trace_fraction", |case| case.result.error.to_string()),
        ("refined_landmarks", |case| {
            case.result.refined.map_or_else(String::new, |refined| refined.0.to_string())
        }),
        ("refined_trace_fraction", |case| cell(case.result.refined.map(|refined| refined.1))),
    ];
    context.write("subset-equal.csv", &columns, all)
}

/// Format one line per data set and bandwidth: means over the seeds.
pub(super) fn table(all: &[Equal]) -> String {
    let mut keys: Vec<(&str, Regime)> = all.iter().map(|one| (one.set.as_str(), one.regime)).collect();
    keys.dedup();
    let rows: Vec<Vec<String>> = keys
        .into_iter()
        .map(|(set, regime)| {
            let own = || all.iter().filter(move |one| one.set == set && one.regime == regime);
            let of = |value: fn(&Matched) -> Option<f64>| mean(own().filter_map(|one| value(&one.result)));
            let one_digit = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.1}"));
            vec![
                set.to_owned(),
                regime.name().to_owned(),
                short_or_dash(of(|matched| Some(matched.error))),
                one_digit(of(|matched| Some(matched.c as f64))),
                one_digit(of(|matched| matched.refined.map(|refined| refined.0 as f64))),
            ]
        })
        .collect();
    let header = ["data set", "sigma", "trace error / trace", "rpcholesky", "refined"];
    format!("Landmarks for an equal error, means over the seeds\n\n{}", aligned(&header, &rows))
}

pub(super) fn sentences(all: &[Equal]) -> Vec<String> {
    let shares = all.iter().filter_map(|one| Some(one.result.refined?.0 as f64 / one.result.c as f64));
    let Some(share) = mean(shares) else { return Vec::new() };
    let missing = all.iter().filter(|one| one.result.refined.is_none()).count();
    let c = all.iter().map(|one| one.result.c).max().unwrap_or(0);
    vec![format!(
        "For the trace error of pivoted Cholesky at c = {c}, refined needs {:.0} % as many landmarks on average; in \
         {missing} of {} runs it needs more than twice as many.",
        100.0 * share,
        all.len()
    )]
}
