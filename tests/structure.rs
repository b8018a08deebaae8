//! The structure of the adapter and of the command line: no circle of files, imports along the order of
//! folders that `lib.rs` states, nothing imported through the crate's root, few files and few names at the
//! root.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files directly in the library's folder.
const FILES: usize = 8;

/// Names at the library's root, modules among them.
const NAMES: usize = 29;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// The files of a crate by their module paths, with their code: no comments, no tests.
fn modules(source: &Path) -> BTreeMap<Vec<String>, String> {
    fn collect(folder: &Path, module: &[String], found: &mut BTreeMap<Vec<String>, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let inner: Vec<String> = module.iter().cloned().chain([name.clone()]).collect();
            if path.is_dir() {
                collect(&path, &inner, found);
            } else if name != "tests" {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let is_face = ["lib", "main", "mod"].contains(&name.as_str());
                let code = lines.map(|line| format!("{line}\n")).collect();
                found.insert(if is_face { module.to_vec() } else { inner }, code);
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(source, &[], &mut found);
    found
}

/// The paths that a use tree names.
fn paths(tree: &str, prefix: &[String], found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    match tree.split_once('{') {
        Some((head, rest)) if !head.contains(',') => {
            let own = head.trim_end_matches("::").split("::").filter(|part| !part.is_empty());
            let own: Vec<String> =
                prefix.iter().cloned().chain(own.map(|part| part.trim().to_owned())).collect();
            let inner = &rest[..rest.rfind('}').unwrap()];
            let (mut depth, mut start) = (0, 0);
            for (at, letter) in inner.char_indices() {
                match letter {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        paths(&inner[start..at], &own, found);
                        start = at + 1;
                    }
                    _ => {}
                }
            }
            paths(&inner[start..], &own, found);
        }
        _ if tree.is_empty() => {}
        _ => {
            let name = tree.split(" as ").next().unwrap();
            let parts = name.split("::").filter(|part| *part != "self").map(|part| part.trim().to_owned());
            found.push(prefix.iter().cloned().chain(parts).collect());
        }
    }
}

/// The modules that each module imports from; panics at an import through the root.
fn imports(modules: &BTreeMap<Vec<String>, String>) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let known: BTreeSet<&Vec<String>> = modules.keys().collect();
    let imports_of = |module: &Vec<String>, code: &str| {
        let mut found = Vec::new();
        for statement in code.split(';') {
            let Some((_, tree)) = statement.rsplit_once("\nuse ").or(statement.split_once("use ")) else {
                continue;
            };
            if let Some(tree) = tree.strip_prefix("crate::") {
                paths(tree, &[], &mut found);
            } else if let Some(tree) = tree.strip_prefix("super::") {
                paths(tree, &module[..module.len().saturating_sub(1)], &mut found);
            }
        }
        // Paths outside of imports.
        for (at, _) in code.match_indices("crate::").filter(|&(at, _)| !code[..at].ends_with('$')) {
            let rest = &code[at + "crate::".len()..];
            let end = rest.find(|letter: char| !letter.is_alphanumeric() && !"_:".contains(letter));
            let path = &rest[..end.unwrap_or(rest.len())];
            if !path.is_empty() && !path.ends_with("::") {
                paths(path, &[], &mut found);
            }
        }
        let target = |path: Vec<String>| {
            let longest =
                (1..=path.len()).rev().map(|len| path[..len].to_vec()).find(|path| known.contains(path));
            longest.unwrap_or_else(|| panic!("{module:?} imports {path:?} through the root"))
        };
        found.into_iter().map(target).filter(|other| other != module).collect()
    };
    modules.iter().map(|(module, code)| (module.clone(), imports_of(module, code))).collect()
}

/// The modules that import each other in a circle.
fn circles(imports: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>) -> Vec<Vec<String>> {
    let reached = |from: &Vec<String>| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            for next in imports.get(module).into_iter().flatten() {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    imports.keys().filter(|module| reached(module).contains(module)).cloned().collect()
}

/// The top-level modules in the order that the documentation of `lib.rs` states.
fn stated_order(lib: &Path) -> Vec<String> {
    let text = fs::read_to_string(lib).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("//! "));
    let list = lines
        .skip_while(|line| *line != "# Order of modules")
        .skip(1)
        .take_while(|line| !line.starts_with('#'));
    list.flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn no_files_of_the_adapter_or_the_program_import_each_other_in_a_circle() {
    for source in ["src", "cli/src", "cluster/src", "host/src", "lab/src", "mapped/src", "options/src"] {
        let source = &format!("std-adapter/{source}");
        let modules = modules(&folder(source));
        let found = circles(&imports(&modules));
        assert!(found.is_empty(), "{source}: {found:?}");
    }
}

#[test]
fn imports_run_along_the_stated_order_of_folders() {
    for (source, count) in [("std-adapter/src", 80), ("std-adapter/lab/src", 30)] {
        let source = folder(source);
        let (modules, order) = (modules(&source), stated_order(&source.join("lib.rs")));
        assert!(
            order.len() > 10 && modules.len() > count,
            "{} in order, {} modules",
            order.len(),
            modules.len()
        );
        let place = |module: &[String]| {
            let name = &module[0];
            order
                .iter()
                .position(|other| other == name)
                .unwrap_or_else(|| panic!("lib.rs does not list {name}"))
        };
        let mut upward = Vec::new();
        for (module, others) in imports(&modules).iter().filter(|(module, _)| !module.is_empty()) {
            for other in others.iter().filter(|other| !other.is_empty() && place(other) > place(module)) {
                upward.push(format!("{} -> {}", module.join("::"), other.join("::")));
            }
        }
        assert!(upward.is_empty(), "{}: {upward:#?}", upward.len());
    }
}

#[test]
fn the_root_is_small() {
    let source = folder("std-adapter/src");
    let files =
        fs::read_dir(&source).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_file()).count();
    assert!(files <= FILES, "{files} files in {}", source.display());
    let text = fs::read_to_string(source.join("lib.rs")).unwrap();
    let mut names = Vec::new();
    let lines = text.lines().filter(|line| !line.starts_with("//") && !line.starts_with('#'));
    let code: String = lines.map(|line| format!("{line}\n")).collect();
    for statement in code.split(';').map(str::trim).filter(|statement| statement.starts_with("pub ")) {
        match statement.strip_prefix("pub mod ") {
            Some(name) => names.push(vec![name.to_owned()]),
            None => paths(statement.trim_start_matches("pub use "), &[], &mut names),
        }
    }
    assert!(names.len() <= NAMES, "{}: {names:?}", names.len());
}

