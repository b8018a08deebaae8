//! Errors between a table and a model.

use datafusion::error::DataFusionError;
use dpp_nystrom::{Error as AdapterError, ErrorKind};
use std::error::Error as StdError;
use std::path::PathBuf;

/// Every error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the adapter.
    #[error(transparent)]
    Adapter(AdapterError),
    /// An error of the engine.
    #[error("{}", root(.0))]
    Engine(Box<DataFusionError>),
    /// A scheduler or an executor failed.
    #[error("{0}")]
    Role(Box<ballista_core::error::BallistaError>),
    /// The scheduler at this address does not have this program's functions.
    #[error(
        "the scheduler at {0} does not have the functions of this program; start scheduler and executors with \
         dpp-nystrom-cluster of this version, not with Ballista's own programs"
    )]
    StockScheduler(String),
    /// A table that is not a name and a place.
    #[error(
        "invalid table {0:?}: expected a name and a place, as rows=FILE.parquet or rows='s3://bucket/part-*.parquet'"
    )]
    TableSource(String),
    /// A path of unknown format.
    #[error(
        "{0}: unknown format: expected a name in .parquet, .csv, .tsv or .json (one object a line), the texts also in .gz"
    )]
    Format(String),
    /// No query, and this number of tables instead of one.
    #[error("{0} tables and no query; name the rows with --sql, as 'select * from t'")]
    Query(usize),
    /// SQL that would do more than read.
    #[error("--sql only reads tables: {0}; give one query, as 'select * from t'")]
    ReadOnly(String),
    /// A missing column.
    #[error("there is no column {name:?}; there are {}", there.join(", "))]
    Column {
        /// Its name.
        name: String,
        /// The columns that exist.
        there: Vec<String>,
    },
    /// Two columns of this name.
    #[error("there are two columns {0:?}; rename one with 'as' in --sql")]
    Twice(String),
    /// A column that is not numeric.
    #[error("the column {name:?} holds {kind}: expected numbers; leave it out with --sql, or cast it there")]
    Kind {
        /// Its name.
        name: String,
        /// Its type.
        kind: String,
    },
    /// No features.
    #[error("there is no column besides the target; name features in --sql")]
    NoFeatures,
    /// A null in this column.
    #[error("the column {0:?} holds nulls; leave these rows out with --sql, as 'where {0} is not null'")]
    Null(String),
    /// A value that is not finite.
    #[error("the column {name:?} holds {value}: expected finite numbers; leave these rows out with --sql")]
    NotFinite {
        /// The column.
        name: String,
        /// The value.
        value: f64,
    },
    /// No rows.
    #[error("the query has no rows")]
    NoRows,
    /// Malformed bytes from another part of the cluster.
    #[error("malformed result; scheduler, executors and client must be of one version")]
    Malformed,
    /// A fit outside a multi-threaded runtime.
    #[error("the rows can only be accumulated on a thread of a multi-threaded tokio runtime")]
    Runtime,
    /// An invalid address of a cluster.
    #[error("invalid cluster {url:?}: expected df://HOST:PORT ({reason})")]
    Url {
        /// The address given.
        url: String,
        /// The reason.
        reason: String,
    },
    /// A scheduler that is not reached, or refuses.
    #[error("the scheduler at {address} {reason}")]
    Scheduler {
        /// Its address, as `HOST:PORT`.
        address: String,
        /// What it does.
        reason: String,
    },
    /// The connection to the scheduler at this address ended during a query.
    #[error(
        "the connection to the scheduler at {0} was lost during the query, and the query with it; run the command again"
    )]
    SchedulerLost(String),
    /// An executor whose certificate does not hold.
    #[error(
        "an executor has a certificate that is not of the authority in --tls-ca, or does not name the executor's --host: {0}"
    )]
    Executor(String),
    /// A file of TLS that cannot be used.
    #[error("{}: cannot be used for TLS: {reason}", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Options of TLS without a cluster.
    #[error("--tls-ca, --tls-cert and --tls-key are for a cluster; name it with --cluster")]
    TlsWithoutCluster,
    /// No target.
    #[error("no target: regression needs one; name its column")]
    NoTarget,
    /// Several targets, or classes, where one number is learned.
    #[error(
        "a prediction in a query takes one target that is a number, not several targets or classes: choose one column as target, or \
         do without it"
    )]
    SeveralTargets,
    /// The leave-one-out error of rows that are not kept.
    #[error(
        "the leave-one-out error reads all rows a second time, and these are not kept; cross-validate the ridge, or give \
         it as a number"
    )]
    LeaveOneOut,
    /// A column whose values are not finite, or overflow.
    #[error(
        "column {0:?}: the values are not finite, or so large that their standard deviation or a prediction of them overflows; \
         divide them by a power of ten"
    )]
    Spread(String),
    /// An invalid address to listen at.
    #[error(
        "{address} is not an address to listen at: {reason}; give --bind an address of this machine, as 0.0.0.0"
    )]
    Address {
        /// The address given, as `HOST:PORT`.
        address: String,
        /// The reason.
        reason: String,
    },
}

impl From<AdapterError> for Error {
    /// Wrap an error of the adapter, or unwrap one of ours that the adapter passed on.
    fn from(error: AdapterError) -> Self {
        let kind = error.kind();
        match error.into_inner().map(|inner| inner.downcast::<Self>()) {
            Ok(Ok(own)) => *own,
            Ok(Err(other)) => Self::Adapter(AdapterError::new(kind, other)),
            Err(adapter) => Self::Adapter(adapter),
        }
    }
}

impl From<dpp_nystrom_host::Error> for Error {
    fn from(error: dpp_nystrom_host::Error) -> Self {
        Self::Adapter(error.into())
    }
}

impl From<Error> for AdapterError {
    fn from(error: Error) -> Self {
        match error {
            Error::Adapter(error) => error,
            other => Self::new(ErrorKind::Other, other),
        }
    }
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

/// Return the reason without the layers that passed it on.
pub(crate) fn root(error: &DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::External(error) => error.to_string(),
        DataFusionError::ObjectStore(error) => {
            format!("a table cannot be read: {error} ({})", deepest(&**error))
        }
        other => other.strip_backtrace(),
    }
}

/// Return the innermost reason.
pub(crate) fn deepest(error: &(dyn StdError + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Convert an error of a function that the engine runs.
pub(crate) fn inside(error: impl Into<Error>) -> DataFusionError {
    DataFusionError::External(Box::new(error.into()))
}
