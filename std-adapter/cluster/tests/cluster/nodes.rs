//! A cluster of processes on free ports of this machine.

use dpp_nystrom_cluster::Session;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A part of the cluster; killed when the test ends.
pub(crate) struct Node(Child);

impl Node {
    fn start(arguments: &[String]) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_dpp-nystrom-cluster"))
            .args(arguments)
            .env("RUST_LOG", "warn")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Kill it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) struct Nodes {
    pub(crate) executors: Vec<Node>,
    _scheduler: Node,
    port: u16,
}

/// Return a port that is not in use.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Return whether the scheduler reports that it has its executors.
pub(crate) fn is_ready(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let asked = write!(stream, "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let mut response = String::new();
    asked.is_ok() && stream.read_to_string(&mut response).is_ok() && response.starts_with("HTTP/1.1 200")
}

/// Waits until something is so, and fails after two minutes.
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(120), "not within two minutes: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Nodes {
    /// A scheduler and so many executors, of one thread each.
    pub(crate) fn start(executors: usize) -> Self {
        let port = free_port();
        let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let scheduler = Node::start(&words(format!("scheduler --port {port} --executors {executors}")));
        wait_for("the scheduler listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let executors = (0..executors)
            .map(|_| {
                let (rows, control) = (free_port(), free_port());
                Node::start(&words(format!(
                    "executor --scheduler 127.0.0.1:{port} --port {rows} --control-port {control} --threads 1"
                )))
            })
            .collect();
        wait_for("the executors are known", || is_ready(port));
        Self { executors, _scheduler: scheduler, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("df://127.0.0.1:{}", self.port)
    }

    pub(crate) async fn session(&self) -> Session {
        Session::on_cluster(&self.url()).await.unwrap()
    }
}
