//! Tests of the error curve against separate selections, and of the search for the fewest landmarks.

use crate::approximation::{Gram, curve::trace_curve};
use crate::data::{Prepared, table::input::Table};
use crate::error::{Cause, Error};
use crate::kernel::{KernelKind, KernelSpec, Precision};
use crate::landmarks::{
    Criterion, Refinement, Selection, Selector, Task, Tolerance, ToleranceSearch, fewest,
    methods::SelectorOptions, methods::find, methods::greedy::Greedy, run, tolerance::FIRST,
    tolerance::order,
};
use crate::observer::NoObserver;
use crate::regression::{FitParams, Ridge, fit, fit::validation_error};
use dpp_nystrom_host::rng::{RngStream, stream};
use rand_core::Rng;

fn data(rows: usize, dim: usize) -> Prepared {
    let mut random = stream(rows as u64, RngStream::Rows);
    let mut next = || f64::from(random.next_u32()) / f64::from(u32::MAX);
    let features: Vec<f64> = (0..rows * dim).map(|_| next()).collect();
    let target = features.chunks_exact(dim).map(|x| (4.0 * x[0]).sin() + x[1] + 0.1 * next()).collect();
    let table = Table {
        name: String::new(),
        feature_names: (0..dim).map(|column| column.to_string()).collect(),
        dim,
        features,
        target: Some(target),
        target_name: Some("y".to_owned()),
        weights: None,
    };
    Prepared::new(table, None, 0).unwrap()
}

fn gram(data: &Prepared, kernel: KernelKind) -> Gram<'_> {
    Gram::new(data, KernelSpec { kind: kernel, sigma: 1.2 }).unwrap()
}

fn task<'a>(gram: &'a Gram<'a>, precision: Precision) -> Task<'a> {
    Task { precision, seed: 3, ..Task::new(gram, 0) }
}

fn selector(name: &str) -> Box<dyn Selector> {
    find(name).unwrap().selector(&SelectorOptions::default())
}

/// A selector that fails for any number of landmarks.
#[derive(Debug)]
struct Refuses;

impl Selector for Refuses {
    fn name(&self) -> &'static str {
        "refuses"
    }

    fn select(&self, _: &Task<'_>) -> Result<Selection, Error> {
        Err(Error(Cause::Eigenvalues))
    }
}

fn trace(error: f64, most: usize) -> Tolerance {
    Tolerance { error, criterion: Criterion::Trace, most }
}

/// The first landmarks of a longer run equal those of a shorter one, and the curve is the error of each
/// prefix.
#[test]
fn nested_methods_are_nested_and_their_curve_is_the_error() {
    const MOST: usize = 45;
    let data = data(400, 3);
    let gram = gram(&data, KernelKind::Gaussian);
    for precision in [Precision::F64, Precision::F32] {
        for (name, rows) in [("rpcholesky", None), ("rpcholesky", Some(150)), ("greedy", None)] {
            let options = SelectorOptions { pivot_rows: rows, ..SelectorOptions::default() };
            let task = task(&gram, precision);
            let selector = find(name).unwrap().selector(&options);
            let order = order(selector.as_ref(), &Task { c: MOST, ..task }).unwrap().unwrap();
            let curve = trace_curve(gram.ground(), &order).unwrap();
            assert_eq!(curve.len(), MOST);
            assert!(
                curve
                    .is_sorted_by(|one, next| one.error >= next.error && one.landmarks + 1 == next.landmarks)
            );
            for c in 1..=MOST {
                let selection = run(selector.as_ref(), &Task { c, ..task }).unwrap();
                let mut first = order[..c].to_vec();
                first.sort_unstable();
                assert_eq!(
                    selection.landmarks,
                    crate::approximation::landmark_set::LandmarkSet::Indices(first),
                    "{name} {c}"
                );
                let error = gram.trace_error(&selection.landmarks).unwrap().fraction;
                assert!((curve[c - 1].error - error).abs() < 1e-12, "{name} {c}: {error}");
            }
        }
    }
    for name in ["uniform", "kdpp", "refined", "kmeans"] {
        let task = task(&gram, Precision::F64);
        assert_eq!(order(selector(name).as_ref(), &Task { c: 5, ..task }).unwrap(), None);
    }
}

