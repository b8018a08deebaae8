//! Tests of the sampling distributions against independent formulas, on matrices small enough to enumerate.

use super::adaptive_full::Columns;
use super::adaptive_partial::residuals;
use super::recursive_rls::{estimates, recurse};
use super::scores::{leading, leverage, ridge, ridge_of_dimension};
use super::{
    AdaptiveFull, ApproximateLeverage, ApproximateRidgeLeverage, ColumnNorm, Diagonal, Leverage, METHODS,
    RidgeLeverage, find, sketch::sketch,
};
use crate::rng::{Stream, stream};
use dpp_nystrom::Nystroem;
use dpp_nystrom::approximation::{Gram, LandmarkSet, SPECTRUM_ROWS, rank};
use dpp_nystrom::core::{Error as CoreError, GroundSet};
use dpp_nystrom::data::table::{Table, Target, read};
use dpp_nystrom::landmarks::methods::{METHODS as OF_LIBRARY, SelectorOptions};
use dpp_nystrom::landmarks::{Refinement, Selector, Task, run, select};
use dpp_nystrom::observer::{NoObserver, Observer};
use dpp_nystrom::regression::choose_bandwidth;
use dpp_nystrom::{Dataset, data::Prepared};
use dpp_nystrom::{
    Sigma,
    kernel::{KernelKind, KernelSpec},
};
use rand_core::Rng;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{collections::BTreeMap, path::Path};

const SMALL: usize = 8;
const DRAWS: u64 = 20_000;

/// Return rows of different norms, so that the diagonal of a polynomial kernel varies.
fn data(rows: usize, dim: usize) -> Prepared {
    let mut random = stream(rows as u64, Stream::Rows);
    let mut next = || f64::from(random.next_u32()) / f64::from(u32::MAX);
    prepared((0..rows * dim).map(|at| (next() - 0.5) * (1.0 + (at % 7) as f64)).collect(), dim)
}

fn prepared(features: Vec<f64>, dim: usize) -> Prepared {
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

fn selector(name: &str) -> Box<dyn Selector> {
    find(name).unwrap().selector(&SelectorOptions::default())
}

fn rows(gram: &Gram<'_>, selector: &dyn Selector, c: usize, seed: u64, ridge: Option<f64>) -> Vec<usize> {
    let task = Task { seed, ridge, ..Task::new(gram, c) };
    match run(selector, &task).unwrap().landmarks {
        LandmarkSet::Indices(rows) => rows,
        LandmarkSet::Points(_) => panic!("{} selects rows", selector.name()),
    }
}

fn matrix(gram: &Gram<'_>) -> Vec<Vec<f64>> {
    let n = gram.len();
    (0..n).map(|i| (0..n).map(|j| gram.ground().entry(i, j)).collect()).collect()
}

/// Return `A⁻¹ B` by Gaussian elimination with pivoting.
fn solved(mut a: Vec<Vec<f64>>, mut b: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            let (top_a, top_b) = (a[k].clone(), b[k].clone());
            a[i].iter_mut().zip(&top_a).for_each(|(x, y)| *x -= factor * y);
            b[i].iter_mut().zip(&top_b).for_each(|(x, y)| *x -= factor * y);
        }
    }
    for k in 0..n {
        let pivot = a[k][k];
        b[k].iter_mut().for_each(|x| *x /= pivot);
    }
    b
}

/// Return the eigenvalues in descending order, each with its eigenvector, by Jacobi rotations.
fn jacobi(mut a: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let n = a.len();
    let mut v: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                let angle = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let (sin, cos) = angle.sin_cos();
                for row in a.iter_mut().chain(v.iter_mut()) {
                    (row[p], row[q]) = (cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]);
                }
                let (above, below) = a.split_at_mut(q);
                for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                    (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
                }
            }
        }
    }
    let mut pairs: Vec<_> = (0..n).map(|j| (a[j][j], v.iter().map(|row| row[j]).collect())).collect();
    pairs.sort_by(|one: &(f64, Vec<f64>), other| other.0.total_cmp(&one.0));
    pairs
}

