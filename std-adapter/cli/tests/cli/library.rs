//! The library as called by another program: models in memory and on disk agree, and invalid
//! calls return errors.

use crate::command::{Folder, assert_close, column, number, row_numbers};
use crate::sample::Sample;
use dpp_nystrom::Model;
use dpp_nystrom::approximation::{Gram, LandmarkSet, trace_error};
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::Table;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::data::{Columns, Prepared, RowSlices, RowSource, Scaler, TargetColumn};
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::landmarks::{ChainKind, Selection, Selector, Start, Steps, Task, run, select};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::selectors::{Given, Kdpp, KmeansPlusPlus, Uniform};
use dpp_nystrom::{Error, ErrorKind};
use dpp_nystrom::{
    Ridge,
    regression::{FitParams, choose_bandwidth, fit},
};
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, Precision},
};
use dpp_nystrom_core::{Acceptance, Error as CoreError, Matrix, Rule};
use dpp_nystrom_host::atomic_file::write_whole;
use dpp_nystrom_lab::benchmark::{Comparison, evaluate};
use dpp_nystrom_lab::spectrum::Spectrum;
use dpp_nystrom_lab::variants::Approximation;
use std::borrow::Cow;
use std::sync::Arc;

fn table(rows: usize, dim: usize) -> Table {
    let sample = Sample::new(rows, dim);
    Table {
        name: "sample".to_owned(),
        feature_names: sample.names,
        dim,
        features: sample.features.concat(),
        target: Some(sample.target),
        target_name: Some("y".to_owned()),
        weights: None,
    }
}

fn setting(precision: Precision) -> FitParams {
    FitParams {
        kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 1.5 },
        ridge: Ridge::CrossValidated,
        precision,
        seed: 3,
    }
}

fn selected(
    data: &Prepared,
    c: usize,
    selector: &dyn Selector,
    setting: FitParams,
) -> Result<Selection, Error> {
    let FitParams { kernel, precision, seed, .. } = setting;
    let gram = Gram::new(data, kernel)?;
    run(selector, &Task { precision, seed, ..Task::new(&gram, c) })
}

fn trained(data: &Prepared, precision: Precision) -> Model {
    let selection = selected(data, 10, &Kdpp::default(), setting(precision)).unwrap();
    fit(
        data,
        &selection.landmarks,
        FitParams { ridge: Ridge::CrossValidated, ..setting(precision) },
        None,
        &NoObserver,
    )
    .unwrap()
    .model
}

#[test]
fn a_model_survives_the_disk_bit_for_bit() {
    let folder = Folder::new();
    // More than one block of rows.
    let (old, new) = (table(200, 3), table(2_500, 3));
    for precision in [Precision::F64, Precision::F32] {
        let model = trained(&Prepared::new(old.clone(), None, 0).unwrap(), precision);
        model.save(folder.path("m")).unwrap();
        let loaded = Model::load(folder.path("m")).unwrap();
        assert_eq!(loaded, model);
        let bits = |model: &Model| -> Vec<u64> {
            model.predict_table(&new).unwrap().into_iter().map(f64::to_bits).collect()
        };
        assert_eq!(bits(&loaded), bits(&model));
        // A row is predicted alone as among others.
        for row in [0, 1_023, 1_024, 2_499] {
            let one =
                Table { features: new.row(row).to_vec(), target: None, target_name: None, ..new.clone() };
            assert_eq!(model.predict_table(&one).unwrap()[0].to_bits(), bits(&model)[row]);
        }
    }
}

