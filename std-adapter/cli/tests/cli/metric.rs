//! `fit --metric`: features that do not matter, noise, invalid options.

use crate::command::{Folder, Run, number};
use crate::sample::{Noise, Sample};

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
    folder.run(&format!("fit a.csv --landmarks 25 --method rpcholesky --model m --json {options}")).good()
}

/// Root mean squared error on new rows.
fn error(folder: &Folder) -> f64 {
    folder.run("predict m new.csv --out p.csv").good();
    let expected = planted(400).target;
    let predicted = folder.text("p.csv");
    let predicted = predicted.lines().skip(1).map(|line| line.parse::<f64>().unwrap());
    let squares = predicted.zip(&expected).map(|(found, expected)| (found - expected).powi(2));
    (squares.sum::<f64>() / expected.len() as f64).sqrt()
}

#[test]
fn scales_leave_out_what_does_not_matter() {
    let folder = folder();
    let one = fit(&folder, "").json();
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

/// A map of rank 1 suffices; selection, regression, variance, file and prediction are all in the mapped rows, and equal those on a file
/// of rows that are mapped beforehand.
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
        "fit b.csv --given rows.csv --model n --kernel matern32 --ridge 1e-6 --variance --sigma {sigma:?}"
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
    let fits: Vec<(String, Vec<u8>)> = (0..4)
        .flat_map(|seed| ["one", "auto"].map(|metric| (seed, metric)))
        .map(|(seed, metric)| {
            let report = fit(&folder, &format!("--seed {seed} --metric {metric}")).json();
            (report["metric"].as_str().unwrap_or("one").to_owned(), folder.bytes("m"))
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
    refused("--landmarks 500 --metric scales", &["cannot learn a metric", "fewer landmarks"]);
    let run = folder.run("fit a.csv --model m --metric map:0 --landmarks 5");
    assert_eq!(run.status, Some(2));
    assert!(run.err.contains("expected one, scales, map, map:R"), "{}", run.err);
    assert_eq!(folder.run("fit a.csv --model m --metric auto --tolerance 0.1").status, Some(2));
}
