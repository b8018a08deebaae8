//! Inputs, names and machines that a user does not choose: every outcome is right, or an error that says why.

use crate::command::{Folder, PROGRAM, Run, column, number};
use crate::export_c::compiled;
use crate::progress::on_a_terminal;
use crate::report::well_formed;
use crate::sample::{Noise, Sample};
use dpp_nystrom::Model;
use dpp_nystrom::core::Error as CoreError;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

const FIT: &str = "fit a.csv --metric one --landmarks 20 --sigma 2 --model m.dpp";

fn told_error(err: &str) -> f64 {
    let number = err.split_once("root mean square error ").expect(err).1.split([',', '\n']).next().unwrap();
    number.parse().unwrap()
}

#[test]
fn two_outputs_of_one_name_are_refused() {
    let folder = Folder::with("a.csv", Sample::new(300, 2).csv());
    folder.write("there", "");
    for twice in [
        "fit a.csv --tolerance 0.1 --curve x --metric one --model x",
        "fit a.csv --landmarks 5 --metric one --checkpoint x --model ./x",
        "fit a.csv --landmarks 5 --metric one --checkpoint there --model ../there/../there",
        "select a.csv --tolerance 0.3 --curve there --out there",
        "merge a.csv --of m --keys k --seen x --model x",
    ] {
        let name = folder.path("").canonicalize().unwrap();
        let twice = twice.replace("../there/../there", &name.join("there").display().to_string());
        folder.run(&twice).refused(&["two outputs", "its own name"]);
    }
    assert_eq!(folder.names(), ["a.csv", "there"]);
}

/// A hundred landmarks are the default, and two smooth features do not have so many.
#[test]
fn the_usual_number_of_landmarks_is_one_that_there_is() {
    let folder = Folder::with("a.csv", Sample::new(600, 1).csv());
    let told = folder.run("fit a.csv --metric one --model m.dpp --json").good();
    let count = told.json()["landmarks"].as_array().unwrap().len();
    assert!((10..100).contains(&count), "{count}");
    assert!(told.err.contains("landmarks: more rows are not independent"), "{}", told.err);
    assert!(number(&told.json(), "cv_nrmse") < 0.2);
    folder.run("select a.csv").good();
    let told = folder.run("fit a.csv --metric one --landmarks 100 --model m.dpp --json").good();
    let most = told.json()["landmarks"].as_array().unwrap().len();
    assert!((count..100).contains(&most), "{count} {most}");
    assert!(told.err.contains(&format!("{most} landmarks of the 100 asked for")), "{}", told.err);
    folder.run("select a.csv --landmarks 100").refused(&["independent", "fewer landmarks"]);
}

/// The mean is among the candidates: with ridges up to 0.1 the errors of these tables are 1 to 3 % above its.
#[test]
fn of_noise_the_mean_is_learned() {
    for seed in 0..4 {
        let mut state: u64 = seed;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
        noise();
        let rows: String = (0..60).map(|_| format!("{},{},{}\n", noise(), noise(), noise())).collect();
        let folder = Folder::with("a.csv", format!("a,b,y\n{rows}"));
        let error = number(&folder.run("fit a.csv --model m.dpp --json").good().json(), "cv_nrmse");
        assert!(error < 1.005, "{seed}: {error}");
    }
}

/// A word of one row, in a column with gaps, is no outlier.
#[test]
fn a_rare_word_is_no_outlier() {
    let words = |row: usize| match row {
        3 => "rare",
        row if row % 5 == 0 => "",
        row if row % 2 == 0 => "one",
        _ => "other",
    };
    let row = |row: usize| format!("{}.5,{},{}\n", row * row % 17, words(row), row * 7 % 13);
    let rows: String = (0..60).map(row).collect();
    let folder = Folder::with("a.csv", format!("x,kind,y\n{rows}"));
    let fit = folder.run("fit a.csv --model m.dpp --json").good();
    assert!(!fit.err.contains("variance of column"), "{}", fit.err);
}

