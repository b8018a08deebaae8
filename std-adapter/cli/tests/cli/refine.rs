//! Refinement: landmarks swapped for better rows.

use crate::command::{Folder, assert_close, assert_landmarks, number, row_numbers};
use crate::published::{SETS, file, prepared};
use crate::sample::Sample;
use dpp_nystrom::approximation::{Gram, LandmarkSet};
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table::Table;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::landmarks::methods::{SelectorOption, SelectorOptions};
use dpp_nystrom::landmarks::{Objective, Refinement, Selection, Task, run};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{
    Ridge,
    regression::{FitParams, choose_bandwidth},
};
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, Precision},
};
use dpp_nystrom_lab::selectors::{find, methods};

const ROWS: usize = 700;

fn folder() -> Folder {
    Folder::with("a.csv", Sample::new(ROWS, 4).csv())
}

#[test]
fn every_methods_rows_are_refined_and_never_worse() {
    let folder = folder();
    for method in ["kdpp", "uniform", "kmeans++", "kmeans-snapped", "greedy", "adapfull", "rpcholesky"] {
        let select = |options: &str| {
            folder
                .run(&format!("select a.csv --landmarks 15 --method {method} --json {options}"))
                .good()
                .json()
        };
        let (plain, refined) = (select(""), select("--refine 2 --refine-sample 100"));
        assert!(plain.get("refinement").is_none(), "{method}");
        let report = &refined["refinement"];
        assert_landmarks(&row_numbers(&refined, "landmarks"), 15, ROWS);
        assert_close(number(report, "trace_error_before"), number(&plain, "trace_error"), 1e-9);
        assert_close(number(report, "trace_error_after"), number(&refined, "trace_error"), 1e-9);
        assert!(number(&refined, "trace_error") < number(&plain, "trace_error"), "{method}");
        assert!(number(report, "exchanges") > 0.0, "{method}");
        assert_close(number(report, "sweeps"), 2.0, 0.0);
        assert_close(number(report, "measured_rows"), ROWS as f64, 0.0);
        assert_eq!(report["all_rows"], true);
    }
    let text = folder.run("select a.csv --landmarks 15 --method refined").good().out;
    assert!(text.contains("exchanges in 3 sweeps") && text.contains("on all rows"), "{text}");
}

#[test]
fn refined_is_pivoted_cholesky_refined() {
    let folder = folder();
    let landmarks = |options: &str| {
        row_numbers(
            &folder.run(&format!("select a.csv --landmarks 12 --json {options}")).good().json(),
            "landmarks",
        )
    };
    assert_eq!(landmarks("--method refined"), landmarks("--method rpcholesky --refine 3"));
    assert_eq!(landmarks("--method refined --refine 1"), landmarks("--method rpcholesky --refine 1"));
    assert_ne!(landmarks("--method refined"), landmarks("--method refined --seed 1"));
}

#[test]
fn given_rows_and_models_are_refined() {
    let folder = folder();
    folder.write("mine.csv", "row\n0\n1\n2\n3\n4\n5\n");
    let fit = |options: &str| {
        let report = folder
            .run(&format!("fit --metric one a.csv --ridge 1e-6 --model a.dpp --json {options}"))
            .good()
            .json();
        row_numbers(&report, "landmarks")
    };
    assert_eq!(fit("--given mine.csv"), [0, 1, 2, 3, 4, 5]);
    let refined = fit("--given mine.csv --refine 2");
    assert_landmarks(&refined, 6, ROWS);
    assert_ne!(refined, [0, 1, 2, 3, 4, 5]);
    let trial = |options: &str| {
        let arguments = format!(
            "evaluate a.csv --methods uniform --landmarks 10 --seeds 1 --ridge 1e-6 --json {options}"
        );
        number(&folder.run(&arguments).good().json(), "trace_fraction")
    };
    assert!(trial("--refine 2") < trial(""));
}

#[test]
fn what_cannot_be_refined_is_refused() {
    let folder = folder();
    folder.run("select a.csv --landmarks 5 --method kmeans --refine 2").refused(&[
        "kmeans",
        "not rows",
        "kmeans-snapped",
        "without refinement (omit --refine)",
    ]);
    for (option, part) in [("--refine 0", "0"), ("--refine -1", "-1"), ("--refine-sample 0", "0")] {
        folder.run(&format!("select a.csv --landmarks 5 {option}")).misused(&[part]);
    }
}

