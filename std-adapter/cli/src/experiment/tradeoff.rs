//! Time against error, as an option of each method varies.

use super::page::{Figure, Section};
use super::{Context, Regime, Set, cell, write_csv};
use crate::bar::Bar;
use crate::chart::{Axis, Panel, Scale, Series, draw};
use crate::curves::look;
use crate::output::note;
use crate::statistics::mean;
use crate::statistics::summary;
use dpp_nystrom::approximation::{Gram, Spectrum};
use dpp_nystrom::core::Rule;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{KernelKind, Precision};
use dpp_nystrom::landmarks::methods::find;
use dpp_nystrom::landmarks::{ChainKind, Options, Start, Steps, Task};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::{Setting, choose_bandwidth};
use dpp_nystrom::{Error, landmarks};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A method with one value of its option.
struct Configuration {
    /// The curve it belongs to.
    curve: &'static str,
    method: &'static str,
    option: &'static str,
    value: u64,
    options: Options,
}

/// Its time and error.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Timed {
    curve: String,
    #[serde(rename = "knob")]
    option: String,
    value: u64,
    sigma: f64,
    fro_rel: Option<f64>,
    trace_fraction: f64,
    seconds: f64,
}

/// Return all known methods at all values of their options.
fn configurations(rows: usize, c: usize) -> Vec<Configuration> {
    let mut configurations = Vec::new();
    let plain = Options::default;
    for steps in [0, 50, 100, 200, 400, 800, 1_600, 3_200] {
        let chain = |chain| Options { start: Start::Uniform, chain, steps: Steps::Count(steps), ..plain() };
        let paper = chain(ChainKind::Swap(Rule::ALGORITHM_1));
        configurations.push(Configuration {
            curve: "kdpp",
            method: "kdpp",
            option: "tries",
            value: steps,
            options: chain(ChainKind::Slot),
        });
        configurations.push(Configuration {
            curve: "kdpp, Algorithm 1",
            method: "kdpp",
            option: "steps",
            value: steps,
            options: paper,
        });
    }
    for factor in [1, 2, 4, 8, 16] {
        let columns = factor * c;
        if columns <= rows {
            for method in ["applev", "appreglev"] {
                let options = Options { columns: Some(columns), ..plain() };
                configurations.push(Configuration {
                    curve: method,
                    method,
                    option: "columns",
                    value: columns as u64,
                    options,
                });
            }
        }
    }
    for part in [16, 8, 4, 2, 1] {
        let pivot_rows = rows / part;
        if pivot_rows >= c {
            let options = Options { pivot_rows: Some(pivot_rows), ..plain() };
            let value = pivot_rows as u64;
            configurations.push(Configuration {
                curve: "rpcholesky",
                method: "rpcholesky",
                option: "rows",
                value,
                options,
            });
        }
    }
    for method in
        ["uniform", "lev", "reglev", "adapfull", "adappart", "kmeans++", "kmeans", "greedy", "recursive-rls"]
    {
        configurations.push(Configuration { curve: method, method, option: "", value: 0, options: plain() });
    }
    configurations
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
    let gram = Gram::new(&data, KernelSpec { kind: kernel, sigma: sigma })?;
    let spectrum = Spectrum::of_matrix(gram.matrix()?.clone())?;
    let setting = Setting { kernel: KernelSpec { kind: kernel, sigma }, precision: Precision::F64, seed };
    let mut all = Vec::new();
    for Configuration { curve, method, option, value, options } in configurations(rows, c) {
        let Some(method) = find(method) else { continue };
        let task = Task { gram: &gram, c, setting, ridge: None, options: &options, observer: &NoObserver };
        let (chosen, seconds) = landmarks::run(method, &task)?;
        all.push(Timed {
            curve: curve.to_owned(),
            option: option.to_owned(),
            value,
            sigma,
            fro_rel: gram.relative_error(&spectrum, &chosen.places)?.map(|relative| relative.frobenius),
            trace_fraction: gram.trace_error(&chosen.places)?.fraction,
            seconds,
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
    let key = ["dataset", "bandwidth", "method", "knob", "value", "seed"];
    let header = [&key[..], &["sigma", "fro_rel", "trace_fraction"]].concat();
    write_csv(&context.out.join("tradeoff.csv"), &header, &errors)?;
    write_csv(&context.out.join("tradeoff-seconds.csv"), &[&key[..], &["seconds"]].concat(), &seconds)
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

/// Return one curve per method, its points in order of the option's value.
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
