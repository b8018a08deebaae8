//! Time against error, each method at several values of its parameter.

use super::page::{Figure, Section};
use super::{Context, Regime, Set, cell, write_csv};
use crate::bar::Bar;
use crate::chart::{Axis, Panel, Scale, Series, draw};
use crate::curves::look;
use crate::error::Error;
use crate::output::note;
use crate::statistics::mean;
use crate::statistics::summary;
use dpp_nystrom::approximation::{Gram, Spectrum};
use dpp_nystrom::core::Rule;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::landmarks;
use dpp_nystrom::landmarks::{ChainKind, Selector, Start, Steps, Task};
use dpp_nystrom::regression::choose_bandwidth;
use dpp_nystrom::selectors::{
    AdaptiveFull, AdaptivePartial, ApproximateLeverage, ApproximateRidgeLeverage, Greedy, Kdpp, Kmeans,
    KmeansPlusPlus, Leverage, RecursiveRls, RidgeLeverage, RpCholesky, Uniform,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A selector at one value of its parameter.
struct Setting {
    /// The curve that it belongs to.
    curve: &'static str,
    parameter: &'static str,
    value: u64,
    selector: Box<dyn Selector>,
}

/// Its time and error.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Timed {
    curve: String,
    option: String,
    value: u64,
    sigma: f64,
    fro_rel: Option<f64>,
    trace_fraction: f64,
    seconds: f64,
}

/// All selectors at all values of their parameters.
fn settings(rows: usize, c: usize) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut add = |curve, parameter, value: u64, selector: Box<dyn Selector>| {
        settings.push(Setting { curve, parameter, value, selector });
    };
    for steps in [0, 50, 100, 200, 400, 800, 1_600, 3_200] {
        let slot = Kdpp::default().start(Start::Uniform).steps(Steps::Count(steps));
        add("kdpp", "tries", steps, Box::new(slot));
        let paper = slot.chain(ChainKind::Swap(Rule::ALGORITHM_1));
        add("kdpp, Algorithm 1", "steps", steps, Box::new(paper));
    }
    for columns in [1, 2, 4, 8, 16].map(|factor| factor * c).into_iter().filter(|&columns| columns <= rows) {
        let value = columns as u64;
        add("applev", "columns", value, Box::new(ApproximateLeverage::default().columns(columns)));
        add("appreglev", "columns", value, Box::new(ApproximateRidgeLeverage::default().columns(columns)));
    }
    for pivot_rows in [16, 8, 4, 2, 1].map(|part| rows / part).into_iter().filter(|&rows| rows >= c) {
        add("rpcholesky", "rows", pivot_rows as u64, Box::new(RpCholesky::default().rows(pivot_rows)));
    }
    let others: [Box<dyn Selector>; 9] = [
        Box::new(Uniform),
        Box::new(Leverage::default()),
        Box::new(RidgeLeverage),
        Box::new(AdaptiveFull),
        Box::new(AdaptivePartial),
        Box::new(KmeansPlusPlus),
        Box::new(Kmeans),
        Box::new(Greedy),
        Box::new(RecursiveRls),
    ];
    others.into_iter().for_each(|selector| add(selector.name(), "", 0, selector));
    settings
}

struct Cell {
    set: String,
    regime: Regime,
    seed: u64,
    timed: Timed,
}

pub(super) fn run(context: &Context<'_>, sets: &[Set]) -> Result<Section, Error> {
    let mut cells = Vec::new();
    for set in sets {
        for regime in Regime::BOTH {
            if regime == Regime::Cv && set.table.target.is_none() {
                continue;
            }
            for seed in context.plan.seeds() {
                let name = format!("tradeoff-{}-{}-{seed}", set.name(), regime.name());
                let setup = json!({ "plan": context.plan, "data": set.digest });
                let (all, kept) = context.parts.get(&name, &setup, || time(context, set, regime, seed))?;
                cells.extend(all.into_iter().map(|timed| Cell {
                    set: set.name().to_owned(),
                    regime,
                    seed,
                    timed,
                }));
                let how = if kept { "kept" } else { "done" };
                note(&format!("tradeoff: {}, {}, seed {seed}: {how}", set.name(), regime.title()));
            }
        }
    }
    write(context, &cells)?;
    section(context, sets, &cells)
}

fn time(context: &Context<'_>, set: &Set, regime: Regime, seed: u64) -> Result<Vec<Timed>, Error> {
    let c = context.plan.tradeoff_landmarks;
    let (rows, _) = context.plan.split(&set.table);
    let data = Prepared::new(set.table.clone(), Some(rows), seed)?;
    let kernel = KernelKind::Gaussian;
    let sigma = choose_bandwidth(regime.bandwidth(), kernel, &data, seed, &Bar::default())?.sigma;
    let gram = Gram::new(&data, KernelSpec { kind: kernel, sigma })?;
    let spectrum = Spectrum::of_matrix(gram.matrix()?.clone())?;
    let task = Task { seed, ..Task::new(&gram, c) };
    let mut all = Vec::new();
    for Setting { curve, parameter, value, selector } in settings(rows, c) {
        let selection = landmarks::run(selector.as_ref(), &task)?;
        all.push(Timed {
            curve: curve.to_owned(),
            option: parameter.to_owned(),
            value,
            sigma,
            fro_rel: gram.relative_error(&spectrum, &selection.landmarks)?.map(|relative| relative.frobenius),
            trace_fraction: gram.trace_error(&selection.landmarks)?.fraction,
            seconds: selection.seconds,
        });
    }
    Ok(all)
}

