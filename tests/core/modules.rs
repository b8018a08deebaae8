//! The modules of the core import only from modules before them, in the order that `lib.rs` states.

use std::fs;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src")
}

/// Return the modules of the numbered list in the documentation of `lib.rs`.
fn stated_order() -> Vec<String> {
    let text = fs::read_to_string(source().join("lib.rs")).unwrap();
    let list = text
        .lines()
        .filter_map(|line| line.strip_prefix("//! "))
        .filter(|line| line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok()));
    let names = list.flat_map(|line| line.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

/// Return all files of the core but `lib.rs`, each with its module.
fn files(folder: &Path, module: Option<&str>) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = module.unwrap_or(&name);
        if path.is_dir() {
            found.extend(files(&path, Some(module)));
        } else if name != "lib" {
            found.push((path.clone(), module.to_owned()));
        }
    }
    found
}

#[test]
fn modules_import_only_from_those_before_them() {
    let order = stated_order();
    let place = |module: &str| order.iter().position(|other| other == module);
    let files = files(&source(), None);
    assert!(order.len() > 20 && files.len() > 30, "{} modules, {} files", order.len(), files.len());
    for (path, module) in files {
        let own = place(&module).unwrap_or_else(|| panic!("lib.rs does not list {module}"));
        for line in fs::read_to_string(&path).unwrap().lines() {
            let code = line.split("//").next().unwrap_or_default();
            // The paths of a macro are those of its caller.
            for imported in code.replace("$crate::", "").split("crate::").skip(1) {
                let end = imported.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(imported.len());
                let name = &imported[..end];
                let before = place(name).is_some_and(|at| at <= own);
                assert!(before, "{}: `{name}` is not a module before `{module}`", path.display());
            }
        }
    }
}