#[test]
fn an_outlier_that_flattens_its_column_is_told() {
    let mut sample = Sample::new(400, 2);
    let clean = sample.csv();
    sample.features[7][0] = 1e12;
    let folder = Folder::with("a.csv", &clean);
    folder.write("hit.csv", sample.csv());
    let fit = |data: &str, more: &str| {
        folder.run(&format!("fit {data} --metric one --model m.dpp --json {more}")).good()
    };
    let (before, hit) = (fit("a.csv", ""), fit("hit.csv", ""));
    assert!(!before.err.contains("variance of column"), "{}", before.err);
    for part in ["warning: row 7 ", "100 %", "column \"a\"", "--scale robust"] {
        assert!(hit.err.contains(part), "{part}: {}", hit.err);
    }
    let robust = fit("hit.csv", "--scale robust");
    let [before, hit, robust] = [before, hit, robust].map(|run| number(&run.json(), "cv_nrmse"));
    assert!(hit > 1.5 * before && robust < 1.2 * before, "{before} {hit} {robust}");
    // A model keeps its scale.
    let error = told_error(&folder.run("predict m.dpp a.csv").good().err);
    assert!(error < 0.5, "{error}");
    folder.run("convert a.csv --out a.rows").good();
    folder
        .run("fit a.rows --scale none --model m.dpp")
        .refused(&["a.rows", "omit --group, --time and --scale"]);
    folder.run("evaluate a.csv --methods uniform --landmarks 5 --scale none").refused(&["--scale"]);
}

#[test]
fn numbers_of_any_size_are_learned() {
    let plain = Sample::new(400, 2);
    let folder = Folder::with("a.csv", plain.csv());
    let expected = number(&folder.run(&format!("{FIT} --json")).good().json(), "cv_nrmse");
    for (feature, target) in [(1e300, 1.0), (1e-310, 1.0), (1.0, 1e300), (1.0, 1e-300)] {
        let mut sample = plain.clone();
        sample.features.iter_mut().for_each(|row| row[0] *= feature);
        sample.target.iter_mut().for_each(|value| *value *= target);
        folder.write("a.csv", sample.csv());
        let found = number(&folder.run(&format!("{FIT} --json")).good().json(), "cv_nrmse");
        assert!((found / expected - 1.0).abs() < 1e-6, "{feature:e} {target:e}: {found} {expected}");
        let error = told_error(&folder.run("predict m.dpp a.csv").good().err) / target;
        assert!(error > 0.01 && error < 1.0, "{feature:e} {target:e}: {error}");
    }
    // In a device's numbers these do not fit, and that is said.
    folder.run("export m.dpp --to bytes --out m.bin").refused(&["single precision"]);
}

/// A heavy tail is drawn in, and the model takes that wherever it goes, or says that it cannot.
#[test]
fn clipped_features_go_with_the_model() {
    let mut sample = Sample::new(400, 2);
    sample.features.iter_mut().for_each(|row| row[0] = (3.0 * row[0]).sinh());
    let folder = Folder::with("a.csv", sample.csv());
    let [plain, robust, clipped] = ["standard", "robust", "clipped"].map(|scale| {
        let fit = format!("fit a.csv --metric one --landmarks 20 --scale {scale} --model {scale}.dpp --json");
        number(&folder.run(&fit).good().json(), "cv_nrmse")
    });
    assert!(clipped < 0.8 * plain.min(robust), "{plain} {robust} {clipped}");
    let told = folder.run("info clipped.dpp").good().out;
    assert!(told.contains("clipped smoothly"), "{told}");
    let predicted = |model: &str| {
        folder.run(&format!("predict {model} a.csv --out out.csv")).good();
        folder
            .text("out.csv")
            .lines()
            .skip(1)
            .map(|line| line.split(',').next().unwrap().parse().unwrap())
            .collect::<Vec<f64>>()
    };
    let own = predicted("clipped.dpp");
    for option in ["", " --with novelty"] {
        folder.run(&format!("export clipped.dpp --to bytes --out m.bin{option}")).good();
    }
    for (one, other) in predicted("m.bin").iter().zip(&own) {
        assert!((one - other).abs() < 1e-3, "{one} {other}");
    }
    folder
        .run("export clipped.dpp --to c --quantise i16 --out no.h")
        .refused(&["clipped", "--scale standard"]);
    folder
        .run("fit a.csv --flash 2KiB --scale clipped --model no.dpp")
        .refused(&["flash", "--scale standard"]);
    folder.run("convert a.csv --scale clipped --out no.rows").misused(&["standard, none"]);
    // Sums of a device that has these rows are those of the fit.
    folder.run("learn clipped.dpp a.csv --out a.state").good();
    folder.run("merge a.state --of clipped.dpp --model merged.dpp").good();
    for (one, other) in predicted("merged.dpp").iter().zip(&own) {
        assert!((one - other).abs() < 0.1, "{one} {other}");
    }
    // Scales and maps are learned of clipped features.
    for metric in ["scales", "map"] {
        let fit = format!("fit a.csv --metric {metric} --landmarks 20 --scale clipped --model m.dpp --json");
        let found = number(&folder.run(&fit).good().json(), "cv_nrmse");
        assert!(found < 1.05 * clipped, "{metric}: {found} {clipped}");
        let own = predicted("m.dpp");
        folder.run("export m.dpp --to bytes --out m.bin").good();
        for (one, other) in predicted("m.bin").iter().zip(&own) {
            assert!((one - other).abs() < 1e-3, "{metric}: {one} {other}");
        }
    }
}

