//! Mutual TLS between the parts of a cluster: each shows a certificate of one authority, and refuses peers
//! without one.
//!
//! Ballista's clients have a hook for it ([`endpoints`](crate::endpoints)). Its servers have none:
//! [`secure`](crate::secure) builds them.

use crate::error::{Error, deepest};
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use std::error::Error as StdError;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, Server, ServerTlsConfig};

/// The time limit of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(20);

/// The files of mutual TLS, in PEM. Scheduler, executors and clients use it all or none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Tls {
    /// Mutual TLS: the certificate of the authority that signs those of all parts of the cluster (PEM)
    #[cfg_attr(
        feature = "cli",
        arg(id = "tls_ca", long = "tls-ca", value_name = "FILE", required = false, requires_all = ["tls_cert", "tls_key"])
    )]
    pub ca: PathBuf,
    /// Mutual TLS: the certificate of this process (PEM)
    #[cfg_attr(
        feature = "cli",
        arg(id = "tls_cert", long = "tls-cert", value_name = "FILE", required = false, requires_all = ["tls_ca", "tls_key"])
    )]
    pub cert: PathBuf,
    /// Mutual TLS: the private key of this process (PEM)
    #[cfg_attr(
        feature = "cli",
        arg(id = "tls_key", long = "tls-key", value_name = "FILE", required = false, requires_all = ["tls_ca", "tls_cert"])
    )]
    pub key: PathBuf,
}

impl Tls {
    /// Read the files and check that they fit together.
    ///
    /// # Errors
    /// [`Error::Tls`] with the file.
    pub(crate) fn load(&self) -> Result<Credentials, Error> {
        let authority = Certificate::from_pem(read(&self.ca, "CERTIFICATE")?);
        let identity = Identity::from_pem(read(&self.cert, "CERTIFICATE")?, read(&self.key, "PRIVATE KEY")?);
        let credentials = Credentials { files: self.clone(), authority, identity };
        // An authority that cannot be parsed leaves the server none, which is an error. The rest concerns the
        // pair.
        let reason = |error: tonic::transport::Error| deepest(&error);
        if let Err(error) = credentials.server(Server::builder()) {
            let reason = reason(error);
            let path = if reason.contains("trust anchors") { &self.ca } else { &self.cert };
            return Err(Error::Tls { path: path.clone(), reason });
        }
        Ok(credentials)
    }
}

/// Read a file that has a PEM block of this kind.
fn read(path: &Path, kind: &str) -> Result<String, Error> {
    let failed = |reason: String| Error::Tls { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let begins =
        |line: &str| line.starts_with("-----BEGIN ") && line.trim_end().ends_with(&format!("{kind}-----"));
    match text.lines().any(begins) {
        true => Ok(text),
        false => Err(failed(format!("it has no {kind} in PEM"))),
    }
}

/// What a part of the cluster shows to others, and what it expects of them.
#[derive(Clone)]
pub(crate) struct Credentials {
    /// Where it was read.
    pub(crate) files: Tls,
    authority: Certificate,
    identity: Identity,
}

impl Credentials {
    /// Make a server speak TLS with peers that have a certificate of the authority, and with no one else.
    ///
    /// # Errors
    /// What the TLS library says of certificate and key.
    pub(crate) fn server(&self, server: Server) -> Result<Server, tonic::transport::Error> {
        server.tls_config(
            ServerTlsConfig::new()
                .identity(self.identity.clone())
                .client_ca_root(self.authority.clone())
                .timeout(HANDSHAKE),
        )
    }

    /// Make a client speak TLS with a server that has a certificate of the authority for its host.
    ///
    /// Ballista names schedulers by `http://`, whatever the settings; then the endpoint is built again.
    ///
    /// # Errors
    /// An invalid address, and what the TLS library says.
    pub(crate) fn client(&self, endpoint: Endpoint) -> Result<Endpoint, Box<dyn StdError + Send + Sync>> {
        let uri = endpoint.uri().clone();
        let place = uri.authority().ok_or("an address without a host")?;
        let endpoint = match uri.scheme_str() {
            Some("https") => endpoint,
            _ => create_grpc_client_endpoint(format!("https://{place}"), Some(&GrpcClientConfig::default()))?,
        };
        let secured = ClientTlsConfig::new()
            .domain_name(place.host().trim_matches(['[', ']']))
            .ca_certificate(self.authority.clone())
            .identity(self.identity.clone())
            .timeout(HANDSHAKE);
        Ok(endpoint.tls_config(secured)?)
    }
}
