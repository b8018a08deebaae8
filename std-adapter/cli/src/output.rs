//! Output: text for users and for programs.

use crate::bar::aside;
use crate::error;
use dpp_nystrom::Error;
use dpp_nystrom_host::atomic_file::write_whole;
use dpp_nystrom_lab::text::is_obeyed;
use npyz::WriterBuilder;
use std::path::{Path, PathBuf};
use std::{io, io::Write, sync::Mutex};

pub(crate) use dpp_nystrom_lab::text::{
    Column, aligned, cell, inert, listed, plain, plain_line, row, short, short_or_dash, table, write_csv,
};

/// The lines of [`note`] so far.
static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Print a line on stderr, ignoring failure.
pub(crate) fn note(line: &str) {
    let line = plain_line(line);
    let _ = aside(|| writeln!(io::stderr(), "{line}"));
    if let Ok(mut notes) = NOTES.lock() {
        notes.push(line);
    }
}

/// The warnings to be repeated.
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Print a warning on stderr, now and again when the command has done its work, where it is not lost among
/// other lines. [`print_report`] gives it to programs.
pub(crate) fn warn_again(line: &str) {
    note(line);
    if let Ok(mut warnings) = WARNINGS.lock() {
        warnings.push(plain_line(line));
    }
}

fn warnings() -> Vec<String> {
    WARNINGS.lock().map(|warnings| warnings.clone()).unwrap_or_default()
}

/// Print the warnings to be repeated, unless nothing was printed after them.
pub(crate) fn repeat_warnings() {
    for warning in warnings().into_iter().filter(|warning| notes().last() != Some(warning)) {
        note(&warning);
    }
}

/// Return the lines that were printed on stderr so far.
pub(crate) fn notes() -> Vec<String> {
    NOTES.lock().map(|notes| notes.clone()).unwrap_or_default()
}

/// Print text on standard output.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    aside(|| out.write_all(text.as_bytes()).and_then(|()| out.flush()))
        .map_err(|source| Error::write("-", source))
}

/// Print a line on standard output.
pub(crate) fn print_line(line: &str) -> Result<(), Error> {
    print(&format!("{line}\n"))
}

/// Write a column of values under its name, to a file or to standard output.
pub(crate) fn write_column<T: ToString>(
    path: Option<&Path>,
    name: &str,
    values: impl Iterator<Item = T>,
) -> Result<(), Error> {
    write_columns_in_parts(path, &[name], |put| {
        for value in values {
            put(&value.to_string())?;
        }
        Ok(())
    })
}

/// Bytes of a column that are buffered before the first write.
const HELD: usize = 1 << 16;

/// [`write_column`] for rows of several columns, produced one by one: `make` receives a function that writes
/// a row. Return what `make` returns; if it fails, no file is written.
pub(crate) fn write_columns_in_parts<A>(
    path: Option<&Path>,
    names: &[&str],
    make: impl FnOnce(&mut dyn FnMut(&str) -> Result<(), Error>) -> Result<A, Error>,
) -> Result<A, Error> {
    write_rows_in_parts(path, |put| {
        put(&names_record(names.iter().copied()))?;
        make(put)
    })
}

/// Return a header of CSV, without its end.
pub(crate) fn names_record<'f>(names: impl Iterator<Item = &'f str>) -> String {
    names.map(|name| cell_of(&inert(name))).collect::<Vec<_>>().join(",")
}

/// Return a field of CSV, quoted if it needs to be.
pub(crate) fn cell_of(field: &str) -> String {
    match field.is_empty() || field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

/// Refuse to write text under a name that promises a binary file.
fn refuse_binary(path: Option<&Path>) -> Result<(), Error> {
    let ending = path.and_then(Path::extension).and_then(|ending| ending.to_str()).unwrap_or_default();
    let binary = ["npy", "npz", "parquet", "feather", "arrow", "xlsx", "gz"];
    match path.filter(|_| binary.iter().any(|other| ending.eq_ignore_ascii_case(other))) {
        Some(path) => Err(Error::write(
            path,
            io::Error::other("rows are written as text; give the file an ending such as .csv"),
        )),
        None => Ok(()),
    }
}

/// Whether a path is that of an array.
pub(crate) fn is_array(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))
}

