//! Files of numbers: CSV, TSV, ARFF and NPY, plain or gzipped.
//!
//! Values are parsed in one pass directly into rows, so a file takes no more memory than its values (an array in
//! Fortran order is transposed, and takes twice that).
//!
//! | format | detected by | names |
//! | --- | --- | --- |
//! | NPY | its first bytes | `x0`, `x1`, ... |
//! | ARFF | `.arff`; other than in `.csv`, `.tsv` and `.tab` also a first line with `%` or `@relation` | declared |
//! | delimited | anything else | first row, if it contains text; otherwise `x0`, `x1`, ... |
//!
//! Gzip is detected by its first bytes. The path `-` is standard input.

use crate::data::table::columns::Want;
use crate::data::table::input::{BUFFER, Origin, Receiver, Table, Target};
use crate::data::table::{arff, delimited, npy};
use crate::error::table::{TableError, TableProblem};
use flate2::read::MultiGzDecoder;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

/// Read every column of a file, one of them as the target. [`Table`] has an example.
///
/// A nominal ARFF attribute becomes one column per declared value: 1 in rows that have it, otherwise 0.
pub fn read(path: &Path, target: &Target) -> Result<Table, TableError> {
    open(path, &Want::All(target), None)
}

/// Read a file as [`read`] does, but pass the rows to `receive` in blocks of some thousands: a file of any length
/// takes the memory of two blocks (except for an array in Fortran order). The blocks' names are empty.
///
/// # Errors
/// Those of reading, and those of `receive`, which stop it.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use dpp_nystrom::data::table;
/// use dpp_nystrom::data::table::Target;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "rooms,area,price\n3,70,210\n4,95,300\n")?;
///
/// let mut rooms = 0.0;
/// table::read_blocks(&path, &Target::Last, |block| {
///     rooms += (0..block.rows()).map(|row| block.row(row)[0]).sum::<f64>();
///     Ok::<(), dpp_nystrom::error::TableError>(())
/// })?;
/// assert_eq!(rooms, 7.0);
/// # Ok(()) }
/// ```
pub fn read_blocks<E: From<TableError>>(
    path: &Path,
    target: &Target,
    receive: impl FnMut(Table) -> Result<(), E>,
) -> Result<(), E> {
    open_blocks(path, &Want::All(target), receive)
}

/// Read the columns that a fitted model needs, in the model's order.
///
/// 1. If the file names its columns and every feature name is among them, those columns are used, in any position.
///    A numeric column called `target_name` becomes the target; the others are ignored, and may contain text.
/// 2. If only some of the feature names are there, the file is rejected: matching the rest by position would be a
///    guess.
/// 3. Otherwise columns are matched by position: as many columns as features are the features; one more is the
///    target, namely the column called `target_name`, or else the last. Any other number is rejected. In a file
///    without names, the target has the position it had in the unnamed file on which the model was fitted.
///
/// A target column with a missing value in every row counts as absent, as in files made for prediction. Nominal
/// attributes count once per value; one that does not declare all values known to the model is accepted, and a
/// row with a value unknown to the model is rejected.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use dpp_nystrom::data::table;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("new.csv");
/// std::fs::write(&path, "street,area,rooms\nElm,70,3\n")?;
///
/// let table = table::read_features(&path, &["rooms".into(), "area".into()], Some("price"))?;
/// assert_eq!(table.row(0), [3.0, 70.0]);
/// assert_eq!(table.target, None);
/// # Ok(()) }
/// ```
pub fn read_features(
    path: &Path,
    feature_names: &[String],
    target_name: Option<&str>,
) -> Result<Table, TableError> {
    open(path, &Want::Model { features: feature_names, target: target_name }, None)
}

/// Read a file as [`read_features`] does, and pass the rows on as [`read_blocks`] does.
///
/// # Errors
/// Those of reading, and those of `receive`.
pub fn read_feature_blocks<E: From<TableError>>(
    path: &Path,
    feature_names: &[String],
    target_name: Option<&str>,
    receive: impl FnMut(Table) -> Result<(), E>,
) -> Result<(), E> {
    open_blocks(path, &Want::Model { features: feature_names, target: target_name }, receive)
}

fn open_blocks<E: From<TableError>>(
    path: &Path,
    want: &Want<'_>,
    mut receive: impl FnMut(Table) -> Result<(), E>,
) -> Result<(), E> {
    let mut refused = None;
    let mut take = |block: Table| receive(block).map_err(|error| refused = Some(error)).is_ok();
    let last = open(path, want, Some(&RefCell::new(&mut take)));
    match refused {
        Some(error) => Err(error),
        None => receive(last?),
    }
}

