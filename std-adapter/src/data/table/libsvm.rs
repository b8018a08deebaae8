//! The sparse text of LIBSVM: `label index:value index:value ...`, one row per line; `#` begins a comment.
//!
//! A value that is not written is 0. A feature is called `f` and its index, so that files agree on a feature
//! whatever the greatest index of each. The label comes last, as `label`. The values of a file are held in
//! memory.

use crate::data::table::columns::{Column, Columns, Want};
use crate::data::table::input::{Input, Origin, line_limit};
use crate::data::table::markers::Markers;
use crate::data::table::rows::Rows;
use crate::error::table::{TableError, TableProblem, cut};
use std::collections::BTreeSet;
use std::io::{BufRead, Read};

/// A row: its line, its label, and where its entries end.
struct Row {
    line: u64,
    label: f64,
    end: usize,
}

pub(crate) fn read<'a>(
    mut input: Input<'_>,
    origin: Origin<'a>,
    want: Want<'_>,
) -> Result<Rows<'a>, TableError> {
    let (mut rows, mut entries): (Vec<Row>, Vec<(u64, f64)>) = (Vec::new(), Vec::new());
    let limit = origin.options.limits.line;
    let (mut bytes, mut line) = (Vec::new(), 0);
    loop {
        bytes.clear();
        let read =
            input.by_ref().take(limit + 1).read_until(b'\n', &mut bytes).map_err(|e| origin.failed(e))?;
        if read == 0 {
            break;
        }
        line += 1;
        if bytes.len() as u64 > limit {
            return Err(line_limit(limit).at_line(line));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| TableProblem::NotUtf8.at_line(line))?;
        let text = text.split('#').next().unwrap_or_default();
        let mut fields = text.split_whitespace();
        let Some(label) = fields.next() else { continue };
        let label = number(label).ok_or_else(|| TableProblem::NotANumber(cut(label)).at_line(line))?;
        let begin = entries.len();
        for field in fields {
            let entry =
                field.split_once(':').and_then(|(at, value)| Some((at.parse().ok()?, number(value)?)));
            let entry = entry.ok_or_else(|| TableProblem::Libsvm(cut(field)).at_line(line))?;
            if entries.get(begin..).and_then(<[_]>::last).is_some_and(|last: &(u64, f64)| last.0 >= entry.0) {
                return Err(TableProblem::Libsvm(cut(field)).at_line(line));
            }
            entries.push(entry);
        }
        rows.push(Row { line, label, end: entries.len() });
    }
    if rows.is_empty() {
        return Err(TableProblem::Empty.into());
    }
    let names = indices(&entries, origin, want)?;
    let list = names.iter().map(|index| format!("f{index}")).chain(["label".to_owned()]).map(Column::number);
    let columns = Columns::named(list.collect());
    let plan = columns.plan(want, origin.options)?;
    let features = plan.recipe.columns.len() as u64;
    origin.check_sparse(rows.len(), features, entries.len())?;
    let mut table = Rows::new(origin, plan, Markers::of(want, origin.options));
    // Rows begin as zeros, so features that are not written need nothing; words, targets, groups and weights
    // are set to 0 explicitly.
    let told: Vec<usize> = (0..names.len()).filter(|&column| table.is_told(column)).collect();
    let mut begin = 0;
    table.no_survey();
    for Row { line, label, end } in rows {
        table.begin()?;
        for &column in &told {
            if entries[begin..end].iter().all(|entry| entry.0 != names[column]) {
                table.put_value(column, 0.0, line)?;
            }
        }
        for &(index, value) in &entries[begin..end] {
            let column = names.binary_search(&index).unwrap_or(names.len());
            table.put_value(column, value, line)?;
        }
        table.put_value(names.len(), label, line)?;
        begin = end;
    }
    Ok(table)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Return the features' indices in ascending order: to the greatest in the file, or those of the recipe as
/// well.
fn indices(entries: &[(u64, f64)], origin: Origin<'_>, want: Want<'_>) -> Result<Vec<u64>, TableError> {
    let found = entries.iter().map(|entry| entry.0);
    let Want::Apply { recipe, target } = want else {
        let (least, greatest) = (found.clone().min().unwrap_or(1).min(1), found.max().unwrap_or(1));
        let limit = origin.options.limits.columns;
        if greatest > limit {
            return Err(TableProblem::Limit { name: "columns", limit }.into());
        }
        return Ok((least..=greatest).collect());
    };
    // A target that is not written is absent where rows are predicted.
    let others = recipe.targets().chain(&recipe.ids).filter(|_| target);
    let known = recipe.columns.iter().map(|column| &column.name).chain(&recipe.ignored).chain(others);
    let known = known.filter_map(|name| name.strip_prefix('f')?.parse().ok());
    Ok(known.chain(found).collect::<BTreeSet<u64>>().into_iter().collect())
}
