//! `dpp-nystrom convert`.

use crate::arguments::{PRECISIONS, STORED_SCALES};
use crate::bar::Bar;
use crate::columns::{TableArguments, tell, tell_words};
use crate::error::Error;
use crate::output::{keep_inputs, listed, print_report, row, shown};
use crate::source::tell_target;
use clap::Args;
use dpp_nystrom::data::table::FORMATS;
use dpp_nystrom::{Scale, data::store, kernel::Precision};
use dpp_nystrom_options::one_of;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const EXAMPLES: &str = "\
Examples:
  dpp-nystrom convert houses.csv.gz --out houses.rows
  dpp-nystrom convert big.npy --precision f32 --out big.rows
  zcat parts/*.csv.gz | dpp-nystrom convert - --target none --out parts.rows
  dpp-nystrom convert embeddings.npy --target none --scale none --precision f32 --out embeddings.rows

select, fit, predict and evaluate take a row store like any other DATA. Its rows stay on disk: select and fit read
them in place with auto, kdpp, rpcholesky, greedy, refined and uniform. --rows N loads N of them into memory, for any method.";

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    #[arg(value_name = "DATA", help = format!("Rows: {FORMATS}, gzipped or not; - is standard input"))]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) table: TableArguments,
    /// Precision of the stored values, and of computations on them: f32 takes half the disk space
    #[arg(long, value_parser = one_of(&PRECISIONS), default_value = "f64")]
    pub(crate) precision: Precision,
    /// How features are stored: at mean 0 and standard deviation 1, or as they are, such as embeddings. A
    /// store is then used as it is scaled
    #[arg(long, value_parser = one_of(&STORED_SCALES), default_value = "standard")]
    pub(crate) scale: Scale,
    /// The row store to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(serialize_with = "shown")]
    store: &'a Path,
    rows: u64,
    dim: usize,
    target: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    classes: Vec<String>,
    precision: &'static str,
    seconds: f64,
}

pub(crate) fn run(arguments: &Convert) -> Result<(), Error> {
    keep_inputs(Some(&arguments.out), &[&arguments.data])?;
    if arguments.table.keeps_together() {
        return Err(Error::Apart("convert"));
    }
    let begin = Instant::now();
    let Convert { data, table, precision, scale, out, .. } = arguments;
    let (made, remarks) =
        store::convert_with(data, &table.strict_options(), (*precision, *scale), out, &Bar)?;
    let description = made.description();
    let target = description.target.as_ref().map(|target| target.name.as_str());
    tell_target(&table.columns.target, target);
    let recipe = description.recipe.clone().unwrap_or_default();
    tell_words(&recipe, description.rows as usize);
    tell(&remarks, &recipe);
    let report = Report {
        store: &arguments.out,
        rows: description.rows,
        dim: made.features(),
        target,
        classes: made.labels(),
        precision: match arguments.precision {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
        },
        seconds: begin.elapsed().as_secs_f64(),
    };
    print_report(arguments.json, &report, text)
}

fn text(report: &Report<'_>) -> String {
    let mut rows = vec![
        row("rows x features", format!("{} x {}", report.rows, report.dim)),
        row("target", report.target.unwrap_or("-")),
        row("precision", report.precision),
        row("seconds", crate::output::short(report.seconds)),
    ];
    if !report.classes.is_empty() {
        rows.insert(2, row("classes", report.classes.join(", ")));
    }
    listed(&["row store", &report.store.display().to_string()], &rows)
}
