//! Methods compared over c: approximation error of K, and prediction error of ridge regression.

use super::page::Section;
use super::summary::Metric;
use super::{Context, Regime, Set, summary};
use crate::benchmark::{ALL_ROWS, Comparison, Trial, evaluate};
use crate::chart::{Axis, Panel, Scale, Series};
use crate::curves::{curves, look};
use crate::error::Error;
use crate::statistics::{distinct, summary};
use crate::text::{Column, cell};
use crate::variants::Approximation;
use dpp_nystrom::kernel::{KernelKind, Precision};
use dpp_nystrom::{
    Ridge, core::Error as CoreError, landmarks::Selector, landmarks::methods::SelectorOptions,
};
use std::sync::Arc;

/// Trials at one choice of bandwidth.
pub(super) struct Trials {
    pub(super) regime: Regime,
    pub(super) trials: Vec<Trial>,
    /// Regression on all training rows.
    pub(super) full: Vec<Trial>,
}

/// The most training rows that regression on all of them is compared with.
const ALL: usize = 3_000;

/// Run all data sets, choices of bandwidth and seeds, and on all training rows if `full`; the files of the
/// parts begin with `part_name`.
pub(super) fn run(
    context: &Context<'_>,
    sets: &[Set],
    part_name: &str,
    full: bool,
) -> Result<Vec<Trials>, Error> {
    let cases = context.cases(part_name, sets, |set, regime, seed| one(context, set, regime, seed, full))?;
    let trials = |regime| {
        let own = cases.iter().filter(|case| case.regime == regime);
        let (full, trials) =
            own.flat_map(|case| case.result.clone()).partition(|trial| trial.method == ALL_ROWS);
        Trials { regime, trials, full }
    };
    Ok(Regime::BOTH.map(trials).into())
}

fn one(context: &Context<'_>, set: &Set, regime: Regime, seed: u64, full: bool) -> Result<Vec<Trial>, Error> {
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
            full: full && set.table.target.is_some() && rows - test <= ALL,
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
        let outcome = evaluate(&set.table, &comparison, context.observer, |trial| {
            trials.push(trial);
            Ok(())
        });
        let Err(error) = outcome else { return Ok(trials) };
        // A wide kernel may not have that many independent rows: measure what there is.
        let Some(CoreError::RankDeficient { landmarks: asked, .. }) = error.core() else {
            return Err(error.into());
        };
        let (name, regime) = (set.name(), regime.title());
        (context.note)(&format!("warning: {name}: fewer than {asked} independent rows, {regime}"));
        landmarks.retain(|&c| c < asked);
    }
}

/// Trials of all sets at both bandwidths.
pub(super) fn flat(all: &[Trials]) -> impl Iterator<Item = (Regime, &Trial)> {
    all.iter().flat_map(|Trials { regime, trials, .. }| trials.iter().map(|trial| (*regime, trial)))
}

/// Write `name.csv`, and the seconds in `name-seconds.csv`.
pub(super) fn write(context: &Context<'_>, all: &[Trials], name: &str) -> Result<(), Error> {
    let key: [Column<(Regime, &Trial)>; 5] = [
        ("dataset", |(_, trial)| trial.dataset.clone()),
        ("bandwidth", |(regime, _)| regime.name().to_owned()),
        ("method", |(_, trial)| trial.method.clone()),
        ("landmarks", |(_, trial)| trial.landmarks.to_string()),
        ("seed", |(_, trial)| trial.seed.to_string()),
    ];
    let values: [Column<(Regime, &Trial)>; 9] = [
        ("train", |(_, trial)| trial.train.to_string()),
        ("test", |(_, trial)| trial.test.to_string()),
        ("sigma", |(_, trial)| trial.sigma.to_string()),
        ("ridge", |(_, trial)| cell(trial.ridge)),
        ("fro_rel", |(_, trial)| cell(trial.fro_rel)),
        ("spec_rel", |(_, trial)| cell(trial.spec_rel)),
        ("trace_fraction", |(_, trial)| trial.trace_fraction.to_string()),
        ("train_nrmse", |(_, trial)| cell(trial.train_nrmse)),
        ("test_nrmse", |(_, trial)| cell(trial.test_nrmse)),
    ];
    let seconds: [Column<(Regime, &Trial)>; 1] = [("seconds", |(_, trial)| trial.seconds.to_string())];
    let trials: Vec<_> = flat(all).collect();
    context.write(&format!("{name}.csv"), &[&key[..], &values].concat(), &trials)?;
    context.write(&format!("{name}-seconds.csv"), &[&key[..], &seconds].concat(), &trials)
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
        for Trials { regime, trials, .. } in all {
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
            .map(|Trials { regime, trials, .. }| Panel {
                title: regime.title().to_owned(),
                x: Axis::new("landmarks c", Scale::Logarithmic),
                y: Axis::new("less than uniform, %", Scale::Linear),
                series: summary::improvement(trials, metric),
            })
            .collect();
        let file = format!("{name}-{}-improvement.svg", metric.name);
        let title = format!("Improvement over uniform: {}", metric.title);
        let caption = format!(
            "Improvement over uniform landmarks, {}: mean over the data sets, bars from minimum to maximum.",
            metric.title
        );
        section.figure(context.out, file, &title, &improvement, caption)?;
        for Trials { regime, trials, full } in all {
            let panel = |set: &String| {
                let of_set = |trials: &[Trial]| -> Vec<Trial> {
                    trials.iter().filter(|trial| trial.dataset == *set).cloned().collect()
                };
                let mut series = curves(&of_set(trials), metric.of);
                series.extend(level(&of_set(full), metric, &context.plan.landmarks));
                Panel {
                    title: set.clone(),
                    x: Axis::new("landmarks c", Scale::Logarithmic),
                    y: Axis::new(metric.title, Scale::Logarithmic),
                    series,
                }
            };
            let sets = distinct(trials.iter().map(|trial| &trial.dataset));
            let panels: Vec<Panel> = sets.into_iter().map(panel).collect();
            let file = format!("{name}-{}-{}.svg", metric.name, regime.name());
            let title = format!("{}, {}", metric.title, regime.title());
            let caption = format!("{title}: mean over the seeds, bars from minimum to maximum.");
            section.figure(context.out, file, &title, &panels, caption)?;
        }
    }
    Ok(())
}

/// A level line of regression on all training rows; none of what is not measured in it, or is zero.
fn level(full: &[Trial], metric: &Metric, landmarks: &[usize]) -> Option<Series> {
    let values: Vec<f64> = full.iter().filter_map(metric.of).filter(|&value| value > 1e-9).collect();
    let summary = summary(&values)?;
    let ends = [landmarks.iter().min()?, landmarks.iter().max()?];
    let points = ends.map(|&c| (c as f64, summary)).to_vec();
    Some(Series { name: ALL_ROWS.to_owned(), look: look(ALL_ROWS), points })
}
