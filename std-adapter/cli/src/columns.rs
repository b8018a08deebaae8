//! Options for how a table is read.

use crate::error::Error;
use crate::output::{note, warn_again};
use clap::{ArgAction, Args};
use dpp_nystrom::data::table::{Labels, Limits, Missing, Options, Recipe, Remarks, Target, Unknown};
use dpp_nystrom_options::{Choice, one_of};

/// The dialect of a text, and limits.
#[derive(Clone, Debug, Args)]
pub(crate) struct Dialect {
    /// Whether the first row names the columns
    #[arg(long, value_parser = one_of(&HEADERS), default_value = "auto")]
    header: Header,
    /// What separates fields: , ; | tab or space, for any run of white space [default: detected]
    #[arg(long, value_parser = separator, value_name = "CHARACTER")]
    separator: Option<u8>,
    /// The decimal point: . or , [default: ., or , where numbers such as 2,5 prove it and none has a point;
    /// that of the model]
    #[arg(long, value_parser = one_of(&POINTS), action = ArgAction::Set)]
    decimal: Option<bool>,
    /// The sheet of an .xlsx workbook [default: the first that is not hidden]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// Read rows of the form label index:value ..., as in files that end with .libsvm or .svm
    #[arg(long)]
    libsvm: bool,
    /// Raise a limit: bytes of a line (line), columns, words of a column (levels), classes of the target,
    /// bytes that a compressed file expands to (decompressed), or numbers that sparse rows expand to (sparse)
    /// [default: line=16777216, columns=100000, levels=256, classes=100, decompressed=17179869184,
    /// sparse=134217728]
    #[arg(long = "limit", value_parser = limit, value_name = "NAME=N", value_delimiter = ',')]
    limits: Vec<(String, u64)>,
}

/// Whether there is one; none: detected.
type Header = Option<bool>;

const HEADERS: [Choice<Header>; 3] = [("yes", "", Some(true)), ("no", "", Some(false)), ("auto", "", None)];

const POINTS: [Choice<bool>; 2] = [(".", "", false), (",", "", true)];

fn separator(text: &str) -> Result<u8, String> {
    match text {
        "," | "comma" => Ok(b','),
        ";" | "semicolon" => Ok(b';'),
        "|" => Ok(b'|'),
        "tab" | "\t" | "\\t" => Ok(b'\t'),
        "space" | " " => Ok(b' '),
        _ => Err(format!("invalid value {text:?}: expected , ; | tab or space")),
    }
}

fn limit(text: &str) -> Result<(String, u64), String> {
    let parsed = text.split_once('=').and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
    parsed.filter(|(name, value)| *value > 0 && Limits::default().set(name, *value)).ok_or_else(|| {
        format!(
            "invalid value {text:?}: expected line=N, columns=N, levels=N, classes=N, decompressed=N or sparse=N"
        )
    })
}

impl Dialect {
    fn options(&self) -> Options {
        let Self { header, separator, decimal, sheet, libsvm, limits } = self;
        let mut options = Options {
            header: *header,
            separator: *separator,
            decimal_comma: *decimal,
            sheet: sheet.clone(),
            libsvm: *libsvm,
            ..Options::default()
        };
        for (name, value) in limits {
            options.limits.set(name, *value);
        }
        options
    }
}

/// Which columns are learned from, and what is done with gaps.
#[derive(Clone, Debug, Args)]
pub(crate) struct ColumnArguments {
    /// The target column, which is not a feature: a name, an index from 0, last, or none; several numbers:
    /// a,b. Words are classes
    #[arg(long, value_name = "COLUMN", default_value = "last")]
    pub(crate) target: Target,
    /// Treat numeric targets as labels
    #[arg(long)]
    pub(crate) classes: bool,
    /// The features: names, indices from 0, or ranges such as 3-7 [default: all that have no other use]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<String>,
    /// Columns that are not used: names, indices from 0, or ranges
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Columns that identify a row: no features, and predict writes them beside the predictions
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ids: Vec<String>,
    /// The column that says which rows belong together, such as a patient or a machine: rows of one group are
    /// held out together. Not in convert and evaluate
    #[arg(long, value_name = "COLUMN", conflicts_with = "time")]
    pub(crate) group: Option<String>,
    /// Rows follow each other in time, as windows of a sensor do: contiguous blocks of them are held out. Not
    /// in convert and evaluate
    #[arg(long)]
    pub(crate) time: bool,
    /// The column with the weights of rows, numbers from 0 in any unit: a row of weight 2 counts as two rows,
    /// in the model and in the errors of fit and evaluate; one of weight 0 is left out. Not in convert and
    /// diagnose
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,
    /// Columns to take as words, one feature per word, even if they begin with a number
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    words: Vec<String>,
    /// What to do with missing values of features: error refuses them, drop leaves out the row, mean fills in
    /// the mean of the column (of words, the share of each), indicator does so and adds a 0/1 feature that
    /// marks them [default: indicator; with --strict, and in convert, error]
    #[arg(long, value_parser = one_of(&MISSING))]
    missing: Option<Missing>,
    /// Turn off the conversion of tables: no column is left out, and gaps, dates, units, separators of
    /// thousands and columns of numbers and words are errors
    #[arg(long)]
    strict: bool,
    /// Columns that are features even if they look like ids, are constant or have many words
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    keep: Vec<String>,
    /// What comes first in dates such as 10/11/2014, where no date of the column tells: the day (dmy) or the
    /// month (mdy)
    #[arg(long, value_parser = one_of(&ORDERS))]
    dates: Option<bool>,
    /// What stands for a missing value, beside an empty field. A model remembers it [default: of numbers ?,
    /// NA, N/A, #N/A, <NA>, NaN, null and None in any case, \N, . and -; of words ?, NA, N/A, n/a, #N/A,
    /// <NA>, NaN, nan, NULL, null and \N]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    missing_values: Option<Vec<String>>,
    /// Let --missing drop leave out more than half of the rows
    #[arg(long)]
    allow_loss: bool,
}

