//! The learner: what it computes, what it refuses, what it keeps, and what forgetting and exchanges cost.

use dpp_nystrom_core::kernel::{Gaussian, Linear};
use dpp_nystrom_core::{
    Acceptance, BytesProblem, Error, Exchange, Landmarks, Learner, Model, Nystrom, Parts, Phase, Points,
    Random, RidgeRegression, RidgeWorkspace, SlotChain, Standard, TRIES_PER_LANDMARK, Workspace, start,
};
use dpp_nystrom_golden::data::Sensor;
use rand_core::Rng;

const C: usize = 16;
const D: usize = 4;
const SIGMA: f32 = 6.0;
type Device = Learner<C, D>;

fn kernel() -> Gaussian<f32> {
    Gaussian::new(SIGMA).unwrap()
}

/// A learner after `scaled`, `offered` and `learned` readings of the sensor.
fn after(sensor: &mut Sensor, scaled: usize, offered: usize, learned: usize) -> (Device, Random) {
    let (mut learner, mut random) = (Device::new(), Random::seeded(7));
    learner.start(kernel());
    sensor.by_ref().take(scaled).for_each(|reading| learner.scale(&reading.row, reading.target).unwrap());
    if offered > 0 {
        learner.freeze_scaling().unwrap();
        sensor
            .by_ref()
            .take(offered)
            .for_each(|reading| assert!(learner.offer(&reading.row, &mut random).is_ok()));
    }
    if learned > 0 {
        learner.freeze_landmarks().unwrap();
        sensor
            .by_ref()
            .take(learned)
            .for_each(|reading| learner.learn(&reading.row, reading.target).unwrap());
    }
    (learner, random)
}

fn test_error(learner: &Device, readings: impl Iterator<Item = ([f32; D], f32)>) -> f64 {
    let errors: Vec<f64> =
        readings.map(|(row, target)| f64::from(learner.predict(&row).unwrap() - target).powi(2)).collect();
    (errors.iter().sum::<f64>() / errors.len() as f64).sqrt()
}

/// The image `learner` computes this. `tests/firmware` compares it with the same file on four targets.
#[test]
fn the_program_of_the_readme_predicts_the_golden_value() {
    let mut sensor = Sensor::new(1);
    let (mut learner, _) = after(&mut sensor, 100, 300, 500);
    let gamma = learner.choose_gamma().unwrap();
    let trained = learner.solve(gamma).unwrap();
    let reading = sensor.read();
    let prediction = learner.predict(&reading.row).unwrap();
    let text = format!("predictions: {:08x}\n", prediction.to_bits());
    println!("{text}error on the rows learned {trained}");
    assert_eq!(text, include_str!("golden/learner.txt"));
    let error = test_error(&learner, sensor.take(200).map(|reading| (reading.row, reading.target)));
    // The targets' standard deviation is 0.46.
    assert!(error < 0.05 && f64::from(trained) < 0.05, "{error} {trained}");
}

#[test]
fn the_page_shows_the_program_that_runs() {
    let program = include_str!("../../examples/firmware/src/bin/learner.rs");
    assert!(include_str!("../../std-adapter/docs/devices.md").contains(&format!("```rust\n{program}```")));
    assert!(program.lines().count() <= 26);
}

/// The learner adds no arithmetic of its own: compare with the algorithms called one by one.
#[test]
fn it_computes_what_its_parts_compute() {
    let mut sensor = Sensor::new(3);
    let (mut learner, _) = after(&mut sensor, 50, 200, 0);
    learner.freeze_landmarks().unwrap();
    let rows: Vec<f32> = learner.rows().as_flattened().to_vec();
    let ground = Points::new(&rows, D, kernel()).unwrap();
    let (mut memory, mut ridge) = (Workspace::<f64, C>::new(), RidgeWorkspace::<f64, C>::new());
    let wide: Vec<f64> = rows.iter().map(|&value| f64::from(value)).collect();
    let wide_ground = Points::new(&wide, D, Gaussian::new(f64::from(SIGMA)).unwrap()).unwrap();
    let mut landmarks = Landmarks::new(&wide_ground, memory.lend()).unwrap();
    start::given(&mut landmarks, &std::array::from_fn::<usize, C, _>(|i| i)).unwrap();
    let nystrom = Nystrom::new(&landmarks);
    let mut ridge = RidgeRegression::new(C, ridge.lend()).unwrap();
    let readings: Vec<_> = sensor.by_ref().take(300).collect();
    readings.iter().for_each(|reading| learner.learn(&reading.row, reading.target).unwrap());
    learner.solve(1e-4).unwrap();
    let model = learner.model().unwrap();
    for reading in &readings {
        let mut room = [0.0; D];
        let row = model.standardise(&reading.row, &mut room).unwrap();
        let row: Vec<f64> = row.iter().map(|&value| f64::from(value)).collect();
        let mut phi = [0.0; C];
        wide_ground.column_at(&row, landmarks.members(), &mut phi).unwrap();
        nystrom.transform(&mut phi).unwrap();
        ridge.add(&phi, f64::from(model.standard_target(reading.target))).unwrap();
    }
    let mut weights = [0.0; C];
    nystrom.kernel_weights(ridge.solve(1e-4).unwrap().weights, &mut weights).unwrap();
    for reading in sensor.take(20) {
        let mut room = [0.0; D];
        let row = model.standardise(&reading.row, &mut room).unwrap();
        let mut column = [0.0; C];
        ground.column_at(row, landmarks.members(), &mut column).unwrap();
        let expected: f64 = column.iter().zip(&weights).map(|(&k, w)| f64::from(k) * w).sum();
        let expected = f64::from(model.target_mean()) + f64::from(model.target_scale()) * expected;
        let found = f64::from(learner.predict(&reading.row).unwrap());
        assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    }
}

