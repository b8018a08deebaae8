//! Text separated by commas, tabs or semicolons.
//!
//! The delimiter is whichever of `,` tab `;` is most frequent in the first line, outside quotes; in `.tsv` and `.tab`
//! files a single tab suffices. The first row is a header if any field is text, that is, neither a number nor a
//! missing-value marker; so column names that are all numbers are read as data. A trailing delimiter is ignored. An
//! unnamed column in a header is called `x` followed by its index from 0.

use crate::data::table::columns::{Column, Columns, Want};
use crate::data::table::input::{Input, Origin};
use crate::data::table::rows::{Rows, is_missing};
use crate::error::table::{TableError, TableProblem};
use csv::{ByteRecord, ErrorKind, Terminator};
use std::io::{self, BufRead, Read};

pub(crate) fn read<'a>(
    mut input: Input<'_>,
    origin: Origin<'a>,
    want: &Want<'_>,
    preferred: u8,
) -> Result<Rows<'a>, TableError> {
    let start = first_line(&mut input).map_err(|e| origin.failed(e))?;
    let mut records = Records::new(start.as_slice().chain(input), delimiter(&start, preferred), origin);
    if !records.advance()? {
        return Err(TableProblem::Empty.into());
    }
    let columns = records.columns()?;
    let named = columns.named;
    let mut rows = Rows::new(origin, columns.plan(want)?);
    let mut more = !named || records.advance()?;
    while more {
        records.put(&mut rows)?;
        more = records.advance()?;
    }
    Ok(rows)
}

/// Return the file up to the end of its first non-blank line, or as much of it as detecting the delimiter can need.
fn first_line(input: &mut Input<'_>) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    let mut input = input.by_ref().take(1 << 20);
    loop {
        let before = start.len();
        if input.read_until(b'\n', &mut start)? == 0 || !start[before..].trim_ascii().is_empty() {
            return Ok(start);
        }
    }
}

fn delimiter(line: &[u8], preferred: u8) -> u8 {
    let mut quoted = false;
    let mut outside = line.to_vec();
    outside.retain(|&byte| {
        quoted ^= byte == b'"';
        !quoted
    });
    let count = |delimiter: u8| outside.iter().filter(|&&byte| byte == delimiter).count();
    if preferred == b'\t' && count(b'\t') > 0 {
        return b'\t';
    }
    // The last of equal ones wins.
    [b';', b'\t', b','].into_iter().max_by_key(|&delimiter| count(delimiter)).unwrap_or(b',')
}

/// Non-blank records and the lines on which they begin.
struct Records<'a, R> {
    reader: csv::Reader<io::Chain<R, &'static [u8]>>,
    record: ByteRecord,
    line: u64,
    origin: Origin<'a>,
}

impl<'a, R: Read> Records<'a, R> {
    fn new(input: R, delimiter: u8, origin: Origin<'a>) -> Self {
        // Terminating records at '\n' alone, and every file with one, makes the parser's line count exact: by default
        // it ends a line between '\r' and '\n'. The '\r' left in the last field is trimmed with the white space.
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .terminator(Terminator::Any(b'\n'))
            .buffer_capacity(crate::data::table::input::BUFFER)
            .from_reader(input.chain(b"\n".as_slice()));
        Self { reader, record: ByteRecord::new(), line: 0, origin }
    }

    /// Advance to the next non-blank record; return `false` at the end.
    fn advance(&mut self) -> Result<bool, TableError> {
        loop {
            let read = self.reader.read_byte_record(&mut self.record);
            if !read.map_err(|error| self.failed(error))? {
                return Ok(false);
            }
            // A single field of white space is a blank line.
            if self.record.len() > 1 || !self.record.as_slice().trim_ascii().is_empty() {
                break;
            }
        }
        let inside = self.record.as_slice().iter().filter(|&&byte| byte == b'\n').count();
        let inside = u64::try_from(inside).unwrap_or(u64::MAX);
        // The lower bound handles an unclosed quote, whose record ends with the file rather than with a line.
        self.line = self.reader.position().line().saturating_sub(inside.saturating_add(1)).max(self.line + 1);
        Ok(true)
    }

    /// Return the number of fields, without an empty one after a trailing delimiter.
    fn fields(&self) -> usize {
        let count = self.record.len();
        let last = count.checked_sub(1).and_then(|i| self.record.get(i));
        if count > 1 && last.is_some_and(|field| field.trim_ascii().is_empty()) { count - 1 } else { count }
    }

    /// Return the columns, named if the record is a header.
    fn columns(&self) -> Result<Columns, TableError> {
        let count = self.fields();
        let mut named = false;
        let mut list = Vec::with_capacity(count);
        for (i, field) in self.record.iter().take(count).enumerate() {
            let name = std::str::from_utf8(field.trim_ascii())
                .map_err(|_| TableProblem::NotUtf8.at_line(self.line))?;
            named |= !is_missing(name) && name.parse::<f64>().is_err();
            list.push(Column::number(if name.is_empty() { format!("x{i}") } else { name.to_owned() }));
        }
        Ok(if named { Columns { list, named } } else { Columns::unnamed(count) })
    }

    fn put(&self, rows: &mut Rows<'_>) -> Result<(), TableError> {
        let expected = rows.fields();
        let found = self.record.len();
        if found != expected && !(found == expected + 1 && self.fields() == expected) {
            return Err(TableProblem::Ragged { expected, found }.at_line(self.line));
        }
        rows.begin()?;
        for (column, field) in self.record.iter().take(expected).enumerate() {
            rows.put(column, field, self.line)?;
        }
        Ok(())
    }

