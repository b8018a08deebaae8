//! One self-contained HTML page with all results.

use super::{Plan, Set};
use crate::chart::{Panel, draw};
use crate::error::Error;
use dpp_nystrom_host::atomic_file::write_whole;
use maud::{DOCTYPE, Markup, PreEscaped, html};
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
    let html = page(plan, sets, sections).into_string();
    Ok(write_whole(path, |file| file.write_all(html.as_bytes()))?)
}

fn page(plan: &Plan, sets: &[Set], sections: &[Section]) -> Markup {
    const TITLE: &str = "Landmarks for kernel methods: experiments";
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                link rel="icon" href="data:,";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (TITLE) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (TITLE) }
                ul { @for section in sections { li { a href={ "#" (section.name) } { (section.title) } } } }
                h2 { "Set-up" }
                table { @for (name, value) in set_up(plan) { tr { th { (name) } td { (value) } } } }
                h2 { "Data" }
                table {
                    tr { th { "data set" } th { "rows" } th { "features" } th { "target" } }
                    @for Set { table, .. } in sets {
                        tr {
                            td { (table.name) }
                            td { (table.rows()) }
                            td { (table.dim) }
                            td { (table.target_name.as_deref().unwrap_or("none")) }
                        }
                    }
                }
                @for section in sections { (results(section)) }
            }
        }
    }
}

fn set_up(plan: &Plan) -> [(&'static str, String); 9] {
    let list = |values: &[usize]| values.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let methods: Vec<&str> = plan.methods.iter().map(|method| method.name).collect();
    let kernel =
        "Gaussian, on standardised features; bandwidth σ the median distance, or by 10-fold cross-validation";
    [
        ("program", format!("dpp-nystrom {}", plan.version)),
        ("machine", machine()),
        ("kernel", kernel.to_owned()),
        (
            "rows",
            format!("up to {} per data set, {:.0} % of them held out", plan.rows, 100.0 * plan.held_out),
        ),
        ("landmarks", list(&plan.landmarks)),
        ("methods", methods.join(", ")),
        ("ridge", "10-fold cross-validated".to_owned()),
        ("seeds", format!("{} starting at {}; each draws its own rows", plan.seeds, plan.seed)),
        ("along the chain", format!("N = {}; c = {}", list(&plan.mixing_rows), list(&plan.mixing_landmarks))),
    ]
}

fn results(section: &Section) -> Markup {
    html! {
        h2 id=(section.name) { (section.title) }
        ul { @for sentence in &section.summary { li { (sentence) } } }
        @for table in &section.text { pre { (table) } }
        p {
            "Tables: "
            @for (at, table) in section.tables.iter().enumerate() {
                @if at > 0 { ", " }
                a href=(table) { (table) }
            }
        }
        @for Figure { file, caption } in &section.figures {
            figure { img src=(file) alt=(caption); figcaption { (caption) } }
        }
    }
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