/// `k(z, z) - k_C(z)ᵀ K_CC⁻¹ k_C(z)` in `f64`, by a dense solution that shares no code with the core.
#[test]
fn residuals_are_those_of_the_landmarks() {
    let mut sensor = Sensor::new(1);
    let mut learner = after(&mut sensor, 100, 300, 50).0;
    // A narrow kernel, in `f64`, after an exchange, which changes the order of the landmarks.
    let kernel = Gaussian::new(0.8_f64).unwrap();
    let mut narrow = Learner::<C, D, Gaussian<f64>, f64>::new();
    let standard = Standard { means: [0.5; D], scales: [3.0; D], target_mean: 0.0, target_scale: 1.0 };
    narrow.start_scaled(kernel, &standard).unwrap();
    let mut random = Random::seeded(3);
    let table: Vec<[f64; D]> = sensor.by_ref().take(200).map(|reading| reading.row.map(f64::from)).collect();
    narrow.select(&table, &mut random).unwrap();
    // Rows that move away from those of the table.
    let moved = |sensor: &mut Sensor| sensor.read().row.map(|value| 0.5 + f64::from(value));
    let selected = narrow.progress().accepted;
    for _ in 0..2_000 {
        narrow.forget(0.98).unwrap();
        narrow.learn(&moved(&mut sensor), 0.0).unwrap();
        if matches!(narrow.exchange(&moved(&mut sensor)), Ok(Exchange::Replaced { .. })) {
            break;
        }
    }
    assert_eq!(narrow.progress().accepted, selected + 1);
    let gaussian = |a: &[f64], b: &[f64]| {
        let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
        (-squares / (2.0 * 0.8 * 0.8)).exp()
    };
    let rows = narrow.rows().to_vec();
    let matrix: Vec<f64> = rows.iter().flat_map(|a| rows.iter().map(move |b| gaussian(a, b))).collect();
    let (mut least, mut most) = (1.0_f64, 0.0_f64);
    for reading in sensor.by_ref().take(200) {
        let row = reading.row.map(f64::from);
        let z = row.map(|value| (value - 0.5) * 3.0);
        let column: Vec<f64> = rows.iter().map(|landmark| gaussian(landmark, &z)).collect();
        let solved = dpp_nystrom_tests::dense::solve(&matrix, C, &column);
        let expected = 1.0 - column.iter().zip(&solved).map(|(a, b)| a * b).sum::<f64>();
        let found = narrow.residual(&row).unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        (least, most) = (least.min(found), most.max(found));
    }
    assert!(least < 0.2 && most > 0.5, "{least} {most}");
    // A landmark has none, a row far away all of it, and to ask changes nothing.
    let (mut before, mut now) = ([0; Device::STATE], [0; Device::STATE]);
    learner.write_state([0; 16], &mut before).unwrap();
    let model_rows = learner.rows().to_vec();
    learner.solve(1e-6).unwrap();
    let (means, scales) = {
        let model = learner.model().unwrap();
        (model.means().to_vec(), model.scaling().numbers().to_vec())
    };
    learner.write_state([0; 16], &mut before).unwrap();
    for landmark in model_rows {
        let raw = core::array::from_fn(|i| landmark[i] / scales[i] + means[i]);
        assert!(learner.residual(&raw).unwrap() < 1e-5);
    }
    assert!(learner.residual(&[40.0; D]).unwrap() > 0.999);
    learner.write_state([0; 16], &mut now).unwrap();
    assert_eq!(before, now);
}

#[test]
fn a_call_of_another_phase_is_an_error_and_changes_nothing() {
    let (row, mut random) = ([0.1, 0.2, 0.3, 0.4], Random::seeded(1));
    let mut sensor = Sensor::new(1);
    let learners = [
        Device::new(),
        after(&mut sensor, 10, 0, 0).0,
        after(&mut sensor, 10, 20, 0).0,
        after(&mut sensor, 10, 20, 5).0,
        {
            let mut learner = after(&mut sensor, 10, 20, 5).0;
            learner.solve(1e-3).unwrap();
            learner
        },
    ];
    let phases = [Phase::Idle, Phase::Scaling, Phase::Selecting, Phase::Learning, Phase::Predicting];
    for (at, (mut learner, found)) in learners.into_iter().zip(phases).enumerate() {
        assert_eq!(learner.phase(), found);
        let (mut before, mut bytes) = ([0; Device::STATE], [0; Device::STATE]);
        learner.write_state([0; 16], &mut before).unwrap();
        let refused = |expected| Err(Error::Phase { expected, found });
        if at != 1 {
            assert_eq!(learner.scale(&row, 1.0), refused(Phase::Scaling));
            assert_eq!(learner.freeze_scaling(), refused(Phase::Scaling));
        }
        if at != 2 {
            assert_eq!(learner.offer(&row, &mut random).map(drop), refused(Phase::Selecting));
            assert_eq!(learner.select(&[row], &mut random).map(drop), refused(Phase::Selecting));
            assert_eq!(learner.freeze_landmarks(), refused(Phase::Selecting));
        }
        if at < 3 {
            assert_eq!(learner.learn(&row, 1.0), refused(Phase::Learning));
            assert_eq!(learner.forget(0.9), refused(Phase::Learning));
            assert_eq!(learner.exchange(&row).map(drop), refused(Phase::Learning));
            assert_eq!(learner.choose_gamma().map(drop), refused(Phase::Learning));
            assert_eq!(learner.solve(1e-3).map(drop), refused(Phase::Learning));
        }
        if at < 3 {
            assert_eq!(learner.residual(&row).map(drop), refused(Phase::Learning));
        }
        if at < 4 {
            assert_eq!(learner.predict(&row).map(drop), refused(Phase::Predicting));
        }
        learner.write_state([0; 16], &mut bytes).unwrap();
        assert_eq!(before, bytes, "{found:?}");
    }
}

