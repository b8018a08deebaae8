//! Mutual TLS: the result is the same, and whoever has no certificate of the authority gets an error and
//! nothing else.

use crate::engines::{assert_same, compute, table};
use crate::nodes::{Files, Node, Nodes, free_port, options, wait_for, words};
use crate::proxy::{Proxy, Trouble};
use crate::rows::parts;
use arrow_flight::HandshakeRequest;
use arrow_flight::flight_service_client::FlightServiceClient;
use ballista_core::serde::protobuf::CreateUpdateSessionParams;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use dpp_nystrom_cluster::{Error, Session, Tls};
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

const ROWS: usize = 20_000;

/// One more certificate, for a host that is not there.
const ELSEWHERE: &str = "certificate elsewhere DNS:elsewhere.example serverAuth,clientAuth\n";

/// Run the commands of the documentation in a folder.
pub(crate) fn certificates(folder: &Path) -> Files {
    certificates_and(folder, "")
}

/// The same, and more of them.
fn certificates_and(folder: &Path, more: &str) -> Files {
    let text = include_str!("../../docs/cluster.md");
    let begin =
        text.find("```sh\n# certificates.sh").expect("no recipe in the documentation") + "```sh\n".len();
    let recipe = &text[begin..begin + text[begin..].find("```").unwrap()];
    let made = Command::new("sh")
        .args(["-e", "-c", &format!("{recipe}{more}")])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Files(folder.to_owned())
}

/// What tries to get in without being entitled to.
fn strangers(ours: &Files, theirs: &Files) -> [(&'static str, Option<Tls>, &'static str); 3] {
    let (our, their) = (ours.of("client"), theirs.of("client"));
    [
        ("plain", None, "expects TLS"),
        (
            "a certificate of another authority",
            Some(Tls { ca: our.ca, ..their.clone() }),
            "refuses the certificate",
        ),
        ("another authority", Some(their), "is not of the authority"),
    ]
}

fn run(arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpp-nystrom-cluster")).args(arguments).output().unwrap()
}

/// The number of files that executors have.
fn files_in(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| if entry.file_type().unwrap().is_dir() { files_in(&entry.path()) } else { 1 }).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_with_tls_computes_what_one_process_does_and_refuses_strangers() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    fs::create_dir(&one).unwrap();
    fs::create_dir(&other).unwrap();
    let (ours, theirs) = (certificates(&one), certificates(&other));
    let glob = parts(folder.path(), 5, ROWS);
    let nodes = Nodes::start_with(2, Some(ours.clone()));

    for (who, tls, expected) in strangers(&ours, &theirs) {
        let error = Session::on_cluster(&nodes.url(), tls.as_ref()).await.err().unwrap();
        assert!(matches!(error, Error::Scheduler { .. }), "{who}: {error}");
        assert!(error.to_string().contains(expected), "{who}: {error}");

        let model = folder.path().join("no.dpp");
        let mut fit = words(&format!("fit --cluster {} --landmarks 5 --table", nodes.url()));
        fit.extend([format!("t={glob}"), "--model".into(), model.display().to_string()]);
        let mut executor =
            words(&format!("executor --scheduler 127.0.0.1:{} --port {}", nodes.port, free_port()));
        for arguments in [&mut fit, &mut executor] {
            arguments.extend(tls.iter().flat_map(options));
            let output = run(arguments);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{who}: {stderr}");
            assert!(stderr.contains(expected), "{who}: {stderr}");
        }
        assert!(!model.exists(), "{who}");
    }
    // Without this program's first contact too, at each port.
    let ours_raw = ours.of("client");
    let theirs_raw = Tls { ca: ours_raw.ca.clone(), ..theirs.of("client") };
    for port in [nodes.row_ports[0], nodes.port] {
        for (who, channel) in [
            ("plain", raw(port, None, None).await),
            ("without a certificate", raw(port, Some(&ours_raw.ca), None).await),
            ("a certificate of another authority", raw(port, Some(&ours_raw.ca), Some(&theirs_raw)).await),
        ] {
            assert!(!is_served(channel, port == nodes.port).await, "{who} is served at port {port}");
        }
        let entitled = raw(port, Some(&ours_raw.ca), Some(&ours_raw)).await;
        assert!(is_served(entitled, port == nodes.port).await, "nobody is served at port {port}");
    }
    assert_eq!(files_in(nodes.folders()), 0, "something was computed for a stranger");

    let expected = compute(Session::in_process(None).unwrap(), &table(&glob), 40).await;
    assert_same(&compute(nodes.session().await, &table(&glob), 40).await, &expected);
    assert!(files_in(nodes.folders()) > 0, "the folders say nothing about work");
}

/// A connection by the library alone.
async fn raw(port: u16, ca: Option<&Path>, identity: Option<&Tls>) -> Option<Channel> {
    let scheme = if ca.is_some() { "https" } else { "http" };
    let endpoint = Endpoint::from_shared(format!("{scheme}://127.0.0.1:{port}")).unwrap();
    let endpoint = endpoint.timeout(Duration::from_secs(30));
    let endpoint = match ca {
        None => endpoint,
        Some(ca) => {
            let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(fs::read(ca).unwrap()));
            let read = |path: &Path| fs::read(path).unwrap();
            let tls = match identity {
                Some(Tls { cert, key, .. }) => tls.identity(Identity::from_pem(read(cert), read(key))),
                None => tls,
            };
            endpoint.tls_config(tls).unwrap()
        }
    };
    endpoint.connect().await.ok()
}

