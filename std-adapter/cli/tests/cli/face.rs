//! The library's face beside the program: the same landmarks, model files and predictions, bit for bit, for
//! rows that are given, read and stored.

use crate::command::{Folder, Run, assert_close, column, number, row_numbers};
use crate::published::file;
use crate::sample::{Sample, row_list};
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::Precision;
use dpp_nystrom::landmarks::Selector;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::{
    Dataset, Gaussian, KernelRidge, LandmarkRidge, Model, Nystroem, Ridge, Sigma,
    selectors::{Kdpp, Refined, RpCholesky, Uniform},
};
use std::path::Path;

const LANDMARKS: usize = 50;

/// Methods as the program's options.
const METHODS: [&str; 4] = ["refined --refine 5", "kdpp", "uniform", "rpcholesky"];

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// What the program selects, fits and predicts.
struct Told {
    landmarks: Vec<usize>,
    trace_fraction: f64,
    predictions: Vec<f64>,
}

/// Run the program on a file, which leaves its model in `told.dpp`.
fn program(folder: &Folder, data: &str, method: &str) -> Told {
    let options = format!("{data} --landmarks {LANDMARKS} --sigma median*4 --method {method} --seed 7");
    let selected = folder.run(&format!("select {options} --json")).good().json();
    // The library keeps what variances need.
    folder.run(&format!("fit --metric one {options} --variance --model told.dpp")).good();
    let predicted = folder.run(&format!("predict told.dpp {data}")).good();
    Told {
        landmarks: row_numbers(&selected, "landmarks"),
        trace_fraction: number(&selected, "trace_fraction"),
        predictions: column(&predicted.out).1,
    }
}

/// The map and the model that the library fits, in the words of its documentation.
fn library(selector: impl Selector + 'static, data: &Dataset<'_>) -> (Nystroem, Model) {
    let map = Nystroem::params(LANDMARKS)
        .kernel(Gaussian::new(Sigma::Median(4.0)))
        .selector(selector)
        .seed(7)
        .fit(data)
        .unwrap();
    let model = KernelRidge::params(&map).ridge(Ridge::CrossValidated).fit(data).unwrap();
    (map, model)
}

fn library_by(method: &str, data: &Dataset<'_>) -> (Nystroem, Model) {
    match method {
        "kdpp" => library(Kdpp::default(), data),
        "uniform" => library(Uniform, data),
        "rpcholesky" => library(RpCholesky::default(), data),
        _ => library(Refined::default().sweeps(5), data),
    }
}

/// The program's model without what it measured on rows that it left out, and without what it knows of gaps
/// in files: the library's rows are numbers.
fn without_measurements(folder: &Folder) -> Model {
    let model = Model::load(folder.path("told.dpp")).unwrap();
    assert!(model.test_error.is_some() && model.importances.is_some());
    assert!(model.recipe.as_ref().is_none_or(|recipe| recipe.as_it_is && recipe.taken.is_empty()));
    Model { test_error: None, importances: None, recipe: None, ..model }
}

/// The library and the program, on the files `name` and `data.rows` of a folder.
fn agree(folder: &Folder, name: &str) {
    let table = table::read(&folder.path(name), &Target::Last).unwrap();
    let (x, y) = (&table.features, table.target.as_ref().unwrap());
    let names: Vec<&str> = table.feature_names.iter().map(String::as_str).collect();
    let given = Dataset::from_rows(x, table.dim).unwrap().with_target(y).unwrap();
    let given = given.with_names(&names, table.target_name.as_deref().unwrap()).unwrap();
    let read = Dataset::read(folder.path(name)).unwrap();
    let stored = Dataset::open_store(folder.path("data.rows")).unwrap();
    for method in METHODS {
        for (data, named, kind) in
            [(&given, name, "given"), (&read, name, "read"), (&stored, "data.rows", "stored")]
        {
            let told = program(folder, named, method);
            let (map, mut model) = library_by(method, data);
            assert_eq!(map.landmarks(), told.landmarks, "{method} {kind}");
            // The reader of JSON may miss the last bit.
            assert_close(map.trace_error(data).unwrap(), told.trace_fraction, 1e-9);
            assert_eq!(map.transform(x).unwrap().len(), y.len() * map.rank());
            // Numbers in memory have no file to name.
            if kind == "given" {
                assert_eq!(model.trained_on, "data");
                model.trained_on = table.name.clone();
            }
            model.save(folder.path("m.dpp")).unwrap();
            let own = without_measurements(folder).to_bytes().unwrap();
            assert!(folder.bytes("m.dpp") == own, "{method} {kind}: another model");
            let model = Model::load(folder.path("m.dpp")).unwrap();
            let told = match kind {
                // A store's rows in their own units differ from the file's by rounding.
                "stored" => column(&folder.run(&format!("predict told.dpp {name}")).good().out).1,
                _ => told.predictions,
            };
            assert_eq!(bits(&model.predict(x).unwrap()), bits(&told), "{method} {kind}");
        }
    }
}

