//! Columns that hardly matter, and what a fit without them costs.

use crate::bar::Bar;
use crate::error::Error;
use crate::output::{note, plain_line, short};
use dpp_nystrom::data::{Prepared, RowSource};
use dpp_nystrom::model::{Estimate, Importance};
use dpp_nystrom::pipeline::{Params, WeakColumns, weak_columns};
use dpp_nystrom_lab::report::rise;
use serde::Serialize;

/// Columns of small importance, and the errors with them and without.
#[derive(Serialize)]
pub(crate) struct Dropped {
    /// Those that are left out.
    dropped: Vec<Importance>,
    /// Those that are kept, since the error rises without them.
    weak_but_kept: Vec<Importance>,
    error_with: Estimate,
    error_without: Estimate,
    #[serde(skip)]
    least: f64,
}

/// Parse a rise of the error: a number or a percentage.
pub(crate) fn least(text: &str) -> Result<f64, String> {
    let (number, unit) =
        text.trim().strip_suffix('%').map_or((text.trim(), 1.0), |number| (number.trim(), 0.01));
    let rise = number.parse::<f64>().map(|number| number * unit);
    rise.ok().filter(|rise| (0.0..1.0).contains(rise)).ok_or_else(|| {
        format!("invalid value {text:?}: expected a rise of the error from 0 to 1, such as 0.01 or 1%")
    })
}

/// Find the columns whose permutation raises the error by less than `least`. Return the rows without them, if
/// the error does not rise by more than its standard error then. None if there are no such columns.
pub(crate) fn drop_weak(
    least: f64,
    rows: &dyn RowSource,
    params: &Params<'_>,
) -> Result<Option<(Option<Prepared>, Dropped)>, Error> {
    let rows = rows.in_memory("--drop-below", params.seed)?;
    let found = match weak_columns(&rows, params, least, &Bar)? {
        Ok(found) => found,
        Err(reason) => {
            note(&format!("no column is left out: {reason}"));
            return Ok(None);
        }
    };
    let can_go = found.can_go();
    let WeakColumns { places, columns, with, without, .. } = found;
    let (dropped, weak_but_kept) = if can_go { (columns, Vec::new()) } else { (Vec::new(), columns) };
    let dropped = Dropped { dropped, weak_but_kept, error_with: with, error_without: without, least };
    // The fit without them may fail.
    note(&dropped.words());
    let rows = if can_go { Some(rows.into_owned().without(&places)?) } else { None };
    Ok(Some((rows, dropped)))
}

fn names(columns: &[Importance]) -> String {
    let column =
        |Importance { column, rise: own, .. }: &Importance| format!("{} {}", plain_line(column), rise(*own));
    columns.iter().map(column).collect::<Vec<_>>().join(", ")
}

impl Dropped {
    /// Return the columns that are left out, if any are.
    pub(crate) fn left_out(&self) -> Option<String> {
        (!self.dropped.is_empty()).then(|| names(&self.dropped))
    }

    fn words(&self) -> String {
        match self.left_out() {
            Some(columns) => format!("columns left out: {columns}"),
            None => format!("no column is left out: the error rises without {}", names(&self.weak_but_kept)),
        }
    }

    /// The columns, and the errors with them and without.
    pub(crate) fn text(&self) -> String {
        let Self { dropped, weak_but_kept, error_with, error_without, least } = self;
        let all = [&dropped[..], weak_but_kept].concat();
        let done = match dropped.is_empty() {
            true => "rises by more than its standard error, and they are kept",
            false => "does not rise by more than its standard error, and they are left out",
        };
        format!(
            "\nPermuted, these columns raise the error by less than {}: {}.\nOn rows that had no part in the test error above, the error is {} ± {} \
             with them and {} without: it {done}.\n",
            rise(*least),
            names(&all),
            short(error_with.value),
            short(error_with.standard_error),
            short(error_without.value),
        )
    }
}
