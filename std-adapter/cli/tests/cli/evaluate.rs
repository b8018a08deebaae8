//! `dpp-nystrom evaluate`.

use crate::command::{Folder, assert_close, number, row_numbers};
use crate::dense::{Formula, relative_errors, residual, standardised, trace};
use crate::sample::{Sample, row_list};
use serde_json::Value;
use std::collections::BTreeSet;

const ROWS: usize = 160;

fn folder() -> (Folder, Sample) {
    let sample = Sample::new(ROWS, 3);
    (Folder::with("a.csv", sample.csv()), sample)
}

fn evaluate(folder: &Folder, options: &str) -> Vec<Value> {
    folder.run(&format!("evaluate a.csv --json {options}")).good().json_lines()
}

/// Assert that all results are numbers in their possible range.
fn assert_sound(trial: &Value) {
    for key in ["fro_rel", "spec_rel"] {
        // No error is below that of the best approximation, up to rounding.
        assert!(number(trial, key) > 1.0 - 1e-9, "{trial}");
    }
    for key in ["trace_fraction", "train_nrmse", "test_nrmse", "sigma", "ridge"] {
        assert!(number(trial, key) > 0.0, "{trial}");
    }
    assert!(number(trial, "seconds") >= 0.0 && number(trial, "trace_fraction") < 1.0, "{trial}");
}

#[test]
fn one_line_per_trial() {
    let (folder, _) = folder();
    let trials = evaluate(&folder, "--methods kdpp,uniform,kmeans++ --landmarks 5,10 --seeds 2 --seed 7");
    let mut expected = Vec::new();
    for seed in [7.0, 8.0] {
        for c in [5.0, 10.0] {
            for method in ["kdpp", "uniform", "kmeans++"] {
                expected.push((method, c, seed));
            }
        }
    }
    let found: Vec<(&str, f64, f64)> = trials
        .iter()
        .map(|trial| (trial["method"].as_str().unwrap(), number(trial, "landmarks"), number(trial, "seed")))
        .collect();
    assert_eq!(found, expected);
    let documented = [
        "dataset",
        "rows",
        "train",
        "test",
        "method",
        "landmarks",
        "seed",
        "fro_rel",
        "spec_rel",
        "trace_fraction",
        "train_nrmse",
        "test_nrmse",
        "seconds",
        "sigma",
        "ridge",
    ];
    for trial in &trials {
        let keys: BTreeSet<&str> = trial.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, documented.into());
        assert_eq!(trial["dataset"], "a");
        let sizes = ["rows", "train", "test"].map(|key| number(trial, key));
        assert_eq!(sizes, [160.0, 120.0, 40.0]);
        assert_sound(trial);
    }
}

#[test]
fn errors_are_those_of_whole_matrices() {
    let (folder, sample) = folder();
    let rows = standardised(&sample.features);
    let landmarks = [3, 150, 8, 77, 20, 31, 64];
    folder.write("mine.csv", row_list(&landmarks));
    // At 160 rows the largest eigenvalue is found by iteration, at 60 by a full decomposition.
    for (part, kernels) in [(ROWS, ["gaussian", "matern52"]), (60, ["gaussian", "laplace"])] {
        folder.write("b.csv", sample.csv().lines().take(part + 1).collect::<Vec<_>>().join("\n"));
        for kernel in kernels {
            let chosen: Vec<usize> = landmarks.into_iter().filter(|&row| row < part).collect();
            folder.write("mine.csv", row_list(&chosen));
            let command = format!(
                "evaluate b.csv --json --methods given,kdpp --given mine.csv --landmarks 6 --seeds 1 --test 0 \
                 --kernel {kernel} --sigma 1.5"
            );
            let trials = folder.run(&command).good().json_lines();
            let selected = folder
                .run(&format!("select b.csv --landmarks 6 --kernel {kernel} --sigma 1.5 --json"))
                .good()
                .json();
            let formula = match kernel {
                "gaussian" => Formula::Gaussian,
                "laplace" => Formula::Laplace,
                _ => Formula::Matern52,
            };
            let rows = if part == ROWS { rows.clone() } else { standardised(&sample.features[..part]) };
            let matrix = formula.matrix(&rows, &rows, 1.5);
            for (trial, landmarks) in trials.iter().zip([chosen, row_numbers(&selected, "landmarks")]) {
                let (frobenius, spectral) = relative_errors(&matrix, &landmarks);
                assert_eq!(number(trial, "landmarks"), landmarks.len() as f64);
                assert_close(number(trial, "fro_rel"), frobenius, 1e-9);
                // The iteration stops at 10⁻⁸.
                assert_close(number(trial, "spec_rel"), spectral, 1e-6);
                let expected = trace(&residual(&matrix, &landmarks)) / trace(&matrix);
                assert_close(number(trial, "trace_fraction"), expected, 1e-9);
                assert!(trial["test_nrmse"].is_null(), "no rows were held out: {trial}");
            }
            assert_eq!(trials.len(), 2);
            assert_close(number(&trials[1], "trace_fraction"), number(&selected, "trace_fraction"), 1e-12);
        }
    }
}

