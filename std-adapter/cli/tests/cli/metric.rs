//! `fit --metric`: features that do not matter, noise, invalid options.

use crate::command::{Folder, Run, number};
use crate::sample::{Noise, Sample};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Of eight features the target depends on the first and the last alone, and on noise.
fn planted(rows: usize) -> Sample {
    let mut sample = Sample::new(rows, 8);
    let mut noise = Noise(rows as u64);
    let target = |row: &Vec<f64>| row[0].sin() + ((row[7] - 7.0) / 8.0).sin() + 0.05 * noise.normal();
    let targets = sample.features.iter().map(target);
    sample.target = targets.collect();
    sample
}

fn folder() -> Folder {
    let folder = Folder::with("a.csv", planted(1_000).csv());
    folder.write("new.csv", planted(400).csv());
    folder
}

fn fit(folder: &Folder, options: &str) -> Run {
    let landmarks = if options.contains("--landmarks") { "" } else { "--landmarks 25" };
    folder.run(&format!("fit a.csv {landmarks} --method rpcholesky --model m --json {options}")).good()
}

/// Root mean squared error on new rows.
fn error(folder: &Folder) -> f64 {
    folder.run("predict m new.csv --out p.csv").good();
    error_of("p.csv", folder)
}

/// Root mean squared error of predictions for new rows.
fn error_of(predictions: &str, folder: &Folder) -> f64 {
    let expected = planted(400).target;
    let predicted = folder.text(predictions);
    let predicted = predicted.lines().skip(1).map(|line| line.parse::<f64>().unwrap());
    let squares = predicted.zip(&expected).map(|(found, expected)| (found - expected).powi(2));
    (squares.sum::<f64>() / expected.len() as f64).sqrt()
}

#[test]
fn scales_leave_out_what_does_not_matter() {
    let folder = folder();
    let one = fit(&folder, "--metric one").json();
    assert!(one["metric"].is_null());
    let error_of_one = error(&folder);
    let run = fit(&folder, "--metric scales");
    let report = run.json();
    let scales: Vec<f64> =
        report["scales"].as_array().unwrap().iter().map(|scale| scale.as_f64().unwrap()).collect();
    let least = scales[0].min(scales[7]);
    assert!(scales[1..7].iter().all(|&scale| scale < 0.2 * least), "{scales:?}");
    assert!(error(&folder) < 0.5 * error_of_one, "{} {error_of_one}", error(&folder));
    let held_out = |metric: usize| number(&report["held_out"][metric], "nrmse");
    assert!(held_out(1) < 0.5 * held_out(0), "{report}");
    // The exported model has the scales in its constants.
    folder.run("export m --to bytes --out m.bin").good();
    folder.run("predict m new.csv --out p.csv").good();
    folder.run("predict m.bin new.csv --out q.csv").good();
    for (full, single) in folder.text("p.csv").lines().zip(folder.text("q.csv").lines()).skip(1) {
        let (full, single): (f64, f64) = (full.parse().unwrap(), single.parse().unwrap());
        // Weights of some hundreds in single precision.
        assert!((full - single).abs() < 1e-3, "{full} {single}");
    }
    // The same seed, another number of threads.
    for metric in ["scales", "auto"] {
        fit(&folder, &format!("--metric {metric}"));
        let bytes = folder.bytes("m");
        let arguments = format!("fit a.csv --landmarks 25 --method rpcholesky --model m --metric {metric}");
        let mut again = folder.command(&arguments.split(' ').collect::<Vec<_>>());
        assert!(again.env("RAYON_NUM_THREADS", "1").output().unwrap().status.success());
        assert!(folder.bytes("m") == bytes, "{metric}");
    }
}

/// Of eight features the target depends on the difference of two alone.
fn tilted(rows: usize) -> Sample {
    let mut sample = planted(rows);
    sample.target = sample.features.iter().map(|row| (row[0] - (row[7] - 7.0) / 8.0).sin()).collect();
    sample
}