#[test]
fn the_command_does_what_the_library_does() {
    let sample = Sample::new(150, 3);
    let folder = Folder::with("a.csv", sample.csv());
    let table = table::read(&folder.path("a.csv"), &Target::Last).unwrap();
    assert_eq!(table.features, sample.features.concat());
    let data = Prepared::new(table.clone(), None, 5).unwrap();
    for (precision, name) in [(Precision::F64, "f64"), (Precision::F32, "f32")] {
        let sigma =
            choose_bandwidth(Sigma::Median(2.0), KernelKind::Gaussian, &data, 5, &NoObserver).unwrap().sigma;
        let setting = FitParams {
            kernel: KernelSpec { kind: KernelKind::Gaussian, sigma },
            ridge: Ridge::CrossValidated,
            precision,
            seed: 5,
        };
        let selection = selected(&data, 9, &Kdpp::default(), setting).unwrap();
        let training = fit(
            &data,
            &selection.landmarks,
            FitParams { ridge: Ridge::CrossValidated, ..setting },
            None,
            &NoObserver,
        )
        .unwrap();
        let options = format!("a.csv --landmarks 9 --sigma median*2 --seed 5 --json --precision {name}");
        let selected = folder.run(&format!("select {options}")).good().json();
        assert_eq!(Some(&row_numbers(&selected, "landmarks")[..]), selection.landmarks.rows());
        // The reader of JSON may lose the last bit.
        assert_close(number(&selected, "sigma"), sigma, f64::EPSILON);
        let ground = data.ground(setting.kernel).unwrap();
        let trace = trace_error(&ground, selection.landmarks.rows().unwrap()).unwrap();
        assert_close(number(&selected, "trace_error"), trace.error, f64::EPSILON);

        folder.run(&format!("fit --metric one {options} --method kdpp --variance --model m")).good();
        // The program measures the model on rows that it leaves out, and its models fill gaps of files.
        let told = Model::load(folder.path("m")).unwrap();
        assert_eq!(Model { test_error: None, importances: None, recipe: None, ..told }, training.model);
        let run = folder.run("predict m a.csv").good();
        // Written with enough digits to parse to the same bits.
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&column(&run.out).1), bits(&training.model.predict_table(&table).unwrap()));
    }
}

#[test]
fn rows_of_another_width_are_refused() {
    let model = trained(&Prepared::new(table(80, 3), None, 0).unwrap(), Precision::F64);
    for dim in [1, 2, 4, 40] {
        let text = model.predict_table(&table(30, dim)).unwrap_err().to_string();
        assert!(text.ends_with(&format!("expected 3, found {dim}")), "{text}");
    }
}

#[test]
fn values_that_are_not_finite_are_rejected() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut features = table(50, 2);
        features.features[33] = bad;
        assert_eq!(Prepared::new(features, None, 0).unwrap_err().column(), Some("b"));
        let mut target = table(50, 2);
        target.target.as_mut().unwrap()[7] = bad;
        assert_eq!(Prepared::new(target, None, 0).unwrap_err().column(), Some("y"));
    }
}

/// A source of one's own, of two features, whose parts need not fit each other.
#[derive(Clone, Copy, Debug)]
struct Rows<'a> {
    rows: &'a [f64],
    targets: &'a [f64],
}

impl RowSource for Rows<'_> {
    fn columns(&self) -> Columns {
        Columns {
            name: "rows".to_owned(),
            feature_names: vec!["a".to_owned(), "b".to_owned()],
            scaler: Scaler { means: vec![0.0; 2], deviations: vec![1.0; 2], map: None, bounds: None },
            target: Some(TargetColumn { name: "y".to_owned(), mean: 0.0, deviation: 1.0 }),
            further: Vec::new(),
            classes: None,
        }
    }

    fn len(&self) -> usize {
        self.rows.len() / 2
    }

    fn slices(&self) -> Option<RowSlices<'_>> {
        Some(RowSlices::F64(self.rows, Some(self.targets)))
    }

    fn gather(&self, _: &[usize]) -> Result<Prepared, Error> {
        unreachable!("landmarks are points")
    }

    fn sample(&self, _: usize, _: u64) -> Result<Cow<'_, Prepared>, Error> {
        unreachable!("nothing is selected")
    }

    fn in_memory(&self, _: &str, _: u64) -> Result<Cow<'_, Prepared>, Error> {
        unreachable!("nothing is selected")
    }

    fn checksum(&self) -> u32 {
        0
    }
}

