//! `dpp-nystrom convert`.

use crate::arguments::PrecisionName;
use crate::bar::Bar;
use crate::error::Error;
use crate::output::{aligned, keep_inputs, note, print_report};
use clap::Args;
use dpp_nystrom::data::store;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::Precision;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const EXAMPLES: &str = "\
Examples:
  dpp-nystrom convert houses.csv.gz --out houses.rows
  dpp-nystrom convert big.npy --precision f32 --out big.rows
  zcat parts/*.csv.gz | dpp-nystrom convert - --target none --out parts.rows

select, fit, predict and evaluate take a row store like any other DATA. Its rows are standardised and stay on disk:
select and fit read them in place. --rows N loads N of them into memory, for any method.";

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// Rows of numbers: CSV, TSV, ARFF or NPY, gzipped or not; - is standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Target column, excluded from the features: a name, an index from 0, last, or none
    #[arg(long, value_name = "COLUMN", default_value = "last", allow_negative_numbers = true)]
    pub(crate) target: Target,
    /// Precision of the stored values, and of computations on them: f32 takes half the disk space
    #[arg(long, value_enum, default_value_t = PrecisionName::F64)]
    pub(crate) precision: PrecisionName,
    /// The row store to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    store: &'a Path,
    rows: u64,
    dim: usize,
    target: Option<&'a str>,
    precision: &'static str,
    seconds: f64,
}

pub(crate) fn run(arguments: &Convert) -> Result<(), Error> {
    keep_inputs(Some(&arguments.out), &[&arguments.data])?;
    let (precision, name) = match arguments.precision {
        PrecisionName::F64 => (Precision::F64, "f64"),
        PrecisionName::F32 => (Precision::F32, "f32"),
    };
    let begin = Instant::now();
    let made =
        store::convert(&arguments.data, &arguments.target, precision, &arguments.out, &Bar::default())?;
    let description = made.description();
    let target = description.target.as_ref().map(|target| target.name.as_str());
    if let (Target::Last, Some(name)) = (&arguments.target, target) {
        note(&format!(
            "target: column {name:?}, the last, is left out of the features (--target none keeps it)"
        ));
    }
    let report = Report {
        store: &arguments.out,
        rows: description.rows,
        dim: made.features(),
        target,
        precision: name,
        seconds: begin.elapsed().as_secs_f64(),
    };
    print_report(arguments.json, &report, text)
}

fn text(report: &Report<'_>) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let rows = [
        row("rows x features", format!("{} x {}", report.rows, report.dim)),
        row("target", report.target.unwrap_or("-").to_owned()),
        row("precision", report.precision.to_owned()),
        row("seconds", crate::output::short(report.seconds)),
    ];
    aligned(&["row store", &report.store.display().to_string()], &rows)
}
