//! One seed, one trajectory: with memory on the stack and on the heap, on the desktop and on
//! microcontrollers.
//!
//! The firmware's images must give the same results in QEMU (`tests/firmware` compares them): the same
//! landmarks, and numbers bit for bit. A change of a file changes the results of users' seeds and belongs in
//! the changelog. With `DPP_NYSTROM_BLESS=1` in the environment this test writes the files.

#[path = "../../examples/firmware/src/bin/accelerometer/monitor.rs"]
mod monitor;

use dpp_nystrom_bearing as bearing;
use dpp_nystrom_core::{Random, RidgeWorkspace, Workspace};
use dpp_nystrom_golden::data::Sensor;
use dpp_nystrom_golden::vibration::{Condition, Machine};
use dpp_nystrom_golden::{LANDMARKS, Outcome, algorithm_1, detector, learn, power, predict, select, stream};
use dpp_nystrom_host::heap::{Heap, RidgeHeap};
use std::fs;
use std::path::Path;

/// Compare an outcome with a file of this folder, and with the constant that the images were compiled with.
fn compare<const C: usize, const B: usize>(file: &str, outcome: &Outcome<C, B>, compiled: &Outcome<C, B>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("core").join(file);
    if std::env::var_os("DPP_NYSTROM_BLESS").is_some() {
        fs::write(&path, outcome.to_string()).unwrap();
        return;
    }
    assert_eq!(outcome.to_string(), fs::read_to_string(&path).unwrap(), "{file}");
    assert_eq!(outcome, compiled, "{file}");
}

#[test]
fn algorithm_1_follows_the_golden_trajectory() {
    let compare = |outcome: algorithm_1::Weights| compare("golden.txt", &outcome, &algorithm_1::DESKTOP);
    let (mut memory, mut ridge) =
        (Workspace::<f32, LANDMARKS>::new(), RidgeWorkspace::<f32, LANDMARKS>::new());
    compare(algorithm_1::run(memory.lend(), ridge.lend()).unwrap().0);
    let (mut memory, mut ridge) = (Heap::new(LANDMARKS).unwrap(), RidgeHeap::new(LANDMARKS).unwrap());
    compare(algorithm_1::run(memory.lend(), ridge.lend()).unwrap().0);
    // Additional memory changes nothing.
    let (mut memory, mut ridge) =
        (Heap::new(3 * LANDMARKS).unwrap(), RidgeWorkspace::<f32, { 2 * LANDMARKS }>::new());
    compare(algorithm_1::run(memory.lend(), ridge.lend()).unwrap().0);
}

#[test]
fn the_open_slot_chain_follows_the_golden_trajectory() {
    let compare = |outcome: select::Selection| compare("golden/select.txt", &outcome, &select::DESKTOP);
    let mut distances = [0.0; select::ROWS];
    compare(select::run(Workspace::<f32, LANDMARKS>::new().lend(), &mut distances).unwrap());
    compare(select::run(Heap::new(LANDMARKS).unwrap().lend(), &mut distances).unwrap());
    compare(select::run(Heap::new(3 * LANDMARKS).unwrap().lend(), &mut distances).unwrap());
}

#[test]
fn the_chain_of_a_stream_follows_the_golden_trajectory() {
    let compare = |outcome: stream::Chosen| compare("golden/stream.txt", &outcome, &stream::DESKTOP);
    let mut rows = [0.0; stream::KEPT];
    compare(stream::run(Workspace::<f32, LANDMARKS>::new().lend(), &mut rows).unwrap());
    compare(stream::run(Heap::new(LANDMARKS).unwrap().lend(), &mut rows).unwrap());
    compare(stream::run(Heap::new(3 * LANDMARKS).unwrap().lend(), &mut [0.0; 2 * stream::KEPT]).unwrap());
}

#[test]
fn learning_follows_the_golden_trajectory() {
    let compare = |(outcome, error): (learn::Learned, f32)| {
        compare("golden/learn.txt", &outcome, &learn::DESKTOP);
        assert!(error < learn::LARGEST_ERROR, "{error}");
    };
    let mut rows = [0.0; learn::KEPT];
    let (mut memory, mut ridge) =
        (Workspace::<f32, LANDMARKS>::new(), RidgeWorkspace::<f32, LANDMARKS>::new());
    let mut sensor = Sensor::new(1);
    let chosen = learn::choose(memory.lend(), &mut rows, || sensor.read()).unwrap();
    compare(learn::learn(&chosen, memory.lend(), ridge.lend(), &rows, || sensor.read()).unwrap());
    let (mut memory, mut ridge) = (Heap::new(LANDMARKS).unwrap(), RidgeHeap::new(LANDMARKS).unwrap());
    let mut sensor = Sensor::new(1);
    let chosen = learn::choose(memory.lend(), &mut rows, || sensor.read()).unwrap();
    compare(learn::learn(&chosen, memory.lend(), ridge.lend(), &rows, || sensor.read()).unwrap());
}

#[test]
fn predictions_of_a_model_in_flash_are_golden() {
    let (outcome, error) = predict::run().unwrap();
    compare("golden/predict.txt", &outcome, &predict::DESKTOP);
    assert!(error < predict::LARGEST_ERROR, "{error}");
}

#[test]
fn a_learner_that_loses_its_power_is_golden() {
    let (mut learner, mut flash) = (power::Device::new(), power::Flash::new());
    let mut state = [0; power::Device::STATE];
    let mut run = |cut| power::run(&mut learner, &mut flash, &mut state, cut).unwrap();
    compare("golden/power.txt", &run(None), &power::DESKTOP);
    for save in 1..=20 {
        for bytes in (0..5_000).step_by(271) {
            assert_eq!(run(Some((save, bytes))), run(None), "{save} {bytes}");
        }
    }
}

