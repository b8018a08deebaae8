//! The parts of a page: every text goes through the template's escaping.

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
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { span { (caption) } }
                @if header.iter().any(|name| !name.is_empty()) {
                    thead { tr { @for name in header { th scope="col" { (name) } } } }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @if at == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
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
