//! How the parts of a cluster connect to each other: over TLS or not, and with time limits.

use crate::tls::Credentials;
use ballista_core::extension::{EndpointOverrideFn, SessionConfigExt};
use datafusion::prelude::SessionConfig;
use std::sync::Arc;
use std::time::Duration;

/// The time between two pings. Without an answer within [`SILENCE`] the connection is closed.
const PING: Duration = Duration::from_secs(10);

/// The time limit of an answer to a ping, and of a connection.
const SILENCE: Duration = Duration::from_secs(20);

/// The time limit of the answer to a request. Pings tell in [`SILENCE`] whether the other side lives; on a
/// loaded machine a scheduler that lives may take longer than Ballista's 20 s, and a query would end there.
const ANSWER: Duration = Duration::from_secs(120);

/// Return what prepares an endpoint, as Ballista takes it.
///
/// Ballista's own connections for rows have no time limits: an executor that fell silent would hold up the
/// reader forever.
pub(crate) fn endpoints(credentials: Option<&Credentials>) -> EndpointOverrideFn {
    let credentials = credentials.cloned();
    Arc::new(move |endpoint| {
        let endpoint = match &credentials {
            Some(credentials) => credentials.client(endpoint)?,
            None => endpoint,
        };
        let endpoint = endpoint.timeout(ANSWER).connect_timeout(SILENCE).http2_keep_alive_interval(PING);
        Ok(endpoint.keep_alive_timeout(SILENCE).keep_alive_while_idle(true))
    })
}

/// Return a configuration whose queries use such endpoints.
pub(crate) fn connected(config: SessionConfig, credentials: Option<&Credentials>) -> SessionConfig {
    config
        .with_ballista_use_tls(credentials.is_some())
        .with_ballista_override_create_grpc_client_endpoint(endpoints(credentials))
}
