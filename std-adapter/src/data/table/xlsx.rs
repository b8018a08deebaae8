//! Sheets of `.xlsx` workbooks, as the text of the same cells in a CSV.
//!
//! Dates of cells are written as `2014-11-10` or `2014-11-10 13:45:00`, durations and times of day in days,
//! and line breaks in a cell as a space, so that a line of the text is a row of the sheet. Formulas have the
//! value that was computed last. Hidden sheets are read only by their name.
//!
//! A workbook is held in memory. Its parts may expand to a sixteenth of the limit `decompressed`, and empty
//! cells to the limit `sparse`.

use crate::data::table::delimited::{self, FIELD};
use crate::data::table::input::{Input, Origin};
use crate::data::table::rows::Rows;
use crate::data::table::{columns::Want, zipped};
use crate::error::table::{TableError, TableProblem};
use calamine::{DataRef, Reader, SheetType, SheetVisible, Xlsx};
use std::borrow::Cow;
use std::io::{BufReader, Cursor, Read};

/// Rows and columns of a sheet.
const MOST: [u32; 2] = [1 << 20, 1 << 14];

pub(crate) fn read<'a>(input: Input<'_>, origin: Origin<'a>, want: Want<'_>) -> Result<Rows<'a>, TableError> {
    let bytes = checked(zipped::open(input, origin)?, origin)?;
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(|error| unreadable(&error))?;
    let sheets = book.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let all: Vec<String> = sheets.clone().map(|sheet| sheet.name.clone()).collect();
    let shown = sheets.filter(|sheet| sheet.visible == SheetVisible::Visible);
    let shown: Vec<String> = shown.map(|sheet| sheet.name.clone()).collect();
    let wanted = origin.options.sheet.as_ref();
    let sheet = wanted.map_or(shown.first(), |wanted| all.iter().find(|name| *name == wanted));
    let sheet = sheet.ok_or_else(|| TableProblem::Sheet { wanted: wanted.cloned(), sheets: all.clone() })?;
    let text = text(&mut book, sheet, origin)?;
    let input = BufReader::new(Box::new(Cursor::new(text)) as Box<dyn Read>);
    let mut rows = delimited::read(input, origin, want, FIELD)?;
    rows.remarks.sheet = (wanted.is_none() && shown.len() > 1).then(|| sheet.clone());
    Ok(rows)
}

/// Return the bytes of a workbook whose parts do not expand to more than the limit, and do not claim more
/// strings than they can have: memory is reserved for what they claim.
fn checked(mut archive: zipped::Archive, origin: Origin<'_>) -> Result<Vec<u8>, TableError> {
    let limit = origin.options.limits.decompressed;
    let (mut part, mut left) = (Vec::new(), limit / 16);
    for at in 0..archive.len() {
        part.clear();
        let file = archive.by_index(at).map_err(|error| zipped::unreadable(&error))?;
        let name = file.name().map_err(|error| zipped::unreadable(&error))?.to_ascii_lowercase();
        file.take(left + 1).read_to_end(&mut part).map_err(|error| origin.failed(error))?;
        let passed = TableProblem::Limit { name: "decompressed", limit };
        left = left.checked_sub(part.len() as u64).ok_or(passed)?;
        if name.ends_with("sharedstrings.xml")
            && !(counts(&part).all(|count| count <= part.len() / "<si/>".len()))
        {
            return Err(TableProblem::Archive("its number of strings is wrong".to_owned()).into());
        }
    }
    Ok(archive.into_inner().into_inner())
}

