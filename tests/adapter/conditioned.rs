//! A quality, and rows that are included or excluded: the laws of the samplers by enumeration, in lanes and
//! entry by entry, and the order of greedy selection bit by bit of the arithmetic of integers.

use dpp_nystrom::approximation::{Conditional, Gram as KernelMatrix};
use dpp_nystrom::kernel::{KernelKind, KernelParams, KernelSpec, Metric};
use dpp_nystrom::landmarks::methods::{METHODS, SelectorOptions};
use dpp_nystrom::landmarks::{Selection, Selector, Steps, Task, run, select};
use dpp_nystrom::observer::NoObserver;
use dpp_nystrom::selectors::{Conditioned, Greedy, Kdpp, KdppExact, Refined, RpCholesky};
use dpp_nystrom::{Dataset, ErrorKind, Nystroem, Scale};
use dpp_nystrom_core::{GroundSet, Matrix, Points, kernel::Linear};
use dpp_nystrom_host::simd::Lanes;
use dpp_nystrom_tests::determinant::{determinant, exact_determinant, principal};
use dpp_nystrom_tests::ground::Gram;
use dpp_nystrom_tests::law::Law;
use dpp_nystrom_tests::statistics::Fit;

const N: usize = 8;
const QUALITIES: [i64; N] = [1, 3, 2, 5, 1, 2, 4, 1];
const INCLUDED: [usize; 2] = [6, 1];
const EXCLUDED: [usize; 1] = [3];
const C: usize = 5;

/// Return `q_i q_j k(i, j)`, computed in integers.
fn with_quality(gram: &Gram) -> Vec<i64> {
    let quality = |at| QUALITIES[at / N] * QUALITIES[at % N];
    gram.entries.iter().enumerate().map(|(at, entry)| quality(at) * entry).collect()
}

fn is_allowed(state: &[usize]) -> bool {
    INCLUDED.iter().all(|row| state.contains(row)) && !EXCLUDED.iter().any(|row| state.contains(row))
}

/// The c-DPP of the matrix given the included rows, without the excluded ones.
fn conditioned_law(gram: &Gram) -> Law {
    let mut law = Law::exact(&with_quality(gram), N, C);
    for (state, probability) in law.states.iter().zip(&mut law.probabilities) {
        *probability *= f64::from(u8::from(is_allowed(state)));
    }
    let total: f64 = law.probabilities.iter().sum();
    law.probabilities.iter_mut().for_each(|probability| *probability /= total);
    law
}

/// The law of randomly pivoted Cholesky: rows in proportion to their residuals, in every order.
fn pivoted_law(gram: &Gram) -> Law {
    let entries = with_quality(gram);
    let residual = |chosen: &[usize], row: usize| {
        let with: Vec<usize> = chosen.iter().copied().chain([row]).collect();
        let det = |rows: &[usize]| exact_determinant(&principal(&entries, N, rows), rows.len()) as f64;
        if EXCLUDED.contains(&row) || chosen.contains(&row) { 0.0 } else { det(&with) / det(chosen) }
    };
    let mut law = conditioned_law(gram);
    law.probabilities.fill(0.0);
    let mut paths = vec![(INCLUDED.to_vec(), 1.0)];
    for _ in INCLUDED.len()..C {
        let longer = paths.into_iter().flat_map(|(chosen, probability)| {
            let residuals: Vec<f64> = (0..N).map(|row| residual(&chosen, row)).collect();
            let total: f64 = residuals.iter().sum();
            let next = move |row| {
                let longer: Vec<usize> = chosen.iter().copied().chain([row]).collect();
                (longer, probability * residuals[row] / total)
            };
            (0..N).map(next).filter(|path| path.1 > 0.0)
        });
        paths = longer.collect();
    }
    for (rows, probability) in paths {
        let at = law.index(&rows);
        law.probabilities[at] += probability;
    }
    law
}

fn conditioned(selector: impl Selector + 'static) -> Conditioned {
    let quality = QUALITIES.map(|quality| quality as f64).to_vec();
    Conditioned::new(selector).quality(quality).include(INCLUDED).exclude(EXCLUDED)
}

