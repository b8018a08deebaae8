//! Error against time and against kernel evaluations, each method at several values of its parameter.

use super::page::Section;
use super::{Case, Context, Regime, Set, gaussian};
use crate::chart::{Axis, Panel, Scale, Series};
use crate::curves::look;
use crate::error::Error;
use crate::selectors::{
    AdaptiveFull, AdaptivePartial, ApproximateLeverage, ApproximateRidgeLeverage, Arp, GreedyNuclear,
    Leverage, RecursiveRls, RidgeLeverage,
};
use crate::spectrum::Spectrum;
use crate::statistics::{distinct, mean, summary};
use crate::text::{Column, cell};
use dpp_nystrom::approximation::{Gram, SPECTRUM_ROWS};
use dpp_nystrom::core::{GroundSet, Rule};
use dpp_nystrom::landmarks::{self, ChainKind, Selector, Start, Steps, Task, select};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::selectors::{
    Auto, Greedy, Kdpp, Kmeans, KmeansPlusPlus, KmeansSnapped, Refined, RpCholesky, Uniform,
};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum number of rows of the methods that decompose the kernel matrix, and of Frobenius errors.
const DECOMPOSED: usize = 4_000;

/// The maximum number of multiply-adds of approximate scores: at 10⁶ rows those of more columns would take
/// most of the time.
const SCORES_WORK: u64 = 100_000_000_000;

/// A selector at one value of its parameter.
struct Setting {
    /// The curve that it belongs to.
    curve: &'static str,
    parameter: &'static str,
    value: u64,
    selector: Box<dyn Selector>,
}

/// Its cost and error.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Timed {
    rows: usize,
    curve: String,
    option: String,
    value: u64,
    sigma: f64,
    fro_rel: Option<f64>,
    trace_fraction: f64,
    seconds: f64,
    /// Kernel evaluations; none of a method that needs coordinates.
    evaluations: Option<u64>,
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
    for sweeps in [1, 2, 3, 5, 10] {
        add("refined", "sweeps", sweeps, Box::new(Refined::default().sweeps(sweeps)));
    }
    for columns in [1, 2, 4, 8, 16].map(|factor| factor * c).into_iter().filter(|&columns| columns <= rows) {
        if (rows as u64).saturating_mul((columns * columns) as u64) > SCORES_WORK {
            break;
        }
        let value = columns as u64;
        add("applev", "columns", value, Box::new(ApproximateLeverage::default().columns(columns)));
        add("appreglev", "columns", value, Box::new(ApproximateRidgeLeverage::default().columns(columns)));
    }
    for pivot_rows in [16, 8, 4, 2, 1].map(|part| rows / part).into_iter().filter(|&rows| rows >= c) {
        add("rpcholesky", "rows", pivot_rows as u64, Box::new(RpCholesky::default().rows(pivot_rows)));
    }
    let mut others: Vec<Box<dyn Selector>> = vec![
        Box::new(Auto::default()),
        Box::new(Uniform),
        Box::new(AdaptivePartial),
        Box::new(KmeansPlusPlus),
        Box::new(Kmeans),
        Box::new(KmeansSnapped),
        Box::new(Greedy),
        Box::new(RecursiveRls),
    ];
    if rows <= SPECTRUM_ROWS {
        others.extend([Box::new(GreedyNuclear) as Box<dyn Selector>, Box::new(AdaptiveFull)]);
    }
    if rows <= DECOMPOSED {
        let whole: [Box<dyn Selector>; 3] =
            [Box::new(Arp), Box::new(Leverage::default()), Box::new(RidgeLeverage)];
        others.extend(whole);
    }
    others.into_iter().for_each(|selector| add(selector.name(), "", 0, selector));
    settings
}

/// Counts the kernel evaluations of a method.
struct Counted<'g, G> {
    ground: &'g G,
    evaluations: AtomicU64,
}

impl<G: GroundSet<f64>> GroundSet<f64> for Counted<'_, G> {
    fn len(&self) -> usize {
        self.ground.len()
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        self.ground.entry(i, j)
    }

    /// Not counted: it is the same for all rows.
    fn diagonal(&self, i: usize) -> f64 {
        self.ground.diagonal(i)
    }
}