/// Return the numbers of strings that a part claims to have; one that is not plain is the largest.
fn counts(part: &[u8]) -> impl Iterator<Item = usize> {
    const NAME: &[u8] = b"uniqueCount";
    // A NUL: another encoding than UTF-8.
    let nul = part.contains(&0).then_some(usize::MAX);
    let places = part.windows(NAME.len()).enumerate().filter(|(_, name)| *name == NAME);
    let count = |(at, _): (usize, &[u8])| {
        let value = part[at + NAME.len()..].iter().skip_while(|byte| b" \t\r\n=\"'".contains(byte));
        let digits: String =
            value.take_while(|byte| byte.is_ascii_digit()).map(|&byte| char::from(byte)).collect();
        digits.parse().unwrap_or(usize::MAX)
    };
    nul.into_iter().chain(places.map(count))
}

fn unreadable(error: &calamine::XlsxError) -> TableProblem {
    TableProblem::Archive(error.to_string())
}

/// Write the cells of a sheet as text.
fn text(book: &mut Xlsx<Cursor<Vec<u8>>>, sheet: &str, origin: Origin<'_>) -> Result<Vec<u8>, TableError> {
    let mut cells = book.worksheet_cells_reader(sheet).map_err(|error| unreadable(&error))?;
    let (mut text, mut widths) = (String::new(), Vec::new());
    let (mut first, mut written, mut rows) = (u32::MAX, 0, 0);
    let mut last = None;
    while let Some(cell) = cells.next_cell().map_err(|error| unreadable(&error))? {
        let (row, column) = cell.get_position();
        let Some(field) = field(cell.get_value()) else { continue };
        if row >= MOST[0] || column >= MOST[1] || last.is_some_and(|last| last >= (row, column)) {
            let problem = "its cells are not in order, or beyond the last row or column of a sheet";
            return Err(TableProblem::Archive(problem.to_owned()).into());
        }
        while (widths.len() as u32) <= row {
            // A line of the text is a row of the sheet.
            text.extend((!widths.is_empty()).then_some('\n'));
            widths.push(0);
        }
        let width = widths.last_mut().expect("a row");
        rows += usize::from(*width == 0);
        text.extend(std::iter::repeat_n(char::from(FIELD), (column + 1 - (*width).max(1)) as usize));
        text.push_str(&field);
        (*width, first, written, last) = (column + 1, first.min(column), written + 1, Some((row, column)));
    }
    let width = widths.iter().copied().max().unwrap_or(0);
    let columns = width.saturating_sub(first);
    origin.check_sparse(rows, columns.into(), written)?;
    let mut padded = Vec::with_capacity(text.len());
    for (line, own) in text.split('\n').zip(widths) {
        if own > 0 {
            padded.extend(&line.as_bytes()[first as usize..]);
            padded.extend(std::iter::repeat_n(FIELD, (width - own) as usize));
        }
        padded.push(b'\n');
    }
    Ok(padded)
}

/// Return a cell as a field of a CSV; none for an empty one.
fn field(value: &DataRef<'_>) -> Option<String> {
    let word: Cow<'_, str> = match value {
        DataRef::Empty => return None,
        DataRef::Int(number) => number.to_string().into(),
        DataRef::Float(number) => number.to_string().into(),
        DataRef::Bool(truth) => truth.to_string().into(),
        DataRef::DateTime(time) if time.is_duration() || time.as_f64() < 1.0 => {
            time.as_f64().to_string().into()
        }
        DataRef::DateTime(time) => {
            let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
            let time = match (hour, minute, second) {
                (0, 0, 0) => String::new(),
                _ => format!(" {hour:02}:{minute:02}:{second:02}"),
            };
            format!("{year:04}-{month:02}-{day:02}{time}").into()
        }
        DataRef::Error(error) => error.to_string().into(),
        DataRef::SharedString(word) => (*word).into(),
        DataRef::String(word) | DataRef::DateTimeIso(word) | DataRef::DurationIso(word) => word.into(),
    };
    let word = word.replace(['\r', '\n'], " ");
    let is_special = word.starts_with('#') || word.contains(['"', char::from(FIELD)]);
    Some(if is_special { format!("\"{}\"", word.replace('"', "\"\"")) } else { word })
}
