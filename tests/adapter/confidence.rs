//! What a model says of its own predictions, on rows that no choice has seen: coverage of intervals, and the
//! trap of rows far from all landmarks. Without the data sets these tests name them and skip.

use dpp_nystrom::data::table::{self, Table, Target};
use dpp_nystrom::selectors::Kdpp;
use dpp_nystrom::{Dataset, Gaussian, KernelRidge, Model, Nystroem, Ridge, Sigma};
use dpp_nystrom_core::{Learner, Random, Rarity};
use rand_core::Rng;
use std::path::{Path, PathBuf};

/// Rows and targets.
struct Rows {
    dim: usize,
    features: Vec<f64>,
    targets: Vec<f64>,
}

impl Rows {
    fn of(table: &Table, rows: &[usize]) -> Self {
        let features = rows.iter().flat_map(|&row| table.row(row).to_vec()).collect();
        let target = table.target.as_ref().unwrap();
        Self { dim: table.dim, features, targets: rows.iter().map(|&row| target[row]).collect() }
    }

    fn fit(&self, c: usize, sigma: Sigma, seed: u64) -> Model {
        let data = Dataset::from_rows(&self.features, self.dim).unwrap();
        let data = data.with_target(&self.targets).unwrap();
        let params = Nystroem::params(c).kernel(Gaussian::new(sigma)).selector(Kdpp::default());
        let map = params.seed(seed).fit(&data).unwrap();
        KernelRidge::params(&map).ridge(Ridge::CrossValidated).seed(seed).fit(&data).unwrap()
    }
}

/// Return the rows of a data set to learn from, at most 6,000, and the others; none, with a note, where the
/// file is missing.
fn split(name: &str, seed: u64) -> Option<[Rows; 2]> {
    let folder = std::env::var_os("DPP_NYSTROM_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let path = folder.join(format!("{name}.arff"));
    if !path.exists() {
        println!("{name}: skipped, no {name}.arff in DPP_NYSTROM_DATA or in ../shared/data");
        return None;
    }
    let table = table::read(&path, &Target::Last).unwrap();
    let mut random = Random::seeded(seed);
    let mut order: Vec<usize> = (0..table.rows()).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random.next_u32() as usize % (at + 1));
    }
    let (training, held_out) = order.split_at((table.rows() * 7 / 10).min(6_000));
    Some([training, held_out].map(|rows| Rows::of(&table, rows)))
}

#[test]
fn intervals_of_90_per_cent_cover_held_out_rows() {
    println!("data, sigma, c, split: coverage of 90 % intervals, share beyond the limits of 10 % and 1 %");
    for name in ["cal.housing", "cpu.small", "abalone", "bank8FM", "ailerons"] {
        for (times, c) in [(1.0, 64), (4.0, 64), (4.0, 16)] {
            for seed in 0..3 {
                let Some([training, held_out]) = split(name, seed) else { continue };
                let model = training.fit(c, Sigma::Median(times), seed);
                let limits = model.confidence.as_ref().unwrap().limits();
                let assessed = model.assess(&held_out.features).unwrap();
                let share = |count: usize| count as f64 / assessed.len() as f64;
                let covered = assessed.iter().zip(&held_out.targets).filter(|(assessment, target)| {
                    (assessment.value - **target).abs() <= 1.645 * assessment.variance.unwrap().sqrt()
                });
                let coverage = share(covered.count());
                let beyond = [1, 2]
                    .map(|at| share(assessed.iter().filter(|a| a.nearest > limits.nearest[at]).count()));
                println!(
                    "{name}, median*{times}, {c}, {seed}: {coverage:.3}, {:.3}, {:.3}",
                    beyond[0], beyond[1]
                );
                assert!((0.85..=0.95).contains(&coverage), "{name} {times} {c} {seed}: {coverage}");
                assert!(beyond[0] < 0.2 && beyond[1] < 0.05, "{name} {times} {c} {seed}: {beyond:?}");
            }
        }
    }
}