    fn failed(&self, error: csv::Error) -> TableProblem {
        self.origin.failed(match error.into_kind() {
            ErrorKind::Io(source) => source,
            // Records are bytes with any number of fields, so reading cannot fail in any other way.
            kind => io::Error::other(format!("{kind:?}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{message, table};

    fn rows(name: &str, text: &str) -> (Vec<String>, usize, Vec<f64>) {
        let table = table(name, text, "none").expect(text);
        (table.feature_names, table.dim, table.features)
    }

    fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
        names.map(str::to_owned).into()
    }

    #[test]
    fn the_delimiter_is_detected() {
        for text in ["a,b\n1,2\n", "a\tb\n1\t2\n", "a;b\n1;2\n", "\n\n\"a\";b\n1;2", "a , b\r\n 1 ,\t2 \r\n"]
        {
            assert_eq!(rows("a.csv", text), (names(["a", "b"]), 2, vec![1.0, 2.0]), "{text:?}");
        }
        let quoted = "\"a,b,c\";d\n1;2\n";
        assert_eq!(rows("a.txt", quoted), (names(["a,b,c", "d"]), 2, vec![1.0, 2.0]));
        let tabs = "a,b,c\td\n1\t2\n";
        assert_eq!(rows("a.tsv", tabs), (names(["a,b,c", "d"]), 2, vec![1.0, 2.0]));
        assert_eq!(rows("a.tab", "a,b\n1,2\n").1, 2);
        assert_eq!(rows("a.csv", "1\n2\n"), (names(["x0"]), 1, vec![1.0, 2.0]));
    }

    #[test]
    fn a_header_is_a_first_row_with_text() {
        assert_eq!(rows("a.csv", "1,2e3\n-.5,+4"), (names(["x0", "x1"]), 2, vec![1.0, 2000.0, -0.5, 4.0]));
        assert_eq!(rows("a.csv", "2019,,b\n1,2,3\n"), (names(["2019", "x1", "b"]), 3, vec![1.0, 2.0, 3.0]));
        let marked = "\u{FEFF}a,b\n1,2\n";
        assert_eq!(rows("a.csv", marked).0, names(["a", "b"]));
        // A first row with a missing value must not be taken for a header.
        assert!(
            message("a.csv", "1,NA\n2,3\n", "last")
                .starts_with("a.csv, line 1, column 2 (\"x1\"): the value is missing")
        );
        let text = message("a.csv", "a,b,a\n1,2,3\n", "last");
        assert_eq!(text, "a.csv: columns 1 and 3 are both called \"a\"; rename one of them");
    }

    #[test]
    fn blank_lines_and_trailing_delimiters_are_ignored() {
        assert_eq!(rows("a.csv", "\r\na,b,\r\n\r\n1,2,\r\n \t\n\n3,4\r\n\r\n").2, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(rows("a.csv", "\"a \"\"q\"\"\",b\n\"1\",\"2\"\r\n").0, names(["a \"q\"", "b"]));
    }

    #[test]
    fn lines_are_counted_as_an_editor_does() {
        for end in ["\n", "\r\n"] {
            let text = |lines: &[&str]| message("a.csv", lines.join(end), "last");
            let wrong = text(&["", "a,b", "", "1,2", "", "", "3,x"]);
            assert!(
                wrong.starts_with("a.csv, line 7, column 2 (\"b\"): \"x\" is not a number; write"),
                "{wrong}"
            );
            let wrong = text(&["\"a", "a\",b", "1,\" 2", "\"", "y,3", ""]);
            assert!(wrong.contains(", line 5, column 1 ("), "{wrong}");
            let wrong = text(&["a,b", "1,2", "3,\"4", "5,6", "7,8"]);
            assert!(wrong.starts_with("a.csv, line 3, column 2 (\"b\"): \"4\\"), "{wrong}");
        }
    }

    #[test]
    fn invalid_rows_are_located() {
        let wrong = message("a.csv", "a,b,c\n1,2,3\n4,5\n", "last");
        assert!(wrong.starts_with("a.csv, line 3: expected 3 fields, found 2; complete the row"), "{wrong}");
        let wrong = message("a.csv", "a,b\n1,2\n3,4,5\n", "last");
        assert!(wrong.starts_with("a.csv, line 3: expected 2 fields, found 3;"), "{wrong}");
        let wrong = message("-", "a,b\n1,2\n3,\"some text\"\n", "last");
        assert!(
            wrong.starts_with("standard input, line 3, column 2 (\"b\"): \"some text\" is not a number"),
            "{wrong}"
        );
        assert!(wrong.contains("ARFF only"), "{wrong}");
        let wrong = message("a.csv", format!("a,b\n1,{}\n", "z".repeat(500)), "last");
        assert!(wrong.contains(&format!("\"{}...\" is not", "z".repeat(40))), "{wrong}");
        for mark in ["", "?", "NA", " "] {
            let wrong = message("a.csv", format!("a,b\n1,2\n{mark},4\n"), "last");
            let expected =
                format!("a.csv, line 3, column 1 (\"a\"): the value is missing ({:?})", mark.trim());
            assert!(wrong.starts_with(&expected), "{wrong}");
        }
        for value in ["NaN", "inf", "-Infinity", "1e999"] {
            let wrong = message("a.csv", format!("a;b\n1;{value}\n"), "last");
            assert!(
                wrong.starts_with(&format!("a.csv, line 2, column 2 (\"b\"): {value:?} is not a finite")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn other_encodings_are_rejected_with_their_line() {
        assert!(
            message("a.csv", b"a,b\n1,2\n3,\xE9\n", "last")
                .starts_with("a.csv, line 3: the text is not UTF-8")
        );
        assert!(
            message("a.csv", b"temp\xE9rature,b\n1,2\n", "last")
                .starts_with("a.csv, line 1: the text is not UTF-8")
        );
    }
}