fn naive_leverage(matrix: &[Vec<f64>], k: usize) -> Vec<f64> {
    let pairs = jacobi(matrix.to_vec());
    (0..matrix.len()).map(|i| pairs[..k].iter().map(|(_, vector)| vector[i] * vector[i]).sum()).collect()
}

/// Return the diagonal of `K (K + μI)⁻¹`.
fn naive_ridge(matrix: &[Vec<f64>], mu: f64) -> Vec<f64> {
    let mut shifted = matrix.to_vec();
    (0..matrix.len()).for_each(|i| shifted[i][i] += mu);
    let product = solved(shifted, matrix.to_vec());
    (0..matrix.len()).map(|i| product[i][i]).collect()
}

/// Return `‖K_j - QQᵀK_j‖²` given the columns `drawn`, by the normal equations.
fn naive_residuals(matrix: &[Vec<f64>], drawn: &[usize]) -> Vec<f64> {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let gram: Vec<Vec<f64>> =
        drawn.iter().map(|&i| drawn.iter().map(|&j| dot(&matrix[i], &matrix[j])).collect()).collect();
    (0..matrix.len())
        .map(|j| {
            let right = drawn.iter().map(|&i| vec![dot(&matrix[i], &matrix[j])]).collect();
            let shares = solved(gram.clone(), right);
            let mut left = matrix[j].clone();
            for (&i, share) in drawn.iter().zip(&shares) {
                left.iter_mut().zip(&matrix[i]).for_each(|(x, y)| *x -= share[0] * y);
            }
            dot(&left, &left)
        })
        .collect()
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

fn first_draws(gram: &Gram<'_>, selector: &dyn Selector, ridge: Option<f64>) -> BTreeMap<usize, u64> {
    let mut counts = BTreeMap::new();
    for seed in 0..DRAWS {
        *counts.entry(rows(gram, selector, 1, seed, ridge)[0]).or_default() += 1;
    }
    counts
}

fn by_row(weights: Vec<f64>) -> BTreeMap<usize, f64> {
    weights.into_iter().enumerate().collect()
}

/// The first draw follows the formula of each method.
#[test]
fn first_draws_follow_the_scores() {
    let data = data(SMALL, 2);
    for kernel in [POLYNOMIAL, KernelKind::Gaussian] {
        let gram = Gram::new(&data, KernelSpec { kind: kernel, sigma: 1.0 }).unwrap();
        let matrix = matrix(&gram);
        let gamma = 0.02;
        let mu = gamma * SMALL as f64;
        let diagonal: Vec<f64> = (0..SMALL).map(|i| matrix[i][i]).collect();
        let norms: Vec<f64> = matrix.iter().map(|row| row.iter().map(|x| x * x).sum()).collect();
        let (of_rank, of_ridge) = (naive_leverage(&matrix, 3), naive_ridge(&matrix, mu));
        let assert_first = |selector: &dyn Selector, ridge, weights: &[f64]| {
            assert_law(&first_draws(&gram, selector, ridge), &by_row(weights.to_vec()));
        };
        assert_first(&Diagonal, None, &diagonal);
        assert_first(&ColumnNorm, None, &norms);
        assert_first(&AdaptiveFull, None, &norms);
        assert_first(&Leverage::default().rank(3), None, &of_rank);
        assert_first(&RidgeLeverage, Some(gamma), &of_ridge);
        // A sketch from all columns is exact.
        assert_first(&ApproximateLeverage::default().rank(3).columns(SMALL), None, &of_rank);
        assert_first(&ApproximateRidgeLeverage::default().columns(SMALL), Some(gamma), &of_ridge);
    }
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
fn second_draws_are_without_replacement_and_adapt() {
    let data = data(SMALL, 2);
    let kernel = KernelKind::Gaussian;
    let gram = Gram::new(&data, KernelSpec { kind: kernel, sigma: 1.0 }).unwrap();
    let matrix = matrix(&gram);
    let norms: Vec<f64> = matrix.iter().map(|row| row.iter().map(|x| x * x).sum()).collect();
    let laws: [(&str, BTreeMap<Vec<usize>, f64>); 4] = [
        ("column-norm", pairs(&norms, |_| norms.clone())),
        ("adapfull", pairs(&norms, |i| naive_residuals(&matrix, &[i]))),
        ("arp", {
            // det(V_C)², with the two leading eigenvectors as the columns of V.
            let vectors = &jacobi(matrix.clone())[..2];
            let entry = |row: usize, k: usize| vectors[k].1[row];
            let volume = |i: usize, j: usize| entry(i, 0) * entry(j, 1) - entry(i, 1) * entry(j, 0);
            let sets = (0..SMALL).flat_map(|j| (0..j).map(move |i| (i, j)));
            sets.map(|(i, j)| (vec![i, j], volume(i, j).powi(2))).collect()
        }),
        // With one column the retained rank is zero: the whole column is residual.
        ("adappart", pairs(&[1.0; SMALL], |i| matrix[i].iter().map(|x| x * x).collect())),
    ];
    for (name, law) in laws {
        let mut counts = BTreeMap::new();
        for seed in 0..DRAWS {
            *counts.entry(rows(&gram, &*selector(name), 2, seed, None)).or_default() += 1;
        }
        assert_law(&counts, &law);
    }
}

#[test]
fn each_row_of_greedy_nuclear_lowers_the_trace_error_most() {
    for (kernel, sigma) in [(KernelKind::Gaussian, 1.0), (KernelKind::Gaussian, 5.0), (POLYNOMIAL, 1.0)] {
        let data = data(40, 2);
        let gram = Gram::new(&data, KernelSpec { kind: kernel, sigma }).unwrap();
        let mut selected = Vec::new();
        for c in 1..=6 {
            let error = |row: usize| {
                let set = LandmarkSet::Indices([&selected[..], &[row]].concat());
                gram.trace_error(&set).unwrap().error
            };
            let free = (0..40).filter(|row| !selected.contains(row));
            let best = free.min_by(|&one, &other| error(one).total_cmp(&error(other))).unwrap();
            selected.push(best);
            let mut expected = selected.clone();
            expected.sort_unstable();
            assert_eq!(rows(&gram, &*selector("greedy-nuclear"), c, 0, None), expected, "{kernel:?} {sigma}");
        }
    }
}

#[test]
fn residuals_of_columns_are_those_of_a_projection() {
    let data = data(40, 3);
    let gram = Gram::new(&data, KernelSpec { kind: POLYNOMIAL, sigma: 1.0 }).unwrap();
    let matrix = matrix(&gram);
    let mut columns = Columns::new(gram.matrix().unwrap().as_ref().as_ref());
    let mut found = columns.norms.clone();
    let mut drawn = Vec::new();
    for j in [3, 17, 0, 39, 8] {
        columns.remove(j, &mut found);
        drawn.push(j);
        let expected = naive_residuals(&matrix, &drawn);
        let largest = expected.iter().copied().fold(0.0, f64::max);
        for (row, expected) in expected.iter().enumerate() {
            // The tolerance allows for the squared condition number of a few columns.
            assert!((found[row] - expected).abs() < 1e-8 * largest, "{drawn:?} {row}");
        }
        assert_eq!(found[j], 0.0);
    }
}

/// Compare with `C - C W_k† W` by dense matrices.
#[test]
fn residuals_of_a_partial_approximation() {
    let data = data(30, 2);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    let matrix = matrix(&gram);
    let members = [4, 11, 12, 25, 29];
    let columns: Vec<Vec<f64>> = members.iter().map(|&j| matrix[j].clone()).collect();
    let own: Vec<Vec<f64>> =
        members.iter().map(|&i| members.iter().map(|&j| matrix[i][j]).collect()).collect();
    let eigen = jacobi(own.clone());
    let trace: f64 = eigen.iter().map(|pair| pair.0).sum();
    let k = (1..5).find(|&k| eigen[..k].iter().map(|pair| pair.0).sum::<f64>() >= 0.8 * trace).unwrap_or(4);
    let found = residuals(&columns, &members).unwrap();
    for row in 0..30 {
        let mut expected = 0.0;
        for a in 0..5 {
            let mut entry = columns[a][row];
            for (value, vector) in &eigen[..k] {
                let left: f64 = (0..5).map(|i| columns[i][row] * vector[i]).sum();
                let right: f64 = (0..5).map(|i| vector[i] * own[i][a]).sum();
                entry -= left * right / value;
            }
            expected += entry * entry;
        }
        let expected = if members.contains(&row) { 0.0 } else { expected };
        assert!((found[row] - expected).abs() < 1e-12, "{row}: {} {expected}", found[row]);
    }
}

#[test]
fn scores_sum_to_the_rank_and_to_the_effective_dimension() {
    let data = data(120, 3);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.5 }).unwrap();
    let eigen = gram.eigen().unwrap();
    let matrix = matrix(&gram);
    for k in [1, 7, 30] {
        let scores = leverage(eigen, &leading(eigen, k));
        assert!((scores.iter().sum::<f64>() - k as f64).abs() < 1e-10);
        assert!(scores.iter().all(|score| (0.0..1.0 + 1e-12).contains(score)));
        // Eigenvalues are in descending order and match their eigenvectors.
        let turned: Vec<f64> =
            (0..120).map(|i| (0..120).map(|j| matrix[i][j] * eigen.vectors[(j, k)]).sum()).collect();
        assert!((0..120).all(|i| (turned[i] - eigen.values[k] * eigen.vectors[(i, k)]).abs() < 1e-10));
    }
    assert!(eigen.values.is_sorted_by(|one, next| one >= next) && rank(&eigen.values) <= 120);
    for mu in [1e-4, 0.1, 5.0] {
        let scores = leverage(eigen, &ridge(eigen, mu));
        let naive = naive_ridge(&matrix, mu);
        for (score, naive) in scores.iter().zip(&naive) {
            assert!((score - naive).abs() < 1e-9, "{mu}: {score} {naive}");
        }
        let dimension: f64 = eigen.values.iter().map(|value| value / (value + mu)).sum();
        assert!((scores.iter().sum::<f64>() - dimension).abs() < 1e-9);
        // The effective dimension is below the number of rows.
        assert!(scores.iter().sum::<f64>() < 120.0);
    }
    for c in [1, 20, 60] {
        let mu = ridge_of_dimension(eigen, c);
        let dimension: f64 = ridge(eigen, mu).iter().sum();
        assert!((dimension - c as f64).abs() < 1e-9, "{c} {dimension}");
    }
}