/// The coverage of held-out rows, and their error over that of the best γ, of a learner that chose its own γ
/// three times: after half of the rows, three quarters, and all.
fn learned<const C: usize, const D: usize>(
    [training, held_out]: &[Rows; 2],
    sigma: f32,
    seed: u64,
) -> [f64; 2] {
    let rows = |rows: &Rows| -> Vec<([f32; D], f32)> {
        let (features, _) = rows.features.as_chunks::<D>();
        let narrow = features.iter().map(|row| row.map(|value| value as f32));
        narrow.zip(rows.targets.iter().map(|&target| target as f32)).collect()
    };
    let ([rows, tests], mut random) = ([training, held_out].map(rows), Random::seeded(seed));
    let mut learner = Box::new(Learner::<C, D>::new());
    learner.start(dpp_nystrom_core::kernel::Gaussian::new(sigma * (2.0 * D as f32).sqrt()).unwrap());
    rows.iter().take(1_000).for_each(|(row, target)| learner.scale(row, *target).unwrap());
    let constant: Vec<usize> = (0..D).filter(|&column| learner.is_constant(column)).collect();
    learner.freeze_scaling_allowing(&constant).unwrap();
    // Another value of a feature that was constant so far is refused.
    rows.iter().for_each(|(row, _)| {
        let _ = learner.offer(row, &mut random);
    });
    learner.freeze_landmarks().unwrap();
    for (at, (row, target)) in rows.iter().enumerate() {
        let _ = learner.learn(row, *target);
        if [rows.len() / 2, rows.len() * 3 / 4, rows.len() - 1].contains(&at) {
            let gamma = learner.choose_gamma().unwrap();
            learner.solve(gamma).unwrap();
        }
    }
    let within = tests.iter().filter(|(row, target)| {
        let assessment = learner.assess(row).unwrap();
        (assessment.value - target).abs() <= 1.645 * assessment.variance.unwrap().sqrt()
    });
    let coverage = within.count() as f64 / tests.len() as f64;
    let error = |learner: &Learner<C, D>| {
        let square =
            |(row, target): &([f32; D], f32)| f64::from(learner.predict(row).unwrap() - target).powi(2);
        tests.iter().map(square).sum::<f64>().sqrt()
    };
    let chosen = error(&learner);
    let with = |decade: i32| learner.solve(10.0_f32.powi(decade)).map(|_| error(&learner)).unwrap();
    [coverage, chosen / (-8..=-1).map(with).fold(f64::MAX, f64::min)]
}

/// Of learners that chose their own γ, 16 and 32 landmarks, in single precision.
#[test]
fn learners_cover_held_out_rows() {
    println!("data, landmarks, sigma, split: coverage of 90 % intervals, error over that of the best of 8 γ");
    for name in ["cal.housing", "cpu.small", "abalone", "bank8FM", "ailerons"] {
        for seed in 0..4 {
            let Some(rows) = split(name, seed) else { continue };
            for sigma in [1.0, 2.0] {
                let results = match rows[0].dim {
                    8 => [learned::<16, 8>(&rows, sigma, seed), learned::<32, 8>(&rows, sigma, seed)],
                    10 => [learned::<16, 10>(&rows, sigma, seed), learned::<32, 10>(&rows, sigma, seed)],
                    12 => [learned::<16, 12>(&rows, sigma, seed), learned::<32, 12>(&rows, sigma, seed)],
                    40 => [learned::<16, 40>(&rows, sigma, seed), learned::<32, 40>(&rows, sigma, seed)],
                    other => panic!("{name} has {other} features"),
                };
                for ([coverage, error], c) in results.into_iter().zip([16, 32]) {
                    println!("{name}, {c}, {sigma}, {seed}: {coverage:.3}, {error:.3}");
                    assert!((0.85..=0.95).contains(&coverage), "{name} {c} {sigma} {seed}: {coverage}");
                    assert!(error < 1.01, "{name} {c} {sigma} {seed}: {error}");
                }
            }
        }
    }
}