#[test]
fn bad_input_is_an_error_and_changes_nothing() {
    let mut sensor = Sensor::new(1);
    let mut learner = after(&mut sensor, 3, 0, 0).0;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(learner.scale(&[0.0, bad, 0.0, 0.0], 1.0), Err(Error::NotFinite { row: 3, column: 1 }));
        assert_eq!(learner.scale(&[0.0; D], bad), Err(Error::NotFinite { row: 3, column: D }));
    }
    // Finite, but its square is not: refused, and the measuring goes on.
    for bad in [1e30, -1e20, f32::MAX] {
        assert_eq!(learner.scale(&[0.0, 0.0, 0.0, bad], 1.0), Err(Error::TooLarge { row: 3, column: 3 }));
        assert_eq!(learner.scale(&[0.0; D], bad), Err(Error::TooLarge { row: 3, column: D }));
    }
    learner.freeze_scaling().unwrap();
    let mut learner = after(&mut sensor, 20, 40, 30).0;
    learner.solve(1e-3).unwrap();
    let (mut before, mut bytes) = ([0; Device::STATE], [0; Device::STATE]);
    learner.write_state([0; 16], &mut before).unwrap();
    // The largest number overflows in standard deviations of the targets and of the features.
    for bad in [1e15, -1e25, 1e37, f32::MAX] {
        assert_eq!(learner.learn(&[0.0; D], bad), Err(Error::TooLarge { row: 30, column: D }), "{bad:e}");
    }
    for bad in [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN] {
        let error = |row, column| match bad.is_finite() {
            true => Error::TooLarge { row, column },
            false => Error::NotFinite { row, column },
        };
        let row = [0.0, 0.0, bad, 0.0];
        assert_eq!(learner.learn(&row, 1.0), Err(error(30, 2)));
        assert_eq!(learner.learn(&[0.0; D], bad), Err(error(30, D)));
        assert_eq!(learner.predict(&row), Err(error(0, 2)));
        assert_eq!(learner.residual(&row), Err(error(0, 2)));
        assert_eq!(learner.exchange(&row), Err(error(40, 2)));
    }
    assert_eq!(learner.solve(-1.0), Err(Error::Ridge));
    learner.write_state([0; 16], &mut bytes).unwrap();
    assert_eq!(before, bytes);
    let standard = Standard { means: [0.0; D], scales: [0.0; D], target_mean: 0.0, target_scale: 1.0 };
    let mut refused = |standard, error| {
        assert_eq!(learner.start_scaled(kernel(), &standard), Err(error));
        learner.write_state([0; 16], &mut bytes).unwrap();
        assert_eq!(before, bytes);
    };
    refused(standard, Error::Constant { column: 0 });
    let scales = [1.0, f32::NAN, 1.0, 1.0];
    refused(Standard { scales, ..standard }, Error::NotFinite { row: 1, column: 1 });
    refused(Standard { scales: [1.0, 1.0, 1.0, -1e-3], ..standard }, Error::Scale { column: 3 });
    let standard = Standard { scales: [1.0; D], ..standard };
    refused(Standard { target_scale: -1.0, ..standard }, Error::Scale { column: D });
    refused(Standard { target_scale: 0.0, ..standard }, Error::Constant { column: D });
}

/// A column that does not vary while the scaling is measured, in what single precision can tell, is refused
/// by its name.
#[test]
fn constant_columns_are_refused_by_name() {
    let mut sensor = Sensor::new(1);
    // A stuck sensor, noise below and above the rounding error, zeros, and seconds since 1970.
    type Column = fn(u32, f32) -> f32;
    let columns: [(&str, bool, Column); 7] = [
        ("stuck", true, |_, _| 1013.25),
        ("zero", true, |_, _| 0.0),
        ("noise in the last digits", true, |_, unit| 1013.25 + (unit - 0.5) * 2e-5),
        ("one digit that flips", true, |at, _| if at % 2 == 0 { 1013.25 } else { 1013.2501 }),
        ("seconds", true, |at, _| 1.7e9 + at as f32),
        ("noise", false, |_, unit| 1013.25 + (unit - 0.5) * 1e-2),
        ("tiny", false, |_, unit| unit * 1e-15),
    ];
    for (name, is_constant, column) in columns {
        for place in [1, D] {
            let mut learner = Device::new();
            learner.start(kernel());
            assert_eq!(learner.freeze_scaling(), Err(Error::Empty));
            for at in 0..100 {
                let (mut row, mut target) = (sensor.read().row, sensor.read().target);
                *row.get_mut(place).unwrap_or(&mut target) = column(at, sensor.read().row[0]);
                learner.scale(&row, target).unwrap();
            }
            assert_eq!(learner.is_constant(place), is_constant, "{name}");
            if is_constant {
                assert_eq!(learner.freeze_scaling(), Err(Error::Constant { column: place }), "{name}");
                assert_eq!(learner.freeze_scaling_allowing(&[0, 2]), Err(Error::Constant { column: place }));
                assert_eq!(learner.phase(), Phase::Scaling);
                // Measuring goes on, and a value that differs makes it vary.
                let mut other = learner.clone();
                let (mut row, mut target) = (sensor.read().row, 0.5);
                *row.get_mut(place).unwrap_or(&mut target) = 2e9;
                other.scale(&row, target).unwrap();
                assert_eq!(other.freeze_scaling(), Ok(()));
                assert_eq!(learner.freeze_scaling_allowing(&[place]), Ok(()), "{name}");
            } else {
                assert_eq!(learner.freeze_scaling(), Ok(()), "{name}");
            }
        }
    }
    let mut learner = Device::new();
    learner.start(kernel());
    (0..5).for_each(|_| learner.scale(&[1.0; D], 2.0).unwrap());
    assert!((0..=D).all(|column| learner.is_constant(column)) && !learner.is_constant(D + 1));
    assert_eq!(learner.freeze_scaling(), Err(Error::Constant { column: 0 }));
    assert_eq!(learner.freeze_scaling_allowing(&[0, 1, 2, 3, 4]), Err(Error::Constant { column: 0 }));
}