/// Names from files come out as text: no terminal sequence, no formula.
#[test]
fn names_are_inert() {
    let folder = Folder::new();
    let rows = Sample::new(200, 2).csv().replacen("a,b,y", "\u{1b}[31ma,@b,=cmd()", 1);
    folder.write("a.csv", rows);
    let fit = folder.run(&format!("{FIT} --scale robust")).good();
    let info = folder.run("info m.dpp").good();
    let predicted = folder.run("predict m.dpp a.csv").good();
    for text in [&fit.out, &fit.err, &info.out, &predicted.err] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    assert!(info.out.contains("\\u{1b}[31ma"), "{}", info.out);
    assert!(predicted.out.starts_with("'=cmd()\n"), "{}", predicted.out);
    folder.write("\u{1b}[31m.csv", "a,b\n1\n");
    let refused = folder.run("fit \u{1b}[31m.csv --model m.dpp");
    assert!(!refused.err.contains('\u{1b}'), "{:?}", refused.err);
}

#[test]
fn a_path_that_is_not_unicode_is_reported() {
    let folder = Folder::with("a.csv", Sample::new(200, 2).csv());
    let mut arguments: Vec<OsString> = FIT.split(' ').map(OsString::from).collect();
    *arguments.last_mut().unwrap() = OsString::from_vec(b"m\xff.dpp".to_vec());
    arguments.push("--json".into());
    let run = Run::of(&folder.command(&arguments).output().unwrap()).good();
    assert_eq!(run.json()["model"], "m\u{fffd}.dpp");
}

#[test]
fn any_number_of_threads_is_one_that_there_can_be() {
    let folder = Folder::with("a.csv", Sample::new(300, 2).csv());
    let fit = |threads: &str| {
        let mut command = folder.command(&FIT.split(' ').collect::<Vec<_>>());
        Run::of(&command.env("RAYON_NUM_THREADS", threads).output().unwrap()).good();
        folder.bytes("m.dpp")
    };
    assert_eq!(fit("100000"), fit("1"));
    assert_eq!(fit("0"), fit("nonsense"));
}

/// A checkpoint's length is known before it is read.
#[test]
fn an_endless_checkpoint_is_not_read() {
    let folder = Folder::with("a.csv", Sample::new(300, 2).csv());
    let header = [b"dppnyckp".as_slice(), &2_u32.to_le_bytes(), &[0; 4]].concat();
    folder.write("c", header);
    std::fs::OpenOptions::new().write(true).open(folder.path("c")).unwrap().set_len(1 << 33).unwrap();
    // Matrix products reserve twice the cache of the processor for each thread.
    let script =
        format!("ulimit -v 4000000; export RAYON_NUM_THREADS=1; exec {PROGRAM} {FIT} --checkpoint c");
    let output = folder.program(Path::new("sh"), &["-c", &script]).output().unwrap();
    Run::of(&output).refused(&["c: ", "another fit"]);
}

/// Weights below the normal numbers of single precision: a device would refuse them.
#[test]
fn what_a_device_would_refuse_is_not_exported() {
    let mut sample = Sample::new(300, 2);
    sample.target.iter_mut().for_each(|value| *value *= 1e-44);
    let folder = Folder::with("a.csv", sample.csv());
    folder.run(FIT).good();
    for quantise in ["", "--quantise i16", "--quantise i8"] {
        let run = folder.run(&format!("export m.dpp --to bytes --out m.bin {quantise}"));
        if run.status == Some(0) {
            folder.run("predict m.bin a.csv --by-position").good();
        } else {
            run.refused(&["single precision"]);
        }
    }
}

