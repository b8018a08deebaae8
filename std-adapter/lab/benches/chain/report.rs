//! Aligned tables on standard output, and the same as lines of JSON.

use serde_json::{Map, Value};

/// All measurements.
#[derive(Default)]
pub(crate) struct Report {
    lines: Vec<Value>,
}

/// One table; each row is printed as soon as it is measured, since the whole takes minutes.
pub(crate) struct Table<'r> {
    section: &'static str,
    heads: &'static [&'static str],
    report: &'r mut Report,
}

impl Report {
    pub(crate) fn table(
        &mut self,
        section: &'static str,
        title: &str,
        heads: &'static [&'static str],
    ) -> Table<'_> {
        println!("\n{section}: {title}\n");
        let line: Vec<String> =
            heads.iter().map(|head| format!("{head:>width$}", width = width(head))).collect();
        println!("{}", line.join("  "));
        Table { section, heads, report: self }
    }

    /// Return the measurements as JSON, one object per line.
    pub(crate) fn json(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

impl Table<'_> {
    /// Add a row, with one value per column.
    pub(crate) fn row(&mut self, values: &[Value]) {
        assert_eq!(values.len(), self.heads.len(), "one value per column");
        let mut object = Map::new();
        object.insert("section".into(), self.section.into());
        let mut line = Vec::new();
        for (&head, value) in self.heads.iter().zip(values) {
            line.push(format!("{:>width$}", shown(value), width = width(head)));
            object.insert(head.into(), value.clone());
        }
        println!("{}", line.join("  "));
        self.report.lines.push(Value::Object(object));
    }
}

fn width(head: &str) -> usize {
    head.chars().count().max(7)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() => match value.abs() {
                0.0 => "0".into(),
                1e6.. => format!("{value:.2e}"),
                100.0.. => format!("{value:.0}"),
                10.0.. => format!("{value:.1}"),
                0.1.. => format!("{value:.2}"),
                0.001.. => format!("{value:.4}"),
                _ => format!("{value:.1e}"),
            },
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}
