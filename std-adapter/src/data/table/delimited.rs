//! Text separated by commas, tabs, semicolons, `|` or white space.
//!
//! The delimiter is whichever of `,` tab `;` is most frequent in the first line, outside quotes; in `.tsv`
//! and `.tab` files a single tab suffices. A line without any of them is split at `|`, or, if the next line
//! has as many fields, at white space. Lines that begin with `#` are comments. A trailing delimiter is
//! ignored. An unnamed column in a header is called `x` followed by its index from 0; so is the first, if the
//! header is one field short, as that of R is.
//!
//! | first row | taken for |
//! | --- | --- |
//! | numbers and gaps | a row; an error if they count up, or are years, and the next row does not |
//! | a comment with as many fields and words | the header |
//! | words over numbers, or words alone | the header |
//! | words over words, and numbers over numbers | an error |

use crate::data::table::columns::{Column, Columns, Kind, Want, named_all};
use crate::data::table::encoding::BUFFER;
use crate::data::table::input::{Comments, Input, Limited, Origin, Passed, Plainer, line_limit};
use crate::data::table::markers::Markers;
use crate::data::table::rows::Rows;
use crate::error::table::{TableError, TableProblem};
use csv::{ByteRecord, ErrorKind, Terminator};
use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// What separates fields that are written for this reader, whatever the options say.
pub(crate) const FIELD: u8 = 0x1F;

pub(crate) fn read<'a>(
    mut input: Input<'_>,
    origin: Origin<'a>,
    want: Want<'_>,
    preferred: u8,
) -> Result<Rows<'a>, TableError> {
    let mut start = Start::read(&mut input).map_err(|e| origin.failed(e))?;
    let options = origin.options;
    let markers = Markers::of(want, options);
    let (hint, comma) = match want {
        Want::Survey(_) => (None, false),
        Want::Learn(settled) => (settled.and_then(|settled| settled.separator), false),
        Want::Apply { recipe, .. } => {
            (recipe.separator.filter(|hint| start.line(0).contains(hint)), recipe.decimal_comma)
        }
    };
    let comma = options.decimal_comma.unwrap_or(comma);
    let is_written = preferred == FIELD;
    let told = if is_written { Some(preferred) } else { options.separator.or(hint) };
    let delimiter = told.unwrap_or_else(|| start.delimiter(preferred, comma, &markers));
    start.uncomment(delimiter, &markers);
    let before = start.comments();
    let comments = Rc::new(Cell::new(0));
    let mut records = Records::new(start.text.as_slice().chain(input), delimiter, origin, comments.clone());
    if !records.advance()? {
        return Err(TableProblem::Empty.into());
    }
    let (first, line) = (records.record.clone(), records.line);
    let second = records.advance()?;
    // A header of R is one field short.
    if let (1, true, found @ 3..) = (fields(&first), second, fields(&records.record)) {
        return Err(TableProblem::Title { found }.at_line(line));
    }
    let header = options.header.or_else(|| known_header(&first, want));
    let columns = records.columns(&first, line, second.then_some(&records.record), header, &markers)?;
    let named = columns.named;
    let mut rows = Rows::new(origin, columns.plan(want, options)?, markers);
    rows.separator = Some(delimiter);
    if !is_written {
        rows.keep_separator();
    }
    if !named {
        records.put(&first, line, &mut rows)?;
    }
    let mut more = second;
    while more {
        records.put(&records.record, records.line, &mut rows)?;
        more = records.advance()?;
    }
    rows.remarks.comments = comments.get().saturating_sub(before);
    Ok(rows)
}

/// The file up to the end of its second line with content, or as much of it as detecting the delimiter can
/// need.
#[derive(Default)]
struct Start {
    text: Vec<u8>,
    /// Where the last comment before the first line, the first line and the second begin and end.
    comment: Option<(usize, usize)>,
    lines: Vec<(usize, usize)>,
}