/// With any memory there is a result or an error, and never a signal or a file half written.
#[test]
fn any_memory_is_enough_or_an_error() {
    let sample = Sample::new(30_000, 8);
    let folder = Folder::with("a.csv", sample.csv());
    folder
        .run("fit a.csv --metric one --method uniform --landmarks 200 --sigma 3 --ridge 1e-6 --model m.dpp")
        .good();
    let predicted = folder.run("predict m.dpp a.csv --out whole.csv").good().out;
    assert_eq!(predicted, "");
    let whole = folder.bytes("whole.csv");
    let (mut failed, mut good) = (0, 0);
    for megabytes in [100, 120, 150, 190, 240, 300, 400, 600, 1_000, 4_000] {
        for (command, out) in [
            ("fit a.csv --metric one --method uniform --landmarks 200 --sigma 3 --ridge 1e-6 --model x", "x"),
            ("select a.csv --method kdpp --landmarks 200 --sigma 3 --steps 100 --out x", "x"),
            ("predict m.dpp a.csv --out x", "x"),
            ("convert a.csv --out x", "x"),
        ] {
            let _ = std::fs::remove_file(folder.path(out));
            let before = folder.names();
            let script = format!("ulimit -v {}; exec {PROGRAM} {command}", megabytes * 1_024);
            let output = folder.program(Path::new("sh"), &["-c", &script]).output().unwrap();
            let run = Run::of(&output);
            match run.status {
                Some(0) => {
                    good += 1;
                    if command.starts_with("predict") {
                        assert!(folder.bytes(out) == whole, "{megabytes}: {command}");
                    }
                }
                Some(1) => {
                    failed += 1;
                    assert!(run.err.contains("error: "), "{megabytes}: {command}: {}", run.err);
                    assert_eq!(folder.names(), before, "{megabytes}: {command}");
                }
                _ => panic!("{megabytes} MB: {command}: {:?} {}", output.status, run.err),
            }
        }
    }
    println!("memory from 100 MB to 4 GB: {good} results and {failed} errors");
    assert!(failed > 0 && good > 10, "{good} {failed}");
}

/// A row store is mapped: one that is larger than the address space does not take the place of the old one.
#[test]
fn a_store_that_cannot_be_mapped_leaves_the_old_one() {
    let folder = Folder::with("a.csv", format!("a,y\n{}", "1,2\n2,4\n".repeat(4_000_000)));
    folder.write("x", "older");
    let script = format!("ulimit -v 120000; exec {PROGRAM} convert a.csv --out x");
    let output = folder.program(Path::new("sh"), &["-c", &script]).output().unwrap();
    Run::of(&output).refused(&["x: ", "Cannot allocate memory"]);
    assert_eq!(folder.text("x"), "older");
    assert_eq!(folder.names(), ["a.csv", "x"]);
}

/// A column of numbers is what a column called `prediction` was.
#[test]
fn a_formula_in_a_header_does_not_change_the_numbers() {
    let folder = Folder::with("a.csv", Sample::new(200, 2).csv());
    folder.run(FIT).good();
    let plain = column(&folder.run("predict m.dpp a.csv").good().out).1;
    folder.write("a.csv", folder.text("a.csv").replacen("a,b,y", "a,b,=y", 1));
    folder.run(FIT).good();
    let marked = folder.run("predict m.dpp a.csv").good().out;
    assert_eq!(column(&marked), ("'=y", plain));
}

#[test]
fn a_row_is_named_by_its_place_among_all() {
    let folder = Folder::with("a.csv", Sample::new(200, 2).csv());
    folder.run(FIT).good();
    let model = Model::load(folder.path("m.dpp")).unwrap();
    for (row, column) in [(0, 1), (1_500, 0), (4_999, 1)] {
        let mut rows = vec![0.5; 10_000];
        rows[2 * row + column] = f64::NAN;
        let error = model.predict(&rows).unwrap_err();
        assert_eq!((error.core(), error.row()), (Some(CoreError::NotFinite { row, column }), Some(row)));
    }
}

