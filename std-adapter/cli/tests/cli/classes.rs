//! Classes, and several targets: against fits of one target each, and by hand.

use crate::command::{Folder, assert_close, number};
use crate::export_c::compiled;
use crate::sample::{Noise, row_list};
use dpp_nystrom::core::Outputs;
use dpp_nystrom::kernel::KernelKind;
use dpp_nystrom::model::export::Bits;
use dpp_nystrom::pipeline::flash_bytes;
use std::path::Path;

const FIT: &str = "--given given.csv --metric one --sigma 2.5";

/// Rows of three classes that overlap, and a folder with their landmarks.
struct Classes {
    folder: Folder,
    labels: Vec<usize>,
    features: Vec<[f64; 2]>,
}

const LABELS: [&str; 3] = ["low, wet", "mid", "top"];

impl Classes {
    fn new(rows: usize) -> Self {
        let mut noise = Noise(7);
        let features: Vec<[f64; 2]> = (0..rows).map(|_| [noise.normal(), 10.0 * noise.normal()]).collect();
        let score = |row: &[f64; 2]| row[0] + 0.1 * row[1];
        let label = |row: &[f64; 2]| match score(row) + 0.5 * noise.normal() {
            score if score < -0.5 => 0,
            score if score < 0.9 => 1,
            _ => 2,
        };
        let labels = features.iter().map(label).collect();
        let folder = Folder::with("given.csv", row_list(&(0..rows).step_by(9).collect::<Vec<_>>()));
        let classes = Self { folder, labels, features };
        classes.write("words.csv", |row| format!("\"{}\"", LABELS[classes.labels[row]]));
        classes
    }

    /// Write the features with a last column, `kind`.
    fn write(&self, name: &str, target: impl Fn(usize) -> String) {
        let rows = self.features.iter().enumerate();
        let rows = rows.map(|(row, [a, b])| format!("{a},{b},{}\n", target(row))).collect::<String>();
        self.folder.write(name, "a,b,kind\n".to_owned() + &rows);
    }

    /// Return the columns of predictions, the labels first.
    fn predicted(&self, model: &str, data: &str) -> (Vec<String>, Vec<[f64; 2]>) {
        self.folder.run(&format!("predict {model} {data} --out out.csv")).good();
        let text = self.folder.text("out.csv");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("kind,probability,margin"));
        lines
            .map(|line| {
                let (rest, margin) = line.rsplit_once(',').unwrap();
                let (label, probability) = rest.rsplit_once(',').unwrap();
                let label = label.trim_matches('"').to_owned();
                (label, [probability.parse().unwrap(), margin.parse().unwrap()])
            })
            .unzip()
    }
}

