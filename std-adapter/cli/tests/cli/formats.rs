//! The same rows in every format, from a file or from standard input.

use crate::command::Folder;
use crate::sample::Sample;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn arff(sample: &Sample) -> String {
    let mut text = "% made up\n@relation sample\n".to_owned();
    for name in sample.names.iter().map(String::as_str).chain(["y"]) {
        text += &format!("@attribute {name} numeric\n");
    }
    text + "@data\n" + sample.csv().split_once('\n').unwrap().1
}

#[test]
fn formats_agree() {
    let sample = Sample::new(80, 3);
    let csv = sample.csv();
    let files = [
        ("a.csv", csv.clone().into_bytes()),
        ("a.csv.gz", gzip(csv.as_bytes())),
        ("a.tsv", csv.replace(',', "\t").into_bytes()),
        ("semicolons.csv", csv.replace(',', ";").replace('\n', "\r\n").into_bytes()),
        ("a.arff", arff(&sample).into_bytes()),
        ("a.arff.gz", gzip(arff(&sample).as_bytes())),
        ("a.npy", sample.npy(true)),
        ("a.npy.gz", gzip(&sample.npy(true))),
    ];
    let folder = Folder::new();
    let mut reports: Vec<Value> = Vec::new();
    for (name, bytes) in &files {
        folder.write(name, bytes);
        let run = folder.run(&format!("select {name} --landmarks 6 --json")).good();
        let target = if name.contains("npy") { "\"x3\"" } else { "\"y\"" };
        assert!(run.err.contains(target), "{name} {}", run.err);
        reports.push(run.json());
        if name.ends_with("tsv") || name.starts_with("semi") {
            continue;
        }
        let run = folder.run_with_input("select - --landmarks 6 --json", bytes).good();
        assert!(run.err.contains(target), "{name} {}", run.err);
        reports.push(run.json());
    }
    for report in &mut reports {
        report["seconds"] = Value::Null;
    }
    assert!(reports.iter().all(|report| *report == reports[0]), "{reports:#?}");
}

#[test]
fn standard_input_everywhere() {
    let sample = Sample::new(60, 2);
    let folder = Folder::with("a.csv", sample.csv());
    let csv = sample.csv().into_bytes();
    let from_file = folder.run("fit --metric one a.csv --landmarks 5 --model one").good();
    let from_input = folder.run_with_input("fit --metric one - --landmarks 5 --model two", &csv).good();
    assert_eq!(from_file.err, from_input.err);
    let described: Vec<Value> = ["one", "two"]
        .map(|model| folder.run(&format!("info {model} --json")).good().json()["trained_on"].clone())
        .into();
    assert_eq!(described, ["a", "stdin"]);
    let of_file = folder.run("predict one a.csv").good();
    let of_input = folder.run_with_input("predict two -", &csv).good();
    assert_eq!((of_file.out, of_file.err), (of_input.out, of_input.err));
    let evaluated = folder.run_with_input("evaluate - --methods kdpp --landmarks 5 --seeds 1 --json", &csv);
    assert_eq!(evaluated.good().json()["dataset"], "stdin");
}
