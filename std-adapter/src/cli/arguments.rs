//! What can be asked for, and its defaults.

use super::knobs::{MethodArguments, methods};
use super::tolerance::ToleranceArguments;
use clap::{Args, Parser, Subcommand, ValueEnum};
use dpp_nystrom::methods::Selector;
use dpp_nystrom::table::Target;
use dpp_nystrom::{Bandwidth, Checkpoint, KernelKind, Precision, Ridge};
use std::path::PathBuf;
use std::time::Duration;

/// Landmarks for kernel methods: c-DPP sampling, Nyström approximation, kernel ridge regression.
#[derive(Debug, Parser)]
#[command(name = "dpp-nystrom", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  dpp-nystrom demo                                             see it work, no file needed
  dpp-nystrom select houses.csv --landmarks 50 --out rows.csv  fifty diverse rows
  dpp-nystrom fit houses.csv --landmarks 50 --model houses.dpp train on them
  dpp-nystrom predict houses.dpp new.csv --out prices.csv      predict with them
  dpp-nystrom evaluate houses.csv --methods kdpp,uniform --landmarks 20,50 --seeds 3

Files are CSV, TSV, ARFF or NPY, gzipped or not, or row stores; - is standard input. Rows count from 0.
Exit status: 0 done, 1 error, 2 wrong usage.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The whole job on built-in rows: select, compare, fit, predict, draw
    #[command(after_help = "\
Example:
  dpp-nystrom demo --out first-look")]
    Demo(Demo),
    /// Choose landmarks among the rows of a file
    #[command(after_help = "\
Examples:
  dpp-nystrom select ailerons.arff --landmarks 50
  dpp-nystrom select ailerons.arff --tolerance 0.05 --method refined --curve curve.svg
  dpp-nystrom select rows.csv.gz --landmarks 100 --sigma median*4 --steps 20000 --json
  cat rows.csv | dpp-nystrom select - --landmarks 20 --target none --out landmarks.csv")]
    Select(Select),
    /// Train ridge regression on landmarks, and write a model
    #[command(after_help = "\
Examples:
  dpp-nystrom fit ailerons.arff --landmarks 50 --sigma cv --model ailerons.dpp
  dpp-nystrom fit ailerons.arff --landmarks 50 --budget 10s --model ailerons.dpp
  dpp-nystrom fit ailerons.arff --tolerance 0.45 --tolerance-on prediction --model ailerons.dpp
  dpp-nystrom fit rows.csv --given landmarks.csv --ridge 1e-6 --model rows.dpp")]
    Fit(Fit),
    /// Predict with a model
    #[command(after_help = "\
Example:
  dpp-nystrom predict ailerons.dpp new.csv --out predictions.csv

Columns are found by name where the file names them, else by place. A target column in the file is
not used but for the error told on stderr.")]
    Predict(Predict),
    /// Show what a model is
    #[command(after_help = "\
Example:
  dpp-nystrom info ailerons.dpp --json")]
    Info(Info),
    /// Bring a model to a device: Rust, C, or bytes for its flash
    #[command(after_help = super::export::EXAMPLES)]
    Export(super::export::Export),
    /// Compare methods over seeds
    #[command(after_help = "\
Examples:
  dpp-nystrom evaluate ailerons.arff --methods kdpp,uniform --landmarks 20,50 --sigma median*4
  dpp-nystrom evaluate rows.csv --methods given,kdpp --given mine.csv --landmarks 30 --json
  dpp-nystrom evaluate rows.csv --methods lev,kmeans --landmarks 30 --approximation modified

Each seed draws its own rows. fro_rel and spec_rel are relative to the best approximation of rank c,
nrmse to the standard deviation of the training target.")]
    Evaluate(Evaluate),
    /// The paper's figures on a folder of data sets: tables, pictures and a page
    #[command(after_help = "\
Examples:
  dpp-nystrom experiment all --data sets --out figures --quick
  dpp-nystrom experiment approximation --data sets --out figures --methods uniform,kdpp --landmarks 20,50