/// A row in which a constant feature has another value is unknown to the learner and to its model, and is not
/// learned.
#[test]
fn a_constant_that_changes_is_novel() {
    let mut sensor = Sensor::new(1);
    let (mut learner, mut random) = (Device::new(), Random::seeded(7));
    let mut read = |constant: f32| {
        let mut reading = sensor.read();
        reading.row[1] = constant;
        (reading.row, reading.target)
    };
    learner.start(kernel());
    for (row, target) in (0..50).map(|_| read(1013.25)) {
        learner.scale(&row, target).unwrap();
    }
    learner.freeze_scaling_allowing(&[1]).unwrap();
    assert!(learner.is_constant(1) && !learner.is_constant(0));
    let changed = |row| Err(Error::Changed { row, column: 1 });
    let mut table = [read(1013.25).0; 3];
    table[2] = read(5000.0).0;
    assert_eq!(learner.clone().select(&table, &mut random), Err(Error::Changed { row: 2, column: 1 }));
    for (row, _) in (0..200).map(|_| read(1013.25)) {
        learner.offer(&row, &mut random).unwrap();
    }
    assert_eq!(learner.offer(&read(5000.0).0, &mut random).map(drop), changed(200));
    learner.freeze_landmarks().unwrap();
    for (row, target) in (0..100).map(|_| read(1013.25)) {
        learner.learn(&row, target).unwrap();
    }
    learner.solve(1e-4).unwrap();
    let (mut before, mut now) = ([0; Device::STATE], [0; Device::STATE]);
    learner.write_state([0; 16], &mut before).unwrap();
    let (row, target) = read(1013.25);
    let known = learner.assess(&row).unwrap();
    assert!(known.nearest < 3.0 && known.residual.unwrap() < 0.1);
    // 16 ε of the value are 0.0019.
    for (value, is_known) in
        [(1013.251, true), (1013.249, true), (1013.26, false), (0.0, false), (5e3, false)]
    {
        let mut row = row;
        row[1] = value;
        let assessment = learner.assess(&row).unwrap();
        assert_eq!(assessment.value, known.value, "a prediction ignores the feature");
        assert_eq!(learner.residual(&row).ok(), assessment.residual);
        if is_known {
            assert_eq!(assessment, known, "{value}");
            continue;
        }
        assert_eq!((assessment.nearest, assessment.residual), (f32::INFINITY, Some(1.0)), "{value}");
        assert!(assessment.variance.unwrap() > 2.0 * known.variance.unwrap());
        assert_eq!(learner.model().unwrap().assess(&row, &mut [0.0; D]).unwrap().nearest, f32::INFINITY);
        assert_eq!(learner.learn(&row, target), changed(100));
        assert_eq!(learner.exchange(&row).map(drop), changed(200));
    }
    learner.write_state([0; 16], &mut now).unwrap();
    assert_eq!(before, now);
}

/// A constant target that is allowed is learned in its own units: another value that follows is not missed.
#[test]
fn a_constant_target_is_learned_in_its_own_units() {
    let mut sensor = Sensor::new(1);
    let (mut learner, mut random) = (Device::new(), Random::seeded(7));
    learner.start(kernel());
    sensor.by_ref().take(100).for_each(|reading| learner.scale(&reading.row, 7.5).unwrap());
    assert_eq!(learner.freeze_scaling(), Err(Error::Constant { column: D }));
    learner.freeze_scaling_allowing(&[D]).unwrap();
    sensor.by_ref().take(200).for_each(|reading| {
        learner.offer(&reading.row, &mut random).unwrap();
    });
    learner.freeze_landmarks().unwrap();
    sensor.by_ref().take(1_000).for_each(|reading| learner.learn(&reading.row, 9.0).unwrap());
    assert!(learner.solve(1e-6).unwrap() < 0.01);
    assert!((learner.predict(&sensor.read().row).unwrap() - 9.0).abs() < 0.01);
    // A model of a constant target would learn nothing for ever.
    let model = learner.model().unwrap();
    let parts = Parts {
        means: model.means(),
        scaling: model.scaling(),
        landmarks: model.landmarks(),
        weights: model.weights(),
        target_mean: 7.5,
        target_scale: 0.0,
    };
    let constant = Model::new(kernel(), parts).unwrap();
    assert_eq!(Device::new().start_from(&constant), Err(Error::Constant { column: D }));
}

/// Before there are landmarks, one value of the kernel tells that a state is of another bandwidth.
#[test]
fn a_state_without_landmarks_knows_its_kernel() {
    let mut bytes = [0; Device::STATE];
    for offered in [false, true] {
        let (mut learner, mut other) = (Device::new(), after(&mut Sensor::new(1), 20, 40, 30).0);
        learner.start(Gaussian::new(3.0).unwrap());
        Sensor::new(1).take(20).for_each(|reading| learner.scale(&reading.row, reading.target).unwrap());
        if offered {
            learner.freeze_scaling().unwrap();
        }
        let length = learner.write_state([0; 16], &mut bytes).unwrap();
        for sigma in [99.0, 3.1, 0.01, 1e3] {
            let kernel = Gaussian::new(sigma).unwrap();
            assert_eq!(other.read_state(kernel, &bytes[..length]), Err(Error::ForeignState), "{sigma}");
            assert_eq!(other.phase(), Phase::Learning);
        }
        assert!(other.read_state(Gaussian::new(3.0).unwrap(), &bytes[..length]).is_ok());
    }
}

