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
        let endpoint = endpoint.connect_timeout(SILENCE).http2_keep_alive_interval(PING);
        Ok(endpoint.keep_alive_timeout(SILENCE).keep_alive_while_idle(true))
    })
}

/// Return a configuration whose queries use such endpoints.
pub(crate) fn connected(config: SessionConfig, credentials: Option<&Credentials>) -> SessionConfig {
    config
        .with_ballista_use_tls(credentials.is_some())
        .with_ballista_override_create_grpc_client_endpoint(endpoints(credentials))
}
