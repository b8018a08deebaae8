//! The first contact with a scheduler, to say what is wrong before any work: Ballista's own errors do not
//! tell a scheduler that is not there from one that expects TLS or refuses a certificate.

use crate::error::{Error, deepest};
use crate::tls::Credentials;
use std::future::poll_fn;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tonic::codegen::Service;
use tonic::codegen::http::Request;
use tonic::transport::{Channel, Endpoint};

/// The time limit of one attempt.
const ATTEMPT: Duration = Duration::from_secs(30);

/// Ask the scheduler for a sign of life, over TLS with credentials and in plain text without. One that does
/// not listen is tried again for the time given.
///
/// # Errors
/// [`Error::Scheduler`] with the reason.
pub(crate) async fn reach(
    host: &str,
    port: u16,
    credentials: Option<&Credentials>,
    patience: Duration,
) -> Result<(), Error> {
    let address = format!("{host}:{port}");
    let begin = Instant::now();
    let refused = |reason: String| Error::Scheduler { address: address.clone(), reason };
    let stream = loop {
        match timeout(ATTEMPT, TcpStream::connect(&address)).await {
            Ok(Ok(stream)) => break stream,
            _ if begin.elapsed() < patience => sleep(Duration::from_millis(200)).await,
            Ok(Err(error)) => return Err(refused(format!("cannot be reached: {error}"))),
            Err(_) => return Err(refused("cannot be reached: no connection within 30 s".into())),
        }
    };
    let answer = async {
        match credentials {
            None => plain(stream).await,
            Some(credentials) => over_tls(host, port, credentials).await,
        }
    };
    match timeout(ATTEMPT, answer).await {
        Ok(answer) => answer.map_err(refused),
        Err(_) => Err(refused("does not answer within 30 s".into())),
    }
}

/// Ask in plain text. A server that expects TLS answers with an alert of TLS, whose first byte is 21, or
/// closes.
async fn plain(mut stream: TcpStream) -> Result<(), String> {
    const REQUEST: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: scheduler\r\nConnection: close\r\n\r\n";
    let mut head = [0; 5];
    let asked = stream.write_all(REQUEST).await;
    let read = match asked {
        Ok(()) => stream.read_exact(&mut head).await,
        Err(error) => Err(error),
    };
    match read {
        Ok(_) if head == *b"HTTP/" => Ok(()),
        _ if head[0] == 21 => Err("expects TLS; give --tls-ca, --tls-cert and --tls-key".into()),
        Ok(_) => Err("does not speak HTTP: it is not a scheduler".into()),
        Err(error) => Err(format!(
            "closes the connection ({error}); if it expects TLS, give --tls-ca, --tls-cert and --tls-key"
        )),
    }
}

/// Ask over TLS: first the handshake, in which this side checks the other's certificate, then a request. In
/// TLS 1.3 the other side refuses a certificate only after the handshake.
async fn over_tls(host: &str, port: u16, credentials: &Credentials) -> Result<(), String> {
    let ca = credentials.files.ca.display();
    let cert = credentials.files.cert.display();
    let refuses = |reason: String| {
        format!("refuses the certificate {cert} ({reason}): it is not of the scheduler's authority")
    };
    let url = format!("https://{host}:{port}/healthz");
    let endpoint = Endpoint::from_shared(url.clone()).map_err(|error| deepest(&error))?;
    let endpoint = credentials.client(endpoint).map_err(|error| deepest(&*error))?;
    let channel = endpoint.connect().await.map_err(|error| match deepest(&error) {
        // Of an authority of another name, or of the same name.
        reason if reason.contains("UnknownIssuer") || reason.contains("BadSignature") => {
            format!("has a certificate that is not of the authority in {ca} ({reason})")
        }
        reason if reason.contains("InvalidContentType") => {
            "does not use TLS; start it with --tls-ca, --tls-cert and --tls-key, or leave them out here"
                .into()
        }
        reason if reason.contains("alert") => refuses(reason),
        reason => format!("is not reached over TLS: {reason}"),
    })?;
    get(channel, &url).await.map_err(refuses)
}

async fn get(mut channel: Channel, url: &str) -> Result<(), String> {
    let request = Request::get(url).body(tonic::body::Body::empty()).map_err(|error| deepest(&error))?;
    poll_fn(|context| channel.poll_ready(context)).await.map_err(|error| deepest(&error))?;
    channel.call(request).await.map(drop).map_err(|error| deepest(&error))
}