impl Start {
    fn read(input: &mut Input<'_>) -> io::Result<Self> {
        let mut start = Self::default();
        let mut input = input.by_ref().take(1 << 20);
        while start.lines.len() < 2 {
            let begin = start.text.len();
            if input.read_until(b'\n', &mut start.text)? == 0 {
                break;
            }
            let end = start.text.len();
            let line = &start.text[begin..end];
            if line.starts_with(b"#") {
                start.comment = if start.lines.is_empty() { Some((begin, end)) } else { start.comment };
            } else if !line.trim_ascii().is_empty() {
                start.lines.push((begin, end));
            }
        }
        Ok(start)
    }

    /// Return the number of comments before the first line.
    fn comments(&self) -> u64 {
        let end = self.lines.first().map_or(self.text.len(), |line| line.0);
        self.text[..end].split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"#")).count() as u64
    }

    fn line(&self, at: usize) -> Vec<u8> {
        let (begin, end) = self.lines.get(at).copied().unwrap_or_default();
        outside_quotes(&self.text[begin..end])
    }

    fn delimiter(&self, preferred: u8, decimal_comma: bool, markers: &Markers) -> u8 {
        let (first, second) = (self.line(0), self.line(1));
        let count = |delimiter: u8| first.iter().filter(|&&byte| byte == delimiter).count();
        if preferred == b'\t' && count(b'\t') > 0 {
            return b'\t';
        }
        // The last of equal ones wins.
        let usual = [b';', b'\t', b','].into_iter().filter(|&byte| !(decimal_comma && byte == b','));
        let usual = usual.max_by_key(|&delimiter| count(delimiter)).unwrap_or(b',');
        let words = |line: &[u8]| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        match (count(usual), count(b'|'), words(&first), words(&second)) {
            (0, 1.., ..) => b'|',
            // The header of R has one field less.
            (0, 0, one @ 2.., two) if two == one || two == one + 1 => b' ',
            (0, 0, one @ 1, 2) if number(&first, markers).is_none() && one == 1 => b' ',
            _ => usual,
        }
    }

    /// Make a comment the header if it has words, and as many fields as the line of numbers after it.
    fn uncomment(&mut self, delimiter: u8, markers: &Markers) {
        let Some((begin, end)) = self.comment else { return };
        let fields = |line: &[u8]| -> Vec<Vec<u8>> {
            let line = outside_quotes(line.trim_ascii());
            let fields = line.split(|&byte| byte == delimiter).map(<[u8]>::to_vec);
            fields.filter(|field| delimiter != b' ' || !field.is_empty()).collect()
        };
        let (names, values) = (fields(&self.text[begin + 1..end]), fields(&self.line(0)));
        let is_number = |field: &Vec<u8>| number(field, markers).is_some();
        if names.len() > 1
            && names.len() == values.len()
            && values.iter().all(is_number)
            && !names.iter().any(is_number)
        {
            self.text[begin] = b' ';
        }
    }
}

fn outside_quotes(line: &[u8]) -> Vec<u8> {
    let mut quoted = false;
    let mut outside = line.to_vec();
    outside.retain(|&byte| {
        quoted ^= byte == b'"';
        !quoted
    });
    outside
}

/// Parse a field that is not a word: a number, a truth value or, as NaN, a gap.
fn number(field: &[u8], markers: &Markers) -> Option<f64> {
    let text = std::str::from_utf8(field.trim_ascii()).ok()?;
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match text.parse().or_else(|_| text.replacen(',', ".", 1).parse()) {
        Ok(value) => Some(value),
        Err(_) if markers.mark_number(text) || is("true") || is("false") => Some(f64::NAN),
        Err(_) => None,
    }
}

