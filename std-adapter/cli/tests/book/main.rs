//! Every command in the pages of `std-adapter/docs`, run as it is printed there.
//!
//! A block that is fenced as `console` has commands, after `$ `, each with what a terminal shows: both
//! streams, in which `[..]` stands for anything in a line and a line `...` for any lines. Figures may
//! differ as those of two processors do: by the standard error that follows, or by 5 %. A here-document
//! and lines after a backslash belong to their command. A block with `file=NAME` after its language is
//! written to that file first. The blocks of a page share an empty folder, and are run in order by `sh`.
//! A command that is to fail shows a line that begins with `error:`.

#![cfg(unix)]

mod links;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// The folder of the book's pages.
fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// Return the pages in a folder and the folders in it, sorted.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A fenced block: the line it begins in, what follows the fence, and its lines.
struct Block<'a> {
    line: usize,
    info: &'a str,
    text: Vec<&'a str>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut found, mut open) = (Vec::new(), false);
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !open => {
                found.push(Block { line: number + 1, info, text: Vec::new() });
                open = true;
            }
            Some(_) => open = false,
            None if open => found.last_mut().expect("a block is open").text.push(line),
            None => {}
        }
    }
    assert!(!open, "the last block is not closed");
    found
}

/// A command, here-document included, and what it prints.
fn commands(block: &Block<'_>) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut end: Option<&str> = None;
    for line in &block.text {
        if let Some(word) = end {
            let (command, _) = found.last_mut().expect("a command is open");
            *command += &format!("\n{line}");
            if *line == word {
                end = None;
            }
        } else if let Some((command, _)) =
            found.last_mut().filter(|(command, output)| output.is_empty() && command.ends_with('\\'))
        {
            *command += &format!("\n{line}");
        } else if let Some(command) = line.strip_prefix("$ ") {
            end = command.split_once("<<'").and_then(|(_, rest)| rest.split('\'').next());
            found.push((command.to_owned(), String::new()));
        } else {
            let (_, output) = found.last_mut().expect("a console block begins with a command");
            *output += &format!("{line}\n");
        }
    }
    found
}

/// The largest share by which a printed figure may differ from the page's: a fit takes hundreds of steps, in
/// which last digits, which are a processor's, become first ones.
const TOLERANCE: f64 = 0.05;

/// The same of a standard error, which is an estimate from some 100 rows itself.
const TOLERANCE_OF_ERROR: f64 = 0.25;

/// The same of a ridge: the errors of two neighbours in its grid may be a tie, and the next larger is √10
/// times one, 2.2 of it away.
const TOLERANCE_OF_RIDGE: f64 = 2.5;

/// By how much the number in these bytes of a page's line may differ: one with a standard error, as in
/// `0.097 ± 0.005`, by that.
fn tolerance(page: &str, (begin, end): (usize, usize), value: f64) -> f64 {
    let error = page[end..].strip_prefix(" \u{b1} ").and_then(|rest| {
        let (_, end) = numbers(rest).into_iter().find(|&(begin, _)| begin == 0)?;
        rest[..end].parse::<f64>().ok()
    });
    if let Some(error) = error {
        return error;
    }
    if page.starts_with("ridge ") {
        return TOLERANCE_OF_RIDGE * value;
    }
    let share = if page[..begin].ends_with("\u{b1} ") { TOLERANCE_OF_ERROR } else { TOLERANCE };
    share * value.abs()
}

/// Return where the numbers of a line begin and end.
fn numbers(line: &str) -> Vec<(usize, usize)> {
    let bytes = line.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let first = at;
        let goes_on = |at: usize| match bytes[at] {
            b'0'..=b'9' | b'.' => true,
            b'e' => at > first && bytes.get(at + 1).is_some_and(|next| b"-0123456789".contains(next)),
            b'-' => at > first && bytes[at - 1] == b'e',
            _ => false,
        };
        while at < bytes.len() && (if at == first { bytes[at].is_ascii_digit() } else { goes_on(at) }) {
            at += 1;
        }
        if at > first {
            found.push((first, at));
        } else {
            at += 1;
        }
    }
    found
}