/// If `K` has rank k, ridge leverage scores tend to those of its column space, the diagonal of a projection.
#[test]
fn ridge_scores_of_a_low_rank_tend_to_a_projection() {
    let data = data(50, 3);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Linear, sigma: 1.0 }).unwrap();
    let eigen = gram.eigen().unwrap();
    assert_eq!(rank(&eigen.values), 3);
    let scores = leverage(eigen, &ridge(eigen, ridge_of_dimension(eigen, 3)));
    // X (XᵀX)⁻¹ Xᵀ, without eigenvectors.
    let x: Vec<&[f64]> = data.rows().chunks_exact(3).collect();
    let inner = |a: usize, b: usize| x.iter().map(|row| row[a] * row[b]).sum::<f64>();
    let gram: Vec<Vec<f64>> = (0..3).map(|a| (0..3).map(|b| inner(a, b)).collect()).collect();
    let transposed = (0..3).map(|a| x.iter().map(|row| row[a]).collect()).collect();
    let solution = solved(gram, transposed);
    for i in 0..50 {
        let projection: f64 = (0..3).map(|a| x[i][a] * solution[a][i]).sum();
        assert!((scores[i] - projection).abs() < 1e-9, "{} {projection}", scores[i]);
    }
}

#[test]
fn a_sketch_gives_no_score_more_than_it_has() {
    let data = data(200, 2);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 0.7 }).unwrap();
    let mu = 0.5;
    let eigen = gram.eigen().unwrap();
    let exact = leverage(eigen, &ridge(eigen, mu));
    let task = Task { seed: 4, ..Task::new(&gram, 10) };
    let sketch = sketch(&task, Some(60), &mut stream(4, Stream::Landmarks)).unwrap();
    let scores = leverage(&sketch, &ridge(&sketch, mu));
    // K̃ <= K, and x/(x + μ) is operator monotone.
    assert!(scores.iter().zip(&exact).all(|(score, exact)| *score < exact + 1e-9));
    let share = scores.iter().sum::<f64>() / exact.iter().sum::<f64>();
    assert!((0.8..1.0).contains(&share), "{share}");
}

