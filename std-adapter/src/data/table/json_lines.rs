//! JSON lines: an object in each line, whose keys are columns.
//!
//! Values are numbers, words, truth values or `null`, and are read as the same fields of a CSV. A key that a
//! row does not have is a gap. The columns are in the order in which their keys first appear. The fields of a
//! file are held in memory, without the keys.

use crate::data::table::columns::{Column, Columns, Kind, Want};
use crate::data::table::input::{Input, Origin, line_limit};
use crate::data::table::markers::Markers;
use crate::data::table::rows::Rows;
use crate::error::table::{TableError, TableProblem, cut};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt::{self, Formatter};
use std::io::{BufRead, Read};

/// Whether a text begins as an object does.
pub(crate) fn begins(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"{")
}

/// An object: its keys, and their values as written.
struct Object<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for Object<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'t> Visitor<'t> for Entries {
            type Value = Object<'t>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'t>>(self, mut map: M) -> Result<Object<'t>, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// The fields of a file: the column of each and where its text ends, and of each row the line and where its
/// fields end.
#[derive(Default)]
struct Fields {
    columns: Vec<Column>,
    places: HashMap<String, usize>,
    text: Vec<u8>,
    cells: Vec<(usize, usize)>,
    rows: Vec<(u64, usize)>,
}

pub(crate) fn read<'a>(
    mut input: Input<'_>,
    origin: Origin<'a>,
    want: Want<'_>,
) -> Result<Rows<'a>, TableError> {
    let mut fields = Fields::default();
    let limits = origin.options.limits;
    let (mut bytes, mut line) = (Vec::new(), 0);
    loop {
        bytes.clear();
        let read = input.by_ref().take(limits.line + 1).read_until(b'\n', &mut bytes);
        if read.map_err(|error| origin.failed(error))? == 0 {
            break;
        }
        line += 1;
        if bytes.len() as u64 > limits.line {
            return Err(line_limit(limits.line).at_line(line));
        }
        let text =
            std::str::from_utf8(bytes.trim_ascii()).map_err(|_| TableProblem::NotUtf8.at_line(line))?;
        if !text.is_empty() {
            fields.add(text, line, limits.columns).map_err(|problem| problem.at_line(line))?;
        }
    }
    fields.rows(origin, want)
}

impl Fields {
    fn add(&mut self, line_text: &str, line: u64, most: u64) -> Result<(), TableProblem> {
        let malformed = |problem| TableProblem::Malformed { format: "JSON lines", problem };
        let object = serde_json::from_str(line_text);
        let Object(entries) =
            object.map_err(|_| malformed("expected one object in a line, {\"key\": value, ...}"))?;
        let begin = self.cells.len();
        for (key, value) in entries {
            let next = self.columns.len();
            let column = *self.places.entry(key).or_insert_with_key(|key| {
                self.columns.push(Column { name: key.trim().to_owned(), kind: Kind::Open, line });
                next
            });
            if self.columns.len() as u64 > most {
                return Err(TableProblem::Limit { name: "columns", limit: most });
            }
            if self.cells[begin..].iter().any(|cell| cell.0 == column) {
                return Err(malformed("a key is twice in an object; remove one"));
            }
            match value.get() {
                "null" => {}
                nested if nested.starts_with(['{', '[']) => {
                    return Err(TableProblem::Nested(cut(&self.columns[column].name)));
                }
                quoted if quoted.starts_with('"') => {
                    let word = serde_json::from_str::<String>(quoted);
                    self.text.extend(word.map_err(|_| malformed("a string that is no text"))?.as_bytes());
                }
                plain => self.text.extend(plain.as_bytes()),
            }
            self.cells.push((column, self.text.len()));
        }
        self.rows.push((line, self.cells.len()));
        Ok(())
    }

