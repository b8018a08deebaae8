//! From a file argument to prepared rows, with the remarks that a user wants on the way.

use crate::arguments::{KernelArguments, Source};
use crate::columns::{self, tell_words};
use crate::error::Error;
use crate::output::note;
use crate::taken::UNDO;
use dpp_nystrom::data::table::{Options, Reading, Table, Target};
use dpp_nystrom::kernel::{KernelParams, KernelSpec};
use dpp_nystrom::regression::{ChosenBandwidth, choose_bandwidth};
use dpp_nystrom::{
    Scale,
    data::{Prepared, RowSource},
};
use dpp_nystrom::{data::store::Store, observer::Observer, pipeline::Selected, pipeline::with_usual};
use dpp_nystrom_lab::report::{PlanReport, groups};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// Open a row store, and refuse another target than its own. The values of a small one are verified: nobody
/// waits for that.
pub(crate) fn open_store(source: &Source) -> Result<Store, Error> {
    source.table.refuse_weights("a row store")?;
    let store = Store::open(&source.data)?;
    let own = store.description().target.as_ref().map(|target| target.name.as_str());
    let scale = if store.is_scaled() { Scale::Standard } else { Scale::None };
    if source.table.keeps_together() || (source.scale != Scale::Standard && source.scale != scale) {
        return Err(Error::StoredRows(source.data.clone()));
    }
    if source.table.is_given() {
        return Err(Error::StoredColumns(source.data.clone()));
    }
    let wrong = match &source.table.columns.target {
        Target::Last | Target::None => false,
        Target::Name(name) => own != Some(name),
        Target::Index(_) | Target::Several(_) => true,
    };
    if wrong {
        let own = own.map_or("none".to_owned(), |name| format!("{name:?}"));
        return Err(Error::StoredTarget { path: source.data.clone(), own });
    }
    if store.fits_in_memory() {
        store.verify()?;
    }
    Ok(store)
}

/// Open the rows to work on: a row store where it lies, or rows in memory, all or as many as are asked for.
pub(crate) fn open(source: &Source) -> Result<Box<dyn RowSource>, Error> {
    if source.rows.is_none() && Store::is_store(&source.data) {
        return Ok(Box::new(open_store(source)?));
    }
    Ok(Box::new(prepared(source, source.rows)?))
}

/// Open the rows to work on, with the number of rows of the file, those left out among them.
pub(crate) fn open_counted(source: &Source) -> Result<(Box<dyn RowSource>, usize), Error> {
    if Store::is_store(&source.data) {
        return Ok((open(source)?, open_store(source)?.len()));
    }
    let reading = read_table(source)?;
    let rows = reading.table.rows() + reading.remarks.dropped.len();
    Ok((Box::new(prepared_of(source, reading, source.rows)?), rows))
}

/// Read the quality of each of `rows` rows from a file of its own: its column `quality`, or its first.
pub(crate) fn qualities(path: &Path, rows: usize) -> Result<Vec<f64>, Error> {
    let Numbers { table, column, name } = numbers(path, "quality")?;
    if table.rows() != rows {
        return Err(Error::Qualities { path: path.to_owned(), found: table.rows(), rows });
    }
    let values: Vec<f64> = (0..rows).map(|row| table.row(row)[column]).collect();
    if let Some(row) = values.iter().position(|value| *value < 0.0) {
        return Err(Error::Quality { row, column: name, found: values[row].to_string() });
    }
    note(&format!("rows are preferred by the quality in {}, column {name:?}", path.display()));
    Ok(values)
}

/// Read the rows to work on into memory, with the quality of each row of the file: 0 of those left out.
pub(crate) fn with_quality(source: &Source, column: &str) -> Result<(Prepared, Vec<f64>), Error> {
    if Store::is_store(&source.data) {
        return Err(Error::StoredColumns(source.data.clone()));
    }
    let mut options = source.table.options();
    let others = std::mem::replace(&mut options.ids, vec![column.to_owned()]);
    options.ignore.extend(others.into_iter().filter(|other| other != column));
    let reading = read_by(source, &options)?;
    let dropped: HashSet<usize> = reading.remarks.dropped.iter().copied().collect();
    let mut quality = vec![0.0; reading.ids.len() + dropped.len()];
    let kept = (0..quality.len()).filter(|row| !dropped.contains(row)).zip(&reading.ids);
    for (row, found) in kept.collect::<Vec<_>>() {
        let decimal =
            if options.decimal_comma == Some(true) { found.replace(',', ".") } else { found.clone() };
        quality[row] = match decimal.trim().parse() {
            Ok(number) if number >= 0.0 && f64::is_finite(number) => number,
            _ => {
                let (column, found) = (reading.id_names.concat(), found.clone());
                return Err(Error::Quality { row, column, found });
            }
        };
    }
    note(&format!("rows are preferred by the quality in column {:?}", reading.id_names.concat()));
    Ok((prepared_of(source, reading, source.rows)?, quality))
}

