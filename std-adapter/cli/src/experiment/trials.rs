//! Methods compared over c: approximation error of K, and prediction error of ridge regression.

use super::page::{Figure, Section};
use super::summary::Metric;
use super::{Context, Regime, Set, cell, summary, write_csv};
use crate::bar::Bar;
use crate::chart::{Axis, Panel, Scale, draw};
use crate::curves::curves;
use crate::error::Error;
use crate::output::note;
use dpp_nystrom::Error as LibraryError;
use dpp_nystrom::approximation::Approximation;
use dpp_nystrom::benchmark::evaluate;
use dpp_nystrom::benchmark::{Comparison, Trial};
use dpp_nystrom::core::Error as CoreError;
use dpp_nystrom::kernel::{KernelKind, Precision};
use dpp_nystrom::landmarks::Selector;
use dpp_nystrom::landmarks::methods::SelectorOptions;
use dpp_nystrom::regression::Ridge;
use serde_json::json;
use std::sync::Arc;

/// Trials at one choice of bandwidth.
pub(super) struct Trials {
    pub(super) regime: Regime,
    pub(super) trials: Vec<Trial>,
}

/// Run all data sets, choices of bandwidth and seeds; the files of the parts begin with `part_name`.
pub(super) fn run(context: &Context<'_>, sets: &[Set], part_name: &str) -> Result<Vec<Trials>, Error> {
    let plan = context.plan;
    let all = sets.len() * Regime::BOTH.len() * plan.seeds as usize;
    let mut done = 0;
    let mut outcome = Vec::new();
    for regime in Regime::BOTH {
        let mut trials = Vec::new();
        for set in sets {
            if regime == Regime::Cv && set.table.target.is_none() {
                continue;
            }
            for seed in plan.seeds() {
                let name = format!("{part_name}-{}-{}-{seed}", set.name(), regime.name());
                let setup = json!({ "plan": plan, "data": set.digest });
                let (part, kept) = context.parts.get(&name, &setup, || one(context, set, regime, seed))?;
                trials.extend(part);
                done += 1;
                let how = if kept { "kept" } else { "done" };
                note(&format!("{done}/{all} {}, {}, seed {seed}: {how}", set.name(), regime.title()));
            }
        }
        outcome.push(Trials { regime, trials });
    }
    Ok(outcome)
}

