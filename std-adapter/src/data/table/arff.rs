//! Weka's attribute-relation file format.
//!
//! Fields are separated by commas, or by white space in a line without commas; values and names may be quoted
//! with `'` or `"` and escaped with a backslash. A trailing comma is ignored. Not supported: sparse rows, and
//! string and date attributes.

use crate::data::table::columns::{Column, Columns, Kind, Want};
use crate::data::table::input::{Input, Origin, line_limit};
use crate::data::table::markers::{Markers, UNKNOWN};
use crate::data::table::rows::Rows;
use crate::error::table::{TableError, TableProblem};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{BufRead, Read};

/// Whether a text begins as an ARFF file does.
pub(crate) fn begins(text: &[u8]) -> bool {
    const KEYWORD: &[u8] = b"@relation";
    let text = text.trim_ascii_start();
    text.starts_with(b"%")
        || text.get(..KEYWORD.len()).is_some_and(|start| start.eq_ignore_ascii_case(KEYWORD))
}

pub(crate) fn read<'a>(input: Input<'_>, origin: Origin<'a>, want: Want<'_>) -> Result<Rows<'a>, TableError> {
    let mut lines = Lines { input, origin, text: Vec::new(), count: 0, number: 0 };
    let columns = declarations(&mut lines)?;
    let markers = Markers::of(want, origin.options).with(UNKNOWN);
    let mut rows = Rows::new(origin, columns.plan(want, origin.options)?, markers);
    while let Some((text, line)) = lines.next()? {
        if text.starts_with('{') {
            return Err(TableProblem::SparseArff.at_line(line));
        }
        put(text, line, &mut rows)?;
    }
    Ok(rows)
}

fn put(text: &str, line: u64, rows: &mut Rows<'_>) -> Result<(), TableError> {
    let expected = rows.fields();
    let mut found = 0;
    let mut last_is_empty = false;
    rows.begin()?;
    for field in fields(text) {
        let field = field.map_err(|problem| malformed(line, problem))?;
        if found < expected {
            rows.put(found, field.as_bytes(), line)?;
        }
        last_is_empty = field.is_empty();
        found += 1;
    }
    if found == expected || (found == expected + 1 && last_is_empty) {
        return Ok(());
    }
    Err(TableProblem::RaggedRow { expected, found }.at_line(line))
}

fn malformed(line: u64, problem: &'static str) -> TableError {
    TableProblem::Malformed { format: "ARFF", problem }.at_line(line)
}

fn declarations(lines: &mut Lines<'_, '_>) -> Result<Columns, TableError> {
    let mut list = Vec::new();
    while let Some((text, line)) = lines.next()? {
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if keyword.eq_ignore_ascii_case("@data") {
            if list.is_empty() {
                let problem = "@data before any @attribute; declare the columns first";
                return Err(malformed(line, problem));
            }
            return Ok(Columns::named(list));
        } else if keyword.eq_ignore_ascii_case("@attribute") {
            let column = attribute(rest.trim_start(), line);
            list.push(column.map_err(|problem| malformed(line, problem))?);
        } else if !keyword.eq_ignore_ascii_case("@relation") {
            let problem = "expected @relation, @attribute or @data; begin comments with %";
            return Err(malformed(line, problem));
        }
    }
    match lines.number {
        0 => Err(TableProblem::Empty.into()),
        line => Err(malformed(line, "the file ends before @data; add it and the rows")),
    }
}

/// Parse `name type`, where the type may be `{value, ...}`.
fn attribute(text: &str, line: u64) -> Result<Column, &'static str> {
    let (name, kind) = match text.chars().next() {
        Some(quote @ ('\'' | '"')) => quoted(text, quote)?,
        _ => {
            let end = text.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(text.len());
            (Cow::Borrowed(&text[..end]), &text[end..])
        }
    };
    let kind = kind.trim_start();
    if name.trim().is_empty() {
        return Err("an attribute without a name; write @attribute name type");
    }
    let name = name.trim().to_owned();
    if let Some(rest) = kind.strip_prefix('{') {
        return Ok(Column { name, kind: Kind::Nominal(values(rest)?), line });
    }
    let word = kind.split(|c: char| c.is_whitespace() || c == '[' || c == '%').next().unwrap_or_default();
    let kind = match word.to_ascii_lowercase().as_str() {
        "" => return Err("an attribute without a type; write @attribute name real"),
        "real" | "numeric" | "integer" => Kind::Number,
        _ => Kind::Other(word.to_owned()),
    };
    Ok(Column { name, kind, line })
}