fn open<'a>(
    path: &'a Path,
    want: &Want<'_>,
    receiver: Option<&'a Receiver<'a>>,
) -> Result<Table, TableError> {
    if path.as_os_str() == "-" {
        return read_from(io::stdin(), path, want, receiver);
    }
    let failed = |source| TableError::new(path, TableProblem::Open(source));
    let file = File::open(path).map_err(failed)?;
    // On some systems opening a directory succeeds, and only reading from it fails.
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(TableError::new(path, TableProblem::Directory));
    }
    read_from(file, path, want, receiver)
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

pub(crate) fn read_from<'a>(
    input: impl Read + 'a,
    path: &'a Path,
    want: &Want<'_>,
    receiver: Option<&'a Receiver<'a>>,
) -> Result<Table, TableError> {
    unzipped(Box::new(input), path, want, receiver).map_err(|error| TableError { path: path.into(), ..error })
}

fn unzipped<'a>(
    input: Box<dyn Read + 'a>,
    path: &Path,
    want: &Want<'_>,
    receiver: Option<&'a Receiver<'a>>,
) -> Result<Table, TableError> {
    let origin = Origin { gzip: false, receiver };
    let (head, input) = peek(input).map_err(|e| origin.failed(e))?;
    if !head.starts_with(b"\x1F\x8B") {
        return read_plain(&head, input, path, origin, want);
    }
    let origin = Origin { gzip: true, receiver };
    let decoder = MultiGzDecoder::new(BufReader::with_capacity(BUFFER, input));
    let (head, input) = peek(Box::new(decoder)).map_err(|e| origin.failed(e))?;
    read_plain(&head, input, path, origin, want)
}

/// Return the first bytes, and a reader that still begins with them.
fn peek<'a>(mut input: Box<dyn Read + 'a>) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut head = Vec::new();
    input.by_ref().take(512).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(input))))
}

fn read_plain(
    head: &[u8],
    input: Box<dyn Read + '_>,
    path: &Path,
    origin: Origin<'_>,
    want: &Want<'_>,
) -> Result<Table, TableError> {
    if head.is_empty() {
        return Err(TableProblem::Empty.into());
    }
    let (name, extension) = name_and_extension(path);
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    let mut input = BufReader::with_capacity(BUFFER, input);
    if text.len() < head.len() {
        input.read_exact(&mut [0; BYTE_ORDER_MARK.len()]).map_err(|e| origin.failed(e))?;
    }
    if let Some(found) = unsupported(&extension, head) {
        return Err(TableProblem::Format(found).into());
    }
    let rows = match extension.as_str() {
        _ if head.starts_with(npy::MAGIC) => npy::read(input, origin, want)?,
        "npy" => npy::read(input, origin, want)?,
        "arff" => arff::read(input, origin, want)?,
        "csv" => delimited::read(input, origin, want, b',')?,
        "tsv" | "tab" => delimited::read(input, origin, want, b'\t')?,
        _ if looks_like_arff(text) => arff::read(input, origin, want)?,
        _ => delimited::read(input, origin, want, b',')?,
    };
    rows.finish(name)
}

fn looks_like_arff(text: &[u8]) -> bool {
    const KEYWORD: &[u8] = b"@relation";
    let text = text.trim_ascii_start();
    text.starts_with(b"%")
        || text.get(..KEYWORD.len()).is_some_and(|start| start.eq_ignore_ascii_case(KEYWORD))
}

/// Return the data set's name.
pub(crate) fn name_of(path: &Path) -> String {
    name_and_extension(path).0
}

/// Split `cal.housing.arff.gz` into `cal.housing` and `arff`.
fn name_and_extension(path: &Path) -> (String, String) {
    if path.as_os_str() == "-" {
        return ("stdin".to_owned(), String::new());
    }
    let lower = |path: &Path| path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let inner = path.file_stem().map(Path::new).filter(|_| lower(path) == "gz").unwrap_or(path);
    (inner.file_stem().unwrap_or_default().to_string_lossy().into_owned(), lower(inner))
}

/// Recognise unsupported formats that users are likely to try; read as text, they would give a confusing error in
/// line 1.
fn unsupported(extension: &str, head: &[u8]) -> Option<String> {
    const KNOWN: [&str; 22] = [
        "7z", "bz2", "db", "feather", "h5", "hdf5", "json", "jsonl", "mat", "npz", "ods", "orc", "parquet",
        "pickle", "pkl", "rds", "sqlite", "xls", "xlsx", "xz", "zip", "zst",
    ];
    const MAGIC: [(&[u8], &str); 5] = [
        (b"PK\x03\x04", "a zip archive"),
        (b"PAR1", "Parquet"),
        (b"BZh", "bzip2"),
        (b"\xFD7zXZ\x00", "xz"),
        (b"\x28\xB5\x2F\xFD", "Zstandard"),
    ];
    if KNOWN.contains(&extension) {
        return Some(format!(".{extension}"));
    }
    MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| (*name).to_owned())
}