#[test]
fn a_class_is_the_most_probable_and_margins_are_log_odds() {
    let classes = Classes::new(400);
    let folder = &classes.folder;
    let fitted = folder.run(&format!("fit words.csv {FIT} --ridge 1e-4 --model m.dpp --json")).good().json();
    let report = &fitted["classes"];
    let temperature = number(report, "temperature");
    let (labels, numbers) = classes.predicted("m.dpp", "words.csv");
    let all = folder.run("predict m.dpp words.csv --with probabilities").good().out;
    let mut lines = all.lines();
    let names = LABELS.map(|label| format!("probability of {label}"));
    let header = lines.next().unwrap().replace('"', "");
    assert!(names.iter().all(|name| header.contains(name.trim())), "{header}");
    for (line, (label, [probability, margin])) in lines.zip(labels.iter().zip(&numbers)) {
        let of_classes: Vec<f64> = line.rsplit(',').take(3).map(|number| number.parse().unwrap()).collect();
        assert_close(of_classes.iter().sum(), 1.0, 1e-12);
        let mut own: Vec<(f64, &str)> = of_classes.into_iter().zip(LABELS.into_iter().rev()).collect();
        own.sort_by(|one, other| other.0.total_cmp(&one.0));
        assert_eq!(label, own[0].1);
        assert_close(*probability, own[0].0, 1e-12);
        assert_close(*margin, temperature * (own[0].0 / own[1].0).ln(), 1e-8);
    }
    // Three tenths of so few rows are left out, and are in the confusion, in proportion to the classes.
    let confusion: Vec<Vec<u64>> = serde_json::from_value(report["confusion"].clone()).unwrap();
    for (class, counts) in confusion.iter().enumerate() {
        let own = classes.labels.iter().filter(|&&label| label == class).count() as u64;
        assert!(counts.iter().sum::<u64>().abs_diff(3 * own / 10) <= 4, "{report}");
    }
    let all: u64 = confusion.iter().flatten().sum();
    let right: u64 = (0..3).map(|class| confusion[class][class]).sum();
    assert_eq!(all, 120);
    assert_close(number(report, "accuracy"), right as f64 / 120.0, 1e-12);
    let test = &fitted["test"];
    assert_eq!((number(test, "rows"), number(test, "log_loss")), (120.0, number(report, "log_loss")));
    assert_close(number(test, "error_rate"), 1.0 - number(report, "accuracy"), 1e-12);
    let share = number(test, "error_rate");
    let error = (share * (1.0 - share) / 120.0).sqrt();
    assert!((0.95..1.15).contains(&(number(test, "error_rate_se") / error)), "{test}");
    assert!((0.6..0.95).contains(&number(report, "accuracy")), "{report}");
    // Where probabilities say how often a class is right, a guess by the shares of the classes has a larger
    // log-loss.
    let share = |class: usize| confusion[class].iter().sum::<u64>() as f64 / 120.0;
    let guess: f64 = (0..3).map(share).map(|share| -share * share.ln()).sum();
    assert!(number(report, "log_loss") < 0.8 * guess, "{report}");
    let learned = format!("{FIT} --ridge 1e-4").replace("--metric one", "--metric scales");
    let learned = folder.run(&format!("fit words.csv {learned} --model s.dpp --json")).good().json();
    let loss = number(&learned["held_out"][0], "log_loss");
    assert!((0.05..guess).contains(&loss), "{learned}");
    let text = folder.run(&format!("fit words.csv {FIT} --model m.dpp")).good().out;
    assert!(text.contains("\nclass, as  "), "{text}");
    let info = folder.run("info m.dpp --json").good().json();
    assert_eq!(info["classes"].as_array().unwrap().len(), 3);
    assert_eq!((&info["target"], &info["classes"][0]), (&"kind".into(), &LABELS[0].into()));
}

#[test]
fn numbers_are_classes_on_request_however_they_are_written() {
    let classes = Classes::new(300);
    classes.write("numbers.csv", |row| ["1.0", "2", "10"][classes.labels[row]].to_owned());
    classes.write("again.csv", |row| ["1", "2.00", "1e1"][classes.labels[row]].to_owned());
    let folder = &classes.folder;
    let fit = |data: &str, more: &str| {
        folder.run(&format!("fit {data} {FIT} --ridge 1e-4 --model {data}.dpp --json {more}")).good().json()
    };
    let (words, numbers) = (fit("words.csv", ""), fit("numbers.csv", "--classes"));
    assert_eq!(numbers["classes"]["labels"], serde_json::json!(["1", "2", "10"]));
    for key in ["accuracy", "balanced_accuracy"] {
        assert_eq!(words["classes"][key], numbers["classes"][key]);
    }
    assert_close(number(&words["classes"], "log_loss"), number(&numbers["classes"], "log_loss"), 1e-9);
    let told = |data: &str| folder.run(&format!("predict numbers.csv.dpp {data} --out out.csv")).good().err;
    assert!(told("numbers.csv").contains("accuracy 0."));
    assert_eq!(told("numbers.csv"), told("again.csv"));
    assert!(fit("numbers.csv", "")["classes"].is_null());
}