/// Parse the values of `value, ...}`.
fn values(text: &str) -> Result<Vec<String>, &'static str> {
    let (inside, _) =
        text.rsplit_once('}').ok_or("a list of values without its closing brace; write {a, b}")?;
    let mut values =
        fields(inside.trim()).map(|value| Ok(value?.into_owned())).collect::<Result<Vec<_>, _>>()?;
    values.pop_if(|last| last.is_empty());
    if values.is_empty() || values.iter().any(String::is_empty) {
        return Err("an empty value in a list of values; write {a, b}");
    }
    let mut seen = HashSet::new();
    if !values.iter().all(|value| seen.insert(value)) {
        return Err("a value is declared twice; remove one");
    }
    Ok(values)
}

/// Return the text within the quotes that `text` begins with, and the rest.
fn quoted(text: &str, quote: char) -> Result<(Cow<'_, str>, &str), &'static str> {
    let body = &text[quote.len_utf8()..];
    let mut unescaped: Option<String> = None;
    let mut escape = false;
    for (i, c) in body.char_indices() {
        if escape {
            escape = false;
        } else if c == quote {
            let within = unescaped.map_or(Cow::Borrowed(&body[..i]), Cow::Owned);
            return Ok((within, &body[i + quote.len_utf8()..]));
        } else if c == '\\' {
            escape = true;
            unescaped.get_or_insert_with(|| body[..i].to_owned());
            continue;
        }
        if let Some(text) = &mut unescaped {
            text.push(c);
        }
    }
    Err("a quote is not closed; add the closing quote")
}

/// Split one trimmed line into its fields; an error is the last item.
fn fields(text: &str) -> impl Iterator<Item = Result<Cow<'_, str>, &'static str>> {
    let commas = text.contains(',');
    let is_separator = move |c: char| if commas { c == ',' } else { c.is_whitespace() };
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?.trim_start();
        let split = match text.chars().next() {
            Some(quote @ ('\'' | '"')) => quoted(text, quote),
            _ => {
                let end = text.find(is_separator).unwrap_or(text.len());
                Ok((Cow::Borrowed(text[..end].trim_end()), &text[end..]))
            }
        };
        Some(split.and_then(|(field, after)| {
            let after = if commas { after.trim_start() } else { after };
            rest = match after.chars().next() {
                None => None,
                Some(c) if is_separator(c) => Some(&after[c.len_utf8()..]),
                Some(_) => return Err("text after a closing quote; put a comma there"),
            };
            Ok(field)
        }))
    })
}

/// Trimmed lines without comments; blank ones are skipped.
struct Lines<'i, 'a> {
    input: Input<'i>,
    origin: Origin<'a>,
    text: Vec<u8>,
    /// Lines read.
    count: u64,
    /// The last line returned, 0 before the first.
    number: u64,
}

