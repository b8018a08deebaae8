//! What can go wrong between a table and a model.

use datafusion::error::DataFusionError;
use std::path::PathBuf;

/// Everything that can go wrong here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The adapter's.
    #[error(transparent)]
    Adapter(#[from] dpp_nystrom::Error),
    /// The engine's.
    #[error("{}", root(.0))]
    Engine(Box<DataFusionError>),
    /// A scheduler or an executor that cannot run.
    #[error("{0}")]
    Role(Box<ballista_core::error::BallistaError>),
    /// A scheduler that does not know this program's functions.
    #[error(
        "the scheduler at {url} does not know what is to be computed; start scheduler and executors with \
         dpp-nystrom-cluster of this version, not with Ballista's own programs"
    )]
    StockScheduler {
        /// Where it is.
        url: String,
    },
    /// A table that cannot be told.
    #[error(
        "{text:?} is no table: give its name and where it is, as rows=FILE.parquet or rows='s3://bucket/part-*.parquet'"
    )]
    TableSource {
        /// What was given.
        text: String,
    },
    /// A format that is not read.
    #[error(
        "{path}: its name says no format that is read: .parquet, .csv, .tsv or .json (a value a line), the texts also as .gz"
    )]
    Format {
        /// What was given.
        path: String,
    },
    /// No table, or several and no query.
    #[error("{tables} tables and no query: say with --sql which rows, as 'select * from t'")]
    Query {
        /// How many there are.
        tables: usize,
    },
    /// A column that is asked for and is not there.
    #[error("there is no column {name:?}; there are {}", there.join(", "))]
    Column {
        /// Its name.
        name: String,
        /// Those that there are.
        there: Vec<String>,
    },
    /// A column twice.
    #[error("there are two columns {name:?}; give one another name with 'as' in --sql")]
    Twice {
        /// Its name.
        name: String,
    },
    /// A column that is not of numbers.
    #[error("the column {name:?} holds {kind}, no numbers; leave it out with --sql, or cast it there")]
    Kind {
        /// Its name.
        name: String,
        /// What it holds.
        kind: String,
    },
    /// No features beside the target.
    #[error("there is no column beside the target: nothing to predict it from")]
    NoFeatures,
    /// A null where a number is needed.
    #[error(
        "the column {name:?} holds nulls; leave these rows out with --sql, as 'where {name} is not null'"
    )]
    Null {
        /// The column.
        name: String,
    },
    /// A number that is none.
    #[error("the column {name:?} holds {value}, which is no number; leave these rows out with --sql")]
    NotFinite {
        /// The column.
        name: String,
        /// What it holds.
        value: f64,
    },
    /// No rows.
    #[error("the query has no rows")]
    NoRows,
    /// What came back is nothing that this program sent out.
    #[error("what came back is not whole; scheduler, executors and client must be of one version")]
    Answer,
    /// A place where queries cannot run.
    #[error("{url:?} is no cluster: give df://HOST:PORT ({reason})")]
    Url {
        /// What was given.
        url: String,
        /// Why not.
        reason: String,
    },
    /// An address to listen at.
    #[error(
        "{host}:{port} is no address to listen at: {reason}; give --bind an address of this machine, as 0.0.0.0"
    )]
    Address {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// Why not.
        reason: String,
    },
    /// A file that cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl From<datafusion::arrow::error::ArrowError> for Error {
    fn from(error: datafusion::arrow::error::ArrowError) -> Self {
        DataFusionError::from(error).into()
    }
}

impl From<ballista_core::error::BallistaError> for Error {
    fn from(error: ballista_core::error::BallistaError) -> Self {
        Self::Role(Box::new(error))
    }
}

/// The reason without the layers that passed it on.
fn root(error: &DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::External(error) => error.to_string(),
        other => other.strip_backtrace(),
    }
}

/// For an engine's function that failed.
pub(crate) fn inside(error: impl Into<Error>) -> DataFusionError {
    DataFusionError::External(Box::new(error.into()))
}