/// Select among the rows of the matrix, and among the points that it is of, which lie in lanes.
fn selections(gram: &Gram, c: usize, selector: &dyn Fn() -> Conditioned, seed: u64) -> [Selection; 2] {
    let (entries, rows): (Vec<f64>, Vec<f64>) = (gram.to(), gram.points());
    let matrix = Matrix::new(&entries).unwrap();
    let of_matrix = select(&matrix, c, &selector(), seed, &NoObserver).unwrap();
    let kernel = KernelParams::from(KernelKind::Linear).with_metric(Metric::One);
    let map = Nystroem::params(c).kernel(kernel).scale(Scale::None).selector(selector()).seed(seed);
    let of_points = map.fit(&Dataset::from_rows(&rows, N).unwrap()).unwrap();
    [of_matrix, of_points.selection().clone()]
}

fn follows(law: &Law, draws: u64, selector: &dyn Fn() -> Conditioned) {
    let gram = Gram::well_conditioned(N);
    let mut counts = [vec![0; law.states.len()], vec![0; law.states.len()]];
    for seed in 0..draws {
        for (counts, selection) in counts.iter_mut().zip(selections(&gram, C, selector, seed)) {
            counts[law.index(selection.landmarks.rows().unwrap())] += 1;
        }
    }
    for counts in counts {
        let fit = Fit::new(&counts, &law.probabilities);
        println!("{fit:?}, bound {}", fit.bound());
        assert!(fit.holds(), "{fit:?}");
    }
}

#[test]
fn exact_samples_follow_the_conditioned_law() {
    follows(&conditioned_law(&Gram::well_conditioned(N)), 20_000, &|| conditioned(KdppExact));
}

#[test]
fn a_chain_follows_the_conditioned_law() {
    let chain = || conditioned(Kdpp::default().steps(Steps::Count(640)));
    follows(&conditioned_law(&Gram::well_conditioned(N)), 20_000, &chain);
}

#[test]
fn pivoted_cholesky_follows_its_conditioned_law() {
    follows(&pivoted_law(&Gram::well_conditioned(N)), 20_000, &|| conditioned(RpCholesky::default()));
}

/// Greedy with a quality is the greedy MAP of a DPP: each row has the largest determinant with those before.
#[test]
fn greedy_selects_as_a_naive_oracle() {
    let gram = Gram::well_conditioned(N);
    let entries = with_quality(&gram);
    let det = |rows: &[usize]| exact_determinant(&principal(&entries, N, rows), rows.len());
    for (included, excluded) in [(&INCLUDED[..], &EXCLUDED[..]), (&[], &[])] {
        let mut expected = included.to_vec();
        let mut gains: Vec<f64> =
            (0..included.len()).map(|k| det(&included[..=k]) as f64 / det(&included[..k]) as f64).collect();
        while expected.len() < C {
            let with = |row: usize| expected.iter().copied().chain([row]).collect::<Vec<_>>();
            let free = (0..N).filter(|row| !expected.contains(row) && !excluded.contains(row));
            let best = free.max_by_key(|&row| det(&with(row))).unwrap();
            gains.push(det(&with(best)) as f64 / det(&expected) as f64);
            expected = with(best);
        }
        let selector = || {
            let quality = QUALITIES.map(|quality| quality as f64).to_vec();
            Conditioned::new(Greedy).quality(quality).include(included).exclude(excluded)
        };
        for selection in selections(&gram, C, &selector, 0) {
            let rows = selection.landmarks.rows().unwrap();
            let order = selection.order.as_ref().unwrap();
            assert_eq!(order.iter().map(|choice| rows[choice.position]).collect::<Vec<_>>(), expected);
            for (choice, gain) in order.iter().zip(&gains) {
                // Condition numbers below 10³.
                assert!((choice.gain - gain).abs() <= 1e-12 * gain, "{} {gain}", choice.gain);
            }
            let of_rows: Vec<usize> = rows.to_vec();
            let log_det = (exact_determinant(&principal(&gram.entries, N, &of_rows), C) as f64).ln();
            assert!((selection.log_det - log_det).abs() < 1e-12);
        }
    }
}

