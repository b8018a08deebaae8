//! Landmarks refined by swaps compared with every other row selection: approximation error, landmarks for an
//! equal error, prediction error, and time.

use super::page::Section;
use super::{Context, Plan, Request, Set, trials};
use crate::error::Error;
use crate::selectors::find;
use crate::text::{self, Column, short, short_or_dash};
use verdict::Cell;

mod equal;
mod times;
mod verdict;

/// The methods that select rows, with which refinement is compared.
const RIVALS: &str = "uniform lev reglev adapfull adappart kmeans++ kmeans-snapped kdpp-exact kdpp rpcholesky arp greedy greedy-nuclear";
const QUICK: &str = "uniform adapfull kmeans-snapped kdpp rpcholesky greedy-nuclear";

/// Refinement of the trace error, and of the leave-one-out error.
const OURS: &[&str] = &["refined", "refined-ridge"];

/// Return the plan of this experiment: its own methods and numbers of landmarks unless the user gave some.
pub(super) fn plan(request: &Request) -> Plan {
    let (rivals, landmarks) =
        if request.quick { (QUICK, &[10, 20][..]) } else { (RIVALS, &[20, 50, 100][..]) };
    let mut plan = Plan::new(request, rivals, landmarks);
    for ours in OURS.iter().filter_map(|name| find(name)) {
        if !plan.methods.iter().any(|method| std::ptr::eq(*method, ours)) {
            plan.methods.push(ours);
        }
    }
    plan
}

/// Run with a plan from [`plan`].
pub(super) fn run(context: &Context<'_>, sets: &[Set], quick: bool) -> Result<Section, Error> {
    let all = trials::run(context, sets, "subset", false)?;
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
    section.tables =
        ["subset.csv", "subset-cells.csv", "subset-equal.csv", "subset-seconds.csv", "subset-times.csv"]
            .map(str::to_owned)
            .into();
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
    let columns: [Column<Cell>; 10] = [
        ("dataset", |cell| cell.set.clone()),
        ("bandwidth", |cell| cell.regime.name().to_owned()),
        ("landmarks", |cell| cell.c.to_string()),
        ("refined", |cell| cell.trace.to_string()),
        ("best_rival", |cell| cell.rival.1.to_string()),
        ("rival", |cell| cell.rival.0.clone()),
        ("ratio", |cell| cell.ratio().to_string()),
        ("refined_fro_rel", |cell| text::cell(cell.frobenius)),
        ("best_rival_fro_rel", |cell| text::cell(cell.frobenius_rival.as_ref().map(|rival| rival.1))),
        ("rival_fro_rel", |cell| cell.frobenius_rival.clone().unwrap_or_default().0),
    ];
    context.write("subset-cells.csv", &columns, cells)
}

/// Format the same as text.
fn table(cells: &[Cell]) -> String {
    let columns: [Column<Cell>; 10] = [
        ("data set", |cell| cell.set.clone()),
        ("sigma", |cell| cell.regime.name().to_owned()),
        ("c", |cell| cell.c.to_string()),
        ("refined", |cell| short(cell.trace)),
        ("best other", |cell| short(cell.rival.1)),
        ("", |cell| cell.rival.0.clone()),
        ("ratio", |cell| format!("{:.2}", cell.ratio())),
        ("Frobenius", |cell| short_or_dash(cell.frobenius)),
        ("best other", |cell| short_or_dash(cell.frobenius_rival.as_ref().map(|rival| rival.1))),
        ("", |cell| cell.frobenius_rival.clone().unwrap_or_default().0),
    ];
    format!(
        "Trace error / trace, and Frobenius error / best, means over the seeds\n\n{}",
        text::table(&columns, cells)
    )
}
