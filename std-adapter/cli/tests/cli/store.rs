//! Row stores: results equal those from the original file, and a damaged or changing store is rejected.

use crate::command::{Folder, Run, assert_close, assert_landmarks, column, number, row_numbers};
use crate::sample::{Noise, Sample};
use std::fs::OpenOptions;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROWS: usize = 3_000;

/// Create `a.csv`, and `a.rows` from it in this precision.
fn stored(rows: usize, precision: &str) -> Folder {
    let folder = Folder::with("a.csv", Sample::new(rows, 4).csv());
    folder.run(&format!("convert a.csv --precision {precision} --out a.rows")).good();
    folder
}

#[test]
fn a_store_is_described() {
    let folder = Folder::with("a.csv", Sample::new(50, 3).csv());
    let run = folder.run("convert a.csv --out a.rows --json").good();
    assert!(run.err.contains("target: column \"y\", the last"), "{}", run.err);
    let told = run.json();
    assert_eq!((number(&told, "rows"), number(&told, "dim")), (50.0, 3.0));
    assert_eq!((&told["target"], &told["precision"]), (&"y".into(), &"f64".into()));
    // From standard input, without a target, in single precision: three values per row instead of four.
    let csv = folder.bytes("a.csv");
    let run =
        folder.run_with_input("convert - --target none --precision f32 --out b.rows --json", &csv).good();
    assert_eq!((number(&run.json(), "dim"), &run.json()["target"]), (4.0, &().into()));
    assert_eq!(folder.bytes("b.rows").len(), 4_096 + 50 * 4 * 4);
    assert_eq!(folder.bytes("a.rows").len(), 4_096 + 50 * 4 * 8);
}

/// With all rows in memory and the same standardisation, the same draws select the same rows.
#[test]
fn a_store_selects_and_fits_what_its_file_does() {
    for precision in ["f64", "f32"] {
        let folder = stored(ROWS, precision);
        for method in ["kdpp", "uniform", "rpcholesky --pivot-rows 500", "greedy"] {
            let select = |data: &str| {
                let options =
                    format!("--landmarks 20 --method {method} --sigma 2 --precision {precision} --json");
                folder.run(&format!("select {data} {options}")).good().json()
            };
            let (file, store) = (select("a.csv"), select("a.rows"));
            let landmarks = row_numbers(&store, "landmarks");
            assert_landmarks(&landmarks, 20, ROWS);
            // In single precision the rounding of the rows may change a swap decision.
            if precision == "f64" {
                assert_eq!(landmarks, row_numbers(&file, "landmarks"), "{method}");
                assert_close(number(&store, "trace_error"), number(&file, "trace_error"), 1e-9);
            }
        }
        folder.write("given.csv", "row\n5\n900\n17\n2999\n2000\n");
        for ridge in ["cv", "1e-5"] {
            let fit = |data: &str| {
                let options = format!("--given given.csv --sigma 2 --ridge {ridge} --precision {precision}");
                let model = format!("{data}.dpp");
                let fitted = folder
                    .run(&format!("fit --metric one {data} {options} --model {model} --json"))
                    .good()
                    .json();
                let predicted = folder.run(&format!("predict {model} a.csv")).good().out;
                (number(&fitted, "train_nrmse"), number(&fitted, "ridge"), column(&predicted).1)
            };
            let ((file, file_ridge, predicted), (store, store_ridge, again)) = (fit("a.csv"), fit("a.rows"));
            let share = if precision == "f64" { 1e-9 } else { 1e-3 };
            assert_close(store, file, share);
            assert_eq!(store_ridge, file_ridge);
            for (one, other) in again.iter().zip(&predicted) {
                assert!((one - other).abs() <= share * 10.0, "{one} {other}");
            }
        }
    }
}

