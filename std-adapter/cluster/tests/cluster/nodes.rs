//! A cluster of processes on free ports of this machine.

use dpp_nystrom_cluster::{Session, Tls};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A part of the cluster; killed when the test ends.
pub(crate) struct Node {
    process: Child,
    arguments: Vec<String>,
}

impl Node {
    pub(crate) fn start(arguments: Vec<String>) -> Self {
        Self { process: spawn(&arguments), arguments }
    }

    /// Kill it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Start it again where it was.
    pub(crate) fn restart(&mut self) {
        self.process = spawn(&self.arguments);
    }

    /// Stop it without ending it: it holds its connections and answers nothing.
    pub(crate) fn freeze(&self) {
        let frozen = Command::new("kill").args(["-STOP", &self.process.id().to_string()]).status().unwrap();
        assert!(frozen.success());
    }
}

fn spawn(arguments: &[String]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_dpp-nystrom-cluster"))
        .args(arguments)
        .env("RUST_LOG", "warn")
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) struct Nodes {
    pub(crate) executors: Vec<Node>,
    pub(crate) scheduler: Node,
    pub(crate) port: u16,
    /// The ports for rows of all executors that were started.
    pub(crate) row_ports: Vec<u16>,
    files: Option<Files>,
    folders: TempDir,
}

/// Return a port that is not in use.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Return whether the scheduler reports that it has its executors.
fn is_ready(port: u16, tls: Option<&Tls>) -> bool {
    if let Some(Tls { ca, cert, key }) = tls {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--fail", "--max-time", "5", "--cacert"]).arg(ca);
        curl.arg("--cert").arg(cert).arg("--key").arg(key).arg(format!("https://127.0.0.1:{port}/readyz"));
        return curl.stdout(Stdio::null()).status().unwrap().success();
    }
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let asked = write!(stream, "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let mut response = String::new();
    asked.is_ok() && stream.read_to_string(&mut response).is_ok() && response.starts_with("HTTP/1.1 200")
}

/// Waits until something is so, and fails after five minutes.
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(300), "not within five minutes: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The certificates of an authority, in a folder.
#[derive(Clone)]
pub(crate) struct Files(pub(crate) PathBuf);

impl Files {
    /// Those of the scheduler, an executor or a client.
    pub(crate) fn of(&self, name: &str) -> Tls {
        let file = |name: String| self.0.join(name);
        Tls { ca: file("ca.pem".into()), cert: file(format!("{name}.pem")), key: file(format!("{name}.key")) }
    }
}

/// The options of these files.
pub(crate) fn options(tls: &Tls) -> Vec<String> {
    [("--tls-ca", &tls.ca), ("--tls-cert", &tls.cert), ("--tls-key", &tls.key)]
        .into_iter()
        .flat_map(|(name, path)| [name.to_owned(), path.display().to_string()])
        .collect()
}

pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

impl Nodes {
    /// A scheduler and so many executors, of one thread each.
    pub(crate) fn start(executors: usize) -> Self {
        Self::start_with(executors, None)
    }

    /// The same, with TLS if there are files for it.
    pub(crate) fn start_with(executors: usize, files: Option<Files>) -> Self {
        let port = free_port();
        let mut arguments = words(&format!("scheduler --port {port} --executors {executors}"));
        arguments.extend(files.iter().flat_map(|files| options(&files.of("scheduler"))));
        let scheduler = Node::start(arguments);
        wait_for("the scheduler listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let folders = tempfile::tempdir().unwrap();
        let mut nodes =
            Self { executors: Vec::new(), scheduler, port, row_ports: Vec::new(), files, folders };
        for _ in 0..executors {
            let executor = nodes.executor();
            nodes.executors.push(executor);
        }
        nodes.wait();
        nodes
    }

    /// One more executor.
    pub(crate) fn executor(&mut self) -> Node {
        let (rows, control) = (free_port(), free_port());
        let folder = self.folders.path().join(rows.to_string());
        std::fs::create_dir(&folder).unwrap();
        let port = self.port;
        let mut arguments = words(&format!(
            "executor --scheduler 127.0.0.1:{port} --port {rows} --control-port {control} --threads 1 --folder"
        ));
        arguments.push(folder.display().to_string());
        arguments.extend(self.files.iter().flat_map(|files| options(&files.of("executor"))));
        self.row_ports.push(rows);
        Node::start(arguments)
    }

    /// Wait until the scheduler has its executors.
    pub(crate) fn wait(&self) {
        let tls = self.files.as_ref().map(|files| files.of("client"));
        wait_for("the executors are known", || is_ready(self.port, tls.as_ref()));
    }

    /// The folder of the executors' folders, in which intermediate results are.
    pub(crate) fn folders(&self) -> &Path {
        self.folders.path()
    }

    pub(crate) fn url(&self) -> String {
        format!("df://127.0.0.1:{}", self.port)
    }

    pub(crate) async fn session(&self) -> Session {
        let tls = self.files.as_ref().map(|files| files.of("client"));
        Session::on_cluster(&self.url(), tls.as_ref()).await.unwrap()
    }
}