/// Whether these numbers are more likely names: they count up from 0 or 1, or are years.
fn look_like_names(fields: &[Option<f64>]) -> bool {
    // The first may be nameless, above row numbers.
    let nameless = fields.len() > 2 && fields[0].is_some_and(f64::is_nan);
    let fields = &fields[usize::from(nameless)..];
    let numbers: Vec<f64> = fields.iter().flatten().copied().collect();
    let counts = numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
    let begins = numbers.first().is_some_and(|first| [0.0, 1.0].contains(first));
    let counts = counts && begins && (numbers.len() > 2 || nameless);
    let year = |number: &f64| number.fract() == 0.0 && (1800.0..2200.0).contains(number);
    let rises = numbers.windows(2).all(|pair| pair[1] > pair[0]);
    numbers.len() == fields.len() && numbers.len() > 1 && (counts || (rises && numbers.iter().all(year)))
}

/// Text with a limit on its lines, whose comments are counted.
type Plain<R> = Limited<Comments<Plainer<R>>>;

/// Non-blank records and the lines on which they begin.
struct Records<'a, R> {
    reader: csv::Reader<io::Chain<Plain<R>, &'static [u8]>>,
    record: ByteRecord,
    line: u64,
    origin: Origin<'a>,
    /// Bytes read since the record began, and to the end of a buffer.
    count: Rc<Cell<u64>>,
}

impl<'a, R: Read> Records<'a, R> {
    fn new(input: R, delimiter: u8, origin: Origin<'a>, comments: Rc<Cell<u64>>) -> Self {
        let count = Rc::new(Cell::new(0));
        let limit = Passed("line", origin.options.limits.line.saturating_add(2 * BUFFER as u64));
        let input = Comments::new(Plainer::new(input, false, delimiter == b' '), comments);
        let input = Limited { inner: input, count: count.clone(), limit };
        // Terminating records at '\n' alone, and every file with one, makes the parser's line count exact: by
        // default it ends a line between '\r' and '\n'. The '\r' left in the last field is trimmed with the
        // white space.
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .comment(Some(b'#'))
            .terminator(Terminator::Any(b'\n'))
            .buffer_capacity(BUFFER)
            .from_reader(input.chain(b"\n".as_slice()));
        Self { reader, record: ByteRecord::new(), line: 0, origin, count }
    }