/// A map of rank 1 suffices; selection, regression, variance, file and prediction are all in the mapped rows,
/// and equal those on a file of rows that are mapped beforehand.
#[test]
fn a_map_is_the_same_as_mapped_rows() {
    let folder = Folder::with("a.csv", tilted(1_000).csv());
    folder.write("new.csv", tilted(400).csv());
    let options = "--metric map:1 --kernel matern32 --ridge 1e-6 --variance --sigma 2.5";
    let report = fit(&folder, options).json();
    assert_eq!(report["metric"], "map:1");
    let map: Vec<f64> =
        report["map"][0].as_array().unwrap().iter().map(|entry| entry.as_f64().unwrap()).collect();
    let scales = [map[0].abs(), map[7].abs()];
    assert!(map[1..7].iter().all(|entry| entry.abs() < 0.1 * scales[0].min(scales[1])), "{map:?}");
    assert!(map[0] * map[7] < 0.0, "{map:?}");
    let predictions = |model: &str, rows: &str| -> Vec<f64> {
        folder.run(&format!("predict {model} {rows} --out p.csv --with variance,nearest,novelty")).good();
        let text = folder.text("p.csv");
        text.lines().skip(1).flat_map(|line| line.split(',').map(|cell| cell.parse().unwrap())).collect()
    };
    let found = predictions("m", "new.csv");
    let scaler = dpp_nystrom::Model::load(folder.path("m")).unwrap().scaler;
    assert_eq!(scaler.width(), 1);
    let info = folder.run("info m --json").good().json();
    assert_eq!(info["map"], report["map"]);
    assert_eq!(info["scales"], report["scales"]);

    // One feature, by hand. Its deviation is not 1: the bandwidth is in its units.
    let mapped = |sample: &Sample| {
        let value = |row: &Vec<f64>| {
            let columns = row.iter().zip(&scaler.means).zip(&scaler.deviations).zip(&map);
            columns.map(|(((value, mean), deviation), entry)| (value - mean) / deviation * entry).sum::<f64>()
        };
        sample.features.iter().map(value).collect::<Vec<f64>>()
    };
    let (rows, new) = (tilted(1_000), tilted(400));
    let values = mapped(&rows);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let deviation =
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
    let csv = |values: Vec<f64>, targets: &[f64]| {
        let lines = values.iter().zip(targets).map(|(value, target)| format!("{value:?},{target:?}\n"));
        "x,y\n".to_owned() + &lines.collect::<String>()
    };
    folder.write("b.csv", csv(values, &rows.target));
    folder.write("new-b.csv", csv(mapped(&new), &new.target));
    let landmarks: Vec<String> =
        report["landmarks"].as_array().unwrap().iter().map(|row| format!("{row}\n")).collect();
    folder.write("rows.csv", "row\n".to_owned() + &landmarks.concat());
    let sigma = 2.5 / deviation;
    let given = format!(
        "fit b.csv --given rows.csv --metric one --model n --kernel matern32 --ridge 1e-6 --variance --sigma {sigma:?}"
    );
    folder.run(&given).good();
    for (at, (found, expected)) in found.iter().zip(predictions("n", "new-b.csv")).enumerate() {
        // Distances are in the units of the mapped rows.
        let expected = if at % 4 == 2 { expected * deviation } else { expected };
        assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{at} {found} {expected}");
    }

    // On a device, from whose bytes the desktop predicts as from the model.
    folder.run("export m --to bytes --out m.bin --with novelty,variance").good();
    for (found, expected) in predictions("m.bin", "new.csv").into_iter().zip(found) {
        assert!((found - expected).abs() < 1e-2 * (1.0 + expected.abs()), "{found} {expected}");
    }
}