const ORDERS: [Choice<bool>; 2] = [("dmy", "", true), ("mdy", "", false)];

const MISSING: [Choice<Missing>; 4] = [
    ("error", "", Missing::Error),
    ("drop", "", Missing::Drop),
    ("mean", "", Missing::Mean),
    ("indicator", "", Missing::Indicator),
];

/// Which columns are learned from, in which dialect.
#[derive(Clone, Debug, Args)]
pub(crate) struct TableArguments {
    #[command(flatten)]
    pub(crate) columns: ColumnArguments,
    #[command(flatten)]
    dialect: Dialect,
}

impl TableArguments {
    pub(crate) fn options(&self) -> Options {
        if self.columns.strict { self.strict_options() } else { self.options_as_it_is() }
    }

    /// Return the options of a table that is not taken as it is.
    pub(crate) fn strict_options(&self) -> Options {
        let missing = self.columns.missing.unwrap_or(Missing::Error);
        Options { missing, as_it_is: false, ..self.options_as_it_is() }
    }

    fn options_as_it_is(&self) -> Options {
        let ColumnArguments { target, classes, columns, ignore, ids, group, weight, words, .. } =
            self.columns.clone();
        let missing_values = self.columns.missing_values.clone().map(|mut markers| {
            markers.retain(|marker| !marker.is_empty());
            markers
        });
        let labels = if classes { Labels::All } else { Labels::Words };
        Options {
            target,
            labels,
            columns,
            ignore,
            ids,
            group,
            weight,
            words,
            missing: self.columns.missing.unwrap_or(Missing::Indicator),
            as_it_is: true,
            keep: self.columns.keep.clone(),
            day_first: self.columns.dates,
            missing_values,
            allow_loss: self.columns.allow_loss,
            ..self.dialect.options()
        }
    }

    /// Whether an option other than the target is given.
    pub(crate) fn is_given(&self) -> bool {
        let target = self.columns.target.clone();
        let usual = Options { target, labels: Labels::Words, ..Options::default() };
        self.columns.time || self.columns.strict || self.strict_options() != usual
    }

    /// Refuse weights: `what` counts each row once.
    pub(crate) fn refuse_weights(&self, what: &'static str) -> Result<(), Error> {
        match self.columns.weight {
            Some(_) => Err(Error::Unweighted(what)),
            None => Ok(()),
        }
    }

    /// Whether rows are kept together.
    pub(crate) fn keeps_together(&self) -> bool {
        self.columns.time || self.columns.group.is_some()
    }
}

/// How the columns of a file are matched to a model's.
#[derive(Clone, Debug, Args)]
pub(crate) struct MatchArguments {
    #[command(flatten)]
    columns: MatchColumns,
    #[command(flatten)]
    dialect: Dialect,
}

#[derive(Clone, Debug, Args)]
struct MatchColumns {
    /// Columns that the model does not know: names, indices from 0, or ranges such as 3-7
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Columns that identify a row, written as they are: cells that a spreadsheet takes for formulas too
    /// [default: those of fit --ids]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ids: Vec<String>,
    /// What to do with a word that the model was trained without: refuse it, or set all its column's features
    /// to 0 [default: zero; of a model that fit --strict wrote, error]
    #[arg(long, value_parser = one_of(&UNKNOWN))]
    unknown: Option<Unknown>,
    /// Take the columns in their order, whatever their names
    #[arg(long)]
    by_position: bool,
}

const UNKNOWN: [Choice<Unknown>; 2] = [("error", "", Unknown::Error), ("zero", "", Unknown::Zero)];