#[test]
fn a_store_is_data_like_any_other() {
    let folder = stored(ROWS, "f64");
    folder.run("fit --metric one a.csv --landmarks 10 --ridge 1e-4 --model m.dpp").good();
    let predicted = |data: &str| column(&folder.run(&format!("predict m.dpp {data}")).good().out).1;
    for (one, other) in predicted("a.rows").iter().zip(predicted("a.csv")) {
        assert_close(*one, other, 1e-9);
    }
    let error = |data: &str| {
        let told = folder.run(&format!("predict m.dpp {data}")).good().err;
        told.split_once("root mean square error ").expect("an error").1.split(',').next().unwrap().to_owned()
    };
    assert_eq!(error("a.rows"), error("a.csv"));
    // The target of a store may be another number.
    let renamed = folder.text("a.csv").replacen(",y\n", ",other\n", 1);
    folder.write("other.csv", renamed);
    folder.run("convert other.csv --out other.rows").good();
    let told = folder.run("predict m.dpp other.rows").good().err;
    assert!(told.contains("the store's target is \"other\", and the model predicts \"y\""), "{told}");
    assert!(!told.contains("root mean square"), "{told}");
    for command in [
        "evaluate DATA --methods uniform,kdpp --landmarks 10 --seeds 1 --rows 400 --json",
        "tune DATA --landmarks 10 --rows 300 --json",
        "diagnose DATA --landmarks 5 --rows 200 --json",
        "select DATA --landmarks 10 --method kmeans-snapped --rows 500 --json",
        "fit --metric one DATA --landmarks 10 --method refined --rows 500 --model r.dpp --json",
    ] {
        folder.run(&command.replace("DATA", "a.rows")).good();
    }
    // Rows of a sample are reported by their indices in the store.
    let drawn = folder.run("select a.rows --landmarks 10 --rows 500 --sigma 2 --json").good().json();
    let file = folder.run("select a.csv --landmarks 10 --rows 500 --sigma 2 --json").good().json();
    assert_eq!(drawn["landmarks"], file["landmarks"]);
}

#[test]
fn auto_selects_among_some_of_very_many() {
    let folder = stored(140_000, "f32");
    let run = folder
        .run("fit --metric one a.rows --landmarks 12 --ridge 1e-4 --sigma 2 --model m.dpp --json")
        .good();
    assert!(run.err.contains("landmarks are selected among 131072 rows drawn at random"), "{}", run.err);
    assert!(run.err.contains("--method auto took --method"), "{}", run.err);
    let told = run.json();
    assert_landmarks(&row_numbers(&told, "landmarks"), 12, 140_000);
    assert_eq!((&told["method"], number(&told, "rows")), (&"auto".into(), 140_000.0));
    let again = folder.run("select a.rows --landmarks 12 --method auto --sigma 2 --json").good().json();
    assert_eq!(again["landmarks"], told["landmarks"]);
    assert_eq!(number(&again, "measured_rows"), 65_536.0);
}

#[test]
fn columns_far_from_zero_keep_their_digits_in_single_precision() {
    let row = |i: i32| format!("{},{}\n", 1.0e9 + f64::from(i % 7), i % 5);
    let folder = Folder::with("a.csv", (0..1_000).map(row).collect::<String>());
    folder.run("convert a.csv --precision f32 --out a.rows").good();
    folder
        .run("fit --metric one a.csv --given g.csv --ridge 1e-6 --sigma 1 --model m.dpp")
        .refused(&["g.csv"]);
    folder.write("g.csv", "row\n0\n1\n2\n3\n");
    folder.run("fit --metric one a.rows --given g.csv --ridge 1e-6 --sigma 1 --model m.dpp").good();
    let told = folder.run("info m.dpp --json").good().json();
    assert_eq!(number(&told, "trained_rows"), 1_000.0);
    let predict = folder.run("predict m.dpp a.rows").good();
    assert_eq!(column(&predict.out).1.len(), 1_000);
}

#[test]
fn invalid_options_for_a_store_are_rejected() {
    let folder = stored(100, "f64");
    folder.run("select a.rows --landmarks 5 --target b").refused(&[
        "a.rows",
        "this one's is \"y\"",
        "convert",
    ]);
    folder.run("select a.rows --landmarks 5 --target y").good();
    folder.run("select a.rows --landmarks 101").refused(&["101 landmarks", "100 rows"]);
    folder.run("select a.rows --landmarks 5 --rows 101").refused(&["101 rows requested"]);
    folder.run("convert a.csv --out a.csv").refused(&["would overwrite an input"]);
    folder.run("convert a.csv --out none/a.rows").refused(&["none/a.rows: cannot be written"]);
    folder.run("convert a.csv --out /dev/null").refused(&["/dev/null: cannot be written"]);
    folder.run("convert none.csv --out b.rows").refused(&["none.csv: cannot be opened"]);
    folder.write("wide.csv", "1e308,1\n-1e308,2\n");
    folder.run("convert wide.csv --precision f32 --out b.rows").refused(&["column \"x0\"", "overflows"]);
    folder.write("other.csv", "p,q,r,s,y\n1,2,3,4,5\n2,3,4,5,7\n3,1,1,1,1\n");
    folder.run("convert other.csv --out other.rows").good();
    folder.run("fit --metric one a.rows --landmarks 5 --model m.dpp").good();
    folder.run("predict m.dpp other.rows").refused(&["other.rows: the features differ from the model's"]);
    folder.run("convert a.csv --target none --out untargeted.rows").good();
    folder
        .run("fit --metric one untargeted.rows --landmarks 5 --model n.dpp")
        .refused(&["no target: regression needs one"]);
    assert!(!folder.names().contains(&"b.rows".to_owned()), "{:?}", folder.names());
}

