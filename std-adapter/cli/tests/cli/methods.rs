//! Every registered method, from the command line and on rows of a published data set.

use crate::command::{Folder, assert_close, assert_landmarks, number, row_numbers};
use crate::published::prepared;
use crate::sample::Sample;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::{Gram, LandmarkSet};
use dpp_nystrom::data::Prepared;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::landmarks::methods::{METHODS, Method, SelectorOption, SelectorOptions};
use dpp_nystrom::landmarks::{Selection, Task, run};
use dpp_nystrom_core::Error as CoreError;
use dpp_nystrom_lab::selectors;
use std::path::Path;

/// All but `given`.
fn methods() -> impl Iterator<Item = &'static Method> {
    selectors::methods().filter(|method| !method.uses(SelectorOption::Given))
}

/// Published rows, or generated ones where there is no data folder.
#[test]
fn every_method_selects_rows() {
    let folder = Folder::with("a.csv", Sample::new(1_200, 8).csv());
    let published = crate::published::file("published rows in every_method_selects_rows", "cal.housing");
    let path = published.unwrap_or_else(|| folder.path("a.csv"));
    let (data, setting) = prepared(&path, 1_200, 1.0);
    let gram = Gram::new(&data, setting.kernel).unwrap();
    for method in methods() {
        let name = method.name;
        let selector = method.selector(&SelectorOptions::default());
        let select = |c, seed| {
            let mut selection = run(selector.as_ref(), &Task { seed, ..Task::new(&gram, c) })?;
            selection.seconds = 0.0;
            Ok(selection)
        };
        for c in [1, 30] {
            let chosen = select(c, 7).unwrap();
            match &chosen.landmarks {
                LandmarkSet::Indices(rows) => assert_landmarks(rows, c, gram.len()),
                LandmarkSet::Points(points) => assert_eq!(points.len(), c * data.dim(), "{name}"),
            }
            assert_eq!(
                !selector.needs().points,
                matches!(chosen.landmarks, LandmarkSet::Indices(_)),
                "{name}"
            );
            assert!(chosen.log_det.is_finite(), "{name}");
            let fraction = gram.trace_error(&chosen.landmarks).unwrap().fraction;
            assert!(fraction > 0.0 && fraction < 1.0, "{name} {fraction}");
            assert_eq!(chosen, select(c, 7).unwrap(), "{name} is not reproducible");
        }
        let differ = (0..3).any(|seed| select(30, 7).unwrap() != select(30, seed).unwrap());
        let draws = !["greedy", "greedy-nuclear"].contains(&name);
        assert_eq!(differ, draws, "{name} and its seed: if it draws nothing, name it in this test");
        let reason = |refused: Result<Selection, Error>| {
            let error = refused.unwrap_err();
            assert_eq!(error.name(), "Landmarks", "{name}: {error}");
            error.core().unwrap()
        };
        assert_eq!(reason(select(0, 0)), CoreError::Empty);
        let rows = gram.len();
        let many = CoreError::TooManyLandmarks { landmarks: rows + 1, rows };
        assert_eq!(reason(select(rows + 1, 0)), many);
    }
}

/// Five distinct rows, each repeated many times.
#[test]
fn a_rank_under_the_number_of_landmarks_is_refused() {
    let sample = Sample::new(5, 3);
    let text = sample.csv();
    let (header, rows) = text.split_once('\n').unwrap();
    let folder = Folder::with("five.csv", format!("{header}\n{}", rows.repeat(12)));
    for method in methods() {
        let name = method.name;
        folder.run(&format!("select five.csv --sigma 1 --landmarks 5 --method {name}")).good();
        folder
            .run(&format!("select five.csv --sigma 1 --landmarks 6 --method {name}"))
            .refused(&["only 5 rows are independent", "use fewer landmarks"]);
    }
}

