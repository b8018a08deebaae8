//! The number of threads affects only the time.

use crate::command::{Folder, Run};
use crate::sample::Sample;
use dpp_nystrom_lab::selectors::methods;
use serde_json::Value;

/// Run a command on one thread, on two, and on all.
fn on_threads(folder: &Folder, arguments: &str) -> Vec<Run> {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    [Some("1"), Some("2"), Some("5"), None]
        .into_iter()
        .map(|threads| {
            let mut command = folder.command(&arguments);
            if let Some(threads) = threads {
                command.env("RAYON_NUM_THREADS", threads);
            }
            Run::of(&command.output().unwrap()).good()
        })
        .collect()
}

/// Remove times, which differ between runs.
fn timeless(run: &Run) -> Vec<Value> {
    let mut objects = run.json_lines();
    for key in ["seconds", "metric_seconds", "select_seconds", "fit_seconds"] {
        for object in &mut objects {
            object.as_object_mut().unwrap().remove(key);
            for chain in object.get_mut("chains").and_then(Value::as_array_mut).into_iter().flatten() {
                chain.as_object_mut().unwrap().remove(key);
            }
        }
    }
    objects
}

fn assert_same(runs: &[Run]) {
    for run in runs {
        assert_eq!(timeless(run), timeless(&runs[0]));
    }
}

#[test]
fn threads_do_not_matter() {
    // Several blocks of rows, the last one not full.
    let folder = Folder::with("a.csv", Sample::new(5_000, 4).csv());
    for options in [
        "",
        "--precision f32",
        "--sigma cv",
        "--rows 2500",
        "--chain metropolis",
        "--method rpcholesky",
        "--method rpcholesky --precision f32",
        "--method refined",
        "--method uniform --refine 2 --refine-sample 900",
        "--start rpcholesky --pivot-rows 900",
    ] {
        assert_same(&on_threads(&folder, &format!("select a.csv --landmarks 30 --json {options}")));
    }
    for options in ["", "--precision f32", "--ridge 1e-5", "--ridge 1e-5 --precision f32"] {
        let mut models = Vec::new();
        let mut predictions = Vec::new();
        for run in
            on_threads(&folder, &format!("fit --metric one a.csv --landmarks 30 --model m --json {options}"))
        {
            models.push((timeless(&run), folder.bytes("m")));
        }
        assert!(models.iter().all(|model| *model == models[0]), "{options}");
        for run in on_threads(&folder, "predict m a.csv") {
            predictions.push((run.out, run.err));
        }
        assert!(predictions.iter().all(|run| *run == predictions[0]), "{options}");
    }
    for rows in ["100", "700"] {
        let command =
            format!("evaluate a.csv --rows {rows} --methods kdpp,uniform --landmarks 10,25 --seeds 2 --json");
        assert_same(&on_threads(&folder, &command));
    }
    for command in [
        "diagnose a.csv --rows 300 --landmarks 12 --samples 3 --triples 9 --pairs 3 --steps 1000 --json",
        "tune a.csv --rows 300 --landmarks 40 --json",
        "tune a.csv --rows 150 --full --sigmas 0.5,1 --ridges 1e-3,1e-2 --json",
    ] {
        assert_same(&on_threads(&folder, command));
    }
    let names: Vec<&str> = methods().map(|method| method.name).filter(|name| *name != "given").collect();
    for approximation in ["nystrom", "ensemble", "modified"] {
        let command = format!(
            "evaluate a.csv --rows 1500 --methods {} --landmarks 20 --seeds 1 --approximation {approximation} --json",
            names.join(",")
        );
        assert_same(&on_threads(&folder, &command));
    }
}
