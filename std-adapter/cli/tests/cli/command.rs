//! A folder to work in, and the command run there.

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_dpp-nystrom");

/// A temporary folder, one per test. Commands run in it, so that messages contain bare file names.
pub(crate) struct Folder(TempDir);

/// The outcome of a command.
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// Create a folder with one file.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(name, content);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect(name);
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect(name)
    }

    /// Return the names of the files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Return the command, not yet started.
    pub(crate) fn command(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        self.program(Path::new(PROGRAM), arguments)
    }

    /// Return another program to run in this folder.
    pub(crate) fn program(&self, program: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .env_remove("RAYON_NUM_THREADS");
        command
    }

    /// Run the command with space-separated arguments.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        Run::of(&self.command(&arguments).output().expect("the program"))
    }

    /// Run the command with `input` on standard input.
    pub(crate) fn run_with_input(&self, arguments: &str, input: &[u8]) -> Run {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let mut command = self.command(&arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        // A program that rejects its input need not read all of it.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        Run::of(&child.wait_with_output().expect("the program"))
    }
}

impl Run {
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        Self { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Assert success.
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.status, Some(0), "{}", self.err);
        assert!(!self.err.contains("error: "), "{}", self.err);
        self
    }

    /// Assert an error: status 1, no standard output, and one error line that contains all of `parts`.
    #[track_caller]
    pub(crate) fn refused(self, parts: &[&str]) {
        assert_eq!(self.status, Some(1), "{} {}", self.out, self.err);
        assert_eq!(self.out, "");
        let told: Vec<&str> = self.err.lines().filter(|line| line.starts_with("error: ")).collect();
        let [told] = told[..] else { panic!("expected one error line, found {:?}", self.err) };
        for part in parts {
            assert!(told.contains(part), "{part:?} is not in {told:?}");
        }
    }

    /// Assert wrong usage: status 2, no standard output, and a message that contains all of `parts`.
    #[track_caller]
    pub(crate) fn misused(self, parts: &[&str]) {
        assert_eq!(self.status, Some(2), "{} {}", self.out, self.err);
        assert_eq!(self.out, "");
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is not in {:?}", self.err);
        }
    }

    /// Parse the single JSON object on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{}", self.out);
        serde_json::from_str(&self.out).expect("JSON")
    }

    /// Parse the JSON objects, one per line.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// Return a number of a JSON object; one that is not finite would be null.
#[track_caller]
pub(crate) fn number(object: &Value, key: &str) -> f64 {
    object[key].as_f64().unwrap_or_else(|| panic!("{key} is {} in {object}", object[key]))
}

/// Return row indices of a JSON object.
#[track_caller]
pub(crate) fn row_numbers(object: &Value, key: &str) -> Vec<usize> {
    let entries = object[key].as_array().unwrap_or_else(|| panic!("{key} of {object}"));
    entries.iter().map(|entry| entry.as_u64().expect("a row index") as usize).collect()
}

/// Assert that landmarks are distinct, ascending and below `rows`.
#[track_caller]
pub(crate) fn assert_landmarks(landmarks: &[usize], count: usize, rows: usize) {
    assert_eq!(landmarks.len(), count, "{landmarks:?}");
    assert!(landmarks.is_sorted_by(|one, next| one < next), "{landmarks:?}");
    assert!(landmarks.iter().all(|&row| row < rows), "{landmarks:?}");
}

/// Parse a CSV file with one column: its name and its values.
#[track_caller]
pub(crate) fn column(text: &str) -> (&str, Vec<f64>) {
    let mut lines = text.lines();
    let name = lines.next().expect("a header");
    (name, lines.map(|line| line.parse().expect(line)).collect())
}

/// Assert equality up to a fraction of the expected value.
#[track_caller]
pub(crate) fn assert_close(found: f64, expected: f64, share: f64) {
    let off = (found - expected).abs();
    assert!(off <= share * expected.abs(), "{found} is not {expected} up to {share}");
}