impl Lines<'_, '_> {
    fn next(&mut self) -> Result<Option<(&str, u64)>, TableError> {
        loop {
            self.text.clear();
            let limit = self.origin.options.limits.line;
            let mut input = self.input.by_ref().take(limit + 1);
            if input.read_until(b'\n', &mut self.text).map_err(|e| self.origin.failed(e))? == 0 {
                return Ok(None);
            }
            self.count += 1;
            if self.text.len() as u64 > limit {
                return Err(line_limit(limit).at_line(self.count));
            }
            // Drop comments before decoding: many are in Latin-1.
            if !matches!(self.text.trim_ascii_start().first(), None | Some(b'%')) {
                break;
            }
        }
        self.number = self.count;
        match std::str::from_utf8(self.text.trim_ascii()) {
            Ok(text) => Ok(Some((text, self.number))),
            Err(_) => Err(TableProblem::NotUtf8.at_line(self.number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{message, table};

    #[test]
    fn names_types_and_rows_in_all_their_spellings() {
        let text = "% Latin-1 \n\n@RELATION 'a b'\n@Attribute 'the \\'first\\'' NUMERIC\n\
            @attribute\t\"second one\"\treal [0, 1]\n@ATTRIBUTE kind{ 'a, b' , \"c\",d, } % three\n\
            @attribute last Integer\n@DATA\n% rows\n1, 2 ,'a, b',\t3\r\n\n4,5,c,6,\n7\t8  d 9  \n";
        let mut bytes = text.as_bytes().to_vec();
        bytes[10] = 0xE9;
        let table = table("a.arff", bytes, "last").expect("valid");
        assert_eq!(table.feature_names, ["the 'first'", "second one", "kind=a, b", "kind=c", "kind=d"]);
        assert_eq!(table.row(0), [1.0, 2.0, 1.0, 0.0, 0.0]);
        assert_eq!(table.row(1), [4.0, 5.0, 0.0, 1.0, 0.0]);
        assert_eq!(table.row(2), [7.0, 8.0, 0.0, 0.0, 1.0]);
        assert_eq!(table.target, Some(vec![3.0, 6.0, 9.0]));
    }

    fn wrong(declarations: &str, rows: &str) -> String {
        message("a.arff", format!("@relation r\n{declarations}\n@data\n{rows}"), "last")
    }

    const TWO: &str = "@attribute a {M,F}\n@attribute b real";

    #[test]
    fn wrong_rows_are_located() {
        let cases = [
            ("M,1\nF,x\n", "a.arff, line 6, column 2 (\"b\"): \"x\" is not a number"),
            ("M,1\n\n% no\nG,2\n", "a.arff, line 8, column 1 (\"a\"): the value \"G\" is not declared"),
            ("?,1\n", "a.arff, line 5, column 1 (\"a\"): the value is missing (\"?\")"),
            ("M,?\n", "a.arff, line 5, column 2 (\"b\"): the value is missing (\"?\")"),
            ("M,nan\n", "a.arff, line 5, column 2 (\"b\"): the value is missing (\"nan\")"),
            ("M\n", "a.arff, line 5: expected 2 fields, found 1"),
            ("M,1,2\n", "a.arff, line 5: expected 2 fields, found 3"),
            ("M,1,,\n", "a.arff, line 5: expected 2 fields, found 4"),
            ("M,1\n{0 M, 1 3}\n", "a.arff, line 6: sparse ARFF rows ({index value, ...}) are not supported"),
            ("'M,1\n", "a.arff, line 5: malformed ARFF: a quote is not closed"),
            ("'M'x,1\n", "a.arff, line 5: malformed ARFF: text after a closing quote"),
        ];
        for (rows, expected) in cases {
            let text = wrong(TWO, rows);
            assert!(text.starts_with(expected), "{text}");
        }
        let latin = [b"@attribute a real\n@attribute b real\n@data\n1,2\n3,\x81\xE9\n".as_slice()].concat();
        assert!(message("a.arff", latin, "last").starts_with("a.arff, line 5: the text is not UTF-8"));
    }

    #[test]
    fn wrong_declarations_are_located() {
        let cases = [
            (
                "@attribute a string\n@attribute b real",
                "a.arff, line 2: attribute \"a\" has type \"string\"; only",
            ),
            (
                "@attribute b real\n@attribute a DATE 'yyyy'",
                "a.arff, line 3: attribute \"a\" has type \"DATE\"; only",
            ),
            ("@attribute b real\n@attribute a {M,F}", "a.arff, line 3: the target \"a\" is nominal"),
            ("@attribute a", "a.arff, line 2: malformed ARFF: an attribute without a type"),
            ("@attribute", "a.arff, line 2: malformed ARFF: an attribute without a name"),
            ("@attribute 'a real", "a.arff, line 2: malformed ARFF: a quote is not closed"),
            (
                "@attribute a {M,F",
                "a.arff, line 2: malformed ARFF: a list of values without its closing brace",
            ),
            ("@attribute a {}", "a.arff, line 2: malformed ARFF: an empty value"),
            ("@attribute a {M,,F}", "a.arff, line 2: malformed ARFF: an empty value"),
            ("@attribute a {M,M}", "a.arff, line 2: malformed ARFF: a value is declared twice"),
            ("nonsense", "a.arff, line 2: malformed ARFF: expected @relation"),
            ("", "a.arff, line 3: malformed ARFF: @data before any @attribute"),
            ("@attribute a real\n@attribute a real", "a.arff: columns 1 and 2 are both called \"a\""),
            ("@attribute a {M}\n@attribute a=M real", "a.arff: columns 1 and 2 are both called \"a=M\""),
        ];
        for (declarations, expected) in cases {
            let text = wrong(declarations, "");
            assert!(text.starts_with(expected), "{text}");
        }
        let text = message("a.arff", "@relation r\n@attribute a real\n\n", "last");
        assert!(text.starts_with("a.arff, line 2: malformed ARFF: the file ends before @data"), "{text}");
    }
}