#[test]
fn methods_are_reported_by_their_names() {
    let folder = Folder::with("a.csv", Sample::new(120, 3).csv());
    let names: Vec<&str> = methods().map(|method| method.name).collect();
    let command = format!("evaluate a.csv --landmarks 6 --seeds 1 --json --methods {}", names.join(","));
    let trials = folder.run(&command).good().json_lines();
    let found: Vec<&str> = trials.iter().map(|trial| trial["method"].as_str().unwrap()).collect();
    assert_eq!(found, names);
    for trial in &trials {
        for key in ["fro_rel", "spec_rel", "trace_fraction", "train_nrmse", "test_nrmse"] {
            assert!(number(trial, key) > 0.0, "{trial}");
        }
    }
    for name in names {
        let report = folder.run(&format!("select a.csv --landmarks 6 --json --method {name}")).good().json();
        assert_eq!(report["method"], name);
        if name == "kmeans" {
            assert_eq!(report["points"].as_array().unwrap().len(), 6);
        } else {
            assert_landmarks(&row_numbers(&report, "landmarks"), 6, 120);
            assert!(report.get("points").is_none());
        }
    }
}

/// The help of the commands and the tables in the documentation list exactly the registered
/// methods.
#[test]
fn documented_methods_are_the_registered_ones() {
    let folder = Folder::new();
    for (command, with_given) in [("select", false), ("fit", false), ("evaluate", true)] {
        let text = folder.run(&format!("{command} --help")).good().out;
        let told: Vec<(&str, &str)> = text
            .split("\n      --method")
            .nth(1)
            .and_then(|text| text.split("Possible values:").nth(1))
            .unwrap()
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map_while(|line| line.strip_prefix("- ")?.split_once(": "))
            .map(|(name, help)| (name, help.trim()))
            .collect();
        let known: Vec<(&str, &str)> = selectors::methods()
            .filter(|method| with_given || !method.uses(SelectorOption::Given))
            .map(|method| (method.name, method.help))
            .collect();
        assert_eq!(told, known, "{command}");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names: Vec<&str> = selectors::methods().map(|method| method.name).collect();
    let page = std::fs::read_to_string(root.join("../docs/methods.md")).unwrap();
    let section = page.split("## The methods").nth(1).unwrap().split("\n#").next().unwrap();
    assert_eq!(first_cells(section, "| "), names);
    for (file, methods) in
        [("../src/landmarks/methods/mod.rs", METHODS), ("../lab/src/selectors/mod.rs", selectors::METHODS)]
    {
        let source = std::fs::read_to_string(root.join(file)).unwrap();
        let names: Vec<&str> = methods.iter().map(|method| method.name).collect();
        assert_eq!(first_cells(&source, "//! | "), names);
    }
    for method in selectors::methods() {
        assert!(!method.help.is_empty() && !method.help.contains('\n'), "{method:?}");
    }
}

/// Return the first cell of each line of a table, without quotes.
fn first_cells<'t>(text: &'t str, prefix: &str) -> Vec<&'t str> {
    let rows = text.lines().filter_map(|line| line.strip_prefix(prefix)?.strip_prefix('`'));
    rows.filter_map(|row| row.split('`').next()).collect()
}

/// Centroids are points in the file's units, and a model can be fitted on them.
#[test]
fn centroids_are_landmarks_of_a_model() {
    let sample = Sample::new(300, 3);
    let folder = Folder::with("a.csv", sample.csv());
    let command = "a.csv --landmarks 12 --method kmeans --sigma 2 --json";
    let selected = folder.run(&format!("select {command} --out points.csv")).good().json();
    let points: Vec<Vec<f64>> = serde_json::from_value(selected["points"].clone()).unwrap();
    assert_eq!(selected["landmarks"].as_array().unwrap().len(), 0);
    let written: Vec<Vec<f64>> = folder
        .text("points.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    assert!(folder.text("points.csv").starts_with("a,b,c\n"));
    for (point, written) in points.iter().flatten().zip(written.iter().flatten()) {
        assert_close(*point, *written, 1e-15);
    }
    // Within the range of the rows in each column.
    for (column, value) in points.iter().flat_map(|point| point.iter().enumerate()) {
        let values = sample.features.iter().map(|row| row[column]);
        let (least, most) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::MIN, f64::max));
        assert!((least..=most).contains(value), "{column} {value}");
    }
    let fitted = folder.run(&format!("fit --metric one {command} --ridge 1e-6 --model m")).good().json();
    assert!(number(&fitted, "train_nrmse") < 0.9, "{fitted}");
    let shown = folder.run("info m --json").good().json();
    assert_eq!(number(&shown, "landmarks"), 12.0, "{shown}");
    assert!(folder.run("predict m a.csv").good().err.contains("0."));
}