#[test]
fn auto_keeps_one_bandwidth_where_scales_are_no_better() {
    // A target that depends on no feature.
    let mut sample = Sample::new(150, 4);
    sample.target.rotate_left(17);
    sample.target.iter_mut().for_each(|value| *value = (*value * 1e4).fract());
    let folder = Folder::with("a.csv", sample.csv());
    // The rows left out are judged by other metrics where these are chosen without them.
    let model = || {
        let model = dpp_nystrom::Model::load(folder.path("m")).unwrap();
        dpp_nystrom::Model { test_error: None, importances: None, ..model }
    };
    let fits: Vec<(String, dpp_nystrom::Model)> = (0..4)
        .flat_map(|seed| ["one", "auto"].map(|metric| (seed, metric)))
        .map(|(seed, metric)| {
            let report = fit(&folder, &format!("--seed {seed} --metric {metric}")).json();
            (report["metric"].as_str().unwrap_or("one").to_owned(), model())
        })
        .collect();
    let kept = fits.chunks(2).filter(|pair| pair[1].0 == "one").count();
    assert!(kept > 0, "no seed kept one bandwidth");
    for pair in fits.chunks(2) {
        assert_eq!(pair[0].1 == pair[1].1, pair[1].0 == "one");
    }
}

#[test]
fn a_row_store_of_scaled_rows() {
    let folder = folder();
    folder.run("convert a.csv --out a.rows").good();
    folder.run("fit a.rows --landmarks 25 --method rpcholesky --metric scales --model m").good();
    assert!(error(&folder) < 0.1);
}

#[test]
fn what_has_no_metric_to_learn_is_refused() {
    let folder = folder();
    let refused = |options: &str, parts: &[&str]| {
        folder.run(&format!("fit a.csv --model m {options}")).refused(parts);
        assert_eq!(folder.names(), ["a.csv", "new.csv"]);
    };
    refused(
        "--landmarks 5 --metric scales --kernel linear",
        &["cannot learn a metric", "another kernel or the metric one"],
    );
    refused("--landmarks 5 --metric map:9", &["cannot learn a metric", "number of features"]);
    refused("--landmarks 5 --rows 95 --metric scales", &["cannot learn a metric", "at least 70 rows"]);
    refused("--tolerance 0.1 --metric map", &["cannot learn a metric", "give the number"]);
    let run = folder.run("fit a.csv --model m --metric map:0 --landmarks 5");
    assert_eq!(run.status, Some(2));
    assert!(run.err.contains("expected one, scales, map, map:R"), "{}", run.err);
}

/// `auto`, the default, is one bandwidth where no metric can be learned, and says why.
#[test]
fn auto_says_why_it_learned_nothing() {
    let folder = folder();
    for (options, reason) in [
        ("--landmarks 5 --kernel linear", "the kernel has no bandwidth"),
        ("--landmarks 5 --rows 95", "fewer than 70 rows beside those left out"),
        ("--tolerance 0.5", "the number of landmarks is left open"),
    ] {
        let fit = |metric: &str| folder.run(&format!("fit a.csv --model m {options} {metric}")).good();
        assert!(fit("").out.contains(&format!("one (not learned: {reason})")), "{reason}");
        let auto = folder.bytes("m");
        fit("--metric one");
        assert!(folder.bytes("m") == auto, "{reason}");
        let report = fit("--json").json();
        assert_eq!(report["not_learned"], reason);
        assert_eq!(report["metric"], "one");
    }
}

