//! Time against error, each method at several values of its parameter.

use super::page::Section;
use super::{Case, Context, Regime, Set, gaussian};
use crate::chart::{Axis, Panel, Scale, Series};
use crate::curves::look;
use crate::error::Error;
use crate::selectors::{
    AdaptiveFull, AdaptivePartial, ApproximateLeverage, ApproximateRidgeLeverage, Leverage, RecursiveRls,
    RidgeLeverage,
};
use crate::spectrum::Spectrum;
use crate::statistics::{distinct, mean, summary};
use crate::text::{Column, cell};
use dpp_nystrom::approximation::Gram;
use dpp_nystrom::landmarks::{self, ChainKind, Selector, Start, Steps, Task};
use dpp_nystrom::selectors::{Greedy, Kdpp, Kmeans, KmeansPlusPlus, RpCholesky, Uniform};
use dpp_nystrom::{core::Rule, data::Prepared};
use serde::{Deserialize, Serialize};

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

type Cell = Case<Timed>;

pub(super) fn run(context: &Context<'_>, sets: &[Set]) -> Result<Section, Error> {
    let cases = context.cases("tradeoff", sets, |set, regime, seed| time(context, set, regime, seed))?;
    let cells: Vec<Cell> = cases.into_iter().flat_map(Case::each).collect();
    write(context, &cells)?;
    section(context, sets, &cells)
}

fn time(context: &Context<'_>, set: &Set, regime: Regime, seed: u64) -> Result<Vec<Timed>, Error> {
    let c = context.plan.tradeoff_landmarks;
    let (rows, _) = context.plan.split(&set.table);
    let data = Prepared::new(set.table.clone(), Some(rows), seed)?;
    let kernel = gaussian(context, &data, regime.bandwidth(), seed)?;
    let gram = Gram::new(&data, kernel)?;
    let spectrum = Spectrum::of_matrix(gram.matrix()?.clone())?;
    let task = Task { seed, ..Task::new(&gram, c) };
    let mut all = Vec::new();
    for Setting { curve, parameter, value, selector } in settings(rows, c) {
        let selection = landmarks::run(selector.as_ref(), &task)?;
        all.push(Timed {
            curve: curve.to_owned(),
            option: parameter.to_owned(),
            value,
            sigma: kernel.sigma,
            fro_rel: spectrum.relative_error(&gram, &selection.landmarks)?.map(|relative| relative.frobenius),
            trace_fraction: gram.trace_error(&selection.landmarks)?.fraction,
            seconds: selection.seconds,
        });
    }
    Ok(all)
}

/// Write `tradeoff.csv` and `tradeoff-seconds.csv`.
fn write(context: &Context<'_>, cells: &[Cell]) -> Result<(), Error> {
    let key: [Column<Cell>; 6] = [
        ("dataset", |case| case.set.clone()),
        ("bandwidth", |case| case.regime.name().to_owned()),
        ("method", |case| case.result.curve.clone()),
        ("option", |case| case.result.option.clone()),
        ("value", |case| case.result.value.to_string()),
        ("seed", |case| case.seed.to_string()),
    ];
    let errors: [Column<Cell>; 3] = [
        ("sigma", |case| case.result.sigma.to_string()),
        ("fro_rel", |case| cell(case.result.fro_rel)),
        ("trace_fraction", |case| case.result.trace_fraction.to_string()),
    ];
    let seconds: [Column<Cell>; 1] = [("seconds", |case| case.result.seconds.to_string())];
    context.write("tradeoff.csv", &[&key[..], &errors].concat(), cells)?;
    context.write("tradeoff-seconds.csv", &[&key[..], &seconds].concat(), cells)
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
        let file = format!("tradeoff-{}.svg", regime.name());
        let caption = format!(
            "{title}: a point for each value of a method's option (tries or steps of the chains from a uniform start, \
             columns p of approximate scores, rows considered by pivoted Cholesky), mean over the seeds. Seconds \
             include the computation of the kernel entries that a method needs."
        );
        section.figure(context.out, file, &title, &panels, caption)?;
    }
    section.summary = sentences(cells);
    Ok(section)
}

/// A curve for each method, its points in the order of the parameter.
fn series(cells: &[&Cell]) -> Vec<Series> {
    let curves = distinct(cells.iter().map(|cell| cell.result.curve.as_str()));
    let points = |curve: &str| {
        let own = || cells.iter().map(|cell| &cell.result).filter(|timed| timed.curve == curve);
        let point = |value| {
            let own = || own().filter(|timed| timed.value == value);
            let errors: Vec<f64> = own().map(|timed| timed.trace_fraction).collect();
            Some((mean(own().map(|timed| timed.seconds))?, summary(&errors)?))
        };
        distinct(own().map(|timed| timed.value)).into_iter().filter_map(point).collect()
    };
    curves
        .into_iter()
        .map(|curve| Series { name: curve.to_owned(), look: look(curve), points: points(curve) })
        .collect()
}

/// Compare the chain with the method that reads every row.
fn sentences(cells: &[Cell]) -> Vec<String> {
    Regime::BOTH
        .iter()
        .filter_map(|&regime| {
            let own = |curve: &'static str| {
                cells.iter().filter(move |cell| cell.regime == regime && cell.result.curve == curve)
            };
            let chain = || own("kdpp").filter(|cell| cell.result.value == 3_200);
            let last = own("rpcholesky").map(|cell| cell.result.value).max()?;
            let pivoted = || own("rpcholesky").filter(move |cell| cell.result.value == last);
            let ratio = |of: fn(&Timed) -> f64| {
                let (ours, theirs) = (mean(chain().map(|cell| of(&cell.result)))?, mean(pivoted().map(|cell| of(&cell.result)))?);
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
