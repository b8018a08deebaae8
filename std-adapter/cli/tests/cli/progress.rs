//! Progress on a terminal: what a user sees of a command that lasts, and that nothing else does.

use crate::command::{Folder, PROGRAM};
use crate::sample::Sample;
use std::process::{Command, Stdio};

/// Return what a command writes to a terminal of 80 columns, with this shell command before it. `script`, of
/// Debian's essential bsdutils, makes one.
pub(crate) fn on_a_terminal(folder: &Folder, before: &str, command: &str) -> String {
    let command = format!("stty cols 80 rows 24; {before} {PROGRAM} {command}");
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(folder.path(""))
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .expect("`script`, from bsdutils or util-linux");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The phases and shares that were drawn, in their order.
fn shares(shown: &str) -> Vec<(&str, u32)> {
    let share = |line: &str| line.split('%').next()?.split_whitespace().last()?.parse().ok();
    let phase = |line: &str| line.find(['█', '░']);
    let lines = shown.split('\r').filter(|line| line.contains('%'));
    lines
        .filter_map(|line| Some((line[..phase(line)?].trim_start_matches("\u{1b}[2K").trim(), share(line)?)))
        .collect()
}

#[test]
fn no_phase_begins_with_the_share_of_the_one_before() {
    let folder = Folder::with("a.csv", Sample::new(700, 6).csv());
    let shown = on_a_terminal(&folder, "", "fit a.csv --model m.dpp");
    let drawn = shares(&shown);
    // Several phases are called rows and folds, and may follow each other.
    let is_one = |phase: &str| !matches!(phase, "rows" | "folds");
    let is_fault = |of_three: &&[(&str, u32)]| {
        let [(before, _), (phase, share), (after, later)] = of_three[..] else { return false };
        before != phase && phase == after && share == 100 && later < 100 && is_one(phase)
    };
    assert!(drawn.iter().any(|(phase, _)| phase.starts_with("maps")), "{shown:?}");
    let faults: Vec<&[(&str, u32)]> = drawn.windows(3).filter(is_fault).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn a_phase_its_share_and_the_time_left_are_shown() {
    let folder = Folder::with("a.csv", Sample::new(400, 3).csv());
    // Some seconds on any machine of today.
    let command = |steps: u64| format!("select a.csv --landmarks 30 --method kdpp --steps {steps}");
    let shown = on_a_terminal(&folder, "", &command(50_000_000));
    let lines: Vec<&str> =
        shown.split('\r').filter(|line| line.contains("chain") && line.contains('%')).collect();
    let share =
        |line: &&str| -> Option<u32> { line.split('%').next()?.split_whitespace().last()?.parse().ok() };
    let shares: Vec<u32> = lines.iter().filter_map(share).collect();
    assert!(shares.len() > 3 && shares.is_sorted(), "{shown:?}");
    assert!(lines.iter().any(|line| line.contains("s left")), "{shown:?}");
    // The report starts on a cleared line, and the last line is cleared.
    let report = shown.split("\u{1b}[2K").find(|part| part.contains("log-determinant")).unwrap();
    assert!(report.starts_with("method") && !report.contains('%'), "{shown:?}");
    assert!(shown.ends_with("\u{1b}[2K"), "{shown:?}");
    let piped = folder.run(&command(5_000_000)).good();
    assert!(!piped.err.contains("chain") && !piped.err.contains('\r'), "{}", piped.err);
}

/// From reading the file on, whether or not the work reports progress.
#[test]
fn a_command_shows_that_it_runs_before_its_first_phase() {
    let folder = Folder::with("a.csv", Sample::new(300, 3).csv());
    // Input that is slow to arrive.
    let shown = on_a_terminal(&folder, "(sleep 1; cat a.csv) |", "select - --landmarks 5 --method uniform");
    assert!(shown.contains("select"), "{shown:?}");
}
