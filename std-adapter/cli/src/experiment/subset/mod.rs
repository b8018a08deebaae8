//! Landmarks refined by swaps compared with every other row selection: approximation error, landmarks for an equal
//! error, prediction error, and time.

use super::page::Section;
use super::trials::Trials;
use super::{Context, Plan, Set, trials, write_csv};
use crate::error::Error;
use crate::output::{aligned, short, short_or_dash};
use dpp_nystrom::landmarks::methods::{Method, find};
use verdict::Cell;

mod equal;
mod times;
mod verdict;

/// The methods that select rows, with which refinement is compared.
const RIVALS: &[&str] = &[
    "uniform",
    "lev",
    "reglev",
    "adapfull",
    "adappart",
    "kmeans++",
    "kmeans-snapped",
    "kdpp-exact",
    "kdpp",
    "rpcholesky",
    "greedy",
];
const QUICK: &[&str] = &["uniform", "adapfull", "kmeans-snapped", "kdpp", "rpcholesky"];

/// Refinement of the trace error, and of the leave-one-out error.
const OURS: &[&str] = &["refined", "refined-ridge"];

/// Return the plan of this experiment: its own methods and numbers of landmarks unless the user gave some.
pub(super) fn plan(plan: &Plan, quick: bool, methods: bool, landmarks: bool) -> Plan {
    let mut own = plan.clone();
    let known = |names: &[&str]| names.iter().filter_map(|name| find(name)).collect::<Vec<_>>();
    if !methods {
        own.methods = known(if quick { QUICK } else { RIVALS });
    }
    let is_new = |ours: &&Method| !own.methods.iter().any(|method| std::ptr::eq(*method, *ours));
    let ours: Vec<&Method> = known(OURS).into_iter().filter(is_new).collect();
    own.methods.extend(ours);
    if !landmarks {
        own.landmarks = if quick { vec![10, 20] } else { vec![20, 50, 100] };
    }
    own
}

/// Run with a plan from [`plan`].
pub(super) fn run(context: &Context<'_>, sets: &[Set], quick: bool) -> Result<Section, Error> {
    let all = trials::run(context, sets, "subset")?;
    trials::write(context, &all, "subset")?;
    let equal = equal::run(context, sets, &all)?;
    let times = times::run(context, sets, quick)?;
    let mut section =
        Section::new("subset", "Landmarks refined by swaps, compared with other row selections");
    trials::figures(
        context,
        &all,
        "subset",
        &[trials::TRACE, trials::FROBENIUS, trials::TEST],
        &mut section,
    )?;
    let cells = verdict::cells(&all);
    write_cells(context, &cells)?;
    equal::write(context, &equal)?;
    times::write(context, &times)?;
    for table in
        ["subset.csv", "subset-cells.csv", "subset-equal.csv", "subset-seconds.csv", "subset-times.csv"]
    {
        section.tables.push(table.to_owned());
    }
    section.text =
        vec![table(&cells), verdict::predictions(&all), equal::table(&equal), times::table(&times)];
    let methods: Vec<&str> = context.plan.methods.iter().map(|method| method.name).collect();
    section.summary = vec![format!("Methods: {}.", methods.join(", "))];
    section.summary.extend(verdict::sentences(&cells, &all));
    section.summary.extend(equal::sentences(&equal));
    section.summary.extend(times::sentences(&times));
    Ok(section)
}

/// Write `subset-cells.csv`: one line per data set, bandwidth and number of landmarks, means over the seeds.
fn write_cells(context: &Context<'_>, cells: &[Cell]) -> Result<(), Error> {
    let header = [
        "dataset",
        "bandwidth",
        "landmarks",
        "refined",
        "best_rival",
        "rival",
        "ratio",
        "refined_fro_rel",
        "best_rival_fro_rel",
        "rival_fro_rel",
    ];
    let rows: Vec<Vec<String>> = cells
        .iter()
        .map(|cell| {
            let (name, least) = cell.frobenius_rival.clone().unzip();
            vec![
                cell.set.clone(),
                cell.regime.name().to_owned(),
                cell.c.to_string(),
                cell.trace.to_string(),
                cell.rival.1.to_string(),
                cell.rival.0.clone(),
                cell.ratio().to_string(),
                super::cell(cell.frobenius),
                super::cell(least),
                name.unwrap_or_default(),
            ]
        })
        .collect();
    Ok(write_csv(&context.out.join("subset-cells.csv"), &header, &rows)?)
}

/// Format the same as text.
fn table(cells: &[Cell]) -> String {
    let header =
        ["data set", "sigma", "c", "refined", "best other", "", "ratio", "Frobenius", "best other", ""];
    let rows: Vec<Vec<String>> = cells
        .iter()
        .map(|cell| {
            let (name, least) = cell.frobenius_rival.clone().unzip();
            vec![
                cell.set.clone(),
                cell.regime.name().to_owned(),
                cell.c.to_string(),
                short(cell.trace),
                short(cell.rival.1),
                cell.rival.0.clone(),
                format!("{:.2}", cell.ratio()),
                short_or_dash(cell.frobenius),
                short_or_dash(least),
                name.unwrap_or_default(),
            ]
        })
        .collect();
    format!(
        "Trace error / trace, and Frobenius error / best, means over the seeds\n\n{}",
        aligned(&header, &rows)
    )
}

/// Trials of all sets at both bandwidths, for tests.
fn flat(all: &[Trials]) -> impl Iterator<Item = (super::Regime, &dpp_nystrom::benchmark::Trial)> {
    all.iter().flat_map(|Trials { regime, trials }| trials.iter().map(|trial| (*regime, trial)))
}