#[test]
fn several_targets_are_those_of_one_each() {
    let classes = Classes::new(300);
    let folder = &classes.folder;
    let target = |row: usize| {
        let [a, b] = classes.features[row];
        [a.sin() + 0.1 * b, 100.0 * (0.2 * b).cos()]
    };
    let lines = (0..300).map(|row| {
        let ([a, b], [p, q]) = (classes.features[row], target(row));
        format!("{q},{a},{b},{p}\n")
    });
    folder.write("both.csv", "q,a,b,p\n".to_owned() + &lines.collect::<String>());
    for (target, other) in [("p", "q"), ("q", "p")] {
        let options = format!("--target {target} --ignore {other} --ridge 1e-5 --model {target}.dpp");
        folder.run(&format!("fit both.csv {FIT} {options}")).good();
        folder.run(&format!("predict {target}.dpp both.csv --out {target}.out")).good();
    }
    folder.run(&format!("fit both.csv {FIT} --target p,q --ridge 1e-5 --model both.dpp")).good();
    let told = folder.run("predict both.dpp both.csv --out both.out").good().err;
    assert!(
        told.contains("p: root mean square error") && told.contains("q: root mean square error"),
        "{told}"
    );
    let (both, p, q) = (folder.text("both.out"), folder.text("p.out"), folder.text("q.out"));
    assert_eq!(both.lines().next(), Some("p,q"));
    for ((both, p), q) in both.lines().zip(p.lines()).zip(q.lines()).skip(1) {
        let (found_p, found_q) = both.split_once(',').unwrap();
        for (found, expected) in [(found_p, p), (found_q, q)] {
            assert_close(found.parse().unwrap(), expected.parse().unwrap(), 1e-6);
        }
    }
    // One of the targets is missing: there are no errors to tell.
    let without: String = folder
        .text("both.csv")
        .lines()
        .map(|line| line.split_once(',').unwrap().1.to_owned() + "\n")
        .collect();
    folder.write("one.csv", without);
    let run = folder.run("predict both.dpp one.csv --out one.out").good();
    assert!(!run.err.contains("error") && folder.text("one.out") == both, "{}", run.err);
    // The metric is learned for both, and the ridge by any means.
    for options in [
        "--metric auto --landmarks 20",
        "--ridge loo --metric one --landmarks 20",
        "--sigma cv --metric one --precision f32",
    ] {
        let report =
            folder.run(&format!("fit both.csv --target p,q --model both.dpp --json {options}")).good().json();
        assert!(number(&report, "cv_nrmse") < 0.2, "{options} {report}");
    }
}

#[test]
fn all_outputs_are_exported_from_one_model() {
    let classes = Classes::new(300);
    let folder = &classes.folder;
    folder.run("fit words.csv --landmarks 20 --sigma 2.5 --metric one --model m.dpp").good();
    for form in ["rust", "c", "bytes"] {
        for quantise in ["", "--quantise i16", "--quantise i8"] {
            let run = folder
                .run(&format!("export m.dpp --to {form} {quantise} --data words.csv --out m.out --json"));
            assert!(!run.err.contains("warning"), "{form} {quantise}: {}", run.err);
            let report = run.good().json();
            assert_eq!(report["outputs"], 3, "{form} {quantise}");
            if form != "bytes" {
                let text = folder.text("m.out");
                let (_, listed) = text.split_once("Outputs, in order:").unwrap();
                LABELS
                    .iter()
                    .for_each(|label| assert!(listed.contains(&format!("  kind={label}")), "{listed}"));
            }
            assert!(number(&report, "largest_difference") < 0.2, "{form} {quantise} {report}");
        }
    }
    // The bytes classify as the model does.
    folder.run("export m.dpp --to bytes --out m.bin").good();
    let bytes = folder.bytes("m.bin");
    let device = dpp_nystrom::core::Outputs::from_bytes(&bytes).unwrap();
    let (labels, _) = classes.predicted("m.dpp", "words.csv");
    for (row, label) in classes.features.iter().zip(labels) {
        let found = device.classify(&row.map(|value| value as f32), &mut [0.0; 2], &mut [0.0; 3]).unwrap();
        assert_eq!(LABELS[found.index], label);
    }
}