#[test]
fn problems_of_the_wrong_shape_are_rejected() {
    let rows = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let refused = |rows: &[f64], targets: &[f64], landmarks: &[f64], ridge| {
        let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 };
        let params = FitParams { kernel, ridge, precision: Precision::F64, seed: 0 };
        let landmarks = LandmarkSet::Points(landmarks.to_vec());
        fit(&Rows { rows, targets }, &landmarks, params, None, &NoObserver).map(|_| ())
    };
    let ridge = Ridge::Value(1e-3);
    let targets = [1.0, 2.0, 3.0];
    assert!(refused(&rows, &targets, &rows[..4], ridge).is_ok());
    let length = |expected, found| CoreError::Length { expected, found };
    for (refused, reason) in [
        (refused(&rows, &targets[..2], &rows[..4], ridge), length(3, 2)),
        (refused(&rows, &[], &rows[..4], ridge), length(3, 0)),
        (refused(&rows, &targets, &rows[..3], ridge), length(4, 3)),
        (refused(&rows, &targets, &[], ridge), CoreError::Empty),
        (
            refused(&rows, &[1.0, f64::NAN, 3.0], &rows[..4], ridge),
            CoreError::NotFinite { row: 1, column: 2 },
        ),
        (refused(&rows, &targets, &rows[..4], Ridge::Value(-1.0)), CoreError::Ridge),
        (refused(&rows, &targets, &rows[..4], Ridge::Value(f64::NAN)), CoreError::Ridge),
    ] {
        let error = refused.unwrap_err();
        assert!(["Regression", "Landmarks"].contains(&error.name().as_str()), "{error:?}");
        assert_eq!(error.core(), Some(reason));
    }
    let one = refused(&rows[..2], &[1.0], &rows[..2], Ridge::CrossValidated);
    let text = one.unwrap_err().to_string();
    assert!(text.starts_with("1 rows are too few to cross-validate"), "{text}");
}

