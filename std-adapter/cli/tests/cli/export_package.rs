//! `dpp-nystrom export --package`: manifests by the published rules, and examples that print what `predict`
//! does, against small headers in place of the frameworks'.

use crate::command::{Folder, column};
use crate::sample::Sample;
use std::path::Path;
use std::process::Command;
use std::{fs, os::unix::fs::PermissionsExt};

const ARDUINO: &str = r#"#pragma once
#include <stdio.h>
struct Serial_ {
    void begin(unsigned long) {}
    void print(const char *text) { fputs(text, stdout); }
    void print(double value, int digits) { printf("%.*f", digits, value); }
    void println(double value, int digits) { printf("%.*f\n", digits, value); }
    void println(int value) { printf("%d\n", value); }
};
inline Serial_ Serial;
inline void delay(unsigned long) {}
"#;

/// How the example of a package is compiled: the source, the folder of the header, and a program around it.
const BUILDS: [(&str, &str, &str, &str); 4] = [
    (
        "arduino",
        "examples/predict/predict.ino",
        "src",
        "g++ -std=c++17|int main() { setup(); loop(); return 0; }",
    ),
    (
        "platformio",
        "examples/predict/src/main.cpp",
        "include",
        "g++ -std=c++17|int main() { setup(); loop(); return 0; }",
    ),
    ("zephyr", "samples/predict/src/main.c", "include", "gcc -std=c99|"),
    (
        "esp-idf",
        "examples/predict/main/main.c",
        "include",
        "gcc -std=c99|int main(void) { app_main(); return 0; }",
    ),
];

/// Rows whose names try to be more than names, and a model.
fn houses(columns: &str, options: &str) -> Folder {
    let csv = Sample::new(150, 3).csv();
    let (_, rows) = csv.split_once('\n').unwrap();
    let folder = Folder::with("a.csv", format!("{columns}\n{rows}"));
    folder.run(&format!("fit a.csv --landmarks 12 --metric one --model houses.dpp {options}")).good();
    folder
}

