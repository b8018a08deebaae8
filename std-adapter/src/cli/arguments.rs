//! What can be asked for, and its defaults.

use clap::{Args, Parser, Subcommand, ValueEnum};
use dpp_nystrom::core::Rule;
use dpp_nystrom::table::Target;
use dpp_nystrom::{Bandwidth, ChainKind, KernelKind, Method, Precision, RidgeChoice, Start, Steps};
use std::path::PathBuf;

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

Files are CSV, TSV, ARFF or NPY, gzipped or not; - is standard input. Rows count from 0.
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
  dpp-nystrom select rows.csv.gz --landmarks 100 --sigma median*4 --steps 20000 --json
  cat rows.csv | dpp-nystrom select - --landmarks 20 --target none --out landmarks.csv")]
    Select(Select),
    /// Train ridge regression on landmarks, and write a model
    #[command(after_help = "\
Examples:
  dpp-nystrom fit ailerons.arff --landmarks 50 --sigma cv --model ailerons.dpp
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
    /// Compare methods over seeds
    #[command(after_help = "\
Examples:
  dpp-nystrom evaluate ailerons.arff --methods kdpp,uniform --landmarks 20,50 --sigma median*4
  dpp-nystrom evaluate rows.csv --methods given,kdpp --given mine.csv --landmarks 30 --json

Each seed draws its own rows. fro_rel and spec_rel are relative to the best approximation of rank c,
nrmse to the standard deviation of the training target.")]
    Evaluate(Evaluate),
}

/// The file, and which of its rows and columns.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// Rows of numbers: CSV, TSV, ARFF or NPY, gzipped or not; - is standard input
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

/// The chain.
#[derive(Debug, Args)]
pub(crate) struct ChainArguments {
    /// Steps of the chain: a number, or auto, until it is at rest (paper and metropolis: 3000)
    #[arg(long, value_name = "N|auto", default_value = "auto", allow_negative_numbers = true)]
    pub(crate) steps: Steps,
    /// Where the chain starts
    #[arg(long, value_enum, default_value_t = StartName::KmeansPlusPlus)]
    pub(crate) start: StartName,
    /// Which chain: slot is the fast one, paper is Algorithm 1, metropolis moves more often
    #[arg(long, value_enum, default_value_t = ChainName::Slot)]
    pub(crate) chain: ChainName,
    /// Let rpcholesky, start or method, look at so many rows drawn at random [default: all]
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub(crate) pivot_rows: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum StartName {
    #[value(name = "kmeans++")]
    KmeansPlusPlus,
    Uniform,
    #[value(name = "rpcholesky")]
    RpCholesky,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ChainName {
    Slot,
    Paper,
    Metropolis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// The chain of the c-DPP
    Kdpp,
    /// Rows drawn uniformly
    Uniform,
    /// The seeds of k-means++
    #[value(name = "kmeans++")]
    KmeansPlusPlus,
    /// Randomly pivoted Cholesky
    #[value(name = "rpcholesky")]
    RpCholesky,
    /// The rows of --given
    Given,
}

impl MethodName {
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl ChainArguments {
    /// The method of this name; `given` are the rows for [`MethodName::Given`].
    pub(crate) fn method(&self, name: MethodName, given: &[usize]) -> Method {
        let chain = match self.chain {
            ChainName::Slot => ChainKind::Slot,
            ChainName::Paper => ChainKind::Swap(Rule::ALGORITHM_1),
            ChainName::Metropolis => ChainKind::Swap(Rule::METROPOLIS),
        };
        let start = match self.start {
            StartName::KmeansPlusPlus => Start::KmeansPlusPlus,
            StartName::Uniform => Start::Uniform,
            StartName::RpCholesky => Start::Pivoted { rows: self.pivot_rows },
        };
        match name {
            MethodName::Kdpp => Method::Kdpp { start, chain, steps: self.steps },
            MethodName::Uniform => Method::Start(Start::Uniform),
            MethodName::KmeansPlusPlus => Method::Start(Start::KmeansPlusPlus),
            MethodName::RpCholesky => Method::Start(Start::Pivoted { rows: self.pivot_rows }),
            MethodName::Given => Method::Given(given.to_vec()),
        }
    }
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
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) landmarks: usize,
    /// How to choose them
    #[arg(long, value_enum, default_value_t = SelectMethod::Kdpp)]
    pub(crate) method: SelectMethod,
    #[command(flatten)]
    pub(crate) chain: ChainArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// Write the landmarks' row numbers to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// A [`MethodName`] that needs no rows given.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SelectMethod {
    /// The chain of the c-DPP
    Kdpp,
    /// Rows drawn uniformly
    Uniform,
    /// The seeds of k-means++
    #[value(name = "kmeans++")]
    KmeansPlusPlus,
    /// Randomly pivoted Cholesky
    #[value(name = "rpcholesky")]
    RpCholesky,
}

impl From<SelectMethod> for MethodName {
    fn from(method: SelectMethod) -> Self {
        match method {
            SelectMethod::Kdpp => Self::Kdpp,
            SelectMethod::Uniform => Self::Uniform,
            SelectMethod::KmeansPlusPlus => Self::KmeansPlusPlus,
            SelectMethod::RpCholesky => Self::RpCholesky,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Fit {
    #[command(flatten)]
    pub(crate) source: Source,
    /// How many landmarks
    #[arg(
        long,
        value_name = "C",
        required_unless_present = "given",
        conflicts_with = "given",
        allow_negative_numbers = true
    )]
    pub(crate) landmarks: Option<usize>,
    /// How to choose them
    #[arg(long, value_enum, default_value_t = SelectMethod::Kdpp)]
    pub(crate) method: SelectMethod,
    #[command(flatten)]
    pub(crate) chain: ChainArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// The ridge γ, which is multiplied by the number of rows: a number, or cv (10-fold)
    #[arg(long, value_name = "F|cv", default_value = "cv", allow_negative_numbers = true)]
    pub(crate) ridge: RidgeChoice,
    /// Landmarks of one's own choice: a CSV file of row numbers
    #[arg(long, value_name = "ROWS.csv")]
    pub(crate) given: Option<PathBuf>,
    /// Where to write the model
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// A model that fit wrote
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
    #[arg(long, value_enum, value_delimiter = ',', required = true)]
    pub(crate) methods: Vec<MethodName>,
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
    pub(crate) chain: ChainArguments,
    #[command(flatten)]
    pub(crate) kernel: KernelArguments,
    /// The ridge γ, which is multiplied by the number of rows: a number, or cv (10-fold)
    #[arg(long, value_name = "F|cv", default_value = "cv", allow_negative_numbers = true)]
    pub(crate) ridge: RidgeChoice,
    /// Landmarks of one's own choice: a CSV file of row numbers
    #[arg(long, value_name = "ROWS.csv")]
    pub(crate) given: Option<PathBuf>,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}