#[test]
fn every_method_keeps_to_the_lists_or_says_that_it_cannot() {
    let rows: Vec<f64> = (0..600).map(|i| f64::from(i * i % 601) / 100.0).collect();
    let data = Dataset::from_rows(&rows, 2).unwrap();
    let source = data.source(Scale::Standard).unwrap();
    let kernel = KernelSpec { kind: KernelKind::Gaussian, sigma: 0.5 };
    let kernel_matrix = KernelMatrix::new(source.as_rows().as_prepared().unwrap(), kernel).unwrap();
    let options = SelectorOptions {
        quality: Some((0..300).map(|i| f64::from(i % 7) + 0.5).collect()),
        include: vec![12, 200],
        exclude: (40..90).collect(),
        ..SelectorOptions::default()
    };
    for method in METHODS.iter().chain(dpp_nystrom_lab::selectors::METHODS) {
        let selector = method.selector(&options);
        let selected = run(&*selector, &Task::new(&kernel_matrix, 10));
        if ["kmeans", "kmeans-snapped", "refined-ridge", "given"].contains(&method.name) {
            let error = selected.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{}: {error}", method.name);
            assert!(error.to_string().starts_with(method.name), "{error}");
            continue;
        }
        let selection = selected.unwrap_or_else(|error| panic!("{}: {error}", method.name));
        let landmarks = selection.landmarks.rows().unwrap();
        assert_eq!(landmarks.len(), 10, "{}", method.name);
        assert!(landmarks.contains(&12) && landmarks.contains(&200), "{}: {landmarks:?}", method.name);
        assert!(!landmarks.iter().any(|row| (40..90).contains(row)), "{}: {landmarks:?}", method.name);
        let order = selection.order.as_ref().unwrap();
        assert_eq!((landmarks[order[0].position], landmarks[order[1].position]), (12, 200));
        let log_det: f64 = order.iter().map(|choice| choice.gain.ln()).sum();
        let quality: f64 = landmarks.iter().map(|row| 2.0 * ((row % 7) as f64 + 0.5).ln()).sum();
        let expected = selection.log_det + quality;
        // The logarithms of ten pivots, each with some ten roundings.
        assert!((log_det - expected).abs() < 1e-13 * expected.abs(), "{}: {log_det} {expected}", method.name);
    }
}

/// Refinement lowers the trace error that is left of L, and every row's entry counts.
#[test]
fn refinement_with_all_candidates_ends_where_no_exchange_helps() {
    let gram = Gram::well_conditioned(N);
    let entries: Vec<f64> = gram.to();
    let matrix = Matrix::new(&entries).unwrap();
    let quality = QUALITIES.map(|quality| quality as f64);
    let given = Conditional::new(&matrix, &quality, &INCLUDED).unwrap();
    let left = |rows: &[usize]| {
        let rest: Vec<usize> = rows.iter().copied().filter(|row| !INCLUDED.contains(row)).collect();
        let allowed: Vec<usize> = (0..N).filter(|row| !EXCLUDED.contains(row)).collect();
        let error = |row: usize| {
            let with: Vec<usize> = rest.iter().copied().chain([row]).collect();
            let det = |rows: &[usize]| {
                let entry = |i: usize, j: usize| if i == j { given.diagonal(i) } else { given.entry(i, j) };
                let entries: Vec<f64> = rows
                    .iter()
                    .flat_map(|&i| rows.iter().map(move |&j| (i, j)))
                    .map(|(i, j)| entry(i, j))
                    .collect();
                determinant(&entries, rows.len())
            };
            if rest.contains(&row) { 0.0 } else { det(&with) / det(&rest) }
        };
        allowed.into_iter().map(error).sum::<f64>()
    };
    let refined = || conditioned(Refined::default().sweeps(50));
    for selection in selections(&gram, C, &refined, 3) {
        let rows = selection.landmarks.rows().unwrap().to_vec();
        let outcome = selection.refinement.unwrap();
        assert!((outcome.after - left(&rows)).abs() <= 1e-9 * outcome.after);
        for at in (0..C).filter(|&at| !INCLUDED.contains(&rows[at])) {
            for row in (0..N).filter(|row| !rows.contains(row) && !EXCLUDED.contains(row)) {
                let mut exchanged = rows.clone();
                exchanged[at] = row;
                assert!(left(&exchanged) >= outcome.after * (1.0 - 1e-9), "{rows:?} {exchanged:?}");
            }
        }
    }
}

