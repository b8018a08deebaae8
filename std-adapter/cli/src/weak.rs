//! Columns that hardly matter in a learned metric, and what a fit without them costs.

use crate::bar::Bar;
use crate::error::Error;
use crate::held_out::HeldOut;
use crate::output::{aligned, note, short, short_or_dash};
use crate::tolerance::ToleranceArguments;
use dpp_nystrom::data::{Prepared, RowSource};
use dpp_nystrom::pipeline::{self, LearnedMetric, Params};
use serde::Serialize;

/// The factor of the error above which columns that were left out are said to matter.
const WORSE: f64 = 1.02;

/// Columns that were left out, and the errors with them.
#[derive(Serialize)]
pub(crate) struct Dropped {
    dropped: Vec<Weak>,
    /// On the same rows as the errors of the metric that was then learned.
    held_out_before: Vec<HeldOut>,
}

#[derive(Serialize)]
struct Weak {
    column: String,
    /// Of the metric; that of a column of words is the sum over its levels.
    share: f64,
}

/// Parse a share: a number or a percentage.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, unit) =
        text.trim().strip_suffix('%').map_or((text.trim(), 1.0), |number| (number.trim(), 0.01));
    let share = number.parse::<f64>().map(|number| number * unit);
    share
        .ok()
        .filter(|share| (0.0..1.0).contains(share))
        .ok_or_else(|| format!("invalid value {text:?}: expected a share from 0 to 1, such as 0.01 or 1%"))
}

/// Learn a metric as the parameters say, and leave out the columns whose share in it is below `least`. None if there are none.
pub(crate) fn drop_weak(
    least: f64,
    rows: &dyn RowSource,
    params: &Params<'_>,
    usual: bool,
) -> Result<Option<(Prepared, Dropped)>, Error> {
    let learned = ToleranceArguments::with_fewer(usual, params.landmarks.clone(), |landmarks| {
        let params = Params { landmarks: landmarks.clone(), ..params.clone() };
        Ok(pipeline::select(rows, &params, &Bar)?.metric)
    })?;
    let shares = learned.as_ref().and_then(LearnedMetric::importances);
    let (Some(learned), Some(shares)) = (learned, shares) else {
        note("no column is left out: the metric has one bandwidth for all features");
        return Ok(None);
    };
    let rows = rows.in_memory("--drop-below", params.seed)?;
    let shares = rows
        .table_columns()
        .into_iter()
        .map(|(column, features)| Weak { column: column.to_owned(), share: shares[features].iter().sum() });
    let (places, dropped): (Vec<usize>, Vec<Weak>) =
        shares.enumerate().filter(|(_, weak)| weak.share < least).unzip();
    if dropped.is_empty() {
        note("no column is left out: none has a smaller share of the metric");
        return Ok(None);
    }
    let held_out_before = HeldOut::of(&learned, rows.classes.is_some()).collect();
    let dropped = Dropped { dropped, held_out_before };
    // The fit without them may fail.
    note(&format!("columns left out: {}", dropped.columns()));
    Ok(Some((rows.into_owned().without(&places)?, dropped)))
}

impl Dropped {
    /// The columns and their shares.
    pub(crate) fn columns(&self) -> String {
        let column = |Weak { column, share }: &Weak| format!("{column} {} %", short(100.0 * share));
        self.dropped.iter().map(column).collect::<Vec<_>>().join(", ")
    }

    /// The columns, and the errors with them and without (`after`).
    pub(crate) fn text(&self, after: &[HeldOut]) -> String {
        let before = &self.held_out_before[..];
        let new = after.iter().filter(|error| !before.iter().any(|other| other.metric == error.metric));
        let rows = before.iter().chain(new).map(|HeldOut { metric, .. }| {
            let of = |errors: &[HeldOut]| {
                short_or_dash(
                    errors.iter().find(|error| error.metric == *metric).map(|error| error.error.value()),
                )
            };
            vec![metric.to_string(), of(before), of(after)]
        });
        let errors = aligned(&["metric", "error with them", "without"], &rows.collect::<Vec<_>>());
        let columns = self.columns();
        let least = |errors: &[HeldOut]| errors.iter().map(|error| error.error.value()).reduce(f64::min);
        let warning = match least(before).zip(least(after)) {
            Some((before, after)) if after > WORSE * before => format!(
                "\nThe error rises by {} % without them: a small share is no proof that a column does not matter.\n",
                short(100.0 * (after / before - 1.0))
            ),
            _ => String::new(),
        };
        format!(
            "\nLeft out, with their shares of the metric: {columns}. On rows held out:\n{errors}{warning}"
        )
    }
}
