//! Tables on S3, from a server that checks signatures (moto), over connections that are disturbed: the right
//! model or a clear error, never a wrong model.
//!
//! `tests/run cluster` installs moto and names its server in `DPP_NYSTROM_MOTO`. Without it these tests fail.

use crate::nodes::{free_port, wait_for};
use crate::proxy::{Proxy, Trouble};
use crate::rows::{parquet, path};
use dpp_nystrom::{Model, model::AnyCoefficients};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What a server of S3 says to clients that ask too often.
const SLOW_DOWN: &str = "HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nContent-Length: 87\r\nConnection: close\r\n\r\n\
    <Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>";

/// The same, as other stores say it.
const TOO_MANY: &str = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The documentation states four minutes.
const HANGS: Duration = Duration::from_secs(400);

/// The middle of a group of rows.
const MID_READ: usize = 20_000;

/// The head of a response and some bytes: ten reads of so much do not make a column.
const HEAD: usize = 1_500;

/// A server with one file and one user.
struct Store {
    server: Child,
    port: u16,
    key: String,
    secret: String,
    folder: TempDir,
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Store {
    fn start() -> Self {
        let moto = std::env::var_os("DPP_NYSTROM_MOTO").filter(|path| !path.is_empty()).expect(
            "DPP_NYSTROM_MOTO names no server of S3: run tests/run cluster, or install moto[server] from PyPI and \
             set it to the path of moto_server",
        );
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let server = Command::new(moto)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .env("INITIAL_NO_AUTH_ACTION_COUNT", "100")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut store = Self { server, port, key: String::new(), secret: String::new(), folder };
        wait_for("moto listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());

        let user =
            |action: &str| store.send("POST /", "iam", format!("{action}&Version=2010-05-08").as_bytes());
        user("Action=CreateUser&UserName=reader");
        user(
            "Action=PutUserPolicy&UserName=reader&PolicyName=read&PolicyDocument=%7B%22Version%22%3A%222012-10-17%22%2C\
             %22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A%22s3%3A%2A%22%2C%22Resource%22%3A%22%2A%22%7D%5D%7D",
        );
        let answer = user("Action=CreateAccessKey&UserName=reader");
        let between = |begin: &str, end: &str| {
            let (_, rest) = answer.split_once(begin).unwrap_or_else(|| panic!("no {begin} in {answer}"));
            rest.split_once(end).unwrap().0.to_owned()
        };
        let key = between("<AccessKeyId>", "</AccessKeyId>");
        let secret = between("<SecretAccessKey>", "</SecretAccessKey>");
        let file = path(&store.folder, "rows.parquet");
        parquet(&file, 0..12_000);
        store.send("PUT /bucket", "s3", b"");
        store.send("PUT /bucket/rows.parquet", "s3", &std::fs::read(&file).unwrap());
        // From here on it checks signatures.
        store.send("POST /moto-api/reset-auth", "s3", b"0");
        (store.key, store.secret) = (key, secret);
        store
    }

    /// A request of the time when signatures are not checked; they name the service all the same.
    fn send(&self, line: &str, service: &str, body: &[u8]) -> String {
        // What comes as a form has no body for S3.
        let kind =
            if service == "iam" { "application/x-www-form-urlencoded" } else { "application/octet-stream" };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "{line} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Length: {}\r\n\
             Content-Type: {kind}\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential=AKIAIOSFODNN7EXAMPLE/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0\r\n\r\n",
            self.port,
            body.len()
        )
        .unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{line}: {answer}");
        answer
    }

    /// Fit a model to a table, as a user of this store through a port. The file of the model exists if it was
    /// written.
    fn fit(&self, table: &str, secret: &str, port: u16, model: &str) -> (Output, PathBuf) {
        let model = path(&self.folder, model);
        let mut fit = Command::new(env!("CARGO_BIN_EXE_dpp-nystrom-cluster"));
        fit.args([
            "fit",
            "--landmarks",
            "20",
            "--threads",
            "1",
            "--ridge",
            "1e-4",
            "--table",
            table,
            "--model",
        ]);
        fit.arg(&model).env("AWS_ENDPOINT", format!("http://127.0.0.1:{port}")).env("AWS_ALLOW_HTTP", "true");
        fit.env("AWS_ACCESS_KEY_ID", &self.key)
            .env("AWS_SECRET_ACCESS_KEY", secret)
            .env("AWS_REGION", "us-east-1");
        let begin = Instant::now();
        let output = fit.output().unwrap();
        assert!(begin.elapsed() < HANGS, "{:?}", begin.elapsed());
        (output, model)
    }

    /// Fit from S3 with trouble on the way.
    fn fit_with(&self, trouble: Trouble, model: &str) -> (Output, PathBuf, usize) {
        let proxy = Proxy::before(self.port, trouble);
        let (output, model) = self.fit("t=s3://bucket/rows.parquet", &self.secret, proxy.port, model);
        (output, model, proxy.troubled())
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn numbers(output: &Output, model: &Path) -> (Vec<f64>, Vec<f64>) {
    assert!(output.status.success(), "{}", stderr(output));
    match Model::load(model).unwrap().coefficients {
        AnyCoefficients::F64(coefficients) => (coefficients.landmarks, coefficients.weights),
        _ => panic!("not doubles"),
    }
}

/// The same landmarks, and weights up to rounding.
fn assert_same(found: &(Vec<f64>, Vec<f64>), expected: &(Vec<f64>, Vec<f64>)) {
    assert_eq!(found.0, expected.0);
    let size = expected.1.iter().fold(0.0_f64, |most, weight| most.max(weight.abs()));
    assert!(found.1.iter().zip(&expected.1).all(|(found, expected)| (found - expected).abs() < 1e-7 * size));
}

#[test]
fn a_few_disturbances_leave_the_model_as_it_is() {
    let store = Store::start();
    let local = format!("t={}", path(&store.folder, "rows.parquet").display());
    let (output, model) = store.fit(&local, &store.secret, store.port, "local.dpp");
    let expected = numbers(&output, &model);
    let cases = [
        ("undisturbed", Trouble::None, 0),
        ("slow down", Trouble::Answer(3, SLOW_DOWN), 3),
        ("too many requests", Trouble::Answer(3, TOO_MANY), 3),
        ("cut", Trouble::Cut(1, MID_READ), 1),
    ];
    for (name, trouble, times) in cases {
        let (output, model, troubled) = store.fit_with(trouble, &format!("{name}.dpp"));
        assert_same(&numbers(&output, &model), &expected);
        assert_eq!(troubled, times, "{name}");
    }
}

#[test]
fn wrong_credentials_are_an_error() {
    let store = Store::start();
    let table = "t=s3://bucket/rows.parquet";
    let (good, _) = store.fit(table, &store.secret, store.port, "good.dpp");
    assert!(good.status.success(), "{}", stderr(&good));
    let (output, model) = store.fit(table, "wrong", store.port, "wrong.dpp");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("403") || stderr(&output).contains("SignatureDoesNotMatch"),
        "{}",
        stderr(&output)
    );
    assert!(!model.exists());
}

/// Ten times with growing pauses, and then no more.
#[test]
fn disturbances_without_end_are_an_error() {
    let store = Store::start();
    let cases = [
        ("slow down", Trouble::Answer(usize::MAX, SLOW_DOWN), "503"),
        ("too many requests", Trouble::Answer(usize::MAX, TOO_MANY), "429"),
        ("cut", Trouble::Cut(usize::MAX, HEAD), "a table cannot be read"),
    ];
    std::thread::scope(|scope| {
        for (name, trouble, expected) in cases {
            let store = &store;
            scope.spawn(move || {
                let (output, model, troubled) = store.fit_with(trouble, &format!("{name}.dpp"));
                assert_eq!(output.status.code(), Some(1), "{name}: {}", stderr(&output));
                assert!(stderr(&output).contains(expected), "{name}: {}", stderr(&output));
                assert!(troubled > 5 && !model.exists(), "{name}: {troubled} times");
            });
        }
    });
}