/// Every method of the registry whose landmarks are rows: those that refine by themselves against what they
/// start from, the others against what they select unrefined.
fn assert_never_worse(set: &str, data: &Prepared, setting: FitParams) {
    const C: usize = 15;
    let gram = Gram::new(data, setting.kernel).unwrap();
    let refinement = Some(Refinement { sweeps: 2, sample: Some(60), ..Refinement::default() });
    let (plain, refined) =
        (SelectorOptions::default(), SelectorOptions { refinement, ..SelectorOptions::default() });
    let selected = |name: &str, options: &SelectorOptions| -> Selection {
        let selector = find(name).unwrap().selector(options);
        run(selector.as_ref(), &Task { seed: setting.seed, ..Task::new(&gram, C) }).unwrap()
    };
    let error = |selection: &Selection| gram.trace_error(&selection.landmarks).unwrap().error;
    let mut better = 0;
    for method in methods() {
        let name = method.name;
        if method.selector(&plain).needs().points || method.uses(SelectorOption::Given) {
            continue;
        }
        let after = selected(name, &refined);
        let gain = after.refinement.unwrap();
        assert!(gain.after <= gain.before, "{set} {name}: {gain:?}");
        if gain.objective == Objective::Ridge {
            // Relative to its own start, since it does not minimise the trace error.
            assert_eq!(name, "refined-ridge");
            continue;
        }
        let start = match name {
            "refined" => selected("rpcholesky", &plain),
            "auto" => selected(
                after.plan.as_ref().map_or("", |choice| match choice.method {
                    "refined" => "rpcholesky",
                    other => other,
                }),
                &plain,
            ),
            _ => selected(name, &plain),
        };
        // What is refined already, and looked at with few candidates: most sweeps make it worse.
        let LandmarkSet::Indices(rows) = after.landmarks.clone() else { panic!("{name} selects rows") };
        let few = Some(Refinement { sweeps: 4, sample: Some(4), ..Refinement::default() });
        let given = rows.iter().map(|&row| data.number(row)).collect();
        let again =
            selected("given", &SelectorOptions { refinement: few, given, ..SelectorOptions::default() });
        assert!(error(&again) <= error(&after) * (1.0 + 1e-9), "{set} {name}: {:?}", again.refinement);
        let (before, now) = (error(&start), error(&after));
        // Up to the order of summation.
        assert!(now <= before * (1.0 + 1e-9), "{set} {name}: {before:e} {now:e}");
        assert!((gain.before - before).abs() <= 1e-6 * before, "{set} {name}: {before:e} and not {gain:?}");
        assert!((gain.after - now).abs() <= 1e-6 * now, "{set} {name}: {now:e} and not {gain:?}");
        better += u32::from(now < before);
    }
    // Refinement changed something.
    assert!(better >= 10, "{set}: only {better} are better");
}

#[test]
fn no_method_is_worse_than_its_start_on_published_rows() {
    for set in SETS {
        let Some(path) = file("no_method_is_worse_than_its_start_on_published_rows", set) else { continue };
        for medians in [1.0, 4.0] {
            let (data, setting) = prepared(&path, 500, medians);
            assert_never_worse(set, &data, setting);
        }
    }
}

#[test]
fn no_method_is_worse_than_its_start_on_the_built_in_rows() {
    let wines = linfa_datasets::winequality();
    let table = Table {
        name: "winequality".to_owned(),
        feature_names: wines.feature_names().to_vec(),
        dim: wines.records.ncols(),
        features: wines.records.iter().copied().collect(),
        target: Some(wines.targets.iter().map(|&quality| quality as f64).collect()),
        target_name: Some("quality".to_owned()),
        weights: None,
    };
    let data = Prepared::new(table, Some(500), 0).unwrap();
    let kernel = KernelKind::Gaussian;
    for medians in [0.5, 2.0] {
        let sigma = choose_bandwidth(Sigma::Median(medians), kernel, &data, 0, &NoObserver).unwrap().sigma;
        assert_never_worse(
            "wines",
            &data,
            FitParams {
                kernel: KernelSpec { kind: kernel, sigma },
                ridge: Ridge::CrossValidated,
                precision: Precision::F64,
                seed: 0,
            },
        );
    }
}

/// Rows within the memory that the features of all of them would need by themselves: 60 + 2 + 2 values a row
/// are half a KiB.
#[cfg(target_os = "linux")]
#[test]
fn many_rows_are_refined_in_little_memory() {
    use crate::command::{PROGRAM, Run};
    use crate::sample::Noise;
    use std::path::Path;
    // The limit includes address space that the loader and the threads only reserve, and buffers of matrix
    // products, which are as large as the cache of the processor.
    let cache = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").unwrap_or_default();
    let kibibytes = 170_000 + 2 * cache.trim_end().trim_end_matches('K').parse::<usize>().unwrap_or(0);
    // No more than are measured whole.
    let many = (2 * kibibytes).min(1_000_000);
    let mut noise = Noise(1);
    let mut text = String::from("a,b\n");
    for _ in 0..many {
        text.push_str(&format!("{:.4},{:.4}\n", noise.uniform(), noise.uniform()));
    }
    let folder = Folder::with("many.csv", text);
    let limited = |method: &str| {
        let script = format!(
            "ulimit -v {kibibytes}; export RAYON_NUM_THREADS=1 MALLOC_ARENA_MAX=1; exec {PROGRAM} select many.csv --target none \
             --landmarks 60 --sigma 0.2 --json --method {method}"
        );
        Run::of(&folder.program(Path::new("sh"), &["-c", &script]).output().unwrap())
    };
    let report = limited("refined --refine 1").good().json();
    assert_landmarks(&row_numbers(&report, "landmarks"), 60, many);
    assert_eq!(report["refinement"]["all_rows"], true);
    for method in ["rpcholesky", "greedy"] {
        assert_landmarks(&row_numbers(&limited(method).good().json(), "landmarks"), 60, many);
    }
    // The limit is not too high: this method keeps the features.
    limited("adappart").refused(&["out of memory"]);
}
