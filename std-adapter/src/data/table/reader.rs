//! Tables in files, plain, gzipped or alone in a zip archive, of the formats in `format.rs`.
//!
//! Values are parsed in one pass directly into rows, so a file takes no more memory than its values (an array
//! in Fortran order is transposed, and takes twice that).
//!
//! A column of words, which begins with a word, becomes one feature per level (see [`Recipe`]). Lines may end
//! with a carriage return alone. Gzip is detected by its first bytes, and so are UTF-16 and Windows-1252
//! ([`Remarks::encoding`]). The path `-` is standard input.

use crate::data::table::columns::Want;
use crate::data::table::encoding::{BUFFER, Text};
use crate::data::table::format::{self, Format};
use crate::data::table::input::{Limited, Origin, Passed, Plainer, Reading, Receiver, Remarks, Table};
use crate::data::table::options::{Labels, Missing, Options};
use crate::data::table::recipe::Recipe;
use crate::data::table::rows::Rows;
use crate::data::table::target::Target;
use crate::data::table::zipped;
use crate::error::table::cut;
use crate::error::{Error, TableError, TableProblem};
use flate2::read::MultiGzDecoder;
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

/// Read every column of a file, one of them as the target. [`Table`] has an example; [`Options::read`] reads
/// other columns, dialects and gaps.
///
/// A column of words, or a nominal ARFF attribute, becomes one column per level: 1 in rows that have it,
/// otherwise 0.
///
/// ```
/// use dpp_nystrom::data::table::{self, Target};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("houses.csv");
/// std::fs::write(&path, "rooms,heating,price\n3,gas,210\n4,oil,300\n")?;
/// let table = table::read(&path, &Target::Name("rooms".into()))?;
/// assert_eq!(table.feature_names, ["heating=gas", "heating=oil", "price"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(path: &Path, target: &Target) -> Result<Table, Error> {
    let options = Options { target: target.clone(), ..Options::default() };
    Ok(options.read(path)?.table)
}

/// Read the columns that a fitted model needs, in the model's order.
///
/// 1. If the file names its columns, each feature is the column of its name, in any position. A column called
///    `target_name` becomes the target; it may be absent. A missing feature, and a column that is neither, is
///    an error with the nearest name: names in another case are others.
/// 2. If neither the file nor the model has names (a model without is one of `x0`, `x1`, ...), columns are
///    matched by position: as many columns as features are the features; one more is the target, which has
///    the position that it had in the file on which the model was fitted.
/// 3. If only one of them has names, the file is rejected, unless [`Options::by_position`] is set.
///
/// A target column with a missing value in every row counts as absent, as in files made for prediction. A row
/// with a level unknown to the model is rejected. A model's [`Recipe`] knows more than names:
/// [`Options::read_for`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use dpp_nystrom::data::table;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("new.csv");
/// std::fs::write(&path, "area,rooms\n70,3\n")?;
///
/// let table = table::read_features(&path, &["rooms".into(), "area".into()], Some("price"))?;
/// assert_eq!(table.row(0), [3.0, 70.0]);
/// assert_eq!(table.target, None);
/// assert!(table::read_features(&path, &["Rooms".into(), "area".into()], None).is_err());
/// # Ok(()) }
/// ```
pub fn read_features(
    path: &Path,
    feature_names: &[String],
    target_name: Option<&str>,
) -> Result<Table, Error> {
    Ok(Options::default().read_for(&Recipe::of_names(feature_names, target_name), path)?.table)
}

impl Options {
    /// Read the columns that are chosen, and learn their recipe.
    ///
    /// # Errors
    /// `ErrorKind::File` or `ErrorKind::Table` with the place of what cannot be read.
    pub fn read(&self, path: &Path) -> Result<Reading, Error> {
        if self.as_it_is {
            return Ok(self.read_surveyed(path)?);
        }
        Ok(open(path, Want::Learn(None), self, None, false)?)
    }

    fn read_surveyed(&self, path: &Path) -> Result<Reading, TableError> {
        let held = held(path)?;
        let rows = surveyed(|want| open_rows(path, held.as_deref(), want, Origin::of(self)));
        finish(rows.map_err(|error| TableError { path: path.into(), ..error })?, path)
    }

