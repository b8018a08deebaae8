//! `dpp-nystrom export`.

use crate::columns::{MatchArguments, tell};
use crate::compiled::{Compiled, compiled};
use crate::error::Error;
use crate::output::{
    Column, keep_inputs, listed, note, plain, print_report, row, short, short_or_dash, shown, table,
};
use crate::package::{Library, PACKAGES, Package, Shown};
use clap::Args;
use dpp_nystrom::Model;
use dpp_nystrom::data::table::{Reading, Table};
use dpp_nystrom::model::AnyCoefficients;
use dpp_nystrom::model::export::{Bits, Bundle, Cost, Exported, Form, Name, With, landmark_rows};
use dpp_nystrom::pipeline::flash_bytes;
use dpp_nystrom_host::atomic_file::{write_folder, write_whole};
use dpp_nystrom_options::{Choice, one_of};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::{fs, io};

pub(crate) const EXAMPLES: &str = "\
Examples:
  dpp-nystrom export houses.dpp --to c --out houses.h --data houses.csv
  dpp-nystrom export houses.dpp --to rust --quantise i16 --out houses.rs
  dpp-nystrom export houses.dpp --to bytes --out houses.bin
  dpp-nystrom export houses.dpp --to onnx --out houses.onnx
  dpp-nystrom export houses.dpp --package arduino --out libraries/houses_model

A graph (onnx) is the model as it is, for onnxruntime: rows of its features after reading in, predictions or labels and probabilities out. The other forms are for devices. They predict from raw rows, in single precision or, with --quantise, in integers. --data measures the loss of accuracy relative to predict on rows of your choice. Where arm-none-eabi-gcc is
installed, a C header is compiled for a Cortex-M4F at -Os to report its flash and stack.

A package is a folder for a framework: the C header, a manifest, and an example that predicts one row. houses-1.2.0.dpp is version 1.2.0 of houses_model.";

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// A model written by fit
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Form of the export
    #[arg(
        long,
        value_parser = one_of(Form::ALL.map(|form| (form.name(), form.summary(), form))),
        required_unless_present = "package"
    )]
    to: Option<Form>,
    /// In place of --to: a library with the C header, a manifest and an example
    #[arg(long, value_parser = one_of(PACKAGES), value_name = "FRAMEWORK", conflicts_with = "to")]
    package: Option<Package>,
    /// Output file; of a package a new or an empty folder
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Prefix of the identifiers in it [default: the file's name; of a package the model's]
    #[arg(long)]
    name: Option<String>,
    /// Use integers instead of single precision, for processors without floating-point hardware [default: as
    /// fit --flash chose, else f32]
    #[arg(long, value_parser = one_of(&NUMBERS), value_name = "NUMBERS")]
    quantise: Option<Numbers>,
    /// Add what a device needs: to flag novel rows, and for variances (to rust and bytes, in single
    /// precision)
    #[arg(long, value_parser = one_of(&WITH), value_name = "WHAT", value_delimiter = ',')]
    with: Vec<Added>,
    /// Rows on which to measure the accuracy of the device's arithmetic [default: the landmarks]
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    #[command(flatten)]
    columns: MatchArguments,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Added {
    Novelty,
    Variance,
}

const WITH: [Choice<Added>; 2] = [("novelty", "", Added::Novelty), ("variance", "", Added::Variance)];

/// The factor of the model's error, and the share of a standard deviation, beyond which an export is warned
/// about.
const WORSE: f64 = 1.05;
const COARSE: f64 = 0.1;
/// The share up to which a difference does not matter where no rows were given.
const FINE: f64 = 0.01;

/// The integers, or none for single precision.
type Numbers = Option<Bits>;

const NUMBERS: [Choice<Numbers>; 3] = [
    ("f32", "Single precision", None),
    ("i16", "16-bit landmarks", Some(Bits::Sixteen)),
    ("i8", "8-bit landmarks", Some(Bits::Eight)),
];