/// Return what was printed, with the page's figures in place of those that are nearly the same. Whole numbers
/// stay.
fn with_figures_of(expected: &str, actual: &str) -> String {
    let mut lines = Vec::new();
    let mut of_page = expected.lines();
    for line in actual.lines() {
        let mut text = line.to_owned();
        let page = of_page.next().unwrap_or_default();
        for (own, other) in numbers(line).into_iter().zip(numbers(page)).rev() {
            let (own, said) = (own.0..own.1, &page[other.0..other.1]);
            if let (Ok(found), Ok(value)) = (line[own.clone()].parse::<f64>(), said.parse::<f64>())
                && said.contains('.')
                && (found - value).abs() <= tolerance(page, other, value)
            {
                text.replace_range(own, said);
            }
        }
        lines.push(text + "\n");
    }
    lines.concat()
}

#[test]
fn figures_may_differ_as_those_of_two_processors() {
    let page = "error 0.0970[..] \u{b1} 5.5e-4, 12 rows\n";
    assert_eq!(with_figures_of(page, "error 0.09912345 \u{b1} 6.5e-4, 13 rows\n"), {
        "error 0.0970 \u{b1} 5.5e-4, 13 rows\n"
    });
    assert_eq!(with_figures_of(page, "error 0.1 \u{b1} 5.5e-3\n"), "error 0.0970 \u{b1} 5.5e-3\n");
    assert_eq!(with_figures_of(page, "error 0.103 \u{b1} 5.5e-4\n"), "error 0.103 \u{b1} 5.5e-4\n");
    let page = "error 0.0970 \u{b1} 0.005\n";
    assert_eq!(with_figures_of(page, "error 0.1015 \u{b1} 0.006\n"), page);
    assert_eq!(with_figures_of(page, "error 0.1025 \u{b1} 0.007\n"), "error 0.1025 \u{b1} 0.007\n");
}

/// Run the commands of a page, and return their number and what differs.
fn run(page: &Path) -> (usize, Vec<String>) {
    let text = fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_dpp-nystrom")).parent().unwrap().to_owned();
    let path = env::join_paths([program].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())))
        .unwrap();
    let (mut number, mut differs) = (0, Vec::new());
    for block in blocks(&text) {
        let mut words = block.info.split_whitespace();
        let language = words.next();
        if let Some(name) = words.find_map(|word| word.strip_prefix("file=")) {
            fs::write(folder.path().join(name), block.text.join("\n") + "\n").unwrap();
        }
        if language != Some("console") {
            continue;
        }
        for (command, expected) in commands(&block) {
            number += 1;
            let output = Command::new("sh")
                .args(["-c", &format!("exec 2>&1\n{command}")])
                .current_dir(folder.path())
                .env("PATH", &path)
                .env("HOME", folder.path())
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let actual = with_figures_of(&expected, &String::from_utf8_lossy(&output.stdout));
            let place = format!("{}:{}: $ {command}", page.display(), block.line);
            if output.status.success() == expected.lines().any(|line| line.starts_with("error:")) {
                differs.push(format!("{place}\n{}\n{actual}", output.status));
            } else if let Err(difference) =
                snapbox::Assert::new().try_eq(Some(&"printed"), actual.into(), expected.as_str().into())
            {
                differs.push(format!("{place}\n{difference}"));
            }
        }
    }
    (number, differs)
}

#[test]
fn pages_print_what_commands_do() {
    let (mut number, mut differs) = (0, Vec::new());
    for page in pages(&docs()) {
        let (commands, differences) = run(&page);
        number += commands;
        differs.extend(differences);
    }
    assert!(number > 0, "no command was found");
    assert!(
        differs.is_empty(),
        "{} of {number} commands differ from their pages\n{}",
        differs.len(),
        differs.join("\n")
    );
}