/// A damaged store is rejected wherever the damage is, without a crash.
#[test]
fn damage_is_found() {
    let folder = stored(200, "f64");
    let whole = folder.bytes("a.rows");
    let refused = |bytes: &[u8], part: &str| {
        folder.write("b.rows", bytes);
        folder
            .run("fit --metric one b.rows --landmarks 5 --ridge 1e-3 --model m.dpp")
            .refused(&["b.rows", part]);
    };
    for end in [9, 13, 19, 25, 100, 4_095, 4_096, 5_000, whole.len() - 1] {
        refused(&whole[..end], "truncated");
    }
    refused(&[&whole[..], &[0]].concat(), "extra bytes after the end");
    for (at, part) in [
        (8, "version"),
        (12, ""),
        (16, "corrupt"),
        (21, "corrupt"),
        (60, "corrupt"),
        (5_000, "values"),
        (whole.len() - 1, "values"),
    ] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        refused(&bytes, part);
    }
    // Read as text, it is not a table either.
    let mut bytes = whole.clone();
    bytes[0] = b'x';
    folder.write("b.rows", bytes);
    assert_eq!(folder.run("select b.rows --landmarks 5").status, Some(1));
    assert!(!folder.names().contains(&"m.dpp".to_owned()));
}

/// Rows of three classes whose statistics are exact: of each feature the mean is 0 and the deviation 1, in
/// any order of summation.
fn exact_classes() -> Folder {
    const PAIRS: usize = 256;
    let mut noise = Noise(11);
    let features: [Vec<f64>; 5] = std::array::from_fn(|_| {
        let mut order: Vec<(u64, usize)> = (0..PAIRS).map(|pair| (noise.bits(), pair)).collect();
        order.sort_unstable();
        let mut values = vec![0.0; 2 * PAIRS];
        for (at, (bits, pair)) in order.into_iter().enumerate() {
            // (5 · 7² + 11 · 1²) / 16 = 4²
            let size = if at < PAIRS * 5 / 16 { 7.0 / 4.0 } else { 1.0 / 4.0 };
            let value = if bits & 1 == 0 { size } else { -size };
            [values[2 * pair], values[2 * pair + 1]] = [value, -value];
        }
        values
    });
    let label = |row: usize| match features[0][row] * features[1][row] + 0.3 * noise.normal() {
        score if score > 0.2 => "b, high",
        score if score < -0.2 => "c",
        _ => "a",
    };
    let labels: Vec<&str> = (0..2 * PAIRS).map(label).collect();
    let row = |row: usize| {
        let values: Vec<String> = features.iter().map(|values| values[row].to_string()).collect();
        format!("{},\"{}\"\n", values.join(","), labels[row])
    };
    let rows = (0..2 * PAIRS).map(row).collect::<String>();
    let folder = Folder::with("a.csv", "p,q,r,s,t,kind\n".to_owned() + &rows);
    folder.run("convert a.csv --out a.rows").good();
    folder
}

