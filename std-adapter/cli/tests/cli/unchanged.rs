//! Results equal those recorded before the code was restructured.
//!
//! A release build of that version ran the commands in `tests/fixtures/record`. `results.jsonl` holds its
//! output; the other files are its input and output files. Where it chose a bandwidth by cross-validation,
//! which is now chosen otherwise, the command was recorded with that bandwidth as a number. Row stores were
//! recorded again when means were summed in lanes, which changes their last digit, and the bandwidth of one,
//! which has that digit, and its errors. The landmarks of `refined-ridge`, for a tolerance on the prediction,
//! were recorded again when they were no longer chosen by the rows of the test error; all that exchanges
//! select, when each candidate was evaluated with every landmark. The error of the first landmarks for a
//! tolerance on the prediction, which is the mean's, was recorded again when ridges were tried up to 10, and
//! `diagnose` when the noise variance became one over the degrees of freedom of the residuals, and when the
//! log-determinants of its chains had standard errors.
//! `rows.csv` has columns that were not written.

use crate::command::Folder;
use dpp_nystrom::Model;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// JSON keys as recorded, and as they are now.
const RENAMED: [(&str, &str); 1] = [("at_rest", "converged")];

/// Keys that are not compared: times, text for the user, what depends on the compilers that are installed,
/// and what was not reported.
const IGNORED: [&str; 19] = [
    "digest",
    "order",
    "gains",
    "importance_rows",
    "test",
    "not_tested",
    "importances",
    "file_bytes",
    "devices",
    "refused",
    "seconds",
    "metric_seconds",
    "select_seconds",
    "fit_seconds",
    "reason",
    "compiled",
    "predict_bytes",
    "export_bytes",
    "split_r_hat",
];

/// Options that name an output file.
const WRITES: [&str; 2] = ["--out", "--model"];

/// Whether this is the recorded processor, with its caches and C library.
///
/// Elsewhere floating-point numbers may differ by rounding: the width of vectors, the blocks of matrix
/// products and fused multiply-adds depend on it. Landmarks, counts, row stores, states and exported models
/// do not.
fn is_recorded_processor(fixtures: &Path) -> bool {
    let Ok(here) = fs::read_to_string("/proc/cpuinfo") else { return false };
    let keys = ["model", "stepping", "cache size", "flags"];
    let here: BTreeSet<&str> =
        here.lines().filter(|line| keys.iter().any(|key| line.starts_with(key))).collect();
    let recorded = fs::read_to_string(fixtures.join("cpu")).unwrap();
    cfg!(all(target_arch = "x86_64", target_env = "gnu")) && here == recorded.lines().collect()
}

/// The keys of errors in cross-validation and of exchanges, which are computed by another decomposition or in
/// another order than when recorded: they are compared up to rounding on every processor.
const VALIDATED: [&str; 6] = [
    "cv_nrmse",
    "errors",
    "leave_one_out_nrmse_before",
    "leave_one_out_nrmse_after",
    "trace_error_before",
    "trace_error_after",
];

/// Return the relative tolerance for errors in cross-validation. Those over devices were computed in single
/// precision.
fn rounding_of_validation(command: &str) -> f64 {
    if command.contains("--of ") { 1e-6 } else { 1e-12 }
}

/// Whether the command fits models, which sums products of rows: their blocks, and so the last digits, depend
/// on the release.
fn fits(command: &str) -> bool {
    ["fit", "evaluate"].iter().any(|name| command.starts_with(name))
}

/// Whether the command exchanges landmarks, reads a model of such or is `diagnose`, which were recorded on
/// another processor.
fn exchanges(command: &str) -> bool {
    ["refine", "auto", "diagnose"].iter().any(|option| command.contains(option))
}

/// Return the relative tolerance for a command that fits models, and for any on other processors.
fn rounding(command: &str) -> f64 {
    if command.contains("f32") { 1e-4 } else { 1e-9 }
}

/// Rename JSON keys to the present ones and remove those that are not compared.
fn comparable(value: Value) -> Value {
    match value {
        Value::Array(entries) => entries.into_iter().map(comparable).collect(),
        Value::Object(entries) => {
            let entries = entries.into_iter().filter(|(key, _)| !IGNORED.contains(&key.as_str()));
            let present = |key: String| match RENAMED.iter().find(|(old, _)| *old == key) {
                Some((_, new)) => (*new).into(),
                None => key,
            };
            entries.map(|(key, value)| (present(key), comparable(value))).collect()
        }
        other => other,
    }
}