/// Without options: a metric, and a hundred landmarks or a quarter of the rows, or more where these pay.
#[test]
fn the_defaults_of_a_fit() {
    let folder = folder();
    let report = folder.run("fit a.csv --model m --json").good().json();
    assert_ne!(report["metric"], "one");
    assert!(error(&folder) < 0.1);
    let number = &report["number"];
    let tried: Vec<u64> = number["held_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tried| tried["landmarks"].as_u64().unwrap())
        .collect();
    // The errors of 100 and 200 are nearly a tie here.
    let chosen = number["chosen"].as_u64().unwrap();
    assert!(tried.starts_with(&[100, 200]) && tried.contains(&chosen), "{number}");
    assert_eq!(report["landmarks"].as_array().unwrap().len() as u64, chosen);
    let told = folder.run("fit a.csv --model m").good().out;
    assert!(told.contains(&format!("{chosen} (errors on rows used to choose: 100 ")), "{told}");
    assert!(folder.run("fit a.csv --model m --json --landmarks 100").good().json()["number"].is_null());
    let few = folder.run("fit a.csv --model m --json --rows 40").good().json();
    let few = few["landmarks"].as_array().unwrap().len();
    assert!((10..=32).contains(&few), "{few}");
    let selected = folder.run("select a.csv --json --rows 44").good().json();
    assert_eq!(selected["landmarks"].as_array().unwrap().len(), 11);
}

/// Any kernel is compared if that is asked for, and by default with more landmarks than integers are for.
#[test]
fn kernels_are_compared() {
    let folder = folder();
    let report = fit(&folder, "--metric scales --kernel auto").json();
    let kernel = &report["kernel"];
    let held_out = kernel["held_out"].as_array().unwrap();
    let kinds: Vec<&str> = held_out.iter().map(|kind| kind["kernel"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["gaussian", "matern52", "matern32", "laplace"]);
    let chosen = kernel["chosen"].as_str().unwrap();
    let info = folder.run("info m --json").good().json();
    assert_eq!(info["kernel"].to_string().to_lowercase(), format!("\"{chosen}\""));
    assert!(fit(&folder, "--metric scales").json()["kernel"].is_null());
    assert!(fit(&folder, "--metric auto --landmarks 100").json()["kernel"].is_object());
    assert!(fit(&folder, "--metric auto --landmarks 99").json()["kernel"].is_null());
    assert!(fit(&folder, "--metric auto --landmarks 100 --kernel gaussian").json()["kernel"].is_null());
    folder.run("select a.csv --kernel auto").refused(&["--kernel auto is for fit"]);
    folder.run("fit a.csv --flash 2KiB --kernel auto --model m").refused(&["--flash", "name the kernel"]);
}

/// Free landmarks follow a target that few rows describe badly; they are points, in the file and in what is
/// exported.
#[test]
fn free_landmarks_leave_the_rows() {
    let folder = folder();
    let fit = |options: &str| {
        folder
            .run(&format!("fit a.csv --landmarks 4 --metric scales --model m --json {options}"))
            .good()
            .json()
    };
    fit("--method rpcholesky");
    let of_rows = error(&folder);
    let report = fit("--free-landmarks");
    assert_eq!(report["method"], "free");
    assert_eq!(report["landmarks"].as_array().unwrap().len(), 0);
    let free = error(&folder);
    assert!(free < 0.6 * of_rows, "{free} {of_rows}");
    let bytes = folder.bytes("m");
    fit("--free-landmarks");
    assert!(folder.bytes("m") == bytes);
    assert!(folder.run("info m").good().out.contains("points, not rows"));
    // One bandwidth, of which only the landmarks move.
    folder.run("fit a.csv --landmarks 4 --metric one --method rpcholesky --model m").good();
    let of_rows = error(&folder);
    let report =
        folder.run("fit a.csv --landmarks 4 --metric one --free-landmarks --model m --json").good().json();
    assert_eq!((&report["metric"], &report["scales"][0]), (&"one".into(), &1.0.into()));
    assert!(error(&folder) < 0.9 * of_rows, "{} {of_rows}", error(&folder));
    folder.run("fit a.csv --landmarks 101 --free-landmarks --model n").refused(&["at most 100 landmarks"]);
    folder
        .run("fit a.csv --landmarks 4 --kernel linear --free-landmarks --model n")
        .refused(&["no bandwidth"]);
    folder
        .run("fit a.csv --landmarks 4 --free-landmarks --method kdpp --model n")
        .misused(&["--free-landmarks", "cannot be used with"]);
    assert!(!folder.names().contains(&"n".to_owned()));
}

/// The model with the least error in a number of bytes, which are those of its header where a compiler for
/// the device is installed.
#[test]
fn a_model_for_a_number_of_bytes() {
    let folder = folder();
    for (flash, bytes) in [("900", 900), ("2KiB", 2_048)] {
        let report = folder.run(&format!("fit a.csv --flash {flash} --model m --json")).good().json();
        let flash = &report["flash"];
        let chosen = &flash["chosen"];
        assert_eq!(flash["budget"], bytes);
        let candidates = flash["candidates"].as_array().unwrap();
        assert_eq!(&candidates[0], chosen);
        let errors: Vec<f64> = candidates.iter().map(|tried| number(tried, "nrmse")).collect();
        // Of the finalists; integers must be better by 1 %.
        let finalists = errors.iter().zip(candidates).filter(|(_, tried)| tried["parts"] == 3);
        let weighted: Vec<f64> = finalists
            .map(|(error, tried)| error * if tried["numbers"] == "f32" { 1.0 } else { 1.01 })
            .collect();
        assert!(weighted.is_sorted() && weighted.len() == 4 && candidates.len() >= 6, "{report}");
        // Each is as large as the budget allows.
        for tried in candidates {
            let per_landmark = 4.0 * (1.0 + 8.0);
            let (limit, left) = (bytes as f64, bytes as f64 - number(tried, "bytes"));
            // Landmarks that are free to move, and a quarter of the 640 rows to learn from.
            let most = [100.0, 160.0].contains(&number(tried, "landmarks")) || tried["line"] == true;
            assert!((0.0..per_landmark).contains(&left) || most, "{limit} {tried}");
        }
        // The device's predictions have that error on other rows.
        let header = folder.run("export m --to c --out m.h --json").good().json();
        assert_eq!(header["numbers"], chosen["numbers"]);
        let single = folder.run("export m --to c --out s.h --json --quantise f32").good().json();
        assert_eq!(single["numbers"], "f32");
        if let Some(compiled) = header["compiled"].as_object() {
            let flash = compiled["flash_bytes"].as_u64().unwrap();
            assert!(flash <= bytes, "{flash}");
        } else {
            println!("skipped: size of the header: no compiler for the device");
        }
        folder.run("export m --to bytes --out m.bin").good();
        folder.run("predict m.bin new.csv --out p.csv").good();
        assert!(error_of("p.csv", &folder) < 2.0 * errors[0], "{report}");
        std::fs::remove_file(folder.path("m")).unwrap();
    }
    folder.run("fit a.csv --flash 200 --model m").refused(&["200 bytes of flash", "too few"]);
    folder.run("fit a.csv --flash 2KB --model m").misused(&["2KiB"]);
    folder.run("fit a.csv --flash 2KiB --landmarks 4 --model m").misused(&["cannot be used with"]);
    assert!(!folder.names().contains(&"m".to_owned()));
}

/// In the fewest bytes, and wherever nothing else is better: the line of the linear kernel with as many
/// landmarks as features.
#[test]
fn a_line_for_a_number_of_bytes() {
    let mut sample = Sample::new(500, 8);
    let mut noise = Noise(1);
    let target = |row: &Vec<f64>| row[0] - 0.5 * row[7] + 3.0 + 0.05 * noise.normal();
    sample.target = sample.features.iter().map(target).collect();
    let folder = Folder::with("a.csv", sample.csv());
    folder
        .run("fit a.csv --kernel linear --metric one --landmarks 8 --method rpcholesky --model linear")
        .good();
    folder.run("predict linear a.csv --out expected.csv").good();
    for bytes in [224, 4_096] {
        let report = folder.run(&format!("fit a.csv --flash {bytes} --model m --json")).good().json();
        let chosen = &report["flash"]["chosen"];
        assert!(chosen["line"] == true && report["method"] == "line", "{report}");
        folder.run("predict m a.csv --out found.csv").good();
        let numbers = |path: &str| -> Vec<f64> {
            folder.text(path).lines().skip(1).map(|line| line.parse().unwrap()).collect()
        };
        for (found, expected) in numbers("found.csv").into_iter().zip(numbers("expected.csv")) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        let header = folder.run("export m --to c --out m.h --data a.csv --json").good().json();
        assert!(number(&header, "largest_difference") < 1e-5, "{header}");
        if let Some(compiled) = header["compiled"].as_object() {
            assert!(compiled["flash_bytes"].as_u64() <= chosen["bytes"].as_u64(), "{header} {chosen}");
        }
    }
    let info = folder.run("info m --json").good().json();
    let scales: Vec<f64> =
        info["scales"].as_array().unwrap().iter().map(|scale| scale.as_f64().unwrap()).collect();
    assert!(scales[7] > scales[0] && scales[1..7].iter().all(|&scale| scale < 0.1 * scales[0]), "{scales:?}");
    let ranked = ranked(&info);
    assert_eq!((&*ranked[0].0, &*ranked[1].0), ("h", "a"), "{ranked:?}");
}

/// The columns of a model with their importances, the most important first.
fn ranked(info: &Value) -> Vec<(String, f64)> {
    let columns = info["importances"].as_array().unwrap().iter();
    let mut ranked: Vec<(String, f64)> = columns
        .map(|column| (column["column"].as_str().unwrap().to_owned(), number(column, "rise")))
        .collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
    ranked
}

/// As if they had been ignored, byte for byte: numbers and words of which nothing depends.
#[test]
fn weak_columns_are_left_out() {
    let folder = folder();
    let worded = |path: &str| {
        let text = folder.text(path);
        let word = |row: usize| if row == 0 { "k" } else { ["red", "green", "blue"][row % 3] };
        let lines = text.lines().enumerate().map(|(row, line)| format!("{},{line}\n", word(row)));
        folder.write(path, lines.collect::<String>());
    };
    ["a.csv", "new.csv"].into_iter().for_each(worded);
    let report = fit(&folder, "--metric scales --drop-below 5%").json();
    let dropped = report["dropped"].as_array().unwrap();
    let columns: Vec<&str> = dropped.iter().map(|weak| weak["column"].as_str().unwrap()).collect();
    assert_eq!(columns, ["k", "b", "c", "d", "e", "f", "g"]);
    assert!(dropped.iter().all(|weak| number(weak, "rise") < 0.05), "{report}");
    assert!(report["weak_but_kept"].as_array().unwrap().is_empty());
    let [with, without] = ["error_with", "error_without"].map(|key| number(&report[key], "value"));
    assert!(without <= with + number(&report["error_with"], "standard_error"), "{report}");
    assert_eq!(report["dim"], 2);
    let error_without = error(&folder);
    let model = folder.bytes("m");
    fit(&folder, &format!("--metric scales --ignore {}", columns.join(",")));
    assert!(model == folder.bytes("m"), "not the model of the columns that are left");
    fit(&folder, "--metric scales");
    assert!(error_without < 1.1 * error(&folder), "{error_without}");

    for rise in ["1", "-0.1", "100%", "x"] {
        let line = format!("fit a.csv --model m --drop-below={rise}");
        folder.run(&line).misused(&["--drop-below", "expected a rise of the error"]);
    }
}

/// The error does not double where `b` is permuted, but rises by more than its standard error without it.
#[test]
fn columns_without_which_the_error_rises_are_kept() {
    let mut noise = Noise(3);
    let lines = (0..800).map(|_| {
        let [a, b] = [noise.normal(), noise.normal()];
        format!("{a},{b},{}\n", a + 0.3 * b + 0.3 * noise.normal())
    });
    let folder = Folder::with("a.csv", "a,b,y\n".to_owned() + &lines.collect::<String>());
    let run = fit(&folder, "--metric one --landmarks 15 --drop-below 99%");
    let report = run.json();
    assert!(report["dropped"].as_array().unwrap().is_empty(), "{report}");
    assert_eq!((&report["weak_but_kept"][0]["column"], &report["dim"]), (&"b".into(), &2.into()));
    let (with, without) = (&report["error_with"], &report["error_without"]);
    assert!(number(without, "value") > number(with, "value") + number(with, "standard_error"), "{report}");
    assert!(run.err.contains("no column is left out: the error rises without b"), "{}", run.err);
    let model = folder.bytes("m");
    fit(&folder, "--metric one --landmarks 15");
    assert!(folder.bytes("m") == model);
}

/// Which columns matter, in words, numbers and a picture, from the model file alone.
#[test]
fn importances_are_of_columns() {
    let folder = Folder::with("a.csv", tilted(1_000).csv());
    for metric in ["one", "scales", "map:2"] {
        let report = fit(&folder, &format!("--metric {metric}")).json();
        let info = folder.run("info m --json --chart chart.svg").good().json();
        assert_eq!((&info["importances"], &info["test"]), (&report["importances"], &report["test"]));
        assert_eq!(info["importance_rows"], 200);
        let ranked = ranked(&info);
        let first: BTreeSet<&str> = ranked[..2].iter().map(|column| &*column.0).collect();
        assert_eq!(first, ["a", "h"].into(), "{ranked:?}");
        assert!(ranked[1].1 > 4.0 * ranked[2].1.abs(), "{ranked:?}");
        assert_eq!(info["scales"].is_null(), metric == "one");
        let text = folder.run("info m").good().out;
        let place = |name: &str| text.find(&format!("\n{name} ")).unwrap();
        assert!(place("a").max(place("h")) < place("d"), "{text}");
        assert_eq!(text.contains("direction 2: "), metric == "map:2", "{text}");
        assert_eq!(text.contains("inverse length-scale"), metric != "one", "{text}");
        assert!(!text.contains("share"), "{text}");
        assert!(folder.text("chart.svg").contains("rise of the error"));
    }
    // Columns of words are permuted as a whole.
    let mut noise = Noise(9);
    let lines = (0..600).map(|row| {
        let (word, place) = (["red", "green", "blue"][row % 3], (row % 3) as f64);
        format!("{word},{},{}\n", noise.normal(), place + 0.1 * noise.normal())
    });
    folder.write("w.csv", "k,b,y\n".to_owned() + &lines.collect::<String>());
    folder.run("fit w.csv --landmarks 20 --metric one --model w").good();
    let info = folder.run("info w --json").good().json();
    let ranked = ranked(&info);
    assert_eq!((info["features"].as_array().unwrap().len(), ranked.len()), (4, 2));
    assert!(ranked[0].0 == "k" && ranked[0].1 > 1.0, "{ranked:?}");
    // A model of states has seen no rows.
    folder.run("fit a.csv --landmarks 10 --metric one --model base").good();
    folder.run("learn base a.csv --out s.state").good();
    folder.run("merge s.state --of base --model merged").good();
    let info = folder.run("info merged --json").good().json();
    assert!(info["importances"].is_null() && info["test"].is_null(), "{info}");
    assert!(folder.run("info merged").good().out.contains("No importance of columns was measured"));
    folder.run("info merged --chart none.svg").refused(&["the importances of columns are not in this model"]);
    assert!(!folder.names().contains(&"none.svg".to_owned()));
}

/// A column with a linear effect has a long length-scale, and noise may have a short one: importance tells
/// them apart.
#[test]
fn noise_is_last_in_all_draws() {
    for draw in 0..12 {
        let mut noise = Noise(1_000 + draw);
        let lines = (0..600).map(|_| {
            let [a, b, c] = [0; 3].map(|_| if draw % 2 == 0 { noise.normal() } else { noise.uniform() });
            format!("{a},{b},{c},{}\n", 3.0 * a + b * b + 0.1 * noise.uniform())
        });
        let folder = Folder::with("a.csv", "a,b,c,y\n".to_owned() + &lines.collect::<String>());
        let report = fit(&folder, "--metric scales --landmarks 10").json();
        let ranked = ranked(&report);
        assert_eq!(ranked[2].0, "c", "{draw}: {ranked:?} {report}");
        assert_eq!(ranked[0].0, "a", "{draw}: {ranked:?}");
    }
}

/// On California Housing the income is among the first, though its length-scale is long.
#[test]
fn the_income_is_important() {
    let folder = std::env::var_os("DPP_NYSTROM_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = folder.join("cal.housing.arff");
    if !path.exists() {
        println!(
            "skipped: the_income_is_important: no cal.housing.arff in DPP_NYSTROM_DATA or in ../shared/data"
        );
        return;
    }
    let folder = Folder::new();
    fs::copy(path, folder.path("housing.arff")).unwrap();
    for metric in ["one", "auto"] {
        let options = format!("--rows 2000 --landmarks 32 --metric {metric} --model m --json");
        let report = folder.run(&format!("fit housing.arff {options}")).good().json();
        let ranked = ranked(&report);
        assert!(ranked[..3].iter().any(|column| column.0 == "medianIncome"), "{metric}: {ranked:?}");
    }
}