/// Count the kernel evaluations of a selector, in another run of it.
fn evaluations(selector: &dyn Selector, task: &Task<'_>) -> Result<Option<u64>, Error> {
    let counted = Counted { ground: task.gram.ground(), evaluations: AtomicU64::new(0) };
    match select::<f64, _>(&counted, task.c, selector, task.seed, &NoObserver) {
        Ok(_) => Ok(Some(counted.evaluations.into_inner())),
        Err(error) if error.kind() == dpp_nystrom::ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(error.into()),
    }
}

type Cell = Case<Timed>;

pub(super) fn run(context: &Context<'_>, sets: &[Set]) -> Result<Section, Error> {
    let mut cells: Vec<Cell> = Vec::new();
    for &rows in &context.plan.tradeoff_rows {
        let work = |set: &Set, regime, seed| time(context, set, regime, rows, seed);
        let cases = context.cases(&format!("tradeoff-{rows}"), sets, work)?;
        cells.extend(cases.into_iter().flat_map(Case::each));
    }
    write(context, &cells)?;
    section(context, sets, &cells)
}

fn time(
    context: &Context<'_>,
    set: &Set,
    regime: Regime,
    rows: usize,
    seed: u64,
) -> Result<Vec<Timed>, Error> {
    let c = context.plan.tradeoff_landmarks;
    // The bandwidth of the set's own rows, also where they are repeated.
    let own = set.rows(context.plan.rows.min(set.table.rows()), seed)?;
    let kernel = gaussian(context, &own, regime.bandwidth(), seed)?;
    let data = set.rows(rows, seed)?;
    let gram = Gram::new(&data, kernel)?;
    let spectrum = match rows <= DECOMPOSED {
        true => Some(Spectrum::of_matrix(gram.matrix()?.clone())?),
        false => None,
    };
    let task = Task { seed, ..Task::new(&gram, c) };
    let mut all = Vec::new();
    for Setting { curve, parameter, value, selector } in settings(rows, c) {
        let selection = landmarks::run(selector.as_ref(), &task)?;
        let relative = match &spectrum {
            Some(spectrum) => spectrum.relative_error(&gram, &selection.landmarks)?,
            None => None,
        };
        all.push(Timed {
            rows,
            curve: curve.to_owned(),
            option: parameter.to_owned(),
            value,
            sigma: kernel.sigma,
            fro_rel: relative.map(|relative| relative.frobenius),
            trace_fraction: gram.trace_error(&selection.landmarks)?.fraction,
            seconds: selection.seconds,
            evaluations: evaluations(selector.as_ref(), &task)?,
        });
    }
    Ok(all)
}

/// Write `tradeoff.csv` and `tradeoff-seconds.csv`.
fn write(context: &Context<'_>, cells: &[Cell]) -> Result<(), Error> {
    let key: [Column<Cell>; 7] = [
        ("dataset", |case| case.set.clone()),
        ("rows", |case| case.result.rows.to_string()),
        ("bandwidth", |case| case.regime.name().to_owned()),
        ("method", |case| case.result.curve.clone()),
        ("option", |case| case.result.option.clone()),
        ("value", |case| case.result.value.to_string()),
        ("seed", |case| case.seed.to_string()),
    ];
    let errors: [Column<Cell>; 4] = [
        ("sigma", |case| case.result.sigma.to_string()),
        ("fro_rel", |case| cell(case.result.fro_rel)),
        ("trace_fraction", |case| case.result.trace_fraction.to_string()),
        ("evaluations", |case| case.result.evaluations.map_or_else(String::new, |count| count.to_string())),
    ];
    let seconds: [Column<Cell>; 1] = [("seconds", |case| case.result.seconds.to_string())];
    context.write("tradeoff.csv", &[&key[..], &errors].concat(), cells)?;
    context.write("tradeoff-seconds.csv", &[&key[..], &seconds].concat(), cells)
}

/// What the error is drawn against: a name for files, the axis, and where the point is.
type Cost = (&'static str, &'static str, fn(&Timed) -> Option<f64>);

const COSTS: [Cost; 2] = [
    ("seconds", "seconds from rows to landmarks", |timed| Some(timed.seconds)),
    ("evaluations", "kernel evaluations", |timed| timed.evaluations.map(|count| count as f64)),
];