/// Read the rows to work on into memory: all, or as many as are asked for.
pub(crate) fn prepared(source: &Source, rows: Option<usize>) -> Result<Prepared, Error> {
    if Store::is_store(&source.data) {
        let read = open_store(source)?.read(rows, source.seed)?;
        let has_none = source.table.columns.target == Target::None;
        return Ok(if has_none { read.without_targets() } else { read });
    }
    prepared_of(source, read_table(source)?, rows)
}

/// Scale standardised rows as is asked for, and warn of columns that a single row flattens.
fn scaled(rows: Prepared, source: &Source) -> Result<Prepared, Error> {
    for (name, row, share) in rows.dominated() {
        let is_target = rows.targets().any(|target| target.name == name);
        let advice = match source.scale {
            _ if is_target => "; correct or leave out that row: --scale does not change a target",
            Scale::Standard => "; correct it, or use --scale robust",
            _ => "",
        };
        note(&format!(
            "warning: row {row} (from 0) alone makes up {:.0} % of the variance of column {name:?}, beside which the other rows \
             hardly differ{advice}",
            100.0 * share
        ));
    }
    Ok(rows.scaled(source.scale)?)
}

/// The rows to work on in memory where there may be too many: as many as are asked for, or the usual number,
/// which is told.
pub(crate) fn at_most(source: &Source, usual: usize) -> Result<Prepared, Error> {
    let rows_of = |total: usize| {
        if source.rows.is_none() && usual < total {
            note(&format!("{usual} of the {total} rows are used, drawn at random (--rows asks for more)"));
        }
        source.rows.unwrap_or(usual.min(total))
    };
    if Store::is_store(&source.data) {
        let rows = rows_of(open_store(source)?.len());
        return prepared(source, Some(rows));
    }
    let reading = read_table(source)?;
    let rows = rows_of(reading.table.rows());
    prepared_of(source, reading, Some(rows))
}

fn prepared_of(source: &Source, reading: Reading, rows: Option<usize>) -> Result<Prepared, Error> {
    let prepared = Prepared::of_reading(reading, rows, source.seed)?;
    scaled(prepared.in_time(source.table.columns.time), source)
}

/// The rows to draw from: of a row store no more than are asked for, drawn at random.
/// With the labels of which a target of classes is the index.
pub(crate) fn read_at_most(source: &Source, rows: usize) -> Result<(Table, Vec<String>), Error> {
    if Store::is_store(&source.data) {
        let store = open_store(source)?;
        let table = store.table_of_sample(rows.min(store.len()), source.seed)?;
        return Ok((table, store.labels()));
    }
    read(source).map(|(table, labels, _)| (table, labels))
}

/// The file's rows, with the labels of which a target of classes is the index, and the numbers in the file of
/// rows that were left out.
pub(crate) fn read(source: &Source) -> Result<(Table, Vec<String>, Vec<usize>), Error> {
    if Store::is_store(&source.data) {
        let store = open_store(source)?;
        store.verify()?;
        return Ok((store.table_of(&(0..store.len()).collect::<Vec<_>>())?, store.labels(), Vec::new()));
    }
    let reading = read_table(source)?;
    if !reading.further.is_empty() {
        return Err(Error::SeveralTargets("a comparison of methods"));
    }
    Ok((reading.table, reading.recipe.classes.unwrap_or_default(), reading.remarks.dropped))
}

/// The rows of a file that is no row store; tells what a user may not expect.
fn read_table(source: &Source) -> Result<Reading, Error> {
    read_by(source, &source.table.options())
}

fn read_by(source: &Source, options: &Options) -> Result<Reading, Error> {
    let reading = options.read(&source.data)?;
    tell_target(&source.table.columns.target, reading.table.target_name.as_deref());
    tell_words(&reading.recipe, reading.table.rows());
    columns::tell(&reading.remarks, &reading.recipe);
    groups(&reading.recipe, &UNDO).iter().for_each(|group| note(&group.join(": ")));
    if let Some(column) = &reading.recipe.weight {
        note(&format!("rows are weighted by column {column:?}: errors are means over these weights"));
    }
    Ok(reading)
}

/// Tell which column was taken as the target, if none was named.
pub(crate) fn tell_target(asked: &Target, found: Option<&str>) {
    if let (Target::Last, Some(name)) = (asked, found) {
        note(&format!("target: column {name:?}, the last, is not a feature; name another with --target"));
    }
}

/// Choose the bandwidth of the kernel.
pub(crate) fn kernel(
    data: &Prepared,
    arguments: &KernelArguments,
    seed: u64,
    observer: &dyn Observer,
) -> Result<KernelSpec, Error> {
    let KernelParams { kind, sigma, .. } = arguments.params()?;
    let ChosenBandwidth { sigma, at_edge, .. } = choose_bandwidth(sigma, kind, data, seed, observer)?;
    tell_edge(at_edge, sigma);
    Ok(KernelSpec { kind, sigma })
}