/// Names that a page, a spreadsheet, a terminal or a compiler would obey.
fn hostile_names() -> Vec<String> {
    let names = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onload='alert(1)",
        "&lt;b&gt;",
        "=cmd()",
        "+cmd|' /C calc'!A0",
        "@SUM(1)",
        " =1+1",
        "\u{1b}[31mred\u{1b}]0;title\u{7}",
        "\u{9b}31m",
        "*/ #error \"x\" /*",
        "??/",
        "back\\",
        "a\u{2028}b\u{2029}c",
        "\u{202e}txt.exe\u{2066}",
        "two\nlines\r\n#error",
        "-->",
        "]]>",
        "</svg><script>",
        "</style>",
        "{{7*7}}${7*7}`id`$(id)",
    ];
    names.into_iter().map(str::to_owned).chain(["long".repeat(2_000)]).collect()
}

/// Return a character that a program that shows the text would obey.
fn obeyed(text: &str) -> Option<char> {
    let turns = |c| matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().find(|&c| turns(c) || (c.is_control() && !matches!(c, '\n' | '\t')))
}

fn is_formula(cell: &str) -> bool {
    cell.trim_start().starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err()
}

/// Put a text in single quotes, for a shell.
fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Format rows of features and a last column under these names.
fn table(names: &[String], rows: &[(Vec<f64>, String)]) -> String {
    let cell = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let header: Vec<String> = names.iter().map(|name| cell(name)).collect();
    let line = |(features, last): &(Vec<f64>, String)| {
        features.iter().map(f64::to_string).chain([cell(last)]).collect::<Vec<_>>().join(",") + "\n"
    };
    header.join(",") + "\n" + &rows.iter().map(line).collect::<String>()
}

/// Return the lines of a Rust file that are no comments.
fn code(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with("//")).collect()
}