#[test]
fn rows_held_out_are_predicted() {
    let (folder, sample) = folder();
    // The rows held out are fixed: fit on the others and predict them.
    let given: Vec<usize> = (0..140).collect();
    folder.write("mine.csv", row_list(&given));
    let trials = evaluate(
        &folder,
        "--methods given --given mine.csv --landmarks 1 --seeds 1 --test 20 --sigma 2 --ridge 1e-3",
    );
    let lines: Vec<String> = sample.csv().lines().map(|line| format!("{line}\n")).collect();
    folder.write("train.csv", lines[..141].concat());
    folder.write("test.csv", lines[..1].concat() + &lines[141..].concat());
    let fitted = folder
        .run("fit --metric one train.csv --given mine.csv --sigma 2 --ridge 1e-3 --model m --json")
        .good()
        .json();
    let told = folder.run("predict m test.csv").good().err;
    let share: f64 = told.split([' ', ',']).filter_map(|word| word.parse().ok()).nth(1).unwrap();
    assert_eq!(trials.len(), 1);
    // A fit adds up tenths of the rows.
    assert_close(number(&trials[0], "train_nrmse"), number(&fitted, "train_nrmse"), 1e-12);
    // Printed with four digits.
    assert_close(number(&trials[0], "test_nrmse"), share, 1e-3);
}

#[test]
fn given_landmarks_are_among_the_training_rows() {
    let (folder, _) = folder();
    folder.write("mine.csv", row_list(&[159, 0, 80]));
    let trials = evaluate(
        &folder,
        "--methods given,uniform --given mine.csv --landmarks 5,6 --seeds 4 --rows 30 --test 20",
    );
    // Measured once per seed, whatever numbers of landmarks the others have.
    let given: Vec<&Value> = trials.iter().filter(|trial| trial["method"] == "given").collect();
    assert_eq!((trials.len(), given.len()), (12, 4));
    for trial in given {
        assert_eq!(["landmarks", "train"].map(|key| number(trial, key)), [3.0, 10.0]);
        assert_sound(trial);
    }
    let run = folder.run("evaluate a.csv --methods uniform --given mine.csv --landmarks 5 --seeds 1").good();
    assert!(run.err.contains("warning: --given is not used; add given to --methods"), "{}", run.err);
}

fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn the_table_has_the_means_and_differences_on_the_same_rows() {
    let (folder, _) = folder();
    let options = "--methods uniform,kdpp --landmarks 6,12 --seeds 3 --ridge 1e-4";
    let trials = evaluate(&folder, options);
    let text = folder.run(&format!("evaluate a.csv {options}")).good().out;
    let (means, differences) = text.split_once("\n\n").unwrap();
    let lines = words(means);
    let header = [
        "method",
        "c",
        "seeds",
        "fro_rel",
        "spec_rel",
        "trace_fraction",
        "train_nrmse",
        "test_nrmse",
        "seconds",
        "sigma",
        "ridge",
    ];
    assert_eq!(lines[0], header);
    let groups: Vec<&[&str]> = lines[1..].iter().map(|line| &line[..3]).collect();
    assert_eq!(
        groups,
        [["uniform", "6", "3"], ["kdpp", "6", "3"], ["uniform", "12", "3"], ["kdpp", "12", "3"]]
    );
    for line in &lines[1..] {
        let count: f64 = line[1].parse().unwrap();
        for (at, key) in header.iter().enumerate().filter(|(at, key)| *at > 2 && **key != "seconds") {
            let of_group: Vec<f64> = trials
                .iter()
                .filter(|trial| trial["method"] == line[0] && number(trial, "landmarks") == count)
                .map(|trial| number(trial, key))
                .collect();
            assert_eq!(of_group.len(), 3);
            assert_close(line[at].parse().unwrap(), of_group.iter().sum::<f64>() / 3.0, 1e-3);
        }
    }
    let (title, differences) = differences.split_once("\n\n").unwrap();
    assert_eq!(title, "Difference to uniform on the same rows: means over the seeds +- standard errors");
    let lines = words(differences);
    assert_eq!(lines[0], ["method", "c", "trace_fraction", "test_nrmse"]);
    assert_eq!([lines[1][..2].to_vec(), lines[2][..2].to_vec()], [["kdpp", "6"], ["kdpp", "12"]]);
    for line in &lines[1..] {
        let count: f64 = line[1].parse().unwrap();
        for (at, key) in [(2, "trace_fraction"), (5, "test_nrmse")] {
            let of = |method: &str, seed: f64| {
                let is_of = |trial: &&Value| {
                    trial["method"] == method
                        && [number(trial, "landmarks"), number(trial, "seed")] == [count, seed]
                };
                number(trials.iter().find(is_of).unwrap(), key)
            };
            let differences = [0.0, 1.0, 2.0].map(|seed| of("kdpp", seed) - of("uniform", seed));
            let mean = differences.iter().sum::<f64>() / 3.0;
            let squares: f64 = differences.iter().map(|difference| (difference - mean).powi(2)).sum();
            assert_close(line[at].parse().unwrap(), mean, 1e-3);
            assert_eq!(line[at + 1], "+-");
            assert_close(line[at + 2].parse().unwrap(), (squares / 2.0 / 3.0).sqrt(), 1e-3);
        }
    }
    let one = folder.run("evaluate a.csv --methods uniform --landmarks 6 --seeds 2").good().out;
    assert!(!one.contains("+-"), "{one}");
}