/// Write rows of so many features.
pub(crate) fn write_array(path: &Path, features: Vec<f64>, rank: usize) -> Result<(), Error> {
    let shape = [(features.len() / rank) as u64, rank as u64];
    write_whole(path, |file| {
        let options = npyz::WriteOptions::new().default_dtype().shape(&shape);
        let mut writer = options.writer(file).begin_nd()?;
        writer.extend(features)?;
        writer.finish().map_err(io::Error::other)
    })?;
    Ok(())
}

/// [`write_columns_in_parts`], of which the first row that is written is the header.
pub(crate) fn write_rows_in_parts<A>(
    path: Option<&Path>,
    make: impl FnOnce(&mut dyn FnMut(&str) -> Result<(), Error>) -> Result<A, Error>,
) -> Result<A, Error> {
    refuse_binary(path)?;
    let shown = path.unwrap_or(Path::new("-")).to_owned();
    let mut made = None;
    let write = |out: &mut dyn Write| {
        // Write nothing if one of the first rows is rejected.
        let mut held = Vec::new();
        let outcome = make(&mut |value| {
            held.extend_from_slice(value.as_bytes());
            held.push(b'\n');
            if held.len() < HELD {
                return Ok(());
            }
            let put = aside(|| out.write_all(&held)).map_err(|source| Error::write(&shown, source));
            held.clear();
            put
        });
        let failed = outcome.is_err();
        made = Some(outcome);
        if failed {
            Err(io::ErrorKind::Interrupted.into())
        } else {
            aside(|| out.write_all(&held).and_then(|()| out.flush()))
        }
    };
    let written = match path {
        Some(path) => write_whole(path, write).map_err(Error::from),
        None => write(&mut io::stdout().lock()).map_err(|source| Error::write("-", source)),
    };
    match (made, written) {
        (Some(Err(error)), _) | (_, Err(error)) => Err(error),
        (Some(Ok(outcome)), Ok(())) => Ok(outcome),
        (None, Ok(())) => Err(Error::write(shown, io::ErrorKind::Other.into())),
    }
}

/// Return the place of a file, or the one that it would have in its folder.
pub(crate) fn place(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    path.canonicalize().or_else(|_| Ok(folder.canonicalize()?.join(path.file_name().unwrap_or_default())))
}

/// Whether both paths lead to one file that exists.
pub(crate) fn is_one_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|at| other.canonicalize().is_ok_and(|other| other == at))
}

/// Reject an output path that is also an input.
pub(crate) fn keep_inputs(output: Option<&Path>, inputs: &[&Path]) -> Result<(), error::Error> {
    match output {
        Some(path) if inputs.iter().any(|input| is_one_file(path, input)) => {
            Err(error::Error::Overwrites(path.to_owned()))
        }
        _ => Ok(()),
    }
}

/// Reject two outputs of one path: one would be lost.
pub(crate) fn keep_apart<'p>(outputs: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), error::Error> {
    let mut places = Vec::new();
    for path in outputs {
        let Ok(at) = place(path) else { continue };
        if places.contains(&at) {
            return Err(error::Error::OneOutput(path.clone()));
        }
        places.push(at);
    }
    Ok(())
}

/// Serialise a path as text, with replacement characters for what is not Unicode.
pub(crate) fn shown<S: serde::Serializer>(path: &&Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// [`shown`], of a path that may be missing.
pub(crate) fn shown_if_any<S: serde::Serializer>(path: &Option<&Path>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.unwrap_or(Path::new("")).display())
}

/// Print a report: one JSON object, or text.
pub(crate) fn print_report<R: serde::Serialize>(
    json: bool,
    report: &R,
    text: impl FnOnce(&R) -> String,
) -> Result<(), error::Error> {
    Ok(if json {
        print_json(&WithWarnings { report, warnings: warnings() })
    } else {
        print(&plain(&text(report)))
    }?)
}

/// A report, and the warnings that a program should not miss.
#[derive(serde::Serialize)]
struct WithWarnings<'r, R> {
    #[serde(flatten)]
    report: &'r R,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Print one JSON object on one line.
pub(crate) fn print_json<T: serde::Serialize>(value: &T) -> Result<(), Error> {
    let text = serde_json::to_string(value).map_err(|error| Error::write("-", error.into()))?;
    // JSON may hold them, but a terminal that shows it would obey them.
    let escape = |c: char| match is_obeyed(c) {
        true => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        false => c.to_string(),
    };
    print_line(&text.chars().map(escape).collect::<String>())
}