/// Every name, as a feature, a target, a class and a file, through everything that the program writes.
#[test]
fn hostile_names_are_inert_everywhere() {
    let names = hostile_names();
    let mut noise = Noise(11);
    let row_of = |noise: &mut Noise| (0..names.len()).map(|_| noise.normal()).collect::<Vec<f64>>();
    let features: Vec<Vec<f64>> = (0..10 * names.len()).map(|_| row_of(&mut noise)).collect();
    let numbers: Vec<(Vec<f64>, String)> =
        features.iter().map(|row| (row.clone(), (2.0 * row[0]).sin().to_string())).collect();
    // A label is one line.
    let labels: Vec<&String> = names.iter().filter(|name| !name.contains('\n')).collect();
    let of_class = |(at, row): (usize, &Vec<f64>)| {
        let class = at % labels.len();
        let near = row[..2].iter().map(|value| 0.1 * value + class as f64).collect();
        (near, labels[class].clone())
    };
    let classes: Vec<(Vec<f64>, String)> = features.iter().enumerate().map(of_class).collect();
    // What harmless names give, in Rust and in C.
    let plain: Vec<String> = (0..=names.len()).map(|i| format!("x{i}")).collect();
    let harmless = ["scales", "one"].map(|metric| {
        let folder = Folder::with("plain.csv", table(&plain, &numbers));
        folder
            .run(&format!(
                "fit plain.csv --landmarks 10 --method uniform --metric {metric} --model plain.dpp"
            ))
            .good();
        ["rust", "c"].map(|form| {
            folder.run(&format!("export plain.dpp --to {form} --name m --out plain")).good();
            folder.text("plain")
        })
    });
    let (mut faults, mut checks) = (Vec::new(), [0; 7]);
    for (at, name) in names.iter().enumerate() {
        let folder = Folder::new();
        let stem: String = name.replace('/', "_").chars().take(60).collect();
        let data = format!("./{stem}.csv");
        let header: Vec<String> = names.iter().cloned().chain([format!("{name}!")]).collect();
        folder.write(&data, table(&header, &numbers));
        folder.write("classes.csv", table(&["a".to_owned(), "b".to_owned(), name.clone()], &classes));
        let mut check = |outlet: usize, what: String| {
            checks[outlet] += 1;
            if !what.is_empty() {
                faults.push(format!("{name:.40?}: {what}"));
            }
        };
        let outcome = |arguments: &[&str]| Run::of(&folder.command(arguments).output().unwrap());
        // Learning a metric takes a second: for two names.
        let metric = if at < 2 { "scales" } else { "one" };
        let fit = |data: &str, model: &str, page: &str, metric: &str| {
            let options = ["--landmarks", "10", "--method", "uniform", "--metric", metric, "--header", "yes"];
            outcome(&[&["fit", data, "--model", model, "--report", page], &options[..]].concat()).good()
        };
        let told = [fit(&data, "m.dpp", "m.html", metric), fit("classes.csv", "c.dpp", "c.html", "one")];

        // 0: pages.
        for page in ["m.html", "c.html"] {
            check(0, well_formed(&folder.text(page)).err().unwrap_or_default());
        }
        // 1: pictures.
        if metric == "scales" {
            outcome(&["info", "m.dpp", "--chart", "m.svg"]).good();
            check(1, well_formed(&folder.text("m.svg")).err().unwrap_or_default());
        }
        // 2: tables for spreadsheets.
        let predicted = [["m.dpp", &data], ["c.dpp", "classes.csv"]]
            .map(|[model, data]| outcome(&["predict", model, data]).good());
        for Run { out, .. } in &predicted {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(out.as_bytes());
            let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            assert_eq!(records.len(), 1 + numbers.len());
            let cell = records.iter().flatten().find(|cell| is_formula(cell) || obeyed(cell).is_some());
            check(2, cell.map_or(String::new(), |cell| format!("a cell of CSV is {cell:.60?}")));
        }
        // 3: what a terminal is sent.
        let json =
            [["info", "m.dpp", "--json"], ["info", "c.dpp", "--json"]].map(|info| outcome(&info).good());
        let refused = [["m.dpp", "classes.csv"], ["m.dpp", &format!("absent{stem}")]]
            .map(|[model, data]| outcome(&["predict", model, data]));
        assert!(refused.iter().all(|run| run.status == Some(1)), "{name:?}");
        let info = [["info", "m.dpp"], ["info", "c.dpp"]].map(|info| outcome(&info).good());
        for Run { out, err, .. } in told.iter().chain(&info).chain(&json).chain(&refused).chain(&predicted) {
            let begun = out.lines().chain(err.lines()).any(|line| line.starts_with("#error"));
            let found = obeyed(out).or(obeyed(err)).or(begun.then_some('\n'));
            check(3, found.map_or(String::new(), |c| format!("a terminal would obey {c:?}")));
        }
        // 4: the same on a terminal, where the program's own line of progress has sequences too.
        for command in ["info m.dpp", &format!("predict m.dpp {}", in_quotes(&data)), "info c.dpp --json"] {
            let shown = on_a_terminal(&folder, "", command);
            let sequences = ["\u{1b}[31m", "\u{1b}]0;", "\u{9b}", "\u{202e}", "\u{2028}"];
            let sent = sequences.into_iter().find(|sequence| shown.contains(sequence));
            check(4, sent.map_or(String::new(), |sent| format!("the terminal was sent {sent:?}")));
        }
        // 5 and 6: exported code, which is that of a model with harmless names.
        for (form, file) in [("c", "h"), ("rust", "rs")] {
            for model in ["m", "c"] {
                let (model, out) = (format!("{model}.dpp"), format!("{model}.{file}"));
                outcome(&["export", &model, "--to", form, "--name", "m", "--out", &out]).good();
                check(5, obeyed(&folder.text(&out)).map_or(String::new(), |c| format!("{form} has {c:?}")));
            }
        }
        let [rust, c] = &harmless[usize::from(metric == "one")];
        let after = |header: &str| header.split_once("*/").unwrap().1.to_owned();
        for (same, what) in [
            (code(&folder.text("m.rs")) == code(rust), "another Rust code"),
            (after(&folder.text("m.h")) == after(c), "another C code"),
        ] {
            check(6, if same { String::new() } else { what.to_owned() });
        }
        if at == 0 || name.contains("*/") {
            for header in ["m.h", "c.h"] {
                compiled(&folder, &format!("#include \"{header}\"\nint main(void)\n{{\n    return 0;\n}}\n"));
            }
        }
    }
    assert!(checks.iter().all(|&count| count > 1), "{checks:?}");
    assert!(faults.is_empty(), "{} faults of {checks:?}:\n{}", faults.len(), faults.join("\n"));
}
