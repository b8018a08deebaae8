//! The arguments of the commands.

use super::output::note;
use clap::{Args, Parser, Subcommand};
use dpp_nystrom::Ridge;
use dpp_nystrom::landmarks::Selector;
use dpp_nystrom::landmarks::methods::{METHODS, Method};
use dpp_nystrom::pipeline::{Landmarks, Params};
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, KernelParams},
};
use dpp_nystrom_cluster::{Error, Session, TableSource, Tls, roles};
use dpp_nystrom_options::{MethodArguments, kernels, methods, one_of};
use std::path::PathBuf;

/// Landmarks, kernel ridge regression and predictions over Parquet, CSV and SQL, on one machine and on many
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Examples:
  dpp-nystrom-cluster fit --table 't=part-*.parquet' --target price --landmarks 200 --model prices.dpp
  dpp-nystrom-cluster fit --table t=rows.csv --sql 'select a, b, ln(c) as c, y from t where c > 0' \\
      --landmarks 100 --model y.dpp
  dpp-nystrom-cluster predict prices.dpp --table t=new.parquet --out predictions.parquet

  dpp-nystrom-cluster scheduler --bind 0.0.0.0                     on one machine
  dpp-nystrom-cluster executor --scheduler HOST:50050 --bind 0.0.0.0 --host THIS   on each
  dpp-nystrom-cluster fit --cluster df://HOST:50050 --table 't=s3://bucket/part-*.parquet' ..."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit ridge regression on landmarks to all rows, and write the model
    Fit(Fit),
    /// Select landmarks, and write their rows as CSV
    Select(Select),
    /// Predict rows with a model, and write them with their predictions as Parquet
    Predict(Predict),
    /// Run the scheduler of a cluster, which plans queries and supervises executors
    Scheduler(roles::Scheduler),
    /// Run an executor of a cluster, which reads rows and computes
    Executor(roles::Executor),
}

/// Where rows come from.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// A table: its name and a file, a glob, a folder that ends with a slash, or a URL (s3, gs, az, http);
    /// .parquet, .csv, .tsv or .json, the texts also as .gz. May be given many times
    #[arg(long = "table", value_name = "NAME=PATH", required = true)]
    tables: Vec<TableSource>,
    /// Which rows and columns [default: all of the only table]
    #[arg(long, value_name = "QUERY")]
    sql: Option<String>,
    /// The cluster to run on [default: this process]
    #[arg(long, value_name = "df://HOST:PORT")]
    cluster: Option<String>,
    /// Threads of this process [default: all]
    #[arg(long, value_name = "N", conflicts_with = "cluster", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[command(flatten)]
    tls: Option<Tls>,
}

impl Source {
    pub(crate) async fn session(&self) -> Result<Session, Error> {
        let mut session = match &self.cluster {
            Some(url) => Session::on_cluster(url, self.tls.as_ref()).await?,
            None if self.tls.is_some() => return Err(Error::TlsWithoutCluster),
            None => Session::in_process(self.threads.map(usize::from))?,
        };
        for table in &self.tables {
            session.add(table).await?;
        }
        Ok(session)
    }

    pub(crate) fn sql(&self) -> Option<&str> {
        self.sql.as_deref()
    }
}

/// How landmarks are selected.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// The column to predict [default: the last]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Rows drawn at random that landmarks are selected among
    #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) candidates: u32,
    /// The method
    #[arg(long, default_value = "auto", value_parser = methods(METHODS.iter(), false))]
    pub(crate) method: &'static Method,
    #[command(flatten)]
    method_options: MethodArguments,
    /// The kernel
    #[arg(long, value_parser = one_of(kernels().collect::<Vec<_>>()), default_value = "gaussian")]
    kernel: KernelKind,
    /// Bandwidth on standardised features: a number, median, median*4, or cv (10-fold)
    #[arg(
        long,
        value_name = "F|median|median*F|cv",
        default_value = "median",
        allow_negative_numbers = true
    )]
    sigma: Sigma,
    /// Degree of the polynomial kernel
    #[arg(long, default_value_t = 3)]
    degree: u32,
    /// Offset of the polynomial kernel
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    offset: f64,
    /// The seed of all random numbers: the same seed gives the same result, in this process and on any
    /// cluster
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
}

impl Selection {
    /// Return the method with its options, and warn of options that it does not use.
    pub(crate) fn selector(&self) -> Box<dyn Selector> {
        self.method_options.unused(&[self.method]).iter().for_each(|warning| note(warning));
        self.method.selector(&self.method_options.options(&[]))
    }

    /// Fill in the parameters of the pipeline.
    pub(crate) fn params<'s>(&self, landmarks: u32, ridge: Ridge, selector: &'s dyn Selector) -> Params<'s> {
        Params {
            kernel: KernelParams { sigma: self.sigma, ..self.kernel().into() },
            landmarks: Landmarks::Count(landmarks as usize),
            selector,
            ridge,
            seed: self.seed,
            ..Params::default()
        }
    }

    fn kernel(&self) -> KernelKind {
        match self.kernel {
            KernelKind::Polynomial { .. } => {
                KernelKind::Polynomial { degree: self.degree, offset: self.offset }
            }
            kind => kind,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Fit {
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How many landmarks at most: fewer where fewer rows are independent
    #[arg(long, value_name = "C", required_unless_present = "of", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) landmarks: Option<u32>,
    /// Take landmarks, kernel and statistics of this model, and fit its weights again: one pass instead of
    /// two
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["landmarks", "method", "MethodArguments", "candidates", "target", "kernel", "sigma"])]
    pub(crate) of: Option<PathBuf>,
    /// The ridge γ, which is multiplied by the number of rows: a number, or cv (10-fold)
    #[arg(long, value_name = "F|cv", default_value = "cv", allow_negative_numbers = true)]
    pub(crate) ridge: Ridge,
    /// Where to write the model
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Select {
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How many landmarks
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) landmarks: u32,
    /// Where to write the landmarks' rows, features and target in their own units [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object; the rows go to --out only
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// The model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) source: Source,
    /// Where to write the rows with their predictions, as Parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The name of the predictions' column
    #[arg(long, value_name = "NAME", default_value = "prediction")]
    pub(crate) column: String,
}