#[test]
fn too_many_landmarks_are_rejected() {
    let data = Prepared::new(table(40, 2), None, 0).unwrap();
    let ground = data.ground(KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    let reason = |refused: Result<(), Error>| {
        let error = refused.unwrap_err();
        assert_eq!(error.name(), "Landmarks", "{error}");
        error.core().unwrap()
    };
    let past = CoreError::OutOfRange { index: 40, len: 40 };
    assert_eq!(reason(trace_error(&ground, &[1, 40]).map(|_| ())), past);
    assert_eq!(reason(trace_error(&ground, &[1, 2, 1]).map(|_| ())), CoreError::Duplicate { index: 1 });
    assert!(trace_error(&ground, &[]).is_err());
    let spectrum = Spectrum::of(&ground).unwrap();
    let outside = LandmarkSet::Indices(vec![40]);
    assert_eq!(reason(spectrum.relative_error(&Gram::over(&ground, None), &outside).map(|_| ())), past);
    let selectors: [&dyn Selector; 3] = [&Kdpp::default(), &Uniform, &KmeansPlusPlus];
    for selector in selectors {
        let selected = |c| selected(&data, c, selector, setting(Precision::F64)).map(|_| ());
        assert_eq!(reason(selected(0)), CoreError::Empty);
        assert_eq!(reason(selected(41)), CoreError::TooManyLandmarks { landmarks: 41, rows: 40 });
        assert_eq!(
            reason(selected(usize::MAX)),
            CoreError::TooManyLandmarks { landmarks: usize::MAX, rows: 40 }
        );
    }
    let given =
        |rows: &[usize]| selected(&data, rows.len(), &Given::new(rows), setting(Precision::F64)).map(|_| ());
    assert_eq!(reason(given(&[1, 40])), past);
    assert_eq!(reason(given(&[1, 1])), CoreError::Duplicate { index: 1 });
    let params = FitParams { ridge: Ridge::Value(1e-3), ..setting(Precision::F64) };
    let untrained = fit(&data, &LandmarkSet::Indices(vec![3, 40]), params, None, &NoObserver);
    let error = untrained.unwrap_err();
    assert_eq!((error.name().as_str(), error.core()), ("Core", Some(past)));
}

/// A user-defined ground set with known probabilities, which the command cannot take.
#[test]
fn a_user_defined_matrix() {
    let matrix = Matrix::new(&[4.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    for chain in [
        ChainKind::Slot,
        ChainKind::Swap(Rule::ALGORITHM_1),
        ChainKind::Swap(Rule { acceptance: Acceptance::Barker, lazy: false }),
    ] {
        // Pairs have determinants 36, 4 and 9: the chain is on the first for 36/49 of the time.
        let kdpp = Kdpp::default().start(Start::Uniform).chain(chain).steps(Steps::Count(100));
        let best = (0..2_000)
            .filter(|&seed| {
                let selection = select(&matrix, 2, &kdpp, seed, &NoObserver).unwrap();
                selection.landmarks.rows() == Some(&[0, 1])
            })
            .count();
        // Standard deviation 20 of 1469.
        assert!((1_389..=1_549).contains(&best), "{chain:?} {best}");
    }
}

#[test]
fn invalid_comparisons_are_rejected_before_they_start() {
    let table = table(40, 2);
    let good = Comparison {
        selectors: vec![Arc::new(Kdpp::default())],
        landmarks: vec![4],
        full: false,
        seed: 0,
        seeds: 1,
        rows: 40,
        test: 10,
        kernel: KernelKind::Gaussian,
        bandwidth: Sigma::Median(1.0),
        ridge: Ridge::CrossValidated,
        precision: Precision::F64,
        approximation: Approximation::Nystrom,
    };
    let run = |comparison: &Comparison| {
        let mut trials = 0;
        evaluate(&table, comparison, &NoObserver, |_| {
            trials += 1;
            Ok(())
        })
        .map(|()| trials)
    };
    assert_eq!(run(&good).unwrap(), 1);
    let text = |comparison: &Comparison| run(comparison).unwrap_err().to_string();
    assert!(text(&Comparison { rows: 41, ..good.clone() }).starts_with("41 rows requested: "));
    assert!(text(&Comparison { rows: 0, ..good.clone() }).starts_with("0 rows requested: "));
    let none_left = text(&Comparison { test: 40, ..good.clone() });
    assert!(none_left.starts_with("40 rows to test on leave none of the 40 to train on"), "{none_left}");
    let many = run(&Comparison { landmarks: vec![4, 31], ..good.clone() });
    assert!(many.is_err_and(|error| error.name() == "Landmarks"));
    let given = Arc::new(Given::new([3, 40]));
    let run_given = run(&Comparison { selectors: vec![given], ..good.clone() });
    assert!(run_given.as_ref().is_err_and(|error| error.name() == "Landmarks"));
    // An error of the callback ends it.
    let mut seen = 0;
    let stopped = evaluate(&table, &Comparison { seeds: 5, ..good }, &NoObserver, |_| {
        seen += 1;
        Err(Error::new(ErrorKind::Other, "enough"))
    });
    assert!(stopped.is_err_and(|error| error.to_string() == "enough") && seen == 1);
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = Folder::with("kept", "before");
    let failed = write_whole(&folder.path("kept"), |file| {
        file.write_all(&[b'x'; 100_000])?;
        Err(std::io::Error::other("the cable"))
    });
    assert!(matches!(failed, Err(dpp_nystrom_host::Error::Write { .. })));
    assert_eq!((folder.text("kept").as_str(), folder.names().len()), ("before", 1));
    write_whole(&folder.path("kept"), |file| file.write_all(b"after")).unwrap();
    assert_eq!(folder.text("kept"), "after");
}
