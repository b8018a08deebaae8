//! What became of the columns of a table that was taken as it is, told with the options that undo it.

use crate::output::row;
use dpp_nystrom::data::table::{How, Recipe, Taken};
use serde::Serialize;

/// Columns that a line names.
const NAMED: usize = 12;

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

/// A kind of what becomes of columns: its name, whether a column is of it, and the options that undo it.
type Group = (&'static str, fn(&How) -> bool, &'static str);

const GROUPS: [Group; 6] = [
    ("left out", How::is_left_out, "--keep makes a column a feature, --limit levels=N one of many words"),
    ("decimal point", |how| *how == How::DecimalComma, "--decimal . has it otherwise"),
    ("dates and units", |how| matches!(how, How::Read(_)), "--words takes a column as words"),
    ("words and numbers", |how| matches!(how, How::Mixed(_)), "--strict refuses them"),
    ("many words", |how| matches!(how, How::Frequent { .. }), "--limit levels=N takes all"),
    ("gaps", |how| matches!(how, How::Filled(_)), "with means, and features tell them; --missing has others"),
];

/// Return names and texts of the kinds of what became of the columns.
pub(crate) fn groups(recipe: &Recipe) -> Vec<Vec<String>> {
    let text = |(name, is_of, undo): &Group| {
        let own: Vec<&Taken> = recipe.taken.iter().filter(|taken| is_of(&taken.how)).collect();
        let more = own.len().saturating_sub(NAMED);
        let named: Vec<String> = own.iter().take(NAMED).map(ToString::to_string).collect();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        (!own.is_empty()).then(|| row(name, format!("{}{more} ({undo})", named.join("; "))))
    };
    GROUPS.iter().filter_map(text).collect()
}
