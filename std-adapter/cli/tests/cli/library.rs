//! The library as called by another program: models in memory and on disk agree, and invalid
//! calls return errors.

use crate::command::{Folder, assert_close, column, number, row_numbers};
use crate::sample::Sample;
use dpp_nystrom::Error;
use dpp_nystrom::approximation::{Approximation, Spectrum, trace_error};
use dpp_nystrom::atomic_file::write_whole;
use dpp_nystrom::benchmark::Comparison;
use dpp_nystrom::benchmark::evaluate;
use dpp_nystrom::data::Prepared;
use dpp_nystrom::data::table;
use dpp_nystrom::data::table::Table;
use dpp_nystrom::data::table::Target;
use dpp_nystrom::kernel::KernelSpec;
use dpp_nystrom::kernel::{Bandwidth, KernelKind, Precision};
use dpp_nystrom::landmarks::Options;
use dpp_nystrom::landmarks::{ChainKind, Method, Start, Steps, select_rows};
use dpp_nystrom::landmarks::{methods, select};
use dpp_nystrom::model;
use dpp_nystrom::model::Model;
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::regression::train;
use dpp_nystrom::regression::{RegressionInput, Ridge, Setting, choose_bandwidth, fit};
use dpp_nystrom_core::{Acceptance, Error as CoreError, Matrix, Rule};

const KDPP: Method =
    Method::Kdpp { start: Start::KmeansPlusPlus, chain: ChainKind::Slot, steps: Steps::Auto };

fn table(rows: usize, dim: usize) -> Table {
    let sample = Sample::new(rows, dim);
    Table {
        name: "sample".to_owned(),
        feature_names: sample.names,
        dim,
        features: sample.features.concat(),
        target: Some(sample.target),
        target_name: Some("y".to_owned()),
    }
}

fn setting(precision: Precision) -> Setting {
    Setting { kernel: KernelSpec { kind: KernelKind::Gaussian, sigma: 1.5 }, precision, seed: 3 }
}

fn trained(data: &Prepared, precision: Precision) -> Model {
    let selection = select_rows(data, 10, &KDPP, setting(precision), &NoObserver).unwrap();
    train(data, &selection.landmarks, Ridge::CrossValidated, setting(precision), &NoObserver).unwrap().model
}

#[test]
fn a_model_survives_the_disk_bit_for_bit() {
    let folder = Folder::new();
    // More than one block of rows.
    let (old, new) = (table(200, 3), table(2_500, 3));
    for precision in [Precision::F64, Precision::F32] {
        let model = trained(&Prepared::new(old.clone(), None, 0).unwrap(), precision);
        model::save(&model, &folder.path("m")).unwrap();
        let loaded = model::load(&folder.path("m")).unwrap();
        assert_eq!(loaded, model);
        let bits = |model: &Model| -> Vec<u64> {
            model.predict(&new).unwrap().into_iter().map(f64::to_bits).collect()
        };
        assert_eq!(bits(&loaded), bits(&model));
        // A row is predicted alone as among others.
        for row in [0, 1_023, 1_024, 2_499] {
            let one =
                Table { features: new.row(row).to_vec(), target: None, target_name: None, ..new.clone() };
            assert_eq!(model.predict(&one).unwrap()[0].to_bits(), bits(&model)[row]);
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
        let sigma = choose_bandwidth(Bandwidth::Median(2.0), KernelKind::Gaussian, &data, 5, &NoObserver)
            .unwrap()
            .sigma;
        let setting =
            Setting { kernel: KernelSpec { kind: KernelKind::Gaussian, sigma }, precision, seed: 5 };
        let selection = select_rows(&data, 9, &KDPP, setting, &NoObserver).unwrap();
        let training =
            train(&data, &selection.landmarks, Ridge::CrossValidated, setting, &NoObserver).unwrap();
        let options = format!("a.csv --landmarks 9 --sigma median*2 --seed 5 --json --precision {name}");
        let selected = folder.run(&format!("select {options}")).good().json();
        assert_eq!(row_numbers(&selected, "landmarks"), selection.landmarks);
        // Parsing JSON may lose the last bit.
        assert_close(number(&selected, "sigma"), sigma, f64::EPSILON);
        let ground = data.ground(setting.kernel).unwrap();
        let trace = trace_error(&ground, &selection.landmarks).unwrap();
        assert_close(number(&selected, "trace_error"), trace.error, f64::EPSILON);

        folder.run(&format!("fit {options} --method kdpp --model m")).good();
        assert_eq!(model::load(&folder.path("m")).unwrap(), training.model);
        let run = folder.run("predict m a.csv").good();
        // Written with enough digits to parse to the same bits.
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&column(&run.out).1), bits(&training.model.predict(&table).unwrap()));
    }
}