/// The bytes of `m_classify` of `m.h` on a Cortex-M4F.
fn size_of_classify(folder: &Folder) -> u64 {
    let own = "int own(const float *x, float *y, float *margin)";
    folder
        .write("own.c", format!("#include \"m.h\"\n{own};\n{own} {{ return m_classify(x, y, margin); }}\n"));
    let options = "-std=c99 -Os -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -c own.c";
    let arguments: Vec<&str> = options.split(' ').collect();
    assert!(folder.program(Path::new("arm-none-eabi-gcc"), &arguments).status().unwrap().success());
    let sizes = folder.program(Path::new("arm-none-eabi-size"), &["own.o"]).output().unwrap();
    let text = String::from_utf8(sizes.stdout).unwrap();
    let numbers = text.lines().nth(1).unwrap().split_whitespace().take(2);
    numbers.map(|number| number.parse::<u64>().unwrap()).sum()
}

/// The classes of a number of bytes are those of the device, and the function that the header names takes no
/// more of them than was said.
#[test]
fn classes_for_a_number_of_bytes() {
    let classes = Classes::new(500);
    let folder = &classes.folder;
    for (bytes, options) in [(1_100, ""), (2_048, " --kernel laplace")] {
        let fit = format!("fit words.csv --flash {bytes}{options} --model m.dpp");
        let report = folder.run(&format!("{fit} --json")).good().json();
        let (flash, chosen) = (&report["flash"], &report["flash"]["chosen"]);
        let candidates = flash["candidates"].as_array().unwrap();
        assert_eq!(&candidates[0], chosen);
        assert!(candidates.iter().all(|tried| number(tried, "bytes") <= f64::from(bytes)), "{report}");
        let finalists = candidates.iter().filter(|tried| tried["parts"] == 3);
        let coarse = |tried: &serde_json::Value| if tried["numbers"] == "f32" { 1.0 } else { 1.01 };
        let losses: Vec<f64> = finalists.map(|tried| coarse(tried) * number(tried, "log_loss")).collect();
        assert!(losses.is_sorted() && losses.len() == candidates.len().min(4), "{report}");
        // Of three classes a guess has ln 3.
        assert!(losses[0] < 0.8, "{report}");
        if options.is_empty() {
            let text = folder.run(&fit).good().out;
            assert!(
                text.contains("with their log-losses on parts")
                    && text.contains("integers only if theirs times 1.01")
            );
        }

        let header = folder.run("export m.dpp --to c --out m.h --json").good().json();
        assert_eq!(header["numbers"], chosen["numbers"]);
        match header["compiled"].as_object() {
            Some(compiled) => {
                let found = compiled["flash_bytes"].as_u64();
                assert!(
                    found <= chosen["bytes"].as_u64() && found == Some(size_of_classify(folder)),
                    "{header}"
                );
            }
            None => println!("skipped: size of the header: no compiler for the device"),
        }
        folder.run("export m.dpp --to bytes --out m.bin").good();
        let device = folder.run("predict m.bin words.csv --ignore kind").good().out;
        let mut lines = device.lines();
        assert_eq!(lines.next(), Some("output 0,output 1,output 2,largest,margin"));
        let (labels, _) = classes.predicted("m.dpp", "words.csv");
        let mut same = 0;
        for (line, label) in lines.zip(&labels) {
            let numbers: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
            let [a, b, c, largest, margin] = numbers[..] else { panic!("{line}") };
            let mut sorted = [a, b, c];
            sorted.sort_by(f64::total_cmp);
            assert_eq!(numbers[largest as usize], sorted[2], "{line}");
            assert_eq!(margin, f64::from(sorted[2] as f32 - sorted[1] as f32), "{line}");
            same += usize::from(LABELS[largest as usize] == label);
        }
        assert!(same >= 490, "{same} of 500 rows");
    }
}