/// Whether a harmless request is answered: a session of the scheduler, a greeting of the server for rows.
async fn is_served(channel: Option<Channel>, by_scheduler: bool) -> bool {
    let Some(channel) = channel else { return false };
    if by_scheduler {
        let params = CreateUpdateSessionParams { session_id: "stranger".into(), settings: Vec::new() };
        return SchedulerGrpcClient::new(channel).create_update_session(params).await.is_ok();
    }
    let greeting = futures::stream::iter([HandshakeRequest::default()]);
    FlightServiceClient::new(channel).handshake(greeting).await.is_ok()
}

/// The name of a column is in the plan that goes to the scheduler.
#[tokio::test(flavor = "multi_thread")]
async fn plans_are_not_readable_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let files = certificates(folder.path());
    let glob = parts(folder.path(), 2, 1_000);
    for (files, readable) in [(None, true), (Some(files), false)] {
        let nodes = Nodes::start_with(1, files.clone());
        let proxy = Proxy::before(nodes.port, Trouble::None);
        let tls = files.map(|files| files.of("client"));
        let url = format!("df://127.0.0.1:{}", proxy.port);
        let mut session = Session::on_cluster(&url, tls.as_ref()).await.unwrap();
        session.add(&table(&glob)).await.unwrap();
        let rows = session.rows(None, None).await.unwrap();
        assert_eq!(rows.survey(10, 0).await.unwrap().rows, 1_000);
        assert_eq!(proxy.has_seen(b"wind speed"), readable);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduler_without_tls_is_told_from_one_that_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let files = certificates(folder.path());
    let nodes = Nodes::start(1);
    let error = Session::on_cluster(&nodes.url(), Some(&files.of("client"))).await.err().unwrap();
    assert!(error.to_string().contains("does not use TLS"), "{error}");
}

/// A certificate of the authority for another host, or for a client alone, does not make a scheduler.
#[tokio::test(flavor = "multi_thread")]
async fn a_scheduler_is_what_its_certificate_says() {
    let folder = tempfile::tempdir().unwrap();
    let files = certificates_and(folder.path(), ELSEWHERE);
    for (name, reason) in [("elsewhere", "not valid for name"), ("client", "extended key usage")] {
        let port = free_port();
        let arguments = words(&format!("scheduler --port {port}"));
        let _scheduler = Node::start([arguments, options(&files.of(name))].concat());
        wait_for("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let url = format!("df://127.0.0.1:{port}");
        let error = Session::on_cluster(&url, Some(&files.of("client"))).await.err().unwrap();
        assert!(matches!(error, Error::Scheduler { .. }), "{name}: {error}");
        assert!(error.to_string().contains(reason), "{name}: {error}");
    }
}

/// The client takes no rows from an executor with the certificate of another host.
#[tokio::test(flavor = "multi_thread")]
async fn an_executor_is_where_its_certificate_says() {
    let folder = tempfile::tempdir().unwrap();
    let files = certificates_and(folder.path(), ELSEWHERE);
    let glob = parts(folder.path(), 2, 1_000);
    let nodes = Nodes::start_with(0, Some(files.clone()));
    let port = free_port();
    let arguments = words(&format!("executor --scheduler 127.0.0.1:{} --port {port}", nodes.port));
    let _executor = Node::start([arguments, options(&files.of("elsewhere"))].concat());
    let mut session = nodes.session().await;
    session.add(&table(&glob)).await.unwrap();
    let rows = session.rows(None, None).await.unwrap();
    let error = rows.survey(10, 0).await.unwrap_err();
    assert!(matches!(error, Error::Executor(_)), "{error}");
    assert!(error.to_string().contains(&format!("127.0.0.1:{port}")), "{error}");
}

#[test]
fn files_that_do_not_fit_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let files = certificates(folder.path());
    let good = files.of("scheduler");
    let empty = folder.path().join("empty.pem");
    fs::write(&empty, "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n").unwrap();
    let cases = [
        (Tls { ca: folder.path().join("none.pem"), ..good.clone() }, "none.pem"),
        (
            Tls { ca: good.key.clone(), ..good.clone() },
            "scheduler.key: cannot be used for TLS: it has no CERTIFICATE",
        ),
        (Tls { ca: empty, ..good.clone() }, "empty.pem"),
        (
            Tls { key: good.cert.clone(), ..good.clone() },
            "scheduler.pem: cannot be used for TLS: it has no PRIVATE KEY",
        ),
        (Tls { key: files.of("client").key, ..good.clone() }, "scheduler.pem"),
    ];
    for (tls, expected) in cases {
        let output = run(&[words("scheduler --port 1"), options(&tls)].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(
            stderr.contains(expected) && stderr.contains("cannot be used for TLS"),
            "{expected}: {stderr}"
        );
    }
    let all = options(&good);
    for some in [&all[..2], &all[..4], &all[2..]] {
        let output = run(&[words("scheduler --port 1"), some.to_vec()].concat());
        assert_eq!(output.status.code(), Some(2), "{some:?}");
    }
    let alone = run(&[words("select --table t=x.csv --landmarks 2"), all].concat());
    assert!(String::from_utf8_lossy(&alone.stderr).contains("name it with --cluster"), "{alone:?}");
}