#[test]
fn rows_of_another_width_are_refused() {
    let model = trained(&Prepared::new(table(80, 3), None, 0).unwrap(), Precision::F64);
    for dim in [1, 2, 4, 40] {
        let refused = model.predict(&table(30, dim));
        assert!(
            matches!(refused, Err(Error::Core(CoreError::Length { expected: 3, found })) if found == dim),
            "{refused:?}"
        );
    }
}

#[test]
fn values_that_are_not_finite_are_rejected() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut features = table(50, 2);
        features.features[33] = bad;
        assert!(matches!(Prepared::new(features, None, 0), Err(Error::Spread { column }) if column == "b"));
        let mut target = table(50, 2);
        target.target.as_mut().unwrap()[7] = bad;
        assert!(matches!(Prepared::new(target, None, 0), Err(Error::Spread { column }) if column == "y"));
    }
}

#[test]
fn problems_of_the_wrong_shape_are_rejected() {
    let kernel = KernelKind::Gaussian.build(1.0).unwrap();
    let rows = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let problem = |rows, targets: &'static [f64], landmarks| RegressionInput {
        rows,
        dim: 2,
        targets: targets.into(),
        landmarks,
        kernel: &kernel,
    };
    let ridge = Ridge::Value(1e-3);
    assert!(fit(problem(&rows, &[1.0, 2.0, 3.0], &rows[..4]), ridge, 0, &NoObserver).is_ok());
    let length = |expected, found| CoreError::Length { expected, found };
    for (refused, reason) in [
        (fit(problem(&rows, &[1.0, 2.0], &rows[..4]), ridge, 0, &NoObserver), length(3, 2)),
        (fit(problem(&rows, &[], &rows[..4]), ridge, 0, &NoObserver), length(3, 0)),
        (fit(problem(&rows, &[1.0, 2.0, 3.0], &rows[..3]), ridge, 0, &NoObserver), length(4, 3)),
        (fit(problem(&rows, &[1.0, 2.0, 3.0], &[]), ridge, 0, &NoObserver), CoreError::Empty),
        (
            fit(problem(&rows, &[1.0, f64::NAN, 3.0], &rows[..4]), ridge, 0, &NoObserver),
            CoreError::NotFinite { row: 1, column: 2 },
        ),
        (
            fit(problem(&rows, &[1.0, 2.0, 3.0], &rows[..4]), Ridge::Value(-1.0), 0, &NoObserver),
            CoreError::Ridge,
        ),
        (
            fit(problem(&rows, &[1.0, 2.0, 3.0], &rows[..4]), Ridge::Value(f64::NAN), 0, &NoObserver),
            CoreError::Ridge,
        ),
    ] {
        match refused {
            Err(Error::Regression { reason: found } | Error::Landmarks { reason: found }) => {
                assert_eq!(found, reason);
            }
            other => panic!("{other:?}"),
        }
    }
    let one = fit(problem(&rows[..2], &[1.0], &rows[..2]), Ridge::CrossValidated, 0, &NoObserver);
    assert!(matches!(one, Err(Error::Folds { rows: 1 })), "{one:?}");
}