pub(crate) fn name_of_numbers(numbers: Numbers) -> &'static str {
    NUMBERS.iter().find(|choice| choice.2 == numbers).map_or("", |choice| choice.0)
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(serialize_with = "shown")]
    out: &'a Path,
    name: &'a str,
    /// Of a package.
    #[serde(flatten)]
    library: Option<&'a Library>,
    features: usize,
    landmarks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<usize>,
    numbers: &'static str,
    flash_bytes: usize,
    /// Of bytes, which are used in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_bytes: Option<usize>,
    ram_bytes: usize,
    compiled: Option<Compiled>,
    measured_on: &'static str,
    rows: usize,
    largest_difference: f64,
    rms_difference: f64,
    rms_difference_share: Option<f64>,
    rmse_of_model: Option<f64>,
    rmse_of_export: Option<f64>,
    /// Of several targets, each in its own units.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<Measured>,
}

/// What the export of a target costs.
#[derive(Serialize)]
struct Measured {
    target: String,
    largest_difference: f64,
    rms_difference: f64,
    rms_difference_share: Option<f64>,
    rmse_of_model: Option<f64>,
    rmse_of_export: Option<f64>,
    #[serde(skip)]
    is_worse: bool,
}

impl Measured {
    fn of(cost: &Cost, model: &Model, classes: bool) -> Self {
        let share = (!classes && model.target_deviation > 0.0).then(|| cost.rms / model.target_deviation);
        let is_worse = match (cost.errors, share) {
            (Some([own, exported]), _) => exported > WORSE * own,
            // On rows like those of training the squares of the model's error and of the difference add up.
            (None, Some(share)) => share > ((WORSE * WORSE - 1.0).sqrt() * model.train_nrmse).max(FINE),
            (None, None) => false,
        };
        // Of classes an output is an indicator.
        let size = if classes { Some(cost.rms) } else { share };
        Self {
            target: model.target_name.clone(),
            largest_difference: cost.largest,
            rms_difference: cost.rms,
            rms_difference_share: share,
            rmse_of_model: cost.errors.map(|[own, _]| own),
            rmse_of_export: cost.errors.map(|[_, exported]| exported),
            is_worse: is_worse || size.is_some_and(|size| size > COARSE),
        }
    }

    const COLUMNS: [Column<Self>; 5] = [
        ("target", |one| plain(&one.target)),
        ("largest difference", |one| short(one.largest_difference)),
        ("rms difference in standard deviations", |one| short_or_dash(one.rms_difference_share)),
        ("error of the model", |one| short_or_dash(one.rmse_of_model)),
        ("error of the export", |one| short_or_dash(one.rmse_of_export)),
    ];
}

