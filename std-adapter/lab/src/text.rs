//! Numbers, tables and names as text: for a terminal, and as CSV.

use dpp_nystrom::Error;
use dpp_nystrom_host::atomic_file::write_whole;
use std::io;
use std::path::Path;

/// Whether a character of a name is not shown but obeyed, by a terminal or a layout: controls, and what ends
/// a line or turns the direction of writing.
pub fn is_obeyed(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Escape what would be obeyed in a text of several lines; the program's own line ends and tabs stay.
pub fn plain(text: &str) -> String {
    escaped(text, |c| is_obeyed(c) && !matches!(c, '\n' | '\t'))
}

/// [`plain`], of one line or a name: line ends and tabs are escaped as well.
pub fn plain_line(text: &str) -> String {
    escaped(text, is_obeyed)
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let shown = |c: char| if is_escaped(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// Return a name as spreadsheets and terminals do not obey it: with a quotation mark before what would be a
/// formula, and without controls. A number is none.
pub fn inert(name: &str) -> String {
    let is_formula = name.trim_start().starts_with(['=', '+', '-', '@']) && name.parse::<f64>().is_err();
    let name = plain_line(name);
    if is_formula { format!("'{name}") } else { name }
}

/// Write records under the names of their fields to a CSV file.
///
/// # Errors
/// `ErrorKind::File`.
pub fn write_csv<R: IntoIterator<Item: AsRef<[u8]>>>(
    path: &Path,
    names: &[impl AsRef<str>],
    records: impl IntoIterator<Item = R>,
) -> Result<(), Error> {
    Ok(write_whole(path, |out| {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(names.iter().map(|name| inert(name.as_ref()))).map_err(cause)?;
        records.into_iter().try_for_each(|record| csv.write_record(record)).map_err(cause)?;
        csv.flush()
    })?)
}

/// Return the underlying I/O error, so that a closed pipe is recognised.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// A column of a table: its name, and its cell for an item.
pub type Column<T> = (&'static str, fn(&T) -> String);

/// Return the names of the columns, and a row of cells for each item.
pub fn cells<T>(columns: &[Column<T>], items: &[T]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let row = |item| columns.iter().map(|(_, cell)| cell(item)).collect();
    (columns.iter().map(|column| column.0).collect(), items.iter().map(row).collect())
}

/// Format a line for each item under the names of the columns, as [`aligned`].
pub fn table<T>(columns: &[Column<T>], items: &[T]) -> String {
    let (names, rows) = cells(columns, items);
    aligned(&names, &rows)
}

/// Format rows of cells under a header: the first column left-aligned, the others right-aligned.
pub fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    in_columns(header, rows, |cell, width| format!("{cell:>width$}"))
}

/// Format names and their values, of any length, as two left-aligned columns. The first pair is a header.
pub fn listed(header: &[&str; 2], rows: &[Vec<String>]) -> String {
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
pub fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e5).contains(&size) => {
            let digits = (3.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
            format!("{value:.digits$}")
        }
        _ => format!("{value:.3e}"),
    }
}

/// Format a number as people write it: three digits, and whole numbers and those from a thousand to the unit,
/// with separators of thousands.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:.2e}");
    if !(1e-4..1e15).contains(&size) {
        return powered(&text);
    }
    if size < 999.5 && value.fract() != 0.0 {
        let exponent = text.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
        let digits = (2 - exponent.unwrap_or(0)).clamp(0, 6) as usize;
        return format!("{value:.digits$}");
    }
    grouped(value)
}

/// Format the value of a tick of an axis: [`number`] with no more digits than it has. Years have no
/// separator.
pub fn tick(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    match rounded.abs() {
        0.0 => "0".to_owned(),
        1e4..1e8 => grouped(rounded),
        1e-3..1e4 => ((rounded * 1e6).round() / 1e6).to_string(),
        _ => powered(&format!("{rounded:e}")),
    }
}

/// Format to the unit, with separators of thousands.
fn grouped(value: f64) -> String {
    let whole = format!("{:.0}", value.abs().round());
    let mut text = if value < 0.0 { "-".to_owned() } else { String::new() };
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Write `3e-7` as a multiple of a power of ten.
fn powered(text: &str) -> String {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => c.to_digit(10).and_then(|digit| char::from_u32(0x2070 + digit)).unwrap_or(c),
    };
    let power: String = exponent.chars().map(raised).collect();
    match digits {
        "1" => format!("10{power}"),
        digits => format!("{digits} × 10{power}"),
    }
}

/// Return a line of a table of two columns.
#[expect(clippy::needless_pass_by_value, reason = "callers pass temporaries")]
pub fn row(name: &str, value: impl ToString) -> Vec<String> {
    vec![name.to_owned(), value.to_string()]
}

/// [`short`], or a dash for a missing value.
pub fn short_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), short)
}

/// Return a cell of a CSV file, empty for a missing value.
pub fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::{aligned, listed, number, short, tick};

    #[test]
    fn numbers_keep_four_digits() {
        let shown = [0.0, 1.0, 0.5, 1234.5678, 99999.4, 1e5, 0.001234, 0.000123456, -2.5e-9];
        let expected =
            ["0", "1.000", "0.5000", "1235", "99999", "1.000e5", "0.001234", "1.235e-4", "-2.500e-9"];
        assert_eq!(shown.map(short), expected);
    }

    #[test]
    fn numbers_are_written_as_people_write_them() {
        let written = [
            (0.0, "0"),
            (1.0625, "1.06"),
            (53_092.0, "53,092"),
            (-460_213.4, "-460,213"),
            (999.6, "1,000"),
            (999.4, "999"),
            (0.99961, "1.00"),
            (12.345, "12.3"),
            (0.010_23, "0.0102"),
            (-7.0, "-7"),
            (3.162e-7, "3.16 × 10⁻⁷"),
            (-2e18, "-2.00 × 10¹⁸"),
        ];
        for (value, text) in written {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn ticks_have_the_digits_that_they_need() {
        let written = [
            (0.0, "0"),
            (0.025, "0.025"),
            (1990.0, "1990"),
            (300_000.0, "300,000"),
            (-20_000.0, "-20,000"),
            (2e8, "2 × 10⁸"),
            (1e-7, "10⁻⁷"),
            (2.500_000_1, "2.5"),
        ];
        for (value, text) in written {
            assert_eq!(tick(value), text);
        }
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["long".to_owned(), "10".to_owned()]];
        assert_eq!(aligned(&["name", "c"], &rows), "name   c\na      1\nlong  10\n");
        assert_eq!(listed(&["name", "c"], &rows), "name  c\na     1\nlong  10\n");
    }
}