#[test]
fn too_many_landmarks_are_rejected() {
    let data = Prepared::new(table(40, 2), None, 0).unwrap();
    let ground = data.ground(KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    let reason = |refused: Result<_, Error>| match refused {
        Err(Error::Landmarks { reason }) => reason,
        Err(other) => panic!("{other}"),
        Ok(()) => panic!("not rejected"),
    };
    let past = CoreError::OutOfRange { index: 40, len: 40 };
    assert_eq!(reason(trace_error(&ground, &[1, 40]).map(|_| ())), past);
    assert_eq!(reason(trace_error(&ground, &[1, 2, 1]).map(|_| ())), CoreError::Duplicate { index: 1 });
    assert!(trace_error(&ground, &[]).is_err());
    let spectrum = Spectrum::of(&ground).unwrap();
    assert_eq!(reason(spectrum.relative_error(&ground, &[40]).map(|_| ())), past);
    for method in [KDPP, Method::Start(Start::Uniform), Method::Start(Start::KmeansPlusPlus)] {
        let selected = |c| select_rows(&data, c, &method, setting(Precision::F64), &NoObserver).map(|_| ());
        assert_eq!(reason(selected(0)), CoreError::Empty);
        assert_eq!(reason(selected(41)), CoreError::TooManyLandmarks { landmarks: 41, rows: 40 });
        assert_eq!(
            reason(selected(usize::MAX)),
            CoreError::TooManyLandmarks { landmarks: usize::MAX, rows: 40 }
        );
    }
    let given = |rows: &[usize]| {
        let method = Method::Given(rows.to_vec());
        select_rows(&data, rows.len(), &method, setting(Precision::F64), &NoObserver).map(|_| ())
    };
    assert_eq!(reason(given(&[1, 40])), past);
    assert_eq!(reason(given(&[1, 1])), CoreError::Duplicate { index: 1 });
    let untrained = train(&data, &[3, 40], Ridge::Value(1e-3), setting(Precision::F64), &NoObserver);
    assert!(matches!(untrained, Err(Error::Core(reason)) if reason == past));
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
        // The pairs have determinants 36, 4 and 9: the chain spends 36/49 of the time at the first.
        let method = Method::Kdpp { start: Start::Uniform, chain, steps: Steps::Count(100) };
        let best = (0..2_000)
            .filter(|&seed| select(&matrix, 2, &method, seed, &NoObserver).unwrap().landmarks == [0, 1])
            .count();
        // Standard deviation 20 of 1469.
        assert!((1_389..=1_549).contains(&best), "{chain:?} {best}");
    }
}

#[test]
fn invalid_comparisons_are_rejected_before_they_start() {
    let table = table(40, 2);
    let good = Comparison {
        methods: vec![methods::find("kdpp").unwrap()],
        options: Options::default(),
        landmarks: vec![4],
        seed: 0,
        seeds: 1,
        rows: 40,
        test: 10,
        kernel: KernelKind::Gaussian,
        bandwidth: Bandwidth::Median(1.0),
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
    assert!(matches!(
        run(&Comparison { rows: 41, ..good.clone() }),
        Err(Error::TooFewRows { wanted: 41, rows: 40 })
    ));
    assert!(matches!(run(&Comparison { rows: 0, ..good.clone() }), Err(Error::TooFewRows { wanted: 0, .. })));
    let none_left = run(&Comparison { test: 40, ..good.clone() });
    assert!(matches!(none_left, Err(Error::NoTrainingRows { test: 40, rows: 40 })));
    assert!(matches!(
        run(&Comparison { landmarks: vec![4, 31], ..good.clone() }),
        Err(Error::Landmarks { .. })
    ));
    let given = vec![methods::find("given").unwrap()];
    let options = Options { given: vec![3, 40], ..Options::default() };
    let run_given = run(&Comparison { methods: given, options, ..good.clone() });
    assert!(matches!(run_given, Err(Error::Landmarks { .. })));
    // An error of the callback ends it.
    let mut seen = 0;
    let stopped = evaluate(&table, &Comparison { seeds: 5, ..good }, &NoObserver, |_| {
        seen += 1;
        Err(Error::NoTarget)
    });
    assert!(matches!(stopped, Err(Error::NoTarget)) && seen == 1);
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = Folder::with("kept", "before");
    let failed = write_whole(&folder.path("kept"), |file| {
        file.write_all(&[b'x'; 100_000])?;
        Err(std::io::Error::other("the cable"))
    });
    assert!(matches!(failed, Err(Error::Write { .. })));
    assert_eq!((folder.text("kept").as_str(), folder.names().len()), ("before", 1));
    write_whole(&folder.path("kept"), |file| file.write_all(b"after")).unwrap();
    assert_eq!(folder.text("kept"), "after");
}
