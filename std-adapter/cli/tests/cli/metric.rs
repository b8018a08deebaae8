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
    assert!(number(&report, "scales_nrmse") < 0.5 * number(&report, "one_nrmse"), "{report}");
    // The same seed, another number of threads; the exported model has the scales in its constants.
    let bytes = folder.bytes("m");
    folder.run("export m --to bytes --out m.bin").good();
    folder.run("predict m new.csv --out p.csv").good();
    folder.run("predict m.bin new.csv --out q.csv").good();
    for (full, single) in folder.text("p.csv").lines().zip(folder.text("q.csv").lines()).skip(1) {
        let (full, single): (f64, f64) = (full.parse().unwrap(), single.parse().unwrap());
        // Weights of some hundreds in single precision.
        assert!((full - single).abs() < 1e-3, "{full} {single}");
    }
    let arguments = "fit a.csv --landmarks 25 --method rpcholesky --model m --metric auto";
    let mut again = folder.command(&arguments.split(' ').collect::<Vec<_>>());
    assert!(again.env("RAYON_NUM_THREADS", "1").output().unwrap().status.success());
    assert!(folder.bytes("m") == bytes);
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
        folder.run(&format!("fit a.csv --model m --metric scales {options}")).refused(parts);
        assert_eq!(folder.names(), ["a.csv", "new.csv"]);
    };
    refused("--landmarks 5 --kernel linear", &["cannot learn a metric", "another kernel or the metric one"]);
    refused("--landmarks 500", &["cannot learn a metric", "fewer landmarks"]);
    let run = folder.run("fit a.csv --model m --metric map --landmarks 5");
    assert_eq!(run.status, Some(2));
    assert!(run.err.contains("expected one, scales or auto"), "{}", run.err);
    assert_eq!(folder.run("fit a.csv --model m --metric auto --tolerance 0.1").status, Some(2));
}