#[test]
fn what_is_not_usual_on_a_machine_is_golden() {
    let (found, alarms) = detector::run(&mut detector::Device::new()).unwrap();
    println!("alarms {alarms:?} in {:?}", detector::LIFE);
    compare("golden/detector.txt", &found, &detector::DESKTOP);
    let [healthy, loose, later, tilted] = alarms;
    // One in fifty windows of the healthy machine.
    assert!((10..=40).contains(&healthy) && later <= 8 && loose >= 40 && tilted == 50, "{alarms:?}");
}

#[test]
fn a_bearing_that_fails_is_golden() {
    let (found, heard) = bearing::run(&mut bearing::Device::new(), bearing::bands).unwrap();
    println!("{heard:?} in {:?}", bearing::LIFE);
    compare("golden/bearing.txt", &found, &bearing::DESKTOP);
}

/// The bands of `bearing::bands` by a sum for each bin, in double precision.
fn exact_bands(window: &[f32; bearing::READINGS]) -> [f64; bearing::BANDS] {
    let n = bearing::READINGS as f64;
    let mean = window.iter().map(|&value| f64::from(value)).sum::<f64>() / n;
    let tapered: Vec<f64> = (window.iter().enumerate())
        .map(|(i, &value)| (f64::from(value) - mean) * (1.0 - (2.0 * i as f64 / n - 1.0).powi(2)))
        .collect();
    let width = bearing::READINGS / 2 / bearing::BANDS;
    std::array::from_fn(|band| {
        (band * width..(band + 1) * width)
            .map(|bin| {
                let (mut re, mut im) = (0.0, 0.0);
                for (i, value) in tapered.iter().enumerate() {
                    let (sine, cosine) = (std::f64::consts::TAU * (bin * i) as f64 / n).sin_cos();
                    (re, im) = (re + value * cosine, im - value * sine);
                }
                re.hypot(im)
            })
            .sum()
    })
}

/// The square root of `micromath` is never too small, and at most `1.5 / √2` times too large, by 6.07 %. The
/// rest is rounding.
#[test]
fn bands_in_single_precision_are_those_in_double() {
    let mut machine = bearing::Machine::new(5);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for window in 0..500 {
        let readings = machine.window((window as f32 - 250.0).max(0.0) / 250.0);
        for (found, exact) in bearing::bands(&readings).into_iter().zip(exact_bands(&readings)) {
            (least, most) = (least.min(f64::from(found) / exact), most.max(f64::from(found) / exact));
        }
    }
    println!("bands are {least} to {most} times those in double precision");
    assert!(least > 1.0 - 1e-5 && most < 1.5 / 2.0_f64.sqrt() + 1e-5, "{least} {most}");
}

/// What the detector says does not depend on the coarse square root: with exact bands it hears the pit within
/// five windows of where it does with those of the image.
#[test]
fn a_bearing_that_fails_is_heard_as_with_exact_bands() {
    let heard = |bands: fn(&[f32; bearing::READINGS]) -> [f32; bearing::BANDS]| {
        bearing::run(&mut bearing::Device::new(), bands).unwrap().1
    };
    let exact = heard(|window| exact_bands(window).map(|band| band as f32));
    let single = heard(bearing::bands);
    println!("exact: {exact:?}, in single precision: {single:?}");
    for heard in [&exact, &single] {
        let [healthy, failing] = heard.alarms;
        // One in a hundred windows of the healthy machine.
        assert!((3..=25).contains(&healthy) && failing >= 100 && heard.band == 5, "{heard:?}");
    }
    let [exact, single] = [exact, single].map(|heard| heard.windows.unwrap());
    assert!(single > 0 && exact.abs_diff(single) <= 5, "{exact} {single}");
}

/// The program of the image `accelerometer`, with the same limits.
#[test]
fn what_is_novel_on_a_machine_is_golden() {
    use monitor::{Monitor, READINGS, Verdict, WINDOWS};
    let (mut monitor, mut machine, mut random) = (Monitor::new(), Machine::new(1), Random::seeded(7));
    let mut next = |condition| {
        let verdicts: Vec<Verdict> = (0..READINGS)
            .filter_map(|_| monitor.read(machine.read(condition), &mut random).unwrap())
            .collect();
        let [verdict] = verdicts[..] else { panic!("{verdicts:?}") };
        (verdict, monitor.limits())
    };
    let quiet = WINDOWS.iter().sum();
    let limits = (0..quiet).map(|_| next(Condition::Healthy)).fold([0.0; 2], |_, (verdict, limits)| {
        assert_eq!(verdict, Verdict::Quiet);
        limits
    });
    let [residual, difference] = limits.map(f32::to_bits);
    assert_eq!(
        format!("predictions: {residual:08x} {difference:08x}\n"),
        include_str!("golden/accelerometer.txt")
    );
    let mut flagged = |condition| {
        let verdicts: Vec<Verdict> = (0..50).map(|_| next(condition).0).collect();
        let count = |which: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| which(verdict)).count();
        [
            count(|verdict| matches!(verdict, Verdict::Unknown(_))),
            count(|verdict| matches!(verdict, Verdict::Unexpected(_))),
        ]
    };
    let [healthy, loose, tilted] =
        [Condition::Healthy, Condition::Loose, Condition::Tilted].map(&mut flagged);
    println!("unknown and unexpected: {healthy:?} healthy, {loose:?} loose, {tilted:?} tilted");
    assert!(healthy.iter().sum::<usize>() <= 3 && loose[1] >= 45 && tilted[0] >= 45);
}