A run that was stopped goes on where it was. Tables are the same for the same seed; times are in tables of
their own.")]
    Experiment(Experiment),
    /// What the theory promises for these rows, beside what is measured
    #[command(after_help = super::diagnose::EXAMPLES)]
    Diagnose(super::diagnose::Diagnose),
    /// Cross-validate bandwidth and ridge together
    #[command(after_help = super::tune::EXAMPLES)]
    Tune(super::tune::Tune),
    /// Write rows that outgrow memory to a row store, which stays on the disk
    #[command(after_help = super::convert::EXAMPLES)]
    Convert(super::convert::Convert),
    /// Learn rows as a device does on a model's landmarks, and write what it would send
    #[command(after_help = super::fleet::LEARN_EXAMPLES)]
    Learn(super::fleet::Learn),
    /// One model from what many devices have learned
    #[command(after_help = super::fleet::MERGE_EXAMPLES)]
    Merge(super::fleet::Merge),
}

/// The file, and which of its rows and columns.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// Rows of numbers: CSV, TSV, ARFF or NPY, gzipped or not, or a row store; - is standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// The target column, which is no feature: a name, an index from 0, last, or none
    #[arg(long, value_name = "COLUMN", default_value = "last", allow_negative_numbers = true)]
    pub(crate) target: Target,
    /// Use so many rows, drawn at random [default: all; evaluate: 4000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) rows: Option<usize>,
    /// Seed of all that is random
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) seed: u64,
}

/// The kernel.
#[derive(Debug, Args)]
pub(crate) struct KernelArguments {
    /// The kernel
    #[arg(long, value_enum, default_value_t = KernelName::Gaussian)]
    pub(crate) kernel: KernelName,
    /// Bandwidth on standardised features: a number, median, median*4, or cv (10-fold)
    #[arg(
        long,
        value_name = "F|median|median*F|cv",
        default_value = "median",
        allow_negative_numbers = true
    )]
    pub(crate) sigma: Bandwidth,
    /// Degree of the polynomial kernel
    #[arg(long, default_value_t = 3, allow_negative_numbers = true)]
    pub(crate) degree: u32,
    /// Offset of the polynomial kernel
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) offset: f64,
    /// Arithmetic of the chain and of the regression
    #[arg(long, value_enum, default_value_t = PrecisionName::F64)]
    pub(crate) precision: PrecisionName,
}

impl KernelArguments {
    pub(crate) fn kind(&self) -> KernelKind {
        match self.kernel {
            KernelName::Gaussian => KernelKind::Gaussian,
            KernelName::Laplace => KernelKind::Laplace,
            KernelName::Matern32 => KernelKind::Matern32,
            KernelName::Matern52 => KernelKind::Matern52,
            KernelName::Polynomial => KernelKind::Polynomial { degree: self.degree, offset: self.offset },
            KernelName::Linear => KernelKind::Linear,
        }
    }

    pub(crate) fn precision(&self) -> Precision {
        match self.precision {
            PrecisionName::F64 => Precision::F64,
            PrecisionName::F32 => Precision::F32,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KernelName {
    Gaussian,
    Laplace,
    Matern32,
    Matern52,
    Polynomial,
    Linear,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PrecisionName {
    F64,
    F32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ApproximationName {
    /// The Nyström method
    Nystrom,
    /// The mean of several experts' (Kumar, Mohri and Talwalkar 2009)
    Ensemble,
    /// The modified Nyström method (Wang and Zhang 2013)
    Modified,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Folder for the landmarks, the model, the predictions and the picture
    #[arg(long, value_name = "DIR", default_value = "dpp-nystrom-demo")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Select {
    #[command(flatten)]
    pub(crate) source: Source,
    /// How many landmarks
    #[arg(long, value_name = "C", required_unless_present = "tolerance", allow_negative_numbers = true)]
    pub(crate) landmarks: Option<usize>,
    /// How to choose them
    #[arg(long, value_parser = methods(false), default_value = "kdpp")]
    pub(crate) method: &'static dyn Selector,
    #[command(flatten)]
    pub(crate) tolerance: ToleranceArguments,
    #[command(flatten)]
    pub(crate) knobs: MethodArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// Write the landmarks' row numbers to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Fit {
    #[command(flatten)]
    pub(crate) source: Source,
    /// How many landmarks
    #[arg(
        long,
        value_name = "C",
        required_unless_present_any = ["given", "tolerance"],
        conflicts_with = "given",
        allow_negative_numbers = true
    )]
    pub(crate) landmarks: Option<usize>,
    /// How to choose them
    #[arg(long, value_parser = methods(false), default_value = "auto")]
    pub(crate) method: &'static dyn Selector,
    #[command(flatten)]
    pub(crate) tolerance: ToleranceArguments,
    #[command(flatten)]
    pub(crate) knobs: MethodArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// The ridge γ, which is multiplied by the number of rows: a number, or cv (10-fold)
    #[arg(long, value_name = "F|cv", default_value = "cv", allow_negative_numbers = true)]
    pub(crate) ridge: Ridge,
    /// Landmarks of one's own choice: a CSV file of row numbers
    #[arg(
        long,
        value_name = "ROWS.csv",
        conflicts_with_all = ["tolerance", "tolerance_on", "max_landmarks", "curve"]
    )]
    pub(crate) given: Option<PathBuf>,
    /// Where to write the model
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Keep what was learned in this file, and go on from it if the fit was cut off; needs a row store
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Seconds between two writings of the checkpoint
    #[arg(
        long,
        value_name = "S",
        default_value_t = 10.0,
        requires = "checkpoint",
        allow_negative_numbers = true
    )]
    pub(crate) checkpoint_every: f64,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl Fit {
    pub(crate) fn checkpoint(&self) -> Option<Checkpoint> {
        let every = Duration::try_from_secs_f64(self.checkpoint_every).unwrap_or(Duration::MAX);
        self.checkpoint.clone().map(|path| Checkpoint::new(path, every))
    }
}