#[test]
fn classes_of_a_store_are_those_of_its_file() {
    let folder = exact_classes();
    for options in [
        "--metric one --method uniform --landmarks 20",
        "--metric one --sigma cv --landmarks 20 --seed 3",
        "--metric one --ridge loo --landmarks 20",
        "--landmarks 20 --precision f32",
        "--landmarks 20",
    ] {
        // A store is made as strictly.
        let strict = |data: &str| if data.ends_with(".csv") { "--strict" } else { "" };
        let fit = |data: &str| {
            let strict = strict(data);
            folder.run(&format!("fit {data} {options} {strict} --model {data}.dpp --json")).good()
        };
        let [store, file] = ["a.rows", "a.csv"].map(|data| fit(data).json());
        assert_eq!(store["classes"], file["classes"], "{options}");
        assert!(number(&file["classes"], "accuracy") > 0.4, "{file}");
        // In place, the precision is that of the store.
        if !options.contains("f32") {
            assert!(folder.bytes("a.rows.dpp") == folder.bytes("a.csv.dpp"), "{options}");
        }
    }
    let predict = |data: &str| folder.run(&format!("predict a.csv.dpp {data}")).good();
    let [store, file] = ["a.rows", "a.csv"].map(predict);
    assert_eq!((&store.out, &store.err), (&file.out, &file.err));
    assert!(file.err.contains("accuracy 0."), "{}", file.err);
    let evaluate = "--methods uniform,kdpp --landmarks 20 --seeds 2 --rows 512 --json";
    let accuracies = |data: &str| {
        let trials = folder.run(&format!("evaluate {data} {evaluate}")).good().json_lines();
        trials.iter().map(|trial| number(trial, "accuracy")).collect::<Vec<_>>()
    };
    assert_eq!(accuracies("a.rows"), accuracies("a.csv"));
    for command in ["select a.rows --landmarks 5", "tune a.rows --landmarks 10", "info a.csv.dpp"] {
        folder.run(command).good();
    }
    folder.run("diagnose a.rows --landmarks 5").refused(&["one target that is a number"]);
    folder.run("fit a.rows --classes --model m.dpp").refused(&["a.rows", "convert"]);
}

#[test]
fn labels_of_a_store_are_matched_by_name() {
    let folder = exact_classes();
    folder.run("fit a.csv --landmarks 20 --model m.dpp").good();
    // Labels in another order, one of them new and another without rows.
    let data: String = folder.text("a.csv").replace("\"c\"", "new").replace("\"a\"", "zero");
    let (_, data) = data.split_once('\n').unwrap();
    let attributes: String =
        ["p", "q", "r", "s", "t"].map(|name| format!("@attribute {name} numeric\n")).concat();
    let head = format!("@relation r\n{attributes}@attribute kind {{new,'b, high',none,zero}}\n@data\n");
    folder.write("b.arff", head + data);
    let told = folder.run("convert b.arff --out b.rows --json").good().json();
    assert_eq!(told["classes"], serde_json::json!(["new", "b, high", "zero"]));
    let store = folder.run("predict m.dpp b.rows --out o.csv").good();
    // The accuracy is that of the class that both know.
    let rows = folder.text("a.csv").lines().zip(folder.text("o.csv").lines()).skip(1).fold(
        (0, 0),
        |(right, all), (row, predicted)| match row.contains("b, high") {
            true => (right + u32::from(predicted.contains("b, high")), all + 1),
            false => (right, all),
        },
    );
    let share = f64::from(rows.0) / f64::from(rows.1);
    let accuracy = store.err.split_once("accuracy ").unwrap().1.split(',').next().unwrap();
    assert_close(accuracy.parse().unwrap(), share, 1e-3);
    // Neither does a model of numbers take an index for a number, nor one of classes a number for an index.
    folder.run("fit a.csv --target p --ignore kind --landmarks 20 --model n.dpp").good();
    folder.write(
        "n.csv",
        folder.text("a.csv").replace("\"b, high\"", "1").replace("\"c\"", "2").replace("\"a\"", "0"),
    );
    folder.run("convert n.csv --out n.rows").good();
    let told = folder.run("predict m.dpp n.rows --out o.csv").good().err;
    assert!(!told.contains("accuracy"), "{told}");
    folder.write("k.csv", folder.text("a.csv").replacen("kind", "shift", 1));
    folder.run("convert k.csv --out k.rows").good();
    let told = folder.run("predict m.dpp k.rows --out o.csv").good().err;
    assert!(told.contains("the store's target is \"shift\"") && !told.contains("accuracy"), "{told}");
    folder.write(
        "one.arff",
        "@relation r\n@attribute a numeric\n@attribute y {p,q}\n@data\n1,p\n2,p\n3,p\n4,p\n",
    );
    folder.run("convert one.arff --out one.rows").good();
    folder.run("fit one.rows --landmarks 2 --model o.dpp").refused(&["\"y\"", "one class"]);
}

