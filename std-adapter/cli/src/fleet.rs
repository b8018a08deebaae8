//! `dpp-nystrom learn` and `dpp-nystrom merge`.

use crate::bar::Bar;
use crate::columns::{MatchArguments, tell};
use crate::error::Error;
use crate::output::{aligned, keep_inputs, print_report, row, short, short_or_dash};
use clap::Args;
use dpp_nystrom::regression::{Accumulator, Fleet, Ridge};
use dpp_nystrom::{
    Error as LibraryError, atomic_file::write_whole, error::TableError, error::TableProblem, model::Model,
};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) const LEARN_EXAMPLES: &str = "\
Example:
  dpp-nystrom learn houses.dpp this-years.csv --out server.state

The state is what a device that accumulated the same rows would send. It contains only sums over the rows.";

pub(crate) const MERGE_EXAMPLES: &str = "\
Examples:
  dpp-nystrom merge device-*.state --of houses.dpp --model merged.dpp
  dpp-nystrom merge a.state b.state server.state --of houses.dpp --ridge cv --model merged.dpp --json

The states must come from devices with the landmarks of the model --of; others are rejected. --ridge cv predicts the
rows of each device from those of the others.";

/// Arguments of `learn`.
#[derive(Debug, Args)]
pub(crate) struct Learn {
    /// Model whose landmarks to use
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Rows to accumulate: CSV, TSV, ARFF, NPY or LIBSVM, gzipped or not; - is standard input
    #[arg(value_name = "DATA")]
    data: PathBuf,
    #[command(flatten)]
    columns: MatchArguments,
    /// Output file for the state
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// States written by learn or sent by devices
    #[arg(value_name = "STATE", required = true)]
    states: Vec<PathBuf>,
    /// Model whose landmarks the states use
    #[arg(long, value_name = "MODEL")]
    of: PathBuf,
    /// Regularisation γ (the ridge), multiplied by the number of rows: a number, or cv [default: the model's]
    #[arg(long, value_name = "F|cv")]
    ridge: Option<Ridge>,
    /// Output file for the merged model
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct LearnReport<'a> {
    state: &'a Path,
    rows: u64,
    bytes: usize,
}

#[derive(Serialize)]
struct MergeReport<'a> {
    model: &'a Path,
    states: usize,
    rows: u64,
    landmarks: usize,
    ridge: f64,
    train_nrmse: f64,
    cv_nrmse: Option<f64>,
}

pub(crate) fn learn(arguments: &Learn) -> Result<(), Error> {
    keep_inputs(Some(&arguments.out), &[&arguments.model, &arguments.data])?;
    let model = Model::load(&arguments.model)?;
    let reading = arguments.columns.options().read_for(&model.recipe(), &arguments.data)?;
    tell(&reading.remarks, &reading.recipe);
    let fleet = Fleet::of(&model)?;
    let accumulated = fleet.accumulate(&reading.table)?;
    let bytes = fleet.state(&accumulated)?;
    write_whole(&arguments.out, |file| file.write_all(&bytes))?;
    let report = LearnReport { state: &arguments.out, rows: accumulated.rows(), bytes: bytes.len() };
    print_report(arguments.json, &report, |report| {
        let rows = [row("rows", report.rows), row("bytes", report.bytes)];
        aligned(&["state", &report.state.display().to_string()], &rows)
    })
}

pub(crate) fn merge(arguments: &Merge) -> Result<(), Error> {
    let inputs: Vec<&Path> = arguments.states.iter().chain([&arguments.of]).map(PathBuf::as_path).collect();
    keep_inputs(Some(&arguments.model), &inputs)?;
    let model = Model::load(&arguments.of)?;
    let fleet = Fleet::of(&model)?;
    let states: Vec<Accumulator<f32>> =
        arguments.states.iter().map(|path| read(&fleet, path)).collect::<Result<_, _>>()?;
    for (at, path) in arguments.states.iter().enumerate() {
        if states[at].rows() > 0 && states[..at].contains(&states[at]) {
            return Err(Error::SameState(path.clone()));
        }
    }
    let ridge = arguments.ridge.unwrap_or(Ridge::Value(model.ridge));
    let merged = fleet.merge(&states, ridge, &Bar)?;
    merged.model.save(&arguments.model)?;
    let report = MergeReport {
        model: &arguments.model,
        states: states.len(),
        rows: merged.model.trained_rows,
        landmarks: merged.model.landmarks(),
        ridge: merged.model.ridge,
        train_nrmse: merged.model.train_nrmse,
        cv_nrmse: merged.validation_nrmse,
    };
    print_report(arguments.json, &report, |report| {
        let rows = [
            row("states", report.states),
            row("rows", report.rows),
            row("landmarks", report.landmarks),
            row("ridge", short(report.ridge)),
            row("training error", short(report.train_nrmse)),
            row("error across devices", short_or_dash(report.cv_nrmse)),
        ];
        aligned(&["model", &report.model.display().to_string()], &rows)
            + "\nErrors are in standard deviations of the target of the original model.\n"
    })
}

/// A state that a device sent.
fn read(fleet: &Fleet<'_>, path: &Path) -> Result<Accumulator<f32>, Error> {
    let failed = |source| TableError::new(path, TableProblem::Open(source));
    let bytes = fs::read(path).map_err(failed)?;
    fleet.read(&bytes).map_err(|error| match error {
        LibraryError::Core(reason) => Error::State { path: path.to_owned(), reason },
        other => other.into(),
    })
}