#[test]
fn what_is_found_is_within_and_one_less_is_not() {
    let data = data(400, 3);
    let gram = gram(&data, KernelKind::Gaussian);
    let plain = SelectorOptions::default();
    let refined = SelectorOptions {
        refinement: Some(Refinement { sweeps: 1, ..Refinement::default() }),
        ..SelectorOptions::default()
    };
    for (name, options) in [
        ("rpcholesky", &plain),
        ("greedy", &plain),
        ("rpcholesky", &refined),
        ("refined", &plain),
        ("uniform", &plain),
        ("kdpp", &plain),
        ("kmeans", &plain),
    ] {
        let task = task(&gram, Precision::F64);
        let selector = find(name).unwrap().selector(options);
        // One landmark, as many as in the first run of a nested method, and more.
        for tolerance in [0.9, 0.05, 2e-3] {
            let ToleranceSearch { selection, landmarks, curve } =
                fewest(selector.as_ref(), &task, trace(tolerance, 200)).unwrap();
            assert_eq!(selection.landmarks.count(3), landmarks);
            let error = gram.trace_error(&selection.landmarks).unwrap().fraction;
            assert!(error <= tolerance * (1.0 + 1e-12), "{name} {tolerance}: {error}");
            let at = |c: usize| curve.iter().find(|point| point.landmarks == c).map(|point| point.error);
            assert!((at(landmarks).unwrap() - error).abs() < 1e-12, "{name}");
            assert!(landmarks == 1 || at(landmarks - 1).unwrap() > tolerance, "{name} {tolerance} {curve:?}");
            assert!(curve.is_sorted_by(|one, next| one.landmarks < next.landmarks), "{name}");
            // No smaller number that was tried is within the tolerance.
            let mut within = curve.iter().filter(|point| point.error <= tolerance);
            assert_eq!(within.next().unwrap().landmarks, landmarks, "{name}");
            if tolerance == 2e-3 {
                assert!(landmarks > FIRST, "{name}: {landmarks} do not test the longer runs");
            }
            let again = fewest(selector.as_ref(), &task, trace(tolerance, 200)).unwrap();
            assert_eq!((&again.selection.landmarks, &again.curve), (&selection.landmarks, &curve), "{name}");
        }
    }
}

#[test]
fn what_is_out_of_reach_is_an_error_that_says_how_far() {
    let data = data(400, 3);
    let gram = gram(&data, KernelKind::Gaussian);
    let task = task(&gram, Precision::F64);
    for name in ["greedy", "uniform"] {
        match fewest(selector(name).as_ref(), &task, trace(1e-6, 10)) {
            Err(Error(Cause::Tolerance { tolerance, most: 10, least, landmarks, method, .. })) => {
                assert_eq!((tolerance, method), (1e-6, name));
                let selection = run(selector(name).as_ref(), &Task { c: landmarks, ..task }).unwrap();
                assert!((gram.trace_error(&selection.landmarks).unwrap().fraction - least).abs() < 1e-12);
                assert!(least > 1e-6 && landmarks <= 10);
            }
            other => panic!("{name}: {other:?}"),
        }
        assert!(matches!(
            fewest(selector(name).as_ref(), &task, trace(0.5, 0)),
            Err(Error(Cause::Landmarks { .. }))
        ));
    }
    // An error that does not depend on the number of landmarks is returned unchanged.
    let refused = fewest(&Refuses, &task, trace(0.5, 10));
    assert!(matches!(refused, Err(Error(Cause::Eigenvalues))), "{refused:?}");
}

/// Three features give three independent rows, with which the error is 0.
#[test]
fn no_more_than_the_independent_rows_are_asked_for() {
    let data = data(100, 3);
    let gram = gram(&data, KernelKind::Linear);
    for name in ["greedy", "rpcholesky", "uniform", "kdpp", "refined"] {
        let task = task(&gram, Precision::F64);
        let found = fewest(selector(name).as_ref(), &task, trace(1e-9, 50)).unwrap();
        assert_eq!(found.landmarks, 3, "{name} {:?}", found.curve);
        let refused = fewest(selector(name).as_ref(), &task, trace(1e-300, 50));
        match refused {
            Err(Error(Cause::Tolerance { most: 3, landmarks: 3, .. })) => {}
            // Elimination may leave a residual of exactly zero.
            Ok(found) => assert_eq!(found.landmarks, 3, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn the_error_of_prediction_is_that_of_training() {
    let data = data(300, 2);
    let gram = gram(&data, KernelKind::Gaussian);
    let task = task(&gram, Precision::F64);
    let setting = FitParams {
        kernel: gram.kernel().unwrap(),
        ridge: Ridge::CrossValidated,
        precision: task.precision,
        seed: task.seed,
    };
    for ridge in [Ridge::CrossValidated, Ridge::Value(1e-5)] {
        let tolerance = Tolerance { error: 0.12, criterion: Criterion::Prediction(ridge), most: 60 };
        for name in ["rpcholesky", "uniform"] {
            let found = fewest(selector(name).as_ref(), &task, tolerance).unwrap();
            let at =
                |c: usize| found.curve.iter().find(|point| point.landmarks == c).map(|point| point.error);
            assert!(
                at(found.landmarks).unwrap() <= 0.12 && at(found.landmarks - 1).unwrap() > 0.12,
                "{name}"
            );
            if ridge == Ridge::CrossValidated {
                let landmarks = &found.selection.landmarks;
                let training =
                    fit(&data, landmarks, FitParams { ridge, ..setting }, None, &NoObserver).unwrap();
                assert_eq!(training.validation_nrmse, at(found.landmarks), "{name}");
            }
        }
    }
    // A ridge that is too large has a larger error than the cross-validated one.
    let selection = run(&Greedy, &Task { c: 20, ..task }).unwrap();
    let error = |ridge| {
        validation_error(&data, &selection.landmarks, setting.kernel, ridge, setting.seed, &NoObserver)
            .unwrap()
    };
    assert!(error(Ridge::Value(1.0)) > 1.5 * error(Ridge::CrossValidated));
}