/// Read a data set from the folder `DPP_NYSTROM_DATA`, or else from `../shared/data` relative to the
/// workspace root. `None` if the file does not exist.
fn real(test: &str, set: &str) -> Option<Prepared> {
    let folder = std::env::var_os("DPP_NYSTROM_DATA")
        .filter(|folder| !folder.is_empty())
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), Into::into);
    let path = folder.join(format!("{set}.arff"));
    if !path.exists() {
        println!("skipped: {test}: no data folder with {set}.arff (DPP_NYSTROM_DATA names it)");
        return None;
    }
    Some(Prepared::new(read(&path, &Target::Last).unwrap(), Some(1_500), 0).unwrap())
}

/// Musco and Musco 2017: if the sample is accurate enough, 3/2 of the estimate is at least the score and at
/// most three times the score.
#[test]
fn recursive_scores_are_within_the_factor_that_is_stated() {
    for set in ["ailerons", "cal.housing"] {
        let Some(data) = real("recursive_scores_are_within_the_factor_that_is_stated", set) else { continue };
        let kernel = KernelKind::Gaussian;
        let sigma = choose_bandwidth(Sigma::Median(1.0), kernel, &data, 0, &NoObserver).unwrap().sigma;
        let gram = Gram::new(&data, KernelSpec { kind: kernel, sigma }).unwrap();
        let eigen = gram.eigen().unwrap();
        let dimension = 3;
        let lambda = ridge_of_dimension(eigen, dimension);
        let exact = leverage(eigen, &ridge(eigen, lambda));
        // The constants of Algorithm 2: 3/2 and 16 ln(d/δ), δ = 1/8.
        let oversampling = 1.5 * 16.0 * (8.0 * dimension as f64).ln();
        for seed in 0..5 {
            let mut random = stream(seed, Stream::Landmarks);
            let fixed = |_: &_| Ok(lambda);
            let (sample, _) = recurse(gram.ground(), 100, oversampling, fixed, &mut random).unwrap();
            let rows: Vec<usize> = (0..gram.len()).collect();
            let found = estimates(gram.ground(), &rows, &sample, lambda).unwrap();
            let kept = sample.rows.len();
            assert!(kept < gram.len() / 4, "{kept} rows are not a sample");
            for (estimate, exact) in found.iter().zip(&exact) {
                let over = 1.5 * estimate;
                assert!(over >= *exact && over <= 3.0 * exact, "{set} {seed}: {over} {exact}, {kept} rows");
            }
        }
    }
}