pub(crate) fn run(arguments: &Export) -> Result<(), Error> {
    let inputs = [Some(&arguments.model), arguments.data.as_ref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
    keep_inputs(Some(&arguments.out), &inputs)?;
    let library = library(arguments)?;
    let model = Model::load(&arguments.model)?;
    let form = arguments.to.unwrap_or(Form::C);
    if form == Form::Onnx {
        return graph(arguments, &model);
    }
    let has = |added| arguments.with.contains(&added);
    let with = With { novelty: has(Added::Novelty), variance: has(Added::Variance) };
    form.check(with)?;
    let outputs = model.each_output();
    let bundle = Bundle::of(&outputs, arguments.quantise.unwrap_or(model.quantise), with)?;
    let exported = &bundle.first;
    let name = library.as_ref().map_or_else(|| name(arguments), |library| library.name.clone());
    // Measure before writing, so that unreadable rows leave no output file.
    let (rows, further) = rows(arguments, &model)?;
    let count = rows.rows();
    let shown: Vec<f32> = rows.features.iter().take(rows.dim).map(|&value| value as f32).collect();
    let costs = bundle.costs(&outputs, rows, further)?;
    let content = bundle.write(form, &name)?;
    match (arguments.package, &library) {
        (Some(package), Some(library)) => {
            let files = package.files(library, &Shown::of(&content, &model, &outputs, exported, &shown)?);
            write_folder(&arguments.out, &files)?;
        }
        _ => write_whole(&arguments.out, |file| file.write_all(&content))?,
    }
    let measured = tell_cost(arguments, &model, &outputs, exported, &costs);
    let classes = model.classifier.is_some();
    let only = measured.first().filter(|_| measured.len() == 1);
    let report = Report {
        out: &arguments.out,
        name: name.as_str(),
        library: library.as_ref(),
        features: exported.features(),
        landmarks: exported.landmarks(),
        outputs: Some(bundle.outputs()).filter(|&outputs| outputs > 1),
        numbers: name_of_numbers(exported.bits()),
        flash_bytes: if form == Form::C { bundle.c_bytes() } else { bundle.flash_bytes() },
        file_bytes: (form == Form::Bytes).then_some(content.len()),
        ram_bytes: bundle.ram_bytes(),
        compiled: (form == Form::C).then(|| compiled(&content, &name, bundle.outputs(), classes)).flatten(),
        measured_on: if arguments.data.is_some() { "data" } else { "landmarks" },
        rows: count,
        largest_difference: costs.iter().map(|cost| cost.largest).fold(0.0, f64::max),
        rms_difference: (costs.iter().map(|cost| cost.rms * cost.rms).sum::<f64>() / costs.len() as f64)
            .sqrt(),
        rms_difference_share: only.and_then(|output| output.rms_difference_share),
        rmse_of_model: only.and_then(|output| output.rmse_of_model),
        rmse_of_export: only.and_then(|output| output.rmse_of_export),
        targets: if classes || measured.len() == 1 { Vec::new() } else { measured },
    };
    print_report(arguments.json, &report, text)
}

/// Return the name of a package's library; none of a file.
fn library(arguments: &Export) -> Result<Option<Library>, Error> {
    if arguments.package.is_none() {
        return Ok(None);
    }
    let vacant = match fs::read_dir(&arguments.out) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    match vacant {
        true => Library::of(&arguments.model, arguments.name.as_deref()).map(Some),
        false => Err(Error::NotVacant(arguments.out.clone())),
    }
}

/// Return the rows to measure on, and their further targets.
fn rows(arguments: &Export, model: &Model) -> Result<(Table, Vec<Vec<f64>>), Error> {
    let Some(path) = &arguments.data else { return Ok((landmark_rows(model)?, Vec::new())) };
    let recipe = model.recipe();
    let Reading { table, further, remarks, recipe, .. } =
        arguments.columns.options(&recipe).read_for(&recipe, path)?;
    tell(&remarks, &recipe);
    Ok((table, further))
}

/// Tell what a user may not expect of an export, and return what it costs each output.
fn tell_cost(
    arguments: &Export,
    model: &Model,
    outputs: &[Model],
    exported: &Exported,
    costs: &[Cost],
) -> Vec<Measured> {
    if exported.landmarks() < model.landmarks() {
        note(&format!(
            "{} of {} landmarks coincide with others after quantisation, and were dropped",
            model.landmarks() - exported.landmarks(),
            model.landmarks()
        ));
    }
    let bytes = |numbers, landmarks| {
        let shape = [landmarks, exported.features(), outputs.len()];
        flash_bytes(model.kernel.kind, numbers, shape, exported.rank())
    };
    let integers = bytes(exported.bits(), exported.landmarks());
    let fewer = Some(bytes(None, model.landmarks())).filter(|&single| single < integers);
    // What fit --flash chose predicts better in these numbers.
    if let Some(fewer) = fewer.filter(|_| arguments.quantise.is_some() || model.quantise.is_none()) {
        note(&format!(
            "single precision takes fewer bytes: at most {fewer} of code and constants on a Cortex-M4F, and these integers at most \
             {integers} (--quantise f32)"
        ));
    }
    if arguments.data.is_none() {
        note(
            "accuracy was measured on the landmarks alone; use --data with training or other rows to measure it there",
        );
    }
    let classes = model.classifier.is_some();
    let measured: Vec<Measured> =
        costs.iter().zip(outputs).map(|(cost, output)| Measured::of(cost, output, classes)).collect();
    let worse: Vec<&str> =
        measured.iter().filter(|output| output.is_worse).map(|output| output.target.as_str()).collect();
    if !worse.is_empty() {
        let of =
            if classes || measured.len() == 1 { String::new() } else { format!(" ({})", worse.join(", ")) };
        let advice = match model.quantise {
            Some(_) if arguments.quantise.is_none() => {
                "fit --flash chose these numbers by the export's error on validation rows; a fit with another --kernel, or other --quantise numbers, may do better"
            }
            _ => {
                "other --quantise numbers may do better, or a model with a larger --ridge, fewer landmarks, or fit --precision f32"
            }
        };
        note(&format!("warning: the export predicts clearly worse than the model{of}: {advice}"));
    }
    measured
}

#[derive(Serialize)]
struct Graph<'a> {
    #[serde(serialize_with = "shown")]
    out: &'a Path,
    name: &'a str,
    features: usize,
    landmarks: usize,
    outputs: usize,
    numbers: &'static str,
    file_bytes: usize,
}