/// Wait until a file exists.
fn wait_for(folder: &Folder, name: &str, child: &mut std::process::Child) -> bool {
    let begin = Instant::now();
    while !folder.path(name).exists() {
        if child.try_wait().expect("a status").is_some() || begin.elapsed() > Duration::from_secs(120) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

fn start(folder: &Folder, arguments: &str) -> std::process::Child {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let mut command: Command = folder.command(&words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program")
}

/// Runs long enough to be interrupted midway.
const LONG: &str =
    "fit --metric one a.rows --landmarks 60 --method uniform --sigma 2 --checkpoint c --checkpoint-every 0";

#[test]
fn a_store_truncated_during_a_fit_is_an_error() {
    let folder = stored(200_000, "f32");
    let mut child = start(&folder, &format!("{LONG} --model m.dpp"));
    assert!(wait_for(&folder, "c", &mut child), "the fit ended too early");
    OpenOptions::new().write(true).open(folder.path("a.rows")).unwrap().set_len(5_000).unwrap();
    let run = Run::of(&child.wait_with_output().unwrap());
    run.refused(&["a.rows: the file was truncated"]);
    assert!(!folder.path("m.dpp").exists());
}

#[test]
fn a_killed_fit_resumes_to_the_same_model() {
    resumes(&stored(200_000, "f64"));
}

#[test]
fn a_killed_fit_to_classes_resumes_to_the_same_model() {
    let sample = Sample::new(150_000, 4);
    let labels = sample.target.iter().zip(&sample.features);
    let labels = labels.map(|(y, row)| if *y < row[0] { "low" } else { "high" });
    let csv = sample.csv();
    let rows = csv.lines().skip(1).zip(labels).map(|(line, label)| {
        let (features, _) = line.rsplit_once(',').unwrap();
        format!("{features},{label}\n")
    });
    let head = csv.lines().next().unwrap().to_owned() + "\n";
    let folder = Folder::with("a.csv", head + &rows.collect::<String>());
    folder.run("convert a.csv --out a.rows").good();
    resumes(&folder);
}

fn resumes(folder: &Folder) {
    folder.run("fit --metric one a.rows --landmarks 60 --method uniform --sigma 2 --model whole.dpp").good();
    let mut child = start(folder, &format!("{LONG} --model m.dpp"));
    assert!(wait_for(folder, "c", &mut child), "the fit ended too early");
    child.kill().unwrap();
    child.wait().unwrap();
    // Another fit rejects the checkpoint.
    folder
        .run(&format!("{LONG} --seed 1 --model other.dpp"))
        .refused(&["c: the checkpoint belongs to another fit"]);
    let damaged = folder.bytes("c");
    folder.write("d", &damaged[..damaged.len() - 1]);
    folder
        .run(&format!("{} --model other.dpp", LONG.replace("checkpoint c", "checkpoint d")))
        .refused(&["d: corrupt"]);
    let run = folder.run(&format!("{LONG} --model m.dpp")).good();
    assert!(run.err.contains("rows had been accumulated before"), "{}", run.err);
    assert!(folder.bytes("m.dpp") == folder.bytes("whole.dpp"), "another model");
    assert!(!folder.path("c").exists() && !folder.path("other.dpp").exists());
}

#[test]
fn a_fit_to_rows_in_memory_that_was_killed_resumes_to_the_same_model() {
    let sample = Sample::new(200_000, 4);
    let folder = Folder::with("a.npy", sample.npy(true));
    let fit = LONG.replace("a.rows", "a.npy");
    folder.run("fit --metric one a.npy --landmarks 60 --method uniform --sigma 2 --model whole.dpp").good();
    let mut child = start(&folder, &format!("{fit} --model m.dpp"));
    assert!(wait_for(&folder, "c", &mut child), "the fit ended too early");
    child.kill().unwrap();
    child.wait().unwrap();
    folder
        .run(&format!("{fit} --seed 1 --model other.dpp"))
        .refused(&["c: the checkpoint belongs to another fit"]);
    let run = folder.run(&format!("{fit} --model m.dpp")).good();
    assert!(run.err.contains("rows had been accumulated before"), "{}", run.err);
    assert!(folder.bytes("m.dpp") == folder.bytes("whole.dpp"), "another model");
    assert!(!folder.path("c").exists() && !folder.path("other.dpp").exists());
}