/// The files of a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match path.is_dir() {
            true => found.extend(files(&path).iter().map(|inner| format!("{name}/{inner}"))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

/// Compile the example of a package and return its output; none without a compiler.
fn run_example(folder: &Folder, package: &str) -> Option<String> {
    let (_, source, include, build) = BUILDS.iter().find(|(name, ..)| *name == package).unwrap();
    let (compiler, main) = build.split_once('|').unwrap();
    let mut words = compiler.split(' ');
    let program = words.next().unwrap();
    if Command::new(program).arg("--version").output().is_err() {
        println!("skipped: no compiler `{program}`");
        return None;
    }
    fs::create_dir_all(folder.path("stubs/zephyr/sys")).unwrap();
    folder.write("stubs/Arduino.h", ARDUINO);
    folder.write("stubs/zephyr/kernel.h", "");
    folder.write("stubs/zephyr/sys/printk.h", "#include <stdio.h>\n#define printk printf\n");
    let unit = if program == "g++" { "unit.cpp" } else { "unit.c" };
    folder.write(unit, format!("#include \"{package}/{source}\"\n{main}\n"));
    let include = format!("-I{package}/{include}");
    let strict = ["-Wall", "-Wextra", "-Werror", "-Istubs", &include, unit, "-o", "example", "-lm"];
    let output = folder.program(Path::new(program), &words.chain(strict).collect::<Vec<_>>()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
    let output = folder.program(&folder.path("example"), &[] as &[&str]).output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Check that each printed number is the one beside it, and return them.
fn printed(text: &str) -> Vec<f64> {
    let lines = text.lines().filter_map(|line| line.split_once(" expected "));
    let number = |text: &str| text.parse::<f64>().unwrap();
    lines
        .map(|(found, expected)| {
            assert_eq!(found, expected);
            number(found)
        })
        .collect()
}

#[test]
fn examples_print_what_predict_does() {
    let models = [
        houses("a,b\"*/,c{row},\"price of {lib}\\\"", "--kernel gaussian"),
        houses("a,b,{name},y", "--kernel matern32"),
    ];
    for (folder, numbers) in models.iter().zip(["i16", "f32"]) {
        let expected = column(&folder.run("predict houses.dpp a.csv").good().out).1[0];
        for (package, source, ..) in BUILDS {
            let told = folder
                .run(&format!(
                    "export houses.dpp --package {package} --out {package} --data a.csv --quantise {numbers} --json"
                ))
                .good()
                .json();
            assert_eq!((&told["library"], &told["version"]), (&"houses_model".into(), &"0.1.0".into()));
            assert!(folder.path(&format!("{package}/{source}")).is_file());
            let Some(text) = run_example(folder, package) else { continue };
            let [found] = printed(&text)[..] else { panic!("{package}: {text}") };
            assert!((found - expected).abs() < 2e-3, "{package} {numbers}: {found} is not {expected}");
        }
    }
}

/// Classes print the class and each output; several targets each of them.
#[test]
fn examples_of_several_outputs_print_all() {
    let folder = houses("a,b,c,y", "--target a,b");
    let several = folder.run("predict houses.dpp a.csv").good().out;
    let expected: Vec<f64> =
        several.lines().nth(1).unwrap().split(',').map(|number| number.parse().unwrap()).collect();
    let labels = ["low", "mid", "top"];
    let rows = (0..120).map(|row| format!("{},{},{}\n", row % 40, row / 40, labels[row / 40]));
    folder.write("b.csv", format!("p,q,kind\n{}", rows.collect::<String>()));
    folder.run("fit b.csv --landmarks 9 --model kinds.dpp").good();
    let first = folder.run("predict kinds.dpp b.csv").good().out.lines().nth(1).unwrap().to_owned();
    for (package, ..) in BUILDS {
        folder.run(&format!("export houses.dpp --package {package} --out {package} --data a.csv")).good();
        let Some(text) = run_example(&folder, package) else { continue };
        let found = printed(&text);
        assert_eq!(found.len(), 2, "{text}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-3, "{package}: {found} is not {expected}");
        }
        fs::remove_dir_all(folder.path(package)).unwrap();
        folder.run(&format!("export kinds.dpp --package {package} --out {package} --data b.csv")).good();
        let text = run_example(&folder, package).unwrap();
        let class: usize = text.lines().next().unwrap().strip_prefix("class ").unwrap().parse().unwrap();
        assert!(first.starts_with(labels[class]), "{first} {text}");
        assert_eq!(printed(&text).len(), 3);
    }
}

/// The required fields of Arduino's specification, of PlatformIO's schema, of Zephyr's and of the components.
#[test]
fn manifests_keep_the_published_rules() {
    let folder = houses("a,b,c,\"price: \"\"{x}\"\"\"", "");
    fs::rename(folder.path("houses.dpp"), folder.path("town-houses-1.20.3.dpp")).unwrap();
    for (package, ..) in BUILDS {
        folder.run(&format!("export town-houses-1.20.3.dpp --package {package} --out {package}")).good();
        for path in files(&folder.path(package)).iter().filter(|path| !path.ends_with(".h")) {
            let text = folder.text(&format!("{package}/{path}"));
            let mut braces = text.match_indices('{').map(|(at, _)| (&text[..at], &text[at + 1..]));
            let placeholder = |(before, after): (&str, &str)| {
                after.starts_with(|c: char| c.is_ascii_alphabetic()) && !before.ends_with(['$', 'V'])
            };
            assert!(!braces.any(placeholder) && text.ends_with('\n'), "{package}/{path}: {text}");
        }
    }
    let of = |path: &str| folder.text(path);
    let properties = of("arduino/library.properties");
    let fields: Vec<(&str, &str)> = properties.lines().map(|line| line.split_once('=').unwrap()).collect();
    for key in [
        "name",
        "version",
        "author",
        "maintainer",
        "sentence",
        "paragraph",
        "category",
        "url",
        "architectures",
    ] {
        assert!(fields.iter().any(|(name, value)| *name == key && !value.is_empty()), "{key}");
    }
    assert!(fields.contains(&("name", "town_houses_model")) && fields.contains(&("version", "1.20.3")));
    assert!(fields.contains(&("includes", "town_houses_model.h")));
    assert!(folder.path("arduino/src/town_houses_model.h").is_file());

    let library: serde_json::Value = serde_json::from_str(&of("platformio/library.json")).unwrap();
    let text = |key: &str| library[key].as_str().unwrap().to_owned();
    assert!(text("name") == "town_houses_model" && text("version") == "1.20.3");
    assert!((1..=255).contains(&text("description").len()));
    assert!(folder.path(&format!("platformio/include/{}", text("headers"))).is_file());
    for example in library["examples"].as_array().unwrap() {
        for file in example["files"].as_array().unwrap() {
            let path = format!("platformio/{}/{}", example["base"].as_str().unwrap(), file.as_str().unwrap());
            assert!(folder.path(&path).is_file(), "{path}");
        }
    }

    let module = "name: town_houses_model\nbuild:\n  cmake: .\n  kconfig: Kconfig\nsamples:\n  - samples\n";
    assert_eq!(of("zephyr/zephyr/module.yml"), module);
    assert!(of("zephyr/Kconfig").starts_with("config TOWN_HOUSES_MODEL\n\tbool \""));
    assert!(of("zephyr/samples/predict/prj.conf").starts_with("CONFIG_TOWN_HOUSES_MODEL=y\n"));
    assert!(of("zephyr/CMakeLists.txt").starts_with("if(CONFIG_TOWN_HOUSES_MODEL)\n"));
    assert!(of("esp-idf/idf_component.yml").starts_with("version: \"1.20.3\"\n"));
    assert!(of("esp-idf/examples/predict/main/idf_component.yml").contains("  town_houses_model:\n"));
}

/// The header is the one that `--to c` writes.
#[test]
fn the_header_of_a_package_is_the_header() {
    let folder = houses("a,b,c,y", "");
    folder.run("export houses.dpp --to c --out houses.h").good();
    folder.run("export houses.dpp --package zephyr --out z/").good();
    assert_eq!(folder.text("z/include/houses_model.h"), folder.text("houses.h"));
    folder.run("export houses.dpp --package arduino --out mine --name flat").good();
    assert!(folder.text("mine/src/flat_model.h").contains("float flat_predict("));
}

#[test]
fn bad_names_and_folders_are_refused_and_leave_all_as_it_is() {
    let folder = houses("a,b,c,y", "");
    fs::create_dir(folder.path("full")).unwrap();
    folder.write("full/mine", "kept");
    let before = folder.names();
    let export = |rest: &str| folder.run(&format!("export houses.dpp --package arduino {rest}"));
    for bad in ["2nd", "Flat", "a-b", "a__é", &"x".repeat(45)] {
        export(&format!("--out new --name {bad}")).refused(&["invalid name", bad, "small letters", "--name"]);
    }
    export("--out full").refused(&["full", "a new or an empty folder", "--out"]);
    export("--out a.csv").refused(&["a.csv", "a new or an empty folder"]);
    export("--out none/new").refused(&["none/new", "cannot be written"]);
    export("--out new --data none.csv").refused(&["none.csv"]);
    export("--out new --to c").misused(&["--to", "--package"]);
    folder.run("export houses.dpp --out new").misused(&["--to"]);
    folder
        .run("export houses.dpp --package mbed --out new")
        .misused(&["arduino, platformio, zephyr, esp-idf"]);
    assert!(folder.names() == before && files(&folder.path("full")) == ["mine"]);
    // An empty folder becomes the package, with the permissions of a folder.
    fs::create_dir(folder.path("empty")).unwrap();
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode();
    let usual = mode("empty");
    export("--out empty").good();
    assert_eq!(mode("empty"), usual);
    assert_eq!(folder.names().len(), before.len() + 1);
}