#[test]
fn a_start_keeps_what_it_finds_when_rank_runs_out() {
    let table: Vec<[f32; 1]> = (0..30).map(|i| [(i % 3) as f32]).collect();
    let mut random = Random::seeded(1);
    let mut learner = Learner::<8, 1>::new();
    let standard = Standard { means: [1.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
    learner.start_scaled(Gaussian::new(1.0).unwrap(), &standard).unwrap();
    assert_eq!(learner.select(&table, &mut random), Ok(3));
    for row in &table {
        learner.learn(row, row[0] * row[0]).unwrap();
    }
    learner.solve(1e-6).unwrap();
    assert!((learner.predict(&[2.0]).unwrap() - 4.0).abs() < 1e-3);
    let (mut bytes, mut resumed) = ([0; Learner::<8, 1>::STATE], Learner::<8, 1>::new());
    let length = learner.write_state([0; 16], &mut bytes).unwrap();
    assert!(length < bytes.len());
    resumed.read_state(Gaussian::new(1.0).unwrap(), &bytes).unwrap();
    assert_eq!(resumed.predict(&[1.5]), learner.predict(&[1.5]));
    // As many landmarks as a linear kernel has dimensions, and none of an empty table.
    let mut linear = Learner::<8, 1, Linear>::new();
    linear.start_scaled(Linear, &Standard { means: [0.0], ..standard }).unwrap();
    assert_eq!(linear.select(&[], &mut random), Err(Error::Empty));
    assert_eq!(linear.select(&[[0.0], [0.0]], &mut random), Err(Error::Empty));
    assert_eq!(
        linear.select(&[[0.0], [2.0], [f32::NAN]], &mut random),
        Err(Error::NotFinite { row: 2, column: 0 })
    );
    assert_eq!(linear.select(&[[0.0], [2.0], [1.0]], &mut random), Ok(1));
}

/// The mean of `log det K_CC`, on which the stationary law depends alone, after the stated number of tries
/// and after sixteen times as many, in standard deviations of the latter.
#[test]
fn the_stated_tries_suffice() {
    const N: usize = 600;
    const CHAINS: u64 = 100;
    for (seed, sigma) in [(1, 0.5), (2, 1.0), (3, 3.0), (4, 6.0)] {
        let rows: Vec<f32> = dpp_nystrom_tests::ground::normal_points(N, 5, seed);
        let ground = Points::new(&rows, 5, Gaussian::new(sigma).unwrap()).unwrap();
        let log_dets = |tries: u64| -> Vec<f64> {
            let run = |chain| {
                let (mut memory, mut random) = (Workspace::<f32, C>::new(), Random::seeded(chain));
                let mut landmarks = Landmarks::new(&ground, memory.lend()).unwrap();
                start::uniform(&mut landmarks, C, &mut random).unwrap();
                let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
                chain.run(tries * C as u64, &mut random).unwrap();
                f64::from(chain.log_det())
            };
            (0..CHAINS).map(run).collect()
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let long = log_dets(16 * TRIES_PER_LANDMARK);
        let middle = mean(&long);
        let deviation =
            (long.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / CHAINS as f64).sqrt();
        let away = |tries| (mean(&log_dets(tries)) - middle) / deviation;
        let (start, stated) = (away(0), away(TRIES_PER_LANDMARK));
        println!(
            "sigma {sigma}: {start:.2} standard deviations at the start, {stated:.2} after the stated tries"
        );
        // The standard error of the difference of two means is 0.14.
        assert!(stated.abs() < 0.42, "{stated}");
        // Under a narrow kernel every start is as good as another.
        assert!(start < -1.0 || sigma < 3.0, "{start}");
    }
}

/// Cut anywhere, in any phase, and resumed: the same bits as the learner that was saved, and where nothing is
/// forgotten the same as without the cut.
#[test]
fn a_saved_learner_goes_on_bit_for_bit() {
    let run = |save: Option<usize>, read: bool, lambda: f32| {
        let (mut learner, mut random, mut sensor) = (Device::new(), Random::seeded(7), Sensor::new(5));
        let mut selected = 0;
        learner.start(kernel());
        for step in 0..400 {
            if save == Some(step) {
                let mut bytes = [0; Device::STATE];
                let length = learner.write_state(random.state(), &mut bytes).unwrap();
                if read {
                    learner = Device::new();
                    random = Random::resume(learner.read_state(kernel(), &bytes[..length]).unwrap());
                }
            }
            let mut reading = sensor.read();
            // From the selection on the rows move.
            reading.row[0] += (step as f32 - 200.0).max(0.0) * 0.01;
            match step {
                0..20 => learner.scale(&reading.row, reading.target).unwrap(),
                20 => learner.freeze_scaling().unwrap(),
                21..200 => assert!(learner.offer(&reading.row, &mut random).is_ok()),
                200 => {
                    learner.freeze_landmarks().unwrap();
                    selected = learner.progress().accepted;
                }
                300 => assert!(learner.solve(1e-5).is_ok()),
                _ => {
                    learner.forget(lambda).unwrap();
                    learner.learn(&reading.row, reading.target).unwrap();
                    learner.exchange(&reading.row).unwrap();
                }
            }
        }
        let exchanged = learner.progress().accepted - selected;
        assert!(lambda == 1.0 || (1..6).contains(&exchanged), "{exchanged}");
        learner.solve(1e-5).unwrap();
        let mut bytes = vec![0; Device::STATE];
        learner.write_state([0; 16], &mut bytes).unwrap();
        bytes
    };
    let whole = run(None, false, 1.0);
    for cut in (0..400).step_by(3) {
        assert!(run(Some(cut), true, 1.0) == whole, "{cut}");
        assert!(run(Some(cut), true, 0.98) == run(Some(cut), false, 0.98), "{cut}");
    }
}

#[test]
fn damaged_and_foreign_states_are_refused() {
    let (mut learner, _) = after(&mut Sensor::new(1), 20, 40, 30);
    let mut bytes = [0; Device::STATE];
    // With a candidate on trial, it takes all of the room.
    learner.learn(&[0.5; D], 0.0).unwrap();
    learner.learn(&[0.4; D], 0.0).unwrap();
    assert_eq!(learner.exchange(&[0.9; D]), Ok(Exchange::OnTrial));
    assert_eq!(learner.write_state([0; 16], &mut bytes), Ok(Device::STATE));
    let mut other = after(&mut Sensor::new(2), 20, 40, 30).0;
    let (mut before, mut now) = ([0; Device::STATE], [0; Device::STATE]);
    other.write_state([0; 16], &mut before).unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes;
        damaged[at] ^= 1 << (at % 8);
        assert!(matches!(other.read_state(kernel(), &damaged), Err(Error::SavedBytes(_))), "{at}");
    }
    assert!(matches!(
        other.read_state(kernel(), &bytes[..99]),
        Err(Error::SavedBytes(BytesProblem::Truncated { .. }))
    ));
    assert_eq!(
        Learner::<8, D>::new().read_state(kernel(), &bytes),
        Err(Error::SavedBytes(BytesProblem::Size))
    );
    let mut wide = Learner::<C, D, Gaussian<f64>, f64>::new();
    assert_eq!(
        wide.read_state(Gaussian::new(f64::from(SIGMA)).unwrap(), &bytes),
        Err(Error::SavedBytes(BytesProblem::Precision))
    );
    other.write_state([0; 16], &mut now).unwrap();
    assert_eq!(before, now);
    assert_eq!(other.read_state(Gaussian::new(1.0).unwrap(), &bytes), Err(Error::ForeignState));
    assert_eq!(other.phase(), Phase::Idle);
    let needed = bytes.len();
    assert_eq!(learner.write_state([0; 16], &mut bytes[..7]), Err(Error::Capacity { needed, have: 7 }));
}

/// Return where the content of a section of a state begins.
fn section(state: &[u8], tag: u32) -> usize {
    let word = |at: usize| u32::from_le_bytes(state[at..at + 4].try_into().unwrap());
    let begin = 24 + 8 * word(20) as usize;
    assert!((24..begin).step_by(8).any(|entry| word(entry) == tag), "no section {tag}");
    let before = (24..begin).step_by(8).take_while(|&entry| word(entry) != tag);
    begin + before.map(|entry| word(entry + 4) as usize).sum::<usize>()
}

/// Read a state with other bytes at a place of a section, under a checksum that matches, into a learner of
/// up to `N` landmarks. It is refused as malformed unless it is sound.
fn read_forged<const N: usize>(state: &[u8], tag: u32, at: usize, value: &[u8], sound: bool) {
    let mut forged = state.to_vec();
    forged[section(state, tag) + at..][..value.len()].copy_from_slice(value);
    crate::uses::seal(&mut forged, false);
    let expected = if sound { Ok(()) } else { Err(Error::SavedBytes(BytesProblem::Malformed)) };
    let read = Learner::<N, D>::new().read_state(kernel(), &forged).map(drop);
    assert_eq!(read, expected, "{N}: section {tag} at {at}, {value:?}");
}

/// Return the state of a learner.
fn state_of(learner: &mut Device) -> Vec<u8> {
    let mut bytes = [0; Device::STATE];
    let length = learner.write_state([0; 16], &mut bytes).unwrap();
    bytes[..length].to_vec()
}

/// Members and pivots that no learner has.
#[test]
fn impossible_members_are_refused() {
    let (members, factor) = (4, 5);
    let state = state_of(&mut after(&mut Sensor::new(1), 20, 40, 30).0);
    let first = u32::from_le_bytes(state[section(&state, members)..][..4].try_into().unwrap());
    let cases = [
        (members, 0, first, true),
        (members, 4, first, false),
        (members, 0, C as u32, false),
        (members, 0, u32::MAX, false),
        (factor, 0, 0.0_f32.to_bits(), false),
        (factor, 0, (-1.0_f32).to_bits(), false),
    ];
    for (tag, at, value, sound) in cases {
        read_forged::<C>(&state, tag, at, &value.to_le_bytes(), sound);
    }
}

/// Phases without the landmarks that they need, landmarks before their phase, more than there is room for,
/// and a prior that is neither there nor not.
#[test]
fn impossible_shapes_are_refused() {
    let shape = 1;
    let (capacity, phase, prior) = (4, 12, 20);
    let mut full = after(&mut Sensor::new(1), 20, 40, 30).0;
    assert_eq!((full.landmarks(), full.phase()), (C, Phase::Learning));
    let full = state_of(&mut full);
    let empty = state_of(&mut after(&mut Sensor::new(1), 20, 0, 0).0);
    // Idle, scaling, selecting, learning, predicting, and none.
    for value in 0..6_u32 {
        read_forged::<C>(&full, shape, phase, &value.to_le_bytes(), (2..5).contains(&value));
        read_forged::<C>(&empty, shape, phase, &value.to_le_bytes(), (0..3).contains(&value));
    }
    for state in [&full, &empty] {
        for value in 0..3_u32 {
            read_forged::<C>(state, shape, prior, &value.to_le_bytes(), value < 2);
        }
    }
    // Room for as many landmarks as there are, for one more, and for one less.
    let room = |c: usize| (c as u32).to_le_bytes();
    read_forged::<C>(&full, shape, capacity, &room(C), true);
    read_forged::<{ C + 1 }>(&full, shape, capacity, &room(C + 1), true);
    read_forged::<{ C - 1 }>(&full, shape, capacity, &room(C - 1), false);
    read_forged::<{ C - 1 }>(&empty, shape, capacity, &room(C - 1), true);
}

/// More rows that are discounted than rows, and effective numbers that no rows have.
#[test]
fn impossible_counts_are_refused() {
    let counts = 7;
    let state = state_of(&mut after(&mut Sensor::new(1), 20, 40, 30).0);
    let cases = [
        (30, 0.0, true),
        (31, 0.0, false),
        (u64::MAX, 0.0, false),
        (0, f32::MAX, true),
        (0, -1.0, false),
        (0, f32::INFINITY, false),
        (0, f32::NAN, false),
        (31, -1.0, false),
    ];
    for (before, discounted, sound) in cases {
        let value = [&before.to_le_bytes()[..], &discounted.to_le_bytes()].concat();
        read_forged::<C>(&state, counts, 8, &value, sound);
    }
}

/// Candidates and gains that are no numbers of a row, and trials without a row or on more than two for each
/// landmark.
#[test]
fn impossible_trials_are_refused() {
    let trial = 1 << 31;
    let (gain, tried) = (4 * D, 4 * D + 4);
    let mut learner = after(&mut Sensor::new(1), 20, 40, 2 * C).0;
    assert_eq!(learner.exchange(&[0.9; D]), Ok(Exchange::OnTrial));
    let state = state_of(&mut learner);
    let numbers = [
        (0, f32::MIN, true),
        (0, f32::INFINITY, false),
        (0, f32::NAN, false),
        (gain, 0.0, true),
        (gain, f32::MAX, true),
        (gain, -1.0, false),
        (gain, f32::INFINITY, false),
        (gain, f32::NAN, false),
    ];
    for (at, number, sound) in numbers {
        read_forged::<C>(&state, trial, at, &number.to_le_bytes(), sound);
    }
    for (rows, sound) in [(0, false), (1, true), (2 * C, true), (2 * C + 1, false)] {
        read_forged::<C>(&state, trial, tried, &(rows as u32).to_le_bytes(), sound);
    }
    // There is no trial before the landmarks are frozen.
    read_forged::<C>(&state, 1, 12, &2_u32.to_le_bytes(), false);
}

/// A residual, a factor of the deviations, a penalty and a noise that are negative or not finite.
#[test]
fn impossible_deviations_are_refused() {
    let confidence = (1 << 31) + 2;
    let state = state_of(&mut after(&mut Sensor::new(1), 20, 40, 30).0);
    let cases = [(0.0, true), (f32::MAX, true), (-1.0, false), (f32::INFINITY, false), (f32::NAN, false)];
    for at in (0..16).step_by(4) {
        for (number, sound) in cases {
            read_forged::<C>(&state, confidence, at, &number.to_le_bytes(), sound);
        }
    }
}

/// Also in one dimension.
#[test]
fn a_state_knows_its_bandwidth_by_one_feature() {
    let mut learner = Learner::<4, 1>::new();
    learner.start(Gaussian::new(3.0).unwrap());
    let mut bytes = [0; Learner::<4, 1>::STATE];
    let length = learner.write_state([0; 16], &mut bytes).unwrap();
    let mut other = Learner::<4, 1>::new();
    let foreign = other.read_state(Gaussian::new(2.0).unwrap(), &bytes[..length]);
    assert_eq!(foreign.map(drop), Err(Error::ForeignState));
    assert!(other.read_state(Gaussian::new(3.0).unwrap(), &bytes[..length]).is_ok());
}

/// A model whose landmarks a device has, but whose target has shifted: few rows correct it.
#[test]
fn a_model_goes_on_learning() {
    let mut sensor = Sensor::new(1);
    let (mut trained, mut random) = after(&mut sensor, 100, 300, 500);
    trained.solve(1e-6).unwrap();
    let model = trained.model().unwrap();
    let parts = Parts {
        means: model.means(),
        scaling: model.scaling(),
        landmarks: model.landmarks(),
        weights: model.weights(),
        target_mean: model.target_mean(),
        target_scale: model.target_scale(),
    };
    let model = Model::new(kernel(), parts).unwrap();
    let mut device = Device::new();
    device.start_from(&model).unwrap();
    let row = sensor.read().row;
    assert_eq!(device.predict(&row), model.predict(&row, &mut [0.0; D]));
    // Here each target is larger by a part of the first feature.
    let shifted =
        |reading: dpp_nystrom_golden::data::Reading| (reading.row, reading.target + 0.8 * reading.row[0]);
    let error = |device: &Device| test_error(device, Sensor::new(77).take(300).map(shifted));
    let before = error(&device);
    let mut fresh = Device::new();
    fresh
        .start_scaled(
            kernel(),
            &Standard {
                means: model.means().try_into().unwrap(),
                scales: model.scaling().numbers().try_into().unwrap(),
                target_mean: model.target_mean(),
                target_scale: model.target_scale(),
            },
        )
        .unwrap();
    let table: Vec<[f32; D]> = sensor.by_ref().take(300).map(|reading| reading.row).collect();
    assert_eq!(fresh.select(&table, &mut random), Ok(C));
    for (row, target) in sensor.by_ref().take(12).map(shifted) {
        device.learn(&row, target).unwrap();
        fresh.learn(&row, target).unwrap();
    }
    device.solve(1e-3).unwrap();
    fresh.solve(1e-3).unwrap();
    let few = [error(&device), error(&fresh)];
    for (row, target) in sensor.by_ref().take(500).map(shifted) {
        device.learn(&row, target).unwrap();
    }
    device.solve(1e-5).unwrap();
    let many = error(&device);
    println!("model {before:.4}; 12 rows {:.4}, without the model {:.4}; 512 rows {many:.4}", few[0], few[1]);
    assert!(few[0] < 0.5 * before && few[0] < 0.7 * few[1] && many < 0.2 * before);
    // Exchanging a landmark keeps the prior: it is expressed in the landmarks that follow.
    device.start_from(&model).unwrap();
    let move_on = |sensor: &mut Sensor| sensor.read().row.map(|value| 0.7 * value + 0.6);
    let mut exchanged = 0;
    for _ in 0..400 {
        let row = move_on(&mut sensor);
        let target = dpp_nystrom_golden::data::target(&row);
        device.forget(0.98).unwrap();
        device.learn(&row, target).unwrap();
        exchanged += usize::from(matches!(device.exchange(&row).unwrap(), Exchange::Replaced { .. }));
    }
    let moved = || (0..300).map(|_| ()).scan(Sensor::new(78), |sensor, ()| Some(move_on(sensor)));
    let moved = || moved().map(|row| (row, dpp_nystrom_golden::data::target(&row)));
    let unsolved = test_error(&device, moved());
    device.solve(1e-5).unwrap();
    let solved = test_error(&device, moved());
    println!("{exchanged} exchanges of a model: error {unsolved:.4}, after a solution {solved:.4}");
    assert!(exchanged > 0 && solved < 0.05, "{exchanged} {solved}");
}

/// Coefficients that drift: forgetting against no forgetting, and against relearning from a window of the
/// same memory.
#[test]
fn forgetting_follows_a_drift() {
    const LAMBDA: f32 = 0.95;
    let drifting = |time: usize, row: &[f32; D]| {
        let angle = time as f32 * 0.004;
        angle.cos() * row[0] * 2.0 + angle.sin() * row[1] * row[1] * 2.0 - row[2]
    };
    let noise = |random: &mut Random| (random.next_u32() as f32 / u32::MAX as f32 - 0.5) * 0.1;
    let mut sensor = Sensor::new(1);
    let (mut forgetful, _) = after(&mut sensor, 100, 300, 0);
    forgetful.freeze_landmarks().unwrap();
    let mut keeps = forgetful.clone();
    let window = forgetful.clone();
    // The rows that fit the memory of R, Qᵀy and the scratch of a solution: what a window would take instead.
    let kept = dpp_nystrom_core::bytes::<f32>(C, D).learn / (4 * (D + 1));
    let (mut rows, mut random) = (Vec::new(), Random::seeded(3));
    let mut squares = [0.0_f64; 3];
    for time in 0..3_000 {
        let row = sensor.read().row;
        let target = drifting(time, &row);
        if time >= 500 && time % 10 == 0 {
            let mut relearned = window.clone();
            rows.iter()
                .skip(rows.len() - kept)
                .for_each(|(row, target)| relearned.learn(row, *target).unwrap());
            for (squares, learner) in squares.iter_mut().zip([&mut forgetful, &mut keeps, &mut relearned]) {
                learner.solve(1e-4).unwrap();
                *squares += f64::from(learner.predict(&row).unwrap() - target).powi(2) / 250.0;
            }
        }
        let target = target + noise(&mut random);
        forgetful.forget(LAMBDA).unwrap();
        forgetful.learn(&row, target).unwrap();
        keeps.learn(&row, target).unwrap();
        rows.push((row, target));
    }
    let [forgets, keeps, relearns] = squares.map(f64::sqrt);
    println!("forgetting {forgets:.4}, none {keeps:.4}, relearned from {kept} rows {relearns:.4}");
    assert!(forgets < 0.2 * keeps && forgets < 0.95 * relearns);
}

/// The cost of an exchange in error and in rows: landmarks from one half of the space are exchanged after 500
/// noisy rows. A restart on the new landmarks learns the same 20 or 100 rows that follow.
#[test]
fn an_exchange_keeps_most_of_what_was_learned() {
    const SEEDS: u32 = 12;
    const GAMMA: f32 = 1e-4;
    let kernel = || Gaussian::new(4.0).unwrap();
    let error = |learner: &Device| {
        test_error(learner, Sensor::new(99).take(300).map(|reading| (reading.row, reading.target)))
    };
    let measured = |exchanges: usize| {
        let mut means = [0.0; 6];
        for seed in 1..=SEEDS {
            let (mut sensor, mut random) = (Sensor::new(seed), Random::seeded(u64::from(seed)));
            let mut numbers = Random::seeded(3 + u64::from(seed));
            let mut noise = || (numbers.next_u32() as f32 / u32::MAX as f32 - 0.5) * 0.7;
            let mut learner = Device::new();
            learner.start(kernel());
            for reading in sensor.by_ref().take(100) {
                learner.scale(&reading.row, reading.target).unwrap();
            }
            learner.freeze_scaling().unwrap();
            for mut reading in sensor.by_ref().take(300) {
                reading.row[0] *= 0.1;
                learner.offer(&reading.row, &mut random).unwrap();
            }
            learner.freeze_landmarks().unwrap();
            for reading in sensor.by_ref().take(500) {
                learner.learn(&reading.row, reading.target + noise()).unwrap();
            }
            learner.solve(GAMMA).unwrap();
            let mut errors = vec![error(&learner)];
            let mut done = 0;
            for reading in sensor.by_ref().take(5_000) {
                if done == exchanges {
                    break;
                }
                let exchange = learner.exchange(&reading.row).unwrap();
                done += usize::from(matches!(exchange, Exchange::Replaced { .. }));
            }
            assert_eq!(done, exchanges);
            errors.push(error(&learner));
            let mut restarted = without_rows(&learner, kernel());
            for at in 1..=100 {
                let reading = sensor.read();
                let target = reading.target + noise();
                learner.learn(&reading.row, target).unwrap();
                restarted.learn(&reading.row, target).unwrap();
                if at == 20 || at == 100 {
                    learner.solve(GAMMA).unwrap();
                    restarted.solve(GAMMA).unwrap();
                    errors.extend([error(&learner), error(&restarted)]);
                }
            }
            means.iter_mut().zip(errors).for_each(|(mean, error)| *mean += error / f64::from(SEEDS));
        }
        let [before, after, twenty, restarted, hundred, restarted_hundred] = means;
        println!(
            "{exchanges:2} exchanged: {before:.3} before, {after:.3} after; 20 rows {twenty:.3}, restarted {restarted:.3}; \
             100 rows {hundred:.3}, restarted {restarted_hundred:.3}"
        );
        means
    };
    let [before, after, ..] = measured(1);
    assert!(after < 1.25 * before);
    let [_, _, twenty, restarted, ..] = measured(4);
    assert!(twenty < 0.4 * restarted);
    // As many as there are landmarks: worth some 100 rows still.
    let [_, after, .., restarted_hundred] = measured(16);
    assert!(after < 1.3 * restarted_hundred);
}

/// A learner of the same landmarks, in the same scaling, that has learned nothing.
fn without_rows(learner: &Device, kernel: Gaussian<f32>) -> Device {
    let model = learner.model().unwrap();
    let parts = Parts {
        means: model.means(),
        scaling: model.scaling(),
        landmarks: model.landmarks(),
        weights: &[0.0; C],
        target_mean: model.target_mean(),
        target_scale: model.target_scale(),
    };
    let mut fresh = Device::new();
    fresh.start_from(&Model::new(kernel, parts).unwrap()).unwrap();
    fresh
}

/// The largest targets that are learned overflow nothing, and what is written can be read.
#[test]
fn a_glitch_that_is_learned_is_kept_over_a_reset() {
    let (mut learner, _) = after(&mut Sensor::new(1), 20, 40, 30);
    let mut bytes = [0; Device::STATE];
    for target in [1e13, -1e13, 1e12] {
        learner.learn(&[0.5; D], target).unwrap();
        assert!(learner.solve(1e-6).unwrap().is_finite());
        let length = learner.write_state([0; 16], &mut bytes).unwrap();
        assert_eq!(Device::new().read_state(kernel(), &bytes[..length]), Ok([0; 16]));
    }
}

/// Where an exchange loses all that was learned, there is no solution without a ridge: it stands, and the
/// phase says so.
#[test]
fn an_exchange_without_a_solution_stands() {
    let standard = Standard { means: [0.0], scales: [1.0], target_mean: 0.0, target_scale: 1.0 };
    let (mut learner, mut random) = (Learner::<1, 1>::new(), Random::seeded(7));
    learner.start_scaled(kernel(), &standard).unwrap();
    learner.select(&[[0.0]], &mut random).unwrap();
    // A feature whose square underflows, and a landmark that has nothing in common with the one that leaves.
    learner.learn(&[62.0], 1.0).unwrap();
    learner.learn(&[62.0], 1.0).unwrap();
    learner.solve(0.0).unwrap();
    assert_eq!(learner.phase(), Phase::Predicting);
    assert_eq!(learner.exchange(&[1e3]), Ok(Exchange::OnTrial));
    assert_eq!(learner.exchange(&[1e3]), Ok(Exchange::OnTrial));
    assert_eq!(learner.exchange(&[1e3]), Ok(Exchange::Replaced { place: 0 }));
    assert_eq!(learner.phase(), Phase::Learning);
    assert!(matches!(learner.predict(&[1e3]), Err(Error::Phase { .. })));
    assert!(matches!(learner.solve(0.0), Err(Error::NotPositive { .. })));
    learner.learn(&[1e3], 1.0).unwrap();
    assert!(learner.solve(1e-3).is_ok() && learner.predict(&[1e3]).is_ok());
}

/// Of 2²⁴ rows the next would be lost in the rounding of a sum.
#[test]
fn a_scaling_that_is_full_refuses_rows() {
    let mut learner = Learner::<2, 1>::new();
    learner.start(Gaussian::new(1.0).unwrap());
    for row in 0..1_u32 << 24 {
        let value = f32::from((row % 2) as u8);
        learner.scale(&[value], value).unwrap();
    }
    assert_eq!(learner.scale(&[0.0], 0.0), Err(Error::RowCount));
    learner.freeze_scaling().unwrap();
}