/// Squared errors of held-out rows: what the predictions far outside the range of the targets add to them,
/// and how much of that is in rows that are flagged.
///
/// A row's excess is its squared error less that of the same prediction clamped to the training range. Rows
/// whose prediction is beyond the range by less than the clamped RMSE have little of it, and are not meant:
/// targets that are cut off, as California Housing's prices are, are overshot everywhere. The trap is the
/// excess of the others.
fn flagged_rows_hold_the_excess_of_the_trap(name: &str) {
    println!("data, c: held-out RMSE, clamped | rows in the trap of all, their share of the squared error");
    println!("    at 1 %, at 10 %: rows flagged, share of the trap's excess in them, RMSE of the others");
    for c in [32, 128, 512] {
        let mut rows = 0.0;
        let (mut squares, mut clamped_squares, mut trapped, mut excess) = (0.0, 0.0, 0.0, 0.0);
        let mut flags = [Flagged::default(), Flagged::default()];
        // A fit of 512 landmarks takes as long as many of the others.
        for seed in if c == 512 { 2..3 } else { 0..8 } {
            let Some([training, held_out]) = split(name, seed) else { continue };
            let model = training.fit(c, Sigma::Median(4.0), seed);
            let limits = model.confidence.as_ref().unwrap().limits();
            let assessed = model.assess(&held_out.features).unwrap();
            let scale = model.target_deviation;
            let square = |value: f64, target: f64| ((value - target) / scale).powi(2);
            let clamped = |value: f64, target: f64| square(limits.clamp(value), target);
            let pairs = || assessed.iter().zip(held_out.targets.iter().copied());
            let sum: f64 = pairs().map(|(a, target)| clamped(a.value, target)).sum();
            let root = (sum / assessed.len() as f64).sqrt();
            clamped_squares += sum;
            for (assessment, target) in pairs() {
                let (value, error) = (assessment.value, square(assessment.value, target));
                let is_trapped = (value - limits.clamp(value)).abs() > root * scale;
                let of_row = if is_trapped { error - clamped(value, target) } else { 0.0 };
                rows += 1.0;
                squares += error;
                trapped += f64::from(u8::from(is_trapped));
                excess += of_row;
                for (flagged, rarity) in flags.iter_mut().zip([Rarity::Hundredth, Rarity::Tenth]) {
                    if limits.is_novel(assessment, rarity) {
                        flagged.rows += 1.0;
                        flagged.excess += of_row;
                    } else {
                        flagged.left += error;
                    }
                }
            }
        }
        if rows == 0.0 {
            continue;
        }
        let root = |sum: f64, rows: f64| (sum / rows).sqrt();
        print!("{name}, {c}: {:.3}, {:.3}", root(squares, rows), root(clamped_squares, rows));
        println!(" | {:.4}, {:.3}", trapped / rows, excess / squares);
        for Flagged { rows: count, excess: held, left } in flags {
            let others = root(left, rows - count);
            println!("    {:.3}, {:.3}, {others:.3}", count / rows, held / excess);
        }
        let held = flags.map(|flagged| flagged.excess / excess);
        // The trap: the squared error is mostly that of predictions far outside. They are far from all
        // landmarks.
        if excess > 0.25 * squares {
            assert!(held[0] > 0.9 && held[1] > 0.98, "{name}, {c}: {held:?}");
        }
        // Targets with heavy tails, as those of cpu.act, are overshot among the landmarks too, where no limit
        // tells.
        if excess > 0.01 * squares {
            assert!(held[1] > 0.7, "{name}, {c}: {held:?}");
        }
        let [hundredth, tenth] = flags.map(|flagged| flagged.rows / rows);
        assert!(hundredth < 0.06 && tenth < 0.25, "{name}, {c}: {hundredth} {tenth}");
    }
}

#[test]
fn flagged_rows_of_california_housing() {
    flagged_rows_hold_the_excess_of_the_trap("cal.housing");
}

#[test]
fn flagged_rows_of_abalone() {
    flagged_rows_hold_the_excess_of_the_trap("abalone");
}

#[test]
fn flagged_rows_of_cpu_act() {
    flagged_rows_hold_the_excess_of_the_trap("cpu.act");
}

/// Rows beyond a limit: their number, their excess, and the squared error of the others.
#[derive(Clone, Copy, Default)]
struct Flagged {
    rows: f64,
    excess: f64,
    left: f64,
}
