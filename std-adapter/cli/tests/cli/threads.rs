//! The number of threads affects only the time.

use crate::command::{Folder, Run};
use crate::sample::Sample;
use dpp_nystrom::approximation::LandmarkSet;
use dpp_nystrom::data::{Prepared, table::Options};
use dpp_nystrom::kernel::{KernelKind, KernelSpec, Precision};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{
    Ridge,
    regression::{FitParams, fit},
};
use dpp_nystrom_lab::selectors::methods;
use serde_json::Value;

/// From these numbers of landmarks on, products of matrices are large enough to be shared.
const LANDMARKS: &str = "300";

/// Run a command on one thread, and on seven.
fn on_threads(folder: &Folder, arguments: &str) -> Vec<Run> {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    let run = |threads| {
        Run::of(&folder.command(&arguments).env("RAYON_NUM_THREADS", threads).output().unwrap()).good()
    };
    ["1", "7"].map(run).into()
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
        "--method rpcholesky --pivot-rows 900",
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

/// Run a command that writes `out` on one thread and others, and assert that the file is the same.
fn assert_same_file(folder: &Folder, command: &str, others: &[&str]) {
    let on = |threads| {
        folder.run(&format!("{command} --threads {threads}")).good();
        folder.bytes("out")
    };
    let one = on("1");
    for threads in others {
        assert!(on(threads) == one, "{command}: the file of {threads} threads is another");
    }
}

/// `THREADS_LANDMARKS` says for how many landmarks.
#[test]
fn files_do_not_depend_on_the_threads() {
    let sample = Sample::new(1_300, 4);
    let mut table = "a,b,c,d,w,z,k,y\n".to_owned();
    for (row, (features, y)) in sample.features.iter().zip(&sample.target).enumerate() {
        let [a, b, c, d] = features[..] else { unreachable!() };
        table += &format!(
            "{a},{b},{c},{d},{},{},k{},{y}\n",
            1 + row % 3,
            a * b,
            usize::from(a > b) + usize::from(c > d)
        );
    }
    let folder = Folder::with("a.csv", table);
    folder.run("convert a.csv --ignore w,z,k --precision f32 --out a.rows").good();
    let sizes = std::env::var("THREADS_LANDMARKS").unwrap_or_else(|_| LANDMARKS.to_owned());
    for c in sizes.split_whitespace() {
        let fit = format!(
            "fit a.csv --landmarks {c} --metric one --kernel gaussian --sigma 0.5 --method uniform --model out"
        );
        for options in [
            "--ignore w,z,k --variance",
            "--ignore w,z,k --variance --precision f32",
            "--ignore w,z,k --variance --ridge 1e-4",
            "--ignore w,z,k --variance --ridge loo",
            "--ignore z,k --variance --weight w",
            "--ignore w,k --target y,z",
            "--ignore w,z,y --target k",
        ] {
            assert_same_file(&folder, &format!("{fit} {options}"), &["7"]);
        }
        assert_same_file(&folder, &format!("{} --variance", fit.replace("a.csv", "a.rows")), &["2", "7"]);
        folder.run(&format!("{fit} --ignore w,z,k --variance")).good();
        std::fs::rename(folder.path("out"), folder.path("m")).unwrap();
        assert_same_file(&folder, "predict m a.csv --with variance --out out", &["2", "7"]);
        assert_same_file(&folder, "transform m a.csv --out out", &["2", "7"]);
        // Of those that a pass over the rows suffices for.
        for method in methods().filter(|method| !["given", "auto"].contains(&method.name)) {
            let name = method.name;
            assert_same_file(
                &folder,
                &format!(
                    "select a.csv --ignore w,z,k --landmarks {c} --sigma 0.5 --method {name} --steps 2000 --out out"
                ),
                &["7"],
            );
        }
    }
    // A learned metric.
    assert_same_file(
        &folder,
        "fit a.csv --ignore w,z,k --rows 300 --landmarks 30 --variance --model out",
        &["2", "7"],
    );
}

/// The program lets faer use one thread where it is not told; a caller of the library need not.
#[test]
fn a_fit_of_the_library_does_not_depend_on_the_threads() {
    let folder = Folder::with("a.csv", Sample::new(1_300, 4).csv());
    let table = Options::default().read(&folder.path("a.csv")).unwrap().table;
    let rows = Prepared::new(table, None, 0).unwrap();
    let landmarks = LandmarkSet::Indices((0..1_200).step_by(4).collect());
    let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 0.5 };
    for (precision, ridge) in [
        (Precision::F64, Ridge::CrossValidated),
        (Precision::F32, Ridge::CrossValidated),
        (Precision::F64, Ridge::Value(1e-4)),
        (Precision::F64, Ridge::LeaveOneOut),
    ] {
        let params = FitParams { kernel, ridge, precision, seed: 0 };
        let [one, two, seven] = [1, 2, 7].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&rows, &landmarks, params, None, &NoObserver)).unwrap().model
        });
        assert!(one.confidence.is_some(), "no variance is compared");
        assert!(one == two && one == seven, "{precision:?} {ridge:?}");
    }
}
