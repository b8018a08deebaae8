//! Tests of the sampling distributions against independent formulas, on matrices small enough to enumerate.

use crate::approximation::{Gram, LandmarkSet};
use crate::data::{Prepared, table::input::Table};
use crate::error::{Cause, Error};
use crate::kernel::{KernelKind, KernelSpec, Precision};
use crate::landmarks::{
    RowAccess, Selector, Task, methods::SelectorOptions, methods::find, methods::given::Given,
    methods::greedy::Greedy, methods::kmeans::Kmeans, methods::kmeans_snapped::KmeansSnapped,
    methods::lloyd::lloyd, methods::uniform::Uniform, run,
};
use crate::observer::{NoObserver, Observer};
use dpp_nystrom_core::{Error as CoreError, GroundSet};
use dpp_nystrom_host::rng::{RngStream, stream};
use rand_core::Rng;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const SMALL: usize = 8;
const DRAWS: u64 = 20_000;

/// Return rows of different norms, so that the diagonal of a polynomial kernel varies.
fn data(rows: usize, dim: usize) -> Prepared {
    let mut random = stream(rows as u64, RngStream::Rows);
    let mut next = || f64::from(random.next_u32()) / f64::from(u32::MAX);
    let features = (0..rows * dim).map(|at| (next() - 0.5) * (1.0 + (at % 7) as f64)).collect();
    let table = Table {
        name: String::new(),
        feature_names: (0..dim).map(|column| column.to_string()).collect(),
        dim,
        features,
        target: None,
        target_name: None,
        weights: None,
    };
    Prepared::new(table, None, 0).unwrap()
}

const POLYNOMIAL: KernelKind = KernelKind::Polynomial { degree: 3, offset: 1.0 };

fn selector(name: &str, options: &SelectorOptions) -> Box<dyn Selector> {
    find(name).unwrap().selector(options)
}

fn matrix(gram: &Gram<'_>) -> Vec<Vec<f64>> {
    let n = gram.len();
    (0..n).map(|i| (0..n).map(|j| gram.ground().entry(i, j)).collect()).collect()
}