fn tell_edge(at_edge: bool, sigma: f64) {
    if at_edge {
        note(&format!(
            "warning: the cross-validated bandwidth {sigma} is at the edge of those compared; the best may lie beyond, \
             try --sigma with a number"
        ));
    }
}

/// Tell what a user wants to know of a selection.
pub(crate) fn tell(selected: &Selected<'_>) {
    tell_edge(selected.sigma_at_edge, selected.kernel.sigma);
    if let Some(sample) = &selected.sample {
        note(&format!("landmarks are selected among {} rows drawn at random", sample.len()));
    }
    let selection = &selected.selection;
    if let Some(chains) = selection.convergence.filter(|chains| !chains.converged) {
        note(&format!(
            "warning: after {} steps the chain has not converged (split R-hat {:.3}, above 1.05): its landmarks may not follow the \
             c-DPP yet; ask for fewer landmarks or a smaller bandwidth, or for more steps with --steps and a number",
            selection.steps, chains.r_hat
        ));
    }
    if let Some(plan) = &selection.plan {
        let words = PlanReport::from(plan.clone()).words();
        note(&format!("landmarks: --method auto took {words}: {}", plan.reason));
    }
}

/// Tell that there are fewer landmarks than were asked for, or than is usual.
pub(crate) fn tell_fewer(selected: &Selected<'_>, asked: Option<usize>) -> Result<(), dpp_nystrom::Error> {
    let rows = selected.source();
    let count = selected.selection.landmarks.count(rows.width());
    let (wanted, of) = match asked {
        Some(asked) => (asked, format!(" of the {asked} asked for")),
        None => (with_usual(rows.len(), Ok)?, String::new()),
    };
    if count < wanted {
        let more = match count == rows.len() {
            true => "there are no more rows",
            false => "more rows are not independent under this kernel",
        };
        note(&format!("{count} landmarks{of}: {more}"));
    }
    Ok(())
}

/// A column of numbers in a file.
struct Numbers {
    table: Table,
    column: usize,
    name: String,
}

/// Read the column of this name, or the first.
fn numbers(path: &Path, name: &str) -> Result<Numbers, Error> {
    let options = Options { target: Target::None, ..Options::default() };
    let Reading { table, mut recipe, .. } = options.read(path)?;
    if recipe.columns.iter().any(|column| column.levels.is_some()) {
        // Words are no numbers: say where they are.
        recipe.columns.iter_mut().for_each(|column| column.levels = None);
        options.read_for(&recipe, path)?;
    }
    let column = table.feature_names.iter().position(|found| found == name).unwrap_or(0);
    let name = table.feature_names[column].clone();
    Ok(Numbers { table, column, name })
}

/// The row numbers in a file that a user chose: its column `row`, or its first.
pub(crate) fn given(path: &Path) -> Result<Vec<usize>, Error> {
    let Numbers { table, column, .. } = numbers(path, "row")?;
    let (mut rows, mut seen) = (Vec::with_capacity(table.rows()), HashSet::new());
    for entry in 0..table.rows() {
        let value = table.row(entry)[column];
        let refuse = |problem| Error::Given { path: path.to_owned(), entry: entry + 1, value, problem };
        if !(value >= 0.0 && value.fract() == 0.0 && value < f64::from(u32::MAX)) {
            return Err(refuse(
                "is not a row number; rows count from 0, and points, as kmeans selects them, cannot be given",
            ));
        }
        if !seen.insert(value as usize) {
            return Err(refuse("is there twice; remove one"));
        }
        rows.push(value as usize);
    }
    Ok(rows)
}

/// Map row numbers of the file to the `rows` rows that are left of it without those dropped.
pub(crate) fn kept(
    rows: usize,
    dropped: &[usize],
    path: &Path,
    given: &[usize],
) -> Result<Vec<usize>, Error> {
    let dropped: BTreeSet<usize> = dropped.iter().copied().collect();
    let problem = match dropped.is_empty() {
        true => "is past the last row of the data; rows count from 0",
        false => "is past the last row of the data, or left out by --missing; rows count from 0 in the file",
    };
    look_up(path, given, problem, |number| {
        let row = number - dropped.range(..number).count();
        (row < rows && !dropped.contains(&number)).then_some(row)
    })
}

/// Map row numbers of the file to rows of the source.
pub(crate) fn among(source: &dyn RowSource, path: &Path, given: &[usize]) -> Result<Vec<usize>, Error> {
    let problem = "is not among the rows used; rows count from 0, and --rows leaves some out";
    look_up(path, given, problem, |number| source.row_of(number))
}

fn look_up(
    path: &Path,
    given: &[usize],
    problem: &'static str,
    row_of: impl Fn(usize) -> Option<usize>,
) -> Result<Vec<usize>, Error> {
    let refused = |entry, number: usize| Error::Given {
        path: path.to_owned(),
        entry: entry + 1,
        value: number as f64,
        problem,
    };
    let entries = given.iter().enumerate();
    entries.map(|(entry, &number)| row_of(number).ok_or_else(|| refused(entry, number))).collect()
}