/// The trace error of points compared with dense matrices: rows given as points have the rows' error.
#[test]
fn points_that_are_rows_have_the_error_of_the_rows() {
    let sample = Sample::new(90, 2);
    let folder = Folder::with("a.csv", sample.csv());
    let table =
        dpp_nystrom::data::table::read(&folder.path("a.csv"), &dpp_nystrom::data::table::Target::Last)
            .unwrap();
    let data = Prepared::new(table, None, 0).unwrap();
    let gram =
        Gram::new(&data, KernelSpec { kind: dpp_nystrom::kernel::KernelKind::Matern32, sigma: 1.3 }).unwrap();
    let spectrum = dpp_nystrom_lab::spectrum::Spectrum::of(gram.ground()).unwrap();
    let rows = LandmarkSet::Indices(vec![3, 14, 15, 65, 89]);
    let points = LandmarkSet::Points(data.gather(&[3, 14, 15, 65, 89]).unwrap());
    assert_eq!(gram.trace_error(&rows).unwrap(), gram.trace_error(&points).unwrap());
    let [one, other] = [&rows, &points].map(|places| spectrum.relative_error(&gram, places).unwrap());
    assert_eq!(one, other);
}

/// Other approximations are labelled, have no regression errors, and are ordered as their formulas imply.
#[test]
fn approximations_by_name() {
    let folder = Folder::with("a.csv", Sample::new(160, 3).csv());
    let evaluate = |options: &str| {
        let command =
            format!("evaluate a.csv --methods uniform,kmeans --landmarks 8 --seeds 2 --json {options}");
        folder.run(&command).good().json_lines()
    };
    let nystrom = evaluate("");
    let modified = evaluate("--approximation modified");
    let ensemble = evaluate("--approximation ensemble");
    for (at, nystrom) in nystrom.iter().enumerate() {
        assert!(nystrom.get("approximation").is_none());
        // Projecting K onto the span of the columns is optimal among them, and no error is below that of the
        // best approximation of that rank.
        assert!(number(&modified[at], "fro_rel") < number(nystrom, "fro_rel"));
        assert!(number(&modified[at], "fro_rel") > 1.0);
        assert!(number(&ensemble[at], "trace_fraction") > number(nystrom, "trace_fraction"));
        for (trials, name) in [(&modified, "modified"), (&ensemble, "ensemble")] {
            assert_eq!(trials[at]["approximation"], name);
            assert!(trials[at]["test_nrmse"].is_null() && trials[at]["train_nrmse"].is_null());
        }
    }
    folder
        .run("evaluate a.csv --methods uniform --landmarks 8 --approximation best")
        .misused(&["'best'", "nystrom, ensemble, modified"]);
}

/// Refinement by the leave-one-out error needs a target, and predicts better.
#[test]
fn refinement_by_the_target() {
    let sample = Sample::new(400, 3);
    let folder = Folder::with("a.csv", sample.csv());
    let select =
        |options: &str| folder.run(&format!("select a.csv --landmarks 10 --json --sigma 1.5 {options}"));
    let by_name = select("--method refined-ridge").good().json();
    let by_trace = select("--method refined").good().json();
    assert_ne!(by_name["landmarks"], by_trace["landmarks"]);
    assert!(number(&by_trace, "trace_fraction") < number(&by_name, "trace_fraction"));

    let fit = |method: &str| {
        let options = "--landmarks 10 --sigma 1.5 --model m --json";
        number(
            &folder.run(&format!("fit --metric one a.csv {options} --method {method}")).good().json(),
            "cv_nrmse",
        )
    };
    assert!(fit("refined-ridge") < fit("refined"));

    select("--method refined-ridge --target none").refused(&["no target: regression needs one", "--target"]);
    let constant: String = sample.csv().lines().enumerate().fold(String::new(), |text, (at, line)| {
        let last = if at == 0 { "same" } else { "7" };
        text + line + "," + last + "\n"
    });
    folder.write("constant.csv", constant);
    folder
        .run("select constant.csv --landmarks 10 --method refined-ridge")
        .refused(&["the target \"same\" is constant"]);
}