#[test]
fn lanes_have_the_entries_of_the_ground_set() {
    let rows: Vec<f64> = (0..240).map(|i| f64::from(i * 37 % 101) / 50.0 - 1.0).collect();
    let spec = KernelSpec { kind: KernelKind::Gaussian, sigma: 1.3 };
    let points = Points::new(&rows, 3, spec.build::<f64>().unwrap()).unwrap();
    let quality: Vec<f64> = (0..80).map(|i| f64::from(i % 5) / 2.0).collect();
    for included in [&[][..], &[3, 17, 40][..]] {
        let ground = Conditional::new(&points, &quality, included).unwrap();
        let columns: Vec<usize> = (0..80).collect();
        let entries = Lanes::new(0, 0).unwrap().columns(&ground, &columns).unwrap();
        for i in 0..80 {
            for j in (0..80).filter(|&j| j != i) {
                // An exponential and a few operations on numbers up to four.
                assert!((entries[(i, j)] - ground.entry(i, j)).abs() < 4e-15, "{i} {j}");
            }
        }
    }
}

#[test]
fn a_conditional_kernel_is_the_schur_complement() {
    let gram = Gram::well_conditioned(N);
    let entries: Vec<f64> = gram.to();
    let matrix = Matrix::new(&entries).unwrap();
    let quality = QUALITIES.map(|quality| quality as f64);
    let given = Conditional::new(&matrix, &quality, &INCLUDED).unwrap();
    let weighted = with_quality(&gram);
    let det = |rows: &[usize]| exact_determinant(&principal(&weighted, N, rows), rows.len()) as f64;
    for i in (0..N).filter(|row| !INCLUDED.contains(row)) {
        let expected = det(&[INCLUDED[0], INCLUDED[1], i]) / det(&INCLUDED);
        assert!((given.diagonal(i) - expected).abs() <= 1e-12 * expected);
        for j in (0..i).filter(|row| !INCLUDED.contains(row)) {
            let both = det(&[INCLUDED[0], INCLUDED[1], i, j]) / det(&INCLUDED);
            let entry = given.entry(i, j);
            let found = given.diagonal(i) * given.diagonal(j) - entry * entry;
            assert!((found - both).abs() <= 1e-11 * given.diagonal(i) * given.diagonal(j));
        }
    }
}

#[test]
fn bad_lists_are_refused_with_the_row() {
    let rows: Vec<f64> = (0..20).map(f64::from).collect();
    let data = Dataset::from_rows(&rows, 1).unwrap();
    let fit = |conditioned: Conditioned| {
        Nystroem::params(3).selector(conditioned).fit(&data).map(|map| map.landmarks().to_vec())
    };
    let new = || Conditioned::new(Greedy);
    let refused = |conditioned, kind, text: &str| {
        let error = fit(conditioned).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    refused(new().include([1, 2]).exclude([2]), ErrorKind::Argument, "row 2 ");
    refused(new().include([4, 4]), ErrorKind::Landmarks, "row 4 ");
    refused(new().include([20]), ErrorKind::Landmarks, "20");
    refused(new().include([1, 2, 3, 4]), ErrorKind::Landmarks, "4 rows to include");
    refused(new().exclude((0..18).collect::<Vec<_>>()), ErrorKind::Landmarks, "only 2 rows");
    refused(new().quality(vec![1.0; 19]), ErrorKind::Argument, "19");
    refused(new().quality(vec![-1.0; 20]), ErrorKind::Argument, "row 0");
    assert_eq!(fit(new().include([5, 1, 9])).unwrap(), [1, 5, 9]);
    refused(new().exclude([19, 400]), ErrorKind::Landmarks, "400");
    assert_eq!(fit(new().exclude([19])).unwrap().len(), 3);
    let quality: Vec<f64> = (0..20).map(|row| f64::from(u8::from([3, 8, 11].contains(&row)))).collect();
    assert_eq!(fit(new().quality(quality)).unwrap(), [3, 8, 11]);
    let line = Points::new(&rows, 1, Linear).unwrap();
    let dependent = Conditional::new(&line, &[1.0; 20], &[1, 2]).unwrap_err();
    assert_eq!(dependent.kind(), ErrorKind::Landmarks);
}