#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// A model that fit wrote, or one that export wrote as bytes: then exactly what the device answers
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Raw rows: CSV, TSV, ARFF or NPY, gzipped or not; - is standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Write the predictions to a CSV file instead of standard output
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Info {
    /// A model that fit wrote
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Methods to compare, separated by commas
    #[arg(long, value_parser = methods(true), value_delimiter = ',', required = true)]
    pub(crate) methods: Vec<&'static dyn Selector>,
    /// Numbers of landmarks, separated by commas
    #[arg(long, value_name = "C", value_delimiter = ',', required = true, allow_negative_numbers = true)]
    pub(crate) landmarks: Vec<usize>,
    /// How many seeds, from --seed on
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub(crate) seeds: u64,
    /// How many of the rows to hold out [default: a quarter]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) test: Option<usize>,
    #[command(flatten)]
    pub(crate) knobs: MethodArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// The ridge γ, which is multiplied by the number of rows: a number, or cv (10-fold)
    #[arg(long, value_name = "F|cv", default_value = "cv", allow_negative_numbers = true)]
    pub(crate) ridge: Ridge,
    /// Landmarks of one's own choice: a CSV file of row numbers
    #[arg(long, value_name = "ROWS.csv")]
    pub(crate) given: Option<PathBuf>,
    /// The approximation made of the landmarks; regression is measured for nystrom alone
    #[arg(long, value_enum, default_value_t = ApproximationName::Nystrom)]
    pub(crate) approximation: ApproximationName,
    /// Experts of the ensemble, who share the landmarks out among themselves
    #[arg(long, value_name = "P", default_value_t = 4, allow_negative_numbers = true)]
    pub(crate) experts: usize,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExperimentKind {
    /// What c landmarks miss of the kernel matrix, method by method
    Approximation,
    /// What ridge regression on them predicts
    Ridge,
    /// The error along the chain
    Mixing,
    /// Time against error
    Tradeoff,
    /// Rows exchanged one by one against every other choice of rows
    Subset,
    /// All of them
    All,
}

#[derive(Debug, Args)]
pub(crate) struct Experiment {
    /// Which figures
    #[arg(value_enum)]
    pub(crate) kind: ExperimentKind,
    /// Folder of data sets: CSV, TSV, ARFF or NPY, gzipped or not; the last column is the target
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Folder for tables, pictures and index.html
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Minutes instead of hours: fewer rows, methods, landmarks and seeds
    #[arg(long)]
    pub(crate) quick: bool,
    /// Methods to compare, separated by commas [default: those of the paper and their rivals]
    #[arg(long, value_parser = methods(false), value_delimiter = ',')]
    pub(crate) methods: Vec<&'static dyn Selector>,
    /// Numbers of landmarks, separated by commas [default: 20,50,100,200; quick: 10,20,50;
    /// subset: 20,50,100; quick: 10,20]
    #[arg(long, value_name = "C", value_delimiter = ',', allow_negative_numbers = true)]
    pub(crate) landmarks: Vec<usize>,
    /// How many seeds, from --seed on [default: 3; quick: 2]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub(crate) seeds: Option<u64>,
    /// Seed of all that is random
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) seed: u64,
}