fn one(context: &Context<'_>, set: &Set, regime: Regime, seed: u64) -> Result<Vec<Trial>, Error> {
    let plan = context.plan;
    let (rows, test) = plan.split(&set.table);
    let mut landmarks: Vec<usize> = plan.landmarks.iter().copied().filter(|&c| c < rows - test).collect();
    let has_target = set.table.target.is_some();
    let selectors: Vec<Arc<dyn Selector>> = plan
        .methods
        .iter()
        .map(|method| method.selector(&SelectorOptions::default()).into())
        .filter(|selector: &Arc<dyn Selector>| has_target || !selector.needs().target)
        .collect();
    loop {
        let comparison = Comparison {
            selectors: selectors.clone(),
            landmarks: landmarks.clone(),
            approximation: Approximation::Nystrom,
            seed,
            seeds: 1,
            rows,
            test,
            kernel: KernelKind::Gaussian,
            bandwidth: regime.bandwidth(),
            ridge: Ridge::CrossValidated,
            precision: Precision::F64,
        };
        let mut trials = Vec::new();
        let outcome = evaluate(&set.table, &comparison, &Bar::default(), |trial| {
            trials.push(trial);
            Ok(())
        });
        match outcome {
            Ok(()) => return Ok(trials),
            // A wide kernel may not have that many independent rows: measure what there is.
            Err(LibraryError::Landmarks { reason: CoreError::RankDeficient { landmarks: asked, .. } }) => {
                note(&format!(
                    "warning: {}: fewer than {asked} independent rows, {}",
                    set.name(),
                    regime.title()
                ));
                landmarks.retain(|&c| c < asked);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Write `name.csv`, and the seconds in `name-seconds.csv`.
pub(super) fn write(context: &Context<'_>, all: &[Trials], name: &str) -> Result<(), Error> {
    let key = ["dataset", "bandwidth", "method", "landmarks", "seed"];
    let values = [
        "train",
        "test",
        "sigma",
        "ridge",
        "fro_rel",
        "spec_rel",
        "trace_fraction",
        "train_nrmse",
        "test_nrmse",
    ];
    let (mut rows, mut seconds) = (Vec::new(), Vec::new());
    for Trials { regime, trials } in all {
        for trial in trials {
            let key = vec![
                trial.dataset.clone(),
                regime.name().to_owned(),
                trial.method.clone(),
                trial.landmarks.to_string(),
                trial.seed.to_string(),
            ];
            seconds.push([key.clone(), vec![trial.seconds.to_string()]].concat());
            let values = vec![
                trial.train.to_string(),
                trial.test.to_string(),
                trial.sigma.to_string(),
                cell(trial.ridge),
                cell(trial.fro_rel),
                cell(trial.spec_rel),
                trial.trace_fraction.to_string(),
                cell(trial.train_nrmse),
                cell(trial.test_nrmse),
            ];
            rows.push([key, values].concat());
        }
    }
    write_csv(&context.out.join(format!("{name}.csv")), &[&key[..], &values].concat(), &rows)?;
    let path = context.out.join(format!("{name}-seconds.csv"));
    Ok(write_csv(&path, &[&key[..], &["seconds"]].concat(), &seconds)?)
}

pub(super) const FROBENIUS: Metric =
    Metric { name: "fro_rel", title: "Frobenius error / best rank-c error", of: |trial| trial.fro_rel };
const SPECTRAL: Metric =
    Metric { name: "spec_rel", title: "spectral error / best rank-c error", of: |trial| trial.spec_rel };
pub(super) const TRACE: Metric =
    Metric { name: "trace_fraction", title: "trace error / trace", of: |trial| Some(trial.trace_fraction) };
pub(super) const TEST: Metric = Metric {
    name: "test_nrmse",
    title: "test error / deviation of the target",
    of: |trial| trial.test_nrmse,
};
const TRAINING: Metric = Metric {
    name: "train_nrmse",
    title: "training error / deviation of the target",
    of: |trial| trial.train_nrmse,
};

pub(super) fn approximation(context: &Context<'_>, all: &[Trials]) -> Result<Section, Error> {
    let metrics = [FROBENIUS, SPECTRAL, TRACE];
    section(context, all, "approximation", "Approximation error of the kernel matrix", &metrics)
}

pub(super) fn ridge(context: &Context<'_>, all: &[Trials]) -> Result<Section, Error> {
    section(context, all, "ridge", "Kernel ridge regression on c landmarks", &[TEST, TRAINING])
}

fn section(
    context: &Context<'_>,
    all: &[Trials],
    name: &str,
    title: &str,
    metrics: &[Metric],
) -> Result<Section, Error> {
    let mut section = Section::new(name, title);
    section.tables = vec!["trials.csv".to_owned(), "trials-seconds.csv".to_owned()];
    figures(context, all, name, metrics, &mut section)?;
    if let Some(metric) = metrics.first() {
        for Trials { regime, trials } in all {
            section.summary.extend(summary::sentences(trials, metric, *regime));
        }
    }
    Ok(section)
}

/// Draw every measure over c: the reduction of uniform's error, and the measure itself for each data set.
pub(super) fn figures(
    context: &Context<'_>,
    all: &[Trials],
    name: &str,
    metrics: &[Metric],
    section: &mut Section,
) -> Result<(), Error> {
    for metric in metrics {
        let improvement: Vec<Panel> = all
            .iter()
            .map(|Trials { regime, trials }| Panel {
                title: regime.title().to_owned(),
                x: Axis::new("landmarks c", Scale::Logarithmic),
                y: Axis::new("less than uniform, %", Scale::Linear),
                series: summary::improvement(trials, metric),
            })
            .collect();
        section.figure(context.out, Figure {
            file: format!("{name}-{}-improvement.svg", metric.name),
            caption: format!(
                "Improvement over uniform landmarks, {}: mean over the data sets, bars from minimum to maximum.",
                metric.title
            ),
        }, |path| draw(path, &format!("Improvement over uniform: {}", metric.title), &improvement))?;
        for Trials { regime, trials } in all {
            let mut sets: Vec<&str> = trials.iter().map(|trial| trial.dataset.as_str()).collect();
            sets.dedup();
            let panels: Vec<Panel> = sets
                .iter()
                .map(|&set| {
                    let own: Vec<Trial> =
                        trials.iter().filter(|trial| trial.dataset == set).cloned().collect();
                    Panel {
                        title: set.to_owned(),
                        x: Axis::new("landmarks c", Scale::Logarithmic),
                        y: Axis::new(metric.title, Scale::Logarithmic),
                        series: curves(&own, metric.of),
                    }
                })
                .collect();
            section.figure(
                context.out,
                Figure {
                    file: format!("{name}-{}-{}.svg", metric.name, regime.name()),
                    caption: format!(
                        "{}, {}: mean over the seeds, bars from minimum to maximum.",
                        metric.title,
                        regime.title()
                    ),
                },
                |path| draw(path, &format!("{}, {}", metric.title, regime.title()), &panels),
            )?;
        }
    }
    Ok(())
}
