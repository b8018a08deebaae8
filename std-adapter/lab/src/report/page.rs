//! The parts of a page: every text goes through the template's escaping.

use crate::text::number;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The look of the page, in light and dark, on a telephone and on paper.
const STYLE: &str = include_str!("page.css");

/// What a browser may load: nothing but the style within the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

pub(super) fn page(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (title) }
                    (body)
                }
                footer { p { "Written by dpp-nystrom " (env!("CARGO_PKG_VERSION")) "." } }
            }
        }
    }
}

pub(super) fn section(id: &str, title: &str, body: &Markup) -> Markup {
    html! { section aria-labelledby=(id) { h2 id=(id) { (title) } (body) } }
}

/// A table whose first column names its rows. It scrolls in a box of its own.
pub(super) fn table(caption: &str, header: &[&str], rows: &[Vec<String>]) -> Markup {
    barred(caption, header, rows, &[])
}

/// A table as [`table`] makes it, with a bar in the second column of each row that has a share, from 0 to 1.
pub(super) fn barred(caption: &str, header: &[&str], rows: &[Vec<String>], shares: &[f64]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { span { (caption) } }
                @if header.iter().any(|name| !name.is_empty()) {
                    thead { tr { @for name in header { th scope="col" { (breakable(name)) } } } }
                }
                tbody {
                    @for (place, row) in rows.iter().enumerate() {
                        tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @match (at, shares.get(place)) {
                                    (0, _) => th scope="row" { (breakable(cell)) },
                                    (1, Some(share)) => td.bar style=(format!("--share:{share:.3}")) { (cell) },
                                    _ => td { (cell) },
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A name that may break after the marks between its words, and within what is longer than any word.
pub(super) fn breakable(name: &str) -> Markup {
    const LONGEST: usize = 30;
    let (mut parts, mut run) = (vec![String::new()], 0);
    for c in name.chars() {
        let part = parts.len() - 1;
        parts[part].push(c);
        run = if c == ' ' { 0 } else { run + 1 };
        if "_-./=:,".contains(c) || run == LONGEST {
            parts.push(String::new());
            run = 0;
        }
    }
    html! { @for (at, part) in parts.iter().enumerate() { @if at > 0 { wbr; } (part) } }
}

/// A share in per cent.
pub(super) fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let digits = if value.abs() < 9.95 { 1 } else { 0 };
    // No -0.
    let value = if value.abs() < 0.05 { 0.0 } else { value };
    if value.abs() < 999.5 { format!("{value:.digits$} %") } else { format!("{} %", number(value.round())) }
}

/// The numbers to look at first.
pub(super) fn tiles(numbers: &[(&str, String)]) -> Markup {
    html! { dl.tiles { @for (name, value) in numbers { div { dt { (name) } dd { (value) } } } } }
}

/// A picture with its title and, in words, what it shows.
pub(super) fn figure(svg: &str, title: &str, label: &str, key: &Markup) -> Markup {
    let (head, inner) = svg.split_once('>').unwrap_or_default();
    let view = head.split_once("viewBox=\"").and_then(|(_, rest)| rest.split('"').next());
    let inner = inner.trim_end().strip_suffix("</svg>").unwrap_or_default();
    html! {
        figure {
            figcaption { h3 { (title) } p.key { (key) } }
            svg viewBox=(view.unwrap_or_default()) role="img" aria-label=(label) {
                title { (label) }
                (PreEscaped(inner))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{breakable, percent};

    #[test]
    fn shares_are_in_per_cent() {
        let shares =
            [(0.123, "12 %"), (0.0099, "1.0 %"), (12.33, "1,233 %"), (-0.0001, "0.0 %"), (-0.5, "-50 %")];
        for (value, text) in shares {
            assert_eq!(percent(value), text);
        }
    }

    #[test]
    fn names_break_between_words() {
        assert_eq!(breakable("a_bc=<d> e").into_string(), "a_<wbr>bc=<wbr>&lt;d&gt; e");
        assert_eq!(breakable(&"n".repeat(70)).into_string().matches("<wbr>").count(), 2);
    }
}