#[test]
fn a_whole_matrix_is_refused_for_too_many_rows() {
    let data = data(SPECTRUM_ROWS + 1, 1);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    for (name, other) in [
        ("lev", "applev"),
        ("reglev", "appreglev"),
        ("adapfull", "adappart"),
        ("greedy-nuclear", "refined"),
        ("arp", "rpcholesky"),
    ] {
        let text = run(&*selector(name), &Task::new(&gram, 5)).unwrap_err().to_string();
        assert!(text.starts_with(&format!("too many rows for the method {name},")), "{text}");
        assert!(text.contains(&format!("use the method {other},")), "{text}");
        // The suggested method accepts as many rows.
        assert_eq!(rows(&gram, &*selector(other), 5, 0, None).len(), 5);
    }
}

/// The kernel is so narrow that K is nearly diagonal: all rows are independent, and c of them are selected.
#[test]
fn rows_without_weight_are_drawn_when_no_others_are_left() {
    let data = data(40, 2);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1e-3 }).unwrap();
    let few: [Box<dyn Selector>; 4] = [
        Box::new(ApproximateLeverage::default().columns(3).rank(1)),
        Box::new(ApproximateRidgeLeverage::default().columns(3)),
        selector("adappart"),
        Box::new(Leverage::default().rank(1)),
    ];
    for selector in few {
        assert_eq!(rows(&gram, &*selector, 40, 1, None), (0..40).collect::<Vec<_>>());
    }
    // Five distinct rows, eight times each.
    let five: Vec<f64> = (0..8).flat_map(|_| data.rows()[..10].to_vec()).collect();
    let data = prepared(five, data.dim());
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    for name in ["applev", "lev", "adapfull", "adappart", "recursive-rls", "greedy-nuclear", "arp"] {
        let task = Task { seed: 1, ..Task::new(&gram, 6) };
        let reason = run(&*selector(name), &task).unwrap_err().core();
        assert!(matches!(reason, Some(CoreError::RankDeficient { rank: 5, .. })), "{name}: {reason:?}");
    }
}