/// Lines of comments are read on a page beside others; rows of tables and addresses cannot be broken.
#[test]
fn comments_are_at_most_110_columns_wide() {
    fn check(folder: &Path, files: &mut usize) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                check(&path, files);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                *files += 1;
                let mut example = false;
                for (at, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
                    let comment = line.trim_start();
                    let text = comment.trim_start_matches(['/', '!', ' ']);
                    example ^= comment.starts_with("//") && text.starts_with("```");
                    let whole = example || text.starts_with(['|', '[']) || text.contains("://");
                    assert!(
                        !comment.starts_with("//") || whole || line.chars().count() <= 110,
                        "{}:{}: a comment of more than 110 columns; break the line",
                        path.display(),
                        at + 1
                    );
                }
            }
        }
    }
    let mut files = 0;
    for part in ["core", "std-adapter", "examples", "tests"] {
        check(&folder(part), &mut files);
    }
    assert!(files > 300, "{files} files");
}

/// Public types without an example of their own, and why.
const WITHOUT_EXAMPLE: [&str; 1] = [
    "BatchSource", // `FitSpec` has the accumulation, and the cluster's source implements it
];

/// Whether the documentation above line `at` has an example.
fn has_example(lines: &[&str], at: usize) -> bool {
    let above = lines[..at].iter().rev().map(|line| line.trim());
    let ends = |line: &str| line.is_empty() || line.ends_with(['{', '}', ';']);
    let mut item = above.take_while(|line| line.starts_with("///") || !ends(line));
    item.any(|line| line.starts_with("/// ```"))
}

#[test]
fn each_public_type_has_an_example() {
    fn find(folder: &Path, of_name: &mut BTreeMap<String, bool>) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                find(&path, of_name);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            for (at, line) in lines.iter().enumerate() {
                let words: Vec<&str> = line.split_whitespace().take(3).collect();
                if let ["pub", "struct" | "enum" | "trait" | "type", name] = words[..] {
                    let name = name.split(|letter: char| !letter.is_alphanumeric()).next().unwrap();
                    *of_name.entry(name.to_owned()).or_default() |= has_example(&lines, at);
                }
            }
        }
    }
    for (source, listing) in [("core", "dpp-nystrom-core"), ("std-adapter", "dpp-nystrom")] {
        let mut of_name = BTreeMap::new();
        find(&folder(source).join("src"), &mut of_name);
        let listing = fs::read_to_string(folder("tests/api").join(format!("{listing}.txt"))).unwrap();
        let mut without = Vec::new();
        for line in listing.lines() {
            let item = line.rsplit_once("] ").map_or(line, |(_, item)| item);
            let words: Vec<&str> = item.split_whitespace().take(3).collect();
            let ["pub", "struct" | "enum" | "trait" | "type", path] = words[..] else { continue };
            let path = path.split(['<', '(']).next().unwrap().trim_end_matches(':');
            let (module, name) = path.rsplit_once("::").unwrap();
            let of_trait = module.rsplit("::").next().unwrap().starts_with(char::is_uppercase);
            if !of_trait && !of_name.get(name).is_some_and(|&has| has) && !WITHOUT_EXAMPLE.contains(&name) {
                without.push(path.to_owned());
            }
        }
        assert!(of_name.len() > 60 && without.is_empty(), "{source}: no example on {without:#?}");
    }
}

/// A summary is not more favourable than the tables that it links.
#[test]
fn the_readme_has_the_mean_ranks_of_the_page_of_rivals() {
    let read = |path: &str| fs::read_to_string(folder(path)).unwrap();
    let (readme, page) = (read("README.md"), read("std-adapter/docs/rivals.md"));
    let ranks = |title: &str, who: &str| -> Vec<String> {
        let (_, section) = page.split_once(&format!("\n## {title}\n")).unwrap();
        let row = section.lines().find(|line| line.starts_with(&format!("| {who} |"))).unwrap();
        row.split('|').skip(2).take(3).map(|cell| cell.trim().to_owned()).collect()
    };
    let numbers = ["dpp-nystrom", "CatBoost"].map(|who| ranks("Regression", who));
    let classes = ["dpp-nystrom", "SVM"].map(|who| ranks("Classification", who));
    let [own, other] = &numbers;
    for rank in [&own[0], &other[0], &own[2], &other[2], &classes[0][0], &classes[1][0]] {
        assert!(readme.contains(rank.as_str()), "README.md lacks the mean rank {rank} of rivals.md");
    }
}