    /// Read a file as [`read`](Self::read) does, and pass the rows to `receive` in blocks of some thousands:
    /// a file of any length takes the memory of two blocks (except for an array in Fortran order). The
    /// blocks' names are empty. Gaps to be filled, and words, take two passes over the file: standard input
    /// is then rejected.
    ///
    /// # Errors
    /// Those of reading, and those of `receive`, which stop it.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use dpp_nystrom::data::table::Options;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("houses.csv");
    /// std::fs::write(&path, "rooms,area,price\n3,70,210\n4,95,300\n")?;
    ///
    /// let mut rooms = 0.0;
    /// Options::default().read_blocks(&path, |block| {
    ///     rooms += (0..block.table.rows()).map(|row| block.table.row(row)[0]).sum::<f64>();
    ///     Ok::<(), dpp_nystrom::Error>(())
    /// })?;
    /// assert_eq!(rooms, 7.0);
    /// # Ok(()) }
    /// ```
    pub fn read_blocks<E: From<Error>>(
        &self,
        path: &Path,
        receive: impl FnMut(Reading) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.as_it_is {
            return Self { as_it_is: false, ..self.clone() }.read_blocks(path, receive);
        }
        let fills = matches!(self.missing, Missing::Mean | Missing::Indicator);
        if !fills && self.words.is_empty() && self.labels != Labels::All {
            let mut receive = receive;
            match blocks(path, Want::Learn(None), self, &mut receive)? {
                Ok(()) => return Ok(()),
                Err(error) if !matches!(error.problem, TableProblem::TwoPasses) => {
                    return Err(Error::from(error).into());
                }
                Err(_) => return self.two_passes(path, receive),
            }
        }
        self.two_passes(path, receive)
    }

    fn two_passes<E: From<Error>>(
        &self,
        path: &Path,
        mut receive: impl FnMut(Reading) -> Result<(), E>,
    ) -> Result<(), E> {
        // Neither standard input nor a pipe can be read twice.
        if !path.is_file() {
            return Err(Error::from(TableError::new(path, TableProblem::TwoPasses)).into());
        }
        let Reading { recipe: learned, remarks: Remarks { row_numbers, .. }, .. } =
            open(path, Want::Learn(None), self, None, true).map_err(Error::from)?;
        // The recipe has settled these choices.
        let options = Self { ignore: Vec::new(), ids: Vec::new(), by_position: false, ..self.clone() };
        let want = Want::Apply { recipe: &learned, target: true };
        let mut receive = |mut block: Reading| {
            block.remarks.row_numbers.clone_from(&row_numbers);
            receive(block)
        };
        Ok(blocks(path, want, &options, &mut receive)?.map_err(Error::from)?)
    }

    /// Read the columns of a model's recipe, by the rule at [`read_features`]. Columns that the recipe leaves
    /// out, or that [`ignore`](Self::ignore) names, may be there.
    ///
    /// # Errors
    /// `ErrorKind::File` or `ErrorKind::Table` with the place of what cannot be read.
    pub fn read_for(&self, recipe: &Recipe, path: &Path) -> Result<Reading, Error> {
        Ok(open(path, Want::Apply { recipe, target: false }, self, None, false)?)
    }

    /// Read a file as [`read_for`](Self::read_for) does, and pass the rows on as
    /// [`read_blocks`](Self::read_blocks) does, in one pass.
    ///
    /// # Errors
    /// Those of reading, and those of `receive`, which stop it.
    pub fn read_blocks_for<E: From<Error>>(
        &self,
        recipe: &Recipe,
        path: &Path,
        mut receive: impl FnMut(Reading) -> Result<(), E>,
    ) -> Result<(), E> {
        let want = Want::Apply { recipe, target: false };
        Ok(blocks(path, want, self, &mut receive)?.map_err(Error::from)?)
    }
}