/// A selector created by name has that name, with and without refinement, and no name stands twice.
#[test]
fn methods_make_selectors_of_their_names() {
    let refinement = Some(Refinement::default());
    for method in METHODS {
        for options in
            [SelectorOptions::default(), SelectorOptions { refinement, ..SelectorOptions::default() }]
        {
            assert_eq!(method.selector(&options).name(), method.name);
        }
        assert!(OF_LIBRARY.iter().all(|other| other.name != method.name));
    }
}

#[test]
fn ranks_and_columns_out_of_range_are_refused() {
    let data = data(20, 2);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.0 }).unwrap();
    let selectors: [Box<dyn Selector>; 4] = [
        Box::new(Leverage::default().rank(0)),
        Box::new(Leverage::default().rank(21)),
        Box::new(ApproximateLeverage::default().rank(21)),
        Box::new(ApproximateRidgeLeverage::default().columns(21)),
    ];
    for selector in selectors {
        let refused = run(&*selector, &Task::new(&gram, 5));
        let text = refused.unwrap_err().to_string();
        assert!(text.starts_with("invalid ") && text.ends_with("at most 20"), "{text}");
    }
}

/// From entries of a kernel matrix alone they select the same rows as from rows under that kernel, and a map
/// takes them.
#[test]
fn selectors_take_any_ground_set_and_make_a_map() {
    let data = data(60, 3);
    let gram = Gram::new(&data, KernelSpec { kind: KernelKind::Gaussian, sigma: 1.5 }).unwrap();
    let entries: Vec<f64> =
        (0..60).flat_map(|i| (0..60).map(move |j| (i, j))).map(|(i, j)| gram.ground().entry(i, j)).collect();
    let matrix = dpp_nystrom::core::Matrix::new(&entries).unwrap();
    for method in METHODS {
        let selector = method.selector(&SelectorOptions::default());
        let expected = rows(&gram, &*selector, 7, 3, None);
        let found = select(&matrix, 7, &*selector, 3, &NoObserver).unwrap();
        assert_eq!(found.landmarks.rows(), Some(&expected[..]), "{}", method.name);
    }
    let map =
        Nystroem::params(7).selector(RidgeLeverage).seed(3).fit(&Dataset::from_gram(&entries, 60).unwrap());
    assert_eq!(map.unwrap().landmarks(), rows(&gram, &RidgeLeverage, 7, 3, None));
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
    for name in ["column-norm", "lev", "reglev", "adappart", "greedy-nuclear", "arp"] {
        let observer = Cancels::default();
        let task = Task { observer: &observer, ..Task::new(&gram, 12) };
        let found = run(&*selector(name), &task);
        assert_eq!(found.unwrap_err().name(), "Cancelled", "{name}");
        assert!(observer.told.into_inner() <= 1, "{name}");
    }
}
