//! Why a query on a cluster failed, from the texts of the engine: it has no kinds for most of its errors.

use crate::error::{Error, root};
use datafusion::error::DataFusionError;

/// What the TLS library calls a certificate that does not hold.
const NOT_TRUSTED: &str = "InvalidCertificate";

/// Convert an error of the engine, in this process or on the cluster at a URL.
pub(crate) fn translated(error: DataFusionError, cluster: Option<&str>) -> Error {
    let text = error.to_string();
    match cluster {
        Some(url) if text.contains("ExtensionCodec is not provided") => Error::StockScheduler(url.to_owned()),
        Some(_) if text.contains(NOT_TRUSTED) => Error::Executor(root(&error)),
        Some(url) if is_scheduler_lost(&text) => Error::SchedulerLost(url.to_owned()),
        _ => error.into(),
    }
}

/// Whether an executor died with the result of a query that was done.
pub(crate) fn is_result_lost(error: &str) -> bool {
    let fetches = ["Shuffle fetch partition error", "Grpc Execute Action error", "GrpcConnectionError"];
    !is_verdict(error) && !error.contains(NOT_TRUSTED) && fetches.iter().any(|fetch| error.contains(fetch))
}

/// Whether the connection to the scheduler ended before the query did.
fn is_scheduler_lost(error: &str) -> bool {
    let ends = [
        "Stream closed without job completing",
        "h2 protocol error",
        "transport error",
        "ConnectError",
        "keep-alive timed out",
        "Timeout expired",
    ];
    !is_verdict(error) && !is_result_lost(error) && ends.iter().any(|end| error.contains(end))
}

/// Whether the scheduler itself reports that the query failed.
fn is_verdict(error: &str) -> bool {
    error.contains("Job ") && error.contains(" failed: ")
}