/// When nothing is said but the seed: regression, classes, weights, several targets, fewer independent rows
/// than landmarks.
#[test]
fn the_usual_fit_is_the_same_model() {
    const NAMES: [&str; 4] = ["x0", "x1", "x2", "x3"];
    let sample = Sample::new(300, 4);
    let folder = Folder::new();
    let mut lines = vec!["x0,x1,x2,x3,w,y0,y1,kind".to_owned()];
    let (mut x, mut weights, mut targets, mut kinds) = (vec![], vec![], vec![], vec![]);
    for (row, features) in sample.features.iter().enumerate() {
        let weight = (row % 3) as f64;
        let own = [sample.target[row], features[0].sin() + features[1]];
        let kind = f64::from(u8::from(own[1] > 1.0));
        let numbers = features.iter().chain([&weight]).chain(&own).map(f64::to_string);
        lines.push(format!("{},{}", numbers.collect::<Vec<_>>().join(","), ["no", "yes"][kind as usize]));
        x.extend_from_slice(features);
        weights.push(weight);
        targets.push(own);
        kinds.push(kind);
    }
    folder.write("data.csv", lines.join("\n"));
    let first: Vec<f64> = targets.iter().map(|own| own[0]).collect();
    let data = || Dataset::from_rows(&x, 4).unwrap();
    let numbers = || data().with_target(&first).unwrap();
    let usual = LandmarkRidge::default().seed(7);
    let few: Vec<f64> = (0..300).map(|row| f64::from(row % 3)).collect();
    let few_targets: Vec<f64> = (0..300).map(|row| f64::from(row % 3 + row % 7)).collect();
    let few_lines = few.iter().zip(&few_targets).map(|(x, y)| format!("{x},{y}\n"));
    folder.write("few.csv", "x0,y\n".to_owned() + &few_lines.collect::<String>());
    let few = Dataset::from_rows(&few, 1).unwrap().with_target(&few_targets).unwrap();
    for (told, own) in [
        ("data.csv --target y0 --ignore w,y1,kind", numbers().with_names(&NAMES, "y0").unwrap()),
        (
            "data.csv --target y0 --weight w --ignore y1,kind",
            numbers().with_weights(&weights).unwrap().with_names(&NAMES, "y0").unwrap(),
        ),
        (
            "data.csv --target kind --ignore w,y0,y1",
            data().with_classes(&kinds, &["no", "yes"]).unwrap().with_names(&NAMES, "kind").unwrap(),
        ),
        (
            "data.csv --target y0,y1 --ignore w,kind",
            data().with_targets(targets.as_flattened(), &["y0", "y1"]).unwrap(),
        ),
        ("few.csv", few),
    ] {
        let variance = if told.contains("y0,y1") { "" } else { " --variance" };
        folder.run(&format!("fit {told} --seed 7{variance} --model told.dpp")).good();
        let expected = Model::load(folder.path("told.dpp")).unwrap();
        let expected = Model { recipe: None, trained_on: "data".to_owned(), ..expected };
        let found = usual.fit(&own).unwrap();
        assert!(found.test_error.is_some(), "{told}");
        assert_eq!(found.landmarks() < 10, told.starts_with("few"), "{told}");
        // Several targets have no variances.
        assert!(found.to_bytes().unwrap() == expected.to_bytes().unwrap(), "{told}: another model");
    }
}

#[test]
fn the_library_does_what_the_program_does() {
    let folder = Folder::with("a.csv", Sample::new(900, 8).csv());
    for precision in ["f64", "f32"] {
        folder.run(&format!("convert a.csv --precision {precision} --out data.rows")).good();
        agree(&folder, "a.csv");
    }
}

/// Rows whose statistics are exactly 0 and 1, so that those of the store and of its rows read into memory are
/// equal: what was selected in memory is fitted in memory, in double precision, and what was selected in
/// place in the store's.
#[test]
fn a_store_of_exact_statistics_is_fitted_where_its_landmarks_were_selected() {
    let mut sample = Sample::new(256, 8);
    for (number, row) in sample.features.iter_mut().enumerate() {
        for (feature, value) in row.iter_mut().enumerate() {
            *value = if number >> feature & 1 == 1 { 1.0 } else { -1.0 };
        }
    }
    let folder = Folder::with("a.csv", sample.csv());
    folder.run("convert a.csv --precision f32 --out data.rows").good();
    agree(&folder, "a.csv");
}