/// Write the model as an ONNX graph.
fn graph(arguments: &Export, model: &Model) -> Result<(), Error> {
    let of_devices = [
        ("--quantise", arguments.quantise.is_some()),
        ("--with", !arguments.with.is_empty()),
        ("--data", arguments.data.is_some()),
    ];
    if let Some((option, _)) = of_devices.into_iter().find(|(_, given)| *given) {
        return Err(Error::Graph(option));
    }
    let name = name(arguments);
    let content = model.to_onnx(&name)?;
    write_whole(&arguments.out, |file| file.write_all(&content))?;
    let report = Graph {
        out: &arguments.out,
        name: name.as_str(),
        features: model.feature_names.len(),
        landmarks: model.landmarks(),
        outputs: model.outputs(),
        numbers: match model.coefficients {
            AnyCoefficients::F32(_) => "f32",
            AnyCoefficients::F64(_) => "f64",
        },
        file_bytes: content.len(),
    };
    print_report(arguments.json, &report, |report| {
        let out = report.out.display().to_string();
        let rows = [
            row("name", report.name),
            row("features", report.features),
            row("landmarks", report.landmarks),
            row("outputs", report.outputs),
            row("format", report.numbers),
            row("bytes of the file", report.file_bytes),
        ];
        listed(&["file", &out], &rows)
    })
}

/// Return the name requested, or the file's; note if it had to be changed.
fn name(arguments: &Export) -> Name {
    let stem = || arguments.out.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = Name::new(&arguments.name.clone().unwrap_or_else(stem));
    if let Some(wish) = arguments.name.as_ref().filter(|wish| *wish != name.as_str()) {
        note(&format!(
            "invalid name {wish:?}, using {:?}: expected letters, digits and underscores, beginning with a letter",
            name.as_str()
        ));
    }
    name
}

fn text(report: &Report<'_>) -> String {
    let mut rows = vec![
        row("name", report.name),
        row("features", report.features),
        row("landmarks", report.landmarks),
        row("format", report.numbers),
        row("bytes of constants, without code", report.flash_bytes),
        row("bytes of RAM for the row", report.ram_bytes),
        row("measured on", format!("{} rows ({})", report.rows, report.measured_on)),
    ];
    if report.targets.is_empty() {
        rows.push(row("largest difference", short(report.largest_difference)));
        rows.push(row("rms difference", short(report.rms_difference)));
    }
    if let Some(bytes) = report.file_bytes {
        rows[4] = row("bytes of the file, used in place", bytes);
    }
    if let Some(outputs) = report.outputs {
        rows.insert(3, row("outputs", outputs));
    }
    if let Some(share) = report.rms_difference_share {
        rows.push(row("the same in standard deviations of the target", short(share)));
    }
    if let (Some(own), Some(exported)) = (report.rmse_of_model, report.rmse_of_export) {
        rows.push(row("root mean squared error of the model", short(own)));
        rows.push(row("root mean squared error of the export", short(exported)));
    }
    if let Some(compiled) = &report.compiled {
        rows.push(row("bytes of flash, code and constants, on a Cortex-M4F", compiled.flash_bytes));
        rows.push(row("bytes of stack on a Cortex-M4F, at most", compiled.stack_bytes));
    }
    if let Some(Library { library, version, .. }) = report.library {
        rows.splice(0..0, [row("library", library), row("version", version)]);
    }
    let out = report.out.display().to_string();
    let targets = match report.targets.is_empty() {
        true => String::new(),
        false => format!("\n{}", table(&Measured::COLUMNS, &report.targets)),
    };
    listed(&[if report.library.is_some() { "folder" } else { "file" }, &out], &rows)
        + &targets
        + "\nDifferences are those of the export from the model, in the target's units.\n"
}
