//! One self-contained HTML page with all results.

use super::{Plan, Set};
use crate::chart::{Panel, draw};
use crate::error::Error;
use dpp_nystrom::atomic_file::write_whole;
use std::path::Path;

/// A chart and its caption.
struct Figure {
    file: String,
    caption: String,
}

/// The results of an experiment.
pub(super) struct Section {
    name: String,
    title: String,
    pub(super) summary: Vec<String>,
    /// Tables as plain text.
    pub(super) text: Vec<String>,
    pub(super) tables: Vec<String>,
    figures: Vec<Figure>,
}

impl Section {
    pub(super) fn new(name: &str, title: &str) -> Self {
        let (name, title) = (name.to_owned(), title.to_owned());
        Self { name, title, summary: Vec::new(), text: Vec::new(), tables: Vec::new(), figures: Vec::new() }
    }

    /// Draw panels under a title to a file in a folder, and add the chart to the section.
    pub(super) fn figure(
        &mut self,
        out: &Path,
        file: String,
        title: &str,
        panels: &[Panel],
        caption: String,
    ) -> Result<(), Error> {
        draw(&out.join(&file), title, panels)?;
        self.figures.push(Figure { file, caption });
        Ok(())
    }
}

const STYLE: &str = "body{font:16px/1.5 sans-serif;max-width:1460px;margin:2em auto;padding:0 1em;color:#222}\
h1,h2{line-height:1.2}figure{margin:1.5em 0}img{max-width:100%;height:auto;border:1px solid #ddd}\
figcaption{color:#555;max-width:60em}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em;\
text-align:left}li{max-width:70em}";

pub(super) fn write(path: &Path, plan: &Plan, sets: &[Set], sections: &[Section]) -> Result<(), Error> {
    let html = html(plan, sets, sections);
    Ok(write_whole(path, |file| file.write_all(html.as_bytes()))?)
}

fn html(plan: &Plan, sets: &[Set], sections: &[Section]) -> String {
    let mut html = String::new();
    let mut line = |text: String| {
        html.push_str(&text);
        html.push('\n');
    };
    line("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">".to_owned());
    line("<link rel=\"icon\" href=\"data:,\">".to_owned());
    line("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">".to_owned());
    line(format!(
        "<title>Landmarks for kernel methods: experiments</title>\n<style>{STYLE}</style>\n</head>\n<body>"
    ));
    line("<h1>Landmarks for kernel methods: experiments</h1>".to_owned());
    line("<ul>".to_owned());
    for section in sections {
        line(format!("<li><a href=\"#{}\">{}</a></li>", section.name, escaped(&section.title)));
    }
    line("</ul>\n<h2>Set-up</h2>\n<table>".to_owned());
    let list = |values: &[usize]| values.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let methods: Vec<&str> = plan.methods.iter().map(|method| method.name).collect();
    for (name, value) in [
        ("program", format!("dpp-nystrom {}", plan.version)),
        ("machine", machine()),
        ("kernel", "Gaussian, on standardised features; bandwidth σ the median distance, or by 10-fold cross-validation".to_owned()),
        ("rows", format!("up to {} per data set, {:.0} % of them held out", plan.rows, 100.0 * plan.held_out)),
        ("landmarks", list(&plan.landmarks)),
        ("methods", methods.join(", ")),
        ("ridge", "10-fold cross-validated".to_owned()),
        ("seeds", format!("{} starting at {}; each draws its own rows", plan.seeds, plan.seed)),
        ("along the chain", format!("N = {}; c = {}", list(&plan.mixing_rows), list(&plan.mixing_landmarks))),
    ] {
        line(format!("<tr><th>{name}</th><td>{}</td></tr>", escaped(&value)));
    }
    line("</table>\n<h2>Data</h2>\n<table>\n<tr><th>data set</th><th>rows</th><th>features</th><th>target</th></tr>".to_owned());
    for Set { table, .. } in sets {
        let target = table.target_name.as_deref().unwrap_or("none");
        line(format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&table.name),
            table.rows(),
            table.dim,
            escaped(target)
        ));
    }
    line("</table>".to_owned());
    for section in sections {
        line(format!("<h2 id=\"{}\">{}</h2>\n<ul>", section.name, escaped(&section.title)));
        for sentence in &section.summary {
            line(format!("<li>{}</li>", escaped(sentence)));
        }
        line("</ul>".to_owned());
        for table in &section.text {
            line(format!("<pre>{}</pre>", escaped(table)));
        }
        let links: Vec<String> =
            section.tables.iter().map(|table| format!("<a href=\"{0}\">{0}</a>", escaped(table))).collect();
        line(format!("<p>Tables: {}</p>", links.join(", ")));
        for Figure { file, caption } in &section.figures {
            let (file, caption) = (escaped(file), escaped(caption));
            line(format!(
                "<figure><img src=\"{file}\" alt=\"{caption}\"><figcaption>{caption}</figcaption></figure>"
            ));
        }
    }
    line("</body>\n</html>".to_owned());
    html
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Return the processor's name as the system reports it, and the number of threads.
fn machine() -> String {
    let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(':').map(|(_, name)| name.trim().to_owned())
    });
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{model}, {threads} threads, {}", std::env::consts::OS)
}