/// The bytes that `fit --flash` counts on are not exceeded in any numbers, with and without a map.
#[test]
fn the_bound_of_the_code_of_classes_holds() {
    for count in 2..=5 {
        let mut noise = Noise(count as u64);
        let line = |_| {
            let row: Vec<f64> = (0..6).map(|_| noise.normal()).collect();
            let class =
                ((row[0] + row[1] * row[2] + 2.0) / 4.0 * count as f64).clamp(0.0, count as f64 - 1.0);
            let numbers: Vec<String> = row.iter().map(f64::to_string).collect();
            format!("{},c{}\n", numbers.join(","), class as usize)
        };
        let table: String = (0..200).map(line).collect();
        let folder = Folder::with("a.csv", format!("a,b,c,d,e,f,class\n{table}"));
        for (metric, rank) in [("one", None), ("map:3", Some(3))] {
            let options = "--kernel gaussian --landmarks 12 --precision f32";
            folder.run(&format!("fit a.csv --metric {metric} {options} --model m")).good();
            for (name, bits) in [("f32", None), ("i16", Some(Bits::Sixteen)), ("i8", Some(Bits::Eight))] {
                let export = format!("export m --to c --out m.h --quantise {name} --json");
                let header = folder.run(&export).good().json();
                let compiled = &header["compiled"];
                if compiled.is_null() {
                    println!("skipped: size of the header: no compiler for the device");
                    continue;
                }
                let bound = flash_bytes(KernelKind::Gaussian, bits, [12, 6, count], rank);
                let found = number(compiled, "flash_bytes");
                assert!(found <= bound as f64, "{count} {metric} {name}: {found} of {bound}");
            }
        }
    }
}

/// A line of classes has no landmarks in C, predicts the bits of the other forms, and takes no more bytes
/// than was said.
#[test]
fn lines_of_classes_in_c() {
    for (features, count, bytes) in [(2, 3, 500), (2, 4, 560), (9, 4, 620), (6, 5, 520), (18, 7, 1_024)] {
        let mut noise = Noise(count as u64);
        let rows: Vec<Vec<f64>> = (0..300).map(|_| (0..features).map(|_| noise.normal()).collect()).collect();
        // The nearest direction of the first two features, which the others turn a little.
        let along = |row: &[f64], class: usize| {
            let angle = std::f64::consts::TAU * class as f64 / count as f64;
            let others: f64 = row[2..].iter().sum();
            row[0] * angle.cos() + row[1] * angle.sin() + 0.1 * others * (3.0 * angle).sin()
        };
        let class = |row: &[f64]| {
            (0..count).max_by(|&a, &b| along(row, a).total_cmp(&along(row, b))).expect("classes")
        };
        let names: Vec<String> = (0..features).map(|i| format!("x{i}")).collect();
        let line = |row: &Vec<f64>| {
            let numbers: Vec<String> = row.iter().map(f64::to_string).collect();
            format!("{},c{}\n", numbers.join(","), class(row))
        };
        let table: String = rows.iter().map(line).collect();
        let folder = Folder::with("a.csv", format!("{},class\n{table}", names.join(",")));
        let chosen = &folder.run(&format!("fit a.csv --flash {bytes} --model m --json")).good().json();
        let chosen = &chosen["flash"]["chosen"];
        assert!(chosen["line"] == true, "{features} {count}: {chosen}");
        let report = folder.run("export m --to c --out m.h --json").good().json();
        let header = folder.text("m.h");
        assert!(!header.contains("m_landmarks["), "{header}");
        assert!(header.contains(&format!("#define M_BYTES {}\n", report["flash_bytes"])));
        if let Some(compiled) = report["compiled"].as_object() {
            assert!(compiled["flash_bytes"].as_u64() <= chosen["bytes"].as_u64(), "{report} {chosen}");
        }
        folder.run("export m --to bytes --out m.bin").good();
        let flash = folder.bytes("m.bin");
        let device = Outputs::from_bytes(&flash).unwrap();
        let singles = rows.iter().map(|row| row.iter().map(|&value| value as f32).collect::<Vec<f32>>());
        let (mut data, mut expected) = (String::new(), String::new());
        for row in singles {
            let bits: Vec<String> = row.iter().map(|value| format!("{}u", value.to_bits())).collect();
            data += &format!("{{{}}},\n", bits.join(", "));
            let mut outputs = vec![0.0; count];
            let class = device.classify(&row, &mut vec![0.0; features.min(count)], &mut outputs).unwrap();
            let outputs: Vec<String> = outputs.iter().map(|value| value.to_bits().to_string()).collect();
            expected += &format!("{} {}\n", class.index, outputs.join(" "));
        }
        let program = format!(
            "#include \"m.h\"\n#include <stdio.h>\n\
             static const unsigned rows[][{features}] = {{\n{data}}};\n\
             int main(void)\n{{\n    unsigned i, k, bits;\n    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {{\n\
             \x20       float row[{features}], y[{count}], margin;\n        memcpy(row, rows[i], sizeof row);\n\
             \x20       printf(\"%d\", m_classify(row, y, &margin));\n        for (k = 0; k < {count}; k++) {{\n\
             \x20           memcpy(&bits, &y[k], sizeof bits);\n            printf(\" %u\", bits);\n        }}\n\
             \x20       printf(\"\\n\");\n    }}\n    return 0;\n}}\n"
        );
        let Some(printed) = compiled(&folder, &program) else { return };
        assert!(printed == expected, "{features} {count}");
    }
}

