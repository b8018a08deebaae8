//! What became of the columns of a table that was taken as it is, told with the options that undo it.

use dpp_nystrom::data::table::{How, Recipe, Taken};
use dpp_nystrom_lab::report::Undo;
use serde::Serialize;

/// A column and what became of it.
#[derive(Serialize)]
pub(crate) struct TakenReport {
    /// Empty for all columns.
    column: String,
    what: String,
    left_out: bool,
    /// The option that undoes it.
    undo: String,
}

impl TakenReport {
    pub(crate) fn of(recipe: &Recipe) -> Vec<Self> {
        let report = |taken: &Taken| Self {
            column: taken.column.clone(),
            what: taken.how.to_string(),
            left_out: taken.how.is_left_out(),
            undo: undo(taken, recipe),
        };
        recipe.taken.iter().map(report).collect()
    }
}

/// Return an option that undoes it.
fn undo(taken: &Taken, recipe: &Recipe) -> String {
    let column = &taken.column;
    let is_target = recipe.target.iter().chain(&recipe.further).any(|target| target == column);
    match &taken.how {
        How::Id(_) | How::Steps | How::Constant(_) => format!("--keep {column}"),
        How::Rare(words) => format!("--limit levels={words}"),
        How::Frequent { different, .. } => format!("--limit levels={different}"),
        How::Read(_) if !is_target => format!("--words {column}"),
        How::Empty | How::Mixed(_) | How::Read(_) => "--strict".to_owned(),
        How::Filled(_) => "--missing error".to_owned(),
        How::DecimalComma => "--decimal .".to_owned(),
    }
}

/// The options that undo what became of columns, as [`groups`](dpp_nystrom_lab::report::groups) names it.
pub(crate) const UNDO: Undo = [
    "--keep makes a column a feature, --limit levels=N one of many words",
    "--decimal . has it otherwise",
    "--words takes a column as words",
    "--strict refuses them",
    "--limit levels=N takes all",
    "with means, and 0/1 features mark them; --missing has others",
];
