//! Help texts.

use crate::command::{Folder, Run};

const COMMANDS: [&str; 15] = [
    "demo",
    "select",
    "fit",
    "predict",
    "info",
    "export",
    "evaluate",
    "diagnose",
    "tune",
    "experiment",
    "convert",
    "learn",
    "merge",
    "completions",
    "manual",
];

#[test]
fn every_command_shows_examples() {
    let folder = Folder::new();
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            let text = folder.run(&format!("{command} {flag}")).good().out;
            let (_, examples) = text.split_once("Example").unwrap_or_else(|| panic!("{command}: {text}"));
            let start = format!("dpp-nystrom {command} ");
            assert!(examples.contains(&start), "{command}: {examples}");
        }
    }
    let text = folder.run("--help").good().out;
    for command in COMMANDS {
        assert!(text.contains(&format!("\n  {command} ")), "{text}");
    }
    for part in
        ["Examples:", "standard input", "Rows count from 0", "Exit status: 0 done, 1 error, 2 wrong usage"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn help_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    let of_commands = COMMANDS.map(|command| format!("{command} --help"));
    for words in of_commands.iter().map(String::as_str).chain(["--help", "-h", "help fit", "--version"]) {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let words: Vec<&str> = words.split_whitespace().collect();
        let run = Run::of(&folder.command(&words).stdout(full).output().unwrap());
        assert_eq!(run.status, Some(1), "{words:?}: {}", run.err);
        assert!(
            run.err.starts_with("error: the standard output cannot be written: No space left"),
            "{}",
            run.err
        );
    }
}

/// Headings are in their order, and the short help is short.
#[test]
fn options_are_under_their_headings() {
    for (command, headings) in [
        ("fit", "Data:|Landmarks:|Kernel and metric:|Regression:|Output:|Expert:"),
        ("select", "Data:|Landmarks:|Kernel and metric:|Output:|Expert:"),
        ("evaluate", "Data:|Landmarks:|Kernel and metric:|Regression:|Output:|Expert:"),
    ] {
        let text = Folder::new().run(&format!("{command} --help")).good().out;
        let known = |line: &&str| headings.split('|').any(|heading| heading == *line);
        let found: Vec<&str> = text.lines().filter(known).collect();
        assert_eq!(found, headings.split('|').collect::<Vec<_>>(), "{command}: {text}");
        let short = Folder::new().run(&format!("{command} -h")).good().out;
        let options = short.lines().filter(|line| line.trim_start().starts_with('-')).count();
        assert!((8..=20).contains(&options), "{command}: {options}");
        assert!(short.contains("(see more with '--help')"), "{short}");
    }
}

/// Return the words of each example, without quotes and pipes.
fn examples(text: &str) -> Vec<Vec<String>> {
    let examples = text.split_once("Example").map_or("", |(_, after)| after);
    let lines = examples.lines().filter_map(|line| line.split_once("dpp-nystrom ")).map(|(_, rest)| rest);
    lines
        .map(|line| line.split("  ").next().unwrap_or(line).split_whitespace().map(str::to_owned).collect())
        .collect()
}

/// Each example parses: without its files it fails with status 1, not with status 2.
#[test]
fn examples_are_valid() {
    let folder = Folder::new();
    let mut seen = 0;
    for command in [""].iter().chain(&COMMANDS[1..]) {
        let text = folder.run(&format!("{command} --help")).good().out;
        for example in examples(&text) {
            // They need no file.
            if ["demo", "completions", "manual"].contains(&example[0].as_str()) {
                continue;
            }
            // The top-level ones end with a comment.
            let words: Vec<&str> =
                example.iter().map(String::as_str).take_while(|word| *word != "train").collect();
            let run = folder.run(&words.join(" "));
            assert_eq!(run.status, Some(1), "{words:?} {}", run.err);
            seen += 1;
        }
    }
    assert!(seen >= 12, "{seen}");
}

#[test]
fn the_version_is_printed() {
    let text = Folder::new().run("--version").good().out;
    assert_eq!(text, format!("dpp-nystrom {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn no_command_is_wrong_usage() {
    let folder = Folder::new();
    let run = folder.run("");
    assert_eq!(run.status, Some(2));
    assert!(run.err.contains("Usage:") && run.err.contains("Examples:"), "{}", run.err);
}