    /// Advance to the next non-blank record; return `false` at the end.
    fn advance(&mut self) -> Result<bool, TableError> {
        loop {
            self.count.set(0);
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

    /// Return the columns, named if the first record is a header.
    fn columns(
        &self,
        first: &ByteRecord,
        line: u64,
        second: Option<&ByteRecord>,
        header: Option<bool>,
        markers: &Markers,
    ) -> Result<Columns, TableError> {
        // A last column without a name has values; after a trailing delimiter there are none.
        let are_words = first.iter().take(fields(first)).all(|field| number(field, markers).is_none());
        let is_whole = |second: &ByteRecord| second.len() == first.len() && fields(second) == second.len();
        let count = if are_words && second.is_some_and(is_whole) { first.len() } else { fields(first) };
        if count as u64 > self.origin.options.limits.columns {
            let limit = self.origin.options.limits.columns;
            return Err(TableProblem::Limit { name: "columns", limit }.at_line(line));
        }
        let mut names = Vec::with_capacity(count);
        for field in first.iter().take(count) {
            let name = std::str::from_utf8(field.trim_ascii());
            names.push(name.map_err(|_| TableProblem::NotUtf8.at_line(line))?);
        }
        let kind = |field: &[u8]| number(field, markers);
        let own: Vec<Option<f64>> = names.iter().map(|name| kind(name.as_bytes())).collect();
        let below: Vec<Option<f64>> = second.into_iter().flat_map(|record| record.iter().map(kind)).collect();
        let named = match header {
            Some(named) => named,
            None if own.iter().all(Option::is_some) => {
                let below = &below[..below.len().min(count)];
                if second.is_some()
                    && look_like_names(&own)
                    && !(look_like_names(below) || counts_on(&own, below))
                {
                    return Err(TableProblem::Header.at_line(line));
                }
                false
            }
            None if own.len() <= below.len() && own.iter().any(Option::is_some) => {
                let mut pairs = own.iter().zip(&below);
                let is_index = self.origin.options.as_it_is && is_above_row_numbers(&names, &own, &below);
                if !is_index && pairs.all(|(own, below)| own.is_some() == below.is_some()) {
                    return Err(TableProblem::Header.at_line(line));
                }
                true
            }
            None => true,
        };
        let open = |name: String| Column { name, kind: Kind::Open, line };
        if !named {
            let list = (0..count).map(|i| open(format!("x{i}"))).collect();
            return Ok(Columns { list, ..Columns::unnamed(0) });
        }
        // Row names have no name in R.
        let short = second.is_some_and(|second| {
            let start = second.get(0).unwrap_or_default();
            fields(second) == count + 1
                && second.len() == count + 1
                && (kind(start).is_none() || start == b"1")
        });
        let all: Vec<&str> = short.then_some("").into_iter().chain(names).collect();
        let (names, unnamed_first) = named_all(&all);
        let list = names.into_iter().map(open).collect();
        Ok(Columns { list, named, unnamed_first })
    }

    fn put(&self, record: &ByteRecord, line: u64, rows: &mut Rows<'_>) -> Result<(), TableError> {
        let expected = rows.fields();
        let found = record.len();
        if found != expected && !(found == expected + 1 && fields(record) == expected) {
            return Err(TableProblem::RaggedRow { expected, found }.at_line(line));
        }
        rows.begin()?;
        for (column, field) in record.iter().take(expected).enumerate() {
            rows.put(column, field, line)?;
        }
        Ok(())
    }

    fn failed(&self, error: csv::Error) -> TableError {
        let line = self.line + 1;
        let problem = self.origin.failed(match error.into_kind() {
            ErrorKind::Io(source) => source,
            // Records are bytes with any number of fields, so reading cannot fail in any other way.
            kind => io::Error::other(format!("{kind:?}")),
        });
        match problem {
            TableProblem::Limit { name: "line", .. } => {
                line_limit(self.origin.options.limits.line).at_line(line)
            }
            problem => problem.into(),
        }
    }
}

/// Whether a row of numbers that count up is followed by the next.
fn counts_on(own: &[Option<f64>], below: &[Option<f64>]) -> bool {
    let step = |(own, below): (&Option<f64>, &Option<f64>)| Some(below.as_ref()? - own.as_ref()?);
    let steps: Vec<Option<f64>> = own.iter().zip(below).map(step).collect();
    steps.len() == own.len() && steps.windows(2).all(|pair| pair[0] == pair[1])
}

/// Whether a first row is one of words after an empty field, above a whole number: the names of columns
/// beside row numbers, as R and pandas write them.
fn is_above_row_numbers(names: &[&str], own: &[Option<f64>], below: &[Option<f64>]) -> bool {
    let whole = below.first().copied().flatten().is_some_and(|number| number.fract() == 0.0);
    names.len() > 2 && names[0].is_empty() && whole && own.iter().skip(1).all(Option::is_none)
}

/// Whether the first row is a header, where a model tells: it has the names of all its columns, or the model
/// has none.
fn known_header(first: &ByteRecord, want: Want<'_>) -> Option<bool> {
    let Want::Apply { recipe, .. } = want else { return None };
    if !recipe.as_it_is {
        return None;
    }
    let fields: HashSet<&[u8]> = first.iter().map(<[u8]>::trim_ascii).collect();
    let has_all = recipe.columns.iter().all(|column| fields.contains(column.name.as_bytes()));
    (recipe.named && has_all).then_some(true)
}

/// Return the number of fields, without an empty one after a trailing delimiter.
fn fields(record: &ByteRecord) -> usize {
    let count = record.len();
    let last = count.checked_sub(1).and_then(|i| record.get(i));
    if count > 1 && last.is_some_and(|field| field.trim_ascii().is_empty()) { count - 1 } else { count }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{message, reading, table};
    use crate::data::table::options::Options;
    use crate::data::table::target::Target;

    fn rows(name: &str, text: &str) -> (Vec<String>, usize, Vec<f64>) {
        let table = table(name, text, "none").expect(text);
        (table.feature_names, table.dim, table.features)
    }

    fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
        names.map(str::to_owned).into()
    }

    #[test]
    fn a_gap_above_words_does_not_count() {
        let refused = table("a.csv", ",0,1\n,a,b\n", "none").map(|table| table.features);
        assert!(refused.is_err(), "{refused:?}");
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
    fn an_empty_field_above_row_numbers_begins_a_header() {
        let text = ",kind,size,y\n1,a,b,u\n2,c,d,v\n3,a,d,u\n";
        let options = Options { as_it_is: true, target: Target::None, ..Options::default() };
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("a file");
        let names = options.read(file.path()).expect("a table").table.feature_names;
        assert_eq!(names[..2], ["kind=a", "kind=c"]);
        let strict = Options { as_it_is: false, ..options };
        assert!(
            strict.read(file.path()).expect_err("in doubt").to_string().contains("the first row may hold")
        );
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
    fn comments_between_rows_are_counted() {
        let count = |text: &str| reading("a.csv", text, &Options::default()).expect(text).remarks.comments;
        assert_eq!(count("# by hand\n#a,b\n1,2\n3,4\n"), 0);
        assert_eq!(count("# by hand\na,b\n1,2\n#3,4\n#5,6\n7,8\n"), 2);
        assert_eq!(count("a b c\n  # x y\n 1 2 3\n#\n4 5 6"), 2);
        assert_eq!(count("a,b\n# units\n1,2\n"), 1);
        let rows: String = (0..60_000).map(|i| format!("{i},1\n#{i}\n")).collect();
        assert_eq!(count(&format!("a,b\n{rows}")), 60_000);
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
        assert!(wrong.contains("is one of numbers"), "{wrong}");
        let wrong = message("a.csv", format!("a,b\n1,{}\n", "z".repeat(500)), "last");
        assert!(wrong.contains(&format!("\"{}...\" is not", "z".repeat(40))), "{wrong}");
        for mark in ["", "?", "NA", " "] {
            let wrong = message("a.csv", format!("a,b\n1,2\n{mark},4\n"), "last");
            let expected =
                format!("a.csv, line 3, column 1 (\"a\"): the value is missing ({:?})", mark.trim());
            assert!(wrong.starts_with(&expected), "{wrong}");
        }
        for value in ["inf", "-Infinity", "1e999"] {
            let wrong = message("a.csv", format!("a;b\n1;{value}\n"), "last");
            assert!(
                wrong.starts_with(&format!("a.csv, line 2, column 2 (\"b\"): {value:?} is not a finite")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn texts_that_are_neither_utf_8_nor_windows_1252_are_rejected_with_their_line() {
        assert!(
            message("a.csv", b"a,b\n1,2\n3,\x81\xE9\n", "last")
                .starts_with("a.csv, line 3: the text is not UTF-8")
        );
        assert!(
            message("a.csv", b"temp\xC3\xA9rature \xE9,b\n1,2\n", "last")
                .starts_with("a.csv, line 1: the text is not UTF-8")
        );
        // A later part of a long text.
        let long =
            [b"a,k,y\n1,\xE9,2\n".as_slice(), &b"3,x,4\n".repeat(60_000), "5,é,6\n".as_bytes()].concat();
        let text = message("a.csv", long, "last");
        assert!(text.contains("cannot be windows-1252, the encoding of the text before it"), "{text}");
        let table = table("a.csv", b"temp\xE9rature,b\n1,2\n", "last").expect("Latin-1");
        assert_eq!(table.feature_names, ["temp\u{e9}rature"]);
    }
}