#[test]
fn undefined_errors_are_null() {
    let (folder, _) = folder();
    // As many landmarks as the matrix has rank: the best approximation is exact.
    for options in ["--landmarks 3 --kernel linear", "--landmarks 120 --sigma 0.3"] {
        let trials = evaluate(&folder, &format!("--methods kdpp --seeds 1 {options}"));
        assert!(trials[0]["fro_rel"].is_null() && trials[0]["spec_rel"].is_null(), "{trials:?}");
        let text = folder.run(&format!("evaluate a.csv --methods kdpp --seeds 1 {options}")).good().out;
        let cells: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(cells[3..5], ["-", "-"]);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
    let trials = evaluate(&folder, "--methods uniform --landmarks 5 --seeds 1 --target none");
    for key in ["train_nrmse", "test_nrmse", "ridge"] {
        assert!(trials[0][key].is_null(), "{trials:?}");
    }
    assert!(number(&trials[0], "fro_rel") >= 1.0);
}

#[test]
fn seeds_wrap_around() {
    let (folder, _) = folder();
    let seed = u64::MAX;
    let trials = evaluate(&folder, &format!("--methods uniform --landmarks 5 --seeds 2 --seed {seed}"));
    let seeds: Vec<u64> = trials.iter().map(|trial| trial["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [u64::MAX, 0]);
}

#[test]
fn rows_are_drawn_for_each_seed() {
    let (folder, _) = folder();
    let trials = evaluate(&folder, "--methods kdpp --landmarks 5 --seeds 2 --rows 50 --test 10");
    assert_ne!(trials[0]["sigma"], trials[1]["sigma"]);
    assert_eq!(["rows", "train", "test"].map(|key| number(&trials[0], key)), [50.0, 40.0, 10.0]);
    for precision in ["f32", "f64"] {
        for chain in ["paper", "metropolis"] {
            let options =
                format!("--methods kdpp --landmarks 5 --seeds 1 --precision {precision} --chain {chain}");
            assert_sound(&evaluate(&folder, &options)[0]);
        }
    }
}

/// Rows that are left out have their numbers, in the file and in what a user chose.
#[test]
fn given_rows_are_numbered_as_in_the_file() {
    let sample = Sample::new(120, 3);
    let csv = sample.csv();
    let gap = |place: usize| place.is_multiple_of(10);
    let with_gaps = csv.lines().enumerate().map(|(line, text)| match line.checked_sub(1) {
        Some(row) if gap(row) => format!(",{}\n", text.split_once(',').unwrap().1),
        _ => text.to_owned() + "\n",
    });
    let folder = Folder::with("gaps.csv", with_gaps.collect::<String>());
    let kept = csv.lines().enumerate().filter(|(line, _)| *line == 0 || !gap(line - 1));
    folder.write("kept.csv", kept.map(|(_, text)| text.to_owned() + "\n").collect::<String>());
    folder.write("file.csv", "row\n1\n11\n57\n119\n");
    folder.write("rest.csv", "row\n0\n9\n51\n107\n");
    folder.write("dropped.csv", "row\n1\n20\n");
    let options = "--methods given --landmarks 4 --seeds 1 --test 0 --json";
    let run = |data: &str, given: &str| {
        folder.run(&format!("evaluate {data} --missing drop {options} --rows 108 --given {given}"))
    };
    let [gaps, kept] = [("gaps.csv", "file.csv"), ("kept.csv", "rest.csv")]
        .map(|(data, given)| run(data, given).good().json_lines());
    for key in ["trace_fraction", "train_nrmse", "ridge"] {
        assert_eq!(gaps[0][key], kept[0][key]);
    }
    run("gaps.csv", "dropped.csv").refused(&["dropped.csv", "20", "left out by --missing"]);
}