/// Assert that counts match weights, by a chi-squared test against the 0.999 quantile (Wilson and Hilferty
/// 1931).
#[track_caller]
fn assert_law<K: Ord + std::fmt::Debug>(counts: &BTreeMap<K, u64>, weights: &BTreeMap<K, f64>) {
    let total: f64 = weights.values().sum();
    assert!(counts.keys().all(|key| weights.contains_key(key)), "{counts:?}");
    let draws = counts.values().sum::<u64>() as f64;
    let mut cells: Vec<(f64, f64)> = Vec::new();
    // Merge cells with small expected counts.
    let mut few = (0.0, 0.0);
    for (key, weight) in weights {
        let cell = (counts.get(key).copied().unwrap_or(0) as f64, draws * weight / total);
        if cell.1 < 5.0 { few = (few.0 + cell.0, few.1 + cell.1) } else { cells.push(cell) }
    }
    if few.1 >= 5.0 {
        cells.push(few);
    }
    let statistic: f64 = cells.iter().map(|(found, expected)| (found - expected).powi(2) / expected).sum();
    let freedom = (cells.len() - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    let critical = freedom * (1.0 - spread + 3.0902 * spread.sqrt()).powi(3);
    assert!(statistic < critical, "{statistic} {critical}: {counts:?} {weights:?}");
}

fn by_row(weights: Vec<f64>) -> BTreeMap<usize, f64> {
    weights.into_iter().enumerate().collect()
}

/// Return the law of pairs of rows, from the law of the first and that of the second given the first.
fn pairs(first: &[f64], second: impl Fn(usize) -> Vec<f64>) -> BTreeMap<Vec<usize>, f64> {
    let mut law = BTreeMap::new();
    let total: f64 = first.iter().sum();
    for i in 0..first.len() {
        let next = second(i);
        let left: f64 = (0..first.len()).filter(|&j| j != i).map(|j| next[j]).sum();
        for j in (0..first.len()).filter(|&j| j != i) {
            *law.entry(vec![i.min(j), i.max(j)]).or_default() += first[i] / total * next[j] / left;
        }
    }
    law
}

#[test]
fn uniform_rows_are_uniform() {
    let data = data(SMALL, 2);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    let mut counts = BTreeMap::new();
    for seed in 0..DRAWS {
        let selection = run(&Uniform, &Task { seed, ..Task::new(&gram, 1) }).unwrap();
        *counts.entry(selection.landmarks.rows().unwrap()[0]).or_default() += 1;
    }
    assert_law(&counts, &by_row(vec![1.0; SMALL]));
}

/// Weights of the second draw may depend on the first. A row of no weight is not drawn while another is left.
#[test]
fn rows_are_drawn_by_their_weights_without_replacement() {
    let data = data(SMALL, 2);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    let first: Vec<f64> = (0..SMALL).map(|row| row as f64).collect();
    let second = |drawn: usize| (0..SMALL).map(|row| ((row + drawn) % 3) as f64 * 1e-3).collect::<Vec<_>>();
    let mut fixed = BTreeMap::new();
    let mut adapted = BTreeMap::new();
    for seed in 0..DRAWS {
        let task = Task { seed, ..Task::new(&gram, 2) };
        let count = |counts: &mut BTreeMap<_, _>, adapts: bool| {
            let selection = task.draw(first.clone(), &mut task.random(), |drawn, weights| {
                let mut next = second(drawn[0]);
                next[drawn[0]] = 0.0;
                if adapts {
                    weights.copy_from_slice(&next);
                }
                Ok(())
            });
            *counts.entry(selection.unwrap().landmarks.rows().unwrap().to_vec()).or_default() += 1;
        };
        count(&mut fixed, false);
        count(&mut adapted, true);
    }
    assert_law(&fixed, &pairs(&first, |_| first.clone()));
    assert_law(&adapted, &pairs(&first, second));
}

#[test]
fn weights_that_are_not_finite_are_refused_and_rows_without_weight_come_last() {
    let data = data(SMALL, 2);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    let draw = |c, weights| {
        let task = Task::new(&gram, c);
        task.draw(weights, &mut task.random(), |_, _| Ok(()))
    };
    let all = draw(SMALL, vec![0.0; SMALL]).unwrap().landmarks;
    assert_eq!(all.rows(), Some(&(0..SMALL).collect::<Vec<_>>()[..]));
    let mut weights = vec![1.0; SMALL];
    weights[3] = f64::NAN;
    assert!(matches!(
        draw(2, weights),
        Err(Error(Cause::Landmarks { reason: CoreError::NotFinite { row: 3, .. } }))
    ));
}

#[test]
fn seconds_count_what_another_computed() {
    let data = data(600, 3);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    let options = SelectorOptions::default();
    let seconds = |name: &str| run(selector(name, &options).as_ref(), &Task::new(&gram, 5)).unwrap().seconds;
    let first = seconds("kdpp-exact");
    let second = seconds("kdpp-exact");
    assert!(second > 0.5 * first, "{first} {second}");
    assert!(seconds("uniform") < 0.1 * first);
}

/// Each landmark is the pivot of elimination with complete pivoting: the row with the largest residual.
#[test]
fn greedy_is_elimination_with_complete_pivoting() {
    let data = data(70, 3);
    for kernel in [POLYNOMIAL, KernelKind::Gaussian] {
        let gram = Gram::new(&data, KernelSpec { kind: kernel, sigma: 1.0 }).unwrap();
        let mut left = matrix(&gram);
        let mut chosen = Vec::new();
        for c in 1..=15 {
            let pivot = (0..70).rev().max_by(|&i, &j| left[i][i].total_cmp(&left[j][j])).unwrap();
            let top = left[pivot].clone();
            for row in &mut left {
                let factor = row[pivot] / top[pivot];
                row.iter_mut().zip(&top).for_each(|(x, y)| *x -= factor * y);
            }
            chosen.push(pivot);
            let mut expected = chosen.clone();
            expected.sort_unstable();
            for precision in [Precision::F64, Precision::F32] {
                let task = Task { precision, seed: c as u64, ..Task::new(&gram, c) };
                assert_eq!(run(&Greedy, &task).unwrap().landmarks.rows(), Some(&expected[..]));
            }
            let plain = crate::landmarks::chain::select(gram.ground(), c, &Greedy, 0, &NoObserver);
            assert_eq!(plain.unwrap().landmarks.rows(), Some(&expected[..]));
        }
    }
}

#[test]
fn kmeans_lowers_its_inertia_to_a_fixed_point() {
    let data = data(3_000, 4);
    let seeds: Vec<f64> = data.rows[..12 * 4].to_vec();
    let mut inertia = Vec::new();
    let centroids = lloyd(&data.rows, 4, seeds, &NoObserver, |value| inertia.push(value)).unwrap();
    assert!(inertia.len() > 5 && inertia.is_sorted_by(|one, next| one >= next), "{inertia:?}");
    assert!(inertia[inertia.len() - 1] < 0.9 * inertia[0]);
    // Each centroid is the mean of the rows nearest to it.
    let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
    let side = |row: &[f64]| {
        let points = centroids.chunks_exact(4).enumerate();
        points.min_by(|one, other| distance(row, one.1).total_cmp(&distance(row, other.1))).unwrap().0
    };
    let sides: Vec<usize> = data.rows.chunks_exact(4).map(side).collect();
    for (at, centroid) in centroids.chunks_exact(4).enumerate() {
        let members: Vec<&[f64]> = data
            .rows
            .chunks_exact(4)
            .zip(&sides)
            .filter(|(_, side)| **side == at)
            .map(|(row, _)| row)
            .collect();
        for (column, value) in centroid.iter().enumerate() {
            let mean = members.iter().map(|row| row[column]).sum::<f64>() / members.len() as f64;
            assert!((value - mean).abs() < 1e-9, "{at}: {value} {mean}");
        }
    }
}

#[test]
fn snapped_centroids_are_the_nearest_rows() {
    let data = data(400, 2);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    let task = Task { seed: 9, ..Task::new(&gram, 9) };
    let LandmarkSet::Points(points) = run(&Kmeans, &task).unwrap().landmarks else { panic!("points") };
    let mut expected: Vec<usize> = points
        .chunks_exact(2)
        .map(|point| {
            let distance = |row: usize| {
                data.rows[row * 2..row * 2 + 2].iter().zip(point).map(|(x, y)| (x - y).powi(2)).sum::<f64>()
            };
            (0..400).min_by(|&one, &other| distance(one).total_cmp(&distance(other))).unwrap()
        })
        .collect();
    expected.sort_unstable();
    expected.dedup();
    let snapped = run(&KmeansSnapped, &task).unwrap().landmarks;
    let snapped = snapped.rows().unwrap();
    assert_eq!(snapped.len(), 9);
    assert!(expected.iter().all(|row| snapped.contains(row)), "{snapped:?} {expected:?}");
}

/// A selector created by name has that name, with and without refinement.
#[test]
fn methods_make_selectors_of_their_names() {
    let refinement = Some(crate::landmarks::swap_search::Refinement::default());
    for method in super::METHODS {
        for options in
            [SelectorOptions::default(), SelectorOptions { refinement, ..SelectorOptions::default() }]
        {
            let selector = method.selector(&options);
            assert_eq!(selector.name(), method.name);
            assert_eq!(selector.in_place().is_some(), selector.needs().rows == RowAccess::InPlace);
        }
    }
}

/// Given rows are numbered as in the file, also if some of its rows are not used.
#[test]
fn given_rows_are_those_of_the_file() {
    let data = Prepared { numbers: Some((0..40).map(|row| 3 * row + 1).collect()), ..data(40, 2) };
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    let task = Task::new(&gram, 2);
    let selection = run(&Given::new([7, 1]), &task).unwrap();
    assert_eq!(selection.landmarks, LandmarkSet::Indices(vec![0, 2]));
    let reason = CoreError::OutOfRange { index: 2, len: 40 };
    assert!(
        matches!(run(&Given::new([1, 2]), &task), Err(Error(Cause::Landmarks { reason: found })) if found == reason)
    );
}

/// Cancels at the beginning of the first phase, and counts what it is told afterwards.
#[derive(Default)]
struct Cancels {
    is_cancelled: AtomicBool,
    told: AtomicU64,
}

impl Observer for Cancels {
    fn begin(&self, _: &str, _: u64) {
        self.is_cancelled.store(true, Ordering::SeqCst);
    }

    fn advance(&self, steps: u64) {
        self.told.fetch_add(steps, Ordering::SeqCst);
    }

    fn end(&self) {
        self.told.fetch_add(1_000, Ordering::SeqCst);
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }
}

/// Each of these stops within its first phase, after one step at most.
#[test]
fn a_cancelled_phase_ends_before_its_second_step() {
    let data = data(3_000, 4);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    for name in ["kmeans", "kmeans-snapped", "kdpp-exact", "refined"] {
        let observer = Cancels::default();
        let task = Task { observer: &observer, ..Task::new(&gram, 12) };
        let found = run(selector(name, &SelectorOptions::default()).as_ref(), &task);
        assert!(matches!(found, Err(Error(Cause::Cancelled))), "{name}: {found:?}");
        assert!(observer.told.into_inner() <= 1, "{name}");
    }
}