#[test]
fn the_library_does_what_the_program_does_on_real_rows() {
    for set in ["abalone", "cal.housing"] {
        let Some(folder) = real("the_library_does_what_the_program_does_on_real_rows", set) else { continue };
        folder.run("convert real.arff --out data.rows").good();
        agree(&folder, "real.arff");
    }
}

/// Landmarks that depend on others in the regression's precision are left out, and the model names those that
/// stay.
#[test]
fn dependent_landmarks_are_left_out_alike() {
    let folder = Folder::with("a.csv", Sample::new(300, 2).csv());
    let data = Dataset::read(folder.path("a.csv")).unwrap();
    let map = Nystroem::params(25)
        .kernel(Gaussian::new(Sigma::Value(5.0)))
        .selector(Kdpp::default())
        .seed(7)
        .fit(&data)
        .unwrap();
    let fitted =
        KernelRidge::params(&map).precision(Precision::F32).fit_observed(&data, &NoObserver).unwrap();
    assert_eq!((map.landmarks().len(), map.rank()), (25, 25));
    assert!((1..25).contains(&fitted.dependent), "{}", fitted.dependent);
    folder.write("given.csv", row_list(map.landmarks()));
    folder
        .run("fit --metric one a.csv --given given.csv --sigma 5 --precision f32 --seed 7 --variance --model told.dpp")
        .good();
    assert_eq!(fitted.model, without_measurements(&folder));
    assert_eq!(fitted.model.landmark_rows.len(), 25 - fitted.dependent);
}

/// The example `files`, which has the library alone; `tests/run` builds it.
#[test]
fn a_program_of_the_library_does_what_the_program_does() {
    const TEST: &str = "a_program_of_the_library_does_what_the_program_does";
    let Some(example) = std::env::var_os("DPP_NYSTROM_FILES").filter(|path| !path.is_empty()) else {
        println!("skipped: {TEST}: tests/run builds the example files, and DPP_NYSTROM_FILES names it");
        return;
    };
    let made = Folder::with("data.csv", Sample::new(900, 4).csv());
    for (folder, name) in [
        (Some(made), "data.csv"),
        (real(TEST, "abalone"), "real.arff"),
        (real(TEST, "cal.housing"), "real.arff"),
    ] {
        let Some(folder) = folder else { continue };
        folder.run(&format!("convert {name} --out data.rows")).good();
        let told = folder.program(Path::new(&example), &[name, "data.rows", "m.dpp"]).output().unwrap();
        let told = Run::of(&told).good().out;
        let mut lines = told.lines();
        let mut next = |key: &str| -> Vec<f64> {
            let list = lines.next().unwrap().strip_prefix(key).unwrap_or_else(|| panic!("no {key}"));
            list.trim_matches(['[', ']']).split(", ").map(|value| value.parse().unwrap()).collect()
        };
        let mut check = |kind: &str, method: &str| {
            let key = format!("{kind} {}", method.split(' ').next().unwrap());
            let landmarks = next(&format!("{key} landmarks "));
            let predictions = next(&format!("{key} predictions "));
            let told = program(&folder, if kind == "store" { "data.rows" } else { name }, method);
            assert_eq!(
                landmarks.iter().map(|&row| row as usize).collect::<Vec<_>>(),
                told.landmarks,
                "{key}"
            );
            let run = folder.run(&format!("predict told.dpp {name}")).good();
            assert_eq!(bits(&predictions), bits(&column(&run.out).1), "{key}");
        };
        check("rows", METHODS[0]);
        for kind in ["rows", "file", "store"] {
            METHODS.iter().for_each(|method| check(kind, method));
        }
        assert_eq!(lines.next(), None);
        let mut model = Model::load(folder.path("m.dpp")).unwrap();
        model.trained_on = String::new();
        program(&folder, name, METHODS[0]);
        let table = table::read(&folder.path(name), &Target::Last).unwrap();
        let mut expected = without_measurements(&folder);
        expected.trained_on = String::new();
        expected.feature_names = (0..table.dim).map(|feature| format!("x{feature}")).collect();
        expected.target_name = "y".to_owned();
        assert_eq!(model, expected);
    }
}

/// A folder with the first rows of a published data set, 3,000 at most, if it is here.
fn real(test: &str, set: &str) -> Option<Folder> {
    let text = std::fs::read_to_string(file(test, set)?).unwrap();
    let header = text.lines().position(|line| line.eq_ignore_ascii_case("@data")).unwrap();
    let lines: Vec<&str> = text.lines().take(header + 1 + 3_000).collect();
    Some(Folder::with("real.arff", lines.join("\n")))
}
