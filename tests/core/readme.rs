//! What `core/README.md` states is measured: memory, steps, the features and the oldest compiler.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{
    Acceptance, Landmarks, Nystrom, Points, Random, SlotChain, StreamChain, TRIES_PER_LANDMARK, Workspace,
    start,
};
use dpp_nystrom_golden::memory::{DETECTORS, TABLE};
use dpp_nystrom_tests::ground::normal_points;
use dpp_nystrom_tests::script::SplitMix64;
use rand_core::Rng;

const README: &str = include_str!("../../core/README.md");
const MANIFEST: &str = include_str!("../../core/Cargo.toml");

/// The rows of the table under a title, without its head.
fn table(title: &str) -> Vec<Vec<String>> {
    let section = README.split("\n## ").find(|section| section.starts_with(title)).unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect());
    cells.collect()
}

/// The firmware's library compiles on 32-bit processors only if these are what `bytes()` returns there.
#[test]
fn the_table_of_memory_is_that_of_the_firmware() {
    let stated: Vec<Vec<usize>> = table("Memory")
        .iter()
        .map(|row| row.iter().map(|cell| cell.replace(',', "").parse().unwrap()).collect())
        .collect();
    let expected: Vec<Vec<usize>> =
        TABLE.iter().map(|(shape, bytes)| shape.iter().chain(bytes).copied().collect()).collect();
    assert_eq!(stated, expected);
}

#[test]
fn the_table_of_detectors_is_that_of_the_firmware() {
    let stated: Vec<Vec<usize>> = table("Anomalies without a target")
        .iter()
        .filter_map(|row| row.iter().map(|cell| cell.replace(',', "").parse().ok()).collect())
        .collect();
    let expected: Vec<Vec<usize>> =
        DETECTORS.iter().map(|(shape, bytes)| shape.iter().chain(bytes).copied().collect()).collect();
    assert_eq!(stated, expected);
}

#[test]
fn the_features_and_the_oldest_compiler_are_those_of_the_manifest() {
    let section = MANIFEST.split("[features]").nth(1).unwrap().split("\n[").next().unwrap();
    let mut declared: Vec<&str> =
        section.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name).collect();
    declared.retain(|name| !name.starts_with('#'));
    let stated: Vec<String> =
        table("Features").iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    assert_eq!(stated, declared);
    let version = MANIFEST.split("rust-version = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(README.contains(&format!("Rust {version} or newer")));
}

#[test]
fn the_program_is_short() {
    let program = README.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(program.lines().count() <= 26, "{}", program.lines().count());
}

const N: usize = 600;
const D: usize = 5;
const C: usize = 16;
const CHAINS: u64 = 100;

/// `log det K_CC` of these landmarks, and their trace error.
fn measure(ground: &Points<'_, f32, Gaussian<f32>>, members: &[usize]) -> [f64; 2] {
    let mut memory = Workspace::<f32, C>::new();
    let mut landmarks = Landmarks::new(ground, memory.lend()).unwrap();
    start::given(&mut landmarks, members).unwrap();
    let trace_error = Nystrom::new(&landmarks).trace_error(&mut [0.0; C]).unwrap();
    [f64::from(landmarks.factor().log_det()), f64::from(trace_error)]
}

/// A chain on the table after so many tries.
fn on_the_table(ground: &Points<'_, f32, Gaussian<f32>>, chain: u64, tries: u64) -> [f64; 2] {
    let (mut memory, mut random) = (Workspace::<f32, C>::new(), Random::seeded(chain));
    let mut landmarks = Landmarks::new(ground, memory.lend()).unwrap();
    start::uniform(&mut landmarks, C, &mut random).unwrap();
    let mut slots = SlotChain::new(landmarks, Acceptance::Metropolis);
    slots.run(tries, &mut random).unwrap();
    measure(ground, slots.landmarks().members())
}

/// A chain on a stream of rows drawn from the table: after those that fill it, and so many more.
fn on_a_stream(
    ground: &Points<'_, f32, Gaussian<f32>>,
    kernel: Gaussian<f32>,
    chain: u64,
    tries: u64,
) -> [f64; 2] {
    let (mut memory, mut rows) = (Workspace::<f32, C>::new(), [0.0; C * D]);
    let (mut random, mut draws) = (Random::seeded(chain), SplitMix64::seeded(chain));
    let mut stream =
        StreamChain::new(kernel, C, D, &mut rows, memory.lend(), Acceptance::Metropolis).unwrap();
    let mut left = tries;
    while stream.len() < C || left > 0 {
        left -= u64::from(stream.len() == C);
        let row = draws.next_u32() as usize % N;
        stream.offer(ground.row(row), &mut random).unwrap();
    }
    let landmarks = stream.rows().chunks(D);
    let members: Vec<usize> =
        landmarks.map(|landmark| (0..N).find(|&i| ground.row(i) == landmark).unwrap()).collect();
    measure(ground, &members)
}

#[test]
fn the_table_of_steps_is_what_is_measured() {
    let rows: Vec<f32> = normal_points(N, D, 1);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / CHAINS as f64;
    let tries = [0, 4, 16, 64, TRIES_PER_LANDMARK];
    let mut columns = Vec::new();
    for sigma in [3.0, 6.0] {
        let kernel = Gaussian::new(sigma).unwrap();
        let ground = Points::new(&rows, D, kernel).unwrap();
        let chains = |of: &dyn Fn(u64) -> [f64; 2]| {
            let (log_dets, errors): (Vec<f64>, Vec<f64>) =
                (0..CHAINS).map(of).map(<(f64, f64)>::from).unzip();
            (log_dets, errors)
        };
        let (log_dets, errors) = chains(&|chain| on_the_table(&ground, CHAINS + chain, 2_048 * C as u64));
        let middle = mean(&log_dets);
        let squares: Vec<f64> = log_dets.iter().map(|value| (value - middle).powi(2)).collect();
        let (deviation, error) = (mean(&squares).sqrt(), mean(&errors));
        let mut column = |of: &dyn Fn(u64, u64) -> [f64; 2]| {
            let cells = tries.iter().map(|tries| {
                let (log_dets, errors) = chains(&|chain| of(chain, tries * C as u64));
                [(mean(&log_dets) - middle) / deviation, mean(&errors) / error]
            });
            columns.push(cells.collect::<Vec<_>>());
        };
        column(&|chain, tries| on_the_table(&ground, chain, tries));
        column(&|chain, tries| on_a_stream(&ground, kernel, chain, tries));
    }
    let measured: Vec<Vec<String>> = tries
        .iter()
        .enumerate()
        .map(|(at, tries)| {
            let cells = columns.iter().map(|column| format!("{:.1}, {:.2}", column[at][0], column[at][1]));
            [tries.to_string()].into_iter().chain(cells).collect()
        })
        .collect();
    measured.iter().for_each(|row| println!("| {} |", row.join(" | ")));
    assert_eq!(table("How many steps"), measured);
    // The standard error of the difference of two means is 0.14 deviations.
    assert!(columns.iter().all(|column| column[4][0].abs() < 0.42));
}