impl MatchArguments {
    /// Return the options for a file that is read for a model.
    pub(crate) fn options(&self, recipe: &Recipe) -> Options {
        let MatchColumns { ignore, ids, unknown, by_position } = self.columns.clone();
        let usual = if recipe.as_it_is { Unknown::Zero } else { Unknown::Error };
        let unknown = unknown.unwrap_or(usual);
        Options { ignore, ids, unknown, by_position, ..self.dialect.options() }
    }
}

/// Return a number of things.
fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Tell what a user may not expect of the rows that were read.
pub(crate) fn tell(remarks: &Remarks, recipe: &Recipe) {
    let Remarks {
        filled, weightless, unknown, row_numbers, comments, target_by_position, rows, gaps, ..
    } = remarks;
    if let Some(encoding) = remarks.encoding {
        let note_of = match encoding {
            "windows-1252" => {
                "it is not UTF-8 and was read as Windows-1252, of which Latin-1 is a part: if words look wrong, save it as UTF-8"
            }
            other => &format!("it was read as {other}"),
        };
        note(&format!("the encoding of the text: {note_of}"));
    }
    if let Some(sheet) = &remarks.sheet {
        note(&format!("the sheet {sheet:?} was read, the first of several; --sheet names another"));
    }
    let what = match recipe.missing {
        Missing::Error | Missing::Drop => "gaps",
        Missing::Mean | Missing::Indicator => "gaps in the target",
    };
    if *filled > 0 {
        let gaps = counted(*filled, "gap was", "gaps were");
        note(&format!("{gaps} filled with means of the training rows"));
    }
    let (lost, rows) = (remarks.lost(), rows - weightless);
    if 10 * lost > rows {
        let columns = gaps.iter().take(3).map(|(column, rows)| format!("{column:?} ({rows})"));
        let columns = columns.collect::<Vec<_>>().join(", ");
        warn_again(&match recipe.missing {
            Missing::Error | Missing::Drop => format!(
                "warning: {lost} of {rows} rows have {what} and were left out, most of them for gaps in {columns}; --missing mean \
                 keeps rows, --ignore leaves out columns"
            ),
            Missing::Mean | Missing::Indicator => {
                format!("warning: {lost} of {rows} rows have {what} and were left out: {columns}")
            }
        });
    } else if lost > 0 {
        let rows = counted(lost, "row has", "rows have");
        note(&format!("{rows} {what} and were left out"));
    }
    if *weightless > 0 {
        let rows = counted(*weightless, "row has", "rows have");
        note(&format!("{rows} the weight 0 and were left out"));
    }
    if *unknown > 0 {
        let words = counted(*unknown, "word is", "words are");
        note(&format!("{words} unknown to the model: the features of their columns are 0"));
    }
    if remarks.unknown_classes > 0 {
        let rows = counted(remarks.unknown_classes, "row has", "rows have");
        note(&format!("{rows} a class that is unknown to the model, and no part in the errors"));
    }
    if *comments > 0 {
        let lines = counted(*comments, "line after the first begins", "lines after the first begin");
        note(&format!(
            "{lines} with # and {} skipped as {}; quote the first field of a row that begins so",
            if *comments == 1 { "was" } else { "were" },
            if *comments == 1 { "a comment" } else { "comments" }
        ));
    }
    if let Some(column) = target_by_position {
        note(&format!(
            "columns are taken by position: {column:?} is taken for the target; if it is none, leave it out with --ignore"
        ));
    }
    if let Some(column) = row_numbers {
        note(&format!(
            "warning: the first column {column:?} counts the rows and is a feature; leave it out with --ignore {}",
            if column.contains([' ', ',']) { "0" } else { column }
        ));
    }
}

/// Tell which columns were taken as words.
pub(crate) fn tell_words(recipe: &Recipe, rows: usize) {
    // A word for each few rows: numbers with a sign or a unit, or dates.
    const MANY: usize = 20;
    let are_many = |count: usize| count > MANY && 4 * count > rows;
    let columns =
        recipe.columns.iter().filter_map(|column| Some((column.name.as_str(), column.levels.as_ref()?)));
    let classes = recipe.target.as_deref().zip(recipe.classes.as_ref());
    for (name, levels) in columns.chain(classes).filter(|(_, levels)| are_many(levels.len())) {
        note(&format!(
            "warning: the column {name:?} has {} different words in {rows} rows, such as {:?}: if they are numbers, write them without \
             signs and units; else leave it out with --ignore",
            levels.len(),
            levels[0].chars().take(40).collect::<String>()
        ));
    }
    let words =
        recipe.columns.iter().filter_map(|column| Some((&column.name, column.levels.as_ref()?.len())));
    let words: Vec<String> = words
        .map(|(name, levels)| format!("{name:?} ({})", counted(levels as u64, "level", "levels")))
        .collect();
    if !words.is_empty() {
        note(&format!("words, one feature per level: {}", words.join(", ")));
    }
}
