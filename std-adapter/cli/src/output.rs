//! Output: text for users and for programs.

use crate::bar::aside;
use crate::error;
use dpp_nystrom::Error;
use std::path::{Path, PathBuf};
use std::{io, io::Write, sync::Mutex};

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

/// Print a warning on stderr, now and again when the command has done its work, where it is not lost among other lines.
/// [`print_report`] gives it to programs.
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

/// Whether a character of a name is not shown but obeyed, by a terminal or a layout: controls, and what ends a line or turns the
/// direction of writing.
fn is_obeyed(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Escape what would be obeyed in a text of several lines; the program's own line ends and tabs stay.
pub(crate) fn plain(text: &str) -> String {
    escaped(text, |c| is_obeyed(c) && !matches!(c, '\n' | '\t'))
}

/// [`plain`], of one line or a name: line ends and tabs are escaped as well.
pub(crate) fn plain_line(text: &str) -> String {
    escaped(text, is_obeyed)
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let shown = |c: char| if is_escaped(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// Print text on standard output.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    aside(|| out.write_all(text.as_bytes()).and_then(|()| out.flush()))
        .map_err(|source| Error::Write { path: PathBuf::from("-"), source })
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

/// [`write_column`] for rows of several columns, produced one by one: `make` receives a function that writes a row. Return
/// what `make` returns; if it fails, no file is written.
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

/// Return a name as spreadsheets and terminals do not obey it: with a quotation mark before what would be a formula, and without controls.
/// A number is none.
pub(crate) fn inert(name: &str) -> String {
    let is_formula = name.trim_start().starts_with(['=', '+', '-', '@']) && name.parse::<f64>().is_err();
    let name = plain_line(name);
    if is_formula { format!("'{name}") } else { name }
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
        Some(path) => Err(Error::Write {
            path: path.to_owned(),
            source: io::Error::other("rows are written as text; give the file an ending such as .csv"),
        }),
        None => Ok(()),
    }
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
            let put =
                aside(|| out.write_all(&held)).map_err(|source| Error::Write { path: shown.clone(), source });
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
        Some(path) => dpp_nystrom::atomic_file::write_whole(path, write),
        None => write(&mut io::stdout().lock())
            .map_err(|source| Error::Write { path: PathBuf::from("-"), source }),
    };
    match (made, written) {
        (Some(Err(error)), _) | (_, Err(error)) => Err(error),
        (Some(Ok(outcome)), Ok(())) => Ok(outcome),
        (None, Ok(())) => Err(Error::Write { path: shown, source: io::ErrorKind::Other.into() }),
    }
}

/// Write records under the names of their fields to a CSV file.
pub(crate) fn write_csv<R: IntoIterator<Item: AsRef<[u8]>>>(
    path: &Path,
    names: &[impl AsRef<str>],
    records: impl IntoIterator<Item = R>,
) -> Result<(), Error> {
    dpp_nystrom::atomic_file::write_whole(path, |out| {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(names.iter().map(|name| inert(name.as_ref()))).map_err(cause)?;
        records.into_iter().try_for_each(|record| csv.write_record(record)).map_err(cause)?;
        csv.flush()
    })
}

/// Return the underlying I/O error, so that a closed pipe is recognised.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// Reject an output path that is also an input.
pub(crate) fn keep_inputs(output: Option<&Path>, inputs: &[&Path]) -> Result<(), error::Error> {
    let place = |path: &Path| path.canonicalize().ok();
    match output {
        Some(path) if inputs.iter().any(|input| place(path).is_some_and(|at| place(input) == Some(at))) => {
            Err(error::Error::Overwrites(path.to_owned()))
        }
        _ => Ok(()),
    }
}

/// Reject two outputs of one path: one would be lost.
pub(crate) fn keep_apart<'p>(outputs: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), error::Error> {
    // A file that is not there yet has a folder that is.
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        path.canonicalize().or_else(|_| {
            Ok::<_, io::Error>(folder.canonicalize()?.join(path.file_name().unwrap_or_default()))
        })
    };
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

/// A column of a table: its name, and its cell for an item.
pub(crate) type Column<T> = (&'static str, fn(&T) -> String);

/// Return the names of the columns, and a row of cells for each item.
pub(crate) fn cells<T>(columns: &[Column<T>], items: &[T]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let row = |item| columns.iter().map(|(_, cell)| cell(item)).collect();
    (columns.iter().map(|column| column.0).collect(), items.iter().map(row).collect())
}

/// Format a line for each item under the names of the columns, as [`aligned`].
pub(crate) fn table<T>(columns: &[Column<T>], items: &[T]) -> String {
    let (names, rows) = cells(columns, items);
    aligned(&names, &rows)
}

/// Format rows of cells under a header: the first column left-aligned, the others right-aligned.
pub(crate) fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    in_columns(header, rows, |cell, width| format!("{cell:>width$}"))
}

/// Format names and their values, of any length, as two left-aligned columns. The first pair is a header.
pub(crate) fn listed(header: &[&str; 2], rows: &[Vec<String>]) -> String {
    in_columns(header, rows, |cell, _| cell.to_owned())
}

/// Format rows of cells: the first column left-aligned, the others as said for a cell and its column's width.
fn in_columns(header: &[&str], rows: &[Vec<String>], further: fn(&str, usize) -> String) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| plain_line(cell)).collect()).collect();
    let header: Vec<String> = header.iter().map(|name| plain_line(name)).collect();
    let cells = |row: &[String], at: usize| row.get(at).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> = header
        .iter()
        .enumerate()
        .map(|(at, name)| rows.iter().map(|row| cells(row, at)).fold(name.chars().count(), usize::max))
        .collect();
    let line = |row: &[String]| {
        let mut text = String::new();
        for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            match at {
                0 => text.push_str(&format!("{cell:<width$}")),
                _ => text.push_str(&format!("  {}", further(cell, width))),
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    };
    line(&header) + &rows.iter().map(|row| line(row)).collect::<String>()
}

/// Format with four significant digits, without trailing exponents where possible.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e5).contains(&size) => {
            let digits = (3.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
            format!("{value:.digits$}")
        }
        _ => format!("{value:.3e}"),
    }
}

/// Return a line of a table of two columns.
#[expect(clippy::needless_pass_by_value, reason = "callers pass temporaries")]
pub(crate) fn row(name: &str, value: impl ToString) -> Vec<String> {
    vec![name.to_owned(), value.to_string()]
}

/// [`short`], or a dash for a missing value.
pub(crate) fn short_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), short)
}

/// Return a cell of a CSV file, empty for a missing value.
pub(crate) fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
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
    let text = serde_json::to_string(value)
        .map_err(|error| Error::Write { path: PathBuf::from("-"), source: error.into() })?;
    // JSON may hold them, but a terminal that shows it would obey them.
    let escape = |c: char| match is_obeyed(c) {
        true => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        false => c.to_string(),
    };
    print_line(&text.chars().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{aligned, listed, short};

    #[test]
    fn numbers_keep_four_digits() {
        let shown = [0.0, 1.0, 0.5, 1234.5678, 99999.4, 1e5, 0.001234, 0.000123456, -2.5e-9];
        let expected =
            ["0", "1.000", "0.5000", "1235", "99999", "1.000e5", "0.001234", "1.235e-4", "-2.500e-9"];
        assert_eq!(shown.map(short), expected);
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["long".to_owned(), "10".to_owned()]];
        assert_eq!(aligned(&["name", "c"], &rows), "name   c\na      1\nlong  10\n");
        assert_eq!(listed(&["name", "c"], &rows), "name  c\na     1\nlong  10\n");
    }
}