    fn rows<'a>(self, origin: Origin<'a>, want: Want<'_>) -> Result<Rows<'a>, TableError> {
        if self.columns.is_empty() {
            return Err(TableProblem::Empty.into());
        }
        let width = self.columns.len();
        origin.check_sparse(self.rows.len(), width as u64, self.cells.len())?;
        let plan = Columns::named(self.columns).plan(want, origin.options)?;
        let mut rows = Rows::new(origin, plan, Markers::of(want, origin.options));
        let (mut cells, mut begin) = (self.cells.iter(), 0);
        let mut from = 0;
        for (line, end) in self.rows {
            let mut row: Vec<&[u8]> = vec![b""; width];
            for &(column, until) in cells.by_ref().take(end - from) {
                row[column] = &self.text[begin..until];
                begin = until;
            }
            from = end;
            rows.begin()?;
            for (column, field) in row.into_iter().enumerate() {
                rows.put(column, field, line)?;
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{message, table};

    #[test]
    fn objects_are_the_fields_of_a_csv() {
        let lines = "{\"a\": 1, \"k\": \"oak\", \"y\": 1.5e1}\n\n{\"y\": \"2\", \"k\": \"el\\u006d\", \"a\": true, \"b\": null}\n";
        let words = table("a.jsonl", lines.replace(", \"b\": null", ""), "y").expect(lines);
        let csv = table("a.csv", "a,k,y\n1,oak,15\ntrue,elm,2\n", "y").expect("a table");
        assert_eq!(words, csv);
        // Detected, and a key that all rows leave out or have as null is a column without a value.
        let found = message("rows", lines, "y");
        assert!(found.contains("\"b\"") && found.contains("missing"), "{found}");
    }

    #[test]
    fn what_is_no_row_of_fields_is_refused_with_its_line() {
        for (lines, expected) in [
            ("{\"a\":1}\n{\"a\":[1]}\n", "a.ndjson, line 2: the value of \"a\" is an object or a list"),
            ("{\"a\":1}\n{\"a\":{\"b\":1}}\n", "a.ndjson, line 2: the value of \"a\" is an object or a list"),
            ("{\"a\":1}\n\n{\"a\":1", "a.ndjson, line 3: malformed JSON lines: expected one object"),
            ("{\n\"a\":1\n}\n", "a.ndjson, line 1: malformed JSON lines: expected one object"),
            ("[{\"a\":1}]\n", "a.ndjson, line 1: malformed JSON lines: expected one object"),
            ("{\"a\":1} {\"a\":2}\n", "a.ndjson, line 1: malformed JSON lines: expected one object"),
            ("{\"a\":1,\"a\":2}\n", "a.ndjson, line 1: malformed JSON lines: a key is twice"),
            (
                "{\"a\":1,\"y\":\"\\ud800\"}\n",
                "a.ndjson, line 1: malformed JSON lines: a string that is no text",
            ),
            ("{\"a\":1,\"y\":1}\n{\"y\":2}\n", "a.ndjson, line 2, column 1 (\"a\"): the value is missing"),
            (
                "{\"a\":1,\"y\":1}\n{\"a\":\"x\",\"y\":2}\n",
                "a.ndjson, line 2, column 1 (\"a\"): \"x\" is not a number",
            ),
            ("{}\n", "a.ndjson: the file is empty"),
            ("\n", "a.ndjson: the file is empty"),
        ] {
            let found = message("a.ndjson", lines, "last");
            assert!(found.starts_with(expected), "{lines}: {found}");
        }
    }

    #[test]
    fn few_fields_of_many_columns_take_no_memory() {
        let keys: String = (0..90_000).map(|key| format!("{{\"k{key}\":1}}\n")).collect();
        let found = message("a.jsonl", &keys, "last");
        assert!(found.contains("pass the limit sparse"), "{found}");
        let keys: String = (0..100_001).map(|key| format!("{{\"k{key}\":1}}\n")).collect();
        let found = message("a.jsonl", keys, "last");
        assert!(found.starts_with("a.jsonl, line 100001: passes the limit columns = 100000"), "{found}");
    }
}