/// Return the first place where two values differ, floating-point numbers by more than the relative
/// tolerance, which is the second one for [`VALIDATED`] errors.
fn difference(
    at: &str,
    recorded: &Value,
    found: &Value,
    shares @ [share, validated]: [f64; 2],
) -> Option<String> {
    match (recorded, found) {
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => old
            .iter()
            .zip(new)
            .enumerate()
            .find_map(|(index, (old, new))| difference(&format!("{at}[{index}]"), old, new, shares)),
        (Value::Object(old), Value::Object(new)) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            let entry = |object: &Value, key: &String| object.get(key).cloned().unwrap_or("no entry".into());
            keys.into_iter().find_map(|key| {
                let shares = if VALIDATED.contains(&key.as_str()) { [validated; 2] } else { shares };
                difference(&format!("{at}.{key}"), &entry(recorded, key), &entry(found, key), shares)
            })
        }
        (Value::Number(old), Value::Number(new)) if old.is_f64() || new.is_f64() => {
            let (old, new) = (old.as_f64().unwrap(), new.as_f64().unwrap());
            let same = (new - old).abs() <= share * old.abs();
            (!same).then(|| format!("{at}: {new:?}, recorded {old:?}"))
        }
        _ => (recorded != found).then(|| format!("{at}: {found}, recorded {recorded}")),
    }
}

/// Decode a file whose values depend on the processor.
fn decoded(path: &Path) -> Option<Value> {
    let cell = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    match path.extension()?.to_str()? {
        // Models had no sections.
        "dpp" => {
            let plain = Model {
                confidence: None,
                scales: None,
                importances: None,
                test_error: None,
                ..Model::load(path).ok()?
            };
            serde_json::to_value(plain).ok()
        }
        "csv" => {
            let text = fs::read_to_string(path).ok()?;
            Some(text.lines().map(|line| line.split(',').map(cell).collect::<Value>()).collect())
        }
        _ => None,
    }
}

/// Return the first difference between two files, of their bytes if the tolerance is 0.
fn file_difference(name: &str, recorded: &Path, found: &Path, share: f64) -> Option<String> {
    let old = fs::read(recorded).unwrap();
    let Ok(new) = fs::read(found) else { return Some(format!("{name} was not written")) };
    if old == new {
        return None;
    }
    if share > 0.0
        && let (Some(old), Some(new)) = (decoded(recorded), decoded(found))
    {
        return difference(name, &old, &new, [share; 2]);
    }
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    Some(format!("{name}: byte {same} differs, of {}, recorded {}", new.len(), old.len()))
}

#[test]
fn results_are_those_recorded() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    if !fixtures.exists() {
        println!("skipped: results_are_those_recorded: no tests/fixtures, which packages do not contain");
        return;
    }
    let exact = is_recorded_processor(&fixtures);
    println!("numbers are compared {}", if exact { "exactly" } else { "up to rounding" });
    let folder = Folder::new();
    for entry in fs::read_dir(&fixtures).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path(path.file_name().unwrap().to_str().unwrap())).unwrap();
    }
    let mut problems = Vec::new();
    for line in folder.text("results.jsonl").lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let arguments: Vec<&str> =
            record["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap()).collect();
        let command = arguments.join(" ");
        let share = if exact && !fits(&command) && !exchanges(&command) { 0.0 } else { rounding(&command) };
        let shares = [share, share.max(rounding_of_validation(&command))];
        let written: Vec<&str> =
            arguments.windows(2).filter(|pair| WRITES.contains(&pair[0])).map(|pair| pair[1]).collect();
        for name in &written {
            fs::remove_file(folder.path(name)).unwrap();
        }
        // The metric was always one.
        let metric = if command.starts_with("fit ") { " --metric one" } else { "" };
        // The budget of auto was always a second.
        let auto = command.ends_with("--method auto") || !metric.is_empty() && command.ends_with("auto.dpp");
        let budget = if auto { " --budget 1s" } else { "" };
        let run = folder.run(&format!("{command}{metric}{budget}"));
        let found: Value = run
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| Value::from(line)))
            .collect();
        let problem = if run.status == Some(0) {
            difference("output", &comparable(record["out"].clone()), &comparable(found), shares).or_else(
                || {
                    written.iter().find_map(|name| {
                        file_difference(name, &fixtures.join(name), &folder.path(name), share)
                    })
                },
            )
        } else {
            Some(run.err)
        };
        problems.extend(problem.map(|problem| format!("dpp-nystrom {command}\n    {problem}")));
        // Restore the recorded files, so that an error of one command does not affect the next.
        for name in &written {
            fs::copy(fixtures.join(name), folder.path(name)).unwrap();
        }
    }
    assert!(
        problems.is_empty(),
        "results of {} commands differ from those recorded:\n{}",
        problems.len(),
        problems.join("\n")
    );
}