fn section(context: &Context<'_>, sets: &[Set], cells: &[Cell]) -> Result<Section, Error> {
    let c = context.plan.tradeoff_landmarks;
    let mut section =
        Section::new("tradeoff", &format!("Time and kernel evaluations against error, c = {c}"));
    section.tables = vec!["tradeoff.csv".to_owned(), "tradeoff-seconds.csv".to_owned()];
    for (&rows, regime) in
        context.plan.tradeoff_rows.iter().flat_map(|rows| Regime::BOTH.map(|regime| (rows, regime)))
    {
        for (name, axis, cost) in COSTS {
            let panel = |set: &Set| {
                let is_own = |cell: &&Cell| {
                    cell.set == set.name() && cell.regime == regime && cell.result.rows == rows
                };
                let own: Vec<&Cell> = cells.iter().filter(is_own).collect();
                Panel {
                    title: set.name().to_owned(),
                    x: Axis::new(axis, Scale::Logarithmic),
                    y: Axis::new("trace error / trace", Scale::Logarithmic),
                    series: series(&own, cost),
                }
            };
            let panels: Vec<Panel> =
                sets.iter().map(panel).filter(|panel| !panel.series.is_empty()).collect();
            if panels.is_empty() {
                continue;
            }
            let title = format!("Error against {axis}, N = {rows}, c = {c}, {}", regime.title());
            let file = format!("tradeoff-{rows}-{}-{name}.svg", regime.name());
            let caption = format!(
                "{title}: a point for each value of a method's option (tries or steps of the chains from a uniform start, \
                 sweeps of refinement, columns p of approximate scores, rows considered by pivoted Cholesky), mean over \
                 the seeds, bars from minimum to maximum. Seconds include the computation of the kernel entries that a \
                 method needs; k-means evaluates distances alone."
            );
            section.figure(context.out, file, &title, &panels, caption)?;
        }
    }
    section.summary = sentences(cells);
    Ok(section)
}

/// A curve for each method, its points in the order of the parameter.
fn series(cells: &[&Cell], cost: fn(&Timed) -> Option<f64>) -> Vec<Series> {
    let curves = distinct(cells.iter().map(|cell| cell.result.curve.as_str()));
    let points = |curve: &str| -> Vec<(f64, [f64; 3])> {
        let own = || cells.iter().map(|cell| &cell.result).filter(|timed| timed.curve == curve);
        let point = |value| {
            let own = || own().filter(|timed| timed.value == value);
            let errors: Vec<f64> = own().map(|timed| timed.trace_fraction).collect();
            Some((mean(own().filter_map(cost))?, summary(&errors)?))
        };
        distinct(own().map(|timed| timed.value)).into_iter().filter_map(point).collect()
    };
    curves
        .into_iter()
        .map(|curve| Series { name: curve.to_owned(), look: look(curve), points: points(curve) })
        .filter(|series| !series.points.is_empty())
        .collect()
}

/// Compare each method with refinement of three sweeps, the default, at equal time.
fn sentences(cells: &[Cell]) -> Vec<String> {
    let of = |curve: &'static str, value: Option<u64>| {
        cells.iter().filter(move |cell| {
            cell.result.curve == curve && value.is_none_or(|value| value == cell.result.value)
        })
    };
    let pairs: Vec<(&Cell, Vec<&Cell>)> = of("refined", Some(3))
        .map(|ours| {
            let is_same = |cell: &&Cell| {
                (&cell.set, cell.regime, cell.seed, cell.result.rows)
                    == (&ours.set, ours.regime, ours.seed, ours.result.rows)
                    && cell.result.curve != "refined"
                    && cell.result.curve != "auto"
                    && cell.result.curve != "kmeans"
                    && cell.result.seconds <= ours.result.seconds
            };
            (ours, cells.iter().filter(is_same).collect())
        })
        .collect();
    let error = |cell: &Cell| cell.result.trace_fraction;
    let ratios: Vec<f64> = pairs
        .iter()
        .filter_map(|(ours, others)| {
            let best = others.iter().map(|cell| error(cell)).min_by(f64::total_cmp)?;
            Some(error(ours) / best)
        })
        .collect();
    let Some(log) = mean(ratios.iter().map(|ratio| ratio.ln())) else { return Vec::new() };
    let lowest = ratios.iter().filter(|&&ratio| ratio <= 1.0).count();
    vec![format!(
        "Three sweeps of refinement have {:.3} times the trace error of the best other rows that were selected in no more \
         time (geometric mean), and the lowest in {lowest} of {} runs.",
        log.exp(),
        ratios.len()
    )]
}
