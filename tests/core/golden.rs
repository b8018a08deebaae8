//! One seed, one trajectory: stack and heap, desktop and microcontrollers.
//!
//! The files are what the firmware's images answer in QEMU too (`tests/firmware` compares): the same landmarks,
//! and numbers bit for bit. A change of one changes what users' seeds give, and belongs in the changelog; with
//! `DPP_NYSTROM_BLESS=1` in the environment this test writes what it finds.

use dpp_nystrom::heap::{Heap, RidgeHeap};
use dpp_nystrom_core::{RidgeWorkspace, Workspace};
use dpp_nystrom_golden::data::Sensor;
use dpp_nystrom_golden::{Answer, LANDMARKS, algorithm_1, learn, predict, select, stream};
use std::fs;
use std::path::Path;

/// Holds an answer to a file of this folder, and what images were compiled with to the same file.
fn hold<const C: usize, const B: usize>(file: &str, answer: &Answer<C, B>, compiled: &Answer<C, B>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("core").join(file);
    if std::env::var_os("DPP_NYSTROM_BLESS").is_some() {
        fs::write(&path, answer.to_string()).unwrap();
        return;
    }
    assert_eq!(answer.to_string(), fs::read_to_string(&path).unwrap(), "{file}");
    assert_eq!(answer, compiled, "{file}");
}

#[test]
fn algorithm_1_follows_the_golden_trajectory() {
    let hold = |answer: algorithm_1::Weights| hold("golden.txt", &answer, &algorithm_1::DESKTOP);
    let (mut memory, mut ridge) =
        (Workspace::<f32, LANDMARKS>::new(), RidgeWorkspace::<f32, LANDMARKS>::new());
    hold(algorithm_1::run(memory.lend(), ridge.lend()).unwrap().0);
    let (mut memory, mut ridge) = (Heap::new(LANDMARKS).unwrap(), RidgeHeap::new(LANDMARKS).unwrap());
    hold(algorithm_1::run(memory.lend(), ridge.lend()).unwrap().0);
    // Memory to spare changes nothing.
    let (mut memory, mut ridge) =
        (Heap::new(3 * LANDMARKS).unwrap(), RidgeWorkspace::<f32, { 2 * LANDMARKS }>::new());
    hold(algorithm_1::run(memory.lend(), ridge.lend()).unwrap().0);
}

#[test]
fn the_open_slot_chain_follows_the_golden_trajectory() {
    let hold = |answer: select::Selection| hold("golden/select.txt", &answer, &select::DESKTOP);
    let mut distances = [0.0; select::ROWS];
    hold(select::run(Workspace::<f32, LANDMARKS>::new().lend(), &mut distances).unwrap());
    hold(select::run(Heap::new(LANDMARKS).unwrap().lend(), &mut distances).unwrap());
    hold(select::run(Heap::new(3 * LANDMARKS).unwrap().lend(), &mut distances).unwrap());
}

#[test]
fn the_chain_of_a_stream_follows_the_golden_trajectory() {
    let hold = |answer: stream::Chosen| hold("golden/stream.txt", &answer, &stream::DESKTOP);
    let mut rows = [0.0; stream::KEPT];
    hold(stream::run(Workspace::<f32, LANDMARKS>::new().lend(), &mut rows).unwrap());
    hold(stream::run(Heap::new(LANDMARKS).unwrap().lend(), &mut rows).unwrap());
    hold(stream::run(Heap::new(3 * LANDMARKS).unwrap().lend(), &mut [0.0; 2 * stream::KEPT]).unwrap());
}

#[test]
fn learning_follows_the_golden_trajectory() {
    let hold = |(answer, error): (learn::Learned, f32)| {
        hold("golden/learn.txt", &answer, &learn::DESKTOP);
        assert!(error < learn::LARGEST_ERROR, "{error}");
    };
    let mut rows = [0.0; learn::KEPT];
    let (mut memory, mut ridge) =
        (Workspace::<f32, LANDMARKS>::new(), RidgeWorkspace::<f32, LANDMARKS>::new());
    let mut sensor = Sensor::new(1);
    let chosen = learn::choose(memory.lend(), &mut rows, || sensor.read()).unwrap();
    hold(learn::learn(&chosen, memory.lend(), ridge.lend(), &rows, || sensor.read()).unwrap());
    let (mut memory, mut ridge) = (Heap::new(LANDMARKS).unwrap(), RidgeHeap::new(LANDMARKS).unwrap());
    let mut sensor = Sensor::new(1);
    let chosen = learn::choose(memory.lend(), &mut rows, || sensor.read()).unwrap();
    hold(learn::learn(&chosen, memory.lend(), ridge.lend(), &rows, || sensor.read()).unwrap());
}

#[test]
fn predictions_of_a_model_in_flash_are_golden() {
    let (answer, error) = predict::run().unwrap();
    hold("golden/predict.txt", &answer, &predict::DESKTOP);
    assert!(error < predict::LARGEST_ERROR, "{error}");
}