/// Several targets share the bytes, and a line has a coordinate of its map for each.
#[test]
fn several_targets_and_lines_for_a_number_of_bytes() {
    let mut noise = Noise(5);
    let rows: Vec<[f64; 4]> = (0..400).map(|_| [(); 4].map(|()| noise.normal())).collect();
    let text = |targets: &dyn Fn(&[f64; 4]) -> String| {
        let line = |row: &[f64; 4]| format!("{},{},{},{},{}\n", row[0], row[1], row[2], row[3], targets(row));
        rows.iter().map(line).collect::<String>()
    };
    let curved = text(&|row| format!("{},{}", (2.0 * row[0]).sin() + row[1], 3.0 * (row[0] * row[1]).tanh()));
    let folder = Folder::with("curved.csv", "a,b,c,d,y,z\n".to_owned() + &curved);
    let lines = text(&|row| format!("{},{}", row[0] - row[3] + 2.0, 5.0 * row[1]));
    folder.write("lines.csv", "a,b,c,d,y,z\n".to_owned() + &lines);
    let sides = text(&|row| if row[0] - 2.0 * row[2] > 0.3 { "hot" } else { "cold" }.to_owned());
    folder.write("sides.csv", "a,b,c,d,side\n".to_owned() + &sides);
    for (data, target, bytes, line) in
        [("curved", "y,z", 1_500, false), ("lines", "y,z", 1_500, true), ("sides", "side", 540, true)]
    {
        let fit = format!("fit {data}.csv --target {target} --flash {bytes} --model m --json");
        let report = folder.run(&fit).good().json();
        let chosen = &report["flash"]["chosen"];
        assert_eq!(chosen["line"], line, "{report}");
        let (key, most) = if data == "sides" { ("log_loss", 0.2) } else { ("nrmse", 0.6) };
        assert!(number(chosen, key) < most, "{report}");
        let header = folder.run(&format!("export m --to c --out m.h --data {data}.csv --json")).good().json();
        let single = chosen["numbers"] == "f32";
        assert!(!single || number(&header, "largest_difference") < 1e-4, "{header}");
        if let Some(compiled) = header["compiled"].as_object() {
            assert!(compiled["flash_bytes"].as_u64() <= chosen["bytes"].as_u64(), "{header} {chosen}");
        }
    }
    // The line of classes is that of the linear kernel with as many landmarks as features.
    let options = "--kernel linear --metric one --landmarks 4 --method rpcholesky";
    folder.run(&format!("fit sides.csv {options} --model linear")).good();
    let labels = |model: &str| {
        let out = folder.run(&format!("predict {model} sides.csv")).good().out;
        out.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let differ = labels("m").into_iter().zip(labels("linear")).filter(|(one, other)| one != other).count();
    assert!(differ <= 4, "{differ} of 400 rows");
    folder.run("fit lines.csv --target y,z --flash 150 --model n").refused(&["150 bytes", "too few"]);
}

#[test]
fn a_class_may_have_fewer_rows_than_there_are_folds() {
    let classes = Classes::new(200);
    let rare = |row: usize| if row % 90 == 7 { "rare" } else { LABELS[1 + row % 2] };
    classes.write("rare.csv", |row| rare(row).to_owned());
    let report = classes.folder.run("fit rare.csv --landmarks 10 --model m.dpp --json").good().json();
    assert_eq!(report["classes"]["labels"], serde_json::json!(["mid", "rare", "top"]));
    let leave =
        classes.folder.run("fit words.csv --landmarks 10 --metric one --ridge loo --model m.dpp --json");
    let folds = classes.folder.run("fit words.csv --landmarks 10 --metric one --model m.dpp --json");
    let [leave, folds] = [leave, folds].map(|run| number(&run.good().json()["classes"], "accuracy"));
    assert!((leave - folds).abs() < 0.05, "{leave} {folds}");
}

#[test]
fn what_takes_one_number_refuses_classes_and_several_targets() {
    let classes = Classes::new(120);
    let folder = &classes.folder;
    let refused = |arguments: &str, parts: &[&str]| folder.run(arguments).refused(parts);
    classes.write("one.csv", |_| "mid".to_owned());
    classes.write("typo.csv", |row| if row == 5 { "l.5".to_owned() } else { row.to_string() });
    refused("fit one.csv --model m.dpp", &["\"kind\"", "one class", "--target"]);
    refused(
        "fit words.csv --limit classes=2 --model m.dpp",
        &["\"kind\"", "more than 2 classes", "--limit classes=N"],
    );
    refused("fit typo.csv --model m.dpp", &["line 7", "\"l.5\"", "not a number"]);
    refused("fit words.csv --target a,a --model m.dpp", &["target", "\"a\""]);
    classes.write("break.csv", |row| if row == 5 { "\"mi\nd\"".to_owned() } else { "mid".to_owned() });
    refused("fit break.csv --model m.dpp", &["\"mi\\nd\"", "has a line break", "quote"]);
    refused("fit words.csv --target a,kind --model m.dpp", &["line 2", "not a number"]);
    let one = "one target that is a number";
    refused("fit words.csv --variance --model m.dpp", &["--variance", one]);
    refused("fit words.csv --target a,b --columns kind --variance --model m.dpp", &["--variance", one]);
    refused("convert words.csv --target a,b --out w.rows", &["a row store", "one target", "for each"]);
    refused("diagnose words.csv --landmarks 10", &["a diagnosis", one]);
    folder.run("fit words.csv --landmarks 10 --model m.dpp").good();
    refused("predict m.dpp words.csv --with nearest", &["assessment", one]);
    refused("predict m.dpp words.csv --with novelty", &["assessment", one]);
    refused("predict m.dpp words.csv --clamp", &["assessment", one]);
    folder.run("export m.dpp --to bytes --out m.bin").good();
    refused("predict m.bin words.csv --ignore kind --clamp", &["assessment", one]);
    refused("predict m.bin words.csv --ignore kind --with novelty", &["assessment", one]);
    refused("learn m.dpp words.csv --out s", &["learning on devices", one]);
    classes.write("other.csv", |_| "new".to_owned());
    refused("predict m.dpp other.csv --unknown error", &["line 2", "\"new\"", "--unknown zero"]);
    let told = folder.run("predict m.dpp other.csv --out o.csv").good().err;
    assert!(!told.contains("accuracy"), "{told}");
    assert!(told.contains("120 rows have a class that is unknown to the model"), "{told}");
}

/// Windows of a few sensors, all but alike within a group: only without the groups of a row is an error what
/// it will be elsewhere.
#[test]
fn rows_of_a_group_and_of_a_time_are_held_out_together() {
    let mut noise = Noise(3);
    let mut rows = String::from("sensor,a,b,c,y\n");
    for sensor in 0..40 {
        let [a, b, c, y] = [(); 4].map(|()| noise.normal());
        for _ in 0..5 {
            let near = [a, b, c].map(|value| value + 0.01 * noise.normal());
            rows += &format!("s{sensor},{},{},{},{y}\n", near[0], near[1], near[2]);
        }
    }
    let folder = Folder::with("rows.csv", rows);
    let without_sensor: String = folder
        .text("rows.csv")
        .lines()
        .map(|line| line.split_once(',').unwrap().1.to_owned() + "\n")
        .collect();
    folder.write("alone.csv", without_sensor);
    let error = |options: &str| {
        let options = format!("--landmarks 50 --method uniform --model m.dpp --json {options}");
        number(&folder.run(&format!("fit {options}")).good().json(), "cv_nrmse")
    };
    let one = "--metric one --sigma median";
    let [alone, groups] =
        ["alone.csv", "rows.csv --group sensor"].map(|data| error(&format!("{data} {one}")));
    assert!(alone < 0.3 && groups > 0.9, "{alone} {groups}");
    folder.run("predict m.dpp rows.csv --out with.csv").good();
    folder.run("predict m.dpp alone.csv --out without.csv").good();
    assert_eq!(folder.text("with.csv"), folder.text("without.csv"));
    // Blocks of twenty rows are four sensors.
    assert!(error(&format!("alone.csv --time {one}")) > 0.9);
    // A metric that is judged on other groups does not pay, and one that is judged on their rows seems to.
    let metric = |data: &str| {
        let run =
            folder.run(&format!("fit {data} --landmarks 50 --metric map:3 --model m.dpp --json")).good();
        let tried = run.json()["held_out"].as_array().unwrap().clone();
        number(tried.last().unwrap(), "nrmse")
    };
    let [alone, groups] = ["alone.csv", "rows.csv --group sensor"].map(metric);
    assert!(alone < 0.3 && groups > 0.9, "{alone} {groups}");
    let refused = |arguments: &str, parts: &[&str]| folder.run(arguments).refused(parts);
    refused(
        "fit rows.csv --group sensor --metric one --ridge loo --model m.dpp",
        &["one by one", "--ridge cv"],
    );
    refused("fit rows.csv --group person --model m.dpp", &["no column is called \"person\""]);
    refused("convert rows.csv --group sensor --out r.rows", &["omit --group and --time"]);
    refused("evaluate alone.csv --time --methods kdpp --landmarks 5", &["omit --group and --time"]);
    // Where all groups are held out for the test error, nothing is left to learn a metric from.
    let few: String = (0..300).map(|row| format!("{},{},{}\n", row % 3, row % 17, row % 19)).collect();
    folder.write("few.csv", format!("g,a,y\n{few}"));
    let run = folder.run("fit few.csv --group g --model m.dpp").good();
    assert!(run.out.contains("one (not learned: fewer than 70 rows beside those left out)"), "{}", run.out);
    assert!(!run.err.contains("no metric"), "{}", run.err);
    refused(
        "fit few.csv --group g --metric scales --model m.dpp",
        &["cannot learn a metric", "the metric one"],
    );
    folder.write("one.csv", "g,a,y\n1,2,3\n1,3,4\n1,4,6\n");
    refused("fit one.csv --group g --metric one --model m.dpp", &["one group", "--group"]);
}
