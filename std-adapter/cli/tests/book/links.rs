//! Links between the repository's pages.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{docs, pages};

/// Return a page's lines without its fenced blocks.
fn prose(page: &str) -> String {
    let mut open = false;
    page.lines()
        .filter(|line| {
            let fence = line.starts_with("```");
            open ^= fence;
            !open && !fence
        })
        .fold(String::new(), |text, line| text + line + "\n")
}

/// Return the anchors of a page, as GitHub and mdBook name headings.
fn anchors(page: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    for heading in prose(page).lines().filter_map(|line| line.strip_prefix('#')) {
        let name: String = heading
            .trim_start_matches('#')
            .trim()
            .to_lowercase()
            .chars()
            .filter_map(|letter| match letter {
                ' ' => Some('-'),
                '-' | '_' => Some(letter),
                _ => letter.is_alphanumeric().then_some(letter),
            })
            .collect();
        found.insert(name);
    }
    found
}

/// Return the targets of a page's links, without those to other sites.
fn links(page: &str) -> Vec<String> {
    let text = prose(page);
    let mut found = Vec::new();
    for rest in text.split("](").skip(1) {
        let target = rest.split(')').next().unwrap_or_default().split_whitespace().collect::<String>();
        if !target.contains("://") && !target.starts_with("mailto:") {
            found.push(target);
        }
    }
    found
}

#[test]
fn links_lead_somewhere() {
    let root = docs().join("../..").canonicalize().unwrap();
    let mut all: Vec<PathBuf> = vec![root.join("README.md"), root.join(".github/CONTRIBUTING.md")];
    for folder in [
        "core",
        "std-adapter/docs",
        "std-adapter/python",
        "std-adapter/cluster/docs",
        "examples",
        "tests/peers",
    ] {
        all.extend(pages(&root.join(folder)));
    }
    let (mut number, mut dead) = (0, Vec::new());
    for page in all {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            number += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let known = |target: &Path| {
                anchor.is_empty()
                    || fs::read_to_string(target).is_ok_and(|text| anchors(&text).contains(anchor))
            };
            if !target.exists() || !known(&target) {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(number > 0, "no link was found");
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn the_summary_has_every_page() {
    let folder = docs().canonicalize().unwrap();
    let summary = folder.join("SUMMARY.md");
    let listed: HashSet<PathBuf> = links(&fs::read_to_string(&summary).unwrap())
        .iter()
        .map(|link| folder.join(link.split('#').next().unwrap_or_default()))
        .collect();
    let missing: Vec<_> =
        pages(&folder).into_iter().filter(|page| *page != summary && !listed.contains(page)).collect();
    assert!(missing.is_empty(), "pages that SUMMARY.md does not list: {missing:?}");
}
