//! What a model says of its own predictions, on rows that no choice has seen: coverage of intervals, and the trap of rows far from
//! all landmarks. Without the data sets these tests name them and skip.

use dpp_nystrom::data::table::{self, Table, Target};
use dpp_nystrom::selectors::Kdpp;
use dpp_nystrom::{Dataset, Gaussian, KernelRidge, Model, Nystroem, Ridge, Sigma};
use dpp_nystrom_core::{Random, Rarity};
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

/// Return the rows of a data set to learn from, at most 6,000, and the others; none, with a note, where the file is missing.
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

/// The squared error of a prediction above that of the same prediction clamped to the training range is the part that
/// extrapolation alone has caused.
#[test]
fn flagged_rows_hold_the_excess_of_the_trap() {
    println!(
        "data, c, split: held-out RMSE, clamped, of rows not flagged at 1 % | share flagged, of the excess"
    );
    for name in ["cal.housing", "abalone", "cpu.act"] {
        for c in [32, 128, 512] {
            let (mut held, mut total) = (0.0, 0.0);
            for seed in 0..3 {
                let Some([training, held_out]) = split(name, seed) else { continue };
                let model = training.fit(c, Sigma::Median(4.0), seed);
                let limits = model.confidence.as_ref().unwrap().limits();
                let assessed = model.assess(&held_out.features).unwrap();
                let square = |value: f64, target: f64| (value - target).powi(2);
                let (mut sums, mut flagged, mut excess) = ([0.0; 3], 0.0, [0.0; 2]);
                for (assessment, &target) in assessed.iter().zip(&held_out.targets) {
                    let error = square(assessment.value, target);
                    let clamped = square(limits.clamp(assessment.value), target);
                    let novel = limits.is_novel(assessment, Rarity::Hundredth);
                    sums[0] += error;
                    sums[1] += clamped;
                    excess[0] += (error - clamped).max(0.0);
                    if novel {
                        flagged += 1.0;
                        excess[1] += (error - clamped).max(0.0);
                    } else {
                        sums[2] += error;
                    }
                }
                let n = assessed.len() as f64;
                let [all, clamped, rest] = [sums[0] / n, sums[1] / n, sums[2] / (n - flagged)].map(f64::sqrt);
                println!(
                    "{name}, {c}, {seed}: {all:.4}, {clamped:.4}, {rest:.4} | {:.4}, {:.3}",
                    flagged / n,
                    excess[1] / excess[0]
                );
                assert!(flagged / n < 0.06, "{name} {c} {seed}: {flagged} of {n} rows");
                total += excess[0];
                held += excess[1];
            }
            println!("{name}, {c}: share of the excess of all splits {:.3}", held / total);
        }
    }
}