/// Survey the columns, and read them as they were settled.
pub(crate) fn surveyed<'a>(
    open: impl Fn(Want<'_>) -> Result<Rows<'a>, TableError>,
) -> Result<Rows<'a>, TableError> {
    let settled = match open(Want::Survey(&[]))?.settled()? {
        Ok(settled) => settled,
        // Columns that are seen again are not asked for again.
        Err(again) => open(Want::Survey(&again))?.settled()?.unwrap_or_default(),
    };
    open(Want::Learn(Some(&settled)))
}

/// Pass blocks of rows on. The outer error is that of the receiver.
fn blocks<E>(
    path: &Path,
    want: Want<'_>,
    options: &Options,
    receive: &mut impl FnMut(Reading) -> Result<(), E>,
) -> Result<Result<(), TableError>, E> {
    let mut refused = None;
    let mut take = |block: Reading| receive(block).map_err(|error| refused = Some(error)).is_ok();
    let last = open(path, want, options, Some(&RefCell::new(&mut take)), false);
    match (refused, last) {
        (Some(error), _) => Err(error),
        (None, Ok(last)) => receive(last).map(Ok),
        (None, Err(error)) => Ok(Err(error)),
    }
}

fn open<'a>(
    path: &'a Path,
    want: Want<'_>,
    options: &'a Options,
    receiver: Option<&'a Receiver<'a>>,
    scan: bool,
) -> Result<Reading, TableError> {
    let origin = Origin { receiver, scan, ..Origin::of(options) };
    finish(open_rows(path, None, want, origin)?, path)
}

/// Return the rows of a file, or of its bytes.
fn open_rows<'a>(
    path: &'a Path,
    held: Option<&'a [u8]>,
    want: Want<'_>,
    origin: Origin<'a>,
) -> Result<Rows<'a>, TableError> {
    let located = |error: TableError| TableError { path: path.into(), ..error };
    if let Some(bytes) = held {
        return unzipped(Box::new(bytes), path, want, origin).map_err(located);
    }
    if path.as_os_str() == "-" {
        return unzipped(Box::new(io::stdin()), path, want, origin).map_err(located);
    }
    unzipped(Box::new(opened(path)?), path, want, origin).map_err(located)
}

fn opened(path: &Path) -> Result<File, TableError> {
    let failed = |source| TableError::new(path, TableProblem::Open(source));
    let file = File::open(path).map_err(failed)?;
    // On some systems opening a directory succeeds, and only reading from it fails.
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(TableError::new(path, TableProblem::Directory));
    }
    Ok(file)
}

/// Return the bytes of what can be read once only: standard input, or a pipe.
fn held(path: &Path) -> Result<Option<Vec<u8>>, TableError> {
    let mut bytes = Vec::new();
    let failed = |source| TableError::new(path, TableProblem::Read(source));
    if path.as_os_str() == "-" {
        io::stdin().read_to_end(&mut bytes).map_err(failed)?;
        return Ok(Some(bytes));
    }
    let mut file = opened(path)?;
    if file.metadata().map_err(failed)?.is_file() {
        return Ok(None);
    }
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

fn finish(rows: Rows<'_>, path: &Path) -> Result<Reading, TableError> {
    rows.finish(name_of(path)).map_err(|error| TableError { path: path.into(), ..error })
}

/// Bytes by which the format is detected.
const HEAD: u64 = 1 << 16;

#[cfg(test)]
pub(crate) fn read_from<'a>(
    input: impl Read + 'a,
    path: &'a Path,
    want: Want<'_>,
    origin: Origin<'a>,
) -> Result<Reading, TableError> {
    let rows = unzipped(Box::new(input), path, want, origin);
    finish(rows.map_err(|error| TableError { path: path.into(), ..error })?, path)
}

fn unzipped<'a>(
    input: Box<dyn Read + 'a>,
    path: &Path,
    want: Want<'_>,
    origin: Origin<'a>,
) -> Result<Rows<'a>, TableError> {
    let (head, input) = peek(input).map_err(|e| origin.failed(e))?;
    if zipped::begins(&head) {
        return archived(&head, input, path, want, origin);
    }
    if !is_gzip(&head) {
        return read_plain(&head, input, path, origin, want);
    }
    let origin = Origin { damaged: Some(TableProblem::Gzip), ..origin };
    let decoder = MultiGzDecoder::new(BufReader::with_capacity(BUFFER, input));
    let limit = Passed("decompressed", origin.options.limits.decompressed);
    let decoder = Limited { inner: decoder, count: Rc::new(Cell::new(0)), limit };
    let (head, input) = peek(Box::new(decoder)).map_err(|e| origin.failed(e))?;
    read_plain(&head, input, path, origin, want)
}

fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(b"\x1F\x8B")
}

/// Read the only file of a zip archive, or a workbook, which is an archive itself.
fn archived<'a>(
    head: &[u8],
    input: Box<dyn Read + '_>,
    path: &Path,
    want: Want<'_>,
    origin: Origin<'a>,
) -> Result<Rows<'a>, TableError> {
    supported(path, head)?;
    let origin = Origin { damaged: Some(TableProblem::Zip), ..origin };
    let mut archive = zipped::open(input, origin)?;
    if zipped::is_document(&archive) {
        let bytes = Box::new(Cursor::new(archive.into_inner().into_inner()));
        return read_plain(head, bytes, Path::new("document.xlsx"), origin, want);
    }
    let name = zipped::only_file(&archive)?;
    let file = zipped::file(&mut archive, &name, origin)?;
    let (head, input) = peek(Box::new(file)).map_err(|e| origin.failed(e))?;
    if is_gzip(&head) || zipped::begins(&head) {
        return Err(TableProblem::Archive("its file is compressed itself".to_owned()).into());
    }
    read_plain(&head, input, Path::new(&name), origin, want)
}

/// Refuse formats that are not read.
fn supported(path: &Path, head: &[u8]) -> Result<(), TableError> {
    match format::unsupported(&name_and_extension(path).1, head) {
        Some(found) => Err(TableProblem::Format { found, formats: format::FORMATS }.into()),
        None => Ok(()),
    }
}

/// Return the first bytes, and a reader that still begins with them.
fn peek<'a>(mut input: Box<dyn Read + 'a>) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(input))))
}

fn read_plain<'a>(
    head: &[u8],
    input: Box<dyn Read + '_>,
    path: &Path,
    origin: Origin<'a>,
    want: Want<'_>,
) -> Result<Rows<'a>, TableError> {
    if head.is_empty() {
        return Err(TableProblem::Empty.into());
    }
    supported(path, head)?;
    let extension = name_and_extension(path).1;
    let has_sheet = |format: &Format| match &origin.options.sheet {
        Some(sheet) if !format.has_sheets => Err(TableProblem::NoSheets(cut(sheet))),
        _ => Ok(()),
    };
    if let Some(format) = format::binary(&extension, head) {
        has_sheet(format)?;
        return (format.read)(BufReader::with_capacity(BUFFER, input), origin, want);
    }
    let encoding = Rc::new(Cell::new(None));
    let text = Text::new(head, input, encoding.clone());
    let (head, input) = peek(Box::new(text)).map_err(|e| origin.failed(e))?;
    let ends_lines = |byte: u8| head.strip_suffix(b"\r").unwrap_or(&head).contains(&byte);
    let input: Box<dyn Read + '_> = match ends_lines(b'\r') && !ends_lines(b'\n') {
        true => Box::new(Plainer::new(input, true, false)),
        false => input,
    };
    let format = format::of_text(&extension, &head, origin.options);
    has_sheet(format)?;
    let mut rows = (format.read)(BufReader::with_capacity(BUFFER, input), origin, want)?;
    rows.remarks.encoding = encoding.get();
    Ok(rows)
}

/// Whether the name of a file ends as tables do, compressed or not: `.csv`, `.arff.gz`, `.csv.zip`.
pub fn is_named_as_one(path: &Path) -> bool {
    format::has_ending(&name_and_extension(path).1)
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
    let is_compressed = ["gz", "zip"].contains(&&*lower(path));
    let inner = path.file_stem().map(Path::new).filter(|_| is_compressed).unwrap_or(path);
    (inner.file_stem().unwrap_or_default().to_string_lossy().into_owned(), lower(inner))
}