/// Write `tradeoff.csv` and `tradeoff-seconds.csv`.
fn write(context: &Context<'_>, cells: &[Cell]) -> Result<(), Error> {
    let (mut errors, mut seconds) = (Vec::new(), Vec::new());
    for Cell { set, regime, seed, timed } in cells {
        let Timed { curve, option, value, .. } = timed;
        let key = vec![
            set.clone(),
            regime.name().to_owned(),
            curve.clone(),
            option.clone(),
            value.to_string(),
            seed.to_string(),
        ];
        let more = vec![timed.sigma.to_string(), cell(timed.fro_rel), timed.trace_fraction.to_string()];
        errors.push([key.clone(), more].concat());
        seconds.push([key, vec![timed.seconds.to_string()]].concat());
    }
    let key = ["dataset", "bandwidth", "method", "option", "value", "seed"];
    let header = [&key[..], &["sigma", "fro_rel", "trace_fraction"]].concat();
    write_csv(&context.out.join("tradeoff.csv"), &header, &errors)?;
    Ok(write_csv(&context.out.join("tradeoff-seconds.csv"), &[&key[..], &["seconds"]].concat(), &seconds)?)
}

fn section(context: &Context<'_>, sets: &[Set], cells: &[Cell]) -> Result<Section, Error> {
    let c = context.plan.tradeoff_landmarks;
    let mut section = Section::new("tradeoff", &format!("Time against error, c = {c}"));
    section.tables = vec!["tradeoff.csv".to_owned(), "tradeoff-seconds.csv".to_owned()];
    for regime in Regime::BOTH {
        let panel = |set: &Set| {
            let own: Vec<&Cell> =
                cells.iter().filter(|cell| cell.set == set.name() && cell.regime == regime).collect();
            Panel {
                title: set.name().to_owned(),
                x: Axis::new("seconds, from rows to landmarks", Scale::Logarithmic),
                y: Axis::new("trace error / trace", Scale::Logarithmic),
                series: series(&own),
            }
        };
        let panels: Vec<Panel> = sets.iter().map(panel).filter(|panel| !panel.series.is_empty()).collect();
        let title = format!("Time against error, c = {c}, {}", regime.title());
        section.figure(
            context.out,
            Figure {
                file: format!("tradeoff-{}.svg", regime.name()),
                caption: format!(
                    "{title}: a point for each value of a method's option (tries or steps of the chains from a uniform \
                     start, columns p of approximate scores, rows considered by pivoted Cholesky), mean over the seeds. \
                     Seconds include the computation of the kernel entries that a method needs."
                ),
            },
            |path| draw(path, &title, &panels),
        )?;
    }
    section.summary = sentences(cells);
    Ok(section)
}

/// A curve for each method, its points in the order of the parameter.
fn series(cells: &[&Cell]) -> Vec<Series> {
    let mut keys: Vec<(&str, u64)> = Vec::new();
    for cell in cells {
        let key = (cell.timed.curve.as_str(), cell.timed.value);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut all: Vec<Series> = Vec::new();
    for (curve, value) in keys {
        let own = || cells.iter().filter(|cell| cell.timed.curve == curve && cell.timed.value == value);
        let errors: Vec<f64> = own().map(|cell| cell.timed.trace_fraction).collect();
        let seconds = mean(own().map(|cell| cell.timed.seconds));
        let (Some(seconds), Some(errors)) = (seconds, summary(&errors)) else { continue };
        match all.iter_mut().find(|series| series.name == curve) {
            Some(series) => series.points.push((seconds, errors)),
            None => {
                all.push(Series {
                    name: curve.to_owned(),
                    look: look(curve),
                    points: vec![(seconds, errors)],
                });
            }
        }
    }
    all
}

/// Compare the chain with the method that reads every row.
fn sentences(cells: &[Cell]) -> Vec<String> {
    Regime::BOTH
        .iter()
        .filter_map(|&regime| {
            let own = |curve: &'static str| {
                cells.iter().filter(move |cell| cell.regime == regime && cell.timed.curve == curve)
            };
            let chain = || own("kdpp").filter(|cell| cell.timed.value == 3_200);
            let last = own("rpcholesky").map(|cell| cell.timed.value).max()?;
            let pivoted = || own("rpcholesky").filter(move |cell| cell.timed.value == last);
            let ratio = |of: fn(&Timed) -> f64| {
                let (ours, theirs) = (mean(chain().map(|cell| of(&cell.timed)))?, mean(pivoted().map(|cell| of(&cell.timed)))?);
                Some(ours / theirs)
            };
            let time = ratio(|timed| timed.seconds)?;
            let error = ratio(|timed| timed.trace_fraction)?;
            Some(format!(
                "{}: 3,200 tries of the chain take {time:.2} times as long as randomly pivoted Cholesky over all rows, and have {error:.2} times its trace error.",
                regime.title()
            ))
        })
        .collect()
}
